//! Profiles by the law of the privacy loss. Answers are kept, and Rényi divergences are used only where the
//! ends of a law are not close.

use super::{Curve, Law, Profile};
use crate::loss_law::{Enclosed, LossLaw};
use crate::{ApproxDp, Delta, Error, Guarantee, Order, UpperBound, conversion};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// `δ` and `ε` by the law, and the Rényi divergence if each part has a bound.
impl Curve for LossLaw {
    fn renyi(&self, order: Order) -> Result<Option<Guarantee<f64>>, Error> {
        Ok(self.rdp(order).map(Guarantee::from))
    }

    fn pure_epsilon(&self) -> Result<Guarantee<f64>, Error> {
        Ok(Self::pure_epsilon(self).guarantee())
    }

    fn epsilon(&self, delta: Delta) -> Result<Guarantee<ApproxDp>, Error> {
        Ok(Self::epsilon(self, delta).guarantee().map(|epsilon| ApproxDp::clamped(epsilon, delta.get())))
    }

    fn delta(&self, epsilon: f64) -> Result<Guarantee<ApproxDp>, Error> {
        Ok(Self::delta(self, epsilon)?.guarantee().map(|delta| ApproxDp::clamped(epsilon, delta)))
    }
}

impl LossLaw {
    /// The profile of this law, for ledgers, checks and comparisons. If the whole law is Gaussian, this is
    /// [`Profile::gaussian`].
    ///
    /// Answers are kept and shared with all clones, so that no question is computed twice. They hold for both
    /// orders of the two data sets, also where [`LossLaw::only`] left one: a profile does not say which.
    ///
    /// # Examples
    /// ```
    /// use ndp_dp::{Delta, Gaussian, LossLaw, Neighbors, Sensitivity, Sigma};
    /// let step = Gaussian { sensitivity: Sensitivity::new(1.0)?, sigma: Sigma::new(1.0)? };
    /// let profile = LossLaw::sampled_gaussian(step, 0.01)?.times(100)?.profile("whoever sees all models");
    /// assert_eq!(profile.neighbors, Neighbors::AddOrRemove);
    /// assert!(profile.epsilon(Delta::new(1e-5)?)?.value().epsilon() < 1.0);
    /// # Ok::<(), ndp_dp::Error>(())
    /// ```
    #[must_use]
    pub fn profile(self, against: &str) -> Profile {
        let neighbors = self.neighbors();
        let law = self.in_both_directions();
        let law = law
            .mu()
            .map_or_else(|| Law::Known(Arc::new(Known::new(law))), |(gdp, lower)| Law::Gaussian(gdp, lower));
        Profile { neighbors, ..Profile::new(law, against) }
    }
}

/// A law, with the answers that it has given.
#[derive(Debug)]
pub(super) struct Known {
    law: LossLaw,
    epsilons: Answers,
    deltas: Answers,
}

/// Answers, each with a lower end, by the bits of the number in the question.
#[derive(Debug, Default)]
struct Answers(Mutex<BTreeMap<u64, (Guarantee<f64>, f64)>>);

impl Answers {
    /// The kept answer to a question, or a new one. Entries are whole even if the lock is poisoned by a
    /// panic.
    fn kept(&self, question: f64, answer: impl Fn() -> (Guarantee<f64>, f64)) -> (Guarantee<f64>, f64) {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&question.to_bits()).copied();
        known.unwrap_or_else(|| {
            let found = answer();
            self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(question.to_bits(), found);
            found
        })
    }
}

impl Known {
    pub(super) fn new(law: LossLaw) -> Self {
        Self { law, epsilons: Answers::default(), deltas: Answers::default() }
    }

    pub(super) const fn law(&self) -> &LossLaw {
        &self.law
    }

    pub(super) fn renyi(&self, order: Order) -> Option<UpperBound<f64>> {
        self.law.rdp(order)
    }

    pub(super) fn pure_epsilon(&self) -> Guarantee<f64> {
        self.law.pure_epsilon().guarantee()
    }

    pub(super) fn epsilon(&self, delta: Delta) -> Guarantee<ApproxDp> {
        self.epsilon_ends(delta).0.map(|epsilon| ApproxDp::clamped(epsilon, delta.get()))
    }

    /// A proven lower end of the `ε` at `delta`; 0 if the pairs merely dominate the releases.
    pub(super) fn least_epsilon(&self, delta: Delta) -> f64 {
        if self.law.is_exact() { self.epsilon_ends(delta).1 } else { 0.0 }
    }

    fn epsilon_ends(&self, delta: Delta) -> (Guarantee<f64>, f64) {
        self.epsilons.kept(delta.get(), || {
            let by_renyi = || {
                conversion::best_epsilon(|order| self.bound(order), delta)
                    .map(|found| found.approx_dp.epsilon())
            };
            self.smaller(self.law.epsilon(delta), by_renyi)
        })
    }

    pub(super) fn delta(&self, epsilon: f64) -> Result<Guarantee<ApproxDp>, Error> {
        let (delta, _) = self.deltas.kept(epsilon, || {
            let by_renyi = || {
                let best = conversion::best_delta(|order| self.bound(order), epsilon);
                best.map_or(UpperBound::new(1.0), |best| best.map(|found| found.approx_dp.delta()))
            };
            self.law
                .delta(epsilon)
                .map_or((UpperBound::new(1.0).into(), 0.0), |found| self.smaller(found, by_renyi))
        });
        Ok(delta.map(|delta| ApproxDp::clamped(epsilon, delta)))
    }

    /// The Rényi bound; `∞` if none is known.
    fn bound(&self, order: Order) -> UpperBound<f64> {
        self.law.rdp(order).unwrap_or(UpperBound::new(f64::INFINITY))
    }

    /// The answer of the law, with its lower end. If its two ends are apart, the answer by Rényi divergences
    /// is computed as well, and used if it is smaller.
    fn smaller(&self, found: Enclosed, by_renyi: impl Fn() -> UpperBound<f64>) -> (Guarantee<f64>, f64) {
        let tight = found.upper() - found.lower() <= TIGHT * found.upper();
        let without = || Order::new(2.0).is_ok_and(|order| self.law.rdp(order).is_none());
        if tight || without() {
            return (found.guarantee(), found.lower());
        }
        let bound = by_renyi();
        let least = if *bound.value() < found.upper() { bound.into() } else { found.guarantee() };
        (least, found.lower())
    }
}

/// The relative distance of two ends below which Rényi divergences are not tried.
const TIGHT: f64 = 1e-3;
