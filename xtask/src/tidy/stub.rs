//! Whether the Python stub file lists what the binding exports. This check works without the tools that
//! compare a stub with a built wheel.

use super::File;
use std::collections::{BTreeMap, BTreeSet};

const BINDING: &str = "python/src/lib.rs";
const STUB: &str = "python/ndp/_ndp.pyi";

pub(super) fn problems(files: &[File]) -> Vec<String> {
    let text = |path: &str| files.iter().find(|f| f.path == path).map_or("", |f| &f.text);
    let sources = files.iter().filter(|f| f.path.starts_with("python/src/"));
    let named: BTreeMap<&str, &str> = sources.flat_map(|f| renamed(&f.text)).collect();
    let exported: BTreeSet<&str> =
        exported(text(BINDING)).map(|name| *named.get(name).unwrap_or(&name)).collect();
    let listed = listed(text(STUB));
    let missing = exported.difference(&listed).map(|name| format!("{STUB}: {name} is not in `__all__`"));
    let strange = listed.difference(&exported).map(|name| format!("{STUB}: {name} is not exported"));
    missing.chain(strange).collect()
}

/// The exported names: those after `use` behind `#[pymodule_export]`, and those added with `m.add`.
fn exported(text: &str) -> impl Iterator<Item = &str> {
    let added = text.split("m.add(\"").skip(1).filter_map(|part| Some(part.split_once('"')?.0));
    let used = text.split("#[pymodule_export]").skip(1).filter_map(|part| {
        let (path, _) = part.trim_start().strip_prefix("use ")?.split_once(';')?;
        let (_, names) = path.rsplit_once("::")?;
        Some(names)
    });
    let used = used.flat_map(|names| names.split(['{', '}', ','])).map(str::trim);
    used.filter(|name| !name.is_empty()).chain(added)
}

/// Items with another name in Python: the name in Rust, then that in Python. Mechanisms are named in a table
/// with one row per line.
fn renamed(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let rows = text.lines().filter_map(|line| {
        let (item, name) = line.trim().strip_suffix("\",")?.split_once("), \"")?;
        Some((item.split_once('(')?.0, name))
    });
    let named = text.split("name = \"").skip(1).filter_map(|part| {
        let (name, rest) = part.split_once('"')?;
        let defined = rest.split_once(['\n'])?.1;
        let item = ["fn ", "struct ", "enum "].iter().filter_map(|kind| defined.split_once(kind));
        let (_, item) = item.min_by_key(|(before, _)| before.len())?;
        Some((item.split(['(', '<', ' ', '{', ';']).next()?, name))
    });
    rows.chain(named)
}

fn listed(text: &str) -> BTreeSet<&str> {
    let all = text.split_once("__all__ = [").and_then(|(_, rest)| rest.split_once(']'));
    let lines = all.map_or("", |(names, _)| names).lines();
    lines.filter_map(|line| line.trim().strip_prefix('"')?.strip_suffix("\",")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_binding_and_the_stub() {
        let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
        let named = "#[pyclass(frozen, name = \"Account\")]\n#[derive(Clone)]\npub(crate) struct Law<T>(T);\nmechanisms! {\n    Noise(Zcdp), \"Zcdp\",\n}\n";
        let binding = "#[pymodule_export]\n    use crate::a::b::{Law,\n Noise, compose};\n#[pymodule_export]\nuse crate::c::prove;\nm.add(\"__version__\", 1)";
        let stub = "__all__ = [\n    \"Account\",\n    \"__version__\",\n    \"Zcdp\",\n    \"compose\",\n    \"prove\",\n]\n";
        assert_eq!(
            problems(&[file(BINDING, binding), file("python/src/law.rs", named), file(STUB, stub)]),
            [""; 0]
        );
        let other = stub.replace("prove", "refute");
        let found = problems(&[file(BINDING, binding), file("python/src/law.rs", named), file(STUB, &other)]);
        assert_eq!(
            found,
            [format!("{STUB}: prove is not in `__all__`"), format!("{STUB}: refute is not exported")]
        );
    }
}
