//! Comparisons by which the report decides, from the CSV of a run, whether a claim holds.

use serde::{Deserialize, Serialize};

/// A comparison of two series in every panel that has both, at every abscissa (or node, or
/// entry) that both have.
///
/// The series are named, not given: the report reads them back from the CSV, so that its verdict
/// rests on the numbers that were written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "check", rename_all = "kebab-case")]
pub enum Check {
    /// The printed value, read as a guarantee, is at least the true one. The claim fails where it
    /// is below an exact value or a lower bound by attack; below an upper bound nothing is decided.
    Covers {
        /// Name of the printed series.
        printed: String,
        /// Name of the series of true values, or of bounds on them.
        truth: String,
    },
    /// One series lies nowhere above another.
    Below {
        /// Name of the series that should be lower.
        lower: String,
        /// Name of the series that should be higher.
        upper: String,
    },
    /// Two series agree within a relative tolerance.
    Agrees {
        /// Name of the first series.
        first: String,
        /// Name of the second series.
        second: String,
        /// Largest allowed difference, relative to the larger of the two.
        tolerance: f64,
    },
    /// Two series rank the places that both have alike, in every panel: the loss follows something.
    Follows {
        /// Name of the first series.
        first: String,
        /// Name of the second series.
        second: String,
        /// Least rank correlation (Spearman).
        least: f64,
    },
    /// A series of points rises with its abscissa, in every panel that has it.
    Rises {
        /// Name of the series.
        series: String,
        /// Least rank correlation (Spearman) of ordinates with abscissas.
        least: f64,
    },
}

impl Check {
    /// The printed values cover the true ones.
    pub fn covers(printed: impl Into<String>, truth: impl Into<String>) -> Self {
        Self::Covers { printed: printed.into(), truth: truth.into() }
    }

    /// The values of `lower` are nowhere above those of `upper`.
    pub fn below(lower: impl Into<String>, upper: impl Into<String>) -> Self {
        Self::Below { lower: lower.into(), upper: upper.into() }
    }

    /// The values of the two agree within a relative `tolerance`.
    pub fn agrees(first: impl Into<String>, second: impl Into<String>, tolerance: f64) -> Self {
        Self::Agrees { first: first.into(), second: second.into(), tolerance }
    }

    /// The two rank places alike, with a rank correlation of at least `least`.
    pub fn follows(first: impl Into<String>, second: impl Into<String>, least: f64) -> Self {
        Self::Follows { first: first.into(), second: second.into(), least }
    }

    /// The ordinates of the series rise with its abscissas, with a rank correlation of at least `least`.
    pub fn rises(series: impl Into<String>, least: f64) -> Self {
        Self::Rises { series: series.into(), least }
    }

    /// The two series it names; the same twice if it is about one.
    #[must_use]
    pub fn names(&self) -> [&str; 2] {
        match self {
            Self::Covers { printed: a, truth: b }
            | Self::Below { lower: a, upper: b }
            | Self::Agrees { first: a, second: b, .. }
            | Self::Follows { first: a, second: b, .. } => [a, b],
            Self::Rises { series, .. } => [series, series],
        }
    }
}
