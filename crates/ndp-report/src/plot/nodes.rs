//! A graph with coloured nodes.

use super::axes::TICK_SIZE;
use super::canvas::{Anchor, BLACK, Canvas, GREY, Rgb, WHITE, text_width};
use super::colors::{BAR_ROOM, bar, color_of};
use super::frame::Rect;
use super::style::graded_name;
use crate::figure::{Axis, Drawing};
use crate::table::number;

/// Graphs of up to this many nodes show all names, cut to [`LONGEST_NAME`] letters.
const MOST_NAMED: usize = 60;
const LONGEST_NAME: usize = 12;
/// The distance between two lines of a caption.
const LINE: f64 = 14.0;
const EDGE: Rgb = Rgb(0xd2, 0xd2, 0xd2);
/// The colour of edges in a graph with many edges: they overlap, and should not become one grey area.
const PALE_EDGE: Rgb = Rgb(0xe6, 0xe6, 0xe6);

pub(super) fn draw(canvas: &mut Canvas, cell: Rect, color: &Axis, range: [f64; 2], drawing: &Drawing) {
    let sampled = drawing.edges.len() < drawing.edge_count;
    let area = cell.inset(8.0, 4.0, BAR_ROOM, if sampled { 26.0 + LINE } else { 26.0 });
    let beside = Rect { width: area.width + BAR_ROOM, ..area };
    let map = bar(canvas, beside, (color, range), (&mut drawing.values.iter().copied(), drawing.kind));
    let places = places(area, &drawing.positions);
    let n = places.len();
    let (edge, width) = if drawing.edges.len() > 1000 { (PALE_EDGE, 0.5) } else { (EDGE, 0.9) };
    for &(u, v) in &drawing.edges {
        canvas.line(places[u], places[v], edge, width);
    }
    let radius = (0.42 * typical_gap(&places)).clamp(1.7, 6.0);
    // Nodes with low values are drawn first, so that they do not hide those that matter.
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| drawing.values[a].total_cmp(&drawing.values[b]));
    for v in order {
        let fill = color_of(&map, drawing.values[v]).unwrap_or(GREY);
        // A dark edge shows an infinite value on a copy in grey, too.
        let outline = if drawing.values[v] == f64::INFINITY {
            Some((BLACK, 1.2))
        } else {
            (radius > 2.5).then_some((WHITE, 0.5))
        };
        canvas.circle(places[v], radius, fill, outline);
        if !drawing.values[v].is_nan() {
            let value = number(drawing.values[v]);
            canvas.hint(places[v], format!("node {}, {}: {value}", name(drawing, v), drawing.kind.as_str()));
        }
    }
    for &v in &drawing.marked {
        let fill = color_of(&map, drawing.values[v]).unwrap_or(GREY);
        let large = (1.4 * radius).max(4.5);
        canvas.circle(places[v], large, fill, Some((WHITE, 1.0)));
        canvas.circle_outline(places[v], large + 1.5, Rgb(0xd6, 0x28, 0x28), 1.8);
    }
    if n <= MOST_NAMED {
        names(canvas, area, drawing, &places, radius);
    }
    let caption = graded_name(&drawing.name, drawing.kind);
    let middle = area.x + area.width / 2.0;
    canvas.text(middle, area.bottom() + 20.0, &caption, TICK_SIZE, Anchor::Middle, BLACK);
    if sampled {
        let drawn = format!("{} of {} edges drawn", drawing.edges.len(), drawing.edge_count);
        canvas.text(middle, area.bottom() + 20.0 + LINE, &drawn, TICK_SIZE, Anchor::Middle, BLACK);
    }
}

/// The name of a node, or its number.
fn name(drawing: &Drawing, v: usize) -> String {
    drawing.names.as_ref().and_then(|names| names.get(v).cloned()).unwrap_or_else(|| v.to_string())
}

