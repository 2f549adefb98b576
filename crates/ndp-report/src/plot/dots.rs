//! A panel of rows of dots: names on the left, one dot for each case.

use super::axes::{self, Mapping, TICK_SIZE, data_range};
use super::canvas::{Anchor, BLACK, Canvas, PALE, text_width};
use super::curves::said;
use super::frame::Rect;
use super::style::{Style, style_of_case};
use crate::figure::{Axis, AxisScale, Content, Panel, Series};

/// Height of a row.
pub(super) const ROW: f64 = 20.0;

/// The room on the left that the names of the rows of all `panels`, which stand side by side, take together;
/// `None` unless they are dots with the same rows. Panels with other rows have their names within.
pub(super) fn shared_names(panels: &[&Panel]) -> Option<f64> {
    let rows = |panel: &&Panel| match &panel.content {
        Content::Dots { series, .. } => Some(series.iter().map(|s| s.name.clone()).collect::<Vec<_>>()),
        _ => None,
    };
    let first = rows(panels.first()?)?;
    let same = panels.iter().all(|panel| rows(panel).is_some_and(|names| names == first));
    same.then_some(room_of(first.iter()))
}

/// The room that the names of these rows take.
pub(super) fn names_of(series: &[Series]) -> f64 {
    room_of(series.iter().map(|s| &s.name))
}

fn room_of<'a>(names: impl Iterator<Item = &'a String>) -> f64 {
    names.map(|name| text_width(name, TICK_SIZE)).fold(0.0, f64::max) + 12.0
}

/// Draws the rows; their names are written into the room of width `names` on the left, if there is one.
pub(super) fn draw(
    canvas: &mut Canvas,
    cell: Rect,
    value: &Axis,
    cases: &[(f64, String)],
    series: &[Series],
    names: f64,
) {
    let frame = cell.inset(names + 6.0, 2.0, 6.0, 42.0);
    let values = series.iter().flat_map(|s| s.points.iter().map(|p| p.y));
    let across = Mapping::new(value, data_range(value, values, 0.06), [frame.x, frame.right()]);
    axes::below(canvas, frame, value, &across, if frame.width > 320.0 { 8 } else { 4 });
    for (k, s) in series.iter().enumerate() {
        let y = frame.y + (k as f64 + 0.5) * frame.height / series.len().max(1) as f64;
        canvas.line((frame.x, y), (frame.right(), y), PALE, 1.0);
        if names > 0.0 {
            canvas.text(frame.x - 7.0, y + 4.0, &s.name, TICK_SIZE, Anchor::End, BLACK);
        }
        for point in &s.points {
            let Some(case) = cases.iter().position(|(x, _)| *x == point.x) else { continue };
            let Style { stroke, marker, .. } = style_of_case(s.kind, case);
            match across.place(point.y) {
                Some(x) if frame.contains((x, y)) => {
                    marker.draw(canvas, (x, y), 4.0, stroke.color);
                    canvas.hint((x, y), said(s, point));
                }
                place => {
                    // Zero on a log axis, infinity, or what the range leaves out: a triangle on the edge.
                    let zero = value.scale == AxisScale::Log && point.y <= 0.0;
                    let right = !zero && place.is_none_or(|x| x > frame.right());
                    let (edge, tip) = if right { (frame.right(), 1.0) } else { (frame.x, -1.0) };
                    let corners =
                        [(-6.0, -4.0), (-6.0, 4.0), (0.0, 0.0)].map(|(dx, dy)| (edge + tip * dx, y + dy));
                    canvas.polygon(&corners, None, 1.0, Some(stroke.color));
                    canvas.hint((edge - tip * 3.0, y), said(s, point));
                }
            }
        }
    }
}
