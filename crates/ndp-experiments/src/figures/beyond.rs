//! Our own figures: what is true beyond the papers.

use crate::registry::Entry;

/// In the order of the report.
pub const FIGURES: &[Entry] = &[];
