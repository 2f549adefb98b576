//! The privacy accounts of sums and histograms along a uniform walk, and the attacks that audit them.
//!
//! All nodes outside the coalition are alike, so that one profile answers for all of them. No account is
//! above the cost of releasing all contributions of a node one by one: with few nodes or steps little is
//! hidden, and the bounds that account for the walk are then larger than this cost.

use super::constant_data::require_no_caps;
use super::{CompleteHistogram, CompleteSum, CompleteWalk};
use crate::walk::alike::{Alike, Least, bound};
use crate::walk::attacks::{by_run, observed, on_paths};
use crate::walk::graph::{CostLaw, seen_to_hold};
use crate::walk::histogram::response_of;
use crate::walk::{Bounds, EVERY_CONTRIBUTION, HistogramEstimator, OnPath, TokenNoise};
use ndp_account::Error;
use ndp_account::{
    Account, Assumption, Attacker, Changes, Law, Noise, Observer, Protocol, Senders, Terms,
    parts::{at_most, of_outsider},
};
use ndp_dp::{
    ApproxDp, Curve, Delta, Guarantee, LossLaw, NoiseMultiplier, Order, Profile, Sensitivity, UpperBound,
};
use ndp_numeric::stop::Stop;
use rand::Rng;
use std::sync::{Arc, LazyLock};

/// The walk as seen by these colluders.
fn towards(walk: CompleteWalk, observer: &Observer) -> Result<CompleteWalk, Error> {
    observer.require_no_taps()?;
    let members = observer.checked(walk.node_count())?.len();
    walk.with_colluders(members)
}

const OF_SUMS: Terms = EVERY_CONTRIBUTION
    .by("ndp_algos::walk::complete::CompleteSum", "Privacy amplification by decentralization");

const OF_HISTOGRAMS: Terms = Terms {
    changes: Changes::Label,
    noise: Noise::of(Law::RandomizedResponse, "every report of a label"),
    ..Terms::VALUES
}
.by("ndp_algos::walk::complete::CompleteHistogram", "Privacy amplification by decentralization")
.trusting(Assumption::ConstantData);

/// What the account of an observer depends on besides the protocol: the size of the coalition and its
/// knowledge of the senders.
fn number_of(observer: &Observer) -> usize {
    2 * observer.members().len() + usize::from(observer.senders == Senders::Known)
}

/// The loss averaged over the walk, for observers who may know the path; contributions may depend on the
/// number of a visit. With [constant data](CompleteSum::constant_data) `ε(δ)` is the smaller of this bound
/// and of the one from the secrecy of the path, which depends on whether senders are known. The noise is
/// Gaussian, with the multiplier of the question, whatever the noise of the sum itself.
impl Protocol for CompleteSum {
    fn node_count(&self) -> usize {
        self.walk.node_count()
    }

