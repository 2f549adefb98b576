//! The account of a walk that has the same curve for every node outside the coalition.

use ndp_account::{Account, Error, Observer, Terms, parts::search_of_pair};
use ndp_dp::{ApproxDp, Delta, Guarantee, Measure, NoiseMultiplier, Profile, UpperBound};

/// Computes the least noise for a target, if there is a better way than a search; `None` where a search
/// decides.
pub(super) type Least = Box<dyn Fn(ApproxDp) -> Result<Option<NoiseMultiplier>, Error> + Send + Sync>;

/// An account that has the same curve for every node. `profile` gives it at a noise; its second argument is
/// the observer, as a profile names it.
pub(super) struct Alike<F> {
    observer: Observer,
    nodes: usize,
    terms: Terms,
    profile: F,
    least: Option<Least>,
    /// The key of the account, if others may share it.
    shared: Option<(usize, usize)>,
}

impl<F: Fn(NoiseMultiplier, &str) -> Result<Profile, Error> + Send + Sync> Alike<F> {
    /// An account without a formula for the least noise, which is not shared.
    pub(super) fn new(observer: &Observer, nodes: usize, terms: Terms, profile: F) -> Self {
        Self { observer: observer.clone(), nodes, terms, profile, least: None, shared: None }
    }

    /// The same account, with a way to the least noise for a target.
    pub(super) fn with_least(self, least: Option<Least>) -> Self {
        Self { least, ..self }
    }

    /// The same account, whose profiles are those of every account of this protocol with the same number.
    pub(super) fn shared_by<P>(self, protocol: &P, number: usize) -> Self {
        Self { shared: Some((std::ptr::from_ref(protocol).addr(), number)), ..self }
    }
}

impl<F: Fn(NoiseMultiplier, &str) -> Result<Profile, Error> + Send + Sync> Account for Alike<F> {
    fn observer(&self) -> &Observer {
        &self.observer
    }

    fn node_count(&self) -> usize {
        self.nodes
    }

    fn terms(&self) -> Terms {
        self.terms
    }

    fn profile(&self, u: usize, noise: NoiseMultiplier) -> Result<Profile, Error> {
        self.observer.checked_source(u, self.nodes)?;
        (self.profile)(noise, &self.observer.to_string())
    }

    fn class(&self) -> Option<(usize, usize)> {
        self.shared.or_else(|| Some((std::ptr::from_ref(self).addr(), 0)))
    }

    fn least_noise(
        &self,
        u: usize,
        measure: Measure,
        allowed: f64,
    ) -> Result<Option<NoiseMultiplier>, Error> {
        match (measure, &self.least) {
            (Measure::Approx(delta), Some(least)) if 0.0 < allowed && allowed.is_finite() => {
                self.observer.checked_source(u, self.nodes)?;
                if let Some(noise) = least(ApproxDp::new(allowed, delta.get())?)? {
                    return Ok(Some(noise));
                }
            }
            _ => {}
        }
        search_of_pair(self, u, measure, allowed)
    }
}

/// `ε` at `delta`, as an upper bound.
pub(super) fn bound(epsilon: f64, delta: Delta) -> Result<Guarantee<ApproxDp>, ndp_dp::Error> {
    Ok(UpperBound::new(ApproxDp::new(epsilon, delta.get())?).into())
}
