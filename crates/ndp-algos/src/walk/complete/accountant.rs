//! Sums and histograms along a uniform walk, as an accountant and an auditor see them.
//!
//! All nodes outside the coalition are alike, so that one profile answers for all of them.

use super::{CompleteHistogram, CompleteSum, CompleteWalk, ShuffleEffort, SumOnPath, Visits};
use crate::Error;
use crate::accountant::{Account, Attacker, Observer, Protocol, Senders};
use crate::walk::complete::spotted::Spotting;
use crate::walk::graph::log_likelihood_ratio;
use crate::walk::{Dense, Tally, TokenNoise};
use ndp_dp::{
    ApproxDp, Curve, Delta, Guarantee, Measure, NoiseMultiplier, Order, Profile, RandomizedResponse,
    Sensitivity,
};
use rand::Rng;

/// The walk as these colluders see it.
fn towards(walk: CompleteWalk, observer: &Observer) -> Result<CompleteWalk, Error> {
    observer.require_no_taps()?;
    let members = observer.checked(walk.node_count())?.len();
    walk.with_colluders(members)
}

/// The least noise for a target, where there is a better way than a search.
type Least = Box<dyn Fn(ApproxDp) -> Result<NoiseMultiplier, Error> + Send + Sync>;

/// The same curve for every node.
struct Alike<F> {
    observer: Observer,
    nodes: usize,
    profile: F,
    least: Option<Least>,
    /// The address of the protocol.
    protocol: usize,
}

impl<F: Fn(NoiseMultiplier, &str) -> Result<Profile, Error> + Send + Sync> Account for Alike<F> {
    fn observer(&self) -> &Observer {
        &self.observer
    }

    fn node_count(&self) -> usize {
        self.nodes
    }

    fn profile(&self, u: usize, noise: NoiseMultiplier) -> Result<Profile, Error> {
        self.checked_source(u)?;
        (self.profile)(noise, &self.observer.to_string())
    }

    fn alike(&self) -> bool {
        true
    }

    fn class(&self) -> Option<(usize, usize)> {
        let known = usize::from(self.observer.senders() == Senders::Known);
        Some((self.protocol, 2 * self.observer.members().len() + known))
    }

    fn least_noise(
        &self,
        u: usize,
        measure: Measure,
        allowed: f64,
    ) -> Result<Option<NoiseMultiplier>, Error> {
        match (measure, &self.least) {
            (Measure::Approx(delta), Some(least)) if 0.0 < allowed && allowed.is_finite() => {
                self.checked_source(u)?;
                least(ApproxDp::new(allowed, delta.get())?).map(Some)
            }
            _ => crate::accountant::search_of_pair(self, u, measure, allowed),
        }
    }
}

/// The loss averaged over the walk, for observers who may know the path; contributions may depend on the number of a visit. The
/// noise is Gaussian, its multiplier that of the question, whatever the noise that the sum was made with.
impl Protocol for CompleteSum {
    fn node_count(&self) -> usize {
        self.walk().node_count()
    }

    fn account<'a>(&'a self, observer: &Observer) -> Result<Box<dyn Account + 'a>, Error> {
        self.mu()?;
        let walk = towards(self.walk(), observer)?;
        if self.caps().may_bind(walk.step_count()) {
            return Err(Error::NotOffered("sums with caps are accounted for along a realised path"));
        }
        let profile = move |noise: NoiseMultiplier, against: &str| {
            // Rounded up: the reciprocal of a multiplier.
            let mu = (1.0 / noise.get()).next_up();
            Ok(Profile::of_curve(SumCurve { walk, mu }, against))
        };
        Ok(Box::new(Alike {
            observer: observer.clone(),
            nodes: walk.node_count(),
            profile,
            least: None,
            protocol: std::ptr::from_ref(self).addr(),
        }))
    }

    /// Of the token divided by the number of steps: visits are independent draws of nodes.
    fn error(&self, noise: NoiseMultiplier) -> Result<f64, Error> {
        let steps = self.walk().step_count() as f64;
        Ok(((noise.get() * noise.get() + 0.25) / steps).sqrt())
    }

    fn message_count(&self) -> Result<f64, Error> {
        Ok(self.walk().step_count() as f64)
    }

    fn attack<'a>(
        &'a self,
        u: usize,
        observer: &Observer,
        noise: NoiseMultiplier,
    ) -> Result<Box<dyn Attacker + 'a>, Error> {
        let members = observed(u, observer, self.walk().node_count())?;
        Ok(Box::new(OnPaths { sum: self, members, u, noise }))
    }
}

