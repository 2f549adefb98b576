//! Conversions between integer sizes and from floats; each states what it returns for a value that does not
//! fit.

/// `⌊x⌋` as a count: 0 if `x` is negative or NaN, the largest count if `x` is too large.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "such casts saturate, which is what is promised"
)]
#[inline]
#[must_use]
pub fn floor(x: f64) -> usize {
    x as usize
}

/// `x` rounded towards 0: the nearest 64-bit integer if `x` is outside their range, and 0 if `x` is NaN.
#[allow(clippy::cast_possible_truncation, reason = "such casts saturate, which is what is promised")]
#[inline]
#[must_use]
pub fn integer(x: f64) -> i64 {
    x as i64
}

/// A position in a list, as the 32-bit index that sparse rows store.
///
/// # Panics
/// For `2^32` and more. No graph has that many nodes, and a list with that many entries exceeds every memory
/// limit long before.
#[inline]
#[must_use]
pub fn id(place: usize) -> u32 {
    u32::try_from(place).expect("fewer than 2^32 nodes, noises and entries")
}

/// `x` modulo `2^64`.
#[allow(clippy::cast_possible_truncation, reason = "the upper half is cut off on purpose")]
#[inline]
#[must_use]
pub const fn low(x: u128) -> u64 {
    x as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_saturate() {
        assert_eq!((floor(-1.0), floor(f64::NAN), floor(2.9), floor(1e300)), (0, 0, 2, usize::MAX));
    }
}
