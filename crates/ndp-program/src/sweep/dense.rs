//! The inverse of a triangular factor, and a bound on how far it is from turning the covariance into the
//! identity.

use ndarray::{Array1, Array2, ArrayView2, Axis, s};
use ndp_account::Error;
use ndp_linalg::gemm;

/// The approximate inverse of a lower triangular matrix, by recursion on halves.
pub(super) fn inverse_of_lower(lower: ArrayView2<'_, f64>) -> Result<Array2<f64>, Error> {
    let n = lower.nrows();
    if n <= SMALL {
        let mut inverse = Array2::<f64>::zeros((n, n));
        for i in 0..n {
            let pivot = lower[(i, i)].recip();
            let mut row = Array1::<f64>::zeros(n);
            for k in 0..i {
                row.scaled_add(-lower[(i, k)] * pivot, &inverse.row(k));
            }
            row[i] = pivot;
            inverse.row_mut(i).assign(&row);
        }
        return Ok(inverse);
    }
    let m = n / 2;
    let first = inverse_of_lower(lower.slice(s![..m, ..m]))?;
    let last = inverse_of_lower(lower.slice(s![m.., m..]))?;
    let below = gemm(last.view(), gemm(lower.slice(s![m.., ..m]), first.view())?.view())?;
    let mut inverse = Array2::zeros((n, n));
    inverse.slice_mut(s![..m, ..m]).assign(&first);
    inverse.slice_mut(s![m.., m..]).assign(&last);
    inverse.slice_mut(s![m.., ..m]).assign(&(-below));
    Ok(inverse)
}

/// `A B` by panels, so that an entry has few roundings: those of the [`PANEL`] products in a panel, and one
/// for every panel.
fn product(a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>) -> Result<Array2<f64>, Error> {
    let n = a.ncols();
    let mut sum = Array2::zeros((a.nrows(), b.ncols()));
    for start in (0..n).step_by(PANEL) {
        let end = (start + PANEL).min(n);
        sum += &gemm(a.slice(s![.., start..end]), b.slice(s![start..end, ..]))?;
    }
    Ok(sum)
}

/// A matrix that turns the covariance nearly into the identity.
pub(super) struct Whitening {
    /// The lower triangular matrix `M`, whose floats are taken as exact.
    pub(super) matrix: Array2<f64>,
    /// An upper bound on `‖M S Mᵀ - I‖`.
    pub(super) rest: f64,
    /// An upper bound on the spectral norm of `|M|`.
    pub(super) norm: f64,
}

/// The whitening of a covariance that was computed with an error of at most `relative` times `sizes`, entry
/// by entry. `None` if the covariance is not positive definite.
pub(super) fn whitening(
    covariance: &Array2<f64>,
    sizes: &Array2<f64>,
    relative: f64,
) -> Result<Option<Whitening>, Error> {
    let n = covariance.nrows();
    let Ok(factor) = ndp_linalg::cholesky(covariance.view()) else { return Ok(None) };
    let matrix = inverse_of_lower(factor.lower().view())?;
    drop(factor);
    if !matrix.iter().all(|x| x.abs() <= MOST) || !sizes.iter().all(|x| x.is_finite()) {
        return Ok(None);
    }
    let unit = f64::EPSILON / 2.0;
    // |M| x and |M|' x.
    let rows = |x: &Array1<f64>| -> Array1<f64> {
        let row = |i: usize| (0..=i).map(|j| matrix[(i, j)].abs() * x[j]).sum::<f64>();
        (0..n).map(row).collect()
    };
    let columns = |x: &Array1<f64>| -> Array1<f64> {
        let mut sums = Array1::zeros(n);
        for (row, x) in matrix.rows().into_iter().zip(x) {
            sums.zip_mut_with(&row, |sum, m| *sum += m.abs() * x);
        }
        sums
    };
    let all = |x: Array1<f64>| -> Array1<f64> {
        let size = |i: usize, j: usize| f64::max(sizes[(i, j)], covariance[(i, j)].abs());
        (0..n).map(|i| (0..n).map(|j| size(i, j) * x[j]).sum::<f64>()).collect()
    };
    // Bounds on the error of M S M' in its two products, and then on the norm of |M|.
    let large = largest(n, |x| rows(&all(columns(x))));
    let norm = largest(n, |x| columns(&rows(x))).sqrt() * UP;
    let panels = (PANEL + n / PANEL + 4) as f64 * unit;
    let rounding = (2.1 * panels + relative) * large;
    let half = product(matrix.view(), covariance.view())?;
    let mut whole = product(half.view(), matrix.t())?;
    drop(half);
    whole.diag_mut().iter_mut().for_each(|x| *x -= 1.0);
    if !whole.iter().all(|x| x.is_finite()) {
        return Ok(None);
    }
    whole.mapv_inplace(f64::abs);
    let norm_of = |sums: Array1<f64>| sums.iter().fold(0.0, |m: f64, &x| m.max(x));
    let apart = (norm_of(whole.sum_axis(Axis(0))) * norm_of(whole.sum_axis(Axis(1)))).sqrt();
    let rest = (apart + rounding) * UP + TINY;
    Ok(rest.is_finite().then(|| Whitening { matrix, rest, norm }))
}

