//! Amplification by subsampling: a mechanism run on a random part of the data, the part kept secret.
//!
//! Three samplings, each with the neighboring relation it is proved for; they do not mix.
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

/// So many draws from a pool.
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

    /// What the draws make of the `ε` of a mechanism: `ln(1 + g(e^ε − 1))`, rounded up.
    ///
    /// # Errors
    /// [`Error::InvalidEpsilon`] unless `0 ≤ ε < ∞`.
    #[cfg(test)]
    pub(crate) fn epsilon(&self, epsilon: f64) -> Result<f64, Error> {
        check_epsilon(epsilon)?;
        Ok(amplified(epsilon, self.chance()))
    }

    /// See [`with_replacement`].
    pub(crate) fn approx_dp(
        &self,
        epsilon: f64,
        group_delta: impl Fn(u64, f64) -> Result<UpperBound<f64>, Error>,
    ) -> Result<UpperBound<ApproxDp>, Error> {
        check_epsilon(epsilon)?;
        let window = BinomialWindow::new(self.draws, 1.0 / self.pool as f64, 1e-60)?;
        // Groups below the window are charged as its first one, those above with certainty of failure.
        let mut delta = window.above();
        if window.first() > 0 {
            delta += window.below() * group_delta(window.first(), epsilon)?.into_value().min(1.0);
        }
        for (k, probability) in window.iter().filter(|&(k, _)| k > 0) {
            delta += probability * group_delta(k, epsilon)?.into_value().min(1.0);
        }
        // The probabilities, and a sum of as many products.
        let error = window.error() + window.probabilities().len() as f64 + 2.0;
        Ok(UpperBound::new(ApproxDp::clamped(amplified(epsilon, self.chance()), up(delta, error))))
    }
}

/// Gaussian noise on users who each take part with probability `rate`, when one user may be added or removed.
///
/// At integer orders `D_α = ln[Σ_{k≤α} C(α,k) (1−q)^{α−k} q^k e^{k(k−1)μ²/2}]/(α − 1)`; between them `D_α =
/// ln(1 + E g)/(α − 1)` by the trapezoidal rule with a proven error, `g = X^α − 1 − α(X − 1)` for the ratio
/// `X = 1 − q + q e^{μz−μ²/2}`, `z ~ N(0, 1)`, and where that takes too many terms the convexity of `(α − 1)
/// D_α`; above 10⁴, where the sum is long and amplifies little, the loss without sampling. All that is the
/// divergence of the data with the record from those without, which is the larger one of the two (Mironov et
/// al., Theorem 5).
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
        // The terms with k ≤ 1 have exponent 0, and all weights sum to 1: what is left keeps its relative
        // accuracy.
        let terms: Vec<f64> = (2..=alpha)
            .map(|k| (k as f64, log_pmf(k, alpha, self.rate)))
            .filter(|&(_, weight)| weight > f64::NEG_INFINITY)
            .map(|(k, weight)| {
                let growth = log_expm1(k * (k - 1.0) * half_square);
                // The argument of log_expm1 has four roundings, which count as often as it is large; the sum
                // has one a term.
                up_log(weight, PMF_ERROR + alpha as f64 + 8.0, PMF_ERROR) + up_log(growth, 8.0, 8.0)
            })
            .collect();
        let log_sum = Interval::new(ndp_numeric::logspace::log_sum_exp(&terms));
        Interval::ZERO.log_add_exp(log_sum).high()
    }
}

impl PoissonGaussian {
    /// The divergence of the data without the record from those with it: at most that of [`Mechanism::rdp`],
    /// which is the other way round.
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
    // Beyond, e^ε overflows; before, a small q would cancel the first term.
    let amplified = if epsilon > 700.0 {
        loss + (q + (Interval::ONE - q) * (-loss).exp()).ln()
    } else {
        (q * loss.expm1()).ln_1p()
    };
    // At q = 1 nothing is gained, whatever was rounded.
    amplified.high().min(epsilon)
}

