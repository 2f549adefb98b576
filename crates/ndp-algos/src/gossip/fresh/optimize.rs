//! The least noise error for a given loss, with a certificate of how far from optimal it stopped.
//!
//! With `L_uv(s) = bᵀ Σ(s)⁻¹ b`, the squared Gaussian parameter `μ²/Δ²` of what `v` learns about `u`,
//!
//! ```text
//! minimise  Σ_t m_t s_t   subject to   mean or max of L_uv(s) ≤ target,   s_0 ≥ floor,   s_t ≥ 0
//! ```
//!
//! is convex: `bᵀ Σ⁻¹ b` is jointly convex and `Σ` linear in `s`. Each step minimises a majoriser:
//! `L(s') ≤ Σ_r q_r / s'_r` with `q_r = -s_r² ∂L/∂s_r`, equal at `s' = s`. For a maximum the weights of
//! the pairs move towards those that exceed the target.
//!
//! A positive floor is necessary for two reasons. Over *all* pairs, the worst ones are neighbors, with `L =
//! 1/s_0` for any later noise. And if neighbors are left out, `s_0 → 0` is optimal, so that they would
//! receive raw data.

use ndarray::{Array2, ArrayView1, s};
use ndp_account::Error;
use ndp_account::parts::ensure;
use ndp_dp::Estimate;
use ndp_graph::GossipMatrix;
use ndp_linalg::cholesky;
use ndp_program::design::{DesignStopping, Limit};
use ndp_program::parts::{NoiseSchedule, apply, error_weights, outside_neighbors};
use rayon::prelude::*;

/// For each observer, the sources whose loss towards it counts.
struct Sources(Vec<(usize, Vec<usize>)>);

impl Sources {
    /// Grouped by observer, in the order in which observers and sources are given.
    fn of(pairs: &[(usize, usize)], nodes: usize) -> Result<Self, Error> {
        let mut found: Vec<(usize, Vec<usize>)> = Vec::new();
        let mut group = vec![None; nodes];
        for &(u, v) in pairs {
            if let Some(&node) = [u, v].iter().find(|&&node| node >= nodes) {
                return Err(Error::NodeOutOfRange { node, nodes });
            }
            if u == v {
                return Err(Error::SourceIsObserver(u));
            }
            let at = *group[v].get_or_insert(found.len());
            if at == found.len() {
                found.push((v, Vec::new()));
            }
            found[at].1.push(u);
        }
        ensure(!found.is_empty(), "the number of pairs", "be at least 1", 0.0)?;
        Ok(Self(found))
    }

    fn count(&self) -> usize {
        self.0.iter().map(|(_, sources)| sources.len()).sum()
    }
}

/// The schedule that was found, and how good it is.
///
/// # Examples
/// ```
/// use ndp_algos::gossip::fresh::optimize;
/// use ndp_program::design::{DesignStopping, Limit};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let matrix = GossipMatrix::metropolis(&path_graph(6)?);
/// // The end of the path may learn this much about the nodes two hops away or more.
/// let far: Vec<(usize, usize)> = (2..6).map(|u| (u, 0)).collect();
/// let found = optimize(&matrix, 3, &far, Limit::Worst(0.5), 1.0, DesignStopping::default())?;
/// assert!(*found.loss.value() <= 0.5 * (1.0 + 1e-12) && found.variances.len() == 3);
/// assert!(found.error <= 1.1 * found.error_lower_bound);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Optimized {
    /// The variance of the noise in every round, as [`FreshNoiseGossip::new`](super::FreshNoiseGossip::new)
    /// takes it; it satisfies the target and the floor.
    pub variances: Vec<f64>,
    /// Its noise error `Σ_t m_t s_t`.
    pub error: f64,
    /// A lower bound on the error of every schedule that satisfies the target and the floor.
    pub error_lower_bound: f64,
    /// Its mean or largest `L_uv`, at most the target, in floating point. The account of gossip with this
    /// schedule is the guarantee.
    pub loss: Estimate<f64>,
}