    fn account_until<'a>(&'a self, observer: &Observer, stop: &Stop) -> Result<Box<dyn Account + 'a>, Error> {
        self.mu()?;
        if observer.members().is_empty() {
            return of_outsider(self, !self.walk.is_published(), observer, stop);
        }
        let walk = towards(self.walk, observer)?;
        if self.constant_data {
            require_no_caps(walk)?;
        }
        if walk.options().may_bind(walk.step_count()) {
            return Err(Error::NotOffered("sums with caps are accounted for along a realised path"));
        }
        let secrecy = self.constant_data.then_some(observer.senders);
        let (of_law, of_curve, of_least) = (stop.clone(), stop.clone(), stop.clone());
        let law = move || walk.cost_law().ok().map(|law| Arc::new(law.until(&of_law)));
        let cost: Arc<LazyLock<_, _>> = Arc::new(LazyLock::new(law));
        let of_noise = {
            let cost = cost.clone();
            move |noise: NoiseMultiplier| {
                // The reciprocal of a multiplier, rounded up.
                let mu = (1.0 / noise.get()).next_up();
                SumCurve { walk, noise, mu, cost: (**cost).clone(), secrecy, stop: of_curve.clone() }
            }
        };
        let of_target = of_noise.clone();
        let profile =
            move |noise: NoiseMultiplier, against: &str| Ok(Profile::of_curve(of_noise(noise), against));
        // The law of the cost gives the least noise, or else a formula for the averaged loss does. With the
        // secrecy of the path there is only the search.
        let least = move |target: ApproxDp| {
            let delta = Delta::new(target.delta())?;
            of_least.spend(walk.cost_of_moments())?;
            // An observer who hardly ever meets what a node added learns nothing, whatever the noise is.
            let hardly_any = NoiseMultiplier::new(HARDLY_ANY)?;
            if of_target(hardly_any).epsilon(delta).is_ok_and(|least| least.value().epsilon() == 0.0) {
                return Ok(None);
            }
            let by_law = cost.as_ref().as_ref().and_then(|law| law.least_noise(target.epsilon(), delta).ok());
            of_least.check()?;
            let noise = match by_law {
                Some(noise) => noise.upper(),
                None => (1.0 / walk.calibrated_mu(target.epsilon(), delta)?).next_up().next_up(),
            };
            seen_to_hold(noise, target.epsilon(), |at| Ok(of_target(at).epsilon(delta)?)).map(Some)
        };
        let terms = walk.options().final_token.kept(self.terms());
        let account = Alike::new(observer, walk.node_count(), terms, profile)
            .with_least(secrecy.is_none().then(|| Box::new(least) as Least))
            .shared_by(self, number_of(observer));
        Ok(at_most(Box::new(account), self.local_bound(observer)))
    }

    /// Every contribution released by itself. Their number is that of the cap or, without a cap, one that a
    /// node exceeds with probability at most `δ/10`.
    fn local_bound<'a>(&'a self, observer: &Observer) -> Result<Box<dyn Account + 'a>, Error> {
        self.mu()?;
        let walk = towards(self.walk, observer)?;
        let options = walk.options();
        let profile = move |noise: NoiseMultiplier, against: &str| {
            let mu = (1.0 / noise.get()).next_up();
            let epsilon = move |delta: Delta| {
                let visits = options.contributions_of_a_node(delta)?;
                bound(walk.local_epsilon(mu, visits, delta)?.into_value(), delta)
            };
            Ok(Profile::of_curve(epsilon, against))
        };
        let terms = self.terms().by_local_bound();
        let bound = Alike::new(observer, walk.node_count(), terms, profile);
        Ok(Box::new(bound.shared_by(self, usize::MAX - number_of(observer))))
    }

    /// The error of the token divided by the number of steps; visits are independent draws of nodes.
    fn error_until(&self, noise: NoiseMultiplier, _: &Stop) -> Result<f64, Error> {
        let steps = self.walk.step_count() as f64;
        Ok(((noise.get() * noise.get() + 0.25) / steps).sqrt())
    }

    fn message_count(&self) -> Result<f64, Error> {
        Ok(message_count(self.walk))
    }

    fn attack<'a>(
        &'a self,
        u: usize,
        observer: &Observer,
        noise: NoiseMultiplier,
    ) -> Result<Box<dyn Attacker + 'a>, Error> {
        let members = observed(u, observer, self.walk.node_count())?;
        let drawn = move |rng: &mut dyn Rng| {
            let sigma = noise.sigma(Sensitivity::new(1.0)?)?;
            let (bounds, noise) = (Bounds::new(0.0, 1.0)?, TokenNoise::gaussian(sigma));
            let path = self.walk.sample(&mut &mut *rng);
            Ok(OnPath { protocol: CompleteSum { bounds, noise, ..*self }, path })
        };
        Ok(on_paths(drawn, members, u, noise))
    }
}

