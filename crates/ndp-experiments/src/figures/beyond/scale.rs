//! `beyond/scale`: loss by distance towards one observer on graphs of up to a million nodes.

use super::growth;
use crate::datasets::Data;
use crate::entry::{Entry, Tolerance};
use crate::figures::count;
use crate::figures::muffliato::by_distance::axis;
use crate::measure::{Cost, measured};
use crate::seed::Seed;
use anyhow::Result;
use ndp_algos::gossip::{ExactOptions, exact_loss};
use ndp_dp::Grade;
use ndp_graph::{GossipMatrix, Graph, generators, random};
use ndp_printed::gossip::{Powers, theorem1_towards};
use ndp_report::figure::{Axis, Basis, Check, Figure, Panel, Scale, Series};

const ROUNDS: usize = 30;
const FAMILIES: [&str; 2] = ["Erdős–Rényi", "grid"];
const MEAN_DEGREE: f64 = 10.0;
/// Numbers of nodes for the printed curves; grids take the nearest square number.
const NODES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
/// Largest number of nodes with an exact curve.
const EXACT_NODES: usize = 100_000;

/// A graph with at least this many nodes counts as large.
const LARGE_NODES: usize = 10_000;

/// `beyond/scale`.
pub const ENTRY: Entry = Entry {
    id: "beyond/scale",
    what: "loss by distance towards one observer, printed up to 10^6 nodes and exact up to 10^5",
    needs: &[],
    minutes: 0.8,
    tolerance: Tolerance::SEEDED,
    findings: &["F1", "F2"],
    test: Some(("crates/ndp-printed/tests/all/gossip_reference.rs", "hypercube_of_figure_1a")),
    measures: true,
    figure,
};

fn figure(scale: Scale, seed: Seed, _data: &Data) -> Result<Figure> {
    let sizes: &[usize] = scale.pick(&NODES, &[300, 1_000]);
    let mut figure = Figure::new("At some distances within T hops nodes lose more than is printed, on random graphs and on grids")
        .by(Grade::Printed, "ndp_printed::gossip::theorem1_towards", "Muffliato")
        .by(Grade::Exact, "ndp_algos::gossip::exact_loss", "Certified losses")
        .by(Grade::UpperBound, "ndp_algos::gossip::exact_loss", "Certified losses")
        .parameter("T", ROUNDS)
        .parameter("weights", "metropolis")
        .parameter("mean degree of Erdős–Rényi", MEAN_DEGREE)
        .parameter("observer", "Erdős–Rényi: the middle of the numbering of the largest component; grid: its center")
        .claim("As Theorem 1 bounds it, on large graphs far nodes are safe.")
        .finding("Beyond T hops they are, trivially: both losses are 0 there. Within T hops the mean exact loss is above the mean printed one at some distances and below it at others. Up to 10^5 nodes the exact loss is computed; at 10^6 only the printed one is drawn.")
        .finding("The claim is about large graphs: it is decided from 10^4 nodes on, and in a quick look not at all.")
        .finding("The exponents of time and memory among the measurements are fitted to one run at each of three sizes, on this machine; \"-\" means that no growth of memory was seen, for example because the process had held as much before. They are rough at either scale. The sizes of a quick look are too small for them: work that does not grow, such as reading the graph, hides how several engines grow.")
        .columns(2);
    // First, while the process holds little memory.
    figure = growth::measured_in(figure, scale, seed)?;
    for n in sizes.iter().filter(|&&n| n <= EXACT_NODES) {
        let both = Check::covers(format!("printed, n = {n}"), format!("sound, n = {n}"));
        figure = figure.titled_by([Basis::Refuted(both)]);
    }
    let large = |&n: &usize| (LARGE_NODES..=EXACT_NODES).contains(&n);
    for n in sizes.iter().copied().filter(large) {
        figure = figure.check(Check::covers(format!("printed, n = {n}"), format!("sound, n = {n}")));
    }
    if !sizes.iter().any(large) {
        let why = "no graph here has 10^4 nodes or more";
        figure = figure.check(Check::open("The claim about large graphs", why));
    }
    for family in FAMILIES {
        // Beyond T hops all losses are 0, and a grid has many more distances, so they are not drawn.
        let distance = Axis::linear("distance");
        let distance = if family == "grid" { distance.range(0.0, ROUNDS as f64 + 4.0) } else { distance };
        let mut panel =
            Panel::curves(format!("{family}, T = {ROUNDS}"), distance, axis().range(1e-8, f64::INFINITY));
        for (k, &n) in sizes.iter().enumerate() {
            let (graph, observer) = sample(family, n, seed)?;
            let matrix = GossipMatrix::metropolis(&graph);
            let distances = graph.distances(observer);
            let by_distance = |series: Series, losses: &[f64]| {
                let pairs = distances.iter().zip(losses).enumerate().filter(|&(u, _)| u != observer);
                series
                    .by_class(pairs.filter_map(|(_, (d, &loss))| Some((f64::from((*d)?), loss))))
                    .shade(k, sizes.len())
            };
            let (printed, cost) =
                measured(|| theorem1_towards((&matrix, ROUNDS), &[observer], Powers::FromZero));
            let printed = printed?.into_value();
            figure = with_cost(figure, &format!("{family}, n = {n}: printed"), cost);
            panel = panel
                .with(by_distance(Series::new(format!("printed, n = {n}"), Grade::Printed), &printed.unit));
            if n <= EXACT_NODES {
                let (report, cost) =
                    measured(|| exact_loss((&matrix, ROUNDS), &[observer], ExactOptions::default()));
                let report = report?;
                figure = with_cost(figure, &format!("{family}, n = {n}: sound"), cost)
                    .note(format!("{family}, n = {n}: rank"), report.rank);
                let series = Series::new(format!("sound, n = {n}"), report.grade());
                panel = panel.with(by_distance(series, &report.loss.value().unit));
            }
        }
        figure = figure.panel(panel);
    }
    let views = sizes.iter().enumerate().flat_map(|(k, &n)| {
        figure
            .panels
            .iter()
            .zip(FAMILIES)
            .map(move |(panel, family)| of_size(panel, family, k, n))
            .collect::<Vec<_>>()
    });
    let views: Vec<Panel> = views.collect();
    Ok(figure.drawn_as(views))
}

