//! Drawing a figure, as SVG and as PNG.
//!
//! This crate does layout, axes, curves and colours; `canvas` hands lines, circles and letters to kuva, which
//! knows the font and the file formats. kuva's own plots are not used: their clip paths are numbered by a
//! global counter, so that a picture would depend on what was drawn before it, and they have no colour bar
//! for graphs. Nothing here depends on threads or time.

mod axes;
mod canvas;
mod colors;
mod concise;
mod curves;
mod dots;
mod eyes;
mod faults;
mod frame;
mod heat;
mod labels;
mod legend;
mod legible;
mod nodes;
mod style;
pub mod table;

use crate::figure::{Axis, Content, Figure, Mark, Panel};
use canvas::{Anchor, BLACK, Canvas, text_width, wrap};
use frame::Rect;
use style::Styles;

pub use faults::faults;

/// A figure in both formats.
///
/// # Examples
/// ```
/// use ndp_report::figure::{Axis, Figure, Panel, Series};
/// use ndp_report::plot::draw;
/// let squares = Series::data("squares").points((0..5).map(|k| (f64::from(k), f64::from(k * k))));
/// let panel = Panel::curves("powers", Axis::linear("x"), Axis::linear("y")).with(squares);
/// let picture = draw(&Figure::new("Squares").panel(panel))?;
/// assert!(picture.svg.starts_with("<svg") && picture.png.starts_with(b"\x89PNG"));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// As vector graphics.
    pub svg: String,
    /// As pixels, two per unit of the SVG.
    pub png: Vec<u8>,
}

/// Draws a figure.
///
/// # Errors
/// kuva's message when it cannot encode the PNG.
pub fn draw(figure: &Figure) -> Result<Picture, String> {
    compose(figure)?.finish()
}

/// Everything that the picture of a figure consists of.
fn compose(figure: &Figure) -> Result<Canvas, String> {
    let styles = Styles::of(figure);
    let all = figure.drawn();
    let count = all.len();
    let columns = figure.columns.unwrap_or(match count {
        0..=2 => count.max(1),
        4 => 2,
        _ => 3,
    });
    let rows = in_rows(all, columns);
    let width = if columns == 1 { NARROW } else { WIDTH };
    let room = width - 2.0 * MARGIN;
    let cell_width = room / columns as f64;
    let title = wrap(&figure.title, TITLE_SIZE, room);
    let top = MARGIN + title.len() as f64 * (TITLE_SIZE + 6.0) + 6.0;
    let height_of =
        |row: &&[Panel]| row.iter().map(|panel| height(&panel.content, cell_width)).fold(0.0, f64::max);
    let heights: Vec<f64> = rows.iter().map(height_of).collect();
    let panels_height: f64 = heights.iter().sum();
    // The names of lines are at their ends, if all of them fit there.
    let curves = |panel: &Panel| matches!(panel.content, Content::Curves { .. });
    let roomy = |(row, height): (&&[Panel], &f64)| -> Option<Vec<f64>> {
        let cell = Rect { x: 0.0, y: 0.0, width: cell_width - 14.0, height: height - 14.0 - 25.0 };
        row.iter().map(|panel| labels::room(panel, cell, &styles)).collect()
    };
    let rooms: Option<Vec<Vec<f64>>> = rows.iter().zip(&heights).map(roomy).collect();
    let rooms = rooms.filter(|_| all.iter().any(curves));
    let legend = legend::Legend::new(&styles, rooms.is_some(), room);
    let mut canvas = Canvas::new(width, top + panels_height + legend.height() + MARGIN);
    for (i, line) in title.iter().enumerate() {
        let y = MARGIN + (i + 1) as f64 * (TITLE_SIZE + 6.0) - 6.0;
        canvas.text(width / 2.0, y, line, TITLE_SIZE, Anchor::Middle, BLACK);
    }
    let mut y = top;
    for (row, (panels, &height)) in rows.iter().zip(&heights).enumerate() {
        let columns = if is_alone(&panels[0]) { 1 } else { columns };
        let panels: Vec<&Panel> = panels.iter().collect();
        let shared = dots::shared_names(&panels);
        let names = shared.unwrap_or(0.0);
        let mut x = MARGIN;
        for (column, panel) in panels.iter().enumerate() {
            let width = (room - names) / columns as f64 + if column == 0 { names } else { 0.0 };
            let cell = Rect { x, y, width: width - 14.0, height: height - 14.0 };
            x += width;
            let named = match (&panel.content, shared) {
                (Content::Dots { series, .. }, None) => dots::names_of(series),
                _ if column == 0 => names,
                _ => 0.0,
            };
            let inner = panel_title(&mut canvas, cell, named, &panel.title);
            match &panel.content {
                Content::Curves { x, y, series } => {
                    let room = rooms.as_ref().map_or(0.0, |rooms| rooms[row][column]);
                    let inner = Rect { width: inner.width - room, ..inner };
                    curves::draw(&mut canvas, inner, (x, y), series, &styles);
                    if room > 0.0 {
                        labels::draw(&mut canvas, panel, inner, room, &styles);
                    }
                }
                Content::Dots { value, cases, series } => {
                    dots::draw(&mut canvas, inner, value, cases, series, named);
                }
                Content::HeatMap { color, matrix } => {
                    heat::draw(&mut canvas, inner, color, color_range(all, color), matrix)?;
                }
                Content::Drawing { color, drawing } => {
                    nodes::draw(&mut canvas, inner, color, color_range(all, color), drawing);
                }
                Content::Table { rows, names, series } => {
                    table::draw(&mut canvas, inner, rows, names, series)
                }
            }
        }
        y += height;
    }
    legend.draw(&mut canvas, MARGIN, top + panels_height);
    Ok(canvas)
}

