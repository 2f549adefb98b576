//! The committed lists: the mutants to run, and those that no test could tell from the original.
//!
//! Each line is an [`Entry`] with its fields divided by tabs; in `equivalent.txt` a reason follows. `#`
//! begins a comment.

use super::candidates::{self, Entry, Mutant};
use anyhow::{Context, bail, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The lists of mutants.
pub(super) const LISTS: [&str; 2] = ["certified", "sampled"];

fn place(name: &str) -> PathBuf {
    crate::root().join("xtask/mutants").join(format!("{name}.txt"))
}

fn lines(name: &str) -> anyhow::Result<Vec<String>> {
    let path = place(name);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let is_entry = |line: &&str| !line.is_empty() && !line.starts_with('#');
    Ok(text.lines().filter(is_entry).map(str::to_owned).collect())
}

/// An entry, and what stands after it on its line.
fn parse(line: &str) -> anyhow::Result<(Entry, &str)> {
    let fields: Vec<&str> = line.splitn(6, '\t').collect();
    let [file, function, kind, nth, change, ref rest @ ..] = fields[..] else {
        bail!("five fields divided by tabs are expected in {line:?}");
    };
    let entry = Entry {
        file: file.into(),
        function: function.into(),
        kind: kind.into(),
        nth: nth.parse().with_context(|| format!("{nth:?} is no number in {line:?}"))?,
        change: change.into(),
    };
    Ok((entry, rest.first().copied().unwrap_or_default()))
}

/// The entries of a list.
pub(super) fn read(name: &str) -> anyhow::Result<Vec<Entry>> {
    lines(name)?.iter().map(|line| Ok(parse(line)?.0)).collect()
}

/// The mutants that are equivalent, each with the reason.
pub(super) fn equivalent() -> anyhow::Result<BTreeMap<Entry, String>> {
    let read = |line: &String| {
        let (entry, reason) = parse(line)?;
        ensure!(!reason.trim().is_empty(), "xtask/mutants/equivalent.txt: no reason is given in {line:?}");
        Ok((entry, reason.to_owned()))
    };
    lines("equivalent")?.iter().map(read).collect()
}

/// Writes a list, sorted, below the comment that it begins with.
pub(super) fn write(name: &str, entries: &BTreeSet<Entry>) -> anyhow::Result<()> {
    let path = place(name);
    let before = fs::read_to_string(&path).unwrap_or_default();
    let comment: Vec<&str> = before.lines().take_while(|line| line.starts_with('#')).collect();
    let lines: Vec<String> = entries.iter().map(Entry::line).collect();
    fs::write(
        &path,
        comment.into_iter().chain(lines.iter().map(String::as_str)).collect::<Vec<_>>().join("\n") + "\n",
    )?;
    Ok(())
}

/// The mutants of today's sources, by file.
pub(super) struct Sources {
    root: PathBuf,
    files: BTreeMap<String, (String, BTreeMap<Entry, Mutant>)>,
}

impl Sources {
    pub(super) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), files: BTreeMap::new() }
    }

    fn file(&mut self, path: &str) -> anyhow::Result<&(String, BTreeMap<Entry, Mutant>)> {
        if !self.files.contains_key(path) {
            let text =
                fs::read_to_string(self.root.join(path)).with_context(|| format!("cannot read {path}"))?;
            let found = candidates::of(path, &text)?.mutants;
            let found = found.into_iter().map(|mutant| (mutant.entry.clone(), mutant)).collect();
            self.files.insert(path.to_owned(), (text, found));
        }
        self.files.get(path).with_context(|| format!("{path} was not read"))
    }

    pub(super) fn text(&mut self, path: &str) -> anyhow::Result<&str> {
        Ok(&self.file(path)?.0)
    }

    /// The mutant of an entry in the present source; `None` if it has no such place any more.
    pub(super) fn find(&mut self, entry: &Entry) -> Option<Mutant> {
        self.file(&entry.file).ok()?.1.get(entry).cloned()
    }

    /// The mutants of all entries. An error names only the first entry that the sources do not have; a test
    /// below names all of them.
    pub(super) fn find_all(&mut self, name: &str, entries: &[Entry]) -> anyhow::Result<Vec<Mutant>> {
        entries.iter().map(|entry| self.find(entry).with_context(|| lost(name, entry))).collect()
    }
}

fn lost(name: &str, entry: &Entry) -> String {
    format!(
        "xtask/mutants/{name}.txt: the sources have no such place any more (say where it is now, or let `cargo xtask mutants --propose \
         CRATE --into {name}` put another there): {}",
        entry.line()
    )
}

/// The files of a crate that are not for tests only, by following its modules from the root down.
pub(super) fn files_of(root: &Path, crate_name: &str) -> anyhow::Result<Vec<String>> {
    let folder = format!("crates/{crate_name}/src");
    let mut files = Vec::new();
    let mut open: Vec<String> = ["lib", "main"].map(|name| format!("{folder}/{name}.rs")).to_vec();
    while let Some(path) = open.pop() {
        let Ok(text) = fs::read_to_string(root.join(&path)) else { continue };
        let tree = syn::parse_file(&text).with_context(|| format!("cannot read {path}"))?;
        let stem = path.trim_end_matches(".rs");
        let is_root = ["/lib", "/main", "/mod"].iter().any(|end| stem.ends_with(end));
        let inside = if is_root { stem.rsplit_once('/').map_or(stem, |(folder, _)| folder) } else { stem };
        for item in &tree.items {
            if let syn::Item::Mod(it) = item
                && it.content.is_none()
                && !candidates::is_test(&it.attrs)
            {
                let name = &it.ident;
                open.extend([format!("{inside}/{name}.rs"), format!("{inside}/{name}/mod.rs")]);
            }
        }
        files.push(path);
    }
    ensure!(!files.is_empty(), "there is no crate {crate_name}");
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After a file was moved or a line changed, this names all lost entries at once.
    #[test]
    fn the_sources_have_every_mutant_of_the_lists() -> anyhow::Result<()> {
        let mut sources = Sources::new(&crate::root());
        let mut problems = Vec::new();
        for name in LISTS {
            problems.extend(read(name)?.into_iter().map(|entry| (name, entry)));
        }
        problems.extend(equivalent()?.into_keys().map(|entry| ("equivalent", entry)));
        assert!(problems.len() > 900);
        problems.retain(|(_, entry)| sources.find(entry).is_none());
        let lost: Vec<String> = problems.iter().map(|(name, entry)| lost(name, entry)).collect();
        assert!(lost.is_empty(), "{}", lost.join("\n"));
        Ok(())
    }
}
