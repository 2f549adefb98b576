//! `muffliato/fig1c`: private gradient descent on houses over random graphs, and who learns how much.

use crate::datasets::Data;
use crate::entry::{Entry, Tolerance};
use crate::figures::families::TRIES;
use crate::figures::learning::{
    Agreement, RECORDED_BY, Runs, Setting, houses, recorded_series, without_grades,
};
use crate::seed::Seed;
use anyhow::Result;
use ndp_algos::gossip::utility::{Convergence, stopping_rounds};
use ndp_algos::sgd::gossip::{Mixing, MuffliatoSgd};
use ndp_algos::sgd::walk::Update;
use ndp_algos::sgd::{DataBounds, Domain, Linear, LinearLoss, Objective};
use ndp_dp::{Delta, Gdp, Grade, Mechanism, Sigma};
use ndp_graph::chebyshev::Chebyshev;
use ndp_graph::lanczos::lanczos_extremes;
use ndp_graph::{GossipMatrix, Graph, random};
use ndp_report::figure::{Axis, Basis, Check, Content, Figure, Panel, Scale, Series};
use rand_chacha::ChaCha8Rng;

const ROUNDS: usize = 10;
const STEP: f64 = 0.7;
/// Standard deviation per coordinate of the noise on a gradient.
const NOISE: f64 = 0.75;
/// The noise that the rule for the number of gossip steps assumes: that of the program, in units of its
/// sensitivity 0.5.
const RULE_SIGMA: f64 = 1.5;
const SPREAD: f64 = 0.25;
/// Of the epsilon that the text states.
const DELTA: f64 = 1e-5;
const RUNS: u64 = 10;
const TEST_ROWS: usize = 20_640 - 16_006;
/// Accuracy of the gap: only a whole number of steps and the parameter of the recursion follow from it.
const GAP_TOLERANCE: f64 = 1e-6;
/// Accuracy is averaged over every `STRIDE`-th node, since the models nearly agree.
const STRIDE: usize = 20;
/// Norm to which the program clips gradient plus noise.
const CLIP: f64 = 1.0;

/// `muffliato/fig1c`.
pub const ENTRY: Entry = Entry {
    id: "muffliato/fig1c",
    what: "private gradient descent on houses over random graphs, and the losses of one node",
    needs: &["houses"],
    minutes: 0.1,
    tolerance: Tolerance::SEEDED,
    findings: &["F4"],
    test: Some((
        "crates/ndp-algos/tests/all/sgd.rs",
        "gossip_keeps_the_mean_and_the_released_recursion_does_not",
    )),
    measures: false,
    figure,
};

/// Accuracies that differ by at most this count as equal.
const LIKE: f64 = 0.01;

/// What the authors' program recorded at n = 2000 (3 runs): mean and standard deviation of the accuracy
/// before each round.
const RECORDED_STEPS: [u32; 10] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
const RECORDED_RUNS: f64 = 3.0;
const RECORDED: [(&str, [(f64, f64); 10]); 2] = [
    (
        "gossip",
        [
            (0.568_192, 0.0),
            (0.896_894, 0.019_782),
            (0.903_367, 0.023_502),
            (0.913_444, 0.012_51),
            (0.922_095, 0.012_226),
            (0.926_903, 0.011_489),
            (0.928_14, 0.011_355),
            (0.928_715, 0.011_062),
            (0.928_859, 0.011_244),
            (0.929_075, 0.011_37),
        ],
    ),
    (
        "server",
        [
            (0.568_192, 0.0),
            (0.858_51, 0.062_282),
            (0.814_271, 0.067_189),
            (0.859_876, 0.037_819),
            (0.877_5, 0.012_598),
            (0.894_548, 0.024_831),
            (0.910_085, 0.019_869),
            (0.910_948, 0.015_01),
            (0.916_559, 0.004_887),
            (0.916_99, 0.005_694),
        ],
    ),
];

/// The gossip of one round.
#[derive(Clone)]
struct Round {
    matrix: GossipMatrix,
    steps: usize,
    parameter: f64,
}

