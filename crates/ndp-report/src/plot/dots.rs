//! A panel of rows of dots: names on the left, one dot for each case.

use super::axes::{self, Mapping, TICK_SIZE, data_range};
use super::canvas::{Anchor, BLACK, Canvas, GREY, PALE, Rgb, WHITE, text_width};
use super::curves::said;
use super::frame::Rect;
use super::style::{Style, style_of_case};
use crate::digits;
use crate::figure::{Axis, AxisScale, Content, Mark, Panel, Series};

/// Height of a row.
pub(super) const ROW: f64 = 20.0;
/// The height over which the cases of a row are spread if they have ranges. One above the other, each range
/// can be told from the next.
const LANES: f64 = 7.0;

/// The room on the left for the names of the rows of all `panels`, which are side by side. `None` unless all
/// are rows of dots with the same names; then each panel has its names inside.
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

/// Draws the rows. If there is a room of width `names` on the left, their names are written there.
pub(super) fn draw(
    canvas: &mut Canvas,
    cell: Rect,
    value: &Axis,
    cases: &[(f64, String)],
    series: &[Series],
    names: f64,
) {
    let frame = cell.inset(names + 6.0, 2.0, 6.0, 42.0);
    let values = series.iter().flat_map(|s| &s.points).flat_map(|p| [Some(p.y), p.low, p.high]).flatten();
    let across = Mapping::new(value, data_range(value, values, 0.06), [frame.x, frame.right()]);
    axes::below(canvas, frame, value, &across, if frame.width > 320.0 { 8 } else { 4 });
    if value.scale == AxisScale::Linear
        && let Some(zero) = across.place(0.0).filter(|x| (frame.x + 1.0..frame.right() - 1.0).contains(x))
    {
        canvas.line((zero, frame.y), (zero, frame.bottom()), GREY, 1.2);
    }
    let ranged = series.iter().flat_map(|s| &s.points).any(|p| p.range().is_some());
    for (k, s) in series.iter().enumerate() {
        let y = frame.y + (k as f64 + 0.5) * frame.height / series.len().max(1) as f64;
        canvas.line((frame.x, y), (frame.right(), y), PALE, 1.0);
        if names > 0.0 {
            canvas.text(frame.x - 7.0, y + 4.0, &s.name, TICK_SIZE, Anchor::End, BLACK);
        }
        if s.mark == Mark::Strip {
            strip_of(canvas, (frame, y), &across, s);
            continue;
        }
        let color = style_of_case(s.kind, 0).stroke.color.towards(WHITE, 0.5);
        let apart = ranged && cases.len() > 1;
        let lane = |x: f64| match cases.iter().position(|(case, _)| *case == x) {
            Some(case) if apart => y + LANES * (case as f64 / (cases.len() - 1) as f64 - 0.5),
            _ => y,
        };
        if let ([_, _], [one, other], false) = (cases, s.points.as_slice(), apart)
            && let (Some(from), Some(to)) = (across.place(one.y), across.place(other.y))
        {
            let [from, to] = [from, to].map(|x| x.clamp(frame.x, frame.right()));
            canvas.line((from, y), (to, y), color.towards(WHITE, 0.3), 2.5);
        }
        for point in &s.points {
            if let Some((low, high)) = point.range()
                && let (Some(left), Some(right)) = (across.place(low), across.place(high))
                && right - left > 0.5
            {
                let [left, right] = [left, right].map(|x| x.clamp(frame.x, frame.right()));
                let y = lane(point.x);
                canvas.line((left, y), (right, y), color, 1.4);
                for x in [left, right] {
                    canvas.line((x, y - 3.5), (x, y + 3.5), color, 1.4);
                }
            }
        }
        for point in &s.points {
            let Some(case) = cases.iter().position(|(x, _)| *x == point.x) else { continue };
            let y = lane(point.x);
            let Style { stroke, marker, .. } = style_of_case(s.kind, case);
            let hint = format!("{} ({})", said(s, point), cases[case].1);
            match across.place(point.y) {
                Some(x) if frame.contains((x, y)) => {
                    marker.draw(canvas, (x, y), 4.0, stroke.color);
                    canvas.hint((x, y), hint);
                }
                place => {
                    // The value is zero on a log axis, infinite, or outside the range.
                    let zero = value.scale == AxisScale::Log && point.y <= 0.0;
                    let right = !zero && place.is_none_or(|x| x > frame.right());
                    beyond(canvas, (frame, y), right, stroke.color);
                    let edge = if right { frame.right() - 3.0 } else { frame.x + 3.0 };
                    canvas.hint((edge, y), hint);
                }
            }
        }
    }
}

/// A triangle on the edge of the frame stands for a value beyond it.
fn beyond(canvas: &mut Canvas, (frame, y): (Rect, f64), right: bool, color: Rgb) {
    let (edge, tip) = if right { (frame.right(), 1.0) } else { (frame.x, -1.0) };
    let corners = [(-6.0, -4.0), (-6.0, 4.0), (0.0, 0.0)].map(|(dx, dy)| (edge + tip * dx, y + dy));
    canvas.polygon(&corners, None, 1.0, Some(color));
}

/// Draws five quantiles as a strip; those that have no place are on the edge.
fn strip_of(canvas: &mut Canvas, (frame, y): (Rect, f64), across: &Mapping, series: &Series) {
    let look = style_of_case(series.kind, 0);
    let place = |value: f64| {
        let missing = if value > 0.0 { frame.right() } else { frame.x };
        across.place(value).unwrap_or(missing).clamp(frame.x, frame.right())
    };
    let places: Vec<f64> = series.points.iter().map(|p| place(p.y)).collect();
    if let Ok(places) = <[f64; 5]>::try_from(places) {
        let shown =
            |y: f64| across.place(y).is_some_and(|x| (frame.x - 0.5..=frame.right() + 0.5).contains(&x));
        let middle = series.points[2].y;
        strip(canvas, y, places, look, shown(middle));
        for point in series.points.iter().filter(|point| !shown(point.y)) {
            beyond(canvas, (frame, y), place(point.y) >= frame.right(), look.stroke.color);
        }
        if !shown(middle) {
            let right = places[2] >= frame.right();
            let words = format!("median {}", digits::up(middle));
            let (x, anchor) =
                if right { (frame.right() - 9.0, Anchor::End) } else { (frame.x + 9.0, Anchor::Start) };
            canvas.text(x, y - 6.0, &words, TICK_SIZE, anchor, look.stroke.color);
        }
    }
    for point in &series.points {
        canvas.hint((place(point.y), y), said(series, point));
    }
}

/// A strip at height `y` through the places of five quantiles; the median is drawn if it is on the axis.
pub(super) fn strip(canvas: &mut Canvas, y: f64, places: [f64; 5], look: Style, median: bool) {
    let [least, lower, middle, upper, largest] = places;
    let color = look.stroke.color;
    canvas.line((least, y), (largest.max(least + 1.0), y), color.towards(WHITE, 0.35), 2.0);
    canvas.line((lower, y), (upper.max(lower + 1.0), y), color.towards(WHITE, 0.35), 8.0);
    if median {
        canvas.line((middle, y - 6.5), (middle, y + 6.5), color, 2.6);
    }
}
