//! The search: small cases first, so that the first counterexample is the smallest.

use crate::counterexample::Counterexample;
use crate::error::Error;
use crate::expression::Expression;
use crate::graphs::{connected_graphs, thin_graphs};
use crate::protocol::Protocol;
use crate::setting::{Bounded, Case, Setting, WeightRule, limit};
use crate::truth::Seen;
use crate::walk::Walked;
use ndp_graph::Graph;
use ndp_numeric::rounding::Interval;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::Zero;
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

    /// Whether it is written down that the claim depends on the exposed node.
    fn names_exposed(&self) -> bool {
        false
    }
}

/// Which graphs are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Graphs {
    /// All connected ones, then long thin ones.
    All,
    /// Stars of 3 nodes and more, whose center is node 0.
    Stars,
}

/// How far to search.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// The protocol.
    pub protocol: Protocol,
    /// How many nodes look together, 1 to 6.
    pub observers: usize,
    /// Which losses are bounded.
    pub bounded: Bounded,
    /// Only cases in which this formula is positive, in the same names as the claim.
    pub domain: Option<Expression>,
    /// Which graphs are tried.
    pub graphs: Graphs,
    /// All connected graphs from 2 to so many nodes, at most 7; or stars.
    pub max_nodes: usize,
    /// Long thin graphs, or stars, up to so many nodes, at most 64; long thin ones from 6 nodes on.
    pub max_thin_nodes: usize,
    /// Rounds from 1 to so many, at most 200.
    pub max_rounds: usize,
    /// The weights to try, in this order; of no meaning for pairs.
    pub weights: Vec<WeightRule>,
    /// Order of the loss.
    pub alpha: f64,
    /// Standard deviation of the noise in units of the sensitivity.
    pub sigma: f64,
    /// How many cases (graph, weights, rounds, pair) are looked at.
    pub budget: u64,
}

