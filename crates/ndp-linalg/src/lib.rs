//! Dense linear algebra on `f64`, `ndarray` in and out, and the memory that a result may take
//! ([`memory`]). An implementation detail of the `ndp` workspace: nothing here is stable. Nothing here
//! ends before its result: callers ask their `Stop` with the cost of an operation before they begin it.
//!
//! This is the only crate that knows the backend, [faer](https://docs.rs/faer), which reads and writes the
//! memory of the arrays themselves; only an array that is contiguous in neither order is copied, once. Every
//! call uses the same constant parallelism: if it followed the thread pool, the bits of an eigendecomposition
//! would depend on the number of threads. faer's generic code is compiled in the crate that calls it; behind
//! these few functions it is compiled only once.
//!
//! With the feature `lapack`, everything but the products calls LAPACK instead. The feature itself links no
//! LAPACK: the binary that enables it chooses one.

mod error;
#[cfg(feature = "lapack")]
mod lapack;
pub mod memory;
#[cfg(not(feature = "lapack"))]
mod portable;
mod scaling;

pub use error::Error;

use self::memory::require_dense;
use faer::linalg::matmul::{self, triangular::BlockStructure};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, MatMut, MatRef, Par};
#[cfg(feature = "lapack")]
use lapack as backend;
use ndarray::{Array1, Array2, ArrayView2, CowArray, Ix2, ShapeBuilder};
#[cfg(not(feature = "lapack"))]
use portable as backend;
use std::num::NonZeroUsize;

/// The eigenvalues of a symmetric matrix, ascending, and its orthonormal eigenvectors.
///
/// # Examples
/// ```
/// use ndarray::arr2;
/// use ndp_linalg::sym_eigen;
/// let eigen = sym_eigen(arr2(&[[0.0, 1.0], [1.0, 0.0]]).view())?;
/// assert!((eigen.values[0] + 1.0).abs() < 1e-15 && (eigen.values[1] - 1.0).abs() < 1e-15);
/// # Ok::<(), ndp_linalg::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SymEigen {
    /// `n` eigenvalues, ascending, repeated by multiplicity.
    pub values: Array1<f64>,
    /// `n` by `n`; column `k` is the eigenvector of `values[k]`.
    pub vectors: Array2<f64>,
}

/// The Cholesky factor of a symmetric positive definite matrix.
///
/// # Examples
/// ```
/// use ndarray::arr2;
/// use ndp_linalg::cholesky;
/// let factor = cholesky(arr2(&[[4.0, 2.0], [2.0, 2.0]]).view())?;
/// assert_eq!(factor.lower(), &arr2(&[[2.0, 0.0], [1.0, 1.0]]));
/// let x = factor.solve(arr2(&[[8.0], [6.0]]).view())?;
/// assert!((x[(0, 0)] - 1.0).abs() < 1e-12 && (x[(1, 0)] - 2.0).abs() < 1e-12);
/// assert_eq!(factor.inverse()?, arr2(&[[0.5, -0.5], [-0.5, 1.0]]));
/// # Ok::<(), ndp_linalg::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Cholesky {
    lower: Array2<f64>,
}

impl Cholesky {
    /// The lower triangular `L` of `A = L Lᵀ`, its diagonal positive.
    #[must_use]
    pub fn lower(&self) -> &Array2<f64> {
        &self.lower
    }

    /// The `X` of `A X = B`, one column per right-hand side.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `b` has as many rows as `A`, [`Error::NotFinite`] naming an entry of `b`, or
    /// of `X` when it overflows.
    pub fn solve(&self, b: ArrayView2<'_, f64>) -> Result<Array2<f64>, Error> {
        require_shape("rows of the right-hand side", self.lower.nrows(), b.nrows())?;
        require_finite(b)?;
        if b.is_empty() {
            return Ok(b.to_owned());
        }
        let x = backend::cholesky_solve(&self.lower, b)?;
        require_finite(x.view())?;
        Ok(x)
    }

    /// The inverse of `A`, symmetric to the last bit.
    ///
    /// # Errors
    /// [`Error::NotFinite`] naming an entry that overflows.
    ///
    /// # Complexity
    /// Two thirds of `n³` operations, where solving for the identity takes `2 n³`.
    pub fn inverse(&self) -> Result<Array2<f64>, Error> {
        if self.lower.is_empty() {
            return Ok(self.lower.clone());
        }
        let mut inverse = backend::cholesky_inverse(&self.lower)?;
        mirror(&mut inverse);
        require_finite(inverse.view())?;
        Ok(inverse)
    }
}

