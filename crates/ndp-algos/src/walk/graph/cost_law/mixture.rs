//! Averages of Gaussian profiles over the law of the cost.

use super::blocks::Blocks;
use super::guess::Weights;
use ndp_numeric::gaussian_profile::{log_theta_down, theta};
use ndp_numeric::rounding::{Interval, down, up};

/// A law of costs, given by the probabilities that the cost is at least as large as each of some points.
#[derive(Clone, Debug, Default)]
pub(super) struct Mixture {
    /// The points as `√cost`, ascending.
    roots: Vec<f64>,
    /// `P(cost ≥ this point)`, descending, with one more entry, 0, at the end.
    at_least: Vec<f64>,
    upper: bool,
    /// The same law as weights on nodes, for guesses.
    weights: Weights,
}

impl Mixture {
    /// From points and probabilities, in ascending order of cost. `upper` says to which side everything is
    /// rounded.
    pub(super) fn new(points: &[(Interval, f64)], upper: bool) -> Self {
        let end = |x: Interval| if upper { x.high() } else { x.low().max(0.0) };
        let roots: Vec<f64> = points.iter().map(|(cost, _)| end(cost.sqrt())).collect();
        let at_least: Vec<f64> = points.iter().map(|&(_, p)| p).chain([0.0]).collect();
        let weights = Weights::new(&roots, &at_least);
        Self { roots, at_least, upper, weights }
    }

    pub(super) fn roots(&self) -> &[f64] {
        &self.roots
    }

    pub(super) const fn weights(&self) -> &Weights {
        &self.weights
    }

    /// A typical cost, as a root: that of the mean of the costs that are positive and finite, not rounded.
    pub(super) fn typical(&self) -> f64 {
        let finite = self.roots.partition_point(|&root| root < super::guess::ENDLESS);
        let squares = (0..finite).map(|at| self.mass(at, at + 1) * self.roots[at] * self.roots[at]);
        (squares.sum::<f64>() / (self.at_least[0] - self.at_least[finite])).sqrt()
    }

    /// Whether the law is an upper bound.
    pub(super) const fn is_upper(&self) -> bool {
        self.upper
    }

    /// The probability that the cost is at least that of entry `from` and less than that of entry `to`,
    /// rounded to its side.
    pub(super) fn mass(&self, from: usize, to: usize) -> f64 {
        let difference = self.at_least[from] - self.at_least[to];
        if self.upper { difference.next_up().max(0.0) } else { difference.next_down().max(0.0) }
    }

    /// `θ_ε(√cost/σ)` at this root, rounded to its side.
    fn value(&self, root: f64, epsilon: f64, sigma: f64) -> f64 {
        // A quotient errs by half a unit.
        let mu = root / sigma;
        if self.upper {
            theta(epsilon, mu.next_up())
        } else {
            Interval::new(log_theta_down(epsilon, mu.next_down().max(0.0))).exp().low().max(0.0)
        }
    }

    /// `E θ_ε(√cost/σ)`, rounded to its side. Entries whose values differ by no more than `slack` in the sum
    /// are combined.
    pub(super) fn delta(&self, epsilon: f64, sigma: f64, slack: f64) -> f64 {
        let sum = self.delta_of(self.roots.len(), epsilon, sigma, slack);
        if self.upper { sum.min(1.0) } else { sum }
    }

    /// A sum of so many products of probabilities and values, moved to its side by what their rounding is
    /// worth. Below the normal floats each product loses up to half of the smallest float.
    fn outward(&self, sum: f64, terms: f64) -> f64 {
        let lost = if sum < BARELY_NORMAL { terms * f64::from_bits(1) } else { 0.0 };
        if self.upper { up(sum, terms) + lost } else { (down(sum, terms) - lost).max(0.0) }
    }

