//! One case of a search: graph, weights, rounds, pair, order and noise.

use crate::error::Error;
use crate::protocol::{Messages, Protocol, Row, messages};
use ndp_graph::Graph;
use ndp_numeric::rounding::Interval;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Zero};
use serde::Serialize;
use std::sync::OnceLock;

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
    /// `1 / deg a` from `a` to each neighbor: the simple walk, which has no symmetric matrix.
    Simple,
}

impl WeightRule {
    /// The integer `k` of the weight `1 / k` of an edge.
    fn denominator(self, graph: &Graph, a: usize, b: usize) -> usize {
        let larger = graph.degree(a).max(graph.degree(b));
        match self {
            Self::Metropolis => 1 + larger,
            Self::MaxDegree => larger,
            Self::Lazy => 2 * (1 + larger),
            Self::Simple => graph.degree(a),
        }
    }
}

/// A connected graph with weights, their powers, and the messages of a protocol.
#[derive(Clone, Debug)]
pub struct Setting {
    pub(crate) graph: Graph,
    pub(crate) weights: WeightRule,
    pub(crate) protocol: Protocol,
    pub(crate) hops: Vec<Vec<u32>>,
    /// The weights as fractions.
    pub(crate) matrix: Vec<Row>,
    /// The edges that average, one after the other; none where all do in every round.
    pub(crate) pairs: Vec<(usize, usize)>,
    pub(crate) messages: Messages,
    /// Powers (products, for pairs) enclosed by floats; power `t` at place `t`.
    pub(crate) enclosed: Vec<Vec<Vec<Interval>>>,
    /// Probabilities of the first passage from `a` to `b` at time `t`, for walks.
    passages: OnceLock<Vec<Vec<Vec<Interval>>>>,
    /// The second largest eigenvalue of the weights.
    second: OnceLock<Interval>,
}

impl Setting {
    /// The protocol with these weights for `rounds` rounds.
    ///
    /// # Errors
    /// [`Error::Parameter`] beyond 64 nodes or 200 rounds, for a parameter outside the protocol's range, for
    /// the weights of the simple walk without a walk, and for [`Protocol::Pairs`], which needs
    /// [`pairs`](Self::pairs).
    pub fn new(graph: &Graph, weights: WeightRule, protocol: Protocol, rounds: usize) -> Result<Self, Error> {
        let n = graph.node_count();
        limit("the number of nodes", n, 64)?;
        limit("the number of rounds", rounds, 200)?;
        protocol.check()?;
        if protocol == Protocol::Pairs || (weights == WeightRule::Simple && !protocol.is_walk()) {
            let condition = "be symmetric and of a whole round";
            return Err(Error::Parameter { what: "the weights", condition, value: n as f64 });
        }
        let mut matrix = vec![vec![BigRational::zero(); n]; n];
        (0..n).for_each(|a| matrix[a][a] = BigRational::one());
        for (a, b) in graph.edges() {
            for (a, b) in [(a, b), (b, a)] {
                let weight = BigRational::new(BigInt::one(), BigInt::from(weights.denominator(graph, a, b)));
                matrix[a][a] -= &weight;
                matrix[a][b] = weight;
            }
        }
        let steps = vec![matrix.clone(); rounds];
        let exact = products(n, &steps);
        let messages = if protocol == Protocol::Muffliato {
            let noises = (0..n).map(|a| (BigRational::one(), a)).collect();
            Messages { sent: exact[..rounds].to_vec(), noises }
        } else if protocol.is_walk() {
            Messages { sent: Vec::new(), noises: Vec::new() }
        } else {
            messages(protocol, &matrix, rounds)
        };
        Ok(Self {
            graph: graph.clone(),
            weights,
            protocol,
            hops: hops(graph),
            matrix,
            pairs: Vec::new(),
            messages,
            enclosed: enclose(&exact),
            passages: OnceLock::new(),
            second: OnceLock::new(),
        })
    }

    /// [`Protocol::Pairs`] with these edges, one in each round.
    ///
    /// # Errors
    /// [`Error::Parameter`] beyond 64 nodes or 200 rounds.
    ///
    /// # Panics
    /// If a pair names a node that does not exist.
    pub fn pairs(graph: &Graph, pairs: &[(usize, usize)]) -> Result<Self, Error> {
        let n = graph.node_count();
        let mut setting = Self::new(graph, WeightRule::Metropolis, Protocol::Muffliato, 0)?;
        limit("the number of rounds", pairs.len(), 200)?;
        let half = BigRational::new(BigInt::one(), BigInt::from(2));
        let step = |&(a, b): &(usize, usize)| {
            let mut step = products(n, &[]).remove(0);
            for (x, y) in [(a, a), (a, b), (b, a), (b, b)] {
                step[x][y] = half.clone();
            }
            step
        };
        let exact = products(n, &pairs.iter().map(step).collect::<Vec<_>>());
        setting.messages.sent = exact[..pairs.len()].to_vec();
        setting.enclosed = enclose(&exact);
        (setting.protocol, setting.pairs) = (Protocol::Pairs, pairs.to_vec());
        Ok(setting)
    }