/// The panels row by row, `columns` in each; strips and joined dots, whose names are long, have a row alone.
fn in_rows(all: &[Panel], columns: usize) -> Vec<&[Panel]> {
    let mut rows = Vec::new();
    let mut rest = all;
    while let Some(first) = rest.first() {
        let others = rest.iter().take(columns).take_while(|panel| !is_alone(panel)).count();
        let (row, after) = rest.split_at(if is_alone(first) { 1 } else { others.max(1) });
        rows.push(row);
        rest = after;
    }
    rows
}

/// Whether a panel has a row alone.
fn is_alone(panel: &Panel) -> bool {
    match &panel.content {
        Content::Dots { series, .. } => series.iter().any(|s| s.mark == Mark::Strip),
        Content::Curves { y, .. } => y.joined,
        _ => false,
    }
}

/// Height of the cell of a panel.
fn height(content: &Content, cell_width: f64) -> f64 {
    match content {
        Content::Curves { y, .. } if !y.names.is_empty() => 84.0 + 20.0 * y.names.len() as f64,
        Content::Dots { series, .. } => 84.0 + dots::ROW * series.len() as f64,
        Content::Curves { .. } => 46.0 + cell_width * if cell_width > 600.0 { 0.56 } else { 0.74 },
        // The colour bar and its label are beside a square.
        Content::HeatMap { .. } | Content::Drawing { .. } => cell_width - 60.0,
        Content::Table { series, .. } => 50.0 + table::height(series),
    }
}

/// Writes the title of a panel above it, beyond the room on the left that names take; returns what is left
/// for the panel.
fn panel_title(canvas: &mut Canvas, cell: Rect, names: f64, title: &str) -> Rect {
    let above = cell.inset(names, 0.0, 0.0, 0.0);
    let mut size = 13.0;
    while size > 11.0 && text_width(title, size) > above.width {
        size -= 1.0;
    }
    let lines = wrap(title, size, above.width);
    for (i, line) in lines.iter().take(2).enumerate() {
        let y = cell.y + (i + 1) as f64 * (size + 3.0);
        canvas.text(above.x + above.width / 2.0, y, line, size, Anchor::Middle, BLACK);
    }
    let used = lines.len().min(2) as f64 * (size + 3.0) + 8.0;
    Rect { y: cell.y + used, height: cell.height - used, ..cell }
}

/// The range of a colour scale: as given, or else the range of all panels with the same label, so that they
/// can be compared.
fn color_range(panels: &[Panel], color: &Axis) -> [f64; 2] {
    let values = panels.iter().flat_map(|panel| match &panel.content {
        Content::HeatMap { color: c, matrix } if c.label == color.label => {
            matrix.values.iter().copied().collect()
        }
        Content::Drawing { color: c, drawing } if c.label == color.label => drawing.values.clone(),
        _ => Vec::new(),
    });
    axes::data_range(color, values, 0.0)
}

const MARGIN: f64 = 12.0;
/// The width of a picture. On a printed page the picture is 7 inches wide, and the smallest letters, of size
/// 11, then have 7 points. So at most three panels are side by side.
const WIDTH: f64 = 792.0;
/// The width of a picture with two panels side by side.
const NARROW: f64 = 700.0;
const TITLE_SIZE: f64 = 17.0;

#[cfg(test)]
mod place_tests;
#[cfg(test)]
mod tests;
