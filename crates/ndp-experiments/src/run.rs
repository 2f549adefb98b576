//! Computing the selected figures, one after the other.

use crate::datasets::Data;
use crate::figure::Scale;
use crate::output::{self, Record, Run};
use crate::registry::Entry;
use crate::seed::Seed;
use anyhow::Context;
use std::path::PathBuf;
use std::time::Instant;

/// How the figures are computed, and where they go.
#[derive(Clone, Debug)]
pub struct Options {
    /// How large they are.
    pub scale: Scale,
    /// Where all randomness comes from.
    pub seed: Seed,
    /// The output folder.
    pub out: PathBuf,
    /// Where data sets are looked up.
    pub data: Data,
    /// Whether figures that are done are left as they are.
    pub resume: bool,
}

/// Computes one figure and writes it.
///
/// # Errors
/// What the figure or its output said, with the id of the figure.
pub fn one(entry: &Entry, options: &Options) -> anyhow::Result<Record> {
    let Options { scale, seed, out, data, .. } = options;
    let start = Instant::now();
    let figure = (entry.figure)(*scale, *seed, data).with_context(|| format!("{} failed", entry.id))?;
    let run = Run {
        seconds: start.elapsed().as_secs_f64(),
        threads: rayon::current_num_threads(),
        measurements: figure.measurements.clone(),
    };
    let written = output::write_figure(out, entry, figure, *scale, *seed, run);
    written.with_context(|| format!("{} was computed but not written", entry.id))
}
