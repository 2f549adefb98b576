//! A copy of the workspace with switches in it, under `target/mutants/src`.
//!
//! Only files that differ are written, so that cargo builds only what has changed.

use super::candidates::Mutant;
use super::rewrite::{Region, rewrite};
use anyhow::Context;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use xshell::{Shell, cmd};

/// The folder of everything that a run keeps.
pub(super) fn folder() -> PathBuf {
    crate::root().join("target/mutants")
}

/// The copy.
pub(super) fn copy() -> PathBuf {
    folder().join("src")
}

/// Writes the copy; returns the places of the switches by file.
pub(super) fn write(sh: &Shell, mutants: &[Mutant]) -> anyhow::Result<BTreeMap<String, Vec<Region>>> {
    let root = crate::root();
    let copy = copy();
    let listed = cmd!(sh, "git ls-files --cached --others --exclude-standard").quiet().read()?;
    let mut by_file: BTreeMap<&str, Vec<Mutant>> = BTreeMap::new();
    for mutant in mutants {
        by_file.entry(&mutant.entry.file).or_default().push(mutant.clone());
    }
    let crates: BTreeSet<&str> = mutants.iter().map(|it| it.entry.crate_name()).collect();
    let mut regions = BTreeMap::new();
    let mut kept = BTreeSet::from(["ndp-mutant/Cargo.toml".to_owned(), "ndp-mutant/src/lib.rs".to_owned()]);
    for path in listed.lines() {
        let Ok(bytes) = fs::read(root.join(path)) else { continue };
        let bytes = match path {
            "Cargo.toml" => {
                text(bytes)?.replacen("members = [", "members = [\"ndp-mutant\", ", 1).into_bytes()
            }
            _ if by_file.contains_key(path) => {
                let (text, places) = rewrite(&text(bytes)?, &by_file[path]);
                regions.insert(path.to_owned(), places);
                text.into_bytes()
            }
            _ => match path.strip_prefix("crates/").and_then(|rest| rest.strip_suffix("/Cargo.toml")) {
                Some(name) if crates.contains(name) => {
                    let line = "[dependencies]\nndp-mutant = { path = \"../../ndp-mutant\" }";
                    text(bytes)?.replacen("[dependencies]", line, 1).into_bytes()
                }
                _ => bytes,
            },
        };
        kept.insert(path.to_owned());
        write_if_changed(&copy.join(path), &bytes)?;
    }
    write_if_changed(&copy.join("ndp-mutant/Cargo.toml"), MANIFEST.as_bytes())?;
    write_if_changed(&copy.join("ndp-mutant/src/lib.rs"), include_bytes!("switch.rs"))?;
    remove_others(&copy, &copy, &kept)?;
    Ok(regions)
}

const MANIFEST: &str =
    "[package]\nname = \"ndp-mutant\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n";

fn text(bytes: Vec<u8>) -> anyhow::Result<String> {
    String::from_utf8(bytes).context("a source is not text")
}

/// Writes a file, if it differs from what is there.
pub(super) fn write_if_changed(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    if fs::read(path).ok().as_deref() != Some(bytes) {
        fs::create_dir_all(path.parent().unwrap_or(path))?;
        fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Removes files that the workspace no longer has, so that no test finds them.
fn remove_others(folder: &Path, copy: &Path, kept: &BTreeSet<String>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            remove_others(&path, copy, kept)?;
        } else if let Some(name) = path.strip_prefix(copy).ok().and_then(Path::to_str)
            && !kept.contains(name)
            && !name.ends_with(&format!("tests/{}.rs", super::examples::NAME))
        {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}
