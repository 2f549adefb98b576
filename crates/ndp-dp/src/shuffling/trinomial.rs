//! The expectation behind every exact shuffling bound, rounded up.
//!
//! Of `m` reports, `h` show the exposed user's label, `l` the label it is compared with, and `r` are random
//! answers with other labels; the loss is linear in the three counts. The factor `1/M`, where `M` is the
//! number of blanket reports, is absorbed by `C(m−1, M−1)/M = C(m, M)/m`, so that every bound is a multiple
//! of
//!
//! `E (gain·h − loss·l − drift·r)₊`, `(h, l, r)` multinomial.
//!
//! Given `s = h + l` the counts `h` and `r` are independent binomials, so that `r` enters only through the
//! convex, piecewise linear function `E(x − R)₊`, which is kept at the integers and updated from one `s` to
//! the next. The cost is `O(m)`, not `O(m²)` or `O(m³)`, up to the logarithm of the accuracy: of each
//! binomial only a window of `O(√m)` counts matters.
//!
//! *Many reports.* Beyond [`EXACT`] reports the counts `s` are taken in blocks `s₁ ≤ s ≤ s₂`, and every `s`
//! of a block is charged as `s₂`, with a small addition. Proof. Let `Z` be the bracket for `s` pairs and `m −
//! s₂` others. The true bracket at `s` is at most `Z`, since it has more others, `m − s`, and others only
//! lower it. Each of `s₂ − s` further pairs adds `(gain − loss)/2` on average, whatever `Z` is, so that
//! `Z = E[Z₂ | Z] + (s₂ − s)(loss − gain)/2` for the bracket `Z₂` at `s₂`, and by Jensen's inequality
//! `E Z₊ ≤ E (Z₂ + (s₂ − s₁)(loss − gain)/2)₊`. Blocks are short enough for `δ` to grow by some parts in a
//! thousand, and `ε` by some parts in 10⁴.

