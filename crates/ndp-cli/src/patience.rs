//! Bounds instead of accounts: if an account does not fit in memory, takes more work than the command counts
//! for it or longer than `--patience`, a bound that takes no time to compute replaces it.

use crate::progress::Meanwhile;
use ndp_account::parts::each_in_order;
use ndp_account::{
    Account, Assumption, Attacker, Audience, By, Covered, Error, Observer, Protocol, RestsOn, Target, Terms,
    bound_is_attained,
};
use ndp_algos::registry::{Entry, Parameters};
use ndp_certify::Error as Certify;
use ndp_dp::{ApproxDp, Curve, Delta, Guarantee, Measure, NoiseMultiplier, Order, Profile};
use ndp_graph::GossipMatrix;
use ndp_numeric::stop::{Stop, Stopped};
use ndp_report::words;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long an answer may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    /// As long as it takes.
    Never,
    /// So many seconds; 0 asks for the bounds at once.
    Seconds(u64),
}

impl Limit {
    fn stop(self) -> Stop {
        match self {
            Self::Never => Stop::never(),
            Self::Seconds(seconds) => after(seconds),
        }
    }

    /// The same limit, but not less than so many seconds.
    fn at_least(self, least: u64) -> Self {
        match self {
            Self::Never => Self::Never,
            Self::Seconds(seconds) => Self::Seconds(seconds.max(least)),
        }
    }

    /// The same kind of limit, of so many seconds.
    fn of(self, seconds: u64) -> Self {
        match self {
            Self::Never => Self::Never,
            Self::Seconds(_) => Self::Seconds(seconds),
        }
    }

    /// Whether bounds are asked for at once.
    fn is_none_at_all(self) -> bool {
        self == Self::Seconds(0)
    }
}

fn after(seconds: u64) -> Stop {
    Instant::now().checked_add(Duration::from_secs(seconds)).map_or_else(Stop::never, Stop::at)
}

/// A protocol with a limit that all its observers share; beyond it, bounds replace the accounts that are
/// missing.
pub(crate) struct Patient {
    protocol: Arc<dyn Protocol>,
    limit: Limit,
    /// Ends the accounts.
    stop: Stop,
    started: Instant,
    /// The observers whose account was replaced by the bound, with the reason.
    given_up: Mutex<BTreeMap<Observer, String>>,
    /// Whether the bound also replaces single pairs that are not known in time; otherwise these have no
    /// answer.
    every_pair: bool,
    /// Whether the bound replaced some pair.
    pairs: Arc<AtomicBool>,
}

impl Patient {
    /// The limit counts from now on.
    pub(crate) fn new(protocol: Box<dyn Protocol>, limit: Limit) -> Self {
        Self {
            protocol: protocol.into(),
            limit,
            stop: limit.stop(),
            started: Instant::now(),
            given_up: Mutex::default(),
            every_pair: false,
            pairs: Arc::default(),
        }
    }

    /// Lets the bound also replace single pairs that are not known in time: a search over all pairs needs an
    /// answer for each.
    pub(crate) fn for_every_pair(mut self) -> Self {
        self.every_pair = true;
        self
    }

    /// Builds a protocol of the registry, with the same limit.
    pub(crate) fn of_entry(
        entry: &'static Entry,
        matrix: &GossipMatrix,
        parameters: &Parameters,
        limit: Limit,
    ) -> Result<Self, Error> {
        // The bound is computed from the protocol, so even with `--patience 0` it must be built.
        let built = entry.build_until(matrix, parameters, &limit.at_least(LEAST_TO_BUILD).stop())?;
        Ok(Self::new(built, limit))
    }

    /// Shortens the limit if the bound covers `audience` and some node is proven to learn as much as the bound
    /// says. More time would then improve only the account of the one observer who is looked at. A limit that
    /// the user `told` stays.
    pub(crate) fn where_it_wins(mut self, told: Option<u64>, audience: &Audience) -> Self {
        if told.is_some() || audience.looking_at_all().is_none() {
            return self;
        }
        let soon = self.limit.of(LEAST_TO_ANSWER);
        if bound_is_attained(&*self.protocol, audience, &soon.stop()) {
            (self.limit, self.stop, self.started) = (soon, soon.stop(), Instant::now());
        }
        self
    }

