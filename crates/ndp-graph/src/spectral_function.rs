//! Functions of a symmetric matrix through its eigendecomposition.

use crate::linalg::sym_product;
use crate::{Error, Spectrum};
use ndarray::Array2;

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
    pub fn function(&self, at_one: f64, f: impl Fn(f64) -> f64) -> Result<Array2<f64>, Error> {
        let n = self.node_count();
        if n == 1 {
            return Ok(Array2::from_elem((1, 1), at_one));
        }
        self.extremes()?;
        // The last column, the constant vector, is left out.
        let mut basis = self.vectors().slice_move(ndarray::s![.., ..n - 1]).to_owned();
        let mut scaled = basis.clone();
        for (k, (mut vector, mut image)) in
            basis.columns_mut().into_iter().zip(scaled.columns_mut()).enumerate()
        {
            let value = f(self.values()[k]);
            if !value.is_finite() {
                return Err(Error::NotFinite { row: k, column: k, value });
            }
            let mean = vector.sum() / n as f64;
            vector.mapv_inplace(|x| x - mean);
            image.assign(&vector);
            image.mapv_inplace(|x| x * value);
        }
        let mut sum = sym_product(scaled.view(), basis.view())?;
        if at_one != 0.0 {
            sum += at_one / n as f64;
        }
        Ok(sum)
    }
}
