//! Forty questions, each with the statement that its answer must give in the table, on the page and as data.
//!
//! The expected statements follow from the question; they were not copied from the output. Two different
//! questions have different statements in all three places.

use super::common::{self, run};
use serde_json::{Value, json};
use std::path::PathBuf;

/// A question and the statement that its answer must give.
struct Row {
    door: &'static str,
    graph: &'static str,
    protocol: &'static str,
    /// The options that say who observes, and what they know.
    who: &'static str,
    /// The observers as named in the table, and on the page after "What is learned by".
    observed: &'static str,
    /// The subject of the sentence about what is learned at most.
    whom: &'static str,
    /// The field `coverage` of the statement.
    coverage: fn() -> Value,
    /// What may differ between neighboring datasets, as data.
    changes: &'static str,
}

/// What may differ between neighboring datasets, as data and in words.
const CHANGES: [(&str, &str); 7] = [
    ("value", "the value of one node, anywhere in its range"),
    ("every-contribution", "everything that one node contributes, each time anywhere in the range"),
    ("every-label", "every label that one node reports"),
    (
        "every-gradient",
        "all data of one node: each of its gradients moves by at most the sensitivity, in any direction",
    ),
    (
        "one-use",
        "one use of one node's data, its other uses unchanged: as declared, and less than all its data",
    ),
    (
        "uses-alike",
        "all uses of one node's data by the same vector: as declared, and less than all its data, which may move them differently",
    ),
    ("every-number", "all uses of one node's data, each a number that moves by at most the sensitivity"),
];

/// Whose data, or which part of them, the first sentence of the page is about.
fn about(changes: &str) -> &'static str {
    match changes {
        "one-use" => "one use of any other node's data",
        "uses-alike" => "any other node's data, all uses of which change alike,",
        _ => "any other node",
    }
}

fn named() -> Value {
    json!({ "covers": "named", "observers": 1 })
}

fn two() -> Value {
    json!({ "covers": "named", "observers": 2 })
}

fn six() -> Value {
    json!({ "covers": "all", "nodes": 6 })
}

fn six_hundred() -> Value {
    json!({ "covers": "all", "nodes": 600 })
}

/// Six nodes have 15 pairs and 20 triples.
fn pairs() -> Value {
    json!({ "covers": "coalitions", "size": 2, "nodes": 6, "looked_at": 15, "rest": "none" })
}

fn triples() -> Value {
    json!({ "covers": "coalitions", "size": 3, "nodes": 6, "looked_at": 20, "rest": "none" })
}

/// 600 nodes have 179,700 pairs; these are too many to look at each.
fn too_many_pairs() -> Value {
    json!({ "covers": "coalitions", "size": 2, "nodes": 600, "looked_at": 1, "rest": "bounded" })
}

fn bounded() -> Value {
    json!({ "covers": "bounded", "looked_at": 1, "nodes": 600, "seed": null })
}

/// No account is computed: a neighbor is proven to learn as much as the bound says.
fn reached() -> Value {
    json!({ "covers": "bounded", "looked_at": 0, "nodes": 6, "seed": null })
}

fn reached_by_many() -> Value {
    json!({ "covers": "bounded", "looked_at": 0, "nodes": 600, "seed": null })
}

fn symmetric() -> Value {
    json!({ "covers": "symmetric", "looked_at": 1, "nodes": 600 })
}

fn drawn() -> Value {
    json!({ "covers": "bounded", "looked_at": 4, "nodes": 600, "seed": 0 })
}

fn drawn_by_nine() -> Value {
    json!({ "covers": "bounded", "looked_at": 4, "nodes": 600, "seed": 9 })
}

fn alike() -> Value {
    json!({ "covers": "alike", "nodes": 600 })
}

fn sample() -> Value {
    json!({ "covers": "sample", "looked_at": 2, "nodes": 600, "seed": 0 })
}

/// On a path of six nodes: each of the six alone, and the two neighbors of each of the four inner nodes.
fn pairs_of_neighbors() -> Value {
    json!({ "covers": "coalitions", "size": 2, "among": "neighbors", "nodes": 6, "looked_at": 10, "rest": "none" })
}

