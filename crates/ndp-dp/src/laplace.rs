//! The Laplace mechanism: its exact losses.
//!
//! Noise with density `e^{−|x|/b}/(2b)` on a scalar query of sensitivity `Δ` is `ε₀`-DP with `ε₀ = Δ/b`.
//! The neighboring relation is the one for which the sensitivity was computed; the observer sees the noisy
//! value. The statements are about real numbers: the last bits of a floating-point sample can reveal more.
//!
//! # References
//! - Dwork, McSherry, Nissim and Smith, *Calibrating noise to sensitivity in private data analysis*, 2006.
//! - Mironov, *Rényi differential privacy*, 2017, arXiv:1702.07476: Proposition 6 (Rényi loss).
//! - Balle, Barthe and Gaboardi, *Privacy amplification by subsampling*, 2018, arXiv:1807.01647 (the
//!   profile).

use crate::error::ensure_positive;
use crate::gaussian::{WITHIN, check_epsilon};
use crate::{
    Delta, Error, Exact, Guarantee, Mechanism, Moves, Order, Sensitivity, Stated, UpperBound, search,
};
use ndp_numeric::rounding::Interval;
use serde::Serialize;

/// Laplace noise on a query of known sensitivity.
///
/// # Examples
/// ```
/// use ndp_dp::{Laplace, Mechanism, Sensitivity};
/// let release = Laplace::new(Sensitivity::new(1.0)?, 2.0)?;
/// assert_eq!(release.pure_epsilon().into_value(), 0.5);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Laplace {
    sensitivity: Sensitivity,
    scale: f64,
}

crate::lossless::checked_fields! {
    Laplace { sensitivity: Sensitivity, scale: f64 } => Self::new(sensitivity, scale)
}

impl Laplace {
    /// Noise of scale `b`, that is of standard deviation `√2 b`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `b` and `Δ/b` are positive and finite.
    pub fn new(sensitivity: Sensitivity, scale: f64) -> Result<Self, Error> {
        ensure_positive("the scale of Laplace noise", scale)?;
        ensure_positive("the sensitivity in units of the Laplace scale", sensitivity.get() / scale)?;
        Ok(Self { sensitivity, scale })
    }

    /// `(ε − ε₀)/2`.
    fn half_gap(&self, epsilon: f64) -> Interval {
        // ε − ε₀ = (ε b − Δ)/b, where the difference is computed without cancellation near ε₀.
        let gap =
            Interval::product_less(epsilon, self.scale, self.sensitivity.get()) / Interval::new(self.scale);
        Interval::new(0.5) * gap
    }

    /// `1 − e^{(ε − ε₀)/2}`, positive part.
    fn profile(&self, epsilon: f64) -> Interval {
        // Adding 0.0 turns -0.0 into 0.0.
        let part = |end: f64| end.clamp(0.0, 1.0) + 0.0;
        let profile = -self.half_gap(epsilon).expm1();
        Interval::between(part(profile.low()), part(profile.high()))
    }
}

/// Exact: `δ = 1 − e^{(ε − ε₀)/2}`, 0 from `ε₀` on. An `ε` at `δ` that is so close to 0 that nine digits of
/// it are not known is an upper bound.
impl Mechanism for Laplace {
    fn stated(&self) -> Option<Stated> {
        Some(Stated::of(None, Moves::Number { by: self.sensitivity.get() }, "ndp_dp::Laplace"))
    }

    /// `ln[α/(2α−1) e^{(α−1)ε₀} + (α−1)/(2α−1) e^{−αε₀}]/(α − 1)`, exact unless it is too close to 0 for nine
    /// digits.
    fn rdp(&self, order: Order) -> Guarantee<f64> {
        let pure = self.pure_epsilon().into_value();
        let (alpha, epsilon) = (Interval::new(order.get()), Interval::new(pure));
        let excess = alpha - Interval::ONE;
        let (major, minor) = (alpha / (alpha + excess), excess / (alpha + excess));
        let is_large = (excess * epsilon).low() > 1.0;
        let divergence = if is_large {
            epsilon + (minor * (-((alpha + excess) * epsilon)).expm1()).ln_1p() / excess
        } else {
            // The terms of first order in ε₀ cancel exactly, so they are left out of both exponentials.
            let sum = major * exp_remainder(excess * epsilon) + minor * exp_remainder(-(alpha * epsilon));
            sum.ln_1p() / excess
        };
        // The loss is at most ε₀, which is also its limit for orders that overflow.
        let (low, high) = (divergence.low().max(0.0), divergence.high().clamp(0.0, pure));
        // Where products of tiny numbers lost their digits it is a bound.
        if is_large || high - low <= 1e-9 * high {
            Exact::new(high).into()
        } else {
            UpperBound::new(high).into()
        }
    }

    fn epsilon(&self, delta: Delta) -> Guarantee<f64> {
        let complement = |epsilon| self.half_gap(epsilon).exp().min(Interval::ONE);
        epsilon_at(delta, self.pure_epsilon().into_value(), |epsilon| self.profile(epsilon), complement)
    }

