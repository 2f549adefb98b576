//! Discrete Laplace noise, with which tokens stay whole numbers.

use super::NoiseLaw;
use ndp_account::parts::ensure;
use ndp_account::{Error, Law};
use ndp_dp::{DiscreteLaplace, LossLaw, Mechanism, Neighbors, Sensitivity, Sigma};
use rand::Rng;

/// Discrete Laplace noise on contributions that are whole numbers.
///
/// With whole contributions, the token has the same possible values whatever was contributed. A fraction
/// would show, and is refused.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DiscreteLaplaceLaw;

impl NoiseLaw for DiscreteLaplaceLaw {
    fn name(&self) -> &'static str {
        "discrete-laplace"
    }

    fn about(&self) -> &'static str {
        "discrete Laplace noise on whole numbers"
    }

    fn family(&self) -> Law {
        Law::DiscreteLaplace
    }

    fn sample(&self, sigma: Sigma, rng: &mut dyn Rng) -> Result<f64, Error> {
        // Draws do not depend on the sensitivity, and are whole numbers that a float represents exactly.
        Ok(DiscreteLaplace::with_std(1, sigma)?.noise(rng) as f64)
    }

    fn release(
        &self,
        sigma: Sigma,
        sensitivity: Sensitivity,
    ) -> Result<Box<dyn Mechanism + Send + Sync>, Error> {
        Ok(Box::new(of_std(sigma, sensitivity)?))
    }

    fn loss_law(&self, sigma: Sigma, sensitivity: Sensitivity) -> Result<Option<LossLaw>, Error> {
        let release = of_std(sigma, sensitivity)?;
        // The law has one outcome for each whole number up to the sensitivity.
        let small = sensitivity.get() <= LARGEST_LAW;
        small.then(|| Ok(LossLaw::discrete_laplace(release, Neighbors::ReplaceOne)?)).transpose()
    }

    fn refuses(&self, x: f64) -> Option<&'static str> {
        // Sums of larger numbers would be rounded.
        let held = x.fract() == 0.0 && x.abs() <= f64::from(u32::MAX);
        (!held).then_some("be a whole number of at most 32 bits")
    }
}

fn of_std(sigma: Sigma, sensitivity: Sensitivity) -> Result<DiscreteLaplace, Error> {
    // Contributions are whole, so that in an interval of this length they change by at most its integer part.
    let whole = sensitivity.get().floor();
    ensure(
        (1.0..=f64::from(u32::MAX)).contains(&whole),
        "the sensitivity of contributions that are whole numbers",
        "lie between 1 and 2^32 - 1",
        sensitivity.get(),
    )?;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked just above")]
    let whole = whole as u32;
    Ok(DiscreteLaplace::with_std(whole, sigma)?)
}

/// The largest sensitivity for which the law is computed.
const LARGEST_LAW: f64 = 1000.0;
