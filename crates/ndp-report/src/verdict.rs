//! Whether the claims hold, decided from the numbers that were written and from their grades.
//!
//! "Holds" follows only from exact values or from an upper bound below what is claimed, "does not hold" only
//! from exact values, lower bounds or attacks; everything else is "not shown". The types in `evidence.rs`
//! enforce this. Runs with seeds are decided by [`paired`] comparisons with a stated error rate. A claim
//! holds if all its checks hold, and a check that compared nothing is an error.

mod evidence;
pub mod outcome;
pub mod paired;
pub mod title;

pub use evidence::Verdict;
pub use outcome::{Outcome, Place, Why, round};
pub use paired::Paired;

use crate::correlation::{pearson, ranks};
use crate::figure::{Check, Kind, Sample};
use crate::table::{Row, VALUE};
use evidence::{Attacked, Claim, Interval};
use ndp_dp::Grade;
use std::collections::BTreeMap;

/// The verdict on a claim that rests on these checks: it holds if all of them do.
#[must_use]
pub fn of_claim(outcomes: &[Outcome]) -> Verdict {
    Verdict::of_all(outcomes.iter().map(|outcome| outcome.verdict))
}

/// Evaluates the checks on the rows of a figure and on the values of its runs.
///
/// Two series are compared in every panel that has both. If no panel has both, the first panel with the first
/// series is compared with the first panel with the second series, and so on.
///
/// # Errors
/// A sentence naming a check that compared nothing, a row of unknown grade, or runs that cannot be paired.
pub fn evaluate(
    checks: &[Check],
    rows: &[Row],
    samples: &BTreeMap<String, Sample>,
) -> Result<Vec<Outcome>, String> {
    let of = paired::count(checks);
    checks.iter().map(|check| evaluate_one(check, rows, samples, of)).collect()
}

fn evaluate_one(
    check: &Check,
    rows: &[Row],
    samples: &BTreeMap<String, Sample>,
    of: usize,
) -> Result<Outcome, String> {
    let mut outcome = nothing_found(check);
    let only = if let Check::Below { panel, .. } = check { panel.as_deref() } else { None };
    let rows: Vec<&Row> = rows.iter().filter(|row| only.is_none_or(|panel| row.panel == panel)).collect();
    let named = match (check, check.names()) {
        (Check::Exceeds { what, terms, least }, _) => {
            let found = paired::compare((terms, *least), samples, of).map_err(|e| format!("{what}: {e}"))?;
            (outcome.verdict, outcome.compared) = (found.verdict, found.runs);
            if outcome.verdict == Verdict::NOT_SHOWN {
                outcome.why = Some(if found.open { Why::Noise } else { Why::Runs });
            }
            outcome.paired = Some(found);
            return Ok(outcome);
        }
        (Check::Open { .. }, _) => {
            outcome.why = Some(Why::Nothing);
            return Ok(outcome);
        }
        (_, names) => names.unwrap_or_default(),
    };
    let (of_first, of_second) = (by_panel(&rows, named[0]), by_panel(&rows, named[1]));
    if let &(Check::Follows { least, .. } | Check::Rises { least, .. } | Check::Falls { least, .. }) = check {
        correlated(&mut outcome, least, &of_first, &of_second)?;
    } else {
        placed(&mut outcome, &of_first, &of_second)?;
    }
    if outcome.compared == 0 {
        let [first, second] = named;
        return Err(format!("the check of “{first}” against “{second}” compared nothing"));
    }
    Ok(outcome)
}

fn nothing_found(check: &Check) -> Outcome {
    Outcome {
        check: check.clone(),
        verdict: Verdict::NOT_SHOWN,
        compared: 0,
        failures: 0,
        undecided: 0,
        why: None,
        worst: None,
        correlation: None,
        paired: None,
    }
}

