//! The packages to be published: their metadata, and whether cargo can pack them.

use super::Missing;
use anyhow::Context;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use xshell::{Shell, cmd};

/// A package that may be published.
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    /// The folder of its manifest.
    pub(crate) folder: PathBuf,
    /// Other packages of the workspace that it needs, with the version that it asks for.
    pub(crate) siblings: Vec<(String, String)>,
    manifest: Value,
}

impl Package {
    fn of(manifest: &Value) -> anyhow::Result<Self> {
        let text = |value: &Value, key: &str| {
            value[key].as_str().map(str::to_owned).with_context(|| format!("cargo metadata names no {key}"))
        };
        let folder = PathBuf::from(text(manifest, "manifest_path")?);
        let mut siblings = Vec::new();
        for other in manifest["dependencies"].as_array().into_iter().flatten() {
            if other["path"].is_string() && other["kind"].is_null() {
                siblings.push((text(other, "name")?, text(other, "req")?));
            }
        }
        Ok(Self {
            name: text(manifest, "name")?,
            version: text(manifest, "version")?,
            folder: folder.parent().context("a manifest lies in a folder")?.to_owned(),
            siblings,
            manifest: manifest.clone(),
        })
    }
}

/// All packages that may be published, each after those that it needs.
pub(crate) fn all(sh: &Shell) -> anyhow::Result<Vec<Package>> {
    let text = cmd!(sh, "cargo metadata --format-version 1 --no-deps").quiet().read()?;
    let value: Value = serde_json::from_str(&text)?;
    let packages = value["packages"].as_array().context("cargo metadata lists no packages")?;
    let published = packages.iter().filter(|package| package["publish"].is_null());
    ordered(published.map(Package::of).collect::<anyhow::Result<_>>()?)
}

fn ordered(mut rest: Vec<Package>) -> anyhow::Result<Vec<Package>> {
    let mut done: Vec<Package> = Vec::new();
    while !rest.is_empty() {
        let ready = rest.iter().position(|package| {
            package.siblings.iter().all(|(name, _)| done.iter().any(|other| &other.name == name))
        });
        let ready = ready.with_context(|| {
            let names: Vec<&str> = rest.iter().map(|package| &*package.name).collect();
            format!("{} need a package that is not published, or each other", names.join(", "))
        })?;
        done.push(rest.remove(ready));
    }
    Ok(done)
}

/// Each package needs the license texts of the root, a README, and the metadata that a registry shows and
/// searches.
pub(crate) fn metadata(root: &Path, packages: &[Package]) -> anyhow::Result<Missing> {
    let mut missing = Missing::new();
    for package in packages {
        let mut need = |fine: bool, what: &str| {
            if !fine {
                missing.push(format!("{}: {what}", package.name));
            }
        };
        for license in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let own = fs::read(package.folder.join(license)).ok();
            need(own == Some(fs::read(root.join(license))?), &format!("{license} is not that of the root"));
        }
        need(package.folder.join("README.md").is_file(), "no README.md");
        let given = |key: &str| package.manifest[key].as_str().is_some_and(|text| !text.trim().is_empty());
        for key in ["description", "license", "readme", "rust_version", "edition"] {
            need(given(key), &format!("no {key} in Cargo.toml"));
        }
        // The registry takes at most five of each.
        for key in ["keywords", "categories"] {
            let count = package.manifest[key].as_array().map_or(0, Vec::len);
            need((1..=5).contains(&count), &format!("{count} {key}, where 1 to 5 are taken"));
        }
        need(package.manifest["metadata"]["docs"]["rs"].is_object(), "no [package.metadata.docs.rs]");
    }
    Ok(missing)
}

/// Packs all packages. Cargo resolves each against the other packed ones, as a registry would.
pub(crate) fn pack(sh: &Shell, packages: &[Package]) -> anyhow::Result<Missing> {
    let names: Vec<String> =
        packages.iter().flat_map(|package| ["-p".into(), package.name.clone()]).collect();
    // Another step checks that nothing is uncommitted.
    let packed = cmd!(sh, "cargo package --quiet --no-verify --allow-dirty {names...}")
        .quiet()
        .ignore_status()
        .output()?;
    if !packed.status.success() {
        return Ok(vec![String::from_utf8_lossy(&packed.stderr).trim().to_owned()]);
    }
    let mut missing = Missing::new();
    for package in packages {
        let file = archive(sh, package);
        let listed = cmd!(sh, "tar --list --gzip --file {file}").quiet().read()?;
        for needed in ["LICENSE-MIT", "LICENSE-APACHE", "README.md", "Cargo.toml"] {
            let path = format!("{}-{}/{needed}", package.name, package.version);
            if !listed.lines().any(|line| line == path) {
                missing.push(format!("{} is packed without {needed}", package.name));
            }
        }
    }
    Ok(missing)
}

/// Where cargo puts the packed package.
pub(crate) fn archive(sh: &Shell, package: &Package) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    sh.current_dir().join(target).join(format!("package/{}-{}.crate", package.name, package.version))
}

#[cfg(test)]
mod tests {
    use super::{Package, ordered};
    use serde_json::json;

    fn package(name: &str, needs: &[&str]) -> anyhow::Result<Package> {
        let needs: Vec<_> = needs
            .iter()
            .map(|need| json!({"name": need, "req": "^0.2.0", "path": "/x", "kind": null}))
            .collect();
        Package::of(&json!({
            "name": name, "version": "0.2.0", "manifest_path": "/x/Cargo.toml", "dependencies": needs,
        }))
    }

    #[test]
    fn packages_come_after_what_they_need() -> anyhow::Result<()> {
        let packages = vec![package("ndp", &["b", "c"])?, package("b", &["c"])?, package("c", &[])?];
        let names: Vec<String> = ordered(packages)?.into_iter().map(|package| package.name).collect();
        assert_eq!(names, ["c", "b", "ndp"]);
        let error = ordered(vec![package("b", &["xtask"])?]).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some("b need a package that is not published, or each other"));
        Ok(())
    }
}
