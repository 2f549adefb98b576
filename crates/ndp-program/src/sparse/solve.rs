//! Conjugate gradients that start at a few rows and add the rows that they reach, for several right sides at
//! once, and what their results prove.
//!
//! The right sides of a batch share only the rows that they reach. Each has its own step lengths, and stops
//! once it is solved. Neighbors reach nearly the same rows, so that a batch costs little more than one of
//! them.

use super::Shift;
use super::covariance::{Covariance, LANES, Lane};
use crate::enclose::Ends;
use ndarray::Array2;
use ndp_numeric::stop::{Stop, Stopped};

const ZERO: Lane = [0.0; LANES];

/// The work of a residual with its error, in products with the covariance.
const OF_CERTIFYING: u64 = 3;

/// Vectors over all rows, which are 0 everywhere between two solves.
pub(super) struct Scratch {
    y: Vec<Lane>,
    residual: Vec<Lane>,
    step: Vec<Lane>,
    image: Vec<Lane>,
    reached: Vec<bool>,
}

/// An approximate solution `ŷ` and its residual; both are 0 in the rows that are not listed.
pub(super) struct Solved {
    /// For each row: `ŷ`, the computed residual, and a bound on the distance to the residual of `ŷ`;
    /// ascending.
    rows: Vec<(u32, f64, f64, f64)>,
    /// An upper bound on `|D^(-1/2) r|²`.
    left: f64,
}

impl Scratch {
    pub(super) fn new(n: usize) -> Self {
        let zero = || vec![ZERO; n];
        Self { y: zero(), residual: zero(), step: zero(), image: zero(), reached: vec![false; n] }
    }

    /// Solves `S ŷ ≈ b` for up to [`LANES`] right sides, each until its residual is at most `enough`, which
    /// is relative for losses above 1.
    pub(super) fn solve(
        &mut self,
        s: &Covariance,
        batch: &[&Shift],
        enough: f64,
        stop: &Stop,
    ) -> Result<Vec<Solved>, Stopped> {
        let mut rows: Vec<u32> = Vec::new();
        let mut product = ZERO;
        for (lane, b) in batch.iter().enumerate() {
            for &(r, x, _) in *b {
                let at = r as usize;
                if !self.reached[at] {
                    self.reached[at] = true;
                    rows.push(r);
                }
                self.residual[at][lane] = x;
                self.step[at][lane] = x / s.diagonal[at];
                product[lane] += x * (x / s.diagonal[at]);
            }
        }
        // The lanes that are not solved yet.
        let mut open = [false; LANES];
        open.iter_mut().zip(batch).zip(&product).for_each(|((open, _), &x)| *open = x > 0.0);
        for _ in 0..MAX_STEPS {
            if !open.contains(&true) {
                break;
            }
            // If the computation is stopped here, the vectors are not all 0, but nobody uses them again.
            stop.spend(s.cost(&rows))?;
            let active = rows.len();
            let curvature = self.images(s, &mut rows);
            let mut length = ZERO;
            for l in 0..LANES {
                let by = product[l] / curvature[l];
                open[l] &= by.is_finite() && by > 0.0;
                length[l] = if open[l] { by } else { 0.0 };
            }
            let (mut left, mut next) = (ZERO, ZERO);
            for &r in &rows {
                let r = r as usize;
                let (own, diagonal) = (s.own[r].recip(), s.diagonal[r].recip());
                let image = std::mem::replace(&mut self.image[r], ZERO);
                let (y, residual, step) = (&mut self.y[r], &mut self.residual[r], &self.step[r]);
                for l in 0..LANES {
                    y[l] += length[l] * step[l];
                    residual[l] -= length[l] * image[l];
                    let square = residual[l] * residual[l];
                    left[l] += square * own;
                    next[l] += square * diagonal;
                }
            }
            let mut turn = ZERO;
            for (l, b) in batch.iter().enumerate() {
                let gained: f64 = b.iter().map(|&(r, x, _)| x * self.y[r as usize][l]).sum();
                open[l] &= left[l] > enough * gained.max(1.0) && next[l] > 0.0;
                turn[l] = if open[l] { next[l] / product[l] } else { 0.0 };
            }
            product = next;
            for &r in &rows {
                let r = r as usize;
                let diagonal = s.diagonal[r].recip();
                let (residual, step) = (&self.residual[r], &mut self.step[r]);
                for l in 0..LANES {
                    step[l] = residual[l] * diagonal + turn[l] * step[l];
                }
            }
            if rows.len() == s.len() && active < s.len() {
                rows.sort_unstable();
            }
        }
        rows.sort_unstable();
        stop.spend(s.cost(&rows).saturating_mul(OF_CERTIFYING))?;
        Ok(self.certify(s, batch, rows))
    }

