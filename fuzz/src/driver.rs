//! Starts a process for each target, goes on behind a run that ends it, and collects what is found.

use crate::memory::MOST_KIB;
use crate::target::Target;
use crate::worker::{self, HUNG};
use anyhow::Context;
use std::fmt::Write as _;
use std::process::{Command, Stdio};

/// What was found, with the run that shows it.
pub(crate) struct Finding {
    pub(crate) number: u64,
    pub(crate) what: String,
    /// The smallest input that shows it, as text.
    pub(crate) input: String,
    /// The same as bytes.
    pub(crate) hex: String,
}

/// How one target went.
#[derive(Default)]
pub(crate) struct Summary {
    pub(crate) runs: u64,
    pub(crate) refused: u64,
    /// Runs that ended badly, also those that are not told.
    pub(crate) bad: u64,
    pub(crate) slowest_micros: u64,
    pub(crate) most_bytes: u64,
    pub(crate) micros: u64,
    pub(crate) findings: Vec<Finding>,
}

/// How long a target is called.
#[derive(Clone, Copy)]
pub(crate) struct Length {
    pub(crate) runs: u64,
    pub(crate) milliseconds: Option<u64>,
}

/// Crashes of one target after which it is left.
const CRASHES: usize = 5;

/// Calls a target in processes of their own.
pub(crate) fn drive(target: &Target, seed: u64, length: Length) -> anyhow::Result<Summary> {
    let mut summary = Summary::default();
    let (mut from, mut crashes) = (0, 0);
    while from < length.runs && crashes < CRASHES {
        let left = length.milliseconds.map(|all| all.saturating_sub(summary.micros / 1000));
        if left == Some(0) {
            break;
        }
        let ended = process(target, seed, (from, length.runs), left, false, &mut summary)?;
        let Some(how) = ended.how else { break };
        crashes += 1;
        // The run is between the last one that was told and the crash: it is found by telling each.
        let again = process(target, seed, (ended.last, length.runs), None, true, &mut Summary::default())?;
        let number = again.last;
        let bytes = worker::input(target, &corpus_of(target), seed, number);
        let what = again.how.unwrap_or(how);
        summary.findings.push(finding(target, number, &bytes, what));
        summary.bad += 1;
        summary.runs += number + 1 - from;
        from = number + 1;
    }
    Ok(summary)
}

fn corpus_of(target: &Target) -> crate::mutate::Corpus {
    crate::mutate::Corpus::new(target.corpus.map(crate::corpus::read).unwrap_or_default())
}

fn finding(target: &Target, number: u64, bytes: &[u8], what: String) -> Finding {
    let hex = bytes.iter().fold(String::new(), |mut hex, byte| {
        // Writing to a text does not fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    // The arguments are not shown by calling again: the call may not end.
    let input = if target.corpus.is_some() { worker::shown(target, bytes, false) } else { hex.clone() };
    Finding { number, what, input, hex }
}

/// How a process ended.
struct Ended {
    /// The last run that it told.
    last: u64,
    /// Why it ended before its time; nothing if it did not.
    how: Option<String>,
}

fn process(
    target: &Target,
    seed: u64,
    (from, until): (u64, u64),
    milliseconds: Option<u64>,
    announce: bool,
    summary: &mut Summary,
) -> anyhow::Result<Ended> {
    let program = std::env::current_exe().context("this program has no path")?;
    // A shell sets the limit: an allocation beyond it fails, and the next run goes on in a new process.
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -v {MOST_KIB}; exec \"$0\" \"$@\"")]).arg(program);
    command.args(["--target", target.name(), "--seed", &seed.to_string()]);
    command.args(["--from", &from.to_string(), "--runs", &until.to_string()]);
    if let Some(milliseconds) = milliseconds {
        command.args(["--milliseconds", &milliseconds.to_string()]);
    }
    if announce {
        command.arg("--announce");
    }
    // One thread: runs are short, and what they find must not depend on the machine.
    command.env("RAYON_NUM_THREADS", "1").env("RUST_BACKTRACE", "0");
    let output =
        command.stdin(Stdio::null()).output().context("the process of a target cannot be started")?;
    let (mut last, mut whole) = (from, false);
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Some((kind, rest)) = line.split_once(' ') else { continue };
        match kind {
            "at" => last = rest.parse().unwrap_or(last),
            "found" => {
                let mut parts = rest.splitn(3, ' ');
                let (number, hex, what) = (parts.next(), parts.next(), parts.next());
                let (Some(number), Some(hex), Some(what)) = (number, hex, what) else { continue };
                let bytes: Vec<u8> = (0..hex.len() / 2)
                    .filter_map(|i| u8::from_str_radix(hex.get(2 * i..2 * i + 2)?, 16).ok())
                    .collect();
                let input = worker::shown(target, &bytes, false);
                let number = number.parse().unwrap_or(0);
                summary.findings.push(Finding { number, what: what.to_owned(), input, hex: hex.to_owned() });
            }
            "done" => {
                whole = true;
                let numbers: Vec<u64> = rest.split(' ').filter_map(|word| word.parse().ok()).collect();
                let [runs, refused, bad, slowest, most, micros] = numbers[..] else { continue };
                summary.runs += runs;
                summary.refused += refused;
                summary.bad += bad;
                summary.slowest_micros = summary.slowest_micros.max(slowest);
                summary.most_bytes = summary.most_bytes.max(most);
                summary.micros += micros;
            }
            _ => {}
        }
    }
    let how = (!whole).then(|| match output.status.code() {
        Some(HUNG) => "a run that does not end".to_owned(),
        _ => {
            let said = String::from_utf8_lossy(&output.stderr);
            let first = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("nothing is said");
            format!("the process ends ({}): {first}", output.status)
        }
    });
    Ok(Ended { last, how })
}
