//! Compiles all mutants in one build, without those that do not compile.

use super::candidates::Mutant;
use super::rewrite::Region;
use super::{examples, tree};
use anyhow::{Context, ensure};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use xshell::Shell;

/// A test program.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) crate_name: String,
    /// `lib`, or the kind and name of the target.
    pub(super) target: String,
    pub(super) path: PathBuf,
}

/// Runs cargo in the copy; returns whether it succeeded, and its JSON messages.
fn cargo(arguments: &[String]) -> anyhow::Result<(bool, Vec<Value>)> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(program)
        .args(arguments)
        .args(["--release", "--offline", "--message-format=json"])
        .current_dir(tree::copy())
        .env("CARGO_TARGET_DIR", tree::folder().join("build"))
        .env_remove("RUSTFLAGS")
        .stderr(Stdio::null())
        .output()
        .context("cannot run cargo")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    Ok((output.status.success(), messages))
}

fn packages(crates: &BTreeSet<String>) -> impl Iterator<Item = String> + '_ {
    crates.iter().flat_map(|name| ["--package".to_owned(), name.clone()])
}

/// Writes the copy with the mutants and checks it. Mutants that do not compile are removed from `mutants` and
/// returned.
pub(super) fn compiling(sh: &Shell, mutants: &mut Vec<Mutant>) -> anyhow::Result<Vec<Mutant>> {
    let crates: BTreeSet<String> = mutants.iter().map(|it| it.entry.crate_name().to_owned()).collect();
    let arguments: Vec<String> = ["check", "--keep-going", "--quiet"]
        .map(str::to_owned)
        .into_iter()
        .chain(packages(&crates))
        .collect();
    let mut dropped = Vec::new();
    loop {
        let regions = tree::write(sh, mutants)?;
        let (success, messages) = cargo(&arguments)?;
        if success {
            return Ok(dropped);
        }
        let errors: Vec<&Value> = messages.iter().filter(|it| it["message"]["level"] == "error").collect();
        let offenders: BTreeSet<u32> =
            errors.iter().flat_map(|it| offenders(&it["message"], &regions)).collect();
        if offenders.is_empty() {
            let texts: Vec<&str> =
                errors.iter().filter_map(|it| it["message"]["rendered"].as_str()).collect();
            anyhow::bail!("the copy does not compile, and no mutant is to blame:\n{}", texts.join("\n"));
        }
        let (bad, good) =
            std::mem::take(mutants).into_iter().partition(|it| offenders.contains(&it.entry.id()));
        *mutants = good;
        dropped.extend::<Vec<Mutant>>(bad);
    }
}

/// The mutants that a compiler error is about: those whose mutated code the error points into, else the
/// innermost switch around the place.
fn offenders(message: &Value, regions: &BTreeMap<String, Vec<Region>>) -> Vec<u32> {
    let mut inside = Vec::new();
    let mut around: Option<(usize, u32)> = None;
    for span in message["spans"].as_array().into_iter().flatten() {
        let mut span = span;
        // An error in the expansion of a macro counts as one at the macro call.
        while span["expansion"]["span"].is_object()
            && !regions.contains_key(span["file_name"].as_str().unwrap_or(""))
        {
            span = &span["expansion"]["span"];
        }
        let (Some(places), Some(start), Some(end)) = (
            span["file_name"].as_str().and_then(|name| regions.get(name)),
            span["byte_start"].as_u64(),
            span["byte_end"].as_u64(),
        ) else {
            continue;
        };
        let (start, end) = (start as usize, end as usize);
        for region in places {
            if region.mutated.start <= start && end <= region.mutated.end {
                inside.push(region.id);
            } else if region.whole.start <= start && end <= region.whole.end {
                let size = region.whole.len();
                if around.is_none_or(|(smallest, _)| size < smallest) {
                    around = Some((size, region.id));
                }
            } else if start <= region.whole.start && region.whole.end <= end {
                // As a last resort, take the largest switch within the place of the error.
                let size = usize::MAX - region.whole.len();
                if around.is_none_or(|(smallest, _)| size < smallest) {
                    around = Some((size, region.id));
                }
            }
        }
    }
    if inside.is_empty() { around.into_iter().map(|(_, id)| id).collect() } else { inside }
}

/// Writes those documentation examples of a crate that compile as one test program.
fn write_examples(crate_name: &str) -> anyhow::Result<()> {
    let mut left = examples::of_crate(&crate::root(), crate_name)?;
    let file = format!("crates/{crate_name}/tests/{}.rs", examples::NAME);
    let arguments =
        ["check", "--quiet", "--package", crate_name, "--test", examples::NAME].map(str::to_owned);
    while !left.is_empty() {
        let (text, places) = examples::program(&left);
        tree::write_if_changed(&tree::copy().join(&file), text.as_bytes())?;
        let (success, messages) = cargo(&arguments)?;
        if success {
            return Ok(());
        }
        let errors = messages.iter().filter(|it| it["message"]["level"] == "error");
        let spans = errors.flat_map(|it| it["message"]["spans"].as_array().into_iter().flatten());
        let here = spans.filter(|it| it["file_name"] == file.as_str());
        let errors: Vec<usize> = here.filter_map(|it| Some(it["byte_start"].as_u64()? as usize)).collect();
        let before = left.len();
        left = examples::without(left, &places, &errors);
        if left.len() == before {
            break;
        }
    }
    // No set of examples compiled: test the crate without its examples.
    let _ = std::fs::remove_file(tree::copy().join(&file));
    Ok(())
}

/// Builds the test programs of crates.
pub(super) fn tests(crates: &BTreeSet<String>) -> anyhow::Result<Vec<Program>> {
    for name in crates {
        write_examples(name)?;
    }
    let arguments: Vec<String> = ["test", "--no-run", "--tests", "--quiet"]
        .map(str::to_owned)
        .into_iter()
        .chain(packages(crates))
        .collect();
    let (success, messages) = cargo(&arguments)?;
    let errors = messages.iter().filter(|it| it["message"]["level"] == "error");
    let errors: Vec<&str> = errors.filter_map(|it| it["message"]["rendered"].as_str()).collect();
    ensure!(success, "the tests do not compile:\n{}", errors.join("\n"));
    let mut programs = Vec::new();
    for message in &messages {
        if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true {
            continue;
        }
        let Some(path) = message["executable"].as_str() else { continue };
        let manifest = message["manifest_path"].as_str().unwrap_or_default();
        let crate_name = manifest.rsplit('/').nth(1).unwrap_or_default().to_owned();
        let kind = message["target"]["kind"][0].as_str().unwrap_or_default();
        let name = message["target"]["name"].as_str().unwrap_or_default();
        let target = if kind == "lib" { "lib".to_owned() } else { format!("{kind} {name}") };
        programs.push(Program { crate_name, target, path: path.into() });
    }
    programs.sort_by(|a, b| (&a.crate_name, &a.target).cmp(&(&b.crate_name, &b.target)));
    Ok(programs)
}

/// Builds the soundness search and the command that it calls; returns the path of the search.
pub(super) fn search() -> anyhow::Result<PathBuf> {
    let arguments = ["build", "--quiet", "--package", "ndp-soundness", "--package", "ndp-cli"];
    let (success, _) = cargo(&arguments.map(str::to_owned))?;
    ensure!(success, "the search does not compile");
    Ok(tree::folder().join("build/release/ndp-soundness"))
}
