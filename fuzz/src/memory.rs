//! How much memory a run takes: seen where it is more than it may be.

use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// KiB of addresses that one process may have: beyond them an allocation fails, which ends the process.
pub(crate) const MOST_KIB: u32 = 3 << 20;

/// Bytes held now; the peak is counted from here.
pub(crate) fn start() -> usize {
    ALLOCATOR.reset_peak_usage();
    ALLOCATOR.current_usage()
}

/// The most bytes beyond those of `start` that were held since then.
pub(crate) fn peak_since(start: usize) -> usize {
    ALLOCATOR.peak_usage().saturating_sub(start)
}
