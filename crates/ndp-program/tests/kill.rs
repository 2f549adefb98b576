//! `kill -9` while a meter runs: no message was sent that is not in the log, and the numbers go on as if
//! nothing had happened. `NDP_KILLS` says how often, 20 times where it is not set.
#![cfg(unix)]
#![allow(clippy::expect_used, reason = "a test may panic")]

use ndp_account::{Error, NodeNames};
use ndp_program::meter::{Durable, Feed, Meter, MeterLog};
use ndp_program::{Program, ProgramError, Reads, SensitivitySet, Value};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const FOLDER: &str = "NDP_KILL_FOLDER";
/// Logs are begun anew after so many kills.
const KILLS_OF_A_LOG: u64 = 50;

struct OnDisk(File);

impl Durable for OnDisk {
    fn append(&mut self, line: &str) -> std::io::Result<()> {
        writeln!(self.0, "{line}")?;
        self.0.flush()?;
        self.0.sync_data()
    }
}

/// The k-th message: who sends what to whom depends on its number alone.
fn message(program: &mut Program, k: u64) -> Result<[Value; 3], ProgramError> {
    let (from, to) = ((k % 3) as usize, ((k + 1 + k / 7 % 2) % 3) as usize);
    let x = program.contribute(from, Reads::Nothing)?;
    let z = program.noise([from], (1 + (k % 5) as i64, 2))?;
    let y = program.add(&[x, z])?;
    program.send(from, to, y)?;
    Ok([x, z, y])
}

fn meter() -> Result<Meter, Error> {
    Meter::every_node(3, SensitivitySet::SameDirection)
}

/// Both ends of all losses.
fn ends(meter: &Meter) -> Result<Vec<(f64, f64)>, Error> {
    let mut all = Vec::new();
    for v in 0..3 {
        let reading = meter.reading(v)?;
        for u in (0..3).filter(|&u| u != v) {
            let loss = reading.loss(u)?;
            all.push((loss.lower, loss.value()));
        }
    }
    Ok(all)
}

/// Messages that are in a log.
fn logged(log: &[u8]) -> u64 {
    let lines = log.split(|&byte| byte == b'\n');
    lines.filter(|line| line.windows(7).any(|part| part == b"\"send\":")).count() as u64
}

/// Goes on with the log in this folder, and sends until it is killed.
fn run(folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let (log, sent) = (folder.join("log"), folder.join("sent"));
    let open = |path: &Path| OpenOptions::new().create(true).append(true).open(path);
    let text = std::fs::read(&log).unwrap_or_default();
    let mut feed = Feed::default();
    let found = feed.lines(&text)?;
    let file = open(&log)?;
    file.set_len(found.bytes)?;
    let mut next = logged(&text[..usize::try_from(found.bytes)?]);
    let mut log = match feed.meter() {
        None => MeterLog::begin(meter()?, NodeNames::numbered(3), OnDisk(file))?,
        Some(_) => MeterLog::resume(feed, OnDisk(file))?,
    };
    let mut sent = open(&sent)?;
    loop {
        let values = log.step(|program| message(program, next))?;
        // The message leaves once the step has returned, as a whole: the rest would be joined to the next.
        sent.write_all(format!("{next}\n").as_bytes())?;
        log.forget(&values)?;
        next += 1;
    }
}

#[test]
fn nothing_is_sent_that_is_not_in_the_log() -> Result<(), Box<dyn std::error::Error>> {
    if let Some(folder) = std::env::var_os(FOLDER) {
        return run(&PathBuf::from(folder));
    }
    let kills: u64 = std::env::var("NDP_KILLS").ok().map_or(Ok(20), |text| text.parse())?;
    let rng = &mut ChaCha8Rng::seed_from_u64(9);
    let folder = std::env::temp_dir().join(format!("ndp-kill-{}", std::process::id()));
    let (mut reached, mut cut, mut before, mut sending) = (0, 0, 0, 0);
    for kill in 0..kills {
        if kill % KILLS_OF_A_LOG == 0 {
            let _ = std::fs::remove_dir_all(&folder);
            std::fs::create_dir_all(&folder)?;
            before = 0;
        }
        let mut child = Command::new(std::env::current_exe()?)
            .args(["--exact", "nothing_is_sent_that_is_not_in_the_log"])
            .env(FOLDER, &folder)
            .stdout(Stdio::null())
            .spawn()?;
        // Some are killed while they start, most once they have sent something.
        let size = || std::fs::metadata(folder.join("sent")).map_or(0, |file| file.len());
        let (start, began) = (size(), Instant::now());
        let at_start = rng.random_range(0..5) == 0;
        while !at_start && size() == start && began.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_micros(200));
        }
        sending += u64::from(size() > start);
        std::thread::sleep(Duration::from_micros(rng.random_range(0..12_000)));
        child.kill()?;
        child.wait()?;
        let log = std::fs::read(folder.join("log")).unwrap_or_default();
        let sent = std::fs::read_to_string(folder.join("sent")).unwrap_or_default();
        let mut feed = Feed::default();
        let found = feed.lines(&log)?;
        cut += u64::from(found.dropped.is_some());
        let kept = logged(&log[..usize::try_from(found.bytes)?]);
        // A last line of what was sent may be cut off: the message had left.
        for number in sent.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            assert!(number.trim().parse::<u64>()? < kept, "message {number} is not in the log of {kept}");
        }
        assert!(sent.lines().count() as u64 <= kept && kept >= before);
        reached += kept - before;
        before = kept;
        let Some(resumed) = feed.meter() else { continue };
        let mut whole = meter()?;
        for k in 0..kept {
            let values = whole.step(|program| message(program, k))?;
            whole.forget(&values)?;
        }
        // A kill may keep a value alive, and so add roundings: the enclosures meet.
        for (found, truth) in ends(resumed)?.into_iter().zip(ends(&whole)?) {
            assert!(found.0 <= truth.1 && truth.0 <= found.1, "after {kept} messages: {found:?}, {truth:?}");
            assert!(found.1 - truth.1 <= 1e-9 && truth.1 - found.1 <= 1e-9, "{found:?}, {truth:?}");
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    writeln!(std::io::stderr(), "{kills} kills, {reached} messages, {cut} lines cut off")?;
    assert!(sending > kills / 2 && reached >= sending, "{reached} messages only, {sending} times");
    Ok(())
}
