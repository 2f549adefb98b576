//! Parallel work on many items that returns the error which sequential work would return.

use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The results of `of` for all items, computed in parallel; or the error of the first item in order that
/// fails, whichever thread was faster. Items after a failed one may be skipped.
///
/// # Errors
/// That of the first item that has one.
pub(crate) fn each_in_order<I: Sync, T: Send, E: Send>(
    items: &[I],
    of: impl Fn(&I) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let failed = AtomicUsize::new(usize::MAX);
    let found = items.par_iter().enumerate().map(|(i, item)| {
        let found = (i < failed.load(Ordering::Relaxed)).then(|| of(item));
        if matches!(found, Some(Err(_))) {
            failed.fetch_min(i, Ordering::Relaxed);
        }
        found
    });
    let found: Vec<Option<Result<T, E>>> = found.collect();
    // Skipped items come after the first error.
    found.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_error_is_told() {
        let items: Vec<usize> = (0..2_000).collect();
        for _ in 0..50 {
            let found = each_in_order(&items, |&i| if i % 701 == 700 { Err(i) } else { Ok(i) });
            assert_eq!(found, Err(700));
        }
        assert_eq!(each_in_order(&items, |&i| Ok::<_, ()>(2 * i)).map(|all| all[999]), Ok(1998));
    }
}
