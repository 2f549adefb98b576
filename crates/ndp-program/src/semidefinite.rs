//! An enclosure of the largest `tr(H G)` over positive semidefinite `H` of rank at most `d` with diagonal at
//! most 1.
//!
//! Lower end: unit vectors `v_i` in `d` dimensions, which are improved one by one, `v_i ← g_i / |g_i|` with
//! `g_i = Σ_(j≠i) G_ij v_j`. Upper end: any diagonal `D` with `D - G` positive semidefinite gives `Q ≤ Σ D_ii
//! |δ_i|² ≤ tr D`, and the best one is `D_ii = |Σ_j G_ij v_j|` at the optimum. That `D - G` is positive
//! semidefinite is proven by a floating-point Cholesky factorisation that succeeds for a matrix reduced by
//! more than the roundings. If it fails, `D` is increased.
//!
//! # References
//! - Barvinok, *Problems of distance geometry and convex properties of quadratic maps*, 1995; Pataki, 1998:
//!   an optimum of rank `r` with `r (r + 1) / 2 ≤ k` exists, so that the program is the truth for `d ≥ r_k`.
//! - Rump, *Verification of positive definiteness*, BIT 46, 2006: the factorisation as a proof.

use crate::enclose::Ends;
use crate::gram::{Part, UP, around};
use ndarray::{Array1, Array2};
use ndp_linalg::cholesky;

/// The enclosure for vectors in `dimension` dimensions.
pub(super) fn bounds(part: &Part, dimension: usize) -> Ends {
    let Some(center) = part.center.as_ref() else {
        return Ends { low: 0.0, high: f64::INFINITY };
    };
    let k = center.nrows();
    // With dimension at least r_k the optimum over all H is attained, so that a larger dimension may be
    // searched.
    let enough = dimension >= largest_rank(k);
    let free = ascend(center, free_dimension(k));
    let diagonal = certified(part, center, &free);
    let high = diagonal.iter().fold(0.0, |sum: f64, d| (sum + d).next_up());
    let low = if enough {
        attained(part, center, &free)
    } else {
        attained(part, center, &ascend(center, dimension))
    };
    Ends { low, high }
}

/// A diagonal `D` for which `D - G` is positive semidefinite.
pub(super) fn majorant(part: &Part) -> Vec<f64> {
    match part.center.as_ref() {
        Some(center) => certified(part, center, &ascend(center, free_dimension(center.nrows()))),
        None => part.structural.clone(),
    }
}

/// The largest `r` with `r (r + 1) / 2 ≤ k`.
pub(super) fn largest_rank(k: usize) -> usize {
    (0..).take_while(|r| r * (r + 1) / 2 <= k).last().unwrap_or(0)
}

/// A number of dimensions that leaves some freedom beyond the optimum.
fn free_dimension(k: usize) -> usize {
    (largest_rank(k) + 2).min(k.max(1))
}

/// Unit vectors that are improved until they no longer move.
fn ascend(center: &Array2<f64>, dimension: usize) -> Array2<f64> {
    let k = center.nrows();
    let mut best: Option<(f64, Array2<f64>)> = None;
    for start in 0..STARTS {
        let mut v = Array2::from_shape_fn((k, dimension), |(i, a)| {
            // Fixed numbers without a pattern.
            let x =
                ((i * 7919 + a * 104_729 + start * 1_299_709 + 17) as f64 * 0.618_033_988_749_895).fract();
            x - 0.5
        });
        v.rows_mut().into_iter().for_each(normalize);
        let mut products = center.dot(&v);
        let mut last = f64::NEG_INFINITY;
        for sweep in 0..SWEEPS {
            for i in 0..k {
                let own = center[(i, i)];
                let mut next: Array1<f64> = &products.row(i) - &(&v.row(i) * own);
                let length = next.dot(&next).sqrt();
                if length > 0.0 {
                    next /= length;
                    let change = &next - &v.row(i);
                    for (j, mut row) in products.rows_mut().into_iter().enumerate() {
                        row.scaled_add(center[(j, i)], &change);
                    }
                    v.row_mut(i).assign(&next);
                }
            }
            if sweep % 8 == 7 {
                products = center.dot(&v);
                let value = (&products * &v).sum();
                if (value - last).abs() <= 1e-15 * value.abs() {
                    break;
                }
                last = value;
            }
        }
        let value = (&center.dot(&v) * &v).sum();
        if best.as_ref().is_none_or(|(known, _)| value > *known) {
            best = Some((value, v));
        }
    }
    best.map_or_else(|| Array2::zeros((k, dimension)), |(_, v)| v)
}

