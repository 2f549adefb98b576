//! The largest `sᵀ G s` over signs.

use super::enclose::Ends;
use super::gram::{Part, UP, around};
use ndarray::Array2;

/// Uses up to which all signs are tried.
pub(super) const MOST: usize = 24;

/// Where some signs make all entries nonnegative the largest value is the sum of their sizes, for signs and vectors alike.
/// Entries whose sign is not certain count as 0 from below and in full from above, so that the ends hold for any `G`.
pub(super) fn balanced(part: &Part) -> Option<Ends> {
    let center = part.center.as_ref()?;
    let k = center.nrows();
    let certain = |i: usize, j: usize| center[(i, j)].abs() > part.radius[(i, j)];
    let mut signs = vec![0i8; k];
    for start in 0..k {
        if signs[start] != 0 {
            continue;
        }
        signs[start] = 1;
        let mut open = vec![start];
        while let Some(i) = open.pop() {
            for j in (0..k).filter(|&j| j != i && certain(i, j)) {
                let wanted = if center[(i, j)] > 0.0 { signs[i] } else { -signs[i] };
                if signs[j] == 0 {
                    signs[j] = wanted;
                    open.push(j);
                } else if signs[j] != wanted {
                    return None;
                }
            }
        }
    }
    let size: f64 = center.iter().map(|x| x.abs()).sum();
    let high = around(size, size, part.slack(), k).high;
    let low = value(part, center, &signs).low;
    Some(Ends { low, high })
}

/// The largest value over all signs, in the order of a Gray code: each sign costs `O(k)`.
pub(super) fn enumerate(part: &Part) -> Ends {
    let Some(center) = part.center.as_ref() else { return Ends { low: 0.0, high: f64::INFINITY } };
    let k = center.nrows();
    let size: f64 = center.iter().map(|x| x.abs()).sum();
    let mut signs = vec![1.0; k];
    let mut products: Vec<f64> = center.rows().into_iter().map(|row| row.sum()).collect();
    let mut total: f64 = products.iter().sum();
    let mut best = total;
    // The last sign stays: s and -s give the same.
    for step in 1..1u64 << (k - 1) {
        let i = step.trailing_zeros() as usize;
        let change = -2.0 * signs[i];
        total += 2.0 * change * products[i] + change * change * center[(i, i)];
        signs[i] = -signs[i];
        for (product, x) in products.iter_mut().zip(center.column(i)) {
            *product += change * x;
        }
        if step % REFRESH == 0 {
            // Roundings do not pile up.
            for (product, row) in products.iter_mut().zip(center.rows()) {
                *product = row.iter().zip(&signs).map(|(x, s)| x * s).sum();
            }
            total = products.iter().zip(&signs).map(|(p, s)| p * s).sum();
        }
        best = f64::max(best, total);
    }
    // Between refreshes the products are off by a rounding for every step, and each step adds theirs to the total.
    let rounding = 32.0 * ((REFRESH * REFRESH) as f64 + (k * k) as f64) * f64::EPSILON * size;
    let slack = (part.slack() + rounding) * UP;
    let ends = around(best, size, slack, k);
    // Attained to the same accuracy.
    Ends { low: ends.low, high: ends.high }
}

/// A value that some signs attain at least: flips until none helps.
pub(super) fn climb(part: &Part) -> f64 {
    let Some(center) = part.center.as_ref() else { return 0.0 };
    let k = center.nrows();
    let mut best = 0.0;
    for start in 0..8u64 {
        let mut signs: Vec<i8> = (0..k as u64)
            .map(|i| if (i * (2 * start + 1) / 3 + start) % 2 == 0 || start == 0 { 1 } else { -1 })
            .collect();
        for _ in 0..4 * k + 16 {
            let gain = |i: usize, signs: &[i8]| -> f64 {
                let product: f64 =
                    (0..k).filter(|&j| j != i).map(|j| center[(i, j)] * f64::from(signs[j])).sum();
                -product * f64::from(signs[i])
            };
            let found = (0..k).map(|i| (gain(i, &signs), i)).max_by(|a, b| a.0.total_cmp(&b.0));
            match found {
                Some((gain, i)) if gain > 0.0 => signs[i] = -signs[i],
                _ => break,
            }
        }
        best = f64::max(best, value(part, center, &signs).low);
    }
    best
}

fn value(part: &Part, center: &Array2<f64>, signs: &[i8]) -> Ends {
    let (mut sum, mut size) = (0.0, 0.0);
    for ((i, j), x) in center.indexed_iter() {
        sum += x * f64::from(signs[i] * signs[j]);
        size += x.abs();
    }
    around(sum, size, part.slack(), center.nrows())
}

/// Steps of the Gray code after which sums are made anew.
const REFRESH: u64 = 64;
