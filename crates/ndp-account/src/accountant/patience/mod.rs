//! Bounds instead of accounts: if an account does not fit in memory, takes more work than is counted for it
//! or more time than was told, a bound that takes no time to compute replaces it.

mod account;
mod limit;

pub use account::{Replaced, account_or_bound, locked, was_out};
pub use limit::{Limit, WORK, sharing};

use super::{Account, Attacker, Audience, Covered, Observer, Protocol, Row, Target, bound_is_attained};
use crate::Error;
use crate::forward::forward;
use crate::ordered::each_in_order;
use account::{GivenUp, PatientAccount, Time, is_beyond, is_too_large};
use limit::{LEAST_TO_BUILD, share};
use ndp_dp::NoiseMultiplier;
use ndp_graph::progress::{Stop, Stopped};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Why a bound replaced what an observer really sees.
#[derive(Clone, Debug, PartialEq)]
pub enum Why {
    /// Bounds were asked for at once.
    AtOnce,
    /// It was not known within so much time.
    Time(Duration),
    /// It takes more work than is counted by default.
    Work,
    /// It does not fit into the memory of a question; with a time that is told it may.
    Memory(Error),
    /// It is refused, with more patience as well.
    Refused(Error),
}

/// A protocol with a limit that all its observers share; beyond it, bounds replace the accounts that are
/// missing.
///
/// # Examples
/// ```
/// use ndp_account::example::Gossip;
/// use ndp_account::parts::{Limit, Patient, Why};
/// use ndp_account::{Audience, Covered, Target};
/// use ndp_dp::{Delta, Measure};
/// use ndp_graph::{GossipMatrix, generators::path_graph, progress::Stop};
/// let least = |work| -> Result<_, ndp_account::Error> {
///     let gossip = Gossip::new(GossipMatrix::metropolis(&path_graph(9)?), 4);
///     let gossip = Patient::new(Box::new(gossip), Limit::of_work(Stop::after_work(work)));
///     let everybody = Audience::every_node(9);
///     let covered = gossip.cover(&everybody, |observers| gossip.accounts(observers, || {}))?;
///     let target = Target::worst(Measure::Approx(Delta::new(1e-5)?), 1.0);
///     let noise = gossip.steady(|| covered.least_noise(&target))?.noise.get();
///     Ok((noise, gossip.replaced()))
/// };
/// // With too little work the bound of the noisy values stands for what all nine see.
/// let ((bound, replaced), (known, none)) = (least(1)?, least(1 << 40)?);
/// assert!(bound >= known && none.is_empty());
/// assert_eq!(replaced, [const { Why::Work }; 9]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Patient<'p> {
    protocol: Arc<dyn Protocol + 'p>,
    limit: Limit,
    /// How far a value may move, in the unit in which its noise is told.
    sensitivity: f64,
    /// Ends the accounts.
    stop: Stop,
    started: Instant,
    /// The observers whose account was replaced by the bound, with the reason.
    given_up: Mutex<BTreeMap<Observer, Why>>,
    /// Whether the bound also replaces single pairs that are not known in time; otherwise these have no
    /// answer.
    every_pair: bool,
    /// Whether the bound replaced some pair that did not fit in memory.
    pairs: Arc<AtomicBool>,
    /// What ends the account of each observer.
    stops: Mutex<BTreeMap<Observer, Stop>>,
    /// Observers some of whose pairs were not known in time: from then on the bound answers for all of them.
    cut: Arc<Mutex<BTreeSet<Observer>>>,
}

impl<'p> Patient<'p> {
    /// The limit counts from now on.
    #[must_use]
    pub fn new(protocol: Box<dyn Protocol + 'p>, limit: Limit) -> Self {
        Self::within(protocol.into(), limit)
    }

    /// The same of a protocol that somebody else keeps.
    #[must_use]
    pub fn lent(protocol: &'p dyn Protocol, limit: Limit) -> Self {
        Self::within(Arc::new(Lent(protocol)), limit)
    }

