//! Whether the files that the documents link to, or show, exist.

use super::File;
use std::path::Path;

pub(super) fn problems(files: &[File], root: &Path) -> Vec<String> {
    let mut problems = Vec::new();
    for file in files.iter().filter(|file| file.path.ends_with(".md")) {
        let folder = Path::new(&file.path).parent().unwrap_or(Path::new(""));
        for (i, line) in file.text.lines().enumerate() {
            for target in targets(line).filter(|target| !root.join(folder).join(target).exists()) {
                problems.push(format!("{}:{}: there is no {target}", file.path, i + 1));
            }
        }
    }
    problems
}

/// The paths of the links and pictures in a line, without web addresses and places in the same page.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let targets = line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
    let paths = targets.map(|target| target.split('#').next().unwrap_or(target));
    paths.filter(|path| !path.is_empty() && !path.contains("://"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_files_are_found_and_addresses_are_not_followed() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let text = "[a](Cargo.toml) ![b](src/none.png) [c](https://example.invalid/x) [d](#here)\n[e](src/main.rs#L3)";
        let files = [
            File { path: "a.md".into(), text: text.into() },
            File { path: "src/b.md".into(), text: "[x](main.rs)".into() },
        ];
        assert_eq!(problems(&files, root), ["a.md:1: there is no src/none.png"]);
    }
}
