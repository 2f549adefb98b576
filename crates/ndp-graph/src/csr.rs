//! Sparse square matrices in compressed rows with 32-bit column indices.

use ndarray::Array2;

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
        assert_eq!(x.len(), self.node_count());
        assert_eq!(y.len(), self.node_count());
        for (i, out) in y.iter_mut().enumerate() {
            let (columns, weights) = self.row(i);
            *out = columns.iter().zip(weights).map(|(&j, w)| w * x[j as usize]).sum();
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
    #[must_use]
    pub fn to_dense(&self) -> Array2<f64> {
        let n = self.node_count();
        let mut dense = Array2::zeros((n, n));
        for i in 0..n {
            let (columns, weights) = self.row(i);
            for (&j, &w) in columns.iter().zip(weights) {
                dense[(i, j as usize)] = w;
            }
        }
        dense
    }
}
