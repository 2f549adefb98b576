//! The probabilities of a binomial law on a window around its mode, with proven bounds on what lies outside.
//!
//! An expectation over a binomial count is a sum of up to a million terms, of which a few thousand matter. A
//! window holds those. The caller adds the probability outside the window times the largest value, and so
//! rounds the expectation up.

use crate::binomial::{PMF_ERROR, log_pmf};
use crate::error::{OutOfRange, ensure};
use crate::rounding::{up, whole};

/// `P(X = k)` of a binomial `X` for `k` in `first..first + probabilities.len()`, to about 1e-16 times the
/// number of terms, and upper bounds on `P(X < first)` and on `P(X > last)`.
///
/// # Examples
/// ```
/// use ndp_numeric::binomial_window::BinomialWindow;
/// let window = BinomialWindow::new(1_000_000, 0.5, 1e-20)?;
/// let mass: f64 = window.probabilities().iter().sum();
/// assert!((mass - 1.0).abs() < 1e-9 && window.probabilities().len() < 20_000);
/// # Ok::<(), ndp_numeric::OutOfRange>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BinomialWindow {
    first: u64,
    probabilities: Vec<f64>,
    below: f64,
    above: f64,
    error: f64,
}

impl BinomialWindow {
    /// The window of the law of `trials` trials of probability `p` in which every probability is at least
    /// `cut`; it always contains the mode. A cut below the smallest normal float, 2.2e-308, counts as that
    /// one.
    ///
    /// # Errors
    /// [`OutOfRange`] unless `0 ≤ p ≤ 1` and `0 < cut < 1`, and when the window, whose width
    /// grows as `√(trials · ln(1/cut))`, would exceed 10⁷ entries.
    ///
    /// # Examples
    /// ```
    /// use ndp_numeric::binomial_window::BinomialWindow;
    /// // E 1/(1 + X), rounded up, for X binomial with 10^8 trials of probability 1e-6.
    /// let window = BinomialWindow::new(100_000_000, 1e-6, 1e-18)?;
    /// let inside: f64 = window.iter().map(|(k, p)| p / (k as f64 + 1.0)).sum();
    /// let mean = inside + window.below() + window.above() / 100.0;
    /// assert!((mean - 0.010_000_000).abs() < 1e-9);
    /// # Ok::<(), ndp_numeric::OutOfRange>(())
    /// ```
    pub fn new(trials: u64, p: f64, cut: f64) -> Result<Self, OutOfRange> {
        ensure((0.0..=1.0).contains(&p), "a success probability", "lie in [0, 1]", p)?;
        ensure(0.0 < cut && cut < 1.0, "the cut of a binomial window", "lie strictly between 0 and 1", cut)?;
        let (n, q) = (trials as f64, 1.0 - p);
        // Chernoff: beyond this distance from the mean every probability is below the cut.
        let reach = -libm::log(cut);
        let width = 2.0 * (reach + libm::sqrt(2.0 * reach * n * p * q));
        ensure(
            width.min(n) <= 1e7,
            "the number of trials of a binomial window",
            "give a window of at most 10^7 entries, which takes 80 MB",
            n,
        )?;
        let mut window = Self::default();
        window.fill(trials, Chance { p, q }, cut);
        Ok(window)
    }