/// The members, once `u` is known to be none of them.
fn observed(u: usize, observer: &Observer, nodes: usize) -> Result<Vec<usize>, Error> {
    observer.require_no_taps()?;
    if u >= nodes {
        return Err(Error::NodeOutOfRange { node: u, nodes });
    }
    if observer.contains(u) {
        return Err(Error::SourceIsObserver(u));
    }
    Ok(observer.checked(nodes)?.to_vec())
}

struct SumCurve {
    walk: CompleteWalk,
    mu: f64,
}

impl Curve for SumCurve {
    fn renyi(&self, order: Order) -> Result<Option<Guarantee<f64>>, ndp_dp::Error> {
        Ok(Some(self.walk.rdp_bound(order, self.mu)?.into()))
    }

    fn epsilon(&self, delta: Delta) -> Result<Guarantee<ApproxDp>, ndp_dp::Error> {
        Ok(self.walk.epsilon(self.mu, delta)?.map(|found| found.approx_dp).into())
    }

    fn delta(&self, epsilon: f64) -> Result<Guarantee<ApproxDp>, ndp_dp::Error> {
        Ok(self.walk.delta(self.mu, epsilon)?.map(|found| found.approx_dp).into())
    }
}

struct OnPaths<'a> {
    sum: &'a CompleteSum,
    members: Vec<usize>,
    u: usize,
    noise: NoiseMultiplier,
}

impl Attacker for OnPaths<'_> {
    fn scores(&self, higher: bool, runs: usize, rng: &mut dyn Rng) -> Result<Vec<f64>, Error> {
        let sigma = self.noise.sigma(Sensitivity::new(1.0)?)?;
        let sum = self.sum.with_noise(TokenNoise::gaussian(sigma));
        let bounds = crate::walk::Bounds::new(0.0, 1.0)?;
        let sum = CompleteSum::new(sum.walk(), bounds, TokenNoise::gaussian(sigma)).with_caps(sum.caps());
        (0..runs)
            .map(|_| {
                let path = sum.walk().sample(&mut &mut *rng);
                let protocol = SumOnPath::new(sum, path)?;
                log_likelihood_ratio(&protocol, &self.members, self.u, self.noise, higher, rng)
            })
            .collect()
    }
}

/// Reports by randomized response, one at every visit; the noise of the question is `1/ε₀`, whatever the response that the histogram
/// was made with. With hidden senders the secrecy of the path protects the reports; with known senders what is left of it.
impl Protocol for CompleteHistogram {
    fn node_count(&self) -> usize {
        self.walk().node_count()
    }

