//! Laws of which only some `(ε, δ)` are known.

use super::delta;
use crate::{ApproxDp, Error, LossLaw, Neighbors, RandomizedResponse, composition};

fn law(bounds: &[(f64, f64)]) -> LossLaw {
    let bounds: Vec<ApproxDp> = bounds.iter().map(|&(e, d)| ApproxDp::new(e, d).unwrap()).collect();
    LossLaw::of_bounds(&bounds, Neighbors::ReplaceOne).unwrap()
}

/// One bound, composed, gives the optimal composition theorem, which is a sum over binomial coefficients.
#[test]
fn one_bound_composes_optimally() {
    for (epsilon, failure) in [(0.1, 1e-8), (0.7, 0.0), (2.5, 1e-3), (1e-3, 0.0), (0.0, 1e-4), (30.0, 1e-9)] {
        let release = ApproxDp::new(epsilon, failure).unwrap();
        for count in [1, 2, 7, 60] {
            let law = law(&[(epsilon, failure)]).times(count).unwrap();
            for total in [0.0, 0.3 * epsilon, epsilon, 2.2 * epsilon, 5.0 * epsilon] {
                let exact = composition::optimal_delta(release, count, total).unwrap().into_value();
                let found = law.delta(total).unwrap();
                let near = 1e-9 * exact + 1e-15;
                assert!(
                    found.upper() >= exact - near,
                    "{epsilon} {failure} {count} {total}: {found:?} {exact}"
                );
                assert!(
                    found.upper() <= 1.001 * exact + near,
                    "{epsilon} {failure} {count} {total}: {found:?} {exact}"
                );
            }
        }
    }
}

/// If all points of a profile are given as bounds, the result is that of the mechanism; weaker bounds in
/// addition change nothing.
#[test]
fn the_corners_of_a_profile_are_its_law() {
    let response = RandomizedResponse::with_epsilon(5, 0.8).unwrap();
    let exact = LossLaw::randomized_response(response);
    let at = |epsilon: f64| (epsilon, exact.delta(epsilon).unwrap().upper());
    let known = law(&[at(0.8), (0.8, 0.4), at(0.0), (0.3, 0.9), at(0.4), (2.0, 0.0)]);
    for count in [1, 9] {
        let (known, exact) = (known.clone().times(count).unwrap(), exact.clone().times(count).unwrap());
        for epsilon in [0.0, 0.1, 0.5, 0.79, 1.5] {
            let (known, exact) = (known.delta(epsilon).unwrap(), exact.delta(epsilon).unwrap());
            assert!(known.upper() >= exact.lower(), "{count} {epsilon}: {known:?} {exact:?}");
            assert!(known.upper() <= exact.upper() * 1.001 + 1e-13, "{count} {epsilon}: {known:?} {exact:?}");
        }
    }
}

/// Between two bounds the profile is a straight line in `e^ε`, and its mirror image on the other side of 1 as
/// well.
#[test]
fn a_profile_is_straight_between_bounds() {
    let (low, high) = ((0.2f64, 0.05), (1.0f64, 0.002));
    let found = law(&[low, high]);
    let at = |epsilon: f64| found.delta(epsilon).unwrap().upper();
    let share = (0.6f64.exp() - low.0.exp()) / (high.0.exp() - low.0.exp());
    assert!((at(0.6) - (low.1 + share * (high.1 - low.1))).abs() < 1e-12);
    // At ε = 0 it is on the chord from the first bound to its mirror image, 1 − x + x δ at x = 1/e^ε.
    let x = (-low.0).exp();
    let share = (1.0 - x) / (low.0.exp() - x);
    assert!((at(0.0) - ((1.0 - share) * (1.0 - x + x * low.1) + share * low.1)).abs() < 1e-12);
    assert!((at(1.0) - 0.002).abs() < 1e-15 && (at(50.0) - 0.002).abs() < 1e-15);
    assert_eq!(found.epsilon(delta(1e-3)).upper(), f64::INFINITY);
}

/// Bounds that say nothing, and bounds that say almost nothing.
#[test]
fn extreme_bounds_are_answered() {
    assert_eq!(law(&[(0.0, 1.0)]).delta(3.0).unwrap().upper(), 1.0);
    assert_eq!(law(&[(0.0, 0.0)]).times(1000).unwrap().epsilon(delta(1e-9)).upper(), 0.0);
    let far = law(&[(800.0, 1e-300), (1e300, 0.0)]);
    assert!(far.delta(799.0).unwrap().upper() >= 1.0 - (-1.0f64).exp());
    assert!(matches!(
        LossLaw::of_bounds(&[], Neighbors::ReplaceOne),
        Err(Error::InvalidParameter { name: "the number of bounds", .. })
    ));
}

/// The mass at infinity of a profile given as a function counts once for each release, and does not hide
/// other losses.
#[test]
fn a_profile_that_ends_above_zero_can_be_composed() {
    let profile = |epsilon: f64| 1e-9 + (1.0 - 1e-9) * -((0.5 * (epsilon - 0.5)).min(0.0).exp_m1());
    let law = LossLaw::of_delta(profile, profile, 1e-12, Neighbors::ReplaceOne).unwrap().times(16).unwrap();
    let found = law.epsilon(delta(1e-3)).upper();
    assert!((found - 6.297_45).abs() < 2e-3, "{found}");
    assert_eq!(law.epsilon(delta(1e-8)).upper(), f64::INFINITY);
}
