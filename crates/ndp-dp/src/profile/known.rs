//! Profiles by the law of the privacy loss: answers are kept, and Rényi divergences asked only where a law is
//! not tight.

use super::{Curve, Profile};
use crate::loss_law::{Enclosed, LossLaw};
use crate::{ApproxDp, Delta, Error, Guarantee, Order, UpperBound, conversion};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// `δ` and `ε` by the law; the Rényi divergence where each part has a bound.
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
    /// What an observer can tell by this law, for ledgers, checks and comparisons: [`Profile::of_law`].
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
        Profile::of_law(self, against)
    }
}

/// A law, and what it answered.
#[derive(Debug)]
pub(super) struct Known {
    law: LossLaw,
    epsilons: Answers,
    deltas: Answers,
}

/// By the bits of the question, the answer and a lower end.
#[derive(Debug, Default)]
struct Answers(Mutex<BTreeMap<u64, (Guarantee<f64>, f64)>>);

impl Answers {
    /// The answer that was given, or a new one. A poisoned lock holds whole entries all the same.
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

    /// A proven lower end of the `ε` at `delta`; 0 where the pairs only dominate what is released.
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

    /// The Rényi divergence, `∞` where none is known.
    fn bound(&self, order: Order) -> UpperBound<f64> {
        self.law.rdp(order).unwrap_or(UpperBound::new(f64::INFINITY))
    }

    /// What the law says with its lower end; what Rényi divergences say where that is less, which is asked
    /// where the ends are apart.
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

/// Ends so near to each other, relative, leave nothing to gain.
const TIGHT: f64 = 1e-3;
