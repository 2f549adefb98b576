//! Subsampling, shuffling, iteration, contraction, tails, mixtures, baselines, random graphs.

use super::functions::epsilon;
use crate::errors::Fault;
use crate::grades::{Epsilon, Nats, Noise, Number, a_delta, an_epsilon, count, plain, same};
use crate::worker::run;
use ndp_algos::gossip::random_graph::RandomGraph;
use ndp_dp::federated::ContractionFactor;
use ndp_dp::iteration::NoisyStep;
use ndp_dp::mixture::{self, Part};
use ndp_dp::shuffling::{Bound, Reports};
use ndp_dp::{
    ApproxDp, Delta, Exact, Gaussian, Gdp, Mechanism, Neighbors, Order, Sensitivity, Sigma, UpperBound,
    baselines, calibration, contraction, subsampling, tails,
};
use pyo3::prelude::*;

/// A release on some of the users, drawn without replacement, when one user's data may be replaced.
///
/// Parameters
/// ----------
/// epsilon, delta : float
///     Of the release on those drawn.
/// sample, population : int
///
/// Returns
/// -------
/// UpperBound
///     An epsilon; the delta is in its detail.
///
/// Examples
/// --------
/// >>> import ndp
/// >>> ndp.accountants.subsample(1.0, 1e-6, sample=10, population=1000)
/// UpperBound(0.0170369, 'epsilon', {'delta': 1e-08})
#[pyfunction]
pub(crate) fn subsample(
    epsilon: Epsilon,
    #[pyo3(from_py_with = a_delta)] delta: f64,
    #[pyo3(from_py_with = count)] sample: u64,
    #[pyo3(from_py_with = count)] population: u64,
) -> Result<Number, Fault> {
    epsilon.require(Neighbors::ReplaceOne)?;
    let release = ApproxDp::new(epsilon.at(delta)?, delta)?;
    let found = self::epsilon(subsampling::without_replacement(release, sample, population)?);
    Ok(found.between(Some(Neighbors::ReplaceOne)))
}

/// A release on users who each take part with probability `rate`, when one user may be added or removed.
///
/// Parameters
/// ----------
/// epsilon, delta : float
///     Of the release on those who take part.
/// rate : float
///
/// Returns
/// -------
/// UpperBound
///     An epsilon; the delta is in its detail.
///
/// Examples
/// --------
/// >>> import ndp
/// >>> ndp.accountants.subsample_poisson(1.0, 1e-6, rate=0.01)
/// UpperBound(0.0170369, 'epsilon', {'delta': 1e-08})
#[pyfunction]
pub(crate) fn subsample_poisson(
    epsilon: Epsilon,
    #[pyo3(from_py_with = a_delta)] delta: f64,
    #[pyo3(from_py_with = plain)] rate: f64,
) -> Result<Number, Fault> {
    epsilon.require(Neighbors::AddOrRemove)?;
    let release = ApproxDp::new(epsilon.at(delta)?, delta)?;
    Ok(self::epsilon(subsampling::poisson(release, rate)?).between(Some(Neighbors::AddOrRemove)))
}

/// The epsilon at delta of shuffled reports, by the best bound known here: towards somebody who sees them without their order and knows
/// what all other users hold. All users have the same randomizer.
///
/// Parameters
/// ----------
/// local_epsilon : float
///     Of one report.
/// count : int
///     Number of reports.
/// delta : float
/// labels : int, optional
///     Where the reports are randomized responses: the number of labels.
///
/// Returns
/// -------
/// UpperBound
///     An epsilon; its detail names the rule.
///
/// Examples
/// --------
/// >>> import ndp
/// >>> together = ndp.accountants.shuffle(1.0, 1000, delta=1e-6, labels=3)
/// >>> bool(together < 0.26)
/// True
#[pyfunction]
#[pyo3(signature = (local_epsilon, count, delta, labels=None))]
pub(crate) fn shuffle(
    py: Python<'_>,
    local_epsilon: Epsilon,
    #[pyo3(from_py_with = count)] count: u64,
    #[pyo3(from_py_with = a_delta)] delta: f64,
    labels: Option<u32>,
) -> Result<Number, Fault> {
    // A local guarantee is one without failures.
    local_epsilon.require(Neighbors::ReplaceOne)?;
    let (at, local_epsilon) = (Delta::new(delta)?, local_epsilon.at(0.0)?);
    run(py, move || {
        let best = Reports { local_epsilon, labels }.epsilon(count, at)?;
        let rule = format!("{:?}", best.value().rule).to_lowercase();
        let epsilon = Number::new(best.map(|best| best.epsilon), "epsilon");
        Ok(epsilon.with("delta", delta).with("rule", rule).between(Some(Neighbors::ReplaceOne)))
    })
}

