//! Contributions under a cap, by their gaps alone: for walks of very many steps, and whatever the
//! contributions depend on.
//!
//! Each of at most `N` contributions costs at most `1/t`, `t` the steps up to the next visit of `u` or an
//! observer. Where a holder knows beforehand that it will contribute, gaps are independent and all have the
//! same law, so that the cost is at most the sum of `N` draws from it.

use super::level::Level;
use super::passages::Side;
use super::spread::Spread;
use super::system::{Charge, Grid, Rounding};

/// The law of one gap: probabilities of its lengths, and of being longer.
#[derive(Clone, Debug)]
pub(super) struct Gaps {
    /// `law[t]`, the probability of a gap of `t` steps.
    pub(super) law: Vec<f64>,
    /// Probability of a gap longer than these that is charged as if it ended then.
    pub(super) longer: f64,
    /// Relative error of all of these.
    pub(super) error: f64,
    /// Draws.
    pub(super) cap: usize,
    /// One more contribution, seen at once.
    pub(super) published: bool,
}

impl Gaps {
    /// Where every next holder is drawn uniformly, and one of `ends` of `n` nodes ends a gap: lengths are
    /// geometric. With `p = ends/n` gaps of more than some `40/p` steps, or a million, are charged as if they
    /// ended then.
    ///
    /// The cost of a walk whose holders are all drawn so is at most that of `cap` independent gaps, in
    /// distribution, also where the last token is published: given the number of visits that end gaps, the
    /// gaps between them and up to the end of the walk are exchangeable, and independent of which visits are
    /// contributions; counted from the end of the walk they are geometric.
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
        // A rounding of each share, one for each step, one for the product.
        let error = (followed as f64 + 4.0) * f64::EPSILON;
        let longer = if followed < steps { left } else { 0.0 };
        Self { law, longer, error, cap, published: false }
    }

    /// The first table: beyond it next to nothing.
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

    /// The table of costs up to `window`, a power of two as the number of cells is.
    pub(super) fn table(&self, window: f64, cells: usize, rounding: Rounding) -> Spread {
        let grid = Grid::of_step(window / cells as f64);
        let place = |slots: usize| {
            let (cell, shares) = grid.place(Charge::of_count(1, slots), rounding);
            [0, 1].map(|next| (cell + next, shares[next]))
        };
        // Probabilities of the cells of one charge, and E (x − a)(b − x).
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
        // A share errs by four units, and two of them are added.
        let roundings = self.error + sum(2 * self.law.len() + 8);
        // What is not charged has the rest; of a small rest little is known but that it is not larger.
        let rest = (1.0 - charged * (1.0 - roundings)).clamp(0.0, 1.0);
        one[0] += rest;
        let draws = if self.published { self.cap - 1 } else { self.cap };
        let law = power(&one, draws);
        // One more unit for each term of each product, of which there are less than twice as many as draws.
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
        // The true law has mass 1; that of the cells is too large by at most three times the error of a draw,
        // for each.
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

/// The law of a sum of so many draws, cells beyond the last left out.
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

/// The product of two laws on as many cells. Each cell adds up at most as many products as there are cells.
fn product(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; a.len()];
    let add = |out: &mut [f64], i: usize| out[i..].iter_mut().zip(b).for_each(|(out, y)| *out += a[i] * y);
    // Several cells of `a` at a time, so that every cell of the product is read and written less often.
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
        // The first cells, which not all of the rows reach.
        for (more, out) in out[first..].iter_mut().take(ROWS - 1).enumerate() {
            *out += (0..=more).map(|row| x[row] * b[more - row]).sum::<f64>();
        }
        for (out, y) in out[first + ROWS - 1..].iter_mut().zip(b.windows(ROWS)) {
            *out += (0..ROWS).map(|row| x[row] * y[ROWS - 1 - row]).sum::<f64>();
        }
    }
    out
}

/// Cells that are taken together, and fewest of them that are worth it.
const ROWS: usize = 8;
const FEW_ROWS: usize = 3;

/// Steps of a geometric gap.
const MOST_FOLLOWED: usize = 1 << 20;
/// How coarse tables round.
pub(super) const ROUNDED: Rounding = Rounding::To(Side::Upper);
/// What may be beyond the first table, and the smallest one.
const NEGLIGIBLE: f64 = 1e-11;
const SMALLEST: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    /// Against the definition, cell by cell, with few and with many cells that are not 0.
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
