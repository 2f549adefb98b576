//! How long an answer may take: seconds that were told, or counted work.

use ndp_numeric::stop::Stop;
use std::time::{Duration, Instant};

/// How long an answer may take.
#[derive(Clone, Debug)]
pub(crate) enum Limit {
    /// As long as it takes.
    Never,
    /// So many seconds; 0 asks for the bounds at once.
    Seconds(u64),
    /// Counted work, so that one command gives one answer on every machine.
    Work(Stop),
}

impl Limit {
    /// So many seconds where they were told, counted work otherwise.
    pub(crate) fn told(seconds: Option<u64>) -> Self {
        seconds.map_or_else(Self::by_work, Self::Seconds)
    }

    /// The counted work of one question, and the memory that goes with it.
    pub(crate) fn by_work() -> Self {
        Self::Work(counted(WORK))
    }

    pub(super) fn stop(&self) -> Stop {
        match self {
            Self::Never => Stop::never(),
            Self::Seconds(seconds) => after(*seconds),
            Self::Work(stop) => stop.clone(),
        }
    }

    /// The counted work that is left; without such a limit as much as can be counted.
    fn left(&self) -> u64 {
        match self {
            Self::Work(stop) => stop.left().unwrap_or(u64::MAX),
            Self::Never | Self::Seconds(_) => u64::MAX,
        }
    }

    /// The same limit, but not less than so many seconds; of counted work that of a question, and none of
    /// this one's.
    pub(super) fn at_least(&self, least: u64) -> Self {
        match self {
            Self::Never => Self::Never,
            Self::Seconds(seconds) => Self::Seconds((*seconds).max(least)),
            Self::Work(_) => Self::by_work(),
        }
    }

    /// The same kind of limit, of so many seconds or the work of as many on two cores.
    pub(super) fn of(&self, seconds: u64) -> Self {
        match self {
            Self::Never => Self::Never,
            Self::Seconds(_) => Self::Seconds(seconds),
            Self::Work(_) => Self::Work(counted(seconds.saturating_mul(OF_A_SECOND))),
        }
    }

    /// Whether bounds are asked for at once.
    pub(super) fn is_none_at_all(&self) -> bool {
        matches!(self, Self::Seconds(0))
    }

    /// Half of what is left; the end in time that this was `started`.
    pub(super) fn half(&self, started: Instant) -> (Stop, Option<Instant>) {
        match self {
            Self::Never => (Stop::never(), None),
            Self::Work(stop) => (stop.within(stop.left().unwrap_or(0) / 2), None),
            Self::Seconds(seconds) => {
                let now = Instant::now();
                let until = started.checked_add(Duration::from_secs(*seconds));
                let half = until.map(|until| now + until.saturating_duration_since(now) / 2);
                (half.map_or_else(Stop::never, Stop::at), half)
            }
        }
    }
}

fn after(seconds: u64) -> Stop {
    Instant::now().checked_add(Duration::from_secs(seconds)).map_or_else(Stop::never, Stop::at)
}

fn counted(work: u64) -> Stop {
    Stop::after_work(work).holding(MEMORY)
}

/// A part of a limit on work for each of so many that may end alone.
pub(super) fn share(stop: &Stop, parts: usize) -> u64 {
    stop.left().map_or(u64::MAX, |left| left / parts.max(1) as u64)
}

/// A limit that several questions share. Each gets an equal part of what the earlier ones left over; of
/// counted work a sixth, if that is more, since most questions need little and a few need much.
pub(super) struct Budget {
    limit: Limit,
    started: Instant,
    questions: usize,
}

impl Budget {
    pub(super) fn new(limit: Limit, questions: usize) -> Self {
        Self { limit, started: Instant::now(), questions }
    }

    /// The limit of the next question.
    pub(super) fn next(&mut self) -> Limit {
        let questions = self.questions.max(1);
        self.questions = self.questions.saturating_sub(1);
        match &self.limit {
            Limit::Never => Limit::Never,
            Limit::Work(all) => Limit::Work(all.within(share(all, questions.min(6)))),
            Limit::Seconds(seconds) => {
                let left = Duration::from_secs(*seconds).saturating_sub(self.started.elapsed());
                let share = left / u32::try_from(questions).unwrap_or(u32::MAX);
                // 0 seconds ask for bounds, so that must happen only if no time is left. A share below one
                // second is raised to one.
                Limit::Seconds(if left.is_zero() { 0 } else { share.as_secs().max(1) })
            }
        }
    }
}

/// The answers of several questions that share a limit, in order; `answer` gets the number of a question and
/// its limit, and says whether counted work cut the answer short. Such questions are asked again, one after
/// the other, each with half of what is left by then and the last one with all of it, as long as this is at
/// least twice what it had.
pub(crate) fn sharing<T, E>(
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
    let Limit::Work(all) = &budget.limit else { return Ok(answers) };
    while !late.is_empty() {
        let again = std::mem::take(&mut late);
        let last = again.last().map(|&(at, _)| at);
        for (at, had) in again {
            let waiting = !late.is_empty() || Some(at) != last;
            let part = share(all, if waiting { 2 } else { 1 });
            if part / 2 >= had {
                let (found, cut) = answer(at, Limit::Work(all.within(part)))?;
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
pub(crate) const WORK: u64 = 8 * OF_A_SECOND;

/// Bytes that its answer may hold.
const MEMORY: u64 = 3 << 29;
