//! Colours as readers see them: all kinds of cones, one kind missing, or a copy in grey.

use super::canvas::Rgb;

/// What eyes without one kind of cone see (Machado, Oliveira, Fernandes 2009, severity 1), in linear light.
const BLINDNESS: [[[f64; 3]; 3]; 3] = [
    [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
];

/// The light of a colour, its channels in linear scale.
fn linear(Rgb(r, g, b): Rgb) -> [f64; 3] {
    [r, g, b].map(|c| {
        let c = f64::from(c) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    })
}

/// How bright light is, 1 for white.
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

/// The least distance of two colours in CIELAB, over five readers.
pub(super) fn distance(one: Rgb, other: Rgb) -> f64 {
    let pairs = seen(one).into_iter().zip(seen(other));
    pairs
        .map(|(p, q)| p.iter().zip(q).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt())
        .fold(f64::INFINITY, f64::min)
}

/// The ratio of the luminances of white paper and of a colour on it, by the rules of WCAG.
pub(super) fn contrast(color: Rgb) -> f64 {
    1.05 / (luminance(linear(color)) + 0.05)
}

/// The colour for letters: darkened until it can be read on white paper.
pub(super) fn for_letters(color: Rgb) -> Rgb {
    let darker = (0..=20).map(|k| color.towards(Rgb(0, 0, 0), 0.05 * f64::from(k)));
    darker.into_iter().find(|&dark| contrast(dark) >= 4.6).unwrap_or(Rgb(0, 0, 0))
}
