//! The legend below the panels: every series with its grade.

use super::canvas::{Anchor, BLACK, Canvas, text_width};
use super::style::{Style, Styles};
use crate::figure::Mark;

const SIZE: f64 = 12.0;
const ROW: f64 = 20.0;
/// Width of the sample line.
const SAMPLE: f64 = 44.0;

pub(super) struct Legend {
    entries: Vec<(String, Style)>,
    columns: usize,
    column_width: f64,
}

impl Legend {
    pub(super) fn new(styles: &Styles, width: f64) -> Self {
        let entries: Vec<(String, Style)> = styles.legend().collect();
        let widest = entries.iter().map(|(text, _)| text_width(text, SIZE)).fold(0.0, f64::max);
        let fit = (width / (SAMPLE + widest + 18.0)).floor().max(1.0) as usize;
        let columns = fit.min(entries.len()).max(1);
        // As few columns as the number of rows allows, so that entries are close together.
        let rows = entries.len().div_ceil(columns);
        let columns = entries.len().div_ceil(rows.max(1)).max(1);
        Self { entries, columns, column_width: width / columns as f64 }
    }

    fn rows(&self) -> usize {
        self.entries.len().div_ceil(self.columns)
    }

    pub(super) fn height(&self) -> f64 {
        self.rows() as f64 * ROW
    }

    /// Filled column by column, so that series of one grade are below each other.
    pub(super) fn draw(&self, canvas: &mut Canvas, x: f64, y: f64) {
        let rows = self.rows().max(1);
        for (i, (text, style)) in self.entries.iter().enumerate() {
            let left = x + (i / rows) as f64 * self.column_width;
            let middle = y + (i % rows) as f64 * ROW + ROW / 2.0;
            let color = style.stroke.color;
            if style.mark == Mark::Bars {
                let corners = [(0.0, 6.0), (0.0, -6.0), (34.0, -6.0), (34.0, 6.0)];
                let corners: Vec<(f64, f64)> =
                    corners.iter().map(|&(dx, dy)| (left + dx, middle + dy)).collect();
                canvas.polygon(&corners, Some(color), 0.22, None);
                canvas.polyline(&[corners[1], corners[2]], style.stroke);
            } else {
                if style.mark == Mark::Line {
                    canvas.polyline(&[(left, middle), (left + 34.0, middle)], style.stroke);
                }
                style.marker.draw(canvas, (left + 17.0, middle), 3.0, color);
            }
            canvas.text(left + SAMPLE, middle + 4.0, text, SIZE, Anchor::Start, BLACK);
        }
    }
}