    /// Covers every node by the bound alone, if it is quickly proven that no account could lower the noise
    /// that the target needs.
    pub(crate) fn settled(&self, audience: &Audience, target: &Target) -> Option<Covered<'_>> {
        let soon = self.limit.of(LEAST_TO_ANSWER).stop();
        Covered::by_attained_bound(&*self.protocol, audience, target, &soon)
    }

    /// If the answer takes long, prints what is known before any account is computed: `known` puts the bounds
    /// of all observers into words.
    pub(crate) fn meanwhile(
        &self,
        audience: &Audience,
        quiet: bool,
        known: impl FnOnce(&[Box<dyn Account + '_>]) -> Option<String> + Send + 'static,
    ) -> Meanwhile {
        let protocol = Arc::clone(&self.protocol);
        let seconds = match self.limit {
            Limit::Never => None,
            Limit::Seconds(seconds) => Some(seconds),
        };
        let observers = [audience.looked_at(), audience.others()].concat();
        // With `--patience 0` the bounds are the answer and come at once.
        Meanwhile::new(quiet || self.limit.is_none_at_all(), move || {
            let bounds = observers.iter().map(|observer| protocol.local_bound(observer));
            let known = bounds.collect::<Result<Vec<_>, _>>().ok().and_then(|bounds| known(&bounds));
            words::so_far(known.as_deref(), seconds)
        })
    }

    /// The notes that say for how many observers the bound is used; one note per reason.
    pub(crate) fn notes(&self) -> Vec<String> {
        let given_up = self.given_up.lock().unwrap_or_else(PoisonError::into_inner);
        let mut reasons: Vec<&String> = given_up.values().collect();
        reasons.sort_unstable();
        let observers = reasons.chunk_by(|a, b| a == b).map(|same| {
            let who =
                if same.len() == 1 { "one observer".into() } else { format!("{} observers", same.len()) };
            format!("for {who} the bound of whoever hears the noisy values themselves is given: {}", same[0])
        });
        let pairs = self.pairs.load(Ordering::Relaxed).then(|| {
            "for pairs that were not known in time, or do not fit in memory, the bound of whoever hears the noisy values themselves \
             is given"
                .to_owned()
        });
        observers.chain(pairs).collect()
    }

    /// The account of an observer; or the bound, and why it replaces the account.
    pub(crate) fn look<'a>(
        &'a self,
        observer: &Observer,
    ) -> Result<(Box<dyn Account + 'a>, Option<String>), Error> {
        let mut stop = self.stop.clone();
        if self.limit.is_none_at_all() {
            let quickly = self.limit.of(LEAST_TO_ANSWER);
            if self.protocol.is_formula() {
                stop = quickly.stop();
            } else {
                match self.bound(observer, Stopped::OutOfTime.into()) {
                    // A protocol without this bound has a formula instead, which takes hardly any time.
                    Err(error) if was_out(&error) => stop = quickly.stop(),
                    bound => return bound,
                }
            }
        }
        match self.protocol.account_until(observer, &stop) {
            Err(error) if is_too_large(&error) || was_out(&error) => self.bound(observer, error),
            Err(error) => Err(error),
            // All losses of this account follow from its unit losses, so no bound will have to replace one.
            Ok(account) if account.unit_losses().is_some() => Ok((account, None)),
            Ok(account) => {
                let bound = self.protocol.local_bound(observer).ok();
                let (every_pair, used) = (self.every_pair, Arc::clone(&self.pairs));
                Ok((Box::new(PatientAccount { account, stop, bound, every_pair, used }), None))
            }
        }
    }

    /// The accounts of groups of observers, computed in half of what is left. Refuses a batch that would not be
    /// done in time at the pace of the previous one.
    pub(crate) fn look_at_groups<'a>(
        &'a self,
    ) -> impl Fn(&[Observer]) -> Result<Vec<Box<dyn Account + 'a>>, Error> {
        let now = Instant::now();
        let half = match self.limit {
            Limit::Never => None,
            Limit::Seconds(seconds) => {
                let until = self.started.checked_add(Duration::from_secs(seconds));
                until.map(|until| now + until.saturating_duration_since(now) / 2)
            }
        };
        let stop = half.map_or_else(Stop::never, Stop::at);
        let pace = Mutex::new(Duration::ZERO);
        let used = Arc::clone(&self.pairs);
        move |observers| {
            let mut pace = pace.lock().unwrap_or_else(PoisonError::into_inner);
            let (started, many) = (Instant::now(), u32::try_from(observers.len()).unwrap_or(u32::MAX));
            let left = half.map(|half| half.saturating_duration_since(started));
            if left.is_some_and(|left| left < *pace * many) {
                return Err(Stopped::OutOfTime.into());
            }
            let accounts = each_in_order(observers, |observer| -> Result<Box<dyn Account + 'a>, Error> {
                let account = self.protocol.account_until(observer, &stop)?;
                // Some accounts compute all losses when the first is asked for; that time must count here.
                let outside = (0..self.protocol.node_count()).find(|&u| !observer.contains(u));
                outside.map(|u| account.unit(u)).transpose()?;
                let (stop, used) = (stop.clone(), Arc::clone(&used));
                Ok(Box::new(PatientAccount { account, stop, bound: None, every_pair: false, used }))
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
    ) -> Result<(Box<dyn Account + 'a>, Option<String>), Error> {
        let Ok(bound) = self.protocol.local_bound(observer) else { return Err(why) };
        Ok((bound, Some(if was_out(&why) { self.waited() } else { why.to_string() })))
    }

    fn waited(&self) -> String {
        match self.limit {
            Limit::Seconds(0) => "--patience 0 asks for it".into(),
            Limit::Seconds(seconds) => format!("what is seen was not known within {seconds} s"),
            Limit::Never => Stopped::OutOfTime.to_string(),
        }
    }
}

