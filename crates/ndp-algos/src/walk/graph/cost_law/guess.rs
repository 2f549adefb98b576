//! Estimates `ε`, or the least noise, in plain floats. Nothing in this file is a bound: the law itself proves
//! what is found here, in one or two evaluations (`search.rs`).
//!
//! Each law is put on nodes `s_k = e^{k STEP}` of the cost that all laws share, by interpolation of degree
//! five. One row of `θ_ε(√s_k/σ)` then gives `δ(ε)` by every law, up to a few parts in a thousand.

use super::spread_tables::{Sided, bends};
use super::tables::Tables;
use ndp_numeric::casts::floor;
use ndp_numeric::gaussian_profile::theta;
use ndp_numeric::special::mills_ratio;
use std::f64::consts::PI;

/// A law as weights on the nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct Weights {
    /// The node of the first weight, counted from `LOWEST`.
    first: usize,
    weights: Vec<f64>,
    /// The probability of an infinite cost, at which `δ` is 1.
    certain: f64,
}

impl Weights {
    /// From ascending roots of costs, and the probabilities that the cost is at least as large.
    pub(super) fn new(roots: &[f64], at_least: &[f64]) -> Self {
        let place = |root: f64| (2.0 * root.ln() / STEP - LOWEST).max(2.0);
        let finite = roots.partition_point(|&root| root < ENDLESS);
        let certain = at_least[finite];
        let (Some(least), Some(most)) = (roots.first(), roots[..finite].last()) else {
            return Self { first: 0, weights: Vec::new(), certain };
        };
        let first = floor(place(*least)) - 2;
        let mut weights = vec![0.0; floor(place(*most)) + 4 - first];
        for (at, &root) in roots[..finite].iter().enumerate() {
            let place = place(root);
            let node = floor(place);
            let shares = lagrange(place - node as f64);
            let mass = at_least[at] - at_least[at + 1];
            for (weight, share) in weights[node - 2 - first..].iter_mut().zip(shares) {
                *weight += mass * share;
            }
        }
        Self { first, weights, certain }
    }

    const fn end(&self) -> usize {
        self.first + self.weights.len()
    }

    const fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }
}

/// The weights of the nodes −2, …, 3 for interpolation at a place in `[0, 1]`.
fn lagrange(place: f64) -> [f64; 6] {
    let nodes = [-2.0, -1.0, 0.0, 1.0, 2.0, 3.0];
    nodes.map(|own| {
        let others = nodes.iter().filter(|&&node| node != own);
        others.map(|&node| (place - node) / (own - node)).product()
    })
}

/// What is to be found, with the value that is given.
#[derive(Clone, Copy, Debug)]
pub(super) enum Question {
    /// `ε` at a noise.
    Epsilon { sigma: f64 },
    /// The noise at an `ε`.
    Noise { epsilon: f64 },
}

impl Question {
    /// `ε` and the noise if the answer is `x`.
    pub(super) const fn at(self, x: f64) -> (f64, f64) {
        match self {
            Self::Epsilon { sigma } => (x, sigma),
            Self::Noise { epsilon } => (epsilon, x),
        }
    }

    /// The derivative of `θ_ε(√s/σ)` with respect to the answer, where `μ = √s/σ`.
    fn slope(self, epsilon: f64, mu: f64, sigma: f64) -> f64 {
        let a = epsilon / mu - 0.5 * mu;
        let bell = (-0.5 * a * a).exp() / (2.0 * PI).sqrt();
        match self {
            Self::Epsilon { .. } => -bell * mills_ratio(a + mu),
            Self::Noise { .. } => -bell * mu / sigma,
        }
    }
}

/// The values of `θ` at the nodes and their derivatives with respect to the answer, from the largest cost
/// downwards.
struct Row {
    end: usize,
    values: Vec<(f64, f64)>,
}

impl Row {
    /// Ends at the node below which the rest is negligible in `δ` by this law.
    fn new(end: usize, law: &Weights, question: Question, x: f64) -> Self {
        let (epsilon, sigma) = question.at(x);
        let (mut values, mut sum) = (Vec::new(), law.certain);
        for node in (0..end).rev() {
            let mu = (0.5 * STEP * (node as f64 + LOWEST)).exp() / sigma;
            let value = theta(epsilon, mu);
            values.push((value, question.slope(epsilon, mu, sigma)));
            if (law.first..law.end()).contains(&node) {
                sum += law.weights[node - law.first] * value;
            }
            if value < NO_SHARE * sum || value < LEAST {
                break;
            }
        }
        Self { end, values }
    }

    /// `δ(ε)` by a law, and its derivative.
    fn of(&self, law: &Weights) -> (f64, f64) {
        let above = self.end - law.end();
        let pairs = law.weights.iter().rev().zip(self.values.iter().skip(above));
        pairs.fold((law.certain, 0.0), |(sum, slope), (w, (value, at))| (sum + w * value, slope + w * at))
    }
}

/// The laws of one side (upper or lower) on the nodes.
struct Laws<'a> {
    laws: Vec<Sided<'a>>,
    upper: bool,
    /// A law that has a weight wherever the others have one that matters.
    reference: &'a Weights,
    end: usize,
}