    /// As [`Self::delta`], but only of the first `count` entries.
    pub(super) fn delta_of(&self, count: usize, epsilon: f64, sigma: f64, slack: f64) -> f64 {
        if count == 0 {
            return 0.0;
        }
        let value = |at: usize| self.value(self.roots[at], epsilon, sigma);
        let mut sum = 0.0;
        let mut terms = 0.0;
        let mut blocks = vec![(0, count, value(0), value(count - 1))];
        while let Some((from, to, least, most)) = blocks.pop() {
            let mass = self.mass(from, to);
            if to - from == 1 || mass * (most - least) <= slack {
                sum += mass * if self.upper { most } else { least };
                terms += 1.0;
                continue;
            }
            let middle = from + (to - from) / 2;
            blocks.push((from, middle, least, value(middle - 1)));
            blocks.push((middle, to, value(middle), most));
        }
        self.outward(sum, terms + 4.0)
    }

    /// `E θ_ε(√cost/σ)` over blocks of this law, rounded to its side.
    pub(super) fn delta_by(&self, blocks: &Blocks, epsilon: f64, sigma: f64) -> f64 {
        let terms = blocks.parts.len() as f64 + 4.0;
        let sum = blocks.parts.iter().map(|&(mass, root)| mass * self.value(root, epsilon, sigma)).sum();
        if blocks.parts.is_empty() { 0.0 } else { self.outward(sum, terms).min(1.0) }
    }

    /// `E θ_ε(√cost/σ)`, rounded to its side. Entries are added one by one, until the rest changes the sum by
    /// less than a part in `10^{13}`.
    pub(super) fn whole(&self, epsilon: f64, sigma: f64) -> f64 {
        let (mut sum, mut terms) = (0.0, 4.0);
        for at in (0..self.roots.len()).rev() {
            let value = self.value(self.roots[at], epsilon, sigma);
            let rest = self.mass(0, at + 1) * value;
            if rest <= NO_DIFFERENCE * sum {
                // The rest has smaller costs, and so smaller values.
                sum += if self.upper { rest } else { 0.0 };
                break;
            }
            sum += self.mass(at, at + 1) * value;
            terms += 1.0;
        }
        if self.roots.is_empty() { 0.0 } else { self.outward(sum, terms).min(1.0) }
    }

    /// For every count, the sum of the first `count` entries in `δ(ε)`; not rounded.
    pub(super) fn sums(&self, epsilon: f64, sigma: f64) -> Vec<f64> {
        let n = self.roots.len();
        let (mut sums, mut total) = (vec![0.0; n + 1], 0.0);
        for at in (0..n).rev() {
            let value = theta(epsilon, self.roots[at] / sigma);
            let term = self.mass(at, at + 1) * value;
            sums[at + 1] = term;
            total += term;
            if value <= NO_SHARE * total {
                break;
            }
        }
        for at in 0..n {
            sums[at + 1] += sums[at];
        }
        sums
    }

    /// `ln E e^{θ cost}`, rounded to its side.
    pub(super) fn log_moment(&self, theta: f64) -> f64 {
        let n = self.roots.len();
        if n == 0 {
            return 0.0;
        }
        let side = |x: Interval| if self.upper { x.high() } else { x.low() };
        let exponent = |at: usize| {
            let root = Interval::new(self.roots[at]);
            side(Interval::new(theta) * root * root)
        };
        let (mut sum, mut terms) = (0.0, 0.0);
        // The mass that is not at the points has cost 0, so that the sum is E e^x − 1. It would overflow for
        // large x.
        let top = exponent(n - 1).max(0.0);
        let log = if top > 600.0 {
            for at in 0..n {
                let term = (exponent(at) - top).exp();
                sum += self.mass(at, at + 1) * term;
                terms += 1.0;
            }
            let rest = (1.0 - self.at_least[0]).max(0.0) * (-top).exp();
            top + (sum + rest).ln()
        } else {
            for at in 0..n {
                sum += self.mass(at, at + 1) * exponent(at).exp_m1();
                terms += 1.0;
            }
            sum.ln_1p()
        };
        let margin = (terms + top + 8.0) * 2.0 * f64::EPSILON;
        let relative = margin * (1.0 + log.abs());
        // If the sum is small, its logarithm has the same relative error as the sum.
        let moved = if top > 600.0 { relative } else { margin * log.abs() };
        if self.upper { log + moved } else { (log - moved).max(0.0) }
    }

