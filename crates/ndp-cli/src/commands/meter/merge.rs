//! Several logs together.

use super::told::Told;
use crate::args::{Meter as Asked, Runs as AskedRuns};
use crate::errors::Failure;
use crate::output::{self, note};
use crate::show::print;
use ndp_dp::Delta;
use ndp_program::meter::{Feed, Limits, Merged, Runs};
use std::path::Path;

pub(super) fn run(
    asked: &Asked,
    runs: AskedRuns,
    delta: Delta,
    limits: Option<Limits>,
) -> Result<(), Failure> {
    let two = |runs: Runs| match &asked.others[..] {
        [other] => Ok(Merged::new(&read(&asked.file)?, &read(other)?, runs)?),
        _ => Err(Failure::Usage("two logs are merged this way: only parts of one run may be more".into())),
    };
    let merged = match runs {
        AskedRuns::Same => two(Runs::Same)?,
        AskedRuns::Separate => two(Runs::Separate)?,
        AskedRuns::Parts => {
            let logs = std::iter::once(&asked.file).chain(&asked.others);
            let logs = logs.map(|path| std::fs::read(path).map_err(Failure::file(path)));
            let logs = logs.collect::<Result<Vec<_>, _>>()?;
            for (path, log) in std::iter::once(&asked.file).chain(&asked.others).zip(&logs) {
                if log.starts_with(b"{\"n\":") && !log.ends_with(b"\n") {
                    note(&format!("{}: the last line is left out: it was cut off", path.display()));
                }
            }
            Merged::parts(&logs.iter().map(Vec::as_slice).collect::<Vec<_>>())?
        }
    };
    let limits = limits.unwrap_or_else(|| merged.limits().clone());
    let rests_on = merged.rests_on().to_vec();
    let told = Told::new(merged.names(), &limits, merged.readings(), rests_on, delta)?;
    if let Some(path) = &asked.json {
        let text = serde_json::json!({ "version": 1, "delta": asked.delta, "set": merged.set(),
            "rests_on": merged.rests_on(), "failure": told.failure(),
            "stopping": told.stopping(), "pairs": told.json() });
        output::write(path, format!("{text}\n").as_bytes())?;
    }
    if let Some(path) = &asked.page {
        output::page(path, &told.page(None, None, None))?;
    }
    print(&told.text(None, asked.worst, None))?;
    match told.exceeded() {
        Some(pair) => Err(Failure::NotMet(format!("together the logs exceed the budget: {pair}"))),
        None => Ok(()),
    }
}

/// A whole log.
fn read(path: &Path) -> Result<Feed, Failure> {
    let mut feed = Feed::default();
    let bytes = std::fs::read(path).map_err(Failure::file(path))?;
    let of = |error: String| Failure::Refused(format!("{}: {error}", path.display()));
    let found = feed.lines(&bytes).map_err(|error| of(error.to_string()))?;
    if let Some(why) = found.dropped {
        note(&format!("{}: the last line is left out: {why}", path.display()));
    }
    Ok(feed)
}