/// Seconds that several questions share. Each gets an equal part of what the earlier ones left over.
pub(crate) struct Budget {
    until: Instant,
    questions: u32,
}

impl Budget {
    pub(crate) fn new(seconds: u64, questions: usize) -> Self {
        let now = Instant::now();
        let until = now.checked_add(Duration::from_secs(seconds)).unwrap_or(now);
        Self { until, questions: u32::try_from(questions).unwrap_or(u32::MAX) }
    }

    /// The limit of the next question.
    pub(crate) fn next(&mut self) -> Limit {
        let left = self.until.saturating_duration_since(Instant::now());
        let share = left / self.questions.max(1);
        self.questions = self.questions.saturating_sub(1);
        // 0 seconds ask for bounds, so that must happen only if no time is left. A share below one second is
        // raised to one.
        Limit::Seconds(if left.is_zero() { 0 } else { share.as_secs().max(1) })
    }
}

/// Seconds for an answer that has no bound to replace it, and for quick proofs about the bound.
const LEAST_TO_ANSWER: u64 = 2;

/// Seconds for choosing the parameters of a protocol, and for its error.
const LEAST_TO_BUILD: u64 = 10;

impl Protocol for Patient {
    fn node_count(&self) -> usize {
        self.protocol.node_count()
    }

    /// Within the limit, whatever is asked for.
    fn account_until<'a>(&'a self, observer: &Observer, _: &Stop) -> Result<Box<dyn Account + 'a>, Error> {
        let (account, why) = self.look(observer)?;
        if let Some(why) = why {
            self.given_up.lock().unwrap_or_else(PoisonError::into_inner).insert(observer.clone(), why);
        }
        Ok(account)
    }

    fn local_bound<'a>(&'a self, observer: &Observer) -> Result<Box<dyn Account + 'a>, Error> {
        self.protocol.local_bound(observer)
    }

    /// None with `--patience 0`.
    fn symmetries(&self) -> Vec<Vec<u32>> {
        if self.limit.is_none_at_all() { Vec::new() } else { self.protocol.symmetries() }
    }

    /// A glimpse has as much time as building the protocol has.
    fn glimpse<'a>(&'a self, observer: &Observer, _: &Stop) -> Result<Box<dyn Account + 'a>, Error> {
        self.protocol.glimpse(observer, &self.limit.of(LEAST_TO_BUILD).stop())
    }

    /// The error may take as long as an account, so it has the full patience, and at least the time for
    /// building.
    fn error_until(&self, noise: NoiseMultiplier, _: &Stop) -> Result<f64, Error> {
        self.protocol.error_until(noise, &self.limit.at_least(LEAST_TO_BUILD).stop())
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

/// An account whose profiles have a limit. It offers no `unit_losses`: an account that has them answers at
/// once and is used directly.
struct PatientAccount<'a> {
    account: Box<dyn Account + 'a>,
    stop: Stop,
    bound: Option<Box<dyn Account + 'a>>,
    every_pair: bool,
    used: Arc<AtomicBool>,
}

impl PatientAccount<'_> {
    /// The bound, if an answer does not fit in memory or, where the bound may replace pairs, is late.
    fn instead<T>(
        &self,
        answer: impl FnOnce(&dyn Account) -> Result<T, Error>,
        bound: impl FnOnce(&dyn Account) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let found = self.stop.check().map_err(Error::from).and_then(|()| answer(&*self.account));
        let (wanted, why) = match found {
            Err(error) if was_out(&error) => (self.every_pair, error),
            Err(error) if is_too_large(&error) => (true, error),
            known => return known,
        };
        let Some(account) = self.bound.as_deref().filter(|_| wanted) else { return Err(why) };
        self.used.store(true, Ordering::Relaxed);
        bound(account)
    }
}

