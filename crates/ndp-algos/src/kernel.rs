//! The inner loops of the accountants, compiled for the vector units of the machine that runs them.
//!
//! Every kernel is a plain loop over small arrays, compiled three times (for any x86-64, with AVX2, with
//! AVX-512) and chosen at run time. Products and sums are written apart, never as a fused
//! multiply-add, and every sum has one order, so all three versions give the same bits. This is the only module
//! of the crate with `unsafe` code: the calls of the versions whose vector unit was just detected.
#![allow(unsafe_code)]

use crate::gossip::residues::{fold, reduce};
use ndp_graph::Csr;

/// `B` numbers that fill whole cache lines: one row of a panel of `B` interleaved columns.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct Lanes<const B: usize>(pub(crate) [f64; B]);

impl<const B: usize> Lanes<B> {
    pub(crate) const ZERO: Self = Self([0.0; B]);
}

/// Residues modulo a prime below `2^31`, one row of a panel of interleaved columns.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct Residues(pub(crate) [u32; LANES]);

/// Columns of a panel of residues.
pub(crate) const LANES: usize = 16;

impl Residues {
    pub(crate) const ZERO: Self = Self([0; LANES]);
}

/// Defines a function that runs its body compiled for the best vector unit present.
macro_rules! multiversion {
    ($(#[$meta:meta])* fn $name:ident<$(const $g:ident: $gt:ty),*>($($arg:ident: $ty:ty),* $(,)?) $body:block) => {
        $(#[$meta])*
        pub(crate) fn $name<$(const $g: $gt),*>($($arg: $ty),*) {
            #[inline(always)]
            fn body<$(const $g: $gt),*>($($arg: $ty),*) $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f")]
                fn avx512<$(const $g: $gt),*>($($arg: $ty),*) {
                    body::<$($g),*>($($arg),*);
                }
                #[target_feature(enable = "avx2")]
                fn avx2<$(const $g: $gt),*>($($arg: $ty),*) {
                    body::<$($g),*>($($arg),*);
                }
                if is_x86_feature_detected!("avx512f") {
                    // SAFETY: the function needs AVX-512F and nothing else, and the line above found it.
                    return unsafe { avx512::<$($g),*>($($arg),*) };
                }
                if is_x86_feature_detected!("avx2") {
                    // SAFETY: the function needs AVX2 and nothing else, and the line above found it.
                    return unsafe { avx2::<$($g),*>($($arg),*) };
                }
            }
            body::<$($g),*>($($arg),*);
        }
    };
}

multiversion! {
    /// The first `K` lanes of rows `first..` of `Y = W X`.
    fn multiply_rows<const K: usize>(w: &Csr, first: usize, x: &[Lanes<16>], y: &mut [Lanes<16>]) {
        for (range, out) in w.starts()[first..].windows(2).zip(y) {
            let range = range[0]..range[1];
            let mut sums = [0.0; K];
            for (&j, &weight) in w.columns()[range.clone()].iter().zip(&w.weights()[range]) {
                for (sum, value) in sums.iter_mut().zip(&x[j as usize].0) {
                    *sum += weight * value;
                }
            }
            out.0[..K].copy_from_slice(&sums);
        }
    }
}

multiversion! {
    /// Rows `first..` of `Y = W X` for `K` numbers to a row.
    fn multiply_models<const K: usize>(w: &Csr, first: usize, x: &[f64], y: &mut [f64]) {
        let (x, _) = x.as_chunks::<K>();
        let (y, _) = y.as_chunks_mut::<K>();
        for (range, out) in w.starts()[first..].windows(2).zip(y) {
            let range = range[0]..range[1];
            let mut sums = [0.0; K];
            for (&j, &weight) in w.columns()[range.clone()].iter().zip(&w.weights()[range]) {
                for (sum, value) in sums.iter_mut().zip(&x[j as usize]) {
                    *sum += weight * value;
                }
            }
            *out = sums;
        }
    }
}

/// Rows `first..` of `Y = W X` for `width` numbers to a row, as many rows as fit in `y`.
pub(crate) fn multiply_rows_of(w: &Csr, first: usize, width: usize, x: &[f64], y: &mut [f64]) {
    match width {
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
pub(crate) const SCORES: usize = 16;

multiversion! {
    /// Adds to `right` the worth of every example: `worth[0]` if its score `intercept + Σ_j model[j] x_j` is
    /// positive, else `worth[1]`. Features come in blocks of `B` examples, one block per feature.
    fn add_worth<const B: usize>(
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
}

multiversion! {
    /// One round of message shares on rows `first..`: adds `x² · scale` to the shares, writes `Y = W X` and
    /// adds the squares of `Y` to `squares`. With `SUM` a row has one share for all its lanes,
    /// else one for each.
    fn share_rows<const B: usize, const SUM: bool>(
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
        let rows = w.starts()[first..].windows(2).zip(&x[first..]);
        for (((range, charged), out), share) in rows.zip(y).zip(shares.chunks_exact_mut(stride)) {
            let range = range[0]..range[1];
            let mut sums = [0.0; B];
            for (&j, &weight) in w.columns()[range.clone()].iter().zip(&w.weights()[range]) {
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
}

multiversion! {
    /// Adds `x² · scale` to the shares of rows of a panel, as [`share_rows`] does.
    fn last_shares<const B: usize, const SUM: bool>(x: &[Lanes<B>], scale: &[f64; B], shares: &mut [f64]) {
        let stride = if SUM { 1 } else { B };
        for (x, share) in x.iter().zip(shares.chunks_exact_mut(stride)) {
            add_shares::<B, SUM>(x, scale, share);
        }
    }
}

#[inline(always)]
fn add_shares<const B: usize, const SUM: bool>(x: &Lanes<B>, scale: &[f64; B], share: &mut [f64]) {
    let mut terms = [0.0; B];
    for ((term, x), scale) in terms.iter_mut().zip(&x.0).zip(scale) {
        *term = x * x * scale;
    }
    if SUM {
        // A fixed tree of sums, which vectorises.
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

multiversion! {
    /// Adds `Qᵀ Y` to `h`, for all lanes of `Q`, `R` at a time, and `K` lanes of `Y` from `AT` on.
    ///
    /// `R · K` sums stay in registers while the rows pass by.
    fn overlap_lanes<const B: usize, const R: usize, const AT: usize, const K: usize>(
        q: &[Lanes<B>],
        y: &[Lanes<16>],
        h: &mut [Lanes<16>],
    ) {
        for from in (0..B).step_by(R) {
            let mut sums = [[0.0; K]; R];
            for (q, y) in q.iter().zip(y) {
                for (j, sums) in sums.iter_mut().enumerate() {
                    for (k, sum) in sums.iter_mut().enumerate() {
                        *sum += q.0[from + j] * y.0[AT + k];
                    }
                }
            }
            for (h, sums) in h[from..from + R].iter_mut().zip(&sums) {
                for (h, sum) in h.0[AT..AT + K].iter_mut().zip(sums) {
                    *h += sum;
                }
            }
        }
    }
}

multiversion! {
    /// Subtracts `Q H` from the first `K` lanes of rows `first..` of `Y`, `R` rows at a time.
    ///
    /// `R` rows stay in registers while the columns pass by.
    fn remove_lanes<const R: usize, const K: usize>(
        panels: &[Vec<Lanes<8>>],
        h: &[Lanes<16>],
        first: usize,
        y: &mut [Lanes<16>],
    ) {
        let whole = y.len() / R * R;
        for row in (0..whole).step_by(R) {
            remove_from_rows::<R, K>(panels, h, first + row, &mut y[row..row + R]);
        }
        for row in whole..y.len() {
            remove_from_rows::<1, K>(panels, h, first + row, &mut y[row..row + 1]);
        }
    }
}

#[inline(always)]
fn remove_from_rows<const R: usize, const K: usize>(
    panels: &[Vec<Lanes<8>>],
    h: &[Lanes<16>],
    first: usize,
    y: &mut [Lanes<16>],
) {
    let mut left = [[0.0; K]; R];
    for (left, y) in left.iter_mut().zip(&*y) {
        left.copy_from_slice(&y.0[..K]);
    }
    for (panel, h) in panels.iter().zip(h.chunks_exact(8)) {
        let q = &panel[first..first + R];
        for (j, h) in h.iter().enumerate() {
            for (left, q) in left.iter_mut().zip(q) {
                for (left, h) in left.iter_mut().zip(&h.0) {
                    *left -= q.0[j] * h;
                }
            }
        }
    }
    for (left, y) in left.iter().zip(y) {
        y.0[..K].copy_from_slice(left);
    }
}

multiversion! {
    /// Replaces `Y` by `Y M`, where only the first `K` lanes and the first `K` rows of `M` count.
    fn combine_rows<const K: usize>(m: &[Lanes<16>; 16], y: &mut [Lanes<16>]) {
        for y in y {
            let mut sums = [0.0; K];
            for (factor, m) in y.0[..K].iter().zip(m) {
                for (sum, m) in sums.iter_mut().zip(&m.0) {
                    *sum += factor * m;
                }
            }
            y.0[..K].copy_from_slice(&sums);
        }
    }
}

multiversion! {
    /// The first `K` lanes of rows `first..` of `Y = W X` modulo `2^31 - C`.
    fn modular_rows<const C: u64, const K: usize>(
        pattern: &Csr,
        weights: &[u32],
        first: usize,
        x: &[Residues],
        y: &mut [Residues],
    ) {
        let starts = &pattern.starts()[first..];
        for (range, out) in starts.windows(2).zip(y) {
            let range = range[0]..range[1];
            let mut sums = [0u64; K];
            let columns = pattern.columns()[range.clone()].chunks_exact(2);
            let weights = weights[range].chunks_exact(2);
            if let ([j], [weight]) = (columns.remainder(), weights.remainder()) {
                for (sum, &value) in sums.iter_mut().zip(&x[*j as usize].0) {
                    *sum = fold::<C>(u64::from(*weight) * u64::from(value));
                }
            }
            // Two products below 2^62 and a folded sum stay below 2^64.
            for (columns, weights) in columns.zip(weights) {
                let values = x[columns[0] as usize].0.iter().zip(&x[columns[1] as usize].0);
                for (sum, (&first, &second)) in sums.iter_mut().zip(values) {
                    let products = u64::from(weights[0]) * u64::from(first) + u64::from(weights[1]) * u64::from(second);
                    *sum = fold::<C>(*sum + products);
                }
            }
            for (out, sum) in out.0[..K].iter_mut().zip(sums) {
                *out = reduce::<C>(sum) as u32;
            }
        }
    }
}

multiversion! {
    /// Adds every row, times the factor of each of its three places, to the sums at that place.
    fn modular_scatter<const C: u64>(
        places: &[[(u32, u32); 3]],
        rows: &[Residues],
        sums: &mut [[u64; LANES]],
    ) {
        for (row, places) in rows.iter().zip(places) {
            for &(place, factor) in places {
                for (sum, &value) in sums[place as usize].iter_mut().zip(&row.0) {
                    *sum = fold::<C>(*sum + u64::from(factor) * u64::from(value));
                }
            }
        }
    }
}

multiversion! {
    /// Adds `factors[0] · rows[0] + factors[1] · rows[1]` to `vector`, modulo `2^31 - C`; entries stay below
    /// `2^39`.
    fn modular_add<const C: u64>(factors: [u64; 2], rows: [&[u32]; 2], vector: &mut [u64]) {
        for ((x, &y), &z) in vector.iter_mut().zip(rows[0]).zip(rows[1]) {
            *x = fold::<C>(*x + factors[0] * u64::from(y) + factors[1] * u64::from(z));
        }
    }
}

/// The first `width` lanes of rows `first..` of `Y = W X` modulo `2^31 - C`.
pub(crate) fn modular_multiply<const C: u64>(
    pattern: &Csr,
    weights: &[u32],
    first: usize,
    x: &[Residues],
    width: usize,
    y: &mut [Residues],
) {
    match width.div_ceil(4) {
        1 => modular_rows::<C, 4>(pattern, weights, first, x, y),
        2 => modular_rows::<C, 8>(pattern, weights, first, x, y),
        3 => modular_rows::<C, 12>(pattern, weights, first, x, y),
        _ => modular_rows::<C, 16>(pattern, weights, first, x, y),
    }
}

/// Adds `Qᵀ Y` to `h` (one row per lane of `Q`), for the first `width` lanes of `Y`.
pub(crate) fn overlap<const B: usize>(q: &[Lanes<B>], y: &[Lanes<16>], width: usize, h: &mut [Lanes<16>]) {
    match width.div_ceil(4) {
        1 => overlap_lanes::<B, 8, 0, 4>(q, y, h),
        2 => overlap_lanes::<B, 4, 0, 8>(q, y, h),
        3 => overlap_lanes::<B, 2, 0, 12>(q, y, h),
        _ => {
            overlap_lanes::<B, 4, 0, 8>(q, y, h);
            overlap_lanes::<B, 4, 8, 8>(q, y, h);
        }
    }
}

/// Subtracts `Q H` from the first `width` lanes of rows `first..` of `Y`.
pub(crate) fn remove(
    panels: &[Vec<Lanes<8>>],
    h: &[Lanes<16>],
    width: usize,
    first: usize,
    y: &mut [Lanes<16>],
) {
    match width.div_ceil(4) {
        1 => remove_lanes::<8, 4>(panels, h, first, y),
        2 => remove_lanes::<4, 8>(panels, h, first, y),
        3 => remove_lanes::<2, 12>(panels, h, first, y),
        _ => remove_lanes::<2, 16>(panels, h, first, y),
    }
}

/// Replaces the first `width` lanes of `Y` by those of `Y M`.
pub(crate) fn combine(m: &[Lanes<16>; 16], width: usize, y: &mut [Lanes<16>]) {
    match width.div_ceil(4) {
        1 => combine_rows::<4>(m, y),
        2 => combine_rows::<8>(m, y),
        3 => combine_rows::<12>(m, y),
        _ => combine_rows::<16>(m, y),
    }
}

/// The first `width` lanes of rows `first..` of `Y = W X`.
pub(crate) fn multiply(w: &Csr, first: usize, x: &[Lanes<16>], width: usize, y: &mut [Lanes<16>]) {
    match width.div_ceil(4) {
        1 => multiply_rows::<4>(w, first, x, y),
        2 => multiply_rows::<8>(w, first, x, y),
        3 => multiply_rows::<12>(w, first, x, y),
        _ => multiply_rows::<16>(w, first, x, y),
    }
}
