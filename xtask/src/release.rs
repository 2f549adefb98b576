//! `cargo xtask release --dry-run`: the checklist of a release. It never publishes.

mod outside;
mod packages;

use crate::flags::Release;
use anyhow::{Context, ensure};
use packages::Package;
use std::fs;
use std::path::Path;
use xshell::{Shell, cmd};

/// What a step of the checklist found missing; empty if nothing.
pub(crate) type Missing = Vec<String>;

impl Release {
    /// Runs all steps even if some fail, so that one run shows everything that is missing.
    ///
    /// # Errors
    /// Without `--dry-run`, and if anything is missing.
    #[expect(clippy::print_stdout, reason = "this is the command line")]
    pub(crate) fn run(self, sh: &Shell) -> anyhow::Result<()> {
        ensure!(
            self.dry_run,
            "nothing is published by a command: `cargo xtask release --dry-run` says what is missing, and \
             `cargo publish --workspace` is for a person who has read it"
        );
        let root = crate::root();
        let packages = packages::all(sh)?;
        let version = packages.first().context("the workspace has no package")?.version.clone();
        println!("release {version}, dry run");
        let quick = self.quick;
        let mut missing = 0;
        let mut step = |name: &str, found: anyhow::Result<Missing>| {
            let found = found.unwrap_or_else(|error| vec![format!("{error:#}")]);
            println!("{} {name}", if found.is_empty() { "[x]" } else { "[ ]" });
            for line in &found {
                println!("      {line}");
            }
            missing += found.len();
        };
        step("the tree is clean", clean(sh));
        step("the changelog has the version and its day", changelog(&read(&root, "CHANGELOG.md")?, &version));
        step("all versions agree", versions(&root, &packages, &version));
        step("every package has licenses, a README and its metadata", packages::metadata(&root, &packages));
        step("dependencies: reasons, licenses, sources", dependencies(sh));
        step("every package packs", packages::pack(sh, &packages));
        if quick {
            println!(
                "[-] the figures at paper scale, a project outside, the documentation: left out by --quick"
            );
        } else {
            step("the figures at paper scale have the committed numbers", figures(sh));
            step("a project outside runs the README on the packages alone", outside::run(sh, &packages));
            step("the documentation builds without a warning", documentation(sh, &packages));
        }
        ensure!(missing == 0, "{missing} missing; nothing was published");
        println!("nothing is missing; nothing was published");
        Ok(())
    }
}

/// A file of the repository.
fn read(root: &Path, path: &str) -> anyhow::Result<String> {
    fs::read_to_string(root.join(path)).with_context(|| format!("cannot read {path}"))
}

fn clean(sh: &Shell) -> anyhow::Result<Missing> {
    let changed = cmd!(sh, "git status --porcelain").quiet().read()?;
    Ok(changed.lines().map(|line| format!("not committed: {}", line.trim())).collect())
}

/// The section of the version must have a day: `## 0.2.0 (2026-12-01)`.
fn changelog(text: &str, version: &str) -> anyhow::Result<Missing> {
    let start = format!("## {version} (");
    let Some(heading) = text.lines().find(|line| line.starts_with(&start)) else {
        return Ok(vec![format!("CHANGELOG.md has no section `{start}...)`")]);
    };
    let day = heading[start.len()..].trim_end_matches(')');
    let shape: String = day.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    Ok(if shape == "0000-00-00" {
        Vec::new()
    } else {
        vec![format!("CHANGELOG.md: the day of {version} is still `{day}`")]
    })
}

/// All versions must agree: those of the packages, those that they require of each other, that of the Python
/// package and that of the citation.
fn versions(root: &Path, packages: &[Package], version: &str) -> anyhow::Result<Missing> {
    let mut missing = Missing::new();
    for package in packages {
        if package.version != version {
            missing.push(format!("{} has version {}", package.name, package.version));
        }
        for (name, required) in &package.siblings {
            if required != &format!("^{version}") {
                missing.push(format!("{} asks for {name} {required}", package.name));
            }
        }
    }
    for (path, line) in [
        ("python/Cargo.toml", format!("version = \"{version}\"")),
        ("CITATION.cff", format!("version: {version}")),
    ] {
        if !read(root, path)?.lines().any(|other| other == line) {
            missing.push(format!("{path} has no line `{line}`"));
        }
    }
    if !read(root, "docs/project/cite.md")?.contains(&format!("ndp {version}")) {
        missing.push(format!("docs/project/cite.md does not name version {version}"));
    }
    Ok(missing)
}

/// Checks that each dependency has a stated reason and an allowed license; cargo-deny, if installed, checks
/// sources, duplicates and advisories.
fn dependencies(sh: &Shell) -> anyhow::Result<Missing> {
    let mut missing = crate::tidy::dependencies::problems(&crate::tidy::tracked(sh)?);
    missing.extend(crate::tidy::dependencies::licenses(sh)?);
    if cmd!(sh, "cargo deny --version").quiet().ignore_stdout().ignore_stderr().run().is_err() {
        missing.push(
            "not checked: sources, duplicates and advisories, because cargo-deny is not installed".into(),
        );
        return Ok(missing);
    }
    // cargo-deny fetches the database of advisories. If it cannot, the step fails.
    for checks in [["licenses", "bans", "sources"].as_slice(), &["advisories"]] {
        let checked =
            cmd!(sh, "cargo deny --log-level error check {checks...}").quiet().ignore_status().output()?;
        if !checked.status.success() {
            let said = String::from_utf8_lossy(&checked.stderr).trim().to_owned();
            missing.push(format!("cargo deny check {}: {said}", checks.join(" ")));
        }
    }
    Ok(missing)
}

/// All figures as the papers have them. The merge gate compares small ones.
fn figures(sh: &Shell) -> anyhow::Result<Missing> {
    crate::Arguments::new(&crate::root(), None).figure(Some("all".into())).run(sh)?;
    Ok(Missing::new())
}

fn documentation(sh: &Shell, packages: &[Package]) -> anyhow::Result<Missing> {
    let names: Vec<String> =
        packages.iter().flat_map(|package| ["-p".into(), package.name.clone()]).collect();
    let _flags = sh.push_env("RUSTDOCFLAGS", "-D warnings");
    let made =
        cmd!(sh, "cargo doc --release --quiet --no-deps {names...}").quiet().ignore_status().output()?;
    Ok(match made.status.success() {
        true => Vec::new(),
        false => vec![String::from_utf8_lossy(&made.stderr).trim().to_owned()],
    })
}

#[cfg(test)]
mod tests {
    use super::changelog;

    #[test]
    fn a_version_without_a_day_is_missing() -> anyhow::Result<()> {
        let text = "# Changelog\n\n## 0.2.0 (unreleased)\n\n## 0.1.0 (2025-01-31)\n";
        assert_eq!(changelog(text, "0.1.0")?, Vec::<String>::new());
        assert_eq!(changelog(text, "0.2.0")?, ["CHANGELOG.md: the day of 0.2.0 is still `unreleased`"]);
        assert_eq!(changelog(text, "0.3.0")?, ["CHANGELOG.md has no section `## 0.3.0 (...)`"]);
        Ok(())
    }
}