/// Compares two series place by place.
fn placed(outcome: &mut Outcome, of_first: &[Vec<&Row>], of_second: &[Vec<&Row>]) -> Result<(), String> {
    let shared: Vec<_> = of_first
        .iter()
        .filter_map(|a| of_second.iter().find(|b| b[0].panel == a[0].panel).map(|b| (a, b)))
        .collect();
    let pairs = if shared.is_empty() { of_first.iter().zip(of_second).collect() } else { shared };
    let mut verdicts = Vec::new();
    for (a, b) in pairs {
        // Series are short or in the same order, so the search starts at the last match.
        let mut start = 0;
        for row in b {
            let key = |r: &&Row| r.x == row.x && r.column == row.column;
            let Some(i) = a[start..].iter().position(key).map(|i| start + i) else {
                start = 0;
                continue;
            };
            start = i;
            if let Check::Below { from: Some(from), .. } = outcome.check
                && row.x < from
            {
                continue;
            }
            verdicts.push(compare(outcome, a[i], row)?);
        }
    }
    outcome.compared = verdicts.len();
    outcome.failures = verdicts.iter().filter(|verdict| verdict.fails()).count();
    outcome.undecided = verdicts.iter().filter(|&&verdict| verdict == Verdict::NOT_SHOWN).count();
    outcome.verdict = Verdict::of_all(verdicts);
    Ok(())
}

/// Panels belong together if their names agree up to the last colon. If no panels do, they are paired in
/// order: the first with the first series, the first with the second, and so on.
fn correlated(
    outcome: &mut Outcome,
    least: f64,
    of_first: &[Vec<&Row>],
    of_second: &[Vec<&Row>],
) -> Result<(), String> {
    let stem = |rows: &Vec<&Row>| rows[0].panel.rsplit_once(": ").map(|(stem, _)| stem.to_owned());
    let alike: Vec<_> = of_first
        .iter()
        .filter_map(|a| Some((a, of_second.iter().find(|b| stem(a).is_some() && stem(a) == stem(b))?)))
        .collect();
    let pairs = if alike.is_empty() { of_first.iter().zip(of_second).collect() } else { alike };
    let sign = match outcome.check {
        Check::Rises { .. } => Some(1.0),
        Check::Falls { .. } => Some(-1.0),
        _ => None,
    };
    let mut verdicts = Vec::new();
    for (a, b) in pairs {
        let key = |row: &Row| (row.x.to_bits(), row.column);
        let places: BTreeMap<_, f64> = b.iter().map(|row| (key(row), row.y)).collect();
        let points: Vec<(f64, f64)> = if let Some(sign) = sign {
            a.iter().map(|row| (row.x, sign * row.y)).collect()
        } else {
            a.iter().filter_map(|row| Some((row.y, *places.get(&key(row))?))).collect()
        };
        if points.is_empty() {
            continue;
        }
        let found = pearson(&ranks(&points));
        let kinds = a.iter().chain(b).map(|row| known_kind(row)).collect::<Result<Vec<_>, _>>()?;
        let verdict = evidence::correlation(found, least, kinds.iter().copied());
        if verdict == Verdict::NOT_SHOWN {
            outcome.why = outcome.why.max(Some(why_open(&kinds)));
        }
        verdicts.push(verdict);
        outcome.correlation = Some(outcome.correlation.map_or(found, |least: f64| least.min(found)));
    }
    outcome.compared = verdicts.len();
    outcome.failures = verdicts.iter().filter(|verdict| verdict.fails()).count();
    outcome.undecided = verdicts.iter().filter(|&&verdict| verdict == Verdict::NOT_SHOWN).count();
    outcome.verdict = Verdict::of_all(verdicts);
    Ok(())
}

/// Why values of these kinds, none of which is only claimed, decide nothing.
fn why_open(kinds: &[Kind]) -> Why {
    let any = |grade: Grade| kinds.contains(&grade.into());
    if any(Grade::Printed) || any(Grade::Estimate) {
        Why::Nothing
    } else if any(Grade::UpperBound) {
        Why::Bound
    } else {
        Why::Classes
    }
}

/// The rows of one series, panel by panel.
fn by_panel<'a>(rows: &[&'a Row], name: &str) -> Vec<Vec<&'a Row>> {
    let of_name: Vec<&Row> = rows.iter().copied().filter(|row| row.series == name).collect();
    of_name.chunk_by(|a, b| a.panel == b.panel).map(<[&Row]>::to_vec).collect()
}

/// The kind of a row; data with a range are averages, and therefore estimates.
fn known_kind(row: &Row) -> Result<Kind, String> {
    match Kind::from_word(&row.grade) {
        None => Err(format!("“{}” has the unknown grade {:?}", row.series, row.grade)),
        Some(Kind::Data) if row.low.is_some() || row.high.is_some() => Ok(Grade::Estimate.into()),
        Some(kind) => Ok(kind),
    }
}

