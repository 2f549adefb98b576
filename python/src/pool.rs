//! Where parallel work runs. The threads of rayon's global pool do not survive a fork: in a child of the process that imported the
//! package, work that waited for them would wait forever, so that a child has a pool of its own.

use crate::errors::Fault;
use ndp_graph::progress::watch;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::process;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};

/// The process whose threads make up rayon's global pool.
static HOME: OnceLock<u32> = OnceLock::new();

/// The pool of a forked process, with the process that it belongs to.
static FORKED: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Remembers that this process imported the package.
pub(crate) fn settle() {
    HOME.get_or_init(process::id);
}

/// Runs `work`, which ends soon after `stop` is set, where its parallel parts find threads.
pub(crate) fn run<T: Send>(
    stop: &Arc<AtomicBool>,
    work: impl FnOnce() -> Result<T, Fault> + Send,
) -> Result<T, Fault> {
    let stop = Arc::clone(stop);
    if HOME.get_or_init(process::id) == &process::id() {
        watch(stop);
        return work();
    }
    pool()?.install(move || {
        let _watched = Watched::new(stop);
        work()
    })
}

/// A thread of a pool that watches a flag for one piece of work, and no flag that is ever set afterwards.
struct Watched;

impl Watched {
    fn new(stop: Arc<AtomicBool>) -> Self {
        watch(stop);
        Self
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        watch(Arc::default());
    }
}

/// Gives the work of later calls other threads: a thread that still watches the flag of a call that was interrupted may take over a
/// part of a later call while it waits, and would end it.
pub(crate) fn abandon() {
    // Whoever holds the lock makes a new pool or takes the old one, and a call in the old one may be interrupted, too.
    if let Ok(mut kept) = FORKED.try_lock()
        && kept.as_ref().is_some_and(|(process, _)| *process == process::id())
    {
        // Its threads end with the work that they have.
        *kept = None;
    }
}

/// The pool of this process, which was forked.
fn pool() -> Result<Arc<ThreadPool>, Fault> {
    let build = || {
        let pool = ThreadPoolBuilder::new().thread_name(|i| format!("ndp-{i}")).build();
        pool.map(Arc::new).map_err(|error| Fault::new(format!("no thread could be started: {error}")))
    };
    // A lock that was held when this process was forked stays held: then each call has a pool of its own.
    let Ok(mut kept) = FORKED.try_lock() else { return build() };
    if let Some((process, pool)) = kept.as_ref()
        && *process == process::id()
    {
        return Ok(Arc::clone(pool));
    }
    let pool = build()?;
    // The threads of a pool of the parent are not here, so that nothing may wait for them: not even to end them.
    std::mem::forget(kept.replace((process::id(), Arc::clone(&pool))));
    Ok(pool)
}