/// In this graph of 600 nodes, four nodes have three neighbors each, and the others have two.
fn pairs_of_many_neighbors() -> Value {
    json!({ "covers": "coalitions", "size": 2, "among": "neighbors", "nodes": 600, "looked_at": PAIRS_OF_600, "rest": "none" })
}

/// On a ring with the chords 0-7 and 3-20: every node alone, two neighbors of each of 596 nodes, and three
/// pairs for each of the others; the pairs {1, 7}, {599, 7} and so on are all different.
const PAIRS_OF_600: usize = 600 + 596 + 4 * 3;

const ALL: &str = "every one of 6 nodes alone";
const ALL_BUT_OWN_NOISE: &str = "every one of 6 nodes alone, leaving their own noise unused";
const REACHED: &str = "every one of 6 nodes alone, by a bound that holds whoever observes and that one of them is proven to reach";
const REACHED_BY_MANY: &str = "every one of 600 nodes alone, by a bound that holds whoever observes and that one of them is proven to reach";
const ANY: &str = "any one of 6 nodes";
const LARGE: &str = "any one of 600 nodes";
const PAIRS: &str = "every coalition of at most 2 of 6 nodes: each of the 15 of exactly 2 looked at, of which smaller ones are a part";
const PAIRS_BUT_OWN_NOISE: &str = "every coalition of at most 2 of 6 nodes: each of the 15 of exactly 2 looked at, of which smaller ones are a part, \
     leaving their own noise unused";
const TRIPLES: &str = "every coalition of at most 3 of 6 nodes: each of the 20 of exactly 3 looked at, of which smaller ones are a part";
const PAIRS_OF_NEIGHBORS: &str = "every coalition of at most 2 of 6 nodes that are neighbors of one node: 10 looked at, of which all others \
     are a part";
const PAIRS_OF_MANY_NEIGHBORS: &str = "every coalition of at most 2 of 600 nodes that are neighbors of one node: 1208 looked at, of which all \
     others are a part";
const MANY_PAIRS: &str = "every coalition of at most 2 of 600 nodes: 1 of exactly 2 chosen and looked at, all others by a bound that holds \
     whoever observes";
const BOUNDED: &str =
    "every one of 600 nodes alone: 1 chosen and looked at, the others by a bound that holds whoever observes";
const SYMMETRIC: &str = "every one of 600 nodes alone: 1 looked at, the others by symmetries of the protocol, each checked exactly";
const DRAWN: &str = "every one of 600 nodes alone: 4 drawn at random (seed 0) and looked at, the others by a bound that holds whoever \
     observes";
const DRAWN_BY_NINE: &str = "every one of 600 nodes alone: 4 drawn at random (seed 9) and looked at, the others by a bound that holds \
     whoever observes";
const ALIKE: &str = "every one of 600 nodes alone, by a result that is the same whoever observes";
const SAMPLE: &str =
    "2 of 600 nodes drawn at random (seed 0), each alone; nothing is shown about what the others learn";
const TAP: &str = "somebody outside the network, overhearing 2 to 3, 3 to 2";
const TAPS: &str = "somebody outside the network, overhearing 2 to 3, 3 to 2, 4 to 5, 5 to 4";
const OUTSIDE: &str = "somebody outside the network";

/// `door graph protocol | who | observed | whom | coverage | changes`.
macro_rules! rows {
    ($($door:literal $graph:literal $protocol:literal $who:literal => $observed:expr, $whom:expr, $coverage:ident, $changes:literal;)*) => {
        [$(Row { door: $door, graph: $graph, protocol: $protocol, who: $who, observed: $observed, whom: $whom,
            coverage: $coverage, changes: $changes }),*]
    };
}

const GOSSIP: &str = "--protocol muffliato:rounds=2";

