//! Progress of a long answer. After half a second it may print what is known already. After a second it shows
//! a bar on terminals, and elsewhere prints a line now and then.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

struct Shared {
    done: AtomicU64,
    /// What is known so far, in words.
    known: Mutex<String>,
    over: Mutex<bool>,
    wake: Condvar,
}

/// A count that is shown until it is dropped.
pub(crate) struct Progress {
    shared: Arc<Shared>,
    ticker: Option<JoinHandle<()>>,
}

impl Progress {
    /// Counts `what` up to `total`.
    pub(crate) fn new(total: u64, what: &str, quiet: bool) -> Self {
        let over = Mutex::new(false);
        let known = Mutex::default();
        let shared = Arc::new(Shared { done: AtomicU64::new(0), known, over, wake: Condvar::new() });
        if quiet {
            return Self { shared, ticker: None };
        }
        let (watched, what) = (Arc::clone(&shared), what.to_owned());
        let ticker = std::thread::Builder::new().name("progress".into());
        // If the thread cannot be started, there is no bar and nothing else changes.
        let ticker = ticker.spawn(move || show(&watched, total, &what)).ok();
        Self { shared, ticker }
    }

    pub(crate) fn one(&self) {
        self.shared.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Sets the text about what is known so far, shown beside the count.
    pub(crate) fn know(&self, known: String) {
        if let Ok(mut text) = self.shared.known.lock() {
            *text = known;
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Ok(mut over) = self.shared.over.lock() {
            *over = true;
        }
        self.shared.wake.notify_all();
        if let Some(ticker) = self.ticker.take() {
            let _ = ticker.join();
        }
    }
}

/// The time before a first, cheap result is printed.
const SOON: Duration = Duration::from_millis(500);

/// A line that is printed if the answer is not there soon.
pub(crate) struct Meanwhile(Arc<(Mutex<bool>, Condvar)>);

impl Meanwhile {
    /// Prints `line` after [`SOON`], unless this value is dropped before.
    pub(crate) fn new(quiet: bool, line: impl FnOnce() -> String + Send + 'static) -> Self {
        let over = Arc::new((Mutex::new(quiet), Condvar::new()));
        let watched = Arc::clone(&over);
        let say = move || {
            let (over, wake) = &*watched;
            let Ok(waited) = over.lock() else { return };
            if wake.wait_timeout_while(waited, SOON, |over| !*over).map_or(true, |(over, _)| *over) {
                return;
            }
            // Computing the line takes time, and the answer may come meanwhile. Then the line is not printed.
            let line = line();
            if over.lock().is_ok_and(|over| !*over) {
                crate::output::complain(&line);
            }
        };
        // If the thread cannot be started, the line is not printed and nothing else changes.
        if !quiet {
            let _ = std::thread::Builder::new().name("meanwhile".into()).spawn(say);
        }
        Self(over)
    }
}

impl Drop for Meanwhile {
    fn drop(&mut self) {
        let (over, wake) = &*self.0;
        if let Ok(mut over) = over.lock() {
            *over = true;
        }
        wake.notify_all();
    }
}

fn show(shared: &Shared, total: u64, what: &str) {
    let start = Instant::now();
    let terminal = std::io::stderr().is_terminal();
    let mut bar: Option<ProgressBar> = None;
    let mut next_line = Duration::from_secs(10);
    let Ok(mut over) = shared.over.lock() else { return };
    while !*over {
        let Ok((guard, _)) = shared.wake.wait_timeout(over, Duration::from_millis(200)) else { return };
        over = guard;
        let (elapsed, done) = (start.elapsed(), shared.done.load(Ordering::Relaxed));
        let known = shared.known.lock().map(|text| text.clone()).unwrap_or_default();
        if *over || elapsed < Duration::from_secs(1) {
            continue;
        }
        if terminal {
            let bar = bar.get_or_insert_with(|| styled(total, what, start));
            bar.set_position(done);
            if !known.is_empty() {
                bar.set_message(format!("{what} ({known})"));
            }
            bar.tick();
        } else if elapsed >= next_line {
            let line = words(total, done, what, elapsed);
            crate::output::complain(&if known.is_empty() { line } else { format!("{line}; {known}") });
            next_line *= 2;
        }
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
}

fn styled(total: u64, what: &str, start: Instant) -> ProgressBar {
    let template = if total > 1 {
        "{msg} {pos}/{len} [{bar:30}] {elapsed}, {eta} left"
    } else {
        "{msg} {spinner} {elapsed}"
    };
    let bar = ProgressBar::new(total).with_message(what.to_owned()).with_elapsed(start.elapsed());
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn words(total: u64, done: u64, what: &str, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    if done == 0 || total < 2 {
        return format!("{what}: {seconds} s so far");
    }
    let left = elapsed.as_secs_f64() * (total - done.min(total)) as f64 / done as f64;
    format!("{what}: {done} of {total} after {seconds} s, about {left:.0} s left")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_is_in_proportion() {
        let ten = Duration::from_secs(10);
        assert_eq!(words(100, 25, "pairs", ten), "pairs: 25 of 100 after 10 s, about 30 s left");
        assert_eq!(words(100, 0, "pairs", ten), "pairs: 10 s so far");
        assert_eq!(words(1, 0, "observers", ten), "observers: 10 s so far");
    }
}