/// Above this order the sum of [`PoissonGaussian`] is not evaluated.
const MAX_SUM: f64 = 1e4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Sensitivity, Sigma, gaussian};
    use approx::assert_relative_eq;
    use proptest::prelude::*;

    fn sampled_gaussian(rate: f64, mu: f64) -> PoissonGaussian {
        let (sensitivity, sigma) = (Sensitivity::new(mu).unwrap(), Sigma::new(1.0).unwrap());
        PoissonGaussian::new(Gaussian { sensitivity, sigma }, rate).unwrap()
    }

    fn rdp(rate: f64, mu: f64, alpha: f64) -> f64 {
        sampled_gaussian(rate, mu).rdp(Order::new(alpha).unwrap()).into_value()
    }

    #[test]
    fn draws_match_50_digit_values() -> Result<(), Error> {
        let (ten, eleven) = (WithReplacement::new(99, 10)?, WithReplacement::new(100, 11)?);
        assert_relative_eq!(ten.inclusion(), 0.096_540_246_134_807_14, max_relative = 1e-14);
        assert_relative_eq!(eleven.inclusion(), 0.104_661_745_741_283_55, max_relative = 1e-14);
        assert_relative_eq!(ten.epsilon(0.5)?, 0.060_744_813_319_052_9, max_relative = 1e-14);
        assert_relative_eq!(ten.epsilon(0.475)?, 0.057_039_700_390_368_67, max_relative = 1e-14);
        Ok(())
    }

    #[test]
    fn sampled_gaussian_matches_high_precision() {
        assert_relative_eq!(rdp(0.01, 0.5, 4.0), 5.715_580_737_173_408e-5, max_relative = 1e-11);
        assert_relative_eq!(rdp(0.1, 1.0, 8.0), 1.378_361_411_348_126_5, max_relative = 1e-12);
        assert_relative_eq!(rdp(0.25, 0.8, 2.0), 0.054_516_646_012_164_92, max_relative = 1e-12);
    }

    /// `D_α` between `N(0, 1)` and the mixture, in both directions, by the trapezoidal rule (exponentially
    /// accurate here): the value is the larger of the two.
    #[test]
    fn sampled_gaussian_covers_both_directions() {
        for (rate, mu) in [(0.1, 1.0), (0.3, 0.5), (0.02, 2.0)] {
            for alpha in [1.5, 2.0, 2.7, 3.0, 6.0] {
                let step = 0.01;
                let density = |x: f64| (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
                let (mut there, mut back) = (0.0, 0.0);
                for i in -2500..4000 {
                    let x = step * f64::from(i);
                    let clean = density(x);
                    // The ratio of mixture to N(0, 1), which does not underflow where the densities do.
                    let ratio = 1.0 - rate + rate * (mu * x - 0.5 * mu * mu).exp();
                    there += clean * ratio.powf(alpha) * step;
                    back += clean * ratio.powf(1.0 - alpha) * step;
                }
                let worst = f64::max(there, back).ln() / (alpha - 1.0);
                let bound = rdp(rate, mu, alpha);
                assert!(worst <= bound * (1.0 + 1e-9), "{rate} {mu} {alpha}: {worst} {bound}");
                assert_relative_eq!(worst, bound, max_relative = 1e-8);
            }
        }
    }

    /// mpmath at 60 digits, by quadrature of `g`: with the record against without, and back. At order 5.3 of
    /// the third, the convexity of `(α − 1) D_α` alone gives a hundred times the truth.
    #[test]
    fn fractional_orders_match_60_digits() -> Result<(), Error> {
        for (rate, mu, alpha, removed, added) in FRACTIONAL {
            let step = sampled_gaussian(rate, mu);
            let order = Order::new(alpha)?;
            for (found, truth) in
                [(step.rdp(order).into_value(), removed), (step.added(order).into_value(), added)]
            {
                assert!(truth * (1.0 - 1e-15) <= found, "{rate} {mu} {alpha}: {found} below {truth}");
                assert_relative_eq!(found, truth, max_relative = 1e-11);
            }
        }
        Ok(())
    }

    const FRACTIONAL: [(f64, f64, f64, f64, f64); 9] = [
        (0.01, 1.0, 5.3, 0.000_501_983_659_923_655_6, 0.000_397_666_443_797_063_5),
        (0.01, 1.0, 1.1, 9.241_471_084_686_96e-5, 8.987_642_159_201_012e-5),
        (0.001, 1.666_666_666_666_666_7, 5.3, 0.001_739_745_905_704_433, 3.128_786_301_472_311e-5),
        (0.1, 0.5, 2.7, 0.003_903_232_375_289_667, 0.003_490_340_680_484_716),
        (1e-6, 0.01, 3.5, 1.750_087_503_179_274_2e-16, 1.750_087_502_129_135_2e-16),
        (0.487, 1.795_332_136_445_242, 1.5, 1.059_507_774_962_110_5, 0.337_316_792_934_162_54),
        (0.01, 1.0, 40.5, 15.528_243_227_024_87, 0.001_979_570_375_856_176),
        (0.9, 3.0, 2.5, 11.074_399_394_758_604, 2.057_882_775_630_198),
        (0.02, 2.0, 1.001, 0.004_372_887_459_391_705, 0.002_916_088_496_602_077_5),
    ];

    /// Along the orders: no seam between sums and quadrature, and never above the convexity of neighbors.
    #[test]
    fn divergences_rise_without_a_seam() {
        for (rate, mu) in [(1e-9, 1e-6), (0.001, 2.0), (0.3, 0.1), (0.5, 20.0), (0.999, 4.0), (1e-3, 30.0)] {
            let mut last = 0.0;
            for k in 1..=400 {
                let alpha = 1.0 + 0.02 * f64::from(k) * (1.0 + 0.01 * f64::from(k));
                let here = rdp(rate, mu, alpha);
                assert!(here >= last * (1.0 - 1e-10), "{rate} {mu} {alpha}: {here} {last}");
                last = here;
            }
        }
    }

    /// With replacement, the sampled sum of a database of zeros but for one user: the exact laws are mixtures
    /// of Gaussians, and the bound holds (it is an equality for one draw).
    #[test]
    fn draws_cover_the_exact_mixture() -> Result<(), Error> {
        let mu = 1.0;
        for (pool, draws) in [(3, 1), (5, 4), (10, 3)] {
            let sampling = WithReplacement::new(pool, draws)?;
            let window = BinomialWindow::new(draws, 1.0 / pool as f64, 1e-30)?;
            for base in [0.2, 1.0] {
                let group = |k: u64, epsilon| gaussian::delta(epsilon, mu * k as f64).map(Into::into);
                let bound = sampling.approx_dp(base, group)?.into_value();
                let step = 1e-3;
                let mut exact = 0.0;
                for i in -12_000..16_000 {
                    let x = step * f64::from(i);
                    let density = |shift: f64| (-0.5 * (x - shift) * (x - shift)).exp();
                    let moved: f64 = window.iter().map(|(k, p)| p * density(mu * k as f64)).sum();
                    let gap = moved - bound.epsilon().exp() * density(0.0);
                    exact += gap.max(0.0) * step / (2.0 * std::f64::consts::PI).sqrt();
                }
                assert!(exact <= bound.delta() * (1.0 + 1e-5), "{exact} {}", bound.delta());
                if draws == 1 {
                    assert_relative_eq!(exact, bound.delta(), max_relative = 1e-5);
                }
            }
        }
        Ok(())
    }

    #[test]
    fn limits_are_right() -> Result<(), Error> {
        let leak = ApproxDp::new(f64::INFINITY, 1.0)?;
        assert_eq!(*without_replacement(leak, 0, 10)?.value(), ApproxDp::new(0.0, 0.0)?);
        assert_eq!(*poisson(leak, 1.0)?.value(), leak);
        assert_eq!(poisson(leak, 0.5)?.value().epsilon(), f64::INFINITY);
        let strong = poisson(ApproxDp::new(1e4, 0.0)?, 1e-3)?.into_value();
        assert_relative_eq!(strong.epsilon(), 1e4 + 1e-3f64.ln(), max_relative = 1e-14);
        let one = WithReplacement::new(1, 3)?;
        assert_eq!((one.inclusion(), one.epsilon(2.0)?), (1.0, 2.0));
        assert_eq!(WithReplacement::new(1, 0)?.inclusion(), 0.0);
        assert_eq!(rdp(0.0, 1e200, 5.0), 0.0);
        assert_eq!(rdp(1.0, 2.0, 5.0), 10.0);
        assert_eq!(rdp(0.5, 1e200, 5.0), f64::INFINITY);
        assert_eq!(rdp(0.5, 1.0, 1e300), 5e299);
        // Nobody is ever drawn.
        let nobody =
            WithReplacement::new(5, 0)?.approx_dp(1.0, |_, _| Ok(UpperBound::new(1.0)))?.into_value();
        assert!(nobody.epsilon() == 0.0 && nobody.delta() < 1e-300);
        Ok(())
    }

    #[test]
    fn bad_input_is_refused() -> Result<(), Error> {
        let pure = ApproxDp::new(1.0, 0.0)?;
        assert!(without_replacement(pure, 3, 2).is_err());
        assert!(without_replacement(pure, 0, 0).is_err());
        for bad in [f64::NAN, -0.1, 1.1] {
            assert!(poisson(pure, bad).is_err());
            let gaussian = Gaussian { sensitivity: Sensitivity::new(1.0)?, sigma: Sigma::new(1.0)? };
            assert!(PoissonGaussian::new(gaussian, bad).is_err());
        }
        assert!(WithReplacement::new(0, 3).is_err());
        let draws = WithReplacement::new(5, 3)?;
        for bad in [f64::NAN, -1.0, f64::INFINITY] {
            assert!(draws.epsilon(bad).is_err());
            assert!(draws.approx_dp(bad, |_, _| Ok(UpperBound::new(0.0))).is_err());
        }
        let many = WithReplacement::new(2, 1_000_000_000_000_000)?;
        assert!(many.approx_dp(1.0, |_, _| Ok(UpperBound::new(0.0))).is_err());
        Ok(())
    }

    proptest! {
        #[test]
        fn amplified_losses_are_ordered(
            epsilon in 0.0..50.0_f64,
            delta in 0.0..1.0_f64,
            pool in 1_u64..1000,
            draws in 0_u64..2000,
        ) {
            let base = ApproxDp::new(epsilon, delta)?;
            let sample = draws.min(pool);
            let here = without_replacement(base, sample, pool)?.into_value();
            prop_assert!(here.epsilon() <= epsilon && here.delta() <= delta);
            if sample < pool {
                let more = without_replacement(base, sample + 1, pool)?.into_value();
                prop_assert!(here.epsilon() <= more.epsilon() && here.delta() <= more.delta());
            }
            let sampling = WithReplacement::new(pool, draws)?;
            let there = sampling.epsilon(epsilon)?;
            prop_assert!(there <= epsilon);
            prop_assert!(there <= WithReplacement::new(pool, draws + 1)?.epsilon(epsilon)?);
            // With replacement a user is drawn less often than in as many draws without.
            prop_assert!(there <= here.epsilon() * (1.0 + 1e-12) || draws > pool);
        }

        #[test]
        fn sampled_gaussian_is_monotone(rate in 0.0..1.0_f64, mu in 0.01..3.0_f64, alpha in 1.01..80.0_f64) {
            let here = rdp(rate, mu, alpha);
            let slack = 1.0 + 1e-10;
            prop_assert!(here <= 0.5 * alpha * mu * mu * slack);
            prop_assert!(here <= rdp((1.1 * rate).min(1.0), mu, alpha) * slack);
            prop_assert!(here <= rdp(rate, 1.1 * mu, alpha) * slack);
            prop_assert!(here <= rdp(rate, mu, 1.1 * alpha) * slack);
        }
    }
}
