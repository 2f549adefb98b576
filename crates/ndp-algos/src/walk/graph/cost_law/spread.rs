//! Charges that are spread over the two grid points around them, so that their means stay: an error of the
//! second order in the step.
//!
//! A charge `x` between the neighboring points `a` and `b = a + h` is put at `b` with probability `(x −
//! a)/h`, at `a` otherwise, by itself. For a function `f` of the cost, all else fixed, the mean of `f` then
//! moves by `½ f''(ξ) (x − a)(b − x)`. One charge after the other: with `C̃` the cost of what was spread and
//! `V = E Σ (x − a)(b − x)` over the charges of a path,
//!
//! ```text
//! E f(C̃) − ½ V sup f''  ≤  E f(C)  ≤  E f(C̃) + ½ V sup (−f''),
//! ```
//!
//! the suprema not below 0. Here `f(C) = θ_ε(√s)`, `s = C/σ²`, with `f'' = φ(x)/(2√s) (ε²/(2s²) − 1/(2s) −
//! 1/8)/σ⁴` at `x = √s/2 − ε/√s`: convex up to some `s`, concave from there. As no charge leaves its cell,
//! `C̃` lies between the costs whose charges are rounded down and up on this grid or on a coarser one, and
//! what is beyond a table is known from theirs.

use super::blocks::Blocks;
use super::circle::Circle;
use super::guess::Weights;
use super::intervals::Intervals;
use super::level::{Level, Window};
use super::mixture::Mixture;
use super::system::{Rounding, System};
use ndp_numeric::stop::Stop;
use std::cell::Cell;
use std::f64::consts::PI;

/// A table of the law of `C̃`.
#[derive(Clone, Debug)]
pub(super) struct Spread {
    /// Not below `P(C̃ ≥ jh)`, and not above it.
    pub(super) level: Level,
    /// `V`, at most.
    pub(super) variance: f64,
}

impl Spread {
    /// Costs up to `1/narrower` of those of a coarser table, on half of `cells`; from above alone, or both
    /// ends.
    pub(super) fn within(
        wide: &Level,
        upper: &Intervals,
        narrower: usize,
        (cells, both): (usize, bool),
        stop: &Stop,
    ) -> Option<Self> {
        let Window { grid, half, next, folded, log_damping } = wide.part(narrower, cells, DAMPED);
        stop.spend(System::cost(upper)).ok()?;
        let system = System::new(upper, grid, Rounding::Spread, super::level::FORGOTTEN);
        let circle = Circle::new(&system, stop)?;
        let law = circle.cells(cells, log_damping)?;
        let lower = if both {
            // No event is overrated by more than all events together.
            let excess = (circle.total()? - 1.0).max(0.0) + system.lost + 4.0 * f64::EPSILON;
            let left_out = law.wrapped() * wide.upper[folded] + excess;
            super::level::at_least_down(&law, half - 1, wide.lower[next], left_out)
        } else {
            vec![0.0; half + 1]
        };
        let upper = super::level::at_least_up(&law, system.lost, half - 1, wide.upper[next]);
        let step = grid.cost(1);
        Some(Self {
            level: Level { grid, upper, lower },
            variance: system.variance * step * step * (1.0 + 1e-9),
        })
    }
}

/// One end of a law with what its charges may have moved.
#[derive(Debug)]
pub(super) struct Sided<'a> {
    law: &'a Mixture,
    variance: f64,
    /// The last `ε`, and the supremum that belongs to it.
    bend: Cell<(f64, f64)>,
}

impl<'a> Sided<'a> {
    pub(super) fn new(law: &'a Mixture, variance: f64) -> Self {
        Self { law, variance, bend: Cell::new((f64::NAN, 0.0)) }
    }

    /// Whether both are the same law.
    pub(super) fn is(&self, other: &Self) -> bool {
        std::ptr::eq(self.law, other.law)
    }

    /// Whether it is not below the truth.
    pub(super) const fn is_upper(&self) -> bool {
        self.law.is_upper()
    }

    pub(super) const fn weights(&self) -> &'a Weights {
        self.law.weights()
    }

    /// `δ(ε)`, not below the truth or not above it, as the law is.
    pub(super) fn delta(&self, epsilon: f64, sigma: f64, slack: f64) -> f64 {
        self.with_moved(self.law.delta(epsilon, sigma, slack), epsilon, sigma)
    }

    /// As [`Self::delta`], entry by entry.
    pub(super) fn whole(&self, epsilon: f64, sigma: f64) -> f64 {
        self.with_moved(self.law.whole(epsilon, sigma), epsilon, sigma)
    }

    /// As [`Blocks::new`].
    pub(super) fn blocks(&self, epsilon: f64, sigma: f64, around: f64, slack: f64) -> Blocks {
        Blocks::new(self.law, epsilon, sigma, around, slack)
    }

    /// As [`Self::delta`], over blocks of its law.
    pub(super) fn delta_by(&self, blocks: &Blocks, epsilon: f64, sigma: f64) -> f64 {
        self.with_moved(self.law.delta_by(blocks, epsilon, sigma), epsilon, sigma)
    }

    fn with_moved(&self, value: f64, epsilon: f64, sigma: f64) -> f64 {
        if self.variance == 0.0 {
            return value;
        }
        if self.law.is_upper() {
            (value + self.moved(epsilon, sigma)) * (1.0 + 2.0 * f64::EPSILON)
        } else {
            ((value - self.moved(epsilon, sigma)) * (1.0 - 2.0 * f64::EPSILON)).max(0.0)
        }
    }

    /// What spreading may have made of `δ(ε)`.
    pub(super) fn moved(&self, epsilon: f64, sigma: f64) -> f64 {
        if self.variance == 0.0 {
            return 0.0;
        }
        let (known, mut bend) = self.bend.get();
        if known != epsilon {
            bend = self.bend_of(bends(epsilon));
            self.bend.set((epsilon, bend));
        }
        moved(self.variance, bend, sigma)
    }

    /// The same from both suprema at an `ε`.
    pub(super) fn moved_by(&self, bends: (f64, f64), sigma: f64) -> f64 {
        if self.variance == 0.0 { 0.0 } else { moved(self.variance, self.bend_of(bends), sigma) }
    }

    const fn bend_of(&self, (convex, concave): (f64, f64)) -> f64 {
        if self.law.is_upper() { concave } else { convex }
    }
}

