//! Of whom a question asks what they learn, at whom its answer looks, and what covers the others.
//!
//! A limit that a sample of observers keeps is kept by that sample: about the others it says nothing. So a
//! question has an [`Audience`], everybody whom it is about, and its answer a [`Coverage`], what it rests on:
//!
//! | coverage | what was done | whole |
//! |---|---|---|
//! | [`All`](Coverage::All) | every node has an account of its own | yes |
//! | [`Alike`](Coverage::Alike) | accounts of one [class](Account::class): the same profile, whoever observes | yes |
//! | [`Bounded`](Coverage::Bounded) | some have accounts, the others [`Protocol::local_bound`] | yes |
//! | [`Named`](Coverage::Named) | the observers that were named have accounts; nobody else was asked about | yes |
//! | [`Sample`](Coverage::Sample) | some have accounts, nothing is known of the others | no |
//!
//! Only what is whole can be [`Met`](Verdict::Met).

use super::{Account, Check, LeastNoise, Observer, Protocol, Target, check, least_noise};
use crate::Error;
use ndp_dp::{NoiseMultiplier, Verdict};
use ndp_numeric::rounding::any_of;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Which observers an answer covers, and how.
///
/// # Examples
/// ```
/// use ndp_account::Coverage;
/// use ndp_dp::Verdict;
/// let sample = Coverage::Sample { looked_at: 16, nodes: 744, seed: Some(0) };
/// // Nobody in the sample learns too much, which shows nothing about the others.
/// assert_eq!(sample.verdict(Verdict::Met), Verdict::NotShown);
/// // One of the sample does: that is enough.
/// assert_eq!(sample.verdict(Verdict::Violated), Verdict::Violated);
/// assert_eq!(sample.in_short(), "16 of 744");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "covers")]
#[non_exhaustive]
pub enum Coverage {
    /// Those that were named, each by an account of its own: nobody else was asked about.
    Named {
        /// How many.
        observers: usize,
    },
    /// Every node alone, each by an account of its own.
    All {
        /// How many.
        nodes: usize,
    },
    /// Every node alone, by accounts that are the same whoever observes.
    Alike {
        /// How many.
        nodes: usize,
    },
    /// Every node alone: some by accounts of their own, the others by [`Protocol::local_bound`].
    Bounded {
        /// How many have accounts of their own.
        looked_at: usize,
        /// How many nodes there are.
        nodes: usize,
        /// The seed by which those with accounts were drawn; `None` where they were chosen, not drawn.
        seed: Option<u64>,
    },
    /// Some of all nodes, each alone; nothing is known of the others.
    Sample {
        /// How many have accounts of their own.
        looked_at: usize,
        /// How many nodes there are.
        nodes: usize,
        /// The seed by which they were drawn; `None` where they were chosen, not drawn.
        seed: Option<u64>,
    },
}