fn compare(outcome: &mut Outcome, first: &Row, second: &Row) -> Result<Verdict, String> {
    let (a, b) = (first.y, second.y);
    let (of_first, of_second) = (known_kind(first)?, known_kind(second)?);
    // A point may stand for a class. If the means of two classes differ, some members differ; for all members
    // to be in order, the ends of their ranges must be in order.
    let low = |row: &Row| row.low.unwrap_or(row.y);
    let high = |row: &Row| row.high.unwrap_or(row.y);
    let of_class = |means: Verdict, ends: Verdict| {
        if means.fails() || ends.holds() { Verdict::of_all([means, ends]) } else { Verdict::NOT_SHOWN }
    };
    let (verdict, ratio) = match outcome.check {
        Check::Covers { .. } => {
            let covers = |claim: f64, truth: f64| Claim(claim).covers(Interval::read(of_second, truth));
            (of_class(covers(a, b), covers(low(first), high(second))), quotient(b, a))
        }
        Check::Attacked { .. } => (Claim(a).covers(Attacked(b).into()), quotient(b, a)),
        Check::Below { .. } => {
            let below = |a: f64, b: f64| Interval::read(of_first, a).is_at_most(Interval::read(of_second, b));
            (of_class(below(a, b), below(high(first), low(second))), quotient(a, b))
        }
        Check::Agrees { tolerance, .. } => {
            let agrees = Interval::read(of_first, a).agrees(Interval::read(of_second, b), tolerance);
            (agrees, quotient(a, b).max(quotient(b, a)))
        }
        // These checks are about whole panels, or about runs.
        Check::Follows { .. }
        | Check::Rises { .. }
        | Check::Falls { .. }
        | Check::Exceeds { .. }
        | Check::Open { .. } => (Verdict::NOT_SHOWN, 1.0),
    };
    if verdict == Verdict::NOT_SHOWN {
        let why = match outcome.check {
            Check::Attacked { .. } => Why::Nothing,
            Check::Covers { .. } => why_open(&[of_second]),
            _ => why_open(&[of_first, of_second]),
        };
        outcome.why = outcome.why.max(Some(why));
    }
    if outcome.worst.as_ref().is_none_or(|worst| ratio > worst.ratio) {
        let at = match second.column {
            None if second.x.fract() == 0.0 => format!("x = {}", second.x),
            None => format!("x = {}", round(second.x)),
            Some(VALUE) => format!("node {}", second.x),
            Some(column) => format!("row {}, column {column}", second.x),
        };
        outcome.worst = Some(Place { ratio, first: a, second: b, panel: second.panel.clone(), at });
    }
    Ok(verdict)
}

