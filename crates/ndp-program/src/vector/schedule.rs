//! The amount of noise in each round.

use ndp_account::Error;
use ndp_dp::Sigma;

/// The variances `s_t = τ_t²` per coordinate of the noise that every node adds in rounds
/// `t = 0..T`: `s_0 > 0`, the others nonnegative.
#[derive(Clone, Debug, PartialEq)]
pub struct NoiseSchedule(Vec<f64>);

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

    /// The variances `s_0, …, s_{T-1}` of the `T ≥ 1` rounds. The first one determines the local loss `c₀ = α
    /// Δ² / (2 s_0)`.
    #[must_use]
    pub fn variances(&self) -> &[f64] {
        &self.0
    }

    /// The variance `s_0` of the first noise, which determines the local loss `c₀ = α Δ² / (2 s_0)`.
    #[must_use]
    pub fn first(&self) -> f64 {
        self.0[0]
    }

    /// All noises multiplied by the same factor, so that the first one has standard deviation `sigma`. Losses
    /// as fractions of the local loss stay the same.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if a variance overflows.
    pub fn scaled_to(&self, sigma: Sigma) -> Result<Self, Error> {
        let factor = sigma.get() / self.0[0].sqrt();
        Self::new(self.0.iter().map(|s| s * factor * factor).collect())
    }
}
