//! `beyond/audit`: claimed, exact and measured loss on many settings, by attacks on simulated transcripts.

use crate::datasets::Data;
use crate::entry::{Entry, Tolerance};
use crate::figures::families::{erdos_renyi, geometric};
use crate::seed::Seed;
use anyhow::{Context, Result, ensure};
use ndp_account::audit::{Audit, AuditPlan, audit};
use ndp_account::{LinearProtocol, Observer};
use ndp_algos::gossip::accelerated::{AcceleratedGossip, Momentum};
use ndp_algos::gossip::fresh::flat_variances;
use ndp_algos::gossip::{
    FreshNoiseGossip, MessageNoise, NoisyMessageGossip, SequenceGossip, SynchronousGossip,
};
use ndp_dp::{Grade, Sensitivity, Sigma};
use ndp_graph::progress::Silent;
use ndp_graph::sequences::EdgeActivations;
use ndp_graph::{GossipMatrix, GossipSequence, Graph, generators};
use ndp_printed::gossip::{Powers, theorem1_towards};
use ndp_report::figure::{Axis, Basis, Check, Figure, Panel, Scale, Series};
use rayon::prelude::*;

const SIGMA: f64 = 1.0;
/// The sensitivity, which is the `μ` of a full loss.
const SENSITIVITY: f64 = 2.0;
const RUNS: usize = 100_000;
const ERROR_RATE: f64 = 1e-4;
/// Variance of the noise of the later rounds, relative to that of the first.
const RHO: f64 = 0.3;
/// The smallest network of the data set, and one of 148 nodes.
const EGOS: [u32; 2] = [3980, 414];
/// Losses that count as partial: neither nearly 0 nor nearly 1.
const PARTIAL: std::ops::RangeInclusive<f64> = 0.05..=0.95;

const ONE_SHOT: &str = "one shot of noise";
const FRESH: &str = "fresh noise in every round";
const OTHERS: &str = "other protocols";
const PRINTED: &str = "printed (Theorem 1)";
const EXACT: &str = "exact loss";
const MEASURED: &str = "measured loss";

/// `beyond/audit`.
pub const ENTRY: Entry = Entry {
    id: "beyond/audit",
    what: "claimed, exact and measured loss of gossip protocols on many graphs, two Facebook networks among them",
    needs: &["facebook"],
    minutes: 0.3,
    tolerance: Tolerance::SEEDED,
    findings: &["F1"],
    test: Some(("crates/ndp-printed/tests/all/audit.rs", "printed_bounds_are_violated_by_attacks")),
    measures: false,
    figure,
};

/// Who attacks whom, and what the accountants say.
struct Setting {
    panel: &'static str,
    name: String,
    protocol: Box<dyn LinearProtocol>,
    coalition: Vec<usize>,
    source: usize,
    printed: Option<f64>,
    exact: f64,
}

impl Setting {
    /// The exact Gaussian parameter of what is learned.
    fn mu(&self) -> f64 {
        SENSITIVITY / SIGMA * self.exact.sqrt()
    }
}

