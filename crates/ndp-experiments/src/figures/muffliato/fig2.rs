//! `muffliato/fig2`: four graphs, their nodes colored by loss, printed and exact.

use super::by_distance::rounds;
use crate::datasets::Data;
use crate::entry::{Entry, Tolerance};
use crate::figures::families::four;
use crate::seed::Seed;
use anyhow::Result;
use ndp_algos::gossip::{ExactOptions, exact_loss};
use ndp_dp::Grade;
use ndp_graph::{GossipMatrix, Graph};
use ndp_printed::gossip::{Powers, theorem1_from, theorem1_towards};
use ndp_report::figure::{Axis, Basis, Check, Drawing, Figure, Panel, Scale, Series};

const SIGMA: f64 = 1.0;
const C: f64 = 1.0;
const NODE: usize = 0;
/// The graph that is drawn as maps, because its nodes have positions.
const MAPPED: &str = "geometric";
/// The quantiles that a strip shows.
pub(in crate::figures) const QUANTILES: [&str; 5] =
    ["least", "lower quartile", "median", "upper quartile", "largest"];

/// `muffliato/fig2`.
pub const ENTRY: Entry = Entry {
    id: "muffliato/fig2",
    what: "hypercube, Erdős–Rényi, geometric graph and grid colored by loss, printed and exact",
    needs: &[],
    minutes: 0.5,
    tolerance: Tolerance::SEEDED,
    findings: &["F1", "F2"],
    test: Some(("crates/ndp-printed/tests/all/gossip_reference.rs", "grid_of_figure_1a")),
    measures: false,
    figure,
};

fn figure(scale: Scale, seed: Seed, _data: &Data) -> Result<Figure> {
    let mut figure = Figure::new(
        "Muffliato, figure 2: towards one node, the largest printed loss over the smallest is at least five times what it is for exact losses",
    )
    .by(Grade::Printed, "ndp_printed::gossip::theorem1_from", "Muffliato")
    .by_named("towards", Grade::Printed, "ndp_printed::gossip::theorem1_towards", "Muffliato")
    .by(Grade::Exact, "ndp_algos::gossip::exact_loss", "Certified losses")
    .by(Grade::UpperBound, "ndp_algos::gossip::exact_loss", "Certified losses")
    .parameter("alpha", 2.0)
    .parameter("sensitivity", 1.0)
    .parameter("sigma", SIGMA)
    .parameter("weights", "metropolis")
    .parameter("node", NODE)
    .parameter(
        "positions",
        "geometric and grid: their own; hypercube: shells by distance; Erdős–Rényi: shells by distance",
    )
    .claim("The loss, as Theorem 1 bounds it, is concentrated around the node.")
    .finding("How much losses vary is the factor between the largest and the smallest.")
    .finding("At paper scale every node of geometric graph and grid loses more than a tenth of its local loss; on hypercube and Erdős–Rényi most nodes lose less than that, and a few far ones nearly all (figure 1a).")
    .columns(2);
    let (mut strips, mut maps) = (Vec::new(), Vec::new());
    for (name, graph) in four(scale, seed, C)? {
        let matrix = GossipMatrix::metropolis(&graph);
        let rounds = rounds(&matrix, SIGMA)?;
        let positions = graph.positions().map_or_else(|| shells(&graph), <[[f64; 2]]>::to_vec);
        let from = theorem1_from(&matrix, &[NODE], rounds, Powers::FromZero)?.into_value().row(0).to_vec();
        let towards = theorem1_towards((&matrix, rounds), &[NODE], Powers::FromZero)?.into_value().unit;
        let report = exact_loss((&matrix, rounds), &[NODE], ExactOptions::default())?;
        let color = || Axis::log("loss / local loss").range(1e-3, 1.0).colored_to(1.0);
        let panels = [
            ("printed, from the node", Grade::Printed, from),
            ("printed, towards the node", Grade::Printed, towards),
            ("as it is, towards the node", report.grade(), report.loss.value().unit.clone()),
        ];
        let [printed, exact] = ["printed", "as it is"].map(|how| format!("{name}, {how}, towards the node"));
        figure = figure
            .parameter(format!("T, {name}"), rounds)
            .titled_by([Basis::wider(5.0, printed.clone(), exact.clone())])
            .check(Check::covers(printed, exact));
        for (how, grade, mut values) in panels {
            // A node's loss to itself is no privacy loss.
            values[NODE] = f64::NAN;
            let drawing =
                Drawing::new(format!("{name}, {how}"), grade, &graph, positions.clone(), values).mark(NODE);
            strips.push(Series::new(format!("{name}: {how}"), drawing.kind).strip(&drawing.values));
            let panel = Panel::drawing(format!("{name}, {how}"), color(), drawing);
            if name == MAPPED && how != "printed, from the node" {
                maps.push(panel.clone());
            }
            figure = figure.panel(panel);
        }
    }
    let axis = Axis::log("loss / local loss").range(1e-3, f64::INFINITY);
    let strips = Panel::dots("all nodes but the observer", axis, QUANTILES).with_all(strips);
    Ok(figure.drawn_as([strips].into_iter().chain(maps)))
}

/// Nodes on circles around node 0, one circle per distance.
fn shells(graph: &Graph) -> Vec<[f64; 2]> {
    let distances = graph.distances(NODE);
    let farthest = distances.iter().flatten().max().copied().unwrap_or(0);
    let mut positions = vec![[0.0, 0.0]; graph.node_count()];
    for shell in 1..=farthest {
        let members: Vec<usize> = (0..graph.node_count()).filter(|&v| distances[v] == Some(shell)).collect();
        for (k, &v) in members.iter().enumerate() {
            let angle = std::f64::consts::TAU * (k as f64 + 0.5) / members.len() as f64;
            positions[v] = [f64::from(shell) * angle.cos(), f64::from(shell) * angle.sin()];
        }
    }
    positions
}
