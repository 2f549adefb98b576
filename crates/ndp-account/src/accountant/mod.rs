//! Protocols, observers, and what observers learn: see the first page of the crate.

mod audience;
mod by_mu;
mod check;
mod compare;
mod coverage;
mod covered;
mod groups;
mod ledger;
mod linear;
mod names;
mod observer;
mod outsider;
mod patience;
mod search;
mod shares;
mod smaller;
mod statement;
mod symmetry;
mod target;
#[cfg(test)]
mod tests;
mod uniform;
mod worst;

pub use audience::{Audience, MOST_COALITIONS, number_of_coalitions};
pub use by_mu::ByMu;
pub use check::{check, least_noise};
pub use compare::{Comparison, Row, compare};
pub use coverage::{Among, Coverage, Rest};
pub use covered::Covered;
pub use ledger::PairLedgers;
pub use linear::{between, bound_of_releases, local_bound};
pub use names::{NodeNames, named};
pub use observer::{Observer, Senders};
pub use outsider::of_outsider;
pub use patience::{Limit, Patient, Replaced, WORK, Why, account_or_bound, locked, sharing, was_out};
pub use search::of_pair as search_of_pair;
pub use smaller::at_most;
pub use statement::{Said, Statement};
pub use target::{Allowed, Check, LeastNoise, Pair, Target};
pub(crate) use uniform::Uniform;
pub use worst::{Worst, bound_is_attained, largest};

use crate::counter::Counter;
use crate::ordered::each_in_order;
use crate::{Assumption, By, Error, LossReport, RestsOn, Terms};
use ndp_dp::{Measure, NoiseMultiplier, Profile};
use ndp_graph::progress::{Progress, Stop};
use rand::Rng;

