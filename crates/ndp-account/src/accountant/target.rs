//! Privacy targets for pairs of nodes: whether they are met, and the least noise that meets them.
//!
//! A protocol is `(α, f)`-pairwise network differentially private when, for every pair, what `v` learns about
//! `u` has a Rényi divergence of order `α` of at most `f(u, v)` (Definition 5 of *Muffliato*); a constant `f`
//! is network differential privacy. Here the same is asked in the terms of any [`Measure`].
//!
//! # References
//! - Cyffers, Even, Bellet, Massoulié, *Muffliato*, NeurIPS 2022, arXiv:2206.05091: Definition 5.

use super::{Account, Observer};
use crate::Error;
use crate::error::ensure;
use ndp_dp::{Grade, Guarantee, Measure, NoiseMultiplier, Verdict};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// What a target allows.
///
/// # Examples
/// ```
/// use ndp_account::{Allowed, Target};
/// use ndp_dp::{Delta, Measure};
/// let target = Target::mean(Measure::Approx(Delta::new(1e-5)?), 0.5);
/// assert!(matches!(target.allowed, Allowed::Mean(loss) if loss == 0.5));
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub enum Allowed {
    /// The loss of every pair is at most this.
    Worst(f64),
    /// For every observer, the losses of all nodes outside it, divided by the number of all nodes, add up to
    /// at most this: the mean that *Muffliato* bounds.
    Mean(f64),
    /// The loss of `u` towards `v` is at most `f(u, v)`; infinity means no limit. A coalition must keep the
    /// limits of all its members. There are no limits towards an outsider.
    Pairs(Arc<dyn Fn(usize, usize) -> f64 + Send + Sync>),
    /// The same for the pairs `(u, v)` of a list, and no limit for other pairs. It is an error if no observer
    /// contains `v` and not `u`.
    Listed(Arc<BTreeMap<(usize, usize), f64>>),
}

impl fmt::Debug for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Worst(loss) => write!(f, "Worst({loss})"),
            Self::Mean(loss) => write!(f, "Mean({loss})"),
            Self::Pairs(_) => f.write_str("Pairs"),
            Self::Listed(limits) => write!(f, "Listed({} pairs)", limits.len()),
        }
    }
}

/// A privacy target: a measure of losses, and the losses that are allowed.
///
/// # Examples
/// ```
/// use ndp_account::{Observer, Protocol, Target, check};
/// use ndp_account::example::Gossip;
/// use ndp_dp::{Delta, Measure, NoiseMultiplier, Verdict};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let graph = path_graph(5)?;
/// let gossip = Gossip::new(GossipMatrix::metropolis(&graph), 4);
/// let accounts = [gossip.account(&Observer::node(0))?];
/// // Neighbors may learn more than the others.
/// let near = graph.clone();
/// let allowed = move |u, v| if near.has_edge(u, v) { 3.0 } else { 1.5 };
/// let target = Target::pairs(Measure::Approx(Delta::new(1e-5)?), allowed);
/// assert_eq!(check(&accounts, NoiseMultiplier::new(3.0)?, &target)?.verdict, Verdict::Met);
/// assert_ne!(check(&accounts, NoiseMultiplier::new(1.0)?, &target)?.verdict, Verdict::Met);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Target {
    /// The measure of the losses.
    pub measure: Measure,
    /// The losses that are allowed.
    pub allowed: Allowed,
}

impl Target {
    /// The loss of every pair is at most `loss`.
    #[must_use]
    pub const fn worst(measure: Measure, loss: f64) -> Self {
        Self { measure, allowed: Allowed::Worst(loss) }
    }

    /// The mean loss towards every observer is at most `loss`.
    #[must_use]
    pub const fn mean(measure: Measure, loss: f64) -> Self {
        Self { measure, allowed: Allowed::Mean(loss) }
    }

    /// The loss of `u` towards `v` is at most `f(u, v)`.
    #[must_use]
    pub fn pairs(measure: Measure, f: impl Fn(usize, usize) -> f64 + Send + Sync + 'static) -> Self {
        Self { measure, allowed: Allowed::Pairs(Arc::new(f)) }
    }

