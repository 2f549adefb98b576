//! Whether the claims hold, decided from the numbers that were written.

use crate::correlation::{pearson, ranks};
use crate::figure::Check;
use crate::output::table::{Row, VALUE};
use ndp_dp::Grade;
use std::collections::BTreeMap;

/// What a check found.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The check.
    pub check: Check,
    /// At how many places both series have a value.
    pub compared: usize,
    /// At how many of them it fails.
    pub failures: usize,
    /// At how many a printed value is below an upper bound of the true one, which decides nothing.
    pub undecided: usize,
    /// The largest ratio of the second series to the first (true to printed), and where it is.
    pub worst: Option<Place>,
    /// The smallest rank correlation, for checks that ask for one; then panels are counted, not places.
    pub correlation: Option<f64>,
}

/// A place where two series are compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The ratio there: second to first; of an agreement, larger to smaller.
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

impl Outcome {
    /// Whether it holds; unknown when nothing could be compared, or not decided everywhere.
    #[must_use]
    pub fn holds(&self) -> Option<bool> {
        match (self.failures, self.undecided) {
            (0, 0) => (self.compared > 0).then_some(true),
            (0, _) => None,
            _ => Some(false),
        }
    }

    /// What was found, as a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let [first, second] = self.check.names();
        let relation = match self.check {
            Check::Covers { .. } => "is at least",
            Check::Below { .. } => "is at most",
            Check::Agrees { .. } => "agrees with",
            Check::Follows { least, .. } | Check::Rises { least, .. } => {
                let what = if first == second {
                    format!("“{first}” rises with its abscissa")
                } else {
                    format!("“{first}” follows “{second}”")
                };
                let found = self.correlation.map_or("nothing to compare".into(), |found| {
                    format!("rank correlation {} or more, {} asked", round(found), round(least))
                });
                return format!("{what}: {found}.");
            }
        };
        let Some(worst) = &self.worst else {
            return format!("“{first}” and “{second}” have no place in common.");
        };
        let undecided = match self.undecided {
            0 => String::new(),
            count => format!(" (undecided at {count}, where only an upper bound is known)"),
        };
        let counted = match (self.failures, self.undecided) {
            (0, 0) => format!("holds at all {} places", self.compared),
            (failures, _) => format!("fails at {failures} of {} places{undecided}", self.compared),
        };
        format!(
            "“{first}” {relation} “{second}”: {counted}; largest ratio {} ({} to {}) in “{}” at {}.",
            round(worst.ratio),
            round(worst.second),
            round(worst.first),
            worst.panel,
            worst.at,
        )
    }
}

/// Evaluates the checks on the rows of a figure.
///
/// Two series are compared in every panel that has both. When no panel has both, the first panel
/// with the first series is compared with the first panel with the second, and so on.
#[must_use]
pub fn evaluate(checks: &[Check], rows: &[Row]) -> Vec<Outcome> {
    checks.iter().map(|check| evaluate_one(check, rows)).collect()
}

fn evaluate_one(check: &Check, rows: &[Row]) -> Outcome {
    let [first, second] = check.names();
    let (of_first, of_second) = (by_panel(rows, first), by_panel(rows, second));
    if let &(Check::Follows { least, .. } | Check::Rises { least, .. }) = check {
        return correlated(check, least, &of_first, &of_second);
    }
    let shared: Vec<_> = of_first
        .iter()
        .filter_map(|a| of_second.iter().find(|b| a[0].panel == b[0].panel).map(|b| (a, b)))
        .collect();
    let pairs = if shared.is_empty() { of_first.iter().zip(&of_second).collect() } else { shared };
    let mut outcome = nothing_found(check);
    for (a, b) in pairs {
        // Series are short or in the same order: search from where the last match was.
        let mut start = 0;
        for row in b {
            let key = |r: &&Row| r.x == row.x && r.column == row.column;
            let Some(i) = a[start..].iter().position(key).map(|i| start + i) else {
                start = 0;
                continue;
            };
            start = i;
            compare(&mut outcome, a[i], row);
        }
    }
    outcome
}

fn nothing_found(check: &Check) -> Outcome {
    Outcome { check: check.clone(), compared: 0, failures: 0, undecided: 0, worst: None, correlation: None }
}

