//! The transcripts of `docs/cli.md`, run again: what a reader sees there is what the command prints.
//!
//! `NDP_BLESS=1` writes what the command prints into the page. Transcripts on data that are not there are
//! skipped with a word.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test may panic and say what it skips")]

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A folder for what commands write, `$OUT` on the page; empty at the start.
fn scratch() -> PathBuf {
    std::env::temp_dir().join(format!("ndp-transcripts-{}", std::process::id()))
}

/// What the command prints, with the folder of the data out of sight; `None` where the data are missing.
fn printed(command: &str) -> Option<String> {
    let data = std::env::var_os("NDP_DATA").map(PathBuf::from);
    let mut arguments = Vec::new();
    for word in command.split_whitespace() {
        if let Some(file) = word.strip_prefix("$OUT/") {
            arguments.push(scratch().join(file).into_os_string());
            continue;
        }
        arguments.push(match word.strip_prefix("$NDP_DATA/") {
            Some(file) => {
                data.as_ref().map(|data| data.join(file)).filter(|path| path.exists())?.into_os_string()
            }
            None => word.into(),
        });
    }
    let output =
        Command::new(env!("CARGO_BIN_EXE_ndp")).current_dir(root()).args(arguments).output().unwrap();
    // How long it took here is no part of the answer.
    let progress = |line: &&str| line.ends_with(" s so far") || line.ends_with(" s left");
    let problem = String::from_utf8(output.stderr).unwrap();
    let notes: String =
        problem.lines().filter(|line| !progress(line)).map(|line| format!("{line}\n")).collect();
    let said = String::from_utf8(output.stdout).unwrap() + &notes;
    let said = said.replace(&scratch().display().to_string(), "$OUT");
    let shown = data.map_or(said.clone(), |data| said.replace(&data.display().to_string(), "$NDP_DATA"));
    Some(shown)
}

#[test]
fn transcripts_are_what_the_command_prints() {
    let page = root().join("docs/cli.md");
    std::fs::create_dir_all(scratch()).unwrap();
    let text = std::fs::read_to_string(&page).unwrap();
    let bless = std::env::var_os("NDP_BLESS").is_some();
    let (mut renewed, mut wrong, mut count) = (String::new(), Vec::new(), 0);
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        renewed.push_str(line);
        renewed.push('\n');
        let Some(command) = line.strip_prefix("    $ ndp ") else { continue };
        count += 1;
        let mut shown = String::new();
        // The answer ends where the indentation does; empty lines inside it are followed by more of it.
        while let Some(next) = lines.peek() {
            if next.starts_with("    $ ") || !(next.starts_with("    ") || next.is_empty()) {
                break;
            }
            shown.push_str(next.strip_prefix("    ").unwrap_or(""));
            shown.push('\n');
            lines.next();
        }
        let found = match printed(command) {
            Some(found) => found,
            None => {
                eprintln!("skipped, its data are not here: ndp {command}");
                shown.clone()
            }
        };
        if found.trim_end() != shown.trim_end() {
            wrong.push(format!("ndp {command}\n{found}"));
        }
        for line in found.trim_end().lines() {
            renewed.push_str(if line.is_empty() { "" } else { "    " });
            renewed.push_str(line);
            renewed.push('\n');
        }
        renewed.push('\n');
    }
    std::fs::remove_dir_all(scratch()).unwrap();
    if bless {
        std::fs::write(&page, renewed.trim_end().to_owned() + "\n").unwrap();
        return;
    }
    assert!(count >= 8, "{count} transcripts");
    assert!(wrong.is_empty(), "NDP_BLESS=1 renews the page:\n{}", wrong.join("\n"));
}
