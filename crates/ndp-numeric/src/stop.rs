//! When a long computation ends before its answer: because somebody asks, at a time, or after so much work.
//!
//! A [`Stop`] is an argument. Long computations take a reference to one and ask it between steps, where no
//! step is half done; if it says so they return [`Stopped`] as their error. Work is counted in units of about
//! a nanosecond of one core, by formulas of sizes alone, and before it is done: a step that would go beyond
//! what is left is refused, not begun.
//!
//! With a limit on work alone, whether a computation ends is the same on every machine and for any number
//! of threads: the work of all parts adds up to the same sum in any order, a part is refused exactly if
//! the sum is beyond the limit, and after one refusal all others are refused. Two things must stay true
//! for this: no step is counted or left out by chance (what one part finds in a cache counts as if it had
//! worked it out), and no part of an answer survives the refusal of another one that ran beside it under
//! the same limit. Parts that may end alone have [limits of their own](Stop::within).

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Says when a computation is to end; a clone says the same. See the [module](self).
///
/// # Examples
/// ```
/// use ndp_numeric::stop::{Stop, Stopped};
/// /// Adds up squares, a unit of work for each.
/// fn squares(to: u64, stop: &Stop) -> Result<u64, Stopped> {
///     (1..=to).map(|x| stop.spend(1).map(|()| x * x)).sum()
/// }
/// assert_eq!(squares(3, &Stop::never()), Ok(14));
/// assert_eq!(squares(3, &Stop::after_work(2)), Err(Stopped::OutOfWork));
/// let stop = Stop::asked_for();
/// stop.ask(); // from any thread
/// assert_eq!(squares(3, &stop), Err(Stopped::Asked));
/// ```
#[derive(Clone, Default)]
pub struct Stop(Option<Arc<Limits>>);

/// Why a computation ended before its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Stopped {
    /// Somebody asked for it.
    #[error("stopped because it was asked for")]
    Asked,
    /// The time is up.
    #[error("stopped: the answer was not known in time")]
    OutOfTime,
    /// The answer takes more work than is allowed.
    #[error("stopped: the answer takes more work than is allowed")]
    OutOfWork,
}

struct Limits {
    asked: AtomicBool,
    until: Option<Until>,
    most: AtomicU64,
    /// How often more was allowed.
    allowed: AtomicU64,
    /// Work that was asked for, refused or not.
    spent: AtomicU64,
    /// Limits that hold as well.
    outer: Stop,
    /// Cores of this machine, where there is an end in time.
    cores: u64,
    /// Bytes that an answer may hold.
    memory: u64,
}

/// An end in time that may be moved.
struct Until {
    made: Instant,
    nanoseconds: AtomicU64,
}

impl Until {
    fn new(until: Instant) -> Self {
        let moved = Self { made: Instant::now(), nanoseconds: AtomicU64::new(0) };
        moved.set(until);
        moved
    }

    fn set(&self, until: Instant) {
        let after = until.saturating_duration_since(self.made).as_nanos();
        self.nanoseconds.store(u64::try_from(after).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// The time that is left.
    fn left(&self) -> Duration {
        let after = Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed));
        after.saturating_sub(self.made.elapsed())
    }
}

impl Stop {
    /// Never ends anything; costs nothing to ask.
    #[must_use]
    pub const fn never() -> Self {
        Self(None)
    }

    /// Ends what somebody asks to [end](Self::ask), and nothing else.
    #[must_use]
    pub fn asked_for() -> Self {
        Self::never().with(None, u64::MAX, u64::MAX)
    }

    /// Ends at a time; a step that is sure to take longer than is left ends before it begins.
    #[must_use]
    pub fn at(until: Instant) -> Self {
        Self::never().and_at(until)
    }

    /// Ends after so many units of work.
    #[must_use]
    pub fn after_work(most: u64) -> Self {
        Self::never().within(most)
    }

    /// Ends when this one does, and at a time.
    #[must_use]
    pub fn and_at(&self, until: Instant) -> Self {
        self.with(Some(until), u64::MAX, u64::MAX)
    }

