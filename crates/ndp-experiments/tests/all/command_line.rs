//! The program as a user runs it.

use ndp_experiments::registry;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
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

/// The content that does not depend on the machine: the JSON without its field `run`.
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

/// Every CSV and picture under `out`, with its bytes.
fn results(out: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![out.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "csv" || e == "svg" || e == "png") {
                found.insert(path.strip_prefix(out).unwrap().into(), std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// The figures that are done, each with its record; asserts that all files of each are complete.
fn done(out: &Path) -> BTreeMap<String, Vec<u8>> {
    let records = registry::all().map(|entry| (entry.id, out.join(format!("{}.json", entry.id))));
    let there = records.filter(|(_, path)| path.is_file());
    let read = there.map(|(id, path)| {
        let bytes = std::fs::read(path).unwrap();
        let record: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        for file in record["files"].as_array().unwrap() {
            assert!(out.join(file.as_str().unwrap()).is_file(), "{id}: {file}");
        }
        (id.to_owned(), bytes)
    });
    read.collect()
}

/// Runs all figures twice: on one thread, and on three threads while being killed at ten random moments.
#[test]
fn killed_runs_lose_one_figure_at_most_and_threads_change_no_byte() {
    let folder = folder("killed");
    let arguments = ["--quick", "--threads", "1", "--out", "1"];
    let mut one = program(&folder, &arguments).stdout(Stdio::null()).spawn().unwrap();
    let arguments = ["--quick", "--resume", "--threads", "3", "--out", "3"];
    let (out, mut before) = (folder.join("3"), BTreeMap::new());
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    for _ in 0..10 {
        let mut child = program(&folder, &arguments).stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(rng.random_range(1..600)));
        child.kill().unwrap();
        child.wait().unwrap();
        let after = done(&out);
        // Figures that were done stay as they are: they were not even computed again.
        assert!(before.iter().all(|(id, record)| after.get(id) == Some(record)));
        before = after;
    }
    let (ok, said) = run(&folder, &arguments);
    assert!(ok, "{said}");
    assert_eq!(said.lines().filter(|line| line.contains(" kept ")).count(), before.len(), "{said}");
    assert!(one.wait().unwrap().success());
    let expected = results(&folder.join("1"));
    assert!(expected.len() >= 3 * registry::all().count());
    let got = results(&folder.join("3"));
    assert!(got.keys().eq(expected.keys()));
    for (path, bytes) in &expected {
        assert!(got[path] == *bytes, "{} differs on 3 threads", path.display());
    }
    // Parameters are equal, too, except those that depend on the machine.
    for entry in registry::all() {
        let file = format!("{}.json", entry.id);
        assert_eq!(content(&folder.join("1").join(&file)), content(&folder.join("3").join(&file)), "{file}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn only_what_is_the_same_is_kept() {
    let folder = folder("kept");
    let arguments = [FIGURE, "--quick", "--resume"];
    let (ok, said) = run(&folder, &arguments);
    assert!(ok && !said.contains("kept"), "{said}");
    let (ok, said) = run(&folder, &arguments);
    assert!(ok && said.contains("kept"), "{said}");
    for other in [&["--seed", "1"][..], &["--seed", "42"]] {
        let (ok, said) = run(&folder, &[&arguments, other].concat());
        assert!(ok && !said.contains("kept"), "{said}");
    }
    // Another build may give other numbers.
    let record = folder.join("out/muffliato/fig3.json");
    let text = std::fs::read_to_string(&record).unwrap();
    std::fs::write(&record, text.replace(" bytes, changed at ", " bytes, changed long before ")).unwrap();
    let (ok, said) = run(&folder, &arguments);
    assert!(ok && !said.contains("kept"), "{said}");
    // A file is missing, or cannot be understood.
    std::fs::remove_file(folder.join("out/muffliato/fig3.png")).unwrap();
    let (ok, said) = run(&folder, &arguments);
    assert!(ok && !said.contains("kept"), "{said}");
    std::fs::write(folder.join("out/muffliato/fig3.csv"), "panel,series\n").unwrap();
    let (ok, said) = run(&folder, &arguments);
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
    // There is no reference for another seed.
    let (ok, said) = run(&folder, &with(&[FIGURE, "--quick", "--seed", "7"]));
    assert!(ok && said.contains("no reference"), "{said}");
}

/// With another seed, few nodes may contradict a title: then the picture claims nothing.
#[test]
fn a_title_that_does_not_hold_is_not_drawn() {
    let folder = folder("title");
    let asked = ["muffliato/fig4", "--quick", "--seed", "3", "--out", "out"];
    let (ok, said) = run(&folder, &asked);
    assert!(ok && said.contains("the title is not supported"), "{said}");
    let record = std::fs::read_to_string(folder.join("out/muffliato/fig4.json")).unwrap();
    let drawn = std::fs::read_to_string(folder.join("out/muffliato/fig4.svg")).unwrap();
    assert!(record.contains("\"muffliato/fig4 (its title is not supported by these numbers)\""), "{record}");
    assert!(!drawn.contains("falls with Euclidean distance"));
}

#[test]
fn wrong_requests_are_refused_with_one_clear_sentence() {
    let folder = folder("wrong");
    std::fs::write(folder.join("file"), "").unwrap();
    let cases: [(&[&str], &str); 6] = [
        (&["muffliato/fig77"], "there is no figure \"muffliato/fig77\""),
        (&[FIGURE, "--data", "nowhere"], "the data folder nowhere does not exist"),
        (&[FIGURE, "--threads", "0"], "--threads must be at least 1"),
        (&[FIGURE, "--quick", "--out", "file/out"], "cannot write file/out"),
        (&["bless", FIGURE, "--quick", "--out", "file/out"], "cannot write file/out"),
        (&["data", "--to", "file/data"], "cannot write file/data"),
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
    std::os::unix::fs::symlink("/dev/full", folder.join("out/muffliato/fig3.png")).unwrap();
    let (ok, said) = run(&folder, &[FIGURE, "--quick"]);
    assert!(!ok && said.contains("cannot write out/muffliato/fig3.png"), "{said}");
    assert!(said.contains("No space left") && !said.contains("panicked"), "{said}");
    assert!(!folder.join("out/muffliato/fig3.json").exists());
}
