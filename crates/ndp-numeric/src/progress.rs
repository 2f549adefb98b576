//! Progress reports of long calls.
//!
//! Libraries print nothing. A caller passes a [`Progress`] to a call that takes one (those over many
//! observers or runs); it shows what it likes and says whether to go on. A closure is a [`Progress`], too.
//! What ends any other computation is a [`Stop`](crate::stop::Stop).

use std::ops::ControlFlow;

/// Takes reports of a long call, from any of its threads.
///
/// # Examples
/// ```
/// use ndp_numeric::progress::Progress;
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
/// use ndp_numeric::progress::{Progress, Silent};
/// assert!(Silent.report(1, 2).is_continue());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Silent;

impl Progress for Silent {
    fn report(&self, _done: u64, _total: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
