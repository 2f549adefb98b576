//! Transition matrices of random walks: row-stochastic, not always symmetric.

use crate::{Csr, Error, GossipMatrix};
use ndarray::{Array2, ArrayView2};

/// A transition matrix `W`: row `u` is the law of the node that follows `u`.
#[derive(Clone, Debug, PartialEq)]
pub struct TransitionMatrix {
    matrix: Csr,
}

impl TransitionMatrix {
    /// A given matrix, `n` by `n`, checked to be row-stochastic.
    ///
    /// # Errors
    /// [`Error::EmptyGraph`], [`Error::Shape`], [`Error::InvalidWeight`], [`Error::NotStochastic`].
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
                if !(value.is_finite() && value >= 0.0) {
                    return Err(Error::InvalidWeight { row: u, column: v, value });
                }
                if value > 0.0 {
                    row.push((v as u32, value));
                }
            }
            let sum: f64 = entries.sum();
            if (sum - 1.0).abs() > 1e-12 {
                return Err(Error::NotStochastic { row: u, sum });
            }
            rows.push(row);
        }
        Ok(Self { matrix: Csr::from_rows(n, rows) })
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

/// A gossip matrix is a symmetric, doubly stochastic transition matrix.
impl From<&GossipMatrix> for TransitionMatrix {
    fn from(gossip: &GossipMatrix) -> Self {
        Self { matrix: gossip.csr().clone() }
    }
}
