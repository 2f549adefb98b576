//! `beyond/protocols`: published protocols at the same pairwise guarantee: their error, their messages, and
//! the loss of a mean pair.

use crate::datasets::Data;
use crate::entry::{Entry, Tolerance};
use crate::figures::families::erdos_renyi;
use crate::seed::Seed;
use anyhow::{Context, Result};
use ndp_account::{Account, Observer, Protocol, Target, least_noise};
use ndp_algos::registry::{Parameters, find};
use ndp_dp::{Grade, Measure, NoiseMultiplier};
use ndp_graph::{GossipMatrix, Graph, generators};
use ndp_program::constructors::decor;
use ndp_program::design::{Design, DesignStopping, Limit};
use ndp_program::{Declared, SensitivitySet};
use ndp_report::figure::{Axis, Basis, Check, Figure, Kind, Panel, Scale, Series};

/// The largest loss `μ` that is allowed for any pair of nodes.
const WORST: f64 = 1.0;
/// Steps of D-SGD; its error is the error of the mean step.
const STEPS: usize = 8;
/// The price of a unit (the squared sensitivity) of the variance of masks, which the design adds to the mean
/// squared error.
const PRICE: f64 = 1e-5;
const DESIGNED: &str = "designed masks";
const LOCAL: &str = "local";
const CENTRAL: &str = "central";
/// The panel that decides the claim.
const ERROR: &str = "error";
/// The protocols in which noise is spread by rounds of gossip and does not cancel.
const GOSSIPS: [&str; 5] =
    ["Muffliato", "randomized gossip", "fresh noise", "push-sum", "secure neighbor sums"];
/// Variances of masks, in units of that of own noise, of which each protocol with masks gets the best.
const MASKS: [f64; 3] = [1.0, 16.0, 256.0];
/// Protocols of the registry, each with its name in the figure.
const PROTOCOLS: [(&str, &str); 13] = [
    ("muffliato", "Muffliato"),
    ("randomized-gossip", "randomized gossip"),
    ("fresh-noise", "fresh noise"),
    ("push-sum", "push-sum"),
    ("secure-neighbor-sums", "secure neighbor sums"),
    ("decor", "DECOR"),
    ("dsgd", "D-SGD"),
    ("corn-dsgd", "CorN-DSGD"),
    ("zip-dl", "Zip-DL"),
    ("gopa", "GOPA"),
    ("hierarchical", "hierarchical sums"),
    ("local", LOCAL),
    ("central", CENTRAL),
];

/// `beyond/protocols`.
pub const ENTRY: Entry = Entry {
    id: "beyond/protocols",
    what: "published protocols at the same worst pair: error, messages and mean loss on three graphs",
    needs: &[],
    minutes: 0.2,
    // A design stops within a thousandth of its lower bound; on another machine it may stop one step later.
    tolerance: Tolerance { relative: 2e-3, absolute: 1e-9 },
    findings: &[],
    test: Some(("crates/ndp-program/src/tests/designs.rs", "masks_take_over")),
    measures: false,
    figure,
};

/// A protocol with the noise that the guarantee requires.
struct Point {
    error: f64,
    messages: f64,
    mean: f64,
    /// The grade of the losses, and therefore of the noise.
    grade: Grade,
}

