//! How much noise is added in each round.

use ndp_account::Error;
use ndp_account::parts::ensure;
use ndp_dp::Sigma;
use ndp_linalg::memory::require_dense;

/// The variances `s_t = τ_t²` per coordinate of the noise that every node adds in rounds
/// `t = 0..T`: `s_0 > 0`, the others nonnegative.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NoiseSchedule(Vec<f64>);

/// The variances of noise of which a part is spread evenly: `s_0 = 1` and `s_t = ρ/(T-1)` after it, so that the variance of the average
/// grows by `1 + ρ`. With `ρ = 0` all noise is in round 0: Muffliato itself.
///
/// # Errors
/// [`Error::InvalidParameter`] for no rounds, or a `ρ` that is negative, infinite or NaN; [`ndp_graph::Error::TooLarge`].
///
/// # Examples
/// ```
/// use ndp_algos::gossip::fresh::flat_variances;
/// assert_eq!(flat_variances(3, 0.5)?, [1.0, 0.25, 0.25]);
/// # Ok::<(), ndp_account::Error>(())
/// ```
pub fn flat_variances(rounds: usize, rho: f64) -> Result<Vec<f64>, Error> {
    ensure(
        (0.0..f64::INFINITY).contains(&rho),
        "the share of later noise",
        "be nonnegative and finite",
        rho,
    )?;
    // A view has a noise of every node in every round.
    require_dense("the noises of all rounds", rounds, 64)?;
    let later = if rounds > 1 { rho / (rounds - 1) as f64 } else { 0.0 };
    let variances = (0..rounds).map(|t| if t == 0 { 1.0 } else { later }).collect();
    Ok(NoiseSchedule::new(variances)?.0)
}

impl NoiseSchedule {
    /// Takes the variances of all rounds.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for no rounds, a first variance that is not positive, or one
    /// that is negative, infinite or NaN.
    pub(crate) fn new(variances: Vec<f64>) -> Result<Self, Error> {
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

    /// The variances `s_0, …, s_{T-1}` of the `T ≥ 1` rounds; the first sets the local loss `c₀ = α Δ² / (2 s_0)`.
    #[must_use]
    pub(super) fn variances(&self) -> &[f64] {
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
