//! Histograms on the complete graph (Algorithm 5): every holder of the token adds a randomized response.

use super::CompleteWalk;
use crate::walk::histogram::{add_uniform, report};
use crate::walk::{HistogramEstimator, HistogramRun};
use ndp_account::Error;
use ndp_dp::RandomizedResponse;
use rand::Rng;
use std::collections::BTreeMap;

/// A histogram of labels reported along a uniform walk. The token starts empty.
///
/// If a cap of the walk keeps a node from reporting, it adds a uniform label.
///
/// # Examples
/// ```
/// use ndp_account::{Observer, Protocol};
/// use ndp_algos::walk::complete::{CompleteHistogram, CompleteWalk};
/// use ndp_dp::{Delta, NoiseMultiplier, RandomizedResponse};
/// let histogram = CompleteHistogram { walk: CompleteWalk::new(100, 100)?, response: RandomizedResponse::new(4, 0.5)? };
/// // The noise of a question is 1/ε₀ of a report.
/// let account = histogram.account(&Observer::node(0).with_hidden_senders())?;
/// let epsilon = account.profile(1, NoiseMultiplier::new(2.0)?)?.epsilon(Delta::new(1e-5)?)?;
/// assert!(epsilon.value().epsilon() < 3.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompleteHistogram {
    /// The walk of the token.
    pub walk: CompleteWalk,
    /// How a node reports. An account takes only the number of labels from it; `ε₀` is given by the noise of
    /// the question.
    pub response: RandomizedResponse,
}

impl CompleteHistogram {
    /// The same protocol with another response.
    pub(crate) const fn with_response(self, response: RandomizedResponse) -> Self {
        Self { response, ..self }
    }

    /// The same protocol along another walk.
    pub(crate) const fn along(self, walk: CompleteWalk) -> Self {
        Self { walk, ..self }
    }

    /// Runs the protocol: draws a path, then the reports. `label(u)` is the label of node `u`, the same at
    /// each of its visits: the secrecy of the path does not protect anybody whose labels depend on the number
    /// of the visit.
    ///
    /// # Errors
    /// [`Error::LabelOutOfRange`](crate::Error::LabelOutOfRange); [`Error::InvalidParameter`] for a response
    /// of `γ = 1`, whose reports carry no information.
    pub fn run(&self, label: impl Fn(usize) -> u32, rng: &mut impl Rng) -> Result<HistogramRun, Error> {
        let path = self.walk.sample(rng);
        let mut reports = Vec::with_capacity(path.steps());
        let mut token = BTreeMap::new();
        for (&node, &contributes) in path.holders.iter().zip(&path.contributes) {
            reports.push(if contributes {
                report(&mut token, self.response, (node, label(node)), rng)?
            } else {
                add_uniform(&mut token, self.response.labels(), rng)
            });
        }
        let made = path.contributes.iter().filter(|&&contributes| contributes).count();
        let uniform = path.steps() - made;
        let estimator = HistogramEstimator::new(self.response, made as u64, uniform as u64)?;
        let (initial, published) = (BTreeMap::new(), self.walk.is_published());
        Ok(HistogramRun { path, reports, initial, token, published, estimator })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::complete::CompleteOptions;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// 20 000 runs, with and without caps: the mean error is within 5 standard errors of 0, and the mean
    /// square within 5 of the stated variance averaged over the paths.
    #[test]
    fn estimate_is_unbiased_with_the_stated_variance() -> Result<(), Error> {
        let rng = &mut ChaCha8Rng::seed_from_u64(3);
        let walk = CompleteWalk::new(5, 60)?;
        let label = |u: usize| (u % 3) as u32;
        for walk in [walk, walk.with_options(CompleteOptions { cap: Some(8), ..CompleteOptions::default() })?]
        {
            let histogram = CompleteHistogram { walk, response: RandomizedResponse::new(3, 0.3)? };
            let (runs, mut mean, mut squares, mut variance) = (20_000, 0.0, 0.0, 0.0);
            for _ in 0..runs {
                let run = histogram.run(label, rng)?;
                let steps = run.path.holders.iter().zip(&run.path.contributes);
                let truth = steps.filter(|(u, made)| **made && label(**u) == 1).count() as u64;
                let reader = run.estimator;
                let error = reader.estimate(run.token.get(&1).copied().unwrap_or(0)) - truth as f64;
                mean += error / f64::from(runs);
                squares += error * error / f64::from(runs);
                variance += reader.variance(truth)? / f64::from(runs);
            }
            assert!(mean.abs() < 5.0 * (variance / f64::from(runs)).sqrt());
            assert!((squares / variance - 1.0).abs() < 5.0 * (2.0 / f64::from(runs)).sqrt());
        }
        Ok(())
    }

    #[test]
    fn view_is_what_arrives() -> Result<(), Error> {
        let rng = &mut ChaCha8Rng::seed_from_u64(3);
        let response = RandomizedResponse::new(3, 0.3)?;
        let histogram = CompleteHistogram { walk: CompleteWalk::new(4, 30)?.published(), response };
        let run = histogram.run(|_| 2, rng)?;
        let total = |token: &BTreeMap<u32, u64>| token.values().sum::<u64>() as usize;
        for step in 0..30 {
            assert_eq!(total(&run.token_at(step)?), step);
        }
        assert!(run.published && total(&run.token) == 30);
        assert!(matches!(run.token_at(30), Err(Error::InvalidParameter { .. })));
        assert!(matches!(
            histogram.run(|_| 3, rng).as_ref().err().and_then(Error::carried),
            Some(&crate::Error::LabelOutOfRange { label: 3, .. })
        ));
        let silent = histogram.with_response(RandomizedResponse::new(3, 1.0)?);
        assert!(matches!(silent.run(|_| 2, rng), Err(Error::InvalidParameter { .. })));
        Ok(())
    }
}
