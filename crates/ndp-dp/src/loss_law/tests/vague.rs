//! Pairs that are known only up to wide intervals: every pair within them must be enclosed. With intervals as
//! narrow as a rounding error, a test could not see whether the right end was used.

use crate::loss_law::Direction;
use crate::loss_law::answers::{self, Ends, Fineness};
use crate::loss_law::atoms::Atoms;
use crate::loss_law::enclosing::Enclosing;
use crate::loss_law::gaussian::GaussianPair;
use crate::loss_law::mixture::Mixture;
use crate::loss_law::pair::{Atom, Pair, Point, nonnegative};
use crate::loss_law::stated::FromRenyi;
use crate::loss_law::tradeoff::Tradeoff;
use crate::{Error, LossLaw, Neighbors, Order, UpperBound};
use ndp_numeric::rounding::Interval;
use std::sync::Arc;

/// A normal pair with a mass of 1/20 at infinity, whose profile is known up to a relative `width`.
#[derive(Clone, Copy, Debug)]
struct Vague {
    width: f64,
    /// Whether its slope is known.
    slopes: bool,
}

const LEAK: f64 = 0.05;

fn truth(epsilon: f64) -> Point {
    let point = GaussianPair { mu: Interval::ONE }.at(Interval::new(epsilon));
    let kept = Interval::new(1.0 - LEAK);
    Point { delta: Interval::new(LEAK) + kept * point.delta, slope: point.slope.map(|slope| kept * slope) }
}

impl Pair for Vague {
    fn at(&self, epsilon: Interval) -> Point {
        // The lower end is a smaller share of δ, and the upper end is 1 minus a smaller share of 1 − δ.
        let below = |x: f64| x * (1.0 - self.width);
        let (left, right) = (truth(epsilon.low()), truth(epsilon.high()));
        let delta = Interval::between(below(right.delta.low()), 1.0 - below(1.0 - left.delta.high()));
        let slope = left.slope.zip(right.slope).filter(|_| self.slopes);
        Point { delta, slope: slope.map(|(a, b)| Interval::between(below(b.low()), a.high())) }
    }

    fn infinite(&self) -> Interval {
        Interval::between(LEAK * (1.0 - self.width), 1.0 - (1.0 - LEAK) * (1.0 - self.width))
    }
}

/// The profile of a law on a grid at `ε`, by the sum that defines it.
fn profile(masses: &[(i64, f64)], infinite: f64, step: f64, offset: f64, epsilon: f64) -> f64 {
    let terms = masses.iter().map(|&(index, mass)| (index as f64 * step + offset, mass));
    let above = terms.filter(|&(loss, _)| loss > epsilon);
    infinite + above.map(|(loss, mass)| -mass * (epsilon - loss).exp_m1()).sum::<f64>()
}

/// The upper law is above the highest profile within the intervals, and the lower law below the lowest.
#[test]
fn laws_enclose_all_profiles_that_may_be_true() {
    for (width, slopes) in [(1e-3, true), (0.1, true), (1e-3, false), (0.1, false)] {
        let pair = Vague { width, slopes };
        for step in [0.05, 0.25] {
            let reach = (6.0 / step) as i64;
            let laws = Enclosing::new(&pair, step, &(-reach..=reach).collect::<Vec<_>>());
            for k in -55..=70 {
                let epsilon = 0.1 * f64::from(k) + 0.013;
                let known = pair.at(Interval::new(epsilon)).delta;
                let (upper, lower) = (&laws.upper, &laws.lower);
                let above = profile(&upper.masses, upper.infinite, step, laws.upper_offset.low(), epsilon);
                let below = profile(&lower.masses, lower.infinite, step, laws.lower_offset.high(), epsilon);
                assert!(above >= known.high() - 1e-12, "{width} {step} {epsilon}: {above} {known:?}");
                // No profile is below 1 - x.
                let lowest = known.low().max(-epsilon.exp_m1());
                assert!(below <= lowest + 1e-12, "{width} {step} {epsilon}: {below} {known:?}");
                // The gap is not larger than the grid and the intervals explain.
                if width < 0.01 {
                    assert!(above - below < 0.02 + step * step, "{step} {epsilon}: {above} {below}");
                }
            }
        }
    }
}