    /// Probabilities of first passages up to the number of rounds, computed when they are asked for.
    pub(crate) fn passages(&self) -> &[Vec<Vec<Interval>>] {
        let rounds = self.enclosed.len() - 1;
        self.passages.get_or_init(|| enclose(&first_passages(&self.matrix, rounds)))
    }

    /// An interval that contains the second largest eigenvalue of the weights of one round.
    pub(crate) fn second_eigenvalue(&self) -> Interval {
        let scale = |a: usize| if self.weights == WeightRule::Simple { self.graph.degree(a) } else { 1 };
        let scale: Vec<usize> = (0..self.graph.node_count()).map(scale).collect();
        *self.second.get_or_init(|| crate::spectrum::second_largest(&self.matrix, &scale))
    }

    /// Those whose message in round `t` an observer gets, without the observers themselves.
    pub(crate) fn heard(&self, t: usize, observers: &[usize]) -> Vec<usize> {
        let inside = |a: usize| observers.contains(&a);
        match self.pairs.get(t) {
            Some(&(a, b)) => match (inside(a), inside(b)) {
                (true, false) => vec![b],
                (false, true) => vec![a],
                _ => Vec::new(),
            },
            None => {
                let near = |w: usize| self.graph.neighbors(w).iter().any(|&v| inside(v as usize));
                (0..self.graph.node_count()).filter(|&w| !inside(w) && near(w)).collect()
            }
        }
    }

    /// The graph.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The edge that averages in each round, for [`Protocol::Pairs`]; empty otherwise.
    #[must_use]
    pub fn activations(&self) -> &[(usize, usize)] {
        &self.pairs
    }

    /// The rule of the weights.
    #[must_use]
    pub fn weights(&self) -> WeightRule {
        self.weights
    }
}

/// Which losses a claim bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bounded {
    /// That of each node towards the observers.
    Each,
    /// Their sum over all nodes, divided by `n`; that of observers is 0.
    Mean,
}

/// What a claim is about: what the observers learn about `u` in `rounds` rounds.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// Graph and weights.
    pub setting: &'a Setting,
    /// Rounds of gossip.
    pub rounds: usize,
    /// The exposed node.
    pub u: usize,
    /// The observers, in increasing order; the first one is called `v`.
    pub observers: &'a [usize],
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

/// The identity, then the products of the steps, the latest on the left.
fn products(n: usize, steps: &[Vec<Row>]) -> Vec<Vec<Row>> {
    let mut one = vec![vec![BigRational::zero(); n]; n];
    (0..n).for_each(|a| one[a][a] = BigRational::one());
    let mut all = vec![one];
    for (t, step) in steps.iter().enumerate() {
        let next = product(step, &all[t]);
        all.push(next);
    }
    all
}

fn product(left: &[Row], right: &[Row]) -> Vec<Row> {
    let n = left.len();
    let entry = |a: usize, b: usize| {
        let terms = (0..n).filter(|&w| !left[a][w].is_zero() && !right[w][b].is_zero());
        terms.map(|w| &left[a][w] * &right[w][b]).fold(BigRational::zero(), |sum, x| sum + x)
    };
    (0..n).map(|a| (0..n).map(|b| entry(a, b)).collect()).collect()
}

/// `F_0 = 0`, `F_1 = W`, and `F_(t+1)[a,b]` the sum of `W[a,w] F_t[w,b]` over `w` other than `b`.
fn first_passages(matrix: &[Row], rounds: usize) -> Vec<Vec<Row>> {
    let n = matrix.len();
    let mut all = vec![vec![vec![BigRational::zero(); n]; n]];
    for t in 0..rounds {
        let entry = |a: usize, b: usize| {
            let ways = (0..n).filter(|&w| w != b);
            ways.map(|w| &matrix[a][w] * &all[t][w][b]).fold(BigRational::zero(), |sum, x| sum + x)
        };
        let next = if t == 0 {
            matrix.to_vec()
        } else {
            (0..n).map(|a| (0..n).map(|b| entry(a, b)).collect()).collect()
        };
        all.push(next);
    }
    all
}

fn enclose(matrices: &[Vec<Row>]) -> Vec<Vec<Vec<Interval>>> {
    let rows = |matrix: &Vec<Row>| matrix.iter().map(|row| row.iter().map(enclosed).collect()).collect();
    matrices.iter().map(rows).collect()
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
