//! Conversions between sizes of integers and from reals, none of which wraps.

/// A node as columns of sparse rows hold it.
///
/// # Panics
/// For `2^32` nodes and more, which no graph and no matrix of this crate has: constructors refuse them.
pub(crate) fn id(node: usize) -> u32 {
    u32::try_from(node).expect("graphs and matrices have fewer than 2^32 nodes")
}

/// An index from a count of pairs of nodes; the largest one, which is out of any range, where it does not
/// fit.
pub(crate) fn index(cell: u64) -> usize {
    usize::try_from(cell).unwrap_or(usize::MAX)
}

/// `⌊x⌋`: 0 for what is negative or no number, the largest count for what is too large.
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