/// The eigenvalues and eigenvectors of a symmetric matrix.
///
/// # Errors
/// [`Error::Shape`] unless it is square, [`Error::NotFinite`], also for an eigenvalue that no float holds,
/// [`Error::NotSymmetric`] (beyond `1e-12` of the largest entry), [`Error::TooLarge`], [`Error::NoConvergence`].
///
/// # Complexity
/// `O(n³)` time, about five times the memory of the matrix.
///
/// # Examples
/// ```
/// use ndarray::arr2;
/// let eigen = ndp_linalg::sym_eigen(arr2(&[[2.0, 1.0], [1.0, 2.0]]).view())?;
/// assert!((eigen.values[0] - 1.0).abs() < 1e-15 && (eigen.values[1] - 3.0).abs() < 1e-15);
/// # Ok::<(), ndp_linalg::Error>(())
/// ```
pub fn sym_eigen(matrix: ArrayView2<'_, f64>) -> Result<SymEigen, Error> {
    require_symmetric(matrix)?;
    if matrix.is_empty() {
        return Ok(SymEigen { values: Array1::zeros(0), vectors: Array2::zeros((0, 0)) });
    }
    require_dense("eigenvectors and the room to find them", 5 * matrix.nrows(), matrix.nrows())?;
    scaling::sym_eigen(matrix)
}

/// The eigenvalues of a symmetric matrix, ascending.
///
/// # Errors
/// Those of [`sym_eigen`].
pub fn sym_eigenvalues(matrix: ArrayView2<'_, f64>) -> Result<Array1<f64>, Error> {
    require_symmetric(matrix)?;
    if matrix.is_empty() {
        return Ok(Array1::zeros(0));
    }
    require_dense("the room to find eigenvalues", 3 * matrix.nrows(), matrix.nrows())?;
    scaling::sym_eigenvalues(matrix)
}

/// The product `A B`.
///
/// # Errors
/// [`Error::Shape`] unless `a` has as many columns as `b` has rows, [`Error::TooLarge`].
pub fn gemm(a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>) -> Result<Array2<f64>, Error> {
    require_shape("rows of the right factor", a.ncols(), b.nrows())?;
    require_dense("the product", a.nrows(), b.ncols())?;
    let mut product = Array2::zeros((a.nrows(), b.ncols()).f());
    // With a row-major right factor the backend takes twice as long as with a column-major one.
    let (a, b) = (contiguous(a), if b.t().is_standard_layout() { b.into() } else { column_major(b).into() });
    matmul::matmul(to_faer_mut(&mut product), Accum::Replace, to_faer(&a), to_faer(&b), 1.0, PARALLELISM);
    Ok(product)
}

/// The symmetric `A Aᵀ - B Bᵀ`: only the lower triangle is computed, and copied to the upper.
///
/// Every symmetric matrix is of this form: scale its eigenvectors by the roots of the absolute
/// eigenvalues, positive ones in `a`, negative ones in `b`.
///
/// # Errors
/// [`Error::Shape`] unless `a` and `b` have the same number of rows, [`Error::TooLarge`].
///
/// # Complexity
/// Half of [`gemm`] for both products.
pub fn gram_difference(a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>) -> Result<Array2<f64>, Error> {
    let n = a.nrows();
    require_shape("rows of the second factor", n, b.nrows())?;
    require_dense("the product", n, n)?;
    let mut product = Array2::zeros((n, n).f());
    // The first product is written without reading what is there: pages that nobody has touched are touched
    // once.
    for (factor, sign, accum) in [(a, 1.0, Accum::Replace), (b, -1.0, Accum::Add)] {
        // Row-major, so that the right factor, its transpose, is column-major: twice as fast.
        let factor = if factor.is_standard_layout() { factor.into() } else { row_major(factor).into() };
        matmul::triangular::matmul(
            to_faer_mut(&mut product),
            BlockStructure::TriangularLower,
            accum,
            to_faer(&factor),
            BlockStructure::Rectangular,
            to_faer(&factor.t().into()),
            BlockStructure::Rectangular,
            sign,
            PARALLELISM,
        );
    }
    mirror(&mut product);
    Ok(product)
}