    /// Solves `S ŷ ≈ b` by an approximate inverse of `S`.
    pub(super) fn by_inverse(
        &mut self,
        s: &Covariance,
        batch: &[&Shift],
        inverse: &Array2<f64>,
        stop: &Stop,
    ) -> Result<Vec<Solved>, Stopped> {
        let rows: Vec<u32> = (0..s.len()).map(|r| s.number(r)).collect();
        stop.spend(s.cost(&rows).saturating_mul(OF_CERTIFYING))?;
        for (lane, b) in batch.iter().enumerate() {
            for &(r, x, _) in *b {
                for (y, of_row) in self.y.iter_mut().zip(inverse.column(r as usize)) {
                    y[lane] += x * of_row;
                }
            }
        }
        self.reached.fill(true);
        Ok(self.certify(s, batch, rows))
    }

    /// Multiplies the steps by the covariance, adds rows that are reached for the first time, and returns the
    /// curvatures.
    fn images(&mut self, s: &Covariance, rows: &mut Vec<u32>) -> Lane {
        let mut curvature = ZERO;
        let active = rows.len();
        if active == s.len() {
            // All rows are visited in the order of memory.
            for i in 0..active {
                let mut sum = ZERO;
                for (j, x) in s.row(i) {
                    sum.iter_mut().zip(&self.step[j]).for_each(|(sum, p)| *sum += x * p);
                }
                for l in 0..LANES {
                    curvature[l] += self.step[i][l] * sum[l];
                }
                self.image[i] = sum;
            }
            return curvature;
        }
        for k in 0..active {
            let i = rows[k] as usize;
            let step = self.step[i];
            if step == ZERO {
                continue;
            }
            for (j, x) in s.row(i) {
                if !self.reached[j] {
                    self.reached[j] = true;
                    rows.push(s.number(j));
                }
                self.image[j].iter_mut().zip(&step).for_each(|(sum, p)| *sum += x * p);
            }
        }
        for &r in &rows[..active] {
            let (step, image) = (&self.step[r as usize], &self.image[r as usize]);
            for l in 0..LANES {
                curvature[l] += step[l] * image[l];
            }
        }
        curvature
    }

