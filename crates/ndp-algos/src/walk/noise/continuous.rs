//! Noise on the real line: normal and Laplace.

use super::NoiseLaw;
use ndp_account::{Error, Law};
use ndp_dp::{Gaussian, Laplace, LossLaw, Mechanism, Neighbors, Sensitivity, Sigma};
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;

/// Normal noise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GaussianLaw;

impl NoiseLaw for GaussianLaw {
    fn name(&self) -> &'static str {
        "gaussian"
    }

    fn about(&self) -> &'static str {
        "normal noise"
    }

    fn family(&self) -> Law {
        Law::Gaussian
    }

    fn sample(&self, sigma: Sigma, rng: &mut dyn Rng) -> Result<f64, Error> {
        Ok(sigma.get() * rng.sample::<f64, _>(StandardNormal))
    }

    fn release(
        &self,
        sigma: Sigma,
        sensitivity: Sensitivity,
    ) -> Result<Box<dyn Mechanism + Send + Sync>, Error> {
        Ok(Box::new(Gaussian { sensitivity, sigma }))
    }
}

/// Laplace noise, of scale `σ/√2`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaplaceLaw;

impl NoiseLaw for LaplaceLaw {
    fn name(&self) -> &'static str {
        "laplace"
    }

    fn about(&self) -> &'static str {
        "Laplace noise"
    }

    fn family(&self) -> Law {
        Law::Laplace
    }

    fn sample(&self, sigma: Sigma, rng: &mut dyn Rng) -> Result<f64, Error> {
        // Inverse distribution function on a uniform of (−1/2, 1/2]; ln_1p keeps the tails finite.
        let uniform = 0.5 - rng.random::<f64>();
        Ok(-sigma.get()
            * std::f64::consts::FRAC_1_SQRT_2
            * uniform.signum()
            * (-2.0 * uniform.abs()).max(-1.0 + f64::EPSILON).ln_1p())
    }

    fn release(
        &self,
        sigma: Sigma,
        sensitivity: Sensitivity,
    ) -> Result<Box<dyn Mechanism + Send + Sync>, Error> {
        Ok(Box::new(of_std(sigma, sensitivity)?))
    }

    fn loss_law(&self, sigma: Sigma, sensitivity: Sensitivity) -> Result<Option<LossLaw>, Error> {
        Ok(Some(LossLaw::laplace(of_std(sigma, sensitivity)?, Neighbors::ReplaceOne)))
    }
}

fn of_std(sigma: Sigma, sensitivity: Sensitivity) -> Result<Laplace, Error> {
    Ok(Laplace::new(sensitivity, sigma.get() * std::f64::consts::FRAC_1_SQRT_2)?)
}
