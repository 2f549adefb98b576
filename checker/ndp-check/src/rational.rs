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
    let whole = |part: &str| BigInt::parse_bytes(part.as_bytes(), 10).ok_or_else(no);
    let (top, bottom) = (whole(top)?, whole(bottom)?);
    if bottom == BigInt::ZERO {
        return rejected("a number divides by 0");
    }
    // Short ones are weights of the program, whose common denominators are to stay short.
    let is_short = top.bits() < 128 && bottom.bits() < 128;
    Ok(if is_short { BigRational::new(top, bottom) } else { BigRational::new_raw(top, bottom) })
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
