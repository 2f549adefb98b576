//! `beyond/meter`: training with a meter that runs along, and stops it when the budget is used.

use crate::datasets::Data;
use crate::entry::{Entry, Tolerance};
use crate::figures::families::erdos_renyi;
use crate::figures::learning::{TEST_ROWS, houses};
use crate::seed::Seed;
use anyhow::{Result, ensure};
use ndp_algos::sgd::{Dataset, Linear, LinearLoss, Objective};
use ndp_dp::{Delta, Gdp, Grade, Mechanism};
use ndp_graph::{GossipMatrix, Graph, generators};
use ndp_numeric::rounding::Interval;
use ndp_program::meter::{Limits, Meter, Refusal};
use ndp_program::{MixingMatrix, ProgramError, Reads, SensitivitySet, Value};
use ndp_report::figure::{Axis, Basis, Check, Figure, Panel, Scale, Series};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

const NODES: usize = 16;
/// Steps of gossip in a round.
const GOSSIP: usize = 2;
const EPSILON: f64 = 1.0;
const DELTA: f64 = 1e-5;
const STEP: f64 = 2.0;
/// The share of the rounds for which the budget would last if every message were published.
const LOCAL_SHARE: f64 = 0.4;

const STATED: &str = "one round, as stated";
const METER: &str = "meter";
const LOCAL: &str = "local";
const BUDGET: &str = "budget";

/// `beyond/meter`.
pub const ENTRY: Entry = Entry {
    id: "beyond/meter",
    what: "training with a running meter: what one round costs, the meter, local noise alone, and the stop at a budget",
    needs: &["houses"],
    minutes: 0.2,
    tolerance: Tolerance::SEEDED,
    findings: &["F4"],
    test: Some((
        "crates/ndp-program/src/meter/tests/mod.rs",
        "the_first_message_that_would_exceed_a_limit_is_refused",
    )),
    measures: false,
    figure,
};

