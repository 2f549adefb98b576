//! The printed bounds for descent by a walk: Lemma 1, Theorem 4, and noise levels derived from them.

use super::{check_contributions, check_steps, check_users, contributions};
use ndp_dp::iteration::NoisyStep;
use ndp_dp::parts::check_epsilon;
use ndp_dp::parts::{ensure, ensure_positive};
use ndp_dp::search;
use ndp_dp::{Delta, Error, Order, Printed, Sigma};
use serde::{Deserialize, Serialize};

/// Lemma 1: the Rényi loss in nats at `order` of `contributions` contributions to a walk among `users`,
/// `4NαL² ln n/(σ² n)`, claimed for orders up to `(1 + √(1 + 2σ²/L²))/2`.
///
/// **Not proved as stated.** The gap until the observer next looks is geometric with mean inverse
/// `ln n/(n − 1)`, more than the printed `ln n/n`, and several contributions before a look are not separate
/// mechanisms. For `n = 2`, one contribution and `2α(α−1)L²/σ² = 1` the lemma is false if the observer sees
/// the step index: `(α − 1) D_α = 0.742 > 0.693`. Sound: [`ndp_dp::iteration::CappedWalk`].
///
/// # Errors
/// [`Error::InvalidParameter`] unless `n ≥ 2` and `N ≥ 0`, both finite, and for an order above the limit.
#[doc(alias = "lemma1_printed")]
pub fn lemma1_rdp(
    order: Order,
    contributions: f64,
    step: &NoisyStep,
    users: f64,
) -> Result<Printed<f64>, Error> {
    // The limit is rounded by a few operations.
    let limit = lemma1_order_limit(step).into_value() * (1.0 + 8.0 * f64::EPSILON);
    ensure(order.get() <= limit, "the order of Lemma 1", "be at most (1 + √(1 + 2σ²/L²))/2", order.get())?;
    Ok(Printed::new(order.get() * slope(contributions, step, users)?))
}

/// The largest order for which Lemma 1 is claimed, from `σ ≥ L √(2α(α − 1))`: `(1 + √(1 + 2σ²/L²))/2`.
#[doc(alias = "lemma1_alpha_max")]
#[must_use]
pub(crate) fn lemma1_order_limit(step: &NoisyStep) -> Printed<f64> {
    let ratio = step.sigma().get() / step.lipschitz();
    // √(1 + 2r²) without overflow.
    Printed::new(0.5 * (1.0 + libm::hypot(1.0, std::f64::consts::SQRT_2 * ratio)))
}

/// Theorem 4: the closed form of Lemma 1 for the noise `σ² = 8L² ln(1.25/δ)/ε²`.
///
/// # Examples
/// ```
/// use ndp_dp::Delta;
/// use ndp_printed::network::theorem4;
/// let claimed = theorem4(1e4, 1e4, 0.1, (Delta::new(1e-6)?, Delta::new(1e-6)?))?.into_value();
/// assert!(claimed.contributions > 1.0 && claimed.preconditions_hold);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Theorem4 {
    /// Contributions `N = T/n + √(3(T/n) ln(1/δ̂))`, see [`contributions`].
    #[serde(with = "ndp_dp::lossless")]
    pub contributions: f64,
    /// `q = max(2N ln n/n, 2 ln(1/δ))`.
    #[serde(with = "ndp_dp::lossless")]
    pub q: f64,
    /// The claimed `ε′ = ε √(2q ln(1/δ)/ln(1.25/δ))`.
    #[serde(with = "ndp_dp::lossless")]
    pub epsilon: f64,
    /// Whether `ε′ < 2 ln(1/δ)`, which the derivation needs. If this fails, the closed form is below what
    /// Lemma 1 gives.
    pub preconditions_hold: bool,
}

