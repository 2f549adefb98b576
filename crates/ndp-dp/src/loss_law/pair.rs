//! The interface of a dominating pair `(P, Q)`: its profile at `x = e^ε` on both sides of 1, and what else
//! may be known of it.

use ndp_numeric::rounding::Interval;
use std::fmt;

/// The profile `δ(ε) = E_P[(1 − e^{ε−L})₊]` at one `ε`, and its downward slope there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    /// `δ(ε)`, enclosed.
    pub(super) delta: Interval,
    /// `−dδ/dε = e^ε Q(L > ε)`. At an atom, which has two slopes, it is an interval whose upper end is at
    /// least `e^ε Q(L > ε)` and whose lower end is at most `e^ε Q(L ≥ ε)`. `None` if only the profile itself
    /// is known.
    pub(super) slope: Option<Interval>,
}

/// An atom of the law of the loss: its loss, and its mass under `P`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Atom {
    pub(super) loss: Interval,
    pub(super) mass: Interval,
}

/// A pair of laws that dominates a mechanism in one direction of neighbors.
pub(super) trait Pair: Send + Sync + fmt::Debug {
    /// The profile at `epsilon`, which may have either sign and is known up to rounding.
    fn at(&self, epsilon: Interval) -> Point;

    /// The mass of `P` on outcomes without mass under `Q`, whose loss is infinite.
    fn infinite(&self) -> Interval {
        Interval::ZERO
    }

    /// The whole law, if it consists of atoms.
    fn atoms(&self) -> Option<&[Atom]> {
        None
    }

    /// The largest loss, rounded down, if there is an atom at it. The grid of the lower law should have a
    /// point there.
    fn top(&self) -> Option<f64> {
        None
    }

    /// An enclosure of the largest loss, infinite if the loss is unbounded.
    fn largest(&self) -> Interval {
        Interval::between(0.0, f64::INFINITY)
    }

    /// A key that is equal for equal pairs and differs for different ones; `None` if there is none.
    fn key(&self) -> Option<Vec<u64>> {
        None
    }

    /// Whether the profile is also known from below.
    fn known_from_below(&self) -> bool {
        true
    }

    /// A distance that should be a multiple of the step of the grid, so that its points meet the atoms.
    fn unit(&self) -> Option<f64> {
        None
    }

    /// The distance `μ`, if the pair is two normal laws of variance 1.
    fn gaussian(&self) -> Option<Interval> {
        None
    }

    /// A bound on the Rényi divergence of order `alpha`, if a formula is known.
    fn renyi(&self, alpha: f64) -> Option<f64> {
        let _ = alpha;
        None
    }
}

/// A profile put together from those of `(P, Q)` and `(Q, P)` at `ε ≥ 0`, by `δ_PQ(x) = 1 − x + x δ_QP(1/x)`.
pub(super) fn two_sided(
    epsilon: Interval,
    forward: impl Fn(Interval) -> Point,
    backward: impl Fn(Interval) -> Point,
) -> Point {
    if epsilon.low() >= 0.0 {
        return forward(epsilon);
    }
    if epsilon.high() <= 0.0 {
        return mirrored(epsilon, backward(-epsilon));
    }
    let negative = Interval::between(epsilon.low(), 0.0);
    let left = mirrored(negative, backward(-negative));
    hull(left, forward(Interval::between(0.0, epsilon.high())))
}

/// The profile at `x = e^ε ≤ 1` from that of the exchanged pair at `−ε`, marked by a prime: `δ = 1 − x + x
/// δ'`, and `−dδ/dε = x (1 − δ' − slope')`.
fn mirrored(epsilon: Interval, other: Point) -> Point {
    let x = epsilon.exp().min(Interval::ONE);
    let delta = unit(-epsilon.expm1() + x * other.delta);
    let slope = other.slope.map(|slope| unit(x * (Interval::ONE - other.delta - slope)));
    Point { delta, slope }
}

/// The smallest enclosure of both points.
fn hull(a: Point, b: Point) -> Point {
    let both = |a: Interval, b: Interval| Interval::between(a.low().min(b.low()), a.high().max(b.high()));
    Point { delta: both(a.delta, b.delta), slope: a.slope.zip(b.slope).map(|(a, b)| both(a, b)) }
}

/// A number as part of a [key](Pair::key).
pub(super) fn bits(number: Interval) -> [u64; 2] {
    [number.low().to_bits(), number.high().to_bits()]
}

/// The part within `[0, 1]` of an enclosure of a number that lies there.
pub(super) fn unit(enclosed: Interval) -> Interval {
    Interval::between(enclosed.low().clamp(0.0, 1.0), enclosed.high().clamp(0.0, 1.0))
}

/// The nonnegative part of an enclosure of a nonnegative number.
pub(super) fn nonnegative(enclosed: Interval) -> Interval {
    Interval::between(enclosed.low().max(0.0), enclosed.high().max(0.0))
}
