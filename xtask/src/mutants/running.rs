//! Runs each test in a process of its own, to record which mutants it reaches or to see whether it catches
//! one.

use super::build::Program;
use super::tree;
use anyhow::{Context, ensure};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A test, and what was recorded about it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Test {
    pub(super) crate_name: String,
    /// The target it belongs to.
    pub(super) target: String,
    pub(super) name: String,
    pub(super) program: PathBuf,
    /// How long it takes with all mutants off.
    pub(super) seconds: f64,
    /// The mutants that it reaches.
    pub(super) reaches: BTreeSet<u32>,
}

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Passed,
    Failed,
    TimedOut,
}

impl Test {
    fn arguments(&self) -> Vec<&str> {
        match self.target.as_str() {
            SEARCH => vec!["--short", "--part", &self.name],
            _ => vec!["--exact", &self.name, "--test-threads=1", "--quiet"],
        }
    }

    /// Runs the test with one mutant on, or records which mutants it reaches.
    fn run(&self, switch: &str, reached: Option<&Path>, limit: Duration) -> anyhow::Result<(Ended, f64)> {
        let folder = match self.target.as_str() {
            SEARCH => tree::copy(),
            _ => tree::copy().join("crates").join(&self.crate_name),
        };
        // Limit the memory, because a mutant may ask for any amount.
        let mut command = Command::new("sh");
        command
            .args(["-c", "ulimit -v 6000000; exec \"$0\" \"$@\""])
            .arg(&self.program)
            .args(self.arguments())
            .current_dir(folder)
            .env("NDP_MUTANT", switch)
            .env("RAYON_NUM_THREADS", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if let Some(path) = reached {
            command.env("NDP_MUTANT_REACHED", path);
        }
        let start = Instant::now();
        let mut child = command.spawn().with_context(|| format!("cannot run {}", self.program.display()))?;
        let mut pause = Duration::from_micros(500);
        loop {
            if let Some(status) = child.try_wait()? {
                let ended = if status.success() { Ended::Passed } else { Ended::Failed };
                return Ok((ended, start.elapsed().as_secs_f64()));
            }
            if limit < start.elapsed() {
                child.kill()?;
                child.wait()?;
                return Ok((Ended::TimedOut, start.elapsed().as_secs_f64()));
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    /// Runs the test with a mutant on, for at most twenty times its usual time plus ten seconds.
    pub(super) fn with(&self, id: u32) -> anyhow::Result<Ended> {
        let limit = Duration::from_secs_f64(20.0 * self.seconds + 10.0);
        Ok(self.run(&format!("{id:08x}"), None, limit)?.0)
    }

    /// The line of the test in the file of recorded tests.
    fn line(&self) -> String {
        let ids: Vec<String> = self.reaches.iter().map(|id| format!("{id:08x}")).collect();
        [&self.crate_name, &self.target, &self.name, &self.seconds.to_string(), &ids.join(",")]
            .map(String::as_str)
            .join("\t")
    }
}

/// The target of the parts of the search.
const SEARCH: &str = "search";

/// The tests of a program.
pub(super) fn listed(program: &Program) -> anyhow::Result<Vec<Test>> {
    let output = Command::new(&program.path)
        .args(["--list", "--format", "terse"])
        .current_dir(tree::copy().join("crates").join(&program.crate_name))
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    let names = text.lines().filter_map(|line| line.strip_suffix(": test"));
    Ok(names.map(|name| test(&program.crate_name, &program.target, name, &program.path)).collect())
}

/// The parts of the search.
pub(super) fn parts(program: &Path) -> anyhow::Result<Vec<Test>> {
    let output = Command::new(program).arg("--list").current_dir(tree::copy()).output()?;
    ensure!(output.status.success(), "the search lists no parts");
    let text = String::from_utf8(output.stdout)?;
    let names = text.lines().filter_map(|line| line.split_whitespace().next());
    Ok(names.map(|name| test("soundness", SEARCH, name, program)).collect())
}

fn test(crate_name: &str, target: &str, name: &str, program: &Path) -> Test {
    Test {
        crate_name: crate_name.to_owned(),
        target: target.to_owned(),
        name: name.to_owned(),
        program: program.to_owned(),
        seconds: 0.0,
        reaches: BTreeSet::new(),
    }
}

/// Records what each test reaches, `jobs` at a time. Tests in `known` are not run again. Tests that fail with
/// all mutants off, and those that take longer than `longest` seconds, are left out and named.
pub(super) fn record(
    tests: Vec<Test>,
    known: &[Test],
    jobs: usize,
    longest: f64,
) -> anyhow::Result<(Vec<Test>, Vec<String>)> {
    let folder = tree::folder().join("reached");
    fs::create_dir_all(&folder)?;
    let recorded = in_parallel(tests, jobs, |place, mut test| {
        let same = |it: &&Test| {
            (&it.crate_name, &it.target, &it.name) == (&test.crate_name, &test.target, &test.name)
        };
        if let Some(old) = known.iter().find(same) {
            return Ok(Ok(Test { program: test.program, ..old.clone() }));
        }
        let path = folder.join(format!("{place}.txt"));
        let _ = fs::remove_file(&path);
        let (ended, seconds) =
            test.run("record", Some(&path), Duration::from_secs_f64(longest.min(900.0)))?;
        if ended != Ended::Passed {
            let why = match ended {
                Ended::TimedOut => "it takes too long",
                _ => "it fails with all mutants off",
            };
            return Ok(Err(format!("{why}: {} {} {}", test.crate_name, test.target, test.name)));
        }
        let text = fs::read_to_string(&path).unwrap_or_default();
        let _ = fs::remove_file(&path);
        test.seconds = seconds;
        test.reaches = text.lines().filter_map(|line| u32::from_str_radix(line, 16).ok()).collect();
        Ok(Ok(test))
    })?;
    let mut failing = Vec::new();
    let passing = recorded.into_iter().filter_map(|it| it.map_err(|name| failing.push(name)).ok()).collect();
    Ok((passing, failing))
}

/// Applies a function to all items, so many at a time; results in the order of the items.
pub(super) fn in_parallel<T: Send, U: Send>(
    items: Vec<T>,
    jobs: usize,
    work: impl Fn(usize, T) -> anyhow::Result<U> + Sync,
) -> anyhow::Result<Vec<U>> {
    let count = items.len();
    let items: Vec<Mutex<Option<T>>> = items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    let results: Mutex<Vec<Option<anyhow::Result<U>>>> = Mutex::new((0..count).map(|_| None).collect());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                while let Some(item) = items.get(next.load(Ordering::Relaxed)) {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let item = items.get(place).unwrap_or(item);
                    let taken = item.lock().ok().and_then(|mut item| item.take());
                    let Some(taken) = taken else { continue };
                    let result = work(place, taken);
                    if let Ok(mut results) = results.lock() {
                        results[place] = Some(result);
                    }
                }
            });
        }
    });
    let results = results.into_inner().map_err(|_| anyhow::anyhow!("a thread ended early"))?;
    results.into_iter().map(|it| it.context("a thread ended early")?).collect()
}

/// Reads what an earlier run recorded.
pub(super) fn read(path: &Path) -> Vec<Test> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let parse = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [crate_name, target, name, seconds, ids] = fields[..] else { return None };
        let mut test = test(crate_name, target, name, Path::new(""));
        test.seconds = seconds.parse().ok()?;
        test.reaches = ids.split(',').filter_map(|id| u32::from_str_radix(id, 16).ok()).collect();
        Some(test)
    };
    text.lines().filter_map(parse).collect()
}

/// Writes the recorded tests.
pub(super) fn write(path: &Path, tests: &[Test]) -> anyhow::Result<()> {
    let lines: Vec<String> = tests.iter().map(Test::line).collect();
    Ok(fs::write(path, lines.join("\n") + "\n")?)
}
