use super::*;
use crate::figure::{Axis, Panel};

/// What eyes without one kind of cone see (Machado, Oliveira, Fernandes 2009, severity 1), in linear light.
const BLINDNESS: [[[f64; 3]; 3]; 3] = [
    [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
];

fn linear(Rgb(r, g, b): Rgb) -> [f64; 3] {
    [r, g, b].map(|c| {
        let c = f64::from(c) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    })
}

fn luminance([r, g, b]: [f64; 3]) -> f64 {
    0.2126729 * r + 0.7151522 * g + 0.0721750 * b
}

/// CIELAB, white of daylight.
fn lab(v: [f64; 3]) -> [f64; 3] {
    let [r, g, b] = v.map(|c| c.clamp(0.0, 1.0));
    let x = (0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047;
    let z = (0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / 1.08883;
    let f = |t: f64| if t > 216.0 / 24389.0 { t.cbrt() } else { (24389.0 / 27.0 * t + 16.0) / 116.0 };
    let (x, y, z) = (f(x), f(luminance([r, g, b])), f(z));
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

/// The colour as five readers see it: all cones, one kind missing, a copy in grey.
fn seen(color: Rgb) -> Vec<[f64; 3]> {
    let light = linear(color);
    let through = |m: &[[f64; 3]; 3]| lab(m.map(|row| row.iter().zip(light).map(|(a, b)| a * b).sum()));
    let plain = lab(light);
    [plain].into_iter().chain(BLINDNESS.iter().map(through)).chain([[plain[0], 0.0, 0.0]]).collect()
}

fn distance(one: Rgb, other: Rgb) -> f64 {
    let pairs = seen(one).into_iter().zip(seen(other));
    pairs
        .map(|(p, q)| p.iter().zip(q).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt())
        .fold(f64::INFINITY, f64::min)
}

#[test]
fn colors_of_one_role_differ_to_every_eye_and_in_grey() {
    // Red and green of equal lightness are told apart by neither test if the matrices are exchanged.
    assert!(
        distance(Rgb(200, 0, 0), Rgb(0, 108, 0)) < 15.0 && distance(Rgb(0, 0, 0), Rgb(255, 255, 255)) > 99.0
    );
    for palette in [EXACT, UPPER_BOUND, PRINTED, ESTIMATE, DATA] {
        for (i, &one) in palette.iter().enumerate() {
            let contrast = 1.05 / (luminance(linear(one)) + 0.05);
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
    let legend: Vec<String> = styles.legend().map(|(name, _)| name).collect();
    assert_eq!(legend, ["a = b (exact)", "c (exact)"]);
    assert!(styles.is_twin(&line("b", 0.0)) && !styles.is_twin(&line("a", 0.0)));
    assert_eq!(styles.get(&line("a", 0.0)), styles.get(&line("b", 0.0)));
}

/// As many as there are colors and markers.
#[test]
fn twenty_series_of_one_role_look_different() {
    for kind in [Kind::Graded(Grade::Exact), Kind::Graded(Grade::Printed), Kind::Data] {
        let series = Series::new("s", kind);
        let looks: Vec<(Rgb, Marker)> =
            (0..20).map(|i| style(&series, i)).map(|look| (look.stroke.color, look.marker)).collect();
        assert!(looks.iter().enumerate().all(|(i, look)| !looks[i + 1..].contains(look)), "{kind:?}");
    }
}
