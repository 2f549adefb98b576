//! Of whom a question asks what they learn, at whom its answer looks, and what covers the others.

mod alike;

use super::symmetry::{Orbits, for_all_of_size};
use super::{
    Account, Allowed, Check, Coverage, LeastNoise, Observer, Protocol, Rest, Target, check, least_noise,
};
use crate::Error;
use crate::error::ensure;
use ndp_dp::NoiseMultiplier;
use ndp_numeric::rounding::any_of;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Whom a question is about: observers who are looked at, and others who are meant as well.
///
/// # Examples
/// ```
/// use ndp_account::{Audience, Observer};
/// let all = Audience::every_node(4);
/// assert_eq!((all.looked_at().len(), all.others().len()), (4, 0));
/// let drawn = Audience::drawn(4, &[1, 3], 7)?;
/// assert_eq!(drawn.others(), [Observer::node(0), Observer::node(2)]);
/// # Ok::<(), ndp_account::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audience {
    looked_at: Vec<Observer>,
    others: Vec<Observer>,
    asked: Asked,
}

/// What the question was about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Named,
    Everybody,
    /// Everybody, of whom some were chosen, or drawn by this seed.
    Some(Option<u64>),
    /// Every coalition of so many of so many nodes; whether all of them are looked at.
    Coalitions {
        size: usize,
        nodes: usize,
        all: bool,
    },
}

/// How many coalitions are looked at, at most.
///
/// # Examples
/// ```
/// use ndp_account::{MOST_COALITIONS, number_of_coalitions};
/// assert!(number_of_coalitions(34, 3) <= MOST_COALITIONS && MOST_COALITIONS < number_of_coalitions(34, 4));
/// ```
pub const MOST_COALITIONS: f64 = 10_000.0;

/// How many coalitions of `size` of `nodes` nodes there are; exact up to 2⁵³.
///
/// # Examples
/// ```
/// assert_eq!(ndp_account::number_of_coalitions(34, 2), 561.0);
/// assert_eq!(ndp_account::number_of_coalitions(2, 3), 0.0);
/// ```
#[must_use]
pub fn number_of_coalitions(nodes: usize, size: usize) -> f64 {
    if size > nodes {
        return 0.0;
    }
    #[allow(clippy::cast_precision_loss, reason = "numbers of nodes are far below 2^53")]
    let term = |i: usize| ((nodes - i) as f64, (i + 1) as f64);
    // Each product is a whole number before it is divided, and so is the quotient.
    (0..size.min(nodes - size)).map(term).fold(1.0, |count, (up, down)| count * up / down)
}

impl Audience {
    /// These observers and nobody else.
    #[must_use]
    pub fn named(observers: Vec<Observer>) -> Self {
        Self { looked_at: observers, others: Vec::new(), asked: Asked::Named }
    }

    /// Every node alone.
    #[must_use]
    pub fn every_node(nodes: usize) -> Self {
        let looked_at = (0..nodes).map(Observer::node).collect();
        Self { looked_at, others: Vec::new(), asked: Asked::Everybody }
    }

    /// Every node alone, of whom those in `drawn` are looked at; they were drawn at random by `seed`.
    ///
    /// # Errors
    /// As [`Observer::checked`] for the nodes drawn.
    pub fn drawn(nodes: usize, drawn: &[usize], seed: u64) -> Result<Self, Error> {
        Self::of_everybody(nodes, drawn, Some(seed))
    }

    /// Every node alone, of whom those in `chosen` are looked at: on a large graph the bound covers the
    /// others, and one who learns as much as the bound says makes it [exact](Covered::worst) for all.
    ///
    /// # Examples
    /// ```
    /// use ndp_account::{Audience, Coverage};
    /// let audience = Audience::chosen(5, &[4])?;
    /// assert_eq!(audience.coverage_of_looked_at(), Coverage::Sample { looked_at: 1, nodes: 5, seed: None });
    /// # Ok::<(), ndp_account::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Observer::checked`] for the nodes chosen.
    pub fn chosen(nodes: usize, chosen: &[usize]) -> Result<Self, Error> {
        Self::of_everybody(nodes, chosen, None)
    }

