//! Accounts and profiles within a limit, with the bound that may stand for them.

use super::Why;
use crate::forward::forward;

use crate::{Account, Assumption, By, Error, Observer, Protocol, RestsOn, Terms};
use ndp_certify::Error as Certify;
use ndp_dp::{ApproxDp, Curve, Delta, Guarantee, Measure, NoiseMultiplier, Order, Profile};
use ndp_numeric::stop::{Stop, Stopped};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The account of an observer; or, where it is not known within so much time or does not fit in memory, the
/// bound that holds at no cost; with what the bound stands for. Later questions to the account have the same
/// time each, and are answered by the bound beyond it. `stop` may end all of it earlier.
///
/// # Errors
/// Those of the account; [`Error::Stopped`] where the protocol has no such bound.
///
/// # Examples
/// ```
/// use ndp_account::{Account, Observer, account_or_bound, example::Gossip};
/// use ndp_dp::NoiseMultiplier;
/// use ndp_graph::{GossipMatrix, generators::path_graph, progress::Stop};
/// use std::time::Duration;
/// let gossip = Gossip::new(GossipMatrix::metropolis(&path_graph(9)?), 4);
/// let noise = NoiseMultiplier::new(2.0)?;
/// let mu = |seconds| -> Result<f64, ndp_account::Error> {
///     let patience = Duration::from_secs(seconds);
///     let (account, _) = account_or_bound(&gossip, &Observer::node(0), &Stop::never(), patience)?;
///     Ok(account.profile(5, noise)?.mu().map_or(f64::INFINITY, |mu| mu.value().mu()))
/// };
/// let (known, bound) = (mu(60)?, mu(0)?);
/// assert!(known == 0.0 && (0.5..0.5001).contains(&bound));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn account_or_bound<'a>(
    protocol: &'a dyn Protocol,
    observer: &Observer,
    stop: &Stop,
    patience: Duration,
) -> Result<(Box<dyn Account + 'a>, Replaced), Error> {
    let stop = Instant::now().checked_add(patience).map_or_else(|| stop.clone(), |end| stop.and_at(end));
    match protocol.account_until(observer, &stop) {
        Err(error) if was_out(&error) || is_too_large(&error) => {
            let Ok(bound) = protocol.local_bound(observer) else { return Err(error) };
            let why = match error {
                error if is_too_large(&error) => Why::Refused(error),
                _ if patience.is_zero() => Why::AtOnce,
                _ => Why::Time(patience),
            };
            Ok((bound, Replaced { all: Some(why), some: Arc::default() }))
        }
        Err(error) => Err(error),
        // All losses of this account follow from its unit losses, so no bound will have to replace one.
        Ok(account) if account.unit_losses().is_some() => Ok((account, Replaced::default())),
        Ok(account) => {
            let bound = protocol.local_bound(observer).ok();
            let replaced = Replaced::default();
            let given_up = GivenUp { used: Arc::clone(&replaced.some), cut: None, of: observer.clone() };
            let time = Time { stop, of_question: Some(patience) };
            Ok((Box::new(PatientAccount { account, time, bound, every_pair: true, given_up }), replaced))
        }
    }
}

/// What a bound stands for in answers about one observer.
#[derive(Clone, Debug, Default)]
pub struct Replaced {
    all: Option<Why>,
    some: Arc<AtomicBool>,
}

impl Replaced {
    /// Why it stands for all that the observer sees; `None` where there is an account.
    #[must_use]
    pub const fn all(&self) -> Option<&Why> {
        self.all.as_ref()
    }

    /// Whether it has answered a question that the account could not answer within its limit.
    #[must_use]
    pub fn some(&self) -> bool {
        self.some.load(Ordering::Relaxed)
    }
}

/// An account whose profiles have a limit. It offers no `unit_losses`: an account that has them answers at
/// once and is used directly.
pub(super) struct PatientAccount<'a> {
    /// The account.
    pub(super) account: Box<dyn Account + 'a>,
    /// When its answers end.
    pub(super) time: Time,
    /// The bound that may replace its answers.
    pub(super) bound: Option<Box<dyn Account + 'a>>,
    /// Whether the bound may replace single pairs that are not known in time.
    pub(super) every_pair: bool,
    /// Records that the bound replaced an answer.
    pub(super) given_up: GivenUp,
}

/// When answers end.
#[derive(Clone)]
pub(super) struct Time {
    /// Ends the work of the account.
    pub(super) stop: Stop,
    /// The time of each question, counted from when it is asked, if not all questions end together.
    pub(super) of_question: Option<Duration>,
}

impl Time {
    /// Whether there is time for a question that is asked now.
    fn starts(&self) -> Result<(), Stopped> {
        if let Some(end) = self.of_question.and_then(|patience| Instant::now().checked_add(patience)) {
            self.stop.move_to(end);
        }
        self.stop.check()
    }
}