fn figure(scale: Scale, seed: Seed, _data: &Data) -> Result<Figure> {
    let n = scale.pick(32, 16);
    let graphs =
        [generators::cycle_graph(n)?, generators::hypercube_graph(n.ilog2())?, erdos_renyi(n, 1.2, seed, 0)?];
    let mut figure = Figure::new("At the same loss of the worst pair, designed masks err less than rounds of gossip with noise")
        .by(Grade::Exact, "ndp_account::least_noise", "Accounting")
        .by(Grade::UpperBound, "ndp_account::least_noise", "Accounting")
        .parameter("n", n)
        .parameter("mu of the worst pair, every node an observer", WORST)
        .parameter("weights", "metropolis")
        .parameter("variance of masks in units of that of own noise, the best of", MASKS.to_vec())
        .parameter("other parameters of the protocols", "the defaults of the registry, but for D-SGD: alike = 1, fixed = 1")
        .parameter("what may change", "the value of one node; in D-SGD all its gradients, by the same vector, and none depends on what was received")
        .parameter("steps of D-SGD", STEPS)
        .parameter("price of mask variance, per squared sensitivity", PRICE)
        .parameter("error", "root mean square of noise and mixing, in units of the sensitivity")
        .claim("At the same loss of the worst pair, masks designed for the graph err less than gossip whose noise does not cancel.")
        .finding("Masks hide nothing from a coalition that surrounds a node; every observer here is a single node.")
        .finding("No number here is about a curator (central), the dealer of the noise of CorN-DSGD, or whoever carries out the secure sums of neighbors and of groups: they are trusted.")
        .finding("Zip-DL ends after one round, and sums over groups need a server: errors are those of what each computes.")
        .columns(3);
    for gossip in GOSSIPS {
        figure = figure
            .check(Check::below_in(ERROR, DESIGNED, gossip))
            .titled_by([Basis::Shown(Check::below_in(ERROR, DESIGNED, gossip))]);
    }
    let mut rows: Vec<Row> = Vec::new();
    for (k, (name, graph)) in GRAPHS.into_iter().zip(graphs).enumerate() {
        let place = (k + 1) as f64;
        let matrix = GossipMatrix::metropolis(&graph);
        let mut found: Vec<(&str, Point)> = Vec::new();
        for (protocol, called) in PROTOCOLS {
            let best = best_of(&matrix, protocol).with_context(|| format!("{called} on the {name}"))?;
            let (point, masks) = best;
            if let Some(masks) = masks {
                let what = "best variance of masks in units of that of own noise";
                figure = figure.note(format!("{name}: {what}, {called}"), masks);
            }
            found.push((called, point));
        }
        let (point, gap, masks) = designed(&graph)?;
        found.push((DESIGNED, point));
        let best = found.iter().filter(|(called, _)| ![LOCAL, CENTRAL, DESIGNED].contains(called));
        let best = best.min_by(|a, b| a.1.error.total_cmp(&b.1.error)).context("there are protocols")?;
        let error_of =
            |name: &str| found.iter().find(|(called, _)| *called == name).map(|(_, point)| point.error);
        if let (Some(masks), Some(curator)) = (error_of("DECOR"), error_of(CENTRAL)) {
            figure = figure
                .note(format!("{name}: error of DECOR over that of the curator"), masks / curator)
                .note(
                    format!("{name}: error of the design over that of the curator"),
                    error_of(DESIGNED).unwrap_or(f64::INFINITY) / curator,
                );
        }
        let beaten = found.last().is_some_and(|last| last.1.error < best.1.error);
        figure = figure
            .note(format!("{name}: best published protocol"), best.0)
            .note(format!("{name}: the design is better"), if beaten { "yes" } else { "no" })
            .note(format!("{name}: cost of the design over its lower bound"), gap)
            .note(format!("{name}: variance of designed masks in units of the squared sensitivity"), masks);
        for (called, point) in found {
            match rows.iter_mut().find(|row| row.called == called) {
                Some(row) => row.points.push((place, point)),
                None => rows.push(Row { called, points: vec![(place, point)] }),
            }
        }
    }
    // By the error on all graphs together: the product, because axes are of equal ratios.
    rows.sort_by(|a, b| a.errors().total_cmp(&b.errors()));
    for (what, label, value) in MEASURES {
        let series = rows.iter().map(|row| {
            let points = row.points.iter().map(|(place, point)| (*place, value(point)));
            let kind = if what == LOSS { row.grade().into() } else { Kind::Data };
            Series::new(row.called, kind).points(points)
        });
        figure = figure.panel(Panel::dots(what, Axis::log(label), GRAPHS).with_all(series));
    }
    Ok(figure)
}

const LOSS: &str = "mean loss of a pair";
/// What the figure shows about a protocol: title, label, number.
type Shown = (&'static str, &'static str, fn(&Point) -> f64);
const MEASURES: [Shown; 3] = [
    (ERROR, "root mean square error", |point| point.error),
    (LOSS, "mean loss mu^2", |point| point.mean),
    ("messages", "messages", |point| point.messages),
];
const GRAPHS: [&str; 3] = ["ring", "hypercube", "Erdős–Rényi"];