    fn of_everybody(nodes: usize, looked_at: &[usize], seed: Option<u64>) -> Result<Self, Error> {
        let members = Observer::coalition(looked_at);
        if members.checked(nodes)?.len() == nodes {
            return Ok(Self::every_node(nodes));
        }
        let looked_at = members.members().iter().map(|&v| Observer::node(v)).collect();
        let others = (0..nodes).filter(|&v| !members.contains(v)).map(Observer::node).collect();
        Ok(Self { looked_at, others, asked: Asked::Some(seed) })
    }

    /// Every coalition of at most `size` nodes. Where there are no more than [`MOST_COALITIONS`] of exactly
    /// `size`, each of them is looked at; otherwise `chosen` alone, and the bound covers the others.
    ///
    /// A coalition learns no more than a larger one that it is part of (data processing), and each of fewer
    /// than `size` nodes is part of one of `size` nodes that does not have the exposed node in it. So all
    /// coalitions of exactly `size` cover the smaller ones.
    ///
    /// # Examples
    /// ```
    /// use ndp_account::{Audience, Coverage, Observer, Rest};
    /// let pairs = Audience::coalitions(4, 2, &Observer::coalition(&[0, 1]))?;
    /// assert_eq!(pairs.looked_at().len(), 6);
    /// let coverage = Coverage::Coalitions { size: 2, nodes: 4, looked_at: 6, rest: Rest::None };
    /// assert_eq!(pairs.coverage_of_looked_at(), coverage);
    /// // A coalition of one is a node alone, and of all nodes nobody is left to learn about.
    /// assert_eq!(Audience::coalitions(4, 1, &Observer::node(0))?, Audience::every_node(4));
    /// assert!(Audience::coalitions(4, 4, &Observer::coalition(&[0, 1, 2, 3])).is_err());
    /// # Ok::<(), ndp_account::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for coalitions of nobody or of all nodes, and where `chosen` is of another
    /// size; as [`Observer::checked`] for `chosen`.
    pub fn coalitions(nodes: usize, size: usize, chosen: &Observer) -> Result<Self, Error> {
        let (name, condition) =
            ("the size of a coalition", "be at least 1 and less than the number of nodes");
        #[allow(clippy::cast_precision_loss, reason = "a message")]
        let value = size as f64;
        ensure((1..nodes).contains(&size), name, condition, value)?;
        if size == 1 {
            return Ok(Self::every_node(nodes));
        }
        if are_few(nodes, size) {
            let asked = Asked::Coalitions { size, nodes, all: true };
            return Ok(Self { looked_at: all_of_size(nodes, size), others: Vec::new(), asked });
        }
        let (name, condition) = ("the size of the coalition chosen", "be that of all coalitions");
        ensure(chosen.checked(nodes)?.len() == size, name, condition, value)?;
        let asked = Asked::Coalitions { size, nodes, all: false };
        Ok(Self { looked_at: vec![chosen.clone()], others: ends(nodes, size), asked })
    }

    /// Of coalitions of a size: the same with none that is looked at, where accounts of coalitions are
    /// refused.
    #[must_use]
    pub fn by_bound(&self) -> Option<Self> {
        let Asked::Coalitions { size, nodes, .. } = self.asked else { return None };
        let asked = Asked::Coalitions { size, nodes, all: false };
        Some(Self { looked_at: Vec::new(), others: self.others_known(ends(nodes, size)), asked })
    }

    /// These observers, who know what those know who are looked at, or stand for the others.
    fn others_known(&self, observers: Vec<Observer>) -> Vec<Observer> {
        let Some(first) = self.looked_at.first().or(self.others.first()) else { return observers };
        let known = |mut observer: Observer| {
            (observer.own_noise, observer.senders) = (first.own_noise, first.senders);
            observer
        };
        observers.into_iter().map(known).collect()
    }

    /// Where nobody was drawn, and what was [chosen](Self::chosen) does not cover the others: everybody by an
    /// account of their own.
    #[must_use]
    pub fn looking_at_all(&self) -> Option<Self> {
        let chosen = self.asked == Asked::Some(None);
        chosen.then(|| {
            let mut looked_at = [self.looked_at.clone(), self.others.clone()].concat();
            looked_at.sort_unstable();
            Self { looked_at, others: Vec::new(), asked: Asked::Everybody }
        })
    }

