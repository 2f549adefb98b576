//! The process that calls one target, and may crash, hang or run out of memory.

use crate::input::{Ending, Input, Stop};
use crate::mutate::{Corpus, smallest};
use crate::target::Target;
use crate::{corpus, memory};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The stack of the thread that calls: what a thread has where nothing else is said.
const STACK: usize = 2 << 20;

/// The longest that one run may compute. Time on the clock says little on a machine that is busy otherwise.
const LONGEST: Duration = Duration::from_secs(10);

/// The longest that one run may take on the clock, such as one that waits for what does not come.
const WAITS: Duration = Duration::from_secs(120);

/// How a process ends that found a run without an end.
pub(crate) const HUNG: i32 = 3;

/// Findings of one kind that are told; more of the same kind teach little.
const TOLD: usize = 3;

/// Which runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Runs {
    pub(crate) seed: u64,
    pub(crate) from: u64,
    pub(crate) until: u64,
    pub(crate) time: Option<Duration>,
    pub(crate) announce: bool,
}

/// The last panic: where and what.
static PANIC: Mutex<String> = Mutex::new(String::new());
/// The run that is on, from 1; 0 before the first.
static RUN: AtomicU64 = AtomicU64::new(0);

/// A line to the process that started this one.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    // Who does not listen any more has ended.
    if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
        std::process::exit(1);
    }
}

/// Runs the target, and says how it went.
pub(crate) fn work(target: &'static Target, runs: Runs) {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(|at| format!("{}:{}", at.file(), at.line())).unwrap_or_default();
        let what = info.payload();
        let text = what.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| what.downcast_ref::<String>().cloned()).unwrap_or_default();
        if let Ok(mut last) = PANIC.lock() {
            *last = format!("panic at {place}: {}", text.replace('\n', " "));
        }
    }));
    std::thread::spawn(watch);
    let caller = std::thread::Builder::new().stack_size(STACK).spawn(move || call(target, runs));
    let ended = caller.map(std::thread::JoinHandle::join);
    if !matches!(ended, Ok(Ok(()))) {
        std::process::exit(1);
    }
}

/// Ends the process when a run does not end.
fn watch() {
    let begin = Instant::now();
    let spent = || processor_time().unwrap_or_else(|| begin.elapsed());
    let (mut last, mut since, mut before) = (0, Instant::now(), spent());
    loop {
        std::thread::sleep(Duration::from_millis(200));
        let now = RUN.load(Relaxed);
        if now != last {
            (last, since, before) = (now, Instant::now(), spent());
            say(&format!("at {}", now.saturating_sub(1)));
        } else if now > 0 && (spent().saturating_sub(before) > LONGEST || since.elapsed() > WAITS) {
            std::process::exit(HUNG);
        }
    }
}

/// What this process and those that it called have computed so far, where Linux says so: the 14th to 17th
/// number of its line, in hundredths of a second.
fn processor_time() -> Option<Duration> {
    let line = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The second entry, a name in parentheses, may have spaces.
    let (_, rest) = line.rsplit_once(") ")?;
    let ticks: Vec<u64> = rest.split(' ').skip(11).take(4).map(|x| x.parse().ok()).collect::<Option<_>>()?;
    (ticks.len() == 4).then(|| Duration::from_millis(10 * ticks.iter().sum::<u64>()))
}

