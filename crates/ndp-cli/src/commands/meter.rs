//! What a running system has shown so far. The log may still grow, and readings are shown and written while
//! lines come, so a meter has no single answer as other questions have; what is shown each time is [`Told`].

mod merge;
mod told;

use crate::args::Meter as Asked;
use crate::errors::Failure;
use crate::interrupt;
use crate::output::{self, line, note};
use crate::show::print;
use ndp_dp::Delta;
use ndp_program::meter::{Feed, Limits, Refusal};
use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::path::Path;
use std::time::{Duration, Instant};
use told::{Known, Refused, Told};

pub(crate) fn run(asked: &Asked) -> Result<(), Failure> {
    let delta = Delta::new(asked.delta)?;
    let limits = asked.budget_epsilon.map(|epsilon| Limits::approx(epsilon, delta)).transpose()?;
    if let (Some(runs), false) = (asked.runs, asked.others.is_empty()) {
        return merge::run(asked, runs, delta, limits);
    }
    let mut watch = Watch::new(asked, delta);
    let ended = watch.follow(limits.as_ref())?;
    let refused = match &ended {
        Ok(()) => None,
        Err((number, error)) => match Refusal::of(error) {
            Some(refusal) => Some(told::refused(watch.feed.names(), refusal, *number, delta)?),
            // A line that is refused as such leaves open what else happened: there are no numbers to show.
            None => {
                let path = asked.file.display();
                return Err(Failure::Refused(format!("{path}, line {number} of the log: {error}")));
            }
        },
    };
    watch.close(refused.as_ref())?;
    refused.map_or(Ok(()), |refused| {
        Err(Failure::NotMet(format!(
            "the budget is exceeded by line {}: {}; the numbers above are those before it, and nothing after it was read",
            refused.line, refused.why
        )))
    })
}

/// Whether a path still leads to the file that was opened, and the file has what was read from it.
fn is_still(path: &Path, opened: &std::fs::Metadata, read: u64) -> bool {
    let Ok(now) = std::fs::metadata(path) else { return false };
    #[cfg(unix)]
    let same = {
        use std::os::unix::fs::MetadataExt;
        (now.dev(), now.ino()) == (opened.dev(), opened.ino())
    };
    #[cfg(not(unix))]
    let same = now.created().ok() == opened.created().ok();
    same && now.len() >= read
}

/// A feed for the point of view that is asked for.
fn feed(asked: &Asked) -> Feed {
    asked.view.as_ref().map_or_else(Feed::default, |view| Feed::seen_as(view.clone()))
}

struct Watch<'a> {
    asked: &'a Asked,
    delta: Delta,
    feed: Feed,
    /// What was last written as JSON.
    told: Option<Known>,
    /// What was last shown on the terminal or the page, and after how many rounds.
    shown: Option<(Known, Option<u64>)>,
    json: Vec<u8>,
    live: bool,
    /// When the page was written last.
    written: Option<Instant>,
}

impl<'a> Watch<'a> {
    fn new(asked: &'a Asked, delta: Delta) -> Self {
        let live = (asked.file.as_os_str() == "-" || asked.watch) && std::io::stdout().is_terminal();
        let (told, shown) = (None, None);
        Self { asked, delta, feed: feed(asked), told, shown, json: Vec::new(), live, written: None }
    }

    /// Reads all lines; a log that is watched is read until an interruption. Returns the number of the first
    /// line that was refused, and why.
    fn follow(&mut self, limits: Option<&Limits>) -> Result<Result<(), (u64, ndp_account::Error)>, Failure> {
        let path = &self.asked.file;
        let from_pipe = path.as_os_str() == "-";
        let mut watching = self.asked.watch && !from_pipe;
        let mut lines: Box<dyn BufRead> = Box::new(BufReader::new(std::io::stdin()));
        let mut opened = None;
        if !from_pipe {
            let file = std::fs::File::open(path).map_err(Failure::file(path))?;
            // A pipe has no length, and nobody can put another one in its place.
            opened = Some(file.metadata().map_err(Failure::file(path))?).filter(std::fs::Metadata::is_file);
            lines = Box::new(BufReader::new(file));
        }
        if watching {
            interrupt::finish_what_was_begun();
        }
        let (mut number, mut text, mut read) = (0_u64, Vec::new(), 0_u64);
        // The length of the line at the end of the file when it was looked at last, and whether a line was
        // taken whose end is still to come.
        let (mut before, mut unended) = (0, false);
        loop {
            read += lines.read_until(b'\n', &mut text).map_err(Failure::file(path))? as u64;
            let whole = text.ends_with(b"\n");
            let counts = |feed: &Feed| {
                serde_json::from_slice::<serde_json::Value>(&text).is_ok() && !feed.is_cut_off(&text)
            };
            if watching && !whole {
                // This is the end of the file so far. The rest of a half-written line may still come.
                self.show_live(true)?;
                watching = !interrupt::asked();
                let rests = before == text.len() && counts(&self.feed);
                if watching && !rests {
                    before = text.len();
                    std::thread::sleep(PAUSE);
                    if opened.as_ref().is_some_and(|opened| !is_still(path, opened, read)) {
                        let why = format!(
                            "{}: the log was deleted, replaced or became shorter: watch it anew",
                            path.display()
                        );
                        return Err(Failure::Refused(why));
                    }
                    continue;
                }
            }
            if std::mem::take(&mut unended) && text == b"\n" {
                text.clear();
                continue;
            }
            if text.is_empty() {
                return Ok(Ok(()));
            }
            number += 1;
            if !whole && self.feed.is_cut_off(&text) {
                note(&format!("line {number} was cut off and is left out: nothing was sent for it"));
                return Ok(Ok(()));
            }
            if !whole && self.asked.watch && !counts(&self.feed) {
                let what = "is half a line and does not count, although something may have been sent for it";
                note(&format!("line {number} {what}"));
                return Ok(Ok(()));
            }
            unended = !whole;
            let words = String::from_utf8_lossy(&text).trim_end_matches(['\n', '\r']).to_owned();
            (before, text) = (0, Vec::new());
            if let Err(error) = self.feed.line(&words) {
                return Ok(Err((number, error)));
            }
            if let Some(limits) = limits.filter(|_| self.feed.is_at_start()) {
                self.feed.limit(limits.clone())?;
            }
            self.write_json(number)?;
            if from_pipe {
                self.show_live(false)?;
            }
        }
    }

