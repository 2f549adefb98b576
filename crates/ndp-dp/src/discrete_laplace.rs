//! The discrete Laplace mechanism: noise on whole numbers, with probability proportional to `e^{−|k|/t}`.
//!
//! A query whose values are whole numbers moves by at most `Δ`, a whole number, between neighboring datasets.
//! With `u = 1/t` and `q = e^{−u}` the noise is `k` with probability `(1 − q)/(1 + q) q^{|k|}`, and the
//! mechanism is `ε₀ = Δ/t` differentially private. The worst pair of datasets is the one whose answers differ
//! by `Δ`; the losses below are exact for it, rounded up.
//!
//! Many implementations of Laplace noise are not private, since the floats that they release are not spaced
//! like real numbers. Here the released number is whole, and [`DiscreteLaplace::noise`] has exactly the
//! stated law if the bits of its generator are independent and fair. Its running time depends on the noise
//! and may reveal something about it to an observer who measures times.
//!
//! # References
//! - Ghosh, Roughgarden, Sundararajan, *Universally utility-maximizing privacy mechanisms*, SIAM J. Comput.
//!   2012, arXiv:0811.2841 (the geometric mechanism).
//! - Balle and Wang, ICML 2018, arXiv:1805.06530, Theorem 5, the profile as a sum over the outputs where the
//!   loss exceeds `ε`.

use crate::error::ensure;
use crate::exact_draws::laplace;
use crate::gaussian::check_epsilon;
use crate::laplace::{epsilon_at, exp_remainder};
use crate::{Delta, Error, Exact, Guarantee, Mechanism, Moves, Order, Sigma, Stated};
use ndp_numeric::rounding::Interval;
use rand::Rng;
use serde::Serialize;

/// Discrete Laplace noise on a query with whole values.
///
/// # Examples
/// ```
/// use ndp_dp::{Delta, DiscreteLaplace, Mechanism};
/// let count = DiscreteLaplace::new(1, 2.0)?;
/// assert!(*count.pure_epsilon().value() <= 0.5);
/// // If δ = 0.01 is allowed, ε is smaller: the logarithm of e^0.5 - 0.01 (1 + e^0.5), which is 0.4838.
/// let epsilon = *count.epsilon(Delta::new(0.01)?).value();
/// assert!((epsilon - 0.483_804).abs() < 1e-5);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DiscreteLaplace {
    sensitivity: u32,
    scale: f64,
}

crate::lossless::checked_fields! {
    DiscreteLaplace { sensitivity: u32, scale: f64 } => Self::new(sensitivity, scale)
}

impl DiscreteLaplace {
    /// Noise of scale `t` on a query of sensitivity `sensitivity`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless the sensitivity is at least 1 and the scale between 10⁻¹² and
    /// 10¹².
    pub fn new(sensitivity: u32, scale: f64) -> Result<Self, Error> {
        ensure(sensitivity >= 1, "the sensitivity of a query with whole values", "be at least 1", 0.0)?;
        let allowed = (MIN_SCALE..=MAX_SCALE).contains(&scale);
        ensure(allowed, "the scale of discrete Laplace noise", "lie between 10^-12 and 10^12", scale)?;
        Ok(Self { sensitivity, scale })
    }

