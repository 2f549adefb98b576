//! The record of a run of a sum or a histogram.

use super::Path;
use super::histogram::{HistogramEstimator, count_one};
use ndp_account::Error;
use ndp_account::parts::ensure;
use std::collections::BTreeMap;

/// A run of a [`RingSum`](super::ring::RingSum) or a [`CompleteSum`](super::complete::CompleteSum).
///
/// No node sees all of this: it is for tests and for measuring accuracy. A node sees `tokens[t]` at each of
/// its steps, those `t` with `path.holders[t]` the node, and the last token if it is `published`. It also
/// knows what it adds itself.
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
/// assert!((run.tokens[8] - run.total - noise).abs() < 1e-12 && run.total == 4.0);
/// assert_eq!((run.path.holders[5], run.tokens[0], run.published), (1, 0.0, false));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SumRun {
    /// The path of the token.
    pub path: Path,
    /// The token at times `0..=T`: what the holder of each step receives, 0 at first, and the final token.
    pub tokens: Vec<f64>,
    /// The noise added at every step, 0 for none. A node knows its own noise, which does not protect against
    /// itself.
    pub noises: Vec<f64>,
    /// The sum of the contributions made, without noise: the final token is an unbiased estimate of it.
    pub total: f64,
    /// Whether every node learns the final token.
    pub published: bool,
}

impl SumRun {
    /// The last token that `v` sees.
    pub(super) fn last_seen(&self, v: usize) -> Option<f64> {
        if self.published {
            self.tokens.last().copied()
        } else {
            Some(self.tokens[self.path.last_step_of(v)?])
        }
    }
}

/// A run of a [`RingHistogram`](super::ring::RingHistogram) or a
/// [`CompleteHistogram`](super::complete::CompleteHistogram).
///
/// No node sees all of this: it is for tests and for measuring accuracy. A node sees
/// [`token_at`](Self::token_at) each of its steps, those `t` with `path.holders[t]` the node, and the final
/// `token` if it is `published`. It also knows its own random reports. Tokens are counts by label; labels
/// that were never counted have no entry.
///
/// # Examples
/// ```
/// use ndp_algos::walk::complete::{CompleteHistogram, CompleteWalk};
/// use ndp_dp::RandomizedResponse;
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
/// // Half of the nodes have label 1 of 3, and say so three times out of four.
/// let histogram = CompleteHistogram { walk: CompleteWalk::new(10, 2000)?, response: RandomizedResponse::new(3, 0.375)? };
/// let run = histogram.run(|u| u32::from(u < 5), &mut ChaCha8Rng::seed_from_u64(1))?;
/// // A thousand steps, give or take the visits: the reports have a standard deviation of some 30.
/// assert!((run.estimate(1) - 1000.0).abs() < 250.0);
/// // What the holder of step 10 receives are the ten reports before.
/// assert_eq!(run.token_at(10)?.values().sum::<u64>(), 10);
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
    /// The estimator that reads the final token.
    pub(crate) estimator: HistogramEstimator,
}

impl HistogramRun {
    /// An unbiased estimate of how many of the reported data have `label`, from its count `τ` in the final
    /// token: `(τ − (M₀ + γ N)/L)/(1 − γ)` with `N` reports and `M₀` uniform labels.
    #[must_use]
    pub fn estimate(&self, label: u32) -> f64 {
        self.estimator.estimate(self.token.get(&label).copied().unwrap_or(0))
    }

    /// The token that the holder of `step` receives: the initial one and the reports of all steps before.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a step beyond the last one.
    pub fn token_at(&self, step: usize) -> Result<BTreeMap<u32, u64>, Error> {
        ensure(step < self.reports.len(), "the step", "be below the number of steps", step as f64)?;
        let mut token = self.initial.clone();
        self.reports[..step].iter().for_each(|&report| count_one(&mut token, report));
        Ok(token)
    }
}
