//! Tests of logs that each tell a part of one run.

use super::*;
use crate::meter::{Feed, Merged};
use rand::RngExt as _;
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use serde_json::json;

/// A run of `n` nodes in one order, and the logs of its parts, each with its own order of nodes and its own
/// names of values.
struct Cut {
    whole: String,
    parts: Vec<String>,
}

/// For each part, its names of the values of the whole run.
type Calls = Vec<std::collections::BTreeMap<usize, String>>;

fn random(seed: u64, set: &str, reads_lists: bool) -> Cut {
    let rng = &mut ChaCha8Rng::seed_from_u64(seed);
    let n = rng.random_range(2..6_usize);
    let parts = rng.random_range(1..=n.min(3));
    let mut owner: Vec<usize> =
        (0..n).map(|u| if u < parts { u } else { rng.random_range(0..parts) }).collect();
    owner.shuffle(rng);
    let name = |u: usize| format!("n{u}");
    let orders: Vec<Vec<usize>> = (0..parts)
        .map(|_| {
            let mut order: Vec<usize> = (0..n).collect();
            order.shuffle(rng);
            order
        })
        .collect();
    let at = |k: usize, u: usize| orders[k].iter().position(|&v| v == u).expect("a node");
    // The first log gives the order of nodes.
    let line = |x: serde_json::Value| format!("{x}\n");
    let mut whole = line(
        json!({"ndp-meter": 1, "set": set, "nodes": orders[0].iter().map(|&u| name(u)).collect::<Vec<_>>()}),
    );
    let mut told: Vec<String> = (0..parts)
        .map(|k| {
            let tells: Vec<usize> = (0..n).filter(|&u| owner[u] == k).map(|u| at(k, u)).collect();
            line(json!({"ndp-meter": 2, "set": set, "tells": tells, "nodes": orders[k].iter().map(|&u| name(u)).collect::<Vec<_>>()}))
        })
        .collect();
    let mut calls: Calls = vec![std::collections::BTreeMap::new(); parts];
    // The values that a node can send as they are; contributions and noises are mostly sent in sums.
    let mut has: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut raw: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut made = 0;
    let mut ids = 0;
    // A value that crossed is given a name where it arrives.
    let receive = |told: &mut Vec<String>, calls: &mut Calls, k: usize, value: usize, id: &str, by: usize| {
        if !calls[k].contains_key(&value) {
            let called = format!("r{}", calls[k].len());
            told[k] += &line(json!({"receive": called, "id": id, "by": at(k, by)}));
            calls[k].insert(value, called);
        }
    };
    for _ in 0..rng.random_range(8..40) {
        let u = rng.random_range(0..n);
        let k = owner[u];
        let new = format!("w{made}");
        let own = format!("v{}", calls[k].len());
        match rng.random_range(0..10) {
            0 | 1 => {
                let mut listed = has[u].clone();
                listed.retain(|_| reads_lists && rng.random_range(0..3) == 0);
                // A list of reads that an observer has not seen is refused, and not shown: lists are either
                // declared as seen, or as hidden.
                let declared = reads_lists && rng.random_range(0..3) == 0;
                let reads = |of: Vec<String>| match (declared, of.is_empty()) {
                    (true, _) => json!("seen"),
                    (false, true) => json!("nothing"),
                    (false, false) => json!({ "hidden": of }),
                };
                whole += &line(
                    json!({"contribute": new, "node": at(0, u), "reads": reads(listed.iter().map(|v| format!("w{v}")).collect())}),
                );
                told[k] += &line(
                    json!({"contribute": own, "node": at(k, u), "reads": reads(listed.iter().map(|v| calls[k][v].clone()).collect())}),
                );
                calls[k].insert(made, own);
                raw[u].push(made);
                made += 1;
            }
            2 | 3 => {
                let mut holders = vec![u];
                holders.extend((0..n).filter(|&v| v != u && rng.random_range(0..4) == 0));
                let variance = rng.random_range(1..5);
                let id = format!("id{ids}");
                ids += 1;
                whole += &line(
                    json!({"noise": new, "shared": holders.iter().map(|&v| at(0, v)).collect::<Vec<_>>(), "variance": variance}),
                );
                told[k] += &line(
                    json!({"noise": own, "shared": holders.iter().map(|&v| at(k, v)).collect::<Vec<_>>(), "variance": variance, "id": id}),
                );
                calls[k].insert(made, own);
                for &v in &holders {
                    raw[v].push(made);
                    if owner[v] != k {
                        receive(&mut told, &mut calls, owner[v], made, &id, v);
                    }
                }
                made += 1;
            }
            4..=6 if !raw[u].is_empty() => {
                let mut of: Vec<usize> = [&raw[u][..], &has[u]].concat();
                of.sort_unstable();
                of.dedup();
                of.shuffle(rng);
                of.truncate(rng.random_range(2..6));
                let weights: Vec<i64> = of.iter().map(|_| [1, 1, 2, -1][rng.random_range(0..4)]).collect();
                let terms = |call: &dyn Fn(usize) -> String| {
                    let terms = of.iter().zip(&weights).map(|(&v, &w)| (call(v), json!(w)));
                    serde_json::Value::Object(terms.collect())
                };
                whole += &line(json!({"let": new, "sum": terms(&|v| format!("w{v}"))}));
                told[k] += &line(json!({"let": own, "sum": terms(&|v| calls[k][&v].clone())}));
                calls[k].insert(made, own);
                has[u].push(made);
                made += 1;
            }
            _ if !has[u].is_empty() => {
                let bare = !raw[u].is_empty() && rng.random_range(0..12) == 0;
                let from = if bare { &raw[u] } else { &has[u] };
                let value = from[rng.random_range(0..from.len())];
                let id = format!("id{ids}");
                ids += 1;
                let to = (u + rng.random_range(1..n)) % n;
                let all = rng.random_range(0..6) == 0;
                let called = calls[k][&value].clone();
                if all {
                    whole += &line(json!({"broadcast": format!("w{value}"), "from": at(0, u)}));
                    told[k] += &line(json!({"broadcast": called, "from": at(k, u), "id": id}));
                } else {
                    whole += &line(json!({"send": format!("w{value}"), "from": at(0, u), "to": at(0, to)}));
                    told[k] += &line(json!({"send": called, "from": at(k, u), "to": at(k, to), "id": id}));
                }
                for v in (0..n).filter(|&v| v != u && (all || v == to)) {
                    // A message that is still on its way has not been received yet.
                    if rng.random_range(0..8) > 0 && !has[v].contains(&value) {
                        has[v].push(value);
                        if owner[v] != k {
                            receive(&mut told, &mut calls, owner[v], value, &id, v);
                        }
                    }
                }
            }
            _ => {}
        }
    }
    Cut { whole, parts: told }
}