/// An upper bound on the spectral norm of a symmetric matrix with nonnegative entries: `max (A x)_i / x_i`
/// for any positive `x`, here for one close to its largest eigenvector.
fn largest(n: usize, times: impl Fn(&Array1<f64>) -> Array1<f64>) -> f64 {
    let mut x = Array1::ones(n);
    let mut found = f64::INFINITY;
    for _ in 0..STEPS {
        let mut next = times(&x);
        found = next.iter().zip(&x).map(|(a, b)| a / b).fold(0.0, f64::max).min(found);
        let top = next.iter().fold(0.0, |m: f64, &x| m.max(x));
        // No entry may be 0, since the bound divides by all of them.
        next.mapv_inplace(|x| x / top + 1e-6);
        x = next;
    }
    found * UP
}

/// The number of steps towards the largest eigenvector.
const STEPS: usize = 12;
/// The largest size of a matrix that is inverted without dividing it into halves.
const SMALL: usize = 48;
/// The number of terms of a sum that may be added in any order.
const PANEL: usize = 128;
/// For larger entries, an underflow might not be covered by the bounds.
const MOST: f64 = 1e30;
/// Covers a few sums of nonnegative numbers, with at most 10^4 terms each.
const UP: f64 = 1.0 + 1e-11;
/// Larger than everything that underflows.
const TINY: f64 = 1e-100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverses_of_all_sizes() -> Result<(), Error> {
        for n in [1, 2, 47, 48, 49, 130, 300] {
            let lower = Array2::from_shape_fn((n, n), |(i, j)| match i.cmp(&j) {
                std::cmp::Ordering::Less => 0.0,
                std::cmp::Ordering::Equal => 1.0 + (i % 5) as f64,
                std::cmp::Ordering::Greater => ((i * 7 + j * 3) % 11) as f64 / (11 * n) as f64,
            });
            let inverse = inverse_of_lower(lower.view())?;
            let covariance = gemm(lower.view(), lower.t())?;
            let found = whitening(&covariance, &covariance, 1e-13)?.expect("positive definite");
            assert!(found.rest < 1e-9 && found.norm >= 0.2, "{n}: {}", found.rest);
            let product = gemm(inverse.view(), lower.view())?;
            for ((i, j), x) in product.indexed_iter() {
                assert!((x - f64::from(u8::from(i == j))).abs() < 1e-12);
            }
        }
        let singular = Array2::from_elem((3, 3), 1.0);
        assert!(whitening(&singular, &singular, 1e-13)?.is_none_or(|found| found.rest >= 1.0));
        Ok(())
    }
}
