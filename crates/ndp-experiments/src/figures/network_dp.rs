//! Cyffers, Bellet, *Privacy Amplification by Decentralization*, AISTATS 2022, and its poster.

mod bounds;
pub mod fig1a;
pub mod fig1b;
pub mod fig2;
pub mod fig3;
pub mod poster;
mod realised;

use crate::entry::Entry;

/// In the order of the report.
pub const FIGURES: &[Entry] = &[fig1a::ENTRY, fig1b::ENTRY, fig2::ENTRY, fig3::ENTRY, poster::ENTRY];
