//! Claimed bounds on gossip and walks, tried on small graphs: a formula, or a function of Python.

use crate::errors::Fault;
use crate::worker::{Stopped, run};
use ndp_numeric::rounding::Interval;
use ndp_refute::{
    Attacked, Bounded, Case, Claim, Error, Expression, Outcome, Protocol, Report, Search, WeightRule, attack,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::new(error.to_string())
    }
}

/// What is claimed.
#[derive(FromPyObject)]
pub(crate) enum Claimed {
    Formula(String),
    /// A function of rounds, edges, nodes, the rule of the weights, exposed node and observers, whose answer is two floats around the
    /// claimed bound, or none where the claim has no value.
    Function(Py<PyAny>),
}

/// How far to search, and how the attack is run.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    protocol: String,
    parameter: f64,
    observers: usize,
    mean: bool,
    domain: Option<String>,
    max_nodes: usize,
    max_thin_nodes: usize,
    max_rounds: usize,
    weights: Vec<String>,
    alpha: f64,
    sigma: f64,
    budget: u64,
    runs: usize,
    error_rate: f64,
    seed: u64,
}

impl Asked {
    fn search(&self) -> Result<Search, Fault> {
        let protocol = match self.protocol.replace('_', "-").as_str() {
            "muffliato" => Protocol::Muffliato,
            "accelerated" => Protocol::Accelerated(self.parameter),
            "fresh-noise" => Protocol::FreshNoise(self.parameter),
            "noisy-messages" => Protocol::NoisyMessages(self.parameter),
            "pairs" => Protocol::Pairs,
            "walk" => Protocol::Walk,
            other => {
                let known = "muffliato, accelerated, fresh_noise, noisy_messages, pairs, walk";
                return Err(Fault::new(format!("claims are about one of {known}, got {other:?}")));
            }
        };
        let search = Search {
            protocol,
            observers: self.observers,
            bounded: if self.mean { Bounded::Mean } else { Bounded::Each },
            domain: self.domain.as_deref().map(Expression::parse).transpose()?,
            max_nodes: self.max_nodes,
            max_thin_nodes: self.max_thin_nodes,
            max_rounds: self.max_rounds,
            weights: self.weights.iter().map(|word| rule(word)).collect::<Result<_, _>>()?,
            alpha: self.alpha,
            sigma: self.sigma,
            budget: self.budget,
            ..Search::default()
        };
        Ok(search)
    }
}

/// Tries a claim on small graphs, and attacks simulated runs of the counterexample.
#[pyfunction]
pub(crate) fn refute<'py>(
    py: Python<'py>,
    claim: Claimed,
    name: String,
    asked: Asked,
) -> Result<Bound<'py, PyDict>, Fault> {
    let search = asked.search()?;
    let stopped = Stopped::default();
    let stop = Arc::clone(&stopped.0);
    let (report, attacked) = run(py, move || {
        let report = match claim {
            Claimed::Formula(text) => {
                let claim = Formula { formula: Expression::parse(&text)?, stop: &stop };
                ndp_refute::refute(&claim, &search)?
            }
            Claimed::Function(function) => {
                let claim = Function { function, name, stop: &stop, raised: Mutex::new(None) };
                let found = ndp_refute::refute(&claim, &search);
                if let Some(error) = claim.raised.into_inner().unwrap_or_else(PoisonError::into_inner) {
                    return Err(error);
                }
                found?
            }
        };
        let attacked = match &report.outcome {
            Outcome::Refuted(found) => attack(found, asked.runs, asked.error_rate, asked.seed)?,
            Outcome::NotRefuted | Outcome::OutOfBudget => None,
        };
        Ok((report, attacked))
    })?;
    told(py, &report, attacked)
}

fn rule(word: &str) -> Result<WeightRule, Fault> {
    match word.replace('_', "-").as_str() {
        "metropolis" => Ok(WeightRule::Metropolis),
        "max-degree" => Ok(WeightRule::MaxDegree),
        "lazy" => Ok(WeightRule::Lazy),
        "simple" => Ok(WeightRule::Simple),
        _ => Err(Fault::new(format!(
            "weights must be one of metropolis, max_degree, lazy, simple, got {word:?}"
        ))),
    }
}

