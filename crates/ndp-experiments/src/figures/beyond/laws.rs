//! `beyond/laws`: losses of walks by the law of the cost of their path, beside the printed losses and those
//! proven by Rényi losses; and what the law gains in training.

use crate::datasets::Data;
use crate::entry::{Entry, Tolerance};
use crate::figures::families::{erdos_renyi, geometric};
use crate::figures::learning::{Runs, Setting, TEST_ROWS, best_step, houses, without_grades};
use crate::figures::walk_laws::{self, LAW, PRINTED, PairAccounts, RENYI};
use crate::seed::Seed;
use anyhow::Result;
use ndp_algos::sgd::walk::{OverCap, Route, StepSize, Update, WalkSgd};
use ndp_algos::sgd::{Domain, Linear, LinearLoss, PrivateTraining, Training};
use ndp_algos::walk::FinalToken;
use ndp_algos::walk::graph::{HiddenPath, LocalLoss, TokenWalk};
use ndp_dp::{Delta, Grade, NoiseMultiplier, Order};
use ndp_graph::hitting::Start;
use ndp_graph::log_matrix::log_matrix_row;
use ndp_graph::{GossipMatrix, TransitionMatrix, generators};
use ndp_printed::walk::VisitSum;
use ndp_report::figure::{Axis, Basis, Check, Figure, Panel, Point, Scale, Series};
use rayon::prelude::*;

const NODE: usize = 0;
const NOISE: f64 = 3.0;
const DELTA: f64 = 1e-5;
/// Steps per node.
const VISITS: usize = 10;
/// The largest number of distances at which the loss is computed.
const DISTANCES: usize = 6;

/// The δ of the attack; a smaller one would take too many tokens.
const ATTACK_DELTA: f64 = 1e-3;
const TOKENS: usize = 20_000;
const ERROR_RATE: f64 = 1e-4;
const ATTACK: &str = "attack, path not known";

/// The ε of the training.
const EPSILON: f64 = 1.0;
const CAP: usize = 12;
const RUNS: u64 = 16;
/// First visits are followed up to this step; later ones are charged as if they were at this step.
const HORIZON: usize = 1000;

/// `beyond/laws`.
pub const ENTRY: Entry = Entry {
    id: "beyond/laws",
    what: "walks by the law of their cost: printed, Rényi, law by distance on four graphs, and training before and after",
    needs: &["houses"],
    minutes: 0.8,
    tolerance: Tolerance::SEEDED,
    findings: &["F8"],
    test: Some(("crates/ndp-algos/src/walk/graph/attack.rs", "hidden_paths_tell_less")),
    measures: false,
    figure,
};