    /// Ends when this one does, and after so many units of work of its own, which count in this one too.
    ///
    /// A part that goes beyond its own limit counts in this one as if it had reached it, so that what is left
    /// for others does not depend on which of its steps was refused.
    ///
    /// # Examples
    /// ```
    /// use ndp_numeric::stop::{Stop, Stopped};
    /// let all = Stop::after_work(10);
    /// let part = all.within(4);
    /// assert_eq!((part.spend(3), part.spend(3)), (Ok(()), Err(Stopped::OutOfWork)));
    /// assert_eq!((all.left(), all.check()), (Some(6), Ok(())));
    /// ```
    #[must_use]
    pub fn within(&self, most: u64) -> Self {
        self.with(None, most, u64::MAX)
    }

    /// Ends when this one does; answers may hold so many bytes at a time, if they estimate that. What would
    /// take more is refused by whoever would hold it, with an error of its own.
    #[must_use]
    pub fn holding(&self, bytes: u64) -> Self {
        self.with(None, u64::MAX, bytes)
    }

    /// The bytes that an answer may hold; `u64::MAX` without a limit.
    #[must_use]
    pub fn memory(&self) -> u64 {
        self.0.as_ref().map_or(u64::MAX, |limits| limits.memory.min(limits.outer.memory()))
    }

    fn with(&self, until: Option<Instant>, most: u64, memory: u64) -> Self {
        let (asked, spent) = (AtomicBool::new(false), AtomicU64::new(0));
        let cores = until.and_then(|_| std::thread::available_parallelism().ok());
        let cores = cores.map_or(1, |cores| u64::try_from(cores.get()).unwrap_or(1));
        let until = until.map(Until::new);
        let (most, allowed) = (AtomicU64::new(most), AtomicU64::new(0));
        let outer = self.clone();
        Self(Some(Arc::new(Limits { asked, until, most, allowed, spent, outer, cores, memory })))
    }

    /// Moves the end in time of this one and its clones, so that a computation that goes on in several calls
    /// has its time in each. Does nothing to one that was made without an end in time.
    ///
    /// # Examples
    /// ```
    /// use ndp_numeric::stop::{Stop, Stopped};
    /// use std::time::{Duration, Instant};
    /// let stop = Stop::at(Instant::now());
    /// assert_eq!(stop.check(), Err(Stopped::OutOfTime));
    /// stop.move_to(Instant::now() + Duration::from_secs(60));
    /// assert_eq!(stop.check(), Ok(()));
    /// ```
    pub fn move_to(&self, until: Instant) {
        if let Some(known) = self.0.as_ref().and_then(|limits| limits.until.as_ref()) {
            known.set(until);
        }
    }

    /// From now on computations with this one, its clones and [parts](Self::within) end soon, on all threads.
    /// Does nothing to [`Stop::never`].
    pub fn ask(&self) {
        if let Some(limits) = &self.0 {
            limits.asked.store(true, Ordering::Relaxed);
        }
    }

    /// Whether to go on.
    ///
    /// # Errors
    /// [`Stopped`] if not.
    #[inline]
    pub fn check(&self) -> Result<(), Stopped> {
        self.spend(0)
    }

    /// Whether to go on with a step of so much work, which counts from now on.
    ///
    /// # Errors
    /// [`Stopped`] if not; [`Stopped::OutOfWork`] also before a step that would go beyond what is left.
    #[inline]
    pub fn spend(&self, work: u64) -> Result<(), Stopped> {
        match &self.0 {
            None => Ok(()),
            Some(limits) => limits.spend(work),
        }
    }

    /// Work that was asked for so far; all that was allowed if some was refused, whatever it was; 0 for
    /// [`Stop::never`].
    #[must_use]
    pub fn spent(&self) -> u64 {
        self.0.as_ref().map_or(0, |limits| limits.spent.load(Ordering::Relaxed).min(limits.most()))
    }