/// The schedule of `rounds` rounds with the least noise error whose losses `L_uv` of the given `pairs` `(u,
/// v)` meet `limit` (in units of `μ²/Δ²`; an RDP loss is `α Δ²/2` times it) and whose first variance is at
/// least `floor`.
///
/// A local loss of at most `ε` for neighbors needs `floor = α Δ² / (2ε)`; only pure means over *all*
/// pairs may go without (`floor = 0`).
///
/// # Errors
/// [`Error::InvalidParameter`] for no rounds, a target that is not positive and finite, a floor that is
/// negative, infinite or NaN, and for no pair; [`Error::SourceIsObserver`], [`Error::NodeOutOfRange`]; a
/// matrix too large to be dense.
pub fn optimize(
    matrix: &GossipMatrix,
    rounds: usize,
    pairs: &[(usize, usize)],
    limit: Limit,
    floor: f64,
    stopping: DesignStopping,
) -> Result<Optimized, Error> {
    let (Limit::Mean(bound) | Limit::Worst(bound)) = limit;
    ensure(0.0 < bound && bound.is_finite(), "the target loss", "be positive and finite", bound)?;
    ensure(
        0.0 <= floor && floor.is_finite(),
        "the floor of the first variance",
        "be nonnegative and finite",
        floor,
    )?;
    let pairs = Sources::of(pairs, matrix.node_count())?;
    let costs = error_weights(matrix, rounds)?;
    let observers = pairs
        .0
        .par_iter()
        .map(|(v, sources)| Observer::new(matrix, rounds, *v, sources))
        .collect::<Result<Vec<_>, Error>>()?;

    let start = floor.max(1.0);
    let mut variances: Vec<f64> =
        (0..rounds).map(|t| if t == 0 { start } else { start / rounds as f64 }).collect();
    NoiseSchedule::new(variances.clone())?;
    let mut weights = vec![1.0 / pairs.count() as f64; pairs.count()];
    let mut best: Option<Optimized> = None;
    let mut lower: f64 = costs[0] * floor;
    for _ in 1..=stopping.steps.max(1) {
        let (losses, slopes) = evaluate(&observers, &variances, &weights)?;
        let mean: f64 = losses.iter().zip(&weights).map(|(l, w)| l * w).sum();
        let attained = match limit {
            Limit::Mean(_) => mean,
            Limit::Worst(_) => losses.iter().fold(0.0, |m, &l| l.max(m)),
        };
        // L is homogeneous of degree -1, so that this scale meets the target; the floor must hold, too.
        let scale = (attained / bound).max(floor / variances[0]);
        let error = scale * dot(&costs, &variances);
        if best.as_ref().is_none_or(|b| error < b.error) {
            let variances: Vec<f64> = variances.iter().map(|s| s * scale).collect();
            NoiseSchedule::new(variances.clone())?;
            let loss = Estimate::new(attained / scale);
            best = Some(Optimized { variances, error, error_lower_bound: 0.0, loss });
        }
        // By convexity, at the scale at which the linearised constraint is tightest.
        let steepest = slopes.iter().zip(&costs).fold(0.0f64, |m, (g, c)| m.max(g / c));
        lower = lower.max(costs[0] * floor + (mean * mean / bound - slopes[0] * floor).max(0.0) / steepest);
        let found = best.as_mut().expect("the first step sets it");
        found.error_lower_bound = lower.min(found.error);
        if found.error <= lower * (1.0 + stopping.tolerance) {
            break;
        }
        let pull: Vec<f64> = variances.iter().zip(&slopes).map(|(s, g)| s * s * g).collect();
        variances = majorised_step(&pull, &costs, bound, floor);
        if let Limit::Worst(_) = limit {
            for (weight, loss) in weights.iter_mut().zip(&losses) {
                *weight *= loss / attained;
            }
            let total: f64 = weights.iter().sum();
            weights.iter_mut().for_each(|w| *w /= total);
        }
    }
    best.ok_or(Error::InvalidParameter {
        name: "the number of steps",
        condition: "be at least 1",
        value: 0.0,
    })
}

/// Minimises `Σ c_r s_r` subject to `Σ q_r / s_r ≤ bound` and `s_0 ≥ floor`.
fn majorised_step(pull: &[f64], costs: &[f64], bound: f64, floor: f64) -> Vec<f64> {
    let roots: Vec<f64> = pull.iter().zip(costs).map(|(q, c)| (q * c).sqrt()).collect();
    let spread = |from: usize, bound: f64| {
        let total: f64 = roots[from..].iter().sum();
        (from..pull.len()).map(move |r| (pull[r] / costs[r]).sqrt() * total / bound).collect::<Vec<f64>>()
    };
    let mut step = spread(0, bound);
    if step[0] < floor {
        let left = bound - pull[0] / floor;
        step.truncate(1);
        step[0] = floor;
        // If the floor leaves no room, the scale of the next evaluation restores feasibility.
        step.extend(spread(1, if left > 0.0 { left } else { bound }));
    }
    // A round without noise would make Σ singular. The certificate does not depend on this bound.
    let least = step[0] * 1e-7;
    step.iter_mut().for_each(|s| *s = s.max(least));
    step
}