/// The delta at epsilon of shuffled reports by one bound; about whom and what as in `shuffle`.
///
/// Parameters
/// ----------
/// epsilon, local_epsilon : float
/// count : int
///     Number of reports.
/// rule : str, optional
///     ``"clones"``, which knows nothing of the reports but their epsilon, ``"hoeffding"`` or ``"bennett"``; with ``labels`` also
///     ``"blanket"``.
/// labels : int, optional
///     Where the reports are randomized responses: the number of labels.
///
/// Returns
/// -------
/// UpperBound
///
/// Examples
/// --------
/// >>> import ndp
/// >>> exact = ndp.accountants.shuffle_delta(0.26, 1.0, 1000, rule="blanket", labels=3)
/// >>> bool(exact <= ndp.accountants.shuffle_delta(0.26, 1.0, 1000, rule="bennett", labels=3))
/// True
#[pyfunction]
#[pyo3(signature = (epsilon, local_epsilon, count, rule="clones", labels=None))]
pub(crate) fn shuffle_delta(
    py: Python<'_>,
    #[pyo3(from_py_with = an_epsilon)] epsilon: f64,
    local_epsilon: Epsilon,
    #[pyo3(from_py_with = count)] count: u64,
    rule: &str,
    labels: Option<u32>,
) -> Result<Number, Fault> {
    local_epsilon.require(Neighbors::ReplaceOne)?;
    let (rule, local_epsilon) = (rule.to_owned(), local_epsilon.at(0.0)?);
    run(py, move || {
        let bound = match (rule.as_str(), labels) {
            ("clones", _) => Bound::Clones,
            ("hoeffding", _) => Bound::Hoeffding,
            ("bennett", _) => Bound::Bennett,
            ("blanket", Some(_)) => Bound::Blanket,
            _ => {
                let rules = "clones, hoeffding, bennett, or with labels blanket";
                return Err(Fault::new(format!("rule must be one of {rules}, got {rule:?}")));
            }
        };
        let delta = Reports { local_epsilon, labels }.delta_by(bound, epsilon, count)?;
        Ok(Number::delta(delta, epsilon).between(Some(Neighbors::ReplaceOne)))
    })
}

/// The Gaussian parameter of a noisy gradient step seen only after further noisy steps.
///
/// It holds where the loss of every user is convex, Lipschitz and smooth, and steps are all of one size, at most 2 over the
/// smoothness: a step without its noise brings no two models further apart.
///
/// Parameters
/// ----------
/// lipschitz, sigma : float
///     Of the losses, and the noise of every step.
/// steps : int
///     Noisy steps until the model is seen, its own included.
/// contraction : float, optional
///     How much a noiseless step contracts distances.
///
/// Returns
/// -------
/// UpperBound
///
/// Examples
/// --------
/// >>> import ndp
/// >>> ndp.accountants.iterated_mu(1.0, 2.0, steps=4)
/// UpperBound(0.5, 'mu')
#[pyfunction]
#[pyo3(signature = (lipschitz, sigma, steps, contraction=1.0))]
pub(crate) fn iterated_mu(
    #[pyo3(from_py_with = plain)] lipschitz: f64,
    sigma: Noise,
    #[pyo3(from_py_with = count)] steps: u64,
    #[pyo3(from_py_with = plain)] contraction: f64,
) -> Result<Number, Fault> {
    let step = NoisyStep::new(lipschitz, Sigma::new(sigma.0)?)?;
    let mu = step.mu_after(steps, ContractionFactor::new(contraction)?)?;
    Ok(Number::new(mu.map(Gdp::mu), "mu"))
}

/// How much of a divergence survives Gaussian noise on a set of given diameter: the hockey-stick contraction.
///
/// Parameters
/// ----------
/// epsilon : float
/// diameter : float
/// sigma : float
///
/// Returns
/// -------
/// Exact
///
/// Examples
/// --------
/// >>> import ndp
/// >>> ndp.accountants.gaussian_contraction(0.0, diameter=2.0, sigma=1.0)
/// Exact(0.68269, 'coefficient')
#[pyfunction]
pub(crate) fn gaussian_contraction(
    #[pyo3(from_py_with = an_epsilon)] epsilon: f64,
    #[pyo3(from_py_with = plain)] diameter: f64,
    sigma: Noise,
) -> Result<Number, Fault> {
    // Written so that NaN fails.
    if !(0.0..).contains(&diameter) {
        let (name, condition) = ("the diameter", "be nonnegative");
        return Err(ndp_dp::Error::InvalidParameter { name, condition, value: diameter }.into());
    }
    let mu = (diameter / Sigma::new(sigma.0)?.get()).next_up();
    Ok(Number::new(Gdp::new(mu)?.delta(epsilon)?, "coefficient"))
}

