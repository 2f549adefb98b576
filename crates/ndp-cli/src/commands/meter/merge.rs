//! Several logs together.

use super::told::Told;
use crate::args::{Meter as Asked, Runs as AskedRuns};
use crate::errors::Failure;
use crate::output::{self, line, note};
use crate::show::summary;
use crate::{plain, question};
use ndp_dp::Delta;
use ndp_program::meter::{Feed, Limits, Merged, Runs};
use ndp_report::words;
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
            Merged::parts(&logs.iter().map(Vec::as_slice).collect::<Vec<_>>())?
        }
    };
    let limits = limits.unwrap_or_else(|| merged.limits().clone());
    let told = Told::new(merged.names(), &limits, merged.readings(), delta)?;
    if let Some(path) = &asked.json {
        let text = serde_json::json!({ "version": 1, "delta": asked.delta, "set": merged.set(),
            "rests_on": merged.rests_on(), "pairs": told.json() });
        output::write(path, format!("{text}\n").as_bytes())?;
    }
    let mut said: Vec<(&str, String)> =
        merged.rests_on().iter().map(|what| ("rests on", words::rests_on(what))).collect();
    // No filter watched both logs together. So their budgets give no guarantee for a run that was stopped or
    // changed because of what was seen.
    said.push(("stopping", plain::stopping(false).to_owned()));
    let failure = ndp_numeric::rounding::any_of(merged.readings().iter().map(|reading| reading.failure));
    said.push(("the account fails", question::probability(failure)));
    summary("What the logs show together", &said)?;
    line("")?;
    told.table(asked.worst)?;
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
