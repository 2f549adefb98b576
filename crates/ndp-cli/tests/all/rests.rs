//! What a number rests on, in which unit it is and of whom it is said, through every door.

use super::common::{folder, run};
use serde_json::Value;
use std::path::Path;

fn in_folder(name: &str) -> std::path::PathBuf {
    let folder = folder(&format!("rests-{name}"));
    std::fs::write(folder.join("path"), "a b\nb c\n").unwrap();
    let ring: String = (0..8).map(|u| format!("{u} {}\n", (u + 1) % 8)).collect();
    std::fs::write(folder.join("ring"), ring).unwrap();
    folder
}

fn result(folder: &Path) -> Value {
    let text = std::fs::read_to_string(folder.join("out.json")).unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["result"].clone()
}

/// A CSV of one row, by the names of its columns.
fn row(folder: &Path, name: &str) -> String {
    let text = std::fs::read_to_string(folder.join("out.csv")).unwrap();
    let mut lines = csv::Reader::from_reader(text.as_bytes());
    let at = lines.headers().unwrap().iter().position(|column| column == name);
    let at = at.unwrap_or_else(|| panic!("no column {name} in {text}"));
    lines.records().next().unwrap().unwrap()[at].to_owned()
}

/// Outsiders, taps, sweeps, ledgers and proofs name what the accounts of nodes name.
#[test]
fn every_door_says_what_numbers_rest_on() {
    let folder = in_folder("doors");
    let (convex, published) =
        ("the loss of every user is convex", "nobody hands out what it holds in the end");
    let (shared, sums) = ("a noise that several nodes share", "a secure sum shows its receiver the sum");
    for (ask, says) in [
        ("loss ring --protocol walk-sgd:steps=20 --noise 3 --outsider", convex),
        ("loss ring --protocol walk-sgd-complete:steps=20 --noise 3 --outsider", convex),
        ("calibrate ring --protocol walk-sgd:steps=20 --epsilon 3 --outsider", convex),
        ("sweep ring --protocol walk-sgd:steps=20 --noise 3 --observer 1", convex),
        ("loss path --protocol muffliato:rounds=1 --noise 1 --tap a-b", published),
        ("loss path --protocol fresh-noise:rounds=1 --noise 1 --tap a-b", published),
        ("sweep path --protocol muffliato:rounds=1 --noise 1 --outsider", published),
        ("ledger path --run muffliato:rounds=1@1 --tap a-b", published),
        ("sweep ring --protocol decor --noise 1 --all", shared),
        ("sweep ring --protocol secure-neighbor-sums --noise 1 --all", sums),
        ("prove path --protocol decor --into p.jsonl", shared),
        ("prove path --protocol muffliato:rounds=2 --outsider --into q.jsonl", published),
    ] {
        let (code, said, problem) = run(&folder, ask);
        assert_eq!(code, 0, "{ask}: {problem}");
        assert!(said.contains(says), "{ask}: {said}");
    }
    let (_, said, _) = run(&folder, "ledger path --run decor@2 --tap a-b --csv out.csv");
    assert!(said.contains("outsider hearing a-b"), "{said}");
    assert_eq!(row(&folder, "observer"), "outsider hearing a-b");
    std::fs::remove_dir_all(folder).unwrap();
}