/// Copies what is below the diagonal to what is above it.
fn mirror(matrix: &mut Array2<f64>) {
    let n = matrix.nrows();
    // Square tiles, because one of the two sides is read or written across the memory order.
    for column in (0..n).step_by(TILE) {
        for row in (column..n).step_by(TILE) {
            for j in column..(column + TILE).min(n) {
                for i in row.max(j + 1)..(row + TILE).min(n) {
                    matrix[(j, i)] = matrix[(i, j)];
                }
            }
        }
    }
}

/// Adds the lower triangle of `A Bᵀ` to `sum`, in place: what is above the diagonal stays as it is.
///
/// # Errors
/// [`Error::Shape`] unless `a` and `b` have the same shape and `sum` is square with as many rows.
///
/// # Complexity
/// Half of [`gemm`]; `sum` is copied unless it is in column order.
pub fn add_lower_product(
    sum: &mut Array2<f64>,
    a: ArrayView2<'_, f64>,
    b: ArrayView2<'_, f64>,
) -> Result<(), Error> {
    require_shape("rows of the second factor", a.nrows(), b.nrows())?;
    require_shape("columns of the second factor", a.ncols(), b.ncols())?;
    require_shape("rows of the sum", a.nrows(), sum.nrows())?;
    require_shape("columns of the sum", a.nrows(), sum.ncols())?;
    if !sum.t().is_standard_layout() {
        *sum = column_major(sum.view());
    }
    let right = if b.is_standard_layout() { b.into() } else { row_major(b).into() };
    matmul::triangular::matmul(
        to_faer_mut(sum),
        BlockStructure::TriangularLower,
        Accum::Add,
        to_faer(&contiguous(a)),
        BlockStructure::Rectangular,
        to_faer(&right).transpose(),
        BlockStructure::Rectangular,
        1.0,
        PARALLELISM,
    );
    Ok(())
}

/// The product `L B` of a lower triangular matrix, in row order; what stands above its diagonal is not read.
///
/// # Errors
/// [`Error::Shape`] unless `lower` is square with as many columns as `b` has rows, [`Error::TooLarge`].
///
/// # Complexity
/// Half of [`gemm`].
pub fn lower_product(lower: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>) -> Result<Array2<f64>, Error> {
    require_square(lower)?;
    require_shape("rows of the right factor", lower.ncols(), b.nrows())?;
    require_dense("the product", b.nrows(), b.ncols())?;
    // (L B)ᵀ = Bᵀ Lᵀ, so that the right factor is in column order, which is twice as fast.
    let mut transposed = Array2::zeros((b.ncols(), b.nrows()).f());
    let right = if lower.is_standard_layout() { lower.into() } else { row_major(lower).into() };
    matmul::triangular::matmul(
        to_faer_mut(&mut transposed),
        BlockStructure::Rectangular,
        Accum::Replace,
        to_faer(&contiguous(b)).transpose(),
        BlockStructure::Rectangular,
        to_faer(&right).transpose(),
        BlockStructure::TriangularUpper,
        1.0,
        PARALLELISM,
    );
    Ok(transposed.reversed_axes())
}

/// The inverse of a lower triangular matrix, zero above the diagonal, in row order; entries above the
/// diagonal of `lower` are not read. If `lower` has a 0 on its diagonal, entries of the inverse are infinite
/// or NaN.
///
/// # Errors
/// [`Error::Shape`] unless `lower` is square, [`Error::TooLarge`].
pub fn invert_lower(lower: ArrayView2<'_, f64>) -> Result<Array2<f64>, Error> {
    require_square(lower)?;
    // Solves for the identity: Cholesky factors need the same solver, and a separate inverter would be more
    // code to compile.
    let mut inverse = Array2::zeros(lower.raw_dim().f());
    inverse.diag_mut().fill(1.0);
    solve_lower_triangular_in_place(to_faer(&contiguous(lower)), to_faer_mut(&mut inverse), PARALLELISM);
    Ok(row_major(inverse.view()))
}

/// The factor `L` of a symmetric positive definite `A = L Lᵀ`.
///
/// # Errors
/// Those of [`sym_eigen`], and [`Error::NotPositiveDefinite`].
pub fn cholesky(matrix: ArrayView2<'_, f64>) -> Result<Cholesky, Error> {
    require_symmetric(matrix)?;
    if matrix.is_empty() {
        return Ok(Cholesky { lower: Array2::zeros((0, 0)) });
    }
    Ok(Cholesky { lower: backend::cholesky(matrix)? })
}

