//! Amplification by subsampling: a mechanism is run on a random part of the data, and which part is kept
//! secret.
//!
//! There are three kinds of sampling, each with the neighboring relation for which its theorem is proved. A
//! theorem must not be used for another relation.
//!
//! | sampling | neighbors | `ε` becomes | `δ` becomes |
//! |---|---|---|---|
//! | [`without_replacement`], `m` of `n` | one user's data replaced | `ln(1 + q(e^ε − 1))`, `q = m/n` | `q δ` |
//! | [`with_replacement`], `m` draws of `n` | one user's data replaced | `ln(1 + g(e^ε − 1))`, `g = 1 − (1 − 1/n)^m` | `Σ_{k≥1} Bin(k; m, 1/n) δ_k(ε)` |
//! | [`poisson`], rate `q` | one user added or removed | `ln(1 + q(e^ε − 1))` | `q δ` |
//!
//! `δ_k` is the profile for a group of `k` users. The observer sees the output, not who was sampled.
//! [`PoissonGaussian`] is the Rényi loss of Poisson-sampled Gaussian noise.
//!
//! # References
//! - Balle, Barthe and Gaboardi, *Privacy amplification by subsampling*, 2018, arXiv:1807.01647:
//!   Theorems 8 (Poisson), 9 (without replacement), 10 (with replacement).
//! - Mironov, Talwar and Zhang, *Rényi differential privacy of the sampled Gaussian mechanism*, 2019,
//!   arXiv:1908.10530: Section 3.3.

use crate::error::check_probability;
use crate::error::ensure;
use crate::gaussian::check_epsilon;
use crate::neighbors::Neighbors;
use crate::{ApproxDp, Error, Gaussian, Guarantee, Mechanism, Moves, Order, Stated, UpperBound};
use ndp_numeric::binomial::{PMF_ERROR, log_pmf};
use ndp_numeric::binomial_window::BinomialWindow;
use ndp_numeric::logspace::log_expm1;
use ndp_numeric::rounding::{Interval, up, up_log, whole};
use serde::Serialize;

mod moment;

/// An `(ε, δ)`-DP mechanism on `sample` of `population` users drawn without replacement, when one user's data
/// may be replaced: `(ln(1 + q(e^ε − 1)), qδ)` with `q = sample/population`.
///
/// # Errors
/// [`Error::InvalidParameter`] unless `population ≥ 1` and `sample ≤ population`.
pub fn without_replacement(
    mechanism: ApproxDp,
    sample: u64,
    population: u64,
) -> Result<UpperBound<ApproxDp>, Error> {
    ensure(population >= 1, "the number of users", "be at least 1", population as f64)?;
    ensure(sample <= population, "the size of the sample", "be at most the number of users", sample as f64)?;
    Ok(sampled(mechanism, Interval::count(sample) / Interval::count(population)))
}

/// An `(ε, δ)`-DP mechanism on users who each take part with probability `rate`, when one user may be added
/// or removed: `(ln(1 + q(e^ε − 1)), qδ)`.
///
/// # Errors
/// [`Error::InvalidParameter`] unless `0 ≤ rate ≤ 1`.
pub fn poisson(mechanism: ApproxDp, rate: f64) -> Result<UpperBound<ApproxDp>, Error> {
    check_probability(rate)?;
    Ok(sampled(mechanism, Interval::new(rate)))
}

/// A mechanism with group profiles `group_delta(k, ε) = δ_k(ε)` on `draws` independent uniform draws, with
/// replacement, from a pool of users, when one user's data may be replaced: `(ln(1 + g(e^ε − 1)), Σ_{k≥1}
/// Bin(k; m, 1/n) δ_k(ε))` with the probability `g = 1 − (1 − 1/n)^m` that a given user is drawn at all,
/// rounded up.
///
/// `δ_k(ε)` bounds the loss when `k` of the drawn records, all of one user, change; it must not decrease in
/// `k`.
///
/// # Errors
/// [`Error::InvalidEpsilon`] unless `0 ≤ ε < ∞`; [`Error::InvalidParameter`] unless there is a user, and when
/// the draws per user spread so far (beyond 10¹⁰ expected ones) that more than 10⁷ group sizes matter.
///
/// # Examples
/// ```
/// use ndp_dp::{Gdp, Mechanism, subsampling::with_replacement};
/// // A Gaussian sum with μ = 1/2 over ten draws from a hundred users.
/// let group = |k: u64, epsilon| Ok(Gdp::new(0.5 * k as f64)?.delta(epsilon)?.into());
/// let sampled = with_replacement(100, 10, 0.5, group)?.into_value();
/// assert!(sampled.epsilon() < 0.07 && sampled.delta() < 0.006);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[doc(alias = "wr_subsample_eps")]
pub fn with_replacement(
    pool: u64,
    draws: u64,
    epsilon: f64,
    group_delta: impl Fn(u64, f64) -> Result<UpperBound<f64>, Error>,
) -> Result<UpperBound<ApproxDp>, Error> {
    WithReplacement::new(pool, draws)?.approx_dp(epsilon, group_delta)
}