/// The largest hockey-stick divergence between two rows of a kernel.
///
/// Parameters
/// ----------
/// rows : sequence of sequences of float
///     Laws of the output, one for each input.
/// epsilon : float
///
/// Returns
/// -------
/// Guarantee
///     An `Exact`; an `UpperBound` where the difference of the laws is not known to nine digits.
///
/// Examples
/// --------
/// >>> import ndp
/// >>> ndp.accountants.kernel_contraction([[0.75, 0.25], [0.25, 0.75]], 0.0)
/// Exact(0.5, 'coefficient')
#[pyfunction]
pub(crate) fn kernel_contraction(
    rows: Vec<Vec<f64>>,
    #[pyo3(from_py_with = an_epsilon)] epsilon: f64,
) -> Result<Number, Fault> {
    Ok(Number::new(contraction::kernel_coefficient(&rows, epsilon)?, "coefficient"))
}

/// The smallest delta at epsilon for two laws on a finite set, in both directions.
///
/// Parameters
/// ----------
/// p, q : sequence of float
/// epsilon : float
///
/// Returns
/// -------
/// Guarantee
///     An `Exact`; an `UpperBound` where the difference of the laws is not known to nine digits.
///
/// Examples
/// --------
/// >>> import ndp
/// >>> ndp.accountants.hockey_stick([0.75, 0.25], [0.25, 0.75], 0.0)
/// Exact(0.5, 'delta', {'epsilon': 0.0})
#[pyfunction]
pub(crate) fn hockey_stick(
    p: Vec<f64>,
    q: Vec<f64>,
    #[pyo3(from_py_with = an_epsilon)] epsilon: f64,
) -> Result<Number, Fault> {
    Ok(Number::delta(contraction::kernel_coefficient(&[p, q], epsilon)?, epsilon))
}

/// The Rényi loss of an observer who sees one of several laws: part i with probability w_i, at cost D_i.
///
/// Parameters
/// ----------
/// parts : sequence of (weight, loss)
///     Losses that say they are of another order are refused.
/// order : float
///
/// Returns
/// -------
/// UpperBound
///
/// Examples
/// --------
/// >>> import ndp
/// >>> bool(ndp.accountants.mixture([(0.01, 5.0), (0.99, 0.0)], order=2.0) < 0.92)
/// True
#[pyfunction]
#[pyo3(name = "mixture")]
pub(crate) fn mixture_loss(
    parts: Vec<(f64, Nats)>,
    #[pyo3(from_py_with = plain)] order: f64,
) -> Result<Number, Fault> {
    let relation = parts.iter().try_fold(None, |so_far, (_, loss)| same(so_far, loss.relation()))?;
    let part = |(weight, loss): (f64, Nats)| Ok::<_, Fault>(Part { weight, loss: loss.at(order)? });
    let parts = parts.into_iter().map(part).collect::<Result<Vec<_>, _>>()?;
    let loss = mixture::log_mean_exp(Order::new(order)?, &parts)?;
    Ok(Number::new(loss, "Rényi loss").with("order", order).between(relation))
}

/// The least number that a user drawn with probability p in each of several steps contributes at most, but for delta.
///
/// Parameters
/// ----------
/// steps : int
/// p, delta : float
///
/// Returns
/// -------
/// Exact, or UpperBound where rounding cannot tell the least number from the next one
///
/// Examples
/// --------
/// >>> import ndp
/// >>> ndp.accountants.contributions(10_000, 0.01, delta=1e-6)
/// Exact(151, 'count')
#[pyfunction]
pub(crate) fn contributions(
    #[pyo3(from_py_with = count)] steps: u64,
    #[pyo3(from_py_with = plain)] p: f64,
    #[pyo3(from_py_with = a_delta)] delta: f64,
) -> Result<Number, Fault> {
    Ok(Number::new(tails::n_exact(steps, p, Delta::new(delta)?)?, "count").with("delta", delta))
}

