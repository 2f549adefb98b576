//! How long an answer may take: seconds that were told, or counted work.

use ndp_numeric::stop::Stop;
use std::time::{Duration, Instant};

/// How long an answer may take.
///
/// # Examples
/// ```
/// use ndp_account::parts::Limit;
/// use std::time::Duration;
/// assert!(Limit::told(Some(Duration::ZERO)).is_none_at_all());
/// assert!(Limit::told(None).counts_work()); // one question gives one answer on every machine
/// ```
#[derive(Clone, Debug)]
pub struct Limit {
    kind: Kind,
    /// Ends every answer, whatever the limit.
    outer: Stop,
    /// The time that the making of a protocol, and the error of its result, may take at least.
    least: Duration,
}

#[derive(Clone, Debug)]
enum Kind {
    Never,
    /// 0 asks for the bounds at once.
    Time(Duration),
    Work(Stop),
}

impl Limit {
    /// As long as it takes.
    #[must_use]
    pub const fn never() -> Self {
        Self { kind: Kind::Never, outer: Stop::never(), least: LEAST_TO_BUILD }
    }

    /// So much time where it was told, counted work otherwise.
    #[must_use]
    pub fn told(time: Option<Duration>) -> Self {
        let kind = time.map_or_else(|| Kind::Work(counted(&Stop::never(), WORK)), Kind::Time);
        Self { kind, outer: Stop::never(), least: LEAST_TO_BUILD }
    }

    /// So much work, counted by `all`.
    #[must_use]
    pub const fn of_work(all: Stop) -> Self {
        Self { kind: Kind::Work(all), outer: Stop::never(), least: LEAST_TO_BUILD }
    }

    /// The same limit, for answers that `outer` ends as well. Work starts to count anew.
    #[must_use]
    pub fn and(self, outer: Stop) -> Self {
        let kind = match self.kind {
            Kind::Work(all) => Kind::Work(counted(&outer, all.left().unwrap_or(u64::MAX))),
            other => other,
        };
        Self { kind, outer, ..self }
    }

    /// What ends an answer that begins now.
    pub(crate) fn stop(&self) -> Stop {
        match &self.kind {
            Kind::Never => self.outer.clone(),
            Kind::Time(time) => Instant::now()
                .checked_add(*time)
                .map_or_else(|| self.outer.clone(), |until| self.outer.and_at(until)),
            Kind::Work(stop) => stop.clone(),
        }
    }

    /// What ends the making of a protocol, which even with no patience must be made: the bound is computed
    /// from it.
    #[must_use]
    pub fn to_build(&self) -> Stop {
        match &self.kind {
            Kind::Never => self.outer.clone(),
            Kind::Time(time) => self.alike(Kind::Time((*time).max(self.least))).stop(),
            Kind::Work(_) => counted(&self.outer, WORK),
        }
    }

    /// The time that was told.
    #[must_use]
    pub const fn time(&self) -> Option<Duration> {
        match &self.kind {
            Kind::Time(time) => Some(*time),
            Kind::Never | Kind::Work(_) => None,
        }
    }

    /// Whether counted work decides what is known.
    #[must_use]
    pub const fn counts_work(&self) -> bool {
        matches!(self.kind, Kind::Work(_))
    }

    /// Whether bounds are asked for at once.
    #[must_use]
    pub fn is_none_at_all(&self) -> bool {
        self.time().is_some_and(|time| time.is_zero())
    }

    /// The same kind of limit: this much time or, where work is counted, what two cores do in it.
    pub(super) fn of(&self, time: Duration) -> Self {
        self.alike(match self.kind {
            Kind::Never => Kind::Never,
            Kind::Time(_) => Kind::Time(time),
            Kind::Work(_) => Kind::Work(counted(&self.outer, time.as_secs().saturating_mul(OF_A_SECOND))),
        })
    }

    /// Half of what is left of a limit that began at `started`; for a limit in time, also the moment when
    /// this half ends.
    pub(super) fn half(&self, started: Instant) -> (Stop, Option<Instant>) {
        match &self.kind {
            Kind::Never => (self.outer.clone(), None),
            Kind::Work(stop) => (stop.within(stop.left().unwrap_or(0) / 2), None),
            Kind::Time(time) => {
                let now = Instant::now();
                let until = started.checked_add(*time);
                let half = until.map(|until| now + until.saturating_duration_since(now) / 2);
                (half.map_or_else(|| self.outer.clone(), |half| self.outer.and_at(half)), half)
            }
        }
    }

    /// The counted work that is left; without such a limit as much as can be counted.
    fn left(&self) -> u64 {
        match &self.kind {
            Kind::Work(stop) => stop.left().unwrap_or(u64::MAX),
            Kind::Never | Kind::Time(_) => u64::MAX,
        }
    }

    fn alike(&self, kind: Kind) -> Self {
        Self { kind, outer: self.outer.clone(), least: self.least }
    }
}

fn counted(outer: &Stop, work: u64) -> Stop {
    outer.within(work).holding(MEMORY)
}

/// A part of a limit on work for each of so many that may end alone.
pub(super) fn share(stop: &Stop, parts: usize) -> u64 {
    stop.left().map_or(u64::MAX, |left| left / parts.max(1) as u64)
}