/// A protocol, as an accountant and an auditor see it.
///
/// Linear Gaussian protocols implement [`LinearProtocol`](crate::LinearProtocol) instead and get this for
/// free.
///
/// # Examples
/// ```
/// use ndp_account::{Account, Error, LossReport, Observer, Protocol};
/// use ndp_dp::NoiseMultiplier;
/// use ndp_graph::{GossipMatrix, generators::cycle_graph, progress::Stop};
/// use ndp_account::example::Gossip;
/// /// Gossip among the nodes that are awake; the others send nothing, and lose nothing.
/// struct Awake(Gossip);
/// impl Protocol for Awake {
///     fn node_count(&self) -> usize {
///         Protocol::node_count(&self.0)
///     }
///
///     fn account_until<'a>(&'a self, observer: &Observer, stop: &Stop) -> Result<Box<dyn Account + 'a>, Error> {
///         // An account of the gossip is an account of this, too: who sleeps sends less.
///         self.0.account_until(observer, stop)
///     }
/// }
/// let awake = Awake(Gossip::new(GossipMatrix::metropolis(&cycle_graph(6)?), 2));
/// let profile = awake.account(&Observer::node(0))?.profile(2, NoiseMultiplier::new(2.0)?)?;
/// assert!(profile.mu().is_some_and(|mu| mu.value().mu() <= 0.5));
/// // What is not implemented says so.
/// assert!(matches!(awake.error(NoiseMultiplier::new(2.0)?), Err(Error::NotOffered(_))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Protocol: Send + Sync {
    /// Number of nodes.
    fn node_count(&self) -> usize;

    /// The account of `observer`, which answers for every exposed node and every noise.
    ///
    /// # Errors
    /// Those of [`Self::account_until`] but [`Error::Stopped`].
    fn account<'a>(&'a self, observer: &Observer) -> Result<Box<dyn Account + 'a>, Error> {
        self.account_until(observer, &Stop::never())
    }

    /// The same, no longer than `stop` says. Answers that the account works out later end with it too.
    ///
    /// # Errors
    /// A node out of range, an empty coalition; [`Error::NotOffered`] where the protocol has no accountant
    /// for what this observer knows; [`Error::Stopped`]; those of the accountant.
    fn account_until<'a>(&'a self, observer: &Observer, stop: &Stop) -> Result<Box<dyn Account + 'a>, Error>;

    /// An account of an `observer` who hears every node's own noisy value, from which everything that is sent
    /// later can be computed. It is an [`UpperBound`](ndp_dp::UpperBound) on [`Self::account`] and takes no
    /// time: `1/s²` local losses for noise of variance `s²`, and `k` local losses if a node's data are used
    /// up to `k` times, each with new noise.
    ///
    /// If the bound has a [class](Account::class), it is the same for all observers with equally many members
    /// and the same knowledge. So one bound covers every coalition of a size.
    ///
    /// # Errors
    /// Those of an invalid observer; [`Error::NotOffered`] if values leave their nodes without noise of their
    /// own.
    fn local_bound<'a>(&'a self, observer: &Observer) -> Result<Box<dyn Account + 'a>, Error> {
        let _ = observer;
        Err(Error::NotOffered(
            "values do not leave their nodes with a noise of their own, so that there is no bound at no cost",
        ))
    }

    /// The account of a part of what `observer` hears, for protocols whose whole account takes long. The
    /// lower ends of its losses also hold for the whole; its upper ends say nothing about the whole.
    ///
    /// # Errors
    /// As [`Self::account_until`]; [`Error::NotOffered`] if there is no such part, as by default.
    fn glimpse<'a>(&'a self, observer: &Observer, stop: &Stop) -> Result<Box<dyn Account + 'a>, Error> {
        let _ = (observer, stop);
        Err(Error::NotOffered("there is no account of a part of what is heard"))
    }

    /// Permutations of the nodes that leave the protocol unchanged, with `π(u)` at index `u`; none by
    /// default.
    ///
    /// For every set `S` of nodes: if node `π(u)` has the data that `u` had, for every `u`, then what the
    /// nodes `π(S)` see has the distribution of what `S` saw, with nodes renamed. So `π(v)` learns about
    /// `π(u)` what `v` learns about `u`, with the same knowledge of noise and senders. An implementation
    /// checks every permutation exactly, since nobody checks it again: weights are compared as the exact
    /// numbers that accounts use, without a tolerance. It need not find all permutations.
    fn symmetries(&self) -> Vec<Vec<u32>> {
        Vec::new()
    }

    /// Whether accounts come from a formula and take no time, so that [`Self::local_bound`] would not be
    /// faster.
    fn is_formula(&self) -> bool {
        false
    }

    /// An upper bound on the root mean square, over nodes and runs, of the error of the mean (for histograms:
    /// of a frequency) that a node ends with. In units of `Δ`, for data in an interval of length `Δ`.
    ///
    /// # Errors
    /// [`Error::NotOffered`] where the result is no mean, or nothing is known.
    fn error(&self, noise: NoiseMultiplier) -> Result<f64, Error> {
        self.error_until(noise, &Stop::never())
    }

    /// The same, no longer than `stop` says. A protocol implements this method, and [`Self::error`] follows:
    /// where only that one is implemented, calls with a `stop` do not reach it.
    ///
    /// # Errors
    /// Those of [`Self::error`]; [`Error::Stopped`].
    fn error_until(&self, noise: NoiseMultiplier, stop: &Stop) -> Result<f64, Error> {
        let _ = (noise, stop);
        Err(Error::NotOffered("the error of the result is not known for this protocol"))
    }

    /// Messages sent in a run, on average.
    ///
    /// # Errors
    /// [`Error::NotOffered`] where they are not counted.
    fn message_count(&self) -> Result<f64, Error> {
        Err(Error::NotOffered("messages are not counted for this protocol"))
    }

    /// The protocol as a linear Gaussian program, in the text of `docs/formats.md`, so that its losses can be
    /// checked by other means.
    ///
    /// # Errors
    /// [`Error::NotOffered`] where it is none, as by default; [`ndp_graph::Error::TooLarge`].
    fn program_text(&self) -> Result<Vec<u8>, Error> {
        Err(Error::NotOffered(crate::protocol::NO_PROGRAM))
    }

    /// An attack by `observer` on the data of `u` in real runs at `noise`.
    ///
    /// # Errors
    /// As [`Self::account`]; [`Error::NotOffered`] where the protocol cannot be run.
    fn attack<'a>(
        &'a self,
        u: usize,
        observer: &Observer,
        noise: NoiseMultiplier,
    ) -> Result<Box<dyn Attacker + 'a>, Error> {
        let _ = (u, observer, noise);
        Err(Error::NotOffered("this protocol cannot be run by an audit"))
    }
}

