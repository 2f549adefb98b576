//! What an observer can achieve who does not know the path: the exact likelihood ratio, averaged over the
//! hidden visits, on simulated tokens.
//!
//! Accounts of walks hold for observers who know the path. Here `v` sees the token when it holds it and knows
//! its own noise, but not where the token was in between. All other data are equal, constant and known to
//! `v`. Between two sightings `L` steps apart it sees `k + N(0, (L − 1)σ²)` in units of the sensitivity,
//! where `k` is the hidden number of contributions of `u`; the first interval of a token that started
//! elsewhere has `L` noises. Given the times of the sightings, the intervals are independent, with
//! probabilities `p(k | L)` that follow from the laws of first visits, and
//!
//! ```text
//! Λ = Π_intervals Σ_k p(k | L) exp((2kX − k²)/(2mσ²)),   δ(ε) = max( E_1 (1 − e^ε/Λ)₊ , E_0 (1 − e^ε Λ)₊ )
//! ```
//!
//! is the exact profile of this observer; means over simulated tokens estimate it. With other data of the
//! other nodes the profile may be larger. It is therefore never a guarantee, but no guarantee can be below
//! it.
//!
//! # References
//! - Hoeffding, *Probability inequalities for sums of bounded random variables*, 1963, Theorem 1: confidence
//!   for means of numbers in `[0, 1]`.

use super::cost_law::shares;
use super::{TokenWalk, path::EdgeRule};
use crate::walk::Path;
use ndp_account::Error;
use ndp_account::parts::ensure;
use ndp_dp::{Delta, Estimate, NoiseMultiplier};
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;

/// An attack on a [`TokenWalk`] by one observer who does not know the path, for others whose data are known.
///
/// # Examples
/// ```
/// use ndp_algos::walk::graph::{HiddenPath, TokenWalk};
/// use ndp_dp::{Delta, NoiseMultiplier};
/// use ndp_graph::{GossipMatrix, TransitionMatrix, generators::cycle_graph, hitting::Start};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
/// let w = TransitionMatrix::from(&GossipMatrix::metropolis(&cycle_graph(6)?));
/// let walk = TokenWalk::new(&w, Start::Uniform, 12)?;
/// let (noise, delta) = (NoiseMultiplier::new(2.0)?, Delta::new(1e-2)?);
/// let losses = HiddenPath::new(&walk, 0, 3)?.losses(noise, 20_000, &mut ChaCha8Rng::seed_from_u64(1));
/// let possible = losses.epsilon(delta, 1e-3)?;
/// assert!(possible.low <= *possible.value.value() && *possible.value.value() <= possible.high);
/// // Not more than the account allows to observers who know the path.
/// assert!(possible.low <= walk.cost_law(0, &[3])?.epsilon(noise, delta)?.upper());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct HiddenPath {
    walk: TokenWalk,
    u: usize,
    v: usize,
    shares: Shares,
}

/// `p(k | L)` for each kind of interval; entry `L` is a list over `k`.
#[derive(Clone, Debug)]
pub(super) struct Shares {
    pub(super) between: Vec<Vec<f64>>,
    pub(super) first: Vec<Vec<f64>>,
    /// After the last sighting, if the token is shown at the end.
    pub(super) last: Vec<Vec<f64>>,
    pub(super) unseen: Vec<f64>,
}

/// An estimate with a confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Possible {
    /// The estimate.
    pub value: Estimate<f64>,
    /// The true value is not below this end, …
    pub low: f64,
    /// … and not above this one, with the confidence that was asked for.
    pub high: f64,
}

/// The losses `ln Λ` of simulated tokens, in both worlds: with the data of `u` and without them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HiddenLosses {
    /// `ln Λ` of tokens to which `u` contributed 1.
    pub with: Vec<f64>,
    /// `−ln Λ` of tokens to which `u` contributed 0.
    pub without: Vec<f64>,
}

impl HiddenPath {
    /// What `v` learns about `u`.
    ///
    /// # Errors
    /// As [`TokenWalk::cost_law`]; [`Error::NotOffered`] with a cap, a refractory period or edges that wear
    /// out.
    pub fn new(walk: &TokenWalk, u: usize, v: usize) -> Result<Self, Error> {
        let options = walk.options();
        let limited = options.cap.is_some_and(|cap| cap < walk.steps()) || options.refractory > 1;
        if limited || options.edges != EdgeRule::Unlimited {
            return Err(Error::NotOffered(
                "an attack on hidden paths is for walks without limits on contributions",
            ));
        }
        Ok(Self { walk: walk.clone(), u, v, shares: shares(walk, u, v)? })
    }

