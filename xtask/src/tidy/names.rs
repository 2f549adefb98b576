//! Whether the functions, types and tests that documents name exist.
//!
//! In `README.md` and `docs/*.md` a path in backticks that begins with the name of a crate and
//! `::` names an item of its source: `ndp_dp::rdp::Gaussian`, a method `ndp_dp::Sigma::new`, a
//! unit test `ndp_dp::rdp::tests::name`, or, for a test of `tests/FILE.rs` or
//! `tests/all/FILE.rs`, `ndp_dp::tests::FILE::name`.

use super::File;

const CRATES: [&str; 11] = [
    "ndp_numeric",
    "ndp_linalg",
    "ndp_graph",
    "ndp_dp",
    "ndp_certify",
    "ndp_account",
    "ndp_program",
    "ndp_algos",
    "ndp_refute",
    "ndp_printed",
    "ndp_experiments",
];

/// The document whose names users look up: all of them must be public, and none may be a test.
const PUBLIC: &str = "docs/theory.md";

/// What a name must be.
#[derive(Clone, Copy, PartialEq)]
enum Wanted {
    Defined,
    /// Public, in public modules.
    Reachable,
}

pub(super) fn problems(files: &[File]) -> Vec<String> {
    let mut problems = Vec::new();
    let documents = files
        .iter()
        .filter(|f| f.path == "README.md" || (f.path.starts_with("docs/") && f.path.ends_with(".md")));
    for document in documents {
        for (i, line) in document.text.lines().enumerate() {
            for name in names(line) {
                let wanted = if document.path == PUBLIC { Wanted::Reachable } else { Wanted::Defined };
                if !exists(name, files, wanted) {
                    problems.push(format!("{}:{}: there is no {name}", document.path, i + 1));
                }
            }
        }
    }
    problems
}

/// The paths in backticks that begin with a crate.
fn names(line: &str) -> impl Iterator<Item = &str> {
    // The pieces with odd index are those between backticks.
    line.split('`').skip(1).step_by(2).map(|code| code.split(['(', '<']).next().unwrap_or(code)).filter(
        |code| {
            let crate_name = code.split("::").next().unwrap_or(code);
            code.contains("::") && CRATES.contains(&crate_name)
        },
    )
}

/// Whether a path names something that some file defines or re-exports.
fn exists(name: &str, files: &[File], wanted: Wanted) -> bool {
    let mut segments = name.split("::");
    let folder = format!("crates/{}", segments.next().unwrap_or_default().replace('_', "-"));
    let segments: Vec<&str> = segments.collect();
    let find = |path: String| files.iter().find(|f| f.path == path);
    if let ["tests", file, item] = segments[..]
        && let Some(f) = ["tests", "tests/all"].iter().find_map(|at| find(format!("{folder}/{at}/{file}.rs")))
    {
        return defines(&f.text, item, Wanted::Defined);
    }
    let wanted = if segments.contains(&"tests") { Wanted::Defined } else { wanted };
    // Follow as many segments as there are modules; the remainder must be in the last module.
    let mut module = find(format!("{folder}/src/lib.rs"));
    let mut path = format!("{folder}/src");
    let mut rest = &segments[..];
    while let Some((first, after)) = rest.split_first() {
        path = format!("{path}/{first}");
        let Some(file) = find(format!("{path}.rs")).or_else(|| find(format!("{path}/mod.rs"))) else { break };
        let opened = |parent: &File| parent.text.contains(&format!("\npub mod {first};"));
        if wanted == Wanted::Reachable && !module.is_some_and(opened) {
            // A private module may have the same name as an item that is re-exported from it.
            if !module.is_some_and(|parent| reexports(&parent.text, first)) {
                return false;
            }
            break;
        }
        (module, rest) = (Some(file), after);
    }
    // An inline module of the file, such as `mod tests { … }`.
    let rest = match rest {
        ["tests", item] => std::slice::from_ref(item),
        _ => rest,
    };
    let Some(module) = module else { return false };
    match rest {
        [] => true,
        [item] => defines(&module.text, item, wanted) || reexports(&module.text, item),
        // A method: its type may be re-exported here from any file of the crate.
        [owner, method] => {
            let here = defines(&module.text, owner, wanted) && defines(&module.text, method, wanted);
            let elsewhere = || {
                files.iter().any(|f| {
                    f.path.starts_with(&format!("{folder}/src/"))
                        && defines(&f.text, owner, wanted)
                        && (defines(&f.text, method, wanted)
                            || method_elsewhere(files, &folder, owner, method, wanted))
                })
            };
            here || (reexports(&module.text, owner) && elsewhere())
        }
        _ => false,
    }
}

/// Whether a file of the crate has an `impl owner` and defines the method.
fn method_elsewhere(files: &[File], folder: &str, owner: &str, method: &str, wanted: Wanted) -> bool {
    files.iter().filter(|f| f.path.starts_with(&format!("{folder}/src/"))).any(|f| {
        let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        // Generics of the block stand before the type.
        let typed = |rest: &'_ str| -> bool {
            let named = rest.strip_prefix(' ').or_else(|| Some(rest.strip_prefix('<')?.split_once("> ")?.1));
            named.and_then(|named| named.strip_prefix(owner)).is_some_and(ends)
        };
        let implements = f.text.split("\nimpl").skip(1).any(typed);
        implements && defines(&f.text, method, wanted)
    })
}

