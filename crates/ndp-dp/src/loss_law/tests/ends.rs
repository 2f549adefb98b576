//! Which end of an interval is used, tested with pairs that are known only up to wide intervals.

use super::{laplace, laplaces, sampled};
use crate::loss_law::answers::{self, Ends, Fineness};
use crate::loss_law::atoms::{self, Atoms};
use crate::loss_law::laplace::LaplacePair;
use crate::loss_law::pair::{Atom, Pair, Point, two_sided};
use crate::loss_law::sampled::{Sampled, Side};
use crate::loss_law::stated::{FromRenyi, Stated};
use crate::{Error, LossLaw, Neighbors, Order, UpperBound};
use ndp_numeric::rounding::Interval;
use std::sync::Arc;

/// For an interval of `ε` with 0 inside, the exchanged pair is evaluated at nonnegative numbers only: at `−ε`
/// for the negative part of the interval.
#[test]
fn the_other_pair_is_asked_on_its_side() {
    // The exchanged pair has δ' = (2 − ε)/8, with a slope of 1/8 per nat, and the pair itself δ = 1/4.
    let other = |epsilon: Interval| {
        assert!(epsilon.low() >= 0.0, "{epsilon:?}");
        let at = |epsilon: f64| 0.125 * (2.0 - epsilon);
        let slope = Some(Interval::new(0.125));
        Point { delta: Interval::between(at(epsilon.high()), at(epsilon.low())), slope }
    };
    let own = |_: Interval| Point { delta: Interval::new(0.25), slope: Some(Interval::ZERO) };
    let found = two_sided(Interval::between(-1.0, 1.0), own, other);
    // To the left of 0, δ is 1 − x + x δ' with 1/8 ≤ δ' ≤ 1/4 and 1/e ≤ x ≤ 1, which interval arithmetic
    // treats as independent, and the slope is x (1 − δ' − 1/8), at most 3/4. To the right they are 1/4 and 0.
    let x = (-1.0_f64).exp();
    let wanted = (0.125 * x, 1.0 - x + 0.25);
    assert!((found.delta.low() - wanted.0).abs() < 1e-15, "{found:?}");
    assert!((found.delta.high() - wanted.1).abs() < 1e-15, "{found:?}");
    assert_eq!(found.slope, Some(Interval::between(0.0, 0.75)));
}

/// `ln(1 + q(e^ℓ − 1))` at `q = 1/10` and `ℓ = 1/4` lies between these two floats (60 digits).
#[test]
fn largest_losses_are_enclosed() {
    let base = LaplacePair::new(laplace(4.0));
    let largest = Sampled { base, rate: 0.1, side: Side::Remove }.largest();
    assert!(largest.low() <= 0.028_006_667_885_320_15 && 0.028_006_667_885_320_153 <= largest.high());
    assert!(largest.high() - largest.low() < 1e-16, "{largest:?}");
}

/// A pair of which only a mass of 1/4 at infinity is known.
#[derive(Clone, Copy, Debug)]
struct Leak;

impl Pair for Leak {
    fn at(&self, _: Interval) -> Point {
        Point { delta: Interval::new(0.25), slope: Some(Interval::ZERO) }
    }
}

/// `N₀` against `(1 − q) N₀ + q N₁`: the second law has at least `1 − q` times every mass of the first, so
/// that no loss is above `−ln(1 − q)`. There the profile and its slope become 0.
#[test]
fn what_a_record_adds_ends() {
    let pair = Sampled { base: Leak, rate: 0.5, side: Side::Add };
    for epsilon in [0.7, 1.0, 5.0] {
        let nothing = Point { delta: Interval::ZERO, slope: Some(Interval::ZERO) };
        assert_eq!(pair.at(Interval::new(epsilon)), nothing, "{epsilon}");
    }
    // Below that point the profile is t δ₀ with t = 1 − x/2.
    let found = pair.at(Interval::new(0.5)).delta;
    let wanted = 0.25 * (1.0 - 0.5 * 0.5_f64.exp());
    assert!(found.low() <= wanted + 1e-16 && wanted - 1e-16 <= found.high() && found.high() < wanted + 1e-15);
}

