//! The registry of parts. To add one, add a file and a line here.

mod accelerated;
mod alike;
mod claims;
mod complete;
mod compositions;
mod contradictions;
mod dp;
mod fixed;
mod formula;
mod fresh;
mod graph_walks;
mod hidden_graphs;
mod histograms;
mod learning;
mod ledgers;
mod long_walks;
mod losses;
mod messages;
mod outward;
mod printed;
mod process;
mod program;
mod questions;
mod random_graphs;
mod receptions;
mod registry;
mod ring;
mod searched;
mod sequences;
mod shuffled;
mod statements;
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
    &hidden_graphs::HiddenGraphs,
    &targets::Targets,
    &program::Programs,
    &program::meter::Meters,
    &program::proofs::Proofs,
    &walks::Walks,
    &outward::Outward,
    &dp::Dp,
    &compositions::Compositions,
    &registry::Registry,
    &printed::PrintedGossip,
    &claims::Claims,
    &random_graphs::RandomGraphs,
    &graph_walks::GraphWalks,
    &long_walks::LongWalks,
    &ring::Ring,
    &complete::Complete,
    &histograms::Histograms,
    &receptions::ReceptionsOfHistograms,
    &shuffled::Shuffled,
    &learning::Learning,
    &ledgers::Ledgers,
    &contradictions::Contradictions,
    &statements::Statements,
    &questions::Questions,
    &alike::Alike,
];