    fn account<'a>(&'a self, observer: &Observer) -> Result<Box<dyn Account + 'a>, Error> {
        let walk = towards(self.walk(), observer)?;
        let (labels, caps) = (self.response().labels(), self.caps());
        let known = observer.senders() == Senders::Known;
        let profile = move |noise: NoiseMultiplier, against: &str| {
            let response = response_of(labels, noise)?;
            let histogram = Self::new(walk, response)?.with_caps(caps);
            let epsilon = move |delta: Delta| {
                let tenth = Delta::new(delta.get() / 10.0)?;
                let effort = ShuffleEffort::default();
                let found = if known {
                    histogram.known_epsilon(Visits::Quantile(tenth), Spotting::Quantile(tenth), delta, effort)
                } else {
                    histogram.hidden_epsilon(delta, effort)
                };
                Ok(found?.map(|found| found.approx_dp).into())
            };
            Ok(Profile::of_epsilon(epsilon, against))
        };
        let plain = !caps.may_bind(walk.step_count());
        let least = move |target: ApproxDp| {
            let effort = ShuffleEffort::default();
            let tenth = Delta::new(target.delta() / 10.0)?;
            let counted = (Visits::Quantile(tenth), Spotting::Quantile(tenth));
            let local = if known {
                Self::known_calibrated_local(walk, labels, counted, target, effort)?
            } else {
                Self::hidden_calibrated_local(walk, labels, target, effort)?
            };
            if local == 0.0 {
                let (what, best) = ("epsilon of a histogram", f64::NAN);
                return Err(ndp_dp::Error::NotAchievable { what, target: target.epsilon(), best }.into());
            }
            // A little more noise than 1/ε₀, which rounds either way.
            Ok(NoiseMultiplier::new((1.0 / local).next_up().next_up())?)
        };
        let least = plain.then(|| Box::new(least) as Least);
        Ok(Box::new(Alike {
            observer: observer.clone(),
            nodes: walk.node_count(),
            profile,
            least,
            protocol: std::ptr::from_ref(self).addr(),
        }))
    }

    /// Of the estimated frequency of a label, visits being independent draws of nodes.
    fn error(&self, noise: NoiseMultiplier) -> Result<f64, Error> {
        let response = response_of(self.response().labels(), noise)?;
        let steps = self.walk().step_count() as u64;
        let reader = crate::walk::HistogramEstimator::new(response, steps, 0)?;
        // The variance is linear in the number of holders.
        let variance = reader.variance(0)?.max(reader.variance(steps)?);
        let steps = steps as f64;
        Ok((variance / (steps * steps) + 0.25 / steps).sqrt())
    }

    fn message_count(&self) -> Result<f64, Error> {
        Ok(self.walk().step_count() as f64)
    }

    fn attack<'a>(
        &'a self,
        u: usize,
        observer: &Observer,
        noise: NoiseMultiplier,
    ) -> Result<Box<dyn Attacker + 'a>, Error> {
        let members = observed(u, observer, self.walk().node_count())?;
        let response = response_of(self.response().labels(), noise)?;
        let histogram = Self::new(self.walk(), response)?.with_caps(self.caps());
        Ok(Box::new(Counting { histogram, observer: members[0], u }))
    }
}

/// The randomized response with `ε₀` the reciprocal of the noise, rounded down.
pub(in crate::walk) fn response_of(labels: u32, noise: NoiseMultiplier) -> Result<RandomizedResponse, Error> {
    Ok(RandomizedResponse::with_epsilon(labels, 1.0 / noise.get())?)
}

/// Everybody else reports label 0; `u` reports 0 or 1. The score is the largest number of reports of 1 between two receptions,
/// beyond what randomness adds on average.
struct Counting {
    histogram: CompleteHistogram,
    observer: usize,
    u: usize,
}

impl Attacker for Counting {
    fn scores(&self, higher: bool, runs: usize, rng: &mut dyn Rng) -> Result<Vec<f64>, Error> {
        (0..runs)
            .map(|_| {
                let run = self.histogram.run(|v| u32::from(higher && v == self.u), &mut &mut *rng)?;
                let view = run.view::<Dense>(self.observer)?;
                let ones: Vec<f64> = view.received.iter().map(|(_, token)| token.count(1) as f64).collect();
                let zeros: Vec<f64> = view.received.iter().map(|(_, token)| token.count(0) as f64).collect();
                // What separates the worlds most is how many more reports of 1 there are than chance explains.
                let last = |counts: &[f64]| counts.last().copied().unwrap_or(0.0);
                let reports = last(&ones) + last(&zeros);
                let drawn = self.histogram.response().gamma() / f64::from(self.histogram.response().labels());
                Ok(last(&ones) - drawn * reports)
            })
            .collect()
    }
}
