//! Composed laws whose error allowances are so large that a test can see each of them, and windows that
//! contain only a part of a law.

use super::*;
use crate::loss_law::enclosing::Enclosing;
use crate::loss_law::grid_law::GridLaw;
use std::collections::BTreeMap;

/// A law on six points of a grid of 1/4, with allowances between a hundredth and a tenth.
fn vague(end: End) -> Composed {
    Composed {
        end,
        step: 0.25,
        tilt: 0.5,
        first: -2,
        reference: 1,
        largest: 3,
        offset: Interval::between(-0.01, 0.02),
        masses: vec![0.1, 0.2, 0.25, 0.1, 0.05, 0.1],
        infinite: 0.01,
        scale: Interval::between(0.9, 1.1),
        relative: 0.05,
        noise: 0.02,
        above: if end == End::Upper { 0.03 } else { 0.0 },
    }
}

/// `Σ m_J (1 − e^{ε − Jh})` over the points above `ε`.
fn sum(law: &Composed, epsilon: f64) -> f64 {
    let points = (law.first..).zip(&law.masses).map(|(index, &mass)| (index as f64 * law.step, mass));
    points.filter(|&(loss, _)| loss > epsilon).map(|(loss, mass)| -mass * (epsilon - loss).exp_m1()).sum()
}

/// The upper or the lower end by the formula in the documentation of the module.
fn defined(law: &Composed, epsilon: f64) -> f64 {
    let noise = |at: f64| law.noise * (-law.tilt * (at - law.reference as f64 * law.step)).exp();
    match law.end {
        End::Upper => {
            let at = epsilon - law.offset.high();
            let sum = (sum(law, at) + noise(at)) * (1.0 + law.relative) + law.above;
            (law.infinite + law.scale.high() * sum).min(1.0)
        }
        End::Lower => {
            let at = epsilon - law.offset.low();
            let sum = sum(law, at) * (1.0 - law.relative) - noise(at) * (1.0 + law.relative);
            law.infinite + law.scale.low() * sum.max(0.0)
        }
    }
}

/// Every allowance is applied in full, in the direction of the end.
#[test]
fn allowances_count_on_their_side() {
    for end in [End::Upper, End::Lower] {
        let law = vague(end);
        for k in -21..=35 {
            let epsilon = 0.02 * f64::from(k) + 0.003;
            let (found, wanted) = (law.delta(epsilon), defined(&law, epsilon));
            assert!((found - wanted).abs() < 1e-9, "{end:?} {epsilon}: {found} {wanted}");
        }
    }
    // Above the largest index only the mass at infinity is left; below the window the ends are trivial.
    assert_eq!((vague(End::Upper).delta(0.78), vague(End::Lower).delta(0.76)), (0.01, 0.01));
    assert_eq!(vague(End::Upper).delta(-0.49), 1.0);
}

/// Points are looked up by the middle of the interval of the offset.
#[test]
fn losses_are_counted_from_the_middle_of_the_offset() {
    let law = Composed { offset: Interval::between(0.0, 1.0), ..vague(End::Upper) };
    assert_eq!(law.past_offset(2.0), 1.5);
}

/// The `ε` at a `δ` is the point where the end has the value `δ`.
#[test]
fn epsilons_invert_both_ends() {
    for (end, targets) in [(End::Upper, [0.09, 0.12, 0.15]), (End::Lower, [0.03, 0.05, 0.065])] {
        let law = Composed { offset: Interval::ZERO, ..vague(end) };
        for target in targets {
            let epsilon = law.epsilon(target).expect("within the window");
            assert!(epsilon > 0.0 && (defined(&law, epsilon) - target).abs() < 1e-9, "{end:?} {target}");
        }
    }
}

/// The noise of a tilted law grows by a factor of `e^{θh}` per point to the left, here 150. Two points to the
/// left of the answer the noise hides the law completely, and the search must not start there.
#[test]
fn a_lower_end_is_found_beside_its_noise() {
    let law = Composed { tilt: 20.0, noise: 1e-5, reference: 2, offset: Interval::ZERO, ..vague(End::Lower) };
    let epsilon = law.epsilon(0.04).expect("within the window");
    assert!(epsilon > 0.25 && (defined(&law, epsilon) - 0.04).abs() < 1e-9, "{epsilon}");
}

fn laws(masses: &[(i64, f64)], step: f64, infinite: f64) -> Enclosing {
    let law = GridLaw { step, masses: masses.to_vec(), infinite };
    let (upper_offset, lower_offset) = (Interval::ZERO, Interval::ZERO);
    Enclosing { upper: law.clone(), lower: law, upper_offset, lower_offset }
}

/// The profile of `count` independent losses, summed over all combinations.
fn multiplied_out(laws: &Enclosing, count: u64, epsilon: f64) -> f64 {
    let mut all = BTreeMap::from([(0_i64, 1.0)]);
    for _ in 0..count {
        let mut next = BTreeMap::new();
        for (index, mass) in &all {
            for &(more, other) in &laws.upper.masses {
                *next.entry(index + more).or_insert(0.0) += mass * other;
            }
        }
        all = next;
    }
    let kept = (1.0 - laws.upper.infinite).powi(i32::try_from(count).expect("small"));
    let terms = all.into_iter().map(|(index, mass)| (index as f64 * laws.upper.step, mass));
    let above = terms.filter(|&(loss, _)| loss > epsilon);
    1.0 - kept + above.map(|(loss, mass)| -mass * (epsilon - loss).exp_m1()).sum::<f64>()
}