/// Random programs that are cut at random: all parts together give what a meter gives that was told
/// everything in one order.
#[test]
fn parts_of_a_run_say_what_the_run_says() -> Result<(), Error> {
    let (mut compared, mut crossed, mut exposed) = (0, 0, 0);
    for seed in 0..CASES {
        for set in ["same-direction", "use-level", "signs"] {
            let cut = random(seed, set, seed % 2 == 1);
            let mut feed = Feed::default();
            feed.lines(cut.whole.as_bytes())?;
            let whole = feed.meter().expect("a first line");
            let logs: Vec<&[u8]> = cut.parts.iter().map(String::as_bytes).collect();
            let merged = Merged::parts(&logs)?;
            crossed += cut.parts.iter().map(|part| part.matches("receive").count()).sum::<usize>();
            for (v, found) in merged.readings().iter().enumerate() {
                let expected = whole.reading(v)?;
                assert_eq!(found.observer, expected.observer);
                for u in (0..whole.node_count()).filter(|&u| u != v) {
                    compared += 1;
                    let (a, b) = (found.upper(u), expected.upper(u));
                    let (a, b) = (a.expect("a pair"), b.expect("a pair"));
                    // A value that is read and hidden is shown by the filter even if the account does not
                    // need it.
                    let noiseless = if seed % 2 == 0 { f64::INFINITY } else { 0.0 };
                    let lower = |reading: &crate::meter::Reading| {
                        reading.loss(u).map_or(noiseless, |loss| loss.lower)
                    };
                    // Neither gives less than the other has proven.
                    assert!(a >= lower(&expected) && b >= lower(found), "seed {seed} {set} {u} {v}: {a} {b}");
                    // The bound on a whole participant, and what a list of reads shows, depend on the order
                    // of rows. For a loss of 0 both have roundings below 1e-30.
                    if set != "signs" && seed % 2 == 0 {
                        assert!(
                            a == b || (a - b).abs() <= 1e-9 * a.max(b).max(1e-9),
                            "seed {seed} {set} {u} {v}: {a} {b}"
                        );
                    }
                    exposed += usize::from(a > 1e-9 && a.is_finite());
                }
            }
        }
    }
    assert!(crossed > 100 && exposed > 100, "{compared} {crossed} {exposed}");
    Ok(())
}