/// Losses of all pairs, and `-∂/∂s_r` of their weighted sum.
fn evaluate(
    observers: &[Observer],
    variances: &[f64],
    weights: &[f64],
) -> Result<(Vec<f64>, Vec<f64>), Error> {
    let mut offset = 0;
    let offsets: Vec<usize> = observers
        .iter()
        .map(|o| {
            offset += o.shifts.ncols();
            offset - o.shifts.ncols()
        })
        .collect();
    let parts = observers
        .par_iter()
        .zip(offsets)
        .map(|(o, from)| o.evaluate(variances, &weights[from..from + o.shifts.ncols()]))
        .collect::<Result<Vec<_>, Error>>()?;
    let mut losses = Vec::with_capacity(weights.len());
    let mut slopes = vec![0.0; variances.len()];
    for (part, slope) in parts {
        losses.extend(part);
        slopes.iter_mut().zip(slope).for_each(|(total, g)| *total += g);
    }
    Ok((losses, slopes))
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// What the losses of one observer are computed from.
struct Observer {
    /// Number of senders.
    senders: usize,
    /// `F[(k,i),(l,j)] = (W^k J W^l)_{ij}` between senders, where `J` leaves out the observer's own noise.
    overlaps: Array2<f64>,
    /// `b` of every source: rows `(t, w)`, one column per source.
    shifts: Array2<f64>,
}

impl Observer {
    fn new(matrix: &GossipMatrix, rounds: usize, v: usize, sources: &[usize]) -> Result<Self, Error> {
        let senders = outside_neighbors(matrix.graph(), &[v]);
        let (n, d) = (matrix.node_count(), senders.len());
        let mut powers = Array2::zeros((rounds * d, n));
        let mut power = Array2::from_shape_fn((n, d), |(u, j)| f64::from(u8::from(u == senders[j])));
        for k in 0..rounds {
            if k > 0 {
                power = apply(matrix.csr(), power.view());
            }
            powers.slice_mut(s![k * d..(k + 1) * d, ..]).assign(&power.t());
        }
        let shifts = powers.select(ndarray::Axis(1), sources);
        powers.column_mut(v).fill(0.0);
        let overlaps = powers.dot(&powers.t());
        Ok(Self { senders: d, overlaps, shifts })
    }

    /// Losses of this observer's pairs, and `-∂/∂s_r` of their weighted sum.
    fn evaluate(&self, variances: &[f64], weights: &[f64]) -> Result<(Vec<f64>, Vec<f64>), Error> {
        let (rounds, d) = (variances.len(), self.senders);
        let size = rounds * d;
        let mut sigma = Array2::<f64>::zeros((size, size));
        for (r, &variance) in variances.iter().enumerate() {
            let left = size - r * d;
            sigma
                .slice_mut(s![r * d.., r * d..])
                .scaled_add(variance, &self.overlaps.slice(s![..left, ..left]));
        }
        let solved = cholesky(((&sigma + &sigma.t()) / 2.0).view())?.solve(self.shifts.view())?;
        let quadratic = |(b, y): (ArrayView1<'_, f64>, ArrayView1<'_, f64>)| b.dot(&y);
        let losses = self.shifts.columns().into_iter().zip(solved.columns()).map(quadratic).collect();
        // -∂L/∂s_r = yᵀ (F shifted by r rounds) y, summed over the sources with their weights.
        let mut slopes = Vec::with_capacity(rounds);
        let mut weighted = solved.clone();
        weighted.columns_mut().into_iter().zip(weights).for_each(|(mut y, &w)| y *= w);
        let products = weighted.dot(&solved.t());
        for r in 0..rounds {
            let left = size - r * d;
            let shifted = products.slice(s![r * d.., r * d..]);
            slopes.push((&shifted * &self.overlaps.slice(s![..left, ..left])).sum());
        }
        Ok((losses, slopes))
    }
}
