//! The file of a shard: a header, a line for each item, a last line; each with a checksum.
//!
//! A process appends a line as soon as it is computed, to a file with the suffix `.part`, and syncs it; the
//! finished file is renamed. If the shard is run again, it goes on after the last intact line and computes
//! everything behind it anew. The writing process holds the lock of the shard, which is a file of its own and
//! is never renamed.

use super::Study;
use super::plan::{self, Plan};
use crate::errors::Failure;
use crate::interrupt;
use crate::output::{hex, note};
use crate::progress::Progress;
use rayon::prelude::*;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A line with its checksum. The checksum includes the plan's hash, so it also shows to which plan the line
/// belongs.
fn sealed(line: &str, hash: &str) -> String {
    format!("{line}\t{}\n", seal(line, hash))
}

fn seal(line: &str, hash: &str) -> String {
    let mut sum = Sha256::new();
    sum.update(hash);
    sum.update(line);
    hex(&sum.finalize()[..8])
}

/// The line without its checksum; `None` if it is damaged or incomplete.
fn opened<'a>(line: &'a str, hash: &str) -> Option<&'a str> {
    let (line, sum) = line.strip_suffix('\n')?.rsplit_once('\t')?;
    (sum == seal(line, hash)).then_some(line)
}

fn header(plan: &Plan, index: usize) -> String {
    let range = plan.range(index);
    json!({ "ndp-shard": 2, "ndp": plan.ndp, "build": plan.build, "hash": plan.hash, "index": index, "from": range.start, "to": range.end }).to_string()
}

fn footer(plan: &Plan, index: usize) -> String {
    json!({ "end": index, "items": plan.range(index).len() }).to_string()
}

/// The path of a shard that is not finished.
pub(crate) fn part(path: &Path) -> PathBuf {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    part.into()
}

/// Reads a finished shard, and passes every item's line to `take`.
pub(crate) fn read(
    plan: &Plan,
    folder: &Path,
    index: usize,
    mut take: impl FnMut(&str) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let path = Plan::shard(folder, index);
    let refused = |why: String| Failure::Refused(format!("{}: {why}", path.display()));
    let mut reader = BufReader::new(File::open(&path).map_err(Failure::file(&path))?);
    let mut line = String::new();
    let mut next = |number: usize| -> Result<Option<String>, Failure> {
        line.clear();
        let read = reader.read_line(&mut line).map_err(|error| {
            if error.kind() == std::io::ErrorKind::InvalidData {
                refused(format!("line {number} is damaged"))
            } else {
                Failure::File(path.clone(), error)
            }
        })?;
        Ok((read > 0).then(|| line.clone()))
    };
    let first = next(1)?.ok_or_else(|| refused("is empty".into()))?;
    if opened(&first, &plan.hash) != Some(&header(plan, index)) {
        return Err(refused(foreign(&first, plan, index)));
    }
    for (at, item) in plan.range(index).enumerate() {
        let line = next(at + 2)?.ok_or_else(|| refused(format!("is truncated after line {}", at + 1)))?;
        let text = opened(&line, &plan.hash).ok_or_else(|| refused(format!("line {} is damaged", at + 2)))?;
        if !text.contains(&format!("\"item\":{item},")) {
            return Err(refused(format!("line {} is not that of item {item}", at + 2)));
        }
        take(text)?;
    }
    let number = plan.range(index).len() + 2;
    let last = next(number)?.ok_or_else(|| refused(format!("is truncated after line {}", number - 1)))?;
    if opened(&last, &plan.hash) != Some(&footer(plan, index)) {
        return Err(refused(format!("line {number} is damaged")));
    }
    if next(number + 1)?.is_some() {
        return Err(refused("goes on after its last line".into()));
    }
    Ok(())
}

