//! Sparse square matrices in compressed rows with 32-bit column indices.

use crate::{Error, memory::require_dense};
use ndarray::Array2;
use rayon::prelude::*;

/// A square sparse matrix: row `i` holds `weights[starts[i]..starts[i + 1]]` at the ascending
/// `columns` of the same range.
#[derive(Clone, Debug, PartialEq)]
pub struct Csr {
    starts: Vec<usize>,
    columns: Vec<u32>,
    weights: Vec<f64>,
}

impl Csr {
    /// Builds a matrix from rows of `(column, weight)` in ascending order of columns.
    pub(crate) fn from_rows<R>(n: usize, rows: R) -> Self
    where
        R: IntoIterator,
        R::Item: IntoIterator<Item = (u32, f64)>,
    {
        let mut starts = Vec::with_capacity(n + 1);
        starts.push(0);
        let (mut columns, mut weights) = (Vec::new(), Vec::new());
        for row in rows {
            for (column, weight) in row {
                columns.push(column);
                weights.push(weight);
            }
            starts.push(columns.len());
        }
        debug_assert_eq!(starts.len(), n + 1);
        Self { starts, columns, weights }
    }

    /// Number of rows, which is the number of columns.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of stored entries.
    #[must_use]
    pub fn nonzero_count(&self) -> usize {
        self.columns.len()
    }

    /// The stored columns of row `i`, ascending, and their weights.
    ///
    /// # Panics
    /// When `i` is out of range.
    #[must_use]
    pub fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let range = self.starts[i]..self.starts[i + 1];
        (&self.columns[range.clone()], &self.weights[range])
    }

    /// Where each row starts: `node_count() + 1` offsets into [`columns`](Self::columns).
    #[must_use]
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// All stored columns, row by row.
    #[must_use]
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// All stored weights, row by row.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The entry at `(row, column)`, zero where none is stored.
    ///
    /// # Panics
    /// When `row` is out of range.
    #[must_use]
    pub fn get(&self, row: usize, column: usize) -> f64 {
        let (columns, weights) = self.row(row);
        u32::try_from(column).ok().and_then(|c| columns.binary_search(&c).ok()).map_or(0.0, |k| weights[k])
    }

    /// `y = A x`.
    ///
    /// # Panics
    /// When `x` or `y` has the wrong length.
    pub fn multiply(&self, x: &[f64], y: &mut [f64]) {
        self.check_lengths(x.len(), y.len());
        for (i, out) in y.iter_mut().enumerate() {
            *out = self.row_dot(i, x);
        }
    }

    /// `y = A x`, rows in parallel; the same bits as [`multiply`](Self::multiply).
    ///
    /// # Panics
    /// When `x` or `y` has the wrong length.
    pub fn par_multiply(&self, x: &[f64], y: &mut [f64]) {
        self.check_lengths(x.len(), y.len());
        y.par_chunks_mut(ROWS_PER_TASK).enumerate().for_each(|(task, rows)| {
            for (i, out) in rows.iter_mut().enumerate() {
                *out = self.row_dot(task * ROWS_PER_TASK + i, x);
            }
        });
    }

    /// `Y = A X` for `B` vectors at once: `x[i]` holds entry `i` of each.
    ///
    /// One pass over the matrix serves all `B`; `B` of 8 or 16 fills the vector registers.
    /// Each of the `B` results has the same bits as [`multiply`](Self::multiply) gives.
    ///
    /// # Panics
    /// When `x` or `y` has the wrong length.
    pub fn multiply_panel<const B: usize>(&self, x: &[[f64; B]], y: &mut [[f64; B]]) {
        self.check_lengths(x.len(), y.len());
        self.multiply_panel_rows(0, x, y);
    }

    /// [`multiply_panel`](Self::multiply_panel), rows in parallel; the same bits.
    ///
    /// # Panics
    /// When `x` or `y` has the wrong length.
    pub fn par_multiply_panel<const B: usize>(&self, x: &[[f64; B]], y: &mut [[f64; B]]) {
        self.check_lengths(x.len(), y.len());
        y.par_chunks_mut(ROWS_PER_TASK).enumerate().for_each(|(task, rows)| {
            self.multiply_panel_rows(task * ROWS_PER_TASK, x, rows);
        });
    }

    fn check_lengths(&self, x: usize, y: usize) {
        assert_eq!(x, self.node_count(), "x has one entry per column");
        assert_eq!(y, self.node_count(), "y has one entry per row");
    }

    #[inline]
    fn row_dot(&self, i: usize, x: &[f64]) -> f64 {
        let (columns, weights) = self.row(i);
        columns.iter().zip(weights).fold(0.0, |sum, (&j, w)| sum + w * x[j as usize])
    }

    /// The rows of `A X` from `first` on, as many as `y` has.
    #[inline]
    fn multiply_panel_rows<const B: usize>(&self, first: usize, x: &[[f64; B]], y: &mut [[f64; B]]) {
        for (i, out) in y.iter_mut().enumerate() {
            let (columns, weights) = self.row(first + i);
            let mut sums = [0.0; B];
            for (&j, &w) in columns.iter().zip(weights) {
                for (sum, value) in sums.iter_mut().zip(&x[j as usize]) {
                    *sum += w * value;
                }
            }
            *out = sums;
        }
    }

    /// The transpose.
    #[must_use]
    pub fn transpose(&self) -> Self {
        let n = self.node_count();
        let mut starts = vec![0; n + 1];
        for &j in &self.columns {
            starts[j as usize + 1] += 1;
        }
        for i in 0..n {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut columns = vec![0; self.columns.len()];
        let mut weights = vec![0.0; self.weights.len()];
        for i in 0..n {
            let (row_columns, row_weights) = self.row(i);
            for (&j, &w) in row_columns.iter().zip(row_weights) {
                let slot = &mut next[j as usize];
                columns[*slot] = i as u32;
                weights[*slot] = w;
                *slot += 1;
            }
        }
        Self { starts, columns, weights }
    }

    /// The same matrix with every zero written out, `n` by `n`.
    ///
    /// # Errors
    /// [`Error::TooLarge`] when `8 n²` bytes are more than the limit.
    pub fn to_dense(&self) -> Result<Array2<f64>, Error> {
        let n = self.node_count();
        require_dense("the dense matrix", n, n)?;
        let mut dense = Array2::zeros((n, n));
        for i in 0..n {
            let (columns, weights) = self.row(i);
            for (&j, &w) in columns.iter().zip(weights) {
                dense[(i, j as usize)] = w;
            }
        }
        Ok(dense)
    }
}

/// Rows that one parallel task computes: enough work to pay for the task.
const ROWS_PER_TASK: usize = 1024;