use ndp_numeric::binomial_window::{BinomialWindow, Chance, geometric_tail, probability};
use ndp_numeric::rounding::{index, whole};

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
    /// If the goal is a comparison, the first value found that settles on which side of the given number the
    /// expectation lies.
    pub(crate) fn positive_part(&self, goal: Goal) -> f64 {
        // Ten standard deviations are enough for most losses. The far tails are summed only if what they may
        // contribute is not negligible.
        let mut best = f64::INFINITY;
        // The length of a window, and with it the rounding error, grows with the square root of the reports.
        let rounding = 1.0 + ROUNDING * (self.reports as f64 / EXACT as f64).max(1.0).sqrt();
        // With blocks the result is coarser, so a larger share of the tails may be left out.
        let enough = if self.reports > EXACT { 1e-7 } else { 1e-13 };
        for cut in [1e-24, 1e-60, 1e-150, 1e-290] {
            let (value, slack) = self.with_cut(cut);
            best = best.min(value * rounding);
            let settled = match goal {
                Goal::Value => false,
                Goal::Compare(bound) => best <= bound || value - slack > bound,
            };
            if settled || slack <= enough * value {
                break;
            }
        }
        best
    }

    /// The expectation over windows, rounded up, and by how much it may be too large.
    fn with_cut(&self, cut: f64) -> (f64, f64) {
        if self.reports > EXACT { self.by_blocks(cut) } else { self.by_counts(cut) }
    }

    /// The expectation with the counts `s` in blocks, see the module.
    fn by_blocks(&self, cut: f64) -> (f64, f64) {
        let mut pairs = BinomialWindow::default();
        pairs.fill(self.reports, self.pair, cut);
        let chances = pairs.probabilities();
        let (least, length) = (pairs.first(), chances.len() as u64);
        // A block is expensive if the other labels count, so there are fewer blocks then.
        let most_blocks = if self.drift > 0.0 { 256 } else { 2048 };
        let block = (length / most_blocks).max(whole(least as f64 * SHORT)).max(1);
        let (mut total, mut slack) = (0.0, 0.0);
        let mut end = length;
        while end > 0 {
            let start = end.saturating_sub(block);
            let s = least + end - 1;
            let trials = self.reports - s;
            let others = (self.drift > 0.0).then(|| Excess::new(trials, trials, self.rest, cut));
            let longer = (end - start - 1) as f64 * 0.5 * (self.loss - self.gain);
            // The bracket is a difference of numbers up to this size: its rounding error is charged.
            let size = s as f64 * (self.loss + self.gain) + trials as f64 * self.drift;
            let more = (longer + 8.0 * f64::EPSILON * size).next_up();
            let (value, dropped) = self.given_pairs(s, others.as_ref(), cut, more, &mut Coins::default());
            // The probability of the block.
            let chance: f64 = chances[index(start)..index(end)].iter().sum();
            total += chance * value;
            slack += chance * (dropped + others.map_or(0.0, |others| self.drift * others.error));
            end = start;
        }
        let dropped = self.gain * (pairs.below() * least as f64 + pairs.above() * self.reports as f64);
        (total + dropped, slack + dropped)
    }

    fn by_counts(&self, cut: f64) -> (f64, f64) {
        let mut pairs = BinomialWindow::default();
        pairs.fill(self.reports, self.pair, cut);
        let (least, most) = (pairs.first(), pairs.first() + pairs.probabilities().len() as u64 - 1);
        let mut others = if self.drift > 0.0 {
            Some(Excess::new(self.reports - most, self.reports - least, self.rest, cut))
        } else {
            None
        };
        let mut total = 0.0;
        let mut slack = others.as_ref().map_or(0.0, |others| self.drift * others.error);
        let mut coins = Coins::default();
        for (s, &chance) in (least..=most).rev().zip(pairs.probabilities().iter().rev()) {
            let (value, dropped) = self.given_pairs(s, others.as_ref(), cut, 0.0, &mut coins);
            total += chance * value;
            slack += chance * dropped;
            if let Some(others) = &mut others {
                others.add_trial();
            }
        }
        // The bracket is at most gain·h ≤ gain·s, and below the window s is at most `least`.
        let dropped = self.gain * (pairs.below() * least as f64 + pairs.above() * self.reports as f64);
        (total + dropped, slack + dropped)
    }

    /// The expectation given `s = h + l` of the positive part of a bracket that is larger by `more`, rounded
    /// up; and the part of it that was charged for the counts `h` left out.
    fn given_pairs(
        &self,
        s: u64,
        others: Option<&Excess>,
        cut: f64,
        more: f64,
        coins: &mut Coins,
    ) -> (f64, f64) {
        let step = self.gain + self.loss;
        let against = s as f64 * self.loss;
        let inverse_drift = 1.0 / self.drift;
        // As gain ≤ loss, the bracket is positive only for h above s/2 (if `more` is 0). Brackets below the
        // range of `others` are charged together, at the value of its first point.
        let (least, charge) = others
            .map_or((0.0, 0.0), |others| (self.drift * others.first as f64, self.drift * others.values[0]));
        let start = if more > 0.0 {
            whole((least + against - more) / step - 1.0)
        } else {
            whole(((least + against) / step).max(0.5 * s as f64))
        };
        if start > s {
            return (charge, charge);
        }
        let mut total = charge;
        let mut dropped = 0.0;
        let (mut h, mut chance) = (start, coins.probability(s, start));
        loop {
            let ratio = (s - h) as f64 / (h + 1) as f64;
            // The counts up to the mode are kept whatever their probability: beyond it the ratios are below
            // 1, as the geometric tail requires.
            if chance < cut && h > s / 2 {
                dropped = geometric_tail(chance, ratio) * (s as f64 * self.gain + more);
                break;
            }
            // Not h·step − against: if the loss is far above the gain, the digits of the gain would be lost.
            let balance = h as f64 * self.gain - (s - h) as f64 * self.loss + more;
            if balance > 0.0 {
                total += chance
                    * others.map_or(balance, |others| others.scaled(balance, self.drift, inverse_drift));
            }
            if h == s {
                break;
            }
            chance *= ratio;
            h += 1;
        }
        (total + dropped, dropped + charge)
    }
}

/// What an expectation is computed for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    /// Its value, to all digits.
    Value,
    /// A comparison: whether it is at most this number.
    Compare(f64),
}

/// Probabilities of `h` heads among `s` fair coins. Each is computed from the one before if that is near: one
/// coin less and one head more or less take up to four roundings each. After [`FRESH`] such steps the
/// probability is computed afresh.
#[derive(Default)]
struct Coins {
    s: u64,
    h: u64,
    value: f64,
    steps: u64,
}