/// Over an interval of `ε`, a stated profile lies between its values at the right and at the left end, each
/// moved outward by the declared error. A true value that is stated as 1/2 within a sixteenth is at most 1/2
/// divided by 15/16.
#[test]
fn stated_profiles_are_known_at_both_ends() -> Result<(), Error> {
    let delta = |epsilon: f64| 0.5 * (-epsilon).exp();
    let pair = Stated::new(Arc::new(delta), Arc::new(delta), 0.0625)?;
    let wide = pair.at(Interval::between(0.0, 2.0)).delta;
    assert!((wide.low() - 0.9375 * delta(2.0)).abs() < 1e-15, "{wide:?}");
    assert!((wide.high() - 0.5 / 0.9375).abs() < 1e-15, "{wide:?}");
    // The product with 15/16 is rounded once; its exact comparison shows in which direction.
    let one = pair.at(Interval::ZERO).delta;
    assert!(one.high().mul_add(0.9375, -0.5) >= 0.0, "{one:?}");
    assert!((one.low() - 0.46875).abs() < 1e-15, "{one:?}");
    Ok(())
}

/// For `ε < 0` a Rényi divergence gives no bound by itself. The bound is the chord from 1 at `x = 0` to the
/// bound at `ε = 0`, and no profile is below `1 − x`. If the divergence is 0, the profile is `1 − x`; the
/// number here is the smallest float above its value at −0.3 (60 digits).
#[test]
fn renyi_bounds_are_chords_below_one() {
    let nothing = FromRenyi::new(|_: Order| UpperBound::new(0.0)).at(Interval::new(-0.3)).delta;
    assert!(nothing.high() >= 0.259_181_779_318_282_2 && nothing.high() < 0.259_181_779_318_283);
    let little = FromRenyi::new(|order: Order| UpperBound::new(1e-6 * order.get()));
    let wide = little.at(Interval::between(-0.3, 0.4)).delta;
    assert!(wide.high() >= 0.259_181_779_318_282_2 && wide.low() == 0.0, "{wide:?}");
}

/// If the interval of an atom contains that of another one, they are merged, in whatever order they come.
#[test]
fn atoms_within_others_become_one() {
    let atom = |low, high, mass: f64| Atom { loss: Interval::between(low, high), mass: Interval::new(mass) };
    let atoms = vec![atom(0.2, 0.9, 0.25), atom(0.5, 0.6, 0.5), atom(1.0, 1.2, 0.25)];
    let pair = Atoms::new(atoms, Interval::ZERO, None);
    for losses in [[0.2, 0.5, 1.0], [0.9, 0.6, 1.2], [0.9, 0.5, 1.0], [0.2, 0.6, 1.2]] {
        for k in -10..15 {
            let epsilon = 0.1 * f64::from(k) + 0.01;
            let terms = losses.iter().zip([0.25, 0.5, 0.25]).filter(|(loss, _)| **loss > epsilon);
            let truth: f64 = terms.map(|(loss, mass)| -mass * (epsilon - loss).exp_m1()).sum();
            let found = pair.at(Interval::new(epsilon)).delta;
            assert!(found.low() <= truth + 1e-14 && truth <= found.high() + 1e-14, "{epsilon}: {found:?}");
        }
    }
}