/// Theorem 4 for a walk of `steps` steps among `users`, at total `δ + δ̂`. It inherits the defects of
/// [`lemma1_rdp`] and of [`contributions`].
///
/// # Errors
/// [`Error::InvalidParameter`] unless `n ≥ 2` and `T ≥ 1` are finite, `0 < ε < 1` and `δ < 1/2`.
#[doc(alias = "thm4")]
pub fn theorem4(
    users: f64,
    steps: f64,
    epsilon: f64,
    deltas: (Delta, Delta),
) -> Result<Printed<Theorem4>, Error> {
    let (delta, delta_hat) = (deltas.0.get(), deltas.1);
    check_steps(steps)?;
    let contributions = contributions(steps, users, delta_hat)?.into_value();
    ensure(0.0 < epsilon && epsilon < 1.0, "epsilon", "lie strictly between 0 and 1", epsilon)?;
    ensure(delta < 0.5, "delta", "be below 1/2", delta)?;
    let log = -libm::log(delta);
    let q = f64::max(2.0 * contributions * libm::log(users) / users, 2.0 * log);
    let ratio = 1.25 / delta;
    // For the smallest deltas the quotient overflows, and its logarithm would make everything private.
    let log_ratio = if ratio.is_finite() { libm::log(ratio) } else { libm::log(1.25) + log };
    let total = epsilon * libm::sqrt(2.0 * q * log / log_ratio);
    let preconditions_hold = total < 2.0 * log;
    Ok(Printed::new(Theorem4 { contributions, q, epsilon: total, preconditions_hold }))
}

/// The smallest `ε` that Lemma 1 and Mironov's conversion give, and the order that gives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NetworkEpsilon {
    /// `αA + ln(1/δ)/(α − 1)`, `A = 4NL² ln n/(σ² n)`.
    pub(crate) epsilon: f64,
    /// `α = min(1 + √(ln(1/δ)/A), limit of Lemma 1)`.
    pub(crate) order: f64,
}

/// Lemma 1 for `contributions` contributions, converted at `δ` (Remark 5). It is no better proved than
/// [`lemma1_rdp`].
///
/// # Errors
/// [`Error::InvalidParameter`] unless `n ≥ 2` and `N ≥ 0`, both finite.
pub(crate) fn network_epsilon(
    contributions: f64,
    step: &NoisyStep,
    users: f64,
    delta: Delta,
) -> Result<Printed<NetworkEpsilon>, Error> {
    let slope = slope(contributions, step, users)?;
    Ok(Printed::new(converted(slope, step, delta)))
}

/// The smallest `σ` for which Lemma 1 for `contributions` contributions, converted at `δ` (Remark 5), is at
/// most `epsilon`, for Lipschitz constant `lipschitz`. It is no better proved than [`lemma1_rdp`].
///
/// # Errors
/// [`Error::InvalidEpsilon`] unless `0 ≤ ε < ∞`; [`Error::InvalidParameter`] unless `L` is positive and
/// finite, `n ≥ 2`, `N ≥ 0`, and a finite `σ` reaches `ε` (which must be positive).
#[doc(alias = "net_sigma_printed")]
pub fn network_sigma(
    contributions: f64,
    lipschitz: f64,
    users: f64,
    target: (f64, Delta),
) -> Result<Printed<Sigma>, Error> {
    let (epsilon, delta) = target;
    check_epsilon(epsilon)?;
    ensure_positive("the Lipschitz constant", lipschitz)?;
    check_contributions(contributions)?;
    check_users(users)?;
    let reached = |sigma: f64| {
        let step = Sigma::new(sigma).and_then(|sigma| NoisyStep::new(lipschitz, sigma));
        step.is_ok_and(|step| {
            let value = network_epsilon(contributions, &step, users, delta);
            value.is_ok_and(|value| value.value().epsilon <= epsilon)
        })
    };
    // The cap on the order keeps ε above ln(1/δ)/(α − 1), so even a huge σ may miss a tiny ε.
    let sigma = search::smallest(lipschitz * 1e-100, lipschitz * 1e100, reached);
    ensure(sigma.is_some(), "the target epsilon", "be positive and within reach of a finite sigma", epsilon)?;
    Sigma::new(sigma.unwrap_or(f64::NAN)).map(Printed::new)
}

