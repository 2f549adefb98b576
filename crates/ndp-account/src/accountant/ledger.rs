//! What several runs over the same data have cost every pair together.

use super::names::Places;
use super::{Account, NodeNames, Observer};
use crate::Error;
use crate::error::ensure;
use ndp_dp::{Adaptivity, Ledger, Measure, NoiseMultiplier, Odometer, Profile, Verdict};
use ndp_numeric::rounding::Interval;
use std::collections::{BTreeMap, BTreeSet};

/// A [`Ledger`] for each exposed node and each observer, over nodes with names; with no run, and without a limit unless one is fixed.
///
/// Nodes are those of their [names](Account::names): runs of protocols that count the same nodes in another order are added up by
/// name, and a run over other nodes is refused. Observers are told apart by their members and by all else that they know: a run
/// observed by nodes 1 and 2 together says nothing about node 1 alone, and one observed without own noise nothing about one observed
/// with it. So that no answer leaves out a run, every run is written down for the observers of the first.
///
/// # Examples
/// ```
/// use ndp_account::{Named, NodeNames, Observer, PairLedgers, Protocol};
/// use ndp_account::example::Gossip;
/// use ndp_dp::{Adaptivity, Delta, Measure, NoiseMultiplier, Verdict};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let gossip = Gossip::new(GossipMatrix::metropolis(&path_graph(4)?), 3);
/// let names = NodeNames::new(["ann", "bob", "cem", "eve"])?;
/// let named = Named::new(&gossip, names.clone())?;
/// let accounts = [named.account(&Observer::node(0))?];
/// let mut ledgers = PairLedgers::with_limit(names, Measure::Approx(Delta::new(1e-5)?), 2.5)?;
/// let noise = NoiseMultiplier::new(2.0)?;
/// assert!(ledgers.fits(&accounts, noise, Adaptivity::Fixed)?);
/// ledgers.record("averaging", &accounts, noise, Adaptivity::Fixed)?;
/// assert!(!ledgers.fits(&accounts, noise, Adaptivity::Fixed)?);
/// assert_eq!(ledgers.verdict()?, Verdict::Met);
/// let bob = ledgers.names().position("bob").and_then(|bob| ledgers.pair(bob, &Observer::node(0)));
/// assert!(bob.is_some_and(|ledger| ledger.entries().len() == 1));
/// // The same numbers without the names are other nodes.
/// assert!(ledgers.record("unnamed", &[gossip.account(&Observer::node(0))?], noise, Adaptivity::Fixed).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct PairLedgers {
    names: NodeNames,
    /// The ledger of a pair before its first run.
    empty: Ledger,
    /// The observers of the first run, in the numbers of the names.
    observers: BTreeSet<Observer>,
    pairs: BTreeMap<(usize, Observer), Ledger>,
    failure: f64,
    rests_on: BTreeSet<String>,
}

/// A pair that a run touches, its ledger, and what the run adds.
type Touched = ((usize, Observer), Ledger, Profile);

impl PairLedgers {
    /// No run, and no limit.
    #[must_use]
    pub fn new(names: NodeNames) -> Self {
        Self::each(names, Ledger::default())
    }

    /// No run, and a limit for every pair.
    ///
    /// # Errors
    /// [`ndp_dp::Error::InvalidParameter`] unless `0 ≤ allowed ≤ ∞`.
    pub fn with_limit(names: NodeNames, measure: Measure, allowed: f64) -> Result<Self, Error> {
        Ok(Self::each(names, Ledger::with_limit(measure, allowed)?))
    }

    /// No run, and an odometer for every pair, see [`Ledger::with_odometer`].
    #[must_use]
    pub fn with_odometer(names: NodeNames, odometer: Odometer) -> Self {
        Self::each(names, Ledger::with_odometer(odometer))
    }

    fn each(names: NodeNames, empty: Ledger) -> Self {
        let (observers, pairs, rests_on) = (BTreeSet::new(), BTreeMap::new(), BTreeSet::new());
        Self { names, empty, observers, pairs, failure: 0.0, rests_on }
    }

    /// The names of the nodes, whose positions are the numbers that [`Self::pair`] and [`Self::pairs`] speak of.
    #[must_use]
    pub const fn names(&self) -> &NodeNames {
        &self.names
    }

