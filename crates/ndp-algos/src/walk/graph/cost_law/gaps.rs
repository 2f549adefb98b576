//! The law of the cost of contributions under a cap, from their gaps alone: for walks of very many steps, and
//! for contributions that may depend on anything.
//!
//! Each of at most `N` contributions costs at most `1/t`, where `t` is the number of steps up to the next
//! visit of `u` or an observer. If a holder knows beforehand that it will contribute, gaps are independent
//! and all have the same law. The cost is then at most the sum of `N` draws from it.

use super::passages::Side;
use super::rounded_tables::Level;
use super::spread_tables::Spread;
use super::system::{Charge, Grid, Rounding};

/// The law of one gap: the probability of each length, and of a longer gap.
#[derive(Clone, Debug)]
pub(super) struct Gaps {
    /// `law[t]`, the probability of a gap of `t` steps.
    pub(super) law: Vec<f64>,
    /// The probability of a gap longer than these lengths, which is charged as if it ended at the next one.
    pub(super) longer: f64,
    /// The relative error of all these probabilities.
    pub(super) error: f64,
    /// The number of draws, `N`.
    pub(super) cap: usize,
    /// Whether the last token is published, so that one contribution is seen at once.
    pub(super) published: bool,
}

impl Gaps {
    /// The case in which every next holder is drawn uniformly of `n` nodes, `ends` of which end a gap: the
    /// lengths of gaps are geometric with `p = ends/n`. Gaps of more than about `40/p` steps, or of more than
    /// a million, are charged as if they ended then.
    ///
    /// The cost of a walk whose holders are all drawn uniformly, including the first, is in distribution at
    /// most that of `cap` independent gaps, also if the last token is published: given the number of visits
    /// that end gaps, the gaps between them and up to the end of the walk are exchangeable, and independent
    /// of which visits are contributions. Counted from the end of the walk they are geometric.
    pub(super) fn uniform(n: usize, ends: usize, steps: usize, cap: usize) -> Self {
        let p = (ends as f64 / n as f64).min(1.0);
        let others = n.saturating_sub(ends) as f64 / n as f64;
        let followed = steps.min(n.saturating_mul(40).div_ceil(ends)).min(MOST_FOLLOWED);
        let mut law = vec![0.0];
        let mut left = 1.0;
        for _ in 0..followed {
            law.push(left * p);
            left *= others;
        }
        // One rounding for each step, and those of the share and the product.
        let error = (followed as f64 + 4.0) * f64::EPSILON;
        let longer = if followed < steps { left } else { 0.0 };
        Self { law, longer, error, cap, published: false }
    }

    /// The first table, whose window is the smallest that leaves out a negligible probability.
    pub(super) fn first_table(&self, cells: usize) -> Level {
        let rounded = |window: f64| self.table(window, cells, ROUNDED).level;
        let mut window = 2.0 * self.cap.next_power_of_two() as f64;
        let mut table = rounded(window);
        while window > SMALLEST {
            let next = rounded(0.5 * window);
            if next.upper[cells] > NEGLIGIBLE.max(table.upper[cells]) {
                break;
            }
            (window, table) = (0.5 * window, next);
        }
        table
    }

    /// The table of costs up to `window`; both `window` and the number of cells are powers of two.
    pub(super) fn table(&self, window: f64, cells: usize, rounding: Rounding) -> Spread {
        let grid = Grid::of_step(window / cells as f64);
        let place = |slots: usize| {
            let (cell, shares) = grid.place(Charge::of_count(1, slots), rounding);
            [0, 1].map(|next| (cell + next, shares[next]))
        };
        // The probabilities of the cells of one charge, and E (x − a)(b − x).
        let mut one = vec![0.0; cells];
        let (mut charged, mut variance) = (0.0, 0.0);
        let lengths = self.law.iter().copied().enumerate().skip(1).chain([(self.law.len(), self.longer)]);
        for (t, p) in lengths.filter(|&(_, p)| p > 0.0) {
            charged += p;
            let points = place(t);
            variance += p * points[0].1 * points[1].1;
            for (cell, share) in points {
                if let Some(mass) = one.get_mut(cell) {
                    *mass += p * share;
                }
            }
        }
        let sum = |terms: usize| (terms + 4) as f64 * f64::EPSILON;
        // A share errs by four units, and two shares are added.
        let roundings = self.error + sum(2 * self.law.len() + 8);
        // The remaining probability has no charge. If it is small, it has no accurate digits, but it is not
        // too small.
        let rest = (1.0 - charged * (1.0 - roundings)).clamp(0.0, 1.0);
        one[0] += rest;
        let draws = if self.published { self.cap - 1 } else { self.cap };
        let law = power(&one, draws);
        // One more unit for each term of each product; there are fewer than twice as many products as draws.
        let error = 1.01 * (draws as f64 * roundings + 2.0 * (draws as f64 + 1.0) * sum(cells));
        variance *= draws as f64;
        let mut shown = vec![0.0; cells];
        if self.published {
            let points = place(1);
            variance += points[0].1 * points[1].1;
            for (cell, &mass) in law.iter().enumerate() {
                for (more, share) in points {
                    if let Some(shown) = shown.get_mut(cell + more) {
                        *shown += mass * share;
                    }
                }
            }
        } else {
            shown = law;
        }
        // The true law has mass 1. The mass of the cells is too large by at most three times the error of a
        // draw, for each draw.
        let total: f64 = shown.iter().sum();
        let beyond = (1.0 - total + error + 3.1 * draws as f64 * roundings + sum(cells)).clamp(0.0, 1.0);
        let mut upper = vec![beyond; cells + 1];
        let mut above = 0.0;
        for cell in (1..cells).rev() {
            above += shown[cell];
            upper[cell] = (above * (1.0 + error) + beyond).min(1.0);
        }
        upper[0] = 1.0;
        let (level, step) = (Level { grid, upper, lower: vec![0.0; cells + 1] }, grid.cost(1));
        Spread { level, variance: variance * step * step * (1.0 + 1e-9) }
    }
}