/// A connected graph, the number of gossip steps and the parameter of the recursion.
fn round_graph(nodes: usize, rng: &mut ChaCha8Rng) -> Result<Round> {
    let q = ((nodes as f64).ln() / nodes as f64).min(1.0);
    let graph: Graph = random::connected_erdos_renyi(nodes, q, TRIES, rng)?;
    let matrix = GossipMatrix::metropolis(&graph);
    let gap = lanczos_extremes(&matrix, GAP_TOLERANCE)?.extremes.gap_abs()?;
    let steps = stopping_rounds(nodes, Convergence::Accelerated(gap), Sigma::new(RULE_SIGMA)?, SPREAD)?;
    Ok(Round { matrix, steps, parameter: Chebyshev::published(gap)?.g() })
}

fn figure(scale: Scale, seed: Seed, data: &Data) -> Result<Figure> {
    let (rows, source) = houses(data)?;
    let rounds = scale.pick(ROUNDS, 2);
    let sizes = scale.pick(vec![2000, 4000], vec![200, 400]);
    let hypercube = scale.pick(2048, 256);
    let sigma = Sigma::new(NOISE)?;
    let released_model = Linear { intercept: true, ..Linear::from(LinearLoss::Logistic) };
    let model = Linear::from(LinearLoss::Logistic);
    let sound = MuffliatoSgd {
        rounds,
        step_size: STEP,
        batch: None,
        domain: Domain::Unbounded,
        update: Update::Sound,
    };
    let released = MuffliatoSgd { update: Update::AsReleased { clip: CLIP }, ..sound };
    let constants = model.constants(DataBounds::default().feature_norm, 1.0, Domain::Unbounded);
    let mu = (rounds as f64).sqrt() * constants.sensitivity / NOISE;
    let epsilon: f64 = Gdp::new(mu)?.epsilon(Delta::new(DELTA)?).into_value();
    let mut figure = Figure::new("Muffliato, figure 1(c): with the same noise, sound updates are on average at least as accurate as the released ones")
        .titled_by([
            Basis::Drawn(Check::below("gossip, as released", "gossip, sound (local DP)")),
            Basis::Drawn(Check::below("server averages, as released", "server averages, sound (local DP)")),
        ])
        .by(Grade::Printed, "ndp_algos::sgd::gossip::MuffliatoSgd", "Muffliato")
        .by_named("recorded", Grade::Printed, RECORDED_BY, "Muffliato")
        .by_named("published", Grade::Printed, "ndp_experiments::figures::muffliato::fig1c::relative_losses", "Muffliato")
        .by(Grade::Exact, "ndp_algos::sgd::PrivateTraining", "Muffliato")
        .by(Grade::UpperBound, "ndp_algos::sgd::PrivateTraining", "Muffliato")
        .computed_from(&source)
        .parameter("users", sizes.clone())
        .parameter("rounds", rounds)
        .parameter("step", STEP)
        .parameter("noise per coordinate", NOISE)
        .parameter("clipping of gradient plus noise, as released", CLIP)
        .parameter("runs", scale.pick(RUNS, 1))
        .claim("Gossip learns like a trusted server that averages, with losses far below local DP.")
        .finding(
            "The released gossip multiplies the mean of the models in every round. Later gradients and later noise then \
             count little: at paper scale accuracy rises faster than with a server that averages the same updates, stops earlier, and is overtaken.",
        )
        .finding(
            "At paper scale, without the intercept and without clipping after the noise, the same noise per node learns more in \
             one round than the released updates in ten, by gossip as by a server.",
        )
        .finding(
            "Losses of single rounds on hidden random graphs do not compose over rounds, so the sound loss of every pair is \
             that of local DP (relative loss 1). The one-peer hypercube reaches exact consensus, composes, and is amplified.",
        )
        .finding("The released loss uses sensitivity 0.5 where unit rows have 2, and 2 sqrt 2 with the intercept that the program fits: the stated loss is 32 times too small for the noise, 16 times without the intercept. Relative losses do not depend on it.")
        .finding(format!(
            "All gradients of a user together, each with this noise as in local DP, have mu {:.2} and epsilon {:.1} at delta {DELTA:e}: hardly a protection.",
            (100.0 * mu).ceil() / 100.0, (10.0 * epsilon).ceil() / 10.0
        ))
        .finding("Where the printed loss of a round is above the local loss, the local loss is counted. So no bar is beyond 1, and the mean relative losses in the notes are means of values clipped in this way, which may be below those of the formula.")
        .columns(2);
    for (i, &users) in sizes.iter().enumerate() {
        let setting = Setting {
            users,
            test_rows: TEST_ROWS,
            every: 1,
            runs: scale.pick(RUNS, 1),
            objective: false,
            stride: STRIDE,
        };
        let at = seed.fork(&format!("users {users}"));
        let runs = Runs::prepare(&rows, setting, at.fork("splits"))?;
        // Every round of every run has a new graph, the same one for both kinds of gossip.
        let graphs = at.fork("graphs").run(runs.count(), |rng| {
            (0..rounds).map(|_| round_graph(users, rng)).collect::<Result<Vec<_>>>()
        });
        let graphs = graphs.into_iter().collect::<Result<Vec<_>>>()?;
        let as_released = |run: usize, round: usize| {
            let Round { matrix, steps, parameter } = graphs[run][round].clone();
            Mixing::AsReleased { matrix, steps, parameter }
        };
        let accelerated = |run: usize, round: usize| {
            let Round { matrix, steps, parameter } = graphs[run][round].clone();
            Mixing::Accelerated { matrix, steps, parameter }
        };
        let average = |_, _| Mixing::Server;
        let gossip = runs.gossip(&released_model, &released, sigma, as_released, at.fork("released"))?;
        let server = runs.gossip(&released_model, &released, sigma, average, at.fork("server"))?;
        let honest = runs.gossip(&model, &sound, sigma, accelerated, at.fork("sound"))?;
        let honest_server = runs.gossip(&model, &sound, sigma, average, at.fork("sound server"))?;
        let mut panel = Panel::curves(
            format!("{users} users: test accuracy"),
            Axis::linear("round"),
            Axis::linear("accuracy").range(0.5, 1.0),
        )
        .with(gossip.accuracy("gossip, as released", Grade::Printed))
        .with(server.accuracy("server averages, as released", Grade::Printed))
        .with(honest.accuracy("gossip, sound (local DP)", Grade::Exact))
        .with(honest_server.accuracy("server averages, sound (local DP)", Grade::Exact));
        if i == 0 {
            let peers = Runs::prepare(&rows, Setting { users: hypercube, ..setting }, at.fork("peers"))?;
            let mixing = |_, _| Mixing::OnePeerHypercube;
            let curve = peers.gossip(&model, &sound, sigma, mixing, at.fork("one-peer"))?;
            panel = panel.with(
                curve.accuracy(&format!("one-peer hypercube, {hypercube} users, sound"), Grade::UpperBound),
            );
            if scale == Scale::Paper && source.real {
                let mut agreement = Agreement::NONE;
                for ((name, values), ours) in RECORDED.iter().zip([&gossip, &server]) {
                    panel = panel.with(recorded_series(name, &RECORDED_STEPS, values));
                    agreement.count(&ours.accuracy, 1, &RECORDED_STEPS, values, RECORDED_RUNS);
                }
                figure = figure.note("recorded points", agreement.note());
            }
        }
        let [ours, theirs] = ["gossip", "server"].map(|who| format!("{who}, {users} users, sound"));
        figure = figure
            .sample(ours.clone(), Grade::Exact, honest.last_accuracies())
            .sample(theirs.clone(), Grade::Exact, honest_server.last_accuracies())
            .check(Check::exceeds_by(
                format!("With {users} users gossip is at most {LIKE} less accurate than a server"),
                &[(1.0, &ours), (-1.0, &theirs)],
                -LIKE,
            ))
            .check(Check::open(
                format!("With {users} users losses are far below local DP"),
                "over rounds on hidden graphs nothing but local DP is proved",
            ));
        let (published, as_released, steps) = relative_losses(users, &graphs[0]);
        let clipped = format!("{users} users: mean relative loss clipped at 1 per round");
        figure = figure
            .note(format!("{users} users: gossip steps"), steps)
            .note(format!("{clipped}, as released"), mean(&as_released))
            .note(format!("{clipped}, published"), mean(&published))
            .note(format!("{users} users: last accuracy, sound"), honest.last_accuracy())
            .panel(panel)
            .panel(losses(users, hypercube, &published, &as_released));
    }
    let views = without_grades(&figure.panels).into_iter().map(merged).collect::<Vec<_>>();
    Ok(figure.drawn_as(views))
}

