//! `ndp.printed`: formulas of the papers as they stand. None of them is a guarantee.

use crate::errors::Fault;
use crate::grades::{Noise, Number};
use crate::graph::{Graph, Matrix};
use crate::question::noise;
use crate::worker::run;
use ndp_algos::gossip::random_graph::RandomGraph;
use ndp_algos::walk::graph::LocalLoss;
use ndp_dp::iteration::NoisyStep;
use ndp_dp::{Delta, Order, Sensitivity, Sigma};
use ndp_graph::log_matrix::log_matrix;
use ndp_graph::{Spectrum, walk_sums};
use ndp_printed::gossip::{self as gossip, Powers};
use ndp_printed::network::{self, Theorem3};
use ndp_printed::training as sgd;
use ndp_printed::walk::{self as walk, VisitSum};
use pyo3::prelude::*;

fn powers(from_one: bool) -> Powers {
    if from_one { Powers::FromOne } else { Powers::FromZero }
}

/// Theorem 1 of Muffliato for all pairs: row exposed, column observer.
#[pyfunction]
pub(crate) fn theorem1_all(
    py: Python<'_>,
    matrix: &Matrix,
    rounds: usize,
    from_one: bool,
) -> Result<Number, Fault> {
    let matrix = matrix.0.clone();
    run(py, move || {
        let everybody: Vec<usize> = (0..matrix.node_count()).collect();
        let table = gossip::theorem1_from(&matrix, &everybody, rounds, powers(from_one))?;
        Ok(Number::new(table, "unit loss"))
    })
}

/// Theorem 12 of Muffliato towards a coalition.
#[pyfunction]
pub(crate) fn theorem12_towards(
    py: Python<'_>,
    matrix: &Matrix,
    coalition: Vec<usize>,
    rounds: usize,
    from_one: bool,
) -> Result<Number, Fault> {
    let matrix = matrix.0.clone();
    run(py, move || {
        let loss = gossip::theorem1_towards((&matrix, rounds), &coalition, powers(from_one))?;
        Ok(Number::new(loss.map(|loss| loss.unit), "unit loss"))
    })
}

/// Corollary 3 of Muffliato towards a coalition.
#[pyfunction]
pub(crate) fn corollary3_towards(
    py: Python<'_>,
    matrix: &Matrix,
    coalition: Vec<usize>,
    rounds: usize,
) -> Result<Number, Fault> {
    let matrix = matrix.0.clone();
    run(py, move || {
        let loss = gossip::corollary1_towards(&matrix, &coalition, rounds)?;
        Ok(Number::new(loss.map(|loss| loss.unit), "unit loss"))
    })
}

/// The walk's losses of all pairs by the log matrix.
#[pyfunction]
pub(crate) fn walk_matrix(
    py: Python<'_>,
    matrix: &Matrix,
    graph: &Graph,
    steps: usize,
    known_senders: bool,
    order: f64,
    sigma: f64,
    sensitivity: f64,
) -> Result<Number, Fault> {
    let local = LocalLoss { order: Order::new(order)?, noise: noise(sigma, sensitivity)? };
    let (matrix, graph) = (matrix.0.clone(), graph.0.clone());
    run(py, move || {
        let log = log_matrix(&Spectrum::new(&matrix)?)?;
        let mut losses = ndarray::Array2::zeros(log.dim());
        for (u, entries) in log.outer_iter().enumerate() {
            let entries = entries.to_vec();
            for v in (0..entries.len()).filter(|&v| v != u) {
                let entry = match known_senders {
                    true => walk::worst_sender(&entries, &graph, v)?.into_value(),
                    false => entries[v],
                };
                let loss = walk::user_level(VisitSum::LogMatrix(entry), entries.len(), steps, local)?;
                losses[(u, v)] = loss.into_value();
            }
        }
        Ok(Number::new(ndp_dp::Printed::new(losses), "Rényi loss").with("order", order))
    })
}

/// The walk's losses of a node towards all others by sums over powers.
#[pyfunction]
pub(crate) fn walk_row(
    py: Python<'_>,
    matrix: &Matrix,
    u: usize,
    steps: usize,
    order: f64,
    sigma: f64,
    sensitivity: f64,
) -> Result<Number, Fault> {
    let local = LocalLoss { order: Order::new(order)?, noise: noise(sigma, sensitivity)? };
    let matrix = matrix.0.clone();
    run(py, move || {
        let n = matrix.node_count();
        let sums = walk_sums::walk_sum_row(&matrix, u, steps)?;
        let loss = |sum: f64| Ok(walk::user_level(VisitSum::Powers(sum), n, steps, local)?.into_value());
        let losses: Vec<f64> = sums.into_iter().map(loss).collect::<Result<_, ndp_account::Error>>()?;
        Ok(Number::new(ndp_dp::Printed::new(losses), "Rényi loss").with("order", order))
    })
}

