//! How far a long call has come, and a way to stop it.
//!
//! Libraries print nothing and read no clock: whoever waits passes a [`Progress`], which shows what it likes and says whether to
//! go on. A closure is one:
//!
//! ```
//! use ndp_graph::hitting::{Start, Walk};
//! use ndp_graph::{Error, GossipMatrix, generators::cycle_graph};
//! use std::ops::ControlFlow;
//! let matrix = GossipMatrix::metropolis(&cycle_graph(50)?);
//! let walk = Walk::from(&matrix);
//! let patience = |done: u64, _total: u64| if done < 100 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
//! let stopped = walk.first_visits_with(&Start::Uniform, &[0], 10_000, &patience);
//! assert_eq!(stopped, Err(Error::Cancelled));
//! # Ok::<(), Error>(())
//! ```

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

/// Takes reports of a long call, from any of its threads.
///
/// # Examples
/// ```
/// use ndp_graph::progress::Progress;
/// use std::ops::ControlFlow;
/// use std::sync::atomic::{AtomicU64, Ordering};
/// struct Last(AtomicU64);
/// impl Progress for Last {
///     fn report(&self, done: u64, _total: u64) -> ControlFlow<()> {
///         self.0.store(done, Ordering::Relaxed);
///         ControlFlow::Continue(())
///     }
/// }
/// let last = Last(AtomicU64::new(0));
/// assert!(last.report(3, 10).is_continue() && last.0.into_inner() == 3);
/// ```
pub trait Progress: Send + Sync {
    /// `done` of `total` parts are finished. [`ControlFlow::Break`] cancels the call: it ends soon with an error and without
    /// a result.
    fn report(&self, done: u64, total: u64) -> ControlFlow<()>;
}

impl<F: Fn(u64, u64) -> ControlFlow<()> + Send + Sync> Progress for F {
    fn report(&self, done: u64, total: u64) -> ControlFlow<()> {
        self(done, total)
    }
}

/// Shows nothing and never cancels.
///
/// # Examples
/// ```
/// use ndp_graph::progress::{Progress, Silent};
/// assert!(Silent.report(1, 2).is_continue());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Silent;

impl Progress for Silent {
    fn report(&self, _done: u64, _total: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// A call was stopped by its [`Progress`].
///
/// # Examples
/// ```
/// use ndp_graph::progress::{Cancelled, Counter};
/// use std::ops::ControlFlow;
/// let stop = |_: u64, _: u64| ControlFlow::Break(());
/// assert_eq!(Counter::new(&stop, 10).step(), Err(Cancelled));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

/// Counts finished parts, from several threads, and reports each.
///
/// Reports of different threads may arrive out of order; each number from 1 to the total arrives once, unless cancelled.
///
/// # Examples
/// ```
/// use ndp_graph::progress::{Counter, Silent};
/// let counter = Counter::new(&Silent, 3);
/// for _ in 0..3 {
///     counter.step()?;
/// }
/// # Ok::<(), ndp_graph::progress::Cancelled>(())
/// ```
pub struct Counter<'a> {
    progress: &'a dyn Progress,
    done: AtomicU64,
    total: u64,
}

impl<'a> Counter<'a> {
    /// Counts to `total`, nothing done yet.
    #[must_use]
    pub fn new(progress: &'a dyn Progress, total: u64) -> Self {
        Self { progress, done: AtomicU64::new(0), total }
    }

    /// One more part is finished.
    ///
    /// # Errors
    /// [`Cancelled`] when the caller wants no more.
    pub fn step(&self) -> Result<(), Cancelled> {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        match self.progress.report(done, self.total) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Cancelled),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hitting::{Start, Walk};
    use crate::{Error, GossipMatrix, generators::cycle_graph};
    use std::sync::Mutex;

    #[test]
    fn every_part_is_reported_once() -> Result<(), Error> {
        let seen = Mutex::new(Vec::new());
        let watch = |done, total| {
            seen.lock().unwrap().push((done, total));
            ControlFlow::Continue(())
        };
        let matrix = GossipMatrix::metropolis(&cycle_graph(6)?);
        let walk = Walk::from(&matrix);
        let watched = walk.first_visits_with(&Start::Node(1), &[0, 3], 20, &watch)?;
        assert_eq!(watched, walk.first_visits(&Start::Node(1), &[0, 3], 20)?);
        assert_eq!(*seen.lock().unwrap(), (1..=20).map(|done| (done, 20)).collect::<Vec<_>>());
        Ok(())
    }

    #[test]
    fn a_cancelled_call_stops_at_once() -> Result<(), Error> {
        let calls = AtomicU64::new(0);
        let stop = |done: u64, _: u64| {
            calls.fetch_add(1, Ordering::Relaxed);
            if done < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let matrix = GossipMatrix::metropolis(&cycle_graph(6)?);
        let stopped = Walk::from(&matrix).first_visits_with(&Start::Uniform, &[0], 1000, &stop);
        assert_eq!(stopped, Err(Error::Cancelled));
        assert_eq!(calls.load(Ordering::Relaxed), 3);
        Ok(())
    }
}
