//! Compares every shuffling bound with the exact divergence over all data sets of a few users.

use crate::shuffling::{bennett_delta, clones_delta, fixed_blanket_delta, hoeffding_delta, rr_blanket_delta};
use crate::{Error, RandomizedResponse};
use std::collections::BTreeMap;

/// The law of a histogram over at most four labels.
type Law = BTreeMap<[u8; 4], f64>;

/// Adds one report, drawn with the given probabilities.
fn add(law: &Law, report: &[f64]) -> Law {
    let mut sum = Law::new();
    for (histogram, p) in law {
        for (label, q) in report.iter().enumerate() {
            let mut next = *histogram;
            next[label] += 1;
            *sum.entry(next).or_default() += p * q;
        }
    }
    sum
}

fn empty() -> Law {
    Law::from([([0; 4], 1.0)])
}

/// `Σ (P − e^ε Q)₊`.
fn hockey_stick(p: &Law, q: &Law, epsilon: f64) -> f64 {
    p.iter().map(|(key, p)| (p - epsilon.exp() * q[key]).max(0.0)).sum()
}

/// The report of a user with the given label.
fn report(mechanism: &RandomizedResponse, label: u32) -> Vec<f64> {
    let labels = mechanism.labels();
    let stray = mechanism.gamma() / f64::from(labels);
    (0..labels).map(|y| if y == label { 1.0 - mechanism.gamma() + stray } else { stray }).collect()
}

/// All multisets of `size` labels.
fn data_sets(labels: u32, size: u32) -> Vec<Vec<u32>> {
    if size == 0 {
        return vec![Vec::new()];
    }
    data_sets(labels, size - 1)
        .into_iter()
        .flat_map(|shorter| {
            let least = shorter.last().copied().unwrap_or(0);
            (least..labels).map(move |label| [shorter.as_slice(), &[label]].concat())
        })
        .collect()
}

const PARAMETERS: [(f64, f64); 8] =
    [(0.0, 0.5), (0.1, 0.5), (0.4, 0.5), (0.0, 1.0), (0.3, 1.0), (0.9, 1.0), (0.5, 2.0), (1.5, 2.5)];

#[test]
fn bounds_cover_every_data_set() -> Result<(), Error> {
    let mut tightest: f64 = 0.0;
    for labels in 2..=4 {
        for m in 1..=5 {
            for (epsilon, local) in PARAMETERS {
                let mechanism = RandomizedResponse::with_epsilon(labels, local)?;
                let mut worst: f64 = 0.0;
                for others in data_sets(labels, m - 1) {
                    let rest =
                        others.iter().fold(empty(), |law, &label| add(&law, &report(&mechanism, label)));
                    // Both directions are covered, since the pair (label, other) is ordered.
                    for label in 0..labels {
                        for other in (0..labels).filter(|&other| other != label) {
                            let p = add(&rest, &report(&mechanism, label));
                            let q = add(&rest, &report(&mechanism, other));
                            worst = worst.max(hockey_stick(&p, &q, epsilon));
                        }
                    }
                }
                let reports = u64::from(m);
                let blanket = *rr_blanket_delta(epsilon, local, labels, reports)?.value();
                // The allowance is for the rounding of the brute force.
                assert!(
                    worst <= blanket + 1e-15,
                    "L={labels} m={m} ε={epsilon} ε₀={local}: {worst} {blanket}"
                );
                if m > 1 {
                    tightest = tightest.max(worst / blanket);
                }
                for bound in [
                    clones_delta(epsilon, local, reports)?,
                    hoeffding_delta(epsilon, local, None, reports)?,
                    bennett_delta(epsilon, local, None, reports)?,
                    hoeffding_delta(epsilon, local, Some(labels), reports)?,
                    bennett_delta(epsilon, local, Some(labels), reports)?,
                ] {
                    assert!(worst <= bound.value() + 1e-15);
                }
            }
        }
    }
    // For some data set with more than one user the blanket bound is attained.
    assert!(tightest > 1.0 - 1e-9, "{tightest}");
    Ok(())
}

#[test]
fn one_report_among_uniform_elements_is_covered() -> Result<(), Error> {
    for labels in 2..=4 {
        for elements in 0..=5 {
            for (epsilon, local) in PARAMETERS {
                let mechanism = RandomizedResponse::with_epsilon(labels, local)?;
                let uniform = vec![1.0 / f64::from(labels); labels as usize];
                let blanket = (0..elements).fold(empty(), |law, _| add(&law, &uniform));
                let p = add(&blanket, &report(&mechanism, 0));
                let q = add(&blanket, &report(&mechanism, 1));
                let exact = hockey_stick(&p, &q, epsilon);
                let bound = *fixed_blanket_delta(epsilon, local, labels, elements)?.value();
                assert!(exact <= bound + 1e-15 && bound <= exact * (1.0 + 5e-11) + 1e-15, "{exact} {bound}");
            }
        }
    }
    Ok(())
}

/// The clones bound covers a randomizer of three inputs with two answers, at the limit of `ε₀`-DP.
#[test]
fn clones_cover_a_randomizer_of_three_inputs() -> Result<(), Error> {
    let local = 1.0_f64;
    // The probabilities of the answer 1, of which the largest and the smallest differ by the factor e^{ε₀}.
    let extremes = [1.0 / (1.0 + local.exp()), 0.5, local.exp() / (1.0 + local.exp())];
    for epsilon in [0.0, 0.2, 0.7] {
        for m in 2..=5 {
            for others in data_sets(3, m - 1) {
                let rest = others.iter().fold(empty(), |law, &choice| {
                    let one = extremes[choice as usize];
                    add(&law, &[1.0 - one, one])
                });
                let high = extremes[2];
                let p = add(&rest, &[1.0 - high, high]);
                let q = add(&rest, &[high, 1.0 - high]);
                let exact = hockey_stick(&p, &q, epsilon).max(hockey_stick(&q, &p, epsilon));
                assert!(exact <= clones_delta(epsilon, local, u64::from(m))?.value() + 1e-15);
            }
        }
    }
    Ok(())
}

/// Users who always give the same answer are `0`-DP, and hide nobody: the randomizer must be that of all.
#[test]
fn a_crowd_of_other_randomizers_is_not_covered() -> Result<(), Error> {
    let (epsilon, local, m) = (0.2_f64, 1.0_f64, 1000);
    let alone = (local.exp() - epsilon.exp()) / (1.0 + local.exp());
    assert!(*clones_delta(epsilon, local, m)?.value() < 1e-6 && alone > 0.4);
    Ok(())
}
