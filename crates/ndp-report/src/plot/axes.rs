//! From numbers to positions: ranges, ticks and the frame of a panel of curves.

use super::canvas::{Anchor, BLACK, Canvas, GREY, PALE, text_width};
use super::frame::Rect;
use crate::figure::{Axis, AxisScale};

/// Size of the letters at ticks.
pub(super) const TICK_SIZE: f64 = 11.0;
const LABEL_SIZE: f64 = 12.0;

/// The drawn range of an axis over `values`, widened by `padding` times its length at each end that the axis
/// does not fix. If one end of the axis's range is infinite, the other end is a limit: values beyond it do
/// not widen the drawn range. Values that cannot be drawn are ignored.
pub(super) fn data_range(axis: &Axis, values: impl Iterator<Item = f64>, padding: f64) -> [f64; 2] {
    let [first, last] = axis.range.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
    if first.is_finite() && last.is_finite() {
        return [first, last];
    }
    let [low, high] = range_of(axis, values.filter(|value| (first..=last).contains(value)), padding);
    [low.max(first), high.min(last)]
}

fn range_of(axis: &Axis, values: impl Iterator<Item = f64>, padding: f64) -> [f64; 2] {
    let log = axis.scale == AxisScale::Log;
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for value in values.filter(|v| v.is_finite() && (!log || *v > 0.0)) {
        let value = axis.most.map_or(value, |most| value.min(most));
        low = low.min(value);
        high = high.max(value);
    }
    if low > high {
        return [0.1, 1.0];
    }
    if log {
        if high / low < 1.0 + 1e-9 {
            return [low / 2.0, high * 2.0];
        }
        let room = (high / low).powf(padding);
        [low / room, high * room]
    } else {
        if high - low < 1e-9 * high.abs().max(1e-300) {
            // Most numbers that are all 0 are losses, which are never below it.
            let room = 0.1 * high.abs();
            return if high == 0.0 { [0.0, 1.0] } else { [low - room, high + room] };
        }
        let room = padding * (high - low);
        // A range of positive numbers that nearly reaches zero starts at zero.
        let start = if low >= 0.0 && low < 0.25 * high { 0.0_f64.min(low) } else { low - room };
        [start, high + room]
    }
}

/// Maps the numbers of an axis to the positions between two pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mapping {
    pub(super) scale: AxisScale,
    pub(super) range: [f64; 2],
    pub(super) pixels: [f64; 2],
    most: Option<f64>,
    /// Whether the axis shows whole numbers only, so that there are no ticks between them.
    whole: bool,
}

impl Mapping {
    pub(super) fn new(axis: &Axis, range: [f64; 2], pixels: [f64; 2]) -> Self {
        Self { scale: axis.scale, range, pixels, most: axis.most, whole: false }
    }

    /// The mapping of an axis on which all values are whole numbers.
    pub(super) fn of_whole_numbers(self) -> Self {
        Self { whole: true, ..self }
    }

    /// How far `value` is along the axis: 0 at its start, 1 at its end; `None` for a value that has no
    /// position on it.
    pub(super) fn share(&self, value: f64) -> Option<f64> {
        if value.is_nan() {
            return None;
        }
        let value = self.most.map_or(value, |most| value.min(most));
        let [low, high] = self.range;
        let share = match self.scale {
            AxisScale::Linear => (value - low) / (high - low),
            AxisScale::Log if value > 0.0 => (value / low).ln() / (high / low).ln(),
            AxisScale::Log => return None,
        };
        share.is_finite().then_some(share)
    }

    /// The pixel of `value`.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        let [start, end] = self.pixels;
        // Pixels far outside would overflow in the PNG; the line is clipped at the frame anyway.
        self.share(value).map(|share| start + share.clamp(-50.0, 50.0) * (end - start))
    }

    /// The ticks with a label, and the smaller ones without.
    pub(super) fn ticks(&self, most: usize) -> (Vec<(f64, String)>, Vec<f64>) {
        match self.scale {
            AxisScale::Linear => (linear_ticks(self.range, most, self.whole), Vec::new()),
            AxisScale::Log => log_ticks(self.range, most),
        }
    }
}

/// Multiples of 1, 2 or 5 times a power of ten.
fn linear_ticks([low, high]: [f64; 2], most: usize, whole: bool) -> Vec<(f64, String)> {
    let raw = ((high - low) / most.max(1) as f64).max(if whole { 1.0 } else { 0.0 });
    let power = 10.0_f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|&s| s >= raw).unwrap_or(raw);
    if !(step > 0.0 && step.is_finite()) {
        return Vec::new();
    }
    let slack = 1e-9 * (high - low);
    let first = ((low - slack) / step).ceil() as i64;
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    let mut ticks = Vec::new();
    for i in first..first + 50 {
        let value = i as f64 * step;
        if value > high + slack {
            break;
        }
        let large = value.abs() >= 1e5 || (step < 1e-4 && value != 0.0);
        let label = if large { power_of_ten(value) } else { format!("{value:.decimals$}") };
        ticks.push((value, label));
    }
    ticks
}

