//! Long calls: away from the interpreter lock, on a thread of their own, while this one listens for Ctrl-C.

use crate::errors::Fault;
use crate::pool;
use ndp_graph::progress::Progress;
use pyo3::prelude::*;
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long a signal may wait.
const POLL: Duration = Duration::from_millis(50);

/// Runs `work` without the interpreter lock. When Python is interrupted the call returns at once; the thread ends soon after, between
/// two steps of its work.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    answer(py, work, &|_| Ok(()))
}

/// Runs `work(0), …, work(count - 1)` in parallel, in this order in the answer; an interrupt ends it after the pieces that
/// are under way. `progress(done, count)` is called now and then.
pub(crate) fn run_each<T: Send + 'static>(
    py: Python<'_>,
    count: usize,
    progress: Option<Py<PyAny>>,
    work: impl Fn(usize) -> Result<T, Fault> + Send + Sync + 'static,
) -> Result<Vec<T>, Fault> {
    let stop = Arc::new(AtomicBool::new(false));
    let done = Arc::new(AtomicUsize::new(0));
    let (stopped, counter) = (Arc::clone(&stop), Arc::clone(&done));
    let all = move || {
        let each = |i: usize| {
            if stopped.load(Ordering::Relaxed) {
                return Err(Fault::new("interrupted"));
            }
            let result = work(i);
            counter.fetch_add(1, Ordering::Relaxed);
            result
        };
        (0..count).into_par_iter().map(each).collect()
    };
    let tell = |py: Python<'_>| match &progress {
        Some(progress) => progress.call1(py, (done.load(Ordering::Relaxed), count)).map(|_| ()),
        None => Ok(()),
    };
    let result = answer(py, all, &tell);
    stop.store(true, Ordering::Relaxed);
    if result.is_ok() {
        tell(py)?;
    }
    result
}

/// Runs work that reports how far it is. An interrupt, or an exception of `progress(done, total)`, cancels it.
pub(crate) fn run_watched<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&dyn Progress) -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    let watched = Arc::new(Watched::default());
    let inside = Arc::clone(&watched);
    let tell = |py: Python<'_>| match (&progress, watched.total.load(Ordering::Relaxed)) {
        (Some(progress), total) if total > 0 => {
            progress.call1(py, (watched.done.load(Ordering::Relaxed), total)).map(|_| ())
        }
        _ => Ok(()),
    };
    let result = answer(py, move || work(&*inside), &tell);
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
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
    meanwhile: &dyn Fn(Python<'_>) -> PyResult<()>,
) -> Result<T, Fault> {
    let place = Arc::new(Mutex::new(None));
    let inside = Arc::clone(&place);
    let stop = Arc::new(AtomicBool::new(false));
    let watched = Arc::clone(&stop);
    let done = start(Box::new(move || {
        let result = pool::run(&watched, work);
        *inside.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    }))?;
    wait(py, done, meanwhile).inspect_err(|_| {
        stop.store(true, Ordering::Relaxed);
        pool::abandon();
    })?;
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
