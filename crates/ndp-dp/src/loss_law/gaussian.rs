//! The pair `N(μ, 1)`, `N(0, 1)`.

use super::pair::{Pair, Point, bits, two_sided, unit};
use ndp_numeric::gaussian_profile::{PROFILE_ERROR, theta};
use ndp_numeric::rounding::{Interval, down, up};
use ndp_numeric::special::{SQRT_2PI, mills_ratio};

/// The pair of Gaussian noise. `μ` is an interval, since it may be the rounded root of a sum of squares.
#[derive(Clone, Copy, Debug)]
pub(super) struct GaussianPair {
    pub(super) mu: Interval,
}

impl GaussianPair {
    /// With `a = ε/μ − μ/2` and `b = a + μ`: `δ = θ_ε(μ)`, and `e^ε Q(L > ε) = φ(a) R(b)` with the Mills
    /// ratio `R`.
    fn positive(&self, epsilon: Interval) -> Point {
        if self.mu.high() == 0.0 {
            return Point { delta: Interval::ZERO, slope: Some(Interval::ZERO) };
        }
        let half = Interval::new(0.5) * self.mu;
        let quotient = epsilon / self.mu;
        let (a, b) = (quotient - half, quotient + half);
        let bell = (Interval::new(-0.5) * square(a)).exp().min(Interval::ONE) / root_of_two_pi();
        let ratio =
            Interval::between(down(mills_ratio(b.high()), MILLS), up(mills_ratio(b.low().max(0.0)), MILLS));
        let slope = unit(bell * ratio);
        // Within the interval of ε that rounding leaves, the profile falls by at most the largest slope times
        // the width.
        let high = theta(epsilon.low(), self.mu.high());
        let lowest = if self.mu.low() == self.mu.high() { high } else { theta(epsilon.low(), self.mu.low()) };
        let width = epsilon.high() - epsilon.low();
        let low = theta_down(lowest) - width.next_up() * slope.high();
        let low = if width == 0.0 { theta_down(lowest) } else { low.next_down() };
        Point { delta: unit(Interval::between(low, high)), slope: Some(slope) }
    }
}

impl Pair for GaussianPair {
    fn at(&self, epsilon: Interval) -> Point {
        two_sided(epsilon, |epsilon| self.positive(epsilon), |epsilon| self.positive(epsilon))
    }

    fn gaussian(&self) -> Option<Interval> {
        Some(self.mu)
    }

    fn largest(&self) -> Interval {
        Interval::new(if self.mu.high() > 0.0 { f64::INFINITY } else { 0.0 })
    }

    fn key(&self) -> Option<Vec<u64>> {
        Some([&[1][..], &bits(self.mu)].concat())
    }

    fn renyi(&self, alpha: f64) -> Option<f64> {
        Some(crate::gdp::half_square(alpha, self.mu.high()))
    }
}

/// `x²`, nonnegative even if the interval of `x` contains 0.
fn square(x: Interval) -> Interval {
    let product = x * x;
    Interval::between(product.low().max(0.0), product.high())
}

/// A lower end of the value that [`theta`] rounded up to `high`. Rounding moves it up in two steps, by at
/// most `2 PROFILE_ERROR + 3` epsilons times `1 + |ln θ|`, and the computed value itself has an error of the
/// same size.
fn theta_down(high: f64) -> f64 {
    // So close to the smallest floats only the sign is known.
    if high < 1e-290 {
        return 0.0;
    }
    down(high, (3.0 * PROFILE_ERROR + 6.0) * (1.0 + libm::log(high).abs()))
}

fn root_of_two_pi() -> Interval {
    Interval::between(SQRT_2PI.next_down(), SQRT_2PI.next_up())
}

/// Error of [`mills_ratio`], in epsilons.
const MILLS: f64 = 33.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// By squares, each the sum of two floats, and `2π` as the sum of two floats.
    #[test]
    fn the_root_lies_between_its_neighbors() {
        let above = |root: f64| {
            let (square, rest) = ndp_numeric::incomplete::two_product(root, root);
            (square - 2.0 * std::f64::consts::PI) + (rest - 2.449_293_598_294_706_4e-16)
        };
        let root = root_of_two_pi();
        assert!(above(root.low()) < 0.0 && 0.0 < above(root.high()), "{root:?}");
    }
}
