//! The amount of noise in each round.

use ndp_account::Error;
use ndp_account::parts::ensure;
use ndp_linalg::memory::require_dense;
use ndp_program::parts::NoiseSchedule;

/// The variances of noises of which a part is spread evenly: `s_0 = 1`, and then `s_t = ρ/(T-1)`, so that the
/// variance of the average is `1 + ρ` times as large. With `ρ = 0` all noise is in round 0, which is
/// Muffliato itself.
///
/// # Errors
/// [`Error::InvalidParameter`] for no rounds, or a `ρ` that is negative, infinite or NaN;
/// [`ndp_graph::Error::TooLarge`].
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
    // A view contains one noise of every node in every round.
    require_dense("the noises of all rounds", rounds, 64)?;
    let later = if rounds > 1 { rho / (rounds - 1) as f64 } else { 0.0 };
    let variances = (0..rounds).map(|t| if t == 0 { 1.0 } else { later }).collect();
    Ok(NoiseSchedule::new(variances)?.variances().to_vec())
}