fn call(target: &Target, runs: Runs) {
    let corpus = Corpus::new(target.corpus.map(corpus::read).unwrap_or_default());
    let begin = Instant::now();
    let (mut refused, mut slowest, mut most) = (0u64, Duration::ZERO, 0usize);
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let mut done = 0;
    for number in runs.from..runs.until {
        // Reading the clock costs as much as a short run.
        if number % 16 == 0 && runs.time.is_some_and(|time| begin.elapsed() >= time) {
            break;
        }
        if runs.announce {
            say(&format!("at {number}"));
        }
        RUN.store(number + 1, Relaxed);
        let bytes = input(target, &corpus, runs.seed, number);
        let start = Instant::now();
        let (ending, held) = once(target, &bytes);
        slowest = slowest.max(start.elapsed());
        most = most.max(held);
        done += 1;
        match ending {
            Ok(()) => {}
            Err(Stop::Refused) => refused += 1,
            Err(Stop::Wrong(what)) => {
                let kind = kind_of(&what);
                let seen = kinds.entry(kind.clone()).or_default();
                *seen += 1;
                if *seen <= TOLD {
                    let same = |bytes: &[u8]| matches!(once(target, bytes).0, Err(Stop::Wrong(what)) if kind_of(&what) == kind);
                    let small = smallest(&bytes, 2000, same);
                    let hex: String = small.iter().map(|byte| format!("{byte:02x}")).collect();
                    say(&format!("found {number} {hex} {what}"));
                }
            }
        }
    }
    let seen: usize = kinds.values().sum();
    say(&format!(
        "done {done} {refused} {seen} {} {most} {}",
        slowest.as_micros(),
        begin.elapsed().as_micros()
    ));
}

/// What a finding is about, without the numbers in it.
fn kind_of(what: &str) -> String {
    if let Some((place, _)) = what.strip_prefix("panic at ").and_then(|rest| rest.split_once(": ")) {
        return place.to_owned();
    }
    what.chars().filter(|c| !c.is_ascii_digit() && !".-+".contains(*c)).take(40).collect()
}

/// The input of a run: it depends on the seed, the target and the number alone.
pub(crate) fn input(target: &Target, corpus: &Corpus, seed: u64, number: u64) -> Vec<u8> {
    let mut key = [0u8; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&number.to_le_bytes());
    for (i, byte) in target.name().bytes().enumerate() {
        key[16 + i % 16] = key[16 + i % 16].rotate_left(3) ^ byte;
    }
    let mut rng = ChaCha8Rng::from_seed(key);
    if target.corpus.is_some() {
        return corpus.draw(&mut rng);
    }
    let mut bytes = vec![0; rng.random_range(16..160)];
    rng.fill_bytes(&mut bytes);
    bytes
}

/// One run: how it ended, and the most bytes that it held.
fn once(target: &Target, bytes: &[u8]) -> (Ending, usize) {
    let start = memory::start();
    let ending = catch_unwind(AssertUnwindSafe(|| (target.run)(&mut Input::new(bytes, false))));
    let held = memory::peak_since(start);
    let ending = ending.unwrap_or_else(|_| {
        let text = PANIC.lock().map(|last| last.clone()).unwrap_or_default();
        Err(Stop::Wrong(text))
    });
    if held > target.memory && !matches!(ending, Err(Stop::Wrong(_))) {
        return (Err(Stop::Wrong(format!("it holds {} MiB", held >> 20))), held);
    }
    (ending, held)
}

/// One run by its number, with its arguments, which are printed as they are read.
pub(crate) fn replay(target: &Target, seed: u64, number: u64) -> String {
    let corpus = Corpus::new(target.corpus.map(corpus::read).unwrap_or_default());
    let bytes = input(target, &corpus, seed, number);
    shown(target, &bytes, true)
}

/// The arguments that bytes stand for: a text for a parser, numbers for a function.
pub(crate) fn shown(target: &Target, bytes: &[u8], live: bool) -> String {
    if target.corpus.is_some() {
        return format!("{:?}", bytes.escape_ascii().to_string());
    }
    let mut input = if live { Input::live(bytes) } else { Input::new(bytes, true) };
    let quiet = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let ended = catch_unwind(AssertUnwindSafe(|| (target.run)(&mut input)));
    std::panic::set_hook(quiet);
    let ended = match ended {
        Ok(Ok(())) => "ends well".to_owned(),
        Ok(Err(Stop::Refused)) => "is refused".to_owned(),
        Ok(Err(Stop::Wrong(what))) => what,
        Err(_) => "panics".to_owned(),
    };
    format!("({}) {ended}", input.told.unwrap_or_default().join(", "))
}