fn questions() -> Vec<Row> {
    Vec::from(rows! {
        // Who looks, of one gossip.
        "loss" "path" "muffliato:rounds=2" "--observer 3" => "3", "3", named, "value";
        "loss" "path" "muffliato:rounds=2" "--observer 4" => "4", "4", named, "value";
        "loss" "path" "muffliato:rounds=2" "--observer 5 --observer 3" => "3, 5, each alone", "any one of the 2 observers named", two, "value";
        "loss" "path" "muffliato:rounds=2" "--coalition 3,5" => "3, 5 together", "3, 5 together", named, "value";
        "loss" "path" "muffliato:rounds=2" "--outsider" => OUTSIDE, OUTSIDE, named, "value";
        "loss" "path" "muffliato:rounds=2" "--tap 2-3" => TAP, TAP, named, "value";
        "loss" "path" "muffliato:rounds=2" "--tap 2-3 --tap 4-5" => TAPS, TAPS, named, "value";
        "loss" "path" "muffliato:rounds=2" "" => ALL, ANY, six, "value";
        "loss" "path" "muffliato:rounds=2" "--without-own-noise" => ALL_BUT_OWN_NOISE, ANY, six, "value";
        "loss" "path" "muffliato:rounds=2" "--coalition-size 2" => PAIRS, "any coalition of at most 2 of 6 nodes", pairs, "value";
        "loss" "path" "muffliato:rounds=2" "--coalition-size 3" => TRIPLES, "any coalition of at most 3 of 6 nodes", triples, "value";
        "loss" "path" "muffliato:rounds=2" "--coalition-size 2 --without-own-noise" => PAIRS_BUT_OWN_NOISE, "any coalition of at most 2 of 6 nodes", pairs, "value";
        "loss" "path" "muffliato:rounds=2" "--neighbors 2" => PAIRS_OF_NEIGHBORS, "any coalition of at most 2 of 6 nodes that are neighbors of one node", pairs_of_neighbors, "value";
        // On a large graph.
        "loss" "ring" "muffliato:rounds=2" "" => SYMMETRIC, LARGE, symmetric, "value";
        "loss" "lopsided" "muffliato:rounds=2" "" => BOUNDED, LARGE, bounded, "value";
        "loss" "lopsided" "muffliato:rounds=2" "--all" => "every one of 600 nodes alone", LARGE, six_hundred, "value";
        "loss" "lopsided" "muffliato:rounds=2" "--sample 4" => DRAWN, LARGE, drawn, "value";
        "loss" "lopsided" "muffliato:rounds=2" "--sample 4 --seed 9" => DRAWN_BY_NINE, LARGE, drawn_by_nine, "value";
        "loss" "lopsided" "muffliato:rounds=2" "--coalition-size 2" => MANY_PAIRS, "any coalition of at most 2 of 600 nodes", too_many_pairs, "value";
        "loss" "ring" "complete-sum" "" => ALIKE, LARGE, alike, "every-contribution";
        "loss" "ring" "@use-level" "--sample 2" => SAMPLE, "any one of the 2 nodes that were looked at, of 600,", sample, "one-use";
        // Other protocols, and what may differ.
        "loss" "path" "fresh-noise:rounds=2" "" => ALL, ANY, six, "value";
        "loss" "path" "fresh-noise:rounds=2" "--tap 2-3" => TAP, TAP, named, "value";
        "loss" "path" "noisy-messages:rounds=2" "--tap 2-3" => TAP, TAP, named, "value";
        "loss" "path" "secure-neighbor-sums:rounds=1" "--tap 2-3" => TAP, TAP, named, "value";
        "loss" "path" "ring-sum" "--observer 3" => "3", "3", named, "every-contribution";
        "loss" "path" "ring-histogram" "" => ALL, ANY, six, "every-label";
        "loss" "path" "ring-histogram" "--coalition-size 2" => PAIRS, "any coalition of at most 2 of 6 nodes", pairs, "every-label";
        "loss" "path" "walk:steps=20" "" => ALL, ANY, six, "every-contribution";
        "loss" "path" "walk:steps=20" "--coalition 3,5" => "3, 5 together", "3, 5 together", named, "every-contribution";
        "loss" "path" "walk-sgd-complete:steps=9" "" => ALL, ANY, six, "every-gradient";
        "loss" "path" "federated-sgd" "--coalition-size 2" => PAIRS, "any coalition of at most 2 of 6 nodes", pairs, "every-gradient";
        "loss" "path" "@use-level" "" => ALL, ANY, six, "one-use";
        "loss" "path" "@same-direction" "" => ALL, ANY, six, "uses-alike";
        "loss" "path" "@signs" "" => ALL, ANY, six, "every-number";
        // Other doors.
        "calibrate" "path" "muffliato:rounds=2" "" => ALL, ANY, six, "value";
        "calibrate" "path" "muffliato:rounds=2" "--coalition 3,5" => "3, 5 together", "3, 5 together", named, "value";
        "calibrate" "path" "muffliato:rounds=2" "--coalition-size 2" => PAIRS, "any coalition of at most 2 of 6 nodes", pairs, "value";
        "calibrate" "path" "muffliato:rounds=2" "--tap 2-3" => TAP, TAP, named, "value";
        "calibrate" "lopsided" "muffliato:rounds=2" "--coalition-size 2" => MANY_PAIRS, "any coalition of at most 2 of 600 nodes", too_many_pairs, "value";
        "calibrate" "lopsided" "muffliato:rounds=2" "" => BOUNDED, LARGE, bounded, "value";
        "calibrate" "ring" "muffliato:rounds=2" "" => SYMMETRIC, LARGE, symmetric, "value";
        "calibrate" "path" "@signs" "--observer 3" => "3", "3", named, "every-number";
        "calibrate" "path" "muffliato:rounds=2" "--neighbors 2" => PAIRS_OF_NEIGHBORS, "any coalition of at most 2 of 6 nodes that are neighbors of one node", pairs_of_neighbors, "value";
        "calibrate" "lopsided" "muffliato:rounds=2" "--neighbors 2" => PAIRS_OF_MANY_NEIGHBORS, "any coalition of at most 2 of 600 nodes that are neighbors of one node", pairs_of_many_neighbors, "value";
        "compare" "path" "muffliato:rounds=2" "" => ALL, ANY, reached, "value";
        "compare" "path" "muffliato:rounds=2" "--observer 3" => "3", "3", named, "value";
        "compare" "path" "ring-histogram" "--coalition-size 2" => PAIRS, "any coalition of at most 2 of 6 nodes", pairs, "every-label";
        "compare" "lopsided" "muffliato:rounds=2" "" => BOUNDED, LARGE, reached_by_many, "value";
        "compare" "path" "muffliato:rounds=2" "--without-own-noise" => ALL_BUT_OWN_NOISE, ANY, reached, "value";
        "plan" "path" "muffliato" "" => REACHED, ANY, reached, "value";
        "plan" "path" "muffliato" "--coalition 3,5" => "3, 5 together", "3, 5 together", named, "value";
        "plan" "path" "muffliato" "--neighbors 2" => PAIRS_OF_NEIGHBORS, "any coalition of at most 2 of 6 nodes that are neighbors of one node", pairs_of_neighbors, "value";
        "plan" "ring" "muffliato" "" => REACHED_BY_MANY, LARGE, reached_by_many, "value";
    })
}

