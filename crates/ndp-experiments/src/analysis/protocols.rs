//! The least noise of each protocol for a target, what is learnt at that noise, and how accurate the result is.

use super::{AnalysisError, Protocol, Request};
use ndarray::Array2;
use ndp_algos::gossip::closed_form::one_peer_hypercube;
use ndp_algos::gossip::utility::{Convergence, error_bound, stopping_rounds};
use ndp_algos::gossip::{ExactOptions, FreshNoiseGossip, NoiseSchedule, SynchronousGossip, calibrate};
use ndp_algos::loss::observer_losses;
use ndp_algos::walk::graph::calibration::smallest_noise;
use ndp_algos::walk::graph::{LocalLoss, renewal};
use ndp_algos::{Error, LossReport};
use ndp_dp::{Gdp, Guarantee, NoiseMultiplier, Sigma, UpperBound, conversion};
use ndp_graph::chebyshev::Chebyshev;
use ndp_graph::hitting::{PairLaws, Start, Walk};
use ndp_graph::spectrum::gap_abs;
use ndp_graph::{GossipMatrix, Graph};
use rayon::prelude::*;

/// What one node learns.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// The observer.
    pub observer: usize,
    /// Loss of every node towards it, in nats; the entry of the observer itself means nothing.
    pub loss: Guarantee<Vec<f64>>,
}

/// Noise, losses and accuracy of a protocol that meets its target.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    /// Rounds of gossip, or steps of the walk.
    pub rounds: usize,
    /// Standard deviation of the noise that a node adds to its value (of each contribution, for a walk).
    pub sigma: Sigma,
    /// Standard deviation of the fresh noise of every later round; 0 where there is none.
    pub fresh: f64,
    /// The local loss: what one noisy value costs that is published at once.
    pub local: f64,
    /// What the observers learn.
    pub losses: Vec<Observed>,
    /// Root mean square of what the noise (and, for gossip, too few rounds) adds to the mean that a node ends with,
    /// at most.
    pub error: f64,
    /// The `ε` of the largest loss at the `δ` of the request: exact for gossip, an upper bound for a walk.
    pub epsilon: f64,
}

/// The account that `request` asks for.
///
/// # Errors
/// As [`analyse`](super::analyse).
pub(super) fn account(graph: &Graph, request: &Request) -> Result<Account, AnalysisError> {
    match request.protocol {
        Protocol::Muffliato => muffliato(graph, request),
        Protocol::FreshNoise => fresh_noise(graph, request),
        Protocol::OnePeer => one_peer(graph, request),
        Protocol::Walk => walk(graph, request),
    }
}

/// Refuses what is out of proportion.
pub(super) fn require(
    what: &'static str,
    nodes: usize,
    amount: f64,
    unit: &'static str,
    limit: f64,
) -> Result<(), AnalysisError> {
    if amount <= limit { Ok(()) } else { Err(AnalysisError::TooMuch { what, nodes, amount, unit, limit }) }
}

/// Values in an interval of length `Δ` have at most this variance.
fn spread(request: &Request) -> f64 {
    request.sensitivity.get() * request.sensitivity.get() / 4.0
}

/// The account of a linear Gaussian protocol, without later noise.
fn in_nats(
    losses: Vec<LossReport>,
    sigma: Sigma,
    request: &Request,
    (rounds, error): (usize, f64),
) -> Account {
    let ratio = request.sensitivity.get() / sigma.get();
    let local = request.order.get() * ratio * ratio / 2.0;
    let mut most: f64 = 0.0;
    let observed = losses.into_iter().map(|report| {
        let observer = report.coalition[0];
        let others = report.loss.value().unit.iter().enumerate().filter(|&(u, _)| u != observer);
        most = others.fold(most, |most, (_, &unit)| most.max(unit));
        Observed {
            observer,
            loss: report.loss.map(|loss| loss.unit.into_iter().map(|unit| unit * local).collect()),
        }
    });
    let losses = observed.collect();
    // A view with unit loss `unit` is exactly `μ`-GDP with `μ = (Δ/σ) √unit`; a huge `μ` has no finite `ε`.
    let epsilon = Gdp::new(ratio * most.sqrt());
    let epsilon = epsilon.map_or(f64::INFINITY, |gdp| gdp.to_approx_dp(request.delta).into_value().epsilon());
    Account { rounds, sigma, fresh: 0.0, local, losses, error, epsilon }
}