    fn delta(&self, epsilon: f64) -> Result<Guarantee<f64>, Error> {
        check_epsilon(epsilon)?;
        Ok(Guarantee::of_enclosure(self.profile(epsilon)))
    }

    /// `ε₀ = Δ/b`, rounded up.
    fn pure_epsilon(&self) -> Guarantee<f64> {
        Exact::new((Interval::new(self.sensitivity.get()) / Interval::new(self.scale)).high()).into()
    }
}

/// The smallest `ε` up to `pure` at which a profile was seen to be at most `δ`, from enclosures of the
/// profile and of its complement. For `δ` above 1/2 the complements are compared: `1 − δ` is a float, while a
/// profile close to 1 has lost the digits by which it differs from 1.
///
/// `Exact` if the profile is certainly larger at an `ε` that is smaller by a relative `1e-9`.
pub(crate) fn epsilon_at(
    delta: Delta,
    pure: f64,
    profile: impl Fn(f64) -> Interval,
    complement: impl Fn(f64) -> Interval,
) -> Guarantee<f64> {
    let delta = delta.get();
    let excess = |epsilon: f64| {
        if delta > 0.5 {
            Interval::new(1.0 - delta) - complement(epsilon)
        } else {
            profile(epsilon) - Interval::new(delta)
        }
    };
    let epsilon = search::smallest(0.0, pure, |epsilon| excess(epsilon).high() <= 0.0).unwrap_or(pure);
    if epsilon == 0.0 || excess(epsilon * (1.0 - WITHIN)).low() > 0.0 {
        Exact::new(epsilon).into()
    } else {
        UpperBound::new(epsilon).into()
    }
}

