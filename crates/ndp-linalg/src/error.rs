//! The errors of this crate; `ndp-graph` has the same ones under the same names, and converts these to its
//! own.

/// Why dense linear algebra was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// A NaN or infinite entry.
    #[error("entry ({row}, {column}) of the matrix is {value}: it must be finite")]
    NotFinite {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// The entry.
        value: f64,
    },
    /// Entry `(row, column)` differs from entry `(column, row)`.
    #[error("the matrix is not symmetric at ({row}, {column}): the entries differ by {difference}")]
    NotSymmetric {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// The difference.
        difference: f64,
    },
    /// A matrix that has no Cholesky factor.
    #[error("the matrix is not positive definite: the pivot of row {row} is not positive")]
    NotPositiveDefinite {
        /// The row of the first pivot that is not positive.
        row: usize,
    },
    /// An iteration stopped before it reached the required accuracy.
    #[error("{what} did not converge: the error bound is {residual} after {steps} steps")]
    NoConvergence {
        /// The iteration.
        what: &'static str,
        /// Steps taken.
        steps: usize,
        /// The bound on the error that it had reached.
        residual: f64,
    },
    /// A result that would not fit in memory, refused before any work.
    #[error("{what} would take {bytes} bytes, more than the limit of {limit}")]
    TooLarge {
        /// What would be too large.
        what: &'static str,
        /// Bytes it would take.
        bytes: u128,
        /// Bytes allowed, 16 GiB.
        limit: u128,
    },
    /// Sizes that do not fit each other.
    #[error("{what}: expected {expected}, got {got}")]
    Shape {
        /// What has the wrong size.
        what: &'static str,
        /// The size it should have.
        expected: usize,
        /// The size it has.
        got: usize,
    },
}
