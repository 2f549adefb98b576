//! Crates of others: each must have a stated reason and a license that this project allows.

use super::File;
use anyhow::Context;
use serde_json::Value;
use std::collections::BTreeSet;
use xshell::{Shell, cmd};

const PAGE: &str = "docs/project/dependencies.md";

/// The licenses that a dependency may have; those of `deny.toml`.
const ALLOWED: [&str; 10] = [
    "MIT",
    "MIT-0",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CDLA-Permissive-2.0",
    "ISC",
    "Unicode-3.0",
    "Zlib",
];

/// Dependencies in a manifest that the page does not explain, and explained crates that no manifest uses.
pub(crate) fn problems(files: &[File]) -> Vec<String> {
    let Some(page) = files.iter().find(|file| file.path == PAGE) else {
        return vec![format!("{PAGE} is missing")];
    };
    // Another table of the page is about the crates of this repository.
    let ours = |name: &&str| name.starts_with("ndp-") || *name == "ndp";
    let explained: BTreeSet<&str> = page.text.lines().filter_map(row).filter(|name| !ours(name)).collect();
    let used: BTreeSet<&str> = files
        .iter()
        .filter(|file| file.path.ends_with("Cargo.toml"))
        .flat_map(|file| names(&file.text))
        .filter(|name| !ours(name))
        .collect();
    let without = used.difference(&explained).map(|name| format!("{PAGE} does not say why {name} is there"));
    let unused =
        explained.difference(&used).map(|name| format!("{PAGE} explains {name}, which nothing uses"));
    without.chain(unused).collect()
}

/// The name in the first column of a row, if the second column is not empty.
fn row(line: &str) -> Option<&str> {
    let mut cells = line.strip_prefix("| `")?.split('|');
    let name = cells.next()?.trim().strip_suffix('`')?;
    (!cells.next()?.trim().is_empty()).then_some(name)
}

/// The crates in the dependency tables of a manifest.
fn names(manifest: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut within = false;
    for line in manifest.lines() {
        if let Some(table) = line.strip_prefix('[') {
            within = table.trim_end_matches(']').ends_with("dependencies");
        } else if within && line.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            found.extend(line.split([' ', '=', '.']).next());
        }
    }
    found
}

/// The packages that cargo may build here and whose license is not allowed.
///
/// # Errors
/// If cargo cannot resolve the dependencies.
pub(crate) fn licenses(sh: &Shell) -> anyhow::Result<Vec<String>> {
    let text = cmd!(sh, "cargo metadata --format-version 1 --locked --all-features").quiet().read()?;
    let value: Value = serde_json::from_str(&text)?;
    let packages = value["packages"].as_array().context("cargo metadata lists no packages")?;
    let refused = packages.iter().filter_map(|package| {
        let license = package["license"].as_str().unwrap_or("");
        (!allowed(license)).then(|| format!("{} has the license `{license}`", package["id"]))
    });
    Ok(refused.collect())
}

/// Whether an SPDX expression of `AND`, `OR`, `/` and parentheses is met by the allowed licenses.
fn allowed(expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = &words[..];
    either(&mut rest) == Some(true) && rest.is_empty()
}

fn either(words: &mut &[&str]) -> Option<bool> {
    let mut met = both(words)?;
    while let Some(("OR", rest)) = split(words) {
        *words = rest;
        met |= both(words)?;
    }
    Some(met)
}

fn both(words: &mut &[&str]) -> Option<bool> {
    let mut met = one(words)?;
    while let Some(("AND", rest)) = split(words) {
        *words = rest;
        met &= one(words)?;
    }
    Some(met)
}

fn one(words: &mut &[&str]) -> Option<bool> {
    let (first, rest) = split(words)?;
    *words = rest;
    if first == "(" {
        let met = either(words)?;
        let (")", rest) = split(words)? else { return None };
        *words = rest;
        return Some(met);
    }
    if let Some(("WITH", rest)) = split(words) {
        let (exception, rest) = split(&rest)?;
        *words = rest;
        return Some(ALLOWED.contains(&&*format!("{first} WITH {exception}")));
    }
    Some(ALLOWED.contains(&first))
}

fn split<'a, 'b>(words: &&'a [&'b str]) -> Option<(&'b str, &'a [&'b str])> {
    words.split_first().map(|(first, rest)| (*first, rest))
}

#[cfg(test)]
mod tests {
    use super::{File, PAGE, allowed, problems};

    #[test]
    fn each_dependency_has_its_reason() {
        let manifest = "[package]\nname = \"x\"\n\n[dependencies]\n# a comment\nndp-dp.workspace = true\n\
                        libm.workspace = true\nrand = { version = \"1\" }\n\n[dev-dependencies]\napprox = \"1\"\n";
        let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
        let page = "| crate | why |\n|---|---|\n| `libm` | logarithms |\n| `rand` | |\n| `csv` | tables |\n| `ndp` | 3 |\n";
        let files = [file("crates/x/Cargo.toml", manifest), file(PAGE, page)];
        assert_eq!(
            problems(&files),
            [
                format!("{PAGE} does not say why approx is there"),
                format!("{PAGE} does not say why rand is there"),
                format!("{PAGE} explains csv, which nothing uses"),
            ]
        );
    }

    #[test]
    fn licenses_are_read_as_expressions() {
        for fine in
            ["MIT", "MIT/Apache-2.0", "GPL-3.0 OR (MIT AND Unicode-3.0)", "Apache-2.0 WITH LLVM-exception"]
        {
            assert!(allowed(fine), "{fine}");
        }
        for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT", "MIT OR", "MIT WITH Classpath-exception-2.0"] {
            assert!(!allowed(bad), "{bad}");
        }
    }
}
