//! Integers of many limbs times powers of two: inner products of vectors in fixed point, and their digits.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "limbs are cut out of wider numbers, modulo 2^64 on purpose, and counts of limbs and bits are small"
)]

/// An integer times `2^exponent`.
#[derive(Clone, Debug)]
pub(crate) struct Wide {
    negative: bool,
    /// The absolute value, least significant limb first.
    size: Vec<u64>,
    exponent: i64,
}

impl Wide {
    /// From limbs in two's complement.
    pub(crate) fn new(mut limbs: Vec<u64>, exponent: i64) -> Self {
        let negative = limbs.last().is_some_and(|&top| (top as i64) < 0);
        if negative {
            negate(&mut limbs);
        }
        Self { negative, size: limbs, exponent }
    }

    /// The number less 1.
    pub(crate) fn less_one(self) -> Self {
        let mut limbs = self.size;
        // Enough limbs for the 1 and the sign.
        let place = usize::try_from(-self.exponent).unwrap_or(0);
        limbs.resize(limbs.len().max(place / 64 + 2), 0);
        if self.negative {
            negate(&mut limbs);
        }
        let mut borrow = 1u64 << (place % 64);
        for limb in &mut limbs[place / 64..] {
            let (rest, under) = limb.overflowing_sub(borrow);
            (*limb, borrow) = (rest, u64::from(under));
        }
        Self::new(limbs, self.exponent)
    }

    /// Half the number.
    pub(crate) fn half(self) -> Self {
        Self { exponent: self.exponent - 1, ..self }
    }

    /// The smallest `top` such that the number is below `2^top` in absolute value; `None` for 0.
    pub(crate) fn top(&self) -> Option<i64> {
        let highest = self.size.iter().rposition(|&limb| limb != 0)?;
        let bits = 64 * (highest as i64 + 1) - i64::from(self.size[highest].leading_zeros());
        Some(self.exponent + bits)
    }

    /// The lowest place of the number.
    pub(crate) fn bottom(&self) -> i64 {
        self.exponent
    }

    /// Its [`DIGITS`] binary digits from place `low` on, with its sign.
    pub(crate) fn digits(&self, low: i64) -> i64 {
        let from = low - self.exponent;
        let limb = |j: i64| if j < 0 { 0 } else { self.size.get(j as usize).copied().unwrap_or(0) };
        let (word, bits) = (from.div_euclid(64), from.rem_euclid(64) as u32);
        let window = (u128::from(limb(word)) | u128::from(limb(word + 1)) << 64) >> bits;
        let digits = (window as u64 & ((1 << DIGITS) - 1)) as i64;
        if self.negative { -digits } else { digits }
    }
}

/// Negates a number in two's complement.
fn negate(limbs: &mut [u64]) {
    let mut carry = true;
    for limb in limbs {
        (*limb, carry) = (!*limb).overflowing_add(u64::from(carry));
    }
}

/// Binary digits that are read at a time.
pub(crate) const DIGITS: u32 = 52;

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigInt;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    impl Wide {
        /// The number over `2^exponent`.
        pub(crate) fn integer(&self) -> BigInt {
            let size = self.size.iter().rev().fold(BigInt::ZERO, |sum, &limb| (sum << 64) + limb);
            if self.negative { -size } else { size }
        }
    }

    #[test]
    fn numbers_less_one_and_their_digits_agree_with_integers() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for case in 0..600 {
            let limbs: Vec<u64> = (0..1 + case % 20).map(|_| rng.random()).collect();
            let bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
            let exact = BigInt::from_signed_bytes_le(&bytes) >> rng.random_range(0..64 * limbs.len());
            let mut bytes = exact.to_signed_bytes_le();
            bytes.resize(8 * limbs.len(), if exact < BigInt::ZERO { 255 } else { 0 });
            let limbs = bytes.as_chunks().0.iter().map(|&limb| u64::from_le_bytes(limb)).collect();
            let found = Wide::new(limbs, -rng.random_range(0..1000));
            assert_eq!(found.integer(), exact);
            let less = found.clone().less_one();
            assert_eq!(less.integer(), &exact - (BigInt::from(1) << (-found.exponent) as usize));
            assert_eq!(less.bottom(), found.bottom());
            assert_eq!(found.clone().half().bottom(), found.bottom() - 1);
            let bits = exact.bits() as i64;
            assert_eq!(found.top(), (bits > 0).then_some(bits + found.exponent));
            // Slices of digits, from the highest down, add up to the number.
            let (mut low, mut sum) = (found.top().unwrap_or(found.bottom()), BigInt::ZERO);
            while low > found.bottom() {
                low -= i64::from(DIGITS);
                let digits = found.digits(low);
                assert!(digits.unsigned_abs() < 1 << DIGITS);
                sum = (sum << DIGITS) + digits;
            }
            assert_eq!(sum, exact << (found.bottom() - low) as usize);
        }
    }
}
