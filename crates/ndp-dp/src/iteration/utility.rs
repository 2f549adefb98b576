//! The expected error of private descent.

use super::NoisyStep;
use crate::error::{ensure, ensure_positive};
use crate::gaussian::hypot_up;
use crate::{Error, UpperBound};
use ndp_numeric::rounding::Interval;
use serde::{Deserialize, Serialize};

/// How far the last iterate of private descent is from optimal, on average.
///
/// # Examples
/// ```
/// use ndp_dp::iteration::{NoisyStep, expected_error};
/// let step = NoisyStep::new(1.0, ndp_dp::Sigma::new(1.0)?)?;
/// let (short, long) = (expected_error(&step, 10, 1.0, 100)?, expected_error(&step, 10, 1.0, 10_000)?);
/// assert!(long.value().excess < short.value().excess);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedError {
    /// `G = √(L² + dσ²)`, a bound on the root mean square of the noisy gradients.
    #[serde(with = "crate::lossless")]
    pub gradient: f64,
    /// `E F(x_T) − min F ≤ 2DG (2 + ln T)/√T`.
    #[serde(with = "crate::lossless")]
    pub excess: f64,
}

/// The expected error after `steps` steps in `dimension` dimensions on a set of diameter `D`, with step sizes
/// `η_t = D/(G √t)`: a bound on utility, not on privacy.
///
/// With the classic noise `σ = 2L √(2 ln(1.25/δ))/ε` this is Proposition 1 of Cyffers and Bellet 2022. Its decreasing
/// steps are not covered by [`super::CappedWalk`] (nor by the paper's own Lemma 1): account for them by
/// [`super::WalkRun::decreasing_log_mgf`], and check `η₁ = D/G ≤ 2/β`.
///
/// # Errors
/// [`Error::InvalidParameter`] unless `D` is positive and finite, `d ≥ 1` and `T ≥ 1`.
///
/// # References
/// Shamir and Zhang, *Stochastic gradient descent for non-smooth optimization*, 2013, arXiv:1212.1824: Theorem 2.
#[doc(alias = "prop1")]
pub fn expected_error(
    step: &NoisyStep,
    dimension: u64,
    diameter: f64,
    steps: u64,
) -> Result<UpperBound<ExpectedError>, Error> {
    ensure_positive("the diameter", diameter)?;
    ensure(dimension >= 1, "the dimension", "be at least 1", dimension as f64)?;
    ensure(steps >= 1, "the number of steps", "be at least 1", steps as f64)?;
    let noise = (Interval::count(dimension).sqrt() * Interval::new(step.sigma().get())).high();
    let gradient = hypot_up(step.lipschitz(), noise);
    let (two, count) = (Interval::new(2.0), Interval::count(steps));
    let scale = two * Interval::new(diameter) * Interval::new(gradient);
    let excess = (scale * (two + count.ln()) / count.sqrt()).high();
    Ok(UpperBound::new(ExpectedError { gradient, excess }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Delta, Sensitivity, Sigma, gaussian};
    use approx::assert_relative_eq;

    #[test]
    fn proposition_1_matches_50_digit_values() -> Result<(), Error> {
        for (epsilon, delta, gradient, excess) in [
            (0.5, 1e-6, 47.404_479_297_684_07, 10.628_406_961_666_738),
            (0.475, 9.5e-7, 49.989_407_017_350_516, 11.207_965_353_155_08),
        ] {
            let sensitivity = Sensitivity::new(2.0)?;
            let sigma = gaussian::sigma_classic(epsilon, Delta::new(delta)?, sensitivity)?.into_value();
            let error = expected_error(&NoisyStep::new(1.0, sigma)?, 5, 1.0, 10_000)?.into_value();
            assert_relative_eq!(error.gradient, gradient, max_relative = 1e-13);
            assert_relative_eq!(error.excess, excess, max_relative = 1e-13);
        }
        Ok(())
    }

    #[test]
    fn bad_input_is_refused() -> Result<(), Error> {
        let step = NoisyStep::new(1.0, Sigma::new(1.0)?)?;
        for bad in [f64::NAN, 0.0, -1.0, f64::INFINITY] {
            assert!(expected_error(&step, 5, bad, 10).is_err());
        }
        assert!(expected_error(&step, 0, 1.0, 10).is_err());
        assert!(expected_error(&step, 5, 1.0, 0).is_err());
        assert!(expected_error(&step, u64::MAX, 1.0, u64::MAX)?.value().excess.is_finite());
        Ok(())
    }
}