fn figure(scale: Scale, seed: Seed, data: &Data) -> Result<Figure> {
    let (rows, source) = houses(data)?;
    let rounds = scale.pick(200, 12);
    let delta = Delta::new(DELTA)?;
    let limits = Limits::approx(EPSILON, delta)?;
    let limit = limits.of(0, 1).unwrap_or_default();
    // Whole, so that the variance is the same number wherever it is read.
    let variance = (LOCAL_SHARE * rounds as f64 / limit).ceil();
    let (train, test) = rows.stratified_split(TEST_ROWS, &mut seed.fork("split").trial(0))?;
    let graphs = [
        ("ring", generators::cycle_graph(NODES)?),
        ("hypercube", generators::hypercube_graph(4)?),
        ("Erdős–Rényi", erdos_renyi(NODES, 1.6, seed, 0)?),
    ];
    let mut figure = Figure::new("The bound of one round stays flat while that of the run grows: a meter keeps the training within its budget")
        .by(Grade::Printed, "ndp_dp::Gdp::epsilon", "Programs")
        .by_named(METER, Grade::UpperBound, "ndp_program::meter::Meter", "Programs")
        .by_named(LOCAL, Grade::UpperBound, "ndp_dp::Gdp::epsilon", "Programs")
        .computed_from(&source)
        .parameter("nodes", NODES)
        .parameter("rounds planned", rounds)
        .parameter("steps of gossip in a round", GOSSIP)
        .parameter("variance of the noise, in units of the squared sensitivity", variance)
        .parameter("epsilon of the budget", EPSILON)
        .parameter("delta", DELTA)
        .parameter("step of the descent", STEP)
        .parameter("what may differ", "one example of one node, in all rounds, in any direction")
        .parameter("observers", "every node alone")
        .parameter("protocol", "gradients at the model that was published last; sums of neighbors by secure aggregation; then one node, in turn, publishes its mean")
        .claim("The privacy of a run is that of one round.")
        .finding("The number of one round is true for one round. A run has to be added up: the meter does, message by message, and refuses the round that would exceed the budget. On these three graphs of 16 nodes the proven bound lets the same budget last for more rounds than the bound of noise that is added locally; both are upper bounds.")
        .check(Check::covers(STATED, METER))
        .check(Check::below(METER, LOCAL))
        .titled_by([Basis::Drawn(Check::rises(METER, 1.0)), Basis::at_most(METER, EPSILON)])
        .columns(3);
    let mut accuracies = Vec::new();
    for (name, graph) in graphs {
        let run = train_with_meter(&graph, rounds, variance, &limits, &train, &test, seed.fork(name))?;
        let epsilon = |loss: f64| -> Result<f64> {
            Ok(Gdp::new(Interval::new(loss).sqrt().high())?.epsilon(delta).into_value())
        };
        let last = rounds as f64;
        let every = (rounds / 50).max(1);
        let at = (1..=rounds).filter(|t| t % every == 0 || *t == 1);
        let local = at
            .map(|t| Ok((t as f64, epsilon((Interval::new(t as f64) / Interval::new(variance)).high())?)))
            .collect::<Result<Vec<_>>>()?;
        let metered = run
            .losses
            .iter()
            .enumerate()
            .filter(|(t, _)| (t + 1) % every == 0 || *t == 0 || t + 1 == run.losses.len())
            .map(|(t, &loss)| Ok(((t + 1) as f64, epsilon(loss)?)))
            .collect::<Result<Vec<_>>>()?;
        let one = epsilon((Interval::ONE / Interval::new(variance)).high())?;
        let stated: Vec<(f64, f64)> = local.iter().map(|&(t, _)| (t, one)).collect();
        let end = run.losses.len();
        let verb = if run.refused {
            format!("stopped after {end} of {rounds} rounds")
        } else {
            format!("all {rounds} rounds")
        };
        let panel =
            Panel::curves(format!("{name}: {verb}"), Axis::linear("round"), Axis::linear("worst epsilon"));
        figure = figure
            .panel(
                panel
                    .with(Series::new(STATED, Grade::Printed).points(stated))
                    .with(Series::new(METER, Grade::UpperBound).points(metered))
                    .with(Series::new(LOCAL, Grade::UpperBound).points(local))
                    .with(Series::data(BUDGET).points([(1.0, EPSILON), (last, EPSILON)])),
            )
            .note(format!("{name}: rounds before the stop"), end)
            .note(format!("{name}: rounds that local noise allows"), (limit * variance).floor());
        accuracies.push((name, run.accuracies));
    }
    for (name, accuracy) in accuracies {
        let points = accuracy.into_iter().enumerate().map(|(t, y)| ((t + 1) as f64, y));
        let panel = Panel::curves(
            format!("{name}: test accuracy"),
            Axis::linear("round").range(0.0, rounds as f64),
            Axis::linear("test accuracy").range(0.5, f64::INFINITY),
        );
        figure = figure.panel(panel.with(Series::data("accuracy until the stop").points(points)));
    }
    Ok(figure)
}

/// A training run up to the round in which the meter stopped it.
struct Run {
    /// The worst loss after every round.
    losses: Vec<f64>,
    /// The accuracy after every round.
    accuracies: Vec<f64>,
    refused: bool,
}