    fn within(protocol: Arc<dyn Protocol + 'p>, limit: Limit) -> Self {
        Self {
            protocol,
            stop: limit.stop(),
            limit,
            sensitivity: 1.0,
            started: Instant::now(),
            given_up: Mutex::default(),
            every_pair: false,
            pairs: Arc::default(),
            stops: Mutex::default(),
            cut: Arc::default(),
        }
    }

    /// The same protocol on values with this sensitivity, in whose unit noise is told. A noise that does not
    /// scale with it has no accounts.
    pub fn on_values_of(self, sensitivity: f64) -> Self {
        Self { sensitivity, ..self }
    }

    /// The account, unless its noise does not scale with the sensitivity.
    pub fn scaled<'a>(&self, account: Box<dyn Account + 'a>) -> Result<Box<dyn Account + 'a>, Error> {
        account.terms().check_sensitivity(self.sensitivity)?;
        Ok(account)
    }

    /// What this answer has cost so far, in counted work.
    pub fn work(&self) -> u64 {
        self.stop.spent()
    }

    /// Whether a limit on counted work decides what is known.
    #[must_use]
    pub const fn counts_work(&self) -> bool {
        self.limit.counts_work()
    }

    /// Whether counted work cut some of its answers short.
    pub fn is_cut_by_work(&self) -> bool {
        let given_up = locked(&self.given_up);
        self.counts_work()
            && (given_up.values().any(|why| *why == Why::Work) || !locked(&self.cut).is_empty())
    }

    /// What ends the account of an observer.
    pub fn stop_of(&self, observer: &Observer) -> Stop {
        locked(&self.stops).get(observer).cloned().unwrap_or_default()
    }

    /// The accounts of observers, in their order; `done` hears of each. They are computed beside one
    /// another, each within an equal part of the work, so that it does not matter which of them come
    /// first. What is left over goes to those who had not enough.
    pub fn accounts<'a>(
        &'a self,
        observers: &[Observer],
        done: impl Fn() + Sync,
    ) -> Result<Vec<Box<dyn Account + 'a>>, Error> {
        let within = |part: u64| {
            let done = &done;
            move |observer: &Observer| {
                let account = self.account_until(observer, &self.stop.within(part));
                done();
                account
            }
        };
        let mut part = share(&self.stop, observers.len());
        let mut accounts = each_in_order(observers, within(part))?;
        while self.counts_work() {
            let is_late = |at: &usize| locked(&self.given_up).get(&observers[*at]) == Some(&Why::Work);
            let late: Vec<usize> = (0..observers.len()).filter(is_late).collect();
            let next = share(&self.stop, late.len());
            if late.is_empty() || next <= part {
                break;
            }
            part = next;
            let again: Vec<Observer> = late.iter().map(|&at| observers[at].clone()).collect();
            again.iter().for_each(|observer| drop(locked(&self.given_up).remove(observer)));
            for (at, account) in late.into_iter().zip(each_in_order(&again, within(part))?) {
                accounts[at] = account;
            }
        }
        Ok(accounts)
    }

    /// An answer in which the bound stands for all pairs of an observer or for none: which of them were known
    /// before the limit would depend on the number of threads. The question is asked again for every observer
    /// whose limit came while it was answered: with an equal part of the work that is left, as long as this
    /// is at least what each of them had, and by the bound after that.
    pub fn steady<T>(&self, question: impl Fn() -> T) -> T {
        loop {
            let before = locked(&self.cut).clone();
            let answer = question();
            let late: Vec<Observer> = locked(&self.cut).difference(&before).cloned().collect();
            // Who asked for an end gets no better answer.
            if late.is_empty() || self.stop.check() == Err(Stopped::Asked) {
                return answer;
            }
            let stops: Vec<Stop> = late.iter().map(|observer| self.stop_of(observer)).collect();
            let more = share(&self.stop, late.len());
            if self.counts_work() && stops.iter().all(|stop| (1..=more).contains(&stop.spent())) {
                stops.iter().for_each(|stop| stop.allow(more));
                locked(&self.cut).retain(|observer| before.contains(observer));
            }
        }
    }

    /// Lets the bound also replace single pairs that are not known in time: a search over all pairs needs an
    /// answer for each.
    pub fn for_every_pair(mut self) -> Self {
        self.every_pair = true;
        self
    }

    /// The same protocol with a little work or time of its own, enough to see whether a limit is kept where
    /// losses took too much; `None` where bounds were asked for at once.
    pub fn a_little_more(&self) -> Option<Self> {
        let limit = (!self.limit.is_none_at_all()).then(|| self.limit.of(LEAST_TO_ANSWER))?;
        let again = Self::within(Arc::clone(&self.protocol), limit);
        Some(again.for_every_pair().on_values_of(self.sensitivity))
    }

    /// Shortens the limit if the bound covers `audience` and some node is proven to learn as much as the
    /// bound says. More time would then improve only the account of the one observer who is looked at. A
    /// limit in time stays, as somebody told it.
    #[must_use]
    pub fn where_it_wins(mut self, audience: &Audience) -> Self {
        if !self.counts_work() || audience.looking_at_all().is_none() {
            return self;
        }
        let soon = self.limit.of(LEAST_TO_ANSWER);
        if bound_is_attained(&*self.protocol, audience, &self.limit.of(LEAST_TO_ANSWER).stop()) {
            (self.stop, self.started) = (soon.stop(), Instant::now());
            self.limit = soon;
        }
        self
    }

    /// Covers every node by the bound alone, if it is quickly proven that no account could lower the noise
    /// that the target needs.
    pub(crate) fn settled(&self, audience: &Audience, target: &Target) -> Option<Covered<'_>> {
        let soon = self.limit.of(LEAST_TO_ANSWER).stop();
        Covered::by_attained_bound(&*self.protocol, audience, target, &soon)
    }

    /// Why the bound replaced what observers see: an entry for each of them.
    #[must_use]
    pub fn replaced(&self) -> Vec<Why> {
        let given_up = locked(&self.given_up);
        let cut = locked(&self.cut);
        let late = cut.iter().filter(|observer| !given_up.contains_key(observer));
        given_up.values().cloned().chain(late.map(|_| self.waited())).collect()
    }

    /// Whether the bound replaced single pairs that do not fit in memory.
    #[must_use]
    pub fn has_large_pairs(&self) -> bool {
        self.pairs.load(Ordering::Relaxed)
    }

    /// The limit.
    #[must_use]
    pub const fn limit(&self) -> &Limit {
        &self.limit
    }

    /// The protocol, without a limit.
    #[must_use]
    pub fn protocol(&self) -> Arc<dyn Protocol + 'p> {
        Arc::clone(&self.protocol)
    }

    /// What an audience learns: observers who are looked at have their own accounts, from `look`; a bound, a
    /// symmetry or an account of their group covers the others.
    ///
    /// # Errors
    /// Those of `look`.
    pub fn cover<'a>(
        &'a self,
        audience: &Audience,
        look: impl Fn(&[Observer]) -> Result<Vec<Box<dyn Account + 'a>>, Error>,
    ) -> Result<Covered<'a>, Error> {
        Covered::of(self, audience, look)?.by_groups(audience, self.look_at_groups())
    }

    /// The row of this protocol in a comparison: its noise, error and messages.
    #[must_use]
    pub fn row(&self, name: &str, audience: &Audience, target: &Target) -> Row {
        // A question that is asked again asks the same accounts.
        let covered = OnceCell::new();
        self.steady(|| {
            Row::of(name, Ok(self), target, |protocol| {
                let made = || match protocol.settled(audience, target) {
                    Some(covered) => Ok(covered),
                    None => protocol.cover(audience, |observers| protocol.accounts(observers, || {})),
                };
                covered.get_or_init(made).as_ref().map_err(Error::clone)
            })
        })
    }

    /// The account of an observer; or the bound, and why it replaces the account.
    ///
    /// # Errors
    /// Those of the account, if no bound replaces it.
    pub fn look<'a>(
        &'a self,
        observer: &Observer,
        mut stop: Stop,
    ) -> Result<(Box<dyn Account + 'a>, Option<Why>), Error> {
        if locked(&self.cut).contains(observer) {
            return self.bound(observer, Stopped::OutOfWork.into());
        }
        // However little time was told, what no bound may replace has enough for a formula.
        if self.limit.time().is_some_and(|time| time < LEAST_TO_ANSWER) {
            let quickly = || self.limit.of(LEAST_TO_ANSWER).stop();
            let at_once = self.limit.is_none_at_all();
            match self.bound(observer, Stopped::OutOfTime.into()) {
                Err(error) if was_out(&error) => stop = quickly(),
                _ if at_once && self.protocol.is_formula() => stop = quickly(),
                bound if at_once => return bound,
                _ => {}
            }
        }
        match self.protocol.account_until(observer, &stop) {
            Err(error) if is_too_large(&error) || was_out(&error) => self.bound(observer, error),
            Err(error) => Err(error),
            // All losses of this account follow from its unit losses, so no bound will have to replace one.
            Ok(account) if account.unit_losses().is_some() => Ok((account, None)),
            Ok(account) => {
                let bound = self.protocol.local_bound(observer).ok();
                locked(&self.stops).insert(observer.clone(), stop.clone());
                let given_up = GivenUp {
                    used: Arc::clone(&self.pairs),
                    cut: Some(Arc::clone(&self.cut)),
                    of: observer.clone(),
                };
                let every_pair = self.every_pair;
                let time = Time { stop, of_question: None };
                Ok((Box::new(PatientAccount { account, time, bound, every_pair, given_up }), None))
            }
        }
    }

    /// The accounts of groups of observers, computed in half of what is left. Refuses a batch that would
    /// not be done in time at the pace of the previous one.
    pub(crate) fn look_at_groups<'a>(
        &'a self,
    ) -> impl Fn(&[Observer]) -> Result<Vec<Box<dyn Account + 'a>>, Error> {
        let (stop, half) = self.limit.half(self.started);
        let pace = Mutex::new(Duration::ZERO);
        let used = Arc::clone(&self.pairs);
        move |observers| {
            let mut pace = pace.lock().unwrap_or_else(PoisonError::into_inner);
            let (started, many) = (Instant::now(), u32::try_from(observers.len()).unwrap_or(u32::MAX));
            let left = half.map(|half| half.saturating_duration_since(started));
            if left.is_some_and(|left| left < *pace * many) {
                return Err(Stopped::OutOfTime.into());
            }
            let share = share(&stop, observers.len());
            let accounts = each_in_order(observers, |observer| -> Result<Box<dyn Account + 'a>, Error> {
                let stop = stop.within(share);
                let account = self.scaled(self.protocol.account_until(observer, &stop)?)?;
                // Some accounts compute all losses when the first is asked for; that time must count here.
                let outside = (0..self.protocol.node_count()).find(|&u| !observer.contains(u));
                outside.map(|u| account.unit(u)).transpose()?;
                let given_up = GivenUp { used: Arc::clone(&used), cut: None, of: observer.clone() };
                let time = Time { stop, of_question: None };
                Ok(Box::new(PatientAccount { account, time, bound: None, every_pair: false, given_up }))
            })?;
            // A single account may include work that is done once for all, so its time says nothing about the
            // pace.
            *pace = if many > 1 { started.elapsed() / many } else { Duration::ZERO };
            Ok(accounts)
        }
    }

    /// The bound for an observer and why it is used; the error if the protocol has no such bound.
    fn bound<'a>(
        &'a self,
        observer: &Observer,
        why: Error,
    ) -> Result<(Box<dyn Account + 'a>, Option<Why>), Error> {
        let Ok(bound) = self.protocol.local_bound(observer) else { return Err(why) };
        let why = match why {
            why if was_out(&why) => self.waited(),
            why if is_beyond(&why, self.stop.memory()) => Why::Memory(why),
            why => Why::Refused(why),
        };
        Ok((bound, Some(why)))
    }

    fn waited(&self) -> Why {
        match self.limit.time() {
            Some(Duration::ZERO) => Why::AtOnce,
            Some(time) => Why::Time(time),
            None if self.counts_work() => Why::Work,
            None => Why::Refused(Stopped::OutOfTime.into()),
        }
    }
}