/// What spreading may move: two squarings, two products, a quotient.
fn moved(variance: f64, bend: f64, sigma: f64) -> f64 {
    0.5 * variance * bend / sigma.powi(4) * (1.0 + 16.0 * f64::EPSILON)
}

/// The suprema over `s > 0` of the second derivative of `θ_ε(√s)` and of its opposite, rounded up.
pub(super) fn bends(epsilon: f64) -> (f64, f64) {
    if epsilon == 0.0 {
        // −φ(√s/2)/(2√s) (1/(2s) + 1/8).
        return (0.0, f64::INFINITY);
    }
    // The largest bend grows like 1/ε³, and the squares below have no digits: no bound is offered.
    if epsilon < LEAST_BENT {
        return (f64::INFINITY, f64::INFINITY);
    }
    let x = |s: f64| s.sqrt() / 2.0 - epsilon / s.sqrt();
    let phi = |x: f64| (-x * x / 2.0).exp() / (2.0 * PI).sqrt();
    // Below `first` it is convex, and φ(x) ε² y⁵/4 with y = 1/√s bounds it, φ(x) ≤ e^{(ε − ε² y²)/2}/√(2π):
    // decreasing in y for ε² y² > 5.
    let first = (epsilon * epsilon / 100.0).min(100.0);
    let y = 1.0 / first.sqrt();
    let smallest = (0.5 * epsilon - 0.5 * epsilon * epsilon * y * y).exp() / (2.0 * PI).sqrt();
    let mut convex = smallest * epsilon * epsilon * y.powi(5) / 4.0;
    let mut concave = 0.0;
    // Above `last` it is concave, x is positive, and all factors of a bound fall.
    let last = 4.0 * epsilon + 400.0;
    let mut a = first;
    while a < last {
        let b = a * RATIO;
        let (low, high) = (x(a), x(b));
        let largest = phi(if low > 0.0 { low } else { high.min(0.0) }) / (2.0 * a.sqrt());
        let square = epsilon * epsilon / 2.0;
        convex = f64::max(convex, largest * (square / (a * a) - 0.5 / b - 0.125));
        concave = f64::max(concave, largest * (0.5 / a + 0.125 - square / (b * b)));
        a = b;
    }
    concave = f64::max(concave, phi(x(a)) / (2.0 * a.sqrt()) * (0.5 / a + 0.125));
    // Arguments of up to 10^4 in the exponential function, a few units each.
    (convex * (1.0 + 1e-9), concave * (1.0 + 1e-9))
}

/// `ρ^N`: hardly anything costs so much that it is folded.
const DAMPED: f64 = 0.05;
/// The smallest `ε` for which bends are bounded.
const LEAST_BENT: f64 = 1e-60;
/// Of the intervals on which second derivatives are bounded.
const RATIO: f64 = 1.08;

#[cfg(test)]
mod tests {
    use super::*;
    use ndp_numeric::gaussian_profile::theta;

    /// Against second differences, and not far above the largest.
    #[test]
    fn bends_bound_second_differences() {
        for epsilon in [0.01, 0.1, 0.5, 1.0, 3.0, 10.0] {
            let (convex, concave) = bends(epsilon);
            let (mut most, mut least) = (0.0_f64, 0.0_f64);
            let mut s = epsilon * epsilon / 200.0;
            while s < 100.0 {
                let step = 1e-3 * s;
                let at = |k: f64| theta(epsilon, (s + k * step).sqrt());
                let bend = (at(1.0) - 2.0 * at(0.0) + at(-1.0)) / (step * step);
                // What rounding makes of a difference.
                let noise = 1e-13 * at(1.0) / (step * step);
                assert!(bend <= convex + noise && -bend <= concave + noise, "{epsilon} {s} {bend}");
                if noise < 1e-3 * bend.abs() {
                    (most, least) = (most.max(bend), least.min(bend));
                }
                s *= 1.01;
            }
            assert!(
                convex < 1.5 * most && concave < -1.5 * least,
                "{epsilon} {convex} {most} {concave} {least}"
            );
        }
        assert_eq!(bends(0.0), (0.0, f64::INFINITY));
        // The search for the largest began at ε²/100, which is 0, and did not end.
        for tiny in [5e-324, 1e-300, 2.5e-188, 1e-100] {
            assert_eq!(bends(tiny), (f64::INFINITY, f64::INFINITY));
        }
        let (convex, concave) = bends(2e-60);
        assert!(convex > 1e150 && concave > 1e50);
    }
}
