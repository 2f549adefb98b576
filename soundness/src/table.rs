//! The results of a search, as text.

use crate::driver::Summary;
use crate::part::Outcome;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The results of one part in one line.
pub(crate) fn line(summary: &Summary) -> String {
    format!(
        "{:<16} {:>10} cases {:>12} compared {:>8} violations {:>8.1} s (slowest case {}: {:.1} s)",
        summary.name,
        summary.cases,
        summary.compared,
        summary.violations,
        summary.seconds,
        summary.slowest.0,
        summary.slowest.1
    )
}

/// The table of all parts, with the classes of their cases, and the smallest violation of each kind.
pub(crate) fn full(summaries: &[Summary], seed: u64) -> String {
    let mut text =
        format!("| part (seed {seed}) | cases | compared | violations | seconds |\n|---|---|---|---|---|\n");
    for s in summaries {
        let Summary { name, cases, compared, violations, seconds, .. } = s;
        add(&mut text, format_args!("| {name} | {cases} | {compared} | {violations} | {seconds:.0} |\n"));
    }
    for summary in summaries {
        add(&mut text, format_args!("\n{}", strata(summary)));
    }
    for summary in summaries {
        let kinds = summary.kinds.iter().map(|found| ("", found));
        for (refuted, (kind, found)) in kinds.chain(summary.refuted.iter().map(|found| ("refuted: ", found)))
        {
            add(
                &mut text,
                format_args!(
                    "\n{}: {refuted}{kind}, in {} cases; the smallest is case {}\n{}\n{}\n",
                    summary.name, found.count, found.number, found.smallest.what, found.smallest.test
                ),
            );
        }
        for claim in &summary.unrefuted {
            add(&mut text, format_args!("\n{}: no counterexample to {claim}\n", summary.name));
        }
    }
    text
}

/// How many cases are in each class.
fn strata(summary: &Summary) -> String {
    let rows: BTreeSet<&str> = summary.strata.keys().map(|stratum| stratum.row).collect();
    let columns: BTreeSet<&str> = summary.strata.keys().map(|stratum| stratum.column).collect();
    let mut text = format!("{:<20}", summary.name);
    for column in &columns {
        add(&mut text, format_args!(" {column:>12}"));
    }
    for row in rows {
        add(&mut text, format_args!("\n  {row:<18}"));
        for &column in &columns {
            let count = summary.strata.iter().find(|(s, _)| s.row == row && s.column == column);
            add(&mut text, format_args!(" {:>12}", count.map_or(0, |(_, &count)| count)));
        }
    }
    text.push('\n');
    text
}

/// Everything that one case shows.
pub(crate) fn outcome(part: &str, number: u64, outcome: &Outcome) -> String {
    let Outcome { stratum, compared, violations, refuted } = outcome;
    let mut text = format!(
        "{part}, case {number}: {}, {}; {compared} compared, {} violations\n",
        stratum.row,
        stratum.column,
        violations.len()
    );
    for violation in violations.iter().chain(refuted) {
        add(&mut text, format_args!("\n{}: {}\n{}\n", violation.kind, violation.what, violation.test));
    }
    text
}

fn add(text: &mut String, what: std::fmt::Arguments<'_>) {
    text.write_fmt(what).expect("writing to a String never fails");
}
