//! The largest `sᵀ G s` over signs.

use crate::enclose::Ends;
use crate::gram::{Part, UP, around};
use ndarray::Array2;

/// The largest number of uses for which all signs are tried.
pub(super) const MOST: usize = 24;

/// If some signs make all entries nonnegative, the largest value is the sum of their absolute values, for
/// signs and vectors alike. Entries whose sign is not certain count as 0 in the lower end and in full in the
/// upper end, so that the enclosure holds for any `G`.
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
    // The last sign is fixed, as s and -s give the same value.
    for step in 1..1u64 << (k - 1) {
        let i = step.trailing_zeros() as usize;
        let change = -2.0 * signs[i];
        total += 2.0 * change * products[i] + change * change * center[(i, i)];
        signs[i] = -signs[i];
        for (product, x) in products.iter_mut().zip(center.column(i)) {
            *product += change * x;
        }
        if step % REFRESH == 0 {
            // Recomputed now and then, so that roundings do not accumulate.
            for (product, row) in products.iter_mut().zip(center.rows()) {
                *product = row.iter().zip(&signs).map(|(x, s)| x * s).sum();
            }
            total = products.iter().zip(&signs).map(|(p, s)| p * s).sum();
        }
        best = f64::max(best, total);
    }
    // Between refreshes the products have one rounding for every step, and each step adds theirs to the
    // total.
    let rounding = 32.0 * ((REFRESH * REFRESH) as f64 + (k * k) as f64) * f64::EPSILON * size;
    let slack = (part.slack() + rounding) * UP;
    let ends = around(best, size, slack, k);
    // Attained, to the same accuracy.
    Ends { low: ends.low, high: ends.high }
}

/// The largest value over all signs by branch and bound; `None` if it does not finish.
///
/// If the first signs `s_F` are fixed, the others add at most `2 Σ |(G s_F)_i|` plus the largest value of
/// their own part. A diagonal `D` with `D - G` positive semidefinite bounds the latter by its trace.
/// `attained` is a value that some signs attain.
pub(super) fn branch(part: &Part, attained: f64) -> Option<Ends> {
    let center = part.center.as_ref()?;
    let k = center.nrows();
    // Large rows come first, as their signs decide most.
    let weight = |i: usize| center.row(i).iter().map(|x| x.abs()).sum::<f64>();
    let mut order: Vec<usize> = (0..k).collect();
    order.sort_by(|&a, &b| weight(b).total_cmp(&weight(a)).then(a.cmp(&b)));
    let sorted = Array2::from_shape_fn((k, k), |(i, j)| center[(order[i], order[j])]);
    // An upper bound on what the signs from `i` on add among themselves; every few places there is a new
    // diagonal.
    let mut alone = vec![0.0; k + 1];
    for first in (0..k).step_by(STRIDE) {
        let rest = sorted.slice(ndarray::s![first.., first..]).to_owned();
        let size = rest.nrows();
        let structural = vec![f64::INFINITY; size];
        let rest = Part { center: Some(rest), radius: Array2::zeros((size, size)), structural };
        let diagonal = crate::semidefinite::majorant(&rest);
        for place in first..(first + STRIDE).min(k) {
            alone[place] = diagonal[place - first..].iter().fold(0.0, |sum: f64, d| (sum + d).next_up());
        }
    }
    let size: f64 = center.iter().map(|x| x.abs()).sum();
    let rounding = 64.0 * (k * k) as f64 * f64::EPSILON * size;
    // Depth first. At every depth there are the signs, the products of all rows with the fixed signs, and the
    // value so far.
    let mut products = vec![vec![0.0; k]; k + 1];
    let mut values = vec![0.0; k + 1];
    let mut tried = vec![0u8; k];
    let (mut best, mut depth, mut nodes) = (attained - rounding, 0, 0u32);
    loop {
        // The first sign is fixed, as s and -s give the same value.
        let signs = if depth == 0 { 1 } else { 2 };
        if depth == k || tried[depth] == signs {
            if depth < k {
                tried[depth] = 0;
            }
            if depth == 0 {
                break;
            }
            depth -= 1;
            continue;
        }
        nodes += 1;
        if nodes > MAX_NODES {
            return None;
        }
        // The better sign is tried first.
        let likely = if products[depth][depth] < 0.0 { -1.0 } else { 1.0 };
        let sign = if tried[depth] == 0 { likely } else { -likely };
        tried[depth] += 1;
        let value = values[depth] + 2.0 * sign * products[depth][depth] + sorted[(depth, depth)];
        let (before, after) = products.split_at_mut(depth + 1);
        let mut cross = 0.0;
        for i in depth + 1..k {
            after[0][i] = before[depth][i] + sign * sorted[(depth, i)];
            cross += f64::abs(after[0][i]);
        }
        values[depth + 1] = value;
        if depth + 1 == k {
            best = f64::max(best, value);
        } else if value + 2.0 * cross + alone[depth + 1] > best + rounding {
            depth += 1;
        }
    }
    let ends = around(best, size, (part.slack() + 4.0 * rounding) * UP, k);
    Some(Ends { low: f64::max(ends.low, attained), high: ends.high })
}