fn figure(scale: Scale, seed: Seed, data: &Data) -> Result<Figure> {
    let runs = scale.pick(RUNS, 2000);
    let mut figure = Figure::new("Attacks measure losses above what is printed in some settings, and above the exact loss in none")
        .by(Grade::Printed, "ndp_printed::gossip::theorem1_towards", "Muffliato")
        .by(Grade::Exact, "ndp_account::LinearProtocol::coalition_loss", "Certified losses")
        .by(Grade::Estimate, "ndp_account::audit::audit", "Accounting")
        .parameter("sigma", SIGMA)
        .parameter("sensitivity", SENSITIVITY)
        .parameter("runs per world and setting", runs)
        .parameter("error rate per setting", ERROR_RATE)
        .parameter("later noise over first noise, in variance", RHO)
        .parameter("weights", "metropolis")
        .claim("Theorem 1 of Muffliato bounds what a node learns about another.")
        .finding("A measured loss is a lower bound that holds with the stated probability. In none of these settings was it above the exact loss; in those where it is below the printed one, nothing follows.")
        .check(Check::covers(PRINTED, EXACT))
        .titled_by([
            Basis::Refuted(Check::attacked(PRINTED, MEASURED, ERROR_RATE)),
            Basis::Drawn(Check::below(MEASURED, EXACT)),
        ])
        .check(Check::attacked(PRINTED, MEASURED, ERROR_RATE))
        .check(Check::attacked(EXACT, MEASURED, ERROR_RATE))
        .columns(1);
    let mut settings = synthetic(seed)?;
    for ego in EGOS {
        let loaded = data.ego(ego)?;
        let (graph, _) = loaded.value.largest_component();
        figure = figure.computed_from(&loaded.source);
        let name = format!("Facebook {ego}, {} nodes", graph.node_count());
        settings.push(plain(&format!("{name}, early"), &graph, &[0], None, 2)?);
        settings.push(fresh(&name, &graph, &[0], None, 4)?);
    }
    let noise = Sigma::new(SIGMA)?.multiplier(Sensitivity::new(SENSITIVITY)?)?;
    let plan = AuditPlan { runs, error_rate: ERROR_RATE };
    let stream = seed.fork("audit");
    let found: Vec<Audit> = settings
        .par_iter()
        .enumerate()
        .map(|(k, setting)| {
            let rng = &mut stream.trial(k as u64);
            let observer = Observer::coalition(&setting.coalition);
            let found = audit(&setting.protocol, setting.source, &observer, noise, plan, rng, &Silent);
            found.with_context(|| setting.name.clone())
        })
        .collect::<Result<_>>()?;

    let measured_mu = |found: &Audit| *found.measured_mu.value();
    for title in [ONE_SHOT, FRESH, OTHERS] {
        let rows: Vec<(&Setting, &Audit)> =
            settings.iter().zip(&found).filter(|(setting, _)| setting.panel == title).collect();
        let column = |series: Series, value: &dyn Fn(&Setting, &Audit) -> Option<f64>| {
            let values = rows.iter().enumerate();
            series.points(values.filter_map(|(k, (setting, found))| Some((k as f64, value(setting, found)?))))
        };
        let mut panel = Panel::table(title, "setting");
        for (k, (setting, _)) in rows.iter().enumerate() {
            panel = panel.row_name(k as f64, &setting.name);
        }
        if title == ONE_SHOT {
            panel = panel.with(column(Series::new(PRINTED, Grade::Printed), &|setting, _| setting.printed));
        }
        let unit = |mu: f64| (mu * SIGMA / SENSITIVITY).powi(2);
        figure = figure.panel(
            panel
                .with(column(Series::new(EXACT, Grade::Exact), &|setting, _| Some(setting.exact)))
                .with(column(Series::new(MEASURED, Grade::Estimate), &|_, found| {
                    Some(unit(measured_mu(found)))
                }))
                .with(column(Series::new("mu", Grade::Exact), &|setting, _| Some(setting.mu())))
                .with(column(Series::new("mu, measured", Grade::Estimate), &|_, found| {
                    Some(measured_mu(found))
                })),
        );
    }
    let shown = [PRINTED, EXACT, MEASURED];
    let views: Vec<Panel> = figure
        .panels
        .iter()
        .map(|panel| panel.dumbbells(Axis::linear("loss / local loss"), &shown))
        .collect();
    figure = figure.drawn_as(views);
    let ratios = || settings.iter().zip(&found).map(|(setting, found)| measured_mu(found) / setting.mu());
    Ok(figure
        .note("settings", settings.len())
        .note(
            "settings with exact loss in [0.05, 0.95]",
            settings.iter().filter(|s| PARTIAL.contains(&s.exact)).count(),
        )
        .note("measured mu over exact mu, smallest", ratios().fold(f64::INFINITY, f64::min))
        .note("measured mu over exact mu, largest", ratios().fold(0.0, f64::max)))
}

fn synthetic(seed: Seed) -> Result<Vec<Setting>> {
    let (four, path) = (generators::path_graph(4)?, generators::path_graph(8)?);
    let ring = generators::cycle_graph(16)?;
    let grid = generators::grid_2d_graph(6, 6)?;
    let cube = generators::hypercube_graph(6)?;
    // Every inner node has three children.
    let tree = Graph::from_edges(13, (1..13).map(|v| ((v - 1) / 3, v)))?;
    let star = generators::star_graph(9)?;
    let random = erdos_renyi(32, 1.2, seed, 0)?;
    let plane = geometric(32, 0.35, seed)?;
    Ok(vec![
        plain("path of 4, end to end", &four, &[3], Some(0), 3)?,
        plain("path of 8, end to end", &path, &[7], Some(0), 7)?,
        plain("ring of 16, opposite", &ring, &[0], Some(8), 8)?,
        plain("grid 6x6, corner, distance 2", &grid, &[0], Some(2), 3)?,
        plain("grid 6x6, corner, distance 3", &grid, &[0], Some(8), 4)?,
        plain("hypercube 2^6, distance 2", &cube, &[0], Some(3), 8)?,
        plain("hypercube 2^6, distance 3", &cube, &[0], Some(7), 8)?,
        plain("hypercube 2^6, antipode", &cube, &[0], Some(63), 8)?,
        plain("hypercube 2^6, two observers", &cube, &[0, 1], Some(6), 4)?,
        plain("tree of 13, leaf about its sibling", &tree, &[4], Some(5), 6)?,
        plain("tree of 13, leaf about another branch", &tree, &[4], Some(7), 6)?,
        plain("star of 10, leaf about leaf", &star, &[1], Some(2), 5)?,
        plain("Erdős–Rényi 32, early", &random, &[0], None, 2)?,
        plain("geometric 32, early", &plane, &[0], None, 2)?,
        fresh("path of 8, distance 2", &path, &[7], Some(5), 6)?,
        fresh("ring of 16, distance 2", &ring, &[0], Some(2), 6)?,
        fresh("ring of 16, distance 3", &ring, &[0], Some(3), 6)?,
        fresh("ring of 16, two observers", &ring, &[0, 6], Some(3), 6)?,
        fresh("grid 6x6, distance 2", &grid, &[14], Some(2), 6)?,
        fresh("hypercube 2^6, distance 2", &cube, &[0], Some(5), 6)?,
        fresh("hypercube 2^6, distance 3", &cube, &[0], Some(13), 6)?,
        fresh("tree of 13, two branches", &tree, &[1], Some(2), 5)?,
        fresh("Erdős–Rényi 32", &random, &[0], None, 5)?,
        fresh("geometric 32", &plane, &[0], None, 5)?,
        randomized("randomized, ring of 16", &ring, seed)?,
        randomized("randomized, grid 6x6", &grid, seed)?,
        one_peer("one-peer hypercube 2^6", 6)?,
        accelerated("accelerated randomized, ring of 16", &ring, seed)?,
        noisy("noise on messages, path of 8", &path)?,
    ])
}

