//! The outcome of each mutant, and tables of the outcomes.

use super::candidates::Mutant;
use std::collections::BTreeMap;

/// What became of a mutant.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    /// A test or a part of the search failed.
    Caught(String),
    /// A test exceeded its time limit.
    TimedOut(String),
    /// All tests that reach it pass.
    Survived,
    /// No test reaches it.
    NotReached,
    /// The list of equivalent mutants gives a reason why no test could notice it.
    Equivalent(String),
}

impl Outcome {
    /// The word for files.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Caught(_) => "caught",
            Self::TimedOut(_) => "timed-out",
            Self::Survived => "survived",
            Self::NotReached => "not-reached",
            Self::Equivalent(_) => "equivalent",
        }
    }

    /// The test that noticed the mutant, or the reason why none can.
    pub(super) fn by(&self) -> &str {
        match self {
            Self::Caught(by) | Self::TimedOut(by) | Self::Equivalent(by) => by,
            Self::Survived | Self::NotReached => "",
        }
    }

    /// The inverse of [`word`](Self::word) and [`by`](Self::by), except for equivalent mutants.
    pub(super) fn read(word: &str, by: &str) -> Option<Self> {
        match word {
            "caught" => Some(Self::Caught(by.to_owned())),
            "timed-out" => Some(Self::TimedOut(by.to_owned())),
            "survived" => Some(Self::Survived),
            "not-reached" => Some(Self::NotReached),
            _ => None,
        }
    }

    pub(super) fn is_caught(&self) -> bool {
        matches!(self, Self::Caught(_) | Self::TimedOut(_))
    }
}

/// A mutant of a list with its outcome.
pub(super) struct Result {
    pub(super) list: &'static str,
    pub(super) mutant: Mutant,
    pub(super) line: usize,
    pub(super) outcome: Outcome,
}

#[derive(Default)]
struct Counts {
    all: usize,
    caught: usize,
    timed_out: usize,
    survived: usize,
    not_reached: usize,
    equivalent: usize,
}

impl Counts {
    fn add(&mut self, outcome: &Outcome) {
        self.all += 1;
        match outcome {
            Outcome::Caught(_) => self.caught += 1,
            Outcome::TimedOut(_) => self.timed_out += 1,
            Outcome::Survived => self.survived += 1,
            Outcome::NotReached => self.not_reached += 1,
            Outcome::Equivalent(_) => self.equivalent += 1,
        }
    }
}

/// The table: one row for each crate of each list, and one for each list.
pub(super) fn table(results: &[Result]) -> String {
    let mut rows: BTreeMap<(&str, &str), Counts> = BTreeMap::new();
    for result in results {
        for name in [result.mutant.entry.crate_name(), "together"] {
            rows.entry((result.list, name)).or_default().add(&result.outcome);
        }
    }
    let mut text = String::from(
        "| list | crate | mutants | equivalent | caught | of these by time | survived | not reached | share | 95 % |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    for ((list, name), it) in rows {
        let count = it.all - it.equivalent;
        let caught = it.caught + it.timed_out;
        let (low, high) = interval(caught, count);
        let share = if count == 0 { 1.0 } else { caught as f64 / count as f64 };
        text.push_str(&format!(
            "| {list} | {name} | {} | {} | {caught} | {} | {} | {} | {:.1} % | {:.1} to {:.1} |\n",
            it.all,
            it.equivalent,
            it.timed_out,
            it.survived,
            it.not_reached,
            100.0 * share,
            100.0 * low,
            100.0 * high
        ));
    }
    text
}

/// The interval of Clopper and Pearson for a probability, at 95 %.
fn interval(successes: usize, trials: usize) -> (f64, f64) {
    // P(X >= k) increases with p, and P(X <= k) decreases.
    let low = if successes == 0 { 0.0 } else { root(|p| at_least(successes, trials, p) < 0.025) };
    let high =
        if successes == trials { 1.0 } else { root(|p| 0.025 < 1.0 - at_least(successes + 1, trials, p)) };
    (low, high)
}

/// The point in [0, 1] up to which a condition holds, by bisection.
fn root(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if holds(middle) { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// The probability of at least `k` successes of `n`, for `0 < p < 1`.
fn at_least(k: usize, n: usize, p: f64) -> f64 {
    let mut log_choose = 0.0;
    let mut sum = 0.0;
    for i in 0..=n {
        if k <= i {
            sum += (log_choose + i as f64 * p.ln() + (n - i) as f64 * (-p).ln_1p()).exp();
        }
        log_choose += ((n - i) as f64).ln() - ((i + 1) as f64).ln();
    }
    sum.min(1.0)
}

/// All results as CSV.
pub(super) fn csv(results: &[Result]) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let mut text = String::from("list,crate,id,file,line,function,kind,change,outcome,by\n");
    for result in results {
        let entry = &result.mutant.entry;
        text.push_str(&format!(
            "{},{},{:08x},{},{},{},{},{},{},{}\n",
            result.list,
            entry.crate_name(),
            entry.id(),
            entry.file,
            result.line,
            quoted(&entry.function),
            entry.kind,
            quoted(&entry.change),
            result.outcome.word(),
            quoted(result.outcome.by())
        ));
    }
    text
}

/// All results as JSON.
pub(super) fn json(results: &[Result]) -> String {
    let rows = results.iter().map(|result| {
        let entry = &result.mutant.entry;
        serde_json::json!({
            "list": result.list, "crate": entry.crate_name(), "id": format!("{:08x}", entry.id()), "file": entry.file,
            "line": result.line, "function": entry.function, "kind": entry.kind, "change": entry.change,
            "outcome": result.outcome.word(), "by": result.outcome.by(),
        })
    });
    let lines: Vec<String> = rows.map(|row| row.to_string()).collect();
    format!("[\n{}\n]\n", lines.join(",\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The interval as R's `binom.test` gives it for 15 of 20 and for 20 of 20.
    #[test]
    fn intervals_are_those_of_clopper_and_pearson() {
        let (low, high) = interval(15, 20);
        assert!((low - 0.508_953_9).abs() < 1e-6 && (high - 0.913_428_5).abs() < 1e-6, "{low} {high}");
        let (low, high) = interval(20, 20);
        assert!((low - 0.025_f64.powf(0.05)).abs() < 1e-9 && high == 1.0);
        assert_eq!(interval(0, 20).0, 0.0);
    }

    #[test]
    fn words_are_read_again() {
        for outcome in [Outcome::Caught("a".into()), Outcome::TimedOut("a".into()), Outcome::Survived] {
            assert_eq!(Outcome::read(outcome.word(), outcome.by()), Some(outcome));
        }
    }
}