    /// The same, each observer changed alike: with hidden senders, say.
    #[must_use]
    pub fn map(self, change: impl Fn(Observer) -> Observer) -> Self {
        let Self { looked_at, others, asked } = self;
        let looked_at = looked_at.into_iter().map(&change).collect();
        Self { looked_at, others: others.into_iter().map(change).collect(), asked }
    }

    /// Who is looked at.
    #[must_use]
    pub fn looked_at(&self) -> &[Observer] {
        &self.looked_at
    }

    /// Who is covered by accounts of those who are looked at alone.
    #[must_use]
    pub fn coverage_of_looked_at(&self) -> Coverage {
        let looked_at = self.looked_at.len();
        match self.asked {
            Asked::Named => Coverage::Named { observers: looked_at },
            Asked::Everybody => Coverage::All { nodes: looked_at },
            Asked::Some(seed) => Coverage::Sample { looked_at, nodes: looked_at + self.others.len(), seed },
            Asked::Coalitions { size, nodes, all } => {
                let rest = if all { Rest::None } else { Rest::Unknown };
                Coverage::Coalitions { size, nodes, looked_at, rest }
            }
        }
    }

    /// Who is meant as well; of coalitions some that stand for all, because the bound for one is that of all
    /// of its size.
    #[must_use]
    pub fn others(&self) -> &[Observer] {
        &self.others
    }
}

/// What an audience learns: accounts of those who are looked at, then what covers the others.
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
    /// Of those who are looked at, in their order, then of the others.
    pub accounts: Vec<Box<dyn Account + 'a>>,
    /// What the accounts cover.
    pub coverage: Coverage,
    looked_at: usize,
    protocol: &'a dyn Protocol,
    /// An account that shows as much as the bound for the others says, if it is none of those.
    witness: Option<Box<dyn Account + 'a>>,
}

impl<'a> Covered<'a> {
    /// The `accounts` of those at whom `audience` looks, in their order, with what is proven about the
    /// others: that they learn alike, or the bound that holds whoever observes; nothing where `protocol`
    /// offers neither.
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
            Asked::Coalitions { size, nodes, all: false } => {
                let bounds = bounds_of_all(protocol, &audience.others);
                let rest = if bounds.is_some() { Rest::Bounded } else { Rest::Unknown };
                accounts.extend(bounds.into_iter().flatten());
                let coverage = Coverage::Coalitions { size, nodes, looked_at, rest };
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

    /// The same by accounts of `look`, asked of those at whom `audience` looks: of every node where what was
    /// [chosen](Audience::chosen) does not cover the others, and by the bound alone where `protocol` refuses
    /// coalitions.
    ///
    /// Where [symmetries](Protocol::symmetries) of the protocol make many learn alike, one node of each orbit
    /// is looked at for all, or one coalition of each orbit of coalitions. Where the others are left to
    /// [`Protocol::local_bound`], [groups](Self::by_groups) may show less.
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
                Asked::Coalitions { size, nodes, .. } => {
                    let (looked_at, rest) = (alike.len(), Rest::Symmetric);
                    let coverage = Coverage::Coalitions { size, nodes, looked_at, rest };
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
            Err(refused @ (Error::NotOffered(_) | Error::OutOfTime(_))) => {
                let covered = audience.by_bound().map(|bound| Self::new(protocol, &bound, Vec::new()));
                covered.filter(|covered| covered.coverage.is_whole()).ok_or(refused)
            }
            Err(error) => Err(error),
        }
    }

    /// Whether limits of this kind say something about coalitions that have no account.
    fn require_answered(&self, target: &Target) -> Result<(), Error> {
        let Coverage::Coalitions { rest, .. } = self.coverage else { return Ok(()) };
        match (&target.allowed, rest) {
            (Allowed::Worst(_), _) | (Allowed::Pairs(_) | Allowed::Listed(_), Rest::None) => Ok(()),
            // A smaller coalition has more nodes outside it.
            (Allowed::Mean(_), _) => {
                Err(Error::NotOffered("a mean towards every coalition of a size: ask for the worst pair"))
            }
            (Allowed::Pairs(_) | Allowed::Listed(_), _) => Err(Error::NotOffered(
                "limits for pairs towards every coalition of a size, where there are too many to look at each",
            )),
        }
    }

