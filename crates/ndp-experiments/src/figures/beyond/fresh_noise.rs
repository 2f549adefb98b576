//! `beyond/fresh-noise`: error against mean loss, for gossip with fresh noise and its competitors.

use crate::datasets::Data;
use crate::entry::{Entry, Tolerance};
use crate::figures::families::{erdos_renyi, geometric};
use crate::figures::muffliato::by_distance::rounds;
use crate::seed::Seed;
use anyhow::Result;
use ndarray::Array2;
use ndp_account::LinearProtocol;
use ndp_algos::gossip::closed_form::one_peer_hypercube;
use ndp_algos::gossip::fresh::{FreshNoiseGossip, flat_variances, optimize};
use ndp_algos::gossip::{ExactOptions, GossipProtocol, exact_loss};
use ndp_dp::{Grade, Sigma};
use ndp_graph::{GossipMatrix, Graph, generators};
use ndp_program::design::{DesignStopping, Limit};
use ndp_report::figure::{Axis, Basis, Check, Figure, Panel, Scale, Series};

const OPTIMAL: &str = "optimal schedule";
const FLAT: &str = "flat schedules, rho = 0.01 (light), 0.1, 1 (dark)";
const ONE_SHOT: &str = "one-shot noise";
/// Every loss is in units of `α Δ²/2`, in which the local loss of `σ = 1` is 1; the floor keeps it at 1.
const FLOOR: f64 = 1.0;
const RHOS: [f64; 3] = [0.01, 0.1, 1.0];
/// Target mean losses, over pairs at distance 2 or more, for which schedules are optimised.
const TARGETS: [f64; 5] = [0.3, 0.1, 0.03, 0.01, 0.003];
/// Noise variances to which the schedules are scaled.
const SCALES: [f64; 5] = [1.0, 2.0, 5.0, 20.0, 100.0];
/// The number of observers of a graph without symmetry, drawn at random.
const OBSERVERS: usize = 16;

/// `beyond/fresh-noise`.
pub const ENTRY: Entry = Entry {
    id: "beyond/fresh-noise",
    what: "error against mean loss of fresh-noise gossip, one-shot noise, one-peer hypercube, local and central",
    needs: &[],
    minutes: 0.4,
    tolerance: Tolerance { relative: 1e-4, absolute: 1e-9 },
    findings: &[],
    test: Some(("crates/ndp-program/src/tests/reference.rs", "fresh_noise_in_every_round")),
    measures: false,
    figure,
};

fn figure(scale: Scale, seed: Seed, _data: &Data) -> Result<Figure> {
    let n = scale.pick(64, 16);
    let side = scale.pick(8, 4);
    let graphs = [
        ("ring", generators::cycle_graph(n)?, true),
        ("grid", generators::grid_2d_graph(side, side)?, false),
        ("hypercube", generators::hypercube_graph(n.ilog2())?, true),
        ("Erdős–Rényi", erdos_renyi(n, 1.2, seed, 0)?, false),
        ("geometric", geometric(n, scale.pick(0.25, 0.5), seed)?, false),
    ];
    let mut figure = Figure::new("At the same mean loss to far nodes, gossip with optimal fresh noise errs less than with one shot of noise")
        .titled_by([Basis::Shown(Check::below(OPTIMAL, ONE_SHOT))])
        .by(Grade::Exact, "ndp_account::LinearProtocol::coalition_loss", "Certified losses")
        .by_named("local", Grade::Exact, "ndp_dp::Gdp", "Accounting")
        .by_named("central", Grade::Exact, "ndp_dp::Gdp", "Accounting")
        .by_named("one-shot", Grade::Exact, "ndp_algos::gossip::exact_loss", "Certified losses")
        .parameter("n", n)
        .parameter("weights", "metropolis")
        .parameter("local floor on the loss", 1.0 / FLOOR)
        .parameter("flat schedules rho", RHOS.to_vec())
        .parameter("observers of a graph without symmetry, drawn at random", OBSERVERS.min(n))
        .parameter("loss", "mean over pairs at distance 2 or more, in units of alpha Delta^2 / 2; towards these observers on a graph without symmetry")
        .parameter("error", "noise share of the mean squared error, sum of s_t m_t")
        .claim("A little fresh noise in every step buys amplification that one shot of noise does not have.")
        .finding(
            "One-shot noise keeps far losses near the local loss on ring and grid, and at 0.44 of it in the mean on the hypercube of 64 nodes; fresh noise trades them for a small error.",
        )
        .finding("Errors are what the noise causes; what too few rounds of gossip leave is not in them.")
        .finding(
            "Each optimal schedule carries a certificate: the notes give error over lower bound, at most.",
        )
        .check(Check::below(OPTIMAL, ONE_SHOT))
        .columns(2);
    for (name, graph, transitive) in graphs {
        let matrix = GossipMatrix::metropolis(&graph);
        let rounds = rounds(&matrix, 1.0)?;
        let (observers, whose) = if transitive {
            (vec![0], String::new())
        } else {
            let count = OBSERVERS.min(n);
            let drawn = rand::seq::index::sample(&mut seed.fork(name).trial(0), n, count);
            (drawn.into_vec(), format!(", {count} observers"))
        };
        let panel = Panel::curves(
            format!("{name}, T = {rounds}{whose}"),
            Axis::log("mean loss at distance 2 or more"),
            Axis::log("noise in the result, mean square"),
        );
        let (optimal, gap) = optimal_curve(&matrix, rounds, &observers, scale)?;
        let flat = RHOS.iter().map(|&rho| flat_curve(&matrix, rounds, &observers, rho));
        let one_shot = one_shot_curve(&matrix, rounds, &observers, &optimal)?;
        let mut series = vec![Series::new(OPTIMAL, Grade::Exact).points(optimal)];
        for (k, (curve, rho)) in flat.zip(RHOS).enumerate() {
            let name = format!("flat, rho = {rho}");
            series.push(Series::new(name, Grade::Exact).points(curve?).shade(k, RHOS.len()).family(FLAT));
        }
        series.push(Series::new(ONE_SHOT, Grade::Exact).points(one_shot));
        if n.is_power_of_two() {
            let unit = one_peer_hypercube(n.ilog2(), 0)?.into_value().unit;
            // Direct partners are the neighbors in this protocol, so the far pairs are those that never meet.
            let far: Vec<f64> = (1..n).filter(|u| !u.is_power_of_two()).map(|u| unit[u]).collect();
            let mean = far.iter().sum::<f64>() / far.len() as f64;
            let points = SCALES.map(|s| (mean / s, s / n as f64));
            series.push(Series::new("one-peer hypercube", Grade::Exact).points(points).scattered());
        }
        series.push(Series::new("local", Grade::Exact).points(SCALES.map(|s| (1.0 / s, s))).scattered());
        let central = SCALES.map(|s| (1.0 / s, s / (n * n) as f64));
        series.push(Series::new("central", Grade::Exact).points(central).scattered());
        figure = figure
            .parameter(format!("T, {name}"), rounds)
            .note(format!("{name}: error of optimal schedules over lower bound, at most"), gap)
            .panel(panel.with_all(series));
    }
    Ok(figure)
}

