//! What is asked of a dominating pair `(P, Q)`: its profile, seen from both sides of `x = e^ε = 1`.

use ndp_numeric::rounding::Interval;
use std::fmt;

/// The profile `δ(ε) = E_P[(1 − e^{ε−L})₊]` at one `ε`, and how fast it falls there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    /// `δ(ε)`, enclosed.
    pub(super) delta: Interval,
    /// `−dδ/dε = e^ε Q(L > ε)`. Where an atom makes two slopes: an interval whose upper end is at least `e^ε
    /// Q(L > ε)` and whose lower end is at most `e^ε Q(L ≥ ε)`. `None` where only the profile itself is
    /// known.
    pub(super) slope: Option<Interval>,
}

/// An atom of the law of the loss: where it is, and its mass under `P`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Atom {
    pub(super) loss: Interval,
    pub(super) mass: Interval,
}

/// A pair of laws that dominates a mechanism in one direction of neighbors.
pub(super) trait Pair: Send + Sync + fmt::Debug {
    /// The profile at `epsilon`, a number of either sign known up to rounding.
    fn at(&self, epsilon: Interval) -> Point;

    /// The mass of `P` where `Q` has none.
    fn infinite(&self) -> Interval {
        Interval::ZERO
    }

    /// All of the law, where it consists of atoms.
    fn atoms(&self) -> Option<&[Atom]> {
        None
    }

    /// The largest loss, rounded down, where it has an atom: a point that the grid of the lower law should
    /// have.
    fn top(&self) -> Option<f64> {
        None
    }

    /// The largest loss, infinite where there is none: a lower end that it reaches, and an upper one.
    fn largest(&self) -> Interval {
        Interval::between(0.0, f64::INFINITY)
    }

    /// What tells the pair from all others; `None` where nothing does.
    fn key(&self) -> Option<Vec<u64>> {
        None
    }

    /// Whether more is known than a bound from above.
    fn known_from_below(&self) -> bool {
        true
    }

    /// A distance that a grid should divide for its points to meet the atoms.
    fn unit(&self) -> Option<f64> {
        None
    }

    /// The distance `μ` of two normal laws of variance 1, where the pair is one.
    fn gaussian(&self) -> Option<Interval> {
        None
    }

    /// A bound on the Rényi divergence of order `alpha`, where a formula is known.
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

/// `x = e^ε ≤ 1`, and the other pair's profile at `−ε`: `δ = 1 − x + x δ'`, and `−dδ/dε = x (1 − δ' −
/// slope')`.
fn mirrored(epsilon: Interval, other: Point) -> Point {
    let x = epsilon.exp().min(Interval::ONE);
    let delta = unit(-epsilon.expm1() + x * other.delta);
    let slope = other.slope.map(|slope| unit(x * (Interval::ONE - other.delta - slope)));
    Point { delta, slope }
}

/// Both points.
fn hull(a: Point, b: Point) -> Point {
    let both = |a: Interval, b: Interval| Interval::between(a.low().min(b.low()), a.high().max(b.high()));
    Point { delta: both(a.delta, b.delta), slope: a.slope.zip(b.slope).map(|(a, b)| both(a, b)) }
}

/// A number as part of a [key](Pair::key).
pub(super) fn bits(number: Interval) -> [u64; 2] {
    [number.low().to_bits(), number.high().to_bits()]
}

/// What lies in `[0, 1]` and was enclosed by more.
pub(super) fn unit(enclosed: Interval) -> Interval {
    Interval::between(enclosed.low().clamp(0.0, 1.0), enclosed.high().clamp(0.0, 1.0))
}

/// What is nonnegative and was enclosed by more.
pub(super) fn nonnegative(enclosed: Interval) -> Interval {
    Interval::between(enclosed.low().max(0.0), enclosed.high().max(0.0))
}