    /// Writes down a run at `noise` for the observers of `accounts` and every node outside each of them. All or nothing; an observer
    /// that is given twice counts once.
    ///
    /// `adaptivity` is that towards each of these observers: a run that was chosen by what was seen is [`Adaptivity::OnSeen`] only if
    /// *every one* of them saw it.
    ///
    /// # Errors
    /// [`Error::OtherNodes`] for an account over other names, or another number of them; [`Error::OtherObservers`] unless the
    /// observers are those of the first run; as [`Ledger::record`]; those of the accounts.
    pub fn record(
        &mut self,
        name: &str,
        accounts: &[Box<dyn Account + '_>],
        noise: NoiseMultiplier,
        adaptivity: Adaptivity,
    ) -> Result<(), Error> {
        let (touched, observers) = self.touched(accounts, noise)?;
        let mut changed = Vec::with_capacity(touched.len());
        for (pair, mut ledger, profile) in touched {
            ledger.record(name, profile, adaptivity)?;
            changed.push((pair, ledger));
        }
        self.pairs.extend(changed);
        self.observers = observers;
        let failures = accounts.iter().map(|account| Interval::new(account.failure()));
        self.rests_on.extend(accounts.iter().flat_map(|account| account.rests_on()));
        self.failure = (Interval::new(self.failure) + failures.sum()).high().min(1.0);
        Ok(())
    }

    /// A filter: whether for every pair the run stays within the limit, asked before the run; see [`Ledger::fits`].
    ///
    /// # Errors
    /// As [`Self::record`] and [`Ledger::fits`].
    pub fn fits(
        &self,
        accounts: &[Box<dyn Account + '_>],
        noise: NoiseMultiplier,
        adaptivity: Adaptivity,
    ) -> Result<bool, Error> {
        for (_, ledger, profile) in self.touched(accounts, noise)?.0 {
            if !ledger.fits(&profile, adaptivity)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The ledgers that a run touches, with what it adds, and the observers of all runs.
    fn touched(
        &self,
        accounts: &[Box<dyn Account + '_>],
        noise: NoiseMultiplier,
    ) -> Result<(Vec<Touched>, BTreeSet<Observer>), Error> {
        ensure(!accounts.is_empty(), "the number of observers", "be at least 1", 0.0)?;
        let (mut touched, mut observers) = (Vec::new(), BTreeSet::new());
        for account in accounts {
            let places = self.names.places_of(&account.names())?;
            let asked = account.observer();
            let observer = asked.moved(|v| places.of(v));
            if !self.observers.is_empty() && !self.observers.contains(&observer) {
                return Err(Error::OtherObservers { observer: self.names.words(&observer), recorded: false });
            }
            if !observers.insert(observer.clone()) {
                continue;
            }
            self.touch(account.as_ref(), noise, &places, &observer, &mut touched)?;
        }
        match self.observers.difference(&observers).next() {
            Some(left_out) => {
                Err(Error::OtherObservers { observer: self.names.words(left_out), recorded: true })
            }
            None => Ok((touched, observers)),
        }
    }

    fn touch(
        &self,
        account: &dyn Account,
        noise: NoiseMultiplier,
        places: &Places,
        observer: &Observer,
        touched: &mut Vec<Touched>,
    ) -> Result<(), Error> {
        for u in (0..account.node_count()).filter(|&u| !account.observer().contains(u)) {
            let pair = (places.of(u), observer.clone());
            let ledger = self.pairs.get(&pair).unwrap_or(&self.empty).clone();
            touched.push((pair, ledger, account.profile(u, noise)?));
        }
        Ok(())
    }

    /// The ledger of node `u` towards this observer, both in the numbers of [`Self::names`]; `None` for a pair that no run was
    /// written down for.
    #[must_use]
    pub fn pair(&self, u: usize, observer: &Observer) -> Option<&Ledger> {
        self.pairs.get(&(u, observer.moved(|v| v)))
    }

    /// Exposed node, observer, and their ledger, in the numbers of [`Self::names`].
    pub fn pairs(&self) -> impl Iterator<Item = (usize, &Observer, &Ledger)> {
        self.pairs.iter().map(|((u, observer), ledger)| (*u, observer, ledger))
    }

    /// Whether all pairs that were written down stay within the limit.
    ///
    /// # Errors
    /// As [`Ledger::verdict`].
    pub fn verdict(&self) -> Result<Verdict, Error> {
        let mut worst = self.empty.verdict()?;
        for ledger in self.pairs.values() {
            worst = worst.max(ledger.verdict()?);
        }
        Ok(worst)
    }

    /// What the numbers rest on beside what is computed, over all runs, see [`Account::rests_on`].
    pub fn rests_on(&self) -> impl Iterator<Item = &str> {
        self.rests_on.iter().map(String::as_str)
    }

    /// Probability that any of the accounts is too small, over randomness of their own (see [`Account::failure`]): the sum over all
    /// observers and runs, rounded up. Everything that the ledgers say holds together but for this.
    #[must_use]
    pub const fn failure(&self) -> f64 {
        self.failure
    }
}
