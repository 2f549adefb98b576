//! The command that computes figures.

use crate::flags::Reproduce;
use crate::print_line;
use anyhow::{bail, ensure};
use indicatif::{ProgressBar, ProgressStyle};
use ndp_experiments::datasets::Data;
use ndp_experiments::reference::Comparison;
use ndp_experiments::registry::{self, Entry};
use ndp_experiments::report::{Shown, write_report};
use ndp_experiments::run::{self, Options};
use ndp_experiments::seed::Seed;
use ndp_report::figure::Scale;
use ndp_report::files::{OutputError, require_writable};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

/// The committed references, relative to the root of the repository.
pub(crate) const REFERENCES: &str = "crates/ndp-experiments/reference";

impl Reproduce {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let entries = selected(self.figure.as_deref())?;
        let shard = match (self.shards, self.shard) {
            (None, None) => None,
            (Some(shards), Some(shard)) if shard < shards => Some((shard, shards)),
            (Some(shards), Some(shard)) => bail!("there is no shard {shard} of {shards}: the first is 0"),
            _ => bail!("--shards and --shard go together"),
        };
        let entries =
            shard.map_or_else(|| entries.clone(), |(shard, shards)| of_shard(&entries, shard, shards));
        if self.list {
            list(&entries);
            return Ok(());
        }
        crate::start_threads(self.threads)?;
        let options = Options {
            scale: if self.quick { Scale::Quick } else { Scale::Paper },
            seed: self.seed.map_or(Seed::DEFAULT, Seed),
            out: self.out.unwrap_or_else(|| PathBuf::from("out")),
            data: Data::locate(self.data.as_deref())?,
            references: self.references.unwrap_or_else(|| PathBuf::from(REFERENCES)),
            resume: self.resume,
        };
        require_writable(&options.out)?;
        reproduce(&entries, &options, shard.is_none())
    }
}

