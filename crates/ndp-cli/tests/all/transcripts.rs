//! Runs the transcripts of the book again, so that the book shows what the command prints.
//!
//! A transcript is a line `$ ndp ...` with its answer, in an indented block or in one that is fenced as
//! `console`. `$ cat NAME` shows a file; the test writes it for the commands after it. Every page has a
//! folder of its own, with the examples of the repository in it as `crates`.
//!
//! `NDP_BLESS=1` writes what the command prints into the pages. If the data of a transcript are missing, it
//! is skipped and the test says so.

use super::common;
use std::iter::Peekable;
use std::path::{Path, PathBuf};
use std::str::Lines;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A new folder for what the commands of a page read and write, `$OUT` on the page.
fn scratch(page: &str) -> PathBuf {
    let folder = common::folder(&format!("transcripts-{}", page.replace('/', "-")));
    #[cfg(unix)]
    std::os::unix::fs::symlink(root().join("crates"), folder.join("crates")).unwrap();
    folder
}

/// The words of a command as a shell splits them; quoted text is one word.
fn words(command: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for (i, part) in command.split('"').enumerate() {
        if i % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// What the command prints, with the paths of the data and of the page's folder replaced; `None` if the data
/// are missing.
fn printed(command: &str, folder: &Path) -> Option<String> {
    let data = std::env::var_os("NDP_DATA").map(PathBuf::from);
    let mut arguments = Vec::new();
    for word in words(command) {
        if let Some(file) = word.strip_prefix("$OUT/") {
            arguments.push(folder.join(file).into_os_string());
            continue;
        }
        arguments.push(match word.strip_prefix("$NDP_DATA/") {
            Some(file) => {
                data.as_ref().map(|data| data.join(file)).filter(|path| path.exists())?.into_os_string()
            }
            None => (&word).into(),
        });
    }
    let output = common::ndp().current_dir(folder).args(arguments).output().unwrap();
    // Lines about progress depend on the speed of the machine, so they are left out.
    let progress =
        |line: &&str| line.starts_with("so far: ") || line.contains(" s so far") || line.contains(" s left");
    let problem = String::from_utf8(output.stderr).unwrap();
    let notes: String =
        problem.lines().filter(|line| !progress(line)).map(|line| format!("{line}\n")).collect();
    let said = String::from_utf8(output.stdout).unwrap() + &notes;
    let said = said.replace(&folder.display().to_string(), "$OUT");
    let shown = data.map_or(said.clone(), |data| said.replace(&data.display().to_string(), "$NDP_DATA"));
    Some(shown)
}

/// The answer below a command: up to the end of its block or to the next command, without the indentation.
///
/// An indented block goes on after an empty line where more of it follows.
fn answer(lines: &mut Peekable<Lines<'_>>, indent: &str) -> String {
    let mut shown = String::new();
    while let Some(next) = lines.peek() {
        let inside = if indent.is_empty() {
            !next.starts_with("```")
        } else {
            next.starts_with(indent) || next.is_empty()
        };
        let rest = next.strip_prefix(indent).unwrap_or("");
        if !inside || rest.starts_with("$ ") {
            break;
        }
        shown.push_str(rest);
        shown.push('\n');
        lines.next();
    }
    shown
}

/// Runs the transcripts of a page. Returns their number, and those whose answer differs.
fn run(page: &str) -> (usize, Vec<String>) {
    let path = root().join(page);
    let folder = scratch(page);
    let text = std::fs::read_to_string(&path).unwrap();
    let (mut renewed, mut wrong, mut count) = (String::new(), Vec::new(), 0);
    let mut lines = text.lines().peekable();
    let mut indent = "    ";
    while let Some(line) = lines.next() {
        renewed.push_str(line);
        renewed.push('\n');
        if let Some(language) = line.strip_prefix("```") {
            indent = if language == "console" { "" } else { "    " };
            continue;
        }
        let Some(command) = line.strip_prefix(indent).and_then(|line| line.strip_prefix("$ ")) else {
            continue;
        };
        let shown = answer(&mut lines, indent);
        let found = if let Some(name) = command.strip_prefix("cat ") {
            std::fs::write(folder.join(name), shown.trim_end().to_owned() + "\n").unwrap();
            shown.clone()
        } else {
            let command = command.strip_prefix("ndp ").unwrap_or_else(|| panic!("{page}: {command}"));
            count += 1;
            printed(command, &folder).unwrap_or_else(|| {
                eprintln!("skipped, its data are not here: ndp {command}");
                shown.clone()
            })
        };
        if found.trim_end() != shown.trim_end() {
            wrong.push(format!("{page}: {command}\n{found}"));
        }
        for line in found.trim_end().lines() {
            renewed.push_str(if line.is_empty() { "" } else { indent });
            renewed.push_str(line);
            renewed.push('\n');
        }
        if lines.peek().is_some_and(|next| !next.starts_with("```")) {
            renewed.push('\n');
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
    if std::env::var_os("NDP_BLESS").is_some() {
        std::fs::write(&path, renewed.trim_end().to_owned() + "\n").unwrap();
        wrong.clear();
    }
    (count, wrong)
}

#[test]
fn transcripts_of_the_reference_are_what_the_command_prints() {
    let (count, wrong) = run("docs/cli.md");
    assert!(count >= 8, "{count} transcripts");
    assert!(wrong.is_empty(), "NDP_BLESS=1 renews the page:\n{}", wrong.join("\n"));
}

/// All pages that the table of contents names, but the one above.
#[test]
fn transcripts_of_the_book_are_what_the_command_prints() {
    let summary = std::fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let targets =
        summary.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
    let pages = targets.filter(|target| !target.is_empty() && *target != "cli.md");
    let (mut count, mut wrong) = (0, Vec::new());
    for page in pages.map(|page| format!("docs/{page}")) {
        let (more, different) = run(&page);
        count += more;
        wrong.extend(different);
    }
    assert!(count >= 8, "{count} transcripts");
    assert!(wrong.is_empty(), "NDP_BLESS=1 renews the pages:\n{}", wrong.join("\n"));
}
