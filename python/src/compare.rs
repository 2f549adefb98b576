//! Protocols side by side at the same target.

use crate::audience::Audience;
use crate::errors::Fault;
use crate::grades::class;
use crate::losses::{Limits, least, target};
use crate::protocol::Protocol;
use crate::question::scaled_up;
use crate::statement::{Said, covering, in_words, of_each};
use crate::worker::run_until;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// Protocols side by side: name, noise or reason, error, messages, grade, failure, tightest pair, statement; and what is
/// said of all of them.
#[pyfunction]
#[pyo3(signature = (protocols, audience, limits, names, sensitivity, progress=None))]
#[allow(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn compare<'py>(
    py: Python<'py>,
    protocols: Vec<(String, Asked)>,
    audience: PyRef<'_, Audience>,
    limits: Limits<'_>,
    names: Vec<String>,
    sensitivity: f64,
    progress: Option<Py<PyAny>>,
) -> Result<(Vec<Bound<'py, PyDict>>, Option<Said>), Fault> {
    let (nodes, mut statements) = (names.len(), Vec::new());
    let target = target(limits, nodes)?;
    let count = protocols.len();
    let tell = |done: usize| match &progress {
        Some(progress) => progress.call1(py, (done, count)).map(|_| ()),
        None => Ok(()),
    };
    let mut rows = Vec::with_capacity(count);
    for (i, (name, protocol)) in protocols.into_iter().enumerate() {
        tell(i)?;
        let row = PyDict::new(py);
        row.set_item("protocol", &name)?;
        let kind = match protocol {
            Asked::Protocol(protocol) => Arc::clone(&protocol.get().0),
            Asked::Reason(reason) => {
                row.set_item("reason", reason)?;
                rows.push(row);
                continue;
            }
        };
        let (audience, target) = (audience.0.clone(), target.clone());
        let found = run_until(py, move |stop| {
            let protocol = ndp_account::Until::new(kind.protocol(), stop.clone());
            let compared = ndp_account::compare_towards(&[(&name, Ok(&protocol))], &audience, &target);
            compared.rows.into_iter().next().ok_or_else(|| Fault::new("a comparison without a row"))
        })?;
        let noises = found.statement.iter().flat_map(|statement| &statement.noise);
        let unscaled = sensitivity != 1.0 && noises.map(|noise| noise.law).any(|law| !law.scales());
        match &found.least {
            Ok(_) if unscaled => row.set_item(
                "reason",
                "its noise is on whole numbers or on labels: it is found for a sensitivity of 1 alone",
            )?,
            Ok(noise) => {
                let (sigma, pair) = least(noise, sensitivity)?;
                row.set_item("sigma", sigma)?;
                row.set_item("pair", pair)?;
            }
            Err(reason) => row.set_item("reason", reason.to_string())?,
        }
        row.set_item("error", found.error.as_ref().ok().map(|&error| scaled_up(error, sensitivity)))?;
        row.set_item("messages", found.messages.as_ref().ok())?;
        row.set_item("grade", found.grade.map(class))?;
        row.set_item("failure", found.failure)?;
        if let Some(statement) = found.statement.filter(|_| found.least.is_ok() && !unscaled) {
            let statement = covering(statement, nodes);
            row.set_item("statement", in_words(&statement, &names)?)?;
            statements.push(statement);
        }
        rows.push(row);
    }
    tell(count)?;
    let of_all = of_each(&statements).map(|statement| in_words(&statement, &names)).transpose()?;
    Ok((rows, of_all))
}

/// A protocol, or why there is none.
#[derive(FromPyObject)]
pub(crate) enum Asked {
    Protocol(Py<Protocol>),
    Reason(String),
}