    /// Noise of standard deviation `sigma`, up to rounding: `t = 1/(2 asinh(1/(√2 σ)))`.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_std(sensitivity: u32, sigma: Sigma) -> Result<Self, Error> {
        Self::new(sensitivity, 0.5 / libm::asinh(std::f64::consts::FRAC_1_SQRT_2 / sigma.get()))
    }

    /// The sensitivity `Δ`.
    #[must_use]
    pub const fn sensitivity(&self) -> u32 {
        self.sensitivity
    }

    /// The scale `t`.
    #[must_use]
    pub const fn scale(&self) -> f64 {
        self.scale
    }

    fn pure(&self) -> Interval {
        Interval::new(f64::from(self.sensitivity)) / Interval::new(self.scale)
    }

    /// `P(noise ≤ m) − e^ε P(Δ + noise ≤ m)` for the best `m`, and its difference from 1, which is the sum
    /// `[e^{ε−(Δ−m)u} + q^{m+1}]/(1 + q)`. Rounding may miss the best `m` by one, so its neighbors are tried
    /// as well, which does no harm: the profile is the maximum over all `m`.
    fn profile_and_complement(&self, epsilon: f64) -> (Interval, Interval) {
        if epsilon >= self.pure_epsilon().into_value() {
            return (Interval::ZERO, Interval::ONE);
        }
        let (sensitivity, scale) = (f64::from(self.sensitivity), Interval::new(self.scale));
        let q = (-(Interval::ONE / scale)).exp();
        let best = (0.5 * (sensitivity - epsilon * self.scale)).ceil() - 1.0;
        let (mut most, mut least) = (Interval::ZERO, Interval::ONE);
        for m in [best - 1.0, best, best + 1.0] {
            if !(0.0..sensitivity).contains(&m) {
                continue;
            }
            // ε − (Δ − m)/t, computed without the cancellation near ε₀.
            let seen = Interval::product_less(epsilon, self.scale, sensitivity - m) / scale;
            let within = -(-(Interval::new(m) / scale)).expm1();
            let gap = (q * within - seen.expm1()) / (Interval::ONE + q);
            let rest =
                (seen.exp() + (-((Interval::new(m) + Interval::ONE) / scale)).exp()) / (Interval::ONE + q);
            (most, least) = (most.max(gap), least.min(rest));
        }
        (most.min(Interval::ONE), least)
    }

    /// One noise value, drawn exactly: no floating-point number is drawn or compared. The generator should be
    /// cryptographically secure, so that nobody can predict its output.
    pub fn noise(&self, rng: &mut (impl Rng + ?Sized)) -> i64 {
        let (t, shift) = dyadic(self.scale);
        let (size, negative) = laplace(t, shift, rng);
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        if negative { -size } else { size }
    }
}

/// The `t` and `shift` of `scale = t/2^shift`, for scales between 10^-12 and 10^12.
fn dyadic(scale: f64) -> (u128, u32) {
    let bits = scale.to_bits();
    let (mantissa, exponent) = ((bits & ((1 << 52) - 1)) | (1 << 52), u32::try_from(bits >> 52));
    // The scale is the mantissa times 2^(exponent - 1075).
    let zeros = mantissa.trailing_zeros();
    let (t, exponent) = (u128::from(mantissa >> zeros), exponent.unwrap_or(0) + zeros);
    if exponent >= 1075 { (t << (exponent - 1075), 0) } else { (t, 1075 - exponent) }
}

/// Exact: `δ = [1 − e^{ε − (Δ−m)u} + q (1 − q^m)]/(1 + q)` for the largest whole `m` below `(Δ − εt)/2`, 0
/// from `ε₀` on. An `ε` at `δ` that is so close to 0 that nine digits of it are not known is an upper bound.
impl Mechanism for DiscreteLaplace {
    fn stated(&self) -> Option<Stated> {
        Some(Stated::of(None, Moves::Whole { by: self.sensitivity }, "ndp_dp::DiscreteLaplace"))
    }

    /// Exact: `ln[A e^{(α−1)ε₀} + B e^{−αε₀}]/(α − 1)` with `r = q^{2α−1}`, `A = (1 − qr)/((1 + q)(1 − r))`
    /// and `B = 1 − A = (q − r)/((1 + q)(1 − r))`.
    fn rdp(&self, order: Order) -> Guarantee<f64> {
        let pure = self.pure();
        let (alpha, u) = (Interval::new(order.get()), Interval::ONE / Interval::new(self.scale));
        let excess = alpha - Interval::ONE;
        let twice = alpha + excess;
        let q = (-u).exp();
        let share = (Interval::ONE + q) * -(-(twice * u)).expm1();
        // q − r is computed as q (1 − q^{2(α−1)}), which does not cancel.
        let minor = q * -(-(Interval::new(2.0) * excess * u)).expm1() / share;
        let divergence = if (excess * pure).low() > 1.0 {
            pure + (minor * (-(twice * pure)).expm1()).ln_1p() / excess
        } else {
            let major = -(-(Interval::new(2.0) * alpha * u)).expm1() / share;
            let linear = pure * first_order(alpha, excess, u) / share;
            let sum = major * exp_remainder(excess * pure) + minor * exp_remainder(-(alpha * pure)) + linear;
            sum.ln_1p() / excess
        };
        // The loss is at most ε₀, which is also its limit for orders that overflow.
        Exact::new(divergence.high().clamp(0.0, pure.high())).into()
    }

