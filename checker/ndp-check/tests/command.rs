//! The command, on the files that the checker in Python is tried on, too.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use flate2::{Compression, write::GzEncoder};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/files");
    let mut found: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

fn run(words: &[&str], input: &[u8]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ndp-check"));
    command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The names say what is to come out: `accepted-...`, and `rejected-LINE-...` with the line that fails.
#[test]
fn files_are_accepted_or_rejected_as_their_names_say() {
    let (mut accepted, mut rejected) = (0, 0);
    for path in files() {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let output = run(&[path.to_str().unwrap()], b"");
        let (code, said) = (output.status.code(), said(&output));
        if name.starts_with("accepted-") {
            assert!(code == Some(0) && said.ends_with("accepted\n"), "{name}: {said}");
            assert!(said.contains("nothing else but what the file says that they read"), "{said}");
            accepted += 1;
        } else {
            let line = name.strip_prefix("rejected-").and_then(|rest| rest.split('-').next()).unwrap();
            assert!(
                code == Some(1) && said.starts_with(&format!("rejected: line {line}: ")),
                "{name}: {said}"
            );
            rejected += 1;
        }
    }
    assert!(accepted >= 4 && rejected >= 4, "{accepted} and {rejected} files");
}

#[test]
fn packed_and_piped_files_are_read() {
    for path in files() {
        let whole = fs::read(&path).unwrap();
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(&whole).unwrap();
        let direct = run(&[path.to_str().unwrap()], b"");
        for input in [packed.finish().unwrap(), whole] {
            let piped = run(&["-"], &input);
            assert_eq!((said(&piped), piped.status), (said(&direct), direct.status), "{}", path.display());
        }
    }
}

#[test]
fn what_cannot_be_read_is_not_rejected() {
    assert_eq!(run(&["no such file"], b"").status.code(), Some(2));
    assert_eq!(run(&["-"], b"\x1f\x8bno").status.code(), Some(2));
    assert_eq!(run(&["-"], b"\xff\xfe\n").status.code(), Some(2));
    assert_eq!(run(&[], b"").status.code(), Some(2));
    assert_eq!(run(&["-"], b"").status.code(), Some(1));
}
