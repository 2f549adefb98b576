//! The printed cost of known senders and receivers: Lemma 2.

use super::{check_contributions, check_users};
use ndp_dp::parts::check_epsilon;
use ndp_dp::{Delta, Error, Printed};
use serde::{Deserialize, Serialize};

/// What Lemma 2 prints for the contributions made right before or after the observer's.
///
/// # Examples
/// ```
/// use ndp_dp::Delta;
/// use ndp_printed::network::spotted;
/// let claimed = spotted(20.0, 1000.0, 0.5, Delta::new(1e-6)?)?.into_value();
/// assert!((claimed.epsilon_plain - 0.5 * claimed.count).abs() < 1e-12);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpottedLoss {
    /// Their number, `k = 2N/n + √(6(N/n) ln(1/δ̃))`.
    #[serde(with = "ndp_dp::lossless")]
    pub count: f64,
    /// Their loss by advanced composition as printed, `√(k ln(1/δ̃)) ε + k ε (e^ε − 1)`.
    #[serde(with = "ndp_dp::lossless")]
    pub epsilon: f64,
    /// Their loss by plain composition, `k ε`.
    #[serde(with = "ndp_dp::lossless")]
    pub epsilon_plain: f64,
}

/// Lemma 2 for a user with `contributions` contributions among `users`, one of which costs `epsilon`.
///
/// **False.** The factor 2 under the first root is missing; the same `δ̃` is used for the failure of the
/// count and for the slack of composition; and the count is used far outside the range of the Chernoff bound:
/// at `N = 12`, `n = 2000`, `δ̃ = 1e-6` it is 0.717, that is "never spotted", but the probability of being
/// spotted is 0.0119.
///
/// # Errors
/// [`Error::InvalidEpsilon`] unless `0 ≤ ε < ∞`; [`Error::InvalidParameter`] unless `n ≥ 2` and `N ≥ 0`, both
/// finite.
#[doc(alias = "spotted_printed")]
pub fn spotted(
    contributions: f64,
    users: f64,
    epsilon: f64,
    delta_tilde: Delta,
) -> Result<Printed<SpottedLoss>, Error> {
    check_contributions(contributions)?;
    check_users(users)?;
    check_epsilon(epsilon)?;
    let log = -libm::log(delta_tilde.get());
    // Products are grouped so that an overflow is never multiplied by zero.
    let mean = 2.0 * (contributions / users);
    let count = mean + libm::sqrt(3.0 * log) * libm::sqrt(mean);
    let drift = if count == 0.0 { 0.0 } else { count * epsilon * libm::expm1(epsilon) };
    let total = libm::sqrt(log) * libm::sqrt(count) * epsilon + drift;
    Ok(Printed::new(SpottedLoss { count, epsilon: total, epsilon_plain: count * epsilon }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::refused;
    use approx::assert_relative_eq;

    #[test]
    fn formulas_match_50_digit_values() -> Result<(), Error> {
        for (epsilon, x, count, total, plain) in [
            (0.1, 1e-5, 15.753_940_002_383_998, 1.512_437_047_023_929_2, 1.575_394_000_238_399_8),
            (0.095, 9.5e-6, 15.780_094_444_116_03, 1.432_724_185_331_294_5, 1.499_108_972_191_023),
        ] {
            let spotted = spotted(100.0, 50.0, epsilon, Delta::new(x)?)?.into_value();
            assert_relative_eq!(spotted.count, count, max_relative = 1e-13);
            assert_relative_eq!(spotted.epsilon, total, max_relative = 1e-13);
            assert_relative_eq!(spotted.epsilon_plain, plain, max_relative = 1e-13);
        }
        Ok(())
    }

    #[test]
    fn ends_are_limits_or_errors() -> Result<(), Error> {
        let delta = Delta::new(1e-6)?;
        let none = spotted(0.0, 10.0, 1e4, delta)?.into_value();
        assert_eq!(none, SpottedLoss { count: 0.0, epsilon: 0.0, epsilon_plain: 0.0 });
        assert_eq!(spotted(1e12, 10.0, 1e4, delta)?.value().epsilon, f64::INFINITY);
        for bad in [f64::NAN, -1.0, f64::INFINITY] {
            assert_eq!(refused(spotted(bad, 10.0, 0.1, delta)), Some("the number of contributions"));
            assert_eq!(refused(spotted(1.0, bad, 0.1, delta)), Some("the number of users"));
            assert!(matches!(spotted(1.0, 10.0, bad, delta), Err(Error::InvalidEpsilon(_))));
        }
        Ok(())
    }
}
