//! Asoodeh, Calmon, *Differentially Private Federated Learning: An Information-Theoretic Perspective*.

pub mod fig2;

use crate::entry::Entry;

/// In the order of the report.
pub const FIGURES: &[Entry] = &[fig2::ENTRY];
