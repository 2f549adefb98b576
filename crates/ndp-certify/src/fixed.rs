//! Vectors in fixed point: `L` limbs of 64 bits a number, two's complement, the last 8 bits before the point.
//!
//! Every operation states by how many units `2^-p`, `p = 64 L - 8`, a coordinate of its result may differ
//! from the exact one; the proofs need nothing else. Sums are exact; products and quotients are off by less
//! than one unit. What is computed with whole vectors is in [`packed`](crate::packed).

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "limbs are cut out of wider numbers, modulo 2^64 on purpose, and counts of limbs and bits are small"
)]

use crate::dyadic::Dyadic;
use crate::magnitude::power_of_two;

/// A number in fixed point, least significant limb first.
pub(crate) type Fixed<const L: usize> = [u64; L];

/// Total number of bits in `limbs` limbs.
pub(crate) const fn bits(limbs: usize) -> u32 {
    64 * limbs as u32
}

/// Limbs on offer, 128 to 4224 bits.
pub(crate) const LADDER: [usize; 9] = [2, 3, 4, 6, 8, 12, 16, 32, 66];

/// Calls a function, or a method of `self`, with a number of limbs from [`LADDER`] as its parameter.
macro_rules! with_limbs {
    ($limbs:expr, $($name:ident).+($($arg:expr),*)) => {
        match $limbs {
            2 => $($name).+::<2>($($arg),*),
            3 => $($name).+::<3>($($arg),*),
            4 => $($name).+::<4>($($arg),*),
            6 => $($name).+::<6>($($arg),*),
            8 => $($name).+::<8>($($arg),*),
            12 => $($name).+::<12>($($arg),*),
            16 => $($name).+::<16>($($arg),*),
            32 => $($name).+::<32>($($arg),*),
            _ => $($name).+::<66>($($arg),*),
        }
    };
}
pub(crate) use with_limbs;

/// Bits after the point.
pub(crate) const fn places(limbs: usize) -> i64 {
    64 * limbs as i64 - 8
}

/// `x · 2^shift`, rounded down: off by less than one unit, and exact when `x` has few enough digits. Wraps
/// around beyond 128, which callers exclude by their scales.
pub(crate) fn of_dyadic<const L: usize>(x: Dyadic, shift: i64) -> Fixed<L> {
    let mut wide = [0; L];
    wide[0] = x.mantissa as u64;
    wide[1..].fill((x.mantissa >> 63) as u64);
    shifted(&wide, (x.mantissa >> 63) as u64, i64::from(x.exponent) + shift + places(L))
}

/// The number with limbs `low` and then, without end, copies of `high` (its sign, or one more limb and the
/// sign of that), times `2^by`, rounded down.
#[inline]
fn shifted<const L: usize>(low: &Fixed<L>, high: u64, by: i64) -> Fixed<L> {
    let sign = ((high as i64) >> 63) as u64;
    let limb = |j: i64| match j {
        _ if j < 0 => 0,
        _ if j < L as i64 => low[j as usize],
        _ if j == L as i64 => high,
        _ => sign,
    };
    let (words, bits) = (by.div_euclid(64), by.rem_euclid(64) as u32);
    std::array::from_fn(|j| {
        let at = j as i64 - words;
        if bits == 0 { limb(at) } else { (limb(at) << bits) | (limb(at - 1) >> (64 - bits)) }
    })
}

#[inline]
pub(crate) fn plus<const L: usize>(a: &Fixed<L>, b: &Fixed<L>) -> Fixed<L> {
    let mut carry = false;
    std::array::from_fn(|j| {
        let (sum, first) = a[j].overflowing_add(b[j]);
        let (sum, second) = sum.overflowing_add(u64::from(carry));
        carry = first || second;
        sum
    })
}

#[inline]
pub(crate) fn minus<const L: usize>(a: &Fixed<L>, b: &Fixed<L>) -> Fixed<L> {
    let mut borrow = false;
    std::array::from_fn(|j| {
        let (rest, first) = a[j].overflowing_sub(b[j]);
        let (rest, second) = rest.overflowing_sub(u64::from(borrow));
        borrow = first || second;
        rest
    })
}

#[inline]
pub(crate) fn is_negative<const L: usize>(a: &Fixed<L>) -> bool {
    (a[L - 1] as i64) < 0
}