/// A number of independent draws, with replacement, from a pool of users.
pub(crate) struct WithReplacement {
    pool: u64,
    draws: u64,
}

impl WithReplacement {
    /// `draws` draws from `pool` users.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `pool ≥ 1`.
    pub(crate) fn new(pool: u64, draws: u64) -> Result<Self, Error> {
        ensure(pool >= 1, "the number of users to draw from", "be at least 1", pool as f64)?;
        Ok(Self { pool, draws })
    }

    /// The probability `g = 1 − (1 − 1/n)^m` that a given user is drawn at all, rounded up.
    #[cfg(test)]
    pub(crate) fn inclusion(&self) -> f64 {
        self.chance().high().min(1.0)
    }

    fn chance(&self) -> Interval {
        if self.pool == 1 || self.draws == 0 {
            return if self.draws == 0 { Interval::ZERO } else { Interval::ONE };
        }
        let missed = (-(Interval::ONE / Interval::count(self.pool))).ln_1p();
        (-(Interval::count(self.draws) * missed).expm1()).min(Interval::ONE)
    }

    /// The `ε` after sampling of a mechanism with a given `ε`: `ln(1 + g(e^ε − 1))`, rounded up.
    ///
    /// # Errors
    /// [`Error::InvalidEpsilon`] unless `0 ≤ ε < ∞`.
    #[cfg(test)]
    pub(crate) fn epsilon(&self, epsilon: f64) -> Result<f64, Error> {
        check_epsilon(epsilon)?;
        Ok(amplified(epsilon, self.chance()))
    }

    /// The guarantee of [`with_replacement`].
    pub(crate) fn approx_dp(
        &self,
        epsilon: f64,
        group_delta: impl Fn(u64, f64) -> Result<UpperBound<f64>, Error>,
    ) -> Result<UpperBound<ApproxDp>, Error> {
        check_epsilon(epsilon)?;
        let window = BinomialWindow::new(self.draws, 1.0 / self.pool as f64, 1e-60)?;
        // Groups smaller than those of the window are charged like its smallest one, and larger ones with δ =
        // 1.
        let mut delta = window.above();
        if window.first() > 0 {
            delta += window.below() * group_delta(window.first(), epsilon)?.into_value().min(1.0);
        }
        for (k, probability) in window.iter().filter(|&(k, _)| k > 0) {
            delta += probability * group_delta(k, epsilon)?.into_value().min(1.0);
        }
        // The rounding errors of the probabilities, and of a sum of as many products.
        let error = window.error() + window.probabilities().len() as f64 + 2.0;
        Ok(UpperBound::new(ApproxDp::clamped(amplified(epsilon, self.chance()), up(delta, error))))
    }
}

/// Gaussian noise on users who each take part with probability `rate`, when one user may be added or removed.
///
/// At integer orders `D_α = ln[Σ_{k≤α} C(α,k) (1−q)^{α−k} q^k e^{k(k−1)μ²/2}]/(α − 1)`; between them `D_α =
/// ln(1 + E g)/(α − 1)` by the trapezoidal rule with a proven error, `g = X^α − 1 − α(X − 1)` for the ratio
/// `X = 1 − q + q e^{μz−μ²/2}`, `z ~ N(0, 1)`. If that takes too many terms, the convexity of `(α − 1) D_α`
/// gives a bound. Above order 10⁴, where the sum is long and sampling gains little, the loss without sampling
/// is used. All of these are, or bound, the divergence of the law with the record from the law without it,
/// which is the larger one of the two directions (Mironov et al., Theorem 5).
///
/// # Examples
/// ```
/// use ndp_dp::{Delta, Gaussian, Mechanism, RdpAccountant, Sensitivity, Sigma, subsampling::PoissonGaussian};
/// let step = Gaussian { sensitivity: Sensitivity::new(1.0)?, sigma: Sigma::new(1.0)? };
/// let spent =
///     RdpAccountant::default().compose(&PoissonGaussian::new(step, 0.01)?, 1000).epsilon(Delta::new(1e-5)?);
/// assert!((spent.value() - 2.101_37).abs() < 1e-5);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PoissonGaussian {
    rate: f64,
    #[serde(with = "crate::lossless")]
    mu: f64,
}

