//! Claims of *Privacy amplification by decentralization* that are false as printed, each with its
//! counterexample.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use crate::Mechanism;
use crate::federated::ContractionFactor;
use crate::gaussian::{self, sigma_classic};
use crate::iteration::{Geometric, LastIterate, NoisyStep, UncappedWalk};
use crate::mixture::{self, Part};
use crate::{
    Delta, Error, Order, RandomizedResponse, Sensitivity, Sigma, randomized_response, shuffling, tails,
};
use approx::assert_relative_eq;
use ndp_numeric::gaussian_profile::theta;

fn delta(x: f64) -> Delta {
    Delta::new(x).unwrap()
}

fn unit() -> Sensitivity {
    Sensitivity::new(1.0).unwrap()
}

/// Theorem 2 inverts the amplification: at its noise a single report is already more private than the whole
/// protocol has to be. The corrected probability of a random answer is far smaller, so that more of the
/// answers carry information.
#[test]
fn theorem_2_inverts_the_amplification() -> Result<(), Error> {
    let (labels, epsilon, users) = (10, 0.1, 100_000.0);
    let share = f64::from(labels);
    // The printed formula, as in `ndp_printed::network`.
    let gamma = |epsilon: f64| share / ((12.0 * epsilon * (1e6_f64.ln() / users).sqrt()).exp_m1() + share);
    let printed = gamma(epsilon);
    assert!(randomized_response::local_epsilon(labels, printed)? < epsilon);
    // 1 − γ is the share of answers that are not random and carry information.
    let corrected = shuffling::efmrtt_gamma(labels, 0.05, delta(1e-6), 99_999)?;
    let printed = gamma(0.05);
    assert!(1.0 - corrected > 5.0 * (1.0 - printed), "{corrected} {printed}");
    Ok(())
}

/// Theorem 3 divides the loss by √l in a cycle of length `l`, but such a cycle holds only `l − 1` noises of
/// other users. At `l = 2` one noise is left, and the loss under that noise is above the claim.
#[test]
fn theorem_3_counts_one_noise_too_many() -> Result<(), Error> {
    // The printed formula, as in `ndp_printed::network`, at c² n^{2/3} = 2.
    let epsilon = 0.5;
    let claimed = epsilon / 2.0_f64.sqrt();
    assert_relative_eq!(claimed, 0.353_55, max_relative = 1e-4);
    let sigma = sigma_classic(epsilon, delta(1e-6), unit())?.into_value();
    let truth = *gaussian::epsilon(1.0 / sigma.get(), delta(1e-6))?.value();
    assert_relative_eq!(truth, 0.372_979_005_969_516_84, max_relative = 1e-12);
    assert!(truth > claimed);
    Ok(())
}

/// The proof of Theorem 3 bounds the failure probability of a group of `k` by `kδ` at the same `ε`. The `δ`
/// of a group grows much faster: here `k` of the `m` contributions of a sum are changed, and each has the
/// classic noise for (0.5, 1e-10).
#[test]
fn group_deltas_grow_faster_than_the_group() -> Result<(), Error> {
    let sigma = sigma_classic(0.5, delta(1e-10), unit())?.into_value();
    for (k, m, expected) in [(2.0, 2.0_f64, 1.8218e-8), (4.0, 9.0, 3.6117e-9)] {
        let truth = theta(0.5, k / (sigma.get() * m.sqrt()));
        assert_relative_eq!(truth, expected, max_relative = 1e-4);
        assert!(truth > 5.0 * k * 1e-10);
    }
    // For pure differential privacy the claimed δ of a group is 0. Two reports of one user have a δ above
    // 0.1:
    let report = RandomizedResponse::with_epsilon(2, 0.5)?;
    let (keep, flip) = (1.0 - 0.5 * report.gamma(), 0.5 * report.gamma());
    let group = keep * keep - 0.5f64.exp() * flip * flip;
    assert!(group > 0.1);
    Ok(())
}

/// The printed number of contributions fails with ten times the stated probability outside `T/n ≥ 3
/// ln(1/δ̂)`.
#[test]
fn the_printed_count_fails_outside_its_range() -> Result<(), Error> {
    let printed = 1.0 + (3.0 * 1e6_f64.ln()).sqrt();
    assert_relative_eq!(printed, 7.438, max_relative = 1e-4);
    let truth = ndp_numeric::binomial::log_tail_up(7, 1000, 1e-3)?.exp();
    assert_relative_eq!(truth, 1.003e-5, max_relative = 1e-3);
    assert!(*tails::n_exact(1000, 1e-3, delta(1e-6))?.value() as f64 > printed);
    Ok(())
}

