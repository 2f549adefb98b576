//! What an audience learns: accounts of the observers who are looked at, and what covers the others.

mod alike;

use super::audience::{Asked, Audience};
use super::symmetry::Orbits;
use super::worst::attaining;
use super::{
    Account, Allowed, Check, Coverage, LeastNoise, Observer, Protocol, Rest, Target, check, least_noise,
};
use crate::Error;
use ndp_dp::NoiseMultiplier;
use ndp_graph::progress::Stop;
use ndp_numeric::rounding::any_of;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What an audience learns: first the accounts of those who are looked at, then those that cover the others.
///
/// # Examples
/// ```
/// use ndp_account::{Audience, Covered, Target, accounts};
/// use ndp_account::example::Gossip;
/// use ndp_dp::{Delta, Measure, Verdict};
/// use ndp_graph::{GossipMatrix, generators::path_graph, progress::Silent};
/// let gossip = Gossip::new(GossipMatrix::metropolis(&path_graph(9)?), 3);
/// // Two nodes are looked at; what the others learn is bounded by what noisy values show.
/// let audience = Audience::drawn(9, &[0, 4], 1)?;
/// let covered = Covered::new(&gossip, &audience, accounts(&gossip, audience.looked_at(), &Silent)?);
/// assert_eq!((covered.looked_at().len(), covered.accounts.len()), (2, 9));
/// let target = Target::worst(Measure::Approx(Delta::new(1e-5)?), 1.0);
/// let noise = covered.least_noise(&target)?.noise;
/// assert_eq!(covered.check(noise, &target)?.verdict, Verdict::Met); // by all nine
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Covered<'a> {
    /// The accounts of those who are looked at, in their order, then those of the others.
    pub accounts: Vec<Box<dyn Account + 'a>>,
    /// What the accounts cover.
    pub coverage: Coverage,
    looked_at: usize,
    protocol: &'a dyn Protocol,
    /// An account that is not among these and shows as much loss as the bound for the others says.
    witness: Option<Box<dyn Account + 'a>>,
}

impl<'a> Covered<'a> {
    /// Combines the `accounts` of those at whom `audience` looks, in their order, with what is proven about
    /// the others: that all observers learn alike, or the bound that holds for every observer. Without either
    /// in `protocol`, the others stay uncovered.
    #[must_use]
    pub fn new(
        protocol: &'a dyn Protocol,
        audience: &Audience,
        mut accounts: Vec<Box<dyn Account + 'a>>,
    ) -> Self {
        let looked_at = accounts.len();
        let nodes = looked_at + audience.others.len();
        let seed = match audience.asked {
            Asked::Some(seed) => seed,
            Asked::Coalitions { size, among, nodes, all: false } => {
                let bounds = bounds_of_all(protocol, &audience.others);
                let rest = if bounds.is_some() { Rest::Bounded } else { Rest::Unknown };
                accounts.extend(bounds.into_iter().flatten());
                let coverage = Coverage::Coalitions { size, among, nodes, looked_at, rest };
                return Self { accounts, coverage, looked_at, protocol, witness: None };
            }
            Asked::Coalitions { .. } | Asked::Named | Asked::Everybody => {
                let coverage = audience.coverage_of_looked_at();
                return Self { accounts, coverage, looked_at, protocol, witness: None };
            }
        };
        if let Some(others) = alike(protocol, &audience.others, &accounts) {
            accounts.extend(others);
            let coverage = Coverage::Alike { nodes };
            return Self { accounts, coverage, looked_at, protocol, witness: None };
        }
        let bounds = audience.others.iter().map(|other| protocol.local_bound(other));
        let coverage = match bounds.collect::<Result<Vec<_>, Error>>() {
            Ok(bounds) => {
                accounts.extend(bounds);
                Coverage::Bounded { looked_at, nodes, seed }
            }
            Err(_) => audience.coverage_of_looked_at(),
        };
        Self { accounts, coverage, looked_at, protocol, witness: None }
    }

