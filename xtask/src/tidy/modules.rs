//! The modules of each crate: they must not form a circle, and `docs/modules.md` must list which use which.

use super::File;
use std::collections::{BTreeMap, BTreeSet};

/// For every module of a crate (a file or a folder at its root), the modules that it names.
type Uses = BTreeMap<String, BTreeSet<String>>;

/// The crates whose modules are listed.
const LISTED: [&str; 8] = [
    "ndp-graph",
    "ndp-dp",
    "ndp-certify",
    "ndp-account",
    "ndp-program",
    "ndp-algos",
    "ndp-refute",
    "ndp-printed",
];
const DOCUMENT: &str = "docs/modules.md";
const BEGIN: &str = "<!-- modules: begin -->\n";
const END: &str = "<!-- modules: end -->";

/// Circles of modules, and a list in the documents that is out of date.
pub(super) fn problems(files: &[File]) -> Vec<String> {
    let mut found = Vec::new();
    for crate_name in super::layers::CRATES {
        if let Err(circle) = order(&uses(files, &format!("crates/{crate_name}/src/"))) {
            found.push(format!("a circle of modules in {crate_name}: {}", circle.join(", ")));
        }
    }
    let written = files.iter().find(|file| file.path == DOCUMENT).and_then(|file| list(&file.text));
    if written != Some(&listing(files)) {
        found.push(format!(
            "{DOCUMENT}: the list of modules is not theirs; NDP_BLESS=1 cargo xtask tidy writes it"
        ));
    }
    found
}

/// The document with the list as it should be.
pub(super) fn blessed(files: &[File]) -> Option<(&'static str, String)> {
    let file = files.iter().find(|file| file.path == DOCUMENT)?;
    let (before, rest) = file.text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some((DOCUMENT, [before, BEGIN, &listing(files), END, after].concat()))
}

fn list(document: &str) -> Option<&str> {
    document.split_once(BEGIN)?.1.split_once(END).map(|(list, _)| list)
}

/// One line for each module, from the top down, with the modules that it uses except the errors, which all
/// use.
fn listing(files: &[File]) -> String {
    let mut text = String::from("\n");
    for crate_name in LISTED {
        let uses = uses(files, &format!("crates/{crate_name}/src/"));
        text.push_str(&format!("    {crate_name}\n"));
        for module in order(&uses).unwrap_or_default().into_iter().filter(|module| module != "error") {
            let below: Vec<&str> =
                uses[&module].iter().map(String::as_str).filter(|name| *name != "error").collect();
            text.push_str(format!("      {module:<20}{}", below.join(" ")).trim_end());
            text.push('\n');
        }
        text.push('\n');
    }
    text
}

/// Orders the modules so that each comes before those that it uses; ties are broken by name.
///
/// # Errors
/// The modules of a circle, and the modules used only by them.
fn order(uses: &Uses) -> Result<Vec<String>, Vec<String>> {
    let mut left: BTreeSet<&String> = uses.keys().collect();
    let mut ordered = Vec::new();
    while !left.is_empty() {
        let top = left.iter().find(|&&module| !left.iter().any(|other| uses[*other].contains(module)));
        let Some(&top) = top else { return Err(left.into_iter().cloned().collect()) };
        left.remove(top);
        ordered.push(top.clone());
    }
    Ok(ordered)
}

fn uses(files: &[File], source: &str) -> Uses {
    let inside =
        || files.iter().filter_map(|file| Some((file.path.strip_prefix(source)?, file.text.as_str())));
    let Some((_, root)) = inside().find(|(path, _)| ["lib.rs", "main.rs"].contains(path)) else {
        return Uses::new();
    };
    // Test modules are declared below `#[cfg(test)]`.
    let modules: BTreeSet<&str> = declared(root).collect();
    let home: BTreeMap<&str, &str> = exports(root);
    let mut uses: Uses = modules.iter().map(|name| ((*name).to_owned(), BTreeSet::new())).collect();
    for (path, text) in inside() {
        let module = path.split('/').next().unwrap_or(path).trim_end_matches(".rs");
        let in_tests = path.split('/').any(|part| ["tests", "tests.rs"].contains(&part));
        let Some(entry) = uses.get_mut(module).filter(|_| !in_tests) else { continue };
        for name in named(&code(text)) {
            let name = home.get(name.as_str()).map_or(name.as_str(), |home| *home);
            if modules.contains(name) && name != module {
                entry.insert(name.to_owned());
            }
        }
    }
    uses
}

