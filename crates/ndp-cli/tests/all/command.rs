//! The command as a person uses it: answers, files, mistakes, exit codes.

use super::common::{self, run};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn folder(name: &str) -> PathBuf {
    let folder = common::folder(&format!("cli-{name}"));
    let put = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    let names = ["ann", "bob", "carol", "dan", "eve", "frank", "gina", "hal"];
    let mut ring: String = (0..8).map(|i| format!("{},{}\n", names[i], names[(i + 1) % 8])).collect();
    ring.push_str("ann,eve\n");
    put("friends.csv", &format!("person,friend\n{ring}"));
    put("bare.csv", &ring);
    put("pieces", "1 2\n2 3\n4 5\n");
    put("junk", "1 2\n2 3\nhello\n");
    put("loop", "1 2\n2 2\n");
    put("weighted", "1 2 0.5\n2 3 0.25\n3 1 1\n");
    put("empty", "# nothing here\n");
    put("binary", "\u{0}\u{1}");
    std::fs::write(folder.join("latin1"), b"a\xe9 b\n").unwrap();
    put("path", "1 2\n2 3\n3 4\n4 5\n5 6\n");
    put("limits", "# who\nann carol 0.5\ncarol,ann,0.5\n");
    put("hops", "2 0.5\n4 0.25\n");
    put("unknown", "ann zoe 0.2\n");
    put("twice", "ann bob 1\nann bob 1\n");
    put("mixed", "ann bob 1\n2 1\n");
    put("zero", "ann bob 0\n");
    put("values", &names.iter().enumerate().map(|(i, name)| format!("{name},{i}\n")).collect::<String>());
    put("mine.jsonl", MINE);
    put("bad.jsonl", "{\"ndp-program\": 1, \"nodes\": 8}\n{\"contribut\": \"x\"}\n");
    put("few-values", "ann,1\nbob,2\n");
    put("bad-values", "ann,1\nbob,x\n");
    put("zoe-values", "ann,1\nzoe,2\n");
    folder
}

/// A program in which every node publishes its value with noise of its own.
const MINE: &str = r#"{"ndp-program": 1, "nodes": 8}
{"contribute": "x", "reads": "nothing"}
{"noise": "z", "variance": 1}
{"let": "y", "sum": {"x": 1, "z": 1}}
{"broadcast": "y"}
"#;

fn answer(folder: &Path, arguments: &str) -> String {
    let (code, said, problem) = run(folder, arguments);
    assert_eq!((code, problem.as_str()), (0, ""), "{arguments}: {said}");
    said
}