impl<'a> Laws<'a> {
    fn new(tables: &'a Tables, upper: bool) -> Self {
        let laws: Vec<Sided<'_>> = tables.laws(upper).collect();
        let reference = tables.upper.weights();
        let end = laws.iter().map(|law| law.weights().end()).fold(reference.end(), usize::max);
        Self { laws, upper, reference, end }
    }

    /// `δ(ε)` by each of the laws, including what spreading may have moved, and the derivative without it.
    fn values(&self, question: Question, x: f64) -> Vec<(f64, f64)> {
        let (epsilon, sigma) = question.at(x);
        let row = Row::new(self.end, self.reference, question, x);
        let bends = if self.laws.len() > 1 { bends(epsilon) } else { (0.0, 0.0) };
        let of = |law: &Sided<'_>| {
            let ((value, slope), moved) = (row.of(law.weights()), law.moved_by(bends, sigma));
            (if self.upper { value + moved } else { value - moved }, slope)
        };
        self.laws.iter().map(of).collect()
    }
}

/// An answer in plain floats.
#[derive(Clone, Debug)]
pub(super) struct Guess {
    pub(super) x: f64,
    /// The derivative of `ln δ` at `x`.
    pub(super) slope: f64,
    /// The laws that are close to the best at `x`, the best first.
    pub(super) laws: Vec<usize>,
}

/// The `x` at which the best of the laws of one side gives `delta`, by Newton's method from a starting point;
/// `None` if it is not found. The answer for `ε` is 0 if `δ(0)` is less than `delta`.
pub(super) fn answer(
    tables: &Tables,
    upper: bool,
    question: Question,
    delta: f64,
    mut x: f64,
) -> Option<Guess> {
    let laws = Laws::new(tables, upper);
    if laws.laws.iter().all(|law| law.weights().is_empty()) {
        return None;
    }
    let (mut low, mut high) = (0.0, f64::INFINITY);
    let mut may_be_zero = matches!(question, Question::Epsilon { .. });
    for _ in 0..MOST_STEPS {
        if !(SMALLEST..LARGEST).contains(&x) {
            break;
        }
        let values = laws.values(question, x);
        let (value, slope) = values[best(&values, upper)];
        let (excess, slope) = ((value / delta).ln(), slope / value);
        let next = x - excess / slope;
        if excess.abs() < NEAR && next.is_finite() {
            return Some(Guess { x: next, slope, laws: near_best(&values, upper) });
        }
        if excess > 0.0 {
            low = x;
        } else {
            high = x;
        }
        if may_be_zero && low == 0.0 && next <= 0.0 {
            may_be_zero = false;
            let values = laws.values(question, 0.0);
            if values[best(&values, upper)].0 < delta {
                return Some(Guess { x: 0.0, slope: 0.0, laws: vec![0] });
            }
        }
        // Newton's step is replaced if it leaves the bracket, or is larger than a factor of 16.
        let inside = low < next && next < high && next < 16.0 * x && 16.0 * next > x;
        x = match (inside, high.is_finite()) {
            (true, _) => next,
            (false, true) if low == 0.0 => high / 8.0,
            (false, true) => f64::midpoint(low, high),
            (false, false) => 8.0 * low,
        };
    }
    None
}

/// The laws of one side that are close to the best at this noise and `ε`, the best first.
pub(super) fn laws(tables: &Tables, upper: bool, sigma: f64, epsilon: f64) -> Vec<usize> {
    near_best(&Laws::new(tables, upper).values(Question::Epsilon { sigma }, epsilon), upper)
}

/// The indices of the values that may be the best when computed exactly, the best first.
fn near_best(values: &[(f64, f64)], upper: bool) -> Vec<usize> {
    let best = best(values, upper);
    let like = |&at: &usize| at != best && (values[at].0 / values[best].0).ln().abs() < LIKE;
    std::iter::once(best).chain((0..values.len()).filter(like)).collect()
}

/// The index of the law with the smallest upper value, or with the largest lower one.
fn best(values: &[(f64, f64)], upper: bool) -> usize {
    let better = |a: f64, b: f64| if upper { a < b } else { a > b };
    (0..values.len()).fold(0, |best, next| if better(values[next].0, values[best].0) { next } else { best })
}

/// The distance of the nodes, in the logarithm of the cost.
const STEP: f64 = 1.0 / 16.0;
/// The place of the lowest node: the cost `e^{−64}`.
const LOWEST: f64 = -1024.0;
/// The root of a cost that stands for an infinite one.
pub(super) const ENDLESS: f64 = 1e20;
/// The share of a sum that may be left out.
const NO_SHARE: f64 = 1e-7;
/// Values below this are not followed.
const LEAST: f64 = 1e-300;
/// How close to its target `ln δ` must come.
const NEAR: f64 = 1e-2;
/// Laws whose `ln δ` differ by no more than this are compared by proven values.
const LIKE: f64 = 5e-3;
const MOST_STEPS: usize = 40;
/// Guesses lie between these bounds.
const SMALLEST: f64 = 1e-12;
const LARGEST: f64 = 1e6;
