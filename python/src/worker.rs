//! Long calls: away from the interpreter lock, on a thread of their own, while this one listens for Ctrl-C.

use crate::errors::Fault;
use crate::pool;
use ndp_graph::progress::{Progress, Stop};
use pyo3::prelude::*;
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long a signal may wait.
const POLL: Duration = Duration::from_millis(50);

/// Runs `work` without the interpreter lock. When Python is interrupted the call returns at once; the thread goes on to the end of its
/// work, for which nobody waits.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    answer(py, &Stop::asked_for(), |_| work(), &|_| Ok(()))
}

/// The same for work that takes a stop: after an interrupt the thread ends soon, between two steps of its work.
pub(crate) fn run_until<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Stop) -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    answer(py, &Stop::asked_for(), work, &|_| Ok(()))
}

/// The same for one of several works that the same stop ends.
pub(crate) fn run_under<T: Send + 'static>(
    py: Python<'_>,
    stop: &Stop,
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    answer(py, stop, |_| work(), &|_| Ok(()))
}

/// Runs `work(0), …, work(count - 1)` in parallel, in this order in the answer; an interrupt ends it soon. `progress(done, count)` is called now and then.
pub(crate) fn run_each<T: Send + 'static>(
    py: Python<'_>,
    count: usize,
    progress: Option<Py<PyAny>>,
    work: impl Fn(usize, &Stop) -> Result<T, Fault> + Send + Sync + 'static,
) -> Result<Vec<T>, Fault> {
    let done = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&done);
    let all = move |stop: &Stop| {
        let each = |i: usize| {
            stop.check().map_err(ndp_account::Error::from)?;
            let result = work(i, stop);
            counter.fetch_add(1, Ordering::Relaxed);
            result
        };
        (0..count).into_par_iter().map(each).collect()
    };
    let tell = |py: Python<'_>| match &progress {
        Some(progress) => progress.call1(py, (done.load(Ordering::Relaxed), count)).map(|_| ()),
        None => Ok(()),
    };
    let result = answer(py, &Stop::asked_for(), all, &tell);
    if result.is_ok() {
        tell(py)?;
    }
    result
}

/// Runs work that reports how far it is. An interrupt, or an exception of `progress(done, total)`, cancels it.
pub(crate) fn run_watched<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&dyn Progress, &Stop) -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    let watched = Arc::new(Watched::default());
    let inside = Arc::clone(&watched);
    let tell = |py: Python<'_>| match (&progress, watched.total.load(Ordering::Relaxed)) {
        (Some(progress), total) if total > 0 => {
            progress.call1(py, (watched.done.load(Ordering::Relaxed), total)).map(|_| ())
        }
        _ => Ok(()),
    };
    let result = answer(py, &Stop::asked_for(), move |stop| work(&*inside, stop), &tell);
    watched.stop.store(true, Ordering::Relaxed);
    if result.is_ok() {
        tell(py)?;
    }
    result
}

/// How far work is, and whether anybody still waits for it.
#[derive(Default)]
struct Watched {
    stop: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
}

impl Progress for Watched {
    fn report(&self, done: u64, total: u64) -> ControlFlow<()> {
        self.done.fetch_max(done, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
        if self.stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// What `work` answers on a thread of its own. Only these few lines exist once for every kind of answer.
fn answer<T: Send + 'static>(
    py: Python<'_>,
    stop: &Stop,
    work: impl FnOnce(&Stop) -> Result<T, Fault> + Send + 'static,
    meanwhile: &dyn Fn(Python<'_>) -> PyResult<()>,
) -> Result<T, Fault> {
    let place = Arc::new(Mutex::new(None));
    let inside = Arc::clone(&place);
    let watched = stop.clone();
    let done = start(Box::new(move || {
        let result = pool::run(|| work(&watched));
        *inside.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    }))?;
    wait(py, done, meanwhile).inspect_err(|_| stop.ask())?;
    let result = place.lock().unwrap_or_else(PoisonError::into_inner).take();
    result.unwrap_or(Err(Fault::Panicked))
}

/// Starts a thread; what it returns hears when the thread has done its work, or has panicked.
fn start(work: Box<dyn FnOnce() + Send>) -> Result<Receiver<()>, Fault> {
    let (sender, done) = channel();
    let thread = std::thread::Builder::new().name("ndp".to_owned());
    // The receiver is gone when the call was interrupted.
    let spawned = thread.spawn(move || {
        work();
        let _ = sender.send(());
    });
    spawned.map_err(|error| Fault::new(format!("no thread could be started: {error}")))?;
    Ok(done)
}

fn wait(
    py: Python<'_>,
    mut done: Receiver<()>,
    meanwhile: &dyn Fn(Python<'_>) -> PyResult<()>,
) -> Result<(), Fault> {
    loop {
        let done = &mut done;
        match py.detach(move || done.recv_timeout(POLL)) {
            Ok(()) => return Ok(()),
            Err(RecvTimeoutError::Timeout) => {
                py.check_signals()?;
                meanwhile(py)?;
            }
            Err(RecvTimeoutError::Disconnected) => return Err(Fault::Panicked),
        }
    }
}

/// Tells the thread of a call that nobody waits for it any more.
#[derive(Default)]
pub(crate) struct Stopped(pub(crate) Arc<AtomicBool>);

impl Drop for Stopped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