#[test]
fn questions_have_answers() {
    let folder = folder("answers");
    let graph = answer(&folder, "graph friends.csv --header");
    assert!(graph.contains("nodes") && graph.contains("8") && graph.contains("spectral gap"), "{graph}");
    assert!(answer(&folder, "graph path --csv path.csv --json path.json").contains("single neighbor"));
    let said = std::fs::read_to_string(folder.join("path.json")).unwrap();
    let said = &serde_json::from_str::<serde_json::Value>(&said).unwrap()["result"]["graph"];
    assert_eq!((&said["least degree"], &said["largest degree"]), (&1.into(), &2.into()), "{said}");
    let gap = said["spectral gap (metropolis)"].as_f64().unwrap();
    let sheet = std::fs::read_to_string(folder.join("path.csv")).unwrap();
    assert!(sheet.contains(&format!("spectral gap (metropolis),{gap}\n")), "{sheet}");
    let loss = answer(
        &folder,
        "loss bare.csv --protocol muffliato:rounds=3 --noise 2 --csv all.csv --json all.json --png map.png --svg map.svg",
    );
    assert!(loss.contains("exact") && loss.contains("hops"), "{loss}");
    // A neighbor hears the value with its noise: epsilon of mu = 1/2 at delta 1e-5.
    assert!(loss.contains("1.99310"), "{loss}");
    let table = std::fs::read_to_string(folder.join("all.csv")).unwrap();
    assert_eq!(table.lines().next(), Some("source,observer,hops,grade,loss,observers,by"));
    assert_eq!(table.lines().count(), 1 + 8 * 7);
    let record: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.join("all.json")).unwrap()).unwrap();
    assert_eq!(record["version"], 1);
    assert_eq!(record["result"]["pairs"].as_array().unwrap().len(), 56);
    assert_eq!(record["result"]["pairs"][0]["loss"]["grade"], "exact");
    assert!(std::fs::read(folder.join("map.png")).unwrap().starts_with(b"\x89PNG"));
    assert!(std::fs::read_to_string(folder.join("map.svg")).unwrap().contains("<svg"));
    let least =
        answer(&folder, "calibrate bare.csv --protocol muffliato:rounds=3 --epsilon 1 --sensitivity 10");
    assert!(least.contains("37.306"), "{least}");
    for limits in ["limits", "hops"] {
        let some = answer(
            &folder,
            &format!("calibrate bare.csv --protocol muffliato:rounds=2 --mu 1 --pairs {limits}"),
        );
        assert!(some.contains("tightest pair"), "{some}");
    }
    let table = answer(
        &folder,
        "compare bare.csv --epsilon 1 --protocol muffliato --protocol one-peer --protocol ring-sum",
    );
    assert!(table.contains("one-peer") && table.contains("ring-sum"), "{table}");
    let audit = answer(&folder, "audit bare.csv --noise 1 --source bob --observer ann --runs 2000");
    assert!(audit.contains("mu that the attack shows"), "{audit}");
    let ledger = answer(
        &folder,
        "ledger bare.csv --run muffliato:rounds=2@4 --run ring-sum@4 --observer ann --epsilon 4 --adaptive",
    );
    assert!(ledger.contains("fits") && ledger.contains("left for every pair that was looked at"), "{ledger}");
    let ends = answer(&folder, "simulate bare.csv --values values --noise 1 --rounds 20 --csv ends.csv");
    assert!(ends.contains("mean of the values") && ends.contains("3.5"), "{ends}");
    assert_eq!(std::fs::read_to_string(folder.join("ends.csv")).unwrap().lines().count(), 9);
    // A program. A published value costs what one release costs.
    let mine =
        answer(&folder, "loss bare.csv --program mine.jsonl --uses use-level --noise 2 --observer ann");
    assert!(mine.contains("1.99310") && mine.contains("exact"), "{mine}");
    assert!(answer(&folder, "protocols").contains("muffliato"));
    assert!(answer(&folder, "completions bash").contains("ndp"));
    assert!(answer(&folder, "loss path --noise 1 --observer 1 --quiet --png drawn.png").contains("hops"));
    // The same from standard input, and numbers do not depend on threads.
    let once = answer(&folder, "loss bare.csv --noise 1 --protocol muffliato:rounds=4 --threads 1");
    let mut child = common::ndp()
        .args(["loss", "-", "--noise", "1", "--protocol", "muffliato:rounds=4", "--threads", "2"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&std::fs::read(folder.join("bare.csv")).unwrap()).unwrap();
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(once, said);
    std::fs::remove_dir_all(folder).unwrap();
}