    /// The same, the others being covered by so many groups.
    pub(super) fn grouped(self, groups: usize, witness: Option<Box<dyn Account + 'a>>) -> Self {
        let nodes = self.protocol.node_count();
        Self { coverage: Coverage::Grouped { looked_at: self.looked_at, groups, nodes }, witness, ..self }
    }

    /// An account that shows as much as the bound for the others says, if it is none of those.
    pub(super) fn witness(&self) -> Option<&(dyn Account + 'a)> {
        self.witness.as_deref()
    }

    /// Whose accounts these are.
    pub(super) fn protocol(&self) -> &'a dyn Protocol {
        self.protocol
    }

    /// The accounts of those who are looked at.
    #[must_use]
    pub fn looked_at(&self) -> &[Box<dyn Account + 'a>] {
        &self.accounts[..self.looked_at]
    }

    /// What covers the others: empty where nothing does, or where there are no others.
    #[must_use]
    pub fn others(&self) -> &[Box<dyn Account + 'a>] {
        &self.accounts[self.looked_at..]
    }

    /// Whether the target is met by everybody whom the question is about: as [`check`], and
    /// [`NotShown`](ndp_dp::Verdict::NotShown) where somebody is not covered.
    ///
    /// # Errors
    /// As [`check`]; [`Error::NotOffered`] for means towards coalitions of a size, and for limits for pairs
    /// where not each of them is looked at.
    pub fn check(&self, noise: NoiseMultiplier, target: &Target) -> Result<Check, Error> {
        self.require_answered(target)?;
        let found = check(&self.accounts, noise, target)?;
        Ok(Check { verdict: self.coverage.verdict(found.verdict), ..found })
    }

    /// The least noise at which everybody who is covered keeps the target; of whom that is says
    /// [`coverage`](Self::coverage). For a limit that is the same for all pairs, a pair proven to need it
    /// stands as the tightest, with its exact loss.
    ///
    /// # Errors
    /// As [`least_noise`]; as [`Self::check`].
    pub fn least_noise(&self, target: &Target) -> Result<LeastNoise, Error> {
        self.require_answered(target)?;
        let least = least_noise(&self.accounts, target)?;
        Ok(self.with_attained(target, least))
    }

    /// The least noise for those who are looked at, where it is less than `least`, which the others need: it
    /// shows nothing about them.
    #[must_use]
    pub fn of_looked_at(&self, target: &Target, least: &LeastNoise) -> Option<NoiseMultiplier> {
        if self.others().is_empty() || self.looked_at().is_empty() || !self.coverage.is_by_bound() {
            return None;
        }
        let found = least_noise(self.looked_at(), target).ok()?.noise;
        // Not for the last digits of a search.
        (found.get() < least.noise.get() * (1.0 - 1e-6)).then_some(found)
    }

    /// Probability that some account is too small, at most: what is mirrored fails with its original.
    #[must_use]
    pub fn failure(&self) -> f64 {
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

/// Whether all coalitions of a size can be looked at, and listed.
fn are_few(nodes: usize, size: usize) -> bool {
    #[allow(clippy::cast_precision_loss, reason = "compared with a number that is far smaller")]
    let members = number_of_coalitions(nodes, size) * size as f64;
    number_of_coalitions(nodes, size) <= MOST_COALITIONS && members <= 1e6
}

/// All coalitions of `size` nodes, in order of their members.
fn all_of_size(nodes: usize, size: usize) -> Vec<Observer> {
    let mut all = Vec::new();
    for_all_of_size(nodes, size, |members| all.push(Observer::coalition(members)));
    all
}

/// Two coalitions of `size` nodes, the first ones and the last ones, for bounds that are the same for all.
fn ends(nodes: usize, size: usize) -> Vec<Observer> {
    let of = |members: std::ops::Range<usize>| Observer::coalition(&members.collect::<Vec<_>>());
    vec![of(0..size), of(nodes - size..nodes)]
}

/// The bounds for coalitions that stand for all of their size; nothing where the bound depends on who
/// observes or on the exposed node.
fn bounds_of_all<'a>(protocol: &'a dyn Protocol, others: &[Observer]) -> Option<Vec<Box<dyn Account + 'a>>> {
    let bounds =
        others.iter().map(|other| protocol.local_bound(other)).collect::<Result<Vec<_>, _>>().ok()?;
    let class = bounds.first()?.class()?;
    bounds.iter().all(|bound| bound.class() == Some(class)).then_some(bounds)
}

