//! The largest loss over all covered observers, and whether some observer is proven to learn as much.
//!
//! A bound covers every pair of the observers that are not looked at. If one pair is proven to lose as much,
//! no smaller number bounds all pairs. So the largest loss is known exactly, although most pairs lose less.
//! In most gossip protocols, a neighbor who hears a noisy value directly from its node is such a pair.

use super::shares::representatives;
use super::target::{Allowed, LeastNoise, Pair, Target};
use super::{Account, Audience, ByMu, Covered, Observer, Protocol};
use crate::Error;
use ndp_dp::{Exact, Grade, Guarantee, Measure, NoiseMultiplier, Profile, UpperBound, Verdict};
use ndp_graph::progress::Stop;
use rayon::prelude::*;

/// The largest loss of all pairs that are covered.
///
/// # Examples
/// ```
/// use ndp_account::{Audience, Covered, Protocol, accounts};
/// use ndp_account::example::Gossip;
/// use ndp_dp::{Grade, Measure, NoiseMultiplier};
/// use ndp_graph::{GossipMatrix, generators::path_graph, progress::Silent};
/// let gossip = Gossip::new(GossipMatrix::metropolis(&path_graph(9)?), 3);
/// // One end of the path is looked at; it hears its neighbor's noisy value, and nobody can learn more than that.
/// let audience = Audience::chosen(9, &[0])?;
/// let covered = Covered::new(&gossip, &audience, accounts(&gossip, audience.looked_at(), &Silent)?);
/// let worst = covered.worst(NoiseMultiplier::new(2.0)?, Measure::Gaussian)?.ok_or("a pair")?;
/// assert_eq!((worst.loss.grade(), worst.source), (Grade::Exact, 1));
/// assert!((worst.loss.value() - 0.5).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Worst {
    /// An upper bound on the loss of every covered pair; `Exact` if one pair is proven to lose as much,
    /// within a relative `1e-9`.
    pub loss: Guarantee<f64>,
    /// The observer that learns as much, or has the largest bound.
    pub observer: Observer,
    /// The exposed node.
    pub source: usize,
}

impl Covered<'_> {
    /// An upper bound on what any covered observer learns about any node at `noise`; `None` if there is no
    /// pair.
    ///
    /// # Errors
    /// Those of the accounts.
    pub fn worst(&self, noise: NoiseMultiplier, measure: Measure) -> Result<Option<Worst>, Error> {
        let most = if self.coverage.is_by_bound() {
            // The bound also holds for the observers who are looked at, and takes no time.
            let bounds =
                self.looked_at().iter().map(|account| self.protocol().local_bound(account.observer()));
            let bounds = bounds.collect::<Result<Vec<_>, _>>()?;
            let of_looked_at = largest(&bounds, noise, measure)?;
            larger(of_looked_at, largest(self.others(), noise, measure)?)
        } else {
            largest(&self.accounts, noise, measure)?
        };
        let Some(worst) = most else { return Ok(None) };
        let most = worst.loss.into_value();
        if worst.loss.grade() == Grade::Exact || most == 0.0 {
            return Ok(Some(Worst { loss: Exact::new(most).into(), ..worst }));
        }
        Ok(Some(match self.attained(noise, measure, most) {
            Some((observer, source)) => Worst { loss: Exact::new(most).into(), observer, source },
            None => Worst { loss: UpperBound::new(most).into(), ..worst },
        }))
    }

    /// A pair whose loss is proven to be `most`, within a relative `1e-9`. Only pairs with a fast answer are
    /// asked.
    fn attained(&self, noise: NoiseMultiplier, measure: Measure, most: f64) -> Option<(Observer, usize)> {
        let below = most * (1.0 - WITHIN);
        if !(0.0 < below && below.is_finite()) {
            return None;
        }
        let of = |account: &dyn Account| reaching(account, noise, measure, below);
        let looked_at = self.looked_at();
        // One account of each class is enough: others would give the same answer, and some take long.
        let kept = representatives(looked_at);
        let found = kept.iter().find_map(|&(at, _)| of(looked_at[at].as_ref()));
        found.or_else(|| of(self.witness()?)).or_else(|| {
            let observer = looked_at.first()?.observer();
            of(self.protocol().glimpse(observer, &Stop::never()).ok()?.as_ref())
        })
    }

    /// The same noise with a pair that is proven to need it, if one limit holds for all pairs and a bound was
    /// the tightest.
    pub(super) fn with_attained(&self, target: &Target, least: LeastNoise) -> LeastNoise {
        let (Some(pair), Allowed::Worst(_)) = (&least.tightest, &target.allowed) else { return least };
        if pair.loss.grade() == Grade::Exact {
            return least;
        }
        let (most, allowed) = (*pair.loss.value(), pair.allowed);
        let Some((observer, source)) = self.attained(least.noise, target.measure, most) else { return least };
        let tightest = Some(Pair { source, observer, loss: Exact::new(most).into(), allowed });
        LeastNoise { tightest, grade: Some(Grade::Exact), ..least }
    }
}

