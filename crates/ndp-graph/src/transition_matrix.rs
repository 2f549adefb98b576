//! Transition matrices of random walks: row-stochastic, not always symmetric.

use crate::csr::{Csr, require_stochastic};
use crate::draw::draw_index;
use crate::error::ensure;
use crate::{Error, GossipMatrix, Graph};
use ndarray::{Array2, ArrayView2};
use rand::Rng;

/// A transition matrix `W`: row `u` is the law of the node that follows `u`.
///
/// # Examples
/// ```
/// use ndp_graph::{TransitionMatrix, generators::star_graph};
/// let walk = TransitionMatrix::simple_random_walk(&star_graph(4)?)?;
/// assert_eq!(walk.stationary_distribution()?[0], 0.5); // half of the time in the middle
/// # Ok::<(), ndp_graph::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TransitionMatrix {
    matrix: Csr,
}

impl TransitionMatrix {
    /// Draws the node that follows `node`: a step of the walk.
    ///
    /// # Panics
    /// If `node` is not a node of the walk.
    ///
    /// # Examples
    /// ```
    /// use ndp_graph::{TransitionMatrix, generators::directed_cycle};
    /// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
    /// let rng = &mut ChaCha8Rng::seed_from_u64(1);
    /// assert_eq!(directed_cycle(5)?.draw_next(4, rng), 0);
    /// # Ok::<(), ndp_graph::Error>(())
    /// ```
    pub fn draw_next(&self, node: usize, rng: &mut impl Rng) -> usize {
        let (columns, weights) = self.matrix.row(node);
        columns[draw_index(weights, rng)] as usize
    }

    /// A given matrix, `n` by `n`, checked to be row-stochastic.
    ///
    /// # Errors
    /// [`Error::EmptyGraph`], [`Error::Shape`], [`Error::InvalidWeight`] (negative, infinite or NaN),
    /// [`Error::NotStochastic`] (beyond `1e-12`).
    pub fn from_dense(matrix: ArrayView2<'_, f64>) -> Result<Self, Error> {
        let n = matrix.nrows();
        if n == 0 {
            return Err(Error::EmptyGraph);
        }
        if matrix.ncols() != n {
            return Err(Error::Shape {
                what: "columns of the transition matrix",
                expected: n,
                got: matrix.ncols(),
            });
        }
        let mut rows = Vec::with_capacity(n);
        for (u, entries) in matrix.rows().into_iter().enumerate() {
            let mut row = Vec::new();
            for (v, &value) in entries.iter().enumerate() {
                require_probability(value, u, v)?;
                if value > 0.0 {
                    row.push((ndp_numeric::casts::id(v), value));
                }
            }
            require_stochastic(u, entries.iter().copied())?;
            rows.push(row);
        }
        Ok(Self { matrix: Csr::from_rows(n, rows) })
    }

    /// The simple random walk: from `u` to each neighbor with probability `1 / d_u`.
    ///
    /// Its stationary law is `d_u / 2m` for `m` edges; it is symmetric on regular graphs only.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a node without neighbors, which has nowhere to go.
    pub fn simple_random_walk(graph: &Graph) -> Result<Self, Error> {
        let n = graph.node_count();
        let moves = (0..n).all(|u| graph.degree(u) > 0);
        ensure(moves, "the degree of every node", "be at least 1 for a random walk", 0.0)?;
        let rows = (0..n).map(|u| {
            let weight = 1.0 / graph.degree(u) as f64;
            graph.neighbors(u).iter().map(move |&v| (v, weight))
        });
        Ok(Self { matrix: Csr::from_rows(n, rows) })
    }

    /// A sparse matrix, checked to be row-stochastic; zeros that it stores stay stored.
    ///
    /// # Errors
    /// [`Error::InvalidWeight`] (negative, infinite or NaN), [`Error::NotStochastic`] (beyond `1e-12`).
    pub(crate) fn from_csr(matrix: Csr) -> Result<Self, Error> {
        for u in 0..matrix.node_count() {
            let (columns, weights) = matrix.row(u);
            for (&v, &value) in columns.iter().zip(weights) {
                require_probability(value, u, v as usize)?;
            }
            require_stochastic(u, weights.iter().copied())?;
        }
        Ok(Self { matrix })
    }

    /// A matrix whose rows are known to be laws.
    pub(crate) fn from_checked_csr(matrix: Csr) -> Self {
        Self { matrix }
    }

    /// Number of nodes.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.matrix.node_count()
    }

    /// The entries in compressed rows.
    #[must_use]
    pub fn csr(&self) -> &Csr {
        &self.matrix
    }

    /// The matrix with every zero written out.
    ///
    /// # Errors
    /// [`Error::TooLarge`] when `8 n²` bytes are more than the limit.
    pub fn to_dense(&self) -> Result<Array2<f64>, Error> {
        self.matrix.to_dense()
    }
}

fn require_probability(value: f64, row: usize, column: usize) -> Result<(), Error> {
    if value.is_finite() && value >= 0.0 { Ok(()) } else { Err(Error::InvalidWeight { row, column, value }) }
}

/// A gossip matrix is a symmetric, doubly stochastic transition matrix.
impl From<&GossipMatrix> for TransitionMatrix {
    fn from(gossip: &GossipMatrix) -> Self {
        Self { matrix: gossip.csr().clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generators::star_graph;
    use ndarray::arr2;

    #[test]
    fn given_matrices_are_checked() -> Result<(), Error> {
        let w = arr2(&[[0.25, 0.75], [1.0, 0.0]]);
        let matrix = TransitionMatrix::from_dense(w.view())?;
        assert_eq!((matrix.node_count(), matrix.csr().parts().2.len()), (2, 3));
        assert_eq!(matrix.to_dense()?, w);
        assert_eq!(TransitionMatrix::from_dense(arr2(&[[1.0]]).view())?.node_count(), 1);

        let empty = Array2::zeros((0, 0));
        assert_eq!(TransitionMatrix::from_dense(empty.view()), Err(Error::EmptyGraph));
        let shape = Error::Shape { what: "columns of the transition matrix", expected: 1, got: 2 };
        assert_eq!(TransitionMatrix::from_dense(arr2(&[[0.5, 0.5]]).view()), Err(shape));
        let short = arr2(&[[0.5, 0.5], [0.5, 0.25]]);
        let error = Error::NotStochastic { row: 1, sum: 0.75 };
        assert_eq!(TransitionMatrix::from_dense(short.view()), Err(error));
        for bad in [-1e-16, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let matrix = arr2(&[[1.0, 0.0], [bad, 1.0]]);
            let error = TransitionMatrix::from_dense(matrix.view()).unwrap_err();
            assert!(matches!(error, Error::InvalidWeight { row: 1, column: 0, .. }), "{error}");
        }
        Ok(())
    }

    #[test]
    fn gossip_matrices_are_transition_matrices() -> Result<(), Error> {
        let gossip = GossipMatrix::metropolis(&star_graph(5)?);
        let walk = TransitionMatrix::from(&gossip);
        assert_eq!(walk.to_dense()?, gossip.to_dense()?);
        assert_eq!(TransitionMatrix::from_dense(gossip.to_dense()?.view())?.to_dense()?, walk.to_dense()?);
        Ok(())
    }
}
