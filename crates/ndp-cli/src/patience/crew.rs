//! Work with a deadline, on threads of its own so that it can be abandoned.

use ndp_graph::progress::watch;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The result of `work`; `None` if it is not done in time, and then it is told to stop.
pub(super) fn within<T: Send + 'static>(
    until: Option<Instant>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let Some(until) = until else { return Some(work()) };
    // If the deadline has passed, the work is not even started.
    let left = until.checked_duration_since(Instant::now())?;
    let Some(crew) = Crew::idle() else { return Some(work()) };
    let (send, receive) = channel();
    crew.pool.spawn(move || {
        // Abandoned work ends with a panic at its next checkpoint. An error in the work may panic too; its
        // message has been printed by then.
        let found = catch_unwind(AssertUnwindSafe(work));
        // If the work was abandoned, nothing receives the result.
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

/// A thread pool for work that may be abandoned. `stop` tells all its threads to end.
struct Crew {
    pool: ThreadPool,
    stop: Arc<AtomicBool>,
}

/// The crews that have no work.
static IDLE: Mutex<Vec<Crew>> = Mutex::new(Vec::new());

/// The number of all crews that are not disbanded.
static CREWS: AtomicUsize = AtomicUsize::new(0);

impl Crew {
    /// The idle crew with the most threads, or a new one.
    fn idle() -> Option<Self> {
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = (0..idle.len()).max_by_key(|&at| idle[at].pool.current_num_threads()) {
            return Some(idle.swap_remove(at));
        }
        drop(idle);
        let stop = Arc::new(AtomicBool::new(false));
        let watched = Arc::clone(&stop);
        // Crews that work at the same time share the processors. If each had one thread per processor, there
        // would be as many as the square of the number of processors.
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

    /// Counts out a crew that will take no more work.
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

    /// Sends a message when it is dropped, also during a panic.
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
