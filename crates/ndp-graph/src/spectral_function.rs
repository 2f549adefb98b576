//! Functions of a symmetric matrix through its eigendecomposition.

use crate::{Error, Spectrum};
use ndarray::{Array2, ArrayView1, s};
use ndp_linalg::gram_difference;
use rayon::prelude::*;

impl Spectrum {
    /// `f(W) = at_one 11ᵀ/n + Σ_{i≥2} f(λ_i) φ_i φ_iᵀ`, `n` by `n`: the eigenvalue 1 of the constant
    /// vector is mapped to `at_one`, and never reaches `f`.
    ///
    /// The constant vector is projected out exactly: the rows of the second part sum to zero up to
    /// rounding, however close `λ_2` is to 1.
    ///
    /// # Errors
    /// [`Error::Disconnected`], [`Error::TooLarge`]; [`Error::NotFinite`] when `f` is not finite at
    /// the eigenvalue of column `column`.
    ///
    /// # Complexity
    /// `n³` multiplications, half of a matrix product.
    pub(crate) fn function(&self, at_one: f64, f: impl Fn(f64) -> f64) -> Result<Array2<f64>, Error> {
        let n = self.node_count();
        if n == 1 {
            return Ok(Array2::from_elem((1, 1), at_one));
        }
        self.extremes()?;
        // The last column, the constant vector, is left out.
        let values: Vec<f64> = self.values().iter().take(n - 1).map(|&lambda| f(lambda)).collect();
        if let Some(k) = values.iter().position(|value| !value.is_finite()) {
            return Err(Error::NotFinite { row: k, column: k, value: values[k] });
        }
        let sum = gram_difference(
            self.scaled_vectors(&values, |value| 0.0 < value).view(),
            self.scaled_vectors(&values, |value| value < 0.0).view(),
        )?;
        Ok(if at_one == 0.0 { sum } else { sum + at_one / n as f64 })
    }

    /// `sqrt|f_k| (I - 11ᵀ/n) φ_k` as columns, for the chosen values `f_k`; in row order, which makes the
    /// product faster.
    fn scaled_vectors(&self, values: &[f64], chosen: impl Fn(f64) -> bool + Sync) -> Array2<f64> {
        let n = self.node_count();
        let columns: Vec<(ArrayView1<'_, f64>, f64, f64)> = (0..values.len())
            .into_par_iter()
            .filter(|&k| chosen(values[k]))
            .map(|k| {
                let vector = self.vectors().slice_move(s![.., k]);
                (vector, vector.sum() / n as f64, values[k].abs().sqrt())
            })
            .collect();
        let width = columns.len();
        let mut entries = vec![0.0; n * width];
        // Handles a cache line of eight rows of each column at a time. Without columns there is nothing to
        // do, but a chunk needs at least one entry.
        entries.par_chunks_mut((ROWS_PER_TASK * width).max(1)).enumerate().for_each(|(task, rows)| {
            for (k, &(vector, mean, scale)) in columns.iter().enumerate() {
                for (i, row) in rows.chunks_exact_mut(width).enumerate() {
                    row[k] = scale * (vector[task * ROWS_PER_TASK + i] - mean);
                }
            }
        });
        Array2::from_shape_vec((n, width), entries).expect("n rows of one entry for each chosen value")
    }
}

const ROWS_PER_TASK: usize = 8;