impl Coins {
    fn probability(&mut self, s: u64, h: u64) -> f64 {
        let near = s + 1 == self.s && h.abs_diff(self.h) <= 4 && self.h <= s && self.steps < FRESH;
        let mut value = if near && self.value > 1e-250 {
            // C(s, h)/2^s = C(s + 1, h)/2^(s + 1) · 2 (s + 1 − h)/(s + 1).
            let mut value = self.value * (2 * (self.s - self.h)) as f64 / self.s as f64;
            while self.h < h {
                value *= (s - self.h) as f64 / (self.h + 1) as f64;
                self.h += 1;
                self.steps += 1;
            }
            while self.h > h {
                value *= self.h as f64 / (s - self.h + 1) as f64;
                self.h -= 1;
                self.steps += 1;
            }
            self.steps += 1;
            value
        } else {
            self.steps = 0;
            probability(s, h, Chance::HALF)
        };
        if !value.is_normal() {
            value = probability(s, h, Chance::HALF);
        }
        (self.s, self.h, self.value) = (s, h, value);
        value
    }
}

/// `E(x − R)₊` at the integers `x` of a range, rounded up, for a binomial `R` whose number of trials can be
/// increased by one at a time.
struct Excess {
    first: u64,
    values: Vec<f64>,
    spare: Vec<f64>,
    chance: Chance,
    /// The most by which a value may be too large.
    error: f64,
}

impl Excess {
    /// For `trials` trials, on a range wide enough for any number of them up to `most`.
    fn new(trials: u64, most: u64, chance: Chance, cut: f64) -> Self {
        let mut window = BinomialWindow::default();
        window.fill(most, chance, cut);
        let end = window.first() + window.probabilities().len() as u64;
        window.fill(trials, chance, cut);
        let first = window.first();
        // The first value is E(first − R)₊, and each next one is larger by the distribution function, which
        // is taken to be 1 beyond the window.
        let mut value = window.below() * first as f64;
        let mut below = window.below();
        let mut values = vec![value];
        let beyond = std::iter::repeat(1.0);
        for (_, probability) in (first..end).zip(window.probabilities().iter().copied().chain(beyond)) {
            below = (below + probability).min(1.0);
            value += below;
            values.push(value);
        }
        let error = values[0] + window.above() * values.len() as f64;
        let spare = values.clone();
        Self { first, values, spare, chance, error }
    }

    /// One more trial: `E(x − R − B)₊ = q E(x − R)₊ + p E(x − 1 − R)₊`.
    fn add_trial(&mut self) {
        let Chance { p, q } = self.chance;
        // Below the range, the value at its first point is charged.
        self.spare[0] = self.values[0];
        for ((new, here), before) in self.spare[1..].iter_mut().zip(&self.values[1..]).zip(&self.values) {
            *new = q * here + p * before;
        }
        std::mem::swap(&mut self.values, &mut self.spare);
    }

    /// `drift · E(x − R)₊` at `x = balance/drift`, rounded up.
    fn scaled(&self, balance: f64, drift: f64, inverse_drift: f64) -> f64 {
        let offset = balance * inverse_drift - self.first as f64;
        if offset <= 0.0 {
            return drift * self.values[0];
        }
        let last = self.values.len() - 1;
        let index = ndp_numeric::casts::floor(offset);
        if index < last {
            let part = offset - index as f64;
            return drift * ((1.0 - part) * self.values[index] + part * self.values[index + 1]);
        }
        // Beyond the range the slope is at most 1. The balance is used here since the quotient balance/drift
        // may be infinite.
        drift * self.values[last] + (balance - drift * (self.first + last as u64) as f64)
    }
}

/// Bound on the relative rounding error for up to [`EXACT`] reports: a window has at most some 10⁴ entries on
/// each side of its mode, each with three more roundings than the one before, and the probabilities of three
/// windows are multiplied.
const ROUNDING: f64 = 3e-11;
/// The most steps from one probability to the next before it is computed afresh; their rounding is 1e-12.
const FRESH: u64 = 1000;
/// The most reports whose counts are taken one by one.
pub(super) const EXACT: u64 = 100_000;
/// The length of a block of counts, relative to the counts.
const SHORT: f64 = 2e-4;

#[cfg(test)]
mod tests {
    use super::*;

