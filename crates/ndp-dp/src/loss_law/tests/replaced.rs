//! Releases that involve the replaced record only with some probability.

use super::{delta, gaussian, laplaces, sampled};
use crate::{Error, LossLaw, Mechanism, Neighbors, RandomizedResponse};

/// The `δ` of the exact mixtures `(1 − q) M + q N₁` and `(1 − q) M + q N₁'` of answers with three values, in
/// both directions and for any answers `M` of others, is never above that of the law, and equal to it without
/// others.
#[test]
fn mixtures_with_others_are_covered() {
    for (local, rate) in [(0.7, 0.3), (2.0, 0.05), (0.2, 1.0), (5.0, 1e-3)] {
        let response = RandomizedResponse::with_epsilon(3, local).unwrap();
        let law = LossLaw::sampled_replaced(&LossLaw::randomized_response(response), rate).unwrap();
        let (gamma, own) = (response.gamma(), 1.0 - response.gamma());
        let answer = |label: usize, seen: usize| gamma / 3.0 + if label == seen { own } else { 0.0 };
        let pure = (rate * local.exp_m1()).ln_1p();
        for epsilon in [0.0, 0.3 * pure, 0.9 * pure, 1.01 * pure] {
            let mut most = 0.0f64;
            for (first, second, others) in [(0, 1, 0), (0, 1, 1), (0, 1, 2), (1, 0, 2)] {
                let mixed = |own, seen| (1.0 - rate) * answer(others, seen) + rate * answer(own, seen);
                let exact: f64 = (0..3)
                    .map(|seen| (mixed(first, seen) - epsilon.exp() * mixed(second, seen)).max(0.0))
                    .sum();
                most = most.max(exact);
            }
            let found = law.delta(epsilon).unwrap().upper();
            assert!(most <= found + 1e-15, "{local} {rate} {epsilon}: {most} {found}");
            assert!(rate < 1.0 || found <= most + 1e-12, "{local} {rate} {epsilon}: {most} {found}");
        }
        assert_eq!(law.delta(1.01 * pure).unwrap().upper(), 0.0);
    }
}

/// A rate of 1 gives the release itself, and a rate of 0 nothing. Composed, the loss is far below that
/// without sampling.
#[test]
fn rates_have_their_limits() {
    let step = LossLaw::gaussian(gaussian(1.5), Neighbors::ReplaceOne);
    let always = LossLaw::sampled_replaced(&step, 1.0).unwrap();
    for epsilon in [0.0, 0.4, 2.0] {
        let (one, other) = (always.delta(epsilon).unwrap().upper(), step.delta(epsilon).unwrap().upper());
        assert!((one - other).abs() <= 1e-12 * other, "{one} {other}");
    }
    let never = LossLaw::sampled_replaced(&step, 0.0).unwrap().times(10).unwrap();
    assert_eq!(never.epsilon(delta(1e-9)).upper(), 0.0);
    // Adding or removing a record costs less than replacing it by another one.
    let added = sampled(0.01, 1.5, 1000).epsilon(delta(1e-6)).upper();
    let replaced = LossLaw::sampled_replaced(&step, 0.01).unwrap().times(1000).unwrap();
    let replaced = replaced.epsilon(delta(1e-6)).upper();
    assert!(added < replaced && replaced < 2.5 * added, "{added} {replaced}");
}

/// The profile is the Gaussian one at the inner level. For a release with two directions it is the larger
/// one.
#[test]
fn profiles_are_those_of_the_inner_level() {
    let law = |release: &LossLaw, rate| LossLaw::sampled_replaced(release, rate).unwrap();
    let release = LossLaw::gaussian(gaussian(2.0), Neighbors::ReplaceOne);
    for (rate, epsilon) in [(0.1, 0.02), (0.01, 0.3), (0.5, 1.7)] {
        let inner = (f64::exp_m1(epsilon) / rate).ln_1p();
        let exact = rate * *crate::Gdp::new(0.5).unwrap().delta(inner).unwrap().value();
        let found = law(&release, rate).delta(epsilon).unwrap().upper();
        assert!((found - exact).abs() <= 1e-9 * exact, "{found} {exact}");
    }
    let pair = |p: [f64; 2], q: [f64; 2]| law(&LossLaw::finite(&p, &q, Neighbors::ReplaceOne).unwrap(), 0.2);
    let (one, other) = (pair([0.9, 0.1], [0.5, 0.5]), pair([0.5, 0.5], [0.9, 0.1]));
    for epsilon in [0.0, 0.1, 0.4] {
        let [a, b] = [&one, &other].map(|law| law.delta(epsilon).unwrap().upper());
        assert!((a - b).abs() < 1e-15, "{a} {b}");
    }
    // The largest loss is ln(1 + 0.2 (5 − 1)) = ln 1.8, from the larger one, ln 5, of the two directions.
    assert!(one.delta(0.5).unwrap().upper() > 0.0 && one.delta(1.8f64.ln() + 1e-9).unwrap().upper() == 0.0);
}

#[test]
fn what_is_drawn_is_one_release_of_records_that_are_replaced() {
    let release = LossLaw::gaussian(gaussian(1.0), Neighbors::ReplaceOne);
    for rate in [-0.1, 1.1, f64::NAN] {
        assert!(matches!(
            LossLaw::sampled_replaced(&release, rate),
            Err(Error::InvalidParameter { name: "a probability", .. })
        ));
    }
    assert!(matches!(
        LossLaw::sampled_replaced(&laplaces(1.0, 2, Neighbors::ReplaceOne), 0.5),
        Err(Error::InvalidParameter { name: "what is drawn", value: 2.0, .. })
    ));
    let added = laplaces(1.0, 1, Neighbors::AddOrRemove);
    assert_eq!(LossLaw::sampled_replaced(&added, 0.5).err(), Some(Error::MixedNeighbors));
}
