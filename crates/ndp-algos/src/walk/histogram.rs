//! The token of a histogram, which is a count for each label that occurs, and how to estimate frequencies
//! from it.

use ndp_account::Error;
use ndp_account::parts::ensure;
use ndp_dp::{NoiseMultiplier, RandomizedResponse};
use rand::{Rng, RngExt};
use std::collections::BTreeMap;

/// Adds one to the count of `label`.
pub(super) fn count_one(token: &mut BTreeMap<u32, u64>, label: u32) {
    *token.entry(label).or_insert(0) += 1;
}

/// The randomized response whose `ε₀` is the reciprocal of the noise, rounded down.
pub(super) fn response_of(labels: u32, noise: NoiseMultiplier) -> Result<RandomizedResponse, Error> {
    Ok(RandomizedResponse::with_epsilon(labels, 1.0 / noise.get())?)
}

/// The report of a node with this label, added to the token.
pub(super) fn report(
    token: &mut BTreeMap<u32, u64>,
    response: RandomizedResponse,
    (node, label): (usize, u32),
    rng: &mut impl Rng,
) -> Result<u32, Error> {
    let labels = response.labels();
    if label >= labels {
        return Err(crate::Error::LabelOutOfRange { node, label, labels }.into());
    }
    let report = response.sample(label, rng)?;
    count_one(token, report);
    Ok(report)
}

/// A uniform label, added to the token.
pub(super) fn add_uniform(token: &mut BTreeMap<u32, u64>, labels: u32, rng: &mut impl Rng) -> u32 {
    let label = rng.random_range(0..labels);
    count_one(token, label);
    label
}

/// How to read a histogram of `N` randomized responses and some uniform labels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct HistogramEstimator {
    response: RandomizedResponse,
    reports: u64,
    uniform: u64,
}

impl HistogramEstimator {
    /// For a token of `reports` reports by `response` and `uniform` labels that were drawn uniformly.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for `γ = 1`, for which reports carry no information.
    pub(crate) fn new(response: RandomizedResponse, reports: u64, uniform: u64) -> Result<Self, Error> {
        let (name, gamma) = ("the probability gamma of a random answer", response.gamma());
        ensure(gamma < 1.0, name, "be below 1 for the histogram to be estimated", gamma)?;
        Ok(Self { response, reports, uniform })
    }

    /// An unbiased estimate of how many of the data have a label, from its count `τ` in the token: `(τ −
    /// (M₀ + γ N)/L)/(1 − γ)`.
    pub(crate) fn estimate(&self, count: u64) -> f64 {
        let gamma = self.response.gamma();
        let random = self.uniform as f64 + gamma * self.reports as f64;
        (count as f64 - random / f64::from(self.response.labels())) / (1.0 - gamma)
    }

    /// The variance of the estimate if `holders` of the data have the label: `[h p(1−p) + (N−h) q(1−q) + M₀
    /// (1/L)(1 − 1/L)]/(1−γ)²`, `p = 1 − γ + γ/L`, `q = γ/L`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if there are more holders than reports.
    pub(crate) fn variance(&self, holders: u64) -> Result<f64, Error> {
        let (name, condition) = ("the number of data with a label", "be at most the number of reports");
        ensure(holders <= self.reports, name, condition, holders as f64)?;
        let others = self.reports - holders;
        let (gamma, share) = (self.response.gamma(), 1.0 / f64::from(self.response.labels()));
        let (kept, drawn) = (1.0 - gamma + gamma * share, gamma * share);
        let counts = holders as f64 * kept * (1.0 - kept) + others as f64 * drawn * (1.0 - drawn);
        Ok((counts + self.uniform as f64 * share * (1.0 - share)) / (1.0 - gamma).powi(2))
    }

    /// The largest variance of an estimate. It is linear in the number of holders, and so largest at an end.
    ///
    /// # Errors
    /// None.
    pub(crate) fn largest_variance(&self) -> Result<f64, Error> {
        Ok(self.variance(0)?.max(self.variance(self.reports)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    /// A table of the specification: `hist_debias` and `hist_var`.
    #[test]
    fn estimates_match_reference_values() -> Result<(), Error> {
        for (gamma, estimate, variance) in [
            (0.4, 66.666_666_666_666_67, 77.916_666_666_666_67),
            (0.38, 65.725_806_451_612_9, 70.885_145_681_581_69),
        ] {
            let reader = HistogramEstimator::new(RandomizedResponse::new(4, gamma)?, 150, 20)?;
            assert_relative_eq!(reader.estimate(60), estimate, max_relative = 1e-13);
            assert_relative_eq!(reader.variance(90)?, variance, max_relative = 1e-13);
        }
        let random = HistogramEstimator::new(RandomizedResponse::new(4, 1.0)?, 150, 20);
        assert!(matches!(
            random,
            Err(Error::InvalidParameter { name: "the probability gamma of a random answer", .. })
        ));
        let reader = HistogramEstimator::new(RandomizedResponse::new(4, 0.4)?, 150, 20)?;
        assert!(matches!(reader.variance(151), Err(Error::InvalidParameter { .. })));
        Ok(())
    }
}