    /// Probabilities computed from their neighbors against those computed one by one.
    #[test]
    fn coins_agree_with_single_probabilities() {
        for (top, share) in [(3_000_u64, 0.5), (3_000, 0.57), (400, 0.8), (60, 1.0), (5_000, 0.97)] {
            let mut coins = Coins::default();
            for s in (0..=top).rev() {
                let h = whole(share * s as f64);
                let (near, alone) = (coins.probability(s, h), probability(s, h, Chance::HALF));
                assert!((near - alone).abs() <= 3e-12 * alone, "{h} of {s}: {near} {alone}");
            }
        }
    }

    /// Blocks against single counts: never below, and at most 1 % above, for many and for few pairs, with and
    /// without others.
    #[test]
    fn blocks_are_bounds_and_tight() {
        for (pair, rest, drift) in
            [(0.3, 0.5, 0.004), (0.05, 0.9, 0.001), (0.7, 0.5, 0.0), (0.002, 0.2, 0.01)]
        {
            for lost in [0.0, 0.004, 0.02] {
                let sum = Trinomial {
                    reports: 130_000,
                    pair: Chance { p: pair, q: 1.0 - pair },
                    rest: Chance { p: rest, q: 1.0 - rest },
                    gain: 0.95 - lost,
                    loss: 0.95 + lost,
                    drift,
                };
                for cut in [1e-24, 1e-60] {
                    let (blocks, counts) = (sum.by_blocks(cut), sum.by_counts(cut));
                    // Both are charged for what they leave out, so the charge of the counts is subtracted.
                    assert!(
                        counts.0 - counts.1 <= blocks.0 * (1.0 + 1e-10),
                        "{pair} {lost}: {blocks:?} {counts:?}"
                    );
                    let allowed = counts.0 * 1.01 + counts.1 + blocks.1;
                    assert!(
                        blocks.0 <= allowed,
                        "{pair} {lost}: {blocks:?} {counts:?} {}",
                        blocks.0 / counts.0
                    );
                }
            }
        }
    }

    /// The number of heads may rise while the number of coins falls.
    #[test]
    fn coins_may_show_more_heads() {
        let mut coins = Coins::default();
        for s in (500..=900_u64).rev() {
            let h = 300 + (900 - s) / 3;
            let (near, alone) = (coins.probability(s, h), probability(s, h, Chance::HALF));
            assert!((near - alone).abs() <= 3e-12 * alone, "{h} of {s}: {near} {alone}");
        }
    }

    /// For 200 trials with probability 1/100 and a window that leaves out a thousandth, `E(x − R)₊` summed
    /// directly lies below the values by at most their stated error. The window begins at 0, so everything it
    /// leaves out is above it.
    #[test]
    fn what_a_window_leaves_out_is_charged() {
        let chance = Chance { p: 0.01, q: 0.99 };
        let excess = Excess::new(200, 200, chance, 1e-3);
        assert_eq!(excess.first, 0);
        for (x, &value) in excess.values.iter().enumerate() {
            let terms = (0..x as u64).map(|r| probability(200, r, chance) * (x as u64 - r) as f64);
            let exact: f64 = terms.sum();
            assert!(exact <= value * (1.0 + 1e-12), "{x}: {value} {exact}");
            assert!(value - exact <= excess.error * (1.0 + 1e-9) + 1e-14, "{x}: {value} {exact}");
        }
        assert!(excess.error > 1e-6 && excess.error < 0.1, "{}", excess.error);
    }

    /// Blocks for fewer reports: every count of a block is charged as its last one, plus half of the
    /// difference of loss and gain for each further pair.
    #[test]
    fn short_blocks_are_tight() {
        for (drift, lost) in [(0.0, 0.004), (0.004, 0.004), (0.004, 0.02)] {
            let sum = Trinomial {
                reports: 20_000,
                pair: Chance { p: 0.3, q: 0.7 },
                rest: Chance::HALF,
                gain: 0.95 - lost,
                loss: 0.95 + lost,
                drift,
            };
            let (blocks, counts) = (sum.by_blocks(1e-24), sum.by_counts(1e-24));
            assert!(counts.0 - counts.1 <= blocks.0 * (1.0 + 1e-10), "{drift} {lost}: {blocks:?} {counts:?}");
            assert!(blocks.0 <= counts.0 * 1.01, "{drift} {lost}: {blocks:?} {counts:?}");
            assert!(counts.1 < 1e-12 && blocks.1 < 1e-12, "{blocks:?} {counts:?}");
        }
    }
}
