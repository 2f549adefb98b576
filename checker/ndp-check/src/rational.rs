//! Exact numbers: how they are written, and sums of them as whole numbers over one denominator.
//!
//! Witnesses have long numbers, of which every greatest common divisor takes longer than all else. So
//! fractions that are read stay as they are, what is computed of them stays whole, and two fractions are
//! compared by products.

use crate::json::Json;
use crate::{Rejected, rejected};
use num_bigint::{BigInt, Sign};
use num_rational::BigRational;

/// How long the text of a number may be.
const MOST_DIGITS: usize = 100_000;

/// The number that a text says, as a fraction that need not be in lowest terms.
///
/// # Errors
/// [`Rejected`] for anything but an optional minus, digits, and a slash with digits that are not all 0.
pub(crate) fn number(json: &Json) -> Result<BigRational, Rejected> {
    let Some(text) = json.text() else { return rejected(format!("{json:?} is no exact number")) };
    let no = || {
        let start: String = text.chars().take(40).collect();
        Rejected(format!("{start:?} is no exact number"))
    };
    let (top, bottom) = text.split_once('/').unwrap_or((text, "1"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if text.len() > MOST_DIGITS || !digits(top.strip_prefix('-').unwrap_or(top)) || !digits(bottom) {
        return Err(no());
    }
    // Machine numbers, which most are.
    if top.len() < 19 && bottom.len() < 19 {
        let (Ok(top), Ok(bottom)) = (top.parse::<i64>(), bottom.parse::<i64>()) else { return Err(no()) };
        if bottom == 0 {
            return rejected("a number divides by 0");
        }
        let common = common_divisor(top.unsigned_abs(), bottom.unsigned_abs()) as i64;
        return Ok(BigRational::new_raw((top / common).into(), (bottom / common).into()));
    }
    let whole = |part: &str| BigInt::parse_bytes(part.as_bytes(), 10).ok_or_else(no);
    let (top, bottom) = (whole(top)?, whole(bottom)?);
    if bottom == BigInt::ZERO {
        return rejected("a number divides by 0");
    }
    // Short ones are weights of the program, whose common denominators are to stay short.
    let is_short = top.bits() < 128 && bottom.bits() < 128;
    Ok(if is_short { BigRational::new(top, bottom) } else { BigRational::new_raw(top, bottom) })
}

/// The greatest common divisor of two numbers of which the second is not 0.
fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    if a == 0 {
        return b;
    }
    let shared = (a | b).trailing_zeros();
    a >>= a.trailing_zeros();
    while b != 0 {
        b >>= b.trailing_zeros();
        if a > b {
            std::mem::swap(&mut a, &mut b);
        }
        b -= a;
    }
    a << shared
}

/// The number 0.
pub(crate) fn zero() -> BigRational {
    BigRational::new_raw(BigInt::ZERO, BigInt::from(1))
}

/// The number 1.
pub(crate) fn one() -> BigRational {
    BigRational::new_raw(BigInt::from(1), BigInt::from(1))
}

/// Whether a number is 0.
pub(crate) fn is_zero(x: &BigRational) -> bool {
    *x.numer() == BigInt::ZERO
}

/// Whether a number is below 0.
pub(crate) fn is_negative(x: &BigRational) -> bool {
    x.numer().sign() == Sign::Minus
}

/// Whether `a <= b`.
pub(crate) fn at_most(a: &BigRational, b: &BigRational) -> bool {
    a.numer() * b.denom() <= b.numer() * a.denom()
}

/// A number in lowest terms, to be shown.
pub(crate) fn shown(x: &BigRational) -> BigRational {
    BigRational::new(x.numer().clone(), x.denom().clone())
}

/// `x d`, for a multiple `d` of its denominator.
pub(crate) fn times(x: &BigRational, d: &BigInt) -> BigInt {
    if x.denom() == d { x.numer().clone() } else { x.numer() * (d / x.denom()) }
}

/// A common multiple of positive whole numbers: mostly one of them is a multiple of the others.
pub(crate) fn common_multiple<'a>(numbers: impl Iterator<Item = &'a BigInt>) -> BigInt {
    numbers.fold(BigInt::from(1), |sum, x| {
        if &sum % x == BigInt::ZERO {
            sum
        } else if x % &sum == BigInt::ZERO {
            x.clone()
        } else {
            // The denominator in lowest terms is what `x` has beyond `sum`.
            BigRational::new(sum.clone(), x.clone()).denom() * sum
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Short and long texts of the same numbers, and what is none.
    #[test]
    fn numbers_in_lowest_terms() {
        let of = |text: &str| number(&Json::Text(text.into()));
        for (text, top, bottom) in
            [("0", 0, 1), ("0/7", 0, 1), ("-6/4", -3, 2), ("48/1", 48, 1), ("7/49", 1, 7)]
        {
            let found = of(text).expect(text);
            assert_eq!((found.numer(), found.denom()), (&top.into(), &bottom.into()), "{text}");
            // The same times 10^20, which no machine number holds.
            let (a, b) = text.split_once('/').unwrap_or((text, "1"));
            let zeros = "0".repeat(20);
            assert_eq!(of(&format!("{a}{zeros}/{b}{zeros}")).expect(text), found, "{text}");
        }
        let long = "9".repeat(60);
        assert_eq!(of(&long).expect("long").to_string(), long);
        for text in ["", "-", "+1", "1/", "/1", "1/-2", "1/0", "0x1", "1e3", " 1", "1/2/3", "--1"] {
            assert!(of(text).is_err(), "{text}");
            assert!(of(&format!("{text}{long}x")).is_err(), "{text}");
        }
    }
}