/// A protocol on the graphs 1, 2, 3.
struct Row {
    called: &'static str,
    points: Vec<(f64, Point)>,
}

impl Row {
    /// The weakest grade of its losses.
    fn grade(&self) -> Grade {
        self.points.iter().map(|(_, point)| point.grade).max().unwrap_or(Grade::Estimate)
    }

    fn errors(&self) -> f64 {
        self.points.iter().map(|(_, point)| point.error).product()
    }
}

/// The least noise that keeps the guarantee for the worst pair, and the resulting point.
fn at_guarantee(protocol: &dyn Protocol) -> Result<(NoiseMultiplier, Point)> {
    let n = protocol.node_count();
    let accounts: Vec<Box<dyn Account + '_>> =
        (0..n).map(|v| protocol.account(&Observer::node(v))).collect::<Result<_, _>>()?;
    let noise = least_noise(&accounts, &Target::worst(Measure::Gaussian, WORST))?.noise;
    let (mut grade, mut sum) = (Grade::Exact, 0.0);
    for (v, account) in accounts.iter().enumerate() {
        for u in (0..n).filter(|&u| u != v) {
            let found = account.profile(u, noise)?.mu().context("Gaussian")?;
            grade = grade.max(found.grade());
            let mu = found.value().mu();
            sum += mu * mu;
        }
    }
    let mean = sum / (n * (n - 1)) as f64;
    Ok((noise, Point { error: protocol.error(noise)?, messages: protocol.message_count()?, mean, grade }))
}

/// The protocol at the masks that give the least error, with their variance if it has masks.
fn best_of(matrix: &GossipMatrix, name: &str) -> Result<(Point, Option<f64>)> {
    if !find(name)?.parameters.iter().any(|parameter| parameter.name == "shared") {
        return Ok((published(matrix, name, None)?, None));
    }
    let tried = MASKS.iter().map(|&masks| Ok((published(matrix, name, Some(masks))?, Some(masks))));
    let tried = tried.collect::<Result<Vec<_>>>()?;
    tried.into_iter().min_by(|a, b| a.0.error.total_cmp(&b.0.error)).context("masks are tried")
}

fn published(matrix: &GossipMatrix, name: &str, masks: Option<f64>) -> Result<Point> {
    let parameters = match (name, masks) {
        // The constants of the figure: all gradients of a node change alike, and none depends on what it
        // received.
        ("dsgd", _) => Parameters::from([("steps", STEPS as f64), ("alike", 1.0), ("fixed", 1.0)]),
        (_, Some(masks)) => Parameters::from([("shared", masks)]),
        _ => Parameters::default(),
    };
    let protocol = find(name)?.build(matrix, &parameters)?;
    let (_, mut point) = at_guarantee(protocol.as_ref())?;
    if name == "dsgd" {
        point.error /= STEPS as f64;
    }
    Ok(point)
}

/// DECOR whose own noise, node by node, and whose masks are designed; also its cost relative to the lower
/// bound, and the variance of the masks.
fn designed(graph: &Graph) -> Result<(Point, f64, f64)> {
    let n = graph.node_count();
    let program = decor(graph, 1, 1, 1)?;
    let noises = program.noises();
    // Own noise is designed per node; all masks have the same variance.
    let mut groups: Vec<_> = noises[..n].iter().map(|&own| vec![own]).collect();
    groups.push(noises[n..].to_vec());
    let mut prices = vec![0.0; n];
    prices.push(PRICE);
    let mut design = Design::new(&program, &groups)?;
    design.prices = prices;
    let pairs: Vec<(Observer, Vec<usize>)> =
        (0..n).map(|v| (Observer::node(v), (0..n).filter(|&u| u != v).collect())).collect();
    let limit = Limit::Worst(WORST * WORST);
    let found = design.solve(&pairs, &SensitivitySet::UseLevel, limit, DesignStopping::default())?;
    let (_, point) = at_guarantee(&Declared::new(found.program, SensitivitySet::UseLevel))?;
    Ok((point, found.cost / found.lower_bound, found.strengths[n]))
}
