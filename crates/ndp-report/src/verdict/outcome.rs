//! What a check found, and how it is said.

use super::paired::ERROR_RATE;
use super::{Paired, Verdict};
use crate::figure::Check;

/// Why a check shows nothing.
///
/// # Examples
/// ```
/// use ndp_report::verdict::Why;
/// assert_eq!(Why::Bound.as_str(), "a bound cannot decide it");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// The true value is known only by an upper bound, and the claimed one is below it.
    Bound,
    /// The runs use noise of which only an upper bound is known.
    Noise,
    /// The runs are too few to show their difference at this error rate.
    Runs,
    /// The compared values are printed or estimates, or an attack found nothing.
    Nothing,
    /// Each point stands for many values. The means are in order, but single values may not be.
    Classes,
}

impl Why {
    /// The reason, as it follows "because".
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bound => "a bound cannot decide it",
            Self::Noise => "only the noise was bounded",
            Self::Runs => "the runs are too few to decide it",
            Self::Nothing => "nothing provable decides it",
            Self::Classes => "means are in order, single values may not be",
        }
    }
}

/// What a check found.
///
/// # Examples
/// ```
/// use ndp_report::figure::Check;
/// use ndp_report::table::Row;
/// use ndp_report::verdict::evaluate;
/// use std::collections::BTreeMap;
/// let row = |series: &str, grade: &str, y: f64| Row {
///     panel: "path".into(),
///     series: series.into(),
///     grade: grade.into(),
///     x: 2.0,
///     column: None,
///     y,
///     low: None,
///     high: None,
///     by: String::new(),
/// };
/// let rows = [row("printed", "printed", 1.0 / 3.0), row("exact", "exact", 1.0)];
/// let outcome = evaluate(&[Check::covers("printed", "exact")], &rows, &BTreeMap::new())?.remove(0);
/// assert!(outcome.verdict.fails() && outcome.failures == 1);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The check.
    pub check: Check,
    /// The verdict that follows.
    pub verdict: Verdict,
    /// The number of places at which both series have a value; for runs, how many there are of each sample.
    pub compared: usize,
    /// The number of these places at which the check fails.
    pub failures: usize,
    /// The number of these places at which the grades decide nothing.
    pub undecided: usize,
    /// Why they decide nothing: the strongest reason at one of them.
    pub why: Option<Why>,
    /// The largest ratio of the second series to the first (true to printed), and where it is.
    pub worst: Option<Place>,
    /// The smallest rank correlation, for checks that ask for one; such checks count panels instead of
    /// places.
    pub correlation: Option<f64>,
    /// What the runs show, for checks of samples.
    pub paired: Option<Paired>,
}

/// A place where two series are compared.
///
/// # Examples
/// ```
/// use ndp_report::figure::Check;
/// use ndp_report::table::Row;
/// use ndp_report::verdict::evaluate;
/// use std::collections::BTreeMap;
/// let row = |series: &str, grade: &str, y: f64| Row {
///     panel: "path".into(),
///     series: series.into(),
///     grade: grade.into(),
///     x: 2.0,
///     column: None,
///     y,
///     low: None,
///     high: None,
///     by: String::new(),
/// };
/// let rows = [row("printed", "printed", 1.0 / 3.0), row("exact", "exact", 1.0)];
/// let outcome = evaluate(&[Check::covers("printed", "exact")], &rows, &BTreeMap::new())?.remove(0);
/// assert!(outcome.worst.is_some_and(|place| (place.panel.as_str(), place.second) == ("path", 1.0)));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The ratio there: second to first, or first to second where the first is to be the smaller one; for an
    /// agreement, larger to smaller.
    pub ratio: f64,
    /// Value of the first series.
    pub first: f64,
    /// Value of the second series.
    pub second: f64,
    /// Title of the panel of the second series.
    pub panel: String,
    /// Abscissa, node, or entry.
    pub at: String,
}

impl Place {
    /// The ratio, with the two values in the order in which it is theirs.
    #[must_use]
    pub fn ratio_in_words(&self) -> String {
        let of_second = super::quotient(self.second, self.first) == self.ratio;
        let (one, other) = if of_second { (self.second, self.first) } else { (self.first, self.second) };
        let [ratio, one, other] = [self.ratio, one, other].map(round);
        format!("{ratio} ({one} to {other})")
    }
}