    /// Allows so much more work under this limit, and forgets that work was refused and what was
    /// [kept](Kept); limits that hold as well stay as they are. Not while somebody works under it.
    pub fn allow(&self, more: u64) {
        if let Some(limits) = &self.0 {
            let most = limits.most();
            let within = |spent: u64| Some(spent.min(most));
            let _ = limits.spent.fetch_update(Ordering::Relaxed, Ordering::Relaxed, within);
            limits.most.store(most.saturating_add(more), Ordering::Relaxed);
            limits.allowed.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Work that is left under all limits; `None` without a limit on work.
    #[must_use]
    pub fn left(&self) -> Option<u64> {
        let limits = self.0.as_ref()?;
        let outer = limits.outer.left();
        let most = limits.most();
        let own = (most < u64::MAX).then(|| most.saturating_sub(limits.spent.load(Ordering::Relaxed)));
        own.into_iter().chain(outer).min()
    }
}

impl Limits {
    fn most(&self) -> u64 {
        self.most.load(Ordering::Relaxed)
    }

    fn spend(&self, work: u64) -> Result<(), Stopped> {
        if self.asked.load(Ordering::Relaxed) {
            return Err(Stopped::Asked);
        }
        let add = |spent: u64| Some(spent.saturating_add(work));
        let before = match work {
            0 => self.spent.load(Ordering::Relaxed),
            _ => self.spent.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).unwrap_or(u64::MAX),
        };
        let after = before.saturating_add(work);
        let most = self.most();
        self.outer.spend(after.min(most) - before.min(most))?;
        if after > most {
            return Err(Stopped::OutOfWork);
        }
        let Some(until) = &self.until else { return Ok(()) };
        // A step is not begun if all cores together could not end it in time.
        let left = until.left();
        let fits = !left.is_zero() && u128::from(work / self.cores) <= left.as_nanos();
        if fits { Ok(()) } else { Err(Stopped::OutOfTime) }
    }
}

/// What was worked out under a limit, for later questions under the same limit.
///
/// When work was refused, it depends on the threads which parts were worked out before. What is kept is
/// therefore forgotten when [more is allowed](Stop::allow), so that the second attempt does the same work as
/// if it were the first.
///
/// # Examples
/// ```
/// use ndp_numeric::stop::{Kept, Stop};
/// let (stop, kept) = (Stop::after_work(5), Kept::default());
/// assert_eq!(kept.or_make(&stop, || 7), 7);
/// assert_eq!(kept.or_make(&stop, || 8), 7);
/// stop.allow(5);
/// assert_eq!(kept.or_make(&stop, || 9), 9);
/// ```
#[derive(Debug)]
pub struct Kept<T>(Mutex<(u64, Option<T>)>);

impl<T: Clone> Kept<T> {
    /// What is kept, or what `make` makes now. It is not kept if `stop` has refused something, since it may
    /// be incomplete; of two threads that make it, the first keeps its value, and both values are the same.
    pub fn or_make(&self, stop: &Stop, make: impl FnOnce() -> T) -> T {
        let known = self.locked(stop).1.clone();
        known.unwrap_or_else(|| {
            let made = make();
            if stop.check().is_ok() { self.locked(stop).1.get_or_insert(made).clone() } else { made }
        })
    }

    fn locked(&self, stop: &Stop) -> MutexGuard<'_, (u64, Option<T>)> {
        // If another thread panicked while it held the lock, what is written is still complete.
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let allowed = stop.0.as_ref().map_or(0, |limits| limits.allowed.load(Ordering::Relaxed));
        if kept.0 != allowed {
            *kept = (allowed, None);
        }
        kept
    }
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self(Mutex::new((0, None)))
    }
}

/// Equal if one ends exactly when the other does.
impl PartialEq for Stop {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => f.write_str("Stop::never()"),
            Some(limits) => {
                let until = limits.until.as_ref().map(Until::left);
                f.debug_struct("Stop").field("until", &until).field("left", &self.left()).finish()
            }
        }
    }
}