/// The panel with one line for gossip and server, if both (with sound noise) have nearly the same accuracy in
/// every round.
fn merged(mut panel: Panel) -> Panel {
    let [gossip, server] = ["gossip, sound (local DP)", "server averages, sound (local DP)"];
    if let Content::Curves { series, .. } = &mut panel.content {
        let find = |name: &str| series.iter().position(|s| s.name == name);
        if let (Some(one), Some(other)) = (find(gossip), find(server)) {
            let pairs = series[one].points.iter().zip(&series[other].points);
            if pairs.into_iter().all(|(p, q)| (p.y - q.y).abs() <= LIKE) {
                series[one].name = format!("gossip, and a server within {LIKE}, sound (local DP)");
                series.remove(other);
            }
        }
    }
    panel
}

/// The histogram of losses of node 0, relative to local DP.
fn losses(users: usize, hypercube: usize, published: &[f64], released: &[f64]) -> Panel {
    let edges: Vec<f64> = (0..=50).map(|i| f64::from(i) / 50.0).collect();
    // In one round of the one-peer hypercube the unit loss is 2^-j, where j is the highest bit in which the
    // two nodes differ.
    let peers: Vec<f64> = (1..hypercube).map(|u| (-f64::from(u.ilog2())).exp2()).collect();
    Panel::curves(
        format!("{users} users: loss of node 0 over all rounds"),
        Axis::linear("loss / local loss (printed: clipped at 1 per round)").range(0.0, 1.0),
        Axis::linear("share of the observers"),
    )
    .with(Series::new("published, as released (degrees + 2)", Grade::Printed).histogram(released, &edges))
    .with(Series::new("published", Grade::Printed).histogram(published, &edges))
    .with(Series::new("sound: local DP", Grade::UpperBound).histogram(&vec![1.0; users - 1], &edges))
    .with(
        Series::new(format!("one-peer hypercube, {hypercube} users"), Grade::UpperBound)
            .histogram(&peers, &edges),
    )
}

/// Published losses of node 0 towards every other node, as stated and as released, over all rounds and
/// relative to local DP; and the number of gossip steps in each round. The loss of a round counts as at most
/// that of local DP.
fn relative_losses(users: usize, rounds: &[Round]) -> (Vec<f64>, Vec<f64>, Vec<usize>) {
    let mut published = vec![0.0; users - 1];
    let mut released = published.clone();
    for Round { matrix, steps, .. } in rounds {
        let graph = matrix.graph();
        for v in 1..users {
            let degree = graph.neighbors(v).len();
            let near = graph.neighbors(v).contains(&0);
            let loss = |degree: usize| {
                let branch = (2 * steps * degree) as f64 / (users as f64 - degree as f64).max(1.0);
                if near { 1.0 } else { branch.min(1.0) }
            };
            published[v - 1] += loss(degree) / rounds.len() as f64;
            released[v - 1] += loss(degree + 2) / rounds.len() as f64;
        }
    }
    // Sums of tenths may exceed 1 by rounding.
    for loss in published.iter_mut().chain(&mut released) {
        *loss = loss.min(1.0);
    }
    (published, released, rounds.iter().map(|round| round.steps).collect())
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
