//! Printed formulas against what is true.
//!
//! All in one program: each program more is linked and started for itself.

mod audit;
mod gossip_claims;
mod gossip_reference;
mod gossip_sequences;
mod walk_on_graph;