/// What one observer learns, as a function of the exposed node and the noise.
///
/// # Examples
/// ```
/// use ndp_account::{Account, Observer, Protocol};
/// use ndp_account::example::Gossip;
/// use ndp_dp::{Measure, NoiseMultiplier, Order};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let gossip = Gossip::new(GossipMatrix::metropolis(&path_graph(5)?), 2);
/// let account = gossip.account(&Observer::node(0))?;
/// // Looked at once, asked about every node and noise.
/// let loss = |u, noise| account.profile(u, NoiseMultiplier::new(noise)?)?.renyi(Order::new(2.0)?);
/// assert!(loss(1, 1.0)?.value().epsilon > loss(3, 1.0)?.value().epsilon); // three hops away
/// assert!(loss(1, 1.0)?.value().epsilon > loss(1, 3.0)?.value().epsilon);
/// assert!(account.profile(0, NoiseMultiplier::new(1.0)?).is_err()); // a node knows its own data
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Account: Send + Sync {
    /// Who observes.
    fn observer(&self) -> &Observer;

    /// Number of nodes.
    fn node_count(&self) -> usize;

    /// The names of the nodes, by which [`PairLedgers`] matches them: their numbers, unless they were
    /// [named](crate::named).
    fn names(&self) -> NodeNames {
        NodeNames::numbered(self.node_count())
    }

    /// The profile of what the observer learns about the data of `u` at `noise`.
    ///
    /// # Errors
    /// [`Error::NodeOutOfRange`]; [`Error::SourceIsObserver`] for a member of the coalition; those of the
    /// accountant.
    fn profile(&self, u: usize, noise: NoiseMultiplier) -> Result<Profile, Error>;

    /// An upper bound on the probability that the account is too small, over randomness of its own (primes
    /// drawn from a hash).
    fn failure(&self) -> f64 {
        0.0
    }

    /// What the numbers are about: what may differ, what the noise is, and by which theorem they hold.
    fn terms(&self) -> Terms;

    /// The theorems that the numbers may rest on. There are more than that of [`terms`](Self::terms) if an
    /// answer is the smaller of two bounds.
    fn theorems(&self) -> Vec<By> {
        vec![self.terms().by]
    }

    /// What the numbers rest on besides the computation: the declared difference between neighboring inputs,
    /// and assumptions that are not checked. Show these beside every number; empty if nothing was declared.
    fn rests_on(&self) -> Vec<RestsOn> {
        Vec::new()
    }

    /// A key of the account if all nodes outside the coalition have the same profile. Accounts with the same
    /// key have the same profiles, whoever observes.
    ///
    /// The key begins with the address of the protocol, which the account keeps alive, and then numbers
    /// everything else that the profile depends on. An account that shares its key with no other begins with
    /// its own address.
    fn class(&self) -> Option<(usize, usize)> {
        None
    }

    /// Accounts with the same number have the same losses, but about other nodes, by a
    /// [symmetry](Protocol::symmetries) of the protocol. The number is an address that the account keeps
    /// alive.
    fn mirror_of(&self) -> Option<usize> {
        None
    }

    /// Whether a bound answers for all pairs from now on, because a limit came before the account's own
    /// answers. Where this changes while several pairs are asked beside one another, it depends on the
    /// threads which of them the bound answered, so that they must be asked again.
    fn is_by_bound(&self) -> bool {
        false
    }

    /// What the account assumes about how the protocol is carried out, beyond the protocol's description.
    /// Every number rests on it.
    fn assumptions(&self) -> Vec<Assumption> {
        self.terms().trusts.into_iter().flatten().collect()
    }

    /// The unit losses, if all losses follow from them: `μ = √unit / noise`, and the least noise has a
    /// formula.
    fn unit_losses(&self) -> Option<&LossReport> {
        None
    }

    /// Both proven ends of the unit loss of `u`, if its profile follows from it at every noise: `μ` lies
    /// between their square roots, divided by the noise. `None` otherwise.
    ///
    /// # Errors
    /// As [`Self::profile`].
    fn unit(&self, u: usize) -> Result<Option<(f64, f64)>, Error> {
        self.unit_losses().map(|report| report.enclosure(u)).transpose()
    }

    /// The least noise at which the loss of `u` is at most `allowed` in the terms of `measure`, as a search
    /// finds it; `None` where no noise is needed.
    ///
    /// # Errors
    /// As [`Self::profile`]; [`Error::InvalidParameter`] where no noise meets the target.
    fn least_noise(
        &self,
        u: usize,
        measure: Measure,
        allowed: f64,
    ) -> Result<Option<NoiseMultiplier>, Error> {
        search::of_pair(self, u, measure, allowed)
    }
}

/// The accounts of `observers`, in their order. They are independent and computed in parallel; `progress`
/// hears of each.
///
/// # Errors
/// Those of [`Protocol::account`]; [`Error::Cancelled`].
pub fn accounts<'a>(
    protocol: &'a dyn Protocol,
    observers: &[Observer],
    progress: &dyn Progress,
) -> Result<Vec<Box<dyn Account + 'a>>, Error> {
    let counter = Counter::new(progress, observers.len() as u64);
    let account = |observer: &Observer| {
        let account = protocol.account(observer)?;
        counter.step()?;
        Ok(account)
    };
    each_in_order(observers, account)
}

/// Runs a protocol in one of two worlds, which differ in the data of one node, and reduces what the observer
/// sees to numbers.
///
/// # Examples
/// ```
/// use ndp_account::{Observer, Protocol};
/// use ndp_account::example::Gossip;
/// use ndp_dp::NoiseMultiplier;
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
/// let gossip = Gossip::new(GossipMatrix::metropolis(&path_graph(3)?), 2);
/// let attack = gossip.attack(0, &Observer::node(1), NoiseMultiplier::new(0.5)?)?;
/// let rng = &mut ChaCha8Rng::seed_from_u64(1);
/// let mut mean = |higher| Ok::<f64, ndp_account::Error>(attack.scores(higher, 500, rng)?.iter().sum::<f64>() / 500.0);
/// assert!(mean(true)? > mean(false)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Attacker {
    /// Scores of `runs` independent runs, larger where the observer would rather guess the higher of the two
    /// worlds.
    ///
    /// # Errors
    /// Those of the protocol's own run.
    fn scores(&self, higher: bool, runs: usize, rng: &mut dyn Rng) -> Result<Vec<f64>, Error>;

    /// The `μ` that the attack shows, without a run, if its scores are Gaussian with the same spread in both
    /// worlds: it follows from their shift and spread. No account may be below it, and the best threshold
    /// lies midway between the mean scores of the worlds. If `None`, the audit searches the threshold on
    /// separate runs.
    fn shown_mu(&self) -> Option<f64> {
        None
    }
}