/// Plain gossip; if no source is given, it takes a node two hops away whose loss is partial.
fn plain(name: &str, graph: &Graph, v: &[usize], source: Option<usize>, rounds: usize) -> Result<Setting> {
    let matrix = GossipMatrix::metropolis(graph);
    let printed = theorem1_towards((&matrix, rounds), v, Powers::FromZero)?;
    let protocol = SynchronousGossip::new(matrix, rounds);
    let far = two_hops(graph, v[0]);
    let mut setting = setting(ONE_SHOT, name, Box::new(protocol), v, source, &far)?;
    setting.printed = Some(printed.value().unit[setting.source]);
    Ok(setting)
}

fn fresh(name: &str, graph: &Graph, v: &[usize], source: Option<usize>, rounds: usize) -> Result<Setting> {
    let variances = flat_variances(rounds, RHO)?;
    let protocol = FreshNoiseGossip::new(GossipMatrix::metropolis(graph), variances)?;
    setting(FRESH, name, Box::new(protocol), v, source, &two_hops(graph, v[0]))
}

fn randomized(name: &str, graph: &Graph, seed: Seed) -> Result<Setting> {
    let law = EdgeActivations::uniform(graph)?;
    let steps = 3 * graph.node_count();
    let sequence = GossipSequence::activations(&law, steps, &mut seed.fork(name).trial(0));
    let all: Vec<usize> = (1..graph.node_count()).collect();
    setting(OTHERS, name, Box::new(SequenceGossip::from(sequence)), &[0], None, &all)
}

fn one_peer(name: &str, dimension: u32) -> Result<Setting> {
    let protocol = SequenceGossip::from(GossipSequence::one_peer_hypercube(dimension)?);
    setting(OTHERS, name, Box::new(protocol), &[0], Some(6), &[])
}

fn accelerated(name: &str, graph: &Graph, seed: Seed) -> Result<Setting> {
    let law = EdgeActivations::uniform(graph)?;
    let (n, rng) = (graph.node_count(), &mut seed.fork(name).trial(0));
    let protocol = AcceleratedGossip::drawn(&law, n, 3.0 * n as f64, Momentum::of(&law)?, rng)?;
    let all: Vec<usize> = (1..n).collect();
    setting(OTHERS, name, Box::new(protocol), &[0], None, &all)
}

fn noisy(name: &str, graph: &Graph) -> Result<Setting> {
    let matrix = GossipMatrix::metropolis(graph);
    let protocol = NoisyMessageGossip::new(matrix, 5, 0.3, MessageNoise::Broadcast)?;
    setting(OTHERS, name, Box::new(protocol), &[0], Some(2), &[])
}

fn two_hops(graph: &Graph, v: usize) -> Vec<usize> {
    let hops = graph.distances(v);
    (0..graph.node_count()).filter(|&u| hops[u] == Some(2)).collect()
}

/// The setting with its exact loss: the first of `candidates` whose loss is partial, else the first with any
/// loss.
fn setting(
    panel: &'static str,
    name: &str,
    protocol: Box<dyn LinearProtocol>,
    coalition: &[usize],
    source: Option<usize>,
    candidates: &[usize],
) -> Result<Setting> {
    let report = protocol.coalition_loss(coalition)?;
    ensure!(report.loss.grade() == Grade::Exact, "{name}: the loss is not exact");
    let units = &report.loss.value().unit;
    let partial = || candidates.iter().find(|&&u| PARTIAL.contains(&units[u]));
    let any = || candidates.iter().find(|&&u| units[u] > 1e-6);
    let source = source.or_else(|| partial().or_else(any).copied());
    let source = source.with_context(|| format!("{name}: nobody has a loss"))?;
    let exact = report.unit(source)?.value().get();
    let name = name.to_owned();
    Ok(Setting { panel, name, protocol, coalition: coalition.to_vec(), source, printed: None, exact })
}