/// For a single release, the answers are the ends of its own intervals.
#[test]
fn one_release_has_the_ends_of_its_profile() {
    let chain: Vec<(Arc<dyn Pair>, u64)> = vec![(Arc::new(Vague { width: 0.1, slopes: true }), 1)];
    let fineness = Fineness::Width(1e-4);
    let found = answers::profile(&chain, &[0.0, 0.5, 2.0], fineness);
    for (ends, epsilon) in found.iter().zip([0.0, 0.5, 2.0]) {
        let truth = truth(epsilon).delta;
        let most = 1.0 - 0.9 * (1.0 - truth.low());
        assert!(ends.lower <= 0.9001 * truth.low() && most - 1e-4 <= ends.upper, "{ends:?}");
        assert_eq!(answers::delta(&chain, epsilon, fineness), *ends);
    }
    // For a target between the highest and the lowest profile at ε = 1, the ends of ε lie on both sides of 1.
    let target = truth(1.0).delta.low();
    let ends = answers::epsilon(&chain, target, fineness);
    assert!(ends.lower < 0.95 && 1.05 < ends.upper, "{ends:?}");
    assert_eq!(answers::epsilon(&Vec::new(), target, fineness), Ends::NOTHING);
    assert_eq!(answers::delta(&Vec::new(), 1.0, fineness), Ends::NOTHING);
}

/// The finer of two widths or of two steps is the smaller one. A step, once requested, takes precedence over
/// a width.
#[test]
fn the_finer_of_two_wins() {
    let (width, step) = (Fineness::Width, Fineness::Step);
    for (a, b, finer) in [
        (width(1.0), width(2.0), width(1.0)),
        (step(2.0), step(1.0), step(1.0)),
        (step(1.0), width(0.1), step(1.0)),
        (width(0.1), step(1.0), step(1.0)),
    ] {
        assert_eq!((a.finer(b), b.finer(a)), (finer, finer));
    }
}

/// The points of a curve are those of a grid and the absolute values of the losses of a single release.
#[test]
fn curves_have_points_at_atoms() {
    let atom = |loss: f64| Atom { loss: Interval::new(loss), mass: Interval::new(0.5) };
    let pair = Atoms::new(vec![atom(-0.123_4), atom(0.345_6)], Interval::ZERO, None);
    let points = answers::kinks(&[vec![(Arc::new(pair) as Arc<dyn Pair>, 1)]], 1.0);
    assert!(points.contains(&0.123_4) && points.contains(&0.345_6) && points.contains(&0.0));
    assert!(
        points.windows(2).all(|pair| pair[0] < pair[1]) && points.iter().all(|x| (0.0..=1.0).contains(x))
    );
}

/// Losses slightly off a grid of 1/2, known to 1e-12: the two offsets enclose all of their distances from it.
#[test]
fn atoms_on_a_grid_are_moved_outward() {
    let atom = |loss: f64, mass: f64| Atom {
        loss: Interval::between(loss - 1e-12, loss + 1e-12),
        mass: Interval::between(mass * 0.9, (mass * 1.1).min(1.0)),
    };
    for beside in [[0.0, 6e-12, -4e-12], [-4e-12, 0.0, 6e-12], [6e-12, -4e-12, 0.0]] {
        let atoms = vec![atom(-0.5 + beside[0], 0.3), atom(beside[1], 0.3), atom(0.5 + beside[2], 0.3)];
        let pair = Atoms::new(atoms.clone(), Interval::between(0.05, 0.15), None);
        let laws = Enclosing::of_atoms(&pair, 0.5).expect("on the grid");
        for (atom, ((up, more), (down, less))) in
            atoms.iter().zip(laws.upper.masses.iter().zip(&laws.lower.masses))
        {
            assert!(*up as f64 * 0.5 + laws.upper_offset.high() >= atom.loss.high());
            assert!(*down as f64 * 0.5 + laws.lower_offset.low() <= atom.loss.low());
            assert!(*more >= atom.mass.high() && *less <= atom.mass.low());
        }
        assert!(laws.upper.infinite >= 0.15 && laws.lower.infinite <= 0.05);
    }
    // If any of the atoms is off the grid, there is no such law.
    for place in 0..3 {
        let mut losses = [-0.5, 0.0, 0.5];
        losses[place] += 0.01;
        let pair = Atoms::new(losses.map(|loss| atom(loss, 0.3)).to_vec(), Interval::ZERO, None);
        assert!(Enclosing::of_atoms(&pair, 0.5).is_none(), "{place}");
    }
    // An atom that may have no mass has none in the lower law.
    let maybe = Atom { loss: Interval::ZERO, mass: Interval::between(0.0, 1e-20) };
    let pair = Atoms::new(vec![maybe, atom(0.5, 0.9)], Interval::ZERO, None);
    let laws = Enclosing::of_atoms(&pair, 0.5).expect("on the grid");
    assert_eq!((laws.upper.masses.len(), laws.lower.masses.len()), (2, 1));
}

