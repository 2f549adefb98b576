//! The statement beside a number, without which an `ε` is no guarantee.

use super::{Account, Coverage, Covered, Observer, Senders};
use crate::{Assumption, By, Changes, Error, Noise, OwnNoise, RestsOn, Terms};
use ndp_dp::Neighbors;
use ndp_numeric::rounding::any_of;
use serde::Serialize;
use std::collections::BTreeSet;

/// What a guarantee protects, from whom, under which assumptions, and with which probability. Plain data:
/// equal statements say the same.
///
/// [`Covered::statement`] makes it from accounts, so that all interfaces share it; [`Statement::and`]
/// combines those of several runs.
///
/// # Examples
/// ```
/// use ndp_account::example::Gossip;
/// use ndp_account::{Audience, Changes, Covered, Protocol, accounts};
/// use ndp_graph::{GossipMatrix, generators::path_graph, progress::Silent};
/// let gossip = Gossip::new(GossipMatrix::metropolis(&path_graph(9)?), 3);
/// let audience = Audience::drawn(9, &[0, 4], 1)?;
/// let covered = Covered::new(&gossip, &audience, accounts(&gossip, audience.looked_at(), &Silent)?);
/// let statement = covered.statement()?;
/// assert!(statement.changes.contains(&Changes::Value) && statement.coverage.is_whole());
/// // Two nodes by their own accounts, seven by what noisy values show; nobody was named.
/// assert!(statement.observers.is_empty());
/// assert_eq!(statement.by.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Statement {
    /// The version of the form in files.
    pub version: u32,
    /// The number of runs that it is about.
    pub runs: usize,
    /// What of one node's data may differ; for several runs, what may differ in each of them.
    pub changes: BTreeSet<Changes>,
    /// Which data sets are neighbors.
    pub neighbors: Neighbors,
    /// The observers, if they were named; empty for questions about every node.
    pub observers: BTreeSet<Observer>,
    /// Whether the observers use the noise that they drew; if some do not, the weaker reading.
    pub own_noise: OwnNoise,
    /// Whether they know the senders of messages; if some do not, the weaker reading.
    pub senders: Senders,
    /// Which observers are covered, and how.
    pub coverage: Coverage,
    /// What is assumed and not checked.
    pub assumes: BTreeSet<Assumption>,
    /// What was declared about a program, and what else the numbers rest on.
    pub rests_on: BTreeSet<RestsOn>,
    /// An upper bound on the probability that some number is too small, over randomness of the computation.
    pub failure: f64,
    /// What the number called noise measures.
    pub noise: BTreeSet<Noise>,
    /// The theorems by which the numbers hold.
    pub by: BTreeSet<By>,
}

/// What an account says besides its numbers. It is plain data that can be kept without the account, and
/// statements are made from it.
///
/// # Examples
/// ```
/// use ndp_account::example::Gossip;
/// use ndp_account::{Coverage, Observer, Protocol, Said, Statement};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let gossip = Gossip::new(GossipMatrix::metropolis(&path_graph(4)?), 3);
/// let said = Said::by(gossip.account(&Observer::node(1))?.as_ref());
/// let statement = Statement::of(&[said], &Coverage::Named { observers: 1 })?;
/// assert_eq!(statement.observers, [Observer::node(1)].into());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    /// Who observes.
    pub observer: Observer,
    /// How many nodes there are.
    pub nodes: usize,
    /// What the numbers are about.
    pub terms: Terms,
    /// See [`Account::theorems`].
    pub theorems: Vec<By>,
    /// See [`Account::failure`].
    pub failure: f64,
    /// See [`Account::rests_on`].
    pub rests_on: Vec<RestsOn>,
    /// See [`Account::assumptions`].
    pub assumptions: Vec<Assumption>,
}

impl Said {
    /// What this account says.
    #[must_use]
    pub fn by(account: &dyn Account) -> Self {
        Self {
            observer: account.observer().clone(),
            nodes: account.node_count(),
            terms: account.terms(),
            theorems: account.theorems(),
            failure: account.failure(),
            rests_on: account.rests_on(),
            assumptions: account.assumptions(),
        }
    }

    /// What each of these accounts says.
    #[must_use]
    pub fn by_all(accounts: &[Box<dyn Account + '_>]) -> Vec<Self> {
        accounts.iter().map(|account| Self::by(account.as_ref())).collect()
    }
}

/// The version of statements in files. In version 1, what an account rests on was a list of texts,
/// `declared`.
const VERSION: u32 = 2;

impl Statement {
    /// Whether the statement is about everything that a node contributes, in every way in which it may
    /// change.
    #[must_use]
    pub fn is_of_all_data(&self) -> bool {
        !self.changes.iter().any(|changes| changes.is_less_than_all_data())
    }

