//! The profile of the Gaussian mechanism to hundreds of digits, in fixed point with 1200 bits.

use super::rational::Quotient;
use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};
use std::sync::LazyLock;

const BITS: u64 = 1200;

/// Half the width of the interval that [`profile`] gives.
const ERROR_BITS: u64 = 600;

/// Lower and upper bounds of `δ = Q(ε/μ − μ/2) − e^ε Q(ε/μ + μ/2)`, `2^-599` apart; `None` if an argument of
/// `Q`, or `ε`, is beyond 20. There are a few thousand roundings of `2^-1200`, and none of them is multiplied
/// by more than `e^(20 + 400)`, which is below `2^590`.
pub(crate) fn profile(epsilon: &Quotient, mu: &Quotient) -> Option<[Quotient; 2]> {
    let (quotient, half) = (epsilon.by(mu), mu.by(&Quotient::from_f64(2.0)));
    let (near, far) = (quotient.minus(&half), quotient.plus(&half));
    if [&near, &far, epsilon].into_iter().any(|x| x.to_f64().abs() > 20.0) {
        return None;
    }
    let (near, far, epsilon) = (fixed(&near), fixed(&far), fixed(epsilon));
    let value = tail(&near) - times(&exp(&epsilon), &tail(&far));
    let (one, error) = (BigInt::one() << BITS, BigInt::one() << (BITS - ERROR_BITS));
    Some([Quotient::new(&value - &error, one.clone()), Quotient::new(value + error, one)])
}

fn fixed(x: &Quotient) -> BigInt {
    (x.numerator() << BITS) / x.denominator()
}

fn times(a: &BigInt, b: &BigInt) -> BigInt {
    (a * b) >> BITS
}

/// `e^x` for `|x| <= 200`: the exponential of `x/256`, squared eight times.
fn exp(x: &BigInt) -> BigInt {
    let reduced = x.abs() >> 8u32;
    let one = BigInt::one() << BITS;
    let (mut sum, mut term, mut k) = (one.clone(), one.clone(), 1u32);
    while !term.is_zero() {
        term = times(&term, &reduced) / k;
        sum += &term;
        k += 1;
    }
    for _ in 0..8 {
        sum = times(&sum, &sum);
    }
    if x.is_negative() { (BigInt::one() << (2 * BITS)) / sum } else { sum }
}

/// `Q(x) = 1/2 − φ(x) Σ x^(2k+1)/(2k+1)!!`.
fn tail(x: &BigInt) -> BigInt {
    let square = times(x, x);
    let (mut sum, mut term, mut k) = (x.clone(), x.clone(), 1u32);
    // Terms rise until k reaches the square of x, at most 400; a negative term rounds to -1, and never to 0.
    while term.bits() > 1 {
        term = times(&term, &square) / (2 * k + 1);
        sum += &term;
        k += 1;
    }
    let density = (exp(&-(square >> 1u32)) << BITS) / &*ROOT;
    (BigInt::one() << (BITS - 1)) - times(&density, &sum)
}

/// `√(2π)`, `π` by Machin's formula.
static ROOT: LazyLock<BigInt> = LazyLock::new(|| {
    let arctan = |inverse: u32| {
        let (mut power, mut sum, mut k) = ((BigInt::one() << (BITS + 20)) / inverse, BigInt::zero(), 0u32);
        while !power.is_zero() {
            let term = &power / (2 * k + 1);
            sum += if k.is_multiple_of(2) { term } else { -term };
            power /= inverse * inverse;
            k += 1;
        }
        sum
    };
    let pi: BigInt = (arctan(5) * 16 - arctan(239) * 4) >> 20u32;
    (pi << (BITS + 1)).sqrt()
});

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Ordering;

    /// Against values of another program, to 40 and to 17 digits.
    #[test]
    fn values_match_known_digits() {
        let one = Quotient::from_f64(1.0);
        // At ε = 0 and μ = 2: 2 Φ(1) − 1 = erf(1/√2).
        let [low, high] = profile(&Quotient::zero(), &Quotient::from_f64(2.0)).unwrap();
        let digits: BigInt = "6826894921370858971704650912640758449558".parse().unwrap();
        let known = Quotient::new(digits.clone(), BigInt::from(10).pow(40));
        let next = Quotient::new(digits + 1, BigInt::from(10).pow(40));
        assert!(low.cmp(&known) == Ordering::Greater && high.cmp(&next) == Ordering::Less);
        // Q(1/2) − e Q(3/2).
        let [low, _] = profile(&one, &one).unwrap();
        assert!((low.to_f64() - 0.126_936_737_506_643_95).abs() < 1e-14);
        assert!(profile(&Quotient::from_f64(21.0), &one).is_none());
    }
}