/// Each pair has the loss of the account of the joint program in any order, whatever contributions read.
#[test]
fn parts_are_never_below_the_account() -> Result<(), Error> {
    for seed in 0..CASES / 2 {
        for set in [SensitivitySet::SameDirection, SensitivitySet::UseLevel, SensitivitySet::Signs] {
            let word = match set {
                SensitivitySet::SameDirection => "same-direction",
                SensitivitySet::UseLevel => "use-level",
                _ => "signs",
            };
            let cut = random(seed, word, true);
            let mut feed = Feed::default();
            feed.lines(cut.whole.as_bytes())?;
            let program = feed.meter().expect("a first line").program();
            let logs: Vec<&[u8]> = cut.parts.iter().map(String::as_bytes).collect();
            let merged = Merged::parts(&logs)?;
            for (v, found) in merged.readings().iter().enumerate() {
                let account = program.account(&Observer::node(v))?;
                for u in (0..program.node_count()).filter(|&u| u != v) {
                    let upper = found.upper(u).expect("a pair");
                    let truth = account.loss(u, &set).map_or(f64::INFINITY, |loss| loss.lower);
                    assert!(upper >= truth, "seed {seed} {set:?} {u} {v}: {upper} {truth}");
                }
            }
        }
    }
    Ok(())
}

const ANN: &str = r#"{"ndp-meter": 2, "nodes": ["ann", "bob"], "set": "use-level", "tells": [0]}
{"contribute": "x", "node": 0, "reads": "nothing"}
{"noise": "z", "shared": [0], "variance": 4}
{"let": "y", "sum": {"x": 1, "z": 1}}
{"send": "y", "from": 0, "to": 1, "id": "m"}
"#;
const BOB: &str = r#"{"ndp-meter": 2, "nodes": ["bob", "ann"], "set": "use-level", "tells": [0]}
{"receive": "a", "id": "m", "by": 0}
{"contribute": "x", "node": 0, "reads": {"hidden": ["a"]}}
"#;