fn folder(name: &str) -> PathBuf {
    let folder = common::folder(&format!("questions-{name}"));
    let put = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    put("path", "1 2\n2 3\n3 4\n4 5\n5 6\n");
    put("ring", &(0..600).map(|u| format!("n{u} n{}\n", (u + 1) % 600)).collect::<String>());
    // Two chords leave no two nodes of a ring alike.
    put(
        "lopsided",
        &(0..600)
            .map(|u| format!("n{u} n{}\n", (u + 1) % 600))
            .chain(["n0 n7\nn3 n20\n".into()])
            .collect::<String>(),
    );
    for (name, nodes) in [("path", 6), ("ring", 600)] {
        // The program uses its data twice: with a single use, all sensitivity sets would give the same loss.
        let mine = format!(
            "{{\"ndp-program\": 1, \"nodes\": {nodes}}}\n{{\"contribute\": \"x\", \"reads\": \"nothing\"}}\n{{\"contribute\": \"w\", \"reads\": \"nothing\"}}\n\
             {{\"noise\": \"z\", \"variance\": 1}}\n{{\"let\": \"y\", \"sum\": {{\"x\": 1, \"w\": 0.5, \"z\": 1}}}}\n{{\"broadcast\": \"y\"}}\n"
        );
        put(&format!("{name}.jsonl"), &mine);
    }
    folder
}