/// For an answer that has no bound to replace it, and for quick proofs about the bound.
const LEAST_TO_ANSWER: Duration = Duration::from_secs(2);

/// A protocol that somebody else keeps.
struct Lent<'p>(&'p dyn Protocol);

impl Protocol for Lent<'_> {
    forward! { self.0 =>
        fn node_count(&self) -> usize;
        fn account_until(&self, observer: &Observer, stop: &Stop) -> Result<Box<dyn Account + '_>, Error>;
        fn local_bound(&self, observer: &Observer) -> Result<Box<dyn Account + '_>, Error>;
        fn glimpse(&self, observer: &Observer, stop: &Stop) -> Result<Box<dyn Account + '_>, Error>;
        fn symmetries(&self) -> Vec<Vec<u32>>;
        fn is_formula(&self) -> bool;
        fn error_until(&self, noise: NoiseMultiplier, stop: &Stop) -> Result<f64, Error>;
        fn message_count(&self) -> Result<f64, Error>;
        fn program_text(&self) -> Result<Vec<u8>, Error>;
        fn attack(
            &self,
            u: usize,
            observer: &Observer,
            noise: NoiseMultiplier,
        ) -> Result<Box<dyn Attacker + '_>, Error>;
    }
}

impl Protocol for Patient<'_> {
    fn node_count(&self) -> usize {
        self.protocol.node_count()
    }

    /// Within a part of the limit, or all of it where none is told.
    fn account_until<'a>(&'a self, observer: &Observer, stop: &Stop) -> Result<Box<dyn Account + 'a>, Error> {
        let stop = if stop == &Stop::never() { &self.stop } else { stop };
        let (account, why) = self.look(observer, stop.clone())?;
        let account = self.scaled(account)?;
        if let Some(why) = why {
            self.given_up.lock().unwrap_or_else(PoisonError::into_inner).insert(observer.clone(), why);
        }
        Ok(account)
    }

    fn local_bound<'a>(&'a self, observer: &Observer) -> Result<Box<dyn Account + 'a>, Error> {
        self.scaled(self.protocol.local_bound(observer)?)
    }

    /// None with `--patience 0`.
    fn symmetries(&self) -> Vec<Vec<u32>> {
        if self.limit.is_none_at_all() { Vec::new() } else { self.protocol.symmetries() }
    }

    /// A glimpse has as much time as building the protocol has.
    fn glimpse<'a>(&'a self, observer: &Observer, _: &Stop) -> Result<Box<dyn Account + 'a>, Error> {
        self.scaled(self.protocol.glimpse(observer, &self.limit.of(LEAST_TO_BUILD).stop())?)
    }

    /// The error may take as long as an account, so it has the full patience, and at least the time for
    /// building.
    fn error_until(&self, noise: NoiseMultiplier, _: &Stop) -> Result<f64, Error> {
        self.protocol.error_until(noise, &self.limit.to_build())
    }

    fn message_count(&self) -> Result<f64, Error> {
        self.protocol.message_count()
    }

    fn program_text(&self) -> Result<Vec<u8>, Error> {
        self.protocol.program_text()
    }

    fn attack<'a>(
        &'a self,
        u: usize,
        observer: &Observer,
        noise: NoiseMultiplier,
    ) -> Result<Box<dyn Attacker + 'a>, Error> {
        self.protocol.attack(u, observer, noise)
    }
}