/// Says why the first line is not the header of this shard.
fn foreign(line: &str, plan: &Plan, index: usize) -> String {
    let text = line.trim_end().rsplit_once('\t').map_or(line, |(text, _)| text);
    let Ok(found) = serde_json::from_str::<serde_json::Value>(text) else {
        return "line 1 is damaged".into();
    };
    let is = |key: &str, value: serde_json::Value| found.get(key) == Some(&value);
    if !is("ndp", json!(plan.ndp)) {
        format!("was made by ndp {}, the plan by ndp {}", found["ndp"], plan.ndp)
    } else if !is("build", json!(plan.build)) {
        format!("was made by build {} of ndp, the plan by build {}", found["build"], plan.build)
    } else if !is("hash", json!(plan.hash)) {
        "belongs to another plan".into()
    } else if !is("index", json!(index)) {
        format!("holds shard {}", found["index"])
    } else if !is("from", json!(plan.range(index).start)) || !is("to", json!(plan.range(index).end)) {
        format!("holds items {} to {}, not those of this shard", found["from"], found["to"])
    } else {
        "line 1 is damaged".into()
    }
}

/// How far a shard has come.
pub(crate) enum State {
    Done,
    /// The number of items in the unfinished file.
    Begun(usize),
    Missing,
    Damaged(String),
}

pub(crate) fn state(plan: &Plan, folder: &Path, index: usize) -> State {
    let path = Plan::shard(folder, index);
    if path.exists() {
        return match read(plan, folder, index, |_| Ok(())) {
            Ok(()) => State::Done,
            Err(failure) => State::Damaged(failure.to_string()),
        };
    }
    match File::open(part(&path)) {
        Ok(file) => State::Begun(whole_lines(plan, index, file).map_or(0, |(items, _)| items)),
        Err(_) => State::Missing,
    }
}

/// The number of intact items in an unfinished file, and the number of bytes up to their end, header
/// included; `None` if the header is not intact.
fn whole_lines(plan: &Plan, index: usize, file: File) -> Option<(usize, u64)> {
    let mut reader = BufReader::new(file);
    let mut line = String::new();
    let mut end = 0;
    for (number, item) in std::iter::once(None).chain(plan.range(index).map(Some)).enumerate() {
        line.clear();
        // A line that is not UTF-8 counts as damaged.
        let read = reader.read_line(&mut line).unwrap_or(0);
        let whole = read > 0
            && opened(&line, &plan.hash).is_some_and(|text| match item {
                None => text == header(plan, index),
                Some(item) => text.contains(&format!("\"item\":{item},")),
            });
        if !whole {
            return number.checked_sub(1).map(|items| (items, end));
        }
        end += read as u64;
    }
    Some((plan.range(index).len(), end))
}

/// Runs a shard, from where an earlier run stopped.
pub(crate) fn run(
    plan: &Plan,
    study: &Study,
    folder: &Path,
    index: usize,
    quiet: bool,
) -> Result<(), Failure> {
    let _lock = Lock::of(folder, index)?;
    let path = Plan::shard(folder, index);
    let part = part(&path);
    let failed = Failure::file(&part);
    if path.exists() {
        match read(plan, folder, index, |_| Ok(())) {
            Ok(()) => {
                note(&format!("shard {index} was done before"));
                return Ok(());
            }
            Err(Failure::Refused(why)) => note(&format!("{why}: what is not whole is computed again")),
            Err(failure) => return Err(failure),
        }
        std::fs::rename(&path, &part).map_err(Failure::file(&path))?;
    }
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&part)
        .map_err(&failed)?;
    let begun = whole_lines(plan, index, file.try_clone().map_err(&failed)?);
    let (done, end) = begun.unwrap_or((0, 0));
    if lines_behind(&mut file, end).map_err(&failed)? {
        note(&format!("shard {index} is damaged after {done} observers: those behind are computed again"));
    }
    // Cuts off a line that an earlier process did not finish.
    file.set_len(end).map_err(&failed)?;
    file.seek(SeekFrom::Start(end)).map_err(&failed)?;
    let append = |file: &mut File, line: &str| -> Result<(), Failure> {
        file.write_all(sealed(line, &plan.hash).as_bytes()).and_then(|()| file.sync_data()).map_err(&failed)
    };
    if begun.is_none() {
        append(&mut file, &header(plan, index))?;
    }
    interrupt::finish_what_was_begun();
    let items: Vec<usize> = plan.range(index).skip(done).collect();
    let progress = Progress::new(items.len() as u64, "observers", quiet);
    let mut known = done;
    for chunk in items.chunks(rayon::current_num_threads()) {
        if interrupt::asked() {
            return Err(Failure::Interrupted(format!(
                "shard {index} stopped after {known} of {} observers: run it again to go on",
                plan.range(index).len()
            )));
        }
        for line in chunk.par_iter().map(|&item| study.line(item)).collect::<Vec<_>>() {
            append(&mut file, &line?)?;
            known += 1;
            progress.one();
        }
    }
    append(&mut file, &footer(plan, index))?;
    file.sync_all().map_err(&failed)?;
    std::fs::rename(&part, &path).map_err(Failure::file(&path))
}

