//! The discrete Gaussian mechanism: noise on whole numbers, drawn exactly, for numbers that are released.
//!
//! A query whose values are whole numbers moves by at most `Δ`, a whole number, between neighboring datasets.
//! The noise is `k` with probability proportional to `e^{−k²/(2σ²)}`. Real numbers are released in whole
//! multiples of a step: round them to the step first, and take `Δ` and `σ` in steps.
//!
//! Gaussian noise in floating point has gaps in its last bits that depend on the value it hides. Here no
//! floating-point number is drawn or compared: [`DiscreteGaussian::noise`] uses only whole numbers, and has
//! exactly the stated law if the bits of its generator are independent and fair. Its running time depends on
//! the noise and may reveal something about it to an observer who measures times.
//!
//! The sum of several such noises is not a discrete Gaussian. The accounts of protocols in which noises are
//! added up are about real numbers and do not cover it.
//!
//! # References
//! - Canonne, Kamath and Steinke, *The discrete Gaussian for differential privacy*, 2020, arXiv:2004.00010:
//!   Theorem 4 (Rényi loss), Algorithms 1 to 3 (sampler).

use crate::error::ensure;
use crate::exact_draws::{exponential, laplace};
use crate::{Error, Guarantee, Mechanism, Moves, Order, Stated, UpperBound};
use ndp_numeric::rounding::Interval;
use rand::Rng;
use serde::Serialize;

/// Discrete Gaussian noise of whole parameter `σ` on a query with whole values.
///
/// [`LossLaw::discrete_gaussian`](crate::LossLaw::discrete_gaussian) has the exact profile for `Δ = 1`; the
/// numbers here follow from the Rényi loss.
///
/// # Examples
/// ```
/// use ndp_dp::{Delta, DiscreteGaussian, Mechanism};
/// use rand::SeedableRng;
/// let count = DiscreteGaussian::new(1, 10)?;
/// let noisy = 1234 + count.noise(&mut rand_chacha::ChaCha20Rng::seed_from_u64(7));
/// assert!((noisy - 1234).abs() < 100);
/// assert!(*count.epsilon(Delta::new(1e-6)?).value() < 0.52);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DiscreteGaussian {
    sensitivity: u32,
    sigma: u32,
}

crate::lossless::checked_fields! {
    DiscreteGaussian { sensitivity: u32, sigma: u32 } => Self::new(sensitivity, sigma)
}

impl DiscreteGaussian {
    /// Noise of parameter `sigma` on a query of sensitivity `sensitivity`, both in steps of the released
    /// numbers.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless both are at least 1.
    pub fn new(sensitivity: u32, sigma: u32) -> Result<Self, Error> {
        ensure(sensitivity >= 1, "the sensitivity of a query with whole values", "be at least 1", 0.0)?;
        ensure(sigma >= 1, "the parameter of discrete Gaussian noise", "be at least 1", 0.0)?;
        Ok(Self { sensitivity, sigma })
    }

    /// The sensitivity `Δ`.
    #[must_use]
    pub const fn sensitivity(&self) -> u32 {
        self.sensitivity
    }

    /// The parameter `σ`; the standard deviation is at most that.
    #[must_use]
    pub const fn sigma(&self) -> u32 {
        self.sigma
    }

    /// One noise value. The generator should be cryptographically secure, so that nobody can predict its
    /// output.
    pub fn noise(&self, rng: &mut (impl Rng + ?Sized)) -> i64 {
        let sigma = u128::from(self.sigma);
        loop {
            // Rejection sampling: discrete Laplace noise y of scale σ is kept with probability
            // e^{−(|y| − σ)²/(2σ²)}.
            let (size, negative) = laplace(sigma, 0, rng);
            let distance = size.abs_diff(sigma);
            if exponential(distance * distance, 2 * sigma * sigma, rng) {
                // A value beyond 2^63 would take so many draws that it never occurs.
                let size = i64::try_from(size).unwrap_or(i64::MAX);
                return if negative { -size } else { size };
            }
        }
    }
}

