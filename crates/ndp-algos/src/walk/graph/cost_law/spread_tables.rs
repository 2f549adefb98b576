//! Tables of the law of the cost with charges that are spread: each is divided between the two grid points
//! around it, so that its mean stays the same. The error is then of second order in the step.
//!
//! A charge `x` between the neighboring points `a` and `b = a + h` is put at `b` with probability `(x −
//! a)/h`, and at `a` otherwise, independently of everything else. For a function `f` of the cost, the mean of
//! `f` then moves by `½ f''(ξ) (x − a)(b − x)` if all other charges stay the same. Applied to one charge
//! after the other, with `C̃` the cost of the spread charges and `V = E Σ (x − a)(b − x)` over the charges of
//! a path, this gives
//!
//! ```text
//! E f(C̃) − ½ V sup f''  ≤  E f(C)  ≤  E f(C̃) + ½ V sup (−f''),
//! ```
//!
//! where the suprema are at least 0. Here `f(C) = θ_ε(√s)`, `s = C/σ²`, with `f'' = φ(x)/(2√s) (ε²/(2s²) −
//! 1/(2s) − 1/8)/σ⁴` at `x = √s/2 − ε/√s`, which is convex up to some `s` and concave from there on. As no
//! charge leaves its cell, `C̃` lies between the costs whose charges are rounded down and up on this grid or
//! on a coarser one. The probabilities of costs beyond a table are therefore taken from the rounded tables.

use super::blocks::Blocks;
use super::circle::Circle;
use super::guess::Weights;
use super::intervals::Intervals;
use super::mixture::Mixture;
use super::rounded_tables::{Level, Window};
use super::system::{Rounding, System};
use ndp_numeric::stop::Stop;
use std::cell::Cell;
use std::f64::consts::PI;

/// A table of the law of `C̃`.
#[derive(Clone, Debug)]
pub(super) struct Spread {
    /// Upper and lower bounds on `P(C̃ ≥ jh)`.
    pub(super) level: Level,
    /// An upper bound on `V`.
    pub(super) variance: f64,
}

impl Spread {
    /// The costs up to `1/narrower` of the range of a coarser table, on half of `cells`: the upper bounds
    /// alone, or both.
    pub(super) fn within(
        wide: &Level,
        upper: &Intervals,
        narrower: usize,
        (cells, both): (usize, bool),
        stop: &Stop,
    ) -> Option<Self> {
        let Window { grid, half, next, folded, log_damping } = wide.part(narrower, cells, DAMPED);
        stop.spend(System::cost(upper)).ok()?;
        let system = System::new(upper, grid, Rounding::Spread, super::rounded_tables::FORGOTTEN);
        let circle = Circle::new(&system, stop)?;
        let law = circle.cells(cells, log_damping)?;
        let lower = if both {
            // No event is overestimated by more than all events together.
            let excess = (circle.total()? - 1.0).max(0.0) + system.lost + 4.0 * f64::EPSILON;
            let left_out = law.wrapped() * wide.upper[folded] + excess;
            super::rounded_tables::at_least_down(&law, half - 1, wide.lower[next], left_out)
        } else {
            vec![0.0; half + 1]
        };
        let upper = super::rounded_tables::at_least_up(&law, system.lost, half - 1, wide.upper[next]);
        let step = grid.cost(1);
        Some(Self {
            level: Level { grid, upper, lower },
            variance: system.variance * step * step * (1.0 + 1e-9),
        })
    }
}

/// One end of a law, with a bound on how much spreading its charges has moved `δ`.
#[derive(Debug)]
pub(super) struct Sided<'a> {
    law: &'a Mixture,
    variance: f64,
    /// The last `ε` that was asked for, and its supremum.
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

    /// Whether the law is an upper bound.
    pub(super) const fn is_upper(&self) -> bool {
        self.law.is_upper()
    }

    pub(super) const fn weights(&self) -> &'a Weights {
        self.law.weights()
    }

    /// `δ(ε)`, an upper or a lower bound as the law is.
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

    /// A bound on how much spreading has moved `δ(ε)`.
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

    /// The same, when both suprema at an `ε` are known.
    pub(super) fn moved_by(&self, bends: (f64, f64), sigma: f64) -> f64 {
        if self.variance == 0.0 { 0.0 } else { moved(self.variance, self.bend_of(bends), sigma) }
    }

    const fn bend_of(&self, (convex, concave): (f64, f64)) -> f64 {
        if self.law.is_upper() { concave } else { convex }
    }
}

/// How much spreading may move `δ`, with the roundings of two squares, two products and a quotient.
fn moved(variance: f64, bend: f64, sigma: f64) -> f64 {
    0.5 * variance * bend / sigma.powi(4) * (1.0 + 16.0 * f64::EPSILON)
}

/// The suprema over `s > 0` of the second derivative of `θ_ε(√s)` and of its negative, rounded up.
pub(super) fn bends(epsilon: f64) -> (f64, f64) {
    if epsilon == 0.0 {
        // The second derivative is −φ(√s/2)/(2√s) (1/(2s) + 1/8), which is unbounded near 0.
        return (0.0, f64::INFINITY);
    }
    // The largest second derivative grows like 1/ε³, and the squares below would underflow: no bound is
    // offered.
    if epsilon < LEAST_BENT {
        return (f64::INFINITY, f64::INFINITY);
    }
    let x = |s: f64| s.sqrt() / 2.0 - epsilon / s.sqrt();
    let phi = |x: f64| (-x * x / 2.0).exp() / (2.0 * PI).sqrt();
    // Below `first` the function is convex, and its second derivative is at most φ(x) ε² y⁵/4 with y = 1/√s
    // and φ(x) ≤ e^{(ε − ε² y²)/2}/√(2π), which decreases in y for ε² y² > 5.
    let first = (epsilon * epsilon / 100.0).min(100.0);
    let y = 1.0 / first.sqrt();
    let smallest = (0.5 * epsilon - 0.5 * epsilon * epsilon * y * y).exp() / (2.0 * PI).sqrt();
    let mut convex = smallest * epsilon * epsilon * y.powi(5) / 4.0;
    let mut concave = 0.0;
    // Above `last` the function is concave, x is positive, and all factors of the bound decrease.
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
    // The exponential function has arguments of up to 10^4, with an error of a few units each.
    (convex * (1.0 + 1e-9), concave * (1.0 + 1e-9))
}

/// `ρ^N`: hardly any path has a cost so large that it is folded.
const DAMPED: f64 = 0.05;
/// The smallest `ε` for which bends are bounded.
const LEAST_BENT: f64 = 1e-60;
/// The ratio of the ends of the intervals on which second derivatives are bounded.
const RATIO: f64 = 1.08;

#[cfg(test)]
mod tests {
    use super::*;
    use ndp_numeric::gaussian_profile::theta;

    /// Compared with second differences: never below, and not far above the largest.
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
                // What rounding adds to a difference.
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
        // The search for the largest value began at ε²/100, which underflows to 0, and did not end.
        for tiny in [5e-324, 1e-300, 2.5e-188, 1e-100] {
            assert_eq!(bends(tiny), (f64::INFINITY, f64::INFINITY));
        }
        let (convex, concave) = bends(2e-60);
        assert!(convex > 1e150 && concave > 1e50);
    }
}