/// Writes the name of every node beside it, where there is room; those of marked nodes first.
fn names(canvas: &mut Canvas, area: Rect, drawing: &Drawing, places: &[(f64, f64)], radius: f64) {
    let apart = |v: usize| if drawing.marked.contains(&v) { (1.4 * radius).max(4.5) + 2.5 } else { radius };
    let around = |v: usize| {
        let ((x, y), r) = (places[v], apart(v));
        Rect { x: x - r, y: y - r, width: 2.0 * r, height: 2.0 * r }
    };
    let mut taken: Vec<Rect> = (0..places.len()).map(around).collect();
    let unmarked = (0..places.len()).filter(|v| !drawing.marked.contains(v));
    for v in drawing.marked.iter().copied().chain(unmarked) {
        let name: String = name(drawing, v).chars().take(LONGEST_NAME).collect();
        let ((x, y), r, width) = (places[v], apart(v) + 1.5, text_width(&name, TICK_SIZE));
        // The middle of a letter is a third of its height above the line.
        let (line, high) = (y + 0.35 * TICK_SIZE, 0.9 * TICK_SIZE);
        let tries = [
            (x + r, line, Anchor::Start),
            (x - r, line, Anchor::End),
            (x, y - r, Anchor::Middle),
            (x, y + r + 0.75 * TICK_SIZE, Anchor::Middle),
        ];
        let room = |&(x, line, anchor): &(f64, f64, Anchor)| {
            let left = match anchor {
                Anchor::Start => x,
                Anchor::Middle => x - width / 2.0,
                Anchor::End => x - width,
            };
            Rect { x: left, y: line - high, width, height: high }
        };
        let free = |place: &Rect| {
            let inside = area.x <= place.x && place.right() <= area.right();
            inside && taken.iter().all(|other| !place.meets(other))
        };
        let Some(place) = tries.iter().find(|place| free(&room(place))) else { continue };
        canvas.text(place.0, place.1, &name, TICK_SIZE, place.2, BLACK);
        taken.push(room(place));
    }
}

/// Median distance from a node to its nearest neighbour in the picture.
fn typical_gap(places: &[(f64, f64)]) -> f64 {
    let nearest = |v: usize| {
        let (x, y) = places[v];
        let others = places.iter().enumerate().filter(|&(w, _)| w != v);
        others.map(|(_, &(ox, oy))| (ox - x).hypot(oy - y)).fold(f64::INFINITY, f64::min)
    };
    let mut gaps: Vec<f64> = (0..places.len()).map(nearest).collect();
    gaps.sort_by(f64::total_cmp);
    gaps.get(gaps.len() / 2).copied().unwrap_or(f64::INFINITY)
}

/// The positions moved and scaled into `area`, keeping their proportions.
fn places(area: Rect, positions: &[[f64; 2]]) -> Vec<(f64, f64)> {
    let bounds = |axis: usize| {
        let values = positions.iter().map(|p| p[axis]);
        let low = values.clone().fold(f64::INFINITY, f64::min);
        (low, values.fold(f64::NEG_INFINITY, f64::max) - low)
    };
    let ((left, across), (down, up)) = (bounds(0), bounds(1));
    let room = 8.0;
    let scale = ((area.width - 2.0 * room) / across).min((area.height - 2.0 * room) / up);
    // The scale is not finite if all nodes are at one point, or on a line.
    let scale = if scale.is_finite() { scale } else { 1.0 };
    let x0 = area.x + (area.width - scale * across) / 2.0;
    let y0 = area.bottom() - (area.height - scale * up) / 2.0;
    positions.iter().map(|[x, y]| (x0 + scale * (x - left), y0 - scale * (y - down))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whichever node lies lowest or farthest left.
    #[test]
    fn all_places_are_within_the_area() {
        let area = Rect { x: 10.0, y: 20.0, width: 200.0, height: 100.0 };
        let corners = [[0.0, 0.0], [4.0, 1.0], [1.0, 5.0], [-3.0, 2.0], [2.0, -2.0]];
        for turn in 0..corners.len() {
            let mut positions = corners;
            positions.rotate_left(turn);
            let found = places(area, &positions);
            assert!(found.iter().all(|&place| area.contains(place)), "{found:?}");
            // Proportions stay, and up is up.
            let (scale, ups) = ((found[1].0 - found[0].0) / (positions[1][0] - positions[0][0]), found[0].1);
            for (place, position) in found.iter().zip(positions) {
                assert!((place.0 - found[0].0 - scale * (position[0] - positions[0][0])).abs() < 1e-9);
                assert!((place.1 - ups + scale * (position[1] - positions[0][1])).abs() < 1e-9);
            }
        }
    }

    /// A triangle of sides 3, 4 and 5 far from the origin: the nearest distances are 3, 3 and 4.
    #[test]
    fn gaps_are_distances_to_the_nearest() {
        assert_eq!(typical_gap(&[(100.0, 50.0), (103.0, 50.0), (100.0, 54.0)]), 3.0);
        assert_eq!(typical_gap(&[(100.0, 50.0), (103.0, 54.0)]), 5.0);
        assert_eq!(typical_gap(&[(1.0, 1.0)]), f64::INFINITY);
    }
}