    /// The residuals of the `ŷ` with their errors, row by row. All vectors are 0 afterwards.
    fn certify(&mut self, s: &Covariance, batch: &[&Shift], mut rows: Vec<u32>) -> Vec<Solved> {
        // The neighbors of the rows that were reached have a residual, too.
        for k in 0..rows.len() {
            if self.y[rows[k] as usize] == ZERO {
                continue;
            }
            for (j, _) in s.row(rows[k] as usize) {
                if !self.reached[j] {
                    self.reached[j] = true;
                    rows.push(s.number(j));
                }
            }
        }
        rows.sort_unstable();
        let mut known: Vec<_> = batch.iter().map(|b| b.iter().peekable()).collect();
        let mut found: Vec<Solved> =
            batch.iter().map(|_| Solved { rows: Vec::with_capacity(rows.len()), left: 0.0 }).collect();
        for &r in &rows {
            let at = r as usize;
            let (mut sum, mut size, mut wrong) = (ZERO, ZERO, ZERO);
            let mut touched = [false; LANES];
            for (l, known) in known.iter_mut().enumerate() {
                if let Some(&(_, x, off)) = known.next_if(|x| x.0 == r) {
                    (sum[l], size[l], wrong[l], touched[l]) = (x, x.abs(), off, true);
                }
            }
            let mut count = 2;
            for ((j, x), terms) in s.row(at).zip(s.sizes(at)) {
                let y = &self.y[j];
                count += 1;
                for l in 0..LANES {
                    sum[l] -= x * y[l];
                    size[l] += terms * y[l].abs();
                    touched[l] |= y[l] != 0.0;
                }
            }
            // The entries of S are sums of at most `terms` products of rounded numbers.
            let unit = (s.terms + count + 16) as f64 * (f64::EPSILON / 2.0);
            for (l, found) in found.iter_mut().enumerate() {
                if !touched[l] {
                    // All terms of this lane are 0 here, so that the residual is exactly 0.
                    continue;
                }
                let error = (unit * size[l] * UP + wrong[l]) * UP + f64::MIN_POSITIVE;
                let worst = sum[l].abs() + error;
                // The square alone may underflow.
                found.left += worst / s.own[at] * worst;
                found.rows.push((r, self.y[at][l], sum[l], error));
            }
        }
        for &r in &rows {
            let r = r as usize;
            self.reached[r] = false;
            (self.y[r], self.residual[r], self.step[r], self.image[r]) = (ZERO, ZERO, ZERO, ZERO);
        }
        for found in &mut found {
            if !found.rows.is_empty() {
                found.left *= 1.0 + (found.rows.len() + 16) as f64 * f64::EPSILON;
                found.left += f64::MIN_POSITIVE;
            }
        }
        found
    }
}

impl Solved {
    /// The rows of `ŷ`, with their weights.
    pub(super) fn combination(&self) -> Vec<(usize, f64)> {
        self.rows.iter().filter(|row| row.1 != 0.0).map(|row| (row.0 as usize, row.1)).collect()
    }

    /// Both ends of `bᵀ S⁻¹ b`. The upper one is at most `bᵀ D⁻¹ b`, the bound from the rows' own noises
    /// alone.
    pub(super) fn ends(&self, s: &Covariance, b: &Shift) -> Ends {
        let (middle, apart) = product(self, self, b);
        let cost = |x: f64, own: f64| x / own * x;
        let alone: f64 = b.iter().map(|&(r, x, off)| cost(x.abs() + off, s.own[r as usize])).sum();
        let alone = (alone * (1.0 + (b.len() + 16) as f64 * f64::EPSILON)).next_up();
        let low = (middle - apart).next_down().max(0.0);
        let high = (middle + (apart + self.left) * UP).next_up().max(0.0);
        // Not below the lower end, even if a number is not finite.
        Ends { low: low.min(alone), high: if high <= alone { high } else { alone } }
    }
}

/// The entry `b_iᵀ S⁻¹ b_j`, with a bound on its error.
pub(super) fn entry(i: &Solved, j: &Solved, b: &Shift) -> (f64, f64) {
    let (middle, apart) = product(i, j, b);
    (middle, ((apart + i.left.sqrt() * j.left.sqrt()) * UP).next_up())
}

/// `ŷ_iᵀ b_j + ŷ_jᵀ r_i`, with a bound on its error.
fn product(i: &Solved, j: &Solved, b: &Shift) -> (f64, f64) {
    let (mut sum, mut size, mut wrong, mut count) = (0.0, 0.0, 0.0, 0);
    let mut mine = i.rows.iter().peekable();
    for &(r, x, off) in b {
        while mine.next_if(|row| row.0 < r).is_some() {}
        if let Some(&&(_, y, _, _)) = mine.peek().filter(|row| row.0 == r) {
            sum += x * y;
            size += (x * y).abs();
            wrong += off * y.abs();
            count += 1;
        }
    }
    let mut other = j.rows.iter().peekable();
    for &(r, _, rest, error) in &i.rows {
        while other.next_if(|row| row.0 < r).is_some() {}
        if let Some(&&(_, y, _, _)) = other.peek().filter(|row| row.0 == r) {
            sum += rest * y;
            size += (rest * y).abs();
            wrong += error * y.abs();
            count += 1;
        }
    }
    let unit = (count + 8) as f64 * f64::EPSILON;
    (sum, (unit * size + wrong * (1.0 + unit)) * UP)
}

