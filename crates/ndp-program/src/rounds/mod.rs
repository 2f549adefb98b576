//! Finds the rounds in which all nodes average in a program that was written value by value, in any order:
//! the program is then the same as a [`VectorProgram`], which says each round in a line.
//!
//! A program is taken for a statement only if both show every observer the same combinations of data and
//! noises: weights, ratios of variances and who sees what are compared exactly. The engines of statements
//! then answer for the program (`account.rs`).
//!
//! | question | where |
//! |---|---|
//! | who sends which value, and of what does it consist? | `sent_values.rs` |
//! | which values belong to a round, and which weights and noises does it have? | `layers.rs` |
//! | which gossip matrix has exactly these entries? | `matrix.rs` |
//! | what does an observer learn? | `account.rs` |

mod account;
mod layers;
mod matrix;
mod sent_values;

use crate::build::{Program, Reads};
use crate::{MessageNoise, VectorProgram};
pub(super) use account::{by_powers, by_rows};
use layers::{Layer, layers};
use ndp_graph::{GossipMatrix, Graph};
use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};
use sent_values::Steps;

/// The statement of a program, with the matrices of its rounds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stated {
    nodes: usize,
    matrices: Vec<GossipMatrix>,
    parts: Vec<Part>,
    /// The variance of the first noise, in units of which the losses of the statement are.
    first: BigRational,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    /// A noise of every node.
    Noise(f64),
    /// Rounds with the matrix of this number, and noise on their messages.
    Rounds { matrix: usize, times: usize, noise: Option<(MessageNoise, f64)> },
}

impl Stated {
    /// The statement.
    pub(super) fn vector(&self) -> VectorProgram<'_> {
        self.parts.iter().fold(VectorProgram::new(self.nodes), |said, part| match *part {
            Part::Noise(variance) => said.noise(variance),
            Part::Rounds { matrix, times, noise: None } => said.rounds(&self.matrices[matrix], times),
            Part::Rounds { matrix, times, noise: Some((kind, ratio)) } => {
                said.noisy_rounds(&self.matrices[matrix], times, kind, ratio)
            }
        })
    }

    fn round(&mut self, matrix: usize) {
        match self.parts.last_mut() {
            Some(Part::Rounds { matrix: last, times, .. }) if *last == matrix => *times += 1,
            _ => self.parts.push(Part::Rounds { matrix, times: 1, noise: None }),
        }
    }
}

impl Program {
    /// Whether every node has one use of its data, which reads nothing, and is there from start to end. Other
    /// programs state no rounds.
    pub(super) fn may_state_rounds(&self) -> bool {
        self.changes.is_empty()
            && self.contributions.len() == self.nodes
            && (0..self.nodes).all(|node| self.uses(node) == 1)
            && self.contributions.iter().all(|use_| use_.reads == Reads::Nothing)
    }

    /// Whether there are too many noises for one of every node.
    fn adds_noise_again(&self) -> bool {
        self.noises.iter().filter(|noise| !noise.variance.is_zero()).count() > self.nodes
    }

    /// The statement that is true of this program; `None` if it states no rounds, or none with a matrix whose
    /// exact entries a [`GossipMatrix`] stands for.
    ///
    /// The work is linear in the steps.
    pub(super) fn stated(&self) -> Option<Stated> {
        if !self.may_state_rounds() {
            return None;
        }
        let mut steps = Steps::new(self)?;
        let (layers, messages) = layers(&mut steps)?;
        let first = layers.first()?.variance.clone();
        let mut stated = Stated { nodes: self.nodes, matrices: Vec::new(), parts: Vec::new(), first };
        let kinds = stated.add_matrices(&layers)?;
        if let Some((kind, variance)) = messages {
            let ratio = float(&root(&(variance / &stated.first))?)?;
            // Such a statement has one matrix.
            if kinds.iter().any(|&kind| kind != 0) {
                return None;
            }
            let unit = float(&stated.first).unwrap_or(1.0);
            let rounds = Part::Rounds { matrix: 0, times: kinds.len(), noise: Some((kind, ratio)) };
            stated.parts = vec![Part::Noise(unit), rounds];
            return Some(stated);
        }
        let variances = floats(layers.iter().map(|layer| &layer.variance).collect())?;
        for (kind, variance) in kinds.into_iter().zip(variances) {
            if variance > 0.0 {
                stated.parts.push(Part::Noise(variance));
            }
            stated.round(kind);
        }
        Some(stated)
    }
}

impl Stated {
    /// The number of the matrix of every round, after the matrices were added.
    fn add_matrices(&mut self, layers: &[Layer<'_>]) -> Option<Vec<usize>> {
        let mut kinds: Vec<usize> = Vec::with_capacity(layers.len());
        // A round with the number of its matrix.
        let mut known: Vec<(usize, usize)> = Vec::new();
        for (at, layer) in layers.iter().enumerate() {
            let same = |&&(other, _): &&(usize, usize)| {
                let other: &Layer<'_> = &layers[other];
                // The values after the last round are seen by nobody, so that its weights do not matter.
                other.edges == layer.edges && (at + 1 == layers.len() || other.rows == layer.rows)
            };
            let kind = match known.iter().rev().take(KINDS).find(same) {
                Some((_, kind)) => *kind,
                None => {
                    let graph = layer.graph(self.nodes)?;
                    self.matrices.push(match layer.rows.is_empty() {
                        true => GossipMatrix::metropolis(&graph),
                        false => matrix::exactly(&graph, &layer.rows)?,
                    });
                    known.push((at, self.matrices.len() - 1));
                    self.matrices.len() - 1
                }
            };
            kinds.push(kind);
        }
        Some(kinds)
    }
}

/// The float that a number is; `None` if it is none.
fn float(x: &BigRational) -> Option<f64> {
    let near = x.to_f64().filter(|near| near.is_finite())?;
    (BigRational::from_float(near)? == *x).then_some(near)
}

/// Floats in exactly these ratios, at least one of which is not 0; the numbers themselves, if they are
/// floats.
fn floats(all: Vec<&BigRational>) -> Option<Vec<f64>> {
    if let Some(found) = all.iter().map(|x| float(x)).collect() {
        return Some(found);
    }
    // Ratios of floats are those of the least integers, if they are ratios of floats at all.
    let common = all.iter().fold(BigInt::one(), |common, x| common.lcm(x.denom()));
    let whole: Vec<BigInt> = all.iter().map(|x| x.numer() * (&common / x.denom())).collect();
    let divisor = whole.iter().fold(BigInt::zero(), |divisor, x| divisor.gcd(x));
    whole.iter().map(|x| float(&BigRational::from_integer(x / &divisor))).collect()
}

/// The square root of a nonnegative number, if it is rational.
fn root(x: &BigRational) -> Option<BigRational> {
    if x.is_negative() {
        return None;
    }
    let (above, below) = (x.numer().sqrt(), x.denom().sqrt());
    (&above * &above == *x.numer() && &below * &below == *x.denom()).then(|| BigRational::new(above, below))
}

impl Layer<'_> {
    fn graph(&self, nodes: usize) -> Option<Graph> {
        let once = self.edges.iter().filter(|(u, v)| u < v);
        Graph::from_edges(nodes, once.map(|&(u, v)| (u, v))).ok()
    }
}

/// The number of earlier matrices among which an equal one is looked for.
const KINDS: usize = 64;