/// The noise of centralized DP-SGD in the authors' program, `16 L √(T ln(2/δ) ln(1.25 T/(δ n)))/(n ε)`.
///
/// By our reconstruction, its deltas add up to about `1.5δ`, and it uses approximations for small `ε`. The
/// program passes a target `(ε, δ)`. Sound: the Rényi loss of sampling one user of `n`.
///
/// # Errors
/// [`Error::InvalidParameter`] unless `L` and `ε` are positive and finite, `n ≥ 2`, `T ≥ 1` and the logarithm
/// is positive; [`Error::InvalidSigma`] when the result is out of the range of floats.
#[doc(alias = "central_sigma_refcode")]
pub fn central_sigma(
    lipschitz: f64,
    users: f64,
    steps: f64,
    target: (f64, Delta),
) -> Result<Printed<Sigma>, Error> {
    let (epsilon, delta) = target;
    ensure_positive("the Lipschitz constant", lipschitz)?;
    ensure_positive("epsilon", epsilon)?;
    check_users(users)?;
    check_steps(steps)?;
    let ratio = 1.25 * steps / (delta.get() * users);
    ensure(ratio > 1.0, "1.25 T/(δ n)", "be above 1", ratio)?;
    let logs = libm::log(2.0 / delta.get()) * libm::log(ratio);
    Sigma::new(16.0 * lipschitz * libm::sqrt(steps * logs) / (users * epsilon)).map(Printed::new)
}

/// `A = 4NL² ln n/(σ² n)`.
fn slope(contributions: f64, step: &NoisyStep, users: f64) -> Result<f64, Error> {
    check_contributions(contributions)?;
    check_users(users)?;
    if contributions == 0.0 {
        return Ok(0.0);
    }
    Ok(contributions * step.ratio() * step.ratio() * libm::log(users) / users)
}

