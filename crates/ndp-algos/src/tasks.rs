//! Long loops cut into pieces of fixed size, so that results do not depend on the number of threads.

use rayon::prelude::*;

/// Runs `work` on pieces of fixed size, in parallel when there are several; it is given the first
/// row of its piece.
pub(crate) fn for_tasks<T: Send>(rows: &mut [T], work: impl Fn(usize, &mut [T]) + Sync) {
    if rows.len() <= TASK {
        work(0, rows);
    } else {
        rows.par_chunks_mut(TASK).enumerate().for_each(|(task, rows)| work(task * TASK, rows));
    }
}

/// As [`for_tasks`], with one result for each piece, in order.
pub(crate) fn map_tasks<T: Sync, R: Send>(rows: &[T], work: impl Fn(usize, &[T]) -> R + Sync) -> Vec<R> {
    if rows.len() <= TASK {
        vec![work(0, rows)]
    } else {
        rows.par_chunks(TASK).enumerate().map(|(task, rows)| work(task * TASK, rows)).collect()
    }
}

/// Rows of a task: enough to be worth a thread, few enough to share the work evenly.
const TASK: usize = 1 << 13;
