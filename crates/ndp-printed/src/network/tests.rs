//! Claims of *Privacy amplification by decentralization* against each other, and every formula on hostile
//! numbers. `ndp-dp` tests the statements that are true instead.

use super::Theorem3;
use crate::network as printed;
use approx::assert_relative_eq;
use ndp_dp::composition::optimal_delta;
use ndp_dp::iteration::NoisyStep;
use ndp_dp::{ApproxDp, Delta, Error, Order, Sigma};

fn delta(x: f64) -> Delta {
    Delta::new(x).unwrap()
}

/// The numbers that `ndp-dp` refutes: Theorem 2 and 3, the number of contributions, Lemma 1.
#[test]
fn refuted_numbers_are_those_printed() -> Result<(), Error> {
    let gamma = |epsilon: f64| 10.0 / ((12.0 * epsilon * (1e6_f64.ln() / 1e5).sqrt()).exp_m1() + 10.0);
    for epsilon in [0.1, 0.05] {
        let printed = *printed::theorem2_gamma(10, epsilon, delta(1e-6), 1e5)?.value();
        assert_relative_eq!(printed, gamma(epsilon), max_relative = 1e-12);
    }
    let c = Some(std::f64::consts::FRAC_1_SQRT_2);
    let (delta_prime, delta_hat) = (delta(1e-6), delta(1e-6));
    let theorem = Theorem3 { users: 8.0, steps: 800.0, epsilon: 0.5, c, delta_prime, delta_hat };
    assert_relative_eq!(*theorem.epsilon_c()?.value(), 0.5 / 2.0_f64.sqrt(), max_relative = 1e-12);
    let count = *printed::contributions(1000.0, 1000.0, delta(1e-6))?.value();
    assert_relative_eq!(count, 1.0 + (3.0 * 1e6_f64.ln()).sqrt(), max_relative = 1e-12);
    let (order, step) = (Order::new(2.0)?, NoisyStep::new(1.0, Sigma::new(2.0)?)?);
    let lemma = *printed::lemma1_rdp(order, 1.0, &step, 2.0)?.value();
    assert_relative_eq!(lemma, std::f64::consts::LN_2, max_relative = 1e-14);
    assert!(order.get() <= *printed::lemma1_order_limit(&step).value());
    Ok(())
}

/// Theorem 4 with `ε′` equal to three times `ln(1/δ)`: it is below what its own Lemma 1 gives at the best
/// order.
#[test]
fn theorem_4_is_below_its_own_lemma() -> Result<(), Error> {
    let (users, epsilon, d) = (10.0, 0.5, delta(1e-6));
    let log = 1e6_f64.ln();
    // The T at which ε′ = 3 ln(1/δ).
    let claim = |steps: f64| printed::theorem4(users, steps, epsilon, (d, d)).unwrap().into_value();
    let (mut low, mut high) = (10.0, 1e7);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if claim(middle).epsilon < 3.0 * log { low = middle } else { high = middle }
    }
    let claimed = claim(high);
    assert!(!claimed.preconditions_hold);
    assert_relative_eq!(claimed.epsilon, 41.446_531_673_892_82, max_relative = 1e-9);
    let sigma = (8.0 * (1.25e6_f64).ln()).sqrt() / epsilon;
    let step = NoisyStep::new(1.0, Sigma::new(sigma)?)?;
    let lemma = printed::network_epsilon(claimed.contributions, &step, users, d)?.into_value();
    assert!(lemma.order < *printed::lemma1_order_limit(&step).value());
    assert_relative_eq!(lemma.epsilon, 44.85, max_relative = 1e-3);
    assert!(lemma.epsilon > claimed.epsilon);
    Ok(())
}

