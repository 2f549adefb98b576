//! Loss against distance on one graph: the curves that several figures of the paper share.
//!
//! All losses are fractions of the local loss `c₀ = α Δ² / (2σ²)`, unclipped in the CSV and in the picture;
//! the papers clip them at 1.

use ndp_account::{Error, LossReport};
use ndp_algos::gossip::utility::{Convergence, stopping_rounds};
use ndp_algos::gossip::{ExactOptions, exact_loss};
use ndp_dp::{Grade, Sigma};
use ndp_graph::GossipMatrix;
use ndp_graph::spectrum::extremes;
use ndp_printed::gossip::{Powers, theorem1_from, theorem1_towards};
use ndp_report::figure::{Axis, Check, Series};

/// Name of the curve of Theorem 1 from the node to all others.
pub const PRINTED: &str = "printed, powers 0..T-1";
/// Name of the same curve in pictures.
pub const FROM: &str = "printed, from the node";
/// Name of the curve of Theorem 1 as the authors' program computes it.
pub const PROGRAM: &str = "printed, powers 1..T as in the program";
/// Name of the curve of Theorem 1 in the direction of the exact curve, towards the node.
pub const TOWARDS: &str = "printed, towards the node";
/// Name of the sound curve: exact, or an upper bound if the numerical error is not negligible.
pub const SOUND: &str = "loss towards the node";

/// The spread of the inputs that the authors' programs assume.
pub const SPREAD: f64 = 0.25;

/// The loss axis of these figures.
#[must_use]
pub fn axis() -> Axis {
    Axis::log("loss / local loss")
}

/// The curves that are drawn. The sum from the first power is left out, because it differs by one term only.
#[must_use]
pub fn shown(series: &[Series]) -> Vec<Series> {
    let named = |s: &Series| {
        let name = if s.name == PRINTED { FROM.into() } else { s.name.clone() };
        Series { name, ..s.clone() }
    };
    series.iter().filter(|s| s.name != PROGRAM).map(named).collect()
}

/// The check that decides whether Theorem 1 holds.
#[must_use]
pub fn check() -> Check {
    Check::covers(TOWARDS, SOUND)
}

/// The number of rounds of the paper: accelerated gossip, `D = 0.25`.
///
/// # Errors
/// Those of [`extremes`] and [`stopping_rounds`].
pub fn rounds(matrix: &GossipMatrix, sigma: f64) -> Result<usize, Error> {
    let convergence = Convergence::Accelerated(extremes(matrix)?.gap_abs()?);
    stopping_rounds(matrix.node_count(), convergence, Sigma::new(sigma)?, SPREAD)
}

/// The curves of one graph, and the report on the sound one.
pub struct Curves {
    /// One point per distance class: mean, minimum and maximum.
    pub series: Vec<Series>,
    /// The report on the sound loss.
    pub report: LossReport,
}

/// Loss by distance from and towards `node` after `rounds` rounds.
///
/// The curve of Theorem 1 from the node has a point at distance 0, as in the paper; a node's loss to itself
/// is no privacy loss, so the other curves start at distance 1.
///
/// # Errors
/// Those of [`exact_loss`].
pub fn curves(matrix: &GossipMatrix, node: usize, rounds: usize) -> Result<Curves, Error> {
    let report = exact_loss((matrix, rounds), &[node], ExactOptions::default())?;
    let distances = matrix.graph().distances(node);
    let by_distance = |series: Series, losses: &[f64], own: bool| {
        let pairs = distances.iter().zip(losses).enumerate();
        let kept = pairs.filter(|&(v, _)| own || v != node);
        series.by_class(kept.filter_map(|(_, (&distance, &loss))| Some((f64::from(distance?), loss))))
    };
    let from =
        |powers| Ok::<_, Error>(theorem1_from(matrix, &[node], rounds, powers)?.into_value().row(0).to_vec());
    let towards = theorem1_towards((matrix, rounds), &[node], Powers::FromZero)?;
    let farthest = distances.iter().flatten().max().copied().unwrap_or(0);
    let series = vec![
        by_distance(Series::new(SOUND, report.grade()), &report.loss.value().unit, false),
        by_distance(Series::new(PRINTED, Grade::Printed), &from(Powers::FromZero)?, true),
        by_distance(Series::new(PROGRAM, Grade::Printed), &from(Powers::FromOne)?, true),
        by_distance(Series::new(TOWARDS, towards.grade()), &towards.value().unit, false),
        Series::new("local loss", Grade::Exact).points([(0.0, 1.0), (f64::from(farthest), 1.0)]),
    ];
    Ok(Curves { series, report })
}