/// Atoms that overlap are merged into one, whose profile lies between those with the whole mass at either
/// end.
#[test]
fn atoms_that_cannot_be_told_apart_are_enclosed_together() {
    let atom = |low, high, mass: f64| Atom { loss: Interval::between(low, high), mass: Interval::new(mass) };
    let pair = Atoms::new(
        vec![atom(0.2, 0.6, 0.25), atom(0.5, 0.7, 0.5), atom(1.0, 1.2, 0.25)],
        Interval::ZERO,
        None,
    );
    for losses in [[0.2, 0.5, 1.0], [0.6, 0.7, 1.2], [0.2, 0.7, 1.0], [0.6, 0.5, 1.2]] {
        for k in -10..15 {
            let epsilon = 0.1 * f64::from(k);
            let truth: f64 = losses
                .iter()
                .zip([0.25, 0.5, 0.25])
                .filter(|(loss, _)| **loss > epsilon)
                .map(|(loss, mass)| -mass * (epsilon - loss).exp_m1())
                .sum();
            let found = pair.at(Interval::new(epsilon)).delta;
            assert!(
                found.low() <= truth + 1e-14 && truth <= found.high() + 1e-14,
                "{epsilon}: {truth} {found:?}"
            );
        }
    }
}

/// The mass at infinity of a mixture is the weighted sum of those of its parts, and its Rényi divergence
/// follows from the weighted moments.
#[test]
fn mixtures_add_all_their_parts() {
    let parts: Vec<(Interval, Arc<dyn Pair>)> = vec![
        (Interval::new(0.25), Arc::new(GaussianPair { mu: Interval::new(1.0) })),
        (Interval::new(0.75), Arc::new(Vague { width: 0.0, slopes: true })),
    ];
    let mixture = Mixture { parts };
    assert!((mixture.infinite().high() - 0.75 * LEAK).abs() < 1e-15 && mixture.infinite().low() > 0.037);
    let normal = |mu: f64| Arc::new(GaussianPair { mu: Interval::new(mu) }) as Arc<dyn Pair>;
    let mixture =
        Mixture { parts: vec![(Interval::new(0.5), normal(1.0)), (Interval::new(0.5), normal(2.0))] };
    // At order 3 the moment is half of e^(2 · 3/2) plus half of e^(2 · 6).
    let expected = 0.5 * (0.5 * 3_f64.exp() + 0.5 * 12_f64.exp()).ln();
    let found = mixture.renyi(3.0).expect("both have one");
    assert!((expected - 1e-12..expected + 1e-12).contains(&found), "{found} {expected}");
}

/// For an interval of `ε` with 0 inside, and for a wide one, the values at all of its points are enclosed.
#[test]
fn wide_intervals_enclose_all_their_points() {
    let normal = GaussianPair { mu: Interval::new(1.0) };
    let renyi = FromRenyi::new(|order: Order| UpperBound::new(0.5 * order.get()));
    for (low, high) in [(-0.3, 0.4), (0.1, 2.0), (-2.0, -0.5), (0.5, 0.5)] {
        let wide = Interval::between(low, high);
        for k in 0..=20 {
            let epsilon = low + (high - low) * f64::from(k) / 20.0;
            let (all, one) = (normal.at(wide), normal.at(Interval::new(epsilon)));
            assert!(all.delta.low() <= one.delta.low() && one.delta.high() <= all.delta.high(), "{epsilon}");
            let (all, one) = (all.slope.expect("known"), one.slope.expect("known"));
            assert!(all.low() <= one.low() && one.high() <= all.high(), "{epsilon}: {all:?} {one:?}");
            let (all, one) = (renyi.at(wide).delta, normal.at(Interval::new(epsilon)).delta);
            assert!(all.low() <= one.low() && one.high() <= all.high(), "{epsilon}: {all:?} {one:?}");
        }
    }
    assert_eq!(nonnegative(Interval::between(-1.0, 2.0)), Interval::between(0.0, 2.0));
}

