//! `cargo xtask soundness`: draws protocols, graphs, weights, coalitions and parameters, computes what the
//! library reports and, by other means, the truth, and prints every guarantee that is below the truth.
//!
//! See `README.md` beside this package for how to add a part, and `docs/testing.md` for what was found.

mod draw;
mod driver;
mod flags;
mod losses;
mod oracle;
mod part;
mod parts;
mod shard;
mod table;

use anyhow::{Context, bail};
use driver::{Length, Share, Summary};
use part::Part;
use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    match run(flags::Soundness::from_env_or_exit()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) => {
            eprintln!("error: {e:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the search; returns whether it found nothing wrong.
#[expect(clippy::print_stdout, reason = "this is the command line")]
fn run(flags: flags::Soundness) -> anyhow::Result<bool> {
    if flags.list {
        for part in parts::ALL {
            println!("{:<16} {}", part.name(), part.what());
        }
        return Ok(true);
    }
    if let Some(folder) = &flags.merge {
        let (summaries, seed) = shard::merged(folder)?;
        println!("{}", table::full(&summaries, seed));
        return verdict(&summaries);
    }
    let seed = flags.seed.unwrap_or(42);
    let chosen: Vec<&dyn Part> = match &flags.part {
        None => parts::ALL.to_vec(),
        Some(name) => {
            let part = parts::ALL.iter().find(|part| part.name() == name);
            vec![*part.with_context(|| format!("no part is called {name}; --list names them"))?]
        }
    };
    if let Some(number) = flags.replay {
        let [part] = chosen[..] else { bail!("--replay needs --part") };
        let outcome = driver::one_case(part, seed, number);
        println!("{}", table::outcome(part.name(), number, &outcome));
        return Ok(outcome.violations.is_empty());
    }
    let length = match (flags.short, flags.cases, flags.minutes) {
        (true, None, None) => Length::Short,
        (false, Some(cases), None) => Length::Cases(cases),
        (false, None, minutes) => {
            let seconds = 60.0 * minutes.unwrap_or(1.0) / chosen.len() as f64;
            Length::Time(Duration::try_from_secs_f64(seconds).context("--minutes must be positive")?)
        }
        _ => bail!("give one of --short, --cases and --minutes"),
    };
    // Parts without a short form are searched only when they are named, or for a given time.
    let short = matches!(length, Length::Short) && flags.part.is_none();
    let chosen: Vec<&dyn Part> = chosen.into_iter().filter(|part| !short || part.short() > 0).collect();
    let share = match (flags.shard, flags.shards) {
        (None, None) => None,
        (Some(index), Some(count)) if index < count => Some(Share { index, count }),
        (Some(index), Some(count)) => bail!("there is no shard {index} of {count}: the first is 0"),
        _ => bail!("--shards and --shard go together"),
    };
    if share.is_some() != flags.into.is_some() {
        bail!("a shard writes what it found --into a folder, and only a shard does");
    }
    let mut summaries = Vec::with_capacity(chosen.len());
    for &part in &chosen {
        let summary = driver::search(part, seed, length, share.unwrap_or(Share::WHOLE));
        eprintln!("{}", table::line(&summary));
        summaries.push(summary);
    }
    println!("{}", table::full(&summaries, seed));
    if let (Some(share), Some(folder)) = (share, &flags.into) {
        shard::write(folder, share, seed, length, &summaries)?;
        // Only all shards together show whether enough was compared and refuted.
        return Ok(summaries.iter().all(|summary| summary.violations == 0));
    }
    verdict(&summaries)
}

/// Whether the search found nothing wrong.
fn verdict(summaries: &[Summary]) -> anyhow::Result<bool> {
    let idle: Vec<&str> = summaries.iter().filter(|s| s.compared == 0).map(|s| s.name).collect();
    if !idle.is_empty() {
        bail!("nothing was compared by {}", idle.join(", "));
    }
    // A few cases may refute nothing; as many as in the short form must refute every claim.
    let enough = |s: &Summary| parts::ALL.iter().any(|p| p.name() == s.name && s.cases >= p.short());
    let unrefuted: Vec<&str> =
        summaries.iter().filter(|s| enough(s)).flat_map(|s| s.unrefuted.clone()).collect();
    if !unrefuted.is_empty() {
        bail!("no counterexample was found to {}", unrefuted.join(", "));
    }
    Ok(summaries.iter().all(|summary| summary.violations == 0))
}