/// Mean over the observers of the mean `L_uv = unit / s_0` over sources two hops away or more.
fn mean_far(graph: &Graph, observers: &[usize], loss: impl Fn(usize) -> Result<Vec<f64>>) -> Result<f64> {
    let mut all = Vec::new();
    for &v in observers {
        let distances = graph.distances(v);
        let losses = loss(v)?;
        all.extend(losses.iter().zip(distances).filter(|(_, d)| d.is_some_and(|d| d >= 2)).map(|(&l, _)| l));
    }
    Ok(all.iter().sum::<f64>() / all.len() as f64)
}

fn flat_curve(
    matrix: &GossipMatrix,
    rounds: usize,
    observers: &[usize],
    rho: f64,
) -> Result<Vec<(f64, f64)>> {
    let gossip = FreshNoiseGossip::new(matrix.clone(), flat_variances(rounds, rho)?)?;
    let mean =
        mean_far(matrix.graph(), observers, |v| Ok(gossip.coalition_loss(&[v])?.loss.into_value().unit))?;
    let error = noise_error(&gossip)?;
    Ok(SCALES.iter().map(|s| (mean / s, error * s)).collect())
}

/// The error for equal inputs at unit noise, which is caused by the noise alone.
fn noise_error(gossip: &FreshNoiseGossip) -> Result<f64> {
    let inputs = Array2::zeros((gossip.matrix.node_count(), 1));
    Ok(gossip.mean_squared_error(inputs.view(), Sigma::new(1.0)?)?.into_value())
}

/// One shot of noise at the same mean losses as the `optimal` schedules.
fn one_shot_curve(
    matrix: &GossipMatrix,
    rounds: usize,
    observers: &[usize],
    optimal: &[(f64, f64)],
) -> Result<Vec<(f64, f64)>> {
    let options = ExactOptions::default();
    let mean = mean_far(matrix.graph(), observers, |v| {
        Ok(exact_loss((matrix, rounds), &[v], options)?.loss.into_value().unit)
    })?;
    let error = noise_error(&FreshNoiseGossip::new(matrix.clone(), flat_variances(rounds, 0.0)?)?)?;
    Ok(optimal.iter().map(|&(loss, _)| (loss, error * mean / loss)).collect())
}

/// Optimal schedules for all targets, and the largest ratio of error to lower bound.
fn optimal_curve(
    matrix: &GossipMatrix,
    rounds: usize,
    observers: &[usize],
    scale: Scale,
) -> Result<(Vec<(f64, f64)>, f64)> {
    let n = matrix.node_count();
    let mut pairs = Vec::new();
    for &v in observers {
        let hops = matrix.graph().distances(v);
        pairs.extend((0..n).filter(|&u| hops[u].is_none_or(|d| d >= 2)).map(|u| (u, v)));
    }
    let stopping = DesignStopping { tolerance: 0.01, steps: scale.pick(120, 30) };
    let mut points = Vec::new();
    let mut gap: f64 = 1.0;
    for target in TARGETS {
        let found = optimize(matrix, rounds, &pairs, Limit::Mean(target), FLOOR, stopping)?;
        gap = gap.max(found.error / found.error_lower_bound);
        // The search computes in floating point; the loss of the schedule is taken from its account.
        let start = found.variances[0];
        let gossip = FreshNoiseGossip::new(matrix.clone(), found.variances)?;
        let unit =
            mean_far(matrix.graph(), observers, |v| Ok(gossip.coalition_loss(&[v])?.loss.into_value().unit))?;
        points.push((unit / start, found.error));
    }
    Ok((points, gap))
}
