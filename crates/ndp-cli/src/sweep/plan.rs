//! A plan: which items belong to which shard.

use super::Study;
use crate::args::{Arguments, Command, Sweep};
use crate::errors::Failure;
use crate::output::write;
use crate::study;
use clap::Parser;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What every shard needs to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    /// Version of the format.
    #[serde(rename = "ndp-plan")]
    pub(crate) format: u32,
    /// Version of the program.
    pub(crate) ndp: String,
    /// Of everything that the lines depend on.
    pub(crate) hash: String,
    /// The sweep, as a command line with full paths.
    pub(crate) arguments: Vec<String>,
    /// How many items there are.
    pub(crate) items: usize,
    /// The first item of every shard; each ends where the next begins.
    pub(crate) starts: Vec<usize>,
}

const FORMAT: u32 = 1;

impl Plan {
    /// Splits the items into shards of about the same cost.
    fn of(study: &Study, arguments: Vec<String>, shards: usize) -> Self {
        let items = study.items();
        let mut costs = Vec::with_capacity(items);
        let mut total = 0_u64;
        for item in 0..items {
            costs.push(total);
            total += study.cost(item);
        }
        let start = |shard: usize| {
            // Shards are at most 10^5: no overflow in 128 bits.
            let begin = u128::from(total) * shard as u128 / shards as u128;
            costs.partition_point(|&cost| u128::from(cost) < begin)
        };
        let starts = (0..shards).map(start).collect();
        let ndp = env!("CARGO_PKG_VERSION").to_owned();
        Self { format: FORMAT, ndp, hash: study.hash.clone(), arguments, items, starts }
    }

    /// The items of a shard.
    pub(crate) fn range(&self, index: usize) -> std::ops::Range<usize> {
        self.starts[index]..self.starts.get(index + 1).copied().unwrap_or(self.items)
    }

    /// Where a plan lies within its folder.
    fn path(folder: &Path) -> PathBuf {
        folder.join("plan.json")
    }

    /// Where the result of a shard lies.
    pub(crate) fn shard(folder: &Path, index: usize) -> PathBuf {
        folder.join(format!("shard-{index:05}.jsonl"))
    }

    /// Reads the plan of a folder.
    pub(crate) fn read(folder: &Path) -> Result<Self, Failure> {
        let path = Self::path(folder);
        let bytes = std::fs::read(&path).map_err(Failure::file(&path))?;
        let refused = |why: String| Failure::Refused(format!("{}: {why}", path.display()));
        let plan: Self =
            serde_json::from_slice(&bytes).map_err(|error| refused(format!("is no plan: {error}")))?;
        if plan.format != FORMAT || plan.ndp != env!("CARGO_PKG_VERSION") {
            return Err(refused(format!(
                "was made by ndp {} in format {}, this is ndp {} with format {FORMAT}",
                plan.ndp,
                plan.format,
                env!("CARGO_PKG_VERSION")
            )));
        }
        let ascending = plan.starts.is_sorted() && plan.starts.first() == Some(&0);
        if !ascending || plan.starts.last().is_none_or(|&last| last > plan.items) {
            return Err(refused("has gaps or overlaps between its shards".into()));
        }
        Ok(plan)
    }

    /// The sweep of a plan, checked to be the one that was planned.
    pub(crate) fn study(&self) -> Result<Study, Failure> {
        let study = Study::new(&sweep(&self.arguments)?)?;
        if study.hash != self.hash || study.items() != self.items {
            return Err(Failure::Refused(
                "the graph or the options are not those of the plan any more: plan again".into(),
            ));
        }
        Ok(study)
    }
}

/// The sweep of a command line.
fn sweep(words: &[String]) -> Result<Sweep, Failure> {
    let arguments =
        Arguments::try_parse_from(std::iter::once("ndp").chain(words.iter().map(String::as_str)))?;
    match arguments.command {
        Command::Sweep(sweep) => Ok(*sweep),
        _ => Err(Failure::Refused("a study in shards says command = \"sweep\"".into())),
    }
}

/// Makes the plan of a study in a folder.
pub(crate) fn make(path: &Path, shards: usize, into: &Path, replace: bool) -> Result<(Plan, Study), Failure> {
    let mut words = study::arguments(path)?;
    let asked = sweep(&words)?;
    if asked.into.is_some() || asked.pictures.any() {
        return Err(Failure::Refused(format!(
            "{}: where the result goes is said to `ndp shard merge`, not in the study",
            path.display()
        )));
    }
    // The only argument without a name is the graph.
    if let Some(file) = words.last_mut() {
        *file = asked.graph.full_path()?.display().to_string();
    }
    let study = Study::new(&asked)?;
    let plan = Plan::of(&study, words, shards);
    let there = into.is_dir() && into.read_dir().map_err(Failure::file(into))?.next().is_some();
    if there && Plan::read(into).ok().as_ref() != Some(&plan) {
        if !replace {
            return Err(Failure::Refused(format!(
                "{} holds something else: add --replace to replace it as a whole",
                into.display()
            )));
        }
        // Only what is a plan is taken away.
        if !Plan::path(into).is_file() {
            return Err(Failure::Refused(format!("{} holds no plan and is not replaced", into.display())));
        }
        std::fs::remove_dir_all(into).map_err(Failure::file(into))?;
    }
    let text = serde_json::to_string_pretty(&plan).map_err(|error| Failure::Refused(error.to_string()))?;
    write(&Plan::path(into), format!("{text}\n").as_bytes())?;
    Ok((plan, study))
}
