//! Greatest common divisors of long integers, thirty bits at a time (Lehmer 1938), and ratios in lowest
//! terms.
//!
//! Euclid's quotients are found from the leading 64 bits of both numbers, as long as these determine them
//! (Collins' condition; Jebelean 1995), and many steps are applied to the long numbers at once: `(a, b)`
//! becomes `(p a - q b, s b - r a)` with `p s - q r = ±1`. A map with this determinant has an integer
//! inverse, so it keeps the common divisors, whatever quotients it came from. The leading bits decide only
//! how fast this is, not the result. The code checks that `p s - q r = ±1` and that neither number became
//! negative or too long; otherwise it takes one step of division instead.

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

/// The greatest common divisor; that of 0 and `x` is `x`.
#[must_use]
pub fn greatest_common_divisor(a: &BigUint, b: &BigUint) -> BigUint {
    let (mut a, mut b) = (a.clone(), b.clone());
    loop {
        if a < b {
            std::mem::swap(&mut a, &mut b);
        }
        if b.is_zero() {
            return a;
        }
        if b.bits() <= 64 {
            return (a % &b).gcd(&b);
        }
        match by_leading_bits(&a, &b) {
            Some(smaller) => (a, b) = smaller,
            None => a %= &b,
        }
    }
}

/// The least common multiple of two positive integers; fast if the second divides the first.
#[must_use]
pub fn least_common_multiple(a: BigInt, b: &BigInt) -> BigInt {
    if b.is_one() || a == *b || (&a % b).is_zero() {
        return a;
    }
    let divisor = BigInt::from(greatest_common_divisor(a.magnitude(), b.magnitude()));
    a / divisor * b
}

/// `above/below` in lowest terms, its denominator positive; `below` is positive.
#[must_use]
pub fn lowest_terms(above: BigInt, below: BigInt) -> BigRational {
    debug_assert!(below.is_positive(), "a denominator is positive");
    if below.is_one() {
        return BigRational::new_raw(above, below);
    }
    let divisor = BigInt::from(greatest_common_divisor(above.magnitude(), below.magnitude()));
    if divisor.is_one() {
        return BigRational::new_raw(above, below);
    }
    BigRational::new_raw(above / &divisor, below / divisor)
}

/// Smaller numbers with the same common divisors, by the map that the leading bits of `a >= b` determine;
/// `None` if they would not be smaller.
fn by_leading_bits(a: &BigUint, b: &BigUint) -> Option<(BigUint, BigUint)> {
    let down = a.bits() - 64;
    let leading = |x: &BigUint| (x >> down).iter_u64_digits().next().unwrap_or(0);
    let map = Map::of(leading(a), leading(b))?;
    let next = (combined(a, map.rows[0], b, map.rows[1])?, combined(b, map.rows[2], a, map.rows[3])?);
    // Refuse a step that makes the numbers no shorter.
    (next.0.bits() + next.1.bits() < a.bits() + b.bits()).then_some(next)
}

/// `(a, b) -> ±(p a - q b, s b - r a)`: the absolute values `p, q, s, r`; their order contains the sign.
struct Map {
    rows: [i128; 4],
}

impl Map {
    /// The steps of division that two leading parts determine; `None` if they determine none.
    fn of(mut x: u64, mut y: u64) -> Option<Self> {
        // The absolute values of the factors of a and b in the last two remainders; their signs alternate.
        let (mut u, mut v) = ([0u64, 1, 0], [0u64, 0, 1]);
        let mut even = false;
        while y >= v[2] && x - y >= v[1].checked_add(v[2])? && y > 0 {
            let quotient = x / y;
            (x, y) = (y, x % y);
            u = [u[1], u[2], quotient.checked_mul(u[2])?.checked_add(u[1])?];
            v = [v[1], v[2], quotient.checked_mul(v[2])?.checked_add(v[1])?];
            even = !even;
        }
        if v[0] == 0 || u[1] > SHORT || v[1] > SHORT {
            return None;
        }
        let sign = if even { 1 } else { -1 };
        let [p, q, s, r] = [u[0], v[0], v[1], u[1]].map(i128::from);
        (p * s - q * r == 1 || p * s - q * r == -1)
            .then_some(Self { rows: [sign * p, sign * q, sign * s, sign * r] })
    }
}

