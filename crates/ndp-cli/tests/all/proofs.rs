//! `ndp prove`: files that the checker accepts, and what is refused.

use super::common::{self, run};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

fn folder(name: &str) -> PathBuf {
    let folder = common::folder(&format!("proofs-{name}"));
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

/// The exit code and output of the checker; `None` if there is no Python.
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

/// A proof beside an answer uses the answer's sensitivity set, and proves the losses that the account gives.
#[test]
fn answers_bring_their_proofs() {
    let folder = folder("answers");
    for (question, set, pairs) in [
        ("loss ring.txt --protocol decor --noise 1 --mu 2 --proof p.jsonl", "\"use-level\"", 20),
        (
            "loss ring.txt --protocol dsgd:steps=3,fixed=1,alike=1 --noise 1 --proof p.jsonl",
            "\"same-direction\"",
            20,
        ),
        ("calibrate ring.txt --protocol muffliato:rounds=2 --mu 1 --proof p.jsonl", "\"use-level\"", 20),
        (
            "audit ring.txt --protocol decor --noise 1 --observer a --source c --runs 200 --proof p.jsonl",
            "\"use-level\"",
            1,
        ),
        (
            "loss ring.txt --protocol dsgd:steps=2,fixed=1 --noise 1 --observer a --proof p.jsonl",
            "{\"vectors\":{\"dimension\":2}}",
            4,
        ),
    ] {
        let (code, said, complaint) = run(&folder, question);
        assert_eq!(code, 0, "{question}: {complaint}");
        assert!(said.contains(&format!("proof: {pairs} pair")) && said.contains(", mu^2 at most"), "{said}");
        assert!(said.contains("ndp_check.py") && said.contains("ndp-check"), "{said}");
        let file = lines(&folder.join("p.jsonl"));
        assert_eq!(file[0]["set"].to_string(), set);
        assert_eq!(file.last().unwrap()["pairs"], pairs);
        if let Some((code, said)) = checked(&folder.join("p.jsonl")) {
            assert_eq!(code, 0, "{said}");
        }
    }
}

/// If there is no proof, the command says why before it computes anything, and writes nothing.
#[test]
fn answers_without_a_proof_say_why() {
    let folder = folder("without");
    for (question, why) in [
        (
            "loss ring.txt --protocol walk --noise 9 --proof p.jsonl",
            "proofs are for linear Gaussian protocols",
        ),
        (
            "loss ring.txt --protocol dsgd --noise 9 --proof p.jsonl",
            "proofs are for linear Gaussian protocols",
        ),
        ("loss ring.txt --noise 9 --without-own-noise --proof p.jsonl", "who use all that they know"),
        ("calibrate ring.txt --protocol walk --epsilon 9 --proof p.jsonl", "linear Gaussian protocols"),
    ] {
        let (code, said, complaint) = run(&folder, question);
        assert_eq!(code, 1, "{question}: {complaint}");
        assert!(complaint.contains(why), "{complaint}");
        assert!(said.is_empty(), "{said}");
        assert!(!folder.join("p.jsonl").exists());
    }
}

/// A bound has no proof. So a proof is refused whenever a bound, groups or symmetries cover observers who are
/// not looked at, or all coalitions of a size.
#[test]
fn observers_covered_by_a_bound_have_no_proof() {
    let folder = folder("bounds");
    let put = |name: &str, text: String| std::fs::write(folder.join(name), text).unwrap();
    let ring = || (0..600).map(|u| format!("n{u} n{}\n", (u + 1) % 600));
    put("large.txt", ring().collect());
    put("lopsided.txt", ring().chain(["n0 n7\nn3 n20\n".into()]).collect());
    // Each case first shows that its observers are covered in the way it is named after.
    for (question, covers) in [
        ("loss lopsided.txt --protocol muffliato:rounds=2 --noise 2", "bounded"),
        ("loss lopsided.txt --protocol gopa --noise 2", "grouped"),
        ("loss large.txt --protocol muffliato:rounds=2 --noise 2", "symmetric"),
        ("loss lopsided.txt --protocol muffliato:rounds=2 --noise 2 --sample 3", "bounded"),
        ("loss lopsided.txt --protocol muffliato:rounds=2 --noise 2 --coalition-size 2", "coalitions"),
    ] {
        let (code, said, complaint) = run(&folder, &format!("{question} --json out.json"));
        assert_eq!(code, 0, "{question}: {said}{complaint}");
        let answer: Value = serde_json::from_slice(&std::fs::read(folder.join("out.json")).unwrap()).unwrap();
        assert_eq!(answer["result"]["statement"]["coverage"]["covers"], covers, "{question}");
        let other = question.replace("loss", "calibrate").replace("--noise 2", "--mu 1");
        for question in [question, &other] {
            let (code, said, complaint) = run(&folder, &format!("{question} --proof p.jsonl"));
            assert_eq!(code, 1, "{question}: {complaint}");
            assert!(
                complaint
                    .contains("a bound covers observers who are not looked at, and a bound has no proof"),
                "{complaint}"
            );
            assert!(said.is_empty() && !folder.join("p.jsonl").exists(), "{said}");
        }
    }
    // On the same network, an observer who is named has a proof.
    let (code, _, complaint) = run(
        &folder,
        "loss lopsided.txt --protocol muffliato:rounds=2 --noise 2 --observer n5 --proof p.jsonl.gz",
    );
    assert!(code == 0 && folder.join("p.jsonl.gz").exists(), "{complaint}");
    // And so have observers who are drawn. The file is about them, and does not say that it covers all.
    let drawn = "prove lopsided.txt --protocol muffliato:rounds=2 --sample 2 --source n5 --into q.jsonl";
    let (code, said, complaint) = run(&folder, drawn);
    assert!(code == 0 && said.contains("nodes drawn at random (seed 0), each alone"), "{said} {complaint}");
    assert!(std::fs::read_to_string(folder.join("q.jsonl")).unwrap().contains("these-pairs"));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn walks_have_no_proof() {
    let folder = folder("walks");
    let (code, _, complaint) = run(&folder, "prove ring.txt --protocol walk --into p.jsonl");
    assert_eq!(code, 1);
    assert!(complaint.contains("proofs are for linear Gaussian protocols"), "{complaint}");
    assert!(!folder.join("p.jsonl").exists());
}