/// The outputs beyond `15 σ` that are left out, summed up here to far beyond. Those with a large loss count
/// as a mass at infinity, and those with a small loss have the smallest loss that is kept. Neither is charged
/// with more than twice its mass.
#[test]
fn discrete_normal_tails_are_counted() {
    for sigma in [1.0, 3.0, 100.0] {
        let pair = atoms::discrete_gaussian(sigma);
        let reach = (15.0_f64 * sigma).ceil() as i64 + 1;
        let bell = |k: i64| (-((k * k) as f64) / (2.0 * sigma * sigma)).exp();
        let total: f64 = (-3 * reach..=3 * reach).map(bell).sum();
        let beyond = (reach + 1..=3 * reach).map(bell).sum::<f64>() / total;
        let infinite = pair.infinite();
        assert!(infinite.low() == 0.0 && infinite.high() >= beyond * (1.0 - 1e-9), "{sigma}: {infinite:?}");
        assert!(infinite.high() < 2.0 * beyond, "{sigma}: {infinite:?} {beyond}");
        let last = pair.atoms().map_or(0.0, |atoms| atoms[0].mass.high());
        let all = bell(reach) / total + beyond;
        assert!(last >= all * (1.0 - 1e-9) && last < all + 2.0 * beyond, "{sigma}: {last} {all}");
    }
}

/// The weights 1, 1 against 1, 3 become the laws 1/2, 1/2 against 1/4, 3/4.
#[test]
fn weights_are_divided_by_their_sums() {
    let (forward, backward) = atoms::finite(&[1.0, 1.0], &[1.0, 3.0]);
    let (up, down) = (2.0_f64.ln(), (2.0_f64 / 3.0).ln());
    for (pair, wanted) in [(forward, [(down, 0.5), (up, 0.5)]), (backward, [(-up, 0.25), (-down, 0.75)])] {
        let atoms = pair.atoms().unwrap_or_default();
        assert_eq!(atoms.len(), 2);
        for (found, (loss, mass)) in atoms.iter().zip(wanted) {
            assert!((found.loss.low() - loss).abs() < 1e-14, "{found:?} {loss}");
            assert_eq!(found.mass, Interval::new(mass));
        }
    }
}

type Chain = Vec<(Arc<dyn Pair>, u64)>;

/// A `δ` that equals the mass at infinity is reached, here at `ε = 0`, since no other outcome has a positive
/// loss.
#[test]
fn a_delta_that_is_attained_is_reached() {
    let (sharp, _) = atoms::finite(&[0.25, 0.75], &[0.0, 1.0]);
    let chain: Chain = vec![(Arc::new(sharp), 1)];
    assert_eq!(answers::epsilon(&chain, 0.25, Fineness::Width(1e-4)), Ends { lower: 0.0, upper: 0.0 });
    assert_eq!(answers::epsilon(&chain, 0.249, Fineness::Width(1e-4)).upper, f64::INFINITY);
}

/// The profile of no release is 0 everywhere, also at `ε = 0`.
#[test]
fn nothing_has_no_profile() {
    for fineness in [Fineness::Width(1e-4), Fineness::Step(0.1)] {
        for epsilon in [0.0, 1e-9, 0.3, 40.0, 1e5] {
            assert_eq!(answers::delta(&Vec::new(), epsilon, fineness), Ends::NOTHING, "{epsilon}");
        }
    }
}

/// Every number in the question gets an answer, also the last one. Two randomized responses with a ratio of 3
/// have a loss of `2 ln 3` with probability 9/16, and no positive loss otherwise.
#[test]
fn profiles_answer_all_questions() {
    let chain: Chain = vec![(Arc::new(atoms::randomized_response(2, 0.5)), 2)];
    let asked = [0.0, 0.5, 1.5];
    let found = answers::profile(&chain, &asked, Fineness::Width(1e-3));
    assert_eq!(found.len(), 3);
    for (ends, epsilon) in found.iter().zip(asked) {
        let truth = 9.0 / 16.0 - epsilon.exp() / 16.0;
        assert!(ends.lower <= truth + 1e-15 && truth - 1e-15 <= ends.upper, "{epsilon}: {ends:?} {truth}");
        assert!(ends.upper - ends.lower < 1e-9, "{epsilon}: {ends:?}");
    }
}