    /// The same, with accounts from `look`. If neither a class nor a bound covers the observers that were not
    /// [chosen](Audience::chosen), every node is looked at. If `protocol` refuses accounts of coalitions,
    /// only the bound is used.
    ///
    /// If [symmetries](Protocol::symmetries) of the protocol make many observers learn alike, one node of
    /// each orbit is looked at, or one coalition of each orbit of coalitions. If [`Protocol::local_bound`]
    /// covers the others, [groups](Self::by_groups) may give a smaller bound.
    ///
    /// # Examples
    /// ```
    /// use ndp_account::{Account, Audience, Coverage, Covered, Error, Observer, Protocol, accounts};
    /// use ndp_account::example::Gossip;
    /// use ndp_dp::{Measure, NoiseMultiplier};
    /// use ndp_graph::{GossipMatrix, generators::cycle_graph, progress::Silent};
    /// let gossip = Gossip::new(GossipMatrix::metropolis(&cycle_graph(9)?), 3);
    /// // All nodes of a ring learn alike: whoever is chosen stands for all.
    /// let look = |observers: &[Observer]| accounts(&gossip, observers, &Silent);
    /// let covered = Covered::of(&gossip, &Audience::chosen(9, &[4])?, look)?;
    /// assert_eq!(covered.coverage, Coverage::Symmetric { looked_at: 1, nodes: 9 });
    /// let worst = covered.worst(NoiseMultiplier::new(1.0)?, Measure::Gaussian)?.ok_or("a pair")?;
    /// assert_eq!(worst.loss.grade(), ndp_dp::Grade::Exact);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of `look`.
    pub fn of(
        protocol: &'a dyn Protocol,
        audience: &Audience,
        look: impl Fn(&[Observer]) -> Result<Vec<Box<dyn Account + 'a>>, Error>,
    ) -> Result<Self, Error> {
        let orbits = if audience.may_be_alike() { Orbits::of(protocol).map(Arc::new) } else { None };
        if let (Some(orbits), Some(alike)) = (&orbits, orbits.as_ref().and_then(|o| audience.by_orbits(o))) {
            let accounts = look(&alike)?;
            return Ok(match audience.asked {
                Asked::Coalitions { size, among, nodes, .. } => {
                    let (looked_at, rest) = (alike.len(), Rest::Symmetric);
                    let coverage = Coverage::Coalitions { size, among, nodes, looked_at, rest };
                    Self { accounts, coverage, looked_at, protocol, witness: None }
                }
                _ => Self::mirrored(protocol, audience, orbits, accounts),
            });
        }
        match look(audience.looked_at()) {
            Ok(accounts) => {
                let covered = Self::new(protocol, audience, accounts);
                match audience.looking_at_all() {
                    Some(all) if !covered.coverage.is_whole() => match orbits {
                        Some(orbits) => {
                            let accounts = look(&all.firsts(&orbits))?;
                            Ok(Self::mirrored(protocol, &all, &orbits, accounts))
                        }
                        None => Ok(Self::new(protocol, &all, look(all.looked_at())?)),
                    },
                    _ => Ok(covered),
                }
            }
            Err(refused @ (Error::NotOffered(_) | Error::Stopped(_))) => {
                let covered = audience.by_bound().map(|bound| Self::new(protocol, &bound, Vec::new()));
                covered.filter(|covered| covered.coverage.is_whole()).ok_or(refused)
            }
            Err(error) => Err(error),
        }
    }

