//! Histograms on the complete graph (Algorithm 5): every holder of the token adds a randomized response.

use super::{Caps, CompleteWalk, Path, TokenView};
use crate::Error;
use crate::walk::{HistogramEstimator, Tally};
use ndp_dp::RandomizedResponse;
use rand::{Rng, RngExt};

/// A histogram of labels reported along a uniform walk. The token starts empty.
///
/// Where a cap keeps a node from reporting, it adds a uniform label.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompleteHistogram {
    walk: CompleteWalk,
    response: RandomizedResponse,
    caps: Caps,
    exact_reports: u64,
}

/// Segments up to which the blanket of randomized response is summed by default.
const EXACT_REPORTS: u64 = 200;

impl CompleteHistogram {
    /// A histogram along `walk`, each report an answer of `response`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for `γ = 1`.
    pub fn new(walk: CompleteWalk, response: RandomizedResponse) -> Result<Self, Error> {
        HistogramEstimator::new(response, 0, 0)?;
        Ok(Self { walk, response, caps: Caps::none(), exact_reports: EXACT_REPORTS })
    }

    /// The same protocol with caps on reports; steps beyond them add a uniform label.
    #[must_use]
    pub const fn with_caps(self, caps: Caps) -> Self {
        Self { caps, ..self }
    }

    /// The same protocol, accounted for with another effort: segments of up to `reports` reports, 200 by default, are bounded by
    /// the exact blanket of randomized response, longer ones by its Hoeffding and Bennett relaxations, or by the exact blanket of
    /// so many of them, the others revealed.
    #[must_use]
    pub const fn with_exact_reports(self, reports: u64) -> Self {
        Self { exact_reports: reports, ..self }
    }

    /// The same protocol with another response.
    pub(crate) fn with_response(self, response: RandomizedResponse) -> Result<Self, Error> {
        HistogramEstimator::new(response, 0, 0)?;
        Ok(Self { response, ..self })
    }

    /// The same protocol along another walk.
    pub(crate) const fn along(self, walk: CompleteWalk) -> Self {
        Self { walk, ..self }
    }

    /// Reports of a segment that are hidden at most.
    pub(crate) const fn exact_reports(&self) -> u64 {
        self.exact_reports
    }

    /// The walk.
    #[must_use]
    pub const fn walk(&self) -> CompleteWalk {
        self.walk
    }

    /// How a node reports.
    #[must_use]
    pub const fn response(&self) -> RandomizedResponse {
        self.response
    }

    /// The caps.
    #[must_use]
    pub const fn caps(&self) -> Caps {
        self.caps
    }

    /// Runs the protocol: draws a path, then the reports. `label(u)` is the label of node `u`, the same at each of its
    /// visits: the secrecy of the path protects nobody whose labels depend on the number of the visit.
    ///
    /// # Errors
    /// [`Error::LabelOutOfRange`].
    pub fn run(
        &self,
        label: impl Fn(usize) -> u32,
        rng: &mut impl Rng,
    ) -> Result<CompleteHistogramRun, Error> {
        let path = self.walk.sample(rng);
        let contributions = self.caps.contributions(&path);
        let domain = self.response.labels();
        let mut reports = Vec::with_capacity(path.step_count());
        for (step, made) in contributions.iter().enumerate() {
            reports.push(match *made {
                Some(_) => {
                    let node = path.holder(step);
                    let label = label(node);
                    if label >= domain {
                        return Err(Error::LabelOutOfRange { node, label, labels: domain });
                    }
                    self.response.sample(label, rng)?
                }
                None => rng.random_range(0..domain),
            });
        }
        Ok(CompleteHistogramRun { histogram: *self, path, contributions, reports })
    }
}

/// A run of [`CompleteHistogram`]: the path and the report of each step.
#[derive(Clone, Debug, PartialEq)]
pub struct CompleteHistogramRun {
    histogram: CompleteHistogram,
    path: Path,
    contributions: Vec<Option<usize>>,
    reports: Vec<u32>,
}