/// The work of so many multiplications and additions, from sizes as they are: a product that does not fit is
/// more than any limit.
///
/// # Examples
/// ```
/// use ndp_numeric::stop::work;
/// assert_eq!(work([3, 4, 5]), 60);
/// assert_eq!(work([usize::MAX, usize::MAX]), u64::MAX);
/// ```
#[must_use]
pub fn work<const K: usize>(sizes: [usize; K]) -> u64 {
    sizes
        .into_iter()
        .fold(1u64, |product, size| product.saturating_mul(u64::try_from(size).unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Out of work, out of time and asked are told apart, in clones and in parts.
    #[test]
    fn reasons_are_told_apart() {
        let never = Stop::never();
        never.ask();
        assert_eq!((never.spend(u64::MAX), never.left()), (Ok(()), None));
        let past = Stop::at(Instant::now());
        assert_eq!(
            (past.check(), past.within(5).spend(1)),
            (Err(Stopped::OutOfTime), Err(Stopped::OutOfTime))
        );
        let later = Stop::at(Instant::now() + Duration::from_secs(3600));
        assert_eq!((later.spend(1 << 30), later.left()), (Ok(()), None));
        assert_eq!(later.spend(u64::MAX), Err(Stopped::OutOfTime));
        let asked = Stop::asked_for();
        let part = asked.within(7);
        assert_eq!(part.check(), Ok(()));
        std::thread::scope(|scope| scope.spawn(|| asked.clone().ask()).join()).expect("no panic");
        assert_eq!(part.check(), Err(Stopped::Asked));
        part.ask();
        let alone = Stop::after_work(7);
        let part = alone.within(3);
        part.ask();
        assert_eq!((part.check(), alone.check()), (Err(Stopped::Asked), Ok(())));
    }

    /// A limit is reached, not passed; after a refusal everything is refused; nothing overflows.
    #[test]
    fn work_ends_at_its_limit() {
        let stop = Stop::after_work(10);
        assert_eq!((stop.spend(4), stop.spend(6), stop.check()), (Ok(()), Ok(()), Ok(())));
        assert_eq!((stop.left(), stop.spend(1)), (Some(0), Err(Stopped::OutOfWork)));
        let stop = Stop::after_work(10);
        assert_eq!((stop.spend(11), stop.spend(1)), (Err(Stopped::OutOfWork), Err(Stopped::OutOfWork)));
        assert_eq!(
            (stop.spend(u64::MAX), stop.spend(u64::MAX)),
            (Err(Stopped::OutOfWork), Err(Stopped::OutOfWork))
        );
    }

    /// What parts leave for others does not depend on the order of their steps.
    #[test]
    fn parts_count_up_to_their_limits() {
        for steps in [[60, 50], [50, 60]] {
            let all = Stop::after_work(1000);
            let part = all.within(100);
            assert!(steps.map(|work| part.spend(work)).contains(&Err(Stopped::OutOfWork)));
            assert_eq!(all.left(), Some(900));
        }
        let all = Stop::after_work(5);
        assert_eq!(all.within(100).left(), Some(5));
        assert_eq!(all.within(100).spend(6), Err(Stopped::OutOfWork));
        // The least limit on memory holds, whoever set it.
        assert_eq!((all.memory(), all.holding(7).within(1).holding(9).memory()), (u64::MAX, 7));
    }

    /// Steps of several threads add up: whether all fit depends on their sum alone.
    #[test]
    fn threads_share_a_limit() {
        for (most, fits) in [(4000, true), (3999, false)] {
            let stop = Stop::after_work(most);
            let done = std::thread::scope(|scope| {
                let run = || (0..1000).try_for_each(|_| stop.spend(1)).is_ok();
                let threads = [(); 4].map(|()| scope.spawn(run));
                threads.map(|thread| thread.join().expect("no panic"))
            });
            assert_eq!(done.iter().all(|&done| done), fits);
        }
    }

    /// Only clones are equal, and those that end nothing.
    #[test]
    fn more_can_be_allowed_within_what_the_others_leave() {
        let all = Stop::after_work(20);
        let part = all.within(5);
        assert_eq!((part.spend(3), part.spend(4)), (Ok(()), Err(Stopped::OutOfWork)));
        // What was refused counts up to the limit, here and there.
        assert_eq!((part.left(), all.left()), (Some(0), Some(15)));
        part.allow(10);
        assert_eq!((part.left(), part.spend(10), part.spend(1)), (Some(10), Ok(()), Err(Stopped::OutOfWork)));
        assert_eq!(all.left(), Some(5));
        part.allow(10);
        assert_eq!((part.left(), part.spend(6)), (Some(5), Err(Stopped::OutOfWork)));
        Stop::never().allow(1);
    }

    #[test]
    fn equal_stops_end_together() {
        let stop = Stop::after_work(3);
        assert!(stop == stop.clone() && Stop::never() == Stop::default());
        assert!(stop != Stop::after_work(3) && stop != Stop::never());
        assert_eq!(format!("{stop:?}"), "Stop { until: None, left: Some(3) }");
    }
}
