//! Runs the cases of a part, in parallel and repeatably.

use crate::part::{Outcome, Part, Stratum, Violation};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long to search in one part.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Length {
    /// The part's own short form.
    Short,
    /// This many cases.
    Cases(u64),
    /// Until the time is over; cases that have begun are finished.
    Time(Duration),
}

/// The cases of this process: those whose number has the remainder `index` when divided by `count`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    pub(crate) index: u64,
    pub(crate) count: u64,
}

impl Share {
    /// All cases.
    pub(crate) const WHOLE: Self = Self { index: 0, count: 1 };
}

/// The combined results of the cases of one part.
#[derive(Clone, Debug, Default)]
pub(crate) struct Summary {
    pub(crate) name: &'static str,
    pub(crate) cases: u64,
    pub(crate) compared: u64,
    /// Cases with a violation.
    pub(crate) violations: u64,
    pub(crate) strata: BTreeMap<Stratum, u64>,
    /// For each kind of violation: how many cases have it, and the smallest such case with its number.
    pub(crate) kinds: BTreeMap<&'static str, Kind>,
    /// The same for the refuted claims of papers.
    pub(crate) refuted: BTreeMap<&'static str, Kind>,
    /// The claims that were to be refuted but were not.
    pub(crate) unrefuted: Vec<&'static str>,
    pub(crate) seconds: f64,
    /// The case that took longest, and its seconds.
    pub(crate) slowest: (u64, f64),
}

/// The violations of one kind.
#[derive(Clone, Debug)]
pub(crate) struct Kind {
    pub(crate) count: u64,
    pub(crate) number: u64,
    pub(crate) smallest: Violation,
}

impl Summary {
    fn add(&mut self, number: u64, outcome: Outcome, seconds: f64) {
        self.cases += 1;
        self.compared += outcome.compared;
        self.violations += u64::from(!outcome.violations.is_empty());
        *self.strata.entry(outcome.stratum).or_default() += 1;
        if seconds > self.slowest.1 {
            self.slowest = (number, seconds);
        }
        for (place, found) in [(&mut self.kinds, outcome.violations), (&mut self.refuted, outcome.refuted)] {
            for smallest in found {
                keep(place, Kind { count: 1, number, smallest });
            }
        }
    }

    /// Adds the results of other cases of the same part.
    pub(crate) fn merge(&mut self, other: Self) {
        self.cases += other.cases;
        self.compared += other.compared;
        self.violations += other.violations;
        for (stratum, count) in other.strata {
            *self.strata.entry(stratum).or_default() += count;
        }
        for (place, found) in [(&mut self.kinds, other.kinds), (&mut self.refuted, other.refuted)] {
            found.into_values().for_each(|kind| keep(place, kind));
        }
        if other.slowest.1 > self.slowest.1 {
            self.slowest = other.slowest;
        }
        self.seconds += other.seconds;
    }

    /// Names the claims that no case refuted.
    pub(crate) fn conclude(&mut self, part: &dyn Part) {
        let claims = part.refutes().iter().copied();
        self.unrefuted = claims.filter(|claim| !self.refuted.contains_key(claim)).collect();
    }
}

/// Counts a violation of a kind, and keeps the smaller of the two cases.
fn keep(place: &mut BTreeMap<&'static str, Kind>, kind: Kind) {
    let there = place.entry(kind.smallest.kind).or_insert_with(|| Kind { count: 0, ..kind.clone() });
    there.count += kind.count;
    if (kind.smallest.size, kind.number) < (there.smallest.size, there.number) {
        (there.number, there.smallest) = (kind.number, kind.smallest);
    }
}