    /// Simulates this many tokens, each with and without the data of `u`.
    pub fn losses(&self, noise: NoiseMultiplier, tokens: usize, rng: &mut impl Rng) -> HiddenLosses {
        let mut losses = HiddenLosses::default();
        for _ in 0..tokens {
            let path = self.walk.sample(rng);
            let (with, without) = self.of_path(&path, noise.get(), rng);
            losses.with.push(with);
            losses.without.push(-without);
        }
        losses
    }

    /// `ε` at this `δ` and noise, estimated from this many simulated tokens. Both ends of the interval hold
    /// with probability `1 − error_rate`.
    ///
    /// # Errors
    /// Those of [`HiddenLosses::epsilon`].
    pub fn epsilon(
        &self,
        noise: NoiseMultiplier,
        delta: Delta,
        tokens: usize,
        error_rate: f64,
        rng: &mut impl Rng,
    ) -> Result<Possible, Error> {
        self.losses(noise, tokens, rng).epsilon(delta, error_rate)
    }

    /// `ln Λ` of what `v` sees on this path, with the data of `u` and without them.
    fn of_path(&self, path: &Path, sigma: f64, rng: &mut impl Rng) -> (f64, f64) {
        let steps = path.contributes.len();
        let published = self.walk.options().final_token.is_shown();
        let (mut losses, mut count, mut since) = ((0.0, 0.0), 0usize, None::<usize>);
        let mut ends = |shares: &[f64], slots: usize, count: usize| {
            if slots == 0 {
                return;
            }
            let spread = sigma * (slots as f64).sqrt();
            for (loss, mean) in [(&mut losses.0, count as f64), (&mut losses.1, 0.0)] {
                let noise: f64 = rng.sample(StandardNormal);
                *loss += log_ratio(shares, mean + spread * noise, spread * spread);
            }
        };
        for (t, &holder) in path.holders.iter().enumerate() {
            if holder == self.v {
                match since {
                    Some(s) => ends(&self.shares.between[t - s], t - s - 1, count),
                    None => ends(&self.shares.first[t], t, count),
                }
                (since, count) = (Some(t), 0);
            } else if t == steps && published {
                match since {
                    Some(s) => ends(&self.shares.last[t - s], t - s - 1, count),
                    None => ends(&self.shares.unseen, steps, count),
                }
            }
            if holder == self.u {
                count += 1;
            }
        }
        losses
    }
}

impl HiddenLosses {
    /// Adds the losses of further tokens of the same attack.
    pub fn extend(&mut self, other: Self) {
        self.with.extend(other.with);
        self.without.extend(other.without);
    }

    /// `δ(ε)`, the larger of the two directions. Both ends of the interval hold with probability `1 −
    /// error_rate`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] without tokens, for an `ε` that is negative or not finite, or for an error
    /// rate outside `(0, 1)`.
    pub fn delta(&self, epsilon: f64, error_rate: f64) -> Result<Possible, Error> {
        self.check(error_rate)?;
        ensure((0.0..f64::INFINITY).contains(&epsilon), "epsilon", "be nonnegative and finite", epsilon)?;
        // Hoeffding's bound is used four times: two directions with two ends each.
        let log = (4.0 / error_rate).ln();
        let ends = [&self.with, &self.without].map(|losses| {
            let mean = mean_delta(losses, epsilon);
            (mean, mean_below(mean, losses.len(), log), mean_above(mean, losses.len(), log))
        });
        let larger = |f: fn(&(f64, f64, f64)) -> f64| f(&ends[0]).max(f(&ends[1]));
        Ok(Possible { value: Estimate::new(larger(|e| e.0)), low: larger(|e| e.1), high: larger(|e| e.2) })
    }

