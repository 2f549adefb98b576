//! Graph families whose gossip matrices can be diagonalised by hand.
//!
//! With the same weight `w` on every edge, `W = I - w L` for the graph Laplacian `L`. The
//! eigenvalues `ℓ` of `L` and its projectors are known for the families here, so every function
//! `f(W) = Σ f(1 - w ℓ) P_ℓ` is a finite sum: gaps by a formula at any size, to about 1e-15, and a check of
//! the dense and of the iterative routines.
//!
//! # References
//! - Cyffers, Bellet, Upadhyay, *Differentially Private Decentralized Learning with Random Walks*,
//!   ICML 2024, arXiv:2402.07471: Theorem 5 (ring). Its index `u + v - 2` and its constant are
//!   corrected here: the entry depends on `u - v`, and `1 - μ_k = (4/3) sin²(π k / n)`.

use crate::error::{ensure, require_ids};
use crate::gossip_matrix::Weights;
use crate::spectrum::Extremes;
use crate::{Error, Graph, generators};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

#[cfg(test)]
mod entries;

/// A graph with known eigenvalues; nodes are numbered as by the generator of the same name.
///
/// # Examples
/// ```
/// use ndp_graph::{Weights, closed_form::Family};
/// let cube = Family::Hypercube(20);
/// assert!((cube.extremes(Weights::Metropolis)?.gap_abs()? - 2.0 / 21.0).abs() < 1e-12);
/// assert_eq!(Family::Torus(vec![1000, 1000]).eigenvalues(Weights::Metropolis)?.len(), 1_000_000);
/// # Ok::<(), ndp_graph::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Family {
    /// [`generators::cycle_graph`].
    Cycle(usize),
    /// [`generators::path_graph`].
    Path(usize),
    /// [`generators::star_graph`]: the number of leaves.
    Star(usize),
    /// [`generators::complete_graph`].
    Complete(usize),
    /// [`generators::hypercube_graph`]: the dimension.
    Hypercube(u32),
    /// [`generators::torus_graph`]: the sides.
    Torus(Vec<usize>),
}

impl Family {
    /// The graph itself, written out.
    ///
    /// # Errors
    /// Those of the generator.
    pub fn graph(&self) -> Result<Graph, Error> {
        match *self {
            Self::Cycle(n) => generators::cycle_graph(n),
            Self::Path(n) => generators::path_graph(n),
            Self::Star(leaves) => generators::star_graph(leaves),
            Self::Complete(n) => generators::complete_graph(n),
            Self::Hypercube(m) => generators::hypercube_graph(m),
            Self::Torus(ref sides) => generators::torus_graph(sides),
        }
    }

    /// The eigenvalues of its gossip matrix with these weights, ascending, repeated by multiplicity: the last
    /// is 1.
    ///
    /// # Errors
    /// [`Error::NoClosedForm`] when the weights differ from edge to edge, as
    /// [`SumDegree`](Weights::SumDegree) does on a path of four nodes; the errors of the generator.
    pub fn eigenvalues(&self, weights: Weights) -> Result<Vec<f64>, Error> {
        Ok(ClosedForm::new(self, weights)?.eigenvalues())
    }

    /// `λ_2` and `λ_n` of its gossip matrix with these weights, from which both gaps follow.
    ///
    /// # Errors
    /// Those of [`eigenvalues`](Self::eigenvalues); [`Error::InvalidParameter`] for a single node.
    pub fn extremes(&self, weights: Weights) -> Result<Extremes, Error> {
        ClosedForm::new(self, weights)?.extremes()
    }
}

/// The gossip matrix of a [`Family`], diagonalised.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ClosedForm<'a> {
    family: &'a Family,
    nodes: usize,
    /// Weight of every edge.
    weight: f64,
}

