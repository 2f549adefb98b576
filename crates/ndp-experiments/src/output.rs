//! Writing a figure: CSV, JSON, pictures. With [`crate::report`], the only part that writes.
//!
//! Every file is written under another name and then renamed, so it appears complete or not at all. The JSON
//! is written last, and a figure is done when its JSON exists. So a run that is killed loses at most the
//! figures in progress.
//!
//! The bytes of CSV, SVG and PNG depend on nothing but the figure. The JSON differs from run to
//! run only in the field `run`.

pub mod record;

pub use record::{Record, Run};

use crate::entry::Entry;
use crate::seed::Seed;
use ndp_report::figure::{Figure, Kind, Scale};
use ndp_report::files::{OutputError, write};
use ndp_report::{plot, table, verdict};
use std::path::Path;

/// Writes all files of a figure under `out` and returns its record.
///
/// # Errors
/// [`OutputError::Malformed`], [`OutputError::Write`].
pub fn write_figure(
    out: &Path,
    entry: &Entry,
    figure: Figure,
    scale: Scale,
    seed: Seed,
    run: Run,
) -> Result<Record, OutputError> {
    figure.validate().map_err(OutputError::Malformed)?;
    let figure = mark_stand_ins(figure);
    let mut files = Vec::new();
    for (ending, text) in table::tables(&figure) {
        let name = format!("{}{ending}.csv", entry.id);
        write(&out.join(&name), text.as_bytes())?;
        files.push(name);
    }
    let picture = plot::draw(&figure).map_err(OutputError::Malformed)?;
    for (ending, bytes) in [("svg", picture.svg.as_bytes()), ("png", &picture.png)] {
        let name = format!("{}.{ending}", entry.id);
        write(&out.join(&name), bytes)?;
        files.push(name);
    }
    // Evaluate the checks from the numbers and grades that were written.
    let mut rows = Vec::new();
    for file in files.iter().filter(|file| file.ends_with(".csv")) {
        rows.extend(table::read(&out.join(file)).map_err(OutputError::Malformed)?);
    }
    if let Some(row) = rows.iter().find(|row| row.grade != Kind::Data.as_str() && row.by.is_empty()) {
        let (panel, series, grade) = (&row.panel, &row.series, &row.grade);
        return Err(OutputError::Malformed(format!(
            "panel {panel:?}, series {series:?} ({grade}): no function and theorem; say Figure::by"
        )));
    }
    let outcomes =
        verdict::evaluate(&figure.checks, &rows, &figure.samples).map_err(OutputError::Malformed)?;
    let record = Record::new(entry, &figure, scale, seed, files, &outcomes, run);
    write(&out.join(format!("{}.json", entry.id)), record.to_json().as_bytes())?;
    Ok(record)
}

/// Says in the title of the figure and of its panels that the data are a stand-in.
fn mark_stand_ins(mut figure: Figure) -> Figure {
    if figure.has_stand_in() {
        figure.title.push_str(" (stand-in data)");
        for panel in figure.panels.iter_mut().chain(&mut figure.views) {
            panel.title.push_str(" [stand-in]");
        }
    }
    figure
}
