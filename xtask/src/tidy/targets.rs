//! `cargo xtask fuzz` must call every public function that parses or takes numbers, or
//! `fuzz/without-target.txt` must say why it does not.
//!
//! The public items are those of `docs/surface`. An item counts as called if a source in `fuzz/src/targets`
//! contains its name as a string: the crate, a space, the path without generics.

use super::File;
use std::collections::BTreeSet;

/// The lists of the public surface.
const SURFACE: &str = "docs/surface/";
/// The sources that name what they call.
const SOURCES: &str = "fuzz/src/targets/";
/// The items that are not called, with reasons.
const WITHOUT: &str = "fuzz/without-target.txt";

pub(super) fn problems(files: &[File]) -> Vec<String> {
    let lists = files.iter().filter_map(|file| {
        Some((file.path.strip_prefix(SURFACE)?.strip_suffix(".txt")?, file.text.as_str()))
    });
    let items: BTreeSet<String> = lists
        .flat_map(|(name, text)| {
            text.lines().filter_map(move |line| Some(format!("{name} {}", asked(line)?)))
        })
        .collect();
    let sources = files.iter().filter(|file| file.path.starts_with(SOURCES));
    let called: BTreeSet<&str> = sources.flat_map(|file| named(&file.text)).collect();
    let without = files.iter().find(|file| file.path == WITHOUT).map_or("", |file| file.text.as_str());
    let without: Vec<(&str, &str)> = without
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split_once(": ").unwrap_or((line, "")))
        .collect();
    let mut problems = Vec::new();
    for item in &items {
        let excused = without.iter().any(|(pattern, _)| fits(pattern, item));
        if !excused && !called.contains(item.as_str()) {
            problems.push(format!(
                "{item}: no target of `cargo xtask fuzz` calls it, nor says {WITHOUT} why not"
            ));
        }
    }
    for (pattern, reason) in without {
        let mut fitting = items.iter().filter(|item| fits(pattern, item)).peekable();
        if fitting.peek().is_none() {
            problems.push(format!("{WITHOUT}: nothing is called {pattern}"));
        } else if reason.is_empty() {
            problems.push(format!("{WITHOUT}: {pattern} has no reason after a colon and a space"));
        } else if fitting.all(|item| called.contains(item.as_str())) {
            problems.push(format!("{WITHOUT}: {pattern} is called by a target"));
        }
    }
    problems
}

/// A pattern is a name, or the beginning of names before `*`.
fn fits(pattern: &str, item: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == item, |beginning| item.starts_with(beginning))
}

/// Types of numbers and texts. A function of already checked quantities alone needs no target.
const TYPES: [&str; 16] = [
    "f64",
    "f32",
    "u128",
    "u64",
    "u32",
    "u16",
    "u8",
    "usize",
    "i64",
    "i32",
    "str",
    "String",
    "BufRead",
    "Path",
    "Deserializer",
    "Weight",
];

/// The name of an item that parses or takes numbers, from its line in a list.
fn asked(line: &str) -> Option<String> {
    let (kind, text) = line.split_once(' ')?;
    let text = text.trim_end_matches(" (hidden)");
    if kind == "macro" {
        // These macros generate a constructor, a reader and a writer.
        let makes =
            ["checked_fields!", "checked_number!", "quantity!"].iter().any(|name| text.contains(name));
        return makes.then(|| text.to_owned());
    }
    if kind != "fn" && kind != "method" {
        return None;
    }
    let (name, parameters) = split(text);
    // A `&'static str` is a text of the program itself, not input.
    let parameters = parameters.replace("&'static str", "");
    let words = parameters.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    words.into_iter().any(|word| TYPES.contains(&word)).then_some(name)
}

/// The name without generics, and all parameters, of which generics may be types.
fn split(text: &str) -> (String, &str) {
    let (mut name, mut depth, mut before) = (String::new(), 0, ' ');
    for (at, c) in text.char_indices() {
        match c {
            '(' if depth == 0 => {
                let end = text.rfind(") ->").filter(|&end| end > at).unwrap_or(text.len());
                return (name, &text[at..end]);
            }
            '<' => depth += 1,
            '>' if before != '-' => depth -= 1,
            _ if depth == 0 => name.push(c),
            _ => {}
        }
        before = c;
    }
    (name, "")
}

/// The items that a source names.
fn named(text: &str) -> impl Iterator<Item = &str> {
    let literals = text.match_indices("\"ndp").filter_map(|(at, _)| text.get(at + 1..)?.split('"').next());
    literals.filter(|literal| literal.contains("::") || is_root(literal))
}

/// An item at the root of a crate: two words.
fn is_root(literal: &str) -> bool {
    literal
        .strip_prefix("ndp-")
        .and_then(|rest| rest.split_once(' '))
        .is_some_and(|(_, name)| !name.contains(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_numbers_or_texts_is_asked_for() {
        for (line, name) in [
            ("fn gdp::f(x: f64) -> Result<(), Error>", Some("gdp::f")),
            ("method hitting::Walk<'a>::g(&self, u: usize) -> f64", Some("hitting::Walk::g")),
            (
                "fn a::h<G: Into<Guarantee<f64>>>(mut f: impl FnMut(u64) -> Result<G, Error>) -> bool",
                Some("a::h"),
            ),
            ("fn read(reader: impl BufRead) -> u8 (hidden)", Some("read")),
            ("fn ensure(name: &'static str) -> u8", None),
            ("method a::B::get(&self) -> f64", None),
            ("fn a::of(mechanism: Gaussian) -> f64", None),
            ("macro quantities::quantity!(Delta)", Some("quantities::quantity!(Delta)")),
            ("macro kernel::multiversion!(fn)", None),
            ("field a::B::x: f64", None),
        ] {
            assert_eq!(asked(line).as_deref(), name, "{line}");
        }
    }

    #[test]
    fn an_item_without_target_and_reason_is_a_problem() {
        let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
        let surface = "fn a::f(x: f64) -> f64\nfn a::g(x: f64) -> f64\nfn b::h(n: usize)\nfn c(n: u64)\n";
        let of = |source: &str, without: &str| {
            let files = [
                file("docs/surface/ndp-dp.txt", surface),
                file("fuzz/src/targets/dp.rs", source),
                file("fuzz/without-target.txt", without),
            ];
            problems(&files).join("; ")
        };
        let called = "(\"ndp-dp a::f\", \"ndp-dp c\", \"some text\")";
        assert_eq!(of(called, "# words\n\nndp-dp a::g: it prints\nndp-dp b::*: it builds\n"), "");
        assert!(of(called, "ndp-dp b::*: it builds\n").starts_with("ndp-dp a::g: no target"));
        assert!(of(called, "ndp-dp a::g\nndp-dp b::*: it builds\n").contains("has no reason"));
        assert!(
            of(called, "ndp-dp a::*: x\nndp-dp b::*: y\nndp-dp d: z\n")
                .contains("nothing is called ndp-dp d")
        );
        assert!(
            of(called, "ndp-dp a::*: x\nndp-dp b::*: y\nndp-dp c: z\n")
                .contains("ndp-dp c is called by a target")
        );
    }
}
