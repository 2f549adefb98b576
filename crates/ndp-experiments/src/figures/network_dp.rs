//! Cyffers, Bellet, *Privacy Amplification by Decentralization*, AISTATS 2022, and its poster.

pub mod bounds;
pub mod fig1b;
pub mod fig2;
mod fig2_recorded;
pub mod fig3;
mod realised;

use crate::registry::Entry;

/// In the order of the report.
pub const FIGURES: &[Entry] = &[bounds::FIG1A, fig1b::ENTRY, fig2::ENTRY, fig3::ENTRY, bounds::POSTER];