/// The modules that a root declares, without test modules.
fn declared(root: &str) -> impl Iterator<Item = &str> {
    let mut of_tests = false;
    root.lines().filter_map(move |line| {
        let name = line
            .strip_prefix("pub ")
            .unwrap_or(line)
            .strip_prefix("mod ")
            .and_then(|rest| rest.strip_suffix(';'));
        let kept = name.filter(|_| !of_tests);
        of_tests = line == "#[cfg(test)]";
        kept
    })
}

/// The items that a root exports, and the module of each.
fn exports(root: &str) -> BTreeMap<&str, &str> {
    let mut home = BTreeMap::new();
    for statement in root.split("pub use ").skip(1).filter_map(|rest| rest.split(';').next()) {
        let Some((module, items)) = statement.split_once("::") else { continue };
        for item in items.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|item| !item.is_empty()) {
            home.insert(item, module);
        }
    }
    home
}

/// The text without comments and tests.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text);
    text.lines().filter(|line| !line.trim_start().starts_with("//")).flat_map(|line| [line, "\n"]).collect()
}

/// The names after `crate::`; a group in braces is split up.
fn named(code: &str) -> Vec<String> {
    let word =
        |text: &str| text.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut names = Vec::new();
    for rest in code.split("crate::").skip(1) {
        let Some(group) = rest.strip_prefix('{') else {
            names.push(word(rest));
            continue;
        };
        let (mut depth, mut at_start) = (0, true);
        for (i, c) in group.char_indices() {
            if at_start && depth == 0 && !c.is_whitespace() {
                names.push(word(&group[i..]));
                at_start = false;
            }
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' => at_start = true,
                _ => {}
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(of: &[(&str, &str)]) -> Vec<File> {
        of.iter()
            .map(|(path, text)| File { path: format!("crates/ndp-dp/src/{path}"), text: (*text).into() })
            .collect()
    }

    #[test]
    fn modules_are_ordered_by_their_uses() {
        let root = "mod a;\npub mod b;\nmod c;\n#[cfg(test)]\nmod d;\npub use c::{Thing, Other};\n";
        let tree = files(&[
            ("lib.rs", root),
            (
                "a.rs",
                "use crate::{\n    b::{X, Y},\n    Thing,\n};\n// crate::a\n#[cfg(test)]\nmod tests {\n    use crate::d;\n}\n",
            ),
            ("b/mod.rs", "fn f() -> crate::Other {}\n"),
            ("b/tests.rs", "use crate::a;\n"),
            ("c.rs", ""),
            ("d.rs", "use crate::a;\n"),
        ]);
        let uses = uses(&tree, "crates/ndp-dp/src/");
        assert_eq!(uses["a"], ["b", "c"].map(String::from).into());
        assert_eq!(order(&uses).unwrap(), ["a", "b", "c"]);
    }

    #[test]
    fn circles_are_found() {
        let tree = files(&[
            ("lib.rs", "mod a;\nmod b;\n"),
            ("a.rs", "use crate::b;\n"),
            ("b.rs", "use crate::a::C;\n"),
        ]);
        assert_eq!(order(&uses(&tree, "crates/ndp-dp/src/")), Err(vec!["a".into(), "b".into()]));
        assert!(problems(&tree)[0].starts_with("a circle of modules in ndp-dp: a, b"));
    }
}
