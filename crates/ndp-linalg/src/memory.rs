//! Refusing a result that would not fit in memory, by name and size, before any work starts.

use crate::Error;

/// The most bytes that one graph, matrix or basis may take: 16 GiB.
///
/// A dense matrix stays below it up to 46 340 nodes.
pub const MEMORY_LIMIT: u128 = 16 << 30;

/// `Ok` if `what`, which would take `bytes` bytes, stays within the limit of 16 GiB.
///
/// Sizes are 128-bit so that the product of two node counts cannot wrap around; use saturating
/// arithmetic beyond that.
///
/// # Errors
/// [`Error::TooLarge`] otherwise.
pub fn require_memory(what: &'static str, bytes: u128) -> Result<(), Error> {
    if bytes <= MEMORY_LIMIT { Ok(()) } else { Err(Error::TooLarge { what, bytes, limit: MEMORY_LIMIT }) }
}

/// `Ok` if a matrix of `rows` by `columns` numbers stays within the limit of 16 GiB.
///
/// # Errors
/// [`Error::TooLarge`] otherwise, with `8 · rows · columns` bytes.
pub fn require_dense(what: &'static str, rows: usize, columns: usize) -> Result<(), Error> {
    require_memory(what, (rows as u128 * columns as u128).saturating_mul(8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_itself_is_allowed() {
        assert_eq!(require_memory("it", MEMORY_LIMIT), Ok(()));
        let error = Error::TooLarge { what: "it", bytes: MEMORY_LIMIT + 1, limit: MEMORY_LIMIT };
        assert_eq!(require_memory("it", MEMORY_LIMIT + 1), Err(error));
    }

    #[test]
    fn a_million_nodes_are_not_made_dense() {
        assert_eq!(require_dense("W", 46_340, 46_340), Ok(()));
        let error = require_dense("the dense matrix", 1_000_000, 1_000_000).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the dense matrix would take 8000000000000 bytes, more than the limit of 17179869184"
        );
    }

    #[test]
    fn absurd_sizes_do_not_wrap_around() {
        let error = Error::TooLarge { what: "W", bytes: u128::MAX, limit: MEMORY_LIMIT };
        assert_eq!(require_dense("W", usize::MAX, usize::MAX), Err(error));
    }
}
