//! How much noise is added in each round.

use crate::Error;
use ndp_dp::Sigma;
use ndp_linalg::memory::require_dense;
use serde::{Deserialize, Serialize};

/// The variances `s_t = τ_t²` per coordinate of the noise that every node adds in rounds
/// `t = 0..T`: `s_0 > 0`, the others nonnegative.
///
/// # Examples
/// ```
/// use ndp_algos::gossip::NoiseSchedule;
/// let schedule = NoiseSchedule::new(vec![1.0, 0.5, 0.25])?;
/// assert_eq!(schedule.variances().len(), 3);
/// assert!(NoiseSchedule::new(vec![0.0, 1.0]).is_err()); // the first message would show everything
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<f64>")]
pub struct NoiseSchedule(Vec<f64>);

impl TryFrom<Vec<f64>> for NoiseSchedule {
    type Error = Error;

    fn try_from(variances: Vec<f64>) -> Result<Self, Error> {
        Self::new(variances)
    }
}

impl NoiseSchedule {
    /// Takes the variances of all rounds.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for no rounds, a first variance that is not positive, or one
    /// that is negative, infinite or NaN.
    pub fn new(variances: Vec<f64>) -> Result<Self, Error> {
        let fail = |name, condition, value| Err(Error::InvalidParameter { name, condition, value });
        match variances.first() {
            None => return fail("the number of rounds", "be at least 1", 0.0),
            Some(&first) if !(0.0 < first && first.is_finite()) => {
                return fail("the first noise variance", "be positive and finite", first);
            }
            Some(_) => {}
        }
        // Written so that NaN fails.
        match variances.iter().find(|&&s| !(0.0 <= s && s.is_finite())) {
            Some(&s) => fail("every noise variance", "be nonnegative and finite", s),
            None => Ok(Self(variances)),
        }
    }

    /// `s_0 = σ²` and `s_t = ρσ²/(T-1)` after it: the variance of the average grows by `1 + ρ`. With `ρ = 0` all noise is in round 0:
    /// Muffliato itself.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for no rounds, or a `ρ` that is negative, infinite or NaN; [`ndp_graph::Error::TooLarge`].
    pub fn flat(sigma: Sigma, rounds: usize, rho: f64) -> Result<Self, Error> {
        // A view has a noise of every node in every round.
        require_dense("the noises of all rounds", rounds, 64)?;
        let variance = sigma.get() * sigma.get();
        let later = if rounds > 1 { rho * variance / (rounds - 1) as f64 } else { 0.0 };
        Self::new((0..rounds).map(|t| if t == 0 { variance } else { later }).collect())
    }

    /// The variances `s_0, …, s_{T-1}` of the `T ≥ 1` rounds; the first sets the local loss `c₀ = α Δ² / (2 s_0)`.
    #[must_use]
    pub fn variances(&self) -> &[f64] {
        &self.0
    }

    /// The variance `s_0` of the first noise, which sets the local loss `c₀ = α Δ² / (2 s_0)`.
    #[must_use]
    pub(super) fn first(&self) -> f64 {
        self.0[0]
    }

    /// All noises scaled alike, so that the first has standard deviation `sigma`: losses as fractions of the
    /// local loss stay what they are.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] when a variance overflows.
    pub(super) fn scaled_to(&self, sigma: Sigma) -> Result<Self, Error> {
        let factor = sigma.get() / self.0[0].sqrt();
        Self::new(self.0.iter().map(|s| s * factor * factor).collect())
    }
}