/// A window of 16 points for a law with 26. Wherever the window lies and whatever the tilts are, the ends
/// enclose the profile. A window that contains the whole law gives the profile up to rounding, if the tilt is
/// moderate.
#[test]
fn windows_that_cut_a_law_enclose_it() {
    for step in [0.1, 0.4] {
        let laws = laws(&[(-2, 0.3), (0, 0.4), (3, 0.2)], step, 0.1);
        let parts = [Part { laws: &laws, count: 5 }];
        let check = |window: Window, size: usize| {
            let (upper, lower) = compose(&parts, step, window, &Transform::new(size));
            for k in 0..=40 {
                let epsilon = step * (window.first as f64 + 0.4 * f64::from(k) + 0.1);
                let truth = multiplied_out(&laws, 5, epsilon);
                let (above, below) = (upper.delta(epsilon), lower.delta(epsilon));
                assert!(below <= truth + 1e-13, "{window:?} {step} {epsilon}: {below} {truth}");
                assert!(above >= truth - 1e-13, "{window:?} {step} {epsilon}: {above} {truth}");
                assert!(
                    size < 32 || window.tilt > 1.0 || above - below < 1e-9,
                    "{window:?} {step} {epsilon}: {above} {below}"
                );
            }
        };
        for tilt in [0.0, 1.0, 4.0] {
            for first in [-9, -6, -3, -1, 0] {
                for by in [0.5, 2.0, 6.0] {
                    check(Window { tilt, first, reference: first + 5, aside: (by, by) }, 16);
                }
            }
            check(Window { tilt, first: -11, reference: 0, aside: (1.0, 1.0) }, 32);
        }
    }
}

/// The norm is at least the root of the sum of the squares of the weights `e^{−θs} (1 − e^{−s})` at the
/// points `s = (k + r) h`. On a fine grid its square exceeds that sum by at most the largest weight, 1, plus
/// the error of replacing a sum by an integral.
#[test]
fn weights_have_at_most_their_norm() {
    for tilt in [0.3, 1.0, 3.0, 20.0] {
        for step in [1e-3, 0.02, 0.3] {
            let norm = weight_norm(tilt, step, 1 << 20);
            for r in [0.25, 0.5, 1.0] {
                let points = (0..100_000).map(|k| (f64::from(k) + r) * step);
                let squares: f64 = points.map(|s| ((-tilt * s).exp() * -(-s).exp_m1()).powi(2)).sum();
                assert!(norm * norm >= squares, "{tilt} {step} {r}: {norm} {squares}");
                assert!(norm * norm <= 1.02 * (squares + 1.0), "{tilt} {step} {r}: {norm} {squares}");
            }
        }
    }
    // Weights are at most 1, and there is one for each point, so the norm is at most the root of their
    // number.
    assert!((weight_norm(0.0, 0.1, 64) - 8.0).abs() < 1e-7);
}

/// The error of the transforms is multiplied by the norm of the weights of all points.
#[test]
fn errors_of_bins_are_weighted() {
    let (step, tilt, size) = (0.01, 1.0, 256);
    let laws = laws(&[(-2, 0.3), (0, 0.4), (3, 0.3)], step, 0.0);
    let part = Part { laws: &laws, count: 5 };
    let transform = Transform::new(size);
    let window = Window { tilt, first: -20, reference: 0, aside: (1.0, 1.0) };
    let (upper, lower) = compose(&[part], step, window, &transform);
    let (_, error) = convolve(vec![Tilted::new(part, tilt, size)], &transform);
    let weights = (1..=size).map(|k| k as f64 * step).map(|s| ((-tilt * s).exp() * -(-s).exp_m1()).powi(2));
    let least = error * weights.sum::<f64>().sqrt();
    assert!(least > 2.0 * error && upper.noise >= least && lower.noise >= least, "{upper:?} {least}");
}

/// Of two releases with 2^-10 at infinity each: `1 − (1 − 2^-10)² = 2^-9 − 2^-20`, a float.
#[test]
fn masses_at_infinity_are_rounded_outward() {
    let leak = f64::exp2(-10.0);
    let laws = laws(&[(0, 1.0 - leak)], 0.1, leak);
    let exact = f64::exp2(-9.0) - f64::exp2(-20.0);
    let part = [Part { laws: &laws, count: 2 }];
    let (upper, lower) = (infinite(&part, End::Upper), infinite(&part, End::Lower));
    assert!(lower < exact && exact < upper && upper - lower < 1e-13, "{lower} {upper}");
}

/// The whole mass of a law is at the first point above the window. Chernoff's bound is then 1, the true
/// value, and rounding must not make it smaller.
#[test]
fn what_lies_above_is_rounded_up() {
    for (step, count) in [(0.1, 1), (0.3, 7), (0.7, 3)] {
        let laws = laws(&[(4, 1.0)], step, 0.0);
        let last = 4 * i64::try_from(count).expect("small");
        let window = Window { tilt: 0.0, first: last - 16, reference: last, aside: (0.9, 1.0) };
        let (upper, _) = compose(&[Part { laws: &laws, count }], step, window, &Transform::new(16));
        assert!(1.0 <= upper.above && upper.above < 1.0 + 1e-12, "{step} {count}: {}", upper.above);
    }
}
