//! One case of a search: graph, weights, rounds, pair, order and noise.

use crate::error::Error;
use ndp_graph::Graph;
use ndp_numeric::rounding::Interval;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Zero};
use serde::Serialize;

/// How the weights of gossip follow from the graph, as fractions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WeightRule {
    /// `1 / (1 + max(deg a, deg b))` on every edge.
    Metropolis,
    /// `1 / max(deg a, deg b)` on every edge.
    MaxDegree,
    /// The mean of the Metropolis weights and the identity.
    Lazy,
}

impl WeightRule {
    /// The integer `k` of the weight `1 / k` of an edge.
    fn denominator(self, graph: &Graph, a: usize, b: usize) -> usize {
        let larger = graph.degree(a).max(graph.degree(b));
        match self {
            Self::Metropolis => 1 + larger,
            Self::MaxDegree => larger,
            Self::Lazy => 2 * (1 + larger),
        }
    }
}

/// A connected graph with weights, and their powers.
#[derive(Clone, Debug)]
pub struct Setting {
    pub(crate) graph: Graph,
    pub(crate) weights: WeightRule,
    pub(crate) hops: Vec<Vec<u32>>,
    /// Powers in fractions, and enclosed by floats; power `t` at place `t`.
    pub(crate) exact: Vec<Vec<Vec<BigRational>>>,
    pub(crate) enclosed: Vec<Vec<Vec<Interval>>>,
}

impl Setting {
    /// The powers of the weights up to `rounds`.
    ///
    /// # Errors
    /// [`Error::Parameter`] beyond 64 nodes or 200 rounds.
    pub fn new(graph: &Graph, weights: WeightRule, rounds: usize) -> Result<Self, Error> {
        let n = graph.node_count();
        limit("the number of nodes", n, 64)?;
        limit("the number of rounds", rounds, 200)?;
        let mut one = vec![vec![BigRational::zero(); n]; n];
        let mut matrix = one.clone();
        (0..n).for_each(|a| (one[a][a], matrix[a][a]) = (BigRational::one(), BigRational::one()));
        for (a, b) in graph.edges() {
            let weight = BigRational::new(BigInt::one(), BigInt::from(weights.denominator(graph, a, b)));
            (matrix[a][b], matrix[b][a]) = (weight.clone(), weight.clone());
            matrix[a][a] -= &weight;
            matrix[b][b] -= &weight;
        }
        let mut exact = vec![one];
        for t in 0..rounds {
            let before = &exact[t];
            let entry = |a: usize, b: usize| {
                let terms = (0..n).filter(|&w| !matrix[a][w].is_zero() && !before[w][b].is_zero());
                terms.map(|w| &matrix[a][w] * &before[w][b]).fold(BigRational::zero(), |sum, x| sum + x)
            };
            let next = (0..n).map(|a| (0..n).map(|b| entry(a, b)).collect()).collect();
            exact.push(next);
        }
        let enclosed = exact
            .iter()
            .map(|power| power.iter().map(|row| row.iter().map(enclosed).collect()).collect())
            .collect();
        Ok(Self { graph: graph.clone(), weights, hops: hops(graph), exact, enclosed })
    }

    /// The graph.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The rule of the weights.
    #[must_use]
    pub fn weights(&self) -> WeightRule {
        self.weights
    }
}

/// What a claim is about: what `v` learns about `u` in `rounds` rounds.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// Graph and weights.
    pub setting: &'a Setting,
    /// Rounds of gossip.
    pub rounds: usize,
    /// The exposed node.
    pub u: usize,
    /// The observer.
    pub v: usize,
    /// Order of the loss.
    pub alpha: f64,
    /// Standard deviation of the noise in units of the sensitivity.
    pub sigma: f64,
}

pub(crate) fn limit(what: &'static str, value: usize, most: usize) -> Result<(), Error> {
    if value <= most {
        return Ok(());
    }
    let condition = if most == 64 { "be at most 64" } else { "be at most 200" };
    Err(Error::Parameter { what, condition, value: value as f64 })
}

/// Two floats around a fraction in `[0, 1]`.
fn enclosed(x: &BigRational) -> Interval {
    if x.is_zero() || x.is_one() {
        return if x.is_zero() { Interval::ZERO } else { Interval::ONE };
    }
    let near = num_traits::ToPrimitive::to_f64(x).unwrap_or(0.5);
    let holds = |low: f64, high: f64| {
        let (low, high) = (BigRational::from_float(low), BigRational::from_float(high));
        low.is_some_and(|low| low <= *x) && high.is_some_and(|high| *x <= high)
    };
    let (low, high) = (near.next_down().max(0.0), near.next_up());
    // Whether the ends enclose the fraction is decided in fractions; nothing rests on the conversion.
    if holds(low, high) { Interval::between(low, high) } else { Interval::between(0.0, 1.0) }
}

/// Distances between all nodes; the largest number where there is no path.
fn hops(graph: &Graph) -> Vec<Vec<u32>> {
    let n = graph.node_count();
    let from = |a: usize| {
        let mut distances = vec![u32::MAX; n];
        distances[a] = 0;
        let mut front = std::collections::VecDeque::from([a]);
        while let Some(b) = front.pop_front() {
            for &c in graph.neighbors(b) {
                if distances[c as usize] == u32::MAX {
                    distances[c as usize] = distances[b] + 1;
                    front.push_back(c as usize);
                }
            }
        }
        distances
    };
    (0..n).map(from).collect()
}
