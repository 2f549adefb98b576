//! Decompositions by LAPACK; the binary chooses which one is linked.
//!
//! Eigenvalues call `dsyevd` directly: `ndarray-linalg` calls `dsyev`, which is several times slower.
//! Everything else goes through `ndarray-linalg`.

use super::{SymEigen, column_major};
use crate::Error;
use ndarray::{Array1, Array2, ArrayView2, Axis};
use ndarray_linalg::error::LinalgError;
use ndarray_linalg::{CholeskyFactorized, CholeskyInto, SolveC, UPLO};
use std::ffi::c_char;

pub(super) fn sym_eigen(matrix: ArrayView2<'_, f64>) -> Result<SymEigen, Error> {
    let mut vectors = column_major(matrix);
    let values = on_large_stack(|| dsyevd(&mut vectors, Job::Vectors))?;
    Ok(SymEigen { values, vectors })
}

pub(super) fn sym_eigenvalues(matrix: ArrayView2<'_, f64>) -> Result<Array1<f64>, Error> {
    on_large_stack(|| dsyevd(&mut column_major(matrix), Job::Values))
}

#[derive(Clone, Copy, PartialEq)]
enum Job {
    Values,
    Vectors,
}

/// The eigenvalues of the symmetric matrix in the lower triangle of `matrix`, ascending. `matrix`, square and
/// in column order, is overwritten, by the eigenvectors if they are asked for.
fn dsyevd(matrix: &mut Array2<f64>, job: Job) -> Result<Array1<f64>, Error> {
    let n = matrix.nrows();
    // The sizes that LAPACK's documentation of dsyevd requires for n > 1; it needs less for n = 1.
    let (work_size, integer_work_size) = match job {
        Job::Values => (2 * n + 1, 1),
        Job::Vectors => (1 + 6 * n + 2 * n * n, 3 + 5 * n),
    };
    let too_large = |_| Error::TooLarge {
        what: "the workspace of dsyevd",
        bytes: 8 * work_size as u128,
        limit: 8 * i32::MAX as u128,
    };
    let order = i32::try_from(n).map_err(too_large)?;
    let work_length = i32::try_from(work_size).map_err(too_large)?;
    let integer_work_length = i32::try_from(integer_work_size).map_err(too_large)?;
    let mut values = vec![0.0f64; n];
    let mut work = vec![0.0f64; work_size];
    let mut integer_work = vec![0i32; integer_work_size];
    let job = match job {
        Job::Values => b'N',
        Job::Vectors => b'V',
    } as c_char;
    let triangle = b'L' as c_char;
    let mut info = 0;
    let entries = matrix.as_slice_memory_order_mut().expect("an owned array in column order is contiguous");
    assert_eq!(entries.len(), n * n);
    // SAFETY: every pointer is to a live, exclusively borrowed or local variable of the type that the binding
    // names. dsyevd reads and writes `order` columns of `order` numbers at stride `lda = order` in `entries`,
    // which has n * n of them (asserted); `order` numbers in `values`; at most `work_length` numbers in
    // `work` and `integer_work_length` in `integer_work`, which have exactly these lengths; and one integer
    // in `info`. It keeps no pointer after it returns.
    #[allow(unsafe_code, reason = "LAPACK is a Fortran library: there is no safe way to call it")]
    unsafe {
        lapack_sys::dsyevd_(
            &job,
            &triangle,
            &order,
            entries.as_mut_ptr(),
            &order,
            values.as_mut_ptr(),
            work.as_mut_ptr(),
            &work_length,
            integer_work.as_mut_ptr(),
            &integer_work_length,
            &mut info,
        );
    }
    if info == 0 {
        Ok(Array1::from(values))
    } else {
        Err(Error::NoConvergence { what: "the eigensolver", steps: n, residual: f64::INFINITY })
    }
}

/// The factor, zero above the diagonal.
pub(super) fn cholesky(matrix: ArrayView2<'_, f64>) -> Result<Array2<f64>, Error> {
    on_large_stack(|| column_major(matrix).cholesky_into(UPLO::Lower))
        .map_err(|error| Error::NotPositiveDefinite { row: failed(&error) })
}

pub(super) fn cholesky_solve(lower: &Array2<f64>, b: ArrayView2<'_, f64>) -> Result<Array2<f64>, Error> {
    let factors = CholeskyFactorized { factor: lower.view(), uplo: UPLO::Lower };
    let mut x = column_major(b);
    on_large_stack(|| {
        x.axis_iter_mut(Axis(1)).try_for_each(|mut x| factors.solvec_inplace(&mut x).map(drop))
    })
    .map_err(|error| Error::NotPositiveDefinite { row: failed(&error) })?;
    Ok(x)
}

/// The inverse, by solving for the identity.
pub(super) fn cholesky_inverse(lower: &Array2<f64>) -> Result<Array2<f64>, Error> {
    cholesky_solve(lower, Array2::eye(lower.nrows()).view())
}

/// Runs `work` on a separate thread with 64 MiB of stack.
///
/// OpenBLAS keeps a table of jobs on the stack, 2 MiB when built for 128 processors. A Rust thread has no
/// more than that, so the factorizations would crash on a rayon worker.
fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(64 << 20)
            .spawn_scoped(scope, work)
            .expect("a process that computes can start a thread");
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// The row of the pivot that LAPACK gave up at; its count starts at 1.
fn failed(error: &LinalgError) -> usize {
    match error {
        LinalgError::Lapack(lax::error::Error::LapackComputationalFailure { return_code }) => {
            usize::try_from(*return_code).map_or(0, |row| row.saturating_sub(1))
        }
        _ => 0,
    }
}
