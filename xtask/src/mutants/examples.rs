//! Collects the documentation examples of a crate into one test program, because rustdoc would compile them
//! again in every run.
//!
//! In the copy of the workspace, the examples become `tests/examples_of_documents.rs` of their crate.
//! Examples that do not compile there are left out.

use anyhow::Context;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The target of the examples.
pub(super) const NAME: &str = "examples_of_documents";

/// An example: the file it is from, the line where it begins, its code.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Example {
    pub(super) name: String,
    code: String,
}

/// All examples of a crate.
pub(super) fn of_crate(root: &Path, crate_name: &str) -> anyhow::Result<Vec<Example>> {
    let folder = format!("crates/{crate_name}/src/");
    let mut examples = Vec::new();
    for file in super::list::files_of(root, crate_name)? {
        let text = fs::read_to_string(root.join(&file)).with_context(|| format!("cannot read {file}"))?;
        let stem = file.trim_start_matches(&folder).trim_end_matches(".rs").replace('/', "_");
        examples.extend(of_file(&stem, &text));
    }
    Ok(examples)
}

/// The examples of a file that rustdoc would run.
fn of_file(stem: &str, text: &str) -> Vec<Example> {
    let mut examples = Vec::new();
    let mut open: Option<(usize, bool, String)> = None;
    for (i, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let Some(line) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else {
            open = None;
            continue;
        };
        let line = line.strip_prefix(' ').unwrap_or(line);
        if let Some(words) = line.trim_start().strip_prefix("```") {
            match open.take() {
                Some((start, true, code)) => examples.push(Example { name: format!("{stem}_{start}"), code }),
                Some(_) => {}
                None => open = Some((i + 1, words.is_empty() || words == "rust", String::new())),
            }
        } else if let Some((_, _, code)) = &mut open {
            let shown = line.trim_start();
            code.push_str(shown.strip_prefix("# ").unwrap_or(if shown == "#" { "" } else { line }));
            code.push('\n');
        }
    }
    examples
}

/// The source of the test program, and the range of every example in it.
pub(super) fn program(examples: &[Example]) -> (String, Vec<std::ops::Range<usize>>) {
    let mut text = String::from("//! Examples of the documentation.\n#![allow(warnings, missing_docs)]\n");
    let mut places = Vec::new();
    for Example { name, code } in examples {
        let start = text.len();
        if code.contains("fn main()") {
            text.push_str(&format!(
                "mod m_{name} {{\n{code}\n#[test] fn example() {{ let _ = main(); }}\n}}\n"
            ));
        } else if code.trim_end().ends_with("(())") {
            // Like rustdoc, accept an example that ends with its result.
            text.push_str(&format!(
                "mod m_{name} {{ #[test] fn example() {{ fn inner() -> Result<(), impl std::fmt::Debug> {{\n{code}\n}} inner().unwrap() }} }}\n"
            ));
        } else {
            text.push_str(&format!("mod m_{name} {{ #[test] fn example() {{\n{code}\n}} }}\n"));
        }
        places.push(start..text.len());
    }
    (text, places)
}

/// The examples that no error points into.
pub(super) fn without(
    examples: Vec<Example>,
    places: &[std::ops::Range<usize>],
    errors: &[usize],
) -> Vec<Example> {
    let bad: BTreeSet<usize> =
        errors.iter().filter_map(|at| places.iter().position(|place| place.contains(at))).collect();
    examples.into_iter().enumerate().filter(|(i, _)| !bad.contains(i)).map(|(_, example)| example).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_those_that_rustdoc_runs() {
        let text = "//! ```\n//! use a::b;\n//! # hidden()?;\n//! # Ok::<(), E>(())\n//! ```\n//! ```text\n//! no\n//! ```\nfn f() {}\n    /// ```\n    /// assert!(true);\n    /// ```\n";
        let examples = of_file("x", text);
        let codes: Vec<&str> = examples.iter().map(|it| it.code.as_str()).collect();
        assert_eq!(codes, ["use a::b;\nhidden()?;\nOk::<(), E>(())\n", "assert!(true);\n"]);
        let (program, places) = program(&examples);
        assert!(syn::parse_file(&program).is_ok());
        assert_eq!(program.matches("#[test]").count(), 2);
        let left = without(examples.clone(), &places, &[places[0].start + 3]);
        assert_eq!(left, examples[1..]);
    }
}