/// Two logs that do not fit together are refused, with the reason.
#[test]
fn what_cannot_be_put_together_is_said() -> Result<(), Error> {
    let both = Merged::parts(&[ANN.as_bytes(), BOB.as_bytes()])?;
    assert!(both.rests_on().contains(&ndp_account::RestsOn::PartsOfOneRun));
    let why = |logs: &[&str]| {
        let logs: Vec<&[u8]> = logs.iter().map(|log| log.as_bytes()).collect();
        Merged::parts(&logs).map(|_| ()).map_err(|error| error.to_string()).expect_err("a contradiction")
    };
    let more = |log: &str, line: &str| format!("{log}{line}\n");
    let cases = [
        (vec![ANN.to_owned()], "no log tells of the steps of bob"),
        (vec![ANN.to_owned(), BOB.to_owned(), ANN.to_owned()], "more than one log tells of the steps of ann"),
        (
            vec![ANN.replace("\"m\"", "\"k\""), BOB.to_owned()],
            "log 2, line 2: what was received as \"m\" is in no log",
        ),
        (vec![ANN.replace("use-level", "signs"), BOB.to_owned()], "different changes"),
        (
            vec![ANN.replace("\"tells\": [0]", "\"tells\": [0], \"limit\": 3"), BOB.to_owned()],
            "different budgets",
        ),
        (vec![ANN.replace("\"ann\"", "\"eve\""), BOB.to_owned()], "node of one log alone"),
        (vec![ANN.replace("\"tells\": [0]", "\"tells\": [7]"), BOB.to_owned()], "out of range"),
        (
            vec![ANN.replace(": 2, \"nodes\"", ": 1, \"nodes\""), BOB.to_owned()],
            "begins with \"ndp-meter\": 2",
        ),
        (vec![ANN.replace(", \"tells\": [0]", ""), BOB.to_owned()], "does not say whose steps"),
        // Each log waits for something that the other one sends later.
        (
            vec![
                ANN.replace(
                    "{\"contribute\"",
                    "{\"receive\": \"b\", \"id\": \"n\", \"by\": 0}\n{\"contribute\"",
                ),
                more(BOB, r#"{"send": "x", "from": 0, "to": 1, "id": "n"}"#),
            ],
            "their order cannot be decided, as each waits for what comes later in another: log 1 at line 2 for \"n\", log 2 at line 2",
        ),
        // Steps of other nodes, a noise that would count twice, a message for another node, and names.
        (
            vec![more(ANN, r#"{"contribute": "w", "node": 1, "reads": "nothing"}"#), BOB.to_owned()],
            "log 1, line 6: the logs cannot be merged: it does not tell of the steps of bob",
        ),
        (
            vec![more(ANN, r#"{"send": "y", "from": 1, "to": 0}"#), BOB.to_owned()],
            "does not tell of the steps of bob",
        ),
        (
            vec![more(ANN, r#"{"noise": "k", "shared": [0, 1], "variance": 1}"#), BOB.to_owned()],
            "needs an \"id\"",
        ),
        (
            vec![more(ANN, r#"{"noise": "k", "shared": [0, 1], "variance": 1, "id": "k"}"#), BOB.to_owned()],
            "log 2 does not receive the noise \"k\"",
        ),
        (
            vec![more(ANN, r#"{"noise": "k", "shared": [], "variance": 1}"#), BOB.to_owned()],
            "of a node that holds it",
        ),
        (
            vec![ANN.to_owned(), more(BOB, r#"{"noise": "k", "shared": [1], "variance": 1}"#)],
            "of a node that holds it",
        ),
        (
            vec![more(ANN, r#"{"receive": "own", "id": "m", "by": 0}"#), BOB.to_owned()],
            "\"m\" was not for ann",
        ),
        (
            vec![more(ANN, r#"{"send": "y", "from": 0, "to": 1, "id": "m"}"#), BOB.to_owned()],
            "the name m is given twice",
        ),
        (
            vec![ANN.to_owned(), more(BOB, r#"{"receive": "x", "id": "m", "by": 0}"#)],
            "the name x is given twice",
        ),
        (vec![ANN.to_owned(), more(BOB, r#"{"let": "s", "sum": {"y": 1}}"#)], "the name y is not known"),
        (
            vec![more(ANN, r#"{"round": "W0", "variance": 1, "reads": "nothing"}"#), BOB.to_owned()],
            "is told in single steps",
        ),
    ];
    for (logs, expected) in cases {
        let said = why(&logs.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(said.contains(expected), "{expected}: {said}");
    }
    // A part by itself gives no result, and says why.
    let alone = Feed::default().lines(ANN.as_bytes()).map(|_| ()).map_err(|error| error.to_string());
    assert!(alone.expect_err("a part").contains("a part of a run"));
    // Two names of one value are two terms with the same value: this is refused, so that no term is lost.
    let twice = format!(
        "{BOB}{}\n{}\n",
        r#"{"receive": "b", "id": "m", "by": 0}"#, r#"{"let": "s", "sum": {"a": 1, "b": 1}}"#
    );
    assert!(why(&[ANN, &twice]).contains("second name"));
    Ok(())
}

/// A part without checksums that ends within a line is refused, as a message may have been sent for it; a
/// line that is whole counts without its end.
#[test]
fn a_part_ends_with_a_line() {
    for cut in 0..BOB.len() {
        let text = &BOB[..cut];
        let is_whole = text.lines().next_back().is_some_and(|last| BOB.lines().any(|line| line == last));
        let both = Merged::parts(&[ANN.as_bytes(), text.as_bytes()]);
        assert_eq!(both.is_ok(), is_whole, "{cut}");
        if let Ok(both) = both {
            assert!((both.readings()[1].upper(0).expect("a pair") - 0.25).abs() < 1e-9);
        }
    }
}

/// A part with checksums that was cut off within a character loses the line, like one that was cut off
/// elsewhere: nothing was sent for it.
#[test]
fn a_part_with_checksums_may_be_cut_off_within_a_character() -> Result<(), Error> {
    let mut log = String::new();
    let mut crc = 0;
    for (n, step) in ANN.lines().chain([r#"{"contribute": "é", "node": 0, "reads": "nothing"}"#]).enumerate()
    {
        crc = super::super::log::checksum(crc, n as u64, step);
        log += &format!("{{\"n\":{n},\"crc\":\"{crc:08x}\",\"step\":{step}}}\n");
    }
    let cut = log.rfind('é').expect("a name") + 1;
    for cut in [cut - 1, cut, cut + 1, log.len()] {
        let both = Merged::parts(&[&log.as_bytes()[..cut], BOB.as_bytes()])?;
        assert!((both.readings()[1].upper(0).expect("a pair") - 0.25).abs() < 1e-9, "{cut}");
    }
    Ok(())
}

/// The number of programs; the environment may ask for more.
const CASES: u64 = 150;