/// The curves of one size, in a panel of their own.
fn of_size(panel: &Panel, family: &str, k: usize, n: usize) -> Panel {
    let (printed, sound) = (format!("printed, n = {n}"), format!("sound, n = {n}"));
    let mut chosen = Vec::new();
    for series in panel.series().iter().filter(|s| s.name == printed || s.name == sound) {
        let name = series.kind.as_str().replace('-', " ");
        // Beyond T hops all losses are 0.
        let points = series.points.iter().copied().filter(|p| p.x <= ROUNDS as f64);
        chosen.push(Series::new(name, series.kind).points(points));
    }
    let first = if k == 0 { format!(", T = {ROUNDS}") } else { String::new() };
    let title = format!("{family}, about {n} nodes{first}");
    Panel::curves(title, Axis::linear("distance"), axis().range(1e-8, f64::INFINITY)).with_all(chosen)
}

fn with_cost(figure: Figure, what: &str, cost: Cost) -> Figure {
    figure
        .measurement(format!("{what}, seconds"), cost.seconds)
        .measurement(format!("{what}, peak memory in bytes"), cost.peak_memory)
}

/// The largest component of a random graph, or a square grid, with about `n` nodes; and the observer.
fn sample(family: &str, n: usize, seed: Seed) -> Result<(Graph, usize)> {
    if family == "grid" {
        let side = count((n as f64).sqrt().round());
        return Ok((generators::grid_2d_graph(side, side)?, side / 2 * (side + 1)));
    }
    let mut rng = seed.fork(&format!("erdos-renyi {n}")).trial(0);
    let graph = random::erdos_renyi_graph(n, MEAN_DEGREE / n as f64, &mut rng)?;
    let graph = graph.largest_component().0;
    let observer = graph.node_count() / 2;
    Ok((graph, observer))
}