fn muffliato(graph: &Graph, request: &Request) -> Result<Account, AnalysisError> {
    let n = graph.node_count();
    let matrix = GossipMatrix::metropolis(graph);
    let observers = request.observers(n);
    let convergence = Convergence::Accelerated(gap_abs(&matrix)?);
    let scales = (request.order, request.sensitivity);
    let least = |losses: &[LossReport]| request.target.least_sigma(losses, scales);
    let fewest = stopping_rounds(n, convergence, Sigma::new(f64::MAX.sqrt())?, spread(request))?;
    let rounds = request.rounds.unwrap_or(fewest);
    // Ranks are decided by elimination: rows times rank times nodes, at most.
    let rank = |v: &usize| n.min(1 + rounds.saturating_mul(graph.degree(*v))) as f64;
    let operations = observers.iter().map(|v| n as f64 * rank(v) * rank(v)).sum();
    require("the exact losses", n, operations, "operations", MOST_OPERATIONS)?;
    let (rounds, sigma, losses) = match request.rounds {
        Some(rounds) => {
            let losses = observer_losses(&SynchronousGossip::new(matrix.clone(), rounds), &observers)?;
            (rounds, least(&losses)?, losses)
        }
        None => {
            let rule = (convergence, spread(request));
            let plan = calibrate(&matrix, &observers, rule, ExactOptions::default(), least)?;
            (plan.rounds, plan.sigma, plan.losses)
        }
    };
    // The theorem's bound is the only one for large graphs.
    let squared = if n <= MOST_DENSE {
        let chebyshev = Chebyshev::published(gap_abs(&matrix)?)?;
        let gossip = SynchronousGossip::new(matrix, rounds).accelerated(chebyshev.g())?;
        let noise = gossip.error(Array2::zeros((n, 1)).view(), sigma)?.into_value();
        noise + spread(request) * chebyshev.bound(rounds).powi(2)
    } else {
        error_bound(rounds, n, convergence, sigma, spread(request))?.into_value()
    };
    Ok(in_nats(losses, sigma, request, (rounds, squared.sqrt())))
}

fn fresh_noise(graph: &Graph, request: &Request) -> Result<Account, AnalysisError> {
    let n = graph.node_count();
    let matrix = GossipMatrix::metropolis(graph);
    let observers = request.observers(n);
    let gap = gap_abs(&matrix)?;
    let rule = |sigma| stopping_rounds(n, Convergence::Plain(gap), sigma, spread(request));
    let at = |rounds: usize, sigma: Sigma| -> Result<FreshNoiseGossip, Error> {
        Ok(FreshNoiseGossip::new(matrix.clone(), NoiseSchedule::flat(sigma, rounds, request.rho)?))
    };
    let one = Sigma::new(1.0)?;
    let least = |rounds: usize| -> Result<(Sigma, Vec<LossReport>), AnalysisError> {
        let operations = rounds as f64 * (n as f64).powi(3) * observers.len() as f64;
        require("the filter for the losses", n, operations, "operations", MOST_OPERATIONS)?;
        let losses = observer_losses(&at(rounds, one)?, &observers)?;
        Ok((request.target.least_sigma(&losses, (request.order, request.sensitivity))?, losses))
    };
    let (rounds, (sigma, losses)) = match request.rounds {
        Some(rounds) => (rounds, least(rounds)?),
        None => {
            // The rule asks for more rounds when there is less noise. What it asks for at the noise of its fewest
            // rounds is taken; the error below is that of the rounds taken, whatever the rule says.
            let fewest = rule(Sigma::new(f64::MAX.sqrt())?)?;
            let found = least(fewest)?;
            let enough = rule(found.0)?;
            if enough <= fewest { (fewest, found) } else { (enough, least(enough)?) }
        }
    };
    let gossip = at(rounds, sigma)?;
    let bias = spread(request) * (1.0 - gap).powf(2.0 * rounds as f64);
    let error = (gossip.noise_error()? + bias).sqrt();
    let fresh = gossip.schedule().variances().get(1).copied().unwrap_or(0.0).sqrt();
    Ok(Account { fresh, ..in_nats(losses, sigma, request, (rounds, error)) })
}

fn one_peer(graph: &Graph, request: &Request) -> Result<Account, AnalysisError> {
    let n = graph.node_count();
    if !n.is_power_of_two() {
        let below = 1usize << n.ilog2();
        let nearest = format!("{below} and {}", 2 * below);
        return Err(AnalysisError::NotAPowerOfTwo { nodes: n, nearest });
    }
    let dimension = n.ilog2();
    if let Some(rounds) = request.rounds.filter(|&rounds| rounds != dimension as usize) {
        let condition = "be the binary logarithm of the number of nodes";
        return Err(Error::InvalidParameter {
            name: "the rounds of one-peer",
            condition,
            value: rounds as f64,
        }
        .into());
    }
    let losses = request.observers(n).into_iter().map(|v| {
        // Its own value and one message a round, all orthogonal.
        let rank = dimension as usize + 1;
        Ok(LossReport::of_formula(vec![v], one_peer_hypercube(dimension, v)?.into(), rank))
    });
    let losses = losses.collect::<Result<Vec<_>, Error>>()?;
    let sigma = request.target.least_sigma(&losses, (request.order, request.sensitivity))?;
    let error = sigma.get() / (n as f64).sqrt();
    Ok(in_nats(losses, sigma, request, (dimension as usize, error)))
}

