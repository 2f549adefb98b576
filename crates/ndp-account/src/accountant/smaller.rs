//! The smaller of an account and a bound that is known without it.

use super::{Account, NodeNames, Observer};
use crate::forward::forward;
use crate::{Assumption, By, Error, RestsOn, Terms};
use ndp_dp::{ApproxDp, Curve, Delta, Guarantee, Measure, NoiseMultiplier, Order, Profile, Rdp};

/// An account that never exceeds its [local bound](super::Protocol::local_bound), if there is one. Both are
/// guarantees about all data of one node towards the same observer. The accounts of walks and of subsampling
/// are loose for few nodes or steps, so the bound may be smaller.
pub fn at_most<'a>(
    account: Box<dyn Account + 'a>,
    bound: Result<Box<dyn Account + 'a>, Error>,
) -> Box<dyn Account + 'a> {
    match bound {
        Ok(bound) => Box::new(Smaller { account, bound }),
        Err(_) => account,
    }
}

struct Smaller<'a> {
    account: Box<dyn Account + 'a>,
    bound: Box<dyn Account + 'a>,
}

impl Account for Smaller<'_> {
    forward! { self.account =>
        fn observer(&self) -> &Observer;
        fn node_count(&self) -> usize;
        fn terms(&self) -> Terms;
        fn failure(&self) -> f64;
        fn names(&self) -> NodeNames;
        fn rests_on(&self) -> Vec<RestsOn>;
        fn class(&self) -> Option<(usize, usize)>;
        fn assumptions(&self) -> Vec<Assumption>;
        fn is_by_bound(&self) -> bool;
    }

    fn profile(&self, u: usize, noise: NoiseMultiplier) -> Result<Profile, Error> {
        Ok(match (self.account.profile(u, noise)?, self.bound.profile(u, noise)) {
            (account, Ok(bound)) => smaller(account, bound),
            (account, Err(_)) => account,
        })
    }

    fn theorems(&self) -> Vec<By> {
        [self.account.theorems(), self.bound.theorems()].concat()
    }

    /// The smaller of the two noises. At this noise one of the two losses stays within the limit, and so does
    /// the smaller one.
    fn least_noise(
        &self,
        u: usize,
        measure: Measure,
        allowed: f64,
    ) -> Result<Option<NoiseMultiplier>, Error> {
        let account = self.account.least_noise(u, measure, allowed);
        match (account, self.bound.least_noise(u, measure, allowed)) {
            (Ok(Some(account)), Ok(Some(bound))) if bound < account => Ok(Some(bound)),
            (Err(_), Ok(Some(bound))) => Ok(Some(bound)),
            (account, _) => account,
        }
    }
}

/// The smaller of two profiles about the same data and observer; an exact profile is kept.
fn smaller(account: Profile, bound: Profile) -> Profile {
    if account.neighbors != bound.neighbors {
        return account;
    }
    match (account.mu(), bound.mu()) {
        (Some(Guarantee::UpperBound(mu)), Some(least)) if least.value().mu() < mu.value().mu() => bound,
        (Some(_), Some(_)) => account,
        _ => {
            let (neighbors, against) = (account.neighbors, account.against.clone());
            let mut profile = Profile::of_curve(Least { account, bound }, &against);
            profile.neighbors = neighbors;
            profile
        }
    }
}

/// For every question, the smaller of the two answers.
struct Least {
    account: Profile,
    bound: Profile,
}

impl Curve for Least {
    /// If the account has no Rényi loss, neither has the smaller of the two. The bound alone would be worse
    /// than what the account says as `(ε, δ)`, and a composition would use it.
    fn renyi(&self, order: Order) -> Result<Option<Guarantee<f64>>, ndp_dp::Error> {
        let account = match self.account.renyi(order) {
            Err(ndp_dp::Error::NoRenyiBound) => return Ok(None),
            found => found?,
        };
        Ok(Some(least(account, self.bound.renyi(order), |rdp: Rdp| rdp.epsilon).map(|rdp| rdp.epsilon)))
    }

    fn epsilon(&self, delta: Delta) -> Result<Guarantee<ApproxDp>, ndp_dp::Error> {
        Ok(least(self.account.epsilon(delta)?, self.bound.epsilon(delta), ApproxDp::epsilon))
    }

    fn keeps(&self, limit: ApproxDp) -> bool {
        self.account.keeps(limit)
    }

    fn quick_epsilon(&self, delta: Delta, limit: f64) -> Option<f64> {
        let account = self.account.quick_epsilon(delta, limit)?;
        Some(self.bound.quick_epsilon(delta, limit).map_or(account, |bound| account.min(bound)))
    }

    fn delta(&self, epsilon: f64) -> Result<Guarantee<ApproxDp>, ndp_dp::Error> {
        Ok(least(self.account.delta(epsilon)?, self.bound.delta(epsilon), ApproxDp::delta))
    }
}

/// The smaller of two guarantees; the account's, if the bound has no answer.
fn least<T: Copy>(
    account: Guarantee<T>,
    bound: Result<Guarantee<T>, ndp_dp::Error>,
    number: impl Fn(T) -> f64,
) -> Guarantee<T> {
    match bound {
        Ok(bound) if number(*bound.value()) < number(*account.value()) => bound,
        _ => account,
    }
}
