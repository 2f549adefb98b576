//! Gossip matrices: symmetric, doubly stochastic, supported on the edges and the diagonal.

use crate::{Csr, Error, Graph};
use ndarray::{Array2, ArrayView2};

/// How a [`GossipMatrix`] got its entries; named schemes have rational entries, which the exact
/// accountant uses to decide ranks without a tolerance.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Weights {
    /// `1 / (max(d_u, d_v) + 1)`.
    Metropolis,
    /// `1 / max(d_u, d_v)`.
    MaxDegree,
    /// `1 / (d_u + d_v + 1)`.
    SumDegree,
    /// `1 / d` on a `d`-regular graph.
    Regular,
    /// Given entry by entry.
    Given,
}

/// A gossip matrix `W`: symmetric, entries nonnegative, rows summing to 1, supported on the
/// edges of a graph and the diagonal.
#[derive(Clone, Debug, PartialEq)]
pub struct GossipMatrix {
    graph: Graph,
    matrix: Csr,
    weights: Weights,
    /// Share of the identity in a lazy matrix, `0` otherwise.
    laziness: f64,
}

impl GossipMatrix {
    /// `W[u][v] = 1 / (max(d_u, d_v) + 1)` on every edge, the rest on the diagonal.
    #[must_use]
    pub fn metropolis(graph: &Graph) -> Self {
        Self::by_degrees(graph, Weights::Metropolis, 1, |a, b| a.max(b) + 1)
    }

    /// `W[u][v] = 1 / max(d_u, d_v)` on every edge, the rest on the diagonal.
    #[must_use]
    pub fn max_degree(graph: &Graph) -> Self {
        Self::by_degrees(graph, Weights::MaxDegree, 0, |a, b| a.max(b))
    }

    /// `W[u][v] = 1 / (d_u + d_v + 1)` on every edge, the rest on the diagonal.
    #[must_use]
    pub fn sum_degree(graph: &Graph) -> Self {
        Self::by_degrees(graph, Weights::SumDegree, 1, |a, b| a + b + 1)
    }

    /// `W[u][v] = 1 / d` on every edge of a `d`-regular graph: the simple random walk.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a graph without edges, or naming the first degree that differs from
    /// that of node 0.
    pub fn regular(graph: &Graph) -> Result<Self, Error> {
        let degree = graph.degree(0);
        if degree == 0 {
            return Err(Error::InvalidParameter {
                name: "the degree of node 0",
                condition: "be at least 1 for regular weights",
                value: 0.0,
            });
        }
        if let Some(v) = (0..graph.node_count()).find(|&v| graph.degree(v) != degree) {
            return Err(Error::InvalidParameter {
                name: "the degree of every node",
                condition: "be that of node 0 for regular weights",
                value: graph.degree(v) as f64,
            });
        }
        Ok(Self::by_degrees(graph, Weights::Regular, 0, |a, _| a))
    }

    /// `(1 - laziness) W + laziness I`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `laziness` lies in `[0, 1)`.
    pub fn lazy(&self, laziness: f64) -> Result<Self, Error> {
        if !(0.0..1.0).contains(&laziness) {
            return Err(Error::InvalidParameter {
                name: "laziness",
                condition: "lie in [0, 1)",
                value: laziness,
            });
        }
        let rows = (0..self.node_count()).map(|u| {
            let (columns, weights) = self.matrix.row(u);
            columns
                .iter()
                .zip(weights)
                .map(move |(&v, &w)| (v, (1.0 - laziness) * w + if v as usize == u { laziness } else { 0.0 }))
        });
        let matrix = Csr::from_rows(self.node_count(), rows);
        let total = 1.0 - (1.0 - self.laziness) * (1.0 - laziness);
        Ok(Self { graph: self.graph.clone(), matrix, weights: self.weights, laziness: total })
    }

