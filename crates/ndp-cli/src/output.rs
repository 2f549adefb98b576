//! Tables for the terminal, and files.

use crate::args::Outputs;
use crate::errors::Failure;
use ndp_algos::accountant::Observer;
use ndp_dp::Grade;
use ndp_graph::Graph;
use ndp_report::figure::{Axis, Drawing, Figure, Matrix, Panel, Series};
use ndp_report::files::{OutputError, write};
use ndp_report::{layout, plot};
use std::io::Write;
use std::path::Path;

/// Prints one line to standard output.
pub(crate) fn line(text: &str) -> Result<(), Failure> {
    writeln!(std::io::stdout().lock(), "{text}")?;
    Ok(())
}

/// Columns of text, the first left-aligned, the others right.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) -> Result<(), Failure> {
    let mut widths: Vec<usize> = header.iter().map(|cell| cell.chars().count()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let print = |cells: &mut dyn Iterator<Item = &str>| {
        let cells: Vec<String> = cells
            .zip(&widths)
            .enumerate()
            .map(
                |(i, (cell, &width))| {
                    if i == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
                },
            )
            .collect();
        line(cells.join("  ").trim_end())
    };
    print(&mut header.iter().copied())?;
    for row in rows {
        print(&mut row.iter().map(String::as_str))?;
    }
    Ok(())
}

/// Five digits, as short as they are clear.
pub(crate) fn number(x: f64) -> String {
    match x {
        0.0 => "0".into(),
        _ if x.is_infinite() => if x > 0.0 { "inf" } else { "-inf" }.into(),
        _ if (1e-3..1e5).contains(&x.abs()) => format!("{x:.5}"),
        _ => format!("{x:.4e}"),
    }
}

/// Writes rows as CSV.
pub(crate) fn csv(path: &Path, header: &[&str], rows: &[Vec<String>]) -> Result<(), Failure> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let failed = |error: csv::Error| Failure::Refused(error.to_string());
    writer.write_record(header).map_err(failed)?;
    for row in rows {
        writer.write_record(row).map_err(failed)?;
    }
    let bytes = writer.into_inner().map_err(|error| Failure::Refused(error.to_string()))?;
    Ok(write(path, &bytes)?)
}

/// Writes a value as JSON together with what made it.
pub(crate) fn json(path: &Path, seed: u64, body: serde_json::Value) -> Result<(), Failure> {
    let command: Vec<String> = std::env::args().skip(1).collect();
    let document = serde_json::json!({
        "version": 1,
        "ndp": env!("CARGO_PKG_VERSION"),
        "command": command,
        "seed": seed,
        "result": body,
    });
    let text =
        serde_json::to_string_pretty(&document).map_err(|error| Failure::Refused(error.to_string()))?;
    Ok(write(path, format!("{text}\n").as_bytes())?)
}

/// Draws a figure into the files that were asked for.
pub(crate) fn pictures(outputs: &Outputs, figure: &Figure) -> Result<(), Failure> {
    if outputs.png.is_none() && outputs.svg.is_none() {
        return Ok(());
    }
    figure.validate().map_err(OutputError::Malformed)?;
    let picture = plot::draw(figure).map_err(OutputError::Malformed)?;
    if let Some(path) = &outputs.png {
        write(path, &picture.png)?;
    }
    if let Some(path) = &outputs.svg {
        write(path, picture.svg.as_bytes())?;
    }
    Ok(())
}

/// A heat map, or curves of sorted losses where there are too many nodes or observers for one.
pub(crate) fn losses(
    title: &str,
    what: &str,
    grade: Grade,
    names: &[String],
    values: ndarray::Array2<f64>,
) -> Figure {
    let figure = Figure::new(title);
    if values.nrows() == values.ncols() && values.nrows() <= LARGEST_MAP {
        let names: Vec<String> = names.iter().map(|name| short(name)).collect();
        let matrix = Matrix::new(what, grade, values).named(&names);
        return figure.panel(Panel::heat_map(
            "row: whose data, column: who learns",
            Axis::linear(what),
            matrix,
        ));
    }
    let mut sorted: Vec<f64> = values.iter().copied().filter(|x| x.is_finite()).collect();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let count = sorted.len().max(1) as f64;
    let stride = sorted.len().div_ceil(400).max(1);
    let points = sorted.iter().enumerate().step_by(stride).map(|(i, &x)| ((i + 1) as f64 / count, x));
    let series = Series::new("pairs", grade).points(points);
    figure.panel(
        Panel::curves("largest first", Axis::linear("share of pairs"), Axis::linear(what)).with(series),
    )
}

/// The graph, its nodes coloured by what one observer learns about them; members have no colour.
pub(crate) fn drawing(
    title: &str,
    what: &str,
    grade: Grade,
    graph: &Graph,
    observer: &Observer,
    values: Vec<f64>,
) -> Figure {
    let positions = layout::positions(graph);
    let mut drawing = Drawing::new(what, grade, graph, positions, values);
    for &v in observer.members() {
        drawing = drawing.mark(v);
    }
    Figure::new(title).panel(Panel::drawing("the observer is marked", Axis::linear(what), drawing))
}

/// Graphs up to this size are drawn.
pub(crate) const LARGEST_DRAWING: usize = 600;

const LARGEST_MAP: usize = 400;

/// Names that fit beside a map.
fn short(name: &str) -> String {
    if name.chars().count() <= 9 { name.to_owned() } else { name.chars().take(8).chain(['…']).collect() }
}