/// Theorem 4 of Muffliato: random graphs drawn anew in every round, a node that is not adjacent to the observers, in nats.
///
/// False for small graphs; the loss of a hidden random graph is bounded by the crate `ndp-algos`.
///
/// Parameters
/// ----------
/// nodes, observers, degree, rounds : int
///     Number of nodes, of observers, of their neighbors outside, of rounds.
/// order, sigma : float
/// sensitivity : float, optional
///
/// Returns
/// -------
/// Printed
///
/// Examples
/// --------
/// >>> import ndp
/// >>> ndp.printed.muffliato_theorem4(100, 1, 5, 10, order=2.0, sigma=2.0)
/// Printed(0.263158, 'Rényi loss', {'order': 2.0})
#[pyfunction]
#[pyo3(signature = (nodes, observers, degree, rounds, order, sigma, sensitivity=1.0))]
pub(crate) fn muffliato_theorem4(
    nodes: usize,
    observers: usize,
    degree: usize,
    rounds: usize,
    order: f64,
    sigma: Noise,
    sensitivity: f64,
) -> Result<Number, Fault> {
    let setting = RandomGraph { nodes, observers, degree, rounds };
    let (at, sensitivity, sigma) = (Order::new(order)?, Sensitivity::new(sensitivity)?, Sigma::new(sigma.0)?);
    Ok(Number::new(gossip::theorem4(setting, at, sensitivity, sigma)?, "Rényi loss").with("order", order))
}

/// Corollary 4 of Muffliato: the variance of the noise for a mean loss towards a coalition.
///
/// False: it has neither the number of rounds nor that of nodes.
///
/// Parameters
/// ----------
/// degree : int
///     Neighbors of the coalition outside.
/// order, epsilon : float
///
/// Returns
/// -------
/// Printed
///
/// Examples
/// --------
/// >>> import ndp
/// >>> ndp.printed.muffliato_corollary4(5, order=2.0, epsilon=0.1)
/// Printed(12.5, 'variance')
#[pyfunction]
pub(crate) fn muffliato_corollary4(degree: usize, order: f64, epsilon: f64) -> Result<Number, Fault> {
    Ok(Number::new(gossip::corollary4_variance(degree, Order::new(order)?, epsilon)?, "variance"))
}

/// The number of contributions of a user that the network paper prints, T/n + sqrt(3 (T/n) ln(1/delta)).
///
/// False unless T/n is at least 3 ln(1/delta); `accountants.contributions` is exact.
///
/// Parameters
/// ----------
/// steps, users, delta : float
///
/// Returns
/// -------
/// Printed
///
/// Examples
/// --------
/// >>> import ndp
/// >>> ndp.printed.network_contributions(1000, 1000, 1e-6)
/// Printed(7.4379, 'count')
#[pyfunction]
pub(crate) fn network_contributions(steps: f64, users: f64, delta: f64) -> Result<Number, Fault> {
    Ok(Number::new(network::contributions(steps, users, Delta::new(delta)?)?, "count"))
}

/// Theorem 3 of the network paper: the epsilon of a sum that a token collects on the complete graph.
///
/// False: its proof fails, see the findings of the project; `walks.complete_sum` has bounds.
///
/// Parameters
/// ----------
/// users, steps, epsilon : float
///     Number of users, of steps, and the epsilon of one contribution.
/// delta_prime, delta_hat : float
///     Slack of the composition, and failure probability of the count of contributions.
/// c : float, optional
///     The free constant; by default the one that minimises the formula.
/// composed : bool, optional
///     With the second term that advanced composition gives.
///
/// Returns
/// -------
/// Printed
///
/// Examples
/// --------
/// >>> import ndp
/// >>> ndp.printed.network_theorem3(1000, 100_000, 0.1, 1e-6, 1e-6).what
/// 'epsilon'
#[pyfunction]
#[pyo3(signature = (users, steps, epsilon, delta_prime, delta_hat, c=None, composed=false))]
pub(crate) fn network_theorem3(
    users: f64,
    steps: f64,
    epsilon: f64,
    delta_prime: f64,
    delta_hat: f64,
    c: Option<f64>,
    composed: bool,
) -> Result<Number, Fault> {
    let theorem = theorem3(users, steps, epsilon, delta_prime, delta_hat, c)?;
    let total = if composed { theorem.total_epsilon_composed()? } else { theorem.total_epsilon()? };
    Ok(Number::new(total, "epsilon"))
}

fn theorem3(
    users: f64,
    steps: f64,
    epsilon: f64,
    delta_prime: f64,
    delta_hat: f64,
    c: Option<f64>,
) -> Result<Theorem3, Fault> {
    let (delta_prime, delta_hat) = (Delta::new(delta_prime)?, Delta::new(delta_hat)?);
    Ok(Theorem3 { users, steps, epsilon, c, delta_prime, delta_hat })
}