impl Outcome {
    /// What was found, as a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let verdict = self.verdict.as_str();
        if let (Check::Exceeds { what, least, .. }, Some(paired)) = (&self.check, &self.paired) {
            let error_rate = round(ERROR_RATE);
            let interval = match (paired.low, paired.high) {
                (None, None) => format!("too few runs for an interval with an error rate of {error_rate}"),
                (low, high) => {
                    let end = |end: Option<f64>| end.map_or("unknown".into(), round);
                    let (low, high) = (end(low), end(high));
                    format!("between {low} and {high} with an error rate of at most {error_rate} each way")
                }
            };
            return format!(
                "{what}: {verdict}. The difference of {} paired runs has median {}, {interval}{}{}.",
                paired.runs,
                round(paired.median),
                if *least == 0.0 { String::new() } else { format!("; asked is {}", round(*least)) },
                if paired.open { "; what the values rest on is not known well enough to decide" } else { "" },
            );
        }
        if let Check::Open { what, why } = &self.check {
            return format!("{what}: {verdict}, because {why}.");
        }
        let [first, second] = self.check.names().unwrap_or_default();
        let relation = match self.check {
            Check::Covers { .. } => "is at least",
            Check::Attacked { .. } => "is exceeded nowhere by",
            Check::Below { .. } => "is at most",
            Check::Agrees { .. } | Check::Exceeds { .. } | Check::Open { .. } => "agrees with",
            Check::Follows { least, .. } | Check::Rises { least, .. } | Check::Falls { least, .. } => {
                let what = if let Check::Falls { .. } = self.check {
                    format!("“{first}” falls as its abscissa rises")
                } else if first == second {
                    format!("“{first}” rises with its abscissa")
                } else {
                    format!("“{first}” follows “{second}”")
                };
                let found = self.correlation.map_or("nothing to compare".into(), |found| {
                    format!("rank correlation {} or more, {} asked", round(found), round(least))
                });
                let because = self.why.map_or(String::new(), |why| format!(", because {}", why.as_str()));
                return format!("{what}: {verdict}{because}; {found}.");
            }
        };
        let from = match &self.check {
            Check::Below { from: Some(from), .. } => format!(" from {} on", round(*from)),
            Check::Below { panel: Some(panel), .. } => format!(" in “{panel}”"),
            _ => String::new(),
        };
        let because = self.why.map_or(String::new(), |why| format!(", because {}", why.as_str()));
        let counted = match (self.failures, self.undecided, &self.check) {
            (0, 0, _) => format!("holds at all {} places", self.compared),
            (0, _, Check::Attacked { .. }) => {
                format!("not contradicted at {} places, which proves nothing", self.compared)
            }
            (0, open, _) => format!("not shown: undecided at {open} of {} places{because}", self.compared),
            (failures, 0, _) => format!("fails at {failures} of {} places", self.compared),
            (failures, open, _) => {
                format!("fails at {failures} of {} places (undecided at {open})", self.compared)
            }
        };
        let worst = self.worst.as_ref().map_or(String::new(), |worst| {
            format!("; largest ratio {} in “{}” at {}", worst.ratio_in_words(), worst.panel, worst.at)
        });
        format!("“{first}” {relation} “{second}”{from}: {counted}{worst}.")
    }
}

/// A number for a sentence: four digits.
#[must_use]
pub fn round(value: f64) -> String {
    if value == 0.0 || (1e-3..1e5).contains(&value.abs()) {
        let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
        rounded.to_string()
    } else {
        format!("{value:.2e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_name_what_is_missing() {
        let said = [
            (Why::Bound, "bound"),
            (Why::Noise, "noise"),
            (Why::Runs, "runs"),
            (Why::Nothing, "nothing"),
            (Why::Classes, "means"),
        ];
        assert!(said.iter().all(|(why, word)| why.as_str().contains(word)));
    }

    #[test]
    fn numbers_of_both_signs_have_four_digits() {
        let shown = [2.5, -2.5, 0.0, -0.123_456, 1e-4, -1e-4, -123_456.0, f64::INFINITY].map(round);
        assert_eq!(shown, ["2.5", "-2.5", "0", "-0.1235", "1.00e-4", "-1.00e-4", "-1.23e5", "inf"]);
    }
}