fn train_with_meter(
    graph: &Graph,
    rounds: usize,
    variance: f64,
    limits: &Limits,
    train: &Dataset,
    test: &Dataset,
    seed: Seed,
) -> Result<Run> {
    let matrix = GossipMatrix::metropolis(graph);
    let mixing = MixingMatrix::from(&matrix);
    let weights: Vec<Vec<(usize, f64)>> = (0..NODES)
        .map(|v| (0..NODES).map(|w| (w, matrix.get(v, w))).filter(|(_, weight)| *weight != 0.0).collect())
        .collect();
    let dimension = Linear::from(LinearLoss::Logistic).dimension(train.features().ncols());
    let set = SensitivitySet::Vectors { dimension };
    let mut meter = Meter::every_node(NODES, set)?.with_limits(limits.clone())?;
    let rng = &mut seed.fork("noise").trial(0);
    let examples = train.labels().len() / NODES;
    ensure!(examples > 0, "there are fewer examples than nodes");
    // Changing one example moves a mean of gradients of norm 1 by 2 over their number.
    let deviation = variance.sqrt() * 2.0 / examples as f64;
    // A gradient may depend on everything that was published, because all nodes have seen it.
    let mut published: Vec<Value> = Vec::new();
    let mut parameters = vec![0.0; dimension];
    let mut run = Run { losses: Vec::new(), accuracies: Vec::new(), refused: false };
    for round in 0..rounds {
        let publisher = round % NODES;
        let from = meter.program().values().len();
        let asked = meter.step(|program| {
            let mut values = Vec::with_capacity(NODES);
            for u in 0..NODES {
                let reads = match published.as_slice() {
                    [] => Reads::Nothing,
                    all => Reads::Seen(Some(all.to_vec())),
                };
                let (x, z) = (program.contribute(u, reads)?, program.noise([u], variance)?);
                values.push(program.add(&[x, z])?);
            }
            for _ in 0..GOSSIP {
                for v in 0..NODES {
                    let neighbors = graph.neighbors(v);
                    // The Metropolis weight as an exact fraction.
                    let degree = |w: usize| i64::try_from(graph.degree(w)).unwrap_or(i64::MAX - 1);
                    let weight = |w: usize| (1, 1 + degree(v).max(degree(w)));
                    match neighbors {
                        // A sum over one neighbor is that neighbor's message itself.
                        [w] => program.send(*w as usize, v, values[*w as usize])?,
                        all => {
                            let all = all.iter().map(|&w| w as usize);
                            program.secure_sum(v, all.map(|w| (w, weight(w), values[w])))?;
                        }
                    }
                }
                values = program.gossip(&mixing, &values)?;
            }
            program.broadcast(publisher, values[publisher])?;
            Ok::<_, ProgramError>(values[publisher])
        });
        let mean = match asked {
            Ok(mean) => mean,
            Err(error) if Refusal::of(&error).is_some() => {
                run.refused = true;
                break;
            }
            Err(error) => return Err(error.into()),
        };
        let old: Vec<Value> = meter.program().values().skip(from).filter(|value| *value != mean).collect();
        meter.forget(&old)?;
        published.push(mean);
        let mut worst = 0.0_f64;
        for v in 0..NODES {
            let reading = meter.reading(v)?;
            worst = (0..NODES).filter_map(|u| reading.upper(u)).fold(worst, f64::max);
        }
        run.losses.push(worst);
        let mean = published_mean(&weights, &parameters, train, deviation, publisher, rng);
        parameters.iter_mut().zip(&mean).for_each(|(theta, by)| *theta -= STEP * by);
        run.accuracies.push(accuracy(&parameters, test));
    }
    Ok(run)
}

/// What a publishing node sends after a round: its mean of the gradients at this model, plus noise.
fn published_mean(
    weights: &[Vec<(usize, f64)>],
    parameters: &[f64],
    train: &Dataset,
    deviation: f64,
    publisher: usize,
    rng: &mut ChaCha8Rng,
) -> Vec<f64> {
    let model = Linear::from(LinearLoss::Logistic);
    let examples = train.labels().len() / weights.len();
    let mut values: Vec<Vec<f64>> = (0..weights.len())
        .map(|u| {
            let mut gradient = vec![0.0; parameters.len()];
            for row in u * examples..(u + 1) * examples {
                let features = train.features().row(row).to_vec();
                model.add_gradient(
                    parameters,
                    &features,
                    train.labels()[row],
                    1.0 / examples as f64,
                    &mut gradient,
                );
            }
            let noise = |g: f64, rng: &mut ChaCha8Rng| -> f64 {
                let draw: f64 = StandardNormal.sample(rng);
                g + deviation * draw
            };
            gradient.into_iter().map(|g| noise(g, rng)).collect()
        })
        .collect();
    for _ in 0..GOSSIP {
        let mean = |row: &Vec<(usize, f64)>| -> Vec<f64> {
            (0..parameters.len())
                .map(|k| row.iter().map(|&(v, weight)| weight * values[v][k]).sum())
                .collect()
        };
        values = weights.iter().map(mean).collect();
    }
    values.swap_remove(publisher)
}

/// The share of examples whose score has the sign of the label.
fn accuracy(parameters: &[f64], test: &Dataset) -> f64 {
    let score = |features: ndarray::ArrayView1<'_, f64>| -> f64 {
        features.iter().zip(parameters).map(|(x, theta)| x * theta).sum()
    };
    let features = test.features();
    let right = features.rows().into_iter().zip(test.labels()).filter(|(x, label)| score(*x) * *label > 0.0);
    right.count() as f64 / test.labels().len() as f64
}
