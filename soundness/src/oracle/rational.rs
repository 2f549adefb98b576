//! Exact numbers, and their comparison with the reported numbers.

use num_bigint::{BigInt, Sign};
use num_traits::{One, Signed, ToPrimitive, Zero};
use std::cmp::Ordering;

/// A quotient of integers, not reduced; the denominator is positive.
#[derive(Clone, Debug)]
pub(crate) struct Quotient {
    numerator: BigInt,
    denominator: BigInt,
}

impl Quotient {
    pub(crate) fn new(numerator: BigInt, denominator: BigInt) -> Self {
        debug_assert_ne!(denominator.sign(), Sign::NoSign);
        if denominator.is_negative() {
            Self { numerator: -numerator, denominator: -denominator }
        } else {
            Self { numerator, denominator }
        }
    }

    pub(crate) fn numerator(&self) -> &BigInt {
        &self.numerator
    }

    pub(crate) fn denominator(&self) -> &BigInt {
        &self.denominator
    }

    /// The number that a finite `f64` stores.
    pub(crate) fn from_f64(x: f64) -> Self {
        let (mantissa, exponent) = dyadic(x);
        if exponent >= 0 {
            Self { numerator: mantissa << exponent, denominator: BigInt::one() }
        } else {
            Self { numerator: mantissa, denominator: BigInt::one() << -exponent }
        }
    }

    pub(crate) fn zero() -> Self {
        Self { numerator: BigInt::zero(), denominator: BigInt::one() }
    }

    /// The sum. Losses of one view share a denominator, or have a small one.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        if self.denominator == other.denominator {
            let numerator = &self.numerator + &other.numerator;
            return Self { numerator, denominator: self.denominator.clone() };
        }
        Self {
            numerator: &self.numerator * &other.denominator + &other.numerator * &self.denominator,
            denominator: &self.denominator * &other.denominator,
        }
    }

    pub(crate) fn times(&self, other: &Self) -> Self {
        Self {
            numerator: &self.numerator * &other.numerator,
            denominator: &self.denominator * &other.denominator,
        }
    }

    /// The quotient by a nonzero number.
    pub(crate) fn by(&self, other: &Self) -> Self {
        Self::new(&self.numerator * &other.denominator, &self.denominator * &other.numerator)
    }

    pub(crate) fn minus(&self, other: &Self) -> Self {
        self.plus(&Self { numerator: -&other.numerator, denominator: other.denominator.clone() })
    }

    pub(crate) fn cmp(&self, other: &Self) -> Ordering {
        (&self.numerator * &other.denominator).cmp(&(&other.numerator * &self.denominator))
    }

    pub(crate) fn over(&self, n: usize) -> Self {
        Self { numerator: self.numerator.clone(), denominator: &self.denominator * n }
    }

    /// An `f64` that is not above the number, and within a few units in the last place of it.
    pub(crate) fn below(&self) -> f64 {
        let mut near = self.to_f64();
        while self.compare(near) == Ordering::Less {
            near = near.next_down();
        }
        near
    }

    /// The exact comparison with `x`, which may be infinite.
    pub(crate) fn compare(&self, x: f64) -> Ordering {
        if x.is_infinite() {
            return if x > 0.0 { Ordering::Less } else { Ordering::Greater };
        }
        let x = Self::from_f64(x);
        (&self.numerator * x.denominator).cmp(&(x.numerator * &self.denominator))
    }

    /// The nearest `f64`, up to a few units in the last place; only for messages and tolerances.
    pub(crate) fn to_f64(&self) -> f64 {
        if self.numerator.is_zero() {
            return 0.0;
        }
        let wanted = 100 + self.denominator.bits() as i64 - self.numerator.bits() as i64;
        let quotient = if wanted >= 0 {
            (&self.numerator << wanted) / &self.denominator
        } else {
            &self.numerator / (&self.denominator << -wanted)
        };
        let near = quotient.to_f64().unwrap_or(f64::INFINITY);
        // In two steps, so that no power of two overflows or rounds to 0 on the way.
        let half = (wanted / 2).clamp(-2000, 2000) as i32;
        let rest = (wanted - i64::from(half)).clamp(-2000, 2000) as i32;
        near * 2f64.powi(-half) * 2f64.powi(-rest)
    }
}

/// Floats as integers over a common power of two.
pub(crate) fn integers(values: impl Iterator<Item = f64>) -> Vec<BigInt> {
    let parts: Vec<(BigInt, i32)> = values.map(dyadic).collect();
    let least = parts.iter().filter(|(m, _)| !m.is_zero()).map(|(_, e)| *e).min().unwrap_or(0);
    parts.into_iter().map(|(m, e)| if m.is_zero() { m } else { m << (e - least) }).collect()
}

/// Mantissa and exponent: `x = mantissa · 2^exponent`, exactly.
pub(crate) fn dyadic(x: f64) -> (BigInt, i32) {
    debug_assert!(x.is_finite());
    let bits = x.to_bits();
    let biased = ((bits >> 52) & 0x7ff) as i32;
    let fraction = bits & ((1 << 52) - 1);
    let (mantissa, exponent) =
        if biased == 0 { (fraction, -1074) } else { (fraction | (1 << 52), biased - 1075) };
    let zeros = if mantissa == 0 { 0 } else { mantissa.trailing_zeros() as i32 };
    let mantissa = BigInt::from(mantissa >> zeros);
    (if x.is_sign_negative() { -mantissa } else { mantissa }, exponent + zeros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_come_back() {
        for x in [0.0, 1.0, -0.3, 1.0 / 3.0, 5e-324, 1e-300, 1e300, f64::MAX, -7e-11, 6.0] {
            let exact = Quotient::from_f64(x);
            assert_eq!(exact.compare(x), Ordering::Equal, "{x}");
            assert_eq!(exact.compare(x.next_up()), Ordering::Less, "{x}");
            assert_eq!(exact.compare(x.next_down()), Ordering::Greater, "{x}");
            assert_eq!(exact.compare(f64::INFINITY), Ordering::Less);
            assert_eq!(exact.to_f64(), x);
        }
        let third = Quotient::new(BigInt::from(-1), BigInt::from(-3));
        assert_eq!(third.compare(1.0 / 3.0), Ordering::Greater);
        assert_eq!(third.to_f64(), 1.0 / 3.0);
    }
}