/// The Rényi loss is at most `α Δ²/(2σ²)`, as for real numbers. For `Δ = 1` the exact profile is known, which
/// gives a smaller `δ` at `ε`, see [`LossLaw::discrete_gaussian`](crate::LossLaw::discrete_gaussian).
impl Mechanism for DiscreteGaussian {
    fn stated(&self) -> Option<Stated> {
        Some(Stated::of(None, Moves::Whole { by: self.sensitivity }, "ndp_dp::DiscreteGaussian"))
    }

    fn rdp(&self, order: Order) -> Guarantee<f64> {
        let ratio = Interval::new(f64::from(self.sensitivity)) / Interval::new(f64::from(self.sigma));
        let loss = Interval::new(order.get()) * (ratio * ratio) / Interval::new(2.0);
        UpperBound::new(loss.high()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::refused;
    use crate::exact_draws::tests::close;
    use crate::{Delta, LossLaw, Neighbors, Sigma};
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn the_noise_has_its_law() -> Result<(), Error> {
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        for sigma in [1, 2, 3, 10, 40] {
            let mechanism = DiscreteGaussian::new(1, sigma)?;
            let draws: Vec<i64> = (0..200_000).map(|_| mechanism.noise(&mut rng)).collect();
            let twice = 2.0 * f64::from(sigma).powi(2);
            close(&draws, |k| (-((k * k) as f64) / twice).exp(), 20 * i64::from(sigma));
        }
        Ok(())
    }

    /// The Rényi loss of the law itself, summed, is never above the bound, and equals it where `α` shifts the
    /// sum by a whole number.
    #[test]
    fn the_bound_is_above_the_law() -> Result<(), Error> {
        for (sensitivity, sigma) in [(1, 1), (2, 3), (5, 2)] {
            let mechanism = DiscreteGaussian::new(sensitivity, sigma)?;
            let (shift, twice) = (f64::from(sensitivity), 2.0 * f64::from(sigma).powi(2));
            let total: f64 = (-200..=200).map(|k| (-f64::from(k * k) / twice).exp()).sum();
            for alpha in [1.5, 2.0, 3.0, 7.25] {
                let power = |k: f64| -(alpha * (k - shift).powi(2) + (1.0 - alpha) * k * k) / twice;
                let sum: f64 = (-200..=200).map(|k| power(f64::from(k)).exp()).sum();
                let truth = (sum / total).ln() / (alpha - 1.0);
                let bound = *mechanism.rdp(Order::new(alpha)?).value();
                assert!(bound >= truth - 1e-9 && bound <= alpha * shift * shift / twice + 1e-12);
                if (alpha * shift).fract() == 0.0 {
                    assert!((bound - truth).abs() < 1e-9, "{alpha}: {bound}, {truth}");
                }
            }
        }
        Ok(())
    }

    #[test]
    fn the_law_of_losses_needs_no_more() -> Result<(), Error> {
        let (mechanism, delta) = (DiscreteGaussian::new(1, 5)?, Delta::new(1e-6)?);
        let exact = LossLaw::discrete_gaussian(Sigma::new(5.0)?, Neighbors::ReplaceOne)?.epsilon(delta);
        let (bound, lower) = (mechanism.epsilon(delta), exact.lower());
        assert!(*bound.value() >= lower && *bound.value() < 1.2 * lower, "{bound:?}, {lower}");
        assert_eq!(bound.grade(), crate::Grade::UpperBound);
        Ok(())
    }

    #[test]
    fn zero_is_refused_by_name() {
        assert_eq!(
            refused(DiscreteGaussian::new(0, 1)),
            Some("the sensitivity of a query with whole values")
        );
        assert_eq!(refused(DiscreteGaussian::new(1, 0)), Some("the parameter of discrete Gaussian noise"));
    }
}
