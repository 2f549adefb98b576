//! The inner loops of accountants and trainers, compiled for the vector units of the machine that runs them.
//! Only for the crates of this workspace: nothing here is stable.
//!
//! Every kernel is a plain loop over small arrays, compiled three times (for any x86-64, with AVX2, with
//! AVX-512) and chosen at run time. Products and sums are written apart, never as a fused multiply-add, and
//! every sum has one order, so all three versions give the same bits.

use crate::Csr;
use multiversion::multiversion;

/// `B` numbers that fill whole cache lines: one row of a panel of `B` interleaved columns.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct Lanes<const B: usize>(pub [f64; B]);

impl<const B: usize> Lanes<B> {
    /// Zeros.
    pub const ZERO: Self = Self([0.0; B]);
}

/// The first `K` lanes of combinations of rows: `out_i = Σ_k weights_k rows[columns_k]` over `k` from
/// `starts[i]` to `starts[i + 1] − 1`.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
pub fn combine<const K: usize, const B: usize>(
    starts: &[usize],
    columns: &[u32],
    weights: &[f64],
    rows: &[Lanes<B>],
    out: &mut [Lanes<B>],
) {
    for (range, out) in starts.windows(2).zip(out) {
        let range = range[0]..range[1];
        let mut sums = [0.0; K];
        for (&j, &weight) in columns[range.clone()].iter().zip(&weights[range]) {
            for (sum, value) in sums.iter_mut().zip(&rows[j as usize].0) {
                *sum += weight * value;
            }
        }
        out.0[..K].copy_from_slice(&sums);
    }
}

/// Rows `first..` of `Y = W X` for `K` numbers to a row.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn multiply_models<const K: usize>(w: &Csr, first: usize, x: &[f64], y: &mut [f64]) {
    let (x, _) = x.as_chunks::<K>();
    let (y, _) = y.as_chunks_mut::<K>();
    let (starts, columns, weights) = w.parts();
    for (range, out) in starts[first..].windows(2).zip(y) {
        let range = range[0]..range[1];
        let mut sums = [0.0; K];
        for (&j, &weight) in columns[range.clone()].iter().zip(&weights[range]) {
            for (sum, value) in sums.iter_mut().zip(&x[j as usize]) {
                *sum += weight * value;
            }
        }
        *out = sums;
    }
}

/// Rows `first..` of `Y = W X` for `width` numbers to a row, as many rows as fit in `y`.
pub fn multiply_rows_of(w: &Csr, first: usize, width: usize, x: &[f64], y: &mut [f64]) {
    match width {
        1 => multiply_models::<1>(w, first, x, y),
        4 => multiply_models::<4>(w, first, x, y),
        8 => multiply_models::<8>(w, first, x, y),
        9 => multiply_models::<9>(w, first, x, y),
        16 => multiply_models::<16>(w, first, x, y),
        _ => {
            for (v, out) in (first..).zip(y.chunks_exact_mut(width)) {
                out.fill(0.0);
                let (columns, weights) = w.row(v);
                for (&j, &weight) in columns.iter().zip(weights) {
                    for (sum, value) in out.iter_mut().zip(&x[j as usize * width..]) {
                        *sum += weight * value;
                    }
                }
            }
        }
    }
}

/// Examples whose scores are computed side by side.
pub const SCORES: usize = 16;

/// Adds to `right` a value for every example: `worth[0]` if its score `intercept + Σ_j model[j] x_j` is
/// positive, else `worth[1]`. Features come in blocks of `B` examples, one block per feature.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
pub fn add_worth<const B: usize>(
    blocks: &[[f64; B]],
    worth: &[[[f64; B]; 2]],
    model: &[f64],
    intercept: f64,
    right: &mut f64,
) {
    let mut sums = [0.0; B];
    for (features, worth) in blocks.chunks_exact(model.len()).zip(worth) {
        let mut scores = [intercept; B];
        for (column, weight) in features.iter().zip(model) {
            for (score, x) in scores.iter_mut().zip(column) {
                *score += weight * x;
            }
        }
        for k in 0..B {
            sums[k] += if scores[k] > 0.0 { worth[0][k] } else { worth[1][k] };
        }
    }
    *right += sums.iter().sum::<f64>();
}

/// One round of message shares on rows `first..`: adds `x² · scale` to the shares, writes `Y = W X` and
/// adds the squares of `Y` to `squares`. With `SUM`, a row has one share for all its lanes; without it,
/// one for each lane.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
pub fn share_rows<const B: usize, const SUM: bool>(
    w: &Csr,
    first: usize,
    x: &[Lanes<B>],
    scale: &[f64; B],
    y: &mut [Lanes<B>],
    shares: &mut [f64],
    squares: &mut [f64; B],
) {
    let stride = if SUM { 1 } else { B };
    let mut norms = [0.0; B];
    let (starts, columns, weights) = w.parts();
    let rows = starts[first..].windows(2).zip(&x[first..]);
    for (((range, charged), out), share) in rows.zip(y).zip(shares.chunks_exact_mut(stride)) {
        let range = range[0]..range[1];
        let mut sums = [0.0; B];
        for (&j, &weight) in columns[range.clone()].iter().zip(&weights[range]) {
            for (sum, value) in sums.iter_mut().zip(&x[j as usize].0) {
                *sum += weight * value;
            }
        }
        for (norm, sum) in norms.iter_mut().zip(&sums) {
            *norm += sum * sum;
        }
        out.0 = sums;
        add_shares::<B, SUM>(charged, scale, share);
    }
    for (square, norm) in squares.iter_mut().zip(&norms) {
        *square += norm;
    }
}