    /// `ε(δ)`, the larger of the two directions. Both ends of the interval hold with probability `1 −
    /// error_rate`. The upper end is infinite if there are too few tokens for this `δ`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] without tokens, or for an error rate outside `(0, 1)`.
    pub fn epsilon(&self, delta: Delta, error_rate: f64) -> Result<Possible, Error> {
        self.check(error_rate)?;
        let log = (4.0 / error_rate).ln();
        // Both ends of the confidence interval for δ(ε) fall with ε, as the mean does. If they hold at the
        // true ε, the points where they cross δ enclose it.
        let crossing = |end: &dyn Fn(f64, usize) -> f64| -> f64 {
            [&self.with, &self.without].into_iter().fold(0.0, |most, losses| {
                let at = |epsilon: f64| end(mean_delta(losses, epsilon), losses.len()) > delta.get();
                let top = losses.iter().copied().fold(0.0, f64::max);
                if !at(0.0) {
                    return most;
                }
                if at(top) {
                    return f64::INFINITY;
                }
                let (mut low, mut high) = (0.0, top);
                for _ in 0..50 {
                    let middle = 0.5 * (low + high);
                    if at(middle) { low = middle } else { high = middle }
                }
                f64::max(most, high)
            })
        };
        let value = crossing(&|mean, _| mean);
        let low = crossing(&|mean, n| mean_below(mean, n, log));
        let high = crossing(&|mean, n| mean_above(mean, n, log));
        Ok(Possible { value: Estimate::new(value), low, high })
    }

    fn check(&self, error_rate: f64) -> Result<(), Error> {
        let tokens = self.with.len().min(self.without.len());
        ensure(tokens > 0, "the number of tokens", "be at least 1", 0.0)?;
        ensure(0.0 < error_rate && error_rate < 1.0, "the error rate", "lie in (0, 1)", error_rate)
    }
}

/// `ln Σ_k p_k exp((2kx − k²)/(2 variance))`.
fn log_ratio(shares: &[f64], x: f64, variance: f64) -> f64 {
    let exponent = |k: usize| (2.0 * x - k as f64) * k as f64 / (2.0 * variance);
    let largest =
        (0..shares.len()).filter(|&k| shares[k] > 0.0).map(exponent).fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return 0.0;
    }
    let sum: f64 = shares.iter().enumerate().map(|(k, p)| p * (exponent(k) - largest).exp()).sum();
    largest + sum.ln()
}

/// The mean of `(1 − e^{ε − loss})₊`.
fn mean_delta(losses: &[f64], epsilon: f64) -> f64 {
    let part = |loss: &&f64| **loss > epsilon;
    losses.iter().filter(part).map(|loss| -(epsilon - loss).exp_m1()).sum::<f64>() / losses.len() as f64
}

/// The smallest mean that the observed one does not refute: `n KL(found, mean) ≤ log`.
fn mean_below(found: f64, n: usize, log: f64) -> f64 {
    let (mut low, mut high) = (0.0, found);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if n as f64 * divergence(found, middle) > log { low = middle } else { high = middle }
    }
    low
}

/// The largest mean that the observed one does not refute.
fn mean_above(found: f64, n: usize, log: f64) -> f64 {
    let (mut low, mut high) = (found, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if n as f64 * divergence(found, middle) > log { high = middle } else { low = middle }
    }
    high
}

