//! `analyze` as a user runs it: a graph, a protocol and a target in; losses, noise, pictures and words out.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A new folder with some edge lists in it.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("ndp-analyze-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let put = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    // A ring of eight with a chord, by names.
    let names = ["ann", "bob", "carol", "dan", "eve", "frank", "gina", "hal"];
    let mut ring: String = (0..8).map(|i| format!("{},{}\n", names[i], names[(i + 1) % 8])).collect();
    ring.push_str("ann,eve\n");
    put("friends.csv", &format!("person,friend\n{ring}"));
    put("bare.csv", &ring);
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(ring.as_bytes()).unwrap();
    std::fs::write(folder.join("friends.gz"), packed.finish().unwrap()).unwrap();
    put("pieces", "1 2\n2 3\n4 5\n");
    put("six", "1 2\n2 3\n3 4\n4 5\n5 6\n");
    put("junk", "1 2\n2 3\nhello\n");
    put("loop", "1 2\n2 2\n");
    put("weighted", "1 2 0.5\n2 3 0.25\n3 3 1\n");
    put("empty", "# nothing here\n");
    put("limits", "source observer loss\nann carol 0.2\ncarol ann 0.2\n");
    put("unknown", "ann zoe 0.2\n");
    let large: String = (0..4000).map(|i| format!("{i} {}\n", (i + 1) % 4000)).collect();
    put("large", &large);
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ndp-experiments"));
    let output = command.current_dir(folder).arg("analyze").args(arguments).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    (output.status.success(), said)
}

const FILES: [&str; 7] =
    ["losses.csv", "heat-map.svg", "heat-map.png", "graph.svg", "graph.png", "summary.txt", "analysis.json"];

/// The losses of a table, by source and observer.
fn losses(path: &Path) -> Vec<(String, String, String, f64)> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    assert_eq!(
        reader.headers().unwrap().iter().collect::<Vec<_>>(),
        ["source", "observer", "hops", "grade", "loss", "share_of_local_loss"]
    );
    let rows = reader.records().map(|row| row.unwrap());
    rows.map(|row| (row[0].into(), row[1].into(), row[3].into(), row[4].parse().unwrap())).collect()
}

#[test]
fn every_protocol_gives_losses_noise_pictures_and_words() {
    let folder = folder("protocols");
    for (protocol, grade) in
        [("muffliato", "exact"), ("fresh-noise", "exact"), ("one-peer", "exact"), ("walk", "upper-bound")]
    {
        let arguments =
            ["friends.csv", "--header", "--protocol", protocol, "--target", "worst=0.25", "--out", protocol];
        let (ok, said) = run(&folder, &arguments);
        assert!(ok, "{said}");
        for file in FILES {
            let bytes = std::fs::read(folder.join(protocol).join(file)).unwrap();
            let start: &[u8] = match file.rsplit('.').next().unwrap() {
                "png" => b"\x89PNG",
                "svg" => b"<svg",
                "json" => b"{",
                "csv" => b"source,",
                _ => b"Graph.",
            };
            assert!(bytes.starts_with(start), "{protocol}/{file}");
        }
        let losses = losses(&folder.join(protocol).join("losses.csv"));
        assert_eq!(losses.len(), 8 * 7);
        let largest = losses.iter().fold(0.0, |most: f64, row| most.max(row.3));
        assert!((0.25 * (1.0 - 1e-7)..=0.25 * (1.0 + 1e-12)).contains(&largest), "{protocol}: {largest}");
        assert!(losses.iter().all(|row| row.2 == grade));
        let text = std::fs::read_to_string(folder.join(protocol).join("analysis.json")).unwrap();
        let record: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(record["sigma"].as_f64().unwrap() > 0.0);
        let summary = std::fs::read_to_string(folder.join(protocol).join("summary.txt")).unwrap();
        assert!(said.starts_with(summary.trim_end()) && summary.contains("8 nodes, 9 edges"), "{said}");
    }
}

#[test]
fn compressed_lists_targets_in_files_and_threads_change_nothing_else() {
    let folder = folder("same");
    let on = |edges: &str, target: &str, threads: &str| {
        let out = format!("{}-{}-{threads}", edges.replace('.', "-"), target.replace('=', "-"));
        let arguments =
            [edges, "--protocol", "muffliato", "--target", target, "--threads", threads, "--out", &out];
        let (ok, said) = run(&folder, &arguments);
        assert!(ok, "{said}");
        folder.join(out)
    };
    let read = |out: &Path, file: &str| std::fs::read(out.join(file)).unwrap();
    let first = on("bare.csv", "mean=0.1", "1");
    for threads in ["2", "3"] {
        let other = on("bare.csv", "mean=0.1", threads);
        for file in FILES {
            assert_eq!(read(&first, file), read(&other, file), "{file}");
        }
    }
    let packed = on("friends.gz", "mean=0.1", "2");
    assert_eq!(read(&first, "losses.csv"), read(&packed, "losses.csv"));
    let limited = losses(&on("bare.csv", "limits", "2").join("losses.csv"));
    let limited = limited
        .iter()
        .filter(|row| (row.0 == "ann" && row.1 == "carol") || (row.0 == "carol" && row.1 == "ann"));
    let largest = limited.fold(0.0, |most: f64, row| most.max(row.3));
    assert!((0.2 * (1.0 - 1e-9)..=0.2).contains(&largest), "{largest}");
}

