//! Composition, conversion, subsampling, shuffling, iteration, contraction, tails, mixtures, baselines.

use crate::errors::Fault;
use crate::grades::Number;
use crate::worker::run;
use ndp_dp::composition::{self, Rule};
use ndp_dp::federated::ContractionFactor;
use ndp_dp::iteration::NoisyStep;
use ndp_dp::mixture::{self, Part};
use ndp_dp::shuffling::{self, Shuffled};
use ndp_dp::{
    ApproxDp, Delta, Gdp, Order, Sensitivity, Sigma, UpperBound, baselines, contraction, conversion,
    gaussian, subsampling, tails,
};
use pyo3::prelude::*;

fn epsilon(dp: UpperBound<ApproxDp>) -> Number {
    let delta = dp.value().delta();
    Number::new(dp.map(|dp| dp.epsilon()), "epsilon").with("delta", delta)
}

fn word(rule: Rule) -> &'static str {
    match rule {
        Rule::Naive => "naive",
        Rule::Advanced => "advanced",
        Rule::Heterogeneous => "heterogeneous",
        Rule::Optimal => "optimal",
    }
}

/// The epsilon at delta of a release of Gaussian parameter mu: exact.
///
/// Parameters
/// ----------
/// mu, delta : float
///
/// Returns
/// -------
/// Exact
///
/// Examples
/// --------
/// >>> import ndp
/// >>> ndp.accountants.gaussian_epsilon(0.5, delta=1e-6)
/// Exact(2.25408, 'epsilon')
#[pyfunction]
pub(crate) fn gaussian_epsilon(mu: f64, delta: f64) -> Result<Number, Fault> {
    Ok(Number::new(gaussian::epsilon(mu, Delta::new(delta)?)?, "epsilon").with("delta", delta))
}

/// The delta at epsilon of a release of Gaussian parameter mu: exact.
///
/// Parameters
/// ----------
/// mu, epsilon : float
///
/// Returns
/// -------
/// Exact
///
/// Examples
/// --------
/// >>> import ndp
/// >>> ndp.accountants.gaussian_delta(0.5, epsilon=1.0)
/// Exact(0.00682959, 'delta')
#[pyfunction]
pub(crate) fn gaussian_delta(mu: f64, epsilon: f64) -> Result<Number, Fault> {
    Ok(Number::new(gaussian::delta(epsilon, mu)?, "delta").with("epsilon", epsilon))
}

/// The logarithm of the delta at epsilon of a release of Gaussian parameter mu, where delta is below every float.
///
/// Parameters
/// ----------
/// mu, epsilon : float
///
/// Returns
/// -------
/// Exact
///
/// Examples
/// --------
/// >>> import ndp
/// >>> bool(ndp.accountants.gaussian_log_delta(0.5, epsilon=40.0) < -3000)
/// True
#[pyfunction]
pub(crate) fn gaussian_log_delta(mu: f64, epsilon: f64) -> Result<Number, Fault> {
    Ok(Number::new(gaussian::log_delta(epsilon, mu)?, "log delta").with("epsilon", epsilon))
}

/// The largest Gaussian parameter mu that is (epsilon, delta)-DP, rounded down.
///
/// Parameters
/// ----------
/// epsilon, delta : float
///
/// Returns
/// -------
/// float
///
/// Examples
/// --------
/// >>> import ndp
/// >>> round(ndp.accountants.gaussian_mu(1.0, delta=1e-6), 4)
/// 0.2367
#[pyfunction]
pub(crate) fn gaussian_mu(epsilon: f64, delta: f64) -> Result<f64, Fault> {
    Ok(gaussian::mu(epsilon, Delta::new(delta)?)?)
}

/// The Gaussian parameter of several releases together: the root of the sum of squares, exact.
///
/// Parameters
/// ----------
/// mus : sequence of float
///
/// Returns
/// -------
/// Exact
///
/// Examples
/// --------
/// >>> import ndp
/// >>> ndp.accountants.gaussian_compose([0.3, 0.4])
/// Exact(0.5, 'mu')
#[pyfunction]
pub(crate) fn gaussian_compose(mus: Vec<f64>) -> Result<Number, Fault> {
    Ok(Number::new(gaussian::compose(&mus)?, "mu"))
}

/// The type II error of the best test at type I error alpha, against a release of Gaussian parameter mu: exact.
///
/// Parameters
/// ----------
/// mu, alpha : float
///
/// Returns
/// -------
/// Exact
///
/// Examples
/// --------
/// >>> import ndp
/// >>> ndp.accountants.gaussian_trade_off(0.0, 0.25)
/// Exact(0.75, 'type II error')
#[pyfunction]
pub(crate) fn gaussian_trade_off(mu: f64, alpha: f64) -> Result<Number, Fault> {
    Ok(Number::new(gaussian::trade_off(alpha, mu)?, "type II error"))
}

