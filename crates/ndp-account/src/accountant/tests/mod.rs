//! Tests with accounts whose losses are given by hand, so that the answers about them are known.

mod answers;
mod kept;

use super::{Account, Observer, Protocol};
use crate::{Assumption, Error, RestsOn, Terms};
use ndp_dp::{ApproxDp, Curve, Delta, Exact, Gdp, Guarantee, Measure, NoiseMultiplier, Profile, UpperBound};
use ndp_graph::progress::Stop;

/// An account with a given profile for each node and noise.
struct Told<F> {
    observer: Observer,
    nodes: usize,
    failure: f64,
    /// The least noise that the account returns for every question; by `None`, it searches.
    needs: Option<f64>,
    says: F,
}

impl<F: Fn(usize, f64) -> Result<Profile, Error> + Send + Sync> Account for Told<F> {
    fn observer(&self) -> &Observer {
        &self.observer
    }

    fn node_count(&self) -> usize {
        self.nodes
    }

    fn profile(&self, u: usize, noise: NoiseMultiplier) -> Result<Profile, Error> {
        (self.says)(self.observer.checked_source(u, self.nodes)?, noise.get())
    }

    fn terms(&self) -> Terms {
        Terms::VALUES
    }

    fn failure(&self) -> f64 {
        self.failure
    }

    fn rests_on(&self) -> Vec<RestsOn> {
        vec![RestsOn::ToldOfAll]
    }

    fn assumptions(&self) -> Vec<Assumption> {
        vec![Assumption::Fixed]
    }

    fn least_noise(
        &self,
        u: usize,
        measure: Measure,
        allowed: f64,
    ) -> Result<Option<NoiseMultiplier>, Error> {
        match self.needs {
            Some(noise) => Ok(Some(NoiseMultiplier::new(noise)?)),
            None => super::search_of_pair(self, u, measure, allowed),
        }
    }
}

/// The account of node `v` of `nodes` nodes, with a failure probability of 1/4.
fn told<'a>(
    v: usize,
    nodes: usize,
    says: impl Fn(usize, f64) -> Result<Profile, Error> + Send + Sync + 'a,
) -> Box<dyn Account + 'a> {
    Box::new(Told { observer: Observer::node(v), nodes, failure: 0.25, needs: None, says })
}

/// Exactly this `μ`.
fn exactly(mu: f64) -> Result<Profile, Error> {
    Ok(Profile::gaussian(Exact::new(Gdp::new(mu)?).into(), "a test"))
}

/// At most this `μ`.
fn at_most(mu: f64) -> Result<Profile, Error> {
    Ok(Profile::gaussian(UpperBound::new(Gdp::new(mu)?).into(), "a test"))
}

/// A profile with the same `ε` at every `δ`, and the value that `quick_epsilon` returns.
struct Flat {
    epsilon: f64,
    quick: Option<f64>,
}

impl Curve for Flat {
    fn epsilon(&self, delta: Delta) -> Result<Guarantee<ApproxDp>, ndp_dp::Error> {
        Ok(UpperBound::new(ApproxDp::new(self.epsilon, delta.get())?).into())
    }

    fn quick_epsilon(&self, _: Delta, _: f64) -> Option<f64> {
        self.quick
    }
}

fn flat(epsilon: f64, quick: Option<f64>) -> Profile {
    Profile::of_curve(Flat { epsilon, quick }, "a test")
}

fn epsilon() -> Result<Measure, Error> {
    Ok(Measure::Approx(Delta::new(1e-5)?))
}

fn one() -> Result<NoiseMultiplier, Error> {
    Ok(NoiseMultiplier::new(1.0)?)
}

/// A protocol given by its accounts; its nodes add noise of variance 1 to what they send, or none.
struct Saying<F> {
    nodes: usize,
    bounded: bool,
    accounts: F,
}

impl<F: Fn(usize) -> Box<dyn Account> + Send + Sync> Protocol for Saying<F> {
    fn node_count(&self) -> usize {
        self.nodes
    }

    fn account_until<'a>(&'a self, observer: &Observer, _: &Stop) -> Result<Box<dyn Account + 'a>, Error> {
        Ok((self.accounts)(observer.single(self.nodes)?))
    }

    fn local_bound<'a>(&'a self, observer: &Observer) -> Result<Box<dyn Account + 'a>, Error> {
        super::local_bound(self.nodes, self.bounded.then_some(1.0), observer, Terms::VALUES)
    }

    fn error_until(&self, noise: NoiseMultiplier, _: &Stop) -> Result<f64, Error> {
        Ok(3.0 * noise.get())
    }
}