/// The minimum over the allowed orders of `αA + ln(1/δ)/(α − 1)`.
fn converted(slope: f64, step: &NoisyStep, delta: Delta) -> NetworkEpsilon {
    let log = -libm::log(delta.get());
    // At A = 0 the quotient is infinite and the limit decides; an infinite order would be multiplied by a
    // zero slope below.
    let order = (1.0 + libm::sqrt(log / slope)).min(*lemma1_order_limit(step).value()).min(1e300);
    // The limit rounds to 1 for a tiny σ, where the quotient below is rightly infinite.
    NetworkEpsilon { epsilon: order * slope + log / (order - 1.0), order }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::refused;
    use approx::assert_relative_eq;

    fn delta(x: f64) -> Delta {
        Delta::new(x).unwrap()
    }

    fn step(lipschitz: f64, sigma: f64) -> NoisyStep {
        NoisyStep::new(lipschitz, Sigma::new(sigma).unwrap()).unwrap()
    }

    fn near(value: f64, expected: f64) {
        assert_relative_eq!(value, expected, max_relative = 1e-13);
    }

    #[test]
    fn lemma_1_matches_50_digit_values() -> Result<(), Error> {
        let value = lemma1_rdp(Order::new(3.0)?, 10.0, &step(1.0, 4.0), 1000.0)?;
        near(*value.value(), 0.051_808_164_592_366_03);
        let value = lemma1_rdp(Order::new(2.0)?, 11.0, &step(2.0, 5.0), 1001.0)?;
        near(*value.value(), 0.194_356_178_407_109_5 / 2.0);
        // Above the limit of 2.337 nothing is claimed.
        let beyond = lemma1_rdp(Order::new(2.34)?, 11.0, &step(2.0, 5.0), 1001.0);
        assert_eq!(refused(beyond), Some("the order of Lemma 1"));
        near(*lemma1_order_limit(&step(1.0, 4.0)).value(), 3.372_281_323_269_014_3);
        near(*lemma1_order_limit(&step(2.0, 5.0)).value(), 2.337_117_307_087_383_5);
        Ok(())
    }

    #[test]
    fn theorem_4_matches_50_digit_values() -> Result<(), Error> {
        for (epsilon, x, count, q, total) in [
            (0.2, 1e-6, 164.378_980_788_680_4, 27.631_021_115_928_547, 1.474_905_494_452_905_8),
            (0.19, 9.5e-7, 164.498_381_031_662_7, 27.733_607_704_703_65, 1.403_800_145_521_933_8),
        ] {
            let theorem = theorem4(500.0, 50_000.0, epsilon, (delta(x), delta(x)))?.into_value();
            near(theorem.contributions, count);
            near(theorem.q, q);
            near(theorem.epsilon, total);
            assert!(theorem.preconditions_hold);
        }
        Ok(())
    }

    /// `1.25/δ` overflows for the smallest `δ`.
    #[test]
    fn the_smallest_deltas_cost_most() -> Result<(), Error> {
        let claimed = |steps: f64, small: f64| -> Result<f64, Error> {
            Ok(theorem4(48.0, steps, 0.003, (delta(small), delta(0.5)))?.value().epsilon)
        };
        for steps in [1.0, 1e6, f64::MAX] {
            let near = claimed(steps, 1e-307)?;
            for small in [1e-308, 3.271_190_406_29e-312, 5e-324] {
                let found = claimed(steps, small)?;
                assert!(found == near || found > 0.9 * near, "{steps} {small}: {found} {near}");
            }
        }
        assert_eq!(claimed(f64::MAX, 1e-312)?, f64::INFINITY);
        Ok(())
    }

    #[test]
    fn converted_values_match_50_digits() -> Result<(), Error> {
        for (x, expected) in [(1e-6, 5.881_960_763_538_661), (9.5e-7, 5.903_582_690_872_67)] {
            let value = network_epsilon(10.0, &step(1.0, 4.0), 1000.0, delta(x))?.into_value();
            near(value.epsilon, expected);
            near(value.order, 3.372_281_323_269_014_3);
        }
        for (x, expected) in [(1e-6, 4.599_766_200_733_981), (9.5e-7, 4.614_444_020_273_751)] {
            let sigma = network_sigma(10.0, 1.0, 1000.0, (5.0, delta(x)))?.into_value();
            assert_relative_eq!(sigma.get(), expected, max_relative = 1e-12);
        }
        for (x, expected) in [(1e-6, 12.318_167_308_079_602), (9.5e-7, 12.359_274_294_728_75)] {
            near(central_sigma(1.0, 1000.0, 10_000.0, (2.0, delta(x)))?.into_value().get(), expected);
        }
        Ok(())
    }

    #[test]
    fn ends_are_limits_or_errors() -> Result<(), Error> {
        let step = step(1.0, 4.0);
        assert_eq!(*lemma1_rdp(Order::new(3.0)?, 0.0, &step, 10.0)?.value(), 0.0);
        let nothing = network_epsilon(0.0, &step, 10.0, delta(1e-6))?.into_value();
        assert_eq!(nothing.order, *lemma1_order_limit(&step).value());
        let (d, both) = (delta(0.1), (delta(0.1), delta(0.1)));
        let (count, users) = (Some("the number of contributions"), Some("the number of users"));
        let (lipschitz, epsilon) = (Some("the Lipschitz constant"), Some("epsilon"));
        for bad in [f64::NAN, -1.0, f64::INFINITY] {
            assert_eq!(refused(lemma1_rdp(Order::new(2.0)?, bad, &step, 10.0)), count);
            assert_eq!(refused(network_epsilon(bad, &step, 10.0, d)), count);
            assert_eq!(refused(network_epsilon(1.0, &step, bad, d)), users);
            assert_eq!(refused(network_sigma(bad, 1.0, 10.0, (1.0, d))), count);
            assert_eq!(refused(network_sigma(1.0, bad, 10.0, (1.0, d))), lipschitz);
            assert_eq!(refused(network_sigma(1.0, 1.0, bad, (1.0, d))), users);
            assert!(matches!(network_sigma(1.0, 1.0, 10.0, (bad, d)), Err(Error::InvalidEpsilon(_))));
            assert_eq!(refused(theorem4(bad, 10.0, 0.1, both)), users);
            assert_eq!(refused(theorem4(10.0, bad, 0.1, both)), Some("the number of steps"));
            assert_eq!(refused(theorem4(10.0, 10.0, bad, both)), epsilon);
            assert_eq!(refused(central_sigma(bad, 10.0, 10.0, (1.0, d))), lipschitz);
            assert_eq!(refused(central_sigma(1.0, 10.0, 10.0, (bad, d))), epsilon);
        }
        assert_eq!(refused(theorem4(10.0, 10.0, 1.0, both)), epsilon);
        assert_eq!(refused(theorem4(10.0, 10.0, 0.1, (delta(0.5), d))), Some("delta"));
        assert_eq!(refused(network_sigma(1.0, 1.0, 10.0, (0.0, d))), Some("the target epsilon"));
        assert_eq!(refused(central_sigma(1.0, 1e9, 1.0, (1.0, delta(0.5)))), Some("1.25 T/(δ n)"));
        Ok(())
    }
}
