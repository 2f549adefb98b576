//! Cyffers, Bellet, Upadhyay, *Differentially Private Decentralized Learning with Random Walks*, ICML
//! 2024.

use crate::registry::Entry;

/// In the order of the report.
pub const FIGURES: &[Entry] = &[];
