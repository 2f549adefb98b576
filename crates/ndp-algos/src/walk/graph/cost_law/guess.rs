//! Where an answer lies, by floats: nothing in this file is a bound. What is found here is proven by the law
//! itself (`search.rs`), once or twice.
//!
//! Each law is put on nodes `s_k = e^{k STEP}` of the cost that all laws share, by interpolation of the fifth
//! degree, so that one row of `θ_ε(√s_k/σ)` gives `δ(ε)` by every law, to some parts in a thousand.

use super::spread::{Sided, bends};
use super::tables::Tables;
use ndp_numeric::casts::floor;
use ndp_numeric::gaussian_profile::theta;
use ndp_numeric::special::mills_ratio;
use std::f64::consts::PI;

/// A law on the nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct Weights {
    /// The node that the first weight belongs to, counted from `LOWEST`.
    first: usize,
    weights: Vec<f64>,
    /// The probability of a cost at which everything is lost.
    certain: f64,
}

impl Weights {
    /// From roots of costs, ascending, and the probabilities of being at least as large as these.
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

/// Weights of the nodes −2, …, 3 for a place in `[0, 1]`.
fn lagrange(place: f64) -> [f64; 6] {
    let nodes = [-2.0, -1.0, 0.0, 1.0, 2.0, 3.0];
    nodes.map(|own| {
        let others = nodes.iter().filter(|&&node| node != own);
        others.map(|&node| (place - node) / (own - node)).product()
    })
}

/// What is looked for, with what is given.
#[derive(Clone, Copy, Debug)]
pub(super) enum Question {
    /// `ε` at a noise.
    Epsilon { sigma: f64 },
    /// The noise at an `ε`.
    Noise { epsilon: f64 },
}

impl Question {
    /// `ε` and the noise where the answer is `x`.
    pub(super) const fn at(self, x: f64) -> (f64, f64) {
        match self {
            Self::Epsilon { sigma } => (x, sigma),
            Self::Noise { epsilon } => (epsilon, x),
        }
    }

    /// The slope of `θ_ε(√s/σ)` in the answer, with `μ = √s/σ`.
    fn slope(self, epsilon: f64, mu: f64, sigma: f64) -> f64 {
        let a = epsilon / mu - 0.5 * mu;
        let bell = (-0.5 * a * a).exp() / (2.0 * PI).sqrt();
        match self {
            Self::Epsilon { .. } => -bell * mills_ratio(a + mu),
            Self::Noise { .. } => -bell * mu / sigma,
        }
    }
}

/// `θ` at the nodes and its slope in the answer, from the largest cost downwards.
struct Row {
    end: usize,
    values: Vec<(f64, f64)>,
}

impl Row {
    /// Down to where what is left is no share of `δ` by this law.
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

    /// `δ(ε)` by a law, and its slope.
    fn of(&self, law: &Weights) -> (f64, f64) {
        let above = self.end - law.end();
        let pairs = law.weights.iter().rev().zip(self.values.iter().skip(above));
        pairs.fold((law.certain, 0.0), |(sum, slope), (w, (value, at))| (sum + w * value, slope + w * at))
    }
}

/// The laws of one side on the nodes.
struct Laws<'a> {
    laws: Vec<Sided<'a>>,
    upper: bool,
    /// One that has a weight wherever others have, of what matters.
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

    /// `δ(ε)` by each of the laws with what spreading may have moved, and the slope without that.
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

/// An answer as floats have it.
#[derive(Clone, Debug)]
pub(super) struct Guess {
    pub(super) x: f64,
    /// The slope of `ln δ` there.
    pub(super) slope: f64,
    /// The laws that are near the best there, the best first.
    pub(super) laws: Vec<usize>,
}

/// Where the best of the laws of one side is `delta`, by Newton's steps from `x`; none where that is not
/// found. An `ε` of 0 where `δ(0)` is less.
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
        // Where Newton's step leaves the bracket, or is too bold to be believed.
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

/// The laws of one side that are near the best at this noise and `ε`, the best first.
pub(super) fn laws(tables: &Tables, upper: bool, sigma: f64, epsilon: f64) -> Vec<usize> {
    near_best(&Laws::new(tables, upper).values(Question::Epsilon { sigma }, epsilon), upper)
}

/// Which of the values may be the best in truth, the best first.
fn near_best(values: &[(f64, f64)], upper: bool) -> Vec<usize> {
    let best = best(values, upper);
    let like = |&at: &usize| at != best && (values[at].0 / values[best].0).ln().abs() < LIKE;
    std::iter::once(best).chain((0..values.len()).filter(like)).collect()
}

/// The law with the least upper value, or with the largest lower one.
fn best(values: &[(f64, f64)], upper: bool) -> usize {
    let better = |a: f64, b: f64| if upper { a < b } else { a > b };
    (0..values.len()).fold(0, |best, next| if better(values[next].0, values[best].0) { next } else { best })
}

/// Of the nodes, in the logarithm of the cost.
const STEP: f64 = 1.0 / 16.0;
/// The place of the lowest node: the cost `e^{−64}`.
const LOWEST: f64 = -1024.0;
/// The root of a cost at which everything is lost.
pub(super) const ENDLESS: f64 = 1e20;
/// What is left out of a sum, relative to it.
const NO_SHARE: f64 = 1e-7;
/// Values that are not followed.
const LEAST: f64 = 1e-300;
/// How near `ln δ` must come.
const NEAR: f64 = 1e-2;
/// Laws whose `ln δ` differ by no more are compared by proven values.
const LIKE: f64 = 5e-3;
const MOST_STEPS: usize = 40;
/// Guesses lie between these.
const SMALLEST: f64 = 1e-12;
const LARGEST: f64 = 1e6;
