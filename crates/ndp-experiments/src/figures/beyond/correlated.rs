//! `beyond/correlated`: noise that cancels against noise that does not, as the coalition grows.

use crate::datasets::Data;
use crate::entry::{Entry, Tolerance};
use crate::figures::families::erdos_renyi;
use crate::seed::Seed;
use anyhow::Result;
use ndp_account::Observer;
use ndp_dp::{Grade, NoiseMultiplier};
use ndp_graph::{GossipMatrix, generators};
use ndp_program::constructors::{decor, fresh_noise, muffliato};
use ndp_program::{NodeVerdict, Program, Reads, SensitivitySet, Weight};
use ndp_report::figure::{Axis, Basis, Check, Figure, Panel, Scale, Series};
use rand::seq::SliceRandom;

/// Variances of the masks, when the own noise has variance 1.
const MASKS: [i32; 2] = [4, 64];
const ROUNDS: usize = 8;
/// Root mean square of the noise in the result, in units of the sensitivity.
const ERROR: f64 = 0.25;
const LOCAL: &str = "local";
const FRESH: &str = "fresh noise";
const ONE_SHOT: &str = "one-shot noise";

/// `beyond/correlated`.
pub const ENTRY: Entry = Entry {
    id: "beyond/correlated",
    what: "DECOR and zero-sum masks against fresh noise as the coalition grows, at the same error",
    needs: &[],
    minutes: 0.1,
    tolerance: Tolerance { relative: 1e-6, absolute: 1e-9 },
    findings: &[],
    test: Some(("crates/ndp-program/src/tests/reference.rs", "decor_by_coalition")),
    measures: false,
    figure,
};

fn figure(scale: Scale, seed: Seed, _data: &Data) -> Result<Figure> {
    let n = scale.pick(48, 16);
    let graphs = [("ring", generators::cycle_graph(n)?), ("Erdős–Rényi", erdos_renyi(n, 1.2, seed, 0)?)];
    let mut order: Vec<usize> = (0..n).collect();
    order.shuffle(&mut seed.fork("coalition").trial(0));
    let sizes: Vec<usize> =
        [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 40].into_iter().filter(|c| *c + 2 <= n).collect();
    let mut figure = Figure::new("At the same error, masks show these coalitions no more than own noise alone")
        .by(Grade::Exact, "ndp_program::Program::account", "Programs")
        .by(Grade::UpperBound, "ndp_program::Program::account", "Programs")
        .parameter("n", n)
        .parameter("coalitions", "the first nodes of a random order")
        .parameter("root mean square of the noise in the result", ERROR)
        .parameter("rounds of gossip", ROUNDS)
        .parameter("later noise of fresh noise, per round", "1/10 of the first")
        .parameter("loss", "mu^2 of one use, at sensitivity 1")
        .claim("At the same error, these coalitions learn no more behind masks than behind own noise alone.")
        .finding("A coalition that surrounds a node on a ring takes its masks away at once; masks among all nodes last until all others collude.")
        .check(Check::below("zero-sum", LOCAL))
        .check(Check::below("DECOR", LOCAL))
        .titled_by([
            Basis::Shown(Check::below("zero-sum", LOCAL)),
            Basis::Shown(Check::below("DECOR", LOCAL)),
        ])
        .columns(2);
    for (name, graph) in graphs {
        let matrix = GossipMatrix::metropolis(&graph);
        let schedule: Vec<Weight> =
            (0..ROUNDS).map(|t| Weight::from(if t == 0 { (1, 1) } else { (1, 10) })).collect();
        let without = [
            (LOCAL.to_owned(), zero_sum(n, 0)?),
            (FRESH.to_owned(), fresh_noise(&matrix, &schedule)?),
            (ONE_SHOT.to_owned(), muffliato(&matrix, ROUNDS)?),
        ];
        let without = without.iter().map(|of| both(of, &order, &sizes)).collect::<Result<Vec<_>>>()?;
        for masks in MASKS {
            let with = [
                ("DECOR".to_owned(), decor(&graph, 1, masks, 1)?),
                ("zero-sum".to_owned(), zero_sum(n, masks)?),
            ];
            let with = with.iter().map(|of| both(of, &order, &sizes)).collect::<Result<Vec<_>>>()?;
            let (worst, mean): (Vec<Series>, Vec<Series>) = without.iter().cloned().chain(with).unzip();
            let panel = |what: &str| {
                let title = format!("{name}, masks of variance {masks}: {what} loss of a node outside");
                Panel::curves(title, Axis::linear("nodes that collude"), Axis::log("mu^2"))
            };
            figure = figure.panel(panel("worst").with_all(worst)).panel(panel("mean").with_all(mean));
        }
    }
    Ok(figure)
}

/// The curves of a protocol: the largest loss outside each coalition, and the mean one.
fn both((called, program): &(String, Program), order: &[usize], sizes: &[usize]) -> Result<(Series, Series)> {
    let (grade, worst, mean) = curves(program, order, sizes)?;
    let series = |points| Series::new(called.clone(), grade).points(points);
    Ok((series(worst), series(mean)))
}

/// The grade of the losses, then the largest and the mean loss towards coalitions of these sizes, at the
/// given error.
type Curves = (Grade, Vec<(f64, f64)>, Vec<(f64, f64)>);

fn curves(program: &Program, order: &[usize], sizes: &[usize]) -> Result<Curves> {
    // The part of the squared error that noise causes grows with the square of the noise; the part that too
    // few rounds cause does not change.
    let square = |noise: f64| -> Result<f64> { Ok(program.error(NoiseMultiplier::new(noise)?)?.powi(2)) };
    let share = (square(2.0)? - square(1.0)?) / 3.0;
    let variance = ERROR * ERROR / share;
    let (mut grade, mut worst, mut mean) = (Grade::Exact, Vec::new(), Vec::new());
    for &size in sizes {
        let account = program.account(&Observer::coalition(&order[..size]))?;
        let mut losses = Vec::new();
        for &u in &order[size..] {
            losses.push(match account.verdict(u, &SensitivitySet::UseLevel)? {
                NodeVerdict::Bounded(loss) => {
                    grade = grade.max(loss.value.grade());
                    loss.value() / variance
                }
                NodeVerdict::Noiseless { .. } => f64::INFINITY,
            });
        }
        let average = losses.iter().sum::<f64>() / losses.len() as f64;
        worst.push((size as f64, losses.into_iter().fold(0.0, f64::max)));
        mean.push((size as f64, average));
    }
    Ok((grade, worst, mean))
}

/// Every node publishes its value with its own noise of variance 1 and a mask; the masks of all nodes add up
/// to 0.
fn zero_sum(n: usize, masks: i32) -> Result<Program> {
    let mut program = Program::new(n)?;
    let x = program.contribute_all(Reads::Nothing)?;
    let z = program.noise_all(1)?;
    let mut y = program.add_all(&x, &z)?;
    if masks > 0 {
        let all: Vec<usize> = (0..n).collect();
        let m = program.zero_sum(&all, masks)?;
        y = program.add_all(&y, &m)?;
    }
    program.broadcast_all(&y)?;
    let mean = program.combine(y.into_iter().map(|y| (1.0 / n as f64, y)))?;
    program.result((0..n).map(|u| (u, mean)))?;
    Ok(program)
}
