//! The links of a figure on the page: theorem, function, test, finding, numbers.
//!
//! Links lead from the output folder to files of the repository. If the folder is outside the repository, the
//! page names the files instead.

use super::{escape, module};
use crate::output::Record;
use crate::registry;
use ndp_report::table::Row;
use std::collections::BTreeSet;
use std::path::{Component, Path};

/// The links of a figure, as one paragraph.
pub(super) fn paragraph(out: &Path, record: &Record, rows: &[Row]) -> String {
    let up = root(out);
    let told = registry::all().find(|entry| entry.id == record.id);
    let mut parts = Vec::new();
    let sections: BTreeSet<&str> = rows.iter().filter_map(|row| Some(split(&row.by)?.1)).collect();
    let sections: Vec<String> =
        sections.iter().map(|name| section(up.as_deref(), "theory", name, name)).collect();
    if !sections.is_empty() {
        parts.push(format!("theorems: {}", sections.join(", ")));
    }
    parts.push(format!("function: {}", module(out, &record.id)));
    if let Some((file, name)) = told.and_then(|entry| entry.test) {
        parts.push(format!("test: {}", linked(up.as_deref(), file, name)));
    }
    let findings = told.map_or(&[][..], |entry| entry.findings);
    let findings: Vec<String> =
        findings.iter().map(|name| page(up.as_deref(), "findings-summary", "", name)).collect();
    if !findings.is_empty() {
        parts.push(format!("findings: {}", findings.join(", ")));
    }
    let tables = record.files.iter().filter(|file| file.ends_with(".csv"));
    let tables: Vec<String> = tables
        .map(|file| format!("<a href=\"{file}\">{}</a>", file.rsplit('/').next().unwrap_or(file)))
        .collect();
    parts.push(format!("numbers: {}", tables.join(", ")));
    format!("<p class=\"links\">{}</p>\n", parts.join(" · "))
}

/// The function and the section in a text that names the source of a number.
fn split(by: &str) -> Option<(&str, &str)> {
    by.strip_suffix(')')?.split_once(" (")
}

/// The path from the output folder to the root of the repository; `None` if the folder is not below it.
fn root(out: &Path) -> Option<String> {
    let below = out.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let depth = out.components().filter(|part| matches!(part, Component::Normal(_))).count();
    (below && Path::new("docs/theory.md").is_file()).then(|| "../".repeat(depth))
}

/// A heading of a page of the book.
fn section(up: Option<&str>, name: &str, heading: &str, text: &str) -> String {
    page(up, name, &anchor_of(heading), text)
}

/// The anchor of a heading, as GitHub and the book make it.
fn anchor_of(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// A page of the book: the built page if it exists, otherwise its source.
fn page(up: Option<&str>, name: &str, anchor: &str, text: &str) -> String {
    let built = format!("target/book/book/docs/{name}.html");
    let file = if Path::new(&built).is_file() { built } else { format!("docs/{name}.md") };
    let anchor = if anchor.is_empty() { String::new() } else { format!("#{anchor}") };
    match up {
        Some(up) => format!("<a href=\"{up}{file}{anchor}\">{}</a>", escape(text)),
        None => format!("{} (<code>docs/{name}.md{anchor}</code>)", escape(text)),
    }
}

/// A file of the repository.
fn linked(up: Option<&str>, file: &str, text: &str) -> String {
    match up {
        Some(up) => format!("<a href=\"{up}{file}\"><code>{}</code></a>", escape(text)),
        None => format!("<code>{}</code> in <code>{file}</code>", escape(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Entry;

    /// Every figure, test, finding and section that is named here exists.
    #[test]
    fn what_is_named_is_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let read = |file: &str| std::fs::read_to_string(root.join(file)).unwrap();
        let summary = read("docs/findings-summary.md");
        for entry in registry::all() {
            let Entry { id, findings, test, .. } = entry;
            assert!(!findings.is_empty() || test.is_some(), "{id}");
            for finding in *findings {
                assert!(summary.contains(&format!("| {finding} |")), "{id}: {finding}");
            }
            if let Some((file, name)) = test {
                assert!(read(file).contains(&format!("fn {name}(")), "{id}: {name} is not in {file}");
            }
        }
    }

    #[test]
    fn headings_have_the_anchors_of_the_book() {
        assert_eq!(
            anchor_of("Privacy amplification by decentralization"),
            "privacy-amplification-by-decentralization"
        );
        assert_eq!(anchor_of("The law of a walk's cost"), "the-law-of-a-walks-cost");
        assert_eq!(split("ndp_algos::g (Certified losses)"), Some(("ndp_algos::g", "Certified losses")));
        assert_eq!(page(None, "theory", "x", "a & b"), "a &amp; b (<code>docs/theory.md#x</code>)");
    }
}
