//! Residues modulo primes of 61 bits, drawn from a hash of the view.
//!
//! If the primes were known in advance, somebody could construct a view that fails for them. So they are
//! drawn: SHA-256 of everything that determines the rows seeds ChaCha, whose numbers are tried until one is
//! prime. The same view always draws the same primes, and only somebody who steers the hash can choose them.

use crate::dyadic::Dyadic;
use ndp_numeric::casts::low;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use sha2::{Digest as _, Sha256};

/// The integers modulo an odd prime below `2^61`, in Montgomery form: `x` is stored as `x · 2^64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    prime: u64,
    /// `-1 / prime` modulo `2^64`.
    inverse: u64,
    /// `2^128` modulo the prime.
    square: u64,
    /// `2^104` modulo the prime.
    column: u64,
}

impl Field {
    /// The field of an odd prime below `2^61`.
    pub fn new(prime: u64) -> Self {
        debug_assert!(prime % 2 == 1 && prime < 1 << 61);
        // Newton's iteration doubles the correct digits: 3, 6, ..., 96.
        let mut inverse = prime;
        for _ in 0..5 {
            inverse = inverse.wrapping_mul(2u64.wrapping_sub(prime.wrapping_mul(inverse)));
        }
        let power = (1u128 << 64) % u128::from(prime);
        let square = low(power * power % u128::from(prime));
        let column = low((1u128 << 104) % u128::from(prime));
        Self { prime, inverse: inverse.wrapping_neg(), square, column }
    }

    /// The prime.
    pub fn prime(self) -> u64 {
        self.prime
    }

    /// `t / 2^64`, for `t < prime · 2^64`.
    #[inline]
    pub fn reduce(self, t: u128) -> u64 {
        let m = low(t).wrapping_mul(self.inverse);
        let sum = ((t + u128::from(m) * u128::from(self.prime)) >> 64) as u64;
        if sum >= self.prime { sum - self.prime } else { sum }
    }

    /// `t / 2^64`, for any `t`.
    #[inline]
    pub fn reduce_sum(self, t: u128) -> u64 {
        self.reduce(self.fold(t))
    }

    /// A number congruent to `t` and below `prime · 2^64`.
    #[inline]
    pub fn fold(self, t: u128) -> u128 {
        (u128::from((t >> 64) as u64 % self.prime) << 64) | (t & u128::from(u64::MAX))
    }

    /// `(c_0 + 2^52 c_1 + 2^104 c_2) / 2^64`, for a prime of 61 bits.
    #[inline]
    pub fn reduce_columns(self, [low, middle, high]: [u64; 3]) -> u64 {
        let lower = self.reduce(u128::from(low) + (u128::from(middle) << 52));
        self.plus(lower, self.reduce(u128::from(high) * u128::from(self.column)))
    }

    /// Whether the prime has 61 bits, as all primes that are drawn.
    #[inline]
    pub fn is_large(self) -> bool {
        self.prime >> 60 == 1
    }

    /// `a b`.
    #[inline]
    pub fn times(self, a: u64, b: u64) -> u64 {
        self.reduce(u128::from(a) * u128::from(b))
    }

    /// `a + b`.
    #[inline]
    pub fn plus(self, a: u64, b: u64) -> u64 {
        let sum = a + b;
        if sum >= self.prime { sum - self.prime } else { sum }
    }

    /// `a - b`.
    #[inline]
    pub fn minus(self, a: u64, b: u64) -> u64 {
        if a >= b { a - b } else { a + self.prime - b }
    }

    /// A residue times `2^64`.
    pub fn lift(self, x: u64) -> u64 {
        self.times(x, self.square)
    }

    /// The residue of an integer.
    pub fn integer(self, x: u64) -> u64 {
        self.times(x % self.prime, self.square)
    }

    /// The residue of a fraction with a power of two below.
    pub fn dyadic(self, x: Dyadic) -> u64 {
        let size = self.integer(x.mantissa.unsigned_abs());
        let base = if x.exponent < 0 { self.inverse_of(self.integer(2)) } else { self.integer(2) };
        let product = self.times(size, self.power(base, u64::from(x.exponent.unsigned_abs())));
        if x.mantissa < 0 { self.minus(0, product) } else { product }
    }

    /// `base^exponent`.
    pub fn power(self, base: u64, exponent: u64) -> u64 {
        let (mut base, mut left, mut power) = (base, exponent, self.integer(1));
        while left > 0 {
            if left & 1 == 1 {
                power = self.times(power, base);
            }
            base = self.times(base, base);
            left >>= 1;
        }
        power
    }

    /// The inverse by Fermat's theorem; 0 for 0.
    pub fn inverse_of(self, x: u64) -> u64 {
        self.power(x, self.prime - 2)
    }
}

/// The hash of everything that determines the rows of a view. Every item is written with its length or at a
/// fixed width, so that two views with the same hash input are the same view.
pub struct Fingerprint(Sha256);

