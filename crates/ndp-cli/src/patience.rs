//! Bounds instead of accounts: if an account does not fit in memory or takes longer than `--patience`, a
//! bound that takes no time to compute replaces it.

mod crew;

use crate::progress::Meanwhile;
use crew::within;
use ndp_account::parts::each_in_order;
use ndp_account::{
    Account, Assumption, Attacker, Audience, By, Covered, Error, Observer, Protocol, RestsOn, Target, Terms,
    bound_is_attained,
};
use ndp_algos::registry::{Entry, Parameters};
use ndp_certify::Error as Certify;
use ndp_dp::{ApproxDp, Curve, Delta, Guarantee, Measure, NoiseMultiplier, Order, Profile};
use ndp_graph::GossipMatrix;
use ndp_report::words;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A protocol with a deadline that all its observers share; at the deadline, bounds replace the accounts that
/// are missing.
pub(crate) struct Patient {
    /// Leaked, because an abandoned computation may still use it. The program answers one question and ends.
    protocol: &'static dyn Protocol,
    until: Option<Instant>,
    seconds: u64,
    /// The observers whose account was replaced by the bound, with the reason.
    given_up: Mutex<BTreeMap<Observer, String>>,
    /// Whether the bound also replaces single pairs that are not known in time; otherwise these have no
    /// answer.
    every_pair: bool,
    /// Whether the bound replaced some pair.
    pairs: Arc<AtomicBool>,
}

