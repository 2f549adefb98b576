//! A table as a picture. The report also shows it as text.

use super::axes::power_of_ten;
use super::canvas::{Anchor, BLACK, Canvas, GREY, PALE, text_width, wrap};
use super::frame::Rect;
use crate::figure::Series;

const SIZE: f64 = 12.0;
const ROW: f64 = 20.0;
const HEADER: f64 = 48.0;

/// The abscissas of all columns, in the order in which they first appear.
fn abscissas(series: &[Series]) -> Vec<f64> {
    let mut all: Vec<f64> = Vec::new();
    for point in series.iter().flat_map(|s| &s.points) {
        if !all.contains(&point.x) {
            all.push(point.x);
        }
    }
    all
}

/// The text of a cell: the number, with its range if it has one.
pub fn cell_text(y: f64, low: Option<f64>, high: Option<f64>) -> String {
    match (low, high) {
        (Some(low), Some(high)) if ((high - y) - (y - low)).abs() <= 1e-9 * (high - low).abs() => {
            spread_text(y, high - y)
        }
        (Some(low), Some(high)) => format!("{} [{}, {}]", short(y), short(low), short(high)),
        _ => short(y),
    }
}

/// A mean with its standard deviation, to two digits of the latter.
fn spread_text(mean: f64, deviation: f64) -> String {
    if !(1e-6..1e4).contains(&deviation) {
        return format!("{} ± {}", short(mean), short(deviation));
    }
    let decimals = (1.0 - deviation.log10().floor()).max(0.0) as usize;
    format!("{mean:.decimals$} ± {deviation:.decimals$}")
}

/// A number as a reader writes it.
pub fn short(value: f64) -> String {
    power_of_ten(value)
}

pub(super) fn height(series: &[Series]) -> f64 {
    HEADER + abscissas(series).len() as f64 * ROW
}

pub(super) fn draw(canvas: &mut Canvas, cell: Rect, rows: &str, names: &[(f64, String)], series: &[Series]) {
    let abscissas = abscissas(series);
    let name = |x: f64| names.iter().find(|(at, _)| *at == x).map_or_else(|| short(x), |(_, n)| n.clone());
    let first = abscissas
        .iter()
        .map(|&x| text_width(&name(x), SIZE))
        .fold(text_width(rows, SIZE), f64::max)
        .min(cell.width * 0.4)
        + 14.0;
    let width = (cell.width - first) / series.len().max(1) as f64;
    canvas.text(cell.x + 4.0, cell.y + HEADER - 8.0, rows, SIZE, Anchor::Start, BLACK);
    for (j, s) in series.iter().enumerate() {
        let right = cell.x + first + (j + 1) as f64 * width - 6.0;
        let lines = wrap(&s.name, 11.0, width - 8.0);
        for (i, line) in lines.iter().take(2).enumerate() {
            canvas.text(right, cell.y + 12.0 + 13.0 * i as f64, line, 11.0, Anchor::End, BLACK);
        }
        canvas.text(right, cell.y + HEADER - 8.0, s.kind.as_str(), 11.0, Anchor::End, GREY);
    }
    let line = |canvas: &mut Canvas, y: f64, color| {
        canvas.line((cell.x, y), (cell.right(), y), color, 1.0);
    };
    line(canvas, cell.y + HEADER - 3.0, BLACK);
    for (i, &x) in abscissas.iter().enumerate() {
        let baseline = cell.y + HEADER + (i as f64 + 0.7) * ROW;
        canvas.text(cell.x + 4.0, baseline, &name(x), SIZE, Anchor::Start, BLACK);
        for (j, s) in series.iter().enumerate() {
            let Some(point) = s.points.iter().find(|p| p.x == x) else { continue };
            let text = cell_text(point.y, point.low, point.high);
            let size = if text_width(&text, SIZE) < width - 8.0 { SIZE } else { 11.0 };
            let right = cell.x + first + (j + 1) as f64 * width - 6.0;
            canvas.text(right, baseline, &text, size, Anchor::End, BLACK);
        }
        line(canvas, cell.y + HEADER + (i + 1) as f64 * ROW, PALE);
    }
}