/// Noise, uniform labels and draws are where the protocol has them.
#[test]
fn a_protocol_says_where_its_noise_is() {
    let folder = in_folder("where");
    for (protocol, says) in [
        ("ring-sum-laplace:passes=2 --outsider", "by every (n-1)-th holder, and on the last token"),
        ("ring-histogram --observer b", "the first holder also puts uniform labels in, and the last as many"),
        ("complete-histogram:steps=9 --observer b", "a value of its own that stays the same"),
        ("randomized-gossip --observer b", "other draws have other numbers"),
        ("randomized-accelerated --observer b", "other draws have other numbers"),
        ("noisy-messages:rounds=2 --observer b", "on every message, anew for each neighbor"),
    ] {
        let (code, said, problem) = run(&folder, &format!("loss path --noise 2 --protocol {protocol}"));
        assert_eq!(code, 0, "{protocol}: {problem}");
        assert!(said.contains(says), "{protocol}: {said}");
    }
    // Weights that are not used are not named.
    let (_, said, _) = run(&folder, "loss path --protocol decor --noise 2 --weights max-degree");
    assert!(said.contains("not used by decor"), "{said}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// At sensitivity 4 noise is four times its multiplier, in tables, CSV and JSON alike.
#[test]
fn noise_is_in_the_unit_of_the_values_everywhere() {
    let folder = in_folder("unit");
    let ask =
        "path --epsilon 1 --sensitivity 4 --observer a --protocol muffliato --csv out.csv --json out.json";
    let (code, _, problem) = run(&folder, &format!("compare {ask}"));
    assert_eq!(code, 0, "{problem}");
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let of_csv = |name: &str| row(&folder, name).parse::<f64>().unwrap();
    let found = result(&folder)[0].clone();
    // The least noise on a query of sensitivity 4, from the specification of the Gaussian mechanism.
    assert!((number(&found["noise"]) / (4.0 * 3.730_631_634_8) - 1.0).abs() < 1e-9, "{found}");
    assert_eq!((number(&found["noise"]), number(&found["error"])), (of_csv("noise"), of_csv("error")));
    // Both are rounded up.
    assert!((number(&found["noise"]) / (4.0 * number(&found["multiplier"])) - 1.0).abs() < 1e-15, "{found}");
    let (code, _, problem) =
        run(&folder, "loss path --noise 8 --sensitivity 4 --observer a --protocol muffliato --json out.json");
    assert_eq!(code, 0, "{problem}");
    let found = result(&folder);
    assert_eq!(["noise", "multiplier", "sensitivity"].map(|key| number(&found[key])), [8.0, 2.0, 4.0]);
    std::fs::remove_dir_all(folder).unwrap();
}

/// The mu that the account allows holds at one share of false alarms, which the CSV has, too.
#[test]
fn audits_have_their_rate_in_the_csv() {
    let folder = in_folder("audit");
    let ask = "audit path --noise 1 --source b --observer a --runs 400 --csv out.csv";
    for (protocol, has) in [("complete-sum:steps=5", true), ("muffliato:rounds=2", false)] {
        let (code, said, problem) = run(&folder, &format!("{ask} --protocol {protocol}"));
        assert_eq!(code, 0, "{problem}");
        assert_eq!(row(&folder, "allowed_at").parse::<f64>().is_ok(), has, "{protocol}");
        assert!(said.contains("too much with probability 0.001 at most"), "{said}");
    }
    assert_eq!(["runs", "error_rate", "observer"].map(|name| row(&folder, name)), ["400", "0.001", "a"]);
    std::fs::remove_dir_all(folder).unwrap();
}

/// Where a bound covers everybody, the pairs in tables are those of the node that was looked at. Another node
/// at the same distance may lose more.
#[test]
fn tables_of_some_are_called_that() {
    let folder = in_folder("some");
    let leaves: String = (0..510).map(|i| format!("hub l{i}\n")).collect();
    std::fs::write(folder.join("hub"), leaves + "hub t1\nt1 t2\nt2 t3\nt3 t4\nt4 t5\nt5 hub\n").unwrap();
    let (code, said, problem) = run(&folder, "loss hub --protocol muffliato:rounds=4 --noise 4");
    assert_eq!(code, 0, "{problem}");
    assert!(said.contains("pairs looked at") && said.contains("hops from those looked at"), "{said}");
    let (_, said, _) = run(&folder, "loss hub --protocol muffliato:rounds=4 --noise 4 --observer t3");
    assert!(!said.contains("looked at"), "{said}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// A coalition of all nodes learns about nobody: there is no number.
#[test]
fn everybody_together_has_no_losses() {
    let folder = in_folder("everybody");
    let ask = "sweep path --protocol decor --noise 2 --coalition a,b,c --row a --into lines.jsonl";
    let (code, said, problem) = run(&folder, ask);
    assert_eq!(code, 0, "{problem}");
    assert!(said.contains("There is nobody outside the observer"), "{said}");
    let lines = std::fs::read_to_string(folder.join("lines.jsonl")).unwrap();
    let line: Value = serde_json::from_str(lines.lines().nth(1).unwrap()).unwrap();
    assert!(line["at"][0]["max"].is_null() && line["at"][0]["row"][0].is_null(), "{line}");
    let table: String = (0..60).map(|i| format!("{},{},{}\n", i % 7, i * i % 11, i % 2)).collect();
    std::fs::write(folder.join("table.csv"), format!("a,b,label\n{table}")).unwrap();
    let (code, _, problem) =
        run(&folder, "train table.csv --noise 2 --users 3 --standardize --coalition 0,1,2");
    assert!(code != 0 && problem.contains("there is nobody to protect"), "{problem}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// What is assumed later is told, also where no loss changes.
#[test]
fn a_meter_tells_what_is_assumed_later() {
    let folder = in_folder("meter");
    let head = r#"{"ndp-meter":1,"nodes":["ann","bob","cem"],"set":"use-level"}
{"matrix":"W","rows":[["1/2","1/2",0],["1/2","1/2",0],[0,0,1]]}
"#;
    let round = |variance: &str, reads: &str| {
        format!("{{\"round\":\"W\",\"variance\":\"{variance}\",\"reads\":\"{reads}\"}}\n")
    };
    let log = [head.into(), round("4", "nothing"), round("4", "seen"), round("400", "seen")].concat();
    std::fs::write(folder.join("log"), log).unwrap();
    let (code, _, problem) = run(&folder, "meter log --json told.json");
    assert_eq!(code, 0, "{problem}");
    let told = std::fs::read_to_string(folder.join("told.json")).unwrap();
    let reads = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        let all = line["rests_on"].as_array().unwrap().clone();
        all.iter().find(|one| one["on"] == "reads").map(|one| one["what"].clone())
    };
    assert_eq!(told.lines().next().and_then(reads), Some("fixed".into()), "{told}");
    assert_eq!(told.lines().last().and_then(reads), Some("assumed".into()), "{told}");
    std::fs::remove_dir_all(folder).unwrap();
}
