//! What is said beside numbers: statements, put into words where those of the command are.

use crate::account::{Account, boxed};
use crate::errors::Fault;
use ndp_account::{Assumption, By, Coverage, Error, Observer, Rest, Statement, Terms, number_of_coalitions};
use ndp_dp::NoiseMultiplier;
use ndp_report::words::Words;
use pyo3::prelude::*;
use std::collections::BTreeSet;

/// A statement on its way to Python: one line, a paragraph, data as JSON, the theorems.
pub(crate) type Said = (String, String, String, Vec<String>);

/// What an account says of itself, without what it computes.
#[derive(Clone)]
pub(crate) struct About {
    observer: Observer,
    nodes: usize,
    terms: Terms,
    theorems: Vec<By>,
    failure: f64,
    rests_on: Vec<String>,
    assumptions: Vec<Assumption>,
}

impl About {
    pub(crate) fn new(account: &dyn ndp_account::Account) -> Self {
        Self {
            observer: account.observer().clone(),
            nodes: account.node_count(),
            terms: account.terms(),
            theorems: account.theorems(),
            failure: account.failure(),
            rests_on: account.rests_on(),
            assumptions: account.assumptions(),
        }
    }
}

impl ndp_account::Account for About {
    fn observer(&self) -> &Observer {
        &self.observer
    }

    fn node_count(&self) -> usize {
        self.nodes
    }

    fn terms(&self) -> Terms {
        self.terms
    }

    fn theorems(&self) -> Vec<By> {
        self.theorems.clone()
    }

    fn profile(&self, _: usize, _: NoiseMultiplier) -> Result<ndp_dp::Profile, Error> {
        Err(Error::NotOffered("only what is said beside the numbers is kept here"))
    }

    fn failure(&self) -> f64 {
        self.failure
    }

    fn rests_on(&self) -> Vec<String> {
        self.rests_on.clone()
    }

    fn assumptions(&self) -> Vec<Assumption> {
        self.assumptions.clone()
    }
}

/// Every node alone, or every coalition of a size, only where each of them has an account; otherwise those named.
fn coverage(accounts: &[Box<dyn ndp_account::Account + '_>], nodes: usize) -> Coverage {
    let observers: BTreeSet<&Observer> = accounts.iter().map(|account| account.observer()).collect();
    let members: BTreeSet<&[usize]> = observers.iter().map(|observer| observer.members()).collect();
    let size = members.first().map_or(0, |members| members.len());
    let same = members.iter().all(|members| members.len() == size) && observers.len() == members.len();
    #[allow(clippy::cast_precision_loss, reason = "there are fewer accounts than 2^53")]
    let each = members.len() as f64 == number_of_coalitions(nodes, size);
    let plain = observers.iter().all(|observer| observer.tapped.is_empty());
    match size {
        1 if same && each && plain => Coverage::All { nodes },
        2.. if same && each && plain => {
            Coverage::Coalitions { size, nodes, looked_at: members.len(), rest: Rest::None }
        }
        _ => Coverage::Named { observers: observers.len() },
    }
}

/// The statement of accounts, their nodes under these names.
pub(crate) fn said(accounts: &[Box<dyn ndp_account::Account + '_>], names: &[String]) -> Result<Said, Fault> {
    let nodes = accounts.first().map_or(0, |account| account.node_count());
    let statement = Statement::of(accounts, &coverage(accounts, nodes))?;
    let name = |v: usize| names.get(v).cloned().unwrap_or_else(|| v.to_string());
    let words = Words::new(&statement, &name);
    let data = serde_json::to_string(&statement).map_err(|error| Fault::new(error.to_string()))?;
    Ok((words.line(), words.paragraph(), data, statement.by.iter().map(ToString::to_string).collect()))
}

/// Of observers whose losses were computed: of each, and of all together.
pub(crate) fn said_of(about: &[About], names: &[String]) -> Result<(Vec<Said>, Said), Fault> {
    let boxed = |about: &About| Box::new(about.clone()) as Box<dyn ndp_account::Account>;
    let each = about.iter().map(|one| said(&[boxed(one)], names)).collect::<Result<Vec<_>, Fault>>()?;
    let all: Vec<_> = about.iter().map(boxed).collect();
    Ok((each, said(&all, names)?))
}

/// What is said beside the numbers of these accounts.
#[pyfunction]
pub(crate) fn statement(accounts: Vec<PyRef<'_, Account>>, names: Vec<String>) -> Result<Said, Fault> {
    said(&boxed(accounts)?.0, &names)
}
