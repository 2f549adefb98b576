//! Cyffers, Bellet, *Privacy Amplification by Decentralization*, AISTATS 2022, and its poster.

use crate::registry::Entry;

/// In the order of the report.
pub const FIGURES: &[Entry] = &[];