/// Theorem 6 of the network paper: the epsilon of a histogram that a token collects on the complete graph.
///
/// False, as `network_theorem3`.
///
/// Parameters
/// ----------
/// users, steps, epsilon : float
/// delta_prime, delta_hat, delta : float
/// c : float, optional
///
/// Returns
/// -------
/// Printed
///
/// Examples
/// --------
/// >>> import ndp
/// >>> ndp.printed.network_theorem6(100_000, 1e7, 0.1, 1e-6, 1e-6, 1e-9).what
/// 'epsilon'
#[pyfunction]
#[pyo3(signature = (users, steps, epsilon, delta_prime, delta_hat, delta, c=None))]
pub(crate) fn network_theorem6(
    users: f64,
    steps: f64,
    epsilon: f64,
    delta_prime: f64,
    delta_hat: f64,
    delta: f64,
    c: Option<f64>,
) -> Result<Number, Fault> {
    let walk = theorem3(users, steps, epsilon, delta_prime, delta_hat, c)?;
    Ok(Number::new(network::theorem6(walk, Delta::new(delta)?)?, "epsilon"))
}

/// Lemma 1 of the network paper: the Rényi loss of a user of private descent by a walk.
///
/// False outside its unstated conditions; `accountants.CappedWalk` is proved.
///
/// Parameters
/// ----------
/// order, contributions, lipschitz, sigma, users : float
///
/// Returns
/// -------
/// Printed
///
/// Examples
/// --------
/// >>> import ndp
/// >>> ndp.printed.network_lemma1(2.0, 100, 1.0, 40.0, 1000).what
/// 'Rényi loss'
#[pyfunction]
pub(crate) fn network_lemma1(
    order: f64,
    contributions: f64,
    lipschitz: f64,
    sigma: Noise,
    users: f64,
) -> Result<Number, Fault> {
    let step = NoisyStep::new(lipschitz, Sigma::new(sigma.0)?)?;
    let loss = network::lemma1_rdp(Order::new(order)?, contributions, &step, users)?;
    Ok(Number::new(loss, "Rényi loss").with("order", order))
}

/// Theorem 4 of the network paper: the epsilon of private descent by a walk whose contributions cost epsilon each.
///
/// Parameters
/// ----------
/// users, steps, epsilon, delta, delta_hat : float
///
/// Returns
/// -------
/// Printed
///     Its detail says whether the preconditions of the print hold.
///
/// Examples
/// --------
/// >>> import ndp
/// >>> ndp.printed.network_theorem4(1000, 100_000, 0.1, 1e-6, 1e-6).what
/// 'epsilon'
#[pyfunction]
pub(crate) fn network_theorem4(
    users: f64,
    steps: f64,
    epsilon: f64,
    delta: f64,
    delta_hat: f64,
) -> Result<Number, Fault> {
    let found = network::theorem4(users, steps, epsilon, (Delta::new(delta)?, Delta::new(delta_hat)?))?;
    let theorem = *found.value();
    let number = Number::new(found.map(|theorem| theorem.epsilon), "epsilon");
    Ok(number.with("contributions", theorem.contributions).with("preconditions", theorem.preconditions_hold))
}

/// The noise multiplier that the random-walk paper prints for a mean loss.
///
/// Parameters
/// ----------
/// target, order : float
/// users, steps : int
///
/// Returns
/// -------
/// Printed
///
/// Examples
/// --------
/// >>> import ndp
/// >>> ndp.printed.walk_noise(1.0, 2.0, 100, 10_000).what
/// 'noise multiplier'
#[pyfunction]
pub(crate) fn walk_noise(target: f64, order: f64, users: usize, steps: usize) -> Result<Number, Fault> {
    let found = sgd::walk_noise_for_mean_loss(target, Order::new(order)?, users, steps)?;
    Ok(Number::new(found.map(|noise| noise.get()), "noise multiplier"))
}

/// The noise multiplier that the random-walk paper's gossip baseline prints for a mean loss.
///
/// Parameters
/// ----------
/// target, order : float
/// users, rounds : int
/// messages : float
///     Messages of a node in a round.
///
/// Returns
/// -------
/// Printed
///
/// Examples
/// --------
/// >>> import ndp
/// >>> ndp.printed.gossip_noise(1.0, 2.0, 100, 50, 10.0).what
/// 'noise multiplier'
#[pyfunction]
pub(crate) fn gossip_noise(
    target: f64,
    order: f64,
    users: usize,
    rounds: usize,
    messages: f64,
) -> Result<Number, Fault> {
    let found = sgd::gossip_noise_for_mean_loss(target, Order::new(order)?, users, rounds, messages)?;
    Ok(Number::new(found.map(|noise| noise.get()), "noise multiplier"))
}
