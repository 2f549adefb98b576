//! Progress reports of long calls, and ways to stop them.
//!
//! Libraries print nothing and read no clock. A caller passes a [`Progress`] to a call that takes one (those
//! of `ndp-algos` over many observers or runs); it shows what it likes and says whether to go on. A closure
//! is a [`Progress`], too. Any other computation, on threads made for it, ends soon after a flag is set that
//! these threads [`watch`].

#[doc(inline)]
pub use ndp_linalg::stop::Cancelled;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

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
    /// `done` of `total` parts are finished. [`ControlFlow::Break`] cancels the call: it ends soon with an
    /// error and without a result.
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

/// From now on, any computation on this thread ends soon after `stop` is set: it unwinds with [`Cancelled`]
/// as the payload and without a message.
///
/// Meant for threads that compute an answer which may be given up: all threads of a pool must watch the same
/// flag.
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
    ndp_linalg::stop::watch(stop);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, GossipMatrix, generators::cycle_graph};
    use std::sync::atomic::Ordering;

    #[test]
    fn all_threads_of_a_pool_end_at_a_checkpoint() -> Result<(), Error> {
        let stop = Arc::new(AtomicBool::new(false));
        let watched = Arc::clone(&stop);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(2)
            .start_handler(move |_| watch(Arc::clone(&watched)));
        let pool = pool.build().unwrap();
        let matrix = GossipMatrix::metropolis(&cycle_graph(4_096)?);
        // Nobody has asked to stop yet.
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
        // Threads outside the pool are not stopped.
        assert_eq!(one_step(&x).len(), 4_096);
        Ok(())
    }
}
