//! Stops a computation whose result is no longer needed.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The payload of the unwinding that ends abandoned work; also the error of a call that its caller stopped.
///
/// # Examples
/// ```
/// use ndp_linalg::stop::{Cancelled, checkpoint, watch};
/// use std::sync::{Arc, atomic::AtomicBool};
/// let asked = std::thread::spawn(|| {
///     watch(Arc::new(AtomicBool::new(true)));
///     loop {
///         checkpoint();
///     }
/// });
/// assert!(asked.join().unwrap_err().is::<Cancelled>());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

thread_local! {
    static STOP: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// From now on, any computation on this thread ends at its next [`checkpoint`] once `stop` is set.
pub fn watch(stop: Arc<AtomicBool>) {
    STOP.set(Some(stop));
}

/// Ends the work of this thread if the flag that it [`watch`]es is set; does nothing on a thread that watches
/// none.
///
/// Long computations of the workspace call it between steps, where no step is half done.
///
/// # Panics
/// With [`Cancelled`] as its payload and without a message, if the flag is set; catch the panic where the
/// thread was started.
#[inline]
pub fn checkpoint() {
    if STOP.with_borrow(|stop| stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))) {
        std::panic::resume_unwind(Box::new(Cancelled));
    }
}
