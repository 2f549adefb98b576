//! What is said beside numbers: statements, put into words where those of the command are.

use crate::account::{Account, boxed};
use crate::errors::Fault;
use ndp_account::{Coverage, Observer, Rest, Said as About, Statement, number_of_coalitions};
use ndp_report::words::Words;
use pyo3::prelude::*;
use std::collections::BTreeSet;

/// A statement on its way to Python: one line, a paragraph, data as JSON, the theorems.
pub(crate) type Said = (String, String, String, Vec<String>);

/// Every node alone, or every coalition of a size, only where each of them has an account; otherwise those named.
fn coverage(about: &[About], nodes: usize) -> Coverage {
    let observers: BTreeSet<&Observer> = about.iter().map(|one| &one.observer).collect();
    let members: BTreeSet<&[usize]> = observers.iter().map(|observer| observer.members()).collect();
    let size = members.first().map_or(0, |members| members.len());
    let same = members.iter().all(|members| members.len() == size) && observers.len() == members.len();
    #[allow(clippy::cast_precision_loss, reason = "there are fewer accounts than 2^53")]
    let each = members.len() as f64 == number_of_coalitions(nodes, size);
    let plain = observers.iter().all(|observer| observer.tapped.is_empty());
    match size {
        1 if same && each && plain => Coverage::All { nodes },
        2.. if same && each && plain => {
            let among = ndp_account::Among::Everybody;
            Coverage::Coalitions { size, among, nodes, looked_at: members.len(), rest: Rest::None }
        }
        _ => Coverage::Named { observers: observers.len() },
    }
}

/// The statement of what accounts say, their nodes under these names.
pub(crate) fn said(about: &[About], names: &[String]) -> Result<Said, Fault> {
    let nodes = about.first().map_or(0, |one| one.nodes);
    let statement = Statement::of(about, &coverage(about, nodes))?;
    let name = |v: usize| names.get(v).cloned().unwrap_or_else(|| v.to_string());
    let words = Words::new(&statement, &name);
    let data = serde_json::to_string(&statement).map_err(|error| Fault::new(error.to_string()))?;
    Ok((words.line(), words.paragraph(), data, statement.by.iter().map(ToString::to_string).collect()))
}

/// Of observers whose losses were computed: of each, and of all together.
pub(crate) fn said_of(about: &[About], names: &[String]) -> Result<(Vec<Said>, Said), Fault> {
    let each =
        about.iter().map(|one| said(std::slice::from_ref(one), names)).collect::<Result<Vec<_>, Fault>>()?;
    Ok((each, said(about, names)?))
}

/// What is said beside the numbers of these accounts.
#[pyfunction]
pub(crate) fn statement(accounts: Vec<PyRef<'_, Account>>, names: Vec<String>) -> Result<Said, Fault> {
    said(&About::by_all(&boxed(accounts)?.0), &names)
}
