//! The registry of parts. To add one, add a file and a line here.

mod accelerated;
mod fixed;
mod fresh;
mod losses;
mod messages;
mod printed;
mod random_graphs;
mod sequences;
mod targets;
mod views;
mod walks;

use crate::part::Part;

/// All parts, in the order in which they run.
pub(crate) const ALL: &[&dyn Part] = &[
    &views::Views,
    &fixed::Fixed,
    &sequences::Sequences,
    &accelerated::Accelerated,
    &messages::Messages,
    &fresh::Fresh,
    &random_graphs::RandomGraphs,
    &targets::Targets,
    &walks::Walks,
    &printed::PrintedGossip,
];