/// Lemma 1 at `n = 2`, one contribution, `2α(α − 1)L²/σ² = 1`, against an observer who sees the step index:
/// the view is a visible mixture of Gaussians, whose loss is known exactly.
#[test]
fn lemma_1_is_false_for_two_users() -> Result<(), Error> {
    let order = Order::new(2.0)?;
    let step = NoisyStep::new(1.0, Sigma::new(2.0)?)?;
    assert_eq!(step.theta(order), 1.0);
    // The printed formula, as in `ndp_printed::network`; order 2 is within its limit of orders.
    let claimed = std::f64::consts::LN_2;
    // With linear losses the shift 2L is hidden after g steps by noise of standard deviation √g σ, exactly.
    // Gaps above 60, of probability 2^{−60}, are given a loss of 0, which can only understate the truth.
    let mut parts: Vec<Part> = (1..=60)
        .map(|g| Part {
            weight: 0.5f64.powi(g),
            loss: 0.5 * order.get() * step.ratio() * step.ratio() / f64::from(g),
        })
        .collect();
    parts.push(Part { weight: 0.5f64.powi(60), loss: 0.0 });
    let truth = *mixture::log_mean_exp(order, &parts)?.value();
    assert_relative_eq!(truth, 0.742_134_929_942_002_6, max_relative = 1e-12);
    assert!(truth > claimed);
    // The theorem that replaces the lemma gives 1, above the truth: it ends a gap also when the exposed user
    // acts again, and with two users that makes every gap 1. With gaps that end only when the observer
    // receives, of parameter 1/2, the same moment is the truth.
    let phi = *Geometric::until_seen(2, 1)?.log_phi(1.0)?.value();
    assert_eq!(phi, 1.0, "the exposed user's own next visit ends the gap as well");
    assert_relative_eq!(*Geometric::meeting(1, 2)?.log_phi(1.0)?.value(), truth, max_relative = 1e-12);
    Ok(())
}

/// "Geometric of parameter 1/n" gives `E[1/G] = ln n/(n − 1)`, above the printed `ln n/n`; and with `c`
/// colluders the parameter is `c/n`, not the printed `1 − c/n`.
#[test]
fn printed_geometric_means_are_too_small() -> Result<(), Error> {
    for n in [2, 10, 1000] {
        let truth = *Geometric::meeting(1, n)?.inverse_mean().value();
        assert!(truth > (n as f64).ln() / n as f64);
    }
    // P(gap = 1) = c/n: the first step goes straight to a colluder.
    let coalition = Geometric::meeting(3, 1000)?;
    assert_eq!(coalition.p, 0.003);
    Ok(())
}

/// Amplification by iteration for a constant step does not cover the decreasing steps of Proposition 1: for
/// linear losses the loss is known exactly, and it is larger.
#[test]
fn decreasing_steps_hide_less_than_constant_ones() -> Result<(), Error> {
    let (step, order) = (NoisyStep::new(1.0, Sigma::new(4.0)?)?, Order::new(3.0)?);
    let sizes: Vec<f64> = (1..=9).map(|t| 1.0 / f64::from(t).sqrt()).collect();
    // The exact loss is α μ²/2 with μ² = (2L/σ)²/S, where S is the sum of the squares of the step sizes in
    // units of the first.
    let exact = 1.5 * 0.25 / sizes.iter().map(|size| size * size).sum::<f64>();
    assert!(exact > step.mu_after(9, ContractionFactor::new(1.0)?)?.value().rdp(order).into_value());
    let run = UncappedWalk::new(60, 10, 1, LastIterate::Withheld)?;
    let sizes: Vec<f64> = (1..=60).map(|t| 1.0 / f64::from(t).sqrt()).collect();
    let constant = *run.total_log_mgf(0.5, u64::MAX)?.value();
    assert!(*run.decreasing_log_mgf(0.5, &sizes)?.value() > constant);
    Ok(())
}

/// The constant 14 of Theorem 6 is above the closed clones bound throughout its range.
#[test]
fn the_constant_14_is_sound() -> Result<(), Error> {
    for m in [2000, 50_000, 3_000_000] {
        for x in [1e-3, 1e-6, 1e-10] {
            for share in [0.1, 0.5, 1.0] {
                let limit = libm::log(m as f64 / (16.0 * libm::log(2.0 / x))).min(1.0);
                if limit > 0.0 {
                    let local = share * limit;
                    let closed = *shuffling::clones_closed(local, m, delta(x))?.value();
                    assert!(closed <= 14.0 * libm::sqrt(libm::log(4.0 / x) / m as f64) * local);
                }
            }
        }
    }
    Ok(())
}
