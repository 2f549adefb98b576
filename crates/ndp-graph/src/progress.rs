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

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

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

thread_local! {
    static STOP: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// From now on whatever this thread computes ends at its next [`checkpoint`] once `stop` is set.
///
/// For answers that somebody may no longer want, on threads that were made for them: all threads of a pool must watch the same flag.
///
/// # Examples
/// ```
/// use ndp_graph::progress::{Cancelled, watch};
/// use ndp_graph::{GossipMatrix, generators::cycle_graph, spectrum::extremes};
/// use std::sync::{Arc, atomic::AtomicBool};
/// let matrix = GossipMatrix::metropolis(&cycle_graph(50)?);
/// let asked = std::thread::spawn(move || {
///     watch(Arc::new(AtomicBool::new(true)));
///     extremes(&matrix)
/// });
/// assert!(asked.join().unwrap_err().is::<Cancelled>());
/// # Ok::<(), ndp_graph::Error>(())
/// ```
pub fn watch(stop: Arc<AtomicBool>) {
    STOP.set(Some(stop));
}

/// Ends the work of this thread when the flag that it [`watch`]es is set; a thread that watches none never ends.
///
/// Long computations of these crates call it now and then, between steps, where nothing is half done.
///
/// # Panics
/// With [`Cancelled`] as its payload and without a message, when the flag is set: catch it where the thread was started.
#[inline]
pub fn checkpoint() {
    if STOP.with_borrow(|stop| stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))) {
        std::panic::resume_unwind(Box::new(Cancelled));
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
    fn all_threads_of_a_pool_end_at_a_checkpoint() -> Result<(), Error> {
        let stop = Arc::new(AtomicBool::new(false));
        let watched = Arc::clone(&stop);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(2)
            .start_handler(move |_| watch(Arc::clone(&watched)));
        let pool = pool.build().unwrap();
        let matrix = GossipMatrix::metropolis(&cycle_graph(4_096)?);
        // Nobody asked to stop.
        let one_step = |x: &[f64]| {
            let mut y = vec![0.0; x.len()];
            matrix.csr().par_multiply(x, &mut y);
            y
        };
        let x = vec![1.0; 4_096];
        assert_eq!(pool.install(|| one_step(&x)).len(), 4_096);
        stop.store(true, Ordering::Relaxed);
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| pool.install(|| one_step(&x))));
        assert!(ended.unwrap_err().is::<Cancelled>());
        // Threads outside of the pool go on.
        assert_eq!(one_step(&x).len(), 4_096);
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