/// Each mistake gives one clear line and a documented exit code.
#[test]
fn mistakes_are_named() {
    let folder = folder("mistakes");
    let cases: &[(&str, i32, &str)] = &[
        ("graph no-such-file", 3, "cannot use no-such-file"),
        ("graph empty", 1, "at least one node"),
        ("graph binary", 1, "line 1"),
        ("graph latin1", 1, "UTF-8"),
        ("graph junk", 1, "line 3"),
        ("graph loop", 1, "--skip-self-loops"),
        ("graph weighted", 1, "--skip-columns"),
        ("loss pieces --noise 1", 1, "--largest-component"),
        ("loss path --noise 0", 2, "a noise must be positive and finite"),
        ("loss path --noise -1", 2, "a noise must be positive and finite"),
        ("loss path --noise nan", 2, "a noise must be positive and finite"),
        ("loss path --noise 1e400", 2, "a noise must be positive and finite"),
        ("loss path --noise 2,5", 2, "a number with a decimal point, such as 2.5"),
        ("loss path --noise 2 --patience 1.5", 2, "a whole number, 0 or more"),
        ("loss path --noise x", 2, "invalid value"),
        ("loss path", 2, "--noise"),
        ("loss path --noise 1 --protocol mufliato", 2, "muffliato"),
        ("loss path --noise 1 --protocol muffliato:rounds", 2, "NAME=NUMBER"),
        ("loss path --noise 1 --protocol muffliato:round=3", 2, "rounds"),
        ("loss path --noise 1 --protocol muffliato:rounds=0", 1, "rounds must"),
        ("loss path --noise 1 --protocol muffliato:rounds=1.5", 1, "whole number"),
        ("loss path --noise 1 --protocol muffliato:rounds=1,rounds=2", 2, "given once"),
        ("loss path --noise 1 --observer 9", 1, "no node \"9\""),
        ("loss path --noise 1 --coalition 1,1", 1, "given twice"),
        ("loss path --noise 1 --coalition 1,2,3,4,5,6 --delta 0", 1, "delta"),
        ("loss path --noise 1 --observer 1 --outsider", 2, "cannot be used"),
        ("loss path --noise 1 --delta 2", 1, "delta"),
        ("loss path --noise 1 --renyi 1 --order 1", 1, "order"),
        ("loss path --noise 1 --sensitivity 0", 2, "positive and finite"),
        ("loss path --noise 1 --observer 1 --csv path/below", 3, "cannot use path/below"),
        ("loss path --noise 0.1 --observer 1 --epsilon 1", 1, "ndp calibrate"),
        ("loss path --noise 1 --protocol one-peer", 1, "power of 2"),
        ("loss path --noise 1 --hidden-senders", 1, "senders"),
        ("calibrate path", 2, "--epsilon"),
        ("calibrate path --epsilon 0", 2, "positive"),
        ("calibrate path --epsilon 1 --mu 1", 2, "cannot be used"),
        ("calibrate bare.csv --epsilon 1 --pairs unknown", 1, "line 1"),
        ("calibrate bare.csv --epsilon 1 --pairs twice", 1, "line 2"),
        ("calibrate bare.csv --epsilon 1 --pairs mixed", 1, "mixed"),
        ("calibrate bare.csv --epsilon 1 --pairs zero", 1, "positive number"),
        ("calibrate bare.csv --epsilon 1 --pairs empty", 1, "no limit"),
        ("audit path --noise 1 --source 1 --observer 1", 1, "source and observer"),
        ("audit path --noise 1 --source 1", 2, "one observer"),
        ("audit path --noise 1 --source 1 --observer 2 --runs 3", 1, "at least 10"),
        ("loss bare.csv --program mine.jsonl --noise 1", 2, "--uses"),
        ("loss path --program mine.jsonl --uses use-level --noise 1", 1, "8 nodes"),
        ("loss bare.csv --program bad.jsonl --uses use-level --noise 1", 1, "line 2"),
        ("loss bare.csv --program no.jsonl --uses use-level --noise 1", 3, "cannot use no.jsonl"),
        ("ledger path --run muffliato", 2, "muffliato:rounds=8@2"),
        ("ledger path --run muffliato@0.5 --epsilon 1", 1, "exceeded"),
        ("simulate bare.csv --values few-values --noise 1", 1, "has no value"),
        ("simulate bare.csv --values bad-values --noise 1", 1, "no finite number"),
        ("simulate bare.csv --values zoe-values --noise 1", 1, "no node"),
        ("graph path --threads 70000", 2, "invalid value"),
        ("nonsense", 2, "unrecognized"),
    ];
    let mut wrong = Vec::new();
    for &(arguments, expected, hint) in cases {
        let (code, said, problem) = run(&folder, arguments);
        let one_line = code == 2 || problem.lines().count() == 1;
        if code != expected || !problem.contains(hint) || problem.contains("panicked") || !one_line {
            wrong.push(format!("{arguments}: exit {code}, {said}{problem}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    std::fs::remove_dir_all(folder).unwrap();
}

/// A closed pipe is no error; a full device gives one line of error.
#[test]
#[cfg(target_os = "linux")]
fn pipes_and_full_devices() {
    let folder = folder("pipes");
    let mut child = common::ndp()
        .current_dir(&folder)
        .args(["loss", "path", "--noise", "1"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = common::ndp().current_dir(&folder).args(["graph", "path"]).stdout(full).output().unwrap();
    let problem = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), problem.lines().count()), (Some(3), 1), "{problem}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// An interruption ends with a code of its own, and leaves no file behind.
#[test]
#[cfg(target_os = "linux")]
fn an_interruption_leaves_nothing_half_written() {
    let folder = folder("interrupt");
    let n = 1 << 10;
    let edges: String = (0..n)
        .flat_map(|v| (0..10).map(move |bit| (v, v ^ (1 << bit))))
        .filter(|(u, v)| u < v)
        .map(|(u, v)| format!("{u} {v}\n"))
        .collect();
    std::fs::write(folder.join("cube"), edges).unwrap();
    let process = common::ndp()
        .current_dir(&folder)
        .args([
            "loss",
            "cube",
            "--protocol",
            "muffliato:rounds=20",
            "--noise",
            "2",
            "--all",
            "--csv",
            "all.csv",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Computing all observers takes far longer than 300 ms.
    std::thread::sleep(std::time::Duration::from_millis(300));
    let id = process.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = process.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let left = std::fs::read_dir(&folder)
        .unwrap()
        .filter(|file| file.as_ref().unwrap().file_name().to_string_lossy().starts_with("all.csv"));
    assert_eq!(left.count(), 0);
    std::fs::remove_dir_all(folder).unwrap();
}
