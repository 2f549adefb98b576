//! Binomial probabilities and tails in log space, with their errors.

use crate::error::{OutOfRange, ensure};
use crate::incomplete::{deviation, log_beta_i, log_beta_i_complement, log_binomial_saddle};
use crate::rounding::up_log;

/// The largest number of trials accepted: beyond it a float cannot hold every count exactly, and tails take
/// too long.
pub const MAX_TRIALS: u64 = 1_000_000_000_000;

/// `ln P(X = k)` for `X ~ Bin(trials, p)`, rounded up by [`PMF_ERROR`]; `−∞` where the probability is 0.
///
/// # Errors
/// [`OutOfRange`] unless `0 ≤ p ≤ 1` and `trials ≤` [`MAX_TRIALS`].
pub fn log_pmf_up(k: u64, trials: u64, p: f64) -> Result<f64, OutOfRange> {
    check(trials, p)?;
    Ok(up_log(log_pmf(k, trials, p), PMF_ERROR, PMF_ERROR).min(0.0))
}

/// `ln P(X > k)` for `X ~ Bin(trials, p)`, rounded up by [`TAIL_ERROR`]; `−∞` where the probability is 0.
///
/// # Errors
/// As [`log_pmf_up`].
///
/// # Examples
/// ```
/// // One of 40 fair coins shows tails with probability 2^{−40}.
/// let log = ndp_numeric::binomial::log_tail_up(39, 40, 0.5)?;
/// assert!((log + 40.0 * 2.0_f64.ln()).abs() < 1e-11 && log >= -40.0 * 2.0_f64.ln());
/// # Ok::<(), ndp_numeric::OutOfRange>(())
/// ```
pub fn log_tail_up(k: u64, trials: u64, p: f64) -> Result<f64, OutOfRange> {
    check(trials, p)?;
    Ok(up_log(log_tail(k, trials, p), TAIL_ERROR, TAIL_ERROR).min(0.0))
}

/// `ln P(X ≤ k)` for `X ~ Bin(trials, p)`, rounded up by [`TAIL_ERROR`].
///
/// # Errors
/// As [`log_pmf_up`].
pub fn log_cdf_up(k: u64, trials: u64, p: f64) -> Result<f64, OutOfRange> {
    check(trials, p)?;
    if k >= trials {
        return Ok(0.0);
    }
    // X ≤ k exactly when the failures, Bin(trials, 1 − p), exceed trials − k − 1.
    let log = log_beta_i_complement(k as f64 + 1.0, (trials - k) as f64, p);
    Ok(up_log(log, TAIL_ERROR, TAIL_ERROR).min(0.0))
}

