//! Compositions compared with the values of a well-maintained library, which are pessimistic but not proven,
//! on a grid of 2.5e-5.

use super::{delta, laplaces, sampled};
use crate::{LossLaw, Neighbors};

/// Asserts that the upper end is at most 1e-4 above the value of the peer, and the lower end below it.
fn check_epsilon(law: &LossLaw, at: f64, peer: f64) {
    let found = law.epsilon(delta(at));
    assert!(found.lower() < peer && found.upper() < peer + 1e-4, "{found:?} {peer}");
    assert!(found.lower() > peer - 1.5e-4 && found.upper() > peer - 1e-4, "{found:?} {peer}");
}

fn check_delta(law: &LossLaw, peer: f64) {
    let found = law.delta(1.0).unwrap();
    assert!(found.lower() < peer && peer < found.upper() * (1.0 + 1e-6), "{found:?} {peer}");
    assert!(found.upper() < found.lower() * 1.001, "{found:?}");
}

#[test]
fn a_thousand_sampled_steps() {
    let law = sampled(0.01, 1.0, 1000);
    check_epsilon(&law, 1e-5, 1.828_237_10);
    check_delta(&law, 0.002_612_425_34);
}

#[test]
fn ten_thousand_sampled_steps_with_little_noise() {
    let law = sampled(0.001, 0.6, 10_000);
    check_epsilon(&law, 1e-6, 3.152_193_30);
    check_delta(&law, 0.002_799_585_97);
}

#[test]
fn many_records_at_a_time() {
    let law = sampled(0.1, 2.0, 200);
    check_epsilon(&law, 1e-8, 4.602_567_10);
    check_delta(&law, 0.051_262_546_52);
}

/// A case for which the peer returns a `δ` of 1.00023.
#[test]
fn half_of_the_records_at_a_time() {
    let law = sampled(0.487, 0.557, 361);
    check_epsilon(&law, 1e-5, 287.678_914);
    let found = law.delta(1.0).unwrap();
    assert!(found.upper() <= 1.0 && found.lower() > 1.0 - 1e-8, "{found:?}");
}

#[test]
fn fifty_laplace_releases() {
    check_epsilon(&laplaces(2.0, 50, Neighbors::ReplaceOne), 1e-6, 18.754_681_4);
}

#[test]
fn sampled_steps_and_laplace_releases() {
    let parts = [sampled(0.01, 1.0, 500), laplaces(2.0, 10, Neighbors::AddOrRemove)];
    check_epsilon(&LossLaw::compose(&parts).unwrap(), 1e-6, 5.858_515);
}

/// The value and the gap between the ends for a law with atoms, with steps that divide the distance of the
/// atoms and with steps that do not.
#[test]
fn atoms_want_to_be_on_the_grid() {
    let law = laplaces(2.0, 16, Neighbors::ReplaceOne);
    let on_step = |step: f64| law.clone().with_step(step).unwrap().epsilon(delta(1e-3));
    let (divides, misses) = (on_step(0.01), on_step(0.011));
    assert!(divides.lower() < 6.297_45 && 6.297_445 < divides.upper(), "{divides:?}");
    assert!(divides.upper() - divides.lower() < 1.1e-4, "{divides:?}");
    let gap = misses.upper() - misses.lower();
    assert!((2e-4..9.5e-3).contains(&gap), "{misses:?}");
    assert!(misses.lower() < 6.297_45 && 6.297_445 < misses.upper(), "{misses:?}");
    // By default, a step that divides the distance is chosen.
    let found = law.epsilon(delta(1e-3));
    assert!(found.upper() - found.lower() < 1e-4 && (found.upper() - 6.297_45).abs() < 1e-4, "{found:?}");
}
