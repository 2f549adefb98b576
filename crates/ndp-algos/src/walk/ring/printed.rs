//! What the paper prints about the ring, kept beside the corrected protocols. Not guarantees.
//!
//! # References
//! Cyffers and Bellet, arXiv:2012.05326: Theorems 1 and 2, Remark 1, Algorithms 2 and 5.

use super::sum::check_ring;
use crate::Error;
use crate::error::ensure;
use ndp_dp::{ApproxDp, Delta, Printed, composition};

/// The number of noises of Theorem 1 as its proof states it, `⌊K n/(n−1)⌋`. One too small unless `n − 1` divides
/// `K`: see [`RingSum::noise_count`](super::RingSum::noise_count).
///
/// # Errors
/// [`Error::InvalidParameter`] unless `n ≥ 2` and `rounds ≥ 1`.
pub fn noise_count(n: usize, rounds: usize) -> Result<Printed<usize>, Error> {
    check_ring(n, rounds)?;
    Ok(Printed::new(n * rounds / (n - 1)))
}

/// The standard deviation of Theorem 1, `σ √⌊K n/(n−1)⌋`.
///
/// # Errors
/// As [`noise_count`].
pub fn output_std(n: usize, rounds: usize, sigma: f64) -> Result<Printed<f64>, Error> {
    Ok(noise_count(n, rounds)?.map(|count| sigma * (count as f64).sqrt()))
}

/// The share of Remark 1, `σ/√n`: too small, as an observer sees `n − 1` foreign shares.
///
/// # Errors
/// As [`noise_count`].
pub fn remark1_share(n: usize, sigma: f64) -> Result<Printed<f64>, Error> {
    check_ring(n, 1)?;
    Ok(Printed::new(sigma / (n as f64).sqrt()))
}

/// The standard deviation of Remark 1, `σ √(⌊K n/(n−1)⌋ + 1)`, which fits shares of `σ/√(n−1)`.
///
/// # Errors
/// As [`noise_count`].
pub fn remark1_output_std(n: usize, rounds: usize, sigma: f64) -> Result<Printed<f64>, Error> {
    Ok(noise_count(n, rounds)?.map(|count| sigma * ((count + 1) as f64).sqrt()))
}

/// The de-biasing of Algorithms 2 and 5, `(τ − γ/L)/(1 − γ)`: it subtracts the share of one report instead of
/// all, and is biased.
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

/// The guarantee of Theorem 2, advanced composition of `(ε, δ)` over the rounds.
///
/// The paper claims it at its own `γ`, which inverts the amplification, and for a token that is returned;
/// [`super::RingHistogram::theorem2`] has what holds.
///
/// # Errors
/// [`Error::InvalidParameter`] unless `n > 1000`, `ε < 1/2` and `δ < 1/100`, and as [`noise_count`].
pub fn theorem2(n: usize, rounds: usize, step: ApproxDp, slack: Delta) -> Result<Printed<ApproxDp>, Error> {
    check_ring(n, rounds)?;
    let refuse = |name, condition, value| Err(Error::InvalidParameter { name, condition, value });
    if n <= 1000 {
        return refuse("the number of nodes", "exceed 1000", n as f64);
    }
    if step.epsilon() >= 0.5 {
        return refuse("the epsilon of a reception", "be below 1/2", step.epsilon());
    }
    if step.delta() <= 0.0 || step.delta() >= 0.01 {
        return refuse("the delta of a reception", "lie strictly between 0 and 1/100", step.delta());
    }
    Ok(Printed::new(composition::advanced(step, rounds as u64, slack).into_value()))
}

/// The expected number of random answers of Theorem 2, `γ n (K + 1)`.
///
/// # Errors
/// As [`noise_count`], and [`Error::InvalidParameter`] unless `0 < γ ≤ 1`.
pub fn theorem2_random_answers(n: usize, rounds: usize, gamma: f64) -> Result<Printed<f64>, Error> {
    check_ring(n, rounds)?;
    ndp_dp::RandomizedResponse::new(2, gamma)?;
    Ok(Printed::new(gamma * n as f64 * (rounds + 1) as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::ring::{Placement, RingSum};
    use crate::walk::{Bounds, TokenNoise};
    use approx::assert_relative_eq;
    use ndp_dp::Sigma;

    fn ring(n: usize, rounds: usize, placement: Placement) -> Result<RingSum, Error> {
        RingSum::new(n, rounds, Bounds::new(0.0, 1.0)?, TokenNoise::gaussian(Sigma::new(1.0)?), placement)
    }

    /// Defect: the floor of Theorem 1. Three nodes and three rounds add noise at steps 1, 3, 5, 7, 9.
    #[test]
    fn floor_of_theorem_1_is_too_small() -> Result<(), Error> {
        let true_ring = ring(3, 3, Placement::Counter)?;
        assert_eq!((true_ring.noise_count(), *noise_count(3, 3)?.value()), (5, 4));
        assert!(*output_std(3, 3, 1.0)?.value() < true_ring.output_std());
        Ok(())
    }

    /// Defect: Remark 1's share does not make its own total, which fits the corrected share.
    #[test]
    fn share_of_remark_1_contradicts_its_total() -> Result<(), Error> {
        let (n, rounds) = (5, 4);
        let share = *remark1_share(n, 1.0)?.value();
        let of_shares = (1.0 + (n * rounds - 1) as f64 * share * share).sqrt();
        let corrected = ring(n, rounds, Placement::Distributed)?.output_std();
        let printed = *remark1_output_std(n, rounds, 1.0)?.value();
        assert!(of_shares < corrected);
        assert_relative_eq!(corrected, (1.0f64 + 19.0 / 4.0).sqrt(), max_relative = 1e-14);
        assert!((printed - corrected).abs() < (printed - of_shares).abs());
        Ok(())
    }

    #[test]
    fn preconditions_are_checked() -> Result<(), Error> {
        let slack = Delta::new(1e-6)?;
        let step = ApproxDp::new(0.1, 1e-6)?;
        let printed = theorem2(2000, 10, step, slack)?.into_value();
        let composed = composition::advanced(step, 10, slack).into_value();
        assert_eq!(printed, composed);
        assert!(theorem2(1000, 10, step, slack).is_err());
        assert!(theorem2(2000, 10, ApproxDp::new(0.5, 1e-6)?, slack).is_err());
        assert!(theorem2(2000, 10, ApproxDp::new(0.1, 0.01)?, slack).is_err());
        assert!(noise_count(1, 3).is_err() && noise_count(3, 0).is_err());
        assert!(debiased(3, 1, 0.5).is_err() && debiased(3, 2, 1.0).is_err() && debiased(3, 2, 0.0).is_err());
        assert_relative_eq!(*theorem2_random_answers(50, 3, 0.4)?.value(), 80.0);
        Ok(())
    }
}