impl Patient {
    /// Sets the deadline `seconds` from now; 0 asks for the bounds at once, and `None` sets no deadline.
    pub(crate) fn new(protocol: Box<dyn Protocol>, seconds: Option<u64>) -> Self {
        let until = deadline(seconds);
        Self {
            protocol: Box::leak(protocol),
            until,
            seconds: seconds.unwrap_or(u64::MAX),
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

    /// Builds a protocol of the registry, with the same number of seconds as limit.
    pub(crate) fn of_entry(
        entry: &'static Entry,
        matrix: &GossipMatrix,
        parameters: Parameters,
        seconds: Option<u64>,
    ) -> Result<Self, Error> {
        let matrix = matrix.clone();
        // The bound is computed from the protocol, so even with `--patience 0` it must be built.
        let until = deadline(seconds.map(|seconds| seconds.max(LEAST_TO_BUILD)));
        let built = within(until, move || entry.build(&matrix, &parameters));
        Ok(Self::new(built.unwrap_or(Err(Error::OutOfTime(OUT_OF_PATIENCE)))?, seconds))
    }

    /// Shortens the deadline if the bound covers `audience` and some node is proven to learn as much as the
    /// bound says. More time would then improve only the account of the one observer who is looked at. A
    /// deadline that the user `told` stays.
    pub(crate) fn where_it_wins(mut self, told: Option<u64>, audience: &Audience) -> Self {
        if told.is_some() {
            return self;
        }
        let (protocol, asked) = (self.protocol, audience.clone());
        let soon = deadline(Some(LEAST_TO_ANSWER));
        let little = move || asked.looking_at_all().is_some() && bound_is_attained(protocol, &asked);
        if within(soon, little) == Some(true) && self.seconds > LEAST_TO_ANSWER {
            (self.until, self.seconds) = (deadline(Some(LEAST_TO_ANSWER)), LEAST_TO_ANSWER);
        }
        self
    }

    /// Covers every node by the bound alone, if it is quickly proven that no account could lower the noise
    /// that the target needs.
    pub(crate) fn settled(&self, audience: &Audience, target: &Target) -> Option<Covered<'_>> {
        let (protocol, asked, target) = (self.protocol, audience.clone(), target.clone());
        let soon = deadline(Some(LEAST_TO_ANSWER));
        within(soon, move || Covered::by_attained_bound(protocol, &asked, &target)).flatten()
    }

    /// If the answer takes long, prints what is known before any account is computed: `known` puts the bounds
    /// of all observers into words.
    pub(crate) fn meanwhile(
        &self,
        audience: &Audience,
        quiet: bool,
        known: impl FnOnce(&[Box<dyn Account>]) -> Option<String> + Send + 'static,
    ) -> Meanwhile {
        let (protocol, seconds) = (self.protocol, self.seconds);
        let observers = [audience.looked_at(), audience.others()].concat();
        // With `--patience 0` the bounds are the answer and come at once.
        Meanwhile::new(quiet || seconds == 0, move || {
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
    pub(crate) fn look(&self, observer: &Observer) -> Result<(Box<dyn Account>, Option<String>), Error> {
        let mut until = self.until;
        if self.seconds == 0 && self.protocol.is_formula() {
            until = deadline(Some(LEAST_TO_ANSWER));
        } else if self.seconds == 0 {
            match self.bound(observer, Error::Cancelled) {
                // A protocol without this bound has a formula instead, which takes hardly any time.
                Err(error) if was_out(&error) => until = deadline(Some(LEAST_TO_ANSWER)),
                bound => return bound,
            }
        }
        let (protocol, asked) = (self.protocol, observer.clone());
        match within(until, move || protocol.account(&asked)) {
            None => self.bound(observer, Error::Cancelled),
            Some(Err(error)) if is_too_large(&error) => self.bound(observer, error),
            Some(Err(error)) => Err(error),
            // All losses of this account follow from its unit losses, so no bound will have to replace one.
            Some(Ok(account)) if account.unit_losses().is_some() => Ok((account, None)),
            Some(Ok(account)) => {
                let bound = self.protocol.local_bound(observer).ok();
                let (every_pair, used) = (self.every_pair, Arc::clone(&self.pairs));
                let account = account.into();
                Ok((Box::new(PatientAccount { account, until, bound, every_pair, used }), None))
            }
        }
    }

    /// The accounts of groups of observers, computed in half of the time that is left. Refuses a batch that
    /// would not be done in time at the pace of the previous one.
    pub(crate) fn look_at_groups<'a>(
        &'a self,
    ) -> impl Fn(&[Observer]) -> Result<Vec<Box<dyn Account + 'a>>, Error> {
        let protocol = self.protocol;
        let now = Instant::now();
        let half = self.until.map(|until| now + until.saturating_duration_since(now) / 2);
        let pace = Mutex::new(Duration::ZERO);
        let used = Arc::clone(&self.pairs);
        move |observers| {
            let mut pace = pace.lock().unwrap_or_else(PoisonError::into_inner);
            let out = || Error::OutOfTime(OUT_OF_PATIENCE);
            let (started, many) = (Instant::now(), u32::try_from(observers.len()).unwrap_or(u32::MAX));
            let left = half.map(|half| half.saturating_duration_since(started));
            if left.is_some_and(|left| left < *pace * many) {
                return Err(out());
            }
            let accounts = each_in_order(observers, |observer| -> Result<Box<dyn Account + 'a>, Error> {
                let asked = observer.clone();
                let outside = (0..protocol.node_count()).find(|&u| !observer.contains(u));
                let account = move || -> Result<Arc<dyn Account>, Error> {
                    let account: Arc<dyn Account> = protocol.account(&asked)?.into();
                    // Some accounts compute all losses when the first is asked for; that time must count
                    // here.
                    outside.map(|u| account.unit(u)).transpose()?;
                    Ok(account)
                };
                let account = within(half, account).ok_or_else(out)??;
                let (until, bound, used) = (half, None, Arc::clone(&used));
                Ok(Box::new(PatientAccount { account, until, bound, every_pair: false, used }))
            })?;
            // A single account may include work that is done once for all, so its time says nothing about the
            // pace.
            *pace = if many > 1 { started.elapsed() / many } else { Duration::ZERO };
            Ok(accounts)
        }
    }

    /// The bound for an observer and why it is used; the error if the protocol has no such bound.
    fn bound(&self, observer: &Observer, why: Error) -> Result<(Box<dyn Account>, Option<String>), Error> {
        let out = matches!(why, Error::Cancelled);
        match self.protocol.local_bound(observer) {
            Ok(bound) => Ok((bound, Some(if out { self.waited() } else { why.to_string() }))),
            Err(_) if out => Err(Error::OutOfTime(OUT_OF_PATIENCE)),
            Err(_) => Err(why),
        }
    }

    fn waited(&self) -> String {
        match self.seconds {
            0 => "--patience 0 asks for it".into(),
            seconds => format!("what is seen was not known within {seconds} s"),
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

    /// The seconds of the next question.
    pub(crate) fn next(&mut self) -> u64 {
        let left = self.until.saturating_duration_since(Instant::now());
        let share = left / self.questions.max(1);
        self.questions = self.questions.saturating_sub(1);
        // 0 seconds ask for bounds, so that must happen only if no time is left. A share below one second is
        // raised to one.
        if left.is_zero() { 0 } else { share.as_secs().max(1) }
    }
}

/// Seconds for an answer that has no bound to replace it, and for quick proofs about the bound.
const LEAST_TO_ANSWER: u64 = 2;

/// Seconds for choosing the parameters of a protocol, and for its error.
const LEAST_TO_BUILD: u64 = 10;

fn deadline(seconds: Option<u64>) -> Option<Instant> {
    seconds.and_then(|seconds| Instant::now().checked_add(Duration::from_secs(seconds)))
}

/// Why there is no answer.
const OUT_OF_PATIENCE: &str = "what observers see was not known in time, and there is no bound that costs nothing: more --patience, \
     fewer observers, rounds or steps";

impl Protocol for Patient {
    fn node_count(&self) -> usize {
        self.protocol.node_count()
    }

    fn account<'a>(&'a self, observer: &Observer) -> Result<Box<dyn Account + 'a>, Error> {
        let (account, why) = self.look(observer)?;
        if let Some(why) = why {
            self.given_up.lock().unwrap_or_else(PoisonError::into_inner).insert(observer.clone(), why);
        }
        Ok(account)
    }

    fn local_bound<'a>(&'a self, observer: &Observer) -> Result<Box<dyn Account + 'a>, Error> {
        self.protocol.local_bound(observer)
    }

    /// Symmetries have as much time as building the protocol has, and none with `--patience 0`.
    fn symmetries(&self) -> Vec<Vec<u32>> {
        if self.seconds == 0 {
            return Vec::new();
        }
        let protocol = self.protocol;
        let until = self.until.and_then(|_| deadline(Some(LEAST_TO_BUILD)));
        within(until, move || protocol.symmetries()).unwrap_or_default()
    }

    /// A glimpse has as much time as building the protocol has.
    fn glimpse<'a>(&'a self, observer: &Observer) -> Result<Box<dyn Account + 'a>, Error> {
        let (protocol, asked) = (self.protocol, observer.clone());
        let until = self.until.and_then(|_| deadline(Some(LEAST_TO_BUILD)));
        let found = within(until, move || protocol.glimpse(&asked));
        found.unwrap_or(Err(Error::OutOfTime(OUT_OF_PATIENCE)))
    }

    /// The error may take as long as an account, so it has the full patience, and at least the time for
    /// building.
    fn error(&self, noise: NoiseMultiplier) -> Result<f64, Error> {
        let protocol = self.protocol;
        let until = self.until.and_then(|_| deadline(Some(self.seconds.max(LEAST_TO_BUILD))));
        let known = within(until, move || protocol.error(noise));
        known.unwrap_or(Err(Error::OutOfTime("the error was not known in time: more --patience")))
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

/// An account whose profiles have a deadline. It offers no `unit_losses`: an account that has them answers at
/// once and is used directly.
struct PatientAccount {
    account: Arc<dyn Account>,
    until: Option<Instant>,
    bound: Option<Box<dyn Account>>,
    every_pair: bool,
    used: Arc<AtomicBool>,
}

impl PatientAccount {
    /// The bound, if an answer does not fit in memory or, where the bound may replace pairs, is late.
    fn instead<T>(
        &self,
        found: Option<Result<T, Error>>,
        bound: impl FnOnce(&dyn Account) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let (wanted, why) = match found {
            None => (self.every_pair, Error::OutOfTime(OUT_OF_PATIENCE)),
            Some(Err(error)) if is_too_large(&error) => (true, error),
            Some(known) => return known,
        };
        let Some(account) = self.bound.as_deref().filter(|_| wanted) else { return Err(why) };
        self.used.store(true, Ordering::Relaxed);
        bound(account)
    }
}

impl Account for PatientAccount {
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
        let account = Arc::clone(&self.account);
        let found = within(self.until, move || account.profile(u, noise));
        let profile = self.instead(found, |bound| bound.profile(u, noise))?;
        if profile.mu().is_some() {
            return Ok(profile);
        }
        let (against, neighbors) = (Arc::clone(&profile.against), profile.neighbors);
        let bound = self.bound.as_ref().filter(|_| self.every_pair);
        let bound = bound.map(|bound| bound.profile(u, noise)).transpose()?;
        let curve = PatientCurve { profile, until: self.until, bound, used: Arc::clone(&self.used) };
        let mut profile = Profile::of_curve(curve, &against);
        profile.neighbors = neighbors;
        Ok(profile)
    }

    /// The bound never replaces this answer, because its unit loss is the same for every node.
    fn unit(&self, u: usize) -> Result<Option<(f64, f64)>, Error> {
        let account = Arc::clone(&self.account);
        within(self.until, move || account.unit(u)).unwrap_or(Err(Error::OutOfTime(OUT_OF_PATIENCE)))
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
        let account = Arc::clone(&self.account);
        let found = within(self.until, move || account.least_noise(u, measure, allowed));
        self.instead(found, |bound| bound.least_noise(u, measure, allowed))
    }
}

/// A profile whose numbers have a deadline.
struct PatientCurve {
    profile: Profile,
    until: Option<Instant>,
    bound: Option<Profile>,
    used: Arc<AtomicBool>,
}

impl PatientCurve {
    fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Profile) -> Result<T, ndp_dp::Error> + Clone + Send + 'static,
    ) -> Result<T, ndp_dp::Error> {
        let (profile, asked) = (self.profile.clone(), question.clone());
        match (within(self.until, move || asked(&profile)), &self.bound) {
            (Some(known), _) => known,
            (None, None) => Err(ndp_dp::Error::OutOfTime(OUT_OF_PATIENCE)),
            (None, Some(bound)) => {
                self.used.store(true, Ordering::Relaxed);
                question(bound)
            }
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
    matches!(error, Error::OutOfTime(_) | Error::Privacy(ndp_dp::Error::OutOfTime(_)))
}

fn is_too_large(error: &Error) -> bool {
    matches!(
        error,
        Error::Certify(Certify::TooLarge { .. } | Certify::NotCertified { .. })
            | Error::Graph(ndp_graph::Error::TooLarge { .. })
    )
}