/// Whether the text has `fn item`, `struct item` and the like, or the variant or field `item`; if it must be
/// reachable, it must follow a `pub` or be in a trait.
fn defines(text: &str, item: &str, wanted: Wanted) -> bool {
    const KEYWORDS: [&str; 8] = ["fn", "struct", "enum", "trait", "const", "static", "mod", "type"];
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(item).any(|(at, _)| {
        let after = text[at + item.len()..].chars().next().is_none_or(|c| !is_name(c));
        let before = text[..at].split_whitespace().next_back().unwrap_or("");
        let separate = text[..at].chars().next_back().is_some_and(char::is_whitespace);
        let line = text[..at].rsplit('\n').next().unwrap_or("");
        let variant = line.trim().is_empty() && item.starts_with(char::is_uppercase);
        let public = || {
            let header = text[..at].lines().rfind(|line| line.starts_with(|c: char| c.is_alphabetic()));
            line.trim_start().starts_with("pub ") || header.is_some_and(|line| line.starts_with("pub trait"))
        };
        let defined = KEYWORDS.contains(&before) && (wanted == Wanted::Defined || public());
        after && separate && (defined || variant)
    })
}

/// Whether some `pub use` re-exports `item`, not merely names a module of that name on the path.
fn reexports(text: &str, item: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    text.split("pub use ").skip(1).any(|rest| {
        let path = rest.split(';').next().unwrap_or("");
        path.match_indices(item).any(|(at, _)| {
            let after = &path[at + item.len()..];
            !path[..at].ends_with(is_name) && !after.starts_with(is_name) && !after.starts_with("::")
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> Vec<File> {
        let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
        vec![
            file("crates/ndp-dp/src/lib.rs", "pub mod rdp;\npub use quantities::{Delta, Sigma};\n"),
            file(
                "crates/ndp-dp/src/quantities.rs",
                "pub struct Sigma(f64);\nimpl Sigma {\n    pub fn new() {}\n}\n",
            ),
            file(
                "crates/ndp-dp/src/rdp/mod.rs",
                "pub fn compose_all() {}\nmod tests {\n    fn adds_up() {}\n}\n",
            ),
            file("crates/ndp-dp/src/rdp/printed.rs", "pub fn theorem(\n"),
            file("crates/ndp-dp/tests/reference.rs", "fn thirty_gaussians() {}\n"),
            file("crates/ndp-dp/tests/all/printed.rs", "fn forty_gaussians() {}\n"),
        ]
    }

    #[test]
    fn existing_items_are_found_and_others_are_not() {
        let there = [
            "ndp_dp::rdp::compose_all",
            "ndp_dp::rdp",
            "ndp_dp::rdp::printed::theorem",
            "ndp_dp::Sigma",
            "ndp_dp::Sigma::new",
            "ndp_dp::rdp::tests::adds_up",
            "ndp_dp::tests::reference::thirty_gaussians",
            "ndp_dp::tests::printed::forty_gaussians",
        ];
        for name in there {
            assert!(exists(name, &files(), Wanted::Defined), "{name}");
        }
        let missing = [
            "ndp_dp::rdp::compose",
            "ndp_dp::Sigma::old",
            "ndp_dp::Order",
            "ndp_dp::tests::reference::forty",
            "ndp_graph::anything",
            "ndp_dp::rdp::printed::a::b::c",
        ];
        for name in missing {
            assert!(!exists(name, &files(), Wanted::Defined), "{name}");
        }
    }

    #[test]
    fn what_users_cannot_reach_is_found() {
        let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
        let files = [
            file("crates/ndp-dp/src/lib.rs", "//! Doc.\npub mod open;\nmod shut;\npub use shut::Shown;\n"),
            file(
                "crates/ndp-dp/src/open.rs",
                "pub fn f() {}\npub(crate) fn g() {}\npub trait T {\n    fn m();\n}\n",
            ),
            file(
                "crates/ndp-dp/src/shut.rs",
                "pub struct Shown;\nimpl Shown {\n    pub fn new() {}\n    fn own() {}\n}\n",
            ),
        ];
        let reachable = |name: &str| exists(name, &files, Wanted::Reachable);
        for name in ["ndp_dp::open::f", "ndp_dp::open::T::m", "ndp_dp::Shown", "ndp_dp::Shown::new"] {
            assert!(reachable(name), "{name}");
        }
        for name in ["ndp_dp::open::g", "ndp_dp::shut", "ndp_dp::shut::Shown", "ndp_dp::Shown::own"] {
            assert!(!reachable(name) && exists(name, &files, Wanted::Defined), "{name}");
        }
    }

    #[test]
    fn only_paths_into_a_crate_in_backticks_are_names() {
        let line = "| `ndp_dp::rdp::f(x)` | ndp_dp::no | `std::fmt` | `ndp_dp` | `ndp_graph::G<T>` |";
        assert_eq!(names(line).collect::<Vec<_>>(), ["ndp_dp::rdp::f", "ndp_graph::G"]);
    }
}