/// `a / 2`, rounded down.
pub(crate) fn half<const L: usize>(a: &Fixed<L>) -> Fixed<L> {
    shifted(a, ((a[L - 1] as i64) >> 63) as u64, -1)
}

/// `a` times a small integer, exact where the product is below 128; it wraps around beyond, which callers
/// exclude.
#[inline]
pub(crate) fn times_integer<const L: usize>(a: &Fixed<L>, by: u32) -> Fixed<L> {
    let mut carry = 0;
    std::array::from_fn(|j| {
        let product = u128::from(a[j]) * u128::from(by) + u128::from(carry);
        carry = (product >> 64) as u64;
        product as u64
    })
}

/// `a · x`, rounded down. Wraps around where the product is beyond 128, which callers exclude.
pub(crate) fn times<const L: usize>(a: &Fixed<L>, x: Dyadic) -> Fixed<L> {
    times_power(a, x.mantissa, x.exponent.into())
}

/// `a · mantissa · 2^exponent`, rounded down, for a mantissa below `2^62` in size. Wraps around as [`times`]
/// does.
#[inline]
pub(crate) fn times_power<const L: usize>(a: &Fixed<L>, mantissa: i64, exponent: i64) -> Fixed<L> {
    let (mut low, mut carry) = ([0; L], 0i128);
    for (j, (low, &limb)) in low.iter_mut().zip(a).enumerate() {
        // The highest limb carries the sign.
        let limb = if j + 1 == L { i128::from(limb as i64) } else { i128::from(limb) };
        let product = limb * i128::from(mantissa) + carry;
        (*low, carry) = (product as u64, product >> 64);
    }
    shifted(&low, carry as u64, exponent)
}

/// The limbs of `2^(64 limbs) / divisor`, rounded down, for a divisor between 2 and `2^33`.
pub(crate) fn reciprocal(divisor: u64, limbs: usize) -> Vec<u64> {
    let mut rest = 1;
    let mut quotient = vec![0; limbs];
    for limb in quotient.iter_mut().rev() {
        let above = rest << 64;
        (*limb, rest) = ((above / u128::from(divisor)) as u64, above % u128::from(divisor));
    }
    quotient
}

/// `to ← to + by · x`, modulo `2^(64 L)` for `L` limbs.
pub(crate) fn add_multiple(to: &mut [u64], x: &[u64], by: u32) {
    let mut carry = 0;
    for (to, &x) in to.iter_mut().zip(x) {
        let sum = u128::from(x) * u128::from(by) + u128::from(*to) + carry;
        (*to, carry) = (sum as u64, sum >> 64);
    }
}

/// A divisor between 1 and `2^33`, and its reciprocal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Divisor {
    normalized: u64,
    shift: u32,
    /// `⌊(2^128 - 1) / normalized⌋ - 2^64`.
    reciprocal: u64,
}

impl Divisor {
    pub(crate) fn new(divisor: u64) -> Self {
        debug_assert!(divisor > 0);
        let shift = divisor.leading_zeros();
        let normalized = divisor << shift;
        let reciprocal = (u128::MAX / u128::from(normalized)) as u64;
        Self { normalized, shift, reciprocal }
    }

    /// Quotient and remainder of `high · 2^64 + low` for `high` below the normalized divisor (Möller and
    /// Granlund 2011).
    #[inline]
    fn step(self, high: u64, low: u64) -> (u64, u64) {
        let wide =
            u128::from(self.reciprocal) * u128::from(high) + ((u128::from(high) << 64) | u128::from(low));
        let mut quotient = ((wide >> 64) as u64).wrapping_add(1);
        let mut rest = low.wrapping_sub(quotient.wrapping_mul(self.normalized));
        if rest > wide as u64 {
            quotient = quotient.wrapping_sub(1);
            rest = rest.wrapping_add(self.normalized);
        }
        if rest >= self.normalized {
            quotient = quotient.wrapping_add(1);
            rest -= self.normalized;
        }
        (quotient, rest)
    }