/// The textbook noise sensitivity * sqrt(2 ln(1.25/delta)) / epsilon, for epsilon below 1.
///
/// Parameters
/// ----------
/// epsilon, delta : float
/// sensitivity : float, optional
///
/// Returns
/// -------
/// UpperBound
///     Of the least noise; an error for epsilon of 1 or more, where it is not proved.
///
/// Examples
/// --------
/// >>> import ndp
/// >>> ndp.accountants.classic_sigma(0.5, delta=1e-6)
/// UpperBound(10.5976, 'sigma')
#[pyfunction]
#[pyo3(signature = (epsilon, delta, sensitivity=1.0))]
pub(crate) fn classic_sigma(epsilon: f64, delta: f64, sensitivity: f64) -> Result<Number, Fault> {
    let sigma = gaussian::sigma_classic(epsilon, Delta::new(delta)?, Sensitivity::new(sensitivity)?)?;
    Ok(Number::new(sigma, "sigma"))
}

/// What releases cost together of each of which only an (epsilon, delta) is known, by the best composition theorem.
///
/// Parameters
/// ----------
/// parts : sequence of (epsilon, delta, count)
/// delta : float
///     In total.
///
/// Returns
/// -------
/// UpperBound
///     An epsilon; its detail names the rule.
///
/// Examples
/// --------
/// >>> import ndp
/// >>> total = ndp.accountants.compose([(0.05, 1e-9, 500)], delta=1e-5)
/// >>> bool(total < 5.3), total.detail["rule"]
/// (True, 'optimal')
#[pyfunction]
pub(crate) fn compose(py: Python<'_>, parts: Vec<(f64, f64, u64)>, delta: f64) -> Result<Number, Fault> {
    let parts = approx(&parts)?;
    let delta = Delta::new(delta)?;
    run(py, move || {
        let best = composition::best(&parts, delta)?;
        let rule = word(best.value().rule);
        Ok(epsilon(best.map(|best| best.total)).with("rule", rule))
    })
}

fn approx(parts: &[(f64, f64, u64)]) -> Result<Vec<(ApproxDp, u64)>, Fault> {
    parts.iter().map(|&(epsilon, delta, count)| Ok((ApproxDp::new(epsilon, delta)?, count))).collect()
}

/// Basic composition: epsilons add up.
///
/// Parameters
/// ----------
/// parts : sequence of (epsilon, delta, count)
///
/// Returns
/// -------
/// UpperBound
///     An epsilon; the total delta is in its detail.
///
/// Examples
/// --------
/// >>> import ndp
/// >>> ndp.accountants.compose_naive([(0.5, 1e-6, 2), (0.25, 0.0, 4)])
/// UpperBound(2, 'epsilon')
#[pyfunction]
pub(crate) fn compose_naive(parts: Vec<(f64, f64, u64)>) -> Result<Number, Fault> {
    Ok(epsilon(composition::naive(&approx(&parts)?)))
}

/// Advanced composition of equal releases (Dwork, Rothblum and Vadhan, Theorem III.3).
///
/// Parameters
/// ----------
/// epsilon, delta : float
///     Of one release.
/// count : int
/// slack : float
///     What is added to the total delta.
///
/// Returns
/// -------
/// UpperBound
///     An epsilon; the total delta is in its detail.
///
/// Examples
/// --------
/// >>> import ndp
/// >>> ndp.accountants.compose_advanced(0.05, 1e-9, count=500, slack=1e-6)
/// UpperBound(7.15875, 'epsilon')
#[pyfunction]
#[pyo3(name = "compose_advanced", signature = (epsilon, delta, count, slack))]
pub(crate) fn compose_advanced(epsilon: f64, delta: f64, count: u64, slack: f64) -> Result<Number, Fault> {
    let release = ApproxDp::new(epsilon, delta)?;
    Ok(self::epsilon(composition::advanced(release, count, Delta::new(slack)?)))
}

