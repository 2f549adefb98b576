//! `random-walk/fig4`: loss against distance, the sender of the token known.

use super::by_distance::{Sender, add_to};
use crate::datasets::Data;
use crate::entry::{Entry, Tolerance};
use crate::seed::Seed;
use ndp_report::figure::{Figure, Scale};

/// `random-walk/fig4`.
pub const ENTRY: Entry = Entry {
    id: "random-walk/fig4",
    what: "loss against distance of a walk with known senders, beside gossip, on four graphs with 2048 nodes",
    needs: &[],
    minutes: 0.6,
    tolerance: Tolerance::SEEDED,
    findings: &["F8"],
    test: Some(("crates/ndp-printed/src/walk.rs", "remark_3_leaves_out_the_hop_itself")),
    measures: false,
    figure,
};

fn figure(scale: Scale, seed: Seed, _data: &Data) -> anyhow::Result<Figure> {
    let figure = Figure::new("Random walks, figure 4: with known senders, too, printed losses of the walk fall with the distance on all four graphs, exact losses of gossip not on all")
        .claim("What is printed for observers who know the sender bounds what they learn.")
        .finding("In printed bounds knowing the sender costs about one step of distance in the mean, at paper scale between 24 % less and 8 % more; no check here decides it.")
        .finding("The printed maximum over neighbors leaves out the hop from node 0 itself, so it understates its neighbors. For the observers looked at, the sound curve holds whatever is known of the path and needs no such maximum.");
    add_to(figure, Sender::Known, scale, seed)
}
