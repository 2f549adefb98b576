//! Matrices with entries near the largest float, whose norms and sums would overflow on the way to
//! eigenvalues that are floats themselves.

use crate::{Error, SymEigen, backend};
use ndarray::{Array1, Array2, ArrayView2};

/// [`crate::sym_eigen`] of a matrix that was checked.
pub(super) fn sym_eigen(matrix: ArrayView2<'_, f64>) -> Result<SymEigen, Error> {
    let Some(scaled) = scaled(matrix) else { return backend::sym_eigen(matrix) };
    let SymEigen { values, vectors } = backend::sym_eigen(scaled.view())?;
    Ok(SymEigen { values: unscaled(&values)?, vectors })
}

/// [`crate::sym_eigenvalues`] of a matrix that was checked.
pub(super) fn sym_eigenvalues(matrix: ArrayView2<'_, f64>) -> Result<Array1<f64>, Error> {
    let Some(scaled) = scaled(matrix) else { return backend::sym_eigenvalues(matrix) };
    unscaled(&backend::sym_eigenvalues(scaled.view())?)
}

/// The matrix times [`FACTOR`] if it has an entry beyond [`LARGE`], and `None` for all others, whose results
/// keep every bit.
fn scaled(matrix: ArrayView2<'_, f64>) -> Option<Array2<f64>> {
    matrix.iter().any(|value| value.abs() > LARGE).then(|| &matrix * FACTOR)
}

/// The eigenvalues of a matrix, from those of the matrix times [`FACTOR`].
///
/// # Errors
/// [`Error::NotFinite`] naming, as an entry of the diagonal, the first one that no float holds.
fn unscaled(values: &Array1<f64>) -> Result<Array1<f64>, Error> {
    let values = values / FACTOR;
    match values.iter().enumerate().find(|(_, value)| !value.is_finite()) {
        None => Ok(values),
        Some((row, &value)) => Err(Error::NotFinite { row, column: row, value }),
    }
}

/// `2^−511`: entries that it rounds are below `1e-150` times those that it is for.
const FACTOR: f64 = f64::from_bits(512 << 52);
/// Below this, sums of as many entries as fit in memory do not overflow.
const LARGE: f64 = 1e290;

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::arr2;

    /// The eigenvalues of `[[a, b], [b, a]]` are `a - b` and `a + b`.
    #[test]
    fn entries_near_the_largest_float_have_eigenvalues() -> Result<(), Error> {
        let most = f64::MAX;
        let SymEigen { values, vectors } = sym_eigen(arr2(&[[0.0, most], [most, 0.0]]).view())?;
        assert!((values[0] / most + 1.0).abs() < 1e-14 && (values[1] / most - 1.0).abs() < 1e-14);
        assert!(vectors.iter().all(|x| (x.abs() - 0.5f64.sqrt()).abs() < 1e-14));
        let values = sym_eigenvalues(arr2(&[[most / 4.0, most / 2.0], [most / 2.0, most / 4.0]]).view())?;
        assert!((values[0] / most + 0.25).abs() < 1e-14 && (values[1] / most - 0.75).abs() < 1e-14);
        let mut mixed = Array2::zeros((4, 4));
        (mixed[(1, 2)], mixed[(2, 1)], mixed[(0, 3)], mixed[(3, 0)]) = (most, most, 1e300, 1e300);
        let values = sym_eigenvalues(mixed.view())?;
        assert!(values.iter().all(|value| value.is_finite()));
        assert!((values[2] / 1e300 - 1.0).abs() < 1e-6);
        Ok(())
    }

    #[test]
    fn eigenvalues_that_no_float_holds_are_refused() {
        let most = f64::MAX;
        let ones = Array2::from_elem((5, 5), most);
        assert!(matches!(sym_eigenvalues(ones.view()), Err(Error::NotFinite { row: 4, column: 4, .. })));
        assert!(matches!(sym_eigen(ones.view()), Err(Error::NotFinite { row: 4, column: 4, .. })));
        let corner = arr2(&[[1e300, most], [most, most]]);
        assert!(matches!(sym_eigenvalues(corner.view()), Err(Error::NotFinite { .. })));
    }
}
