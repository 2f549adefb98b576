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
fn coverage(observers: &BTreeSet<&Observer>, nodes: usize) -> Coverage {
    let members: BTreeSet<&[usize]> = observers.iter().map(|observer| observer.members()).collect();
    let size = members.first().map_or(0, |members| members.len());
    let same = members.iter().all(|members| members.len() == size) && observers.len() == members.len();
    #[allow(clippy::cast_precision_loss, reason = "there are fewer accounts than 2^53")]
    let each = members.len() as f64 == number_of_coalitions(nodes, size);
    let plain = observers.iter().all(|observer| observer.tapped.is_empty());
    match size {
        1 if same && each && plain => Coverage::All { nodes },
        // The coalition of all nodes looks at nobody, so that no smaller one is a part of what it is about.
        2.. if size < nodes && same && each && plain => {
            let among = ndp_account::Among::Everybody;
            Coverage::Coalitions { size, among, nodes, looked_at: members.len(), rest: Rest::None }
        }
        _ => Coverage::Named { observers: observers.len() },
    }
}

/// The statement of what accounts say, their nodes under these names.
pub(crate) fn said(about: &[About], names: &[String]) -> Result<Said, Fault> {
    in_words(&of(about, None)?, names)
}

/// Of all accounts of an audience, or of those that there are.
fn of(about: &[About], audience: Option<Coverage>) -> Result<Statement, Fault> {
    let nodes = about.first().map_or(0, |one| one.nodes);
    let observers = about.iter().map(|one| &one.observer).collect();
    Ok(Statement::of(about, &audience.unwrap_or_else(|| coverage(&observers, nodes)))?)
}

/// A statement whose observers were all named; where these are all there are, it says so.
pub(crate) fn covering(statement: Statement, nodes: usize) -> Statement {
    if !matches!(statement.coverage, Coverage::Named { .. }) {
        return statement;
    }
    let coverage = coverage(&statement.observers.iter().collect(), nodes);
    let named = matches!(coverage, Coverage::Named { .. });
    let observers = if named { statement.observers } else { BTreeSet::new() };
    Statement { coverage, observers, ..statement }
}

/// What holds for each of several answers to one question; nothing where other data may differ from one answer to the next.
pub(crate) fn of_each(statements: &[Statement]) -> Option<Statement> {
    let (first, rest) = statements.split_first()?;
    if rest.iter().any(|one| one.changes != first.changes) {
        return None;
    }
    let all = rest.iter().try_fold(first.clone(), |all, one| all.and(one).ok())?;
    Some(Statement { runs: first.runs, ..all })
}

pub(crate) fn in_words(statement: &Statement, names: &[String]) -> Result<Said, Fault> {
    let name = |v: usize| names.get(v).cloned().unwrap_or_else(|| v.to_string());
    let words = Words::new(statement, &name);
    let data = serde_json::to_string(statement).map_err(|error| Fault::new(error.to_string()))?;
    Ok((words.line(), words.paragraph(), data, statement.by.iter().map(ToString::to_string).collect()))
}

/// Of observers whose losses were computed: of each, and of all together, who may be all of an audience.
pub(crate) fn said_of(
    about: &[About],
    names: &[String],
    audience: Option<Coverage>,
) -> Result<(Vec<Said>, Said), Fault> {
    let each =
        about.iter().map(|one| said(std::slice::from_ref(one), names)).collect::<Result<Vec<_>, Fault>>()?;
    Ok((each, in_words(&of(about, audience)?, names)?))
}

/// What is said beside the numbers of these accounts.
#[pyfunction]
pub(crate) fn statement(accounts: Vec<PyRef<'_, Account>>, names: Vec<String>) -> Result<Said, Fault> {
    said(&About::by_all(&boxed(accounts)?.0), &names)
}

/// What the accounts of one run say of themselves; kept where the accounts are not.
#[pyclass(frozen, module = "ndp._ndp")]
pub(crate) struct Saying(Vec<About>);

/// What these accounts say; their nodes are at these places of another run.
#[pyfunction]
#[pyo3(signature = (accounts, places=None))]
pub(crate) fn saying(accounts: Vec<PyRef<'_, Account>>, places: Option<Vec<usize>>) -> Result<Saying, Fault> {
    let mut about = About::by_all(&boxed(accounts)?.0);
    if let Some(places) = places {
        let place = |v: &usize| places.get(*v).copied().unwrap_or(*v);
        for one in &mut about {
            let old = &one.observer;
            let members: Vec<usize> = old.members().iter().map(place).collect();
            let tapped: Vec<(usize, usize)> = old.tapped.iter().map(|(a, b)| (place(a), place(b))).collect();
            let mut observer = Observer::coalition(&members).tapping(&tapped);
            (observer.own_noise, observer.senders) = (old.own_noise, old.senders);
            one.observer = observer;
        }
    }
    Ok(Saying(about))
}

/// What is said of several runs together; of one observer alone, where its members are given.
#[pyfunction]
#[pyo3(signature = (runs, names, only=None, chosen_by_seen=false))]
pub(crate) fn statement_of_runs(
    runs: Vec<PyRef<'_, Saying>>,
    names: Vec<String>,
    only: Option<Vec<usize>>,
    chosen_by_seen: bool,
) -> Result<Said, Fault> {
    let asked = |one: &&About| only.as_ref().is_none_or(|members| one.observer.members() == members);
    let statements =
        runs.iter().map(|run| of(&run.0.iter().filter(asked).cloned().collect::<Vec<_>>(), None));
    let statements = statements.collect::<Result<Vec<_>, Fault>>()?;
    let (first, rest) = statements.split_first().ok_or_else(|| Fault::new("no run was recorded"))?;
    let all = rest.iter().try_fold(first.clone(), |all, one| all.and(one))?;
    in_words(&if chosen_by_seen { all.chosen_by_seen() } else { all }, &names)
}
