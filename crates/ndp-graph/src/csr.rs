//! Sparse square matrices in compressed rows with 32-bit column indices.

use crate::Error;
use ndarray::Array2;
use ndp_linalg::memory::require_dense;
use rayon::prelude::*;
use std::sync::Arc;

/// A square sparse matrix: row `i` holds `weights[starts[i]..starts[i + 1]]` at the ascending
/// `columns` of the same range. A clone shares these arrays, which never change.
///
/// # Examples
/// ```
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let matrix = GossipMatrix::metropolis(&path_graph(3)?);
/// let rows = matrix.csr();
/// assert_eq!(rows.row(0).0, [0, 1]);
/// let mut mixed = [0.0; 3];
/// rows.multiply(&[3.0, 0.0, 0.0], &mut mixed);
/// assert!((mixed[1] - 1.0).abs() < 1e-15);
/// # Ok::<(), ndp_graph::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Csr {
    parts: Arc<Parts>,
}

#[derive(Debug, PartialEq)]
struct Parts {
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
        Self { parts: Arc::new(Parts { starts, columns, weights }) }
    }

    /// Number of rows, which is the number of columns.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.parts.starts.len() - 1
    }

    /// The stored columns of row `i`, ascending, and their weights.
    ///
    /// # Panics
    /// When `i` is out of range.
    #[must_use]
    #[inline]
    pub fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let Parts { starts, columns, weights } = &*self.parts;
        let range = starts[i]..starts[i + 1];
        (&columns[range.clone()], &weights[range])
    }

    /// The three arrays: where each row starts, `node_count() + 1` offsets into the other two; the columns of
    /// all entries, row by row; their weights.
    #[must_use]
    #[inline]
    pub fn parts(&self) -> (&[usize], &[u32], &[f64]) {
        (&self.parts.starts, &self.parts.columns, &self.parts.weights)
    }

    /// The entry at `(row, column)`, zero if none is stored.
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
    pub(crate) fn par_multiply(&self, x: &[f64], y: &mut [f64]) {
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
    pub(crate) fn transpose(&self) -> Self {
        let n = self.node_count();
        let mut starts = vec![0; n + 1];
        let entries = self.parts.columns.len();
        for &j in &self.parts.columns {
            starts[j as usize + 1] += 1;
        }
        for i in 0..n {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let (mut columns, mut weights) = (vec![0; entries], vec![0.0; entries]);
        for i in 0..n {
            let (row_columns, row_weights) = self.row(i);
            for (&j, &w) in row_columns.iter().zip(row_weights) {
                let slot = &mut next[j as usize];
                columns[*slot] = ndp_numeric::casts::id(i);
                weights[*slot] = w;
                *slot += 1;
            }
        }
        Self { parts: Arc::new(Parts { starts, columns, weights }) }
    }

    /// The same matrix with every zero written out, `n` by `n`.
    ///
    /// # Errors
    /// [`Error::TooLarge`] when `8 n²` bytes are more than the limit.
    pub(crate) fn to_dense(&self) -> Result<Array2<f64>, Error> {
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

/// The sum of many numbers, as if rounded only about once (Neumaier's compensated sum): a row of `10^6` equal
/// weights sums to 1 within `1e-15`, while plain summation is off by `1e-11`.
pub(crate) fn accurate_sum(values: impl IntoIterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0f64, 0.0);
    for value in values {
        let total = sum + value;
        lost += if sum.abs() >= value.abs() { (sum - total) + value } else { (value - total) + sum };
        sum = total;
    }
    // A sum that overflowed has lost infinity minus infinity, and NaN would pass for a sum of 1.
    if sum.is_finite() { sum + lost } else { sum }
}

/// Fails unless the entries of a row sum to 1 within `1e-12`.
pub(crate) fn require_stochastic(row: usize, entries: impl IntoIterator<Item = f64>) -> Result<(), Error> {
    let sum = accurate_sum(entries);
    if (sum - 1.0).abs() > 1e-12 { Err(Error::NotStochastic { row, sum }) } else { Ok(()) }
}

/// Rows that one parallel task computes: enough work to pay for the task.
const ROWS_PER_TASK: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of 0 to 40 entries, one of them empty, in a square of 3000.
    fn example() -> Csr {
        let n = 3000u32;
        Csr::from_rows(
            n as usize,
            (0..n).map(|i| (0..i % 41).map(move |k| ((i * 7 + k * 73) % n, f64::from(i + k).sin()))).map(
                |row| {
                    let mut row: Vec<(u32, f64)> = row.collect();
                    row.sort_by_key(|&(column, _)| column);
                    row
                },
            ),
        )
    }

    fn vector(n: usize, seed: usize) -> Vec<f64> {
        (0..n).map(|i| ((i * 31 + seed * 17) as f64).cos()).collect()
    }

    #[test]
    fn entries_are_found() {
        let matrix = Csr::from_rows(3, [vec![(0, 1.0), (2, 2.0)], vec![], vec![(1, 3.0)]]);
        assert_eq!((matrix.node_count(), matrix.parts().2.len()), (3, 3));
        assert_eq!(matrix.row(0), (&[0, 2][..], &[1.0, 2.0][..]));
        assert_eq!(matrix.row(1), (&[][..], &[][..]));
        assert_eq!([matrix.get(0, 2), matrix.get(0, 1), matrix.get(0, usize::MAX)], [2.0, 0.0, 0.0]);
        let dense = ndarray::arr2(&[[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, 3.0, 0.0]]);
        assert_eq!(matrix.to_dense(), Ok(dense.clone()));
        assert_eq!(matrix.transpose().to_dense(), Ok(dense.t().to_owned()));
        assert_eq!(matrix.transpose().transpose(), matrix);
    }

    #[test]
    fn products_match_the_definition() -> Result<(), Error> {
        let matrix = example();
        let x = vector(3000, 0);
        let mut y = vec![f64::NAN; 3000];
        matrix.multiply(&x, &mut y);
        let dense = matrix.to_dense()?;
        for (i, value) in y.iter().enumerate() {
            let slow: f64 = (0..3000).map(|j| dense[(i, j)] * x[j]).sum();
            assert!((value - slow).abs() < 1e-13);
        }
        let mut parallel = vec![f64::NAN; 3000];
        matrix.par_multiply(&x, &mut parallel);
        assert_eq!(parallel, y);
        Ok(())
    }

    fn check_panel<const B: usize>() {
        let matrix = example();
        let columns: Vec<Vec<f64>> = (0..B).map(|b| vector(3000, b)).collect();
        let x: Vec<[f64; B]> = (0..3000).map(|i| std::array::from_fn(|b| columns[b][i])).collect();
        let mut panel = vec![[f64::NAN; B]; 3000];
        matrix.multiply_panel(&x, &mut panel);
        for (b, column) in columns.iter().enumerate() {
            let mut y = vec![f64::NAN; 3000];
            matrix.multiply(column, &mut y);
            assert!(panel.iter().zip(&y).all(|(row, value)| row[b].to_bits() == value.to_bits()));
        }
    }

    #[test]
    fn panels_have_the_bits_of_single_products() {
        check_panel::<1>();
        check_panel::<3>();
        check_panel::<8>();
        check_panel::<16>();
    }

    #[test]
    #[should_panic(expected = "x has one entry per column")]
    fn wrong_lengths_panic() {
        example().multiply(&[1.0], &mut [0.0]);
    }

    #[test]
    fn dense_copies_that_do_not_fit_are_refused() {
        let n = 1_000_000;
        let zero = Csr::from_rows(n, std::iter::repeat_n([], n));
        let limit = ndp_linalg::memory::MEMORY_LIMIT;
        assert_eq!(
            zero.to_dense(),
            Err(Error::TooLarge { what: "the dense matrix", bytes: 8_000_000_000_000, limit })
        );
    }

    #[test]
    fn sums_of_many_equal_weights_are_one() {
        let plain: f64 = std::iter::repeat_n(1e-6, 1_000_000).sum();
        assert!((plain - 1.0).abs() > 1e-12);
        assert!((accurate_sum(std::iter::repeat_n(1e-6, 1_000_000)) - 1.0).abs() < 1e-15);
        assert_eq!(accurate_sum([1.0, 1e100, 1.0, -1e100]), 2.0);
        assert_eq!(accurate_sum([]), 0.0);
    }
}
