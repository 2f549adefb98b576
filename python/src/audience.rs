//! Whom a question is about, and two questions: the noise for a target, and whether a noise meets it.

use crate::errors::Fault;
use crate::graph::Graph;
use crate::losses::{Checked, Least, Limits, checked, least, target};
use crate::protocol::Protocol;
use crate::question::{Who, noise, observer};
use crate::statement::{Said, covering, in_words};
use crate::worker::run_watched;
use ndp_account::Until;
use ndp_account::{Covered, Error, Observer, accounts};
use pyo3::prelude::*;
use std::sync::Arc;

/// Observers who are looked at, and others who are meant as well.
#[pyclass(frozen, module = "ndp._ndp")]
pub(crate) struct Audience(pub(crate) ndp_account::Audience);

#[pymethods]
impl Audience {
    /// These and nobody else.
    #[staticmethod]
    fn named(observers: Vec<Who>) -> Self {
        Self(ndp_account::Audience::named(observers.into_iter().map(observer).collect()))
    }

    /// Every node alone, of whom one is looked at.
    #[staticmethod]
    fn chosen(nodes: usize, chosen: usize) -> Result<Self, Fault> {
        Ok(Self(ndp_account::Audience::chosen(nodes, &[chosen])?))
    }

    /// Every coalition of at most so many nodes; `chosen` is looked at where they are too many.
    #[staticmethod]
    fn coalitions(nodes: usize, size: usize, chosen: Vec<usize>) -> Result<Self, Fault> {
        Ok(Self(ndp_account::Audience::coalitions(nodes, size, &Observer::coalition(&chosen))?))
    }

    /// Every coalition of at most so many neighbors of one node.
    #[staticmethod]
    fn neighbors(graph: &Graph, size: usize) -> Result<Self, Fault> {
        Ok(Self(ndp_account::Audience::neighbors(&graph.0, size)?))
    }

    /// The members of those who are looked at.
    fn looked_at(&self) -> Vec<Vec<usize>> {
        self.0.looked_at().iter().map(|observer| observer.members().to_vec()).collect()
    }

    /// Whether everybody who is meant is looked at.
    fn is_listed(&self) -> bool {
        self.0.others().is_empty()
    }
}

/// The least noise at which an audience keeps to a target, and what is said beside it.
#[pyfunction]
#[pyo3(signature = (protocol, audience, limits, names, sensitivity, progress=None))]
pub(crate) fn least_noise(
    py: Python<'_>,
    protocol: PyRef<'_, Protocol>,
    audience: PyRef<'_, Audience>,
    limits: Limits<'_>,
    names: Vec<String>,
    sensitivity: f64,
    progress: Option<Py<PyAny>>,
) -> Result<(Least, Said), Fault> {
    let target = target(limits, names.len())?;
    asked(py, (&protocol, &audience), names, progress, move |covered| {
        check_sensitivity(covered, sensitivity)?;
        least(&covered.least_noise(&target)?, sensitivity)
    })
}

/// Whether an audience keeps to a target at a noise, and what is said beside it.
#[pyfunction]
#[pyo3(signature = (protocol, audience, limits, names, sigma, sensitivity, progress=None))]
#[allow(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn check_noise(
    py: Python<'_>,
    protocol: PyRef<'_, Protocol>,
    audience: PyRef<'_, Audience>,
    limits: Limits<'_>,
    names: Vec<String>,
    sigma: f64,
    sensitivity: f64,
    progress: Option<Py<PyAny>>,
) -> Result<(Checked, Said), Fault> {
    let (target, noise) = (target(limits, names.len())?, noise(sigma, sensitivity)?);
    asked(py, (&protocol, &audience), names, progress, move |covered| {
        check_sensitivity(covered, sensitivity)?;
        Ok(checked(&covered.check(noise, &target)?))
    })
}

fn check_sensitivity(covered: &Covered<'_>, sensitivity: f64) -> Result<(), Fault> {
    let mut accounts = covered.looked_at().iter().chain(covered.others());
    Ok(accounts.try_for_each(|account| account.terms().check_sensitivity(sensitivity))?)
}

/// An answer about an audience, with what is said beside it.
fn asked<T: Send + 'static>(
    py: Python<'_>,
    (protocol, audience): (&Protocol, &Audience),
    names: Vec<String>,
    progress: Option<Py<PyAny>>,
    answer: impl FnOnce(&Covered<'_>) -> Result<T, Fault> + Send + 'static,
) -> Result<(T, Said), Fault> {
    let (kind, audience) = (Arc::clone(&protocol.0), audience.0.clone());
    run_watched(py, progress, move |progress, stop| {
        let protocol = &Until::new(kind.protocol(), stop.clone());
        let look = |observers: &[Observer]| -> Result<_, Error> { accounts(protocol, observers, progress) };
        let covered = Covered::of(protocol, &audience, look)?.by_groups(&audience, look)?;
        let found = answer(&covered)?;
        Ok((found, in_words(&covering(covered.statement()?, names.len()), &names)?))
    })
}