/// `p a - q b` for factors of at most 32 bits; `None` if it is negative or longer than `a` and `b`.
fn combined(a: &BigUint, p: i128, b: &BigUint, q: i128) -> Option<BigUint> {
    let (mut a, mut b) = (a.iter_u64_digits(), b.iter_u64_digits());
    let mut words = Vec::with_capacity(2 * a.len().max(b.len()));
    let mut carry = 0i128;
    for _ in 0..a.len().max(b.len()) {
        // The product sum is below 2^96 in absolute value, and the carry below 2^33.
        carry += p * i128::from(a.next().unwrap_or(0)) - q * i128::from(b.next().unwrap_or(0));
        words.extend([low(carry), low(carry >> 32)]);
        carry >>= 64;
    }
    (carry == 0).then(|| BigUint::new(words))
}

/// The last 32 bits.
fn low(x: i128) -> u32 {
    let [a, b, c, d, ..] = x.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// The largest factor of a map.
const SHORT: u64 = u32::MAX as u64;

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Compared with the binary algorithm of `num-integer`: random numbers of many lengths with common
    /// divisors, powers of two and their neighbors, multiples, and the worst case of Euclid's algorithm.
    #[test]
    fn divisors_are_those_of_the_binary_algorithm() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut number = |words: usize| {
            let words: Vec<u32> = (0..words)
                .map(|_| match rng.random_range(0..6) {
                    0 => 0,
                    1 => u32::MAX,
                    _ => rng.random(),
                })
                .collect();
            BigUint::new(words)
        };
        let mut cases = Vec::new();
        for size in 0..400 {
            let common = number(size % 7);
            let (a, b) = (number(size % 41) * &common, number(1 + size * 7 % 37) * common);
            cases.extend([(&a * &b, b.clone()), (&a + 1u32, a.clone()), (a, b)]);
        }
        for bits in 1..300 {
            let power: BigUint = BigUint::one() << bits;
            cases.extend([(power.clone(), &power - 1u32), (&power + 1u32, &power - 1u32)]);
        }
        let (mut a, mut b) = (BigUint::one(), BigUint::one());
        for _ in 0..600 {
            (a, b) = (&a + &b, a);
            cases.push((a.clone(), b.clone()));
        }
        for (a, b) in cases {
            let expected = a.gcd(&b);
            assert_eq!(greatest_common_divisor(&a, &b), expected, "{a} {b}");
            assert_eq!(greatest_common_divisor(&b, &a), expected, "{b} {a}");
        }
    }

    /// If the leading bits did not allow many steps at once, this would be slower than division.
    #[test]
    fn leading_bits_take_many_steps_at_once() {
        let (mut a, mut b) = (BigUint::one(), BigUint::one());
        while a.bits() < 1000 {
            (a, b) = (&a + &b, a);
        }
        let mut steps = 0;
        while b.bits() > 64 {
            let smaller = by_leading_bits(&a, &b);
            assert!(smaller.is_some(), "{a} {b}");
            let Some(smaller) = smaller else { return };
            (a, b) = smaller;
            steps += 1;
        }
        assert!(steps <= 40, "{steps}");
    }

    #[test]
    fn ratios_are_in_lowest_terms() {
        for (above, below) in [(0, 1), (0, 12), (6, 4), (-6, 4), (-7, 1), (35, 49)] {
            let (above, below) = (BigInt::from(above), BigInt::from(below));
            let (found, expected) =
                (lowest_terms(above.clone(), below.clone()), BigRational::new(above, below));
            assert_eq!((found.numer(), found.denom()), (expected.numer(), expected.denom()));
            assert!(found.denom().is_positive());
        }
        assert_eq!(least_common_multiple(BigInt::from(12), &BigInt::from(18)), BigInt::from(36));
    }
}