    /// The statement of accounts that together cover `coverage`.
    ///
    /// # Errors
    /// [`Error::NoGuarantee`] without an account; [`ndp_dp::Error::MixedNeighbors`].
    pub fn of(said: &[Said], coverage: &Coverage) -> Result<Self, Error> {
        let first = said.first().ok_or(Error::NoGuarantee("nobody was looked at"))?;
        let all = said.iter();
        let neighbors = first.terms.neighbors;
        if all.clone().any(|said| said.terms.neighbors != neighbors) {
            return Err(ndp_dp::Error::MixedNeighbors.into());
        }
        let observers = all.clone().map(|said| &said.observer);
        let named = matches!(coverage, Coverage::Named { .. });
        Ok(Self {
            version: VERSION,
            runs: 1,
            changes: all.clone().map(|said| said.terms.changes).collect(),
            neighbors,
            observers: observers.clone().filter(|_| named).cloned().collect(),
            own_noise: observers.clone().map(|observer| observer.own_noise).max().unwrap_or_default(),
            senders: observers.map(|observer| observer.senders).max().unwrap_or_default(),
            coverage: coverage.clone(),
            assumes: Assumption::of_one_protocol(
                all.clone().flat_map(|said| said.assumptions.iter().copied()),
            ),
            rests_on: RestsOn::together(all.clone().flat_map(|said| said.rests_on.iter().cloned())),
            failure: any_of(all.clone().map(|said| said.failure)),
            noise: all.clone().map(|said| said.terms.noise).collect(),
            by: all.flat_map(|said| said.theorems.iter().copied()).collect(),
        })
    }

    /// The statement of runs that were chosen, or ended, by what the observer had seen.
    #[must_use]
    pub fn chosen_by_seen(mut self) -> Self {
        self.assumes.remove(&Assumption::RunsFixed);
        self.assumes.insert(Assumption::ChosenBySeen);
        self
    }

    /// The statement of this run and another one, seen by the same observers; of each part, the weaker. They
    /// are assumed to be fixed beforehand, unless they were [chosen by what was seen](Self::chosen_by_seen).
    ///
    /// # Examples
    /// ```
    /// use ndp_account::example::Gossip;
    /// use ndp_account::{Audience, Covered, Observer, Protocol, accounts};
    /// use ndp_graph::{GossipMatrix, generators::path_graph, progress::Silent};
    /// let gossip = Gossip::new(GossipMatrix::metropolis(&path_graph(4)?), 3);
    /// let of = |observer| {
    ///     let audience = Audience::named(vec![observer]);
    ///     Covered::new(&gossip, &audience, accounts(&gossip, audience.looked_at(), &Silent)?).statement()
    /// };
    /// let (one, other) = (of(Observer::node(0))?, of(Observer::node(1))?);
    /// assert_eq!(one.and(&one)?.runs, 2);
    /// // What node 0 learns in one run and node 1 in another says nothing about either.
    /// assert!(one.and(&other).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ndp_dp::Error::MixedNeighbors`]; [`Error::NoGuarantee`] for other observers.
    pub fn and(&self, other: &Self) -> Result<Self, Error> {
        if self.neighbors != other.neighbors {
            return Err(ndp_dp::Error::MixedNeighbors.into());
        }
        let who = |statement: &Self| (statement.observers.clone(), statement.own_noise, statement.senders);
        if who(self) != who(other) {
            return Err(Error::NoGuarantee("runs seen by different observers do not add up"));
        }
        let mut assumes = &self.assumes | &other.assumes;
        if !assumes.contains(&Assumption::ChosenBySeen) {
            assumes.insert(Assumption::RunsFixed);
        }
        Ok(Self {
            version: VERSION,
            runs: self.runs + other.runs,
            changes: &self.changes | &other.changes,
            neighbors: self.neighbors,
            observers: self.observers.clone(),
            own_noise: self.own_noise,
            senders: self.senders,
            coverage: self.coverage.weaker(&other.coverage)?,
            assumes,
            rests_on: RestsOn::together(&self.rests_on | &other.rests_on),
            failure: any_of([self.failure, other.failure]),
            noise: &self.noise | &other.noise,
            by: &self.by | &other.by,
        })
    }
}

impl Covered<'_> {
    /// The statement beside the numbers of these accounts.
    ///
    /// # Errors
    /// As [`Statement::of`].
    pub fn statement(&self) -> Result<Statement, Error> {
        let statement = Statement::of(&Said::by_all(&self.accounts), &self.coverage)?;
        Ok(Statement { failure: self.failure(), ..statement })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Gossip;
    use crate::{Audience, accounts};
    use ndp_graph::{GossipMatrix, generators::path_graph, progress::Silent};

    fn seen_by(audience: &Audience) -> Result<Statement, Error> {
        let gossip = Gossip::new(GossipMatrix::metropolis(&path_graph(6)?), 2);
        Covered::new(&gossip, audience, accounts(&gossip, audience.looked_at(), &Silent)?).statement()
    }

    /// Equally many observers need not be the same ones: what two learn in one run and two others in the next
    /// says nothing about any of them.
    #[test]
    fn runs_add_up_for_the_same_observers_alone() -> Result<(), Error> {
        let named = |nodes: [usize; 2]| seen_by(&Audience::named(nodes.map(Observer::node).to_vec()));
        let (one, other) = (named([0, 1])?, named([2, 3])?);
        assert_eq!(one.coverage, other.coverage);
        let refused = |a: &Statement, b: &Statement| matches!(a.and(b), Err(Error::NoGuarantee(_)));
        assert!(refused(&one, &other));
        assert_eq!(one.and(&named([1, 0])?)?.runs, 2);
        let all = seen_by(&Audience::every_node(6))?;
        let weaker = seen_by(&Audience::every_node(6).map(Observer::without_own_noise))?;
        assert!(refused(&all, &weaker) && refused(&all, &one) && all.and(&all).is_ok());
        Ok(())
    }
}
