//! Colours for numbers, and the bar that explains them.

use super::axes::{Mapping, TICK_SIZE};
use super::canvas::{Anchor, BLACK, Canvas, Rgb};
use super::frame::Rect;
use crate::figure::{Axis, AxisScale, Kind};

/// Dark violet to yellow: equal steps look equal, in grey and to colour-blind readers, too. Every eighth
/// colour of the palette known as viridis (van der Walt, Smith, 2015).
const STOPS: [Rgb; 9] = [
    Rgb(68, 1, 84),
    Rgb(71, 44, 122),
    Rgb(59, 81, 139),
    Rgb(44, 113, 142),
    Rgb(33, 144, 141),
    Rgb(39, 173, 129),
    Rgb(92, 200, 99),
    Rgb(170, 220, 50),
    Rgb(253, 231, 37),
];

/// The colour of an infinite value. No finite value has it, however large it is.
pub(super) const ENDLESS: Rgb = Rgb(0xd6, 0x28, 0x28);

/// What a picture says of an infinite value.
pub(super) const fn endless(kind: Kind) -> &'static str {
    match kind {
        Kind::Data => "infinite",
        Kind::Graded(_) => "no bound",
    }
}

/// The colour at `share` of the way along the scale, in 256 steps.
pub(super) fn color(share: f64) -> Rgb {
    let step = (share.clamp(0.0, 1.0) * 255.0).round() / 255.0;
    let place = step * (STOPS.len() - 1) as f64;
    let i = (place as usize).min(STOPS.len() - 2);
    STOPS[i].towards(STOPS[i + 1], place - i as f64)
}

/// The colour of a value, including values off the scale: zero on a logarithmic scale gets the lowest colour.
pub(super) fn color_of(map: &Mapping, value: f64) -> Option<Rgb> {
    if value.is_nan() {
        return None;
    }
    if value == f64::INFINITY {
        return Some(ENDLESS);
    }
    Some(color(map.share(value).unwrap_or(if value > 0.0 { 1.0 } else { 0.0 })))
}

/// Width that the bar needs beside a panel.
pub(super) const BAR_ROOM: f64 = 88.0;

/// The height that the entry of infinite values takes above the bar.
const ENTRY: f64 = 26.0;
const WIDTH: f64 = 14.0;

/// Draws the bar of a colour scale along the right edge of `cell`, and above it an entry for the colour of
/// infinite `values` if there are any; returns the mapping. If no value has a place on the scale, there is no
/// bar.
pub(super) fn bar(
    canvas: &mut Canvas,
    cell: Rect,
    (axis, range): (&Axis, [f64; 2]),
    (values, kind): (&mut dyn Iterator<Item = f64>, Kind),
) -> Mapping {
    const STRIPES: usize = 128;
    let x = cell.right() - BAR_ROOM + 18.0;
    let values: Vec<f64> = values.filter(|value| !value.is_nan()).collect();
    let unbounded = values.contains(&f64::INFINITY);
    if unbounded {
        canvas.cells(&[(x, cell.y, WIDTH, WIDTH, ENDLESS)]);
        canvas.text(x + 20.0, cell.y + 11.0, endless(kind), TICK_SIZE, Anchor::Start, BLACK);
    }
    let cell = cell.inset(0.0, if unbounded { ENTRY } else { 0.0 }, 0.0, 0.0);
    let map = Mapping::new(axis, range, [cell.bottom(), cell.y]);
    if unbounded && values.iter().all(|&value| value == f64::INFINITY) {
        return map;
    }
    let stripe = cell.height / STRIPES as f64;
    let cells: Vec<(f64, f64, f64, f64, Rgb)> = (0..STRIPES)
        .map(|i| {
            let y = cell.bottom() - (i + 1) as f64 * stripe;
            // A small overlap avoids seams.
            (x, y, WIDTH, stripe + 0.4, color((i as f64 + 0.5) / STRIPES as f64))
        })
        .collect();
    canvas.cells(&cells);
    for (value, label) in map.ticks(6).0 {
        let Some(y) = map.place(value) else { continue };
        canvas.line((x + WIDTH, y), (x + 18.0, y), BLACK, 1.0);
        let least = axis.scale == AxisScale::Log && axis.range.is_some_and(|[least, _]| least == value);
        let label = match (axis.most == Some(value), least) {
            (true, _) => format!("≥ {label}"),
            (_, true) => format!("≤ {label}"),
            _ => label,
        };
        canvas.text(x + 20.0, y + 4.0, &label, TICK_SIZE, Anchor::Start, BLACK);
    }
    canvas.upward_text(x - 5.0, cell.y + cell.height / 2.0, &axis.label, TICK_SIZE);
    map
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_runs_from_end_to_end() {
        assert_eq!(color(0.0), STOPS[0]);
        assert_eq!(color(1.0), STOPS[8]);
        assert_eq!(color(7.0), STOPS[8]);
        let map = Mapping::new(&Axis::log("l"), [0.1, 1.0], [0.0, 1.0]);
        assert_eq!(color_of(&map, 0.0), Some(STOPS[0]));
        assert_eq!(color_of(&map, f64::MAX), Some(STOPS[8]));
        assert_eq!(color_of(&map, f64::NAN), None);
    }

    /// An infinite value has a colour of its own, also where the scale ends below the largest values.
    #[test]
    fn infinite_values_are_off_the_scale() {
        for axis in [Axis::linear("l"), Axis::log("l"), Axis::log("l").colored_to(1.0)] {
            let map = Mapping::new(&axis, [0.1, 1.0], [0.0, 1.0]);
            assert_eq!(color_of(&map, f64::INFINITY), Some(ENDLESS));
        }
        assert!((0..=255).all(|step| color(f64::from(step) / 255.0) != ENDLESS));
    }
}
