//! `random-walk/fig1`: loss against distance, the sender of the token hidden.

use super::by_distance::{Sender, add_to};
use crate::datasets::Data;
use crate::entry::{Entry, Tolerance};
use crate::seed::Seed;
use ndp_report::figure::{Figure, Scale};

/// `random-walk/fig1`.
pub const ENTRY: Entry = Entry {
    id: "random-walk/fig1",
    what: "loss against distance of a walk with hidden senders, beside gossip, on four graphs with 2048 nodes",
    needs: &[],
    minutes: 0.6,
    tolerance: Tolerance::SEEDED,
    findings: &["F8"],
    test: Some(("crates/ndp-printed/src/walk.rs", "the_star_refutes_theorem_3")),
    measures: false,
    figure,
};

fn figure(scale: Scale, seed: Seed, _data: &Data) -> anyhow::Result<Figure> {
    let figure = Figure::new("Random walks, figure 1: printed losses of the walk fall with the distance on all four graphs, exact losses of gossip not on all")
        .claim("What is printed for the walk and for gossip bounds what is learned.")
        .finding("In printed bounds, as drawn at paper scale, the walk is below gossip at every distance on hypercube and Erdős–Rényi, above it at every distance on the grid, and below near and above far on the geometric graph alone; no check here decides it. The printed bound of the walk is refuted on a star. On these graphs its mean at a distance lies, at paper scale, below what is proved for the observers looked at there at 115 of 125 distances, which does not refute it, and above it on the hypercube from distance 3 on and next to the node on the grid.");
    add_to(figure, Sender::Hidden, scale, seed)
}