fn asked(row: &Row) -> String {
    let Row { door, graph, protocol, who, .. } = row;
    let protocol = match protocol.strip_prefix('@') {
        Some(uses) => format!("--program {graph}.jsonl --uses {uses}"),
        None => format!("--protocol {protocol}"),
    };
    let rest = match *door {
        "loss" => "--noise 2 --report page.html",
        "calibrate" => "--epsilon 3",
        _ => "--epsilon 3 --report page.html",
    };
    format!("{door} {graph} {protocol} {who} {rest} --json out.json")
}

/// The value of a row of a summary.
fn cell(said: &str, name: &str) -> String {
    let line = said.lines().find(|line| line.trim_start().starts_with(&format!("{name}  ")));
    line.unwrap_or_else(|| panic!("no {name:?} in {said}")).trim_start()[name.len()..].trim().to_owned()
}

#[test]
fn forty_questions_have_the_statements_that_were_asked_for() {
    let folder = folder("forty");
    let questions = questions();
    assert!(questions.len() >= 40);
    let mut answers: Vec<(String, [String; 3])> = Vec::new();
    for row in &questions {
        let asked = asked(row);
        let (code, said, problem) = run(&folder, &asked);
        assert_eq!(code, 0, "{asked}: {said}{problem}");
        let (_, changes) = CHANGES.iter().find(|(name, _)| *name == row.changes).unwrap();
        let text = std::fs::read(folder.join("out.json")).unwrap();
        let mut found = serde_json::from_slice::<Value>(&text).unwrap()["result"].clone();
        match row.door {
            // Of the one protocol that was named.
            "compare" => {
                assert!(said.contains(&format!("what may change: {changes}\n")), "{asked}: {said}");
                found = found[0].clone();
                assert_eq!(found["coverage"], (row.coverage)(), "{asked}");
            }
            "plan" => {
                assert!(said.contains(&format!("what may change: {changes}\n")), "{asked}: {said}");
                let plans = found["plans"].as_array().unwrap().clone();
                let covers = |plan: &Value| plan["statement"]["coverage"] == (row.coverage)();
                assert!(plans.iter().all(covers), "{asked}");
                found = plans[0].clone();
            }
            _ => {
                assert_eq!(cell(&said, "observed by"), row.observed, "{asked}");
                assert_eq!(cell(&said, "what may change"), *changes, "{asked}");
                assert_eq!(found["observers"], row.observed, "{asked}");
            }
        }
        let stated = &found["statement"];
        assert_eq!(stated["coverage"], (row.coverage)(), "{asked}");
        assert_eq!(stated["changes"], json!([row.changes]), "{asked}");
        let own = if row.who.contains("--without-own-noise") { "unknown" } else { "known" };
        assert_eq!((&stated["own_noise"], &stated["senders"]), (&json!(own), &json!("known")), "{asked}");
        // The data give the numbers of observers who were named; no numbers if all nodes are meant.
        let names_somebody =
            ["--observer", "--coalition ", "--outsider", "--tap"].iter().any(|&who| row.who.starts_with(who));
        assert_eq!(stated["observers"].as_array().unwrap().is_empty(), !names_somebody, "{asked}");
        let mut page = String::new();
        if row.door != "calibrate" {
            page = std::fs::read_to_string(folder.join("page.html")).unwrap().replace("&#39;", "'");
            // The sentence about the own noise that observers leave unused stands apart, and in short where
            // it says what they learn at most.
            let observed = row.observed.replace(", leaving their own noise unused", "");
            let learned = format!("The numbers are about what is learned by {observed}.");
            let whom = match own {
                "unknown" => format!("{}, leaving their own noise unused,", row.whom.trim_end_matches(',')),
                _ => row.whom.to_owned(),
            };
            let most = match row.door {
                "loss" => format!("What {whom} learns about {} is at most ", about(row.changes)),
                "plan" => format!("what {whom} learns is at most 3 about any node"),
                _ => format!("{}: {changes}; noise is the ", row.protocol),
            };
            // In `compare` the page gives a coverage per protocol instead.
            assert!(row.door == "compare" || page.contains(&learned), "{asked}: {learned}");
            assert!(page.contains(&most), "{asked}: {most}");
            assert!(
                row.door == "compare" || page.contains(&format!(": {changes}. Imagine")),
                "{asked}: {changes}"
            );
            let thrown_away = page.matches("The noise that an observer drew itself is not used.").count();
            assert_eq!(thrown_away, usize::from(own == "unknown"), "{asked}");
            let known = page.matches("Each knows the noise that it drew itself; that is counted.").count();
            assert_eq!(known, usize::from(own == "known"), "{asked}");
            let in_short = usize::from(own == "unknown" && row.door != "compare");
            assert_eq!(page.matches("own noise unused").count(), in_short, "{asked}");
        }
        let line = format!("{}; {changes}", row.observed);
        answers.push((asked, [line, stated.to_string(), page]));
    }
    // Two different questions about the same protocol, graph and command have different statements
    // everywhere.
    for (i, row) in questions.iter().enumerate() {
        for (j, other) in questions.iter().enumerate().skip(i + 1) {
            if (row.door, row.graph, row.protocol) == (other.door, other.graph, other.protocol) {
                let ((asked, a), (also, b)) = (&answers[i], &answers[j]);
                let same = a.iter().zip(b).any(|(a, b)| !a.is_empty() && a == b);
                assert!(!same, "{asked} and {also} are answered alike");
            }
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// A question without an answer is refused with the reason. A limit is judged by all observers that the
/// question is about.
#[test]
fn what_is_not_known_is_refused() {
    let folder = folder("refused");
    for (rest, code, why) in [
        ("--tap 2-4", 1, "not neighbors"),
        ("--tap 2", 1, "say two nodes of the graph"),
        ("--tap 2-9", 1, "say two nodes of the graph"),
        (
            "--coalition-size 6",
            1,
            "the size of a coalition must be at least 1 and less than the number of nodes, got 6",
        ),
        ("--coalition-size 0", 1, "the size of a coalition must be at least 1"),
        ("--coalition-size 2 --mean --mu 9", 1, "a mean towards every coalition"),
        ("--coalition-size 2 --all", 2, "cannot be used with"),
        ("--tap 2-3 --outsider", 2, "cannot be used with"),
    ] {
        let (found, said, problem) = run(&folder, &format!("loss path {GOSSIP} --noise 2 {rest}"));
        assert!(found == code && problem.contains(why), "{rest}: {found} {said}{problem}");
    }
    for protocol in ["local", "walk:steps=20", "ring-sum", "randomized-gossip", "federated-sgd"] {
        let (code, said, problem) =
            run(&folder, &format!("loss path --protocol {protocol} --noise 2 --tap 2-3"));
        assert!(code == 1 && problem.contains("not offered"), "{protocol}: {said}{problem}");
    }
    let (code, _, problem) =
        run(&folder, &format!("audit path {GOSSIP} --noise 2 --source 1 --coalition-size 2"));
    assert!(code == 2 && problem.contains("--coalition A,B"), "{problem}");
    // A neighbor hears the noisy value itself, mu = 1/2 at noise 2. A second observer learns no more about
    // it.
    let (code, said, _) =
        run(&folder, &format!("loss path {GOSSIP} --noise 2 --coalition-size 2 --mu 0.5001"));
    assert!(code == 0 && said.lines().last().unwrap().ends_with(PAIRS), "{said}");
    let (code, said, problem) =
        run(&folder, &format!("loss path {GOSSIP} --noise 2 --coalition-size 2 --mu 0.4"));
    assert!(code == 1 && problem.contains("violated"), "{said}{problem}");
    // A secure sum hides from one observer what two together learn, so here the size of the coalition
    // matters.
    let sums = "--protocol secure-neighbor-sums:rounds=1 --noise 2 --mu 0.4";
    let (one, _, _) = run(&folder, &format!("loss path {sums} --observer 3"));
    let (two, _, problem) = run(&folder, &format!("loss path {sums} --coalition 3,5"));
    let (any, _, _) = run(&folder, &format!("loss path {sums} --coalition-size 2"));
    assert_eq!((one, two, any), (0, 1, 1), "{problem}");
    let (_, said, _) = run(&folder, &format!("calibrate path {GOSSIP} --coalition 2,4 --mu 1"));
    assert!(cell(&said, "tightest pair").starts_with("what 2+4 learns about "), "{said}");
    std::fs::remove_dir_all(folder).unwrap();
}