/// Records that the bound replaced answers of an account.
#[derive(Clone)]
pub(super) struct GivenUp {
    /// Set where the bound replaced a pair that did not fit in memory, and without `cut` wherever it did.
    pub(super) used: Arc<AtomicBool>,
    /// The observers about whom the bound now answers for every pair; `None` where it replaces single answers
    /// only.
    pub(super) cut: Option<Arc<Mutex<BTreeSet<Observer>>>>,
    /// The observer of the account.
    pub(super) of: Observer,
}

impl GivenUp {
    /// Whether the bound stands for all pairs from now on.
    fn is_cut(&self) -> bool {
        self.cut.as_ref().is_some_and(|cut| locked(cut).contains(&self.of))
    }

    /// Whether the bound replaced an answer.
    fn is_used(&self) -> bool {
        self.used.load(Ordering::Relaxed) || self.is_cut()
    }

    /// The limit came.
    fn cut(&self) {
        match &self.cut {
            Some(cut) => drop(locked(cut).insert(self.of.clone())),
            None => self.used.store(true, Ordering::Relaxed),
        }
    }
}

impl PatientAccount<'_> {
    /// The bound, if an answer does not fit in memory or, where the bound may replace pairs, is late.
    fn instead<T>(
        &self,
        answer: impl FnOnce(&dyn Account) -> Result<T, Error>,
        bound: impl FnOnce(&dyn Account) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let cut = self.every_pair && self.given_up.is_cut();
        let may = if cut { Err(Stopped::OutOfWork) } else { self.time.starts() };
        let found = may.map_err(Error::from).and_then(|()| answer(&*self.account));
        let (wanted, why) = match found {
            Err(error) if was_out(&error) => (self.every_pair, error),
            Err(error) if is_too_large(&error) => (true, error),
            known => return known,
        };
        let Some(account) = self.bound.as_deref().filter(|_| wanted) else { return Err(why) };
        match why {
            Error::Stopped(_) => self.given_up.cut(),
            _ => self.given_up.used.store(true, Ordering::Relaxed),
        }
        bound(account)
    }
}

impl Account for PatientAccount<'_> {
    forward! { self.account =>
        fn observer(&self) -> &Observer;
        fn node_count(&self) -> usize;
        fn terms(&self) -> Terms;
        fn failure(&self) -> f64;
        fn rests_on(&self) -> Vec<RestsOn>;
        fn class(&self) -> Option<(usize, usize)>;
        fn mirror_of(&self) -> Option<usize>;
        fn assumptions(&self) -> Vec<Assumption>;
    }

    fn is_by_bound(&self) -> bool {
        self.every_pair && self.bound.is_some() && self.given_up.is_cut()
    }

    /// The theorems of the account, and those of the bound once it has replaced an answer.
    fn theorems(&self) -> Vec<By> {
        let used = self.bound.iter().filter(|_| self.given_up.is_used());
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
        let curve = PatientCurve { profile, time: self.time.clone(), bound, given_up: self.given_up.clone() };
        let mut profile = Profile::of_curve(curve, &against);
        profile.neighbors = neighbors;
        Ok(profile)
    }

    /// The bound never replaces this answer, because its unit loss is the same for every node.
    fn unit(&self, u: usize) -> Result<Option<(f64, f64)>, Error> {
        self.time.starts()?;
        self.account.unit(u)
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
    time: Time,
    bound: Option<Profile>,
    given_up: GivenUp,
}

impl PatientCurve {
    fn ask<T>(&self, question: impl Fn(&Profile) -> Result<T, ndp_dp::Error>) -> Result<T, ndp_dp::Error> {
        let cut = self.bound.is_some() && self.given_up.is_cut();
        let may = if cut { Err(Stopped::OutOfWork) } else { self.time.starts() };
        let found = may.map_err(ndp_dp::Error::from).and_then(|()| question(&self.profile));
        match (found, &self.bound) {
            (Err(ndp_dp::Error::Stopped(_)), Some(bound)) => {
                self.given_up.cut();
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

/// What a lock holds. If another thread panicked while it held it, what is written is still complete.
pub fn locked<T>(kept: &Mutex<T>) -> MutexGuard<'_, T> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the error says that an answer was not known in time.
pub fn was_out(error: &Error) -> bool {
    matches!(error, Error::Stopped(_))
}

/// Whether the error says that an answer does not fit in memory or precision.
pub(super) fn is_too_large(error: &Error) -> bool {
    matches!(
        error,
        Error::Certify(Certify::TooLarge { .. } | Certify::NotCertified { .. })
            | Error::Graph(ndp_graph::Error::TooLarge { .. })
    )
}

/// Whether an answer was refused because it would hold more than so many bytes, which more patience allows.
pub(super) fn is_beyond(error: &Error, memory: u64) -> bool {
    match error {
        Error::Certify(Certify::TooLarge { limit, .. }) => *limit == memory,
        Error::Graph(ndp_graph::Error::TooLarge { limit, .. }) => *limit == u128::from(memory),
        _ => false,
    }
}
