//! Whom a question is about, and two questions: the noise for a target, and whether a noise meets it.

use crate::errors::Fault;
use crate::graph::Graph;
use crate::losses::{Checked, Least, Limits, checked, least, target};
use crate::protocol::Protocol;
use crate::question::{Who, limit, noise, notes, observer};
use crate::statement::{Said, covering, in_words};
use crate::worker::run_watched;
use ndp_account::parts::Patient;
use ndp_account::{Covered, Observer};
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

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
#[pyo3(signature = (protocol, audience, limits, names, sensitivity, progress=None, patience=None))]
#[allow(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn least_noise(
    py: Python<'_>,
    protocol: PyRef<'_, Protocol>,
    audience: PyRef<'_, Audience>,
    limits: Limits<'_>,
    names: Vec<String>,
    sensitivity: f64,
    progress: Option<Py<PyAny>>,
    patience: Option<f64>,
) -> Result<(Least, Said, Vec<String>), Fault> {
    let target = target(limits, names.len())?;
    asked(py, (&protocol, &audience), names, (progress, patience), sensitivity, move |covered| {
        let found = covered.least_noise(&target);
        let found = found.map_err(|error| match error {
            ndp_account::Error::NoNoiseNeeded => {
                Fault::new(refusal(&error, covered.statement().ok().as_ref()))
            }
            error => error.into(),
        });
        least(&found?, sensitivity)
    })
}

/// Why there is no least noise. If none is needed, it says what this assumes.
pub(crate) fn refusal(why: &ndp_account::Error, statement: Option<&ndp_account::Statement>) -> String {
    match (why, statement) {
        (ndp_account::Error::NoNoiseNeeded, Some(statement)) => {
            ndp_report::words::no_noise_if(&why.to_string(), statement)
        }
        _ => why.to_string(),
    }
}

/// Whether an audience keeps to a target at a noise, and what is said beside it.
#[pyfunction]
#[pyo3(signature = (protocol, audience, limits, names, sigma, sensitivity, progress=None, patience=None))]
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
    patience: Option<f64>,
) -> Result<(Checked, Said, Vec<String>), Fault> {
    let (target, noise) = (target(limits, names.len())?, noise(sigma, sensitivity)?);
    asked(py, (&protocol, &audience), names, (progress, patience), sensitivity, move |covered| {
        Ok(checked(&covered.check(noise, &target)?))
    })
}

/// An answer about an audience, with what is said beside it.
fn asked<T: Send + 'static>(
    py: Python<'_>,
    (protocol, audience): (&Protocol, &Audience),
    names: Vec<String>,
    (progress, patience): (Option<Py<PyAny>>, Option<f64>),
    sensitivity: f64,
    answer: impl Fn(&Covered<'_>) -> Result<T, Fault> + Send + 'static,
) -> Result<(T, Said, Vec<String>), Fault> {
    let (kind, audience) = (Arc::clone(&protocol.0), audience.0.clone());
    run_watched(py, progress, move |progress, stop| {
        let protocol = Patient::lent(kind.protocol(), limit(patience, stop)?)
            .where_it_wins(&audience)
            .for_every_pair()
            .on_values_of(sensitivity);
        let look = |observers: &[Observer]| {
            let (done, all) = (AtomicU64::new(0), observers.len() as u64);
            let tell = || {
                let _ = progress.report(done.fetch_add(1, Ordering::Relaxed) + 1, all);
            };
            protocol.accounts(observers, tell)
        };
        let covered = protocol.cover(&audience, look)?;
        let found = protocol.steady(|| answer(&covered))?;
        let said = in_words(&covering(covered.statement()?, names.len()), &names)?;
        Ok((found, said, notes(&protocol)))
    })
}
