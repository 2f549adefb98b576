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
