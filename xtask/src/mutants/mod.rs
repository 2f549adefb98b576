//! `cargo xtask mutants`: breaks the libraries in one place at a time, and checks which tests fail.
//!
//! The mutants are listed in `xtask/mutants`. One build of a copy of the workspace contains all of them, each
//! behind a switch, so that trying a mutant means running a few tests without compiling.

mod build;
mod candidates;
mod draw;
mod examples;
mod list;
mod operators;
mod outcome;
mod rewrite;
mod running;
#[cfg(test)]
#[expect(unreachable_pub, reason = "it is a crate of its own in the copy")]
mod switch;
#[cfg(test)]
mod tests;
mod tree;

use crate::flags::Mutants;
use anyhow::{Context, ensure};
use candidates::{Entry, Mutant};
use outcome::{Outcome, Result};
use running::{Ended, Test};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write;
use std::sync::Mutex;
use xshell::Shell;

impl Mutants {
    pub(crate) fn run(self, sh: &Shell) -> anyhow::Result<()> {
        match &self.propose {
            Some(crate_name) => draw::propose(&self, crate_name, sh),
            None => self.break_all(sh),
        }
    }

    #[expect(clippy::print_stdout, reason = "this is the command line")]
    fn break_all(&self, sh: &Shell) -> anyhow::Result<()> {
        let mut sources = list::Sources::new(&crate::root());
        let equivalent = list::equivalent()?;
        let listed = equivalent.keys().cloned().collect::<Vec<_>>();
        sources.find_all("equivalent", &listed)?;
        let mut all: Vec<(&'static str, Mutant)> = Vec::new();
        for name in list::LISTS {
            let found = sources.find_all(name, &list::read(name)?)?;
            all.extend(found.into_iter().map(|mutant| (name, mutant)));
        }
        let ids: BTreeSet<u32> = all.iter().map(|(_, it)| it.entry.id()).collect();
        ensure!(ids.len() == all.len(), "two mutants of the lists have the same id, or one is in both");

        // Build all mutants, whichever are asked for, so that the build stays the same.
        let mut built: Vec<Mutant> = all.iter().map(|(_, it)| it.clone()).collect();
        let dropped = build::compiling(sh, &mut built)?;
        for it in &dropped {
            println!("does not compile, take it out of the list: {}", it.entry.line());
        }
        let dropped: BTreeSet<&Entry> = dropped.iter().map(|it| &it.entry).collect();
        all.retain(|(_, it)| !dropped.contains(&it.entry) && self.asks_for(&it.entry));
        let crates: BTreeSet<String> = all.iter().map(|(_, it)| it.entry.crate_name().to_owned()).collect();
        ensure!(!crates.is_empty(), "no mutant of the lists is asked for");

        let tests = self.recorded(&crates)?;
        let outcomes = self.outcomes(&all, &equivalent, &tests)?;
        let mut results = Vec::new();
        for ((list, mutant), outcome) in all.into_iter().zip(outcomes) {
            let line = rewrite::line_number(sources.text(&mutant.entry.file)?, &mutant);
            results.push(Result { list, mutant, line, outcome });
        }
        for result in
            results.iter().filter(|it| matches!(it.outcome, Outcome::Survived | Outcome::NotReached))
        {
            let entry = &result.mutant.entry;
            let word = result.outcome.word();
            println!(
                "{word} {:08x} {}:{} {} ({})",
                entry.id(),
                entry.file,
                result.line,
                entry.function,
                entry.kind
            );
            println!("{}", rewrite::difference(sources.text(&entry.file)?, &result.mutant));
        }
        println!("{}", outcome::table(&results));
        let out = crate::root().join("out/mutants");
        fs::create_dir_all(&out)?;
        fs::write(out.join("mutants.csv"), outcome::csv(&results))?;
        fs::write(out.join("mutants.json"), outcome::json(&results))?;
        fs::write(out.join("table.md"), outcome::table(&results))?;
        Ok(())
    }

    fn asks_for(&self, entry: &Entry) -> bool {
        let by_crate = self.package.as_deref().is_none_or(|name| name == entry.crate_name());
        let by_id = |only: &str| format!("{:08x}", entry.id()) == only || entry.file.contains(only);
        by_crate && self.only.as_deref().is_none_or(by_id)
    }

    fn jobs(&self) -> usize {
        self.jobs.unwrap_or(2)
    }

    /// Tests that take longer than this many seconds are left out.
    fn longest(&self) -> f64 {
        self.fast.unwrap_or(f64::INFINITY)
    }

    /// The tests of the crates, each with the mutants that it reaches.
    #[expect(clippy::print_stdout, reason = "this is the command line")]
    fn recorded(&self, crates: &BTreeSet<String>) -> anyhow::Result<Vec<Test>> {
        let mut tests = Vec::new();
        for program in build::tests(crates)? {
            tests.extend(running::listed(&program)?);
        }
        self.record("tests", tests).inspect(|tests| {
            let seconds: f64 = tests.iter().map(|it| it.seconds).sum();
            println!("{} tests, {seconds:.0} s one after the other", tests.len());
        })
    }

    #[expect(clippy::print_stdout, reason = "this is the command line")]
    fn record(&self, name: &str, tests: Vec<Test>) -> anyhow::Result<Vec<Test>> {
        let path = tree::folder().join(format!("{name}.txt"));
        let old = running::read(&path);
        let known = if self.resume { &old[..] } else { &[] };
        let (tests, left_out) = running::record(tests, known, self.jobs(), self.longest())?;
        for line in &left_out {
            println!("left out, {line}");
        }
        // Keep what was recorded for tests of other crates.
        let here: BTreeSet<&str> = tests.iter().map(|it| it.crate_name.as_str()).collect();
        let others = old.iter().filter(|it| !here.contains(it.crate_name.as_str()));
        running::write(&path, &tests.iter().chain(others).cloned().collect::<Vec<_>>())?;
        Ok(tests)
    }

    fn outcomes(
        &self,
        all: &[(&'static str, Mutant)],
        equivalent: &BTreeMap<Entry, String>,
        tests: &[Test],
    ) -> anyhow::Result<Vec<Outcome>> {
        let path = tree::folder().join("outcomes.txt");
        let earlier = if self.resume {
            read_outcomes(&fs::read_to_string(&path).unwrap_or_default())
        } else {
            BTreeMap::new()
        };
        let log = Mutex::new(File::options().append(true).create(true).open(&path)?);
        let known = |entry: &Entry| match equivalent.get(entry) {
            Some(reason) => Some(Outcome::Equivalent(reason.clone())),
            None => earlier.get(&entry.id()).filter(|it| it.is_caught()).cloned(),
        };
        let mut outcomes = running::in_parallel(all.iter().collect(), self.jobs(), |_, (_, mutant)| {
            if let Some(outcome) = known(&mutant.entry) {
                return Ok(outcome);
            }
            let own: Vec<&Test> =
                tests.iter().filter(|it| it.crate_name == mutant.entry.crate_name()).collect();
            let outcome = try_out(mutant.entry.id(), &own, self.longest())?;
            note(&log, mutant, &outcome)?;
            Ok(outcome)
        })?;
        if self.search && outcomes.iter().any(|it| !it.is_caught()) {
            let parts = self.record("parts", running::parts(&build::search()?)?)?;
            let parts: Vec<&Test> = parts.iter().collect();
            let again: Vec<_> = all.iter().zip(&mut outcomes).collect();
            running::in_parallel(again, self.jobs(), |_, ((_, mutant), outcome)| {
                if matches!(outcome, Outcome::Survived | Outcome::NotReached) {
                    let found = try_out(mutant.entry.id(), &parts, f64::INFINITY)?;
                    if found.is_caught() {
                        note(&log, mutant, &found)?;
                        *outcome = found;
                    }
                }
                Ok(())
            })?;
        }
        Ok(outcomes)
    }
}

fn note(log: &Mutex<File>, mutant: &Mutant, outcome: &Outcome) -> anyhow::Result<()> {
    let mut file = log.lock().ok().context("a thread ended early")?;
    Ok(writeln!(file, "{:08x}\t{}\t{}", mutant.entry.id(), outcome.word(), outcome.by())?)
}

/// The outcomes that earlier runs wrote; the last one of each mutant counts.
fn read_outcomes(text: &str) -> BTreeMap<u32, Outcome> {
    let parse = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [id, word, by] = fields[..] else { return None };
        Some((u32::from_str_radix(id, 16).ok()?, Outcome::read(word, by)?))
    };
    text.lines().filter_map(parse).collect()
}

/// Runs the tests that reach a mutant, the fastest first, until one fails. Tests that take more than
/// `longest` seconds are left out.
fn try_out(id: u32, tests: &[&Test], longest: f64) -> anyhow::Result<Outcome> {
    let mut reaching: Vec<&&Test> = tests.iter().filter(|it| it.reaches.contains(&id)).collect();
    reaching.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    if reaching.is_empty() {
        return Ok(Outcome::NotReached);
    }
    for test in reaching.into_iter().filter(|it| it.seconds <= longest) {
        let by = || format!("{}: {}", test.target, test.name);
        match test.with(id)? {
            Ended::Passed => {}
            Ended::Failed => return Ok(Outcome::Caught(by())),
            Ended::TimedOut => return Ok(Outcome::TimedOut(by())),
        }
    }
    Ok(Outcome::Survived)
}
