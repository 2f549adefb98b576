//! Views in which every row has a noise of its own: the inverse of a floating-point Cholesky factor, taken as
//! exact, makes the rows orthonormal, without primes and without extended precision.

use crate::enclosure::{Enclosure, up};
use crate::layout::bytes;
use crate::rows::{Layout, Rows};
use ndarray::{Array2, ArrayView2, ShapeBuilder, s};
use ndp_linalg::{add_lower_product, cholesky, invert_lower, lower_product};
use ndp_numeric::stop::{Stop, Stopped, work};

/// Nearly orthonormal combinations, and what they prove.
type Orthonormal = (Vec<Vec<f64>>, Enclosure);

/// Nearly orthonormal combinations of all rows, over the coordinates, and what they prove; `None` where the
/// rows are too many, where this takes more than `memory` bytes, and where their covariance has no Cholesky
/// factor in floats.
pub(crate) fn orthonormal(rows: &Rows, memory: u64, stop: &Stop) -> Result<Option<Orthonormal>, Stopped> {
    let layout = rows.layout();
    let (r, n) = (rows.len(), layout.coordinates);
    if r > layout.noises || r > MAX_DENSE || bytes(r, n, 32) > memory {
        return Ok(None);
    }
    let walks = (0..r).map(|k| rows.cost(k)).fold(0, u64::saturating_add);
    // Products and a factorisation of blocks do several operations at a time.
    stop.spend(walks.saturating_add(work([r, r, 2 * n + r]) / 4))?;
    Ok(independent(rows, layout))
}

/// The same without limits.
fn independent(rows: &Rows, layout: &Layout) -> Option<Orthonormal> {
    let float = rows.float()?;
    let factor = cholesky(covariance(float.rows.view(), layout)?.view()).ok()?;
    let inverse = invert_lower(factor.lower().view()).ok()?;
    if inverse.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let (vectors, errors) = combined(inverse.view(), float.rows.view(), &float.errors)?;
    let enclosure = Enclosure::new(&vectors, &errors, layout)?;
    Some((vectors, enclosure))
}

/// The covariance of the rows over the noises; `None` if it is not finite.
fn covariance(rows: ArrayView2<'_, f64>, layout: &Layout) -> Option<Array2<f64>> {
    let noise = rows.slice(s![.., ..layout.noises]).to_owned();
    let r = rows.nrows();
    let mut covariance = Array2::zeros((r, r).f());
    let weighted = layout.weighted(0..layout.noises, noise.view());
    add_lower_product(&mut covariance, weighted.view(), noise.view()).ok()?;
    for j in 0..r {
        for k in j + 1..r {
            covariance[(j, k)] = covariance[(k, j)];
        }
    }
    covariance.iter().all(|x| x.is_finite()).then_some(covariance)
}

/// The combinations `M R` of rows, where `M` is a lower triangular floating-point matrix taken as exact, and
/// a bound on how far each is from the exact one; `errors` are those of the rows.
///
/// A computed combination differs from the exact one by at most `γ_{r+2} Σ_j |M_kj| ‖R_j‖ + Σ_j |M_kj| e_j`.
fn combined(
    combine: ArrayView2<'_, f64>,
    rows: ArrayView2<'_, f64>,
    errors: &[f64],
) -> Option<(Vec<Vec<f64>>, Vec<f64>)> {
    let product = lower_product(combine, rows).ok()?;
    let norms: Vec<f64> = rows.rows().into_iter().map(|row| row.dot(&row).sqrt()).collect();
    let r = rows.nrows();
    let roundings = (r + 3) as f64 * f64::EPSILON / 2.0 * 1.01;
    let errors: Vec<f64> = combine
        .rows()
        .into_iter()
        .map(|row| {
            let terms = row.iter().zip(norms.iter().zip(errors));
            up(terms.map(|(m, (norm, error))| m.abs() * (1.01 * roundings * norm + error)).sum::<f64>(), r)
                + 1e-290
        })
        .collect();
    // Nothing is certified if a number overflowed.
    if errors.iter().any(|e| !e.is_finite()) || product.iter().any(|x| !x.is_finite()) {
        return None;
    }
    Some((product.rows().into_iter().map(|row| row.to_vec()).collect(), errors))
}

/// Rows of a view in matrix form.
const MAX_DENSE: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    /// If rows have errors, every combination of them has errors, including the last one.
    #[test]
    fn combinations_are_off_by_what_rows_are() {
        let combine = ndarray::array![[1.0, 0.0], [-0.5, 2.0]];
        let rows = ndarray::array![[1.0, 0.0], [0.0, 1.0]];
        let (vectors, errors) = combined(combine.view(), rows.view(), &[1e-3, 1e-2]).expect("finite");
        assert_eq!(vectors, [[1.0, 0.0], [-0.5, 2.0]]);
        for (error, expected) in errors.into_iter().zip([1e-3, 0.0205]) {
            assert!((expected..expected + 1e-12).contains(&error), "{error}");
        }
    }
}