/// The least noise of local SGD: a number of noisy gradients of one user, all seen, at (epsilon, delta).
///
/// Parameters
/// ----------
/// contributions : int
/// lipschitz, epsilon, delta : float
///
/// Returns
/// -------
/// Exact
///
/// Examples
/// --------
/// >>> import ndp
/// >>> ndp.accountants.local_sigma(1, 0.5, epsilon=1.0, delta=1e-6)
/// Exact(4.22468, 'sigma')
#[pyfunction]
pub(crate) fn local_sigma(
    #[pyo3(from_py_with = count)] contributions: u64,
    #[pyo3(from_py_with = plain)] lipschitz: f64,
    epsilon: Epsilon,
    #[pyo3(from_py_with = a_delta)] delta: f64,
) -> Result<Number, Fault> {
    let epsilon = epsilon.at(delta)?;
    let moved = Sensitivity::new(2.0 * lipschitz * (contributions as f64).sqrt())?.get();
    // Above what two roundings lost.
    let moved = Sensitivity::new(moved.next_up().next_up())?;
    Ok(Number::new(Exact::new(Gaussian::within(epsilon, Delta::new(delta)?, moved)?.sigma.get()), "sigma"))
}

/// The epsilon at delta of SGD by a trusted server that steps with one random user at a time; every step is seen.
///
/// Parameters
/// ----------
/// users, steps : int
/// lipschitz : float
///     The largest norm of the gradient of any user: one user hides among the others.
/// sigma, delta : float
///
/// Returns
/// -------
/// UpperBound
///
/// Examples
/// --------
/// >>> import ndp
/// >>> bool(ndp.accountants.central_epsilon(1000, 10_000, 1.0, sigma=4.0, delta=1e-6) < 1.5)
/// True
#[pyfunction]
pub(crate) fn central_epsilon(
    py: Python<'_>,
    #[pyo3(from_py_with = count)] users: u64,
    #[pyo3(from_py_with = count)] steps: u64,
    #[pyo3(from_py_with = plain)] lipschitz: f64,
    sigma: Noise,
    #[pyo3(from_py_with = a_delta)] delta: f64,
) -> Result<Number, Fault> {
    let (sigma, delta) = (Sigma::new(sigma.0)?, Delta::new(delta)?);
    run(py, move || Ok(epsilon(baselines::central_approx_dp(users, steps, lipschitz, sigma, delta)?)))
}

/// The least noise of SGD by a trusted server, as in `central_epsilon`, at (epsilon, delta).
///
/// Parameters
/// ----------
/// users, steps : int
/// lipschitz : float
///     The largest norm of the gradient of any user: one user hides among the others.
/// epsilon, delta : float
///
/// Returns
/// -------
/// UpperBound
///     A sigma; the epsilon reached is in its detail.
///
/// Examples
/// --------
/// >>> import ndp
/// >>> sigma = ndp.accountants.central_sigma(1000, 10_000, 1.0, epsilon=1.0, delta=1e-6)
/// >>> bool(sigma.detail["reached"] <= 1.0)
/// True
#[pyfunction]
pub(crate) fn central_sigma(
    py: Python<'_>,
    #[pyo3(from_py_with = count)] users: u64,
    #[pyo3(from_py_with = count)] steps: u64,
    #[pyo3(from_py_with = plain)] lipschitz: f64,
    epsilon: Epsilon,
    #[pyo3(from_py_with = a_delta)] delta: f64,
) -> Result<Number, Fault> {
    let (epsilon, delta) = (epsilon.at(delta)?, Delta::new(delta)?);
    run(py, move || {
        let found = calibration::smallest_sigma(epsilon, |sigma| {
            let spent = baselines::central_approx_dp(users, steps, lipschitz, sigma, delta)?;
            Ok(spent.map(|spent| spent.epsilon()))
        })?;
        let sigma = UpperBound::new(found.parameter);
        Ok(Number::new(sigma, "sigma").with("reached", *found.reached.value()))
    })
}

/// The Rényi loss of a node that is not adjacent to the observers, in gossip on random graphs that stay hidden.
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
/// UpperBound
///
/// Examples
/// --------
/// >>> import ndp
/// >>> bound = ndp.accountants.hidden_graph(100, 1, 5, 3, order=2.0, sigma=2.0)
/// >>> bool(bound < 0.25)
/// True
#[pyfunction]
#[pyo3(signature = (nodes, observers, degree, rounds, order, sigma, sensitivity=1.0))]
pub(crate) fn hidden_graph(
    nodes: usize,
    observers: usize,
    degree: usize,
    rounds: usize,
    #[pyo3(from_py_with = plain)] order: f64,
    sigma: Noise,
    #[pyo3(from_py_with = plain)] sensitivity: f64,
) -> Result<Number, Fault> {
    let setting = RandomGraph { nodes, observers, degree, rounds };
    let (at, sensitivity, sigma) = (Order::new(order)?, Sensitivity::new(sensitivity)?, Sigma::new(sigma.0)?);
    let loss = setting.loss(at, sensitivity, sigma)?;
    Ok(Number::new(loss, "Rényi loss").with("order", order))
}
