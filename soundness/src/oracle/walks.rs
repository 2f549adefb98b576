//! Token walks by enumerating all their paths: the mean of `exp(θ cost)` for an adversary who sees the path.

use ndarray::Array2;
use ndp_graph::Graph;
use ndp_graph::hitting::Start;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rayon::prelude::*;

/// Limits on contributions: `usize::MAX` means no limit, and a rest of 1 means no rest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) cap: usize,
    pub(crate) rest: usize,
    pub(crate) uses: usize,
}

/// A path with its probability, and who contributes at each of its steps.
pub(crate) struct Path {
    holders: Vec<usize>,
    contributes: Vec<bool>,
    probability: f64,
}

/// All paths of `steps` steps, with their contributions under the rules.
pub(crate) fn paths(w: &Array2<f64>, start: &[f64], steps: usize, rules: Rules) -> Vec<Path> {
    let mut all: Vec<(Vec<usize>, f64)> =
        start.iter().enumerate().filter(|(_, p)| **p > 0.0).map(|(v, &p)| (vec![v], p)).collect();
    for _ in 0..steps {
        let mut longer = Vec::new();
        for (path, p) in &all {
            for (next, &q) in w.row(path[path.len() - 1]).iter().enumerate().filter(|(_, q)| **q > 0.0) {
                let mut path = path.clone();
                path.push(next);
                longer.push((path, p * q));
            }
        }
        all = longer;
    }
    let with_actions = |(holders, probability): (Vec<usize>, f64)| {
        let contributes = contributes(&holders, w.nrows(), rules);
        Path { holders, contributes, probability }
    };
    all.into_iter().map(with_actions).collect()
}

/// The steps at which the holder contributes: at most `cap` times, at least `rest` steps apart, and not if
/// the edge on which the token arrived or leaves was used `uses` times before.
fn contributes(holders: &[usize], n: usize, rules: Rules) -> Vec<bool> {
    let (mut counts, mut last, mut uses) = (vec![0; n], vec![None::<usize>; n], vec![0usize; n * n]);
    let mut arrived_beyond = false;
    let step = |(t, pair): (usize, &[usize])| {
        let (holder, next) = (pair[0], pair[1]);
        let beyond = holder != next && uses[holder * n + next] >= rules.uses;
        uses[holder * n + next] += 1;
        let rested = last[holder].is_none_or(|last| t - last >= rules.rest);
        let contributes = counts[holder] < rules.cap && rested && !beyond && !arrived_beyond;
        if contributes {
            counts[holder] += 1;
            last[holder] = Some(t);
        }
        arrived_beyond = beyond;
        contributes
    };
    holders.windows(2).enumerate().map(step).collect()
}

impl Path {
    /// What the observers learn about `u` when node `w` multiplies the token by `slopes[w]` before it adds
    /// its own part: between two visits `(Σ_i A_i)² / Σ_j A_j²`, where `A_j` is the product of the slopes
    /// after step `j` and the upper sum is over contributions of `u`. If `published`, they also see the last
    /// token.
    fn cost(&self, u: usize, observers: &[usize], slopes: &[f64], published: bool) -> f64 {
        let (mut total, mut shift, mut variance) = (0.0, 0.0, 0.0);
        for (&holder, &contributes) in self.holders.iter().zip(&self.contributes) {
            if observers.contains(&holder) {
                if shift > 0.0 {
                    total += shift * shift / variance;
                }
                (shift, variance) = (0.0, 0.0);
            } else {
                let slope = slopes[holder];
                shift = slope * shift + f64::from(u8::from(holder == u && contributes));
                variance = slope * slope * variance + 1.0;
            }
        }
        let last = self.holders[self.holders.len() - 1];
        if shift > 0.0 && (published || observers.contains(&last)) {
            total += shift * shift / variance;
        }
        total
    }
}