impl CompleteSum {
    fn terms(&self) -> Terms {
        // Values are the same at each visit, also those of the others: the secrecy of the path does not
        // protect data that change, nor a value that is told apart from those of the others.
        if self.constant_data {
            // Constant data do not depend on what was received.
            Terms { changes: Changes::Value, trusts: Terms::VALUES.trusts, ..OF_SUMS }
                .trusting(Assumption::ConstantData)
                .trusting(Assumption::CommonRange)
        } else {
            OF_SUMS
        }
    }
}

/// The last contribution stays with its holder unless the token is published.
fn message_count(walk: CompleteWalk) -> f64 {
    let kept = usize::from(!walk.is_published());
    walk.step_count().saturating_sub(kept) as f64
}

struct SumCurve {
    walk: CompleteWalk,
    noise: NoiseMultiplier,
    mu: f64,
    /// The law of the cost, if there is one for this walk.
    cost: Option<Arc<CostLaw>>,
    /// If data are constant: whether senders are known.
    secrecy: Option<Senders>,
    stop: Stop,
}

impl SumCurve {
    /// `ε(δ)` averaged over the path: by the law of the cost and, if this may be too large, also by the best
    /// order.
    fn averaged(&self, delta: Delta) -> Result<ApproxDp, ndp_dp::Error> {
        let by_law =
            self.cost.as_ref().and_then(|law| Some((law, law.epsilon(self.noise, delta).ok()?.upper())));
        self.stop.check()?;
        if let Some((law, epsilon)) = by_law
            && law.is_tight(self.noise, epsilon)
        {
            return ApproxDp::new(epsilon, delta.get());
        }
        self.stop.spend(self.walk.cost_of_moments())?;
        let by_order = self.walk.epsilon(self.mu, delta)?.value().approx_dp.epsilon();
        ApproxDp::new(by_law.map_or(by_order, |(_, epsilon)| epsilon.min(by_order)), delta.get())
    }

    /// The law of the loss from the secrecy of the path, if data are constant.
    fn secret(&self) -> Result<Option<LossLaw>, Error> {
        self.stop.check()?;
        let law = |senders| self.walk.with_constant_data().law_of_sum(senders, self.mu);
        self.secrecy.map(law).transpose()
    }
}

impl Curve for SumCurve {
    fn renyi(&self, order: Order) -> Result<Option<Guarantee<f64>>, ndp_dp::Error> {
        self.stop.spend(self.walk.cost_of_moments() / 60)?;
        Ok(Some(self.walk.rdp_bound(order, self.mu)?.into()))
    }

    fn epsilon(&self, delta: Delta) -> Result<Guarantee<ApproxDp>, ndp_dp::Error> {
        let averaged = self.averaged(delta)?;
        let secret = self.secret()?.map_or(f64::INFINITY, |law| law.epsilon(delta).upper());
        bound(averaged.epsilon().min(secret), delta)
    }

    fn delta(&self, epsilon: f64) -> Result<Guarantee<ApproxDp>, ndp_dp::Error> {
        self.stop.spend(self.walk.cost_of_moments())?;
        let by_order = self.walk.delta(self.mu, epsilon)?.value().approx_dp.delta();
        let by_law = self.cost.as_ref().and_then(|law| Some(law.delta(self.noise, epsilon).ok()?.upper()));
        self.stop.check()?;
        let secret = self.secret()?.map(|law| law.delta(epsilon)).transpose()?.map(|delta| delta.upper());
        let least = by_law.into_iter().chain(secret).fold(by_order, f64::min);
        Ok(UpperBound::new(ApproxDp::new(epsilon, least)?).into())
    }
}

/// A noise so small that a sum with a loss shows it.
const HARDLY_ANY: f64 = 1e-9;

/// Reports by randomized response, one at every visit. The noise of the question is `1/ε₀`, whatever the
/// response of the histogram itself. The secrecy of the path protects the reports that are not just after a
/// step of an observer; with known senders those just before are not protected, either.
impl Protocol for CompleteHistogram {
    fn node_count(&self) -> usize {
        self.walk.node_count()
    }