/// A value that some signs attain: single signs are flipped until no flip helps.
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

/// The largest number of uses for which branch and bound is tried.
pub(super) const MAX_BRANCHED: usize = 64;
/// The largest number of nodes of its tree.
const MAX_NODES: u32 = 4_000_000;
/// The number of places that share a diagonal.
const STRIDE: usize = 4;
/// The number of steps of the Gray code after which sums are recomputed.
const REFRESH: u64 = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn random(k: usize, rank: usize, rng: &mut ChaCha8Rng) -> Part {
        let a = Array2::from_shape_fn((k, rank), |_| f64::from(rng.random_range(-4..5i32)));
        let structural = vec![f64::INFINITY; k];
        Part { center: Some(a.dot(&a.t())), radius: Array2::zeros((k, k)), structural }
    }

    /// Groups whose members agree strongly with each other, and slightly with all others: equal signs are the
    /// best. Single flips find them only from this start, as they cannot turn a group.
    #[test]
    fn flips_begin_with_equal_signs() {
        let entry = |(i, j): (usize, usize)| if i == j || i % 8 == j % 8 { 1.0 } else { 2f64.powi(-9) };
        let center = Array2::from_shape_fn((40, 40), entry);
        let sum = center.sum();
        let part = Part { center: Some(center), radius: Array2::zeros((40, 40)), structural: vec![5.5; 40] };
        let found = climb(&part);
        assert!(sum - 1e-9 < found && found <= sum, "{found} is not {sum}");
    }

    /// Branch and bound agrees with all signs, and gives up if there are too many.
    #[test]
    fn branches_agree_with_all_signs() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        for k in [1, 2, 5, 9, 14, 18] {
            for rank in [1, 3, k] {
                let part = random(k, rank, &mut rng);
                let all = enumerate(&part);
                let found = branch(&part, climb(&part)).expect("a small tree");
                // Also if no value is known to be attained.
                let blind = branch(&part, 0.0).expect("a small tree");
                assert!((blind.low - found.low).abs() <= 1e-6 * found.high, "{blind:?} {found:?}");
                // For integers both are the largest value.
                let middle = |ends: Ends| (0.5 * (ends.low + ends.high)).round();
                assert_eq!(middle(all), middle(found), "{k} {rank}: {all:?} {found:?}");
                assert!(found.high - found.low <= 1e-6 * found.high, "{found:?}");
            }
        }
        // Triangles that cannot agree: six of their eight signs are best, and no bound distinguishes them.
        let entry = |(i, j): (usize, usize)| match (i == j, i / 3 == j / 3) {
            (true, _) => 1.0,
            (false, true) => -0.5,
            _ => 0.0,
        };
        let center = Some(Array2::from_shape_fn((60, 60), entry));
        let triangles = Part { center, radius: Array2::zeros((60, 60)), structural: vec![f64::INFINITY; 60] };
        assert_eq!(branch(&triangles, 0.0), None);
        for k in [28, 40] {
            let part = random(k, 4, &mut rng);
            let found = branch(&part, climb(&part)).expect("the tree ends");
            let bounds = crate::semidefinite::bounds(&part, 1);
            assert!(found.low <= bounds.high && bounds.low <= found.high);
            assert!(found.high - found.low < 1e-6 * found.high, "{found:?}");
        }
    }
}