    /// A limit for each of these pairs `(u, v)`.
    ///
    /// # Examples
    /// ```
    /// use ndp_account::{Error, Observer, Protocol, Target, check};
    /// use ndp_account::example::Gossip;
    /// use ndp_dp::{Measure, NoiseMultiplier};
    /// use ndp_graph::{GossipMatrix, generators::path_graph};
    /// let gossip = Gossip::new(GossipMatrix::metropolis(&path_graph(5)?), 4);
    /// let target = Target::listed(Measure::Gaussian, [((3, 0), 0.5), ((3, 1), 0.1)]);
    /// // Somebody must look at what node 1 learns.
    /// let found = check(&[gossip.account(&Observer::node(0))?], NoiseMultiplier::new(3.0)?, &target);
    /// assert!(matches!(found, Err(Error::NobodyLooked { exposed: 3, observer: 1 })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn listed(measure: Measure, limits: impl IntoIterator<Item = ((usize, usize), f64)>) -> Self {
        Self { measure, allowed: Allowed::Listed(Arc::new(limits.into_iter().collect())) }
    }

    /// A pair `(u, v)` whose limit none of the observers can show to hold: none contains `v` and not `u`.
    #[must_use]
    pub fn unanswered<'a>(
        &self,
        observers: impl IntoIterator<Item = &'a Observer>,
    ) -> Option<(usize, usize)> {
        let Allowed::Listed(limits) = &self.allowed else { return None };
        let observers: Vec<&Observer> = observers.into_iter().collect();
        // The observers that contain each node; most observers are single nodes.
        let mut with: BTreeMap<usize, Vec<&Observer>> = BTreeMap::new();
        for observer in observers {
            observer.members().iter().for_each(|&v| with.entry(v).or_default().push(observer));
        }
        let answered =
            |u: usize, v: usize| with.get(&v).is_some_and(|all| all.iter().any(|o| !o.contains(u)));
        let limited = limits.iter().filter(|(_, limit)| **limit != f64::INFINITY).map(|(pair, _)| *pair);
        limited.into_iter().find(|&(u, v)| !answered(u, v))
    }

    pub(super) fn require_answered(&self, accounts: &[Box<dyn Account + '_>]) -> Result<(), Error> {
        match self.unanswered(accounts.iter().map(|account| account.observer())) {
            Some((exposed, observer)) => Err(Error::NobodyLooked { exposed, observer }),
            None => Ok(()),
        }
    }

    /// How many pairs of an observer of `accounts` and a node outside it have a limit, and how many there
    /// are.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a limit that is negative or NaN.
    pub fn limited(&self, accounts: &[Box<dyn Account + '_>]) -> Result<(usize, usize), Error> {
        let (mut limited, mut all) = (0, 0);
        for account in accounts {
            let observer = account.observer();
            for u in (0..account.node_count()).filter(|&u| !observer.contains(u)) {
                all += 1;
                limited += usize::from(self.of_pair(u, observer)? < f64::INFINITY);
            }
        }
        Ok((limited, all))
    }

    /// Refuses limits for pairs of which no observer has one.
    pub(super) fn require_limits(&self, accounts: &[Box<dyn Account + '_>]) -> Result<(), Error> {
        if !matches!(self.allowed, Allowed::Pairs(_) | Allowed::Listed(_)) {
            return Ok(());
        }
        ensure(self.limited(accounts)?.0 > 0, "the number of pairs that have a limit", "be at least 1", 0.0)
    }

    /// The limit on what the observer learns about `u`: the smallest limit of its members; infinity for a
    /// limit on the mean.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if it is negative or NaN.
    pub(super) fn of_pair(&self, u: usize, observer: &Observer) -> Result<f64, Error> {
        let mut least = f64::INFINITY;
        let mut allow = |value: f64| {
            // Written so that NaN fails.
            let (name, condition) = ("the loss allowed to a pair", "be nonnegative");
            ensure((0.0..=f64::INFINITY).contains(&value), name, condition, value)?;
            least = least.min(value);
            Ok::<(), Error>(())
        };
        match &self.allowed {
            Allowed::Worst(loss) => allow(*loss)?,
            Allowed::Mean(_) => {}
            Allowed::Pairs(f) => observer.members().iter().try_for_each(|&v| allow(f(u, v)))?,
            Allowed::Listed(limits) => {
                let limits = observer.members().iter().filter_map(|&v| limits.get(&(u, v)));
                limits.into_iter().try_for_each(|&limit| allow(limit))?;
            }
        }
        Ok(least)
    }
}

/// An exposed node `u`, an observer, and the loss.
///
/// # Examples
/// ```
/// use ndp_account::{Observer, Protocol, Target, check};
/// use ndp_account::example::Gossip;
/// use ndp_dp::{Delta, Measure, NoiseMultiplier};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let gossip = Gossip::new(GossipMatrix::metropolis(&path_graph(5)?), 2);
/// let target = Target::worst(Measure::Approx(Delta::new(1e-5)?), 1.0);
/// let found = check(&[gossip.account(&Observer::node(0))?], NoiseMultiplier::new(1.0)?, &target)?;
/// // Its only neighbor loses most to the end of a path.
/// assert!(found.tightest.is_some_and(|pair| (pair.source, pair.observer) == (1, Observer::node(0))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pair {
    /// The exposed node `u`.
    pub source: usize,
    /// The observer.
    pub observer: Observer,
    /// The loss, in the terms of the target.
    pub loss: Guarantee<f64>,
    /// What the target allows, `f(u, v)`.
    pub allowed: f64,
}

/// The answer to: does the protocol meet the target at this noise?
///
/// # Examples
/// ```
/// use ndp_account::{Observer, Protocol, Target, check};
/// use ndp_account::example::Gossip;
/// use ndp_dp::{Delta, Measure, NoiseMultiplier, Verdict};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let gossip = Gossip::new(GossipMatrix::metropolis(&path_graph(5)?), 2);
/// let target = Target::worst(Measure::Approx(Delta::new(1e-5)?), 1.0);
/// let found = check(&[gossip.account(&Observer::node(0))?], NoiseMultiplier::new(1.0)?, &target)?;
/// // Two rounds reach the two nearest nodes.
/// assert_eq!((found.verdict, found.exceeding), (Verdict::Violated, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// The answer.
    pub verdict: Verdict,
    /// The pair that uses the largest share of its limit; `None` if no pair has both a limit and a loss, and
    /// for means.
    pub tightest: Option<Pair>,
    /// The number of pairs (for means: observers) whose loss, or the upper bound on it, exceeds the limit.
    pub exceeding: usize,
    /// How many of these are proven to exceed it.
    pub violating: usize,
}

