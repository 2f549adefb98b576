//! Computing the selected figures, one after the other.

use crate::datasets::Data;
use crate::entry::Entry;
use crate::output::{self, Record, Run};
use crate::reference::{self, Comparison};
use crate::seed::Seed;
use anyhow::Context;
use ndp_report::figure::Scale;
use ndp_report::plot;
use ndp_report::table::{self, Row};
use ndp_report::verdict::{self, Outcome, Verdict};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// How the figures are computed, and where they are written.
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
    /// The folder of the committed references.
    pub references: PathBuf,
    /// Whether figures that are already done are kept.
    pub resume: bool,
}

/// A completed figure.
#[derive(Clone, Debug)]
pub struct Done {
    /// The content of its JSON.
    pub record: Record,
    /// The numbers of its CSV, read back.
    pub rows: Vec<Row>,
    /// The results of its checks.
    pub outcomes: Vec<Outcome>,
    /// What makes its picture hard to read or its title untrue; not determined for a figure that was kept.
    pub faults: Vec<String>,
    /// Whether an earlier run had completed it.
    pub kept: bool,
}

impl Done {
    /// A figure with these numbers, its checks evaluated.
    ///
    /// # Errors
    /// When a check compared nothing, see [`verdict::evaluate`].
    pub fn new(record: Record, rows: Vec<Row>, kept: bool) -> anyhow::Result<Self> {
        let outcomes =
            verdict::evaluate(&record.checks, &rows, &record.samples).map_err(anyhow::Error::msg)?;
        Ok(Self { record, rows, outcomes, faults: Vec::new(), kept })
    }

    /// Whether its claim holds at the places, or in the runs, that its checks compare.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        verdict::of_claim(&self.outcomes)
    }

    /// The verdict in words, on the page and in the terminal. The claim of a paper is about more than the
    /// places that were compared, so it "holds where it was compared".
    #[must_use]
    pub fn words(&self) -> &'static str {
        let verdict = self.verdict();
        if verdict.holds() { "holds where it was compared" } else { verdict.as_str() }
    }

    /// Why its claim is neither shown nor refuted, a phrase for each reason; empty if it is.
    #[must_use]
    pub fn reasons(&self) -> Vec<&'static str> {
        if self.verdict() != Verdict::NOT_SHOWN {
            return Vec::new();
        }
        let reasons: BTreeSet<_> = self.outcomes.iter().filter_map(|outcome| outcome.why).collect();
        reasons.into_iter().map(verdict::Why::as_str).collect()
    }

    /// Whether there is a reference to compare it with: never for a stand-in, and only for the seed of the
    /// references.
    #[must_use]
    pub fn is_comparable(&self) -> bool {
        !self.record.has_stand_in() && self.record.seed == Seed::DEFAULT.0
    }

    /// Compares it with its committed reference.
    ///
    /// # Errors
    /// When the reference cannot be read.
    pub fn compare(&self, options: &Options) -> anyhow::Result<Comparison> {
        if !self.is_comparable() {
            return Ok(Comparison::Absent);
        }
        let file = reference::path(&options.references, options.scale, &self.record.id);
        reference::compare(&file, &self.rows, self.record.tolerance).map_err(anyhow::Error::msg)
    }
}

/// The figure that an earlier run of the same build completed with the same scale and seed, if all its files
/// exist and its numbers can be read. A figure made from a stand-in does not count once the real data are
/// there.
#[must_use]
pub fn kept(entry: &Entry, options: &Options) -> Option<Done> {
    let Options { scale, seed, out, data, .. } = options;
    let record = Record::read(out, entry.id)?;
    let outdated = record.has_stand_in() && entry.needs.iter().any(|&need| data.has(need));
    if outdated || !record.is_current(out, *scale, *seed) {
        return None;
    }
    let rows = read_rows(out, &record).ok()?;
    Done::new(record, rows, true).ok()
}

/// Computes one figure and writes it; when resuming, keeps it if an earlier run completed it.
///
/// # Errors
/// The error of the figure or of its output, with the id of the figure.
pub fn one(entry: &Entry, options: &Options) -> anyhow::Result<Done> {
    if options.resume
        && let Some(done) = kept(entry, options)
    {
        return Ok(done);
    }
    let Options { scale, seed, out, data, .. } = options;
    let start = Instant::now();
    let mut figure = (entry.figure)(*scale, *seed, data).with_context(|| format!("{} failed", entry.id))?;
    let mut faults = plot::faults(&figure);
    let tables = table::tables(&figure).into_iter().map(|(_, text)| table::parse(&text));
    let rows = tables.collect::<Result<Vec<_>, _>>().map_err(anyhow::Error::msg)?.concat();
    let untrue = verdict::title::untrue(&figure.basis, &rows, &figure.samples).map_err(anyhow::Error::msg)?;
    if !untrue.is_empty() {
        // A picture travels without what is said beside it: it must not claim what its numbers do not show.
        figure.title = format!("{} (its title is not supported by these numbers)", entry.id);
        faults.extend(untrue);
    }
    let run = Run {
        seconds: start.elapsed().as_secs_f64(),
        threads: rayon::current_num_threads(),
        measurements: figure.measurements.clone(),
        build: output::record::build(),
    };
    let record = output::write_figure(out, entry, figure, *scale, *seed, run)
        .with_context(|| format!("{} was computed but not written", entry.id))?;
    Ok(Done { faults, ..Done::new(record, rows, false)? })
}

/// The numbers of a figure's CSVs.
fn read_rows(out: &Path, record: &Record) -> anyhow::Result<Vec<Row>> {
    let tables = record.files.iter().filter(|file| file.ends_with(".csv"));
    let read = tables.map(|file| table::read(&out.join(file)).map_err(anyhow::Error::msg));
    Ok(read.collect::<anyhow::Result<Vec<_>>>()?.concat())
}
