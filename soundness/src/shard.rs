//! Files with the results of the shards of a search, and the merged result.
//!
//! Cases of a part are assigned to shards by their numbers, so that every case belongs to exactly one shard,
//! and its number replays it. A file has two lines: the results, and their hash.

use crate::driver::{Kind, Length, Share, Summary};
use crate::part::{Part, Stratum, Violation};
use crate::parts;
use anyhow::{Context, bail, ensure};
use ndp_report::files;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The content of a file: which search, which shard of it, and its results.
#[derive(Serialize, Deserialize)]
struct File {
    search: Search,
    shard: u64,
    parts: Vec<Found>,
}

/// The settings that must be the same for all shards.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
struct Search {
    version: String,
    /// The hash of the program that searched: results of different builds of one version are not mixed.
    build: String,
    seed: u64,
    length: String,
    shards: u64,
}

/// A summary in the form in which it is written.
#[derive(Serialize, Deserialize)]
struct Found {
    name: String,
    cases: u64,
    compared: u64,
    violations: u64,
    strata: Vec<(String, String, u64)>,
    kinds: Vec<Example>,
    refuted: Vec<Example>,
    seconds: f64,
    slowest: (u64, f64),
}

/// The violations of one kind: how many, and the smallest.
#[derive(Serialize, Deserialize)]
struct Example {
    kind: String,
    count: u64,
    number: u64,
    size: [u64; 3],
    what: String,
    test: String,
}

/// Writes the results of a shard; the file appears whole or not at all.
pub(crate) fn write(
    folder: &Path,
    share: Share,
    seed: u64,
    length: Length,
    summaries: &[Summary],
) -> anyhow::Result<()> {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let search =
        Search { version, build: build()?, seed, length: format!("{length:?}"), shards: share.count };
    let file = File { search, shard: share.index, parts: summaries.iter().map(found).collect() };
    let text = serde_json::to_string(&file)?;
    let sum = hash(text.as_bytes());
    Ok(files::write(&path(folder, share.index), format!("{text}\n{sum}\n").as_bytes())?)
}

/// The hash of this program.
fn build() -> anyhow::Result<String> {
    let program = std::env::current_exe()?;
    Ok(hash(&fs::read(&program).with_context(|| format!("cannot read {}", program.display()))?))
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Merges all shards of a folder; also returns their seed. The result is that of one process, except for the
/// times.
pub(crate) fn merged(folder: &Path) -> anyhow::Result<(Vec<Summary>, u64)> {
    let first = read(&path(folder, 0))?;
    let search = first.search;
    let missing: Vec<u64> = (0..search.shards).filter(|&shard| !path(folder, shard).exists()).collect();
    ensure!(missing.is_empty(), "{} of {} shards are missing: {missing:?}", missing.len(), search.shards);
    ensure!(
        !path(folder, search.shards).exists(),
        "{} holds more than the {} shards of its first: it is of another search",
        folder.display(),
        search.shards
    );
    let mut together: Vec<Summary> = Vec::new();
    for shard in 0..search.shards {
        let at = path(folder, shard);
        let file = read(&at)?;
        ensure!(file.shard == shard, "{} holds shard {}", at.display(), file.shard);
        ensure!(file.search == search, "{} is of another search than shard 0", at.display());
        let summaries = file.parts.into_iter().map(summary).collect::<anyhow::Result<Vec<_>>>()?;
        if together.is_empty() {
            together = summaries;
            continue;
        }
        let names = |list: &[Summary]| list.iter().map(|summary| summary.name).collect::<Vec<_>>();
        ensure!(names(&summaries) == names(&together), "{} is of other parts than shard 0", at.display());
        together.iter_mut().zip(summaries).for_each(|(all, more)| all.merge(more));
    }
    for summary in &mut together {
        summary.conclude(part(summary.name)?);
    }
    Ok((together, search.seed))
}

fn path(folder: &Path, shard: u64) -> PathBuf {
    folder.join(format!("shard-{shard:05}.json"))
}

fn read(path: &Path) -> anyhow::Result<File> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    // A file that is not text counts as damaged.
    let text = String::from_utf8(bytes).unwrap_or_default();
    let whole = text.strip_suffix('\n').and_then(|text| text.split_once('\n'));
    let whole = whole.filter(|(found, sum)| *sum == hash(found.as_bytes()));
    let (found, _) =
        whole.with_context(|| format!("{} is no whole shard: search it again", path.display()))?;
    serde_json::from_str(found).with_context(|| format!("{} is of another version", path.display()))
}

