//! Conversions between integers and from reals, each of which says what becomes of what does not fit.

/// `⌊x⌋` as a count: 0 for what is negative or no number, the largest count for what is too large.
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

/// `x` as an integer, towards 0: the nearest one that there is beyond 64 bits, 0 for what is no number.
#[allow(clippy::cast_possible_truncation, reason = "such casts saturate, which is what is promised")]
#[inline]
#[must_use]
pub fn integer(x: f64) -> i64 {
    x as i64
}

/// A place in a list as sparse rows hold it.
///
/// # Panics
/// For `2^32` and more: no graph has as many nodes, and lists of as many entries exceed every memory limit
/// long before.
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