fn walk(graph: &Graph, request: &Request) -> Result<Account, AnalysisError> {
    let n = graph.node_count();
    let steps = request.rounds.unwrap_or(10 * n);
    let observers = request.observers(n);
    let pairs: Vec<(usize, usize)> =
        observers.iter().flat_map(|&v| (0..n).filter(move |&u| u != v).map(move |u| (u, v))).collect();
    let numbers = pairs.len() as f64 * steps as f64;
    require("the first visits", n, 48.0 * numbers, "bytes of memory", MOST_BYTES)?;
    let matrix = GossipMatrix::metropolis(graph);
    let walk = Walk::from(&matrix);
    let law = |&(u, v): &(usize, usize)| walk.pair_laws(u, v, &Start::Uniform, steps);
    let laws: Vec<PairLaws> = pairs.par_iter().map(law).collect::<Result<_, _>>()?;
    // A token does not come farther than its steps; the accountant would report its rounding error.
    let hops = observers.iter().map(|&v| graph.distances(v)).collect::<Vec<_>>();
    let reached = |i: usize| hops[i / (n - 1)][pairs[i].0].is_some_and(|hops| hops as usize <= steps);
    let loss_of = |(i, laws): (usize, &PairLaws), local: LocalLoss| {
        if reached(i) { renewal::loss(laws, local).into_value() } else { 0.0 }
    };
    let losses_at = |local: LocalLoss| -> Vec<(usize, Vec<f64>)> {
        let of_pairs: Vec<f64> = laws.par_iter().enumerate().map(|pair| loss_of(pair, local)).collect();
        let by_observer = observers.iter().zip(of_pairs.chunks(n - 1));
        // The entry of the observer itself, which is no pair, is 0.
        let with_own = by_observer.map(|(&v, losses)| (v, [&losses[..v], &[0.0], &losses[v..]].concat()));
        with_own.collect()
    };
    // The largest share of what is allowed is 1 at the least noise.
    let share = |losses: &[(usize, Vec<f64>)]| {
        losses.iter().fold(0.0, |most: f64, (v, losses)| most.max(request.target.share(*v, losses)))
    };
    // Limits for pairs that never lose anything would be met without noise.
    if share(&losses_at(LocalLoss::new(request.order, NoiseMultiplier::new(1.0)?))) == 0.0 {
        let (name, condition) = ("the number of pairs with a loss and a limit", "be at least 1");
        return Err(Error::InvalidParameter { name, condition, value: 0.0 }.into());
    }
    let found = smallest_noise(1.0, |noise| {
        Ok(UpperBound::new(share(&losses_at(LocalLoss::new(request.order, noise)))))
    })?;
    let local = LocalLoss::new(request.order, found.noise);
    let sigma = found.noise.sigma(request.sensitivity)?;
    let losses = losses_at(local);
    // The pair with the largest loss, at all orders.
    let largest = (0..pairs.len()).max_by(|&a, &b| {
        let of = |i: usize| losses[i / (n - 1)].1[pairs[i].0];
        of(a).total_cmp(&of(b))
    });
    let curve = |laws: &PairLaws, order| renewal::loss(laws, LocalLoss::new(order, found.noise));
    let epsilon = largest.map_or(0.0, |i| {
        conversion::best_epsilon(|order| curve(&laws[i], order), request.delta)
            .into_value()
            .approx_dp
            .epsilon()
    });
    let losses = losses.into_iter();
    let losses = losses.map(|(observer, loss)| Observed { observer, loss: UpperBound::new(loss).into() });
    // The token is the average of T noisy values.
    let error = sigma.get() / (steps as f64).sqrt();
    let losses = losses.collect();
    Ok(Account { rounds: steps, sigma, fresh: 0.0, local: local.cost(), losses, error, epsilon })
}

/// About an hour on a small machine.
const MOST_OPERATIONS: f64 = 1e13;

/// Nodes for which the error of gossip is computed from its operator.
const MOST_DENSE: usize = 2000;

/// The laws of all pairs are kept during the search.
const MOST_BYTES: f64 = 2e9;