impl Account for PatientAccount<'_> {
    fn observer(&self) -> &Observer {
        self.account.observer()
    }

    fn node_count(&self) -> usize {
        self.account.node_count()
    }

    fn terms(&self) -> Terms {
        self.account.terms()
    }

    /// The theorems of the account, and those of the bound once it has replaced an answer.
    fn theorems(&self) -> Vec<By> {
        let used = self.bound.iter().filter(|_| self.used.load(Ordering::Relaxed));
        self.account.theorems().into_iter().chain(used.flat_map(|bound| bound.theorems())).collect()
    }

    fn profile(&self, u: usize, noise: NoiseMultiplier) -> Result<Profile, Error> {
        let profile = self.instead(|account| account.profile(u, noise), |bound| bound.profile(u, noise))?;
        if profile.mu().is_some() {
            return Ok(profile);
        }
        let (against, neighbors) = (Arc::clone(&profile.against), profile.neighbors);
        let bound = self.bound.as_ref().filter(|_| self.every_pair);
        let bound = bound.map(|bound| bound.profile(u, noise)).transpose()?;
        let curve = PatientCurve { profile, stop: self.stop.clone(), bound, used: Arc::clone(&self.used) };
        let mut profile = Profile::of_curve(curve, &against);
        profile.neighbors = neighbors;
        Ok(profile)
    }

    /// The bound never replaces this answer, because its unit loss is the same for every node.
    fn unit(&self, u: usize) -> Result<Option<(f64, f64)>, Error> {
        self.stop.check()?;
        self.account.unit(u)
    }

    fn failure(&self) -> f64 {
        self.account.failure()
    }

    fn rests_on(&self) -> Vec<RestsOn> {
        self.account.rests_on()
    }

    fn class(&self) -> Option<(usize, usize)> {
        self.account.class()
    }

    fn mirror_of(&self) -> Option<usize> {
        self.account.mirror_of()
    }

    fn assumptions(&self) -> Vec<Assumption> {
        self.account.assumptions()
    }

    fn least_noise(
        &self,
        u: usize,
        measure: Measure,
        allowed: f64,
    ) -> Result<Option<NoiseMultiplier>, Error> {
        let of = |account: &dyn Account| account.least_noise(u, measure, allowed);
        self.instead(of, of)
    }
}

/// A profile whose numbers have a limit.
struct PatientCurve {
    profile: Profile,
    stop: Stop,
    bound: Option<Profile>,
    used: Arc<AtomicBool>,
}

impl PatientCurve {
    fn ask<T>(&self, question: impl Fn(&Profile) -> Result<T, ndp_dp::Error>) -> Result<T, ndp_dp::Error> {
        let found = self.stop.check().map_err(ndp_dp::Error::from).and_then(|()| question(&self.profile));
        match (found, &self.bound) {
            (Err(ndp_dp::Error::Stopped(_)), Some(bound)) => {
                self.used.store(true, Ordering::Relaxed);
                question(bound)
            }
            (found, _) => found,
        }
    }
}

impl Curve for PatientCurve {
    fn renyi(&self, order: Order) -> Result<Option<Guarantee<f64>>, ndp_dp::Error> {
        match self.ask(move |profile| profile.renyi(order)) {
            Ok(loss) => Ok(Some(loss.map(|loss| loss.epsilon))),
            Err(ndp_dp::Error::NoRenyiBound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn epsilon(&self, delta: Delta) -> Result<Guarantee<ApproxDp>, ndp_dp::Error> {
        self.ask(move |profile| profile.epsilon(delta))
    }

    fn quick_epsilon(&self, delta: Delta, limit: f64) -> Option<f64> {
        self.ask(move |profile| Ok(profile.quick_epsilon(delta, limit))).ok().flatten()
    }

    fn keeps(&self, limit: ApproxDp) -> bool {
        self.ask(move |profile| Ok(profile.keeps(limit))) == Ok(true)
    }

    fn delta(&self, epsilon: f64) -> Result<Guarantee<ApproxDp>, ndp_dp::Error> {
        self.ask(move |profile| profile.delta(epsilon))
    }
}

/// Whether the error says that an answer was not known in time.
pub(crate) fn was_out(error: &Error) -> bool {
    matches!(error, Error::Stopped(_))
}

fn is_too_large(error: &Error) -> bool {
    matches!(
        error,
        Error::Certify(Certify::TooLarge { .. } | Certify::NotCertified { .. })
            | Error::Graph(ndp_graph::Error::TooLarge { .. })
    )
}