/// The Kullback–Leibler divergence of two coins.
fn divergence(p: f64, q: f64) -> f64 {
    let term = |p: f64, q: f64| if p == 0.0 { 0.0 } else { p * (p / q).ln() };
    term(p, q) + term(1.0 - p, 1.0 - q)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::FinalToken;
    use ndp_graph::generators::{hypercube_graph, path_graph};
    use ndp_graph::hitting::Start;
    use ndp_graph::{GossipMatrix, TransitionMatrix};
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    fn noise(sigma: f64) -> NoiseMultiplier {
        NoiseMultiplier::new(sigma).unwrap()
    }

    /// The path graph of 3 nodes from node 2, four steps. Of 81 paths one visits node 0 and first returns to
    /// node 2 at the end, and one first returns then without visiting node 0. An observer who sees the token
    /// then compares `½ N(0, 3σ²) + ½ N(1, 3σ²)` with `N(0, 3σ²)`.
    #[test]
    fn a_path_of_three_nodes_by_integration() -> Result<(), Error> {
        let w = TransitionMatrix::from(&GossipMatrix::metropolis(&path_graph(3)?));
        let walk = TokenWalk::new(&w, Start::Node(2), 4)?;
        let attack = HiddenPath::new(&walk, 0, 2)?;
        assert!((attack.shares.between[4][1] - 0.5).abs() < 1e-12, "{:?}", attack.shares.between);
        let (sigma, tokens) = (0.4, 400_000);
        let losses = attack.losses(noise(sigma), tokens, &mut ChaCha8Rng::seed_from_u64(3));
        let variance = 3.0 * sigma * sigma;
        for epsilon in [0.0, 0.2, 0.5_f64] {
            let normal = |x: f64, mean: f64| {
                (-(x - mean).powi(2) / (2.0 * variance)).exp() / (std::f64::consts::TAU * variance).sqrt()
            };
            let (mut more, mut less) = (0.0, 0.0);
            for i in 0..40_000 {
                let x = -10.0 + 20.0 * f64::from(i) / 40_000.0;
                let (q, p) = (normal(x, 0.0), 0.5 * normal(x, 0.0) + 0.5 * normal(x, 1.0));
                more += (p - epsilon.exp() * q).max(0.0) * 20.0 / 40_000.0;
                less += (q - epsilon.exp() * p).max(0.0) * 20.0 / 40_000.0;
            }
            let truth = f64::max(more, less) * 2.0 / 81.0;
            let found = losses.delta(epsilon, 1e-6)?;
            assert!(found.low <= truth && truth <= found.high, "{found:?} {truth}");
            assert!(found.high < 2.0 * found.low, "{found:?}");
            let back = losses.epsilon(Delta::new(truth)?, 1e-6)?;
            assert!(back.low <= epsilon && epsilon <= back.high, "{back:?} {epsilon}");
        }
        Ok(())
    }

    /// From the specification: a hypercube of 64 nodes, 640 steps, noise 3, delta 1e-3. Epsilon is 0.27 at
    /// distance 6 (.51 if the path is known) and 0.39 at distance 1 (1.11).
    #[test]
    fn hidden_paths_tell_less() -> Result<(), Error> {
        let w = TransitionMatrix::from(&GossipMatrix::metropolis(&hypercube_graph(6)?));
        let walk = TokenWalk::new(&w, Start::Uniform, 640)?;
        for (v, known, hidden) in [(63, 0.51, 0.27), (1, 1.11, 0.39)] {
            let rng = &mut ChaCha8Rng::seed_from_u64(v as u64);
            let delta = Delta::new(1e-3)?;
            let found = HiddenPath::new(&walk, 0, v)?.epsilon(noise(3.0), delta, 30_000, 1e-3, rng)?;
            assert!((found.value.value() - hidden).abs() < 0.1 * hidden, "{found:?}");
            assert!(found.low < hidden && hidden < found.high && found.high < known, "{found:?}");
            // The number of the specification is estimated from 20,000 paths.
            let by_law = walk.cost_law(0, &[v])?.epsilon(noise(3.0), delta)?;
            assert!((by_law.upper() / known - 1.0).abs() < 0.05, "{by_law:?}");
        }
        Ok(())
    }

    #[test]
    fn what_is_published_is_seen() -> Result<(), Error> {
        use super::super::WalkOptions;
        let w = TransitionMatrix::from(&GossipMatrix::metropolis(&path_graph(4)?));
        let options = WalkOptions { final_token: FinalToken::Published, ..WalkOptions::default() };
        let plain = TokenWalk::new(&w, Start::Node(3), 5)?;
        let walk = plain.clone().with_options(options)?;
        let epsilon = |walk: &TokenWalk| -> Result<Possible, Error> {
            let rng = &mut ChaCha8Rng::seed_from_u64(5);
            HiddenPath::new(walk, 0, 3)?.epsilon(noise(0.5), Delta::new(1e-2)?, 20_000, 1e-3, rng)
        };
        assert!(epsilon(&plain)?.high < epsilon(&walk)?.low);
        let capped = plain.with_options(WalkOptions { cap: Some(2), ..options })?;
        assert!(matches!(HiddenPath::new(&capped, 0, 3), Err(Error::NotOffered(_))));
        assert!(matches!(HiddenPath::new(&walk, 0, 0), Err(Error::SourceIsObserver(0))));
        let none = HiddenLosses::default().epsilon(Delta::new(0.1)?, 0.1);
        assert!(matches!(none, Err(Error::InvalidParameter { name: "the number of tokens", .. })));
        Ok(())
    }
}