/// The largest success probability that is not refuted at level `error` by `count` successes in `trials`,
/// after Clopper and Pearson: the `p` with `P(Bin(trials, p) ≤ count) = error`, rounded up.
///
/// # Errors
/// [`OutOfRange`] unless `count ≤ trials`, `trials ≥ 1` and `0 < error < 1`.
pub fn clopper_pearson_upper(count: u64, trials: u64, error: f64) -> Result<f64, OutOfRange> {
    ensure(count <= trials && trials != 0, "the count", "be at most the number of trials", count as f64)?;
    ensure(0.0 < error && error < 1.0, "the error rate", "lie in (0, 1)", error)?;
    if count == trials {
        return Ok(1.0);
    }
    let (mut low, mut high) = (count as f64 / trials as f64, 1.0);
    // The upper end is always refuted by the counts; 60 halvings use up the digits of a float.
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if log_cdf_up(count, trials, middle)? > error.ln() {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(high)
}

/// Checks a number of trials and a success probability.
///
/// # Errors
/// As [`log_pmf_up`].
pub fn check(trials: u64, p: f64) -> Result<(), OutOfRange> {
    ensure(trials <= MAX_TRIALS, "the number of trials", "be at most 1e12", trials as f64)?;
    ensure((0.0..=1.0).contains(&p), "a probability", "lie between 0 and 1", p)
}

/// Error of [`log_pmf`] in epsilons of `1 + |ln P|`. Measured: against 78 digits at
/// 932 000 points with up to 10¹² trials, at most 6.3; doubled and rounded up.
pub const PMF_ERROR: f64 = 16.0;

/// Error of [`log_tail`] and [`log_cdf_up`] in epsilons of `1 + |ln P|`. Measured: against 78 digits at 920
/// points with up to 1500 trials, at most 2.1. More trials need longer continued fractions, for which no
/// error was measured; the constant is far above twice the largest error seen.
pub const TAIL_ERROR: f64 = 256.0;

/// `ln P(X = k)` for `X ~ Bin(trials, p)`, to within [`PMF_ERROR`]; `0 ≤ p ≤ 1` is not checked.
#[must_use]
pub fn log_pmf(k: u64, trials: u64, p: f64) -> f64 {
    let (n, k) = (trials as f64, k as f64);
    if k > n || (p == 0.0 && k > 0.0) || (p == 1.0 && k < n) {
        return f64::NEG_INFINITY;
    }
    // The saddle-point form needs both counts positive.
    if k == 0.0 {
        return if n == 0.0 { 0.0 } else { n * libm::log1p(-p) };
    }
    if k == n {
        return n * libm::log(p);
    }
    log_binomial_saddle(k, n - k, p, deviation(k, n - k, p)).min(0.0)
}

/// `ln P(X > k)` for `X ~ Bin(trials, p)`, to within [`TAIL_ERROR`]; `0 ≤ p ≤ 1` is not checked.
#[must_use]
pub fn log_tail(k: u64, trials: u64, p: f64) -> f64 {
    if k >= trials {
        return f64::NEG_INFINITY;
    }
    log_beta_i(k as f64 + 1.0, (trials - k) as f64, p)
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    /// Against sums of probabilities built by multiplication, which share nothing with the fast path.
    #[test]
    fn tails_match_direct_sums() -> Result<(), OutOfRange> {
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
                for k in 0..=trials {
                    let i = k as usize;
                    let close = |log: f64, direct: f64| {
                        // Rounded up by TAIL_ERROR, and the direct sum rounds too.
                        let error = 1e-12 + 2.0 * TAIL_ERROR * f64::EPSILON * (1.0 + log.abs());
                        assert_relative_eq!(log.exp(), direct, max_relative = error, epsilon = 1e-300);
                    };
                    close(log_pmf_up(k, trials, p)?, row[i]);
                    close(log_tail_up(k, trials, p)?, row[i + 1..].iter().sum());
                    close(log_cdf_up(k, trials, p)?, row[..=i].iter().sum());
                }
            }
        }
        Ok(())
    }

    /// Against 700 digits, see `outward.py` of `ndp-dp`: no value is below the truth, and none is far above
    /// it.
    #[test]
    fn tails_are_rounded_up() -> Result<(), OutOfRange> {
        for line in include_str!("../tests/reference/binomial_outward.csv").lines() {
            let fields: Vec<&str> = line.split(',').collect();
            let n = |i: usize| fields[i].parse::<u64>().expect("the table holds a count");
            let x = |i: usize| fields[i].parse::<f64>().expect("the table holds a float");
            let reached = match fields[0] {
                "log_pmf" => log_pmf_up(n(2), n(3), x(4))?,
                "log_tail" => log_tail_up(n(2), n(3), x(4))?,
                _ => log_cdf_up(n(2), n(3), x(4))?,
            };
            let truth = x(5);
            assert!(
                reached >= truth && reached - truth <= 2e-13 * (1.0 + truth.abs()),
                "{line}: {reached:e}"
            );
        }
        Ok(())
    }

    #[test]
    fn bad_input_is_refused() {
        assert_eq!(log_tail_up(0, MAX_TRIALS + 1, 0.5).unwrap_err().name, "the number of trials");
        for bad in [f64::NAN, -0.1] {
            assert_eq!(log_tail_up(0, 5, bad).unwrap_err().name, "a probability");
        }
    }

    /// Textbook intervals: 0 of 10 at 2.5 % is 1 - 0.025^(1/10); symmetric in successes and failures.
    #[test]
    fn clopper_pearson_matches_closed_forms() -> Result<(), OutOfRange> {
        let upper = clopper_pearson_upper(0, 10, 0.025)?;
        assert!((upper - (1.0 - 0.025f64.powf(0.1))).abs() < 1e-12);
        assert_eq!(clopper_pearson_upper(10, 10, 0.025)?, 1.0);
        // 9 of 10: P(X ≤ 9) = 1 - p^10 = 0.025.
        assert!((clopper_pearson_upper(9, 10, 0.025)? - 0.975f64.powf(0.1)).abs() < 1e-12);
        assert_eq!(clopper_pearson_upper(3, 2, 0.1).unwrap_err().name, "the count");
        assert_eq!(clopper_pearson_upper(1, 2, f64::NAN).unwrap_err().name, "the error rate");
        Ok(())
    }
}