fn part(name: &str) -> anyhow::Result<&'static dyn Part> {
    match parts::ALL.iter().find(|part| part.name() == name) {
        Some(part) => Ok(*part),
        None => bail!("no part is called {name}"),
    }
}

fn found(summary: &Summary) -> Found {
    let examples = |kinds: &BTreeMap<&'static str, Kind>| {
        let example = |(kind, found): (&&str, &Kind)| {
            let Violation { size, what, test, .. } = found.smallest.clone();
            Example { kind: (*kind).into(), count: found.count, number: found.number, size, what, test }
        };
        kinds.iter().map(example).collect()
    };
    let strata = summary.strata.iter().map(|(at, &count)| (at.row.into(), at.column.into(), count));
    Found {
        name: summary.name.into(),
        cases: summary.cases,
        compared: summary.compared,
        violations: summary.violations,
        strata: strata.collect(),
        kinds: examples(&summary.kinds),
        refuted: examples(&summary.refuted),
        seconds: summary.seconds,
        slowest: summary.slowest,
    }
}

fn summary(found: Found) -> anyhow::Result<Summary> {
    let kinds = |examples: Vec<Example>| {
        let kind = |example: Example| {
            let Example { kind, count, number, size, what, test } = example;
            let kind = lasting(kind);
            (kind, Kind { count, number, smallest: Violation { kind, size, what, test } })
        };
        examples.into_iter().map(kind).collect()
    };
    let strata = found.strata.into_iter();
    Ok(Summary {
        name: part(&found.name)?.name(),
        cases: found.cases,
        compared: found.compared,
        violations: found.violations,
        strata: strata
            .map(|(row, column, count)| (Stratum { row: lasting(row), column: lasting(column) }, count))
            .collect(),
        kinds: kinds(found.kinds),
        refuted: kinds(found.refuted),
        unrefuted: Vec::new(),
        seconds: found.seconds,
        slowest: found.slowest,
    })
}

/// Leaks a name, so that it lives as long as the names in the source.
fn lasting(name: String) -> &'static str {
    name.leak()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::search;
    use crate::table;

    /// Shards of a real part, written and read back, give the result of one process; missing, cut off or
    /// swapped shards are named.
    #[test]
    fn shards_are_put_together() -> anyhow::Result<()> {
        let folder = std::env::temp_dir().join(format!("ndp-soundness-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        let (part, length) = (part("dp")?, Length::Cases(40));
        let table_of = |mut summaries: Vec<Summary>| {
            summaries.iter_mut().for_each(|summary| (summary.seconds, summary.slowest) = (0.0, (0, 0.0)));
            table::full(&summaries, 5)
        };
        let whole = table_of(vec![search(part, 5, length, Share::WHOLE)]);
        for index in 0..3 {
            let share = Share { index, count: 3 };
            write(&folder, share, 5, length, &[search(part, 5, length, share)])?;
        }
        let (found, seed) = merged(&folder)?;
        assert_eq!((table_of(found), seed), (whole, 5));
        let refused = || merged(&folder).map(drop).unwrap_err().to_string();
        let (one, two) = (path(&folder, 1), path(&folder, 2));
        let bytes = fs::read(&one)?;
        fs::write(&one, &bytes[..bytes.len() / 2])?;
        assert!(refused().contains("no whole shard"), "{}", refused());
        // Change a number such that the file stays well-formed; its hash is then wrong.
        let seen = String::from_utf8(bytes.clone())?;
        let changed = seen.replacen("\"violations\":0", "\"violations\":7", 1);
        assert_ne!(seen, changed);
        fs::write(&one, changed)?;
        assert!(refused().contains("no whole shard"), "{}", refused());
        fs::copy(&two, &one)?;
        assert!(refused().contains("holds shard 2"), "{}", refused());
        fs::remove_file(&one)?;
        assert!(refused().contains("missing: [1]"), "{}", refused());
        write(&folder, Share { index: 1, count: 3 }, 6, length, &[])?;
        assert!(refused().contains("another search"), "{}", refused());
        // Another build of the same version.
        let text = seen.lines().next().unwrap_or_default();
        let text = text.replace(&build()?, &hash(b"another"));
        fs::write(&one, format!("{text}\n{}\n", hash(text.as_bytes())))?;
        assert!(refused().contains("another search"), "{}", refused());
        fs::write(&one, &bytes)?;
        assert!(merged(&folder).is_ok());
        fs::remove_dir_all(&folder)?;
        Ok(())
    }
}
