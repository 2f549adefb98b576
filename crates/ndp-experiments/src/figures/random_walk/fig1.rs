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
    let figure = Figure::new("Random walks, figure 1: printed losses fall with the distance on every graph; exact losses of gossip do not")
        .claim("As the printed theorems bound it, the walk leaks less than gossip to near nodes, gossip less than the walk to far ones.");
    add_to(figure, Sender::Hidden, scale, seed)
}
