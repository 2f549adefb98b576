//! The noise a node adds to a real token, and the interval its contributions come from.

use crate::Error;
use ndp_dp::{Sensitivity, Sigma};
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;

/// Additive noise, independent of the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TokenNoise {
    /// Normal noise of standard deviation `σ`.
    Gaussian(Sigma),
    /// Laplace noise of standard deviation `σ`, that is of scale `σ/√2`.
    Laplace(Sigma),
}

impl TokenNoise {
    /// The standard deviation `σ`, in the unit of the contributions.
    #[must_use]
    pub fn std(self) -> f64 {
        match self {
            Self::Gaussian(sigma) | Self::Laplace(sigma) => sigma.get(),
        }
    }

    /// One draw.
    pub fn sample(self, rng: &mut impl Rng) -> f64 {
        match self {
            Self::Gaussian(sigma) => sigma.get() * rng.sample::<f64, _>(StandardNormal),
            Self::Laplace(sigma) => {
                // Inverse distribution function on a uniform of (−1/2, 1/2]; ln_1p keeps the tails finite.
                let uniform = 0.5 - rng.random::<f64>();
                -sigma.get()
                    * std::f64::consts::FRAC_1_SQRT_2
                    * uniform.signum()
                    * (-2.0 * uniform.abs()).max(-1.0 + f64::EPSILON).ln_1p()
            }
        }
    }
}

/// The interval `[low, high]` of the contributions; their sensitivity is its length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    low: f64,
    high: f64,
}

impl Bounds {
    /// Takes two finite ends, `low < high`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] otherwise, NaN included.
    pub fn new(low: f64, high: f64) -> Result<Self, Error> {
        if low < high && (high - low).is_finite() {
            Ok(Self { low, high })
        } else {
            Err(Error::InvalidParameter {
                name: "the length of the interval of contributions",
                condition: "be positive and finite",
                value: high - low,
            })
        }
    }

    /// The lower end.
    #[must_use]
    pub const fn low(self) -> f64 {
        self.low
    }

    /// The upper end.
    #[must_use]
    pub const fn high(self) -> f64 {
        self.high
    }

    /// `Δ = high − low`: the most one contribution moves when its node's data change (replace-one relation).
    ///
    /// # Errors
    /// None in practice: the length was checked at construction.
    pub fn sensitivity(self) -> Result<Sensitivity, Error> {
        Ok(Sensitivity::new(self.high - self.low)?)
    }

    /// Gives back `x` if it lies inside.
    ///
    /// # Errors
    /// [`Error::ContributionOutOfBounds`] otherwise, NaN included.
    pub fn check(self, node: usize, x: f64) -> Result<f64, Error> {
        if self.low <= x && x <= self.high {
            Ok(x)
        } else {
            Err(Error::ContributionOutOfBounds { node, value: x, low: self.low, high: self.high })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// Mean, variance and fourth moment (3σ⁴ and 6σ⁴) at about five standard errors.
    #[test]
    fn noises_have_their_moments() -> Result<(), Error> {
        let sigma = Sigma::new(1.5)?;
        let rng = &mut ChaCha8Rng::seed_from_u64(11);
        for (noise, kurtosis) in [(TokenNoise::Gaussian(sigma), 3.0), (TokenNoise::Laplace(sigma), 6.0)] {
            let draws: Vec<f64> = (0..200_000).map(|_| noise.sample(rng) / noise.std()).collect();
            let moment = |p: i32| draws.iter().map(|x| x.powi(p)).sum::<f64>() / draws.len() as f64;
            assert!(moment(1).abs() < 5.0 / (draws.len() as f64).sqrt());
            assert!((moment(2) - 1.0).abs() < 0.03);
            assert!((moment(4) - kurtosis).abs() < 0.6, "{}", moment(4));
        }
        Ok(())
    }

    #[test]
    fn bounds_reject_what_is_no_interval() -> Result<(), Error> {
        for (low, high) in [(1.0, 1.0), (1.0, 0.0), (f64::NAN, 1.0), (0.0, f64::INFINITY), (-1e308, 1e308)] {
            assert!(matches!(Bounds::new(low, high), Err(Error::InvalidParameter { .. })));
        }
        let bounds = Bounds::new(-1.0, 2.0)?;
        assert_eq!(bounds.sensitivity()?.get(), 3.0);
        assert!(bounds.check(0, 2.0).is_ok() && bounds.check(0, f64::NAN).is_err());
        let refused = bounds.check(4, 2.5);
        assert_eq!(
            refused.map_err(|e| e.to_string()),
            Err("node 4 contributes 2.5, outside [-1, 2]".to_owned())
        );
        Ok(())
    }
}
