//! Small numerical tools: counts from real numbers, sums whose error does not grow with their length.

/// `⌊x⌋` as a count: 0 for what is negative or no number, the largest count for what is too large.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "such casts saturate, which is what is promised"
)]
pub(crate) fn floor(x: f64) -> usize {
    x as usize
}

/// `x` as an integer, towards 0: the nearest one that there is beyond 64 bits, 0 for what is no number.
#[allow(clippy::cast_possible_truncation, reason = "such casts saturate, which is what is promised")]
pub(crate) fn integer(x: f64) -> i64 {
    x as i64
}

/// A place in a list as sparse rows hold it.
///
/// # Panics
/// For `2^32` and more: no graph has as many nodes, and lists of as many entries exceed every memory limit long before.
#[inline]
pub(crate) fn id(place: usize) -> u32 {
    u32::try_from(place).expect("fewer than 2^32 nodes, noises and entries")
}

/// `x` modulo `2^64`.
#[allow(clippy::cast_possible_truncation, reason = "the upper half is cut off on purpose")]
#[inline]
pub(crate) const fn low(x: u128) -> u64 {
    x as u64
}

/// A sum of nonnegative terms by Kahan's method, two roundings away whatever their number (below 2^50).
#[derive(Clone, Copy, Default)]
pub(crate) struct Total {
    sum: f64,
    missing: f64,
}

impl Total {
    pub(crate) fn add(&mut self, term: f64) {
        let term = term - self.missing;
        let sum = self.sum + term;
        self.missing = (sum - self.sum) - term;
        self.sum = sum;
    }

    pub(crate) const fn value(&self) -> f64 {
        self.sum
    }
}

/// A nonnegative value a few roundings away, rounded up; 0 and `∞` stay. What is below the normal numbers has lost digits, and becomes
/// the smallest of them.
pub(crate) fn up(value: f64) -> f64 {
    let raised = value * (1.0 + 4.0 * f64::EPSILON);
    if 0.0 < value && value < f64::MIN_POSITIVE { f64::MIN_POSITIVE } else { raised }
}

/// A product or quotient of positive numbers, rounded up as by [`up`]: what underflowed to 0 was positive. What is no number stays
/// none.
pub(crate) fn positive_up(value: f64) -> f64 {
    if value < f64::MIN_POSITIVE { f64::MIN_POSITIVE } else { up(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_saturate() {
        assert_eq!((floor(-1.0), floor(f64::NAN), floor(2.9), floor(1e300)), (0, 0, 2, usize::MAX));
    }

    #[test]
    fn small_values_are_rounded_up() {
        assert_eq!((up(0.0), up(1e-320), positive_up(0.0)), (0.0, f64::MIN_POSITIVE, f64::MIN_POSITIVE));
        assert!(
            positive_up(f64::NAN).is_nan()
                && up(0.1) > 0.1
                && up(f64::INFINITY) == f64::INFINITY
                && positive_up(3.0) == up(3.0)
        );
    }

    #[test]
    fn long_sums_keep_their_digits() {
        let mut total = Total::default();
        let mut naive = 0.0;
        for _ in 0..10_000_000 {
            total.add(0.1);
            naive += 0.1;
        }
        assert!((total.value() - 1e6).abs() < 1e-9 && f64::abs(naive - 1e6) > 1e-5);
    }
}