/// `e^x − 1 − x`, nonnegative, to full relative accuracy.
pub(crate) fn exp_remainder(x: Interval) -> Interval {
    if x.low().abs() > 0.5 || x.high().abs() > 0.5 {
        return x.expm1() - x;
    }
    // The series by Horner's scheme from x^18/18! down. The next term is below 1e-20 times the first, and the
    // sum is above 3/4.
    let mut sum = Interval::between(1.0_f64.next_down(), 1.0_f64.next_up());
    for k in (3..=18).rev() {
        sum = Interval::ONE + sum * x / Interval::new(f64::from(k));
    }
    Interval::new(0.5) * (x * x) * sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Grade;
    use approx::assert_relative_eq;

    fn laplace(pure: f64) -> Laplace {
        Laplace::new(Sensitivity::new(pure).unwrap(), 1.0).unwrap()
    }

    /// Values of mpmath at 50 digits, from the two exponentials.
    #[test]
    fn renyi_loss_matches_50_digits() -> Result<(), Error> {
        for (pure, alpha, expected) in [
            (1.0e-8, 2.0, 9.999_999_966_666_666e-17),
            (0.001, 1.01, 5.048_317_078_921_811e-7),
            (0.5, 3.0, 0.27122643230725676),
            (0.7, 1.00001, 0.19658715275707646),
            (2.0, 64.0, 1.9891221586809695),
            (30.0, 1.001, 29.001497670410565),
            (1.0e-5, 10000.0, 4.991673050321788e-7),
        ] {
            let rdp = laplace(pure).rdp(Order::new(alpha)?);
            assert_relative_eq!(*rdp.value(), expected, max_relative = 1e-13);
        }
        Ok(())
    }

    /// Compared with the trapezoidal rule for `(p − e^ε q)₊`, with the kink at a node.
    #[test]
    fn profile_matches_quadrature() -> Result<(), Error> {
        for (pure, epsilon) in [(1.0, 0.0_f64), (1.0, 0.3), (2.0, 1.5), (0.1, 0.05)] {
            let step = 1e-4;
            let kink = 0.5 * (pure - epsilon);
            let gap =
                |x: f64| (0.5 * (-x.abs()).exp() - epsilon.exp() * 0.5 * (-(x - pure).abs()).exp()).max(0.0);
            let sum: f64 = (0..400_000).map(|i| gap(kink - step * (f64::from(i) + 0.5))).sum();
            assert_relative_eq!(*laplace(pure).delta(epsilon)?.value(), sum * step, max_relative = 1e-6);
        }
        Ok(())
    }

    /// Values close to `ε₀` by mpmath at 60 digits, for the floats as given.
    #[test]
    fn delta_next_to_the_pure_epsilon_matches_60_digits() -> Result<(), Error> {
        for (sensitivity, scale, epsilon, expected) in [
            (1.0, 3.0, 0.33333333333299997, 1.666_814_834_303_763e-13),
            (2.5, 0.7, 3.5714285714285574, 7.123_553_447_798_938e-15),
            (0.1, 0.3, 0.33333333300000006, 1.666_666_496_033_111_5e-10),
        ] {
            let delta = Laplace::new(Sensitivity::new(sensitivity)?, scale)?.delta(epsilon)?.into_value();
            assert_relative_eq!(delta, expected, max_relative = 1e-13);
            assert!(delta >= expected * (1.0 - 1e-15), "rounded up: {delta} {expected}");
        }
        Ok(())
    }

    #[test]
    fn epsilon_is_the_verified_end() -> Result<(), Error> {
        for delta in [1e-12, 1e-3, 0.2, 0.9] {
            let epsilon = *laplace(1.0).epsilon(Delta::new(delta)?).value();
            assert!(*laplace(1.0).delta(epsilon)?.value() <= delta);
            if epsilon > 0.0 {
                assert!(*laplace(1.0).delta(epsilon.next_down())?.value() > delta);
            }
        }
        Ok(())
    }

    /// `Δ/b + 2 ln(1 − δ)` by mpmath at 60 digits, for the floats as given.
    #[test]
    fn a_delta_next_to_one_keeps_its_digits() -> Result<(), Error> {
        for (scale, below, expected) in [
            (0.002, 1e-13, 440.133_409_375_862_46),
            (0.002, f64::EPSILON / 2.0, 426.526_398_860_645_8),
            (0.01, 1e-9, 58.553_468_269_543_31),
            (0.5, 0.4, 0.167_418_536_251_689_98),
            (1.0, 0.61, 0.011_407_356_370_439_718),
        ] {
            let mechanism = Laplace::new(Sensitivity::new(1.0)?, scale)?;
            let epsilon = mechanism.epsilon(Delta::new(1.0 - below)?);
            assert_eq!(epsilon.grade(), Grade::Exact, "{scale} {below}: {epsilon:?}");
            let error = epsilon.value() / expected - 1.0;
            assert!((-2e-16..1e-12).contains(&error), "{scale} {below}: {epsilon:?}, {error:e}");
        }
        Ok(())
    }

    /// `ε = ln 4 + 2 ln(1 − δ)` for `δ` just below 1/2: of the tiny difference only few digits are known.
    #[test]
    fn an_epsilon_next_to_zero_is_a_bound() -> Result<(), Error> {
        let mechanism = laplace(1.386_294_361_119_890_6);
        let epsilon = mechanism.epsilon(Delta::new(0.5 - 1e-14)?);
        // mpmath at 60 digits.
        let truth = 3.992_164_795_022_831e-14;
        assert!(epsilon.grade() == Grade::UpperBound && *epsilon.value() >= truth, "{epsilon:?}");
        assert!(*epsilon.value() < truth + 1e-14, "{epsilon:?}");
        Ok(())
    }

    #[test]
    fn limits_are_right() -> Result<(), Error> {
        assert_eq!(*laplace(1e4).rdp(Order::new(1e300)?).value(), 1e4);
        assert_relative_eq!(*laplace(1e4).rdp(Order::new(2.0)?).value(), 1e4, max_relative = 1e-3);
        assert_eq!(*laplace(1e4).delta(0.0)?.value(), 1.0);
        assert_eq!(*laplace(1e4).delta(1e4)?.value(), 0.0);
        assert!(*laplace(1e-200).rdp(Order::new(2.0)?).value() >= 0.0);
        Ok(())
    }

    #[test]
    fn bad_input_is_refused() {
        let unit = Sensitivity::new(1.0).unwrap();
        for bad in [f64::NAN, -1.0, 0.0, f64::INFINITY, 1e-320] {
            assert!(matches!(Laplace::new(unit, bad), Err(Error::InvalidParameter { .. })), "{bad}");
        }
        assert!(matches!(laplace(1.0).delta(f64::NAN), Err(Error::InvalidEpsilon(..))));
        assert!(matches!(laplace(1.0).delta(-0.1), Err(Error::InvalidEpsilon(..))));
    }

    /// On an interval from −60 to 1/10 the series, which is for small numbers, must not be used.
    #[test]
    fn remainders_of_wide_intervals_are_no_series() {
        let wide = exp_remainder(Interval::between(-60.0, 0.1));
        // There e^x − 1 − x is at most 59, and interval arithmetic gives at most 0.105 + 60.
        assert!(wide.low() <= 0.0 && 59.0 <= wide.high() && wide.high() < 60.2, "{wide:?}");
    }

    /// The error names the wrong parameter. The `δ` at `ε₀` is 0 and not −0, whose sign would be printed.
    #[test]
    fn what_is_wrong_is_named_and_nothing_has_no_sign() -> Result<(), Error> {
        for scale in [-1.0, 0.0, f64::INFINITY, f64::NAN] {
            let found = Laplace::new(Sensitivity::new(1.0)?, scale);
            let named =
                matches!(found, Err(Error::InvalidParameter { name: "the scale of Laplace noise", .. }));
            assert!(named, "{scale}: {found:?}");
        }
        for pure in [0.5, 1.0, 4.0] {
            assert_eq!(laplace(pure).delta(pure)?.into_value().to_bits(), 0.0_f64.to_bits(), "{pure}");
        }
        Ok(())
    }
}