    /// A given matrix, `n` by `n`, checked against the graph.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::InvalidWeight`], [`Error::OffSupport`], [`Error::NotSymmetric`]
    /// (beyond `1e-12`), [`Error::NotStochastic`] (beyond `1e-12`).
    pub fn from_dense(graph: &Graph, matrix: ArrayView2<'_, f64>) -> Result<Self, Error> {
        let n = graph.node_count();
        for got in [matrix.nrows(), matrix.ncols()] {
            if got != n {
                return Err(Error::Shape { what: "side of the gossip matrix", expected: n, got });
            }
        }
        let mut rows = Vec::with_capacity(n);
        for u in 0..n {
            let mut row = Vec::with_capacity(graph.degree(u) + 1);
            for v in 0..n {
                let value = matrix[(u, v)];
                if !(value.is_finite() && value >= -1e-15) {
                    return Err(Error::InvalidWeight { row: u, column: v, value });
                }
                let on_support = u == v || graph.has_edge(u, v);
                if !on_support && value != 0.0 {
                    return Err(Error::OffSupport { row: u, column: v, value });
                }
                let difference = (value - matrix[(v, u)]).abs();
                if difference > 1e-12 {
                    return Err(Error::NotSymmetric { row: u, column: v, difference });
                }
                if on_support {
                    row.push((v as u32, value.max(0.0)));
                }
            }
            let sum: f64 = row.iter().map(|&(_, w)| w).sum();
            if (sum - 1.0).abs() > 1e-12 {
                return Err(Error::NotStochastic { row: u, sum });
            }
            rows.push(row);
        }
        Ok(Self {
            graph: graph.clone(),
            matrix: Csr::from_rows(n, rows),
            weights: Weights::Given,
            laziness: 0.0,
        })
    }

    /// Weight `1 / denominator(d_u, d_v)` on every edge, where the denominator is at least `d_u + spare`.
    fn by_degrees(
        graph: &Graph,
        weights: Weights,
        spare: usize,
        denominator: impl Fn(usize, usize) -> usize,
    ) -> Self {
        let n = graph.node_count();
        let rows = (0..n).map(|u| {
            let degree = graph.degree(u);
            // An isolated node keeps everything.
            let least = (degree + spare).max(1);
            // The diagonal is 1 minus the row's other entries, written as a sum of nonnegative terms: the
            // subtraction itself leaves rounding errors where the diagonal is zero, some of them negative
            // (8e-12 at the hub of a star with 10^6 leaves).
            let mut diagonal = (least - degree) as f64 / least as f64;
            let mut row = Vec::with_capacity(degree + 1);
            for &v in graph.neighbors(u) {
                let total = denominator(degree, graph.degree(v as usize));
                diagonal += (total - least) as f64 / least as f64 / total as f64;
                row.push((v, 1.0 / total as f64));
            }
            row.insert(graph.neighbors(u).partition_point(|&v| (v as usize) < u), (u as u32, diagonal));
            row
        });
        Self { graph: graph.clone(), matrix: Csr::from_rows(n, rows), weights, laziness: 0.0 }
    }

    /// Number of nodes.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.matrix.node_count()
    }

    /// The graph on whose edges messages travel (an edge of weight zero still carries them).
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The entries in compressed rows; every row stores its diagonal.
    #[must_use]
    pub fn csr(&self) -> &Csr {
        &self.matrix
    }

    /// How the entries were chosen.
    #[must_use]
    pub fn weights(&self) -> Weights {
        self.weights
    }

    /// Share of the identity: the entries are `(1 - laziness)` times the named scheme plus
    /// `laziness` on the diagonal.
    #[must_use]
    pub fn laziness(&self) -> f64 {
        self.laziness
    }

    /// The entry `W[u][v]`.
    ///
    /// # Panics
    /// When `u` is out of range.
    #[must_use]
    pub fn get(&self, u: usize, v: usize) -> f64 {
        self.matrix.get(u, v)
    }

    /// The matrix with every zero written out.
    ///
    /// # Errors
    /// [`Error::TooLarge`] when `8 n²` bytes are more than the limit.
    pub fn to_dense(&self) -> Result<Array2<f64>, Error> {
        self.matrix.to_dense()
    }
}