/// The figures of one shard of several: in order of decreasing time, each figure goes to the shard with the
/// least work so far.
fn of_shard(entries: &[&'static Entry], shard: usize, shards: usize) -> Vec<&'static Entry> {
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by(|&a, &b| entries[b].minutes.total_cmp(&entries[a].minutes));
    // If there are more shards than figures, the remaining shards have nothing to do.
    let mut busy = vec![0_u64; shards.min(entries.len())];
    let mut mine = Vec::new();
    for at in order {
        let Some(least) = (0..busy.len()).min_by_key(|&shard| busy[shard]) else { break };
        busy[least] += weight(entries[at]);
        if least == shard {
            mine.push(at);
        }
    }
    mine.sort_unstable();
    mine.into_iter().map(|at| entries[at]).collect()
}

/// The figures that a name selects; all without a name.
pub(crate) fn selected(name: Option<&str>) -> anyhow::Result<Vec<&'static Entry>> {
    let name = name.unwrap_or("all");
    let entries = registry::select(name);
    ensure!(!entries.is_empty(), "there is no figure {name:?}; --list shows all");
    Ok(entries)
}

fn list(entries: &[&Entry]) {
    print_line(&format!("{:<26}{:<10}{:>8}  what", "id", "data", "minutes"));
    for entry in entries {
        print_line(&format!(
            "{:<26}{:<10}{:>8}  {}",
            entry.id,
            entry.needs.join(","),
            entry.minutes,
            entry.what
        ));
    }
}

fn reproduce(entries: &[&'static Entry], options: &Options, whole: bool) -> anyhow::Result<()> {
    let bar = progress(entries);
    let mut shown: BTreeMap<&str, Shown> = BTreeMap::new();
    let mut failures = Vec::new();
    each(entries, options, &bar, |entry, result| {
        match result {
            Ok(figure) => {
                bar.suspend(|| print_line(&line(&figure)));
                for fault in &figure.done.faults {
                    bar.suspend(|| print_line(&format!("    picture: {fault}")));
                }
                if let Comparison::Differs(differences) = &figure.comparison {
                    for difference in differences.iter().take(10) {
                        bar.suspend(|| print_line(&format!("    {difference}")));
                    }
                    failures.push(format!(
                        "{}: {} numbers differ from the reference",
                        entry.id,
                        differences.len()
                    ));
                }
                shown.insert(entry.id, figure);
            }
            // If the folder cannot be written now, it cannot be written for the next figure either.
            Err(e)
                if e.downcast_ref::<OutputError>()
                    .is_some_and(|e| matches!(e, OutputError::Write { .. })) =>
            {
                bar.finish_and_clear();
                return Err(e);
            }
            Err(e) => {
                bar.suspend(|| print_line(&format!("{:<26}FAILED: {e:#}", entry.id)));
                failures.push(format!("{e:#}"));
            }
        }
        bar.inc(weight(entry));
        Ok(())
    })?;
    bar.finish_and_clear();
    if whole {
        page(shown, options)?;
    } else {
        print_line("shard done; --resume without --shards computes what is missing and writes the page");
    }
    if !failures.is_empty() {
        bail!("{} of {} figures failed:\n  {}", failures.len(), entries.len(), failures.join("\n  "));
    }
    Ok(())
}

/// Writes the page of all figures that are done.
fn page(mut shown: BTreeMap<&str, Shown>, options: &Options) -> anyhow::Result<()> {
    add_earlier(&mut shown, options);
    // In the order of the registry.
    let figures: Vec<Shown> = registry::all().filter_map(|entry| shown.remove(entry.id)).collect();
    write_report(&options.out, options.scale, &figures)?;
    print_line(&format!("report: {}", options.out.join("report.html").display()));
    if figures.iter().any(|figure| figure.done.record.has_stand_in()) {
        print_line(
            "Some data sets were not found: stand-ins took their place. `cargo xtask data` fetches them.",
        );
    }
    Ok(())
}

/// Computes the figures and calls a function with each one when it is done, until that function fails. Two
/// figures run at a time, because every figure has parts that only one thread can do. Figures that measure
/// time or memory come after the others, one by one.
fn each(
    entries: &[&'static Entry],
    options: &Options,
    bar: &ProgressBar,
    mut done: impl FnMut(&'static Entry, anyhow::Result<Shown>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let (measuring, others): (Vec<&Entry>, Vec<&Entry>) = entries.iter().partition(|entry| entry.measures);
    let next = AtomicUsize::new(0);
    let workers = rayon::current_num_threads().min(2);
    std::thread::scope(|scope| {
        let (sender, results) = mpsc::channel();
        for _ in 0..workers {
            let (sender, next, others) = (sender.clone(), &next, &others);
            scope.spawn(move || {
                while let Some(&entry) = others.get(next.fetch_add(1, Ordering::Relaxed)) {
                    bar.set_message(entry.id);
                    if sender.send((entry, one(entry, options))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        results.into_iter().try_for_each(|(entry, result)| done(entry, result))
    })?;
    measuring.into_iter().try_for_each(|entry| {
        bar.set_message(entry.id);
        done(entry, one(entry, options))
    })
}

fn one(entry: &Entry, options: &Options) -> anyhow::Result<Shown> {
    let done = run::one(entry, options)?;
    let comparison = done.compare(options)?;
    Ok(Shown { done, comparison })
}

/// Figures that an earlier run of the same build completed with the same scale and seed belong on the page,
/// too.
fn add_earlier(shown: &mut BTreeMap<&str, Shown>, options: &Options) {
    for entry in registry::all().filter(|entry| !shown.contains_key(entry.id)).collect::<Vec<_>>() {
        // A figure that cannot be read back is not part of this run, and is left out.
        if let Some(done) = run::kept(entry, options)
            && let Ok(comparison) = done.compare(options)
        {
            shown.insert(entry.id, Shown { done, comparison });
        }
    }
}

/// The line that the command prints for a figure.
fn line(figure: &Shown) -> String {
    let record = &figure.done.record;
    let claim = format!("claim {}", figure.done.words());
    let reference = match &figure.comparison {
        _ if record.has_stand_in() => "stand-in data".to_owned(),
        Comparison::Absent => "no reference".to_owned(),
        Comparison::Agrees { numbers } => format!("{numbers} numbers as committed"),
        Comparison::Differs(differences) => format!("{} NUMBERS DIFFER", differences.len()),
    };
    let time = if figure.done.kept { "kept".to_owned() } else { format!("{:.2} s", record.run.seconds) };
    format!("{:<26}{time:>9}  {reference:<28}{claim}", record.id).trim_end().to_owned()
}

/// A bar with the time left; hidden when not on a terminal, where the printed lines are enough.
fn progress(entries: &[&Entry]) -> ProgressBar {
    let bar = ProgressBar::new(entries.iter().map(|entry| weight(entry)).sum());
    let template = "{spinner} {wide_bar} {percent} %, {eta} left: {msg}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// The share of a figure in the bar.
fn weight(entry: &Entry) -> u64 {
    1 + (entry.minutes * 600.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every figure belongs to exactly one shard, for any number of shards, and no shard has much more to do
    /// than the others.
    #[test]
    fn shards_are_disjoint_and_alike() {
        let all: Vec<&Entry> = registry::all().collect();
        for shards in [1, 2, 5, all.len(), 3 * all.len()] {
            let parts: Vec<Vec<&Entry>> = (0..shards).map(|shard| of_shard(&all, shard, shards)).collect();
            let mut ids: Vec<&str> = parts.iter().flatten().map(|entry| entry.id).collect();
            ids.sort_unstable();
            let mut expected: Vec<&str> = all.iter().map(|entry| entry.id).collect();
            expected.sort_unstable();
            assert_eq!(ids, expected, "{shards} shards");
            let cost = |part: &Vec<&'static Entry>| part.iter().map(|entry| weight(entry)).sum::<u64>();
            let longest = all.iter().map(|entry| weight(entry)).max().unwrap_or(0);
            let mean = all.iter().map(|entry| weight(entry)).sum::<u64>() / shards as u64;
            assert!(parts.iter().all(|part| cost(part) <= mean + longest), "{shards} shards");
        }
    }
}
