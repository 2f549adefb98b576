//! Mixtures of pairs whose index is drawn independently of the data and is seen by the observer.

use super::curve::renyi_of;
use super::pair::{Pair, Point, bits};
use ndp_numeric::rounding::Interval;
use std::sync::Arc;

/// `δ(ε) = Σ w_i δ_i(ε)`. It is exact if the index is seen, and an upper bound if it is not, since the
/// hockey-stick divergence is jointly convex.
#[derive(Clone, Debug)]
pub(super) struct Mixture {
    /// Weights that sum to 1, with their pairs.
    pub(super) parts: Vec<(Interval, Arc<dyn Pair>)>,
}

impl Pair for Mixture {
    fn at(&self, epsilon: Interval) -> Point {
        let mut sum = Point { delta: Interval::ZERO, slope: Some(Interval::ZERO) };
        for (weight, pair) in &self.parts {
            let part = pair.at(epsilon);
            sum.delta = sum.delta + *weight * part.delta;
            sum.slope = sum.slope.zip(part.slope).map(|(sum, slope)| sum + *weight * slope);
        }
        Point { delta: super::pair::unit(sum.delta), ..sum }
    }

    fn infinite(&self) -> Interval {
        self.parts.iter().map(|(weight, pair)| *weight * pair.infinite()).sum()
    }

    fn known_from_below(&self) -> bool {
        self.parts.iter().all(|(_, pair)| pair.known_from_below())
    }

    fn top(&self) -> Option<f64> {
        // The mixture has a largest atom only if every part has one.
        let tops = self.parts.iter().map(|(_, pair)| pair.top());
        tops.reduce(|a, b| a.zip(b).map(|(a, b)| a.max(b))).flatten()
    }

    fn largest(&self) -> Interval {
        let parts = self.parts.iter().filter(|(weight, _)| weight.high() > 0.0);
        parts.map(|(_, pair)| pair.largest()).reduce(Interval::max).unwrap_or(Interval::ZERO)
    }

    fn key(&self) -> Option<Vec<u64>> {
        let mut key = vec![5, self.parts.len() as u64];
        for (weight, pair) in &self.parts {
            let part = pair.key()?;
            key.extend(bits(*weight));
            key.push(part.len() as u64);
            key.extend(part);
        }
        Some(key)
    }

    fn unit(&self) -> Option<f64> {
        self.parts.iter().find_map(|(_, pair)| pair.unit())
    }

    /// `E[X^α] = Σ w_i E[X_i^α]`.
    fn renyi(&self, alpha: f64) -> Option<f64> {
        let excess = Interval::new(alpha) - Interval::ONE;
        let mut sum = Interval::ZERO;
        let losses: Option<Vec<f64>> = self.parts.iter().map(|(_, pair)| renyi_of(&**pair, alpha)).collect();
        let losses = losses?;
        let most = Interval::new(losses.iter().copied().fold(0.0, f64::max));
        if most.high() == f64::INFINITY {
            return Some(f64::INFINITY);
        }
        for ((weight, _), loss) in self.parts.iter().zip(&losses) {
            sum = sum + *weight * (excess * (Interval::new(*loss) - most)).exp();
        }
        Some((most + sum.ln() / excess).high().clamp(0.0, most.high()))
    }
}