/// Losses become points of a curve if they are far enough from each other and from 0. The cells have a length
/// of 1/2048, and a tenth of that is too close.
#[test]
fn curves_leave_out_what_is_too_near() {
    let atom = |loss: f64| Atom { loss: Interval::new(loss), mass: Interval::new(0.25) };
    let points = |losses: &[f64]| {
        let pair = Atoms::new(losses.iter().map(|&loss| atom(loss)).collect(), Interval::ZERO, None);
        answers::kinks(&[vec![(Arc::new(pair) as Arc<dyn Pair>, 1)]], 1.0)
    };
    let cell = 1.0 / 2048.0;
    let found = points(&[0.2 * cell, 0.03, 0.5]);
    assert!([0.0, 0.2 * cell, 0.03, 0.5].iter().all(|loss| found.contains(loss)));
    let found = points(&[0.05 * cell, 0.03, 0.03 + 0.05 * cell]);
    assert!(found.contains(&0.03) && !found.contains(&(0.05 * cell)));
    assert!(!found.contains(&(0.03 + 0.05 * cell)));
    assert!(found.windows(2).all(|pair| pair[1] - pair[0] >= 0.09 * cell));
}

/// Answers are as narrow as requested. For smooth laws they are hardly narrower than that, since it would
/// take longer. The atoms of two scales have no common grid, so the first grid may not be fine enough.
#[test]
fn answers_are_as_narrow_as_asked() -> Result<(), Error> {
    let two = LossLaw::compose(&[
        laplaces(2.0, 3, Neighbors::ReplaceOne),
        laplaces(0.7, 2, Neighbors::ReplaceOne),
    ])?;
    for (name, law, width, least) in [
        ("sampled", sampled(0.1, 1.0, 20), 1e-2, 0.1),
        ("sampled", sampled(0.1, 1.0, 20), 1e-3, 0.1),
        ("laplace", laplaces(2.0, 5, Neighbors::ReplaceOne), 1e-2, 0.03),
        ("sampled laplace", LossLaw::sampled_laplace(laplace(1.0), 0.3)?.times(5)?, 1e-2, 0.1),
        ("two scales", two.clone(), 1e-2, 0.0),
        ("two scales", two, 1e-3, 0.0),
    ] {
        let found = law.with_width(width)?.epsilon(super::delta(1e-3));
        let share = (found.upper() - found.lower()) / (width * found.upper().min(1.0));
        assert!(least <= share && share <= 1.0, "{name} {width}: {share}");
    }
    Ok(())
}

/// No `ε` is above the one at `δ = 0`, nor above the bound by Rényi divergences where the grid of losses
/// ends: at tiny `δ`, beyond losses of 4096, after many releases.
#[test]
fn an_epsilon_is_never_above_what_else_is_proven() -> Result<(), Error> {
    let response = LossLaw::randomized_response(crate::RandomizedResponse::new(3, 0.1)?).times(3)?;
    let small = LossLaw::laplace(laplace(2.0), Neighbors::ReplaceOne).times(50)?;
    let large = LossLaw::laplace(laplace(2e-4), Neighbors::ReplaceOne).times(2)?;
    for (law, delta) in [(response, 1e-20), (small, 1e-100), (large, 1e-5)] {
        let (found, pure) = (law.epsilon(super::delta(delta)), law.pure_epsilon());
        assert!(found.lower() <= pure.upper() && found.upper() <= pure.upper(), "{found:?} {pure:?}");
    }
    let many = sampled(1e-4, 1.0, 100_000_000).epsilon(super::delta(1e-5));
    assert!(many.upper() <= 6.4753, "{many:?}");
    Ok(())
}

/// A mixture of laws with finitely many losses has Rényi divergences: for one law with itself, its own.
#[test]
fn mixtures_of_atoms_have_renyi_divergences() -> Result<(), Error> {
    let law = LossLaw::randomized_response(crate::RandomizedResponse::new(3, 0.1)?);
    let order = Order::new(3.0)?;
    let one = law.rdp(order).map(UpperBound::into_value).unwrap();
    let mixed = LossLaw::seen_mixture(&[(0.25, law.clone()), (0.75, law)])?;
    let mixed = mixed.rdp(order).map(UpperBound::into_value).unwrap();
    assert!((one..one * (1.0 + 1e-12)).contains(&mixed), "{mixed} {one}");
    Ok(())
}