    fn epsilon(&self, delta: Delta) -> Guarantee<f64> {
        let profile = |epsilon| self.profile_and_complement(epsilon).0;
        let complement = |epsilon| self.profile_and_complement(epsilon).1;
        epsilon_at(delta, self.pure_epsilon().into_value(), profile, complement)
    }

    fn delta(&self, epsilon: f64) -> Result<Guarantee<f64>, Error> {
        check_epsilon(epsilon)?;
        Ok(Exact::new(self.profile_and_complement(epsilon).0.high()).into())
    }

    /// `ε₀ = Δ/t`, rounded up.
    fn pure_epsilon(&self) -> Guarantee<f64> {
        Exact::new(self.pure().high()).into()
    }
}

/// `(α − 1)(1 − qr) − α (q − r)`, the weight of the terms of first order in `ε₀`: of third order in `u`, and
/// positive.
fn first_order(alpha: Interval, excess: Interval, u: Interval) -> Interval {
    let two = Interval::new(2.0);
    if (alpha * u).high() <= 1.0 {
        // e^{−αu} · 2 [(α − 1) sinh(αu) − α sinh((α − 1)u)], whose linear terms cancel exactly.
        let gap = excess * sinh_remainder(alpha * u) - alpha * sinh_remainder(excess * u);
        (-(alpha * u)).exp() * two * gap
    } else {
        alpha * (-u).exp() * (-(two * excess * u)).expm1() - excess * (-(two * alpha * u)).expm1()
    }
}

/// `sinh x − x` for `0 ≤ x ≤ 1`, to full relative accuracy.
fn sinh_remainder(x: Interval) -> Interval {
    let square = x * x;
    // The series by Horner's scheme from x^23/23! down; the terms after that change the last factor by less
    // than 1/500.
    let mut sum = Interval::between(1.0, 1.002);
    for k in (2..=11).rev() {
        let k = f64::from(k);
        sum = Interval::ONE + sum * square / Interval::new(2.0 * k * (2.0 * k + 1.0));
    }
    x * square / Interval::new(6.0) * sum
}