fn figure(scale: Scale, seed: Seed, data: &Data) -> Result<Figure> {
    let (rows, source) = houses(data)?;
    let (n, side) = (scale.pick(256, 64), scale.pick(16, 8));
    let (noise, delta) = (NoiseMultiplier::new(NOISE)?, Delta::new(DELTA)?);
    let local = LocalLoss { order: Order::new(2.0)?, noise };
    let graphs = [
        ("hypercube", generators::hypercube_graph(scale.pick(8, 6))?),
        ("Erdős–Rényi", erdos_renyi(n, 1.2, seed, 0)?),
        ("geometric", geometric(n, scale.pick(0.14, 0.25), seed)?),
        ("grid", generators::grid_2d_graph(side, side)?),
    ];
    let mut figure = Figure::new("Sums on walks: the bound by the law of the path's cost is below the one by Rényi losses, and above the estimate of an attack on two graphs")
        .titled_by([
            Basis::Drawn(Check::below(LAW, RENYI)),
            Basis::Drawn(Check::below(ATTACK, LAW)),
        ])
        .by(Grade::Printed, "ndp_printed::walk::user_level", "Random walks")
        .by(Grade::UpperBound, "ndp_algos::walk::graph::TokenWalk::cost_law", "Random walks")
        .by_named("by Rényi losses", Grade::UpperBound, "ndp_algos::walk::graph::TokenWalk::loss", "Random walks")
        .by_named("gradients", Grade::UpperBound, "ndp_algos::sgd::PrivateTraining", "Random walks")
        .by_named("noise by", Grade::UpperBound, "ndp_algos::sgd::PrivateTraining", "Random walks")
        .by(Grade::Estimate, "ndp_algos::walk::graph::HiddenPath", "Random walks")
        .computed_from(&source)
        .parameter("nodes", n)
        .parameter("T", VISITS * n)
        .parameter("noise multiplier", NOISE)
        .parameter("delta", DELTA)
        .parameter("exposed node", NODE)
        .parameter("observer", "the first node at each distance")
        .parameter("weights", "metropolis")
        .claim("The printed theorem bounds what a node learns about another from a walking token, already for sums.")
        .finding(walk_laws::READING)
        .parameter("delta of the attack", ATTACK_DELTA)
        .parameter("tokens of the attack", scale.pick(TOKENS, TOKENS / 2))
        .finding("The attacker does not know the path, but the data of all others, and reads simulated tokens by their likelihood. Only the lower end of its bar is a lower end of what is possible, with the stated confidence; the true value for arbitrary other data lies between that end and the law.")
        .check(Check::attacked(LAW, ATTACK, ERROR_RATE))
        .check(Check::covers(PRINTED, LAW))
        .check(Check::below(LAW, RENYI))
        .columns(2);
    for (name, graph) in graphs {
        let matrix = GossipMatrix::metropolis(&graph);
        let walk = TokenWalk::new(&TransitionMatrix::from(&matrix), Start::Uniform, VISITS * n)?;
        let observers = walk_laws::observers(&graph, NODE, scale.pick(DISTANCES, 4));
        let entries = log_matrix_row(&matrix, NODE)?;
        let printed = observers.iter().map(|&(distance, v)| {
            let loss = ndp_printed::walk::user_level(VisitSum::LogMatrix(entries[v]), n, VISITS * n, local)?;
            Ok((f64::from(distance), walk_laws::printed_epsilon(loss.into_value(), delta)))
        });
        let printed = Series::new(PRINTED, Grade::Printed).points(printed.collect::<Result<Vec<_>>>()?);
        let curves =
            walk_laws::curves(&walk_laws::seen(&matrix, VISITS * n, NODE, &observers, noise, delta)?);
        let panel = walk_laws::panel(format!("{name}, {n} nodes, {} steps", VISITS * n), DELTA);
        figure = figure.panel(panel.with(printed).with_all(curves));
        if matches!(name, "hypercube" | "Erdős–Rényi") {
            let tokens = scale.pick(TOKENS, TOKENS / 2);
            let title = format!("{name}, {n} nodes, {} steps, attacked", VISITS * n);
            figure = figure.panel(attacked(&walk, &observers, tokens, &title, seed.fork(&title))?);
        }
    }
    training(figure, scale, seed, &rows)
}

/// The law, beside what an observer who does not know the path learns from simulated tokens.
fn attacked(
    walk: &TokenWalk,
    observers: &[(u32, usize)],
    tokens: usize,
    title: &str,
    seed: Seed,
) -> Result<Panel> {
    let (noise, delta) = (NoiseMultiplier::new(NOISE)?, Delta::new(ATTACK_DELTA)?);
    let one = |&(distance, v): &(u32, usize)| -> Result<[Point; 2]> {
        let law = walk.cost_law(NODE, &[v])?.epsilon(noise, delta)?;
        let rng = &mut seed.trial(u64::from(distance));
        let found = HiddenPath::new(walk, NODE, v)?.epsilon(noise, delta, tokens, ERROR_RATE, rng)?;
        let x = f64::from(distance);
        // With too few tokens, the attack gives a lower bound only.
        let high = Some(found.high).filter(|high| high.is_finite());
        Ok([
            Point { x, y: law.upper(), low: Some(law.lower()), high: Some(law.upper()) },
            Point { x, y: found.value.into_value(), low: Some(found.low), high },
        ])
    };
    let points = observers.par_iter().map(one).collect::<Result<Vec<_>>>()?;
    let series = |name: &str, grade, k: usize| {
        let mut series = Series::new(name, grade);
        series.points = points.iter().map(|pair| pair[k]).collect();
        series
    };
    let panel = walk_laws::panel(title.to_owned(), ATTACK_DELTA);
    Ok(panel.with(series(LAW, Grade::UpperBound, 0)).with(series(ATTACK, Grade::Estimate, 1)))
}

