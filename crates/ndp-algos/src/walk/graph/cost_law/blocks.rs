//! Replaces a law by one with few costs, which bounds it from the same side for `ε` and noises near a given
//! pair.
//!
//! As a function of the cost, `f(s) = θ_ε(√s)`, `s = C/σ²`, is convex up to `s* = 2ε²/(1 + √(1 + ε²))` and
//! concave from there on (its second derivative is in `spread_tables.rs`). For masses `m_i` at costs `s_i`
//! between `a` and `b`, with sum `m` and mean `s̄`, therefore
//!
//! ```text
//! m f(s̄)  ≤  Σ m_i f(s_i)  ≤  m (t f(b) + (1 − t) f(a)),   t = (s̄ − a)/(b − a),
//! ```
//!
//! where `f` is convex, and the other way around where it is concave. Both sides err by a term of second
//! order in `b − a`. Costs around `s*` are kept as they are.

use super::mixture::Mixture;
use ndp_numeric::gaussian_profile::theta;
use std::f64::consts::PI;

/// Probabilities, and the root of the cost of each.
#[derive(Debug)]
pub(super) struct Blocks {
    pub(super) parts: Vec<(f64, f64)>,
    /// The law is a bound for all `ε` and `σ` for which `s* σ²` lies between these.
    turns: (f64, f64),
}

impl Blocks {
    /// From a law, valid for all `ε` and `σ` that change `s* σ²` by at most the relative amount `around`.
    /// Each block changes `δ(ε)` by about `slack`.
    pub(super) fn new(law: &Mixture, epsilon: f64, sigma: f64, around: f64, slack: f64) -> Self {
        let turn = turn(epsilon, sigma);
        let turns = (turn * (1.0 - around), turn * (1.0 + around));
        // This covers the few roundings of roots and squares.
        let (convex_to, concave_from) = (turns.0 * (1.0 - 1e-9), turns.1 * (1.0 + 1e-9));
        let bend = Bend { epsilon, sigma };
        let roots = law.roots();
        let cost = |at: usize| roots[at] * roots[at];
        let mut parts = Parts { law, parts: Vec::new() };
        let mut stack = vec![(0, roots.len())];
        while let Some((from, to)) = stack.pop() {
            if to <= from {
                continue;
            }
            if to - from == 1 {
                parts.take_one(from);
                continue;
            }
            // The chord of a block ends at the first cost of the block that was taken before it.
            let end = to.min(roots.len() - 1);
            let (first, last, mass) = (cost(from), cost(end), law.mass(from, to));
            let shape = match (last <= convex_to, first >= concave_from) {
                (true, _) => Some(Shape::Convex),
                (_, true) => Some(Shape::Concave),
                _ => None,
            };
            let narrow = last <= WIDEST * first;
            if let Some(shape) = shape
                && narrow
                && mass * bend.between(first, last) <= slack
            {
                match (shape, law.is_upper()) {
                    (Shape::Convex, true) | (Shape::Concave, false) => parts.take_chord(from, to, end),
                    _ => parts.take_mean(from, to),
                }
            } else if !narrow && mass * theta(epsilon, roots[end] / sigma) <= slack {
                parts.take_side(from, to);
            } else {
                let middle = from + (to - from) / 2;
                stack.push((from, middle));
                stack.push((middle, to));
            }
        }
        Self { parts: parts.parts, turns }
    }

    /// Whether the law is a bound for these.
    pub(super) fn covers(&self, epsilon: f64, sigma: f64) -> bool {
        let turn = turn(epsilon, sigma);
        self.turns.0 <= turn && turn <= self.turns.1
    }
}

enum Shape {
    Convex,
    Concave,
}

/// `s* σ²`.
fn turn(epsilon: f64, sigma: f64) -> f64 {
    2.0 * epsilon * epsilon / (1.0 + epsilon.hypot(1.0)) * (sigma * sigma)
}

/// An estimate of the distance of `f` from its chords.
struct Bend {
    epsilon: f64,
    sigma: f64,
}

impl Bend {
    fn between(&self, a: f64, b: f64) -> f64 {
        let variance = self.sigma * self.sigma;
        let (a, b) = (a / variance, b / variance);
        let second = |s: f64| {
            let x = s.sqrt() / 2.0 - self.epsilon / s.sqrt();
            let square = self.epsilon * self.epsilon / 2.0;
            let factor = square / (s * s) - 0.5 / s - 0.125;
            ((-x * x / 2.0).exp() / ((2.0 * PI).sqrt() * 2.0 * s.sqrt()) * factor).abs()
        };
        (b - a) * (b - a) / 8.0 * second(a).max(second(b)).max(second(f64::midpoint(a, b)))
    }
}

/// The parts found so far, in the order of falling costs.
struct Parts<'a> {
    law: &'a Mixture,
    parts: Vec<(f64, f64)>,
}

impl Parts<'_> {
    /// Takes a single cost as it is.
    fn take_one(&mut self, at: usize) {
        self.parts.push((self.law.mass(at, at + 1), self.law.roots()[at]));
    }

    /// Puts a whole block at the end that keeps the bound valid: its largest cost in an upper law, its
    /// smallest in a lower one.
    fn take_side(&mut self, from: usize, to: usize) {
        let at = if self.law.is_upper() { to - 1 } else { from };
        self.parts.push((self.law.mass(from, to), self.law.roots()[at]));
    }

    /// Puts a block at its mean cost.
    fn take_mean(&mut self, from: usize, to: usize) {
        let law = self.law;
        let mass = law.mass(from, to);
        if mass <= 0.0 {
            return;
        }
        let squares = |at: usize| (law.mass(at, at + 1), law.roots()[at] * law.roots()[at]);
        let sum: f64 = (from..to).map(squares).map(|(mass, cost)| mass * cost).sum();
        // Roundings: one for each mass, square, product and sum, and those of the quotient and the root.
        let error = ((to - from) as f64 + 16.0) * f64::EPSILON;
        let mean = sum / mass;
        let root = if law.is_upper() { mean * (1.0 + error) } else { mean * (1.0 - error) }.sqrt();
        // Rounding must not move the mean out of the block.
        self.parts.push((mass, root.clamp(law.roots()[from], law.roots()[to - 1])));
    }

    /// Divides a block between its first cost and the cost at `end`, so that the mean is preserved.
    fn take_chord(&mut self, from: usize, to: usize, end: usize) {
        let (law, roots) = (self.law, self.law.roots());
        let (first, last) = (roots[from] * roots[from], roots[end] * roots[end]);
        let mass = law.mass(from, to);
        if first >= last || mass <= 0.0 {
            self.take_side(from, to);
            return;
        }
        let share = |at: usize| (roots[at] * roots[at] - first) / (last - first);
        let above: f64 = (from..to).map(|at| law.mass(at, at + 1) * share(at)).sum();
        // The roundings of a mean, and the cancellation in differences of squares.
        let error = (to - from) as f64 + 16.0 + 8.0 * last / (last - first);
        let margin = mass * error * f64::EPSILON;
        let side = |x: f64| if law.is_upper() { x.max(0.0) + margin } else { (x - margin).max(0.0) };
        let (below, above) = (side(mass - above), side(above));
        match self.parts.last_mut() {
            Some((mass, root)) if *root == roots[end] => {
                *mass = if law.is_upper() { (*mass + above).next_up() } else { (*mass + above).next_down() };
            }
            _ => self.parts.push((above, roots[end])),
        }
        self.parts.push((below, roots[from]));
    }
}

/// The largest ratio of the costs in a block, unless the block is negligible.
const WIDEST: f64 = 1.2;