impl Fingerprint {
    /// The hash of the kind of view; nothing else is added yet.
    pub fn new(kind: &str) -> Self {
        let mut this = Self(Sha256::new());
        this.number(kind.len() as u64);
        this.0.update(kind.as_bytes());
        this
    }

    /// Adds a number.
    pub fn number(&mut self, x: u64) {
        self.0.update(x.to_le_bytes());
    }

    /// Adds a list of numbers, with its length.
    pub fn numbers(&mut self, xs: impl ExactSizeIterator<Item = u64>) {
        self.number(xs.len() as u64);
        let mut buffer = Vec::with_capacity(8 * xs.len().min(1 << 12));
        for x in xs {
            buffer.extend_from_slice(&x.to_le_bytes());
            if buffer.len() >= 1 << 15 {
                self.0.update(&buffer);
                buffer.clear();
            }
        }
        self.0.update(&buffer);
    }

    /// Adds a list of floats by their bits.
    pub fn floats<'a>(&mut self, xs: impl ExactSizeIterator<Item = &'a f64>) {
        self.numbers(xs.map(|x| x.to_bits()));
    }

    /// The primes that follow from everything added.
    pub fn finish(self) -> Primes {
        Primes(ChaCha8Rng::from_seed(self.0.finalize().into()))
    }
}

/// Primes in `[2^60, 2^61)`, uniformly drawn; the few drawn for one view are distinct.
pub struct Primes(ChaCha8Rng);

impl Primes {
    /// The next prime that is not among `others`.
    pub fn draw(&mut self, others: &[u64]) -> u64 {
        loop {
            let candidate = (1 << 60) | (self.0.next_u64() >> 4) | 1;
            if is_prime(candidate) && !others.contains(&candidate) {
                return candidate;
            }
        }
    }
}

/// The test of Miller and Rabin with the bases up to 37, which is a proof below `2^64` (Sorenson and Webster
/// 2015). Takes odd numbers between 41 and `2^61`.
fn is_prime(n: u64) -> bool {
    if WITNESSES.iter().any(|&w| n.is_multiple_of(w)) {
        return false;
    }
    let field = Field::new(n);
    let (one, minus_one) = (field.integer(1), field.integer(n - 1));
    let twos = (n - 1).trailing_zeros();
    WITNESSES.iter().all(|&w| {
        let mut x = field.power(field.integer(w), (n - 1) >> twos);
        if x == one || x == minus_one {
            return true;
        }
        (1..twos).any(|_| {
            x = field.times(x, x);
            x == minus_one
        })
    })
}

const WITNESSES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residues_obey_the_rules() {
        let p = (1 << 61) - 1;
        let field = Field::new(p);
        let plain = |x: u64| field.times(x, 1);
        for (a, b) in [(3u64, 5u64), (p - 1, p - 1), (1 << 60, 12345), (0, 7)] {
            let (x, y) = (field.integer(a), field.integer(b));
            assert_eq!(plain(field.times(x, y)), (u128::from(a) * u128::from(b) % u128::from(p)) as u64);
            assert_eq!(plain(field.plus(x, y)), ((u128::from(a) + u128::from(b)) % u128::from(p)) as u64);
            assert_eq!(field.plus(field.minus(x, y), y), x);
            assert_eq!(field.times(y, field.inverse_of(y)), field.integer(1));
            let sum = u128::from(x) * u128::from(y) * 31;
            assert_eq!(field.reduce_sum(sum), field.times(field.times(x, y), field.integer(31)));
        }
        // 0.1 as it is stored, times 2^55.
        let tenth = field.dyadic(Dyadic::of(0.1));
        assert_eq!(plain(field.times(tenth, field.integer(1 << 55))), 3_602_879_701_896_397);
        assert_eq!(field.plus(field.dyadic(Dyadic::of(-0.75)), field.dyadic(Dyadic::of(0.75))), 0);
    }

    /// Against trial division, and on composite numbers that pass the test for single bases.
    #[test]
    fn primes_are_told_apart() {
        for n in (41..20_000u64).step_by(2) {
            let slow = (3..).step_by(2).take_while(|d| d * d <= n).all(|d| n % d != 0);
            assert_eq!(is_prime(n), slow, "{n}");
        }
        assert!(is_prime((1 << 61) - 1));
        for composite in [3_215_031_751, 3_825_123_056_546_413_051, 1_373_653 * 1_000_003] {
            if composite < 1 << 61 {
                assert!(!is_prime(composite), "{composite}");
            }
        }
    }

    #[test]
    fn primes_follow_the_view() {
        let draw = |x: f64| {
            let mut fingerprint = Fingerprint::new("test");
            fingerprint.floats([x, 2.0].iter());
            let mut primes = fingerprint.finish();
            let first = primes.draw(&[]);
            [first, primes.draw(&[first])]
        };
        assert_eq!(draw(1.0), draw(1.0));
        assert_ne!(draw(1.0), draw(1.0 + f64::EPSILON));
        for prime in draw(1.0) {
            assert!((1 << 60..1 << 61).contains(&prime) && is_prime(prime));
        }
        let [first, second] = draw(1.0);
        assert_ne!(first, second);
    }
}
