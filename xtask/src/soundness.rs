//! `cargo xtask soundness`: search for guarantees below the truth, here or at an older commit.

use crate::flags::Soundness;
use anyhow::{Context, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use xshell::{Shell, cmd};

impl Soundness {
    pub(crate) fn run(self, sh: &Shell, here: &Path) -> anyhow::Result<()> {
        let mut list = Vec::new();
        let mut add = |name: &str, value: Option<String>| {
            list.extend(value.map(|value| [format!("--{name}"), value]).into_iter().flatten());
        };
        add("minutes", self.minutes.map(|x| x.to_string()));
        add("cases", self.cases.map(|x| x.to_string()));
        add("seed", self.seed.map(|x| x.to_string()));
        let asks_the_command = self.part.as_deref().is_none_or(|part| part == "statements");
        add("part", self.part);
        add("replay", self.replay.map(|x| x.to_string()));
        add("shards", self.shards.map(|x| x.to_string()));
        add("shard", crate::shard::index(self.shards, self.shard)?.map(|x| x.to_string()));
        let seen_from_here = |path: PathBuf| here.join(path).display().to_string();
        add("into", self.into.map(seen_from_here));
        add("merge", self.merge.map(seen_from_here));
        for (name, given) in [("short", self.short), ("list", self.list)] {
            list.extend(given.then(|| format!("--{name}")));
        }
        // The part that calls the command `ndp` expects its binary next to the search.
        let command = !self.list && list.iter().all(|word| word != "--merge") && asks_the_command;
        let older_commit = self.commit.is_some();
        if let Some(commit) = &self.commit {
            let tree = older(sh, commit)?;
            // Use a separate target folder. Cargo tells packages apart by their path within the workspace, so
            // in a shared folder it would take the libraries of one commit for those of the other.
            sh.set_var("CARGO_TARGET_DIR", tree.join("target"));
            sh.change_dir(tree);
            // At an older commit the search is expected to find violations.
            list.push("--expect-violations".to_owned());
        }
        let one_build = !older_commit && std::env::var_os("NDP_ONE_BUILD").is_some();
        if command && !one_build && sh.path_exists("crates/ndp-cli") {
            cmd!(sh, "cargo build --release --quiet --package ndp-cli").quiet().run()?;
        }
        if older_commit {
            cmd!(sh, "cargo run --release --quiet --package ndp-soundness -- {list...}").quiet().run()?;
            return Ok(());
        }
        crate::run_program(sh, "ndp-soundness", &list)
    }
}

/// Commits that are known to give guarantees below the truth, each with the commit of the search written for
/// it: when libraries change their interface, the search changes with them.
const OLDER: &[(&str, &str)] = &[("9bf2a5d", "b951e3a"), ("cd47265", "0662ed4")];

/// Checks out an older commit under `target`, with its search in it.
fn older(sh: &Shell, commit: &str) -> anyhow::Result<PathBuf> {
    let known: Vec<&str> = OLDER.iter().map(|(commit, _)| *commit).collect();
    let search = OLDER.iter().find(|(known, _)| *known == commit).map(|(_, search)| *search);
    let search =
        search.with_context(|| format!("no search is known for {commit}, only for {}", known.join(", ")))?;
    let tree = sh.current_dir().join("target/soundness").join(commit);
    if !tree.exists() {
        cmd!(sh, "git worktree prune").quiet().run()?;
        cmd!(sh, "git worktree add --detach {tree} {commit}").quiet().run()?;
    }
    cmd!(sh, "git -C {tree} checkout --quiet --force {commit}").quiet().run()?;
    cmd!(sh, "git -C {tree} checkout --quiet {search} -- soundness").quiet().run()?;
    // A search written for another interface of the libraries brings adapters for this one.
    let adapters = tree.join("soundness/adapters").join(commit);
    if adapters.exists() {
        copy(&adapters, &tree.join("soundness/src"))?;
    }
    let manifest = tree.join("Cargo.toml");
    let text = fs::read_to_string(&manifest)?;
    if !text.contains("\"soundness\"") {
        ensure!(text.contains("\"benches\", "), "the members of the workspace at {commit} are not known");
        fs::write(&manifest, text.replacen("\"benches\", ", "\"benches\", \"soundness\", ", 1))?;
    }
    Ok(tree)
}

/// Copies a folder; files that exist are replaced.
fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        let there = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &there)?;
        } else {
            fs::copy(entry.path(), &there)?;
        }
    }
    Ok(())
}
