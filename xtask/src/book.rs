//! `cargo xtask book`: checks the book, and turns it into pages for a browser where mdbook is installed.
//!
//! The book is the Markdown that `docs/SUMMARY.md` lists. Some of its pages lie outside `docs`, because they
//! are also what a visitor of the repository reads first (`CONTRIBUTING.md`, `python/tutorial.md`). mdbook
//! wants all pages below one folder; so the pages, and the files that they link to, are laid out in
//! `target/book/src` as they lie in the repository, where every link between them still holds.

use crate::flags::Book;
use crate::tidy::{File, tracked};
use anyhow::ensure;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use xshell::{Shell, cmd};

/// The table of contents.
const SUMMARY: &str = "docs/SUMMARY.md";

/// The file that runs the Rust code of the pages.
const RUST: &str = "crates/ndp/src/lib.rs";

impl Book {
    #[expect(clippy::print_stdout, reason = "this is the command line")]
    pub(crate) fn run(self, sh: &Shell) -> anyhow::Result<()> {
        let files = tracked(sh)?;
        let found = problems(&files);
        ensure!(found.is_empty(), "{} problems:\n  {}", found.len(), found.join("\n  "));
        let pages = pages(text(&files, SUMMARY)?);
        println!("{} pages, every link and anchor found; read them from {SUMMARY}", pages.len());
        if cmd!(sh, "mdbook --version").quiet().ignore_stdout().ignore_stderr().run().is_err() {
            println!("for pages in a browser: cargo install mdbook, then this command again");
            return Ok(());
        }
        let place = crate::root().join("target/book");
        lay_out(&files, &pages, &place)?;
        cmd!(sh, "mdbook build {place}").run()?;
        println!("{}", place.join("book/index.html").display());
        Ok(())
    }
}

/// The problems of the book: missing, unlisted and repeated pages, broken links, and Rust code that no test
/// runs.
pub(crate) fn problems(files: &[File]) -> Vec<String> {
    let Ok(summary) = text(files, SUMMARY) else { return vec![format!("there is no {SUMMARY}")] };
    let known: BTreeMap<&str, &str> =
        files.iter().map(|file| (file.path.as_str(), file.text.as_str())).collect();
    let listed = pages(summary);
    let mut problems = Vec::new();
    for (i, page) in listed.iter().enumerate() {
        if !known.contains_key(page.as_str()) {
            problems.push(format!("{SUMMARY}: there is no {page}"));
        }
        if listed[..i].contains(page) {
            problems.push(format!("{SUMMARY}: {page} is listed twice"));
        }
    }
    for path in
        known.keys().filter(|path| path.starts_with("docs/") && path.ends_with(".md") && **path != SUMMARY)
    {
        if !listed.iter().any(|page| page == path) {
            problems.push(format!("{path} is on no page of {SUMMARY}"));
        }
    }
    let rust = known.get(RUST).copied().unwrap_or("");
    for page in &listed {
        let Some(text) = known.get(page.as_str()) else { continue };
        if text.lines().any(|line| line == "```rust") && !rust.contains(page.as_str()) {
            problems.push(format!("{page}: its Rust code is not run by {RUST}"));
        }
        for (line, target) in links(text) {
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = if path.is_empty() { page.clone() } else { beside(page, path) };
            if !path.ends_with(".md") {
                continue;
            }
            let Some(text) = known.get(path.as_str()) else {
                problems.push(format!("{page}:{line}: there is no {path}"));
                continue;
            };
            if !listed.contains(&path) && path != SUMMARY {
                problems.push(format!("{page}:{line}: {path} is no page of the book"));
            }
            if !anchor.is_empty() && !anchors(text).contains(anchor) {
                problems.push(format!("{page}:{line}: {path} has no heading #{anchor}"));
            }
        }
    }
    problems
}

fn text<'a>(files: &'a [File], path: &str) -> anyhow::Result<&'a str> {
    let found = files.iter().find(|file| file.path == path).map(|file| file.text.as_str());
    found.ok_or_else(|| anyhow::anyhow!("there is no {path}"))
}

/// The pages that a table of contents lists, as paths from the root, without chapters that have no page.
fn pages(summary: &str) -> Vec<String> {
    let targets = links(summary).into_iter().map(|(_, target)| target);
    targets.filter(|target| !target.is_empty()).map(|target| beside(SUMMARY, target)).collect()
}

/// Resolves the link `target` of a page to a path from the root.
fn beside(page: &str, target: &str) -> String {
    let folder = Path::new(page).parent().unwrap_or(Path::new(""));
    let mut path = PathBuf::new();
    for part in folder.join(target).components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir => {}
            other => path.push(other),
        }
    }
    path.to_string_lossy().replace('\\', "/")
}

/// Links and pictures with their line numbers, without web addresses and without anything inside code.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut links = Vec::new();
    for (number, line) in prose(text) {
        for (i, part) in line.split('`').enumerate().filter(|(i, _)| i % 2 == 0) {
            // A link whose text is code, [`name`](target), begins in the piece before.
            let part = if i > 0 && part.starts_with("](") { part } else { part.trim_start_matches("](") };
            let targets = part.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
            links.extend(
                targets.map(|(target, _)| (number, target)).filter(|(_, target)| !target.contains("://")),
            );
        }
    }
    links
}