/// `ln E exp(θ cost)`, with a relative error of about `1e-13`.
pub(crate) fn log_mean(
    paths: &[Path],
    theta: f64,
    u: usize,
    observers: &[usize],
    slopes: &[f64],
    published: bool,
) -> f64 {
    let charge = |path: &Path| (path.probability, theta * path.cost(u, observers, slopes, published));
    let charges: Vec<(f64, f64)> = paths.iter().map(charge).collect();
    let largest = charges.iter().fold(0.0, |most: f64, (_, charge)| most.max(*charge));
    // A large charge of a small probability has a small mean all the same.
    if largest < 600.0 {
        charges.iter().map(|(p, charge)| p * charge.exp_m1()).sum::<f64>().ln_1p()
    } else {
        charges.iter().map(|(p, charge)| p * (charge - largest).exp()).sum::<f64>().ln() + largest
    }
}

/// `E δ(ε)` of Gaussian pairs with `μ² = cost/σ²`, with an absolute error of about `1e-15 (1 + e^ε)`.
pub(crate) fn mean_delta(
    paths: &[Path],
    (epsilon, sigma): (f64, f64),
    u: usize,
    observers: &[usize],
    published: bool,
) -> f64 {
    let delta = |path: &Path| {
        let slopes = vec![1.0; 1 + path.holders.iter().copied().max().unwrap_or(0)];
        path.probability * cost_delta(path.cost(u, observers, &slopes, published), epsilon, sigma)
    };
    paths.iter().map(delta).sum()
}

/// `δ(ε)` of two normal laws whose means differ by `√cost`, with standard deviation `sigma`.
pub(crate) fn cost_delta(cost: f64, epsilon: f64, sigma: f64) -> f64 {
    let tail = |x: f64| 0.5 * libm::erfc(x * std::f64::consts::FRAC_1_SQRT_2);
    let mu = cost.sqrt() / sigma;
    let (near, far) = (epsilon / mu - mu / 2.0, epsilon / mu + mu / 2.0);
    if mu == 0.0 { 0.0 } else { tail(near) - epsilon.exp() * tail(far) }
}

/// Simulates walks on a graph whose edges have weight `1/(larger degree of both ends + 1)`. Contributions do
/// not depend on the token.
pub(crate) struct Simulated<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) start: &'a Start,
    pub(crate) steps: usize,
    pub(crate) cap: Option<usize>,
    pub(crate) u: usize,
    pub(crate) members: &'a [usize],
    pub(crate) published: bool,
}

impl Simulated<'_> {
    /// Simulates this many paths and returns their costs in ascending order.
    pub(crate) fn costs(&self, paths: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let chunks: Vec<(usize, u64)> =
            (0..paths).step_by(CHUNK).map(|from| (CHUNK.min(paths - from), rng.random())).collect();
        let chunk = |&(paths, seed): &(usize, u64)| {
            let rng = &mut ChaCha8Rng::seed_from_u64(seed);
            (0..paths).map(|_| self.cost(rng)).collect::<Vec<f64>>()
        };
        let mut costs: Vec<f64> = chunks.par_iter().flat_map(chunk).collect();
        costs.sort_unstable_by(f64::total_cmp);
        costs
    }

    fn cost(&self, rng: &mut ChaCha8Rng) -> f64 {
        let mut holder = match self.start {
            Start::Node(node) => *node,
            _ => rng.random_range(0..self.graph.node_count()),
        };
        let (mut count, mut pending, mut noises, mut cost) = (0, 0usize, 0usize, 0.0);
        for t in 0..=self.steps {
            let seen = self.members.contains(&holder);
            if seen || t == self.steps && self.published {
                if pending > 0 {
                    cost += (pending * pending) as f64 / noises as f64;
                }
                (pending, noises) = (0, 0);
            }
            if t < self.steps && !seen {
                if holder == self.u && self.cap.is_none_or(|cap| count < cap) {
                    (count, pending) = (count + 1, pending + 1);
                }
                noises += 1;
            }
            // Propose a neighbor or staying, uniformly. Accept a neighbor of larger degree with smaller
            // probability, which gives the Metropolis weights.
            let neighbors = self.graph.neighbors(holder);
            if let Some(&next) = neighbors.get(rng.random_range(0..=neighbors.len())) {
                let degree = self.graph.degree(next as usize);
                if degree <= neighbors.len() || rng.random_range(0..=degree) <= neighbors.len() {
                    holder = next as usize;
                }
            }
        }
        cost
    }
}

/// Number of paths that share a stream of random numbers.
const CHUNK: usize = 1000;
