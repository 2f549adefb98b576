//! `muffliato/table1`: utility at a given mean loss on five families of graphs, for both algorithms.

use crate::datasets::Data;
use crate::entry::{Entry, Tolerance};
use crate::seed::Seed;
use anyhow::{Context, Result};
use ndp_account::Target;
use ndp_algos::gossip::table1::MeanBudget;
use ndp_algos::gossip::utility::{Convergence, worst_error};
use ndp_algos::gossip::{ExactOptions, GossipPlan, calibrate};
use ndp_dp::{Grade, Measure, Order, Sensitivity};
use ndp_graph::chebyshev::Chebyshev;
use ndp_graph::closed_form::Family;
use ndp_graph::{GossipMatrix, Weights};
use ndp_report::figure::{Axis, Basis, Check, Figure, Panel, Scale, Series};

const ALPHA: f64 = 2.0;
const SENSITIVITY: f64 = 1.0;
const SPREAD: f64 = 0.25;
/// Target mean loss.
const EPSILON: f64 = 1.0;
const SIZES: [usize; 4] = [64, 256, 1024, 4096];
/// Sides of the tori of these sizes.
const SQUARES: [[usize; 2]; 4] = [[8, 8], [16, 16], [32, 32], [64, 64]];
const CUBES: [[usize; 3]; 4] = [[4, 4, 4], [8, 8, 4], [16, 8, 8], [16, 16, 16]];
/// Largest size for which the noise is also calibrated to the exact mean loss.
const EXACT_SIZE: usize = 1024;

/// `muffliato/table1`.
pub const ENTRY: Entry = Entry {
    id: "muffliato/table1",
    what: "noise and error at a given mean loss on complete graph, hypercube, tori and ring, both algorithms",
    needs: &[],
    minutes: 0.1,
    tolerance: Tolerance::DETERMINISTIC,
    findings: &[],
    test: Some(("crates/ndp-algos/src/gossip/utility.rs", "randomized_gossip_is_half_as_fast_as_printed")),
    measures: false,
    figure,
};

/// What Algorithm 1 needs on one graph, and the error it reaches.
struct Synchronous {
    gap: f64,
    plan: GossipPlan,
    /// The error on the worst inputs of the spread.
    worst: f64,
    /// The variance that the exact mean loss requires, and the worst error at that variance.
    calibrated: Option<(f64, f64)>,
}