/// Private gradient descent by a walk on a hypercube, at the same target for every pair, with the noise that
/// each of the two accounts requires.
fn training(mut figure: Figure, scale: Scale, seed: Seed, rows: &ndp_algos::sgd::Dataset) -> Result<Figure> {
    let dimension = scale.pick(11, 6);
    let (users, steps) = (1usize << dimension, scale.pick(20_000, 1000));
    let setting = Setting {
        users,
        test_rows: TEST_ROWS,
        every: steps / 20,
        runs: scale.pick(RUNS, 4),
        objective: true,
        stride: 1,
    };
    let runs = Runs::prepare(rows, setting, seed.fork("splits"))?;
    let at_the_end = Setting { every: steps - 1, runs: scale.pick(4, 1), ..setting };
    let tuning = Runs::prepare(rows, at_the_end, seed.fork("splits for tuning"))?;
    let model = Linear::from(LinearLoss::Logistic);
    let constants = walk_laws::constants();
    let ground = TransitionMatrix::from(&GossipMatrix::metropolis(&generators::hypercube_graph(dimension)?));
    let route = Route::from(ground);
    let sgd = |step: f64| WalkSgd {
        route: route.clone(),
        start: None,
        steps,
        step_size: StepSize::Constant(step),
        domain: Domain::Unbounded,
        cap: Some(CAP),
        over_cap: OverCap::NoiseOnly,
        update: Update::Sound,
    };
    // All pairs at the same distance are alike, so one pair per distance stands for all.
    let pairs: Vec<(usize, usize)> = (1..=dimension).map(|distance| (0, (1usize << distance) - 1)).collect();
    let walk = Training::Walk { run: sgd(1.0), final_model: FinalToken::Withheld, horizon: HORIZON };
    let walk = PrivateTraining::new(users, constants, walk)?;
    let noises = PairAccounts::new(&walk, &pairs)?.noises(EPSILON, Delta::new(DELTA)?)?;
    let mut panel = Panel::curves(
        format!(
            "training on houses, hypercube of {users}, ({EPSILON}, {DELTA:e}) for every pair: test accuracy"
        ),
        Axis::linear("step"),
        Axis::linear("test accuracy").range(0.2, 1.0),
    );
    figure = figure
        .parameter("users of the training", users)
        .parameter("T of the training", steps)
        .parameter("cap on contributions of the training", CAP)
        .parameter("runs of the training", runs.count())
        .parameter("epsilon of the training, every pair", EPSILON);
    let names = ["noise by Rényi losses", "noise by the law of gaps"];
    let mut last = Vec::new();
    for (name, sigma) in names.into_iter().zip(noises) {
        // Both use the same random numbers, so that runs can be compared in pairs.
        let step = best_step(|step| tuning.walk(&model, &sgd(step), sigma, seed.fork("training tuning")))?;
        let curve = runs.walk(&model, &sgd(step), sigma, seed.fork("training"))?;
        figure = figure
            .parameter(format!("{name}: sigma"), sigma.get())
            .parameter(format!("{name}: step"), step)
            .note(format!("{name}: last accuracy"), curve.last_accuracy())
            .sample(name, Grade::UpperBound, curve.last_accuracies());
        last.push(curve.last_accuracies());
        panel = panel.with(curve.accuracy(name, Grade::UpperBound));
    }
    let gains: Vec<f64> = last[1].iter().zip(&last[0]).map(|(after, before)| after - before).collect();
    let (gain, error) = mean_and_error(&gains);
    figure =
        figure.note("gain in last accuracy, mean over paired runs", gain).note("its standard error", error);
    let more = "The same training at the same target is more accurate with the noise of the law of gaps";
    let figure = figure
        .finding("Training: both noises hold for every pair of users, since all pairs at one distance are alike on a hypercube; the final model is not published.")
        .check(Check::exceeds(more, names[1], names[0]))
        .panel(panel);
    let views = without_grades(&figure.panels);
    Ok(figure.drawn_as(views))
}

/// The mean and its standard error.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0).max(1.0) / count).sqrt())
}