/// Adds `x² · scale` to the shares of rows of a panel, as [`share_rows`] does.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
pub fn last_shares<const B: usize, const SUM: bool>(x: &[Lanes<B>], scale: &[f64; B], shares: &mut [f64]) {
    let stride = if SUM { 1 } else { B };
    for (x, share) in x.iter().zip(shares.chunks_exact_mut(stride)) {
        add_shares::<B, SUM>(x, scale, share);
    }
}

#[inline(always)]
fn add_shares<const B: usize, const SUM: bool>(x: &Lanes<B>, scale: &[f64; B], share: &mut [f64]) {
    let mut terms = [0.0; B];
    for ((term, x), scale) in terms.iter_mut().zip(&x.0).zip(scale) {
        *term = x * x * scale;
    }
    if SUM {
        // A fixed tree of sums, so that the compiler can vectorise it.
        let mut width = B / 2;
        while width > 0 {
            for k in 0..width {
                terms[k] += terms[k + width];
            }
            width /= 2;
        }
        share[0] += terms[0];
    } else {
        for (share, term) in share.iter_mut().zip(&terms) {
            *share += term;
        }
    }
}

/// The first `width` lanes of rows `first..` of `Y = W X`.
pub fn multiply(w: &Csr, first: usize, x: &[Lanes<16>], width: usize, y: &mut [Lanes<16>]) {
    let (starts, columns, weights) = w.parts();
    match width.div_ceil(4) {
        1 => combine::<4, 16>(&starts[first..], columns, weights, x, y),
        2 => combine::<8, 16>(&starts[first..], columns, weights, x, y),
        3 => combine::<12, 16>(&starts[first..], columns, weights, x, y),
        _ => combine::<16, 16>(&starts[first..], columns, weights, x, y),
    }
}

/// `Σ x y`, in eight sums side by side and then in order.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    let (x, x_rest) = x.as_chunks::<8>();
    let (y, y_rest) = y.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (x, y) in x.iter().zip(y) {
        for ((sum, x), y) in sums.iter_mut().zip(x).zip(y) {
            *sum += x * y;
        }
    }
    let rest: f64 = x_rest.iter().zip(y_rest).map(|(x, y)| x * y).sum();
    rest + sums.iter().sum::<f64>()
}

/// `Σ w x y`, in eight sums side by side and then in order.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
pub fn weighted_dot(x: &[f64], y: &[f64], weights: &[f64]) -> f64 {
    let (x, x_rest) = x.as_chunks::<8>();
    let (y, y_rest) = y.as_chunks::<8>();
    let (weights, w_rest) = weights.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for ((x, y), w) in x.iter().zip(y).zip(weights) {
        for (((sum, x), y), w) in sums.iter_mut().zip(x).zip(y).zip(w) {
            *sum += x * y * w;
        }
    }
    let rest: f64 = x_rest.iter().zip(y_rest).zip(w_rest).map(|((x, y), w)| x * y * w).sum();
    rest + sums.iter().sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    /// Against the definition, on a matrix with rows of several lengths: one share per row, and one per lane.
    fn check_shares<const B: usize, const SUM: bool>() {
        let n = 7;
        let rows = (0..n)
            .map(|i| (0..=i).map(move |j| (ndp_numeric::casts::id(j), f64::from(1 + i as u32 * 3) / 8.0)));
        let w = Csr::from_rows(n, rows);
        let x: Vec<Lanes<B>> =
            (0..n).map(|i| Lanes(std::array::from_fn(|k| ((3 * i + k) as f64).sin()))).collect();
        let scale: [f64; B] = std::array::from_fn(|k| 0.5 + k as f64);
        let stride = if SUM { 1 } else { B };
        for first in [0, 3] {
            let mut y = vec![Lanes::ZERO; n - first];
            let mut shares = vec![10.0; (n - first) * stride];
            let mut squares = [1.0; B];
            share_rows::<B, SUM>(&w, first, &x, &scale, &mut y, &mut shares, &mut squares);
            for (k, square) in squares.into_iter().enumerate() {
                let image: Vec<f64> =
                    (first..n).map(|i| (0..n).map(|j| w.get(i, j) * x[j].0[k]).sum()).collect();
                for (row, exact) in y.iter().zip(&image) {
                    assert_relative_eq!(row.0[k], *exact, max_relative = 1e-14, epsilon = 1e-15);
                }
                let exact = 1.0 + image.iter().map(|y| y * y).sum::<f64>();
                assert_relative_eq!(square, exact, max_relative = 1e-14);
            }
            let charge = |i: usize, k: usize| x[i].0[k] * x[i].0[k] * scale[k];
            for times in [1.0, 2.0] {
                for i in first..n {
                    let shares = &shares[(i - first) * stride..][..stride];
                    for (k, share) in shares.iter().enumerate() {
                        let exact: f64 = if SUM { (0..B).map(|k| charge(i, k)).sum() } else { charge(i, k) };
                        assert_relative_eq!(*share, 10.0 + times * exact, max_relative = 1e-14);
                    }
                }
                if times == 1.0 {
                    last_shares::<B, SUM>(&x[first..], &scale, &mut shares);
                }
            }
        }
    }

    #[test]
    fn shares_follow_the_definition() {
        check_shares::<1, true>();
        check_shares::<4, true>();
        check_shares::<16, true>();
        check_shares::<1, false>();
        check_shares::<4, false>();
        check_shares::<16, false>();
    }
}
