//! Sums whose error does not grow with their length, and outward rounding of values that are a few roundings
//! off.

/// A sum of nonnegative terms by Kahan's method; its error is two roundings for any number of terms below
/// 2^50. Infinite once a term is, or the sum overflows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Total {
    sum: f64,
    missing: f64,
}

impl Total {
    /// Adds a term.
    #[inline]
    pub fn add(&mut self, term: f64) {
        let term = term - self.missing;
        let sum = self.sum + term;
        // What is missing in an infinite sum would be NaN, and so would be every sum after it.
        self.missing = if sum.is_finite() { (sum - self.sum) - term } else { 0.0 };
        self.sum = sum;
    }

    /// The sum of the terms so far.
    #[inline]
    #[must_use]
    pub const fn value(&self) -> f64 {
        self.sum
    }
}

/// Rounds up a nonnegative value that is a few roundings off; 0 and `∞` are returned unchanged. A value below
/// the normal numbers has lost digits, and becomes the smallest normal number.
#[inline]
#[must_use]
pub fn up(value: f64) -> f64 {
    let raised = value * (1.0 + 4.0 * f64::EPSILON);
    if 0.0 < value && value < f64::MIN_POSITIVE { f64::MIN_POSITIVE } else { raised }
}

/// Rounds up a product or quotient of positive numbers like [`up`]; a result that underflowed to 0 was
/// positive, so it becomes the smallest normal number. NaN stays NaN.
#[inline]
#[must_use]
pub fn positive_up(value: f64) -> f64 {
    if value < f64::MIN_POSITIVE { f64::MIN_POSITIVE } else { up(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_infinite_sum_stays_infinite() {
        for terms in [[f64::INFINITY, 0.0, 1.0], [0.1, f64::INFINITY, 0.0], [f64::MAX, f64::MAX, 1.0]] {
            let mut total = Total::default();
            terms.iter().for_each(|&term| total.add(term));
            assert_eq!(total.value(), f64::INFINITY, "{terms:?}");
        }
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
        // A few roundings, and no more.
        for x in [f64::MIN_POSITIVE, 0.1, 1.0, 3e300] {
            assert!(up(x) >= x * (1.0 + 3.0 * f64::EPSILON) && up(x) <= x * (1.0 + 5.0 * f64::EPSILON));
        }
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
