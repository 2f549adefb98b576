//! Interruptions: Ctrl-C, or the request of a scheduler to end.

use crate::errors::INTERRUPTED;
use std::sync::atomic::{AtomicBool, Ordering};

static GENTLE: AtomicBool = AtomicBool::new(false);
static ASKED: AtomicBool = AtomicBool::new(false);

/// From now on an interruption deletes unfinished files and ends the program. If no signal handler can be
/// set, signals end the program in the usual way.
pub(crate) fn listen() {
    let _ = ctrlc::set_handler(|| {
        // If [`GENTLE`] is set, the first request only sets a flag. A second one ends the program at once.
        if GENTLE.load(Ordering::SeqCst) && !ASKED.swap(true, Ordering::SeqCst) {
            return;
        }
        ndp_report::files::abandon();
        std::process::exit(i32::from(INTERRUPTED));
    });
}

/// From now on the first interruption only sets [`asked`], for work that ends by itself soon after.
pub(crate) fn finish_what_was_begun() {
    GENTLE.store(true, Ordering::SeqCst);
}

/// Whether there was an interruption.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}
