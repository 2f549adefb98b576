//! The upper and the lower law of a pair on a grid, and the direction of every rounding.

use super::{delta, gaussian, laplace};
use crate::loss_law::enclosing::Enclosing;
use crate::loss_law::gaussian::GaussianPair;
use crate::loss_law::grid_law::{GridLaw, Sweep};
use crate::loss_law::laplace::LaplacePair;
use crate::loss_law::pair::Pair;
use crate::loss_law::sampled::{Sampled, Side};
use crate::{LossLaw, Neighbors};
use ndp_numeric::rounding::Interval;

/// The profile of a law on a grid, by the sum that defines it.
fn profile(law: &GridLaw, offset: f64, epsilon: f64) -> f64 {
    let terms = law.masses.iter().map(|&(index, mass)| (index as f64 * law.step + offset, mass));
    let above = terms.filter(|&(loss, _)| loss > epsilon);
    law.infinite + above.map(|(loss, mass)| -mass * (epsilon - loss).exp_m1()).sum::<f64>()
}

fn pairs() -> Vec<(&'static str, Box<dyn Pair>)> {
    let base = GaussianPair { mu: Interval::new(1.0) };
    let laplace = LaplacePair::new(laplace(2.0));
    vec![
        ("gaussian", Box::new(GaussianPair { mu: Interval::new(0.7) })),
        ("laplace", Box::new(laplace)),
        ("remove", Box::new(Sampled { base, rate: 0.1, side: Side::Remove })),
        ("add", Box::new(Sampled { base, rate: 0.1, side: Side::Add })),
        ("remove laplace", Box::new(Sampled { base: laplace, rate: 0.3, side: Side::Remove })),
        ("add laplace", Box::new(Sampled { base: laplace, rate: 0.3, side: Side::Add })),
    ]
}

/// At grid points and between them, the profiles of the two laws are above and below that of the pair. Their
/// masses sum to 1, and for a smooth law the gap between them is that of the theory.
#[test]
fn laws_enclose_the_profile_everywhere() {
    for (name, pair) in pairs() {
        for step in [0.01, 0.05, 0.25] {
            let reach = if name == "gaussian" || name == "remove" { 8.0 } else { 1.0 };
            let indices: Vec<i64> = (-(reach / step) as i64..=(reach / step) as i64).collect();
            let laws = Enclosing::new(&*pair, step, &indices);
            let mass = laws.upper.finite_mass() + laws.upper.infinite;
            assert!((1.0..1.0 + 1e-11).contains(&mass), "{name}: {mass}");
            let mass = laws.lower.finite_mass() + laws.lower.infinite;
            assert!(mass <= 1.0 + 1e-14 && mass > 1.0 - 1e-11, "{name}: {mass}");
            let mut gap = 0.0_f64;
            for k in -400..=400 {
                let epsilon = reach * 1.02 * f64::from(k) / 400.0;
                let point = pair.at(Interval::new(epsilon)).delta;
                let upper = profile(&laws.upper, laws.upper_offset.low(), epsilon);
                let lower = profile(&laws.lower, laws.lower_offset.high(), epsilon);
                assert!(upper >= point.low() - 1e-14, "{name} {step} {epsilon}: {upper} {point:?}");
                assert!(lower <= point.high() + 1e-14, "{name} {step} {epsilon}: {lower} {point:?}");
                gap = gap.max(upper - lower);
            }
            // x² δ'' ≤ 1/(√(2π) μ) for normal laws, and the two polygons differ by at most a quarter of h²
            // times that.
            if name == "gaussian" {
                assert!(gap < 0.3 * step * step * 0.4 / 0.7, "{step}: {gap}");
            }
            assert!(gap < 0.5 * step, "{name} {step}: {gap}");
        }
    }
}

/// A function with the full declared error in either direction: the law must enclose the true profile.
#[test]
fn declared_errors_are_rounded_to_the_safe_side() {
    let truth = |epsilon: f64| -((0.5 * (epsilon - 0.5)).min(0.0).exp_m1());
    for error in [1e-3, 1e-6] {
        for sign in [-1.0, 1.0] {
            let stated = move |epsilon: f64| truth(epsilon) * (1.0 + sign * error);
            for count in [1, 5] {
                let law = LossLaw::of_delta(stated, stated, error, Neighbors::ReplaceOne).unwrap();
                let law = law.times(count).unwrap().with_step(0.01).unwrap();
                let exact = LossLaw::laplace(laplace(2.0), Neighbors::ReplaceOne).times(count).unwrap();
                for epsilon in [0.0, 0.1, 0.4, 1.3] {
                    let (found, exact) = (law.delta(epsilon).unwrap(), exact.delta(epsilon).unwrap());
                    assert!(
                        found.upper() >= exact.lower(),
                        "{error} {sign} {count} {epsilon}: {found:?} {exact:?}"
                    );
                    assert!(
                        found.lower() <= exact.upper(),
                        "{error} {sign} {count} {epsilon}: {found:?} {exact:?}"
                    );
                }
            }
        }
    }
}

/// The recurrence of a sweep gives the sum that defines the profile, also across gaps between points.
#[test]
fn sweeps_add_up_the_profile() {
    let masses: Vec<(i64, f64)> = vec![(-40, 0.2), (-3, 0.3), (0, 0.1), (1, 0.15), (7, 0.2), (90, 0.04)];
    let law = GridLaw { step: 0.1, masses, infinite: 0.01 };
    let mut sweep = Sweep::new(law.step, law.infinite);
    let mut masses = law.masses.iter().rev().peekable();
    for index in (-60..=100).rev().filter(|k| k % 3 != 2 || [-40, -3, 0, 1, 7, 90].contains(k)) {
        sweep.move_to(index);
        let slow = profile(&law, 0.0, index as f64 * law.step + 1e-12);
        assert!((sweep.profile() - slow).abs() < 1e-11, "{index}");
        if let Some((_, mass)) = masses.next_if(|(at, _)| *at == index) {
            sweep.add(*mass);
        }
    }
    assert!(sweep.error() < 1e-12);
}

/// Tilt, window and grid are chosen for tight answers, but any choice gives valid ones, so that the answers
/// of different choices overlap.
#[test]
fn grids_do_not_change_the_truth() {
    let law = LossLaw::sampled_gaussian(gaussian(1.0), 0.05).unwrap().times(50).unwrap();
    let best = law.clone().with_width(1e-6).unwrap().epsilon(delta(1e-6));
    assert!(best.upper() - best.lower() < 1e-6);
    for step in [1e-3, 3e-3, 0.01, 0.02] {
        let found = law.clone().with_step(step).unwrap().epsilon(delta(1e-6));
        assert!(found.lower() <= best.upper() && best.lower() <= found.upper(), "{step}: {found:?} {best:?}");
        assert!(found.upper() - found.lower() < 200.0 * step * step, "{step}: {found:?}");
        let found = law.clone().with_step(step).unwrap().delta(best.upper()).unwrap();
        assert!(
            found.lower() <= 1e-6 * (1.0 + 1e-6) && 1e-6 * (1.0 - 1e-4) <= found.upper(),
            "{step}: {found:?}"
        );
    }
}
