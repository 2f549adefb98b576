//! The exponential function of exact numbers, with lower and upper bounds.

use super::rational::Quotient;
use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};

/// Fractional bits of the arithmetic; digits below about `2^-800` are lost.
const BITS: u64 = 900;

/// Bounds of `e^x` for `0 <= x <= 2000`, whose relative distance is at most `2^-500`.
pub(crate) fn exp(x: &Quotient) -> [Quotient; 2] {
    [Rounding::Down, Rounding::Up].map(|rounding| {
        let mut halvings = 0;
        let mut reduced = rounding.divide(x.numerator() << BITS, x.denominator());
        while reduced > BigInt::one() << (BITS - 1) {
            reduced = rounding.divide(reduced, &BigInt::from(2));
            halvings += 1;
        }
        let one = BigInt::one() << BITS;
        let (mut sum, mut term) = (one.clone(), one.clone());
        let mut k = 1_u32;
        // A term rounded upwards never becomes 0: stop at one unit, which bounds all terms that follow.
        while term > BigInt::one() {
            term = rounding.divide(term * &reduced, &(BigInt::from(k) << BITS));
            sum += &term;
            k += 1;
        }
        if matches!(rounding, Rounding::Up) {
            sum += 2;
        }
        for _ in 0..halvings {
            sum = rounding.divide(&sum * &sum, &one);
        }
        Quotient::new(sum, one)
    })
}

#[derive(Clone, Copy)]
enum Rounding {
    Down,
    Up,
}

impl Rounding {
    /// The quotient of a nonnegative and a positive integer.
    fn divide(self, a: BigInt, b: &BigInt) -> BigInt {
        debug_assert!(!a.is_negative() && b.is_positive());
        let (quotient, rest) = (&a / b, &a % b);
        if matches!(self, Self::Up) && !rest.is_zero() { quotient + 1 } else { quotient }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Ordering;

    /// Against 40 digits of e, and against the rule `e^(a+b) = e^a e^b`.
    #[test]
    fn bounds_enclose_and_are_close() {
        let [low, high] = exp(&Quotient::from_f64(1.0));
        let digits: BigInt = "27182818284590452353602874713526624977572".parse().unwrap();
        let e = Quotient::new(digits.clone(), BigInt::from(10).pow(40));
        let next = Quotient::new(digits + 1, BigInt::from(10).pow(40));
        assert!(low.cmp(&e) == Ordering::Greater && high.cmp(&next) == Ordering::Less);
        for x in [0.0, 1e-300, 2.3e-16, 0.3, 0.5, 0.75, 40.0, 700.0] {
            let [low, high] = exp(&Quotient::from_f64(x));
            assert_ne!(low.cmp(&high), Ordering::Greater);
            assert!((high.to_f64() / low.to_f64() - 1.0).abs() < 1e-15);
            assert!((low.to_f64() / x.exp() - 1.0).abs() < 1e-13, "{x}");
            let [low_twice, high_twice] = exp(&Quotient::from_f64(2.0 * x));
            assert_ne!(low.times(&low).cmp(&high_twice), Ordering::Greater);
            assert_ne!(high.times(&high).cmp(&low_twice), Ordering::Less);
        }
    }
}
