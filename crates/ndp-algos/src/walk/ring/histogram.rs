//! Histograms on the ring (Algorithm 2): each node adds a randomized response to the token.

use super::sum::{check_ring, check_shape, path_of};
use crate::walk::histogram::{add_uniform, report};
use crate::walk::{FinalToken, HistogramEstimator, HistogramRun};
use ndarray::ArrayView2;
use ndp_account::Error;
use ndp_dp::RandomizedResponse;
use rand::Rng;
use std::collections::BTreeMap;

/// A histogram of `K n` labels on a ring of `n` nodes in `K` rounds.
///
/// Node 0 starts the token with `M₀ = ⌈γ n⌉` uniform labels. With [`FinalToken::Masked`] node `n − 1` adds as
/// many after its last report. They hide the reports made after an observer's last reception.
///
/// # Examples
/// ```
/// use ndp_account::{Observer, Protocol};
/// use ndp_algos::walk::{FinalToken, ring::RingHistogram};
/// use ndp_dp::{Delta, NoiseMultiplier, RandomizedResponse};
/// let ring = RingHistogram::new(500, 1, RandomizedResponse::new(4, 0.8)?, FinalToken::Withheld)?;
/// // The noise of a question is 1/ε₀ of a report: here reports of ε₀ = 1, hidden by shuffling.
/// let profile = ring.account(&Observer::node(7))?.profile(1, NoiseMultiplier::new(1.0)?)?;
/// assert!(profile.epsilon(Delta::new(1e-6)?)?.value().epsilon() < 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RingHistogram {
    n: usize,
    rounds: usize,
    response: RandomizedResponse,
    final_token: FinalToken,
}

impl RingHistogram {
    /// A ring of `n` nodes on which the token goes around `rounds` times, each report being an answer of
    /// `response`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `n ≥ 2`, `rounds ≥ 1` and `γ < 1`.
    pub fn new(
        n: usize,
        rounds: usize,
        response: RandomizedResponse,
        final_token: FinalToken,
    ) -> Result<Self, Error> {
        check_ring(n, rounds)?;
        HistogramEstimator::new(response, 0, 0)?;
        Ok(Self { n, rounds, response, final_token })
    }

    /// Number of nodes `n`.
    pub(crate) const fn node_count(&self) -> usize {
        self.n
    }

    /// Number of rounds `K`.
    pub(crate) const fn rounds(&self) -> usize {
        self.rounds
    }

    /// How a node reports.
    pub(crate) const fn response(&self) -> RandomizedResponse {
        self.response
    }

    /// What becomes of the final token.
    pub(crate) const fn final_token(&self) -> FinalToken {
        self.final_token
    }

    /// Number of uniform labels that node 0 starts with, `M₀ = ⌈γ n⌉`.
    #[must_use]
    pub(crate) fn initial_elements(&self) -> u64 {
        ndp_numeric::casts::floor((self.response.gamma() * self.n as f64).ceil()) as u64
    }

    /// Number of uniform labels added at the end: `M₁ = M₀` if the final token is masked, and 0 otherwise.
    #[must_use]
    pub(crate) fn final_elements(&self) -> u64 {
        match self.final_token {
            FinalToken::Masked => self.initial_elements(),
            FinalToken::Withheld | FinalToken::Published => 0,
        }
    }

    /// The estimator for the final token, with `N = K n` reports and `M₀ + M₁` uniform labels.
    ///
    /// # Errors
    /// None for a histogram that was constructed.
    pub(crate) fn estimator(&self) -> Result<HistogramEstimator, Error> {
        let uniform = self.initial_elements() + self.final_elements();
        HistogramEstimator::new(self.response, (self.n * self.rounds) as u64, uniform)
    }