/// A faer view of the same memory.
fn to_faer<'a>(matrix: &'a CowArray<'_, f64, Ix2>) -> MatRef<'a, f64> {
    let (rows, columns) = matrix.dim();
    match (matrix.as_slice(), matrix.as_slice_memory_order()) {
        (Some(slice), _) => MatRef::from_row_major_slice(slice, rows, columns),
        (None, Some(slice)) => MatRef::from_column_major_slice(slice, rows, columns),
        (None, None) => unreachable!("every caller passes what `contiguous` or `column_major` made"),
    }
}

/// A mutable faer view of the same memory, for an array that [`column_major`] or `zeros(_.f())` made.
fn to_faer_mut(matrix: &mut Array2<f64>) -> MatMut<'_, f64> {
    let (rows, columns) = matrix.dim();
    debug_assert!(matrix.t().is_standard_layout());
    let slice = matrix.as_slice_memory_order_mut().expect("an owned column-major array is contiguous");
    MatMut::from_column_major_slice_mut(slice, rows, columns)
}

/// The array itself if it is contiguous in row or column order, else a copy.
fn contiguous(matrix: ArrayView2<'_, f64>) -> CowArray<'_, f64, Ix2> {
    if matrix.is_standard_layout() || matrix.t().is_standard_layout() {
        matrix.into()
    } else {
        column_major(matrix).into()
    }
}

/// A copy in row order.
fn row_major(matrix: ArrayView2<'_, f64>) -> Array2<f64> {
    let mut copy = Array2::zeros(matrix.raw_dim());
    copy.assign(&matrix);
    copy
}

/// A copy in column order.
fn column_major(matrix: ArrayView2<'_, f64>) -> Array2<f64> {
    let mut copy = Array2::zeros(matrix.raw_dim().f());
    copy.assign(&matrix);
    copy
}

fn require_symmetric(matrix: ArrayView2<'_, f64>) -> Result<(), Error> {
    require_square(matrix)?;
    require_finite(matrix)?;
    let scale = matrix.iter().fold(0.0f64, |max, value| max.max(value.abs()));
    for ((row, column), &value) in matrix.indexed_iter() {
        let difference = (value - matrix[(column, row)]).abs();
        if column < row && difference > 1e-12 * scale {
            return Err(Error::NotSymmetric { row, column, difference });
        }
    }
    Ok(())
}

/// The scratch space and the results take about four times the matrix.
fn require_square(matrix: ArrayView2<'_, f64>) -> Result<(), Error> {
    let n = matrix.nrows();
    require_shape("columns of a square matrix", n, matrix.ncols())?;
    require_dense("dense linear algebra", n, n)
}

fn require_finite(matrix: ArrayView2<'_, f64>) -> Result<(), Error> {
    match matrix.indexed_iter().find(|(_, value)| !value.is_finite()) {
        None => Ok(()),
        Some(((row, column), &value)) => Err(Error::NotFinite { row, column, value }),
    }
}

fn require_shape(what: &'static str, expected: usize, got: usize) -> Result<(), Error> {
    if expected == got { Ok(()) } else { Err(Error::Shape { what, expected, got }) }
}

/// faer splits the work into this many parts, whatever the size of the pool that runs them.
const PARALLELISM: Par = Par::Rayon(NonZeroUsize::new(2).expect("2 is not 0"));

/// Side of the squares in which a triangle is mirrored: two such squares fit in the first-level cache.
const TILE: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    /// Triangular products are correct for both memory orders, whatever numbers are above the diagonal.
    #[test]
    fn triangles_are_those_of_products() {
        let number = |i: usize, j: usize| ((7 * i + 13 * j + i * j) % 23) as f64 - 11.0;
        for (n, k) in [(1, 1), (3, 5), (40, 17), (130, 260)] {
            let (a, b) = (
                Array2::from_shape_fn((n, k), |(i, j)| number(i, j)),
                Array2::from_shape_fn((n, k), |(i, j)| number(j, i)),
            );
            let (a_columns, b_columns) = (column_major(a.view()), column_major(b.view()));
            let product = a.dot(&b.t());
            for (a, b) in [(a.view(), b.view()), (a_columns.view(), b.view()), (a.view(), b_columns.view())] {
                for mut sum in [Array2::from_elem((n, n), 2.0), Array2::from_elem((n, n).f(), 2.0)] {
                    add_lower_product(&mut sum, a, b).expect("shapes fit");
                    let expected = |(i, j)| if j <= i { product[(i, j)] + 2.0 } else { 2.0 };
                    assert!(sum.indexed_iter().all(|(at, &x)| x == expected(at)), "{n} {k}");
                }
            }
            let full = Array2::from_shape_fn((n, n), |(i, j)| number(i, j));
            let lower = Array2::from_shape_fn((n, n), |(i, j)| if j <= i { full[(i, j)] } else { 0.0 });
            let expected = lower.dot(&b);
            for (full, b) in [(full.view(), b.view()), (column_major(full.view()).view(), b_columns.view())] {
                let found = lower_product(full, b).expect("shapes fit");
                assert!(found.is_standard_layout() && found == expected, "{n} {k}");
            }
            // The diagonal consists of powers of two, so entries of the inverse with few terms have no
            // rounding errors.
            let well = Array2::from_shape_fn((n, n), |(i, j)| match i.cmp(&j) {
                std::cmp::Ordering::Less => f64::NAN,
                std::cmp::Ordering::Equal => 2.0,
                std::cmp::Ordering::Greater => number(i, j) / (64.0 * n as f64),
            });
            for view in [well.view(), column_major(well.view()).view()] {
                let inverse = invert_lower(view).expect("square");
                let product = lower_product(view, inverse.view()).expect("shapes fit");
                assert!(
                    product
                        .indexed_iter()
                        .all(|((i, j), &x)| (x - f64::from(u8::from(i == j))).abs() < 1e-14)
                );
                assert!(inverse.indexed_iter().all(|((i, j), &x)| j <= i || x == 0.0));
            }
        }
        let (square, other) = (Array2::<f64>::zeros((2, 2)), Array2::<f64>::zeros((3, 2)));
        assert!(matches!(
            lower_product(square.view(), other.view()),
            Err(Error::Shape { expected: 2, got: 3, .. })
        ));
        assert!(matches!(lower_product(other.view(), square.view()), Err(Error::Shape { .. })));
        assert!(matches!(invert_lower(other.view()), Err(Error::Shape { .. })));
        let mut sum = Array2::zeros((2, 2));
        assert!(matches!(add_lower_product(&mut sum, square.view(), other.view()), Err(Error::Shape { .. })));
        assert!(matches!(add_lower_product(&mut sum, other.view(), other.view()), Err(Error::Shape { .. })));
        let none = invert_lower(Array2::zeros((1, 1)).view()).expect("square");
        assert!(!none[(0, 0)].is_finite());
    }

    /// The inverse is that of the matrix, and symmetric.
    #[test]
    fn inverses_are_those_of_the_matrix() {
        for n in [1, 2, 31, 33, 150] {
            let entry = |i: usize, j: usize| 1.0 / (1.0 + (i as f64 - j as f64).abs());
            let a = Array2::from_shape_fn((n, n), |(i, j)| entry(i, j) + if i == j { 2.0 } else { 0.0 });
            let inverse = cholesky(a.view()).and_then(|factor| factor.inverse()).expect("positive definite");
            assert_eq!(inverse, inverse.t());
            let product = a.dot(&inverse);
            assert!(
                product.indexed_iter().all(|((i, j), &x)| (x - f64::from(u8::from(i == j))).abs() < 1e-13)
            );
        }
        let none = cholesky(Array2::zeros((0, 0)).view()).and_then(|factor| factor.inverse());
        assert_eq!(none.expect("nothing to invert").len(), 0);
        let tiny = cholesky(Array2::from_elem((1, 1), 1e-320).view()).expect("positive");
        assert!(matches!(tiny.inverse(), Err(Error::NotFinite { row: 0, column: 0, .. })));
    }

    /// Arrays in row or column order, and transposed views, go to faer without a copy, and faer writes into
    /// their memory.
    #[test]
    fn contiguous_arrays_are_not_copied() {
        let rows = Array2::from_shape_fn((3, 4), |(i, j)| (10 * i + j) as f64);
        let mut columns = column_major(rows.view());
        assert_eq!(rows, columns);
        for array in [rows.view(), columns.view(), rows.t()] {
            let view = contiguous(array);
            let matrix = to_faer(&view);
            assert_eq!(matrix.as_ptr(), array.as_ptr());
            assert!(array.indexed_iter().all(|((i, j), &value)| matrix[(i, j)] == value));
        }
        to_faer_mut(&mut columns)[(2, 1)] = -1.0;
        assert_eq!(columns[(2, 1)], -1.0);
        // An array that is contiguous in neither order is copied.
        let strided = rows.slice(ndarray::s![..;2, ..;2]);
        assert_ne!(contiguous(strided).as_ptr(), strided.as_ptr());
        assert_eq!(contiguous(strided), strided);
    }
}
