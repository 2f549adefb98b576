//! Protocols side by side at the same target.

use crate::audience::Audience;
use crate::audience::refusal;
use crate::errors::{Fault, NdpError};
use crate::grades::class;
use crate::graph::Matrix;
use crate::kind::Kind;
use crate::losses::{Limits, least, target};
use crate::protocol::Protocol;
use crate::question::{limit, notes, scaled_up};
use crate::statement::{Said, covering, in_words, of_each};
use crate::worker::run_under;
use ndp_account::parts::{Patient, sharing};
use ndp_algos::registry::{self, Parameters};
use ndp_graph::progress::Stop;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// Protocols side by side: name, noise or reason, error, messages, grade, failure, tightest pair, statement; and what is
/// said of all of them.
#[pyfunction]
#[pyo3(signature = (protocols, audience, limits, names, sensitivity, progress=None, patience=None))]
#[allow(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn compare<'py>(
    py: Python<'py>,
    protocols: Vec<(String, Asked)>,
    audience: PyRef<'_, Audience>,
    limits: Limits<'_>,
    names: Vec<String>,
    sensitivity: f64,
    progress: Option<Py<PyAny>>,
    patience: Option<f64>,
) -> Result<(Vec<Bound<'py, PyDict>>, Option<Said>), Fault> {
    let (nodes, mut statements) = (names.len(), Vec::new());
    let target = target(limits, nodes)?;
    let count = protocols.len();
    let tell = |done: usize| match &progress {
        Some(progress) => progress.call1(py, (done, count)).map(|_| ()),
        None => Ok(()),
    };
    let asked = Stop::asked_for();
    let mut begun = 0;
    let found = sharing(limit(patience, &asked)?, count, |at, limit| -> Result<_, Fault> {
        // A question that is asked again was counted.
        if at == begun {
            tell(at)?;
            begun += 1;
        }
        let (name, protocol) = &protocols[at];
        let kind = match protocol {
            Asked::Protocol(protocol) => Arc::clone(&protocol.get().0),
            Asked::Named(matrix, named, given) => {
                let (matrix, stop) = (matrix.get().0.clone(), limit.to_build());
                let (named, given) = (named.clone(), Parameters(given.iter().cloned().collect()));
                let make = move || Ok(registry::find(&named)?.build_until(&matrix, &given, &stop));
                match run_under(py, &asked, make)? {
                    Ok(made) => Arc::new(Kind::Named(made)),
                    Err(reason) => return Ok((Err(reason.to_string()), false)),
                }
            }
            Asked::Reason(reason) => return Ok((Err(reason.clone()), false)),
            // Only one at a time is in memory.
            Asked::Make(make) => match make.call0(py) {
                Ok(made) => Arc::clone(&made.bind(py).cast::<Protocol>().map_err(PyErr::from)?.get().0),
                Err(error) if error.is_instance_of::<NdpError>(py) => {
                    return Ok((Err(error.value(py).to_string()), false));
                }
                Err(error) => return Err(error.into()),
            },
        };
        let (name, audience, target) = (name.clone(), audience.0.clone(), target.clone());
        run_under(py, &asked, move || {
            let protocol = Patient::lent(kind.protocol(), limit).for_every_pair().on_values_of(sensitivity);
            let row = protocol.row(&name, &audience, &target);
            let notes = notes(&protocol);
            Ok((Ok((row, notes)), protocol.is_cut_by_work()))
        })
    })?;
    let mut rows = Vec::with_capacity(count);
    for ((name, _), found) in protocols.iter().zip(found) {
        let row = PyDict::new(py);
        row.set_item("protocol", name)?;
        let (found, notes) = match found {
            Ok(found) => found,
            Err(reason) => {
                row.set_item("reason", reason)?;
                rows.push(row);
                continue;
            }
        };
        match &found.least {
            Ok(noise) => {
                let (sigma, pair) = least(noise, sensitivity)?;
                row.set_item("sigma", sigma)?;
                row.set_item("pair", pair)?;
            }
            Err(why) => row.set_item("reason", refusal(why, found.statement.as_ref()))?,
        }
        row.set_item("error", found.error.as_ref().ok().map(|&error| scaled_up(error, sensitivity)))?;
        row.set_item("messages", found.messages.as_ref().ok())?;
        row.set_item("grade", found.grade.map(class))?;
        row.set_item("failure", found.failure)?;
        row.set_item("notes", notes)?;
        if let Some(statement) = found.statement.filter(|_| found.least.is_ok()) {
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

/// A protocol; one of the registry with matrix, name and parameters; why there is none; or a function that makes one.
#[derive(FromPyObject)]
pub(crate) enum Asked {
    Protocol(Py<Protocol>),
    Named(Py<Matrix>, String, Vec<(String, f64)>),
    Reason(String),
    Make(Py<PyAny>),
}
