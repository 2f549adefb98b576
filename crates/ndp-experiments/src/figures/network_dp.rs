//! Cyffers, Bellet, *Privacy Amplification by Decentralization*, AISTATS 2022, and its poster.

pub mod fig2;
mod fig2_recorded;

use crate::registry::Entry;

/// In the order of the report.
pub const FIGURES: &[Entry] = &[fig2::ENTRY];