/// The largest scale: above it noise values would no longer be exact as floats.
const MAX_SCALE: f64 = 1e12;
/// The smallest scale: below it the noise is practically always 0.
const MIN_SCALE: f64 = 1e-12;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::smallest_sigma;
    use crate::contraction::hockey_stick;
    use crate::{Grade, Laplace, Sensitivity};
    use approx::assert_relative_eq;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    const CASES: [(u32, f64); 7] = [(1, 0.3), (1, 1.0), (1, 20.0), (2, 1.5), (3, 0.7), (7, 4.0), (10, 2.0)];

    /// The laws of the two answers, which differ by `Δ`, on all whole numbers whose probability does not
    /// underflow.
    fn laws(mechanism: &DiscreteLaplace) -> (Vec<f64>, Vec<f64>) {
        let reach = (800.0 * mechanism.scale).ceil() as i64 + 20;
        let q = (-1.0 / mechanism.scale).exp();
        let law = |k: i64| (1.0 - q) / (1.0 + q) * (-(k.abs() as f64) / mechanism.scale).exp();
        (-reach..=reach).map(|k| (law(k), law(k - i64::from(mechanism.sensitivity)))).unzip()
    }

    #[test]
    fn the_profile_is_the_hockey_stick_of_the_two_laws() -> Result<(), Error> {
        for (sensitivity, scale) in CASES {
            let mechanism = DiscreteLaplace::new(sensitivity, scale)?;
            let (p, q) = laws(&mechanism);
            let pure = mechanism.pure_epsilon().into_value();
            for share in [0.0, 0.1, 0.33, 0.5, 0.77, 0.999, 1.0, 1.5] {
                let delta = mechanism.delta(share * pure)?.into_value();
                let slow = hockey_stick(&p, &q, share * pure)?.into_value();
                assert_relative_eq!(delta, slow, max_relative = 1e-9, epsilon = 1e-13);
            }
        }
        Ok(())
    }

    /// Values close to `ε₀` by mpmath at 60 digits, for the floats as given. A difference of rounded numbers
    /// would be off by up to a hundredth.
    #[test]
    fn delta_next_to_the_pure_epsilon_matches_60_digits() -> Result<(), Error> {
        for (sensitivity, scale, epsilon, expected) in [
            (1, 3.0, 0.33333333333299997, 1.942_073_324_309_422e-13),
            (1, 0.7, 1.428571428557143, 1.152_400_331_770_611e-11),
            (2, 1.7, 1.1764705882352906, 2.278_819_283_177_41e-15),
            (7, 4.3, 1.6279069767440233, 9.083_428_054_256_139e-14),
            (3, 0.001, 2999.999999999994, 5.849_265_516_371_762e-12),
        ] {
            let delta = DiscreteLaplace::new(sensitivity, scale)?.delta(epsilon)?.into_value();
            assert_relative_eq!(delta, expected, max_relative = 1e-13);
            assert!(delta >= expected * (1.0 - 1e-15), "rounded up: {delta} {expected}");
        }
        Ok(())
    }

    /// Roots of the complement by mpmath at 60 digits, the largest over all `m`, for the floats as given.
    #[test]
    fn a_delta_next_to_one_keeps_its_digits() -> Result<(), Error> {
        for (sensitivity, scale, below, expected) in [
            (3, 0.05, 1e-12, 12.368_952_515_710_54),
            (10, 0.2, 1e-10, 6.832_422_579_617_301),
            (1, 0.03, 1e-13, 3.366_096_467_660_701),
            (7, 1.0, 0.2, 4.021_240_402_493_978),
            (40, 1.0, 1e-7, 7.834_692_890_062_761),
        ] {
            let epsilon = DiscreteLaplace::new(sensitivity, scale)?.epsilon(Delta::new(1.0 - below)?);
            assert_eq!(epsilon.grade(), Grade::Exact, "{sensitivity} {scale}: {epsilon:?}");
            let error = epsilon.value() / expected - 1.0;
            assert!((-2e-16..1e-12).contains(&error), "{sensitivity} {scale}: {epsilon:?}, {error:e}");
        }
        Ok(())
    }

    /// `Σ p^α q^{1−α}` term by term, from the logarithms of the terms, so that those far out count as well.
    #[test]
    fn the_renyi_loss_is_the_sum_over_outputs() -> Result<(), Error> {
        for (sensitivity, scale) in CASES {
            let mechanism = DiscreteLaplace::new(sensitivity, scale)?;
            let q = (-1.0 / scale).exp();
            for alpha in [1.01, 1.5, 2.0, 7.3, 64.0] {
                let reach = (900.0 * scale).ceil() as i64 + 40;
                let sensitivity = i64::from(sensitivity);
                let terms: Vec<f64> = (-reach..=reach)
                    .map(|k| {
                        let (near, far) = (k.abs() as f64, (k - sensitivity).abs() as f64);
                        ((1.0 - q) / (1.0 + q)).ln() - (alpha * near + (1.0 - alpha) * far) / scale
                    })
                    .collect();
                let slow = ndp_numeric::logspace::log_sum_exp(&terms) / (alpha - 1.0);
                let rdp = mechanism.rdp(Order::new(alpha)?).into_value();
                assert_relative_eq!(rdp, slow, max_relative = 1e-10, epsilon = 1e-12);
            }
        }
        Ok(())
    }

    /// Values of mpmath at 60 digits, from the closed form.
    #[test]
    fn the_renyi_loss_matches_60_digits() -> Result<(), Error> {
        for (sensitivity, scale, alpha, expected) in RENYI {
            let rdp = DiscreteLaplace::new(sensitivity, scale)?.rdp(Order::new(alpha)?).into_value();
            assert_relative_eq!(rdp, expected, max_relative = 1e-12);
            assert!(rdp >= expected * (1.0 - 1e-15), "rounded up: {rdp} {expected}");
        }
        Ok(())
    }

    /// For noise that spans many whole numbers, the values tend to those of the continuous mechanism.
    #[test]
    fn wide_noise_is_nearly_continuous() -> Result<(), Error> {
        let continuous = Laplace::new(Sensitivity::new(1000.0)?, 2000.0)?;
        let discrete = DiscreteLaplace::new(1000, 2000.0)?;
        assert_eq!(continuous.pure_epsilon(), discrete.pure_epsilon());
        for epsilon in [0.0, 0.2, 0.4] {
            let (a, b) = (continuous.delta(epsilon)?.into_value(), discrete.delta(epsilon)?.into_value());
            assert_relative_eq!(a, b, max_relative = 1e-5);
        }
        let order = Order::new(3.0)?;
        let (a, b) = (continuous.rdp(order).into_value(), discrete.rdp(order).into_value());
        assert_relative_eq!(a, b, max_relative = 1e-5);
        Ok(())
    }

    #[test]
    fn losses_are_ordered_and_within_their_limits() -> Result<(), Error> {
        for (sensitivity, scale) in [(1, 1e-12), (1, 1e12), (u32::MAX, 1e12), (u32::MAX, 1e-12), (5, 3.0)] {
            let mechanism = DiscreteLaplace::new(sensitivity, scale)?;
            let pure = mechanism.pure_epsilon().into_value();
            let mut last = 0.0;
            for alpha in [1.0 + 1e-9, 1.1, 2.0, 30.0, 1e6, 1e300] {
                let rdp = mechanism.rdp(Order::new(alpha)?).into_value();
                assert!(last <= rdp * (1.0 + 1e-9) && rdp <= pure, "{sensitivity} {scale} {alpha}: {rdp}");
                last = rdp;
            }
            let mut last = 1.0;
            for share in [0.0, 1e-9, 0.5, 0.9, 1.0] {
                let delta = mechanism.delta(share * pure)?.into_value();
                assert!((0.0..=last).contains(&delta), "{sensitivity} {scale} {share}: {delta}");
                last = delta;
            }
            assert_eq!(last, 0.0);
        }
        Ok(())
    }

    #[test]
    fn epsilon_and_calibrations_are_verified_ends() -> Result<(), Error> {
        let mechanism = DiscreteLaplace::new(2, 3.0)?;
        for delta in [1e-12, 1e-3, 0.2, 0.6] {
            let delta = Delta::new(delta)?;
            let epsilon = mechanism.epsilon(delta).into_value();
            assert!(*mechanism.delta(epsilon)?.value() <= delta.get());
            assert!(epsilon == 0.0 || *mechanism.delta(epsilon.next_down())?.value() > delta.get());
        }
        for epsilon in [1e-3, 0.1, 0.7, 3.0] {
            assert!(
                *DiscreteLaplace::new(3, 3.0 / epsilon)?.pure_epsilon().value()
                    <= epsilon.next_up().next_up()
            );
        }
        // The generic search works for this mechanism: it needs less noise than for δ = 0 if some δ is
        // allowed.
        let least = smallest_sigma(0.01, |sigma| DiscreteLaplace::with_std(2, sigma)?.delta(0.5))?;
        assert!(*least.reached.value() <= 0.01);
        assert!(least.parameter.get() < std(&DiscreteLaplace::new(2, 4.0)?));
        Ok(())
    }

    #[test]
    fn the_standard_deviation_is_that_of_the_law() -> Result<(), Error> {
        for sigma in [0.05, 0.5, 1.0, 30.0, 1e6] {
            let mechanism = DiscreteLaplace::with_std(1, Sigma::new(sigma)?)?;
            assert_relative_eq!(std(&mechanism), sigma, max_relative = 1e-14);
            if sigma <= 30.0 {
                let (p, _) = laws(&mechanism);
                let middle = (p.len() / 2) as f64;
                let variance: f64 = p.iter().enumerate().map(|(i, p)| (i as f64 - middle).powi(2) * p).sum();
                assert_relative_eq!(variance.sqrt(), sigma, max_relative = 1e-12);
            }
        }
        Ok(())
    }

    /// Compared with the law by the Dvoretzky–Kiefer–Wolfowitz inequality with Massart's constant, at an
    /// error rate of 1e-9.
    #[test]
    fn the_sampler_follows_its_law() -> Result<(), Error> {
        let runs = 100_000;
        for scale in [0.4, 2.5, 3.0, 1.0 / 3.0] {
            let mechanism = DiscreteLaplace::new(1, scale)?;
            let mut rng = ChaCha8Rng::seed_from_u64(3);
            let sample: Vec<i64> = (0..runs).map(|_| mechanism.noise(&mut rng)).collect();
            let q = (-1.0 / scale).exp();
            for k in -40..=40_i64 {
                let law = if k < 0 {
                    q.powi(-k as i32) / (1.0 + q)
                } else {
                    1.0 - q.powi(k as i32 + 1) / (1.0 + q)
                };
                let seen = sample.iter().filter(|&&value| value <= k).count() as f64 / f64::from(runs);
                assert!((law - seen).abs() < (2e9f64.ln() / (2.0 * f64::from(runs))).sqrt(), "{k}");
            }
        }
        Ok(())
    }

    /// The scale of a draw is the float itself, not a number near it.
    #[test]
    fn scales_are_dyadic() {
        for scale in [MIN_SCALE, MAX_SCALE, 0.4, 1.0, 3.0, 1.0 / 3.0, 1e11 + 0.5, 4096.0] {
            let (t, shift) = dyadic(scale);
            assert_eq!(t as f64 / 2f64.powi(shift as i32), scale);
            assert!(t < 1 << 54 && (shift == 0 || t % 2 == 1), "{t} {shift}");
        }
    }

    #[test]
    fn bad_input_is_refused() -> Result<(), Error> {
        for bad in [f64::NAN, -1.0, 0.0, f64::INFINITY, 1e13, 1e-13] {
            assert!(
                matches!(
                    DiscreteLaplace::new(1, bad),
                    Err(Error::InvalidParameter { name: "the scale of discrete Laplace noise", .. })
                ),
                "{bad}"
            );
        }
        assert!(matches!(
            DiscreteLaplace::new(0, 1.0),
            Err(Error::InvalidParameter { name: "the sensitivity of a query with whole values", .. })
        ));
        let mechanism = DiscreteLaplace::new(1, 1.0)?;
        assert!(
            matches!(mechanism.delta(f64::NAN), Err(Error::InvalidEpsilon(..)))
                && matches!(mechanism.delta(-0.1), Err(Error::InvalidEpsilon(..)))
        );
        Ok(())
    }

    const RENYI: [(u32, f64, f64, f64); 9] = [
        (1, 1e6, 2.0, 9.999_999_999_995_833e-13),
        (1, 1000.0, 1.01, 5.049_999_570_665_877e-7),
        (3, 5.0, 1.5, 0.220_181_022_271_661_9),
        (2, 1.0, 64.0, 1.995_027_592_261_615_5),
        (7, 1e4, 1000.0, 0.000_227_239_162_350_865_26),
        (1, 0.05, 1.001, 19.999_999_919_181_01),
        (1000, 0.5, 2.0, 1_999.875_218_299_417_9),
        (1, 2.0, 1.00001, 0.122_460_506_219_456_3),
        (5, 1e12, 3.0, 3.749_999_999_994e-23),
    ];

    /// The standard deviation of the noise, `1/(√2 sinh(1/(2t)))`.
    fn std(mechanism: &DiscreteLaplace) -> f64 {
        std::f64::consts::FRAC_1_SQRT_2 / libm::sinh(0.5 / mechanism.scale)
    }
}