/// The law of a sum of `draws` draws, without the cells beyond the last one.
fn power(law: &[f64], draws: usize) -> Vec<f64> {
    let mut result = vec![0.0; law.len()];
    result[0] = 1.0;
    let (mut square, mut left) = (law.to_vec(), draws);
    while left > 0 {
        if left & 1 == 1 {
            result = product(&result, &square);
        }
        left >>= 1;
        if left > 0 {
            square = product(&square, &square);
        }
    }
    result
}

/// The product of two laws with the same number of cells. Each cell is a sum of at most as many products as
/// there are cells.
fn product(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; a.len()];
    let add = |out: &mut [f64], i: usize| out[i..].iter_mut().zip(b).for_each(|(out, y)| *out += a[i] * y);
    // Several cells of `a` are taken at a time, so that every cell of the product is read and written less
    // often.
    for first in (0..a.len()).step_by(ROWS) {
        let rows = first..a.len().min(first + ROWS);
        let Some(x) = a.get(rows.clone()).and_then(|rows| rows.first_chunk::<ROWS>()) else {
            rows.for_each(|i| add(&mut out, i));
            continue;
        };
        if x.iter().filter(|&&x| x > 0.0).count() < FEW_ROWS {
            rows.filter(|&i| a[i] > 0.0).for_each(|i| add(&mut out, i));
            continue;
        }
        // The first cells, to which not all of these rows contribute.
        for (more, out) in out[first..].iter_mut().take(ROWS - 1).enumerate() {
            *out += (0..=more).map(|row| x[row] * b[more - row]).sum::<f64>();
        }
        for (out, y) in out[first + ROWS - 1..].iter_mut().zip(b.windows(ROWS)) {
            *out += (0..ROWS).map(|row| x[row] * y[ROWS - 1 - row]).sum::<f64>();
        }
    }
    out
}

/// The number of cells that are taken together, and the least number of them for which this is faster.
const ROWS: usize = 8;
const FEW_ROWS: usize = 3;

/// The largest number of steps of a geometric gap that are followed.
const MOST_FOLLOWED: usize = 1 << 20;
/// How coarse tables round their charges.
pub(super) const ROUNDED: Rounding = Rounding::To(Side::Upper);
/// The probability that may lie beyond the first table, and the smallest window.
const NEGLIGIBLE: f64 = 1e-11;
const SMALLEST: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    /// Compares with the definition, cell by cell, for laws with few and with many nonzero cells.
    #[test]
    fn products_are_the_definition() {
        let rng = &mut ChaCha8Rng::seed_from_u64(4096);
        for cells in [1, 2, 7, 8, 9, 16, 61, 64] {
            for share in [0.0, 0.1, 0.5, 1.0] {
                let mut law = || -> Vec<f64> {
                    let some = |rng: &mut ChaCha8Rng| if rng.random_bool(share) { rng.random() } else { 0.0 };
                    (0..cells).map(|_| some(rng)).collect()
                };
                let (a, b) = (law(), law());
                for (k, found) in product(&a, &b).into_iter().enumerate() {
                    let sum: f64 = (0..=k).map(|i| a[i] * b[k - i]).sum();
                    assert!((found - sum).abs() <= 1e-14 * sum, "{cells} {share} {k}: {found} {sum}");
                }
            }
        }
    }
}
