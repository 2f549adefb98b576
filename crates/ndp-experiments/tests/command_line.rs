//! The program as a user runs it.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

/// A new empty folder.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("ndp-command-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// The program, run in `folder` without any data set in reach.
fn program(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ndp-experiments"));
    command.current_dir(folder).env_remove("NDP_DATA").args(arguments);
    command
}

fn run(folder: &Path, arguments: &[&str]) -> (bool, String) {
    let Output { status, stdout, stderr } = program(folder, arguments).output().unwrap();
    (status.success(), String::from_utf8(stdout).unwrap() + &String::from_utf8(stderr).unwrap())
}

/// What does not depend on the machine: the JSON loses its field `run`.
fn content(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap();
    if path.extension().is_some_and(|extension| extension == "json") {
        let mut value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        value.as_object_mut().unwrap().remove("run");
        return value.to_string().into_bytes();
    }
    bytes
}

const FIGURE: &str = "muffliato/fig3";
const FILES: [&str; 4] =
    ["muffliato/fig3.csv", "muffliato/fig3.json", "muffliato/fig3.svg", "muffliato/fig3.png"];

#[test]
fn the_bytes_do_not_depend_on_threads_or_run() {
    let folder = folder("threads");
    for threads in ["1", "2", "3"] {
        let (ok, said) = run(&folder, &[FIGURE, "--quick", "--threads", threads, "--out", threads]);
        assert!(ok, "{said}");
    }
    for file in FILES {
        let one = content(&folder.join("1").join(file));
        assert_eq!(one, content(&folder.join("2").join(file)), "{file}");
        assert_eq!(one, content(&folder.join("3").join(file)), "{file}");
    }
}

#[test]
fn a_killed_run_leaves_only_whole_files_and_resumes() {
    let folder = folder("killed");
    let arguments = [FIGURE, "--quick", "--resume"];
    for moment in 0..10 {
        let mut child = program(&folder, &arguments).stdout(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(3 + 37 * moment % 150));
        child.kill().unwrap();
        child.wait().unwrap();
        let record = folder.join("out").join(FILES[1]);
        if record.is_file() {
            // The JSON is written last: everything it names is there.
            let value: serde_json::Value = serde_json::from_slice(&std::fs::read(&record).unwrap()).unwrap();
            for file in value["files"].as_array().unwrap() {
                assert!(folder.join("out").join(file.as_str().unwrap()).is_file());
            }
        }
    }
    let (ok, said) = run(&folder, &arguments);
    assert!(ok, "{said}");
    let (ok, said) = run(&folder, &arguments);
    assert!(ok && said.contains("kept"), "{said}");
    let (ok, said) = run(&folder, &[FIGURE, "--quick", "--resume", "--seed", "1"]);
    assert!(ok && !said.contains("kept"), "{said}");
}

#[test]
fn differing_numbers_fail_and_blessed_ones_pass() {
    let folder = folder("bless");
    let references = ["--references", "references"];
    let with = |first: &[&'static str]| [first, &references[..]].concat();
    let (ok, said) = run(&folder, &with(&[FIGURE, "--quick"]));
    assert!(ok && said.contains("no reference") && said.contains("claim does not hold"), "{said}");
    let (ok, said) = run(&folder, &with(&["bless", FIGURE, "--quick"]));
    assert!(ok && said.contains("nothing -> "), "{said}");
    let (ok, said) = run(&folder, &with(&[FIGURE, "--quick"]));
    assert!(ok && said.contains("numbers as committed"), "{said}");
    let file = folder.join("references/quick/muffliato/fig3.csv");
    let text = std::fs::read_to_string(&file).unwrap();
    let row = text.lines().find(|line| line.contains("y at 2")).unwrap();
    let changed = format!("{},0.123", row.rsplit_once(',').unwrap().0);
    std::fs::write(&file, text.replace(row, &changed)).unwrap();
    let (ok, said) = run(&folder, &with(&[FIGURE, "--quick"]));
    assert!(!ok && said.contains("1 NUMBERS DIFFER") && said.contains("0.123 -> "), "{said}");
    // Another seed has no reference.
    let (ok, said) = run(&folder, &with(&[FIGURE, "--quick", "--seed", "7"]));
    assert!(ok && said.contains("no reference"), "{said}");
}

#[test]
fn wrong_requests_are_refused_with_one_clear_sentence() {
    let folder = folder("wrong");
    std::fs::write(folder.join("file"), "").unwrap();
    let cases: [(&[&str], &str); 4] = [
        (&["muffliato/fig77"], "there is no figure \"muffliato/fig77\""),
        (&[FIGURE, "--data", "nowhere"], "the data folder nowhere does not exist"),
        (&[FIGURE, "--threads", "0"], "--threads must be at least 1"),
        (&[FIGURE, "--quick", "--out", "file/out"], "cannot write file/out"),
    ];
    for (arguments, expected) in cases {
        let (ok, said) = run(&folder, arguments);
        assert!(!ok && said.contains(expected) && !said.contains("panicked"), "{arguments:?}: {said}");
    }
    let (ok, said) = run(&folder, &["--list"]);
    assert!(ok && said.contains("muffliato/fig3"), "{said}");
}

/// Linux has a device on which every write finds the disk full.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_one_clear_sentence() {
    let folder = folder("full");
    std::fs::create_dir_all(folder.join("out/muffliato")).unwrap();
    std::os::unix::fs::symlink("/dev/full", folder.join("out/muffliato/fig3.png.part")).unwrap();
    let (ok, said) = run(&folder, &[FIGURE, "--quick"]);
    assert!(!ok && said.contains("cannot write out/muffliato/fig3.png"), "{said}");
    assert!(said.contains("No space left") && !said.contains("panicked"), "{said}");
    assert!(!folder.join("out/muffliato/fig3.json").exists());
}