/// The exact delta at a total epsilon of equal releases of which only an (epsilon, delta) is known.
///
/// Parameters
/// ----------
/// epsilon, delta : float
///     Of one release.
/// count : int
/// total : float
///     The epsilon of all together.
///
/// Returns
/// -------
/// Exact
///
/// References
/// ----------
/// Kairouz, Oh and Viswanath, *The composition theorem for differential privacy*, arXiv:1311.0776, Theorem 3.3.
///
/// Examples
/// --------
/// >>> import ndp
/// >>> bool(ndp.accountants.compose_optimal_delta(0.1, 0.0, count=30, total=2.0) < 0.001)
/// True
#[pyfunction]
pub(crate) fn compose_optimal_delta(
    py: Python<'_>,
    epsilon: f64,
    delta: f64,
    count: u64,
    total: f64,
) -> Result<Number, Fault> {
    let release = ApproxDp::new(epsilon, delta)?;
    run(py, move || {
        Ok(Number::new(composition::optimal_delta(release, count, total)?, "delta").with("epsilon", total))
    })
}

/// The epsilon at delta of a release whose Rényi loss at one order is known, by the optimal conversion.
///
/// Parameters
/// ----------
/// rho : float
///     Rényi loss in nats.
/// order : float
/// delta : float
///
/// Returns
/// -------
/// UpperBound
///
/// Examples
/// --------
/// >>> import ndp
/// >>> ndp.accountants.rdp_to_epsilon(0.5, order=8.0, delta=1e-5)
/// UpperBound(1.71411, 'epsilon')
#[pyfunction]
pub(crate) fn rdp_to_epsilon(rho: f64, order: f64, delta: f64) -> Result<Number, Fault> {
    let epsilon = conversion::optimal_epsilon(rho, Order::new(order)?, Delta::new(delta)?)?;
    Ok(Number::new(epsilon, "epsilon").with("delta", delta))
}

/// The delta at epsilon of a release whose Rényi loss at one order is known, by the optimal conversion.
///
/// Parameters
/// ----------
/// rho : float
///     Rényi loss in nats.
/// order : float
/// epsilon : float
///
/// Returns
/// -------
/// UpperBound
///
/// Examples
/// --------
/// >>> import ndp
/// >>> bool(ndp.accountants.rdp_to_delta(0.5, order=8.0, epsilon=2.0) < 1e-5)
/// True
#[pyfunction]
pub(crate) fn rdp_to_delta(rho: f64, order: f64, epsilon: f64) -> Result<Number, Fault> {
    let delta = conversion::optimal_delta(rho, Order::new(order)?, epsilon)?;
    Ok(Number::new(delta, "delta").with("epsilon", epsilon))
}

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
/// UpperBound(0.0170369, 'epsilon')
#[pyfunction]
pub(crate) fn subsample(epsilon: f64, delta: f64, sample: u64, population: u64) -> Result<Number, Fault> {
    let release = ApproxDp::new(epsilon, delta)?;
    Ok(self::epsilon(subsampling::without_replacement(release, sample, population)?))
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
/// UpperBound(0.0170369, 'epsilon')
#[pyfunction]
pub(crate) fn subsample_poisson(epsilon: f64, delta: f64, rate: f64) -> Result<Number, Fault> {
    Ok(self::epsilon(subsampling::poisson(ApproxDp::new(epsilon, delta)?, rate)?))
}

/// The epsilon at delta of shuffled reports, by the best bound known here.
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
    local_epsilon: f64,
    count: u64,
    delta: f64,
    labels: Option<u32>,
) -> Result<Number, Fault> {
    let at = Delta::new(delta)?;
    run(py, move || {
        let best: UpperBound<Shuffled> = match labels {
            Some(labels) => shuffling::rr_epsilon(local_epsilon, labels, count, at)?,
            None => shuffling::generic_epsilon(local_epsilon, count, at)?,
        };
        let rule = format!("{:?}", best.value().rule).to_lowercase();
        Ok(Number::new(best.map(|best| best.epsilon), "epsilon").with("delta", delta).with("rule", rule))
    })
}

/// The delta at epsilon of shuffled reports by one bound.
///
/// Parameters
/// ----------
/// epsilon, local_epsilon : float
/// count : int
///     Number of reports.
/// rule : str, optional
///     ``"clones"``, ``"hoeffding"`` or ``"bennett"``; with ``labels`` also ``"blanket"``.
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
    epsilon: f64,
    local_epsilon: f64,
    count: u64,
    rule: &str,
    labels: Option<u32>,
) -> Result<Number, Fault> {
    let rule = rule.to_owned();
    run(py, move || {
        let delta = match (rule.as_str(), labels) {
            ("clones", None) => shuffling::clones_delta(epsilon, local_epsilon, count)?,
            ("hoeffding", None) => shuffling::hoeffding_delta(epsilon, local_epsilon, count)?,
            ("bennett", None) => shuffling::bennett_delta(epsilon, local_epsilon, count)?,
            ("hoeffding", Some(labels)) => {
                shuffling::rr_hoeffding_delta(epsilon, local_epsilon, labels, count)?
            }
            ("bennett", Some(labels)) => shuffling::rr_bennett_delta(epsilon, local_epsilon, labels, count)?,
            ("blanket", Some(labels)) => shuffling::rr_blanket_delta(epsilon, local_epsilon, labels, count)?,
            _ => {
                let rules = "clones, hoeffding, bennett, or with labels hoeffding, bennett, blanket";
                return Err(Fault::new(format!("rule must be one of {rules}, got {rule:?}")));
            }
        };
        Ok(Number::new(delta, "delta").with("epsilon", epsilon))
    })
}

