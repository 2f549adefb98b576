//! A project outside the workspace that uses only the packed packages.

use super::Missing;
use super::packages::{Package, archive};
use anyhow::Context;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use xshell::{Shell, cmd};

/// Unpacks all packages into a new folder, and builds and runs the Rust example of the README there.
pub(crate) fn run(sh: &Shell, packages: &[Package]) -> anyhow::Result<Missing> {
    let folder = sh.create_temp_dir()?;
    let place = folder.path();
    let mut manifest = String::from(
        "[package]\nname = \"outside\"\nversion = \"1.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\nndp = \"VERSION\"\n\n[patch.crates-io]\n",
    );
    for package in needed(packages, "ndp") {
        let file = archive(sh, package);
        cmd!(sh, "tar --extract --gzip --file {file} --directory {place}").quiet().run()?;
        let Package { name, version, .. } = package;
        writeln!(manifest, "{name} = {{ path = \"{name}-{version}\" }}")?;
    }
    let version = packages.first().map_or("", |package| &package.version);
    fs::write(place.join("Cargo.toml"), manifest.replace("VERSION", version))?;
    fs::create_dir(place.join("src"))?;
    let readme = fs::read_to_string(crate::root().join("README.md"))?;
    fs::write(place.join("src/main.rs"), example(&readme).context("the README has no Rust example")?)?;
    // Use the versions of other crates that are tested here; cargo drops the unneeded ones.
    fs::copy(crate::root().join("Cargo.lock"), place.join("Cargo.lock"))?;
    let target = crate::root().join("target/outside");
    let _there = sh.push_dir(place);
    let _target = sh.push_env("CARGO_TARGET_DIR", &target);
    let ran = cmd!(sh, "cargo run --quiet --release").quiet().ignore_status().output()?;
    Ok(match ran.status.success() {
        true => Vec::new(),
        false => vec![String::from_utf8_lossy(&ran.stderr).trim().to_owned()],
    })
}

/// A package and its dependencies in the workspace, dependencies first.
fn needed<'a>(packages: &'a [Package], name: &str) -> Vec<&'a Package> {
    let mut names = BTreeSet::from([name]);
    for package in packages.iter().rev() {
        if names.contains(&*package.name) {
            names.extend(package.siblings.iter().map(|(sibling, _)| &**sibling));
        }
    }
    packages.iter().filter(|package| names.contains(&*package.name)).collect()
}

/// The first block of Rust code.
fn example(readme: &str) -> Option<&str> {
    let (_, rest) = readme.split_once("\n```rust\n")?;
    Some(rest.split_once("\n```")?.0)
}

#[cfg(test)]
mod tests {
    use super::example;

    #[test]
    fn the_first_block_of_rust_is_taken() {
        let readme = "a\n```sh\nls\n```\n```rust\nfn main() {\n}\n```\n```rust\nfn other() {}\n```\n";
        assert_eq!(example(readme), Some("fn main() {\n}"));
        assert_eq!(example("```sh\nls\n```\n"), None);
    }
}