    /// The counts of the window with their probabilities, in increasing order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, f64)> + '_ {
        (self.first..).zip(self.probabilities.iter().copied())
    }

    /// The smallest count of the window.
    #[must_use]
    pub const fn first(&self) -> u64 {
        self.first
    }

    /// The probabilities of `first()`, `first() + 1`, ….
    #[must_use]
    pub fn probabilities(&self) -> &[f64] {
        &self.probabilities
    }

    /// A bound on the relative error of every probability of the window, in units of [`f64::EPSILON`]: that
    /// of the one at the mode, and three for every step away from it.
    #[must_use]
    pub const fn error(&self) -> f64 {
        self.error
    }

    /// An upper bound on the probability of a count below the window.
    #[must_use]
    pub const fn below(&self) -> f64 {
        self.below
    }

    /// An upper bound on the probability of a count above the window.
    #[must_use]
    pub const fn above(&self) -> f64 {
        self.above
    }

    /// Replaces the content by the window of another law, reusing the memory.
    pub fn fill(&mut self, trials: u64, chance: Chance, cut: f64) {
        // Below the normal floats a ratio near 1 rounds to 1, and the probabilities would never fall below
        // the cut.
        let cut = cut.max(f64::MIN_POSITIVE);
        let (mode, at_mode) = mode(trials, chance);
        let log_at_mode = libm::log(at_mode).abs();
        self.probabilities.clear();
        self.probabilities.push(at_mode);
        // Downwards: P(k − 1) = P(k) · k q/((n − k + 1) p), the ratio decreasing towards 0.
        let back = chance.q / chance.p;
        let (mut k, mut value) = (mode, at_mode);
        self.below = 0.0;
        while k > 0 {
            let ratio = k as f64 / (trials - k + 1) as f64 * back;
            value *= ratio;
            if value < cut {
                self.below = geometric_tail(value, ratio);
                break;
            }
            self.probabilities.push(value);
            k -= 1;
        }
        self.first = k;
        self.probabilities.reverse();
        let ahead = chance.p / chance.q;
        (k, value) = (mode, at_mode);
        self.above = 0.0;
        while k < trials {
            let ratio = (trials - k) as f64 / (k + 1) as f64 * ahead;
            value *= ratio;
            if value < cut {
                self.above = geometric_tail(value, ratio);
                break;
            }
            self.probabilities.push(value);
            k += 1;
        }
        let steps = self.probabilities.len() as f64;
        self.error = PMF_ERROR * (1.0 + log_at_mode) + 2.0 + 3.0 * steps;
        (self.below, self.above) = (up(self.below, self.error + 4.0), up(self.above, self.error + 4.0));
    }
}

/// A probability with its complement, each to full relative accuracy.
#[derive(Clone, Copy, Debug)]
pub struct Chance {
    /// The probability of success.
    pub p: f64,
    /// The probability of failure, `1 − p`.
    pub q: f64,
}

impl Chance {
    /// A fair coin.
    pub const HALF: Self = Self { p: 0.5, q: 0.5 };
}

/// The mode of a binomial law, and its probability.
#[must_use]
pub fn mode(trials: u64, chance: Chance) -> (u64, f64) {
    let n = trials as f64;
    // Any count near the mode will do as a start. Above 2^53 the product may miss it by 1024, which is far
    // from it where failures are rare: then they are counted.
    let mode = if trials > 1 << 53 && chance.p > 0.5 {
        trials - whole((n + 1.0) * chance.q).min(trials)
    } else {
        whole((n + 1.0) * chance.p).min(trials)
    };
    (mode, probability(trials, mode, chance))
}

/// An upper bound on a sum of probabilities, `value (1 + r + r² + …)`: the first is `value` and consecutive
/// ones have ratios of at most `r`.
#[must_use]
pub fn geometric_tail(value: f64, ratio: f64) -> f64 {
    // A value rounded to zero may be anything below the smallest float.
    let value = value.max(f64::MIN_POSITIVE);
    // Past the mode the ratio is below 1. Next to the mode rounding may give 1 or more; then 1 is always a
    // bound.
    if ratio < 1.0 { (value / (1.0 - ratio)).min(1.0) } else { 1.0 }
}

