use super::super::eyes::{contrast, distance};
use super::*;
use crate::figure::{Axis, Panel};

#[test]
fn colors_of_one_role_differ_to_every_eye_and_in_grey() {
    // This red and this green are almost equally bright, so a copy in grey hardly shows their difference.
    // Black and white are far apart for every reader.
    assert!(
        distance(Rgb(200, 0, 0), Rgb(0, 108, 0)) < 15.0 && distance(Rgb(0, 0, 0), Rgb(255, 255, 255)) > 99.0
    );
    for palette in [EXACT, UPPER_BOUND, PRINTED, ESTIMATE, DATA] {
        for (i, &one) in palette.iter().enumerate() {
            let contrast = contrast(one);
            assert!(contrast >= 3.0, "{one:?} is {contrast} from white");
            for &other in &palette[i + 1..] {
                assert!(distance(one, other) >= 9.0, "{one:?} and {other:?}: {}", distance(one, other));
            }
        }
    }
}

#[test]
fn series_that_coincide_everywhere_are_one_entry() {
    let line = |name: &str, y: f64| Series::new(name, Grade::Exact).points([(0.0, y), (1.0, y)]);
    let panel = |title: &str, series: [Series; 3]| {
        Panel::curves(title, Axis::linear("x"), Axis::linear("y")).with_all(series)
    };
    let first = panel("first", [line("a", 1.0), line("b", 1.0 + 1e-12), line("c", 1.0)]);
    let second = panel("second", [line("a", 2.0), line("b", 2.0), line("c", 2.1)]);
    let figure = Figure::new("t").panel(first).panel(second);
    let styles = Styles::of(&figure);
    let legend: Vec<String> = styles.legend(false).map(|(name, _)| name).collect();
    assert_eq!(legend, ["a = b (exact)", "c (exact)"]);
    assert!(styles.is_twin(&line("b", 0.0)) && !styles.is_twin(&line("a", 0.0)));
    assert_eq!(styles.get(&line("a", 0.0)), styles.get(&line("b", 0.0)));
}

/// There are twenty combinations of colours and markers.
#[test]
fn twenty_series_of_one_role_look_different() {
    for kind in [Kind::Graded(Grade::Exact), Kind::Graded(Grade::Printed), Kind::Data] {
        let series = Series::new("s", kind);
        let looks: Vec<(Rgb, Marker)> =
            (0..20).map(|i| style(&series, i)).map(|look| (look.stroke.color, look.marker)).collect();
        assert!(looks.iter().enumerate().all(|(i, look)| !looks[i + 1..].contains(look)), "{kind:?}");
    }
}

/// Series with equal ranges coincide, and those with other ranges do not.
#[test]
fn ranges_belong_to_what_coincides() {
    let series = |name: &str, low: f64, high: f64| {
        Series::new(name, Grade::Exact).ranged(0.0, 1.0, low, high).ranged(1.0, 2.0, low, high)
    };
    let with = |low: f64, high: f64| {
        let panel = Panel::curves("p", Axis::linear("x"), Axis::linear("y"))
            .with(series("a", 0.5, 2.5))
            .with(series("b", low, high));
        Styles::of(&Figure::new("t").panel(panel)).is_twin(&series("b", low, high))
    };
    assert!(with(0.5, 2.5));
    assert!(!with(0.4, 2.5) && !with(0.5, 2.6));
}

/// From light to dark, and the lightest can still be seen on white.
#[test]
fn shades_become_darker() {
    for count in [2, 3, 7] {
        let shade = |i: usize| style(&Series::new("s", Grade::Exact).shade(i, count), 0).stroke.color;
        let contrasts: Vec<f64> = (0..count).map(|i| contrast(shade(i))).collect();
        assert!(contrasts.is_sorted_by(|a, b| a < b) && contrasts[0] > 1.5, "{contrasts:?}");
    }
}
