//! Every node of a large network at once: one looked at, the others by what is proven of them.

use crate::errors::Fault;
use crate::losses::{Checked, Least, Limits, checked, least, target};
use crate::protocol::Protocol;
use crate::question::noise;
use crate::statement::{Said, in_words};
use crate::worker::run;
use ndp_account::{Audience, Covered, Error, Observer, accounts};
use ndp_graph::progress::Silent;
use pyo3::prelude::*;
use std::sync::Arc;

fn covered<'a>(protocol: &'a dyn ndp_account::Protocol, chosen: usize) -> Result<Covered<'a>, Error> {
    let look = |observers: &[Observer]| accounts(protocol, observers, &Silent);
    let audience = Audience::chosen(protocol.node_count(), &[chosen])?;
    Covered::of(protocol, &audience, look)?.by_groups(&audience, look)
}

/// The least noise for every node, and what is said beside it; node `chosen` is looked at.
#[pyfunction]
pub(crate) fn least_noise_of_all(
    py: Python<'_>,
    protocol: PyRef<'_, Protocol>,
    chosen: usize,
    limits: Limits<'_>,
    names: Vec<String>,
    sensitivity: f64,
) -> Result<(Least, Said), Fault> {
    let (kind, target) = (Arc::clone(&protocol.0), target(limits, names.len())?);
    run(py, move || {
        let covered = covered(kind.protocol(), chosen)?;
        let found = least(&covered.least_noise(&target)?, sensitivity)?;
        Ok((found, in_words(&covered.statement()?, &names)?))
    })
}

/// Whether every node meets a target at a noise, and what is said beside it; node `chosen` is looked at.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn check_all(
    py: Python<'_>,
    protocol: PyRef<'_, Protocol>,
    chosen: usize,
    limits: Limits<'_>,
    names: Vec<String>,
    sigma: f64,
    sensitivity: f64,
) -> Result<(Checked, Said), Fault> {
    let (kind, target) = (Arc::clone(&protocol.0), target(limits, names.len())?);
    let noise = noise(sigma, sensitivity)?;
    run(py, move || {
        let covered = covered(kind.protocol(), chosen)?;
        let found = checked(&covered.check(noise, &target)?);
        Ok((found, in_words(&covered.statement()?, &names)?))
    })
}