    /// `a / divisor`, rounded towards 0: off by less than one unit.
    #[inline]
    pub(crate) fn divide<const L: usize>(self, a: &Fixed<L>) -> Fixed<L> {
        let negative = is_negative(a);
        let size = if negative { minus(&[0; L], a) } else { *a };
        let mut quotient = [0; L];
        let top = |j: usize| match (self.shift, j) {
            (0, _) => size[j],
            (shift, 0) => size[0] << shift,
            (shift, _) => (size[j] << shift) | (size[j - 1] >> (64 - shift)),
        };
        let mut rest = if self.shift == 0 { 0 } else { size[L - 1] >> (64 - self.shift) };
        for j in (0..L).rev() {
            (quotient[j], rest) = self.step(rest, top(j));
        }
        if negative { minus(&[0; L], &quotient) } else { quotient }
    }
}

/// The number of binary digits of `|a|` in units, up to an error of one.
#[inline]
pub(crate) fn digits(a: &[u64]) -> i64 {
    let sign = a.last().map_or(0, |&top| ((top as i64) >> 63) as u64);
    let highest = a.iter().rposition(|&limb| limb != sign);
    highest.map_or(0, |j| 64 * (j as i64 + 1) - i64::from((a[j] ^ sign).leading_zeros()))
}

/// `a` in units, times `2^-top`, for `|a| < 2^top`: off by less than `2^-61`.
#[inline]
pub(crate) fn rounded<const L: usize>(a: &Fixed<L>, top: i64) -> f64 {
    let from = top - 62;
    let limb = |j: i64| match j {
        _ if j < 0 => 0,
        _ if j < L as i64 => a[j as usize],
        _ => ((a[L - 1] as i64) >> 63) as u64,
    };
    let (word, bits) = (from.div_euclid(64), from.rem_euclid(64) as u32);
    let window = if bits == 0 { limb(word) } else { (limb(word) >> bits) | (limb(word + 1) << (64 - bits)) };
    (window as i64) as f64 * power_of_two(-62)
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigInt;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn integer<const L: usize>(a: &Fixed<L>) -> BigInt {
        let bytes: Vec<u8> = a.iter().flat_map(|limb| limb.to_le_bytes()).collect();
        BigInt::from_signed_bytes_le(&bytes)
    }

    fn draw<const L: usize>(rng: &mut ChaCha8Rng) -> Fixed<L> {
        // Numbers of all sizes up to 1.
        let all: Fixed<L> = std::array::from_fn(|_| rng.random());
        let down = rng.random_range(8..64 * L as i64);
        shifted(&all, ((all[L - 1] as i64) >> 63) as u64, -down)
    }

    fn floor_shift(x: BigInt, by: i64) -> BigInt {
        if by >= 0 { x << by as usize } else { x >> (-by) as usize }
    }

    fn check<const L: usize>(seed: u64) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        for _ in 0..2000 {
            let (a, b) = (draw::<L>(&mut rng), draw::<L>(&mut rng));
            let (x, y) = (integer(&a), integer(&b));
            assert_eq!(integer(&plus(&a, &b)), &x + &y);
            assert_eq!(integer(&minus(&a, &b)), &x - &y);
            assert_eq!(integer(&half(&a)), floor_shift(x.clone(), -1));
            assert_eq!(integer(&times_integer(&a, 100)), &x * 100);
            let size = rng.random_range(1..33);
            let divisor = rng.random_range(1..1u64 << size);
            assert_eq!(integer(&Divisor::new(divisor).divide(&a)), &x / divisor, "{divisor}");
            let factor = Dyadic::of(rng.random_range(-1.0..1.0) * power_of_two(rng.random_range(-90..1)));
            let exact = floor_shift(&x * factor.mantissa, factor.exponent.into());
            assert_eq!(integer(&times(&a, factor)), exact);
            let unit = floor_shift(BigInt::from(factor.mantissa), i64::from(factor.exponent) + places(L));
            assert_eq!(integer(&of_dyadic::<L>(factor, 0)), unit);

            let size = digits(&a);
            assert!((x.bits() as i64 - size).abs() <= 1, "{x} has {size} digits");
            let top = size + rng.random_range(0..3);
            if top > 0 && top < 900 {
                let exact = x.to_string().parse::<f64>().expect("a number") * power_of_two(-top);
                assert!((rounded(&a, top) - exact).abs() < 1e-18 + exact.abs() * 1e-15);
            }
        }
    }

    #[test]
    fn numbers_agree_with_integers() {
        check::<2>(1);
        check::<3>(2);
        check::<8>(3);
    }
}
