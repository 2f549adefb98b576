//! `muffliato/fig1a`: loss against distance on hypercube, Erdős–Rényi, geometric graph and grid.

use super::by_distance::{self, PRINTED, axis, curves, rounds};
use crate::datasets::Data;
use crate::entry::{Entry, Tolerance};
use crate::figures::families::{erdos_renyi, four};
use crate::seed::Seed;
use anyhow::Result;
use ndp_dp::Grade;
use ndp_graph::{GossipMatrix, Graph};
use ndp_printed::gossip::{Powers, theorem1_from};
use ndp_report::figure::{Axis, Basis, Check, Figure, Panel, Scale, Series};

const SIGMA: f64 = 1.0;
/// Erdős–Rényi: `q = C ln n / n`.
const C: f64 = 1.0;
/// Number of draws of the Erdős–Rényi graph; the exact curve uses the first draw.
const DRAWS: u64 = 5;
/// The grid's observers: the corner that the program uses, and the centre.
const CORNER: usize = 0;

/// `muffliato/fig1a`.
pub const ENTRY: Entry = Entry {
    id: "muffliato/fig1a",
    what: "loss against distance on hypercube, Erdős–Rényi, geometric graph and grid with 2048 nodes",
    needs: &[],
    minutes: 0.5,
    tolerance: Tolerance::SEEDED,
    findings: &["F1", "F2"],
    test: Some(("crates/ndp-printed/tests/all/gossip_reference.rs", "hypercube_of_figure_1a")),
    measures: false,
    figure,
};

fn figure(scale: Scale, seed: Seed, _data: &Data) -> Result<Figure> {
    let mut figure = Figure::new("Muffliato, figure 1(a): the printed loss towards a node falls with the distance on every graph, the exact loss not on every one")
        .by(Grade::Printed, "ndp_printed::gossip::theorem1_from", "Muffliato")
        .by_named("towards", Grade::Printed, "ndp_printed::gossip::theorem1_towards", "Muffliato")
        .by(Grade::Exact, "ndp_algos::gossip::exact_loss", "Certified losses")
        .by(Grade::UpperBound, "ndp_algos::gossip::exact_loss", "Certified losses")
        .parameter("alpha", 2.0)
        .parameter("sensitivity", 1.0)
        .parameter("sigma", SIGMA)
        .parameter("spread of the inputs", by_distance::SPREAD)
        .parameter("weights", "metropolis")
        .parameter("q of Erdős–Rényi", "ln n / n")
        .parameter("draws of Erdős–Rényi, printed", DRAWS)
        .claim("The privacy loss, bounded by Theorem 1, fades with the distance, on every graph.")
        .finding("At paper scale exact losses fall on the geometric graph up to distance 15 and rise again at the farthest nodes; elsewhere they are U-shaped or nearly flat. What is refuted is the claim about every graph. Even the farthest nodes of geometric graph and grid lose a good part of their local loss.")
        .finding("The program's five Erdős–Rényi runs are one graph five times; here five graphs are drawn.")
        .finding("The program means to observe from node 1035 of the grid and observes from the corner; both a corner and the center are drawn.")
        .check(by_distance::check())
        .check(Check::falls(by_distance::SOUND, 0.7))
        .titled_by([
            Basis::Drawn(Check::falls(by_distance::TOWARDS, 0.7)),
            Basis::Refuted(Check::falls(by_distance::SOUND, 0.7)),
        ])
        .columns(2);
    let mut views = Vec::new();
    for (name, graph) in four(scale, seed, C)? {
        let centre = graph.node_count() / 2;
        let observers =
            if name == "grid" { vec![("corner", CORNER), ("centre", centre)] } else { vec![("", 0)] };
        for (place, node) in observers {
            let matrix = GossipMatrix::metropolis(&graph);
            let rounds = rounds(&matrix, SIGMA)?;
            let mut curves = curves(&matrix, node, rounds)?;
            if name == "Erdős–Rényi" {
                replace_by_draws(&mut curves.series, graph.node_count(), seed)?;
            }
            let label = format!("{name} {place}").trim().to_owned();
            let view = |title: &str| {
                Panel::curves(title, Axis::linear("distance"), axis().range(1e-5, f64::INFINITY))
            };
            let shown = by_distance::shown(&curves.series);
            // The tables keep the spelling "centre"; the picture has "center".
            let drawn = label.replace("centre", "center");
            views.push(
                view(&format!("{drawn}, {} nodes, {rounds} rounds", graph.node_count())).with_all(shown),
            );
            figure = figure
                .parameter(format!("T, {label}"), rounds)
                .parameter(format!("nodes, {label}"), graph.node_count())
                .note(format!("rank, {label}"), curves.report.rank)
                .note(format!("bits, {label}"), curves.report.bits)
                .note(format!("failure, {label}"), curves.report.failure)
                .note(format!("grade, {label}"), curves.report.loss.grade().as_str())
                .panel(
                    view(&format!("{label}, {} nodes, T = {rounds}", graph.node_count()))
                        .with_all(curves.series),
                );
        }
    }
    // The sum from the first power is only in the CSV, because it differs by one term.
    Ok(figure.drawn_as(views))
}

/// Replaces the printed curve of one draw by that of several draws.
fn replace_by_draws(series: &mut [Series], n: usize, seed: Seed) -> Result<()> {
    let mut pairs = Vec::new();
    for draw in 0..DRAWS {
        let graph: Graph = erdos_renyi(n, C, seed, draw)?;
        let matrix = GossipMatrix::metropolis(&graph);
        let losses = theorem1_from(&matrix, &[0], rounds(&matrix, SIGMA)?, Powers::FromZero)?.into_value();
        let distances = graph.distances(0);
        pairs.extend(distances.iter().zip(losses).filter_map(|(d, loss)| Some((f64::from((*d)?), loss))));
    }
    if let Some(printed) = series.iter_mut().find(|s| s.name == PRINTED) {
        *printed = Series::new(PRINTED, Grade::Printed).by_class(pairs);
    }
    Ok(())
}