/// Panels are taken in order: the first with the first series, the first with the second, and so on.
fn correlated(check: &Check, least: f64, of_first: &[Vec<&Row>], of_second: &[Vec<&Row>]) -> Outcome {
    let mut outcome = nothing_found(check);
    for (a, b) in of_first.iter().zip(of_second) {
        let pairs: Vec<(f64, f64)> = if matches!(check, Check::Rises { .. }) {
            a.iter().map(|row| (row.x, row.y)).collect()
        } else {
            let key = |row: &Row| (row.x.to_bits(), row.column);
            let places: BTreeMap<_, f64> = b.iter().map(|row| (key(row), row.y)).collect();
            a.iter().filter_map(|row| Some((row.y, *places.get(&key(row))?))).collect()
        };
        if pairs.is_empty() {
            continue;
        }
        let found = pearson(&ranks(&pairs));
        outcome.compared += 1;
        outcome.failures += usize::from(found < least);
        outcome.correlation = Some(outcome.correlation.map_or(found, |least: f64| least.min(found)));
    }
    outcome
}

/// The rows of one series, panel by panel.
fn by_panel<'a>(rows: &'a [Row], name: &str) -> Vec<Vec<&'a Row>> {
    let of_name: Vec<&Row> = rows.iter().filter(|row| row.series == name).collect();
    of_name.chunk_by(|a, b| a.panel == b.panel).map(<[&Row]>::to_vec).collect()
}

fn compare(outcome: &mut Outcome, first: &Row, second: &Row) {
    let (a, b) = (first.y, second.y);
    outcome.compared += 1;
    let slack = 1e-9 * a.abs().max(b.abs());
    let (fails, ratio) = match outcome.check {
        Check::Covers { .. } => (a < b - slack, quotient(b, a)),
        Check::Below { .. } => (a > b + slack, quotient(a, b)),
        Check::Agrees { tolerance, .. } => {
            ((a - b).abs() > tolerance * a.abs().max(b.abs()), quotient(a, b).max(quotient(b, a)))
        }
        // These are about whole panels.
        Check::Follows { .. } | Check::Rises { .. } => return,
    };
    let covers = matches!(outcome.check, Check::Covers { .. });
    let bound = second.grade == Grade::UpperBound.as_str();
    let counter = if covers && bound { &mut outcome.undecided } else { &mut outcome.failures };
    *counter += usize::from(fails);
    if outcome.worst.as_ref().is_none_or(|worst| ratio > worst.ratio) {
        let at = match second.column {
            None => format!("x = {}", second.x),
            Some(VALUE) => format!("node {}", second.x),
            Some(column) => format!("row {}, column {column}", second.x),
        };
        outcome.worst = Some(Place { ratio, first: a, second: b, panel: second.panel.clone(), at });
    }
}