impl Coverage {
    /// Whether everybody is covered whom the question was about.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        !matches!(self, Self::Sample { .. })
    }

    /// What two runs cover together: where one is a sample, or by a bound, so are both.
    ///
    /// # Errors
    /// [`Error::NoGuarantee`] for different observers: of other numbers of nodes, or of another sample.
    pub(crate) fn weaker(&self, other: &Self) -> Result<Self, Error> {
        let nodes = |coverage: &Self| match *coverage {
            Self::Named { .. } => None,
            Self::All { nodes } | Self::Alike { nodes } => Some(nodes),
            Self::Bounded { nodes, .. } | Self::Sample { nodes, .. } => Some(nodes),
        };
        let drawn = |coverage: &Self| match *coverage {
            Self::Bounded { looked_at, seed, .. } | Self::Sample { looked_at, seed, .. } => {
                Some((looked_at, seed))
            }
            _ => None,
        };
        let named = |coverage: &Self| matches!(coverage, Self::Named { .. });
        let others = Error::NoGuarantee("runs seen by different observers do not add up");
        if nodes(self) != nodes(other) || (named(self) && self != other) {
            return Err(others);
        }
        if let (Some(a), Some(b)) = (drawn(self), drawn(other))
            && a != b
        {
            return Err(others);
        }
        let rank = |coverage: &Self| match coverage {
            Self::Named { .. } | Self::All { .. } => 0,
            Self::Alike { .. } => 1,
            Self::Bounded { .. } => 2,
            Self::Sample { .. } => 3,
        };
        Ok(if rank(self) >= rank(other) { self.clone() } else { other.clone() })
    }

    /// What a verdict on everything that was looked at says about everything that was asked.
    #[must_use]
    pub fn verdict(&self, found: Verdict) -> Verdict {
        if self.is_whole() { found } else { found.max(Verdict::NotShown) }
    }

    /// Those who were looked at and those who were asked about, for a cell of a table: `16 of 744`, `all
    /// 744`.
    #[must_use]
    pub fn in_short(&self) -> String {
        match self {
            Self::Named { observers } => observers.to_string(),
            Self::All { nodes } | Self::Alike { nodes } => format!("all {nodes}"),
            Self::Bounded { looked_at, nodes, .. } => {
                format!("all {nodes}, {} by a bound", nodes.saturating_sub(*looked_at))
            }
            Self::Sample { looked_at, nodes, .. } => format!("{looked_at} of {nodes}"),
        }
    }
}

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
        }
    }

    /// Who is meant as well.
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
            Asked::Named | Asked::Everybody => {
                return Self { accounts, coverage: audience.coverage_of_looked_at(), looked_at, protocol };
            }
        };
        if let Some(others) = alike(protocol, &audience.others, &accounts) {
            accounts.extend(others);
            return Self { accounts, coverage: Coverage::Alike { nodes }, looked_at, protocol };
        }
        let bounds = audience.others.iter().map(|other| protocol.local_bound(other));
        let coverage = match bounds.collect::<Result<Vec<_>, Error>>() {
            Ok(bounds) => {
                accounts.extend(bounds);
                Coverage::Bounded { looked_at, nodes, seed }
            }
            Err(_) => audience.coverage_of_looked_at(),
        };
        Self { accounts, coverage, looked_at, protocol }
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
    /// [`NotShown`](Verdict::NotShown) where somebody is not covered.
    ///
    /// # Errors
    /// As [`check`].
    pub fn check(&self, noise: NoiseMultiplier, target: &Target) -> Result<Check, Error> {
        let found = check(&self.accounts, noise, target)?;
        Ok(Check { verdict: self.coverage.verdict(found.verdict), ..found })
    }

    /// The least noise at which everybody who is covered keeps the target; of whom that is says
    /// [`coverage`](Self::coverage). For a limit that is the same for all pairs, a pair proven to need it
    /// stands as the tightest, with its exact loss.
    ///
    /// # Errors
    /// As [`least_noise`].
    pub fn least_noise(&self, target: &Target) -> Result<LeastNoise, Error> {
        let least = least_noise(&self.accounts, target)?;
        Ok(self.with_attained(target, least))
    }

    /// The least noise for those who are looked at, where it is less than `least`, which the others need: it
    /// shows nothing about them.
    #[must_use]
    pub fn of_looked_at(&self, target: &Target, least: &LeastNoise) -> Option<NoiseMultiplier> {
        if self.others().is_empty() || !matches!(self.coverage, Coverage::Bounded { .. }) {
            return None;
        }
        let found = least_noise(self.looked_at(), target).ok()?.noise;
        // Not for the last digits of a search.
        (found.get() < least.noise.get() * (1.0 - 1e-6)).then_some(found)
    }

    /// Probability that some account is too small, at most.
    #[must_use]
    pub fn failure(&self) -> f64 {
        any_of(self.accounts.iter().map(|account| account.failure()))
    }
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
