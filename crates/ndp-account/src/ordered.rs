//! Work on many things at once that fails as it would one after the other.

use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What `of` makes of all items, in parallel, or the error of the first item that has one, whichever
/// thread was faster. Items behind one that failed are left out.
///
/// # Errors
/// That of the first item that has one.
pub fn each_in_order<I: Sync, T: Send, E: Send>(
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
    // What was left out is behind the first error.
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