impl Default for Search {
    /// Muffliato and one observer on all graphs of 2 to 5 nodes, up to 6 rounds, Metropolis weights; order 2
    /// and noise 1, where the local loss is 1.
    fn default() -> Self {
        Self {
            protocol: Protocol::Muffliato,
            observers: 1,
            bounded: Bounded::Each,
            domain: None,
            graphs: Graphs::All,
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
    /// Cases that were looked at, those left open included.
    pub cases: u64,
    /// Cases that floats do not decide: the truth lies in the interval of the claim, or the condition may
    /// be met or not.
    pub undecided: u64,
    /// Cases in which the claim, or its condition, has a value that is not finite, or none.
    pub without_value: u64,
    /// Cases that do not lie in the domain of the claim.
    pub outside: u64,
    /// All connected graphs up to so many nodes were looked at completely.
    pub complete_to: usize,
    /// The same for the long thin ones, or for stars; 0 where none were.
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
    limit("the number of nodes", search.max_nodes.max(search.max_thin_nodes), 64)?;
    search.protocol.check()?;
    let named = claim.names_exposed() || search.domain.as_ref().is_some_and(Claim::names_exposed);
    if search.bounded == Bounded::Mean && named {
        return Err(Error::DependsOnSource);
    }
    if !(1..=6).contains(&search.observers) {
        let (what, condition) = ("the number of observers", "be at least 1, at most 6");
        return Err(Error::Parameter { what, condition, value: search.observers as f64 });
    }
    let mut report = Report {
        claim: claim.text().to_owned(),
        outcome: Outcome::NotRefuted,
        cases: 0,
        undecided: 0,
        without_value: 0,
        outside: 0,
        complete_to: 1,
        thin_to: 0,
        rounds: search.max_rounds,
    };
    if search.graphs == Graphs::Stars {
        for nodes in 3..=search.max_nodes.max(search.max_thin_nodes) {
            let star = Graph::from_edges(nodes, (1..nodes).map(|leaf| (0, leaf)))?;
            if of_graphs(claim, search, &local, &[star], &mut report)? {
                return Ok(report);
            }
            report.thin_to = nodes;
        }
        return Ok(report);
    }
    for nodes in 2..=search.max_nodes {
        if of_graphs(claim, search, &local, &connected_graphs(nodes)?, &mut report)? {
            return Ok(report);
        }
        report.complete_to = nodes;
    }
    for nodes in 6.max(search.max_nodes + 1)..=search.max_thin_nodes {
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

/// A setting with what its observers have seen so far.
struct Tried {
    setting: Setting,
    by: Vec<Looking>,
}

/// A set of observers with the truth about all nodes, computed as far as it was asked for.
struct Looking {
    observers: Vec<usize>,
    seen: Seen,
    walked: Vec<Option<Walked>>,
}

impl Tried {
    fn new(setting: Setting, size: usize) -> Self {
        let n = setting.graph.node_count();
        let looking = |observers: Vec<usize>| Looking {
            seen: Seen::new(&setting, &observers),
            walked: vec![None; n],
            observers,
        };
        let by = subsets(n, size).into_iter().map(looking).collect();
        Self { setting, by }
    }
}

impl Looking {
    /// The true loss of `u`, in units of the local loss; for walks its mean over paths, which is no more.
    fn truth(&mut self, setting: &Setting, rounds: usize, u: usize) -> BigRational {
        if !setting.protocol.is_walk() {
            return self.seen.sums[u].clone();
        }
        let walk = self.walked[u].get_or_insert_with(|| Walked::new(setting, u, &self.observers));
        while walk.rounds < rounds {
            walk.advance(setting);
        }
        walk.mean.clone()
    }

    fn mean(&mut self, setting: &Setting, rounds: usize) -> BigRational {
        let n = setting.graph.node_count();
        let outside = (0..n).filter(|u| !self.observers.contains(u)).collect::<Vec<_>>();
        let losses = outside.into_iter().map(|u| self.truth(setting, rounds, u));
        losses.fold(BigRational::zero(), |sum, x| sum + x) / BigInt::from(n)
    }
}

/// All sets of so many of `0..n` that leave somebody out, in increasing order.
fn subsets(n: usize, size: usize) -> Vec<Vec<usize>> {
    if size >= n {
        return Vec::new();
    }
    let mut all = vec![Vec::new()];
    for _ in 0..size {
        let longer = |set: &Vec<usize>| {
            let set = set.clone();
            let first = set.last().map_or(0, |last| last + 1);
            (first..n).map(move |a| [&set[..], &[a]].concat())
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// Whether the search is over.
fn of_graphs(
    claim: &dyn Claim,
    search: &Search,
    local: &BigRational,
    graphs: &[Graph],
    report: &mut Report,
) -> Result<bool, Error> {
    if search.protocol == Protocol::Pairs {
        return of_pairs(claim, search, local, graphs, report);
    }
    let mut tried = Vec::new();
    for graph in graphs {
        for &weights in &search.weights {
            let setting = Setting::new(graph, weights, search.protocol, search.max_rounds)?;
            tried.push(Tried::new(setting, search.observers));
        }
    }
    for rounds in 1..=search.max_rounds {
        for Tried { setting, by } in &mut tried {
            for looking in by {
                if !setting.protocol.is_walk() {
                    looking.seen.advance(setting);
                }
                if of_observers(claim, search, local, (setting, rounds), looking, report)? {
                    return Ok(true);
                }
            }
        }
    }
    Ok(false)
}

/// All sequences of edges, shorter ones first.
fn of_pairs(
    claim: &dyn Claim,
    search: &Search,
    local: &BigRational,
    graphs: &[Graph],
    report: &mut Report,
) -> Result<bool, Error> {
    for rounds in 1..=search.max_rounds {
        for graph in graphs {
            let edges: Vec<(usize, usize)> = graph.edges().collect();
            let mut places = vec![0; rounds];
            loop {
                let pairs: Vec<(usize, usize)> = places.iter().map(|&at| edges[at]).collect();
                let Tried { setting, by } = Tried::new(Setting::pairs(graph, &pairs)?, search.observers);
                for mut looking in by {
                    (0..rounds).for_each(|_| looking.seen.advance(&setting));
                    if of_observers(claim, search, local, (&setting, rounds), &mut looking, report)? {
                        return Ok(true);
                    }
                }
                let Some(last) = places.iter().rposition(|&at| at + 1 < edges.len()) else { break };
                places[last] += 1;
                places[last + 1..].fill(0);
            }
        }
    }
    Ok(false)
}

/// Refuses a claim about the mean over all nodes, or a condition on it, that depends on the exposed node.
fn require_same_for_all(
    claim: &dyn Claim,
    domain: Option<&Expression>,
    case: &Case<'_>,
) -> Result<(), Error> {
    for u in (case.u + 1..case.setting.graph.node_count()).filter(|u| !case.observers.contains(u)) {
        let other = Case { u, ..*case };
        let claims = std::iter::once(claim).chain(domain.map(|domain| domain as &dyn Claim));
        for claim in claims {
            let (here, there) = (claim.bound(case)?, claim.bound(&other)?);
            // Neither has a value where both are NaN.
            if here != there && !(here.high().is_nan() && there.high().is_nan()) {
                return Err(Error::DependsOnSource);
            }
        }
    }
    Ok(())
}

/// All nodes towards one set of observers; whether the search is over.
fn of_observers(
    claim: &dyn Claim,
    search: &Search,
    local: &BigRational,
    (setting, rounds): (&Setting, usize),
    looking: &mut Looking,
    report: &mut Report,
) -> Result<bool, Error> {
    let observers = looking.observers.clone();
    let (alpha, sigma) = (search.alpha, search.sigma);
    for u in (0..setting.graph.node_count()).filter(|u| !observers.contains(u)) {
        let case = Case { setting, rounds, u, observers: &observers, alpha, sigma };
        let domain = search.domain.as_ref().map(|domain| domain.bound(&case)).transpose()?;
        if domain.is_some_and(|domain| domain.high() <= 0.0) {
            report.outside += 1;
            continue;
        }
        if report.cases == search.budget {
            report.outcome = Outcome::OutOfBudget;
            return Ok(true);
        }
        report.cases += 1;
        if search.bounded == Bounded::Mean {
            require_same_for_all(claim, search.domain.as_ref(), &case)?;
        }
        // Whether the claim is about this case is open where the formula may be positive or not.
        if let Some(domain) = domain.filter(|domain| domain.low().is_nan() || domain.low() <= 0.0) {
            let open =
                if domain.high().is_finite() { &mut report.undecided } else { &mut report.without_value };
            *open += 1;
            if search.bounded == Bounded::Mean {
                break;
            }
            continue;
        }
        let truth = match search.bounded {
            Bounded::Each => looking.truth(setting, rounds, u),
            Bounded::Mean => looking.mean(setting, rounds),
        };
        if let Some(mut found) = of_case(claim, &case, &(truth * local), report)? {
            found.bounded = search.bounded;
            report.outcome = Outcome::Refuted(found);
            return Ok(true);
        }
        if search.bounded == Bounded::Mean {
            break;
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
