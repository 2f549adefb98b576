//! What the paper prints about the ring, kept next to the corrected protocols. These are not guarantees.
//!
//! # References
//! Cyffers and Bellet, arXiv:2012.05326: Theorem 1, Remark 1, Algorithms 2 and 5.

use ndp_account::Error;
use ndp_account::parts::ensure;
use ndp_algos::parts::check_ring;
use ndp_dp::Printed;

/// Theorem 1 and Remark 1: how often noise is added, and how far the result is from the sum, when each noise
/// has standard deviation `σ`.
///
/// # Examples
/// ```
/// use ndp_printed::ring::theorem1;
/// // Three nodes and three rounds add noise at steps 1, 3, 5, 7 and 9.
/// assert_eq!(theorem1(3, 3, 1.0)?.value().noise_count, 4);
/// # Ok::<(), ndp_account::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Theorem1 {
    /// `⌊K n/(n−1)⌋`, the number of noises as the proof states it. The true number is the ceiling, so this is
    /// one too small unless `n − 1` divides `K`.
    pub noise_count: usize,
    /// `σ √⌊K n/(n−1)⌋`.
    pub output_std: f64,
    /// `σ/√n`, the share of Remark 1: too small, because an observer sees only `n − 1` foreign shares.
    pub share: f64,
    /// `σ √(⌊K n/(n−1)⌋ + 1)` of Remark 1, which fits shares of `σ/√(n−1)`.
    pub distributed_output_std: f64,
}

/// [`Theorem1`] for `n` nodes, `K` rounds and noise `sigma`.
///
/// # Errors
/// [`Error::InvalidParameter`] unless `n ≥ 2` and `rounds ≥ 1`.
pub fn theorem1(n: usize, rounds: usize, sigma: f64) -> Result<Printed<Theorem1>, Error> {
    check_ring(n, rounds)?;
    let noise_count = n * rounds / (n - 1);
    Ok(Printed::new(Theorem1 {
        noise_count,
        output_std: sigma * (noise_count as f64).sqrt(),
        share: sigma / (n as f64).sqrt(),
        distributed_output_std: sigma * ((noise_count + 1) as f64).sqrt(),
    }))
}

/// The de-biasing of Algorithms 2 and 5, `(τ − γ/L)/(1 − γ)`: it subtracts the share of one report instead of
/// that of all reports, and is therefore biased.
///
/// # Errors
/// [`Error::InvalidParameter`] unless `labels ≥ 2` and `0 < γ < 1`.
pub fn debiased(count: u64, labels: u32, gamma: f64) -> Result<Printed<f64>, Error> {
    ndp_dp::RandomizedResponse::new(labels, gamma)?;
    ensure(
        gamma != 1.0,
        "the probability gamma of a random answer",
        "be below 1 for the histogram to be estimated",
        gamma,
    )?;
    Ok(Printed::new((count as f64 - gamma / f64::from(labels)) / (1.0 - gamma)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use ndp_algos::walk::ring::{Placement, RingSum};
    use ndp_algos::walk::{Bounds, TokenNoise};
    use ndp_dp::Sigma;

    fn ring(n: usize, rounds: usize, placement: Placement) -> Result<RingSum, Error> {
        RingSum::new(n, rounds, Bounds::new(0.0, 1.0)?, TokenNoise::gaussian(Sigma::new(1.0)?), placement)
    }

    /// Defect: the floor of Theorem 1. Three nodes and three rounds add noise at steps 1, 3, 5, 7, 9.
    #[test]
    fn floor_of_theorem_1_is_too_small() -> Result<(), Error> {
        let true_ring = ring(3, 3, Placement::Counter)?;
        assert_eq!((true_ring.noise_count(), theorem1(3, 3, 1.0)?.value().noise_count), (5, 4));
        assert!(theorem1(3, 3, 1.0)?.value().output_std < true_ring.output_std());
        Ok(())
    }

    /// Defect: the shares of Remark 1 do not add up to its own total, but the corrected shares do.
    #[test]
    fn share_of_remark_1_contradicts_its_total() -> Result<(), Error> {
        let (n, rounds) = (5, 4);
        let remark = theorem1(n, rounds, 1.0)?.into_value();
        let share = remark.share;
        let of_shares = (1.0 + (n * rounds - 1) as f64 * share * share).sqrt();
        let corrected = ring(n, rounds, Placement::Distributed)?.output_std();
        let printed = remark.distributed_output_std;
        assert!(of_shares < corrected);
        assert_relative_eq!(corrected, (1.0f64 + 19.0 / 4.0).sqrt(), max_relative = 1e-14);
        assert!((printed - corrected).abs() < (printed - of_shares).abs());
        Ok(())
    }

    #[test]
    fn preconditions_are_checked() -> Result<(), Error> {
        let refused = |found: Result<(), Error>| match found {
            Err(Error::InvalidParameter { name, .. }) => Some(name),
            Err(Error::Privacy(ndp_dp::Error::InvalidParameter { name, .. })) => Some(name),
            _ => None,
        };
        let sum = |n, rounds| refused(theorem1(n, rounds, 1.0).map(|_| ()));
        assert_eq!(sum(1, 3), Some("the number of nodes of a ring"));
        assert_eq!(sum(3, 0), Some("the number of rounds"));
        let histogram = |labels, gamma| refused(debiased(3, labels, gamma).map(|_| ()));
        assert_eq!(histogram(1, 0.5), Some("the number of labels"));
        for gamma in [0.0, 1.0] {
            assert_eq!(histogram(2, gamma), Some("the probability gamma of a random answer"));
        }
        Ok(())
    }
}
