//! A plan: which items belong to which shard.

use super::{BUILD, Study, files};
use crate::args::{Command, Sweep};
use crate::errors::Failure;
use crate::output::{hex, write};
use crate::{paths, study};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// What every shard needs to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    /// Version of the format.
    #[serde(rename = "ndp-plan")]
    pub(crate) format: u32,
    /// The version of the program.
    pub(crate) ndp: String,
    /// The hash of its build.
    pub(crate) build: String,
    /// A hash of everything that the lines depend on.
    pub(crate) hash: String,
    graph: GraphFile,
    /// The sweep, as a command line without its graph.
    arguments: Vec<String>,
    /// How many items there are.
    pub(crate) items: usize,
    /// The first item of every shard; each ends where the next begins.
    pub(crate) starts: Vec<usize>,
}

/// The file of the graph. Its path is relative, so that a plan can be moved together with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GraphFile {
    /// The path, relative to the folder of the plan.
    path: String,
    sha256: String,
}

const FORMAT: u32 = 2;

/// The keys that a plan has in every version of the format.
#[derive(Deserialize)]
struct Origin {
    #[serde(rename = "ndp-plan")]
    format: u32,
    ndp: String,
    #[serde(default)]
    build: String,
}

impl Plan {
    /// The items of a shard.
    pub(crate) fn range(&self, index: usize) -> std::ops::Range<usize> {
        self.starts[index]..self.starts.get(index + 1).copied().unwrap_or(self.items)
    }

    /// The path of the plan in its folder.
    pub(crate) fn path(folder: &Path) -> PathBuf {
        folder.join("plan.json")
    }

    /// The path of a finished shard.
    pub(crate) fn shard(folder: &Path, index: usize) -> PathBuf {
        folder.join(format!("shard-{index:05}.jsonl"))
    }

    /// Reads the plan of a folder.
    pub(crate) fn read(folder: &Path) -> Result<Self, Failure> {
        let path = Self::path(folder);
        let bytes = std::fs::read(&path).map_err(Failure::file(&path))?;
        let refused = |why: String| Failure::Refused(format!("{}: {why}", path.display()));
        let no_plan = |error: serde_json::Error| refused(format!("is no plan: {error}"));
        let origin: Origin = serde_json::from_slice(&bytes).map_err(no_plan)?;
        let version = env!("CARGO_PKG_VERSION");
        if origin.format != FORMAT || origin.ndp != version {
            return Err(refused(format!(
                "was made by ndp {} in format {}, this is ndp {version} with format {FORMAT}",
                origin.ndp, origin.format
            )));
        }
        if origin.build != BUILD {
            return Err(refused(format!(
                "was made by build {} of ndp {version}, this is build {BUILD}: plan again, or use the program that planned",
                origin.build
            )));
        }
        let plan: Self = serde_json::from_slice(&bytes).map_err(no_plan)?;
        let ascending = plan.starts.is_sorted() && plan.starts.first() == Some(&0);
        if !ascending || plan.starts.last().is_none_or(|&last| last > plan.items) {
            return Err(refused("has gaps or overlaps between its shards".into()));
        }
        Ok(plan)
    }

    /// The path of the plan's graph.
    pub(crate) fn graph(&self, folder: &Path) -> PathBuf {
        folder.join(&self.graph.path)
    }

    /// The sweep of a plan; fails if it is not the one that was planned.
    pub(crate) fn study(&self, folder: &Path) -> Result<Study, Failure> {
        let graph = self.graph(folder);
        if !graph.exists() {
            return Err(Failure::Refused(format!(
                "{} is not there: a plan is moved together with its graph, or made again",
                graph.display()
            )));
        }
        if content(&graph)? != self.graph.sha256 {
            return Err(Failure::Refused(format!(
                "{} is another graph than that of the plan by now: plan again",
                graph.display()
            )));
        }
        let study = Study::new(&sweep(self.arguments.iter().map(OsString::from), graph)?)?;
        if study.hash != self.hash || study.items() != self.items {
            return Err(Failure::Refused(
                "the options are not those of the plan any more: plan again".into(),
            ));
        }
        Ok(study)
    }
}

/// The first item of every shard, chosen so that all shards cost about the same.
fn starts(study: &Study, shards: usize) -> Vec<usize> {
    let mut total = 0_u128;
    let before: Vec<u128> = study
        .costs()
        .map(|cost| {
            total += u128::from(cost);
            total - u128::from(cost)
        })
        .collect();
    // There are at most 10^5 shards and 2^40 items, and a cost has 64 bits. So the product fits into 128
    // bits.
    (0..shards as u128)
        .map(|shard| before.partition_point(|&cost| cost < total * shard / shards as u128))
        .collect()
}

