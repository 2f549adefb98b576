//! The search: small cases first, so that the first counterexample is the smallest.

use crate::counterexample::Counterexample;
use crate::error::Error;
use crate::graphs::{connected_graphs, thin_graphs};
use crate::setting::{Case, Setting, WeightRule, limit};
use crate::truth::losses;
use ndp_graph::Graph;
use ndp_numeric::rounding::Interval;
use num_bigint::BigInt;
use num_rational::BigRational;
use serde::Serialize;

/// A claimed bound on the Rényi loss.
pub trait Claim {
    /// An interval that contains the claimed bound in nats.
    ///
    /// # Errors
    /// Where the claim has no value.
    fn bound(&self, case: &Case<'_>) -> Result<Interval, Error>;

    /// The claim in words or as a formula.
    fn text(&self) -> &str;
}

/// How far to search.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// All connected graphs from 2 to so many nodes, at most 7.
    pub max_nodes: usize,
    /// Long thin graphs up to so many nodes, at most 64; none below 8.
    pub max_thin_nodes: usize,
    /// Rounds from 1 to so many, at most 200.
    pub max_rounds: usize,
    /// The weights to try, in this order.
    pub weights: Vec<WeightRule>,
    /// Order of the loss.
    pub alpha: f64,
    /// Standard deviation of the noise in units of the sensitivity.
    pub sigma: f64,
    /// How many cases (graph, weights, rounds, pair) are looked at.
    pub budget: u64,
}

impl Default for Search {
    /// All graphs of 2 to 5 nodes, up to 6 rounds, Metropolis weights; order 2 and noise 1, where the local
    /// loss is 1.
    fn default() -> Self {
        Self {
            max_nodes: 5,
            max_thin_nodes: 0,
            max_rounds: 6,
            weights: vec![WeightRule::Metropolis],
            alpha: 2.0,
            sigma: 1.0,
            budget: 10_000_000,
        }
    }
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The claim is false. In the order of the search, nodes, rounds, edges, no smaller case refutes it.
    Refuted(Counterexample),
    /// All cases that were asked for were looked at, none refutes the claim.
    NotRefuted,
    /// The budget ran out before; none of the cases that were looked at refutes the claim.
    OutOfBudget,
}

/// The outcome of a search, and what it rests on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The claim.
    pub claim: String,
    /// What was found.
    pub outcome: Outcome,
    /// Cases that were compared.
    pub cases: u64,
    /// Cases in which the truth lies in the interval of the claim, so that floats do not decide.
    pub undecided: u64,
    /// Cases in which the claim has a value that is not finite, or none.
    pub without_value: u64,
    /// All connected graphs up to so many nodes were looked at completely.
    pub complete_to: usize,
    /// The same for the long thin ones; 0 where none were.
    pub thin_to: usize,
    /// The largest number of rounds that was looked at in each of them.
    pub rounds: usize,
}

/// Tries a claim on all cases of a search, by nodes, then rounds, then edges, then weights and pairs.
///
/// # Errors
/// [`Error::Parameter`] if the search is out of its ranges; the errors of the claim where its syntax or work
/// is at fault.
pub fn refute(claim: &dyn Claim, search: &Search) -> Result<Report, Error> {
    let local = local_loss(search)?;
    limit("the number of rounds", search.max_rounds, 200)?;
    limit("the number of nodes", search.max_thin_nodes, 64)?;
    let mut report = Report {
        claim: claim.text().to_owned(),
        outcome: Outcome::NotRefuted,
        cases: 0,
        undecided: 0,
        without_value: 0,
        complete_to: 1,
        thin_to: 0,
        rounds: search.max_rounds,
    };
    for nodes in 2..=search.max_nodes {
        if of_graphs(claim, search, &local, &connected_graphs(nodes)?, &mut report)? {
            return Ok(report);
        }
        report.complete_to = nodes;
    }
    for nodes in 8.max(search.max_nodes + 1)..=search.max_thin_nodes {
        if of_graphs(claim, search, &local, &thin_graphs(nodes)?, &mut report)? {
            return Ok(report);
        }
        report.thin_to = nodes;
    }
    Ok(report)
}

/// `alpha / (2 sigma²)`.
fn local_loss(search: &Search) -> Result<BigRational, Error> {
    let positive = |what, value: f64, least: f64| {
        let exact = BigRational::from_float(value).filter(|_| least < value);
        let condition = if least == 1.0 { "be finite and above 1" } else { "be positive and finite" };
        exact.ok_or(Error::Parameter { what, condition, value })
    };
    let (alpha, sigma) = (positive("alpha", search.alpha, 1.0)?, positive("sigma", search.sigma, 0.0)?);
    Ok(alpha / (&sigma * &sigma * BigInt::from(2)))
}

/// Whether the search is over.
fn of_graphs(
    claim: &dyn Claim,
    search: &Search,
    local: &BigRational,
    graphs: &[Graph],
    report: &mut Report,
) -> Result<bool, Error> {
    let mut settings = Vec::new();
    for graph in graphs {
        for &weights in &search.weights {
            settings.push(Setting::new(graph, weights, search.max_rounds)?);
        }
    }
    for rounds in 1..=search.max_rounds {
        for setting in &settings {
            for v in 0..setting.graph.node_count() {
                let truths = losses(setting, rounds, v);
                for (u, truth) in truths.iter().enumerate().filter(|(u, _)| *u != v) {
                    if report.cases == search.budget {
                        report.outcome = Outcome::OutOfBudget;
                        return Ok(true);
                    }
                    report.cases += 1;
                    let (alpha, sigma) = (search.alpha, search.sigma);
                    let case = Case { setting, rounds, u, v, alpha, sigma };
                    if let Some(found) = of_case(claim, &case, &(truth * local), report)? {
                        report.outcome = Outcome::Refuted(found);
                        return Ok(true);
                    }
                }
            }
        }
    }
    Ok(false)
}

/// A counterexample where the truth exceeds the upper end of the claim; both are compared as fractions.
fn of_case(
    claim: &dyn Claim,
    case: &Case<'_>,
    truth: &BigRational,
    report: &mut Report,
) -> Result<Option<Counterexample>, Error> {
    let bound = claim.bound(case)?;
    let Some(high) = BigRational::from_float(bound.high()) else {
        report.without_value += 1;
        return Ok(None);
    };
    if *truth > high {
        return Ok(Some(Counterexample::new(case, bound.high(), truth)));
    }
    let decided = BigRational::from_float(bound.low()).is_some_and(|low| *truth <= low);
    report.undecided += u64::from(!decided);
    Ok(None)
}