/// Lemma 2 says "never spotted, except with probability 1e-6" although one user in eighty is spotted; and
/// without the factor 2 under the root its composition is no longer a bound.
#[test]
fn lemma_2_undercounts_and_undercharges() -> Result<(), Error> {
    let spotted = printed::spotted(12.0, 2000.0, 0.1, delta(1e-6))?.into_value();
    assert_relative_eq!(spotted.count, 0.717, max_relative = 1e-3);
    assert!(spotted.count < 1.0);
    // "Followed by the observer" alone has probability 1 − (1 − 1/n)^N per run; with "preceded by" added it
    // is twice that.
    let followed = -(12.0 * (-1.0 / 2000.0_f64).ln_1p()).exp_m1();
    assert!(followed > 5e-3);
    let either = -(12.0 * (-2.0 / 2000.0_f64).ln_1p()).exp_m1();
    assert_relative_eq!(either, 0.0119, max_relative = 5e-3);

    // 10⁴ mechanisms of ε = 0.01, composed optimally, against √(k ln(1/δ)) ε + k ε (e^ε − 1) at δ = 1e-10.
    let (k, epsilon, d) = (10_000.0, 0.01_f64, 1e-10_f64);
    let printed = (k * (1.0 / d).ln()).sqrt() * epsilon + k * epsilon * epsilon.exp_m1();
    let truth = *optimal_delta(ApproxDp::new(epsilon, 0.0)?, 10_000, printed)?.value();
    assert!(truth > 50.0 * d, "{truth}");
    Ok(())
}

const NUMBERS: [f64; 17] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    -1.0,
    -0.0,
    0.0,
    5e-324,
    1e-300,
    1e-12,
    0.3,
    1.0,
    1.0 + f64::EPSILON,
    2.5,
    1e4,
    1e12,
    1e300,
    f64::MAX,
];

/// Losses must be nonnegative; they may be infinite but are never NaN.
#[track_caller]
fn losses<T>(value: Result<T, Error>, numbers: impl Fn(T) -> Vec<f64>) {
    let found = value.map_or_else(|_| Vec::new(), numbers);
    assert!(found.iter().all(|&number| number >= 0.0), "{found:?}");
}

/// Every printed formula on hostile numbers: a typed error or a number, never NaN, a panic or a hang.
#[test]
fn printed_formulas() {
    let delta = Delta::new(1e-6).unwrap();
    // Printed numbers may be false, but they are numbers.
    let number = |value: Result<ndp_dp::Printed<f64>, Error>| {
        if let Ok(value) = value {
            assert!(!value.value().is_nan());
        }
    };
    for &x in &NUMBERS {
        number(printed::best_c(x));
        for &y in &NUMBERS {
            number(printed::contributions(x, y, delta));
            number(printed::gamma_n(x, y));
            number(printed::theorem2_gamma(3, x, delta, y));
            for &z in &NUMBERS {
                losses(printed::spotted(x, y, z, delta), |value| {
                    vec![value.value().count, value.value().epsilon]
                });
                number(printed::poster_theorem4(x, y, z, delta));
                losses(printed::theorem4(x, y, z, (delta, delta)), |value| vec![value.value().epsilon]);
                losses(printed::network_sigma(x, y, z, (0.5, delta)), |value| vec![value.value().get()]);
                losses(printed::central_sigma(x, y, z, (0.5, delta)), |value| vec![value.value().get()]);
                let walk = Theorem3 {
                    users: x,
                    steps: y,
                    epsilon: 0.1,
                    c: Some(z),
                    delta_prime: delta,
                    delta_hat: delta,
                };
                number(walk.total_epsilon());
                number(walk.total_epsilon_composed());
                number(printed::theorem6(walk, delta));
                if let Ok(step) = Sigma::new(z).and_then(|sigma| NoisyStep::new(1.0, sigma)) {
                    losses(printed::network_epsilon(x, &step, y, delta), |value| vec![value.value().epsilon]);
                    NUMBERS
                        .iter()
                        .filter_map(|&alpha| Order::new(alpha).ok())
                        .for_each(|order| number(printed::lemma1_rdp(order, x, &step, y)));
                }
            }
        }
    }
}
