//! The pair of Laplace laws at distance `ε₀` in units of their scale.

use super::pair::{Pair, Point, bits, nonnegative, two_sided};
use crate::{Laplace, Mechanism, Order};
use ndp_numeric::rounding::Interval;

/// The pair of Laplace noise. The loss has an atom of mass 1/2 at `ε₀`, one of mass `e^{−ε₀}/2` at `−ε₀`, and
/// a density in between.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaplacePair {
    mechanism: Laplace,
    pure: Interval,
}

impl LaplacePair {
    pub(super) fn new(mechanism: Laplace) -> Self {
        // `pure` is a quotient that was rounded up, so the float below it is a lower end.
        let pure = mechanism.pure_epsilon().into_value();
        Self { mechanism, pure: Interval::between(pure.next_down(), pure) }
    }

    /// `δ = 1 − e^{(ε−ε₀)/2}` and `e^ε Q(L > ε) = e^{(ε−ε₀)/2}/2` below `ε₀`.
    fn positive(&self, epsilon: Interval) -> Point {
        let gap = Interval::new(0.5) * (epsilon - self.pure);
        if gap.low() > 0.0 {
            return Point { delta: Interval::ZERO, slope: Some(Interval::ZERO) };
        }
        let slope = Interval::new(0.5) * gap.min(Interval::ZERO).exp();
        // At ε₀ itself the slope may be that on either side; beyond it, it is 0.
        let low = if epsilon.high() <= self.pure.low() { slope.low() } else { 0.0 };
        Point { delta: nonnegative(-gap.expm1()), slope: Some(Interval::between(low, slope.high())) }
    }
}

impl Pair for LaplacePair {
    fn at(&self, epsilon: Interval) -> Point {
        two_sided(epsilon, |epsilon| self.positive(epsilon), |epsilon| self.positive(epsilon))
    }

    fn top(&self) -> Option<f64> {
        Some(self.pure.low())
    }

    fn unit(&self) -> Option<f64> {
        Some(2.0 * self.pure.low())
    }

    fn largest(&self) -> Interval {
        self.pure
    }

    fn key(&self) -> Option<Vec<u64>> {
        Some([&[2][..], &bits(self.pure)].concat())
    }

    fn renyi(&self, alpha: f64) -> Option<f64> {
        Order::new(alpha).ok().map(|order| self.mechanism.rdp(order).into_value())
    }
}
