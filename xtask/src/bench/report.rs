//! `docs/project/measured.md`: our times, those of other libraries and the limits of the machine, in one run.

use super::{Row, rows};
use anyhow::{Context, ensure};
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use xshell::{Shell, cmd};

/// A line of `benches/compare/report.py`.
enum Line {
    Beside { work: String, peer: String, ours: f64, theirs: f64, right: String, bound: String },
    Failed { work: String, peer: String, failed: String },
    Limit { limit: String, value: f64, unit: String },
}

impl Line {
    fn read(line: &str) -> anyhow::Result<Self> {
        let found: Value = serde_json::from_str(line).with_context(|| line.to_owned())?;
        let text = |key: &str| Some(found[key].as_str()?.to_owned());
        let number = |key: &str| found[key].as_f64();
        let limit =
            || Some(Self::Limit { limit: text("limit")?, value: number("value")?, unit: text("unit")? });
        let failed =
            || Some(Self::Failed { work: text("work")?, peer: text("peer")?, failed: text("failed")? });
        let beside = || {
            let (work, peer, right, bound) = (text("work")?, text("peer")?, text("right")?, text("bound")?);
            Some(Self::Beside { work, peer, ours: number("ours")?, theirs: number("theirs")?, right, bound })
        };
        limit().or_else(failed).or_else(beside).with_context(|| format!("not a line of a comparison: {line}"))
    }
}

/// Numbers of threads that both sides get, in turn.
const THREADS: [&str; 2] = ["1", "2"];

/// Measures other libraries and writes the page.
pub(super) fn write(sh: &Shell, results: &Path) -> anyhow::Result<()> {
    let python = crate::wheel::installed(sh)?;
    let packages = ["scipy", "networkx", "dp-accounting", "opendp", "prv-accountant"];
    for package in packages {
        // What cannot be installed leaves a line that says so.
        let _ =
            cmd!(sh, "{python} -m pip install --quiet --disable-pip-version-check {package}").quiet().run();
    }
    let versions =
        cmd!(sh, "{python} -m pip list --format freeze --disable-pip-version-check").quiet().read()?;
    let script = crate::root().join("benches/compare/report.py");
    let runs = THREADS.map(|threads| -> anyhow::Result<Vec<Line>> {
        let lines = cmd!(sh, "{python} {script} {threads}").read()?;
        lines.lines().map(Line::read).collect()
    });
    let [one, two] = runs;
    let commit = cmd!(sh, "git rev-parse --short HEAD").quiet().read().unwrap_or_default();
    let on = format!("{}, at commit {commit}", machine());
    let page = page(&rows(results)?, [&one?, &two?], &on, &named(&versions, &packages))?;
    let path = crate::root().join("docs/project/measured.md");
    fs::write(&path, page).with_context(|| format!("cannot write {}", path.display()))
}

/// The processor and the number of its cores that this process may use.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("");
    format!(
        "{cores} cores of {}",
        if model.is_empty() { "an unnamed processor" } else { model.trim_start_matches([' ', '\t', ':']) }
    )
}

/// The versions of the packages that were compared.
fn named(versions: &str, packages: &[&str]) -> String {
    let compared = |line: &&str| {
        let name = line.split("==").next().unwrap_or("").replace('_', "-");
        name == "numpy" || packages.contains(&&*name)
    };
    versions
        .lines()
        .filter(compared)
        .map(|line| line.replace("==", " ").replace('_', "-"))
        .collect::<Vec<_>>()
        .join(", ")
}

