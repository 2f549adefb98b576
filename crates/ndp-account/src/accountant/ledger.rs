//! What several runs over the same data have cost every pair together.

use super::names::Places;
use super::target::{Allowed, Target};
use super::{Account, NodeNames, Observer};
use crate::error::ensure;
use crate::{Error, RestsOn};
use ndp_dp::{Adaptivity, Ledger, Measure, NoiseMultiplier, Odometer, Profile, UpperBound, Verdict};
use ndp_numeric::rounding::{Interval, any_of};
use std::collections::{BTreeMap, BTreeSet};

/// A [`Ledger`] for each exposed node and each observer, over nodes with names. A new one has no runs.
///
/// Nodes are matched by their [names](Account::names). If protocols number the same nodes differently, their
/// runs are added up by name; a run over other nodes is refused. Observers differ if their members or their
/// knowledge differ: a run observed by nodes 1 and 2 together says nothing about node 1 alone, and a run
/// observed without own noise says nothing about one observed with it. Every run must be recorded for the
/// observers of the first run, so that no answer leaves out a run.
///
/// # Examples
/// ```
/// use ndp_account::{NodeNames, Observer, PairLedgers, Protocol, Target, named};
/// use ndp_account::example::Gossip;
/// use ndp_dp::{Adaptivity, Delta, Measure, NoiseMultiplier, Verdict};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let gossip = Gossip::new(GossipMatrix::metropolis(&path_graph(4)?), 3);
/// let names = NodeNames::new(["ann", "bob", "cem", "eve"])?;
/// let accounts = [named(gossip.account(&Observer::node(0))?, names.clone())?];
/// let mut ledgers = PairLedgers::with_limits(names, Target::worst(Measure::Approx(Delta::new(1e-5)?), 2.5))?;
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
    budget: Budget,
    /// The observers of the first run, by the node numbers of `names`.
    observers: BTreeSet<Observer>,
    pairs: BTreeMap<(usize, Observer), Ledger>,
    failure: f64,
    rests_on: BTreeSet<RestsOn>,
}

/// What was fixed before the first run.
#[derive(Clone, Debug)]
enum Budget {
    Nothing,
    Limits(Target),
    Odometer(Odometer),
}

/// A pair that a run touches, its ledger, and what the run adds.
type Touched = ((usize, Observer), Ledger, Profile);

impl PairLedgers {
    /// No runs and no limits.
    #[must_use]
    pub fn new(names: NodeNames) -> Self {
        Self::each(names, Budget::Nothing)
    }

    /// No runs, and limits on all runs together: one limit for every pair, one for each pair, or one on the
    /// mean towards every observer. Nodes and observers are numbered as in `names`.
    ///
    /// A limit on the mean is no filter: after a run that was chosen because of what was seen, it has no
    /// verdict.
    ///
    /// # Examples
    /// ```
    /// use ndp_account::example::Gossip;
    /// use ndp_account::{Error, NodeNames, Observer, PairLedgers, Protocol, Target};
    /// use ndp_dp::{Adaptivity, Measure, NoiseMultiplier, Verdict};
    /// use ndp_graph::{GossipMatrix, generators::path_graph};
    /// let gossip = Gossip::new(GossipMatrix::metropolis(&path_graph(4)?), 3);
    /// let accounts = [gossip.account(&Observer::node(0))?];
    /// // A neighbor loses 0.5 in each run, and with two runs 0.71.
    /// let limits = Target::listed(Measure::Gaussian, [((3, 0), 0.6), ((1, 0), 0.6)]);
    /// let mut ledgers = PairLedgers::with_limits(NodeNames::numbered(4), limits)?;
    /// let noise = NoiseMultiplier::new(2.0)?;
    /// ledgers.record("averaging", &accounts, noise, Adaptivity::Fixed)?;
    /// assert_eq!(ledgers.verdict()?, Verdict::Met);
    /// assert!(!ledgers.fits(&accounts, noise, Adaptivity::Fixed)?);
    /// // A limit that nobody of the observers answers for is not kept, but unanswered.
    /// let elsewhere = Target::listed(Measure::Gaussian, [((1, 2), 1.0)]);
    /// let mut ledgers = PairLedgers::with_limits(NodeNames::numbered(4), elsewhere)?;
    /// ledgers.record("averaging", &accounts, noise, Adaptivity::Fixed)?;
    /// assert_eq!(ledgers.verdict(), Err(Error::NobodyLooked { exposed: 1, observer: 2 }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if a single limit is negative or NaN; limits of pairs are checked when a
    /// run is recorded.
    pub fn with_limits(names: NodeNames, limits: Target) -> Result<Self, Error> {
        if let Allowed::Worst(allowed) | Allowed::Mean(allowed) = limits.allowed {
            let (name, condition) = ("the loss allowed", "be nonnegative");
            ensure((0.0..=f64::INFINITY).contains(&allowed), name, condition, allowed)?;
        }
        Ok(Self::each(names, Budget::Limits(limits)))
    }

    /// No runs, and an odometer for every pair, see [`Ledger::with_odometer`].
    #[must_use]
    pub fn with_odometer(names: NodeNames, odometer: Odometer) -> Self {
        Self::each(names, Budget::Odometer(odometer))
    }

    fn each(names: NodeNames, budget: Budget) -> Self {
        let (observers, pairs, rests_on) = (BTreeSet::new(), BTreeMap::new(), BTreeSet::new());
        Self { names, budget, observers, pairs, failure: 0.0, rests_on }
    }

