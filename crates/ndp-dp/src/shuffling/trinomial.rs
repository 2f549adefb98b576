//! The expectation behind every exact shuffling bound, rounded up.
//!
//! Of `m` reports, `h` speak for the exposed user's label, `l` against it and `r` for neither; the loss is
//! linear in the three counts. With the prior factor `1/(number of blanket reports)` absorbed by
//! `C(m−1, M−1)/M = C(m, M)/m`, every bound is a multiple of
//!
//! `E (gain·h − loss·l − drift·r)₊`, `(h, l, r)` multinomial.
//!
//! Given `s = h + l` the counts `h` and `r` are independent binomials, and `E(x − R)₊ = ∫₋∞^x P(R ≤ y) dy` is
//! a lookup in the running sums of the law of `R`. So the cost is `O(m)` and not `O(m²)` or `O(m³)` up to the
//! logarithm of the accuracy: of each binomial only a window of `O(√m)` counts matters.

use crate::binomial_window::{BinomialWindow, Chance, geometric_tail, mode};

/// `E (gain·h − loss·l − drift·r)₊` for `s = h + l ~ Bin(reports, pair)`, `h|s ~ Bin(s, 1/2)`,
/// `r|s ~ Bin(reports − s, rest)`, with `0 ≤ gain ≤ loss` and `drift ≥ 0`.
pub(crate) struct Trinomial {
    pub(crate) reports: u64,
    pub(crate) pair: Chance,
    pub(crate) rest: Chance,
    pub(crate) gain: f64,
    pub(crate) loss: f64,
    pub(crate) drift: f64,
}

impl Trinomial {
    /// The expectation, rounded up: every probability left out is charged at the largest value.
    ///
    /// With a goal to compare with, the first value that settles on which side of it the expectation lies.
    pub(crate) fn positive_part(&self, goal: Goal) -> f64 {
        // Most losses are decided within ten standard deviations; the far tails are summed only when what
        // they might hold is not negligible.
        let mut best = f64::INFINITY;
        for cut in [1e-24, 1e-60, 1e-150, 1e-290] {
            let (value, slack) = self.with_cut(cut);
            best = best.min(value * ROUNDING);
            let settled = match goal {
                Goal::Value => false,
                Goal::Compare(bound) => best <= bound || value - slack > bound,
            };
            if settled || slack <= 1e-13 * value {
                break;
            }
        }
        best
    }

    /// The expectation over windows, rounded up, and by how much it may be too large.
    fn with_cut(&self, cut: f64) -> (f64, f64) {
        let mut pairs = BinomialWindow::default();
        pairs.fill(self.reports, self.pair, cut);
        let mut others = Running::default();
        let mut total = 0.0;
        let mut slack = 0.0;
        for (s, probability) in pairs.iter() {
            others.fill(self.reports - s, self.rest, self.drift, cut);
            let (value, uncertain) = self.given_pairs(s, &others, cut);
            total += probability * value;
            slack += probability * uncertain;
        }
        // h ≤ s, and s is at most first() below the window.
        let dropped =
            self.gain * (pairs.below() * pairs.first() as f64 + pairs.above() * self.reports as f64);
        (total + dropped, slack + dropped)
    }

    /// The expectation given `s = h + l`, rounded up, and by how much it may be too large.
    fn given_pairs(&self, s: u64, others: &Running, cut: f64) -> (f64, f64) {
        let (start, at_start) = mode(s, Chance::HALF);
        let step = self.gain + self.loss;
        let mut total = 0.0;
        let mut dropped = 0.0;
        let (mut h, mut probability) = (start, at_start);
        // As gain ≤ loss, the bracket is positive only above h = s/2, that is from the mode on.
        loop {
            let balance = h as f64 * step - s as f64 * self.loss;
            if balance > 0.0 {
                total += probability * others.excess(balance, self.drift);
            }
            if h == s {
                break;
            }
            let ratio = (s - h) as f64 / (h + 1) as f64;
            probability *= ratio;
            if probability < cut {
                dropped = geometric_tail(probability, ratio);
                break;
            }
            h += 1;
        }
        let largest = s as f64 * self.gain;
        (total + dropped * largest, largest * (dropped + others.window.below() + others.window.above()))
    }
}

/// What an expectation is computed for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    /// Its value, to all digits.
    Value,
    /// To know whether it is at most this.
    Compare(f64),
}

/// The law of `R` with its running sums: `cumulative[i] ≥ P(R ≤ first + i)`, `integral[i] = Σ_{j < first + i} P(R ≤ j)`.
#[derive(Default)]
struct Running {
    window: BinomialWindow,
    cumulative: Vec<f64>,
    integral: Vec<f64>,
}

impl Running {
    fn fill(&mut self, trials: u64, chance: Chance, drift: f64, cut: f64) {
        self.cumulative.clear();
        self.integral.clear();
        if drift == 0.0 {
            return;
        }
        self.window.fill(trials, chance, cut);
        let mut below = self.window.below();
        let mut integral = below * self.window.first() as f64;
        for &probability in self.window.probabilities() {
            self.integral.push(integral);
            below += probability;
            self.cumulative.push(below.min(1.0));
            integral += below.min(1.0);
        }
    }

    /// `E (balance − drift·R)₊`, rounded up.
    fn excess(&self, balance: f64, drift: f64) -> f64 {
        if drift == 0.0 {
            return balance;
        }
        let x = balance / drift;
        let first = self.window.first() as f64;
        if x < first {
            return drift * x * self.window.below();
        }
        let last = self.cumulative.len() - 1;
        // The cast saturates.
        let index = (x - first).floor() as usize;
        if index <= last {
            return drift * (self.integral[index] + (x - first - index as f64) * self.cumulative[index]);
        }
        // Beyond the window the distribution function is taken to be 1; x itself may be infinite.
        drift * self.integral[last] + (balance - drift * (first + last as f64))
    }
}

/// A window has at most some 10⁴ entries on each side of its mode, each rounded three times more than the one before, and
/// three windows multiply.
const ROUNDING: f64 = 1.0 + 3e-11;
