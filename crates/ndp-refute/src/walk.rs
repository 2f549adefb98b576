//! What a node that a token visits learns, as a fraction: the mean over all paths.

use crate::setting::Setting;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Zero};
use std::collections::BTreeMap;

/// The mean over all paths of the loss of `u` towards `observers`, in units of `alpha / (2 sigma²)`: a
/// fraction in lowest terms, as text such as `3/2`.
///
/// The token starts at each node with equal probability and makes `rounds` steps; its holder at the times
/// `0, ..., rounds - 1` adds its contribution and fresh noise. Observers see the token whenever they hold it:
/// between two such times they learn the sum of what others added, and `k` contributions of `u` among `m` of
/// these cost `k²/m`. Given the path the loss of order `alpha` is `alpha / (2 sigma²)` times the sum of these
/// costs, so that
///
/// ```text
/// D_alpha = ln E exp((alpha - 1) loss(path)) / (alpha - 1)  >=  E loss(path)
/// ```
///
/// by Jensen's inequality: towards an observer who knows the path the Rényi loss of every order is at least
/// this mean, which is a fraction. An observer knows all of the path that matters where it is the only
/// neighbor of `u`, and knows from whom it gets the token.
///
/// Grade: exact as a mean, a lower bound on the loss. Source: `docs/theory.md`, "Refuting a claimed bound".
///
/// # Panics
/// If a node does not exist.
#[must_use]
pub fn mean_path_cost(setting: &Setting, rounds: usize, u: usize, observers: &[usize]) -> String {
    let mut walk = Walked::new(setting, u, observers);
    (0..rounds).for_each(|_| walk.advance(setting));
    walk.mean.to_string()
}

/// The law of a token on its way.
#[derive(Clone, Debug)]
pub(crate) struct Walked {
    u: usize,
    observers: Vec<usize>,
    pub(crate) rounds: usize,
    /// Probability by holder, contributions of `u` and of all since the last sighting.
    law: BTreeMap<(usize, u32, u32), BigRational>,
    pub(crate) mean: BigRational,
}

impl Walked {
    pub(crate) fn new(setting: &Setting, u: usize, observers: &[usize]) -> Self {
        let n = setting.graph.node_count();
        let each = BigRational::new(BigInt::one(), BigInt::from(n));
        let law = (0..n).map(|a| ((a, 0, 0), each.clone())).collect();
        Self { u, observers: observers.to_vec(), rounds: 0, law, mean: BigRational::zero() }
    }

    /// The holder adds and sends the token on; an observer that gets it looks.
    pub(crate) fn advance(&mut self, setting: &Setting) {
        self.rounds += 1;
        let mut next = BTreeMap::new();
        for ((a, k, m), probability) in std::mem::take(&mut self.law) {
            // What observers add they know.
            let (k, m) =
                if self.observers.contains(&a) { (0, 0) } else { (k + u32::from(a == self.u), m + 1) };
            for (b, chance) in setting.matrix[a].iter().enumerate().filter(|(_, p)| !p.is_zero()) {
                let reached = &probability * chance;
                let state = if self.observers.contains(&b) {
                    if k > 0 {
                        let cost = BigRational::new(BigInt::from(k) * BigInt::from(k), BigInt::from(m));
                        self.mean += &reached * cost;
                    }
                    (b, 0, 0)
                } else {
                    // Without a contribution the noise alone changes nothing but the count.
                    (b, k, m)
                };
                *next.entry(state).or_insert_with(BigRational::zero) += reached;
            }
        }
        self.law = next;
    }
}
