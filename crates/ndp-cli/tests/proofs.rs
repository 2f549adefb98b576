//! `ndp prove`: files that the checker accepts, and what is refused.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::run;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("ndp-proofs-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("ring.txt"), RING).unwrap();
    folder
}

const RING: &str = "a b\nb c\nc d\nd e\ne a\n";

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// What the checker says, where there is a Python.
fn checked(path: &Path) -> Option<(i32, String)> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../checker/ndp_check.py");
    let output = Command::new("python3").arg(script).arg(path).output().ok()?;
    Some((output.status.code()?, String::from_utf8(output.stdout).ok()?))
}

#[test]
fn every_pair_of_a_ring_is_proved_and_checked() {
    let folder = folder("every");
    for (protocol, largest) in
        [("muffliato:rounds=2", "1"), ("decor", "13/21"), ("fresh-noise:rounds=2", "1")]
    {
        let (code, said, complaint) =
            run(&folder, &format!("prove ring.txt --protocol {protocol} --into p.jsonl"));
        assert_eq!(code, 0, "{complaint}");
        assert!(said.contains("pairs that are proved    20"), "{said}");
        let path = folder.join("p.jsonl");
        let file = lines(&path);
        let end = file.last().unwrap();
        assert_eq!((&end["covers"], &end["pairs"]), (&"every-pair".into(), &20.into()));
        assert_eq!(end["largest"], largest, "{protocol}");
        let comments = std::fs::read_to_string(&path).unwrap();
        assert!(comments.contains("# node 4: e\n"));
        if let Some((code, said)) = checked(&path) {
            assert_eq!(code, 0, "{said}");
            assert!(said.contains("every node alone, about every other node (20 pairs)"), "{said}");
        }
    }
}

#[test]
fn a_stronger_claim_is_rejected() {
    let folder = folder("stronger");
    let (code, ..) = run(&folder, "prove ring.txt --protocol decor --observer a --source c --into p.jsonl");
    assert_eq!(code, 0);
    let path = folder.join("p.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("\"upper\":\"10/21\""), "{text}");
    std::fs::write(&path, text.replace("\"upper\":\"10/21\"", "\"upper\":\"9/21\"")).unwrap();
    if let Some((code, said)) = checked(&path) {
        assert!(code == 1 && said.contains("more than the upper end 3/7"), "{said}");
    }
}

#[test]
fn walks_have_no_proof() {
    let folder = folder("walks");
    let (code, _, complaint) = run(&folder, "prove ring.txt --protocol walk --into p.jsonl");
    assert_eq!(code, 1);
    assert!(complaint.contains("proofs are for linear Gaussian protocols"), "{complaint}");
    assert!(!folder.join("p.jsonl").exists());
}