#[test]
fn the_largest_component_and_one_observer_can_be_asked_for() {
    let folder = folder("parts");
    let common = ["--protocol", "muffliato", "--target", "worst=1"];
    let (ok, said) = run(&folder, &[&["pieces", "--largest-component"], &common[..]].concat());
    assert!(ok && said.contains("3 nodes, 2 edges"), "{said}");
    let (ok, said) = run(&folder, &[&["bare.csv", "--observer", "eve"], &common[..]].concat());
    assert!(ok && said.contains("Only what this one node learns"), "{said}");
    let weighted = ["weighted", "--skip-columns", "--skip-self-loops", "--out", "weighted-out"];
    let (ok, said) = run(&folder, &[&weighted, &common[..]].concat());
    assert!(ok && said.contains("3 nodes, 2 edges"), "{said}");
    let rows = losses(&folder.join("out/analysis/losses.csv"));
    assert!(rows.len() == 7 && rows.iter().all(|row| row.1 == "eve"));
}

/// The command of the README.
#[test]
fn the_first_picture_of_a_visitor() {
    let folder = folder("readme");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let command = readme.lines().find(|line| line.contains("ndp-experiments -- analyze ")).unwrap();
    let arguments: Vec<&str> = command.split_once(" analyze ").unwrap().1.split_whitespace().collect();
    let edges = root.join(arguments[0]);
    let (ok, said) = run(&folder, &[&[edges.to_str().unwrap()], &arguments[1..]].concat());
    assert!(ok && said.contains("34 nodes, 78 edges"), "{said}");
    assert!(folder.join("out/analysis/graph.png").is_file());
}

#[test]
fn bad_input_is_refused_with_one_clear_sentence() {
    let folder = folder("bad");
    let mean = ["--target", "mean=1"];
    let cases: [(&str, &str, &[&str], &str); 23] = [
        ("nowhere", "muffliato", &mean, "cannot read nowhere: No such file"),
        (".", "muffliato", &mean, "cannot read .: "),
        (
            "pieces",
            "muffliato",
            &mean,
            "not connected: it has 2 components, the largest with 3 of 5 nodes; --largest-component takes",
        ),
        ("empty", "muffliato", &mean, "empty: a graph needs at least one node"),
        ("junk", "muffliato", &mean, "junk: line 3 of the edge list has fewer than two fields: \"hello\""),
        ("loop", "muffliato", &mean, "loop: line 2 of the edge list is an edge from a node to itself"),
        ("weighted", "muffliato", &mean, "weighted: line 1 of the edge list has more than two fields"),
        ("limits", "muffliato", &mean, "limits: line 1 of the edge list"),
        ("six", "one-peer", &mean, "power of two, the graph has 6 (nearest: 4 and 8)"),
        (
            "six",
            "gossip",
            &mean,
            "no protocol \"gossip\": it is one of muffliato, fresh-noise, one-peer, walk",
        ),
        ("six", "walk", &["--target", "mean=a"], "mean=a needs a positive, finite number of nats"),
        ("six", "walk", &["--target", "worst=-1"], "worst=-1 needs a positive"),
        (
            "six",
            "walk",
            &["--target", "0.1"],
            "the target \"0.1\" is neither mean=LOSS nor worst=LOSS nor a file",
        ),
        ("bare.csv", "walk", &["--target", "unknown"], "unknown, line 1: the graph has no node \"zoe\""),
        ("bare.csv", "walk", &["--target", "empty"], "there is no limit in the file"),
        (
            "six",
            "muffliato",
            &["--target", "mean=1", "--rounds", "0"],
            "the number of rounds must be at least 1",
        ),
        (
            "six",
            "muffliato",
            &["--target", "mean=1", "--order", "1"],
            "--order: the Rényi order alpha must be",
        ),
        (
            "six",
            "muffliato",
            &["--target", "mean=1", "--sensitivity", "0"],
            "--sensitivity: the sensitivity must be",
        ),
        ("six", "muffliato", &["--target", "mean=1", "--delta", "2"], "--delta: "),
        ("six", "fresh-noise", &["--target", "mean=1", "--rho", "-1"], "--rho must be nonnegative"),
        ("six", "muffliato", &["--target", "mean=1", "--observer", "7"], "the graph has no node \"7\""),
        ("six", "muffliato", &["--target", "mean=1", "--out", "junk/out"], "cannot write junk/out"),
        ("large", "muffliato", &mean, "with 4000 nodes would take about 1.6e7 rows, more than the limit"),
    ];
    for (edges, protocol, rest, expected) in cases {
        let (ok, said) = run(&folder, &[&[edges, "--protocol", protocol], rest].concat());
        assert!(!ok && said.contains(expected), "{edges} {protocol} {rest:?}: {said}");
        let complaints: Vec<&str> = said.lines().filter(|line| !line.starts_with("computing what")).collect();
        assert!(matches!(complaints[..], [line] if line.starts_with("error: ")), "{said}");
    }
    let (ok, said) = run(&folder, &["six", "--target", "mean=1"]);
    assert!(!ok && said.contains("--protocol"), "{said}");
}