crate::lossless::checked_fields! {
    PoissonGaussian { rate: f64, #[serde(with = "crate::lossless")] mu: f64 } =>
        check_probability(rate).and_then(|()| crate::gaussian::check_mu(mu)).map(|()| Self { rate, mu })
}

impl PoissonGaussian {
    /// The Gaussian mechanism on a Poisson sample of the given rate.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 ≤ rate ≤ 1`.
    pub fn new(gaussian: Gaussian, rate: f64) -> Result<Self, Error> {
        check_probability(rate)?;
        Ok(Self { rate, mu: gaussian.gdp().into_value().mu() })
    }

    /// Gaussian noise of known `μ` on a Poisson sample.
    pub(crate) const fn of_mu(mu: f64, rate: f64) -> Self {
        Self { rate, mu }
    }

    /// `(α − 1) D_α` at an integer order.
    fn exponent(&self, alpha: u64) -> f64 {
        let half_square = crate::gdp::half_square(1.0, self.mu);
        // The terms with k ≤ 1 have exponent 0, and all weights sum to 1. The sum of the weights times e^x −
        // 1 over the other terms keeps its relative accuracy.
        let terms: Vec<f64> = (2..=alpha)
            .map(|k| (k as f64, log_pmf(k, alpha, self.rate)))
            .filter(|&(_, weight)| weight > f64::NEG_INFINITY)
            .map(|(k, weight)| {
                let growth = log_expm1(k * (k - 1.0) * half_square);
                // The argument of log_expm1 has four roundings, whose effect grows with its size; the sum has
                // one rounding for each term.
                up_log(weight, PMF_ERROR + alpha as f64 + 8.0, PMF_ERROR) + up_log(growth, 8.0, 8.0)
            })
            .collect();
        let log_sum = Interval::new(ndp_numeric::logspace::log_sum_exp(&terms));
        Interval::ZERO.log_add_exp(log_sum).high()
    }
}

impl PoissonGaussian {
    /// The divergence of the law without the record from the law with it: at most that of [`Mechanism::rdp`],
    /// which is the other direction.
    pub(crate) fn added(&self, order: Order) -> UpperBound<f64> {
        let removed = self.rdp(order).into_value();
        if removed == 0.0 || order.get() > MAX_SUM {
            return UpperBound::new(removed);
        }
        let excess = Interval::new(order.get()) - Interval::ONE;
        let exponent = self.at_most(1.0 - order.get(), Interval::new(f64::INFINITY));
        UpperBound::new((exponent / excess).high().min(removed))
    }

    /// The smaller one of a bound and `ln E[X^power]`.
    fn at_most(&self, power: f64, bound: Interval) -> Interval {
        let moment = if self.rate < 1.0 { moment::log_moment(self.rate, self.mu, power) } else { None };
        moment.map_or(bound, |moment| bound.min(Interval::new(moment)))
    }
}

impl Mechanism for PoissonGaussian {
    fn stated(&self) -> Option<Stated> {
        Some(Stated::of(
            Some(Neighbors::AddOrRemove),
            Moves::VectorInUnits,
            "ndp_dp::subsampling::PoissonGaussian",
        ))
    }

    fn rdp(&self, order: Order) -> Guarantee<f64> {
        let alpha = order.get();
        let unsampled = crate::gdp::half_square(alpha, self.mu);
        if self.rate == 0.0 || self.mu == 0.0 {
            return UpperBound::new(0.0).into();
        }
        if alpha > MAX_SUM {
            return UpperBound::new(unsampled).into();
        }
        let below = alpha.floor();
        let at = |alpha: f64| if alpha <= 1.0 { 0.0 } else { self.exponent(whole(alpha)) };
        let part = alpha - below;
        let exponent = if part == 0.0 {
            Interval::new(at(alpha))
        } else {
            Interval::new(1.0 - part) * Interval::new(at(below))
                + Interval::new(part) * Interval::new(at(below + 1.0))
        };
        let exponent = if part == 0.0 { exponent } else { self.at_most(alpha, exponent) };
        let excess = Interval::new(alpha) - Interval::ONE;
        UpperBound::new((exponent / excess).high().min(unsampled)).into()
    }
}

/// `(ln(1 + q(e^ε − 1)), qδ)`.
fn sampled(mechanism: ApproxDp, q: Interval) -> UpperBound<ApproxDp> {
    let delta = (q * Interval::new(mechanism.delta())).high();
    UpperBound::new(ApproxDp::clamped(amplified(mechanism.epsilon(), q), delta))
}

/// `ln(1 + q(e^ε − 1))`, rounded up, for `ε` perhaps infinite.
fn amplified(epsilon: f64, q: Interval) -> f64 {
    if q.high() == 0.0 {
        return 0.0;
    }
    let loss = Interval::new(epsilon);
    // For a large ε, e^ε would overflow. For other ε this form would cancel if q is small.
    let amplified = if epsilon > 700.0 {
        loss + (q + (Interval::ONE - q) * (-loss).exp()).ln()
    } else {
        (q * loss.expm1()).ln_1p()
    };
    // Sampling never raises ε; this also removes the rounding at q = 1.
    amplified.high().min(epsilon)
}

/// Above this order the sum of [`PoissonGaussian`] is not evaluated.
const MAX_SUM: f64 = 1e4;

#[cfg(test)]
mod tests;