/// `P(X = k)`, computed from the smaller of the two chances: the larger one has lost the digits that matter.
#[must_use]
pub fn probability(trials: u64, k: u64, chance: Chance) -> f64 {
    let Chance { p, q } = chance;
    libm::exp(if p <= 0.5 { log_pmf(k, trials, p) } else { log_pmf(trials - k, trials, q) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    /// Reference values: mpmath at 40 digits, from factorials.
    #[test]
    fn probabilities_near_the_mode_match_40_digits() {
        for (n, k, p, expected) in [
            (5, 2, 0.3, 0.308_7),
            (100, 10, 0.1, 0.13186534682448822),
            (10000, 3935, 0.3934, 0.008_164_315_087_711_215),
            (1000000, 1, 1e-06, 0.367_879_625_111_270_2),
            (1000000, 500000, 0.5, 0.000_797_884_361_331_750_1),
            (40, 39, 0.97, 0.36582963389583432),
            (1000, 20, 0.01, 0.0017918782400182234),
            (1000000000, 300010000, 0.3, 2.1696690344144855e-5),
        ] {
            assert_relative_eq!(probability(n, k, Chance { p, q: 1.0 - p }), expected, max_relative = 2e-14);
        }
    }

    #[test]
    fn windows_sum_to_one() -> Result<(), OutOfRange> {
        for n in [0, 1, 2, 7, 100, 12_345, 1_000_000, 1_000_000_000_000] {
            for p in [0.0, 1e-12, 1e-3, 0.3, 0.5, 0.999, 1.0] {
                let Ok(window) = BinomialWindow::new(n, p, 1e-20) else {
                    assert!(n > 1_000_000_000);
                    continue;
                };
                let sum: f64 = window.probabilities().iter().sum();
                // Each step of the recurrence rounds three times.
                let rounding = 4e-16 * window.probabilities().len() as f64;
                assert_relative_eq!(sum, 1.0, max_relative = 1e-14 + rounding);
                assert!(window.below() < 1e-15 && window.above() < 1e-15);
            }
        }
        Ok(())
    }

    #[test]
    fn rare_failures_among_more_trials_than_floats_can_count() -> Result<(), OutOfRange> {
        for trials in [13_510_799_687_430_221, 17_293_822_776_066_441_264, (1 << 62) + 12345, u64::MAX] {
            let window = BinomialWindow::new(trials, 1.0, 1e-8)?;
            assert_eq!((window.first(), window.probabilities()), (trials, [1.0].as_slice()));
            assert!(window.below() < 1e-300 && window.above() == 0.0);
            // Failures are nearly Poisson: the mirrored law has the same window.
            let q = 1.0 - (1.0 - f64::EPSILON / 2.0);
            let [few, many] = [q, 1.0 - q].map(|p| BinomialWindow::new(trials, p, 1e-20));
            let (few, many) = (few?, many?);
            let sum: f64 = many.probabilities().iter().sum();
            assert_relative_eq!(sum, 1.0, max_relative = 1e-11);
            assert_eq!(few.probabilities().len(), many.probabilities().len());
            assert!(many.below() < 1e-15 && many.above() < 1e-15);
        }
        Ok(())
    }

    #[test]
    fn cuts_below_the_normal_floats_end() -> Result<(), OutOfRange> {
        for (trials, p) in [(17_203_197_773_942_978_367, 9.5e-11), (68_719_476_735, 0.079), (1 << 33, 0.5)] {
            let window = BinomialWindow::new(trials, p, 5e-324)?;
            assert!(window.probabilities().len() <= 30_000_000);
            assert_eq!(window, BinomialWindow::new(trials, p, f64::MIN_POSITIVE)?);
        }
        Ok(())
    }

    #[test]
    fn tails_are_bounded_from_above() -> Result<(), OutOfRange> {
        for (n, p) in [(50, 0.3), (1000, 0.01), (30, 0.9)] {
            let all = BinomialWindow::new(n, p, 1e-300)?;
            for cut in [1e-3, 1e-8, 1e-20] {
                let window = BinomialWindow::new(n, p, cut)?;
                let last = window.first() + window.probabilities().len() as u64 - 1;
                let below: f64 = all.iter().filter(|&(k, _)| k < window.first()).map(|(_, p)| p).sum();
                let above: f64 = all.iter().filter(|&(k, _)| k > last).map(|(_, p)| p).sum();
                assert!(below <= window.below() && window.below() < 50.0 * cut);
                assert!(above <= window.above() && window.above() < 50.0 * cut);
            }
        }
        Ok(())
    }

    #[test]
    fn bad_input_is_refused() {
        let refused = |trials, p, cut| BinomialWindow::new(trials, p, cut).unwrap_err().name;
        assert_eq!(refused(3, f64::NAN, 1e-3), "a success probability");
        assert_eq!(refused(3, 1.5, 1e-3), "a success probability");
        assert_eq!(refused(3, 0.5, 0.0), "the cut of a binomial window");
        assert_eq!(refused(u64::MAX, 0.5, 1e-300), "the number of trials of a binomial window");
    }
}
