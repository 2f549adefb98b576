//! Conversions between integer sizes and from reals; none of them wraps around.

/// A node as the 32-bit column index that sparse rows store.
///
/// # Panics
/// For `2^32` nodes and more, which no graph and no matrix of this crate has: constructors refuse them.
pub(crate) fn id(node: usize) -> u32 {
    u32::try_from(node).expect("graphs and matrices have fewer than 2^32 nodes")
}

/// An index from a count of pairs of nodes. A count that does not fit gives the largest index, which is out
/// of every range.
pub(crate) fn index(cell: u64) -> usize {
    usize::try_from(cell).unwrap_or(usize::MAX)
}

/// `⌊x⌋`: 0 if `x` is negative or NaN, the largest count if `x` is too large.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "such casts saturate, which is what is promised"
)]
pub(crate) fn floor(x: f64) -> u64 {
    x as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_saturate() {
        assert_eq!((floor(-1.0), floor(f64::NAN), floor(2.9), floor(1e300)), (0, 0, 2, u64::MAX));
        assert_eq!((id(7), index(9)), (7, 9));
    }
}
