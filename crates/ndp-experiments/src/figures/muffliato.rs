//! Cyffers, Even, Bellet, Massoulié, *Muffliato: Peer-to-Peer Privacy Amplification for Decentralized
//! Optimization and Averaging*, NeurIPS 2022.

use crate::registry::Entry;

/// In the order of the report.
pub const FIGURES: &[Entry] = &[];
