//! What the figures of realised walks share.

use crate::seed::Seed;
use anyhow::Result;
use ndp_account::{Observer, Protocol};
use ndp_algos::walk::complete::{CompleteSum, CompleteWalk};
use ndp_algos::walk::graph::TokenWalk;
use ndp_algos::walk::{Bounds, Path, TokenNoise};
use ndp_dp::{Delta, NoiseMultiplier, Sigma, UpperBound, conversion};
use ndp_graph::hitting::Start;
use ndp_graph::{GossipMatrix, TransitionMatrix, generators};
use ndp_printed::network::realised::{CycleSize, pairwise_losses};
use ndp_report::figure::{Kind, Series};

/// Steps per user.
pub(super) const VISITS: usize = 100;
/// The `δ` of one contribution.
pub(super) const DELTA: f64 = 1e-7;

/// Walks of `100 n - 1` steps, as the program draws them.
pub(super) fn as_released_paths(seed: Seed, runs: u64, n: usize) -> Result<Vec<Path>> {
    let walk = CompleteWalk::new(n, VISITS * n - 1)?;
    Ok(seed.run(runs, |rng| walk.sample(rng)))
}

/// The Gaussian parameter of one contribution under the classic noise for `(ε, 1e-7)`.
pub(super) fn classic_mu(epsilon: f64) -> f64 {
    epsilon / (2.0 * (1.25 / DELTA).ln()).sqrt()
}

/// `k` contributions by advanced composition, as in the program, which takes real numbers of them.
pub(super) fn composed(epsilon: f64, k: f64) -> f64 {
    (2.0 * k * (1.0 / DELTA).ln()).sqrt() * epsilon + k * epsilon * epsilon.exp_m1()
}

/// The loss of a sum towards one observer, averaged over the walk, when one contribution has `μ = Δ/σ`.
pub(super) fn averaged_epsilon(walk: CompleteWalk, mu: f64, delta: Delta) -> Result<f64> {
    let sum = CompleteSum {
        walk,
        bounds: Bounds::new(0.0, 1.0)?,
        noise: TokenNoise::gaussian(Sigma::new(1.0)?),
        constant_data: false,
    };
    let profile = sum.account(&Observer::node(0))?.profile(1, NoiseMultiplier::new(1.0 / mu)?)?;
    // Uses Rényi losses only: the account also knows the law of the cost, which has a curve of its own.
    let renyi = |order| match profile.renyi(order) {
        Ok(loss) => UpperBound::new(loss.into_value().epsilon),
        Err(_) => UpperBound::new(f64::INFINITY),
    };
    Ok(conversion::best_epsilon(renyi, delta).into_value().approx_dp.epsilon())
}

/// Losses of all pairs of all walks, one after the other.
pub(super) fn realised_curve(
    paths: &[Path],
    size: CycleSize,
    mass: impl Fn(usize) -> f64 + Copy,
) -> Result<Vec<f64>> {
    let mut values = Vec::new();
    for path in paths {
        let losses = pairwise_losses(path, size, Delta::new(DELTA)?, mass)?.into_value();
        values.extend(losses.indexed_iter().filter(|((u, v), _)| u != v).map(|(_, &loss)| loss));
    }
    Ok(values)
}

/// How often every user holds the token.
pub(super) fn visits(path: &Path) -> Vec<f64> {
    let mut visits = vec![0.0; path.nodes];
    path.holders.iter().for_each(|&holder| visits[holder] += 1.0);
    visits
}

/// The local loss of every user of every walk: advanced composition over the user's contributions, as in the
/// program.
pub(super) fn local_curve(paths: &[Path], epsilon: f64) -> Vec<f64> {
    paths.iter().flat_map(visits).map(|k| composed(epsilon, k)).collect()
}

/// The largest number of users for which the law of the walk's cost is computed.
pub(super) const LAW_USERS: f64 = 60.0;
/// The name of that curve.
pub(super) const LAW: &str = "network, by the law of the walk's cost";

/// What the figures say about that curve.
pub(super) const OF_LAW: &str = "By the law of the walk's cost, drawn with its proven lower end: with a hundred visits of the observer its table is coarse, and its upper end may be above \
     the bound by Rényi losses. The truth for an observer who knows the path lies between the lower end and the smaller of the two.";

/// Both ends of `ε` by the law of the cost of a walk of 100 steps for each of `n` users, whose contributions
/// have the Gaussian parameter `mu`.
pub(super) fn law_epsilon(n: usize, mu: f64, delta: Delta) -> Result<[f64; 2]> {
    let matrix = GossipMatrix::metropolis(&generators::complete_graph(n)?);
    let walk = TokenWalk::new(&TransitionMatrix::from(&matrix), Start::Uniform, VISITS * n)?;
    let law = walk.cost_law(0, &[n - 1])?;
    let at = |noise: f64| -> Result<_> { Ok(law.epsilon(NoiseMultiplier::new(noise)?, delta)?) };
    // The reciprocal may be rounded in either direction, so take both neighbors.
    Ok([at((1.0 / mu).next_up())?.lower(), at((1.0 / mu).next_down())?.upper()])
}

/// Means with minimum and maximum over pairs and walks, one point per number of users.
pub(super) struct Spread {
    name: &'static str,
    points: Vec<(f64, f64, f64, f64)>,
}

impl Spread {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, points: Vec::new() }
    }

    pub(super) fn push(&mut self, n: usize, values: Vec<f64>) {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        self.points.push((n as f64, mean, low, high));
    }

    pub(super) fn series(self, kind: impl Into<Kind>) -> Series {
        self.points
            .into_iter()
            .fold(Series::new(self.name, kind), |series, (x, y, low, high)| series.ranged(x, y, low, high))
    }
}