    /// Covers every node by the bound alone, if some observer [is proven](super::bound_is_attained) to learn
    /// as much. Nobody is looked at, because no account could lower the noise that a limit on the worst pair
    /// requires. `None` for other limits, for audiences of some nodes only, and without such a proof before
    /// `stop` says so.
    ///
    /// # Examples
    /// ```
    /// use ndp_account::{Audience, Covered, Target};
    /// use ndp_account::example::Gossip;
    /// use ndp_dp::Measure;
    /// use ndp_graph::{GossipMatrix, generators::path_graph, progress::Stop};
    /// let gossip = Gossip::new(GossipMatrix::metropolis(&path_graph(9)?), 3);
    /// let target = Target::worst(Measure::Gaussian, 0.5);
    /// // The example offers no account of a part of what is heard, so that nothing is proven.
    /// assert!(Covered::by_attained_bound(&gossip, &Audience::every_node(9), &target, &Stop::never()).is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn by_attained_bound(
        protocol: &'a dyn Protocol,
        audience: &Audience,
        target: &Target,
        stop: &Stop,
    ) -> Option<Self> {
        let everybody = audience.is_everybody(protocol.node_count());
        let asked = everybody || audience.looking_at_all().is_some();
        if !(asked && matches!(target.allowed, Allowed::Worst(_))) {
            return None;
        }
        let witness = attaining(protocol, audience, stop)?;
        let observers = [audience.looked_at(), audience.others()].concat();
        let bounds = observers.iter().map(|observer| protocol.local_bound(observer));
        let accounts: Vec<_> = bounds.collect::<Result<_, _>>().ok()?;
        let coverage = Coverage::Bounded { looked_at: 0, nodes: accounts.len(), seed: None };
        Some(Self { accounts, coverage, looked_at: 0, protocol, witness: Some(witness) })
    }

    /// Checks that limits of this kind can be judged for coalitions that have no account.
    fn require_answered(&self, target: &Target) -> Result<(), Error> {
        let Coverage::Coalitions { rest, .. } = self.coverage else { return Ok(()) };
        match (&target.allowed, rest) {
            (Allowed::Worst(_), _) | (Allowed::Pairs(_) | Allowed::Listed(_), Rest::None) => Ok(()),
            // A smaller coalition has more nodes outside it, so its mean may be larger.
            (Allowed::Mean(_), _) => {
                Err(Error::NotOffered("a mean towards every coalition of a size: ask for the worst pair"))
            }
            (Allowed::Pairs(_) | Allowed::Listed(_), _) => Err(Error::NotOffered(
                "limits for pairs towards every coalition of a size, where there are too many to look at each",
            )),
        }
    }

    /// The same, with this many groups covering the others.
    pub(super) fn grouped(self, groups: usize, witness: Option<Box<dyn Account + 'a>>) -> Self {
        let nodes = self.protocol.node_count();
        Self { coverage: Coverage::Grouped { looked_at: self.looked_at, groups, nodes }, witness, ..self }
    }

    /// The same with an account that shows as much loss as the bound for the others says.
    pub(super) fn witnessed(self, witness: Box<dyn Account + 'a>) -> Self {
        Self { witness: Some(witness), ..self }
    }

    /// An account outside [`Self::accounts`] that shows as much loss as the bound for the others says.
    pub(super) fn witness(&self) -> Option<&(dyn Account + 'a)> {
        self.witness.as_deref()
    }

    /// The protocol that the accounts are about.
    pub(super) fn protocol(&self) -> &'a dyn Protocol {
        self.protocol
    }

    /// The accounts of those who are looked at.
    #[must_use]
    pub fn looked_at(&self) -> &[Box<dyn Account + 'a>] {
        &self.accounts[..self.looked_at]
    }

    /// The accounts that cover the others; empty if nothing covers them or there are no others.
    #[must_use]
    pub fn others(&self) -> &[Box<dyn Account + 'a>] {
        &self.accounts[self.looked_at..]
    }

    /// Whether every observer that the question is about keeps the target: as [`check`], but
    /// [`NotShown`](ndp_dp::Verdict::NotShown) if some observer is not covered.
    ///
    /// # Errors
    /// As [`check`]; [`Error::NotOffered`] for means towards coalitions of a size, and for limits for pairs
    /// unless each coalition is looked at.
    pub fn check(&self, noise: NoiseMultiplier, target: &Target) -> Result<Check, Error> {
        self.require_answered(target)?;
        let found = check(&self.accounts, noise, target)?;
        Ok(Check { verdict: self.coverage.verdict(found.verdict), ..found })
    }

    /// The least noise at which every covered observer keeps the target; [`coverage`](Self::coverage) says
    /// who is covered. If one limit holds for all pairs and some pair is proven to need this noise, it is the
    /// tightest pair, with its exact loss.
    ///
    /// # Errors
    /// As [`least_noise`]; as [`Self::check`].
    pub fn least_noise(&self, target: &Target) -> Result<LeastNoise, Error> {
        self.require_answered(target)?;
        let least = least_noise(&self.accounts, target)?;
        Ok(self.with_attained(target, least))
    }

    /// The least noise for those who are looked at, if it is less than `least`, which the others require. It
    /// says nothing about the others.
    #[must_use]
    pub fn of_looked_at(&self, target: &Target, least: &LeastNoise) -> Option<NoiseMultiplier> {
        if self.others().is_empty() || self.looked_at().is_empty() || !self.coverage.is_by_bound() {
            return None;
        }
        let found = least_noise(self.looked_at(), target).ok()?.noise;
        // A difference in the last digits of a search is no difference.
        (found.get() < least.noise.get() * (1.0 - 1e-6)).then_some(found)
    }

    /// An upper bound on the probability that some account is too small. A mirrored account fails exactly
    /// when its original does.
    pub(crate) fn failure(&self) -> f64 {
        let mut known = BTreeSet::new();
        let mut own: Vec<f64> = Vec::new();
        for account in &self.accounts {
            if account.mirror_of().is_none_or(|original| known.insert(original)) {
                own.push(account.failure());
            }
        }
        any_of(own)
    }
}

/// Bounds that hold for every coalition of this size; `None` if the bound depends on the observer or the
/// exposed node.
fn bounds_of_all<'a>(protocol: &'a dyn Protocol, others: &[Observer]) -> Option<Vec<Box<dyn Account + 'a>>> {
    let bounds =
        others.iter().map(|other| protocol.local_bound(other)).collect::<Result<Vec<_>, _>>().ok()?;
    let class = bounds.first()?.class()?;
    bounds.iter().all(|bound| bound.class() == Some(class)).then_some(bounds)
}

/// The accounts of the others, if all observers have accounts of one class.
fn alike<'a>(
    protocol: &'a dyn Protocol,
    others: &[Observer],
    accounts: &[Box<dyn Account + 'a>],
) -> Option<Vec<Box<dyn Account + 'a>>> {
    let class = accounts.first()?.class()?;
    if accounts.iter().any(|account| account.class() != Some(class)) {
        return None;
    }
    let account = |other: &Observer| {
        let account = protocol.account(other).ok()?;
        (account.class() == Some(class)).then_some(account)
    };
    // Ask the first one alone: if it is of another class, the others need no accounts.
    account(others.first()?)?;
    others.par_iter().map(account).collect()
}

#[cfg(test)]
mod tests;