fn word(rule: WeightRule) -> &'static str {
    match rule {
        WeightRule::Metropolis => "metropolis",
        WeightRule::MaxDegree => "max_degree",
        WeightRule::Lazy => "lazy",
        WeightRule::Simple => "simple",
    }
}

/// A report as Python has it.
fn told<'py>(
    py: Python<'py>,
    report: &Report,
    attacked: Option<Attacked>,
) -> Result<Bound<'py, PyDict>, Fault> {
    let answer = PyDict::new(py);
    answer.set_item("claim", &report.claim)?;
    answer.set_item("cases", report.cases)?;
    answer.set_item("undecided", report.undecided)?;
    answer.set_item("without_value", report.without_value)?;
    answer.set_item("outside", report.outside)?;
    answer.set_item("complete_to", report.complete_to)?;
    answer.set_item("thin_to", report.thin_to)?;
    answer.set_item("rounds", report.rounds)?;
    answer.set_item("out_of_budget", matches!(report.outcome, Outcome::OutOfBudget))?;
    let found = match &report.outcome {
        Outcome::Refuted(found) => {
            let case = PyDict::new(py);
            case.set_item("nodes", found.nodes)?;
            case.set_item("rounds", found.rounds)?;
            case.set_item("edges", found.edges.clone())?;
            case.set_item("weights", word(found.weights))?;
            case.set_item("exposed", found.exposed)?;
            case.set_item("observers", found.observers.clone())?;
            case.set_item("pairs", found.pairs.clone())?;
            case.set_item("alpha", found.alpha)?;
            case.set_item("sigma", found.sigma)?;
            case.set_item("claimed", found.claimed)?;
            case.set_item("truth", found.protocol.truth())?;
            case.set_item("true_loss", &found.true_loss)?;
            case.set_item("script", found.python_script())?;
            let shown = |of: Attacked| (of.runs, of.error_rate, of.shown, of.refutes(found));
            case.set_item("attack", attacked.map(shown))?;
            Some(case)
        }
        Outcome::NotRefuted | Outcome::OutOfBudget => None,
    };
    answer.set_item("found", found)?;
    Ok(answer)
}

/// A formula, until nobody waits for its answer.
struct Formula<'a> {
    formula: Expression,
    stop: &'a AtomicBool,
}

/// What ends a search; it is never shown.
const STOPPED: Error = Error::Work { limit: 0 };

impl Claim for Formula<'_> {
    fn bound(&self, case: &Case<'_>) -> Result<Interval, Error> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(STOPPED);
        }
        self.formula.bound(case)
    }

    fn text(&self) -> &str {
        self.formula.text()
    }
}

/// A function of Python.
struct Function<'a> {
    function: Py<PyAny>,
    name: String,
    stop: &'a AtomicBool,
    raised: Mutex<Option<Fault>>,
}

impl Claim for Function<'_> {
    fn bound(&self, case: &Case<'_>) -> Result<Interval, Error> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(STOPPED);
        }
        let graph = case.setting.graph();
        let asked = Python::attach(|py| -> PyResult<Option<(f64, f64)>> {
            let edges: Vec<(usize, usize)> = graph.edges().collect();
            let rule = word(case.setting.weights());
            let given = (case.rounds, edges, graph.node_count(), rule, case.u, case.observers.to_vec());
            self.function.bind(py).call1(given)?.extract()
        });
        let ends = asked.map_err(|error| {
            *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(Fault::Raised(error));
            STOPPED
        })?;
        Ok(ends.map_or(UNBOUNDED, |(low, high)| Interval::between(low, high)))
    }

    fn text(&self) -> &str {
        &self.name
    }
}

/// The bound of a claim without a value.
const UNBOUNDED: Interval = Interval::between(f64::NEG_INFINITY, f64::INFINITY);