/// The Gaussian parameter of a noisy gradient step seen only after further noisy steps.
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
pub(crate) fn iterated_mu(lipschitz: f64, sigma: f64, steps: u64, contraction: f64) -> Result<Number, Fault> {
    let step = NoisyStep::new(lipschitz, Sigma::new(sigma)?)?;
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
/// Exact(0.682689, 'coefficient')
#[pyfunction]
pub(crate) fn gaussian_contraction(epsilon: f64, diameter: f64, sigma: f64) -> Result<Number, Fault> {
    let coefficient = contraction::gaussian_coefficient(epsilon, diameter, Sigma::new(sigma)?)?;
    Ok(Number::new(coefficient, "coefficient"))
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
/// Exact
///
/// Examples
/// --------
/// >>> import ndp
/// >>> ndp.accountants.kernel_contraction([[0.75, 0.25], [0.25, 0.75]], 0.0)
/// Exact(0.5, 'coefficient')
#[pyfunction]
pub(crate) fn kernel_contraction(rows: Vec<Vec<f64>>, epsilon: f64) -> Result<Number, Fault> {
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
/// Exact
///
/// Examples
/// --------
/// >>> import ndp
/// >>> ndp.accountants.hockey_stick([0.75, 0.25], [0.25, 0.75], 0.0)
/// Exact(0.5, 'delta')
#[pyfunction]
pub(crate) fn hockey_stick(p: Vec<f64>, q: Vec<f64>, epsilon: f64) -> Result<Number, Fault> {
    Ok(Number::new(contraction::symmetric_hockey_stick(&p, &q, epsilon)?, "delta").with("epsilon", epsilon))
}

/// The Rényi loss of an observer who sees one of several laws: part i with probability w_i, at cost D_i.
///
/// Parameters
/// ----------
/// parts : sequence of (weight, loss)
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
pub(crate) fn mixture_loss(parts: Vec<(f64, f64)>, order: f64) -> Result<Number, Fault> {
    let parts: Vec<Part> = parts.into_iter().map(|(weight, loss)| Part { weight, loss }).collect();
    Ok(Number::new(mixture::log_mean_exp(Order::new(order)?, &parts)?, "Rényi loss").with("order", order))
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
/// Exact
///
/// Examples
/// --------
/// >>> import ndp
/// >>> ndp.accountants.contributions(10_000, 0.01, delta=1e-6)
/// Exact(151, 'count')
#[pyfunction]
pub(crate) fn contributions(steps: u64, p: f64, delta: f64) -> Result<Number, Fault> {
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
    contributions: u64,
    lipschitz: f64,
    epsilon: f64,
    delta: f64,
) -> Result<Number, Fault> {
    let sigma = baselines::local_sigma(contributions, lipschitz, epsilon, Delta::new(delta)?)?;
    Ok(Number::new(sigma, "sigma"))
}

/// The epsilon at delta of SGD by a trusted server that steps with one random user at a time; every step is seen.
///
/// Parameters
/// ----------
/// users, steps : int
/// lipschitz, sigma, delta : float
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
    users: u64,
    steps: u64,
    lipschitz: f64,
    sigma: f64,
    delta: f64,
) -> Result<Number, Fault> {
    let (sigma, delta) = (Sigma::new(sigma)?, Delta::new(delta)?);
    run(py, move || Ok(epsilon(baselines::central_approx_dp(users, steps, lipschitz, sigma, delta)?)))
}

/// The least noise of SGD by a trusted server, as in `central_epsilon`, at (epsilon, delta).
///
/// Parameters
/// ----------
/// users, steps : int
/// lipschitz, epsilon, delta : float
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
    users: u64,
    steps: u64,
    lipschitz: f64,
    epsilon: f64,
    delta: f64,
) -> Result<Number, Fault> {
    let delta = Delta::new(delta)?;
    run(py, move || {
        let found = baselines::central_sigma(users, steps, lipschitz, epsilon, delta)?;
        let reached = *found.value().reached.value();
        Ok(Number::new(found.map(|found| found.parameter), "sigma").with("reached", reached))
    })
}
