//! Whether every registered figure has a committed reference and a row in `docs/figures.md`.

use super::File;

const FOLDER: &str = "crates/ndp-experiments/src/figures/";

pub(super) fn problems(files: &[File]) -> Vec<String> {
    let documented = files.iter().find(|f| f.path == "docs/figures.md").map_or("", |f| &f.text);
    let mut problems = Vec::new();
    for file in files.iter().filter(|f| f.path.starts_with(FOLDER)) {
        for id in ids(&file.text) {
            let paper = id.split('/').next().unwrap_or(id).replace('-', "_");
            if !file.path.starts_with(&format!("{FOLDER}{paper}/")) {
                problems.push(format!("{}: the id {id} belongs to another folder", file.path));
            }
            let reference = format!("crates/ndp-experiments/reference/quick/{id}.csv");
            if !files.iter().any(|f| f.path == reference) {
                problems.push(format!("{id} has no reference: cargo xtask bless --quick --figure {id}"));
            }
            if !documented.contains(&format!("| `{id}` |")) {
                problems.push(format!("{id} has no row in docs/figures.md"));
            }
        }
    }
    problems
}

/// The ids of the entries in a source file.
fn ids(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.trim().strip_prefix("id: \"")?.strip_suffix("\","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_without_reference_row_or_place_is_found() {
        let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
        let source = "pub const ENTRY: Entry = Entry {\n    id: \"network-dp/fig1a\",\n};\n";
        let good = [
            file("crates/ndp-experiments/src/figures/network_dp/fig1a.rs", source),
            file("crates/ndp-experiments/reference/quick/network-dp/fig1a.csv", ""),
            file("docs/figures.md", "| `network-dp/fig1a` | what |\n"),
        ];
        assert!(problems(&good).is_empty());
        assert_eq!(problems(&good[..1]).len(), 2);
        assert_eq!(problems(&[file("crates/ndp-experiments/src/figures/beyond/x.rs", source)]).len(), 3);
    }
}