/// Accounts of the others, where all are of the class that those looked at have in common.
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
    // One alone may say no at no cost.
    account(others.first()?)?;
    others.par_iter().map(account).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Gossip;
    use crate::{OwnNoise, accounts};
    use ndp_dp::{Delta, Measure, Verdict};
    use ndp_graph::{GossipMatrix, generators, progress::Silent};

    fn gossip(nodes: usize) -> Result<Gossip, Error> {
        Ok(Gossip::new(GossipMatrix::metropolis(&generators::path_graph(nodes)?), 3))
    }

    fn of<'a>(protocol: &'a dyn Protocol, audience: &Audience) -> Result<Covered<'a>, Error> {
        Covered::of(protocol, audience, |observers| accounts(protocol, observers, &Silent))
    }

    fn epsilon() -> Result<Measure, Error> {
        Ok(Measure::Approx(Delta::new(1e-5)?))
    }

    /// By hand: all of exactly so many, each once, and as many as the number of them says.
    #[test]
    fn all_coalitions_of_a_size_are_listed() {
        let listed = |nodes, size| -> Vec<Vec<usize>> {
            all_of_size(nodes, size).iter().map(|one| one.members().to_vec()).collect()
        };
        assert_eq!(listed(4, 2), [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
        assert_eq!(listed(4, 3), [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]);
        for (nodes, size) in [(5, 1), (7, 3), (9, 8), (6, 4)] {
            let mut all = listed(nodes, size);
            #[allow(clippy::cast_precision_loss, reason = "small")]
            let count = all.len() as f64;
            assert_eq!(number_of_coalitions(nodes, size), count);
            all.dedup();
            assert_eq!(number_of_coalitions(nodes, size), count);
            assert!(all.iter().all(|members| members.windows(2).all(|pair| pair[0] < pair[1])));
        }
        assert_eq!(number_of_coalitions(37_700, 2), 710_626_150.0);
    }

    /// No coalition of a smaller size, enumerated here, learns more than the largest loss of the size.
    #[test]
    fn smaller_coalitions_are_covered() -> Result<(), Error> {
        let (gossip, noise) = (gossip(7)?, NoiseMultiplier::new(2.0)?);
        let mut before = 0.0;
        for size in 1..7 {
            let covered = of(&gossip, &Audience::coalitions(7, size, &Observer::node(0))?)?;
            let worst = covered.worst(noise, epsilon()?)?.ok_or(Error::Cancelled)?.loss.into_value();
            for smaller in 1..=size {
                for observer in all_of_size(7, smaller) {
                    let account = gossip.account(&observer)?;
                    for u in (0..7).filter(|&u| !observer.contains(u)) {
                        let loss = account.profile(u, noise)?.loss(epsilon()?)?.into_value();
                        assert!(loss <= worst * (1.0 + 1e-12), "{observer}: {loss} above {worst}");
                    }
                }
            }
            assert!(before <= worst);
            before = worst;
            let target = Target::worst(epsilon()?, worst * 0.99);
            assert_eq!(covered.check(noise, &target)?.verdict, Verdict::Violated);
            let least = covered.least_noise(&target)?;
            assert_eq!(covered.check(least.noise, &target)?.verdict, Verdict::Met);
            assert!(least.tightest.is_some_and(|pair| pair.observer.members().len() == size));
        }
        Ok(())
    }

    /// Too many to look at: the bound covers them, what knows of fewer is kept, and no mean or pair is judged
    /// by it.
    #[test]
    fn too_many_coalitions_have_a_bound() -> Result<(), Error> {
        let (gossip, noise) = (gossip(150)?, NoiseMultiplier::new(2.0)?);
        let chosen = Observer::coalition(&[0, 149]);
        let audience = Audience::coalitions(150, 2, &chosen)?.map(Observer::without_own_noise);
        assert_eq!(audience.looked_at().len(), 1);
        let covered = of(&gossip, &Audience::coalitions(150, 2, &chosen)?)?;
        let coverage = |rest| Coverage::Coalitions { size: 2, nodes: 150, looked_at: 1, rest };
        assert_eq!(covered.coverage, coverage(Rest::Bounded));
        // Its end hears the noisy value of its neighbor: the local loss, 1/noise.
        let worst = covered.worst(noise, Measure::Gaussian)?.ok_or(Error::Cancelled)?;
        assert!((worst.loss.value() - 0.5).abs() < 1e-9 && worst.observer == chosen);
        assert_eq!(worst.loss.grade(), ndp_dp::Grade::Exact);
        let limits = Target::pairs(Measure::Gaussian, |_, _| 3.0);
        for target in [limits, Target::mean(epsilon()?, 3.0)] {
            assert!(matches!(covered.check(noise, &target), Err(Error::NotOffered(_))));
            assert!(matches!(covered.least_noise(&target), Err(Error::NotOffered(_))));
        }
        let few = of(&gossip, &Audience::coalitions(150, 1, &chosen)?)?;
        assert_eq!(few.coverage, Coverage::All { nodes: 150 });
        // What is not covered is not met.
        assert_eq!(coverage(Rest::Unknown).verdict(Verdict::Met), Verdict::NotShown);
        assert!(coverage(Rest::Bounded).weaker(&coverage(Rest::Unknown))? == coverage(Rest::Unknown));
        assert!(coverage(Rest::Bounded).weaker(&Coverage::All { nodes: 150 }).is_err());
        Ok(())
    }

    /// Where accounts of coalitions are refused the bound stands for all, for observers who know the same;
    /// where the bound is refused, too, the account's own refusal is what is heard.
    #[test]
    fn refused_coalitions_have_the_bound_or_no_answer() -> Result<(), Error> {
        struct Alone(Gossip, bool);
        impl Protocol for Alone {
            fn node_count(&self) -> usize {
                Protocol::node_count(&self.0)
            }

            fn account<'a>(&'a self, observer: &Observer) -> Result<Box<dyn Account + 'a>, Error> {
                observer.single(7)?;
                self.0.account(observer)
            }

            fn local_bound<'a>(&'a self, observer: &Observer) -> Result<Box<dyn Account + 'a>, Error> {
                let none = Error::NotOffered("no bound");
                if self.1 { self.0.local_bound(observer) } else { Err(none) }
            }
        }
        let audience = Audience::coalitions(7, 3, &Observer::node(0))?.map(Observer::without_own_noise);
        let protocol = Alone(gossip(7)?, true);
        let covered = of(&protocol, &audience)?;
        let rest = Rest::Bounded;
        assert_eq!(covered.coverage, Coverage::Coalitions { size: 3, nodes: 7, looked_at: 0, rest });
        assert_eq!(covered.statement()?.own_noise, OwnNoise::Unknown);
        // Those who stand for others know as little, also where nobody was chosen.
        let path = Gossip::new(GossipMatrix::metropolis(&generators::path_graph(6)?), 2);
        let all = Audience::coalitions(6, 5, &Observer::node(0))?.map(Observer::without_own_noise);
        let bound = all.by_bound().ok_or(Error::Cancelled)?;
        let alike = Covered::of(&path, &bound, |observers| accounts(&path, observers, &Silent))?;
        assert!(matches!(alike.coverage, Coverage::Coalitions { rest: Rest::Symmetric, .. }));
        assert_eq!(alike.statement()?.own_noise, OwnNoise::Unknown);
        let target = Target::worst(Measure::Gaussian, 0.5);
        assert_eq!(covered.check(NoiseMultiplier::new(2.0)?, &target)?.verdict, Verdict::Met);
        assert_eq!(covered.check(NoiseMultiplier::new(1.9)?, &target)?.verdict, Verdict::NotShown);
        let refused = of(&Alone(gossip(7)?, false), &audience).err();
        assert_eq!(refused, Some(Error::NotOffered("this protocol has no account of coalitions")));
        Ok(())
    }
}