/// The least noise for a target.
///
/// # Examples
/// ```
/// use ndp_account::{Observer, Protocol, Target, least_noise};
/// use ndp_account::example::Gossip;
/// use ndp_dp::{Delta, Measure};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let gossip = Gossip::new(GossipMatrix::metropolis(&path_graph(5)?), 2);
/// let target = Target::worst(Measure::Approx(Delta::new(1e-5)?), 1.0);
/// let least = least_noise(&[gossip.account(&Observer::node(0))?], &target)?;
/// // Its neighbor's noisy value reaches the end: what a Gaussian mechanism needs for (1, 1e-5).
/// assert!((least.noise.get() - 3.7304).abs() < 1e-3);
/// assert_eq!(least.tightest.map(|pair| pair.source), Some(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeastNoise {
    /// The noise in units of the sensitivity. It was checked to meet the target, or, for a mean of Rényi
    /// losses, follows from a formula that is rounded up; it is the least up to the precision of the search.
    pub noise: NoiseMultiplier,
    /// The pair that needs this noise; `None` for means, and where every loss is 0 at this noise.
    pub tightest: Option<Pair>,
    /// The grade of what needs this noise: of the loss of the tightest pair, or of the largest mean; `None`
    /// where every loss is 0 at this noise.
    pub grade: Option<Grade>,
}