/// Powers of ten at regular intervals; if there are few, 2 and 5 between them, too.
fn log_ticks([low, high]: [f64; 2], most: usize) -> (Vec<(f64, String)>, Vec<f64>) {
    let (first, last) = (low.log10(), high.log10());
    let inside = |v: f64| (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(&v);
    let decades = last - first;
    let digits: &[f64] = if decades < 1.0 {
        &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0]
    } else if decades < 2.5 {
        &[1.0, 2.0, 5.0]
    } else {
        &[1.0]
    };
    let every = (decades / most.max(1) as f64).ceil().max(1.0) as i64;
    let mut major = Vec::new();
    let mut minor = Vec::new();
    for exponent in first.floor() as i64..=last.ceil() as i64 {
        let power = 10.0_f64.powi(exponent as i32);
        for &digit in digits {
            if inside(digit * power) && exponent.rem_euclid(every) == 0 {
                major.push((digit * power, power_of_ten(digit * power)));
            }
        }
        if every == 1 {
            minor.extend((2..10).map(|digit| f64::from(digit) * power).filter(|&v| inside(v)));
        } else if inside(power) {
            minor.push(power);
        }
    }
    (major, minor)
}

/// A number as a reader writes it: plain, or as a power of ten.
pub(super) fn power_of_ten(value: f64) -> String {
    if value == 0.0 || (0.000_9..99_999.5).contains(&value.abs()) {
        let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
        return rounded.to_string();
    }
    let text = format!("{value:.2e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
    let raised: String = exponent.chars().map(superscript).collect();
    match mantissa {
        "1" => format!("10{raised}"),
        "-1" => format!("-10{raised}"),
        _ => format!("{mantissa}·10{raised}"),
    }
}

fn superscript(c: char) -> char {
    let digits = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    match c.to_digit(10) {
        Some(digit) => digits[digit as usize],
        None => '⁻',
    }
}

/// Draws the frame with its ticks across, about `most` of them, and the label below.
pub(super) fn below(canvas: &mut Canvas, frame: Rect, axis: &Axis, across: &Mapping, most: usize) {
    let (major, minor) = across.ticks(most);
    for value in minor {
        if let Some(px) = across.place(value) {
            canvas.line((px, frame.bottom()), (px, frame.bottom() + 2.5), GREY, 0.8);
        }
    }
    // The right end of the last number; a number that would touch it is left out.
    let mut end = f64::NEG_INFINITY;
    for (value, label) in major {
        let Some(px) = across.place(value) else { continue };
        canvas.line((px, frame.y), (px, frame.bottom()), PALE, 1.0);
        canvas.line((px, frame.bottom()), (px, frame.bottom() + 4.5), BLACK, 1.0);
        let half = text_width(&label, TICK_SIZE) / 2.0;
        if px - half > end + 7.0 {
            canvas.text(px, frame.bottom() + 17.0, &label, TICK_SIZE, Anchor::Middle, BLACK);
            end = px + half;
        }
    }
    let corners = [
        (frame.x, frame.y),
        (frame.right(), frame.y),
        (frame.right(), frame.bottom()),
        (frame.x, frame.bottom()),
        (frame.x, frame.y),
    ];
    for side in corners.windows(2) {
        canvas.line(side[0], side[1], BLACK, 1.0);
    }
    let middle = frame.x + frame.width / 2.0;
    canvas.text(middle, frame.bottom() + 35.0, &axis.label, LABEL_SIZE, Anchor::Middle, BLACK);
}

/// The ticks of a vertical axis, or its names.
fn upward_ticks(y: &Axis, range: [f64; 2]) -> (Vec<(f64, String)>, Vec<f64>) {
    if y.names.is_empty() {
        return Mapping::new(y, range, [0.0, 1.0]).ticks(6);
    }
    (y.names.iter().enumerate().map(|(at, name)| (at as f64, name.clone())).collect(), Vec::new())
}

/// The frame of a panel of curves within its cell, and the two mappings into it; abscissas may be `whole`.
pub(super) fn layout(
    cell: Rect,
    (x, y): (&Axis, &Axis),
    (x_range, y_range): ([f64; 2], [f64; 2]),
    whole: bool,
) -> (Mapping, Mapping, Rect) {
    let (ticks, _) = upward_ticks(y, y_range);
    let widest = ticks.iter().map(|(_, label)| text_width(label, TICK_SIZE)).fold(0.0, f64::max);
    let frame = cell.inset(widest + 34.0, 2.0, 10.0, 42.0);
    let across = Mapping::new(x, x_range, [frame.x, frame.right()]);
    let across = if whole { across.of_whole_numbers() } else { across };
    (across, Mapping::new(y, y_range, [frame.bottom(), frame.y]), frame)
}

/// Draws the frame, the grid, the ticks and the labels of a panel of curves, whose abscissas may
/// be `whole` numbers; returns the two mappings and the frame.
pub(super) fn draw(
    canvas: &mut Canvas,
    cell: Rect,
    (x, y): (&Axis, &Axis),
    ranges: ([f64; 2], [f64; 2]),
    whole: bool,
) -> (Mapping, Mapping, Rect) {
    let (across, up, frame) = layout(cell, (x, y), ranges, whole);
    let (y_ticks, y_minor) = upward_ticks(y, ranges.1);
    below(canvas, frame, x, &across, if frame.width > 320.0 { 8 } else { 5 });
    for value in y_minor {
        if let Some(py) = up.place(value) {
            canvas.line((frame.x - 2.5, py), (frame.x, py), GREY, 0.8);
        }
    }
    for (value, label) in y_ticks {
        let Some(py) = up.place(value) else { continue };
        canvas.line((frame.x, py), (frame.right(), py), PALE, 1.0);
        canvas.line((frame.x - 4.5, py), (frame.x, py), BLACK, 1.0);
        canvas.text(frame.x - 7.0, py + 4.0, &label, TICK_SIZE, Anchor::End, BLACK);
    }
    canvas.upward_text(cell.x + 13.0, frame.y + frame.height / 2.0, &y.label, LABEL_SIZE);
    (across, up, frame)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: Vec<(f64, String)>) -> Vec<String> {
        ticks.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(linear_ticks([0.0, 1.0], 6, false)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(linear_ticks([0.0, 25.5], 6, false)), ["0", "5", "10", "15", "20", "25"]);
        assert_eq!(labels(linear_ticks([0.0, 3e5], 3, false)), ["0", "10⁵", "2·10⁵", "3·10⁵"]);
        assert_eq!(labels(linear_ticks([0.9, 4.1], 8, true)), ["1", "2", "3", "4"]);
        assert_eq!(labels(log_ticks([1e-5, 1.2], 6).0), ["10⁻⁵", "10⁻⁴", "0.001", "0.01", "0.1", "1"]);
        assert_eq!(labels(log_ticks([0.3, 7.0], 6).0), ["0.5", "1", "2", "5"]);
        assert_eq!(labels(log_ticks([1.0, 1e10], 6).0), ["1", "100", "10000", "10⁶", "10⁸", "10¹⁰"]);
        assert!(linear_ticks([1.0, 1.0], 6, false).len() < 60);
    }

    #[test]
    fn ranges_leave_out_what_cannot_be_drawn() {
        let values = [0.0, 1e-3, 0.1, f64::INFINITY, f64::NAN, 30.0];
        let log = Axis::log("l").colored_to(1.0);
        assert_eq!(data_range(&log, values.into_iter(), 0.0), [1e-3, 1.0]);
        let from = Axis::log("l").range(0.01, f64::INFINITY);
        assert_eq!(data_range(&from, values.into_iter(), 0.0), [0.1, 30.0]);
        assert_eq!(data_range(&from, [0.001, 0.01, 1.0].into_iter(), 0.1), [0.01, 10.0_f64.powf(0.2)]);
        assert_eq!(data_range(&Axis::linear("l"), values.into_iter(), 0.0), [0.0, 30.0]);
        assert_eq!(data_range(&log.range(0.5, 2.0), values.into_iter(), 0.0), [0.5, 2.0]);
        assert_eq!(data_range(&Axis::linear("l"), [].into_iter(), 0.0), [0.1, 1.0]);
        assert_eq!(data_range(&Axis::linear("l"), [3.0].into_iter(), 0.0), [2.7, 3.3]);
        // Losses that are all 0, or 0 and infinite, have no place for less than that.
        for zeros in [[0.0, 0.0], [0.0, f64::INFINITY]] {
            assert_eq!(data_range(&Axis::linear("l"), zeros.into_iter(), 0.05), [0.0, 1.0]);
        }
    }

    #[test]
    fn nothing_has_a_place_below_zero_on_a_log_axis() {
        let map = Mapping::new(&Axis::log("l").colored_to(10.0), [0.1, 10.0], [100.0, 0.0]);
        assert_eq!(map.place(0.0), None);
        assert_eq!(map.place(-1.0), None);
        assert_eq!(map.place(f64::NAN), None);
        assert!((map.place(1.0).unwrap() - 50.0).abs() < 1e-9);
        assert!(map.place(1e9).unwrap().abs() < 1e-9);
    }

    #[test]
    fn ticks_and_ranges_depend_on_differences() {
        let far = labels(linear_ticks([100.0, 101.0], 6, false));
        assert_eq!(far, ["100.0", "100.2", "100.4", "100.6", "100.8", "101.0"]);
        assert_eq!(labels(linear_ticks([-3.0, 3.0], 6, false)), ["-3", "-2", "-1", "0", "1", "2", "3"]);
        let small = [1e-6, 2e-6];
        assert_eq!(data_range(&Axis::linear("l"), small.into_iter(), 0.0), small);
        let large = [1e12, 3e12];
        assert_eq!(data_range(&Axis::linear("l"), large.into_iter(), 0.0), large);
    }
}
