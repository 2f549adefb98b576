//! What happened in a run, and what each node saw of it.

use super::Path;
use super::histogram::{HistogramEstimator, count_one};
use crate::Error;
use std::collections::BTreeMap;

/// What a node sees of a token: what it receives, and the final token if that is published.
///
/// What the node adds itself it knows besides: its data, its noises or its random answers.
///
/// # Examples
/// ```
/// use ndp_algos::walk::complete::{CompleteSum, CompleteWalk};
/// use ndp_algos::walk::{Bounds, TokenNoise};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
/// let noise = TokenNoise::gaussian(ndp_dp::Sigma::new(1.0)?);
/// let sum = CompleteSum { walk: CompleteWalk::new(3, 10)?, bounds: Bounds::new(0.0, 1.0)?, noise, constant_data: false };
/// let run = sum.run(|_, _| 0.5, &mut ChaCha8Rng::seed_from_u64(1))?;
/// let view = run.view(2)?;
/// assert!(view.received.iter().all(|&(step, _)| run.path.holders[step] == 2));
/// assert_eq!(view.published, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TokenView<Token> {
    /// The steps at which it received the token, from 0, and the token as it arrived, before the node's own step.
    pub received: Vec<(usize, Token)>,
    /// The final token, if it is published.
    pub published: Option<Token>,
}

/// A run of a [`RingSum`](super::ring::RingSum) or a [`CompleteSum`](super::complete::CompleteSum).
///
/// No node sees all of this: it is for tests and for measures of accuracy. [`Self::view`] is what a node sees.
///
/// # Examples
/// ```
/// use ndarray::Array2;
/// use ndp_algos::walk::ring::{Placement, RingSum};
/// use ndp_algos::walk::{Bounds, TokenNoise};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
/// let noise = TokenNoise::gaussian(ndp_dp::Sigma::new(1.0)?);
/// let ring = RingSum::new(4, 2, Bounds::new(0.0, 1.0)?, noise, Placement::Counter)?;
/// let run = ring.run(Array2::from_elem((2, 4), 0.5).view(), &mut ChaCha8Rng::seed_from_u64(1))?;
/// let noise: f64 = run.noises.iter().sum();
/// assert!((run.tokens[7] - run.total - noise).abs() < 1e-12 && run.total == 4.0);
/// assert_eq!(run.view(1)?.received[0], (1, run.tokens[0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SumRun {
    /// The path of the token.
    pub path: Path,
    /// The token after every step.
    pub tokens: Vec<f64>,
    /// The noise added at every step, 0 for none. A node knows its own: no protection against itself.
    pub noises: Vec<f64>,
    /// The sum of the contributions made, without noise: the final token is an unbiased estimate of it.
    pub total: f64,
    /// Whether every node learns the final token.
    pub published: bool,
}

impl SumRun {
    /// What node `v` sees; the token is 0 before step 0.
    ///
    /// # Errors
    /// [`Error::NodeOutOfRange`].
    pub fn view(&self, v: usize) -> Result<TokenView<f64>, Error> {
        check_node(v, self.path.nodes)?;
        let before = |step: usize| if step == 0 { 0.0 } else { self.tokens[step - 1] };
        let received = received_by(v, &self.path).map(|step| (step, before(step))).collect();
        Ok(TokenView { received, published: self.tokens.last().copied().filter(|_| self.published) })
    }
}

/// A run of a [`RingHistogram`](super::ring::RingHistogram) or a [`CompleteHistogram`](super::complete::CompleteHistogram).
///
/// No node sees all of this: it is for tests and for measures of accuracy. [`Self::view`] is what a node sees. Tokens are
/// counts by label; labels that were never counted have no entry.
///
/// # Examples
/// ```
/// use ndp_algos::walk::complete::{CompleteHistogram, CompleteWalk};
/// use ndp_dp::RandomizedResponse;
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
/// // Half of the nodes have label 1 of 3, and say so three times out of four.
/// let histogram = CompleteHistogram { walk: CompleteWalk::new(10, 2000)?, response: RandomizedResponse::new(3, 0.375)?, exact_reports: None };
/// let run = histogram.run(|u| u32::from(u < 5), &mut ChaCha8Rng::seed_from_u64(1))?;
/// // A thousand steps, give or take the visits: the reports have a standard deviation of some 30.
/// assert!((run.estimate(1) - 1000.0).abs() < 250.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct HistogramRun {
    /// The path of the token.
    pub path: Path,
    /// The report added at each step.
    pub reports: Vec<u32>,
    /// The token before the first report: uniform labels, or nothing.
    pub initial: BTreeMap<u32, u64>,
    /// The final token, masked if the protocol says so.
    pub token: BTreeMap<u32, u64>,
    /// Whether every node learns the final token.
    pub published: bool,
    /// How to read the final token.
    pub(crate) estimator: HistogramEstimator,
}

impl HistogramRun {
    /// Unbiased estimate of how many of the data reported carry `label`, from its count `τ` in the final token:
    /// `(τ − (M₀ + γ N)/L)/(1 − γ)` with `N` reports among `M₀` uniform labels.
    #[must_use]
    pub fn estimate(&self, label: u32) -> f64 {
        self.estimator.estimate(self.token.get(&label).copied().unwrap_or(0))
    }

    /// What node `v` sees.
    ///
    /// # Errors
    /// [`Error::NodeOutOfRange`].
    pub fn view(&self, v: usize) -> Result<TokenView<BTreeMap<u32, u64>>, Error> {
        check_node(v, self.path.nodes)?;
        let mut token = self.initial.clone();
        let mut received = Vec::new();
        for (step, &report) in self.reports.iter().enumerate() {
            if self.path.holders[step] == v {
                received.push((step, token.clone()));
            }
            count_one(&mut token, report);
        }
        Ok(TokenView { received, published: self.published.then(|| self.token.clone()) })
    }
}

/// The steps at which `v` holds the token.
pub(super) fn received_by(v: usize, path: &Path) -> impl Iterator<Item = usize> + '_ {
    path.holders.iter().enumerate().filter(move |(_, holder)| **holder == v).map(|(step, _)| step)
}

/// Node `v` of `n`.
pub(super) fn check_node(v: usize, n: usize) -> Result<(), Error> {
    if v < n { Ok(()) } else { Err(Error::NodeOutOfRange { node: v, nodes: n }) }
}