/// The lines outside blocks of code, numbered from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(i, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        // Four spaces begin a block of code, except for a nested list item.
        let code = line.starts_with("    ") && !line.trim_start().starts_with("- ");
        (!fenced && !fence && !code).then_some((i + 1, line))
    })
}

/// The anchors of the headings of a page, formed as mdbook and the usual hosts form them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for (_, line) in prose(text) {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let letters = title.trim().chars().filter_map(|letter| match letter {
            ' ' => Some('-'),
            '-' | '_' => Some(letter),
            _ => letter.is_alphanumeric().then_some(letter),
        });
        let anchor = letters.collect::<String>().to_lowercase();
        let again = (1..).map(|k| format!("{anchor}-{k}")).find(|next| !anchors.contains(next));
        let taken = anchors.contains(&anchor);
        anchors.insert(again.filter(|_| taken).unwrap_or(anchor));
    }
    anchors
}

/// Copies the pages and the files that they link to, for mdbook.
fn lay_out(files: &[File], pages: &[String], place: &Path) -> anyhow::Result<()> {
    if place.exists() {
        fs::remove_dir_all(place)?;
    }
    let source = place.join("src");
    let mut wanted: BTreeSet<String> = pages.iter().cloned().collect();
    for page in pages {
        let paths = links(text(files, page)?).into_iter().filter_map(|(_, target)| target.split('#').next());
        wanted.extend(paths.filter(|path| !path.is_empty()).map(|path| beside(page, path)));
    }
    for path in wanted {
        let (from, to) = (crate::root().join(&path), source.join(&path));
        if from.is_file() {
            fs::create_dir_all(to.parent().unwrap_or(place))?;
            fs::copy(from, to)?;
        }
    }
    let mut summary = text(files, SUMMARY)?.to_owned();
    let targets: BTreeSet<&str> =
        links(text(files, SUMMARY)?).into_iter().map(|(_, target)| target).collect();
    for target in targets.into_iter().filter(|target| !target.is_empty()) {
        summary = summary.replace(&format!("]({target})"), &format!("]({})", beside(SUMMARY, target)));
    }
    fs::write(source.join("SUMMARY.md"), summary)?;
    for file in ["book.toml", "book.css"] {
        fs::copy(crate::root().join("docs").join(file), place.join(file))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<File> =
            files.iter().map(|(path, text)| File { path: (*path).into(), text: (*text).into() }).collect();
        problems(&files)
    }

    #[test]
    fn a_book_in_order_has_no_problems() {
        let summary = "# Contents\n\n- [A](a.md)\n- [Later]()\n    - [B](../B.md)\n";
        let a = "# One thing\n\n[b](../B.md#so-it-is) `[c](none.md)` [`d`](#one-thing) [e](https://example.invalid)\n\n    [f](none.md)\n";
        let b = "# So it *is*\n\n```text\n# not a heading\n[g](none.md)\n```\n[a](docs/a.md) ![p](p.png)\n";
        assert_eq!(check(&[(SUMMARY, summary), ("docs/a.md", a), ("B.md", b)]), [""; 0]);
    }

    #[test]
    fn what_is_missing_is_named() {
        let summary = "- [A](a.md)\n- [A](a.md)\n- [N](n.md)\n";
        let a = "# A\n\n[b](b.md) [x](#nowhere) [r](../R.md) [z](z.md)\n\n```rust\nfn main() {}\n```\n";
        let found = check(&[(SUMMARY, summary), ("docs/a.md", a), ("docs/b.md", "# B\n"), ("R.md", "")]);
        for wanted in [
            "docs/SUMMARY.md: there is no docs/n.md",
            "docs/SUMMARY.md: docs/a.md is listed twice",
            "docs/b.md is on no page of docs/SUMMARY.md",
            "docs/a.md: its Rust code is not run by crates/ndp/src/lib.rs",
            "docs/a.md:3: docs/b.md is no page of the book",
            "docs/a.md:3: docs/a.md has no heading #nowhere",
            "docs/a.md:3: R.md is no page of the book",
            "docs/a.md:3: there is no docs/z.md",
        ] {
            assert!(found.iter().any(|problem| problem == wanted), "{wanted}: {found:?}");
        }
        assert!(check(&[]).len() == 1);
    }

    #[test]
    fn repeated_headings_are_numbered() {
        let found = anchors("# A\n## A\n### A\n#hash\n## What is `mu`, really?\n");
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["a", "a-1", "a-2", "what-is-mu-really"]);
    }

    #[test]
    fn paths_are_relative_to_the_page() {
        assert_eq!(beside("docs/start/why.md", "../cli.md"), "docs/cli.md");
        assert_eq!(beside(SUMMARY, "../README.md"), "README.md");
    }
}
