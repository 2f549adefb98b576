//! The token of a histogram, a count for each of `L` labels, and what its counts say about the data.

use crate::Error;
use ndp_dp::randomized_response::RandomizedResponse;
use std::collections::BTreeMap;

/// A count for each label.
pub trait Tally: Clone {
    /// No counts yet, over the labels `0..labels`.
    fn empty(labels: u32) -> Self;
    /// Counts one more of `label`.
    ///
    /// # Panics
    /// May panic for a label that is not below the number of labels.
    fn add(&mut self, label: u32);
    /// How many of `label` were counted.
    ///
    /// # Panics
    /// As [`Self::add`].
    fn count(&self, label: u32) -> u64;
}

/// One counter per label: `O(L)` memory, for few labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dense(Vec<u64>);

impl Tally for Dense {
    fn empty(labels: u32) -> Self {
        Self(vec![0; labels as usize])
    }
    fn add(&mut self, label: u32) {
        self.0[label as usize] += 1;
    }
    fn count(&self, label: u32) -> u64 {
        self.0[label as usize]
    }
}

/// Counters of the labels seen only: memory in the number of reports, for domains of any size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sparse(BTreeMap<u32, u64>);

impl Sparse {
    /// The labels seen and their counts, in increasing order of label.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.0.iter().map(|(&label, &count)| (label, count))
    }
}

impl Tally for Sparse {
    fn empty(_labels: u32) -> Self {
        Self(BTreeMap::new())
    }
    fn add(&mut self, label: u32) {
        *self.0.entry(label).or_insert(0) += 1;
    }
    fn count(&self, label: u32) -> u64 {
        self.0.get(&label).copied().unwrap_or(0)
    }
}

/// How to read a histogram made of `N` randomized responses and some uniform elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HistogramEstimator {
    response: RandomizedResponse,
    reports: u64,
    uniform: u64,
}

impl HistogramEstimator {
    /// Reads a token of `reports` answers of `response` and `uniform` labels drawn uniformly.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for `γ = 1`: the answers then say nothing.
    pub fn new(response: RandomizedResponse, reports: u64, uniform: u64) -> Result<Self, Error> {
        if response.gamma() < 1.0 {
            Ok(Self { response, reports, uniform })
        } else {
            Err(Error::InvalidParameter {
                name: "the probability gamma of a random answer",
                condition: "be below 1 for the histogram to be estimated",
                value: response.gamma(),
            })
        }
    }

    /// Unbiased estimate of how many of the data carry a label, from its count `τ` in the token:
    /// `(τ − (M₀ + γ N)/L)/(1 − γ)`.
    #[must_use]
    #[doc(alias = "hist_debias")]
    pub fn estimate(&self, count: u64) -> f64 {
        let gamma = self.response.gamma();
        let random = self.uniform as f64 + gamma * self.reports as f64;
        (count as f64 - random / f64::from(self.response.labels())) / (1.0 - gamma)
    }

    /// Variance of the estimate when `holders` of the data carry the label:
    /// `[h p(1−p) + (N−h) q(1−q) + M₀ (1/L)(1 − 1/L)]/(1−γ)²`, `p = 1 − γ + γ/L`, `q = γ/L`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] when more carry the label than there are reports.
    #[doc(alias = "hist_var")]
    pub fn variance(&self, holders: u64) -> Result<f64, Error> {
        let Some(others) = self.reports.checked_sub(holders) else {
            return Err(Error::InvalidParameter {
                name: "the number of data with a label",
                condition: "be at most the number of reports",
                value: holders as f64,
            });
        };
        let (gamma, share) = (self.response.gamma(), 1.0 / f64::from(self.response.labels()));
        let (kept, drawn) = (1.0 - gamma + gamma * share, gamma * share);
        let counts = holders as f64 * kept * (1.0 - kept) + others as f64 * drawn * (1.0 - drawn);
        Ok((counts + self.uniform as f64 * share * (1.0 - share)) / (1.0 - gamma).powi(2))
    }

    /// Expected number of random answers in the token, `M₀ + γ N`.
    #[must_use]
    pub fn expected_random(&self) -> f64 {
        self.uniform as f64 + self.response.gamma() * self.reports as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn both_tallies_count_alike() {
        let (mut dense, mut sparse) = (Dense::empty(5), Sparse::empty(5));
        for label in [3, 0, 3, 4, 3] {
            dense.add(label);
            sparse.add(label);
        }
        for label in 0..5 {
            assert_eq!(dense.count(label), sparse.count(label));
        }
        assert_eq!(sparse.iter().collect::<Vec<_>>(), [(0, 1), (3, 3), (4, 1)]);
    }

    /// Table of the specification: `hist_debias` and `hist_var`.
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
        assert!(HistogramEstimator::new(RandomizedResponse::new(4, 1.0)?, 150, 20).is_err());
        let reader = HistogramEstimator::new(RandomizedResponse::new(4, 0.4)?, 150, 20)?;
        assert!(matches!(reader.variance(151), Err(Error::InvalidParameter { .. })));
        Ok(())
    }
}