impl CompleteHistogramRun {
    /// The path of the token.
    #[must_use]
    pub const fn path(&self) -> &Path {
        &self.path
    }

    /// For each step, which of its labels the holder reported, `None` for a uniform label.
    #[must_use]
    pub fn contributions(&self) -> &[Option<usize>] {
        &self.contributions
    }

    /// The report added at each step. No node sees all of this: it is for tests.
    #[must_use]
    pub fn reports(&self) -> &[u32] {
        &self.reports
    }

    /// The final token as a `T`: [`Dense`](crate::walk::Dense) for few labels, [`Sparse`](crate::walk::Sparse)
    /// for many.
    #[must_use]
    pub fn token<T: Tally>(&self) -> T {
        let mut token = T::empty(self.histogram.response.labels());
        for &report in &self.reports {
            token.add(report);
        }
        token
    }

    /// How to read the final token.
    ///
    /// # Errors
    /// None for a histogram that was constructed.
    pub fn estimator(&self) -> Result<HistogramEstimator, Error> {
        let made = self.contributions.iter().flatten().count();
        let uniform = self.contributions.len() - made;
        HistogramEstimator::new(self.histogram.response, made as u64, uniform as u64)
    }

    /// What node `v` sees: the token each time it receives it, and the final one if it is published.
    ///
    /// # Errors
    /// [`Error::NodeOutOfRange`].
    pub fn view<T: Tally>(&self, v: usize) -> Result<TokenView<T>, Error> {
        let nodes = self.path.node_count();
        if v >= nodes {
            return Err(Error::NodeOutOfRange { node: v, nodes });
        }
        let mut token = T::empty(self.histogram.response.labels());
        let mut received = Vec::new();
        for (step, &report) in self.reports.iter().enumerate() {
            if self.path.holder(step) == v {
                received.push((step, token.clone()));
            }
            token.add(report);
        }
        Ok(TokenView { received, published: self.histogram.walk.is_published().then_some(token) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::{Dense, Sparse};
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// 20 000 runs, caps or not: mean error within 5 standard errors, mean square within 5 of the stated
    /// variance averaged over the paths.
    #[test]
    fn estimate_is_unbiased_with_the_stated_variance() -> Result<(), Error> {
        let rng = &mut ChaCha8Rng::seed_from_u64(3);
        let walk = CompleteWalk::new(5, 60)?;
        let histogram = CompleteHistogram::new(walk, RandomizedResponse::new(3, 0.3)?)?;
        let label = |u: usize| (u % 3) as u32;
        for caps in [Caps::none(), Caps::none().with_visits(8)?] {
            let histogram = histogram.with_caps(caps);
            let (runs, mut mean, mut squares, mut variance) = (20_000, 0.0, 0.0, 0.0);
            for _ in 0..runs {
                let run = histogram.run(label, rng)?;
                let steps = run.path().holders().iter().zip(run.contributions());
                let truth =
                    steps.filter(|(u, made)| made.is_some() && label(**u as usize) == 1).count() as u64;
                let reader = run.estimator()?;
                let error = reader.estimate(run.token::<Dense>().count(1)) - truth as f64;
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
        let histogram = CompleteHistogram::new(CompleteWalk::new(4, 30)?.published(), response)?;
        let run = histogram.run(|_| 2, rng)?;
        let view = run.view::<Sparse>(1)?;
        let total = |token: &Sparse| token.iter().map(|(_, count)| count as usize).sum::<usize>();
        assert!(view.received.iter().all(|(step, token)| total(token) == *step));
        assert_eq!(view.published.as_ref().map(total), Some(30));
        assert!(run.view::<Dense>(4).is_err());
        assert!(matches!(histogram.run(|_| 3, rng), Err(Error::LabelOutOfRange { label: 3, .. })));
        assert!(CompleteHistogram::new(histogram.walk(), RandomizedResponse::new(3, 1.0)?).is_err());
        Ok(())
    }
}