/// Searches in one part. Each thread takes the next number, so the cases that were run are always the first
/// ones of the share, without gaps. With a fixed number of cases the result does not depend on the number of
/// threads.
pub(crate) fn search(part: &dyn Part, seed: u64, length: Length, share: Share) -> Summary {
    let start = Instant::now();
    let next = AtomicU64::new(0);
    let done = |number: u64| match length {
        Length::Short => number >= part.short(),
        Length::Cases(cases) => number >= cases,
        Length::Time(time) => start.elapsed() >= time,
    };
    let parts = rayon::broadcast(|_| {
        let mut mine = Summary::default();
        loop {
            let number = share.index + share.count * next.fetch_add(1, Ordering::Relaxed);
            if done(number) {
                return mine;
            }
            let begin = Instant::now();
            let outcome = one_case(part, seed, number);
            mine.add(number, outcome, begin.elapsed().as_secs_f64());
        }
    });
    let mut summary = Summary { name: part.name(), ..Summary::default() };
    for mine in parts {
        summary.merge(mine);
    }
    summary.conclude(part);
    summary.seconds = start.elapsed().as_secs_f64();
    summary
}

/// Runs one case by its number. A panic counts as a violation: no input may make the library panic.
pub(crate) fn one_case(part: &dyn Part, seed: u64, number: u64) -> Outcome {
    let mut rng = generator(part.name(), seed, number);
    catch_unwind(AssertUnwindSafe(|| part.case(number, &mut rng))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        let mut outcome = Outcome::new(Stratum { row: "panic", column: "panic" });
        outcome.violations.push(Violation {
            kind: "panic",
            size: [u64::MAX, u64::MAX, number],
            what: text.to_owned(),
            test: format!("// cargo xtask soundness --part {} --seed {seed} --replay {number}", part.name()),
        });
        outcome
    })
}

/// A separate random stream for every case of every part.
fn generator(part: &str, seed: u64, number: u64) -> ChaCha8Rng {
    // The FNV-1a hash of the name makes parts draw different cases from the same seed.
    let name = part.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ name);
    rng.set_stream(number);
    rng
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    struct Toy;

    impl Part for Toy {
        fn name(&self) -> &'static str {
            "toy"
        }

        fn what(&self) -> &'static str {
            "numbers below 100, of which those below 10 are wrong and 99 panics"
        }

        fn case(&self, number: u64, rng: &mut ChaCha8Rng) -> Outcome {
            let drawn = rng.random_range(0..100_u64);
            assert_ne!(drawn, 99, "drawn by case {number}");
            let mut outcome = Outcome::new(Stratum::new(drawn as usize, 1));
            outcome.check(drawn >= 10, || Violation {
                kind: "below 10",
                size: [drawn, 0, 0],
                what: String::new(),
                test: String::new(),
            });
            outcome
        }

        fn short(&self) -> u64 {
            1000
        }
    }

    /// Every case counts once, the smallest is kept, a panic is a violation, and the number of threads
    /// changes nothing.
    #[test]
    fn a_search_is_repeatable() {
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| search(&Toy, 1, Length::Short, Share::WHOLE))
        };
        let (one, three) = (run(1), run(3));
        for summary in [&one, &three] {
            assert_eq!(summary.cases, 1000);
            assert_eq!(summary.strata.values().sum::<u64>(), 1000);
            assert_eq!(summary.kinds["below 10"].smallest.size[0], 0);
            let of_kinds: u64 = summary.kinds.values().map(|kind| kind.count).sum();
            assert_eq!(summary.violations, of_kinds);
            assert!((60..150).contains(&summary.kinds["below 10"].count));
            assert!(summary.kinds["panic"].smallest.what.contains("drawn by case"));
        }
        assert_eq!(one.kinds["below 10"].number, three.kinds["below 10"].number);
        let number = one.kinds["below 10"].number;
        assert_eq!(one_case(&Toy, 1, number).violations[0].size[0], 0);
    }

    /// Every case belongs to exactly one share, and all shares together show what one search shows.
    #[test]
    fn shares_add_up() {
        let whole = search(&Toy, 1, Length::Cases(1000), Share::WHOLE);
        for count in [1, 3, 7, 1500] {
            let mut together = Summary { name: "toy", ..Summary::default() };
            for index in 0..count {
                together.merge(search(&Toy, 1, Length::Cases(1000), Share { index, count }));
            }
            assert_eq!((together.cases, together.compared), (1000, whole.compared), "{count} shares");
            assert_eq!((together.violations, &together.strata), (whole.violations, &whole.strata));
            for (kind, found) in &whole.kinds {
                let other = &together.kinds[kind];
                assert_eq!((other.count, other.number), (found.count, found.number), "{kind}");
            }
        }
    }
}