/// The largest number of steps of one solve.
const MAX_STEPS: usize = 4000;
/// Covers a few roundings.
const UP: f64 = 1.0 + 16.0 * f64::EPSILON;

#[cfg(test)]
mod tests {
    use super::*;

    /// Two rows with covariance ((2, 1), (1, 2)), of which their own noises contribute 1/2 each, and a change
    /// of (1, 1/2) that has an error of 1/4 in both rows. One step of conjugate gradients is far from the
    /// solution. The enclosure covers the residual and the error nevertheless, for every change within the
    /// error.
    #[test]
    fn what_is_not_known_of_a_change_is_in_the_ends() -> Result<(), Stopped> {
        let covariance = Covariance {
            starts: vec![0, 2, 4],
            columns: vec![0, 1, 0, 1],
            entries: vec![2.0, 1.0, 1.0, 2.0],
            sizes: Vec::new(),
            own: vec![1.0, 1.0],
            diagonal: vec![2.0, 2.0],
            terms: 1,
        };
        let shift: Shift = vec![(0, 1.0, 0.25), (1, 0.5, 0.25)];
        for enough in [1e9, 1e-12] {
            let solved = &Scratch::new(2).solve(&covariance, &[&shift], enough, &Stop::never())?[0];
            let ends = solved.ends(&covariance, &shift);
            for (a, b) in [(1.25, 0.25), (0.75, 0.75), (1.25, 0.75), (0.75, 0.25), (1.0, 0.5)] {
                let truth = (2.0 * a * a - 2.0 * a * b + 2.0 * b * b) / 3.0;
                assert!(ends.low < truth && truth < ends.high, "{a}, {b}: {truth} is not in {ends:?}");
            }
        }
        Ok(())
    }

    /// A change of 1e-240 with an error of the same size, over a variance of 1e-180, may leave a residual of
    /// 1e-300, whose square underflows. A bound smaller than every float is not 0.
    #[test]
    fn squares_of_what_is_left_over_count() -> Result<(), Stopped> {
        for (x, least) in [(1e-240, 1e-300), (1e-260, f64::MIN_POSITIVE)] {
            let covariance = Covariance {
                starts: vec![0, 1],
                columns: vec![0],
                entries: vec![1e-180],
                sizes: Vec::new(),
                own: vec![1e-180],
                diagonal: vec![1e-180],
                terms: 1,
            };
            let shift: Shift = vec![(0, x, x)];
            let solved = &Scratch::new(1).solve(&covariance, &[&shift], 1e-12, &Stop::never())?[0];
            assert!(solved.left >= least, "{} is not {least}", solved.left);
            let ends = solved.ends(&covariance, &shift);
            let truth = 2.0 * x / 1e-180 * 2.0 * x;
            assert!(ends.low <= 0.0 && truth <= ends.high && 0.0 < ends.high, "{ends:?}");
        }
        Ok(())
    }

    /// The residuals of two solves, 1e-200 and 4e-200, may contribute 2e-200, though the product of both
    /// underflows.
    #[test]
    fn what_is_left_over_counts_however_little() {
        let solved = |left: f64| Solved { rows: Vec::new(), left };
        let (middle, apart) = entry(&solved(1e-200), &solved(4e-200), &Vec::new());
        assert_eq!(middle, 0.0);
        assert!((2e-200..2.1e-200).contains(&apart), "{apart}");
    }
}
