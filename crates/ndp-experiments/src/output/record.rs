//! The content of the JSON beside a figure.

use crate::entry::{Entry, Tolerance};
use crate::seed::Seed;
use ndp_report::figure::{Check, Content, Figure, Panel, Provenance, Sample, Scale};
use ndp_report::verdict::{self, Outcome};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Everything about a figure except its numbers and pictures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Version of the format of this record: [`FORMAT`]; 0 for a record older than this field.
    #[serde(default)]
    pub format: u32,
    /// Its id.
    pub id: String,
    /// What it shows, in a few words.
    pub what: String,
    /// Its title.
    pub title: String,
    /// What the paper claims with it.
    pub claim: String,
    /// What is true, and known deviations.
    pub findings: Vec<String>,
    /// The checks that decide whether the claim holds.
    pub checks: Vec<Check>,
    /// Values of single runs that checks compare.
    pub samples: BTreeMap<String, Sample>,
    /// Whether the claim holds at the places, or in the runs, that the checks compare: `holds`, `does not
    /// hold` or `not shown`.
    pub verdict: String,
    /// What each check found, as a sentence.
    pub decided_by: Vec<String>,
    /// Version of this program.
    pub version: String,
    /// `paper` or `quick`.
    pub scale: String,
    /// The seed.
    pub seed: u64,
    /// Every parameter.
    pub parameters: BTreeMap<String, Value>,
    /// Numbers about the result that are not in the CSV.
    pub notes: BTreeMap<String, Value>,
    /// The data sets.
    pub provenance: Vec<Provenance>,
    /// How the numbers may differ from the committed reference.
    pub tolerance: Tolerance,
    /// The panels without their numbers: titles, axes, names of rows.
    pub panels: Vec<Value>,
    /// The other files of the figure, relative to the output folder.
    pub files: Vec<String>,
    /// What depends on the machine.
    pub run: Run,
}

/// What depends on the machine, and on nothing else.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Time to compute the figure, in seconds.
    pub seconds: f64,
    /// Number of threads.
    pub threads: usize,
    /// Times and memory that the figure measured itself.
    pub measurements: BTreeMap<String, Value>,
    /// Which build of the program made it, see [`build()`].
    #[serde(default)]
    pub build: String,
}

/// Size and modification time of the running program: another build may give other numbers, and a run that
/// resumes must not mix them. Empty if the system does not report them.
#[must_use]
pub fn build() -> String {
    let attempt = || -> std::io::Result<String> {
        let program = std::fs::metadata(std::env::current_exe()?)?;
        let changed = program.modified()?.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Ok(format!("{} bytes, changed at {} ns", program.len(), changed.as_nanos()))
    };
    attempt().unwrap_or_default()
}

impl Record {
    /// The record of a figure that was written to `files`.
    pub(super) fn new(
        entry: &Entry,
        figure: &Figure,
        scale: Scale,
        seed: Seed,
        files: Vec<String>,
        outcomes: &[Outcome],
        run: Run,
    ) -> Self {
        Self {
            format: FORMAT,
            id: entry.id.into(),
            what: entry.what.into(),
            title: figure.title.clone(),
            claim: figure.claim.clone(),
            findings: figure.findings.clone(),
            checks: figure.checks.clone(),
            samples: figure.samples.clone(),
            verdict: verdict::of_claim(outcomes).as_str().into(),
            decided_by: outcomes.iter().map(Outcome::sentence).collect(),
            version: VERSION.into(),
            scale: scale.as_str().into(),
            seed: seed.0,
            parameters: figure.parameters.clone(),
            notes: figure.notes.clone(),
            provenance: figure.provenance.clone(),
            tolerance: entry.tolerance,
            panels: figure.panels.iter().map(describe).collect(),
            files,
            run,
        }
    }

    /// The JSON text.
    pub(super) fn to_json(&self) -> String {
        // Serialising fails only for maps whose keys are not strings; there are none.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// The record of figure `id` under `out`, if it is there and readable.
    #[must_use]
    pub fn read(out: &Path, id: &str) -> Option<Self> {
        let text = std::fs::read_to_string(out.join(format!("{id}.json"))).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Whether a run of this build with this scale and seed would make this figure, and all its files are in
    /// place.
    #[must_use]
    pub fn is_current(&self, out: &Path, scale: Scale, seed: Seed) -> bool {
        self.format == FORMAT
            && self.version == VERSION
            && self.run.build == build()
            && self.scale == scale.as_str()
            && self.seed == seed.0
            && self.files.iter().all(|file| out.join(file).is_file())
    }

    /// Whether some data set is a stand-in.
    #[must_use]
    pub fn has_stand_in(&self) -> bool {
        self.provenance.iter().any(|source| !source.real)
    }
}

/// The version of the format of records. It increases when a field changes its meaning or is removed, see
/// `docs/formats.md`.
pub const FORMAT: u32 = 1;

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn describe(panel: &Panel) -> Value {
    match &panel.content {
        Content::Curves { x, y, .. } => json!({"curves": panel.title, "x": x, "y": y}),
        Content::Dots { value, cases, .. } => json!({"dots": panel.title, "value": value, "cases": cases}),
        Content::Table { rows, names, .. } => json!({"table": panel.title, "rows": rows, "names": names}),
        Content::HeatMap { color, .. } => json!({"heat map": panel.title, "color": color}),
        Content::Drawing { color, drawing } => json!({
            "drawing": panel.title,
            "color": color,
            "edges": drawing.edge_count,
            "edges drawn": drawing.edges.len(),
            "marked": drawing.marked,
        }),
    }
}
