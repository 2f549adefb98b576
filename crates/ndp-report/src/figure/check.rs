//! Comparisons by which the report decides, from the numbers of a run, whether a claim holds.

use serde::{Deserialize, Serialize};

/// A comparison of two series in every panel that has both, at every abscissa (or node, or entry) that both
/// have; or of the runs of several samples.
///
/// The series are given by name: the report reads them back from the CSV, with their grades, so that its
/// verdict rests on what was written. [`verdict`](crate::verdict) defines what follows from which grade.
///
/// # Examples
/// ```
/// use ndp_report::figure::Check;
/// // "The bound that is printed is at least the exact loss": what the figure's CSV must show.
/// let check = Check::covers("printed", "exact");
/// assert!(matches!(check, Check::Covers { printed, .. } if printed == "printed"));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "check", rename_all = "kebab-case")]
pub enum Check {
    /// The printed value, read as a guarantee, is at least the true one.
    Covers {
        /// Name of the printed series.
        printed: String,
        /// Name of the series of true values, or of bounds on them.
        truth: String,
    },
    /// No attack shows more than a series says. An attack that shows more refutes the series; one that does
    /// not proves nothing.
    Attacked {
        /// Name of the series that is attacked.
        claimed: String,
        /// Name of the series of losses that the attack has shown.
        attack: String,
        /// Probability with which a loss shown by the attack is too large.
        error_rate: f64,
    },
    /// The true values of one series are nowhere above those of another.
    Below {
        /// Name of the series that should be lower.
        lower: String,
        /// Name of the series that should be higher.
        upper: String,
        /// Smallest abscissa to which the claim applies.
        from: Option<f64>,
        /// Title of the only panel to which it applies; all of them if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        panel: Option<String>,
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
    /// In every panel, two series rank the places that both have in the same order: the loss follows some
    /// quantity.
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
    /// A series of points falls as its abscissa rises, in every panel that has it.
    Falls {
        /// Name of the series.
        series: String,
        /// Least rank correlation (Spearman) of ordinates with abscissas, after changing its sign.
        least: f64,
    },
    /// In more than half of all runs `Σ factor · sample` exceeds a given value.
    Exceeds {
        /// What this says, in words.
        what: String,
        /// Factors and names of the samples; values of the same run are combined.
        terms: Vec<(f64, String)>,
        /// The value to exceed.
        least: f64,
    },
    /// A part of the claim that no number here decides; it counts as not shown.
    Open {
        /// The part of the claim, in words.
        what: String,
        /// Why nothing decides it.
        why: String,
    },
}

impl Check {
    /// The printed values cover the true ones.
    pub fn covers(printed: impl Into<String>, truth: impl Into<String>) -> Self {
        Self::Covers { printed: printed.into(), truth: truth.into() }
    }

    /// No `attack` exceeds the values of `claimed`; each attack may err with probability `error_rate`.
    pub fn attacked(claimed: impl Into<String>, attack: impl Into<String>, error_rate: f64) -> Self {
        Self::Attacked { claimed: claimed.into(), attack: attack.into(), error_rate }
    }

    /// The values of `lower` are nowhere above those of `upper`.
    pub fn below(lower: impl Into<String>, upper: impl Into<String>) -> Self {
        Self::Below { lower: lower.into(), upper: upper.into(), from: None, panel: None }
    }

    /// As [`below`](Self::below), at abscissas of at least `from`.
    pub fn below_from(lower: impl Into<String>, upper: impl Into<String>, from: f64) -> Self {
        Self::Below { lower: lower.into(), upper: upper.into(), from: Some(from), panel: None }
    }

    /// As [`below`](Self::below), in the panel with this title alone.
    pub fn below_in(panel: impl Into<String>, lower: impl Into<String>, upper: impl Into<String>) -> Self {
        Self::Below { lower: lower.into(), upper: upper.into(), from: None, panel: Some(panel.into()) }
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

    /// The ordinates of the series fall with its abscissas, with a rank correlation of at most `-least`.
    pub fn falls(series: impl Into<String>, least: f64) -> Self {
        Self::Falls { series: series.into(), least }
    }

    /// The runs of the sample `more` exceed those of `less`; `what` says this in words.
    pub fn exceeds(what: impl Into<String>, more: &str, less: &str) -> Self {
        Self::exceeds_by(what, &[(1.0, more), (-1.0, less)], 0.0)
    }

    /// `Σ factor · sample` is above `least` in more than half of all runs; `what` says this in words.
    pub fn exceeds_by(what: impl Into<String>, terms: &[(f64, &str)], least: f64) -> Self {
        let terms = terms.iter().map(|&(factor, name)| (factor, name.to_owned())).collect();
        Self::Exceeds { what: what.into(), terms, least }
    }

    /// The part `what` of the claim is not decided here, because `why`.
    pub fn open(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Open { what: what.into(), why: why.into() }
    }

    /// The two series that the check names, the same one twice if it is about one; `None` if it is about
    /// samples or is never decided.
    pub(crate) fn names(&self) -> Option<[&str; 2]> {
        match self {
            Self::Covers { printed: a, truth: b }
            | Self::Attacked { claimed: a, attack: b, .. }
            | Self::Below { lower: a, upper: b, .. }
            | Self::Agrees { first: a, second: b, .. }
            | Self::Follows { first: a, second: b, .. } => Some([a, b]),
            Self::Rises { series, .. } | Self::Falls { series, .. } => Some([series, series]),
            Self::Exceeds { .. } | Self::Open { .. } => None,
        }
    }

    /// The samples that the check names.
    pub(crate) fn samples(&self) -> impl Iterator<Item = &str> {
        let terms: &[(f64, String)] = if let Self::Exceeds { terms, .. } = self { terms } else { &[] };
        terms.iter().map(|(_, name)| name.as_str())
    }
}
