//! Conjugate gradients that start at a few rows and grow with what they reach, and what their result proves.

use super::{Covariance, Shift};
use crate::program::enclose::Ends;

/// Vectors over all rows, 0 everywhere between two solves.
pub(super) struct Scratch {
    y: Vec<f64>,
    residual: Vec<f64>,
    step: Vec<f64>,
    image: Vec<f64>,
    reached: Vec<bool>,
}

/// An approximate solution `ŷ` and what it leaves over, both 0 elsewhere.
pub(super) struct Solved {
    /// Row, `ŷ`, computed residual and how far from it the residual of `ŷ` may be; ascending.
    rows: Vec<(u32, f64, f64, f64)>,
    /// At least `|D^(-1/2) r|²`.
    left: f64,
}

impl Scratch {
    pub(super) fn new(n: usize) -> Self {
        let zero = || vec![0.0; n];
        Self { y: zero(), residual: zero(), step: zero(), image: zero(), reached: vec![false; n] }
    }

    /// `S ŷ ≈ b`.
    pub(super) fn solve(&mut self, s: &Covariance, b: &Shift) -> Solved {
        let mut rows: Vec<u32> = Vec::new();
        for &(r, x, _) in b {
            let at = r as usize;
            self.reached[at] = true;
            self.residual[at] = x;
            self.step[at] = x / s.diagonal[at];
            rows.push(r);
        }
        let value = |rows: &[u32], f: &dyn Fn(usize) -> f64| rows.iter().map(|&r| f(r as usize)).sum::<f64>();
        let mut product = value(&rows, &|r| self.residual[r] * self.step[r]);
        for _ in 0..MOST_STEPS {
            let active = rows.len();
            if active == s.len() {
                // All rows in the order of memory.
                for i in 0..active {
                    self.image[i] = s.row(i).map(|(j, x)| x * self.step[j]).sum();
                }
            }
            for k in 0..if active == s.len() { 0 } else { active } {
                let i = rows[k] as usize;
                let p = self.step[i];
                if p == 0.0 {
                    continue;
                }
                for (j, x) in s.row(i) {
                    if !self.reached[j] {
                        self.reached[j] = true;
                        rows.push(s.number(j));
                    }
                    self.image[j] += x * p;
                }
            }
            let curvature = value(&rows[..active], &|r| self.step[r] * self.image[r]);
            let length = product / curvature;
            if !(length.is_finite() && length > 0.0) {
                rows.iter().for_each(|&r| self.image[r as usize] = 0.0);
                break;
            }
            let (mut left, mut gained, mut next) = (0.0, 0.0, 0.0);
            for &r in &rows {
                let r = r as usize;
                self.y[r] += length * self.step[r];
                self.residual[r] -= length * self.image[r];
                self.image[r] = 0.0;
                let rest = self.residual[r];
                left += rest * rest / s.own[r];
                next += rest * rest / s.diagonal[r];
            }
            for &(r, x, _) in b {
                gained += x * self.y[r as usize];
            }
            if left <= ENOUGH * gained || next == 0.0 {
                break;
            }
            let turn = next / product;
            product = next;
            for &r in &rows {
                let r = r as usize;
                self.step[r] = self.residual[r] / s.diagonal[r] + turn * self.step[r];
            }
            if rows.len() == s.len() && active < s.len() {
                rows.sort_unstable();
            }
        }
        rows.sort_unstable();
        self.certify(s, b, rows)
    }

    /// The residual of `ŷ` with its error, row by row; everything is 0 afterwards.
    fn certify(&mut self, s: &Covariance, b: &Shift, mut rows: Vec<u32>) -> Solved {
        // Neighbors of what was reached have a residual, too.
        for k in 0..rows.len() {
            if self.y[rows[k] as usize] == 0.0 {
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
        let mut known = b.iter().peekable();
        let mut found = Vec::with_capacity(rows.len());
        let mut left = 0.0;
        for &r in &rows {
            let at = r as usize;
            let (target, wrong) = match known.next_if(|x| x.0 == r) {
                Some(&(_, x, wrong)) => (x, wrong),
                None => (0.0, 0.0),
            };
            let (mut sum, mut size, mut count) = (target, target.abs(), 2);
            for ((j, x), terms) in s.row(at).zip(s.sizes(at)) {
                let y = self.y[j];
                if y != 0.0 {
                    sum -= x * y;
                    size += terms * y.abs();
                    count += 1;
                }
            }
            // Entries of S are sums of at most `terms` products of rounded numbers.
            let unit = (s.terms + count + 16) as f64 * (f64::EPSILON / 2.0);
            let error = (unit * size * UP + wrong) * UP + f64::MIN_POSITIVE;
            let worst = sum.abs() + error;
            left += worst * worst / s.own[at];
            found.push((r, self.y[at], sum, error));
        }
        for &r in &rows {
            let r = r as usize;
            self.reached[r] = false;
            (self.y[r], self.residual[r], self.step[r], self.image[r]) = (0.0, 0.0, 0.0, 0.0);
        }
        let left = left * (1.0 + (found.len() + 16) as f64 * f64::EPSILON);
        Solved { rows: found, left }
    }
}

impl Solved {
    /// Rows and weights of `ŷ`.
    pub(super) fn combination(&self) -> Vec<(usize, f64)> {
        self.rows.iter().filter(|row| row.1 != 0.0).map(|row| (row.0 as usize, row.1)).collect()
    }

    /// Both ends of `bᵀ S⁻¹ b`.
    pub(super) fn ends(&self, b: &Shift) -> Ends {
        let (middle, apart) = product(self, self, b);
        Ends {
            low: (middle - apart).next_down().max(0.0),
            high: (middle + (apart + self.left) * UP).next_up().max(0.0),
        }
    }
}

/// Entry `b_iᵀ S⁻¹ b_j` and how far from it the truth may be.
pub(super) fn entry(i: &Solved, j: &Solved, b: &Shift) -> (f64, f64) {
    let (middle, apart) = product(i, j, b);
    (middle, ((apart + (i.left * j.left).sqrt()) * UP).next_up())
}

/// `ŷ_iᵀ b_j + ŷ_jᵀ r_i` and its error.
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

/// Steps of one solve.
const MOST_STEPS: usize = 4000;
/// What is left over, relative to what was found: well below the width of an exact loss.
const ENOUGH: f64 = 1e-11;
/// Covers a few roundings.
const UP: f64 = 1.0 + 16.0 * f64::EPSILON;
