//! Long loops cut into pieces of fixed size, so that results do not depend on the number of threads. Only for
//! the crates of this workspace: nothing here is stable.

use rayon::prelude::*;

/// Runs `work` on a thread of the pool. A thread outside would hand each of its parallel loops to the
/// pool and sleep until it is done, thousands of times where loops are short.
pub fn in_pool<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    rayon::scope(|_| work())
}

/// Runs `work` on pieces of fixed size, in parallel when there are several; `work` receives the first row of
/// its piece.
pub fn for_tasks<T: Send>(rows: &mut [T], work: impl Fn(usize, &mut [T]) + Sync) {
    for_wide_tasks(rows, 1, &work);
}

/// As [`for_tasks`], for rows of `width` numbers each.
///
/// The loop is not compiled once more for every closure.
pub fn for_wide_tasks<T: Send>(rows: &mut [T], width: usize, work: &(dyn Fn(usize, &mut [T]) + Sync)) {
    if rows.len() <= TASK * width {
        work(0, rows);
    } else {
        rows.par_chunks_mut(TASK * width).enumerate().for_each(|(task, rows)| work(task * TASK, rows));
    }
}

/// As [`for_tasks`], with one result for each piece, in order. Each row has `stride` numbers beside it.
pub fn for_paired_tasks<T: Send, R: Send>(
    rows: &mut [T],
    beside: &mut [f64],
    stride: usize,
    work: impl Fn(usize, &mut [T], &mut [f64]) -> R + Sync,
) -> Vec<R> {
    if rows.len() <= TASK {
        vec![work(0, rows, beside)]
    } else {
        let pieces = rows.par_chunks_mut(TASK).zip(beside.par_chunks_mut(TASK * stride));
        pieces.enumerate().map(|(task, (rows, beside))| work(task * TASK, rows, beside)).collect()
    }
}

/// Rows per task: enough to be worth a thread, few enough to share the work evenly.
const TASK: usize = 1 << 13;