    /// Writes a JSON line if a loss has changed, or what the losses rest on.
    fn write_json(&mut self, number: u64) -> Result<(), Failure> {
        if self.asked.json.is_none() {
            return Ok(());
        }
        let Some((meter, told)) = self.feed.meter().zip(self.told()?) else { return Ok(()) };
        let now = told.known();
        if self.told.as_ref() == Some(&now) {
            return Ok(());
        }
        let text = serde_json::json!({ "version": 1, "line": number, "delta": self.asked.delta,
            "set": meter.set(), "view": meter.view(), "rests_on": meter.rests_on(), "failure": told.failure(),
            "stopping": told.stopping(), "pairs": told.json() });
        self.add_json(&text)?;
        self.told = Some(now);
        Ok(())
    }

    /// Adds a line of JSON, or prints it at once.
    fn add_json(&mut self, line: &serde_json::Value) -> Result<(), Failure> {
        let Some(path) = &self.asked.json else { return Ok(()) };
        let text = format!("{line}\n");
        if path.as_os_str() == "-" {
            let mut out = std::io::stdout().lock();
            let done = out.write_all(text.as_bytes()).and_then(|()| out.flush());
            return done.map_err(Failure::file(path));
        }
        self.json.extend_from_slice(text.as_bytes());
        Ok(())
    }

    /// Redraws the table and the page if what they say has changed. While lines still come, the page is
    /// written at most once per [`BETWEEN`].
    fn show_live(&mut self, caught_up: bool) -> Result<(), Failure> {
        let recent = self.written.is_some_and(|at| at.elapsed() < BETWEEN);
        let page = self.asked.page.as_ref().filter(|_| caught_up || !recent);
        if !self.live && page.is_none() {
            return Ok(());
        }
        let Some(told) = self.told()? else { return Ok(()) };
        let now = (told.known(), told.rounds());
        if self.shown.as_ref() == Some(&now) && self.written.is_some() == self.asked.page.is_some() {
            return Ok(());
        }
        let left = self.left(MOST_LIVE)?;
        if let Some(path) = page {
            output::page(path, &told.page(left.as_deref(), Some(REFRESH), None))?;
        }
        if self.live {
            output::print(b"\x1b[H\x1b[2J")?;
            told.table(self.asked.worst).print()?;
            if let Some(left) = left {
                line(&format!("rounds left: {left}"))?;
            }
        }
        if page.is_some() {
            self.written = Some(Instant::now());
        }
        self.shown = Some(now);
        Ok(())
    }

    fn told(&self) -> Result<Option<Told>, Failure> {
        let found = self.feed.meter().zip(self.feed.names());
        found.map(|(meter, names)| Told::of(meter, names, self.delta)).transpose()
    }

    /// How many more rounds like the last one fit into the budget, searched up to `most`.
    fn left(&self, most: u64) -> Result<Option<String>, Failure> {
        Ok(self.feed.remaining(most)?.map(|rounds| {
            let more = if rounds == most { " or more" } else { "" };
            format!("{rounds}{more}, each like the last one")
        }))
    }

    /// Prints the summary and writes the files at the end, which may be a line that the budget refused.
    fn close(&mut self, refused: Option<&Refused>) -> Result<(), Failure> {
        if let Some(refused) = refused {
            self.add_json(&serde_json::json!({ "version": 1, "refused": refused.json() }))?;
        }
        if let Some(path) = self.asked.json.as_ref().filter(|path| path.as_os_str() != "-") {
            output::write(path, &self.json)?;
        }
        let Some(told) = self.told()? else {
            return Err(Failure::Refused(
                "the log has no first line such as {\"ndp-meter\": 1, \"nodes\": 3, \"set\": \"same-direction\"}: \
                 see docs/formats.md"
                    .into(),
            ));
        };
        let left = if refused.is_none() { self.left(MOST_ROUNDS)? } else { None };
        if let Some(path) = &self.asked.page {
            output::page(path, &told.page(left.as_deref(), None, refused))?;
        }
        print(&told.text(left.as_deref(), self.asked.worst, refused))
    }
}

/// The largest number of remaining rounds that is searched for at the end; [`MOST_LIVE`] while watching.
const MOST_ROUNDS: u64 = 1000;
const MOST_LIVE: u64 = 50;
/// The pause before a log that has not grown is read again.
const PAUSE: Duration = Duration::from_millis(200);
/// How often a page is written while lines come.
const BETWEEN: Duration = Duration::from_millis(500);
/// Seconds after which a browser reads the page again.
const REFRESH: u32 = 2;
