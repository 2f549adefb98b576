//! A matrix as coloured cells.

use super::axes::TICK_SIZE;
use super::canvas::{Anchor, BLACK, Canvas, PALE, Rgb, text_width};
use super::colors::{BAR_ROOM, bar, color_of};
use super::frame::Rect;
use super::style::graded_name;
use crate::figure::{Axis, Matrix};

pub(super) fn draw(
    canvas: &mut Canvas,
    cell: Rect,
    color: &Axis,
    range: [f64; 2],
    matrix: &Matrix,
) -> Result<(), String> {
    let (rows, columns) = matrix.values.dim();
    let area = cell.inset(42.0, 2.0, BAR_ROOM, 42.0);
    // Square cells, as large as fit.
    let side = (area.width / columns as f64).min(area.height / rows as f64);
    let area = Rect { width: side * columns as f64, height: side * rows as f64, ..area };
    let beside = Rect { x: area.x, y: area.y, width: area.width + BAR_ROOM, height: area.height };
    let map = bar(canvas, beside, (color, range), (&mut matrix.values.iter().copied(), matrix.kind));
    let paint = |&value: &f64| color_of(&map, value).unwrap_or(PALE);
    let cells: Vec<Vec<Rgb>> =
        matrix.values.rows().into_iter().map(|row| row.iter().map(paint).collect()).collect();
    canvas.matrix((area.x, area.y), side, &cells)?;
    for k in shown(rows, side, TICK_SIZE) {
        let label = matrix.row_names.as_ref().map_or_else(|| k.to_string(), |names| names[k].clone());
        let y = area.y + (k as f64 + 0.5) * side + 4.0;
        canvas.text(area.x - 5.0, y, &label, TICK_SIZE, Anchor::End, BLACK);
    }
    let widest = text_width(&columns.saturating_sub(1).to_string(), TICK_SIZE);
    for k in shown(columns, side, if matrix.column_names.is_some() { 0.0 } else { widest + 4.0 }) {
        let label = matrix.column_names.as_ref().map_or_else(|| k.to_string(), |names| names[k].clone());
        let x = area.x + (k as f64 + 0.5) * side;
        canvas.text(x, area.bottom() + 15.0, &label, TICK_SIZE, Anchor::Middle, BLACK);
    }
    let name = graded_name(&matrix.name, matrix.kind);
    canvas.text(area.x + area.width / 2.0, area.bottom() + 33.0, &name, TICK_SIZE, Anchor::Middle, BLACK);
    Ok(())
}

/// Which rows or columns get a name: all if there are few, else about eight, each with `room` for itself.
fn shown(count: usize, side: f64, room: f64) -> impl Iterator<Item = usize> {
    let rough = count.div_ceil(9).max((room / side).ceil() as usize);
    let step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].into_iter().find(|&s| s >= rough).unwrap_or(rough);
    (0..count).step_by(step.max(1))
}
