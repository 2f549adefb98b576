//! Every amplification with hostile numbers: it returns a typed error or a number, never NaN, and does not
//! panic or hang.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use crate::federated::ContractionFactor;
use crate::iteration::{CappedWalk, Geometric, LastIterate, NoisyStep, UncappedWalk, absorption_cost};
use crate::mixture::{Part, log_mean_exp};
use crate::shuffling::{self, MAX_REPORTS};
use crate::subsampling::{PoissonGaussian, WithReplacement, poisson, without_replacement};
use crate::{
    ApproxDp, Delta, Error, Gaussian, Laplace, Mechanism, Order, RandomizedResponse, Sensitivity, Sigma,
    UpperBound,
};
use std::time::Instant;

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
const COUNTS: [u64; 6] = [0, 1, 2, 7, 1_000_000_000_000, u64::MAX];

fn orders() -> Vec<Order> {
    NUMBERS.iter().filter_map(|&alpha| Order::new(alpha).ok()).collect()
}

fn deltas() -> [Delta; 4] {
    [f64::MIN_POSITIVE, 1e-300, 1e-6, 1.0 - f64::EPSILON].map(|delta| Delta::new(delta).unwrap())
}

/// Asserts that a number is a loss: nonnegative, perhaps infinite, not NaN.
#[track_caller]
fn loss(value: f64) {
    assert!(value >= 0.0, "{value}");
}

#[track_caller]
fn losses<T>(value: Result<T, Error>, numbers: impl Fn(T) -> Vec<f64>) {
    if let Ok(value) = value {
        for number in numbers(value) {
            loss(number);
        }
    }
}

#[track_caller]
fn bound(value: Result<UpperBound<f64>, Error>) {
    losses(value, |value| vec![value.into_value()]);
}

#[track_caller]
fn mechanism(mechanism: &dyn Mechanism) {
    for order in orders() {
        loss(mechanism.rdp(order).into_value());
    }
}

#[test]
fn mechanisms() {
    for &x in &NUMBERS {
        for labels in [0, 1, 2, 3, u32::MAX] {
            for response in [RandomizedResponse::new(labels, x), RandomizedResponse::with_epsilon(labels, x)]
            {
                let Ok(response) = response else { continue };
                mechanism(&response);
                deltas().into_iter().for_each(|delta| loss(response.epsilon(delta).into_value()));
                NUMBERS.iter().for_each(|&e| losses(response.delta(e), |value| vec![value.into_value()]));
            }
        }
        for &y in &NUMBERS {
            let Ok(sensitivity) = Sensitivity::new(y) else { continue };
            let Ok(laplace) = Laplace::new(sensitivity, x) else { continue };
            mechanism(&laplace);
            deltas().into_iter().for_each(|delta| loss(laplace.epsilon(delta).into_value()));
            NUMBERS.iter().for_each(|&e| losses(laplace.delta(e), |value| vec![value.into_value()]));
        }
    }
}

#[test]
fn subsampling() {
    for &epsilon in &NUMBERS {
        for &delta in &[0.0, 1e-300, 0.5, 1.0] {
            let Ok(base) = ApproxDp::new(epsilon, delta) else { continue };
            let pair = |value: UpperBound<ApproxDp>| vec![value.value().epsilon(), value.value().delta()];
            for &m in &COUNTS {
                COUNTS.iter().for_each(|&n| losses(without_replacement(base, m, n), pair));
            }
            NUMBERS.iter().for_each(|&rate| losses(poisson(base, rate), pair));
        }
        for &pool in &COUNTS {
            for &draws in &COUNTS {
                let Ok(sampling) = WithReplacement::new(pool, draws) else { continue };
                losses(sampling.epsilon(epsilon), |value| vec![value]);
                let group = |_, _| Ok(UpperBound::new(f64::NAN));
                losses(sampling.approx_dp(epsilon, group), |value| {
                    vec![value.value().epsilon(), value.value().delta()]
                });
            }
        }
    }
    for &x in &NUMBERS {
        let (Ok(sensitivity), Ok(sigma)) = (Sensitivity::new(x), Sigma::new(1.0)) else { continue };
        for &rate in &NUMBERS {
            if let Ok(sampled) = PoissonGaussian::new(Gaussian { sensitivity, sigma }, rate) {
                mechanism(&sampled);
            }
        }
    }
}

