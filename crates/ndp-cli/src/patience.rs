//! How the command uses patience: from `--patience` or counted work to an answer with its notes.

#[cfg(test)]
mod tests;

pub(crate) use ndp_account::parts::{Limit, Patient, WORK, sharing, was_out};

use crate::progress::Meanwhile;
use ndp_account::parts::Why;
use ndp_account::{Account, Audience, Error};
use ndp_algos::registry::{Entry, Parameters};
use ndp_graph::GossipMatrix;
use ndp_report::words;
use std::time::Duration;

/// So many seconds where they were told, counted work otherwise.
pub(crate) fn told(seconds: Option<u64>) -> Limit {
    Limit::told(seconds.map(Duration::from_secs))
}

/// Builds a protocol of the registry, with a limit; and the values of all its parameters.
pub(crate) fn built(
    entry: &'static Entry,
    matrix: &GossipMatrix,
    parameters: &Parameters,
    limit: Limit,
) -> Result<(Patient<'static>, Parameters), Error> {
    let stop = limit.to_build();
    let all = entry.parameters_on(matrix, parameters, &stop)?;
    Ok((Patient::new(entry.build_until(matrix, &all, &stop)?, limit), all))
}

/// The notes that say for how many observers the bound is used.
pub(crate) fn notes(protocol: &Patient<'_>) -> Vec<String> {
    words::replaced(protocol, option)
}

/// Why the bound is used.
pub(crate) fn reason(why: &Why) -> String {
    words::reason(why, option)
}

fn option(much: &str) -> String {
    format!("--patience {much}")
}

/// If the answer takes long, prints what is known before any account is computed: `known` puts the bounds of
/// all observers into words.
pub(crate) fn meanwhile(
    protocol: &Patient<'static>,
    audience: &Audience,
    quiet: bool,
    known: impl FnOnce(&[Box<dyn Account + '_>]) -> Option<String> + Send + 'static,
) -> Meanwhile {
    let limit = protocol.limit();
    let (protocol, seconds) = (protocol.protocol(), limit.time().map(|time| time.as_secs()));
    let observers = [audience.looked_at(), audience.others()].concat();
    // With `--patience 0` the bounds are the answer and come at once.
    Meanwhile::new(quiet || limit.is_none_at_all(), move || {
        let bounds = observers.iter().map(|observer| protocol.local_bound(observer));
        let known = bounds.collect::<Result<Vec<_>, _>>().ok().and_then(|bounds| known(&bounds));
        words::so_far(known.as_deref(), seconds)
    })
}
