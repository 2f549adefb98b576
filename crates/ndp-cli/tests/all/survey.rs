//! Every protocol of the registry on every network: an answer of a known kind, or a reason in one line.
//!
//! Always on the karate club; with `NDP_SURVEY=1` on every network of `$NDP_DATA`, which takes about half an
//! hour and prints the table of `docs/cli.md`.

use super::common;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The `--patience` of every question, in seconds.
const PATIENCE: u64 = 20;

fn ndp(arguments: &[&str]) -> (i32, String, String) {
    common::ended(common::ndp().args(arguments))
}

/// Names of all protocols, as the command lists them.
fn protocols() -> Vec<String> {
    let (_, list, _) = ndp(&["protocols"]);
    let names = list.lines().filter(|line| !line.starts_with(' '));
    names.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

/// The label of a node of median degree; of several, the first in the file.
fn median_node(file: &Path) -> String {
    let bytes = std::fs::read(file).unwrap();
    let mut text = String::new();
    if bytes.starts_with(&[0x1f, 0x8b]) {
        std::io::Read::read_to_string(&mut flate2::read::MultiGzDecoder::new(&bytes[..]), &mut text).unwrap();
    } else {
        text = String::from_utf8(bytes).unwrap();
    }
    let mut neighbors: std::collections::BTreeMap<&str, std::collections::BTreeSet<&str>> =
        std::collections::BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let ends: Vec<&str> = line.split([',', ' ', '\t']).filter(|end| !end.is_empty()).collect();
        // The first line may be a header without numbers. The labels of the Davis graph are no numbers
        // either.
        let header = ends[0].starts_with("id") || ends[0].starts_with("node");
        if let ([u, v], false) = (&ends[..2], header) {
            neighbors.entry(u).or_default().insert(v);
            neighbors.entry(v).or_default().insert(u);
        }
    }
    let mut degrees: Vec<usize> = neighbors.values().map(std::collections::BTreeSet::len).collect();
    degrees.sort_unstable();
    let median = degrees[degrees.len() / 2];
    neighbors.iter().find(|(_, around)| around.len() == median).map(|(label, _)| (*label).to_owned()).unwrap()
}

/// The answer for one protocol and one observer, as a word for the table, and the seconds that it took.
fn answered(file: &Path, observer: &str, protocol: &str) -> (String, f64) {
    let file = file.display().to_string();
    let patience = PATIENCE.to_string();
    let mut arguments = vec!["loss", &file, "--largest-component", "--noise", "4", "--patience", &patience];
    arguments.extend(["--protocol", protocol]);
    let who = ["--observer", observer];
    let start = Instant::now();
    let (code, said, problem) = ndp(&[&arguments[..], &who].concat());
    let seconds = start.elapsed().as_secs_f64();
    let value = |name: &str| {
        let line = said.lines().find(|line| line.trim_start().starts_with(name))?;
        Some(line.trim_start()[name.len()..].trim().to_owned())
    };
    let problems: Vec<&str> = problem.lines().filter(|line| line.starts_with("ndp: ")).collect();
    match (code, value("grade")) {
        (0, Some(grade)) => {
            let whole = problem.contains("the bound of whoever hears");
            let known = value("pairs").unwrap();
            let word = match value("pairs not known") {
                Some(_) if known == "0" => "bound".into(),
                Some(_) => format!("{known} pairs and a bound"),
                None if whole => "bound".into(),
                None => grade,
            };
            (word, seconds)
        }
        (1, _) => {
            assert_eq!(problems.len(), 1, "{protocol}: {problem}");
            (format!("refused: {}", &problems[0]["ndp: ".len()..]), seconds)
        }
        (code, _) => panic!("{protocol} on {file}: {code:?}\n{said}\n{problem}"),
    }
}

#[test]
fn the_karate_club_is_answered_by_every_protocol() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/karate.txt");
    for protocol in protocols() {
        // The default, 10 n steps, takes minutes.
        let asked = if protocol == "complete-histogram" { "complete-histogram:steps=40" } else { &protocol };
        let (word, _) = answered(&file, "5", asked);
        match protocol.as_str() {
            "one-peer" => assert!(word.contains("power of 2"), "{word}"),
            _ => assert!(["exact", "upper-bound"].contains(&word.as_str()), "{protocol}: {word}"),
        }
    }
}

#[test]
fn every_network_is_answered_by_every_protocol() {
    let (Some(data), Some(_)) = (std::env::var_os("NDP_DATA"), std::env::var_os("NDP_SURVEY")) else {
        eprintln!("skipped: NDP_SURVEY=1 and NDP_DATA ask for it");
        return;
    };
    let data = PathBuf::from(data);
    let mut files = vec![data.join("davis.edges")];
    for folder in ["facebook", "graphs"] {
        let mut inside: Vec<PathBuf> =
            std::fs::read_dir(data.join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
        inside.retain(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            [".edges", "combined.txt.gz", "edges.csv.gz", "lcc.txt.gz"].iter().any(|end| name.ends_with(end))
        });
        inside.sort();
        files.extend(inside);
    }
    let mut unanswered = Vec::new();
    for file in files {
        let observer = median_node(&file);
        for protocol in protocols() {
            let (word, seconds) = answered(&file, &observer, &protocol);
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            eprintln!("| {name} | {observer} | {protocol} | {word} | {seconds:.1} s |");
            if word.starts_with("refused") && !word.contains("power of 2") {
                unanswered.push(format!("{name}, {protocol}: {word}"));
            }
        }
    }
    assert!(unanswered.is_empty(), "{}", unanswered.join("\n"));
}