/// The hash of a file's bytes.
fn content(path: &Path) -> Result<String, Failure> {
    let bytes = std::fs::read(path).map_err(Failure::file(path))?;
    Ok(hex(&Sha256::digest(&bytes)))
}

/// The sweep of a command line and its graph.
fn sweep(words: impl Iterator<Item = OsString>, graph: PathBuf) -> Result<Sweep, Failure> {
    let words = words.chain([OsString::from("--"), graph.into()]);
    match paths::parsed(words)?.0.command {
        Command::Sweep(sweep) => Ok(*sweep),
        _ => Err(Failure::Refused("a study in shards says command = \"sweep\"".into())),
    }
}

/// Makes the plan of a study in a folder.
pub(crate) fn make(path: &Path, shards: usize, into: &Path, replace: bool) -> Result<(Plan, Study), Failure> {
    let refused = |why: &str| Failure::Refused(format!("{}: {why}", path.display()));
    let mut words = study::arguments(path)?;
    // The only argument without a name is the graph: it comes last, behind `--`.
    let graph = words.iter().position(|word| word == "--").map(|at| words.split_off(at));
    let Some([_, graph]) = graph.as_deref() else {
        return Err(refused("a sweep has one graph: file = \"friends.txt\""));
    };
    let asked = sweep(words.iter().cloned(), graph.into())?;
    if asked.into.is_some() || asked.pictures.any() {
        return Err(refused("where the result goes is said to `ndp shard merge`, not in the study"));
    }
    let graph = &asked.graph.file;
    if !graph.metadata().map_err(Failure::file(graph))?.is_file() {
        return Err(Failure::Usage("a sweep in many processes needs its graph in a file".into()));
    }
    let sha256 = content(graph)?;
    let study = Study::new(&asked)?;
    std::fs::create_dir_all(into).map_err(Failure::file(into))?;
    let plan = Plan {
        format: FORMAT,
        ndp: env!("CARGO_PKG_VERSION").to_owned(),
        build: BUILD.to_owned(),
        hash: study.hash.clone(),
        graph: GraphFile { path: text(relative(&full(into)?, &full(graph)?).as_os_str())?, sha256 },
        arguments: words.iter().map(|word| text(word)).collect::<Result<_, _>>()?,
        items: study.items(),
        starts: starts(&study, shards),
    };
    let there = into.read_dir().map_err(Failure::file(into))?.next().is_some();
    if there && Plan::read(into).ok().as_ref() != Some(&plan) {
        if !replace {
            return Err(Failure::Refused(format!(
                "{} holds something else: add --replace to put this plan in the place of another",
                into.display()
            )));
        }
        files::clear(into)?;
    }
    let text = serde_json::to_string_pretty(&plan).map_err(|error| Failure::Refused(error.to_string()))?;
    write(&Plan::path(into), format!("{text}\n").as_bytes())?;
    Ok((plan, study))
}

/// The text of a word; a plan cannot hold words that are not UTF-8.
fn text(word: &std::ffi::OsStr) -> Result<String, Failure> {
    word.to_str().map(str::to_owned).ok_or_else(|| {
        let word = word.to_string_lossy();
        Failure::Refused(format!(
            "{word} is no UTF-8, and cannot be written into a plan: give the file another name"
        ))
    })
}

fn full(path: &Path) -> Result<PathBuf, Failure> {
    path.canonicalize().map_err(Failure::file(path))
}

/// The path of `path` as seen from `folder`; both must be absolute.
fn relative(folder: &Path, path: &Path) -> PathBuf {
    let common = folder.components().zip(path.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(common).map(|_| Component::ParentDir);
    up.chain(path.components().skip(common)).collect()
}

/// Whether the folder holds a plan, in any version of the format.
pub(super) fn is_there(folder: &Path) -> bool {
    let bytes = std::fs::read(Plan::path(folder)).unwrap_or_default();
    serde_json::from_slice::<Origin>(&bytes).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_seen_from_the_plan() {
        let seen = |folder: &str, path: &str| relative(Path::new(folder), Path::new(path));
        assert_eq!(seen("/a/parts", "/a/graph"), Path::new("../graph"));
        assert_eq!(seen("/a/parts", "/a/parts/graph"), Path::new("graph"));
        assert_eq!(seen("/a/b/c", "/x/graph"), Path::new("../../../x/graph"));
    }
}
