//! The largest number of times that a random event plausibly happens: quantiles of binomial laws.
//!
//! A user who is drawn with probability `p` at each of `T` steps contributes `X ~ Bin(T, p)` times. An
//! accountant that charges a fixed number `N` of contributions fails with probability `P(X > N)`, which is
//! added to `δ`.

use crate::{Delta, Error, Exact, Guarantee, UpperBound};
use ndp_numeric::binomial::{TAIL_ERROR, check, log_tail};
use ndp_numeric::rounding::{down_log, log_down, log_up, up_log, whole};
use ndp_numeric::special::normal_quantile;

/// The smallest `N` with `P(Bin(trials, p) > N) ≤ δ̂`. If the tail equals `δ̂` within its numerical error,
/// the larger of the two candidates is returned, as an upper bound.
///
/// # Errors
/// [`Error::InvalidParameter`] unless `0 ≤ p ≤ 1` and `trials ≤ 1e12`.
///
/// # Complexity
/// A few incomplete beta functions, `O(√trials)` each.
///
/// # Examples
/// ```
/// use ndp_dp::{Delta, tails};
/// // A user drawn with probability 1/100 in each of 10 000 steps contributes more than 151 times with
/// // probability at most 1e-6.
/// assert_eq!(*tails::n_exact(10_000, 0.01, Delta::new(1e-6)?)?.value(), 151);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
pub fn n_exact(trials: u64, p: f64, delta_hat: Delta) -> Result<Guarantee<u64>, Error> {
    check(trials, p)?;
    // The target is lowered by the numerical error of the tail, so that the count returned is never too
    // small.
    let target = down_log(log_down(delta_hat.get()), TAIL_ERROR, TAIL_ERROR);
    let enough = |n: u64| log_tail(n, trials, p) <= target;
    // Starts at the Cornish–Fisher quantile and moves away from it in doubling steps until the boundary is
    // passed.
    let mean = trials as f64 * p;
    let z = -normal_quantile(delta_hat.get());
    let guess = mean + z * (mean * (1.0 - p)).sqrt() + (z * z - 1.0) * (1.0 - 2.0 * p) / 6.0;
    let guess = whole(guess.clamp(0.0, trials as f64)).min(trials);
    let (mut fails, mut verified, mut step);
    if enough(guess) {
        (verified, step) = (guess, 1);
        loop {
            if verified == 0 {
                return Ok(Exact::new(0).into());
            }
            fails = verified.saturating_sub(step);
            if !enough(fails) {
                break;
            }
            (verified, step) = (fails, step.saturating_mul(2));
        }
    } else {
        (fails, step) = (guess, 1_u64);
        loop {
            verified = fails.saturating_add(step).min(trials);
            if enough(verified) {
                break;
            }
            (fails, step) = (verified, step.saturating_mul(2));
        }
    }
    while verified - fails > 1 {
        let middle = fails + (verified - fails) / 2;
        if enough(middle) { verified = middle } else { fails = middle }
    }
    let surely = up_log(log_up(delta_hat.get()), TAIL_ERROR, TAIL_ERROR);
    let least = log_tail(fails, trials, p) > surely;
    Ok(if least { Exact::new(verified).into() } else { UpperBound::new(verified).into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::refused;
    use ndp_numeric::binomial::MAX_TRIALS;

    fn d(delta: f64) -> Delta {
        Delta::new(delta).unwrap()
    }

    /// 50-digit values of the specification.
    #[test]
    fn counts_match_reference_values() -> Result<(), Error> {
        assert_eq!(*n_exact(10_000, 0.01, d(1e-6))?.value(), 151);
        assert_eq!(*n_exact(2_000, 0.05, d(1e-5))?.value(), 144);
        assert_eq!(*n_exact(1_000, 0.001, d(1e-5))?.value(), 8);
        Ok(())
    }

    /// Compared with sums of probabilities that are built by multiplication, which share no code with the
    /// fast path.
    #[test]
    fn quantiles_match_direct_sums() -> Result<(), Error> {
        for trials in [1_u64, 2, 7, 40] {
            for p in [0.0, 1e-9, 0.1, 0.5, 0.97, 1.0] {
                let mut row = vec![1.0];
                for _ in 0..trials {
                    let mut next = vec![0.0; row.len() + 1];
                    for (k, mass) in row.iter().enumerate() {
                        next[k] += mass * (1.0 - p);
                        next[k + 1] += mass * p;
                    }
                    row = next;
                }
                for delta in [1e-12, 1e-3, 0.2] {
                    let n = *n_exact(trials, p, d(delta))?.value() as usize;
                    assert!(row[n + 1..].iter().sum::<f64>() <= delta);
                    assert!(n == 0 || row[n..].iter().sum::<f64>() > delta * (1.0 - 1e-10));
                }
            }
        }
        Ok(())
    }

    #[test]
    fn counts_are_ordered_and_extremes_are_handled() -> Result<(), Error> {
        for trials in [0, 1, 50, 1_000_000, MAX_TRIALS] {
            for p in [0.0, 1e-12, 0.3, 1.0] {
                for delta in [1e-300, 1e-6, 0.5, 1.0 - 1e-15] {
                    let exact = *n_exact(trials, p, d(delta))?.value();
                    assert!(exact <= trials);
                }
            }
        }
        assert_eq!(refused(n_exact(MAX_TRIALS + 1, 0.5, d(0.1))), Some("the number of trials"));
        for bad in [f64::NAN, -0.1] {
            assert_eq!(refused(n_exact(5, bad, d(0.1))), Some("a probability"));
        }
        Ok(())
    }
}