/// A pair for which this account proves a loss of at least `least`. Only pairs with a fast answer are asked.
fn reaching(
    account: &dyn Account,
    noise: NoiseMultiplier,
    measure: Measure,
    least: f64,
) -> Option<(Observer, usize)> {
    let observer = account.observer();
    let outside = (0..account.node_count()).filter(|&u| !observer.contains(u));
    // Once there is an account, Gaussian profiles take hardly any time. Other profiles take long already for
    // the first node, so they are not asked.
    let gaussian = |&u: &usize| account.profile(u, noise).is_ok_and(|found| found.mu().is_some());
    let cheap = account.unit_losses().is_some() || outside.clone().take(1).all(|u| gaussian(&u));
    let asked = match account.class() {
        Some(_) => 1,
        None if cheap => usize::MAX,
        None => 0,
    };
    let reaches = |&u: &usize| {
        let found = account.profile(u, noise).ok().filter(Profile::has_lower_end);
        found.is_some_and(|found| found.check(measure, least) == Ok(Verdict::Violated))
    };
    outside.take(asked).find(reaches).map(|u| (observer.clone(), u))
}

/// Whether the bound is the same for every observer, and some observer is proven to learn as much at every
/// noise, by a [part](Protocol::glimpse) of what it hears. Then no account can lower the largest loss. If
/// every node is looked at, each is tried; otherwise the first one that is looked at and the audience's
/// [hint](Audience::hinting). What is not seen before `stop` says so is not proven.
///
/// # Examples
/// ```
/// use ndp_account::{Audience, bound_is_attained};
/// use ndp_account::example::Gossip;
/// use ndp_graph::{GossipMatrix, generators::path_graph, progress::Stop};
/// let gossip = Gossip::new(GossipMatrix::metropolis(&path_graph(9)?), 3);
/// // The example offers no account of a part of what is heard, so that nothing is proven.
/// assert!(!bound_is_attained(&gossip, &Audience::chosen(9, &[0])?, &Stop::never()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn bound_is_attained(protocol: &dyn Protocol, audience: &Audience, stop: &Stop) -> bool {
    attaining(protocol, audience, stop).is_some()
}

/// The account of the part of what an observer hears that proves that the bound is attained.
pub(super) fn attaining<'a>(
    protocol: &'a dyn Protocol,
    audience: &Audience,
    stop: &Stop,
) -> Option<Box<dyn Account + 'a>> {
    let first = audience.looked_at().first()?;
    let bound = protocol.local_bound(first).ok()?;
    let class = bound.class()?;
    let alike = |other: &Observer| protocol.local_bound(other).is_ok_and(|b| b.class() == Some(class));
    if !audience.looked_at().iter().chain(audience.others()).all(alike) {
        return None;
    }
    let one = NoiseMultiplier::new(1.0).ok()?;
    let source = (0..bound.node_count()).find(|&u| !first.contains(u))?;
    let most = bound.profile(source, one).ok()?.mu()?.into_value().mu();
    let tried = if audience.is_everybody(protocol.node_count()) {
        audience.looked_at()
    } else {
        std::slice::from_ref(first)
    };
    let tried: Vec<&Observer> = tried.iter().chain(&audience.hint).collect();
    // Each has a part of the work, whichever of them come first.
    let share = stop.left().map_or(u64::MAX, |left| left / tried.len().max(1) as u64);
    let part = |observer: &&Observer| -> Option<Box<dyn Account + 'a>> {
        let part = protocol.glimpse(observer, &stop.within(share)).ok()?;
        reaching(part.as_ref(), one, Measure::Gaussian, most * (1.0 - WITHIN)).map(|_| part)
    };
    tried.par_iter().find_map_first(part)
}

