//! Gaussian releases, composition and conversion.

use crate::errors::Fault;
use crate::grades::{Epsilon, Lower, Mu, Nats, Number, Slack, a_delta, an_epsilon, count, plain, same};
use crate::worker::run;
use ndp_dp::composition::{self, Rule};
use ndp_dp::{
    ApproxDp, Delta, Error, Exact, Gaussian, Gdp, Grade, Measure, Mechanism, Neighbors, Order, Rdp,
    Sensitivity, UpperBound,
};
use pyo3::prelude::*;

pub(super) fn epsilon(dp: UpperBound<ApproxDp>) -> Number {
    // A sum of zeros may be -0.
    let delta = dp.value().delta() + 0.0;
    Number::epsilon(dp.map(|dp| dp.epsilon()), delta)
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
/// Guarantee
///     An `Exact`; an `UpperBound` where mu is one, or where epsilon is so close to 0 that nine digits of it
///     are not known.
///
/// Examples
/// --------
/// >>> import ndp
/// >>> ndp.accountants.gaussian_epsilon(0.5, delta=1e-6)
/// Exact(2.25409, 'epsilon', {'delta': 1e-06})
#[pyfunction]
pub(crate) fn gaussian_epsilon(mu: Mu, #[pyo3(from_py_with = a_delta)] delta: f64) -> Result<Number, Fault> {
    let epsilon = Gdp::new(mu.value())?.epsilon(Delta::new(delta)?);
    Ok(Number::epsilon(epsilon, delta).no_better_than(mu.grade()))
}

/// The delta at epsilon of a release of Gaussian parameter mu: exact.
///
/// Parameters
/// ----------
/// mu, epsilon : float
///
/// Returns
/// -------
/// Guarantee
///     An `Exact`; an `UpperBound` where mu is one.
///
/// Examples
/// --------
/// >>> import ndp
/// >>> ndp.accountants.gaussian_delta(0.5, epsilon=1.0)
/// Exact(0.0068296, 'delta', {'epsilon': 1.0})
#[pyfunction]
pub(crate) fn gaussian_delta(
    mu: Mu,
    #[pyo3(from_py_with = an_epsilon)] epsilon: f64,
) -> Result<Number, Fault> {
    let delta = Gdp::new(mu.value())?.delta(epsilon)?;
    Ok(Number::delta(delta, epsilon).no_better_than(mu.grade()))
}

/// The logarithm of the delta at epsilon of a release of Gaussian parameter mu, where delta is below every float.
///
/// Parameters
/// ----------
/// mu, epsilon : float
///
/// Returns
/// -------
/// Guarantee
///     An `Exact`; an `UpperBound` where mu is one. Below all finite floats it is the smallest one.
///
/// Examples
/// --------
/// >>> import ndp
/// >>> bool(ndp.accountants.gaussian_log_delta(0.5, epsilon=40.0) < -3000)
/// True
#[pyfunction]
pub(crate) fn gaussian_log_delta(
    mu: Mu,
    #[pyo3(from_py_with = an_epsilon)] epsilon: f64,
) -> Result<Number, Fault> {
    let log_delta = Gdp::new(mu.value())?.log_delta(epsilon)?;
    Ok(Number::new(log_delta, "log delta").with("epsilon", epsilon).no_better_than(mu.grade()))
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
pub(crate) fn gaussian_mu(
    epsilon: Epsilon,
    #[pyo3(from_py_with = a_delta)] delta: f64,
) -> Result<Lower, Fault> {
    Ok(Lower(Measure::Approx(Delta::new(delta)?).largest_mu(epsilon.at(delta)?)?.mu()))
}

/// The Gaussian parameter of several releases together: the root of the sum of squares, exact.
///
/// Parameters
/// ----------
/// mus : sequence of float
///
/// Returns
/// -------
/// Guarantee
///     An `Exact`; an `UpperBound` where one of them is.
///
/// Examples
/// --------
/// >>> import ndp
/// >>> ndp.accountants.gaussian_compose([0.3, 0.4])
/// Exact(0.500001, 'mu')
#[pyfunction]
pub(crate) fn gaussian_compose(mus: Vec<Mu>) -> Result<Number, Fault> {
    let parts = mus.iter().map(|mu| Gdp::new(mu.value())).collect::<Result<Vec<_>, _>>()?;
    let all = parts.into_iter().fold(Gdp::new(0.0)?, |sum, part| sum + part);
    let grade = mus.iter().map(Mu::grade).max().unwrap_or(Grade::Exact);
    Ok(Number::new(Exact::new(all.mu()), "mu").no_better_than(grade))
}

/// The type II error of the best test at type I error alpha, against a release of Gaussian parameter mu: exact.
///
/// Parameters
/// ----------
/// mu, alpha : float
///
/// Returns
/// -------
/// Guarantee
///     An `Exact`; an `UpperBound` where mu is one: the error of every test is then at least that, as
///     all that is guaranteed from below is bounded on the safe side.
///
/// Examples
/// --------
/// >>> import ndp
/// >>> ndp.accountants.gaussian_trade_off(0.0, 0.25)
/// Exact(0.749999, 'type II error')
#[pyfunction]
pub(crate) fn gaussian_trade_off(mu: Mu, #[pyo3(from_py_with = plain)] alpha: f64) -> Result<Number, Fault> {
    // Against an upper bound on mu the error is a lower bound, which is the safe side of a type II error.
    let error = Gdp::new(mu.value())?.trade_off(alpha)?;
    Ok(Number::new(error, "type II error").no_better_than(mu.grade()))
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
/// UpperBound(10.5977, 'sigma')
#[pyfunction]
#[pyo3(signature = (epsilon, delta, sensitivity=1.0))]
pub(crate) fn classic_sigma(
    epsilon: Epsilon,
    #[pyo3(from_py_with = a_delta)] delta: f64,
    #[pyo3(from_py_with = plain)] sensitivity: f64,
) -> Result<Number, Fault> {
    let release = Gaussian::classic(epsilon.at(delta)?, Delta::new(delta)?, Sensitivity::new(sensitivity)?)?;
    Ok(Number::new(release.map(|release| release.sigma), "sigma"))
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
pub(crate) fn compose(
    py: Python<'_>,
    parts: Vec<(Epsilon, f64, u64)>,
    #[pyo3(from_py_with = a_delta)] delta: f64,
) -> Result<Number, Fault> {
    let (parts, relation) = approx(&parts)?;
    let delta = Delta::new(delta)?;
    run(py, move || {
        let best = composition::best(&parts, delta)?;
        let rule = word(best.value().rule);
        Ok(epsilon(best.map(|best| best.total)).with("rule", rule).between(relation))
    })
}

/// The releases, and which data sets they compare, where they say so.
fn approx(parts: &[(Epsilon, f64, u64)]) -> Result<(Vec<(ApproxDp, u64)>, Option<Neighbors>), Fault> {
    let relation = parts.iter().try_fold(None, |so_far, (epsilon, ..)| same(so_far, epsilon.relation()))?;
    let part = |(epsilon, delta, count): &(Epsilon, f64, u64)| {
        Ok((ApproxDp::new(epsilon.at(*delta)?, *delta)?, *count))
    };
    Ok((parts.iter().map(part).collect::<Result<_, Fault>>()?, relation))
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
/// >>> ndp.accountants.compose_naive([(0.5, 0.0, 2), (0.25, 0.0, 4)])
/// UpperBound(2, 'epsilon', {'delta': 0.0})
#[pyfunction]
pub(crate) fn compose_naive(parts: Vec<(Epsilon, f64, u64)>) -> Result<Number, Fault> {
    let (parts, relation) = approx(&parts)?;
    let parts = parts.into_iter().map(|(part, count)| part * count);
    let total = parts.fold(ApproxDp::new(0.0, 0.0)?, |sum, part| sum + part);
    Ok(epsilon(UpperBound::new(total)).between(relation))
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
/// UpperBound(7.15875, 'epsilon', {'delta': 1.5e-06})
#[pyfunction]
#[pyo3(name = "compose_advanced", signature = (epsilon, delta, count, slack))]
pub(crate) fn compose_advanced(
    epsilon: Epsilon,
    #[pyo3(from_py_with = a_delta)] delta: f64,
    #[pyo3(from_py_with = count)] count: u64,
    #[pyo3(from_py_with = plain)] slack: f64,
) -> Result<Number, Fault> {
    let release = ApproxDp::new(epsilon.at(delta)?, delta)?;
    let found = self::epsilon(composition::advanced(release, count, Delta::new(slack)?));
    Ok(found.between(epsilon.relation()))
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
/// Guarantee
///     An `Exact`; an `UpperBound` where epsilon or delta is one, or epsilon holds at a smaller delta than this one.
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
    epsilon: Epsilon,
    delta: Slack,
    #[pyo3(from_py_with = count)] count: u64,
    #[pyo3(from_py_with = plain)] total: f64,
) -> Result<Number, Fault> {
    let grade = delta.grade().max(epsilon.grade(delta.value()));
    let (release, relation) = (ApproxDp::new(epsilon.at(delta.value())?, delta.value())?, epsilon.relation());
    run(py, move || {
        let together = composition::optimal_delta(release, count, total)?;
        Ok(Number::delta(together, total).no_better_than(grade).between(relation))
    })
}

/// The epsilon at delta of a release whose Rényi loss at one order is known, by the optimal conversion.
///
/// Parameters
/// ----------
/// rho : float
///     Rényi loss in nats; one that says it is of another order is refused.
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
/// UpperBound(1.71411, 'epsilon', {'delta': 1e-05})
#[pyfunction]
pub(crate) fn rdp_to_epsilon(
    rho: Nats,
    #[pyo3(from_py_with = plain)] order: f64,
    #[pyo3(from_py_with = a_delta)] delta: f64,
) -> Result<Number, Fault> {
    let epsilon = point(rho.at(order)?, order)?.epsilon(Delta::new(delta)?);
    Ok(Number::epsilon(epsilon, delta).between(rho.relation()))
}

/// The delta at epsilon of a release whose Rényi loss at one order is known, by the optimal conversion.
///
/// Parameters
/// ----------
/// rho : float
///     Rényi loss in nats; one that says it is of another order is refused.
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
pub(crate) fn rdp_to_delta(
    rho: Nats,
    #[pyo3(from_py_with = plain)] order: f64,
    #[pyo3(from_py_with = an_epsilon)] epsilon: f64,
) -> Result<Number, Fault> {
    let delta = point(rho.at(order)?, order)?.delta(epsilon)?;
    Ok(Number::delta(delta, epsilon).between(rho.relation()))
}

fn point(rho: f64, order: f64) -> Result<Rdp, Fault> {
    if rho >= 0.0 {
        return Ok(Rdp { order: Order::new(order)?, epsilon: rho });
    }
    Err(Error::InvalidParameter { name: "a Rényi divergence", condition: "be nonnegative", value: rho }
        .into())
}