#[test]
fn shuffling_bounds() {
    for &epsilon in &NUMBERS {
        for &local in &NUMBERS {
            for &m in &COUNTS {
                bound(shuffling::clones_delta(epsilon, local, m));
                bound(shuffling::hoeffding_delta(epsilon, local, None, m));
                bound(shuffling::bennett_delta(epsilon, local, None, m));
                for labels in [0, 1, 2, 3, u32::MAX] {
                    bound(shuffling::rr_blanket_delta(epsilon, local, labels, m));
                    bound(shuffling::fixed_blanket_delta(epsilon, local, labels, m));
                    bound(shuffling::hoeffding_delta(epsilon, local, Some(labels), m));
                    bound(shuffling::bennett_delta(epsilon, local, Some(labels), m));
                }
            }
        }
        for &m in &COUNTS {
            for delta in deltas() {
                bound(shuffling::efmrtt(epsilon, m, delta));
                bound(shuffling::clones_closed(epsilon, m, delta));
                losses(shuffling::efmrtt_gamma(3, epsilon, delta, m), |value| vec![value]);
                losses(shuffling::generic_epsilon(epsilon, m, delta), |value| vec![value.value().epsilon]);
                losses(shuffling::rr_epsilon(epsilon, 3, m, delta), |value| vec![value.value().epsilon]);
            }
        }
    }
}

/// The largest number of reports, where losses are rarest and windows are widest.
#[test]
fn the_largest_exact_bound_ends() {
    let start = Instant::now();
    bound(shuffling::rr_blanket_delta(0.3, 0.5, 4, MAX_REPORTS));
    // It takes some tenths of a second on an idle machine; without the limits it would take hours.
    assert!(start.elapsed().as_secs() < 120);
}

#[test]
fn iteration() {
    let contractions: Vec<_> = NUMBERS.iter().filter_map(|&m| ContractionFactor::new(m).ok()).collect();
    for &x in &NUMBERS {
        for &y in &NUMBERS {
            let Ok(step) = Sigma::new(y).and_then(|sigma| NoisyStep::new(x, sigma)) else { continue };
            for &steps in &COUNTS {
                for &factor in &contractions {
                    losses(step.mu_after(steps, factor), |value| vec![value.value().mu()]);
                }
            }
            for &users in &COUNTS {
                for &colluders in &COUNTS {
                    for &count in &COUNTS {
                        let Ok(walk) = CappedWalk::new(count, step, users, colluders) else { continue };
                        mechanism(&walk);
                    }
                }
            }
        }
        for &users in &COUNTS {
            for hits in COUNTS {
                losses(Geometric::meeting(hits, users).and_then(|law| law.log_phi(x)), |value| {
                    vec![value.into_value()]
                });
            }
        }
        losses(Geometric::new(x), |law| {
            vec![law.inverse_mean().into_value(), law.log_phi(1.0).unwrap().into_value()]
        });
    }
    bound(absorption_cost(&[0, u64::MAX - 1], u64::MAX));
    bound(absorption_cost(&[u64::MAX], 0));
}

#[test]
fn walks() {
    for &steps in &COUNTS {
        for &users in &COUNTS {
            for &colluders in &COUNTS {
                let Ok(run) = UncappedWalk::new(steps, users, colluders, LastIterate::Published) else {
                    continue;
                };
                for &theta in &NUMBERS {
                    for &longest in &COUNTS {
                        bound(run.total_log_mgf(theta, longest));
                        bound(run.observed_log_mgf(theta, longest));
                    }
                    bound(run.decreasing_log_mgf(theta, &vec![theta; steps.min(9) as usize]));
                }
                let step = NoisyStep::new(1.0, Sigma::new(1e-200).unwrap()).unwrap();
                if let Ok(descent) = run.descent(step, 3) {
                    mechanism(&descent);
                }
            }
        }
    }
    // Almost everyone observes, or observers hardly ever receive the token.
    for (users, colluders) in [(u64::MAX, 1), (u64::MAX, u64::MAX - 1), (2, 1)] {
        let run = UncappedWalk::new(300, users, colluders, LastIterate::Published).unwrap();
        for theta in [1e-300, 1.0, 600.0] {
            bound(run.total_log_mgf(theta, u64::MAX));
            bound(run.observed_log_mgf(theta, u64::MAX));
            bound(run.observed_log_mgf(theta, 10));
        }
    }
}

#[test]
fn mixtures() {
    for &weight in &NUMBERS {
        for &loss in &NUMBERS {
            let parts = [Part { weight, loss }, Part { weight: 1.0 - weight, loss: 1.0 }];
            for order in orders() {
                bound(log_mean_exp(order, &parts));
            }
        }
    }
}