    fn account_until<'a>(&'a self, observer: &Observer, stop: &Stop) -> Result<Box<dyn Account + 'a>, Error> {
        if observer.members().is_empty() {
            return of_outsider(self, !self.walk.is_published(), observer, stop);
        }
        let histogram = self.along(towards(self.walk, observer)?);
        let senders = observer.senders;
        histogram.law(senders)?;
        let law = move |noise: NoiseMultiplier| -> Result<LossLaw, ndp_dp::Error> {
            Ok(histogram.with_response(response_of(histogram.response.labels(), noise)?).law(senders)?)
        };
        let profile = move |noise: NoiseMultiplier, against: &str| Ok(law(noise)?.profile(against));
        let least = move |target: ApproxDp| {
            let delta = Delta::new(target.delta())?;
            Ok(Some(ndp_dp::loss_law::least_noise(target.epsilon(), delta, law)?.parameter))
        };
        let terms = self.walk.options().final_token.kept(OF_HISTOGRAMS);
        let account = Alike::new(observer, self.walk.node_count(), terms, profile)
            .with_least(Some(Box::new(least)))
            .shared_by(self, number_of(observer));
        Ok(at_most(Box::new(account), self.local_bound(observer)))
    }

    /// Every report released by itself: by the law of their number. With caps, by the cap on the reports of a
    /// node or, without one, by a number that a node exceeds with probability at most `δ/10`.
    fn local_bound<'a>(&'a self, observer: &Observer) -> Result<Box<dyn Account + 'a>, Error> {
        let histogram = self.along(towards(self.walk, observer)?);
        let profile = move |noise: NoiseMultiplier, against: &str| {
            let histogram = histogram.with_response(response_of(histogram.response.labels(), noise)?);
            if !histogram.walk.options().may_bind(histogram.walk.step_count()) {
                let release = LossLaw::randomized_response(histogram.response);
                return Ok(histogram.walk.law_of_releases(release)?.profile(against));
            }
            let epsilon = move |delta: Delta| {
                let visits = histogram.walk.options().contributions_of_a_node(delta)?;
                bound(histogram.local_epsilon(visits, delta)?.into_value(), delta)
            };
            Ok(Profile::of_curve(epsilon, against))
        };
        let (nodes, terms) = (histogram.walk.node_count(), OF_HISTOGRAMS.by_local_bound());
        let bound = Alike::new(observer, nodes, terms, profile);
        Ok(Box::new(bound.shared_by(self, usize::MAX - number_of(observer))))
    }

    /// The error of the estimated frequency of a label; visits are independent draws of nodes.
    fn error_until(&self, noise: NoiseMultiplier, _: &Stop) -> Result<f64, Error> {
        let response = response_of(self.response.labels(), noise)?;
        let reader = HistogramEstimator::new(response, self.walk.step_count() as u64, 0)?;
        let (variance, steps) = (reader.largest_variance()?, self.walk.step_count() as f64);
        Ok((variance / (steps * steps) + 0.25 / steps).sqrt())
    }

    fn message_count(&self) -> Result<f64, Error> {
        Ok(message_count(self.walk))
    }

    /// Everybody else reports label 0, and `u` reports 0 or 1. The score is the number of reports of 1 in the
    /// last token that the observer sees, minus the number that randomness adds on average.
    fn attack<'a>(
        &'a self,
        u: usize,
        observer: &Observer,
        noise: NoiseMultiplier,
    ) -> Result<Box<dyn Attacker + 'a>, Error> {
        let members = observed(u, observer, self.walk.node_count())?;
        let response = response_of(self.response.labels(), noise)?;
        let histogram = self.with_response(response);
        Ok(by_run(move |higher, rng| {
            let run = histogram.run(|v| u32::from(higher && v == u), &mut &mut *rng)?;
            // The worlds differ most in how many more reports of 1 there are than chance explains.
            let Some(step) = run.path.last_step_of(members[0]) else { return Ok(0.0) };
            let last = run.token_at(step)?;
            let count = |label: u32| last.get(&label).map_or(0.0, |&count| count as f64);
            let reports = count(0) + count(1);
            let drawn = response.gamma() / f64::from(response.labels());
            Ok(count(1) - drawn * reports)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::Bounds;
    use crate::walk::complete::CompleteOptions;
    use ndp_account::{Target, check, least_noise};
    use ndp_dp::{Measure, Sigma, Verdict};

    fn sum(n: usize, steps: usize) -> Result<CompleteSum, Error> {
        let noise = TokenNoise::gaussian(Sigma::new(1.0)?);
        Ok(CompleteSum {
            walk: CompleteWalk::new(n, steps)?,
            bounds: Bounds::new(0.0, 1.0)?,
            noise,
            constant_data: false,
        })
    }

    fn epsilon(account: &dyn Account, noise: f64) -> Result<f64, Error> {
        let profile = account.profile(1, NoiseMultiplier::new(noise)?)?;
        Ok(profile.epsilon(Delta::new(1e-5)?)?.into_value().epsilon())
    }

    /// What is known of constant data is never worse, hidden senders cost no more than known ones, and
    /// nothing costs more than releasing all contributions one by one.
    #[test]
    fn accounts_grow_with_what_the_observer_knows() -> Result<(), Error> {
        let known = Observer::node(0);
        let hidden = known.clone().with_hidden_senders();
        for (n, steps, noise) in [(50, 500, 20.0), (5, 60, 10.0), (200, 200, 3.0)] {
            let plain = sum(n, steps)?;
            let constant = CompleteSum { constant_data: true, ..plain };
            let averaged = epsilon(plain.account(&known)?.as_ref(), noise)?;
            assert_eq!(averaged, epsilon(plain.account(&hidden)?.as_ref(), noise)?);
            let (least, middle) = (
                epsilon(constant.account(&hidden)?.as_ref(), noise)?,
                epsilon(constant.account(&known)?.as_ref(), noise)?,
            );
            let local = epsilon(plain.local_bound(&known)?.as_ref(), noise)?;
            assert!(
                least <= middle && middle <= averaged && averaged <= local,
                "{least} {middle} {averaged} {local}"
            );
        }
        // The bound over receptions is better than the average if there are many nodes and few contributions.
        let few = sum(1000, 300)?;
        let (constant, averaged) = (CompleteSum { constant_data: true, ..few }, few.account(&hidden)?);
        assert!(epsilon(constant.account(&hidden)?.as_ref(), 2.0)? <= epsilon(averaged.as_ref(), 2.0)?);
        Ok(())
    }

    /// The least noise by formula meets its target, and slightly less noise does not.
    #[test]
    fn the_least_noise_of_a_sum_is_met() -> Result<(), Error> {
        for (n, steps) in [(5, 60), (50, 5_000)] {
            let sum = sum(n, steps)?;
            let accounts = [sum.account(&Observer::node(0))?];
            for allowed in [0.3, 4.0] {
                let target = Target::worst(Measure::Approx(Delta::new(1e-5)?), allowed);
                let noise = least_noise(&accounts, &target)?.noise;
                assert_eq!(check(&accounts, noise, &target)?.verdict, Verdict::Met);
                let less = NoiseMultiplier::new(noise.get() / 1.01)?;
                assert_ne!(check(&accounts, less, &target)?.verdict, Verdict::Met);
            }
        }
        Ok(())
    }

    #[test]
    fn caps_lower_the_local_bound() -> Result<(), Error> {
        let (plain, observer) = (sum(20, 400)?, Observer::node(0));
        let walk = plain.walk.with_options(CompleteOptions { cap: Some(5), ..CompleteOptions::default() })?;
        let capped = CompleteSum { walk, ..plain };
        let bound = |sum: &CompleteSum| epsilon(sum.local_bound(&observer)?.as_ref(), 10.0);
        assert!(bound(&capped)? < bound(&plain)?);
        assert!(matches!(capped.account(&observer), Err(Error::NotOffered(_))));
        Ok(())
    }
}