impl<'a> ClosedForm<'a> {
    /// The family with the given weights.
    pub(crate) fn new(family: &'a Family, weights: Weights) -> Result<Self, Error> {
        // The generator checks the sizes; a star with one leaf and a path of two nodes are regular graphs.
        let (nodes, low, high) = match *family {
            Family::Cycle(n) => (at_least(n, 3)?, 2, 2),
            Family::Path(n) => (at_least(n, 1)?, n.min(3) - 1, n.min(3) - 1),
            Family::Star(leaves) => (leaves.saturating_add(1), 1.min(leaves), leaves),
            Family::Complete(n) => (at_least(n, 1)?, n - 1, n - 1),
            Family::Hypercube(m) if m <= 26 => (1 << m, m as usize, m as usize),
            Family::Hypercube(m) => {
                let (name, condition) = ("the dimension of a hypercube", "be at most 26");
                return Err(Error::InvalidParameter { name, condition, value: f64::from(m) });
            }
            Family::Torus(ref sides) => {
                let mut nodes = at_least(sides.len(), 1).map(|_| 1usize)?;
                for &side in sides {
                    nodes = nodes.saturating_mul(at_least(side, 3)?);
                }
                (nodes, 2 * sides.len(), 2 * sides.len())
            }
        };
        require_ids(nodes)?;
        // `low` and `high` are the degrees at the two ends of every edge, except on a path of three
        // or more nodes, whose end edges have degrees 1 and 2.
        let refused = Err(Error::NoClosedForm { weights });
        let denominator = match (weights, family) {
            (Weights::Metropolis, _) => high + 1,
            (Weights::MaxDegree, _) => high,
            (Weights::SumDegree, &Family::Path(3)) => 4,
            (Weights::SumDegree | Weights::Regular, &Family::Path(n)) if n > 2 => return refused,
            (Weights::SumDegree, _) => low + high + 1,
            (Weights::Regular, _) if low == high => high,
            (Weights::Regular | Weights::Given, _) => return refused,
        };
        let weight = if nodes == 1 { 0.0 } else { 1.0 / denominator as f64 };
        Ok(Self { family, nodes, weight })
    }

    pub(crate) fn eigenvalues(&self) -> Vec<f64> {
        let mut values = vec![1.0];
        for (laplacian, multiplicity) in self.laplacian() {
            values.extend(std::iter::repeat_n(1.0 - self.weight * laplacian, multiplicity));
        }
        values.sort_unstable_by(f64::total_cmp);
        values
    }

    pub(crate) fn extremes(&self) -> Result<Extremes, Error> {
        ensure(self.nodes != 1, "the number of nodes", "be at least 2 for a spectral gap", 1.0)?;
        let laplacian = self.laplacian();
        let least = laplacian.iter().fold(f64::INFINITY, |least, &(value, _)| least.min(value));
        let largest = laplacian.iter().fold(0.0, |largest: f64, &(value, _)| largest.max(value));
        Ok(Extremes { second: 1.0 - self.weight * least, last: 1.0 - self.weight * largest })
    }

    /// The eigenvalues of the Laplacian except the 0 of the constant vector, with multiplicities (equal ones
    /// may be listed separately).
    fn laplacian(&self) -> Vec<(f64, usize)> {
        let n = self.nodes;
        match *self.family {
            Family::Cycle(n) => (1..n).map(|k| (cycle_eigenvalue(k, n), 1)).collect(),
            Family::Path(n) => (1..n).map(|k| (cycle_eigenvalue(k, 2 * n), 1)).collect(),
            Family::Star(leaves) => {
                let all = [(1.0, leaves.saturating_sub(1)), (n as f64, leaves.min(1))];
                all.into_iter().filter(|&(_, multiplicity)| multiplicity > 0).collect()
            }
            Family::Complete(1) => Vec::new(),
            Family::Complete(n) => vec![(n as f64, n - 1)],
            Family::Hypercube(m) => (1..=m)
                .map(|j| (2.0 * f64::from(j), usize::try_from(binomial(m, j)).unwrap_or(usize::MAX)))
                .collect(),
            Family::Torus(ref sides) => {
                let mut values = vec![0.0];
                for &side in sides {
                    let axis: Vec<f64> = (0..side).map(|k| cycle_eigenvalue(k, side)).collect();
                    values = values.iter().flat_map(|value| axis.iter().map(move |a| value + a)).collect();
                }
                values.into_iter().skip(1).map(|value| (value, 1)).collect()
            }
        }
    }
}

/// `2 - 2 cos(2π k / n)`, computed without cancellation.
fn cycle_eigenvalue(k: usize, n: usize) -> f64 {
    let sine = (PI * k as f64 / n as f64).sin();
    4.0 * sine * sine
}

/// `C(n, k)`, exact below `2^63`.
fn binomial(n: u32, k: u32) -> i64 {
    if k > n { 0 } else { (0..k).fold(1, |value, i| value * i64::from(n - i) / i64::from(i + 1)) }
}

fn at_least(value: usize, least: usize) -> Result<usize, Error> {
    if least <= value {
        Ok(value)
    } else if value == 0 {
        Err(Error::EmptyGraph)
    } else {
        let (name, condition) = ("the length of a cycle", "be at least 3");
        Err(Error::InvalidParameter { name, condition, value: value as f64 })
    }
}
