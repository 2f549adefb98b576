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
    figure,
};

fn figure(scale: Scale, seed: Seed, _data: &Data) -> anyhow::Result<Figure> {
    let figure = Figure::new("Random walks, figure 1: printed losses of the walk fall with the distance on every graph, exact losses of gossip not on every one")
        .claim("What is printed for the walk and for gossip bounds what is learned.")
        .finding("That the walk leaks less than gossip to near nodes, and more to far ones, compares printed bounds with each other; no check here decides it. The printed bound of the walk is refuted on a star; on these graphs it lies below what is proved, which does not refute it.");
    add_to(figure, Sender::Hidden, scale, seed)
}