/// A limit that several questions share. Each gets an equal part of what the earlier ones left over; of
/// counted work a sixth, if that is more, since most questions need little and a few need much.
struct Budget {
    limit: Limit,
    started: Instant,
    questions: usize,
}

impl Budget {
    fn new(limit: Limit, questions: usize) -> Self {
        let share = LEAST_TO_BUILD / u32::try_from(questions.max(1)).unwrap_or(u32::MAX);
        let limit = Limit { least: share.max(Duration::from_secs(1)), ..limit };
        Self { limit, started: Instant::now(), questions }
    }

    /// The limit of the next question.
    fn next(&mut self) -> Limit {
        let questions = self.questions.max(1);
        self.questions = self.questions.saturating_sub(1);
        self.limit.alike(match &self.limit.kind {
            Kind::Never => Kind::Never,
            Kind::Work(all) => Kind::Work(all.within(share(all, questions.min(6)))),
            Kind::Time(time) => {
                let left = time.saturating_sub(self.started.elapsed());
                let share = left / u32::try_from(questions).unwrap_or(u32::MAX);
                // No time asks for bounds, so that must happen only if none is left. A share below one
                // second is raised to one.
                Kind::Time(if left.is_zero() { left } else { share.max(Duration::from_secs(1)) })
            }
        })
    }
}

/// The answers of several questions that share a limit, in order; `answer` gets the number of a question and
/// its limit, and says whether counted work cut the answer short. Such questions are asked again, one after
/// the other, each with half of what is left by then and the last one with all of it, as long as this is at
/// least twice what it had.
pub fn sharing<T, E>(
    limit: Limit,
    questions: usize,
    mut answer: impl FnMut(usize, Limit) -> Result<(T, bool), E>,
) -> Result<Vec<T>, E> {
    let mut budget = Budget::new(limit, questions);
    let mut answers = Vec::with_capacity(questions);
    // The questions that were cut short, with the work that they had.
    let mut late: Vec<(usize, u64)> = Vec::new();
    for at in 0..questions {
        let limit = budget.next();
        let had = limit.left();
        let (found, cut) = answer(at, limit)?;
        answers.push(found);
        late.extend(cut.then_some((at, had)));
    }
    let Kind::Work(all) = &budget.limit.kind else { return Ok(answers) };
    while !late.is_empty() {
        let again = std::mem::take(&mut late);
        let last = again.last().map(|&(at, _)| at);
        for (at, had) in again {
            let waiting = !late.is_empty() || Some(at) != last;
            let part = share(all, if waiting { 2 } else { 1 });
            if part / 2 >= had {
                let (found, cut) = answer(at, budget.limit.alike(Kind::Work(all.within(part))))?;
                answers[at] = found;
                late.extend(cut.then_some((at, part)));
            }
        }
    }
    Ok(answers)
}

/// Counted work that takes about a second on two cores.
const OF_A_SECOND: u64 = 2_000_000_000;

/// Counted work of a question where no time is told.
pub const WORK: u64 = 8 * OF_A_SECOND;

/// For choosing the parameters of a protocol, and for its error. Several questions share it, with a second
/// for each at least.
pub(super) const LEAST_TO_BUILD: Duration = Duration::from_secs(10);

/// Bytes that its answer may hold.
const MEMORY: u64 = 3 << 29;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    /// Parts of a limit are those of counts: what an earlier question left over goes to the later ones.
    #[test]
    fn questions_share_counted_work() {
        let mut budget = Budget::new(Limit::of_work(Stop::after_work(90)), 3);
        let lefts = [(); 3].map(|()| {
            let stop = budget.next().stop();
            let left = stop.left();
            assert_eq!(stop.spend(10), Ok(()));
            left
        });
        assert_eq!(lefts, [Some(30), Some(40), Some(70)]);
    }

    /// One question has ten seconds for what must be made, sixty have a second each.
    #[test]
    fn questions_share_the_time_for_what_must_be_made() {
        let least = |questions| Budget::new(Limit::told(Some(Duration::ZERO)), questions).next().least;
        assert_eq!([1, 2, 60].map(least), [10, 5, 1].map(Duration::from_secs));
    }

    /// What the quick ones leave over goes to those who had not enough, and all together stay within the
    /// limit.
    #[test]
    fn questions_that_had_not_enough_are_asked_again() {
        let needs = [1, 500, 1, 1, 1, 1];
        for (most, known) in [(6, 5), (550, 5), (700, 6), (1300, 6), (1500, 6), (1 << 40, 6)] {
            let mut asked = 0;
            let answers = sharing(Limit::of_work(Stop::after_work(most)), needs.len(), |at, limit| {
                asked += 1;
                let cut = limit.stop().spend(needs[at]).is_err();
                Ok::<_, Error>((!cut, cut))
            });
            let answers = answers.expect("no error");
            let found = answers.iter().filter(|&&known| known).count();
            assert!(found == known && asked <= 8, "{most}: {answers:?}, {asked}");
        }
        // A limit in time is never asked again.
        let mut asked = 0;
        let answers = sharing(Limit::told(Some(Duration::from_secs(60))), 3, |_, _| {
            asked += 1;
            Ok::<_, Error>(((), true))
        });
        assert_eq!((answers.expect("no error").len(), asked), (3, 3));
    }
}
