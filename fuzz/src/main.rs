//! `cargo xtask fuzz`: calls every parser with texts that are nearly right, and every public function of
//! numbers with whatever fits its types, and prints what panics, hangs, takes too much memory or answers what
//! no answer may be.
//!
//! See `README.md` beside this package for how to add a target, and `docs/testing.md` for what was run.

mod corpus;
mod driver;
mod flags;
mod input;
mod memory;
mod mutate;
mod sound;
mod target;
mod targets;
mod worker;

use anyhow::{Context, bail, ensure};
use driver::{Length, Summary};
use std::fs::OpenOptions;
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;
use target::Target;

fn main() -> ExitCode {
    match run(&flags::Fuzz::from_env_or_exit()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) => {
            eprintln!("error: {e:#}");
            ExitCode::FAILURE
        }
    }
}

/// Calls what was asked for; returns whether nothing was found.
#[expect(clippy::print_stdout, reason = "this is the command line")]
fn run(flags: &flags::Fuzz) -> anyhow::Result<bool> {
    let wanted = flags.target.as_deref().unwrap_or_default();
    let all = targets::all();
    // A name that is whole means this target alone.
    let whole = all.iter().any(|target| target.name() == wanted);
    let fits = |target: &&&'static Target| {
        if whole { target.name() == wanted } else { target.name().contains(wanted) }
    };
    let chosen: Vec<&'static Target> = all.iter().filter(fits).copied().collect();
    ensure!(!chosen.is_empty(), "no target is called {wanted}; --list names them");
    let seed = flags.seed.unwrap_or(42);
    if flags.list {
        for target in &chosen {
            println!("{}", target.items.join(", "));
        }
        return Ok(true);
    }
    if let Some(from) = flags.from {
        let [target] = chosen[..] else { bail!("--from needs the name of one target") };
        let time = flags.milliseconds.map(Duration::from_millis);
        let until = flags.runs.unwrap_or(u64::MAX);
        worker::work(target, worker::Runs { seed, from, until, time, announce: flags.announce });
        return Ok(true);
    }
    if let Some(number) = flags.replay {
        let [target] = chosen[..] else { bail!("--replay needs the name of one target") };
        println!("{}", worker::replay(target, seed, number));
        return Ok(true);
    }
    let milliseconds = match (flags.minutes, flags.runs) {
        (None, Some(_)) => None,
        (minutes, _) => {
            let all = Duration::try_from_secs_f64(60.0 * minutes.unwrap_or(1.0))
                .context("--minutes must be positive")?;
            Some((all / u32::try_from(chosen.len())?).as_millis().max(1).try_into()?)
        }
    };
    let length = match flags.short {
        true => Length { runs: flags.runs.unwrap_or(SHORT), milliseconds: Some(100) },
        false => Length { runs: flags.runs.unwrap_or(u64::MAX), milliseconds },
    };
    let mut total = Summary::default();
    let mut clean = true;
    println!("{:<56} {:>9} {:>8} {:>8} {:>9} {:>7}", "target", "runs", "refused", "per s", "slowest", "peak");
    for target in chosen {
        let summary = driver::drive(target, seed, length)?;
        println!("{}", line(target.name(), &summary));
        clean &= summary.findings.is_empty() && summary.runs > 0;
        tell(target, seed, &summary, flags)?;
        total.runs += summary.runs;
        total.refused += summary.refused;
        total.bad += summary.bad;
        total.micros += summary.micros;
        total.slowest_micros = total.slowest_micros.max(summary.slowest_micros);
        total.most_bytes = total.most_bytes.max(summary.most_bytes);
    }
    println!("{}", line("all", &total));
    Ok(clean)
}

/// Runs of each target in the short form, if so many fit into a tenth of a second.
const SHORT: u64 = 2000;

fn line(name: &str, summary: &Summary) -> String {
    let Summary { runs, refused, slowest_micros, most_bytes, micros, .. } = summary;
    let rate = *runs as f64 / (*micros).max(1) as f64 * 1e6;
    let bad = if summary.bad > 0 { format!("  {} end badly", summary.bad) } else { String::new() };
    let slowest = *slowest_micros as f64 / 1000.0;
    let peak = *most_bytes as f64 / f64::from(1 << 20);
    format!("{name:<56} {runs:>9} {refused:>8} {rate:>8.0} {slowest:>6.1} ms {peak:>4.0} MB{bad}")
}

/// Prints what was found, and adds it to the file.
#[expect(clippy::print_stdout, reason = "this is the command line")]
fn tell(target: &Target, seed: u64, summary: &Summary, flags: &flags::Fuzz) -> anyhow::Result<()> {
    for finding in &summary.findings {
        let text = format!(
            "{}: {}\n  with {}\n  bytes {}\n  cargo xtask fuzz --target \"{}\" --seed {seed} --replay {}",
            target.name(),
            finding.what,
            finding.input,
            finding.hex,
            target.name(),
            finding.number
        );
        println!("{text}");
        if let Some(path) = &flags.findings {
            let mut file = OpenOptions::new().create(true).append(true).open(path);
            let file = file.as_mut().map_err(|e| anyhow::anyhow!("{}: {e}", path.display()))?;
            writeln!(file, "{text}").with_context(|| path.display().to_string())?;
        }
    }
    Ok(())
}