/// For a profile that is known up to a twentieth, the curve lies between those of the highest and the lowest
/// profile.
#[test]
fn curves_enclose_all_trade_offs_that_may_be_true() -> Result<(), Error> {
    let width = 0.05;
    let ends = |epsilon: f64| {
        let delta = truth(epsilon).delta.low();
        Ends { lower: delta * (1.0 - width), upper: delta * (1.0 + width) }
    };
    let epsilons: Vec<f64> = (0..=400).map(|k| 0.02 * f64::from(k)).collect();
    let side = (epsilons.iter().map(|&epsilon| ends(epsilon)).collect(), LEAK * (1.0 - width));
    let curve = Tradeoff::new(&epsilons, &side, &side, false);
    // sup over x of 1 - δ(x) - x a, in both directions: x below 1 by the profile of the other.
    let best = |level: f64, share: f64| {
        let terms = (0..=3000).map(|k| {
            let epsilon = 0.002 * f64::from(k);
            let (x, delta) = (epsilon.exp(), truth(epsilon).delta.low() * share);
            f64::max(1.0 - delta - x * level, (1.0 - delta - level) / x)
        });
        terms.fold(0.0, f64::max)
    };
    for level in [0.0, 1e-3, 0.01, 0.1, 0.3, 0.5, 0.8, 0.95, 1.0] {
        let found = curve.at(level)?;
        // The grid used here may miss the best x, which costs up to a millionth.
        assert!(found.lower <= best(level, 1.0 + width) + 1e-5, "{level}: {found:?}");
        assert!(found.upper >= best(level, 1.0 - width) - 1e-12, "{level}: {found:?}");
        assert!(found.lower <= found.upper && found.upper <= 1.0 - level);
        assert!(found.upper - found.lower <= 0.12, "{level}: {found:?}");
    }
    Ok(())
}

/// The levels of the points of a curve go from 0 to 1, including both.
#[test]
fn points_of_a_curve_reach_both_ends() -> Result<(), Error> {
    let side = (vec![Ends { lower: 0.0, upper: 0.0 }; 2], 0.0);
    let curve = Tradeoff::new(&[0.0, 1.0], &side, &side, true);
    let levels: Vec<f64> = curve.points(5)?.iter().map(|point| point.level).collect();
    assert_eq!(levels, [0.0, 0.25, 0.5, 0.75, 1.0]);
    Ok(())
}

/// Laws with two directions are distinguished from those with one, and equal releases are merged.
#[test]
fn directions_are_counted() -> Result<(), Error> {
    let one = LossLaw::from_renyi(|order| UpperBound::new(0.1 * order.get()), Neighbors::AddOrRemove);
    let two = super::sampled(0.1, 1.0, 1);
    assert_eq!((one.is_two_sided(), two.is_two_sided()), (false, true));
    assert_eq!(LossLaw::compose(&[two.clone(), two.clone()])?.kinds(), 1);
    assert_eq!(LossLaw::compose(&[two.clone(), super::sampled(0.2, 1.0, 1)])?.kinds(), 2);
    // One direction of a law stays that direction in a composition, and does not mix with the other.
    let add = two.clone().only(Direction::Add)?;
    let both = LossLaw::compose(&[add.clone(), add.clone()])?;
    assert_eq!(both.only, Some(Direction::Add));
    let mixed = LossLaw::compose(&[add, two.only(Direction::Remove)?]);
    assert_eq!(mixed.err(), Some(Error::MixedNeighbors));
    Ok(())
}
