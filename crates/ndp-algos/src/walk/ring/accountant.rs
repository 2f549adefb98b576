//! The privacy account of histograms on the ring, and the attack that audits it.

use super::RingHistogram;
use crate::walk::FinalToken;
use crate::walk::alike::{Alike, bound};
use crate::walk::attacks::{by_run, observed};
use crate::walk::histogram::response_of;
use ndarray::Array2;
use ndp_account::Error;
use ndp_account::{
    Account, Assumption, Attacker, Changes, Law, Noise, Observer, Protocol, Terms, parts::of_outsider,
};
use ndp_dp::{Delta, NoiseMultiplier, Profile};
use ndp_numeric::stop::Stop;

/// Reports by randomized response. The noise of the question is `1/ε₀`, whatever the response of the
/// histogram itself. The account is that of the worst node outside the coalition, for all nodes.
impl Protocol for RingHistogram {
    fn node_count(&self) -> usize {
        RingHistogram::node_count(self)
    }

    fn account_until<'a>(&'a self, observer: &Observer, stop: &Stop) -> Result<Box<dyn Account + 'a>, Error> {
        observer.require_no_taps()?;
        if observer.members().is_empty() {
            return of_outsider(self, !self.final_token().is_shown(), observer, stop);
        }
        observer.checked(RingHistogram::node_count(self))?;
        // The loss depends on where the members are on the ring, so that the account is not shared.
        Ok(Box::new(self.towards(observer, observer.members(), stop)))
    }

    /// What is learned by a node that drew no uniform labels: it sees every kind of release, so that no other
    /// single node sees more.
    fn local_bound<'a>(&'a self, observer: &Observer) -> Result<Box<dyn Account + 'a>, Error> {
        observer.require_no_taps()?;
        let nodes = RingHistogram::node_count(self);
        observer.checked(nodes)?;
        if observer.members().len() > 1 || nodes < 3 {
            return Err(Error::NotOffered(
                "a ring has a bound at no cost for single observers, of three nodes or more",
            ));
        }
        Ok(Box::new(self.towards(observer, &[IN_THE_MIDDLE], &Stop::never()).shared_by(self, 0)))
    }

    /// The error of the estimated frequency of a label.
    fn error_until(&self, noise: NoiseMultiplier, _: &Stop) -> Result<f64, Error> {
        let reports = RingHistogram::node_count(self) * self.rounds();
        Ok(self.at(noise)?.estimator()?.largest_variance()?.sqrt() / reports as f64)
    }

    fn message_count(&self) -> Result<f64, Error> {
        Ok((RingHistogram::node_count(self) * self.rounds()) as f64)
    }

    /// Everybody else reports label 0, and `u` reports 0 or 1 in every round. The score is the number of
    /// reports of 1 that the observer saw.
    fn attack<'a>(
        &'a self,
        u: usize,
        observer: &Observer,
        noise: NoiseMultiplier,
    ) -> Result<Box<dyn Attacker + 'a>, Error> {
        let nodes = RingHistogram::node_count(self);
        let members = observed(u, observer, nodes)?;
        let (histogram, v) = (self.at(noise)?, members[0]);
        Ok(by_run(move |higher, rng| {
            let shape = (histogram.rounds(), nodes);
            let labels = Array2::from_shape_fn(shape, |(_, v)| u32::from(higher && v == u));
            let run = histogram.run(labels.view(), &mut &mut *rng)?;
            let last = match run.path.last_step_of(v) {
                _ if run.published => run.token,
                Some(step) => run.token_at(step)?,
                None => return Ok(0.0),
            };
            Ok(last.get(&1).map_or(0.0, |&count| count as f64))
        }))
    }
}

impl RingHistogram {
    /// The terms of reports by randomized response.
    fn terms(&self) -> Terms {
        let on = match self.final_token() {
            FinalToken::Masked => {
                "every report of a label; the first holder also puts uniform labels in, and the last as many"
            }
            _ => "every report of a label; the first holder also puts uniform labels in",
        };
        let noise = Noise::of(Law::RandomizedResponse, on);
        let terms = Terms { changes: Changes::EveryLabel, noise, ..Terms::VALUES }
            .by(
                "ndp_algos::walk::ring::RingHistogram::epsilon_towards",
                "Privacy amplification by decentralization",
            )
            .trusting(Assumption::Fixed);
        self.final_token().kept(terms)
    }

    /// The same histogram with reports at another noise.
    fn at(&self, noise: NoiseMultiplier) -> Result<Self, Error> {
        let response = response_of(self.response().labels(), noise)?;
        Self::new(RingHistogram::node_count(self), self.rounds(), response, self.final_token())
    }

    /// The account of an observer who learns what these members learn.
    fn towards(
        &self,
        observer: &Observer,
        members: &[usize],
        stop: &Stop,
    ) -> Alike<impl Fn(NoiseMultiplier, &str) -> Result<Profile, Error> + Send + Sync + use<>> {
        let (histogram, members, stop) = (*self, members.to_vec(), stop.clone());
        let profile = move |noise: NoiseMultiplier, against: &str| {
            let (histogram, members, stop) = (histogram.at(noise)?, members.clone(), stop.clone());
            let epsilon = move |delta: Delta| {
                bound(histogram.epsilon_towards(&members, delta, &stop)?.into_value(), delta)
            };
            Ok(Profile::of_curve(epsilon, against))
        };
        Alike::new(observer, RingHistogram::node_count(self), self.terms(), profile)
    }
}

/// A node that is not the first and, on three nodes or more, not the last.
const IN_THE_MIDDLE: usize = 1;
