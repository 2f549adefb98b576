//! Our own figures: true statements beyond those of the papers.

pub mod audit;
pub mod correlated;
pub mod exact_view;
pub mod fresh_noise;
mod growth;
pub mod laws;
pub mod meter;
pub mod protocols;
pub mod scale;

use crate::entry::Entry;

/// In the order of the report.
pub const FIGURES: &[Entry] = &[
    audit::ENTRY,
    exact_view::ENTRY,
    fresh_noise::ENTRY,
    protocols::ENTRY,
    correlated::ENTRY,
    scale::ENTRY,
    laws::ENTRY,
    meter::ENTRY,
];
