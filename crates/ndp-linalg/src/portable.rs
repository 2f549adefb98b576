//! Decompositions by faer, written in Rust, which compile on any machine.

use super::{PARALLELISM, SymEigen, column_major, contiguous, to_faer, to_faer_mut};
use crate::Error;
use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::{cholesky::llt, evd};
use ndarray::{Array1, Array2, ArrayView2, ShapeBuilder, s};

pub(super) fn sym_eigen(matrix: ArrayView2<'_, f64>) -> Result<SymEigen, Error> {
    let n = matrix.nrows();
    let mut vectors = Array2::zeros((n, n).f());
    let values = decompose(matrix, Some(&mut vectors))?;
    Ok(SymEigen { values, vectors })
}

pub(super) fn sym_eigenvalues(matrix: ArrayView2<'_, f64>) -> Result<Array1<f64>, Error> {
    decompose(matrix, None)
}

/// Computes the eigenvalues, and the eigenvectors if a place for them is given.
fn decompose(matrix: ArrayView2<'_, f64>, vectors: Option<&mut Array2<f64>>) -> Result<Array1<f64>, Error> {
    let n = matrix.nrows();
    let mut values = vec![0.0; n];
    let compute =
        if vectors.is_some() { evd::ComputeEigenvectors::Yes } else { evd::ComputeEigenvectors::No };
    let scratch = evd::self_adjoint_evd_scratch::<f64>(n, compute, PARALLELISM, Default::default());
    evd::self_adjoint_evd(
        to_faer(&contiguous(matrix)),
        DiagMut::from_slice_mut(&mut values),
        vectors.map(to_faer_mut),
        PARALLELISM,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .map_err(|_| Error::NoConvergence { what: "the eigensolver", steps: n, residual: f64::INFINITY })?;
    Ok(Array1::from(values))
}

/// The factor, zero above the diagonal.
pub(super) fn cholesky(matrix: ArrayView2<'_, f64>) -> Result<Array2<f64>, Error> {
    let mut lower = column_major(matrix);
    let scratch =
        llt::factor::cholesky_in_place_scratch::<f64>(matrix.nrows(), PARALLELISM, Default::default());
    llt::factor::cholesky_in_place(
        to_faer_mut(&mut lower),
        Default::default(),
        PARALLELISM,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .map_err(|llt::factor::LltError::NonPositivePivot { index }| Error::NotPositiveDefinite { row: index })?;
    for (row, mut entries) in lower.rows_mut().into_iter().enumerate() {
        entries.slice_mut(s![row + 1..]).fill(0.0);
    }
    Ok(lower)
}

pub(super) fn cholesky_solve(lower: &Array2<f64>, b: ArrayView2<'_, f64>) -> Result<Array2<f64>, Error> {
    let mut x = column_major(b);
    let scratch = llt::solve::solve_in_place_scratch::<f64>(b.nrows(), b.ncols(), PARALLELISM);
    llt::solve::solve_in_place(
        to_faer(&lower.view().into()),
        to_faer_mut(&mut x),
        PARALLELISM,
        MemStack::new(&mut MemBuffer::new(scratch)),
    );
    Ok(x)
}

/// The lower triangle of the inverse.
pub(super) fn cholesky_inverse(lower: &Array2<f64>) -> Result<Array2<f64>, Error> {
    let n = lower.nrows();
    let mut inverse = Array2::zeros((n, n).f());
    let scratch = llt::inverse::inverse_scratch::<f64>(n, PARALLELISM);
    llt::inverse::inverse(
        to_faer_mut(&mut inverse),
        to_faer(&contiguous(lower.view())),
        PARALLELISM,
        MemStack::new(&mut MemBuffer::new(scratch)),
    );
    Ok(inverse)
}