/// The largest relative difference between a bound and a proven lower end for which the bound is called
/// exact.
pub(super) const WITHIN: f64 = 1e-9;

/// The largest loss by these accounts at `noise`; `None` if there is no pair. One pair of each class is
/// asked. It covers only the observers of these accounts.
///
/// # Examples
/// ```
/// use ndp_account::{Observer, Protocol, largest};
/// use ndp_account::example::Gossip;
/// use ndp_dp::{Measure, NoiseMultiplier};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let gossip = Gossip::new(GossipMatrix::metropolis(&path_graph(9)?), 3);
/// // Whoever observes: noisy values show this much, and nothing more can be computed from them.
/// let bound = gossip.local_bound(&Observer::node(0))?;
/// let most = largest(&[bound], NoiseMultiplier::new(2.0)?, Measure::Gaussian)?.ok_or("a pair")?;
/// assert!((most.loss.value() - 0.5).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Those of the accounts.
pub fn largest(
    accounts: &[Box<dyn Account + '_>],
    noise: NoiseMultiplier,
    measure: Measure,
) -> Result<Option<Worst>, Error> {
    let (kept, losses) = (representatives(accounts), ByMu::new(measure));
    let of_account = |&(at, _): &(usize, usize)| -> Result<Option<Worst>, Error> {
        let account = &accounts[at];
        let observer = account.observer();
        let outside = (0..account.node_count()).filter(|&u| !observer.contains(u));
        let asked = if account.class().is_some() { 1 } else { usize::MAX };
        let mut most = None;
        for source in outside.take(asked) {
            let loss = losses.loss(&account.profile(source, noise)?)?;
            most = larger(most, Some(Worst { loss, observer: observer.clone(), source }));
        }
        Ok(most)
    };
    let all = kept.par_iter().map(of_account).collect::<Result<Vec<_>, Error>>()?;
    Ok(all.into_iter().fold(None, larger))
}

/// The one with the larger loss; if equal, the exact one; if equal in this too, the first.
fn larger(a: Option<Worst>, b: Option<Worst>) -> Option<Worst> {
    match (a, b) {
        (Some(a), Some(b)) => {
            let key = |worst: &Worst| (*worst.loss.value(), worst.loss.grade() == Grade::Exact);
            Some(if key(&b).partial_cmp(&key(&a)) == Some(std::cmp::Ordering::Greater) { b } else { a })
        }
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Gossip;
    use crate::{Coverage, accounts};
    use ndp_dp::Delta;
    use ndp_graph::{GossipMatrix, generators, progress::Silent};

    fn worst_of(
        protocol: &dyn Protocol,
        audience: &Audience,
        measure: Measure,
    ) -> Result<Option<Worst>, Error> {
        let covered = Covered::new(protocol, audience, accounts(protocol, audience.looked_at(), &Silent)?);
        covered.worst(NoiseMultiplier::new(2.0)?, measure)
    }

    /// One account with the bound, and all accounts, give the same exact number, on a graph where a neighbor
    /// hears a noisy value.
    #[test]
    fn one_pair_makes_the_bound_exact_for_all() -> Result<(), Error> {
        for graph in [generators::path_graph(2)?, generators::path_graph(9)?, generators::star_graph(5)?] {
            let n = graph.node_count();
            let gossip = Gossip::new(GossipMatrix::metropolis(&graph), 3);
            for measure in [Measure::Gaussian, Measure::Approx(Delta::new(1e-5)?)] {
                let all = worst_of(&gossip, &Audience::every_node(n), measure)?.ok_or(Error::Cancelled)?;
                let one =
                    worst_of(&gossip, &Audience::chosen(n, &[n - 1])?, measure)?.ok_or(Error::Cancelled)?;
                assert_eq!((one.loss.grade(), all.loss.grade()), (Grade::Exact, Grade::Exact));
                let (one, all) = (one.loss.into_value(), all.loss.into_value());
                assert!(all <= one * (1.0 + 1e-12) && one <= all * (1.0 + 1e-8), "{one} {all}");
            }
        }
        Ok(())
    }

    /// A bound that no pair is proven to attain stays an upper bound, and observers who are not covered add
    /// nothing.
    #[test]
    fn a_bound_that_nobody_reaches_is_no_exact_number() -> Result<(), Error> {
        /// A protocol whose nodes hear nothing, but whose bound assumes that they hear noisy values.
        struct Silence(Gossip);
        impl Protocol for Silence {
            fn node_count(&self) -> usize {
                Protocol::node_count(&self.0)
            }

            fn account_until<'a>(
                &'a self,
                observer: &Observer,
                _: &Stop,
            ) -> Result<Box<dyn Account + 'a>, Error> {
                let nothing = Exact::new(0.0).into();
                super::super::Uniform::account(self.node_count(), nothing, observer, crate::Terms::VALUES)
            }

            fn local_bound<'a>(&'a self, observer: &Observer) -> Result<Box<dyn Account + 'a>, Error> {
                self.0.local_bound(observer)
            }
        }
        let silence = Silence(Gossip::new(GossipMatrix::metropolis(&generators::path_graph(6)?), 3));
        let audience = Audience::chosen(6, &[0])?;
        // Accounts of one class cover every node exactly.
        let worst = worst_of(&silence, &audience, Measure::Gaussian)?.ok_or(Error::Cancelled)?;
        assert_eq!((worst.loss.grade(), worst.loss.into_value()), (Grade::Exact, 0.0));
        let mut covered =
            Covered::new(&silence, &audience, accounts(&silence, audience.looked_at(), &Silent)?);
        for (account, v) in covered.accounts[1..].iter_mut().zip(1..) {
            *account = silence.local_bound(&Observer::node(v))?;
        }
        covered.coverage = Coverage::Bounded { looked_at: 1, nodes: 6, seed: None };
        let worst = covered.worst(NoiseMultiplier::new(2.0)?, Measure::Gaussian)?.ok_or(Error::Cancelled)?;
        assert_eq!((worst.loss.grade(), worst.loss.into_value()), (Grade::UpperBound, 0.5));
        Ok(())
    }

    /// A protocol whose nodes hear all noisy values: a part of what they hear already shows the bound. Other
    /// questions than that of the worst pair of everybody are left to their own accounts.
    #[test]
    fn a_bound_that_a_part_attains_answers_for_everybody() -> Result<(), Error> {
        struct Broadcast {
            heard: f64,
        }
        impl Protocol for Broadcast {
            fn node_count(&self) -> usize {
                5
            }

            fn account_until<'a>(
                &'a self,
                observer: &Observer,
                _: &Stop,
            ) -> Result<Box<dyn Account + 'a>, Error> {
                let unit = Exact::new(self.heard).into();
                super::super::Uniform::account(5, unit, observer, crate::Terms::VALUES)
            }

            fn local_bound<'a>(&'a self, observer: &Observer) -> Result<Box<dyn Account + 'a>, Error> {
                let unit = UpperBound::new(1.0).into();
                super::super::Uniform::account(5, unit, observer, crate::Terms::VALUES)
            }

            fn glimpse<'a>(
                &'a self,
                observer: &Observer,
                stop: &Stop,
            ) -> Result<Box<dyn Account + 'a>, Error> {
                self.account_until(observer, stop)
            }
        }
        let named = Audience::named(vec![Observer::node(0), Observer::node(3)]);
        let (worst, never) = (Target::worst(Measure::Gaussian, 0.5), Stop::never());
        for audience in [Audience::every_node(5), Audience::chosen(5, &[0])?, Audience::chosen(5, &[4, 2])?] {
            let answered = |heard: f64, target: &Target| {
                let protocol = Broadcast { heard };
                let covered = Covered::by_attained_bound(&protocol, &audience, target, &never);
                (bound_is_attained(&protocol, &audience, &never), covered.is_some())
            };
            assert_eq!(answered(1.0, &worst), (true, true), "{audience:?}");
            assert_eq!(answered(0.9, &worst), (false, false), "{audience:?}");
            assert_eq!(answered(1.0, &Target::mean(Measure::Gaussian, 0.5)), (true, false));
        }
        let protocol = Broadcast { heard: 1.0 };
        assert!(bound_is_attained(&protocol, &named, &never));
        assert!(Covered::by_attained_bound(&protocol, &named, &worst, &never).is_none());
        Ok(())
    }
}