fn quotient(a: f64, b: f64) -> f64 {
    if a == b { 1.0 } else { a / b }
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

    fn row(panel: &str, series: &str, x: f64, y: f64) -> Row {
        let [panel, series, grade] = [panel, series, "data"].map(String::from);
        Row { panel, series, grade, x, column: None, y, low: None, high: None }
    }

    #[test]
    fn the_path_of_three_disproves_the_printed_sum() {
        let rows = [
            row("path", "printed", 1.0, 4.0 / 3.0),
            row("path", "printed", 2.0, 1.0 / 3.0),
            row("path", "exact", 1.0, 1.0),
            row("path", "exact", 2.0, 1.0),
            row("path", "exact", 3.0, 1.0),
        ];
        let outcome = &evaluate(&[Check::covers("printed", "exact")], &rows)[0];
        assert_eq!((outcome.holds(), outcome.compared, outcome.failures), (Some(false), 2, 1));
        let worst = outcome.worst.as_ref().unwrap();
        assert_eq!((worst.ratio, worst.at.as_str()), (3.0, "x = 2"));
        assert_eq!(
            outcome.sentence(),
            "“printed” is at least “exact”: fails at 1 of 2 places; largest ratio 3 (1 to 0.3333) in “path” at \
             x = 2."
        );
        let reverse = &evaluate(&[Check::below("exact", "printed")], &rows)[0];
        assert_eq!((reverse.failures, reverse.worst.as_ref().unwrap().ratio), (1, 3.0));
    }

    #[test]
    fn panels_are_paired_by_title_or_else_in_order() {
        let mut rows = vec![
            row("a", "s", 1.0, 1.0),
            row("b", "s", 1.0, 2.0),
            row("c", "t", 1.0, 1.0),
            row("d", "t", 1.0, 3.0),
        ];
        let check = [Check::agrees("s", "t", 0.4)];
        let in_order = &evaluate(&check, &rows)[0];
        assert_eq!((in_order.compared, in_order.failures), (2, 0));
        assert_eq!(in_order.worst.as_ref().unwrap().ratio, 1.5);
        rows.push(row("b", "t", 1.0, 8.0));
        let by_title = &evaluate(&check, &rows)[0];
        assert_eq!((by_title.compared, by_title.failures), (1, 1));
    }

    #[test]
    fn an_upper_bound_disproves_nothing() {
        let mut rows = [row("a", "printed", 1.0, 0.1), row("a", "sound", 1.0, 1.0)];
        rows[1].grade = "upper-bound".into();
        let check = [Check::covers("printed", "sound")];
        let outcome = &evaluate(&check, &rows)[0];
        assert_eq!((outcome.holds(), outcome.failures, outcome.undecided), (None, 0, 1));
        assert!(outcome.sentence().contains("fails at 0 of 1 places (undecided at 1"));
        rows[0].y = 2.0;
        assert_eq!(evaluate(&check, &rows)[0].holds(), Some(true));
    }

    #[test]
    fn correlations_are_of_ranks_and_of_whole_panels() {
        let mut rows = vec![
            row("a", "s", 1.0, 1.0),
            row("a", "s", 2.0, 10.0),
            row("a", "s", 3.0, 100.0),
            row("b", "t", 3.0, 9.0),
            row("b", "t", 1.0, -1.0),
            row("b", "t", 2.0, 0.0),
            row("b", "t", 4.0, -7.0),
        ];
        let checks = [Check::follows("s", "t", 0.9), Check::rises("s", 0.9), Check::rises("t", 0.9)];
        let holds = |rows: &[Row]| evaluate(&checks, rows).iter().map(Outcome::holds).collect::<Vec<_>>();
        assert_eq!(holds(&rows), [Some(true), Some(true), Some(false)]);
        let sentence = evaluate(&checks, &rows)[0].sentence();
        assert_eq!(sentence, "“s” follows “t”: rank correlation 1 or more, 0.9 asked.");
        // A second pair of panels that disagrees.
        rows.extend([
            row("c", "s", 1.0, 1.0),
            row("c", "s", 2.0, 2.0),
            row("d", "t", 1.0, 2.0),
            row("d", "t", 2.0, 1.0),
        ]);
        let outcome = &evaluate(&checks, &rows)[0];
        assert_eq!((outcome.compared, outcome.failures, outcome.correlation), (2, 1, Some(-1.0)));
        assert_eq!(evaluate(&checks, &rows[..3])[0].holds(), None);
    }

    #[test]
    fn nothing_in_common_decides_nothing() {
        let rows = [row("a", "s", 1.0, 1.0), row("a", "t", 2.0, 1.0)];
        let outcome = &evaluate(&[Check::covers("s", "t")], &rows)[0];
        assert_eq!(outcome.holds(), None);
        assert!(outcome.sentence().contains("no place in common"));
    }

    #[test]
    fn zeros_and_infinities_are_compared() {
        let rows = [
            row("a", "s", 1.0, 0.0),
            row("a", "s", 2.0, 0.0),
            row("a", "s", 3.0, f64::INFINITY),
            row("a", "t", 1.0, 0.0),
            row("a", "t", 2.0, 0.5),
            row("a", "t", 3.0, f64::INFINITY),
        ];
        let outcome = &evaluate(&[Check::covers("s", "t")], &rows)[0];
        assert_eq!((outcome.compared, outcome.failures), (3, 1));
        assert_eq!(outcome.worst.as_ref().unwrap().ratio, f64::INFINITY);
    }
}
