//! `muffliato/fig5`: nine Facebook ego networks, their nodes colored by loss, printed and exact.

use super::by_distance::{self, rounds};
use crate::datasets::Data;
use crate::entry::{Entry, Tolerance};
use crate::seed::Seed;
use anyhow::Result;
use ndp_algos::gossip::{ExactOptions, exact_loss};
use ndp_dp::Grade;
use ndp_graph::GossipMatrix;
use ndp_printed::gossip::{Powers, theorem1_towards};
use ndp_report::figure::{Axis, Basis, Check, Drawing, Figure, Panel, Scale, Series};
use ndp_report::layout::force;
use rand::RngExt;

/// The ego networks of the gallery.
pub(in crate::figures) const EGOS: [u32; 9] = [0, 107, 348, 414, 686, 698, 1684, 3437, 3980];
/// The same as in `muffliato/fig1b`.
const SIGMA_SQUARED: f64 = 3.75;
/// The largest number of points of a line of shares.
const POINTS: usize = 200;

/// `muffliato/fig5`.
pub const ENTRY: Entry = Entry {
    id: "muffliato/fig5",
    what: "nine Facebook ego networks colored by loss, printed and exact",
    needs: &["facebook"],
    minutes: 0.4,
    tolerance: Tolerance::SEEDED,
    findings: &["F1"],
    test: Some((
        "crates/ndp-printed/tests/all/gossip_reference.rs",
        "theorem_1_is_false_on_the_path_with_three_nodes",
    )),
    measures: false,
    figure,
};

fn figure(scale: Scale, seed: Seed, data: &Data) -> Result<Figure> {
    let mut figure = Figure::new("Muffliato, figure 5: in Facebook networks, too, the largest printed loss over the smallest is at least five times what it is for exact losses")
        .by(Grade::Printed, "ndp_printed::gossip::theorem1_towards", "Muffliato")
        .by(Grade::Exact, "ndp_algos::gossip::exact_loss", "Certified losses")
        .by(Grade::UpperBound, "ndp_algos::gossip::exact_loss", "Certified losses")
        .parameter("weights", "metropolis")
        .parameter("sigma squared", SIGMA_SQUARED)
        .parameter("spread of the inputs", by_distance::SPREAD)
        .claim("On every network the printed loss bounds what a node loses to the observer.")
        .finding("Of the nine networks of paper scale, most nodes lose little by the printed losses in two (1684, 3980) alone; no check here is about how many do.")
        .finding("The network of an ego is that among the friends of one user.")
        .finding("How much losses vary is the factor between the largest and the smallest.")
        .finding("Of these networks, the exact loss towards the node is at least half of the local loss for more than 93 % of the nodes in seven, for nearly 79 % in ego 0 and for 37 % in ego 3980; both panels show the loss towards the node.")
        .finding("The program observes from the first node of degree 1; here the seed draws the node.")
        .columns(3);
    // A quick run uses small networks only.
    let egos: &[u32] = scale.pick(&EGOS, &[414, 698, 3980]);
    let mut drawings = Vec::new();
    for &ego in egos {
        let [printed, exact] = ["printed", "as it is"].map(|how| format!("ego {ego}, {how}"));
        figure = figure
            .titled_by([Basis::wider(5.0, printed.clone(), exact.clone())])
            .check(Check::covers(printed, exact));
        let loaded = data.ego(ego)?;
        let (graph, _) = loaded.value.largest_component();
        let n = graph.node_count();
        let node = seed.fork("node").trial(u64::from(ego)).random_range(0..n);
        let matrix = GossipMatrix::metropolis(&graph);
        let rounds = rounds(&matrix, SIGMA_SQUARED.sqrt())?;
        let report = exact_loss((&matrix, rounds), &[node], ExactOptions::default())?;
        let printed = theorem1_towards((&matrix, rounds), &[node], Powers::FromZero)?;
        let positions = force(&graph);
        figure = figure
            .computed_from(&loaded.source)
            .parameter(format!("ego {ego}: nodes"), n)
            .parameter(format!("ego {ego}: T"), rounds)
            .note(format!("ego {ego}: rank"), report.rank)
            .note(format!("ego {ego}: mean loss / local loss"), *report.mean().value());
        let panels = [
            ("printed", printed.grade(), &printed.value().unit),
            ("as it is", report.loss.grade(), &report.loss.value().unit),
        ];
        for (how, grade, losses) in panels {
            let mut values = losses.clone();
            values[node] = f64::NAN;
            let drawing = Drawing::new(format!("ego {ego}, {how}"), grade, &graph, positions.clone(), values)
                .mark(node);
            drawings.push((format!("ego {ego}, {n} nodes: {how}"), drawing.clone()));
            let color = Axis::log("loss / local loss").range(1e-3, 1.0).colored_to(1.0);
            figure = figure.panel(Panel::drawing(format!("ego {ego}, {n} nodes: {how}"), color, drawing));
        }
    }
    let color = || Axis::log("loss / local loss").range(1e-3, 1.0).colored_to(1.0);
    Ok(figure.drawn_as(shares(&drawings, ["as printed", "as it is"], 1e-4, color)).columns(3))
}

/// For networks with two drawings each, one of the printed values and one of the true losses or of bounds on
/// them: for each drawing a line with the share of nodes whose value is at least a given one; and the two
/// drawings of the smallest network.
pub(in crate::figures) fn shares(
    drawings: &[(String, Drawing)],
    ways: [&str; 2],
    least: f64,
    color: impl Fn() -> Axis,
) -> Vec<Panel> {
    let mut pairs: Vec<&[(String, Drawing)]> = drawings.chunks(2).collect();
    let nodes = |pair: &&[(String, Drawing)]| pair[0].1.values.len();
    pairs.sort_by_key(nodes);
    let [least_nodes, most_nodes] = [pairs.first(), pairs.last()].map(|pair| pair.map_or(0, nodes));
    let sizes = format!("{least_nodes} to {most_nodes} nodes");
    let mut lines = Vec::new();
    for (k, how) in ways.into_iter().enumerate() {
        lines.extend(pairs.iter().enumerate().filter_map(|(i, pair)| {
            let drawing = &pair.get(k)?.1;
            let line = Series::new(drawing.name.clone(), drawing.kind).at_least(&drawing.values, POINTS);
            let family = format!("{how}: {} networks of {sizes}, the larger the darker", pairs.len());
            Some(line.shade(i, pairs.len()).family(family))
        }));
    }
    let x = Axis::log("loss, bound or printed value / local loss").range(least, f64::INFINITY);
    let y = Axis::linear("share of nodes at or above this").range(0.0, 1.0);
    let mut views = vec![Panel::curves("all networks", x, y).with_all(lines)];
    let smallest = pairs.first().into_iter().flat_map(|pair| pair.iter());
    views.extend(smallest.map(|(title, drawing)| Panel::drawing(title.clone(), color(), drawing.clone())));
    views
}