    /// The mean cost, rounded to its side.
    pub(super) fn mean(&self) -> f64 {
        let terms = (0..self.roots.len()).map(|at| self.mass(at, at + 1) * self.roots[at] * self.roots[at]);
        let sum: f64 = terms.sum();
        let error = self.roots.len() as f64 + 8.0;
        if self.upper { up(sum, error) } else { down(sum, error) }
    }

    /// The number of entries with costs below this one.
    pub(super) fn below(&self, cost: f64) -> usize {
        let root = cost.sqrt();
        self.roots.partition_point(|&point| point < root)
    }

    /// `P(cost ≥ c)`, rounded to its side.
    pub(super) fn at_least(&self, cost: Interval) -> f64 {
        // In an upper law this is the entry at the first point that may be at least c, since costs between
        // two points may be at the larger one.
        let root = cost.sqrt();
        let at = if self.upper {
            self.roots.partition_point(|&point| point < root.low())
        } else {
            self.roots.partition_point(|&point| point < root.high())
        };
        self.at_least[at]
    }
}

/// The share of a sum below which small costs are combined.
const NO_DIFFERENCE: f64 = 1e-13;
/// From here on the smallest float is less than a part in `10^30`.
const BARELY_NORMAL: f64 = 1e-290;
/// The same share for sums that are not rounded.
const NO_SHARE: f64 = 1e-7;

#[cfg(test)]
mod tests {
    use super::*;
    use ndp_numeric::incomplete::two_sum;

    /// The cost is 4 with probability 1/4, 10 with probability 1/4, and otherwise 0.
    fn both() -> [Mixture; 2] {
        let points = [(Interval::new(4.0), 0.5), (Interval::new(10.0), 0.25)];
        [true, false].map(|upper| Mixture::new(&points, upper))
    }

    /// Far below the smallest float a positive `δ` is at most that float, and not 0.
    #[test]
    fn what_underflows_is_not_nothing() {
        let points = [(Interval::new(1e-4), 0.7), (Interval::new(1e-2), 0.5)];
        for (epsilon, sigma) in [(10.0, 20.0), (1.0, 1000.0)] {
            let [upper, lower] = [true, false].map(|upper| Mixture::new(&points, upper));
            for found in [upper.whole(epsilon, sigma), upper.delta(epsilon, sigma, 0.0)] {
                assert!(found > 0.0 && found < 1e-300, "{found:e}");
            }
            assert_eq!((lower.whole(epsilon, sigma), lower.delta(epsilon, sigma, 0.0)), (0.0, 0.0));
        }
        assert_eq!(Mixture::new(&[], true).whole(1.0, 1.0), 0.0);
    }

    #[test]
    fn moments_of_small_and_of_huge_exponents() {
        let [upper, lower] = both();
        for (theta, truth) in [
            // ln(1/2 + e^{4θ}/4 + e^{10θ}/4); mpmath at 50 digits for the first two.
            (0.01, 0.035_845_237_126_117_51),
            (1.0, 8.616_271_895_261_83),
            (70.0, 700.0 - 4f64.ln()),
            (1e5, 1e6 - 4f64.ln()),
        ] {
            let (low, high) = (lower.log_moment(theta), upper.log_moment(theta));
            assert!(low <= truth && truth <= high && high - low <= 1e-9 * truth, "{theta}: {low} {high}");
        }
        let empty = Mixture::new(&[], true);
        assert_eq!(empty.log_moment(3.0), 0.0);
    }

    /// The rounding error of a difference is known exactly.
    #[test]
    fn masses_are_rounded_to_their_sides() {
        for k in 1..200 {
            let (one, other) = (1.0 / f64::from(k), 1.0 / f64::from(k * k + 3) / 7.0);
            let points = [(Interval::ONE, one), (Interval::new(2.0), other)];
            let (difference, rest) = two_sum(one, -other);
            for upper in [true, false] {
                let mass = Mixture::new(&points, upper).mass(0, 1);
                let above = (mass - difference) - rest;
                assert!(if upper { above >= 0.0 } else { above <= 0.0 }, "{k}, {upper}: {above:e}");
                assert!(above.abs() <= 2.0 * f64::EPSILON * one);
            }
        }
    }
}
