//! Work that may be abandoned, on threads of its own.

use ndp_graph::progress::watch;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The result of some work; `None` where it is not there in time, and is no longer waited for.
pub(super) fn within<T: Send + 'static>(
    until: Option<Instant>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let Some(until) = until else { return Some(work()) };
    // Nobody is asked once it is too late.
    let left = until.checked_duration_since(Instant::now())?;
    let Some(crew) = Crew::idle() else { return Some(work()) };
    let (send, receive) = channel();
    crew.pool.spawn(move || {
        // Work that nobody waits for any more ends by unwinding; so does a mistake, which has said so by
        // then.
        let found = catch_unwind(AssertUnwindSafe(work));
        // Nobody may wait for it any more.
        let _ = send.send(found);
    });
    match receive.recv_timeout(left) {
        Ok(found) => {
            crew.rest();
            found.map_or_else(|mistake| resume_unwind(mistake), Some)
        }
        Err(_) => {
            crew.stop.store(true, Ordering::Relaxed);
            Crew::disbanded();
            None
        }
    }
}

/// Threads of their own for work that may be abandoned, all of which end when told to.
struct Crew {
    pool: ThreadPool,
    stop: Arc<AtomicBool>,
}

/// Crews without work.
static IDLE: Mutex<Vec<Crew>> = Mutex::new(Vec::new());

/// Crews that have work or wait for it.
static CREWS: AtomicUsize = AtomicUsize::new(0);

impl Crew {
    /// The largest crew that is idle, or a new one.
    fn idle() -> Option<Self> {
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = (0..idle.len()).max_by_key(|&at| idle[at].pool.current_num_threads()) {
            return Some(idle.swap_remove(at));
        }
        drop(idle);
        let stop = Arc::new(AtomicBool::new(false));
        let watched = Arc::clone(&stop);
        // Crews that work at the same time share the processors: as many threads for each would be the square
        // of them.
        let others = CREWS.fetch_add(1, Ordering::Relaxed);
        let threads = ThreadPoolBuilder::new()
            .num_threads((rayon::current_num_threads() / (others + 1)).max(1))
            .start_handler(move |_| watch(Arc::clone(&watched)));
        let pool = threads.build().inspect_err(|_| Self::disbanded()).ok()?;
        Some(Self { pool, stop })
    }

    fn rest(self) {
        IDLE.lock().unwrap_or_else(PoisonError::into_inner).push(self);
    }

    /// A crew that takes no more work.
    fn disbanded() {
        CREWS.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndp_linalg::stop::checkpoint;
    use rayon::prelude::*;
    use std::time::Duration;

    /// Says so when it is dropped, also by unwinding.
    struct Said(std::sync::mpsc::Sender<()>);

    impl Drop for Said {
        fn drop(&mut self) {
            let _ = self.0.send(());
        }
    }

    #[test]
    fn abandoned_work_ends_and_the_next_question_finds_threads() {
        let (send, ended) = channel();
        let soon = || Instant::now().checked_add(Duration::from_millis(50));
        let endless = move || {
            let _said = Said(send);
            (0..4).into_par_iter().for_each(|_| {
                loop {
                    checkpoint();
                }
            });
        };
        assert!(within(soon(), endless).is_none());
        assert!(ended.recv_timeout(Duration::from_secs(60)).is_ok(), "the work goes on");
        let late = Instant::now().checked_add(Duration::from_secs(60));
        assert_eq!(within(late, || (0..100u64).into_par_iter().sum::<u64>()), Some(4950));
    }
}
