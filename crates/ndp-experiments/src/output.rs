//! Writing a figure: CSV, JSON, pictures. With [`crate::report`], the only part that writes.
//!
//! Every file appears whole or not at all: it is written beside its place and renamed. The JSON
//! is written last; a figure is done when it is there, so that a run that is killed loses at
//! most the figure in progress.
//!
//! The bytes of CSV, SVG and PNG depend on nothing but the figure. The JSON differs from run to
//! run only in the field `run`.

pub mod record;
pub mod table;

pub use record::{Record, Run};

use crate::figure::{Figure, Scale};
use crate::plot;
use crate::registry::Entry;
use crate::seed::Seed;
use crate::verdict;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Why a figure could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// A file or folder cannot be written: no permission, no space left.
    #[error("cannot write {path}: {source}")]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The figure contradicts itself, see [`Figure::validate`], or a check of it compared nothing.
    #[error("the figure is not well-formed: {0}")]
    Malformed(String),
}

/// Writes `bytes` to `path`, so that the file is there whole or not at all. Makes its folder.
///
/// # Errors
/// [`OutputError::Write`].
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), OutputError> {
    let attempt = || -> std::io::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut part = path.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        let written = fs::File::create(&part).and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        });
        if let Err(e) = written.and_then(|()| fs::rename(&part, path)) {
            let _ = fs::remove_file(&part);
            return Err(e);
        }
        Ok(())
    };
    attempt().map_err(|source| OutputError::Write { path: path.into(), source })
}

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
    // From the numbers that were written, with the grades that were written.
    let mut rows = Vec::new();
    for file in files.iter().filter(|file| file.ends_with(".csv")) {
        rows.extend(table::read(&out.join(file)).map_err(OutputError::Malformed)?);
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
        for panel in &mut figure.panels {
            panel.title.push_str(" [stand-in]");
        }
    }
    figure
}
