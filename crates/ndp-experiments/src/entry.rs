//! What the registry knows about a figure.

use crate::datasets::Data;
use crate::seed::Seed;
use ndp_report::figure::{Figure, Scale};
use serde::{Deserialize, Serialize};

/// A figure that can be computed.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its id: folder and name of its files.
    pub id: &'static str,
    /// What it shows, in a few words.
    pub what: &'static str,
    /// The names of the data sets it uses, see [`SETS`](crate::datasets::SETS); if they are missing it uses
    /// stand-ins.
    pub needs: &'static [&'static str],
    /// About how long it takes at paper scale on two cores.
    pub minutes: f64,
    /// How far its numbers may be from the committed reference.
    pub tolerance: Tolerance,
    /// The findings of `docs/findings-summary.md` that it shows.
    pub findings: &'static [&'static str],
    /// A test of what it says: the file in the repository, and the name. A figure without findings has one.
    pub test: Option<(&'static str, &'static str)>,
    /// Whether it measures time or memory: then nothing else is computed at the same time.
    pub measures: bool,
    /// Computes it.
    pub figure: fn(Scale, Seed, &Data) -> anyhow::Result<Figure>,
}

impl Entry {
    /// The paper it belongs to: the first part of its id.
    #[must_use]
    pub fn paper(&self) -> &'static str {
        self.id.split_once('/').map_or(self.id, |(paper, _)| paper)
    }
}

/// How far a number may be from its reference: `|a - b| <= absolute + relative max(|a|, |b|)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tolerance {
    /// Relative to the larger of the two.
    pub relative: f64,
    /// In the unit of the number.
    pub absolute: f64,
}

impl Tolerance {
    /// For figures without randomness: allows for differences in another machine's `exp` and `ln`.
    pub const DETERMINISTIC: Self = Self { relative: 1e-9, absolute: 1e-12 };

    /// For figures with seeded randomness, where the last digit of a number may change the course of a run.
    pub const SEEDED: Self = Self { relative: 1e-6, absolute: 1e-9 };
}
