//! Where parallel work runs. The threads of rayon's global pool do not survive a fork: in a child of the process that imported the
//! package, work that waited for them would wait forever, so that a child has a pool of its own.

use crate::errors::Fault;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::process;
use std::sync::{Arc, Mutex, OnceLock};

/// The process whose threads make up rayon's global pool.
static HOME: OnceLock<u32> = OnceLock::new();

/// The pool of a forked process, with the process that it belongs to.
static FORKED: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Remembers that this process imported the package.
pub(crate) fn settle() {
    HOME.get_or_init(process::id);
}

/// Runs `work` where its parallel parts find threads.
pub(crate) fn run<T: Send>(work: impl FnOnce() -> Result<T, Fault> + Send) -> Result<T, Fault> {
    if HOME.get_or_init(process::id) == &process::id() {
        return work();
    }
    pool()?.install(work)
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