    /// The ledger of a pair before its first run.
    fn empty(&self, u: usize, observer: &Observer) -> Result<Ledger, Error> {
        Ok(match &self.budget {
            Budget::Nothing | Budget::Limits(Target { allowed: Allowed::Mean(_), .. }) => Ledger::default(),
            Budget::Limits(limits) => Ledger::with_limit(limits.measure, limits.of_pair(u, observer)?)?,
            Budget::Odometer(odometer) => Ledger::with_odometer(*odometer),
        })
    }

    /// The names of the nodes; [`Self::pair`] and [`Self::pairs`] number nodes by their order.
    #[must_use]
    pub const fn names(&self) -> &NodeNames {
        &self.names
    }

    /// Records a run at `noise` for the observers of `accounts` and every node outside each of them, or
    /// nothing if it fails. An observer that is given twice counts once.
    ///
    /// `adaptivity` holds towards each of these observers. A run that was chosen because of what was seen is
    /// [`Adaptivity::OnSeen`] only if *every one* of them saw it.
    ///
    /// # Errors
    /// [`Error::OtherNodes`] for an account over other names, or another number of them;
    /// [`Error::OtherObservers`] unless the observers are those of the first run; as [`Ledger::record`];
    /// those of the accounts.
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
        let failures = accounts.iter().map(|account| account.failure());
        let before = std::mem::take(&mut self.rests_on).into_iter();
        let added = accounts.iter().flat_map(|account| account.rests_on());
        self.rests_on = RestsOn::together(before.chain(added));
        self.failure = any_of(failures.chain([self.failure]));
        Ok(())
    }

    /// A filter, asked before a run: whether all limits still hold with this run; see [`Ledger::fits`].
    ///
    /// # Errors
    /// As [`Self::record`], [`Self::verdict`] and [`Ledger::fits`].
    pub fn fits(
        &self,
        accounts: &[Box<dyn Account + '_>],
        noise: NoiseMultiplier,
        adaptivity: Adaptivity,
    ) -> Result<bool, Error> {
        if matches!(&self.budget, Budget::Limits(Target { allowed: Allowed::Mean(_), .. })) {
            let mut with = self.clone();
            with.record("next", accounts, noise, adaptivity)?;
            return Ok(with.verdict()? == Verdict::Met);
        }
        let (touched, observers) = self.touched(accounts, noise)?;
        self.require_answered(&observers)?;
        for (_, ledger, profile) in touched {
            if !ledger.fits(&profile, adaptivity)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn require_answered(&self, observers: &BTreeSet<Observer>) -> Result<(), Error> {
        let Budget::Limits(limits) = &self.budget else { return Ok(()) };
        match limits.unanswered(observers) {
            Some((exposed, observer)) if !observers.is_empty() => {
                Err(Error::NobodyLooked { exposed, observer })
            }
            _ => Ok(()),
        }
    }

    /// The ledgers that a run changes, with what it adds to each, and the observers of all runs.
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
            let ledger = match self.pairs.get(&pair) {
                Some(ledger) => ledger.clone(),
                None => self.empty(pair.0, observer)?,
            };
            touched.push((pair, ledger, account.profile(u, noise)?));
        }
        Ok(())
    }

    /// The ledger of node `u` towards this observer, numbered as in [`Self::names`]; `None` for a pair
    /// without a recorded run.
    #[must_use]
    pub fn pair(&self, u: usize, observer: &Observer) -> Option<&Ledger> {
        self.pairs.get(&(u, observer.moved(|v| v)))
    }

    /// Every exposed node, observer and their ledger, numbered as in [`Self::names`].
    pub fn pairs(&self) -> impl Iterator<Item = (usize, &Observer, &Ledger)> {
        self.pairs.iter().map(|((u, observer), ledger)| (*u, observer, ledger))
    }

    /// Whether all recorded pairs stay within their limits; for a limit on the mean, whether it holds towards
    /// every observer.
    ///
    /// # Errors
    /// As [`Ledger::verdict`]; [`Error::NobodyLooked`] for a listed limit that no observer answers for; as
    /// [`Self::mean`].
    pub fn verdict(&self) -> Result<Verdict, Error> {
        let Budget::Limits(limits) = &self.budget else { return Err(ndp_dp::Error::NoLimit.into()) };
        self.require_answered(&self.observers)?;
        let mut worst = Verdict::Met;
        if let Allowed::Mean(allowed) = limits.allowed {
            for observer in &self.observers {
                if self.mean(observer, limits.measure)?.into_value() > allowed {
                    worst = Verdict::NotShown;
                }
            }
            return Ok(worst);
        }
        for ledger in self.pairs.values() {
            worst = worst.max(ledger.verdict()?);
        }
        Ok(worst)
    }

    /// The cost of all runs towards this observer, added up over all nodes outside it and divided by the
    /// number of all nodes.
    ///
    /// # Errors
    /// As [`Ledger::spent`].
    pub fn mean(&self, observer: &Observer, measure: Measure) -> Result<UpperBound<f64>, Error> {
        let observer = observer.moved(|v| v);
        let mut sum = Interval::ZERO;
        for (_, ledger) in self.pairs.iter().filter(|((_, of), _)| *of == observer) {
            sum = sum + Interval::new(ledger.spent()?.loss(measure)?.into_value());
        }
        Ok(UpperBound::new((sum / Interval::count(self.names.count() as u64)).high()))
    }

    /// What the numbers rest on beside what is computed, over all runs, see [`Account::rests_on`].
    pub fn rests_on(&self) -> impl Iterator<Item = &RestsOn> {
        self.rests_on.iter()
    }

    /// An upper bound on the probability that any account is too small, over its own randomness (see
    /// [`Account::failure`]): the sum over all observers and runs. With the remaining probability, everything
    /// that the ledgers say holds.
    #[must_use]
    pub const fn failure(&self) -> f64 {
        self.failure
    }
}
