//! Sizes of errors: nonnegative numbers with an exponent of their own, every operation rounded up.
//!
//! Errors are kept in units of the last place of a fixed-point format. In these units they can exceed the
//! largest `f64`, and in absolute terms they can fall below the smallest; neither may go unnoticed.

/// `mantissa · 2^exponent` with a mantissa of 0 or in `[1, 2)`: an upper bound on an absolute value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Magnitude {
    mantissa: f64,
    exponent: i64,
}

impl Magnitude {
    pub(crate) const ZERO: Self = Self { mantissa: 0.0, exponent: 0 };

    /// An upper bound on `|x| · 2^exponent`, for a finite `x`.
    pub(crate) fn new(x: f64, exponent: i64) -> Self {
        let x = x.abs();
        debug_assert!(x.is_finite());
        if x == 0.0 {
            return Self::ZERO;
        }
        // Subnormal numbers are scaled into the normal range first; both scalings are exact.
        let (x, lift) = if x < f64::MIN_POSITIVE { (x * TWO_64, 64) } else { (x, 0) };
        let power = ((x.to_bits() >> 52) & 0x7ff).cast_signed() - 1023;
        let mantissa = f64::from_bits((x.to_bits() & !(0x7ff << 52)) | (1023 << 52));
        Self { mantissa, exponent: exponent + power - lift }
    }

    /// `2^exponent`.
    pub(crate) fn power(exponent: i64) -> Self {
        Self { mantissa: 1.0, exponent }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        let (large, small) = if self < other { (other, self) } else { (self, other) };
        if small.mantissa == 0.0 {
            return large;
        }
        let apart = large.exponent - small.exponent;
        // If the exponents differ by more than 60, rounding upwards below covers the smaller number.
        let shifted = if apart <= 60 { small.mantissa * power_of_two(-apart) } else { 0.0 };
        Self::new((large.mantissa + shifted) * UP, large.exponent)
    }

    pub(crate) fn times(self, other: Self) -> Self {
        Self::new(self.mantissa * other.mantissa * UP, self.exponent + other.exponent)
    }

    /// The square, `self²`: mantissa squared, exponent doubled.
    pub(crate) fn squared(self) -> Self {
        self.times(self)
    }

    /// An upper bound of the root.
    pub(crate) fn root(self) -> Self {
        let (mantissa, exponent) = if self.exponent % 2 == 0 {
            (self.mantissa, self.exponent)
        } else {
            (2.0 * self.mantissa, self.exponent - 1)
        };
        Self::new(mantissa.sqrt() * UP, exponent / 2)
    }

    /// As an `f64`, rounded up: infinite above the range, and the smallest positive number below it.
    pub(crate) fn to_f64(self) -> f64 {
        if self.mantissa == 0.0 {
            0.0
        } else if self.exponent > 1022 {
            f64::INFINITY
        } else if self.exponent < -1020 {
            f64::MIN_POSITIVE
        } else {
            self.mantissa * power_of_two(self.exponent)
        }
    }

    /// The binary logarithm; negative infinity for 0.
    pub(crate) fn log2(self) -> f64 {
        self.mantissa.log2() + self.exponent as f64
    }
}

impl PartialOrd for Magnitude {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        match (self.mantissa == 0.0, other.mantissa == 0.0) {
            (true, true) => Some(std::cmp::Ordering::Equal),
            (true, false) => Some(std::cmp::Ordering::Less),
            (false, true) => Some(std::cmp::Ordering::Greater),
            (false, false) => (self.exponent, self.mantissa).partial_cmp(&(other.exponent, other.mantissa)),
        }
    }
}

/// `2^exponent` for exponents of normal numbers.
pub(crate) fn power_of_two(exponent: i64) -> f64 {
    debug_assert!((-1022..=1023).contains(&exponent));
    f64::from_bits((exponent + 1023).cast_unsigned() << 52)
}

/// `x · 2^exponent` for any exponent, in steps that stay in range; infinite or 0 if the result is out of
/// range.
pub fn times_power(x: f64, exponent: i64) -> f64 {
    let (mut x, mut left) = (x, exponent.clamp(-4200, 4200));
    while left != 0 {
        let step = left.clamp(-1000, 1000);
        x *= power_of_two(step);
        left -= step;
    }
    x
}

/// A factor that covers the rounding errors of one operation.
const UP: f64 = 1.0 + 4.0 * f64::EPSILON;
const TWO_64: f64 = 18_446_744_073_709_551_616.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_round_up() {
        let third = Magnitude::new(1.0 / 3.0, 0);
        assert!(third.plus(third).plus(third).to_f64() >= 1.0);
        assert!(third.times(Magnitude::new(3.0, 0)).to_f64() >= 1.0);
        assert!(third.plus(third).to_f64() < 0.667);
        assert!(Magnitude::new(2.0, 0).root().to_f64() >= 2.0_f64.sqrt());
    }

    #[test]
    fn exponents_have_no_limits() {
        let tiny = Magnitude::new(5e-324, -4000);
        assert_eq!(tiny.log2(), -1074.0 - 4000.0);
        assert!(tiny.to_f64() > 0.0);
        assert_eq!(Magnitude::new(1.5, 4000).to_f64(), f64::INFINITY);
        assert_eq!(Magnitude::new(1.5, 4000).times(Magnitude::new(2.0, -4000)).to_f64(), 3.0 * UP);
        assert_eq!(Magnitude::new(1.0, -3).squared().root().log2().round(), -3.0);
        assert_eq!(Magnitude::ZERO.plus(Magnitude::ZERO), Magnitude::ZERO);
        assert!(Magnitude::ZERO < tiny);
    }

    #[test]
    fn powers_scale_in_steps() {
        assert_eq!(times_power(3.0, 10), 3072.0);
        assert_eq!(times_power(1.0, -1074), 5e-324);
        assert_eq!(times_power(5e-324, 1074), 1.0);
        assert_eq!(times_power(1.0, 5000), f64::INFINITY);
    }

    #[test]
    fn roots_round_up_at_every_exponent() {
        for exponent in -9..10 {
            for mantissa in [1.0, 1.3, 1.9] {
                let x = mantissa * power_of_two(exponent);
                let root = Magnitude::new(x, 0).root().to_f64();
                assert!(root >= x.sqrt() && root <= x.sqrt() * (1.0 + 1e-14), "{x}: {root}");
            }
        }
    }
}
