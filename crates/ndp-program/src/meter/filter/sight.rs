//! The effect of seeing a row: the charges, and the remainder of the other rows.

use super::{Doubt, FLOOR, Filter, Followed, LEAST_GAIN, MOST_CORRELATION, MOST_SHARE, Place, TINY, UNIT};
use ndp_numeric::rounding::up;

impl Filter {
    /// The observer sees a row.
    pub(super) fn sight(&mut self, seen: usize) {
        let (size, error) = (self.covariance.at(seen, seen), self.error.at(seen, seen));
        if size == 0.0 && error == 0.0 {
            // The row has not been rounded: it is a combination of contributions and known values alone.
            self.reveal(seen);
            return;
        }
        let least = (size - error).next_down();
        let share = if least > 0.0 { (error / least).next_up() } else { f64::INFINITY };
        if share > MOST_SHARE || share.is_nan() {
            self.doubt.get_or_insert(Doubt::Noise);
            self.known(seen);
            return;
        }
        self.correlation = (self.correlation + 2.0 * (self.factor * share)).next_up() * (1.0 + 4.0 * UNIT);
        self.factor = (self.factor + 2.0 * share).next_up();
        self.shares = (self.shares + share).next_up();
        if self.correlation > MOST_CORRELATION {
            self.doubt.get_or_insert(Doubt::Drift);
        }
        self.charge(seen, least, (size + error).next_up());
        self.condition(seen, size, least);
        self.known(seen);
    }

    /// Charges what the row reveals about every direction; its variance is between `least` and `most`.
    pub(super) fn charge(&mut self, seen: usize, least: f64, most: f64) {
        let moves = &self.moves[seen];
        if self.followed == Followed::Whole {
            let mut sums = vec![(0.0_f64, 0.0_f64); self.nodes.len()];
            for (direction, x) in self.directions.iter().zip(moves) {
                sums[direction.node].0 += x.abs();
                sums[direction.node].1 += 1.0;
            }
            for (node, (sum, count)) in self.nodes.iter_mut().zip(sums) {
                if sum > 0.0 {
                    node.whole = (node.whole + charged(up(sum, count), least)).next_up();
                }
            }
        }
        for (direction, &x) in self.directions.iter_mut().zip(moves) {
            if x != 0.0 {
                direction.seen = true;
                direction.high = (direction.high + charged(x, least)).next_up();
                let low = (x / most * x * (1.0 - 8.0 * UNIT)).next_down().max(0.0);
                direction.low = (direction.low + low).next_down().max(0.0);
            }
        }
    }

    /// The remainder of the other rows once this one is known: `(I - K cᵀ) P (I - K cᵀ)ᵀ`.
    fn condition(&mut self, seen: usize, size: f64, least: f64) {
        let rows = self.registers.len();
        let column: Vec<f64> = self.covariance.row(seen).to_vec();
        let crossed: Vec<f64> = self.error.row(seen).to_vec();
        let others = || (0..rows).filter(|&i| i != seen);
        // Any number may be used as a gain. A tiny one is replaced by 0, so that nothing underflows.
        let gain = |x: &f64| if x.abs() > LEAST_GAIN * size { x / size } else { 0.0 };
        let gains: Vec<f64> = column.iter().map(gain).collect();
        let sum = |of: &[f64], only: &dyn Fn(usize) -> bool| -> f64 {
            others().filter(|&i| only(i)).map(|i| of[i].abs()).sum()
        };
        let column_sum = sum(&column, &|_| true);
        let left_sum = sum(&column, &|i| gains[i] == 0.0);
        let (gain_sum, crossed_sum) = (sum(&gains, &|_| true), sum(&crossed, &|_| true));
        let own = crossed[seen];
        let moved = self.moves[seen].clone();
        let touched: Vec<usize> = others().filter(|&i| gains[i] != 0.0 || crossed[i] != 0.0).collect();
        for (place, &i) in touched.iter().enumerate() {
            for &l in &touched[..=place] {
                if gains[i] != 0.0 && gains[l] != 0.0 {
                    let next = self.covariance.at(i, l) - gains[i] * column[l];
                    self.covariance.set(i, l, next);
                    self.covariance.set(l, i, next);
                }
                let cross = gains[i] * crossed[l] + crossed[i] * gains[l];
                let next = self.error.at(i, l) - cross + gains[i] * gains[l] * own;
                self.error.set(i, l, next);
                self.error.set(l, i, next);
            }
        }
        let mut by = vec![0.0; rows];
        for &i in &touched {
            let (gain, sizes) =
                (gains[i].abs(), |row: &[f64]| -> f64 { touched.iter().map(|&l| row[l].abs()).sum() });
            let products = gain * crossed_sum + crossed[i].abs() * gain_sum + gain * gain_sum * own;
            by[i] = 16.0 * UNIT * (sizes(self.error.row(i)) + products) + TINY * rows as f64;
            if gain != 0.0 {
                by[i] += UNIT * (sizes(self.covariance.row(i)) + 4.0 * gain * column_sum) + gain * left_sum;
            }
        }
        // With the gains as computed, the other rows have a remaining covariance `rho` with the innovation:
        // `2 rho rhoᵀ / S` is kept below `r` times what is injected.
        let residual = 2.0 * (UNIT * column_sum + left_sum) / (least * self.factor);
        for i in others().filter(|&i| column[i] != 0.0) {
            by[i] += if gains[i] == 0.0 {
                column[i].abs() * (gain_sum + residual) + TINY * rows as f64
            } else {
                UNIT * column[i].abs() * residual
            };
        }
        for (i, &by) in by.iter().enumerate().filter(|&(i, _)| i != seen) {
            self.inject(i, by);
        }
        for i in others().filter(|&i| gains[i] != 0.0) {
            let gain = gains[i];
            let mut sizes = vec![0.0; moved.len()];
            for ((x, &by), size) in self.moves[i].iter_mut().zip(&moved).zip(&mut sizes) {
                if by != 0.0 {
                    let change = gain * by;
                    *x -= change;
                    *size = UNIT * 1.01 * (x.abs() + change.abs()) + FLOOR;
                }
            }
            self.rounded(i, &sizes);
        }
    }

    /// A row without noise: every direction that moves it is seen without noise.
    fn reveal(&mut self, seen: usize) {
        for (direction, x) in self.directions.iter().zip(&self.moves[seen]) {
            if *x != 0.0 {
                self.nodes[direction.node].revealed = true;
            }
        }
        self.known(seen);
    }

    fn known(&mut self, seen: usize) {
        let register = self.registers[seen];
        self.remove(seen);
        self.place.insert(register, Place::Known);
    }
}

/// `x² / least`, rounded up. The square alone may underflow when the quotient does not.
fn charged(x: f64, least: f64) -> f64 {
    ((x / least * x) * (1.0 + 8.0 * UNIT) + f64::MIN_POSITIVE).next_up()
}