fn quotient(a: f64, b: f64) -> f64 {
    if a == b { 1.0 } else { a / b }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(panel: &str, series: &str, x: f64, y: f64) -> Row {
        graded(panel, series, "data", x, y)
    }

    fn graded(panel: &str, series: &str, grade: &str, x: f64, y: f64) -> Row {
        let [panel, series, grade] = [panel, series, grade].map(String::from);
        Row { panel, series, grade, x, column: None, y, low: None, high: None, by: String::new() }
    }

    fn decide(checks: &[Check], rows: &[Row]) -> Result<Vec<Outcome>, String> {
        evaluate(checks, rows, &BTreeMap::new())
    }

    fn words(checks: &[Check], rows: &[Row]) -> Vec<&'static str> {
        decide(checks, rows).unwrap().iter().map(|outcome| outcome.verdict.as_str()).collect()
    }

    /// The check may be about one panel only; other panels may have another order.
    #[test]
    fn a_check_may_be_about_one_panel() {
        let rows = [row("error", "a", 1.0, 1.0), row("error", "b", 1.0, 2.0)];
        let rows = [&rows[..], &[row("mean", "a", 1.0, 3.0), row("mean", "b", 1.0, 2.0)]].concat();
        let checks =
            [Check::below("a", "b"), Check::below_in("error", "a", "b"), Check::below_in("mean", "a", "b")];
        assert_eq!(words(&checks, &rows), ["does not hold", "holds", "does not hold"]);
        let found = decide(&checks[1..2], &rows).unwrap();
        assert_eq!(found[0].compared, 1);
        assert!(found[0].sentence().starts_with("“a” is at most “b” in “error”: holds at all 1 places"));
        let nowhere = decide(&[Check::below_in("messages", "a", "b")], &rows);
        assert_eq!(nowhere.unwrap_err(), "the check of “a” against “b” compared nothing");
    }

    /// Each reason why nothing is shown.
    #[test]
    fn what_is_not_shown_has_a_reason() {
        let why = |check: Check, rows: &[Row]| decide(&[check], rows).unwrap()[0].why;
        let pair = |first: &str, second: &str| {
            [graded("p", "a", first, 1.0, 1.0), graded("p", "b", second, 1.0, 2.0)]
        };
        assert_eq!(why(Check::below("a", "b"), &pair("exact", "exact")), None);
        assert_eq!(why(Check::below("b", "a"), &pair("exact", "exact")), None, "refuted");
        assert_eq!(why(Check::below("a", "b"), &pair("exact", "upper-bound")), Some(Why::Bound));
        assert_eq!(why(Check::below("a", "b"), &pair("exact", "estimate")), Some(Why::Nothing));
        assert_eq!(why(Check::covers("a", "b"), &pair("printed", "upper-bound")), Some(Why::Bound));
        assert_eq!(why(Check::covers("a", "b"), &pair("printed", "printed")), Some(Why::Nothing));
        assert_eq!(why(Check::attacked("b", "a", 0.01), &pair("estimate", "printed")), Some(Why::Nothing));
        assert_eq!(why(Check::open("this", "nobody knows"), &[]), Some(Why::Nothing));
        let class = |row: Row, low: f64, high: f64| Row { low: Some(low), high: Some(high), ..row };
        let [a, b] = pair("exact", "exact");
        let classes = [class(a, 0.5, 2.5), class(b, 1.5, 3.0)];
        assert_eq!(why(Check::below("a", "b"), &classes), Some(Why::Classes));
        let runs = |kind: Kind, values: Vec<f64>| Sample { kind, values };
        let sampled = |kind: Kind, count: usize| {
            let samples = BTreeMap::from([
                ("more".to_owned(), runs(Kind::Data, vec![2.0; count])),
                ("less".to_owned(), runs(kind, vec![1.0; count])),
            ]);
            evaluate(&[Check::exceeds("more", "more", "less")], &[], &samples).unwrap()[0].why
        };
        assert_eq!(sampled(Kind::Data, 2), Some(Why::Runs));
        assert_eq!(sampled(Kind::Data, 20), None);
        assert_eq!(sampled(Grade::UpperBound.into(), 20), Some(Why::Noise));
    }

    #[test]
    fn the_path_of_three_disproves_the_printed_sum() {
        let rows = [
            graded("path", "printed", "printed", 1.0, 4.0 / 3.0),
            graded("path", "printed", "printed", 2.0, 1.0 / 3.0),
            graded("path", "exact", "exact", 1.0, 1.0),
            graded("path", "exact", "exact", 2.0, 1.0),
            graded("path", "exact", "exact", 3.0, 1.0),
        ];
        let outcome = &decide(&[Check::covers("printed", "exact")], &rows).unwrap()[0];
        assert_eq!((outcome.verdict.as_str(), outcome.compared, outcome.failures), ("does not hold", 2, 1));
        let worst = outcome.worst.as_ref().unwrap();
        assert_eq!((worst.ratio, worst.at.as_str()), (3.0, "x = 2"));
        assert_eq!(
            outcome.sentence(),
            "“printed” is at least “exact”: fails at 1 of 2 places; largest ratio 3 (1 to 0.3333) in “path” at \
             x = 2."
        );
        // A printed value is no evidence about the truth.
        let below = [Check::below("exact", "printed")];
        assert_eq!(words(&below, &rows), ["not shown"]);
        // The ratio is that of the one that is to be smaller.
        let found = decide(&below, &rows).unwrap().remove(0).worst.unwrap();
        assert_eq!(found.ratio_in_words(), "3 (1 to 0.3333)");
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
        let in_order = &decide(&check, &rows).unwrap()[0];
        assert_eq!((in_order.compared, in_order.failures), (2, 0));
        assert_eq!(in_order.worst.as_ref().unwrap().ratio, 1.5);
        rows.push(row("b", "t", 1.0, 8.0));
        let by_title = &decide(&check, &rows).unwrap()[0];
        assert_eq!((by_title.compared, by_title.failures), (1, 1));
    }

    /// `network-dp/fig3`: an upper bound above an upper bound was reported as "does not hold".
    /// `random-walk/fig5`: an upper bound 4.5 % below another was reported as "holds".
    #[test]
    fn upper_bounds_are_not_ordered_by_what_they_bound() {
        let rows = |sound: f64| {
            [graded("a", "sound", "upper-bound", 1.0, sound), graded("a", "local", "upper-bound", 1.0, 1.0)]
        };
        for sound in [0.955, 1.7] {
            assert_eq!(words(&[Check::below("sound", "local")], &rows(sound)), ["not shown"]);
        }
        let mut exact = rows(0.955);
        exact[1].grade = "exact".into();
        assert_eq!(words(&[Check::below("sound", "local")], &exact), ["holds"]);
    }

    #[test]
    fn an_upper_bound_disproves_nothing() {
        let mut rows =
            [graded("a", "printed", "printed", 1.0, 0.1), graded("a", "sound", "upper-bound", 1.0, 1.0)];
        let check = [Check::covers("printed", "sound")];
        let outcome = &decide(&check, &rows).unwrap()[0];
        assert_eq!((outcome.verdict.as_str(), outcome.failures, outcome.undecided), ("not shown", 0, 1));
        assert_eq!(outcome.why, Some(Why::Bound));
        assert!(outcome.sentence().contains("not shown: undecided at 1 of 1 places"));
        rows[0].y = 2.0;
        assert_eq!(words(&check, &rows), ["holds"]);
        for grade in ["printed", "estimate"] {
            rows[1].grade = grade.into();
            assert_eq!(words(&check, &rows), ["not shown"]);
        }
        rows[1].grade = "certified".into();
        assert_eq!(decide(&check, &rows).unwrap_err(), "“sound” has the unknown grade \"certified\"");
    }

    #[test]
    fn an_attack_refutes_and_never_supports() {
        let mut rows =
            [graded("a", "printed", "printed", 1.0, 0.1), graded("a", "measured", "estimate", 1.0, 0.2)];
        let check = [Check::attacked("printed", "measured", 1e-3)];
        assert_eq!(words(&check, &rows), ["does not hold"]);
        rows[1].y = 0.05;
        assert_eq!(words(&check, &rows), ["not shown"]);
        assert!(decide(&check, &rows).unwrap()[0].sentence().contains("proves nothing"));
    }

    /// Points that stand for classes: a mean that is above proves that some pair is above; the contrary is
    /// proven by the ends of the ranges only.
    #[test]
    fn classes_are_covered_by_their_ends() {
        let with = |mut row: Row, low: f64, high: f64| {
            (row.low, row.high) = (Some(low), Some(high));
            row
        };
        let check = [Check::covers("printed", "exact")];
        let printed = |y, low, high| with(graded("a", "printed", "printed", 1.0, y), low, high);
        let exact = |y, low, high| with(graded("a", "exact", "exact", 1.0, y), low, high);
        assert_eq!(words(&check, &[printed(2.0, 1.5, 3.0), exact(1.0, 0.5, 1.4)]), ["holds"]);
        assert_eq!(words(&check, &[printed(2.0, 0.5, 3.0), exact(1.0, 0.5, 1.4)]), ["not shown"]);
        assert_eq!(words(&check, &[printed(0.9, 0.5, 3.0), exact(1.0, 0.5, 1.4)]), ["does not hold"]);
        // Averages over runs do not count as data.
        let rows = [with(row("a", "s", 1.0, 1.0), 0.9, 1.1), row("a", "t", 1.0, 2.0)];
        assert_eq!(words(&[Check::below("s", "t")], &rows), ["not shown"]);
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
        assert_eq!(words(&checks, &rows), ["holds", "holds", "does not hold"]);
        let falls = [Check::falls("s", 0.9), Check::falls("t", 0.1)];
        assert_eq!(words(&falls, &rows), ["does not hold", "holds"]);
        let sentence = decide(&checks, &rows).unwrap()[0].sentence();
        assert_eq!(sentence, "“s” follows “t”: holds; rank correlation 1 or more, 0.9 asked.");
        // A second pair of panels, which disagrees with the first.
        rows.extend([
            row("c", "s", 1.0, 1.0),
            row("c", "s", 2.0, 2.0),
            row("d", "t", 1.0, 2.0),
            row("d", "t", 2.0, 1.0),
        ]);
        let outcome = &decide(&checks, &rows).unwrap()[0];
        assert_eq!((outcome.compared, outcome.failures, outcome.correlation), (2, 1, Some(-1.0)));
        assert!(decide(&checks, &rows[..3]).unwrap_err().contains("compared nothing"));
        // `random-walk/fig3`: the printed loss follows, which says nothing about the loss itself.
        for grade in ["printed", "upper-bound", "estimate"] {
            rows.iter_mut().filter(|row| row.series == "s").for_each(|row| row.grade = grade.into());
            assert_eq!(words(&checks[..2], &rows), ["not shown", "not shown"]);
        }
    }

    /// The strongest reason of all panels, in whatever order they come.
    #[test]
    fn correlations_that_are_not_shown_have_a_reason() {
        let panel = |title: &'static str, grade: &'static str| {
            (0..3).map(move |x| graded(title, "s", grade, f64::from(x), f64::from(x * x)))
        };
        let why = |grades: [&'static str; 2]| {
            let rows: Vec<Row> = panel("one", grades[0]).chain(panel("two", grades[1])).collect();
            let outcome = decide(&[Check::rises("s", 0.9)], &rows).unwrap().remove(0);
            assert_eq!(outcome.undecided, grades.iter().filter(|grade| **grade != "exact").count());
            outcome.why
        };
        assert_eq!(why(["exact", "exact"]), None);
        assert_eq!(why(["upper-bound", "exact"]), Some(Why::Bound));
        assert_eq!(why(["upper-bound", "printed"]), Some(Why::Nothing));
        assert_eq!(why(["estimate", "upper-bound"]), Some(Why::Nothing));
    }

    #[test]
    fn panels_of_one_name_belong_together() {
        let rows = [
            row("F, 9: left", "t", 1.0, 2.0),
            row("F, 9: left", "t", 2.0, 1.0),
            row("D, 8: right", "s", 1.0, 1.0),
            row("D, 8: right", "s", 2.0, 2.0),
            row("D, 8: left", "t", 1.0, 5.0),
            row("D, 8: left", "t", 2.0, 7.0),
        ];
        let outcome = &decide(&[Check::follows("s", "t", 0.9)], &rows).unwrap()[0];
        assert_eq!((outcome.compared, outcome.correlation), (1, Some(1.0)));
    }

    /// `network-dp/fig1a`: the numbers of users were rounded in one series and not in the other.
    #[test]
    fn nothing_in_common_is_an_error() {
        let rows = [row("a", "s", 9.9, 1.0), row("a", "t", 10.0, 1.0), row("a", "u", 9.9, 1.0)];
        for check in [Check::covers("s", "t"), Check::below_from("s", "u", 10.0), Check::rises("none", 0.5)] {
            let found = decide(&[Check::below("s", "u"), check], &rows);
            assert!(found.unwrap_err().contains("compared nothing"));
        }
        assert_eq!(
            words(&[Check::below("s", "u"), Check::below_from("s", "u", 9.0)], &rows),
            ["holds", "holds"]
        );
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
        let outcome = &decide(&[Check::covers("s", "t")], &rows).unwrap()[0];
        assert_eq!((outcome.compared, outcome.failures), (3, 1));
        assert_eq!(outcome.worst.as_ref().unwrap().ratio, f64::INFINITY);
    }

    #[test]
    fn runs_are_compared_in_pairs() {
        let sample = |values: [f64; 8]| Sample { kind: Kind::Data, values: values.to_vec() };
        let samples = BTreeMap::from([
            ("walk".to_owned(), sample([0.9, 0.8, 0.91, 0.85, 0.9, 0.8, 0.7, 0.95])),
            ("local".to_owned(), sample([0.6, 0.5, 0.61, 0.55, 0.6, 0.5, 0.4, 0.65])),
        ]);
        let checks = [
            Check::exceeds("the walk learns more", "walk", "local"),
            Check::exceeds_by("by half", &[(1.0, "walk"), (-1.0, "local")], 0.5),
        ];
        let found = evaluate(&checks, &[], &samples).unwrap();
        assert_eq!([found[0].verdict.as_str(), found[1].verdict.as_str()], ["holds", "does not hold"]);
        assert_eq!(of_claim(&found).as_str(), "does not hold");
        let said = found[0].sentence();
        assert!(
            said.starts_with("the walk learns more: holds. The difference of 8 paired runs has median 0.3"),
            "{said}"
        );
        let missing = evaluate(&[Check::exceeds("x", "walk", "gossip")], &[], &samples);
        assert_eq!(missing.unwrap_err(), "x: there are no runs \"gossip\"");
        // A part of the claim that nothing decides keeps the whole claim open.
        let open = Check::open("Far nodes are safe", "only bounds are known");
        let found = evaluate(&[checks[0].clone(), open], &[], &samples).unwrap();
        assert_eq!(of_claim(&found), Verdict::NOT_SHOWN);
        assert_eq!(found[1].sentence(), "Far nodes are safe: not shown, because only bounds are known.");
    }
}
