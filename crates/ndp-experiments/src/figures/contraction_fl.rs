//! Asoodeh, Calmon, *Differentially Private Federated Learning: An Information-Theoretic Perspective*.

use crate::registry::Entry;

/// In the order of the report.
pub const FIGURES: &[Entry] = &[];