    /// Runs the protocol on `labels`, `K` by `n`: row `k` is a round, column `u` a node.
    ///
    /// # Errors
    /// [`Error::Shape`] for another shape, [`Error::LabelOutOfRange`](crate::Error::LabelOutOfRange).
    pub fn run(&self, labels: ArrayView2<'_, u32>, rng: &mut impl Rng) -> Result<HistogramRun, Error> {
        check_shape(labels.dim(), self.n, self.rounds)?;
        let domain = self.response.labels();
        let mut token = BTreeMap::new();
        for _ in 0..self.initial_elements() {
            add_uniform(&mut token, domain, rng);
        }
        let initial = token.clone();
        let mut reports = Vec::with_capacity(labels.len());
        for (step, &label) in labels.iter().enumerate() {
            reports.push(report(&mut token, self.response, (step % self.n, label), rng)?);
        }
        for _ in 0..self.final_elements() {
            add_uniform(&mut token, domain, rng);
        }
        let (path, estimator) = (path_of(self.n, labels.len()), self.estimator()?);
        let published = self.final_token.is_shown();
        Ok(HistogramRun { path, reports, initial, token, published, estimator })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use ndarray::Array2;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn histogram(n: usize, rounds: usize, final_token: FinalToken) -> Result<RingHistogram, Error> {
        RingHistogram::new(n, rounds, RandomizedResponse::new(4, 0.4)?, final_token)
    }

    /// 90 of 150 data have label 0. The estimate is unbiased with the stated variance (to 5 standard errors).
    /// The printed estimate, which subtracts only γ/L, has mean 123.
    #[test]
    fn estimate_is_unbiased_and_the_printed_one_is_not() -> Result<(), Error> {
        let rng = &mut ChaCha8Rng::seed_from_u64(12);
        let labels = Array2::from_shape_fn((3, 50), |(k, u)| if u < 30 { 0 } else { 1 + (u + k) as u32 % 3 });
        for final_token in [FinalToken::Withheld, FinalToken::Masked] {
            let histogram = histogram(50, 3, final_token)?;
            assert_eq!(histogram.initial_elements(), 20);
            let reader = histogram.estimator()?;
            let runs = 20_000;
            let (mut mean, mut squares, mut printed) = (0.0, 0.0, 0.0);
            for _ in 0..runs {
                let run = histogram.run(labels.view(), rng)?;
                let count = run.token.get(&0).copied().unwrap_or(0);
                let error = reader.estimate(count) - 90.0;
                mean += error / f64::from(runs);
                squares += error * error / f64::from(runs);
                printed += (count as f64 - 0.4 / 4.0) / (1.0 - 0.4) / f64::from(runs);
            }
            let variance = reader.variance(90)?;
            assert!(mean.abs() < 5.0 * (variance / f64::from(runs)).sqrt());
            assert!((squares / variance - 1.0).abs() < 5.0 * (2.0 / f64::from(runs)).sqrt());
            if final_token == FinalToken::Withheld {
                assert_relative_eq!(printed, 123.2, max_relative = 0.01);
            }
        }
        Ok(())
    }

    #[test]
    fn view_is_what_arrives() -> Result<(), Error> {
        let rng = &mut ChaCha8Rng::seed_from_u64(2);
        let labels = Array2::from_shape_fn((2, 5), |(k, u)| ((k + u) % 4) as u32);
        let run = histogram(5, 2, FinalToken::Masked)?.run(labels.view(), rng)?;
        let total = |token: &BTreeMap<u32, u64>| token.values().sum::<u64>();
        // ⌈0.4 · 5⌉ = 2 uniform labels, then 3 reports, then 5 more; 2 uniform labels hide the last ones.
        let steps: Vec<usize> = (0..10).filter(|&step| run.path.holders[step] == 3).collect();
        assert_eq!(steps, [3, 8]);
        assert_eq!((total(&run.token_at(3)?), total(&run.token_at(8)?)), (5, 10));
        assert!(run.published && total(&run.token) == 14);
        assert_eq!(run.reports.len(), 10);
        assert!(matches!(run.token_at(10), Err(Error::InvalidParameter { name: "the step", .. })));
        Ok(())
    }

    /// A domain that is too large for any table.
    #[test]
    fn tokens_hold_huge_domains() -> Result<(), Error> {
        let rng = &mut ChaCha8Rng::seed_from_u64(2);
        let response = RandomizedResponse::with_epsilon(u32::MAX, 30.0)?;
        let histogram = RingHistogram::new(20, 1, response, FinalToken::Withheld)?;
        let labels = Array2::from_elem((1, 20), u32::MAX - 1);
        let run = histogram.run(labels.view(), rng)?;
        let estimate = histogram.estimator()?.estimate(run.token[&(u32::MAX - 1)]);
        assert_relative_eq!(estimate, 20.0, max_relative = 1e-3);
        Ok(())
    }

    #[test]
    fn bad_input_is_refused() -> Result<(), Error> {
        let response = RandomizedResponse::new(3, 0.4)?;
        let alone = RingHistogram::new(1, 3, response, FinalToken::Withheld);
        assert!(matches!(alone, Err(Error::InvalidParameter { name: "the number of nodes of a ring", .. })));
        let idle = RingHistogram::new(3, 0, response, FinalToken::Withheld);
        assert!(matches!(idle, Err(Error::InvalidParameter { name: "the number of rounds", .. })));
        let noise = RandomizedResponse::new(3, 1.0)?;
        let random = RingHistogram::new(3, 1, noise, FinalToken::Withheld);
        assert!(matches!(
            random,
            Err(Error::InvalidParameter { name: "the probability gamma of a random answer", .. })
        ));
        let single = RandomizedResponse::new(1, 0.4);
        assert!(matches!(single, Err(ndp_dp::Error::InvalidParameter { name: "the number of labels", .. })));
        let rng = &mut ChaCha8Rng::seed_from_u64(2);
        let histogram = histogram(3, 2, FinalToken::Withheld)?;
        let run = |labels: Array2<u32>, rng: &mut ChaCha8Rng| histogram.run(labels.view(), rng);
        assert!(matches!(run(Array2::zeros((2, 4)), rng), Err(Error::Shape { .. })));
        let refused = run(Array2::from_elem((2, 3), 4), rng);
        assert!(matches!(
            refused.as_ref().err().and_then(Error::carried),
            Some(&crate::Error::LabelOutOfRange { node: 0, label: 4, labels: 4 })
        ));
        Ok(())
    }
}
