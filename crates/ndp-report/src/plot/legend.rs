//! The legend below the panels: every series with its grade.

use super::canvas::{Anchor, BLACK, Canvas, Stroke, text_width, wrap};
use super::dots;
use super::style::{Style, Styles};
use crate::figure::Mark;

const SIZE: f64 = 12.0;
const ROW: f64 = 20.0;
/// Width of the sample line.
const SAMPLE: f64 = 44.0;
/// Length of that line.
const LINE: f64 = 34.0;

pub(super) struct Legend {
    entries: Vec<(String, Vec<Style>)>,
    columns: usize,
    column_width: f64,
}

impl Legend {
    pub(super) fn new(styles: &Styles, named: bool, width: f64) -> Self {
        // A text that is too wide for the picture goes on in the next row, which has no line of its own.
        let rows = styles.legend(named).flat_map(|(text, looks)| {
            let lines = wrap(&text, SIZE, width - SAMPLE).into_iter();
            lines.enumerate().map(move |(k, line)| (line, if k == 0 { looks.clone() } else { Vec::new() }))
        });
        let entries: Vec<(String, Vec<Style>)> = rows.collect();
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
        for (i, (text, looks)) in self.entries.iter().enumerate() {
            let left = x + (i / rows) as f64 * self.column_width;
            let middle = y + (i % rows) as f64 * ROW + ROW / 2.0;
            match looks.as_slice() {
                [look] => sample(canvas, (left, middle), *look),
                looks => {
                    let part = LINE / looks.len() as f64;
                    for (k, look) in looks.iter().enumerate() {
                        let start = left + k as f64 * part;
                        let stroke = Stroke { dashes: &[], width: 5.0, ..look.stroke };
                        canvas.polyline(&[(start, middle), (start + part, middle)], stroke);
                    }
                }
            }
            canvas.text(left + SAMPLE, middle + 4.0, text, SIZE, Anchor::Start, BLACK);
        }
    }
}

/// What a series looks like.
fn sample(canvas: &mut Canvas, (left, middle): (f64, f64), look: Style) {
    let color = look.stroke.color;
    match look.mark {
        Mark::Bars => {
            let corners = [(0.0, 6.0), (0.0, -6.0), (LINE, -6.0), (LINE, 6.0)];
            let corners = corners.map(|(dx, dy)| (left + dx, middle + dy));
            canvas.polygon(&corners, Some(color), 0.22, None);
            canvas.polyline(&[corners[1], corners[2]], look.stroke);
        }
        Mark::Strip => {
            dots::strip(canvas, middle, [0.0, 10.0, 17.0, 24.0, LINE].map(|dx| left + dx), look, true)
        }
        Mark::Line => {
            canvas.polyline(&[(left, middle), (left + LINE, middle)], look.stroke);
            look.marker.draw(canvas, (left + LINE / 2.0, middle), 3.0, color);
        }
        Mark::Points => look.marker.draw(canvas, (left + LINE / 2.0, middle), 3.0, color),
    }
}