fn normalize(mut row: ndarray::ArrayViewMut1<'_, f64>) {
    let length = row.dot(&row).sqrt();
    if length > 0.0 {
        row /= length;
    } else {
        row[0] = 1.0;
    }
}

/// A lower bound on what these vectors attain, when each is made no longer than 1.
fn attained(part: &Part, center: &Array2<f64>, v: &Array2<f64>) -> f64 {
    let k = center.nrows();
    let products = center.dot(v);
    let sum = (&products * v).sum();
    let size: f64 = center.iter().map(|x| x.abs()).sum();
    // Inner products of unit vectors are rounded in every dimension, and the vectors may be longer than 1 by
    // a few roundings.
    let rounding = (4 * v.ncols() + 32) as f64 * f64::EPSILON * size;
    around(sum, size, (part.slack() + rounding) * UP, k).low
}

/// The diagonal that belongs to the vectors, increased until `D - G` is proven positive semidefinite.
fn certified(part: &Part, center: &Array2<f64>, v: &Array2<f64>) -> Vec<f64> {
    let k = center.nrows();
    let products = center.dot(v);
    let diagonal: Vec<f64> = products.rows().into_iter().map(|row| row.dot(&row).sqrt()).collect();
    let largest = center.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    // In the spectral norm, the truth differs from the stored entries by at most the largest sum of radii in
    // a row.
    let apart = part.radius.rows().into_iter().map(|row| row.sum()).fold(0.0, f64::max) * UP;
    let absolute: f64 =
        center.rows().into_iter().map(|row| row.iter().map(|x| x.abs()).sum::<f64>()).fold(0.0, f64::max);
    if largest == 0.0 {
        return vec![apart; k];
    }
    let mut lift = 0.0;
    while lift <= 2.0 * absolute {
        let shifted: Vec<f64> = diagonal.iter().map(|d| d + lift).collect();
        // Rump: if the factorisation of A - c I succeeds, with c above its backward error, then A is psd.
        let trace: f64 = shifted.iter().zip(center.diag()).map(|(d, g)| d.abs() + g.abs()).sum();
        let unit = (k + 4) as f64 * f64::EPSILON;
        let shift = 2.0 * unit * trace + largest * (k as f64) * f64::EPSILON + 1e-290;
        let matrix =
            Array2::from_shape_fn(
                (k, k),
                |(i, j)| {
                    if i == j { shifted[i] - center[(i, i)] } else { -center[(i, j)] }
                },
            );
        // The proof is for the diagonal shifted + shift, whose matrix minus the shift is `matrix`.
        if matrix.iter().all(|x| x.is_finite()) && cholesky(matrix.view()).is_ok() {
            return shifted.iter().map(|d| ((d + shift) * UP_ONCE + apart).next_up()).collect();
        }
        lift = if lift == 0.0 { 1e-14 * largest } else { 3.0 * lift };
    }
    // A diagonally dominant matrix.
    center.rows().into_iter().map(|row| row.iter().map(|x| x.abs()).sum::<f64>() * UP + apart).collect()
}

/// Covers two roundings.
const UP_ONCE: f64 = 1.0 + 4.0 * f64::EPSILON;
/// The number of starting points of the ascent.
const STARTS: usize = 3;
/// The number of sweeps over all vectors.
const SWEEPS: usize = 4000;

#[cfg(test)]
mod tests {
    use super::*;

    /// A vector in nine dimensions may be longer than 1 by a few roundings, and so may what it attains: four
    /// for every dimension and 32 more are subtracted.
    #[test]
    fn what_vectors_attain_is_rounded_down() {
        let center = Array2::from_elem((1, 1), 1.0);
        let part = Part { center: None, radius: Array2::zeros((1, 1)), structural: vec![1.0] };
        let mut v = Array2::zeros((1, 9));
        v[(0, 3)] = 1.0;
        let off = (1.0 - attained(&part, &center, &v)) / f64::EPSILON;
        assert!((68.0..90.0).contains(&off), "{off}");
    }

    #[test]
    fn ranks_grow_with_the_root() {
        let ranks: Vec<usize> = [1, 2, 3, 5, 6, 10, 500_000].into_iter().map(largest_rank).collect();
        assert_eq!(ranks, [1, 1, 2, 2, 3, 4, 999]);
    }
}
