//! The names of lines, written at their ends if the picture has room for them; otherwise the legend has them.

use super::axes::{self, TICK_SIZE};
use super::canvas::{Anchor, Canvas, text_width, wrap};
use super::curves::ranges;
use super::eyes::for_letters;
use super::frame::Rect;
use super::style::{Style, Styles};
use crate::figure::{Content, Mark, Panel, Series};

/// The largest number of lines of a panel that have their names at their ends.
const MOST: usize = 6;
/// The largest share of a cell, and the largest width, that names may take.
const SHARE: f64 = 0.36;
const WIDEST: f64 = 132.0;
/// The least width of the frame that is left.
const LEAST_FRAME: f64 = 130.0;
/// The largest distance of a name from the end of its line.
const FARTHEST: f64 = 46.0;
/// The largest share of the frame between the end of a line and the edge at which its name is.
const EARLIEST: f64 = 0.2;
const LINE: f64 = 12.5;
/// The gap between the frame and a name.
const GAP: f64 = 16.0;

/// A name at the end of a line.
struct Label {
    lines: Vec<String>,
    /// The last point of the line within the frame.
    end: (f64, f64),
    /// The middle of the name.
    middle: f64,
    look: Style,
}

impl Label {
    fn height(&self) -> f64 {
        self.lines.len() as f64 * LINE
    }
}

/// The room that the names need to the right of a panel in a cell of this size; `None` if they do not fit, or
/// if this kind of panel needs a legend.
pub(super) fn room(panel: &Panel, cell: Rect, styles: &Styles) -> Option<f64> {
    let Content::Curves { series, .. } = &panel.content else { return Some(0.0) };
    let most = (SHARE * cell.width).min(WIDEST);
    let words = series.iter().flat_map(|s| wrap(&styles.names(s), TICK_SIZE, most));
    let widest = words.map(|line| text_width(&line, TICK_SIZE)).fold(0.0, f64::max);
    let room = widest + GAP;
    if widest > most + 1.0 || cell.width - room - 60.0 < LEAST_FRAME {
        return None;
    }
    place(panel, Rect { width: cell.width - room, ..cell }, most, styles).map(|_| room)
}

/// Draws the names to the right of `cell`, in which the panel is drawn.
pub(super) fn draw(canvas: &mut Canvas, panel: &Panel, cell: Rect, room: f64, styles: &Styles) {
    let Some(labels) = place(panel, cell, room - GAP + 1.0, styles) else { return };
    for label in labels {
        let (color, left) = (label.look.stroke.color, cell.right() - 10.0 + GAP);
        let pale = color.towards(super::canvas::WHITE, 0.5);
        canvas.line((label.end.0 + 3.5, label.end.1), (cell.right() - 8.0, label.end.1), pale, 0.7);
        canvas.line((cell.right() - 8.0, label.end.1), (left - 3.0, label.middle), pale, 0.7);
        let first = label.middle - label.height() / 2.0 + LINE - 3.0;
        for (k, line) in label.lines.iter().enumerate() {
            canvas.text(left, first + k as f64 * LINE, line, TICK_SIZE, Anchor::Start, for_letters(color));
        }
    }
}

/// The places of the names, or `None` if they do not fit.
fn place(panel: &Panel, cell: Rect, width: f64, styles: &Styles) -> Option<Vec<Label>> {
    let Content::Curves { x, y, series } = &panel.content else { return Some(Vec::new()) };
    let drawn: Vec<&Series> = series.iter().filter(|s| !styles.is_twin(s)).collect();
    let plain = |s: &&Series| s.shade.is_none() && s.mark == Mark::Line;
    if drawn.len() > MOST || !drawn.iter().all(plain) || !y.names.is_empty() {
        return None;
    }
    let (found, whole) = ranges((x, y), series);
    let (across, up, frame) = axes::layout(cell, (x, y), found, whole);
    let mut labels = Vec::new();
    for s in drawn {
        let places = s.points.iter().filter_map(|p| Some((across.place(p.x)?, up.place(p.y))));
        let inside = places.filter(|(px, _)| (frame.x..=frame.right()).contains(px));
        let last = inside.max_by(|p, q| p.0.total_cmp(&q.0))?;
        // From farther away what leads to the name would look like the line going on.
        if frame.right() - last.0 > EARLIEST * frame.width {
            return None;
        }
        let py = last.1.unwrap_or(frame.bottom()).clamp(frame.y, frame.bottom());
        let lines = wrap(&styles.names(s), TICK_SIZE, width);
        labels.push(Label { lines, end: (last.0, py), middle: py, look: styles.get(s) });
    }
    labels.sort_by(|a, b| a.end.1.total_cmp(&b.end.1));
    // First move names down, each below the one before; then move them up from the bottom.
    let mut least = frame.y - 6.0;
    for label in &mut labels {
        label.middle = label.middle.max(least + label.height() / 2.0);
        least = label.middle + label.height() / 2.0 + 2.0;
    }
    let mut most = frame.bottom() + 8.0;
    for label in labels.iter_mut().rev() {
        label.middle = label.middle.min(most - label.height() / 2.0);
        most = label.middle - label.height() / 2.0 - 2.0;
    }
    let near = labels.iter().all(|label| (label.middle - label.end.1).abs() <= FARTHEST);
    (near && most >= frame.y - 30.0).then_some(labels)
}
