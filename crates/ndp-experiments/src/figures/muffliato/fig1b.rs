//! `muffliato/fig1b`: a Facebook ego network, its nodes coloured by loss.

use super::by_distance::{self, rounds};
use crate::datasets::Data;
use crate::entry::{Entry, Tolerance};
use crate::seed::Seed;
use ndp_algos::gossip::{ExactOptions, exact_loss};
use ndp_dp::Grade;
use ndp_graph::GossipMatrix;
use ndp_printed::gossip::{Powers, theorem1_from, theorem1_towards};
use ndp_report::figure::{Axis, Check, Drawing, Figure, Panel, Scale};
use ndp_report::layout::force;
use rand::RngExt;

const EGO: u32 = 1912;
/// An ego network of 148 nodes, which replaces the one of 744 in a quick run.
const QUICK_EGO: u32 = 414;
/// The value of the program: `√(α ε / 2)` with `α = 1.5` and `ε = 5`, although `√(α / (2ε))` is meant.
const SIGMA_SQUARED: f64 = 3.75;

/// The largest component of ego network 1912.
pub const ENTRY: Entry = Entry {
    id: "muffliato/fig1b",
    what: "the Facebook network of ego 1912, coloured by loss",
    needs: &["facebook"],
    minutes: 0.1,
    tolerance: Tolerance::DETERMINISTIC,
    figure,
};

fn figure(scale: Scale, seed: Seed, data: &Data) -> anyhow::Result<Figure> {
    let number = scale.pick(EGO, QUICK_EGO);
    let ego = data.ego(number)?;
    let (graph, _) = ego.value.largest_component();
    let n = graph.node_count();
    let node = seed.fork("node").trial(0).random_range(0..n);
    let label = graph.labels().map_or_else(|| node.to_string(), |labels| labels[node].clone());
    let matrix = GossipMatrix::metropolis(&graph);
    let rounds = rounds(&matrix, SIGMA_SQUARED.sqrt())?;

    let report = exact_loss((&matrix, rounds), &[node], ExactOptions::default())?;
    let printed = theorem1_from(&matrix, &[node], rounds, Powers::FromZero)?.map(|from| from.row(0).to_vec());
    let towards = theorem1_towards((&matrix, rounds), &[node], Powers::FromZero)?;
    let positions = force(&graph);
    let drawing = |name: &str, kind, values: &[f64]| {
        let mut values = values.to_vec();
        // A node's loss to itself is no privacy loss.
        values[node] = f64::NAN;
        Drawing::new(name, kind, &graph, positions.clone(), values).mark(node)
    };
    let color = || Axis::log("loss / local loss").colored_to(1.0);
    let printed = drawing("printed, from the node", printed.grade(), printed.value());
    let sum_towards = drawing("printed, towards the node", towards.grade(), &towards.value().unit);
    let exact = drawing("loss towards the node", report.loss.grade(), &report.loss.value().unit);
    Ok(Figure::new(format!("Muffliato, figure 1b: Facebook ego network {number}, as printed and as it is"))
        .by(Grade::Printed, "ndp_printed::gossip::theorem1_from", "Muffliato")
        .by_named("towards", Grade::Printed, "ndp_printed::gossip::theorem1_towards", "Muffliato")
        .by(Grade::Exact, "ndp_algos::gossip::exact_loss", "Certified losses")
        .by(Grade::UpperBound, "ndp_algos::gossip::exact_loss", "Certified losses")
        .parameter("ego", number)
        .parameter("nodes", n)
        .parameter("edges", graph.edge_count())
        .parameter("node", label)
        .parameter("weights", "metropolis")
        .parameter("gossip", "plain, number of rounds of the accelerated rule")
        .parameter("sigma squared", SIGMA_SQUARED)
        .parameter("spread of the inputs", by_distance::SPREAD)
        .parameter("T", rounds)
        .parameter("own noise", "known")
        .note("rank", report.rank)
        .note("grade", report.loss.grade().as_str())
        .note("bits", report.bits)
        .note("failure", report.failure)
        .note("mean loss / local loss", *report.mean().value())
        .claim("As Theorem 1 bounds it, a member of a social network loses little privacy to most others, the less the farther they are.")
        .finding("Losses are drawn as fractions of the local loss, which depend neither on alpha nor on sigma.")
        .finding("Text: alpha = 1.5, local loss 5. Program: sigma = 1.936, alpha = 2, local loss 0.2667.")
        .finding("The layout is ours, and so is the choice of the node, which the seed decides.")
        .check(Check::covers("printed, towards the node", "loss towards the node"))
        .computed_from(&ego.source)
        .columns(3)
        .panel(Panel::drawing("printed: the loss of the node towards every other", color(), printed))
        .panel(Panel::drawing("printed: the loss of every other towards the node", color(), sum_towards))
        .panel(Panel::drawing("as it is: the loss of every other towards the node", color(), exact)))
}