fn page(goals: &[Row], runs: [&[Line]; 2], machine: &str, versions: &str) -> anyhow::Result<String> {
    let mut page = format!(
        "# What was measured\n\n\
         `cargo xtask bench --report` wrote this page, in one run on {machine}.\n\
         Compared are {versions}.\n\
         Times are seconds on the clock; a ratio on the wrong side of 1 stays in the table.\n\n\
         ## Our goals\n\n\
         The goal of each work is at most the number, or at least where a quotient must be large; what missed it is marked.\n\n\
         | work | measured | goal | measured / goal | |\n|---|---|---|---|---|\n"
    );
    for Row { work, measured, goal, ratio, missed } in goals {
        writeln!(
            page,
            "| {work} | {measured} | {goal} | {ratio} | {} |",
            if *missed { "missed" } else { "" }
        )?;
    }
    for (threads, run) in THREADS.iter().zip(runs) {
        let plural = if *threads == "1" { "thread" } else { "threads" };
        write!(
            page,
            "\n## Beside other libraries, {threads} {plural} each\n\n\
             Both sides take turns, and the best time of each counts; ours is from Python and includes reading the graph.\n\
             The ratio is their time over ours: above 1 we are faster.\n\n\
             | work | ndp | other | its time | ratio | the other's number | what bounds ours |\n\
             |---|---|---|---|---|---|---|\n"
        )?;
        ensure!(run.iter().any(|line| matches!(line, Line::Beside { .. })), "nothing was compared");
        for line in run {
            match line {
                Line::Beside { work, peer, ours, theirs, right, bound } => writeln!(
                    page,
                    "| {work} | {} | {peer} | {} | {:.2} | {right} | {bound} |",
                    seconds(*ours),
                    seconds(*theirs),
                    theirs / ours
                )?,
                Line::Failed { work, peer, failed } => {
                    writeln!(page, "| {work} | - | {peer} | - | - | {failed} | |")?
                }
                Line::Limit { .. } => {}
            }
        }
    }
    page.push_str("\n## What the machine does at most\n\nMeasured by numpy in the same run.\n\n| limit | 1 thread | 2 threads |\n|---|---|---|\n");
    let limits = runs.map(|run| {
        run.iter().filter_map(|line| match line {
            Line::Limit { limit, value, unit } => Some((limit, *value, unit)),
            _ => None,
        })
    });
    let [one, two] = limits;
    for ((limit, one, unit), (_, two, _)) in one.zip(two) {
        writeln!(page, "| {limit} | {one:.1} {unit} | {two:.1} {unit} |")?;
    }
    Ok(page)
}

/// Three digits, in the unit that suits.
fn seconds(time: f64) -> String {
    match time {
        ..1e-3 => format!("{:.3} ms", time * 1e3),
        ..1.0 => format!("{:.1} ms", time * 1e3),
        _ => format!("{time:.2} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_on_the_wrong_side_and_failures_stay() -> anyhow::Result<()> {
        let lines: Vec<Line> = [
            r#"{"work": "a sum", "peer": "numpy", "ours": 2.0, "theirs": 0.5, "right": "right", "bound": "memory"}"#,
            r#"{"work": "a law", "peer": "other", "failed": "ImportError: no module"}"#,
            r#"{"limit": "memory", "value": 12.34, "unit": "GB a second"}"#,
        ]
        .into_iter()
        .map(Line::read)
        .collect::<Result<_, _>>()?;
        let goal =
            Row { work: "w", measured: "2 s".into(), goal: "1 s".into(), ratio: "2.00".into(), missed: true };
        let page = page(&[goal], [&lines, &lines], "2 cores", "numpy 2")?;
        for part in [
            "| w | 2 s | 1 s | 2.00 | missed |",
            "| a sum | 2.00 s | numpy | 500.0 ms | 0.25 | right | memory |",
            "| a law | - | other | - | - | ImportError: no module | |",
            "| memory | 12.3 GB a second | 12.3 GB a second |",
        ] {
            assert!(page.contains(part), "{part} is missing:\n{page}");
        }
        Ok(())
    }

    #[test]
    fn versions_of_others_are_left_out() {
        assert_eq!(
            named("numpy==2.1\npip==25\nprv_accountant==0.2", &["prv-accountant"]),
            "numpy 2.1, prv-accountant 0.2"
        );
    }
}
