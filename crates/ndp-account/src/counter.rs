//! Counts the finished parts of a call and reports progress to the caller.

use crate::Error;
use ndp_graph::progress::Progress;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts finished parts, from several threads, and reports each.
///
/// Reports of different threads may arrive out of order; each number from 1 to the total arrives once, unless
/// cancelled.
pub(crate) struct Counter<'a> {
    progress: &'a dyn Progress,
    done: AtomicU64,
    total: u64,
}

impl<'a> Counter<'a> {
    /// Counts to `total`; no part is finished yet.
    pub(crate) fn new(progress: &'a dyn Progress, total: u64) -> Self {
        Self { progress, done: AtomicU64::new(0), total }
    }

    /// Counts one more finished part.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if the caller cancelled.
    pub(crate) fn step(&self) -> Result<(), Error> {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        match self.progress.report(done, self.total) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Cancelled),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn every_part_is_reported_once() {
        let seen = Mutex::new(Vec::new());
        let watch = |done, total| {
            seen.lock().unwrap().push((done, total));
            ControlFlow::Continue(())
        };
        let counter = Counter::new(&watch, 20);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| (0..10).for_each(|_| counter.step().unwrap()));
            }
        });
        let mut seen = seen.into_inner().unwrap();
        seen.sort_unstable();
        assert_eq!(seen, (1..=20).map(|done| (done, 20)).collect::<Vec<_>>());
    }

    #[test]
    fn a_cancelled_call_hears_of_it_at_once() {
        let stop =
            |done: u64, _: u64| if done < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
        let counter = Counter::new(&stop, 1000);
        let steps: Vec<_> = (0..3).map(|_| counter.step()).collect();
        assert_eq!(steps, [Ok(()), Ok(()), Err(Error::Cancelled)]);
    }
}
