//! Noise on the real line: normal and Laplace.

use super::{NoiseLaw, Release};
use crate::Error;
use ndp_dp::{Exact, Gaussian, Guarantee, Laplace, Sensitivity, Sigma};
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;

/// Normal noise.
#[derive(Clone, Copy, Debug)]
pub struct GaussianLaw;

impl NoiseLaw for GaussianLaw {
    fn name(&self) -> &'static str {
        "gaussian"
    }

    fn sample(&self, sigma: Sigma, rng: &mut dyn Rng) -> Result<f64, Error> {
        Ok(sigma.get() * rng.sample::<f64, _>(StandardNormal))
    }

    fn release(&self, sigma: Sigma, sensitivity: Sensitivity) -> Result<Box<dyn Release>, Error> {
        Ok(Box::new(Gaussian { sensitivity, sigma }))
    }

    fn is_gaussian(&self) -> bool {
        true
    }
}

impl Release for Gaussian {
    fn delta(&self, epsilon: f64) -> Result<Guarantee<f64>, ndp_dp::Error> {
        Ok(self.gdp().into_value().delta(epsilon)?.into())
    }

    fn pure_epsilon(&self) -> Guarantee<f64> {
        Exact::new(f64::INFINITY).into()
    }
}

/// Laplace noise, of scale `σ/√2`.
#[derive(Clone, Copy, Debug)]
pub struct LaplaceLaw;

impl NoiseLaw for LaplaceLaw {
    fn name(&self) -> &'static str {
        "laplace"
    }

    fn sample(&self, sigma: Sigma, rng: &mut dyn Rng) -> Result<f64, Error> {
        // Inverse distribution function on a uniform of (−1/2, 1/2]; ln_1p keeps the tails finite.
        let uniform = 0.5 - rng.random::<f64>();
        Ok(-sigma.get()
            * std::f64::consts::FRAC_1_SQRT_2
            * uniform.signum()
            * (-2.0 * uniform.abs()).max(-1.0 + f64::EPSILON).ln_1p())
    }

    fn release(&self, sigma: Sigma, sensitivity: Sensitivity) -> Result<Box<dyn Release>, Error> {
        Ok(Box::new(Laplace::new(sensitivity, sigma.get() * std::f64::consts::FRAC_1_SQRT_2)?))
    }
}

impl Release for Laplace {
    fn delta(&self, epsilon: f64) -> Result<Guarantee<f64>, ndp_dp::Error> {
        Ok(self.delta(epsilon)?.into())
    }

    fn pure_epsilon(&self) -> Guarantee<f64> {
        self.pure_epsilon().into()
    }
}