/// Whether complete lines follow `end`, other than the footer. An incomplete line alone is no damage: a
/// process was killed while it wrote.
fn lines_behind(file: &mut File, end: u64) -> std::io::Result<bool> {
    file.seek(SeekFrom::Start(end))?;
    let mut rest = Vec::new();
    file.take(1 << 20).read_to_end(&mut rest)?;
    Ok(rest.contains(&b'\n') && !rest.starts_with(b"{\"end\":"))
}

/// The lock of a shard, held until this value is dropped.
struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    fn of(folder: &Path, index: usize) -> Result<Self, Failure> {
        let path = folder.join(format!("shard-{index:05}.lock"));
        loop {
            let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
            let file = file.map_err(Failure::file(&path))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(Failure::Refused(format!("shard {index} is being run by another process")));
                }
                // Some file systems have no locks; there the shard runs without one, and says so.
                Err(TryLockError::Error(_)) => {
                    let place = folder.display();
                    crate::output::complain(&format!(
                        "note: {place} cannot be locked: let no other process run shard {index} meanwhile"
                    ));
                    return Ok(Self { path, _file: file });
                }
            }
            // The previous holder may have deleted the lock file before we locked it. Then others would lock
            // a new file, so try again.
            if is_still(&file, &path) {
                return Ok(Self { path, _file: file });
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Whether a path still leads to an opened file.
fn is_still(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let number =
            |found: std::io::Result<std::fs::Metadata>| found.map(|found| (found.dev(), found.ino())).ok();
        number(file.metadata()).is_some_and(|opened| number(std::fs::metadata(path)) == Some(opened))
    }
    #[cfg(not(unix))]
    {
        let _ = (file, path);
        true
    }
}

/// Deletes a plan and its shards from a folder; refuses if the folder holds anything else.
pub(super) fn clear(folder: &Path) -> Result<(), Failure> {
    let refused = |why: String| Failure::Refused(format!("{} {why}", folder.display()));
    if !plan::is_there(folder) {
        return Err(refused("holds no plan and is not replaced".into()));
    }
    let mut shards = Vec::new();
    for entry in folder.read_dir().map_err(Failure::file(folder))? {
        let entry = entry.map_err(Failure::file(folder))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let of_shard = name.strip_prefix("shard-").and_then(|name| name.split_once('.'));
        match of_shard {
            Some((number, "jsonl" | "jsonl.part" | "lock")) if number.parse::<usize>().is_ok() => {
                shards.push((number.parse().unwrap_or(0), entry.path()));
            }
            // A killed process may leave such a file.
            None if name == "plan.json" || (name.starts_with(".ndp-") && name.ends_with(".part")) => {}
            _ => {
                return Err(refused(format!(
                    "holds {name}, which is no part of a plan, and is not replaced"
                )));
            }
        }
    }
    for (index, path) in shards {
        let _lock = Lock::of(folder, index)?;
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Failure::File(path, error));
            }
            _ => {}
        }
    }
    Ok(())
}