/// The family's name; the printed exponents of `n` (the paper hides constants and logarithms) for Algorithm
/// 1, synchronous, and Algorithm 2, randomized; and the family and degree of its `k`-th size.
type Row = (&'static str, [f64; 2], fn(usize) -> (Family, usize));

const FAMILIES: [Row; 5] = [
    ("complete", [-1.0, -2.0], |k| (Family::Complete(SIZES[k]), SIZES[k] - 1)),
    ("hypercube", [-2.0, -2.0], |k| {
        let dimension = SIZES[k].ilog2();
        (Family::Hypercube(dimension), dimension as usize)
    }),
    ("2-torus", [-1.5, -1.0], |k| (Family::Torus(SQUARES[k].to_vec()), 4)),
    ("3-torus", [-(2.0 - 1.0 / 3.0), -(2.0 - 2.0 / 3.0)], |k| (Family::Torus(CUBES[k].to_vec()), 6)),
    ("ring", [-1.0, -1.0], |k| (Family::Cycle(SIZES[k]), 2)),
];

fn figure(scale: Scale, _seed: Seed, _data: &Data) -> Result<Figure> {
    let sizes = &SIZES[..scale.pick(4, 2)];
    let mut figure = Figure::new("Muffliato, table 1: at a mean loss of at most 1, the worst error of algorithm 1 falls with the number of nodes on every graph")
        .titled_by([Basis::Shown(Check::falls("worst error", 1.0))])
        .by(Grade::UpperBound, "ndp_algos::gossip::table1::MeanBudget", "Muffliato")
        .by(Grade::Exact, "ndp_algos::gossip::utility::worst_error", "Muffliato")
        .by_named("central", Grade::Exact, "ndp_experiments::figures::muffliato::table1::without_gossip", "Muffliato")
        .by_named("local", Grade::Exact, "ndp_experiments::figures::muffliato::table1::without_gossip", "Muffliato")
        .parameter("alpha", ALPHA)
        .parameter("sensitivity", SENSITIVITY)
        .parameter("spread of the inputs", SPREAD)
        .parameter("mean loss", EPSILON)
        .parameter("weights", "metropolis")
        .parameter("randomized", "edges with probability 2 W / n")
        .parameter("largest size calibrated to the exact mean", EXACT_SIZE)
        .claim("At the same mean loss the error falls like 1/n^2 on expanders, D/n^(2-1/D) on a D-torus, 1/n on a ring and on the complete graph; randomized gossip likewise, with 1/n^2 on the complete graph.")
        .finding("The trade-off holds: it uses only the mean loss, which is true (mean loss is (rank - 1)/n at most).")
        .check(Check::open("The rates", "they are without constants and logarithms, and no finite number of sizes decides them"))
        .finding("The fitted exponents include the logarithm of the stopping rule, on the hypercube also its degree and gap.")
        .finding("The exact mean counts what was learned instead of what was received; where messages repeat themselves (complete graph, ring) it needs far less noise.")
        .finding("Randomized gossip is accounted for by the corrected rule, half as fast as printed. On the ring its formula gives n^0, and the printed 1/n is the local loss.")
        .finding("Errors are mean squared errors, twice what the theorems bound, so that central and local, which the paper does not halve, can be compared with them.")
        .columns(2);
    let mut views = Views::new(sizes.iter().copied().filter(|&n| n <= EXACT_SIZE).max().unwrap_or(SIZES[0]));
    for (name, exponents, member) in FAMILIES {
        let budget = |n: usize| -> Result<MeanBudget> {
            let (order, sensitivity) = (Order::new(ALPHA)?, Sensitivity::new(SENSITIVITY)?);
            Ok(MeanBudget { nodes: n, order, sensitivity, epsilon: EPSILON, spread: SPREAD })
        };
        let (mut synchronous, mut randomized, mut baselines) = (Vec::new(), Vec::new(), Vec::new());
        for (k, &n) in sizes.iter().enumerate() {
            let (family, degree) = member(k);
            let context = || format!("{name} with {n} nodes");
            synchronous.push(by_algorithm_1(&family, degree, budget(n)?).with_context(context)?);
            // p = 2 W / n: λ₂ = 2 gap / n, and every node takes part with probability (2/n)(1 - W_vv).
            let (n, d) = (n as f64, degree as f64);
            let second = 2.0 * family.extremes(Weights::Metropolis)?.gap_signed()? / n;
            randomized
                .push(budget(sizes[k])?.calibrate(Convergence::Randomized(second), 2.0 / n * d / (d + 1.0))?);
            baselines.push(without_gossip(n));
        }
        let column = |name: &str, grade: Option<Grade>, values: Vec<Option<f64>>| {
            let points = sizes.iter().zip(values).filter_map(|(&n, y)| Some((n as f64, y?)));
            grade.map_or_else(|| Series::data(name), |grade| Series::new(name, grade)).points(points)
        };
        let of_1 = |value: fn(&Synchronous) -> Option<f64>| synchronous.iter().map(value).collect::<Vec<_>>();
        let of_2 =
            |value: fn(&GossipPlan) -> f64| randomized.iter().map(|c| Some(value(c))).collect::<Vec<_>>();
        let base =
            |value: fn(&(f64, f64)) -> f64| baselines.iter().map(|b| Some(value(b))).collect::<Vec<_>>();
        let slopes = [
            fitted_exponent(sizes.iter().zip(&synchronous).map(|(&n, s)| (n as f64, *s.plan.error.value()))),
            fitted_exponent(sizes.iter().zip(&randomized).map(|(&n, c)| (n as f64, *c.error.value()))),
        ];
        for (algorithm, (slope, printed)) in [1, 2].into_iter().zip(slopes.into_iter().zip(exponents)) {
            figure = figure
                .note(format!("{name}, algorithm {algorithm}: fitted exponent of n"), slope)
                .note(format!("{name}, algorithm {algorithm}: printed exponent of n"), printed);
        }
        if let Some(k) = sizes.iter().position(|&n| n == views.size) {
            let (one, base) = (&synchronous[k], baselines[k]);
            let true_mean = one.calibrated.map_or(f64::NAN, |found| found.1);
            let bounds = [*one.plan.error.value(), *randomized[k].error.value()];
            views.add(
                name,
                [vec![bounds[0], base.0, base.1, one.worst, true_mean], vec![bounds[1], base.0, base.1]],
            );
        }
        views.add_exponents(name, slopes, exponents);
        let title = |algorithm: usize| {
            let (slope, printed) = (slopes[algorithm - 1], exponents[algorithm - 1]);
            format!("{name}, algorithm {algorithm}: n^{slope:.2} fitted, n^{printed:.2} printed")
        };
        figure = figure
            .panel(
                Panel::table(title(1), "n")
                    .with(column("gap", None, of_1(|s| Some(s.gap))))
                    .with(column("T", None, of_1(|s| Some(s.plan.rounds as f64))))
                    .with(column("sigma^2", None, of_1(|s| Some(s.plan.sigma.get().powi(2)))))
                    .with(column("error", Some(Grade::UpperBound), of_1(|s| Some(*s.plan.error.value()))))
                    .with(column("worst error", Some(Grade::Exact), of_1(|s| Some(s.worst))))
                    .with(column("sigma^2, true mean", None, of_1(|s| s.calibrated.map(|c| c.0))))
                    .with(column(
                        "worst error, true mean",
                        Some(Grade::Exact),
                        of_1(|s| s.calibrated.map(|c| c.1)),
                    )),
            )
            .panel(
                Panel::table(title(2), "n")
                    .with(column("T", None, of_2(|c| c.rounds as f64)))
                    .with(column("sigma^2", None, of_2(|c| c.sigma.get().powi(2))))
                    .with(column("error", Some(Grade::UpperBound), of_2(|c| *c.error.value())))
                    .with(column("central", Some(Grade::Exact), base(|b| b.0)))
                    .with(column("local", Some(Grade::Exact), base(|b| b.1))),
            );
    }
    Ok(figure.drawn_as(views.panels()))
}

/// The errors at one size and the exponents, as they are drawn. Errors are no privacy numbers.
struct Views {
    size: usize,
    errors: [Vec<Series>; 2],
    exponents: [Vec<Series>; 2],
}

impl Views {
    fn new(size: usize) -> Self {
        Self { size, errors: Default::default(), exponents: Default::default() }
    }

    /// Adds a family, its errors by both algorithms.
    fn add(&mut self, name: &str, errors: [Vec<f64>; 2]) {
        for (rows, errors) in self.errors.iter_mut().zip(errors) {
            let points = (1..).map(f64::from).zip(errors).filter(|(_, error)| !error.is_nan());
            rows.push(Series::data(name).points(points));
        }
    }

    fn add_exponents(&mut self, name: &str, fitted: [f64; 2], printed: [f64; 2]) {
        for (k, rows) in self.exponents.iter_mut().enumerate() {
            rows.push(Series::data(name).points([(1.0, printed[k]), (2.0, fitted[k])]));
        }
    }

    fn panels(self) -> Vec<Panel> {
        const ERRORS: [&str; 5] = [
            "bound on the error",
            "trusted curator",
            "local noise",
            "worst inputs",
            "worst inputs, noise for the true mean loss",
        ];
        let mut panels = Vec::new();
        for (k, (errors, exponents)) in self.errors.into_iter().zip(self.exponents).enumerate() {
            let title = format!("algorithm {}, n = {}", k + 1, self.size);
            let axis = Axis::log("mean squared error");
            panels.push(
                Panel::dots(title, axis, ERRORS.iter().copied().take(if k == 0 { 5 } else { 3 }))
                    .with_all(errors),
            );
            let title = format!("algorithm {}: how the error falls with n", k + 1);
            let axis = Axis::linear("exponent of n");
            panels
                .push(Panel::dots(title, axis, ["printed exponent", "fitted exponent"]).with_all(exponents));
        }
        panels
    }
}

/// The noise that follows from the number of messages and, on small graphs, from the exact mean loss. All
/// nodes of these graphs are alike.
fn by_algorithm_1(family: &Family, degree: usize, budget: MeanBudget) -> Result<Synchronous> {
    let gap = family.extremes(Weights::Metropolis)?.gap_abs()?.min(1.0);
    let plan = budget.calibrate(Convergence::Accelerated(gap), degree as f64)?;
    let chebyshev = Chebyshev::published(gap)?;
    let eigenvalues = family.eigenvalues(Weights::Metropolis)?;
    let worst = |sigma, rounds| worst_error(&eigenvalues, |x| chebyshev.evaluate(rounds, x), sigma, SPREAD);
    let calibrated = if budget.nodes <= EXACT_SIZE {
        let rule = (Convergence::Accelerated(gap), SPREAD);
        let target = (&Target::mean(Measure::Renyi(budget.order), EPSILON), budget.sensitivity);
        let matrix = GossipMatrix::metropolis(&family.graph()?);
        let found = calibrate(&matrix, &[0], rule, ExactOptions::default(), target)?;
        Some((found.sigma.get().powi(2), worst(found.sigma, found.rounds)?.into_value()))
    } else {
        None
    };
    let worst = worst(plan.sigma, plan.rounds)?.into_value();
    Ok(Synchronous { gap, plan, worst, calibrated })
}

/// The mean squared errors of the mean of `n` values at the same local loss: of a trusted curator, and where
/// every node releases its value with its own noise, `α Δ² / (2 ε n)`; the curator has `1/n` of that.
fn without_gossip(n: f64) -> (f64, f64) {
    let local = ALPHA * SENSITIVITY * SENSITIVITY / (2.0 * EPSILON * n);
    (local / n, local)
}

/// Least-squares slope of `ln y` against `ln n`.
fn fitted_exponent(points: impl Iterator<Item = (f64, f64)>) -> f64 {
    let logs: Vec<(f64, f64)> = points.map(|(x, y)| (x.ln(), y.ln())).collect();
    let n = logs.len() as f64;
    let (mx, my) = logs.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
    let xx: f64 = logs.iter().map(|(x, _)| (x - mx).powi(2)).sum();
    logs.iter().map(|(x, y)| (x - mx) * (y - my)).sum::<f64>() / xx
}
