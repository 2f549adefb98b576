//! `muffliato/table1`: utility at a given mean loss on five families of graphs.

use crate::datasets::Data;
use crate::figure::{Figure, Panel, Scale, Series};
use crate::registry::{Entry, Tolerance};
use crate::seed::Seed;
use anyhow::{Context, Result};
use ndp_algos::gossip::utility::{Convergence, stopping_rounds};
use ndp_dp::{Grade, Sigma};
use ndp_graph::closed_form::{ClosedForm, Family};
use ndp_graph::gossip_matrix::Weights;

const ALPHA: f64 = 2.0;
const SPREAD: f64 = 0.25;
/// Target mean loss.
const EPSILON: f64 = 1.0;
const SIZES: [usize; 4] = [64, 256, 1024, 4096];
/// Sides of the tori of these sizes.
const SQUARES: [[usize; 2]; 4] = [[8, 8], [16, 16], [32, 32], [64, 64]];
const CUBES: [[usize; 3]; 4] = [[4, 4, 4], [8, 8, 4], [16, 8, 8], [16, 16, 16]];

/// `muffliato/table1`.
pub const ENTRY: Entry = Entry {
    id: "muffliato/table1",
    what: "noise and error at a given mean loss on complete graph, hypercube, tori and ring",
    needs: &[],
    minutes: 0.1,
    tolerance: Tolerance::DETERMINISTIC,
    figure,
};

/// One cell: what the rule of the paper, with constants, gives on one graph.
struct Row {
    gap: f64,
    rounds: usize,
    variance: f64,
    bound: f64,
    exact: f64,
}

fn figure(scale: Scale, _seed: Seed, _data: &Data) -> Result<Figure> {
    let sizes = scale.pick(4, 2);
    let mut figure = Figure::new("Muffliato, table 1: error at mean loss 1, with constants")
        .parameter("alpha", ALPHA)
        .parameter("sensitivity", 1.0)
        .parameter("spread of the inputs", SPREAD)
        .parameter("mean loss", EPSILON)
        .parameter("weights", "metropolis")
        .claim("At the same mean loss the error falls like 1/n^2 on expanders, D/n^(2-1/D) on a D-torus, 1/n on a ring and on the complete graph.")
        .finding("The trade-off holds: it uses only the mean loss, which is true (mean loss is (rank - 1)/n at most).")
        .finding("The fitted exponents include the logarithm of the stopping rule.");
    /// The family and the degree of its `k`-th size.
    type Member = fn(usize) -> Result<(Family, usize)>;
    let families: [(&str, &str, Member); 5] = [
        ("complete", "-1", |k| Ok((Family::Complete(SIZES[k]), SIZES[k] - 1))),
        ("hypercube", "-2, up to logarithms", |k| {
            let dimension = SIZES[k].ilog2();
            Ok((Family::Hypercube(dimension), dimension as usize))
        }),
        ("2-torus", "-3/2", |k| Ok((Family::Torus(SQUARES[k].to_vec()), 4))),
        ("3-torus", "-5/3", |k| Ok((Family::Torus(CUBES[k].to_vec()), 6))),
        ("ring", "-1", |k| Ok((Family::Cycle(SIZES[k]), 2))),
    ];
    for (name, printed_exponent, family) in families {
        let rows = (0..sizes)
            .map(|k| {
                let (family, degree) = family(k)?;
                row(family, degree, SIZES[k]).with_context(|| format!("{name} with {} nodes", SIZES[k]))
            })
            .collect::<Result<Vec<_>>>()?;
        let column = |name: &str, grade: Option<Grade>, value: fn(&Row, f64) -> f64| {
            let points = rows.iter().zip(SIZES).map(|(row, n)| (n as f64, value(row, n as f64)));
            grade.map_or_else(|| Series::data(name), |grade| Series::new(name, grade)).points(points)
        };
        let slope = fitted_exponent(rows.iter().zip(SIZES).map(|(row, n)| (n as f64, row.bound)));
        figure = figure
            .note(format!("{name}: fitted exponent of n"), slope)
            .note(format!("{name}: printed exponent of n"), printed_exponent)
            .panel(
                Panel::table(format!("{name} (fitted exponent {slope:.2}, printed {printed_exponent})"), "n")
                    .with(column("gap", None, |row, _| row.gap))
                    .with(column("T", None, |row, _| row.rounds as f64))
                    .with(column("sigma^2", None, |row, _| row.variance))
                    .with(column("error by the formula", Some(Grade::UpperBound), |row, _| row.bound))
                    .with(column("noise error, exact", Some(Grade::Exact), |row, _| row.exact))
                    .with(column("central", Some(Grade::Exact), |_, n| ALPHA / (2.0 * n * n * EPSILON)))
                    .with(column("local", Some(Grade::Exact), |_, n| ALPHA / (2.0 * n * EPSILON))),
            );
    }
    Ok(figure.columns(1))
}

/// The smallest `σ²` with mean loss `α d T(σ²) / (2 n σ²)` at most the target, and what it costs.
fn row(family: Family, degree: usize, n: usize) -> Result<Row> {
    let form = ClosedForm::new(family, Weights::Metropolis)?;
    let gap = form.extremes()?.gap_abs()?;
    let rounds = |variance: f64| -> Result<usize> {
        Ok(stopping_rounds(n, Convergence::Accelerated(gap), Sigma::new(variance.sqrt())?, SPREAD)?)
    };
    let holds = |variance: f64| -> Result<bool> {
        Ok(ALPHA * degree as f64 * rounds(variance)? as f64 / (2.0 * n as f64 * variance) <= EPSILON)
    };
    let (mut low, mut high) = (1e-9, 1e9);
    for _ in 0..200 {
        let middle = f64::sqrt(low * high);
        if holds(middle)? { high = middle } else { low = middle }
    }
    let rounds = rounds(high)?;
    // Accelerated gossip: the noise error is σ² tr(P_T(W)²)/n, over the spectrum.
    let chebyshev = ndp_graph::chebyshev::Chebyshev::published(gap.min(1.0))?;
    let exact =
        form.eigenvalues().iter().map(|&x| chebyshev.evaluate(rounds, x).powi(2)).sum::<f64>() / n as f64;
    Ok(Row { gap, rounds, variance: high, bound: 3.0 * high / n as f64, exact: high * exact })
}

/// Least-squares slope of `ln y` against `ln n`.
fn fitted_exponent(points: impl Iterator<Item = (f64, f64)>) -> f64 {
    let logs: Vec<(f64, f64)> = points.map(|(x, y)| (x.ln(), y.ln())).collect();
    let n = logs.len() as f64;
    let (mx, my) = logs.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
    let xx: f64 = logs.iter().map(|(x, _)| (x - mx).powi(2)).sum();
    logs.iter().map(|(x, y)| (x - mx) * (y - my)).sum::<f64>() / xx
}
