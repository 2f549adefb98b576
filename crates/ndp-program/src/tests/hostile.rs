//! Texts that nobody would write: the lines of a valid program, with keys left out, added, or given values
//! that do not belong there.

use super::*;
use rand::seq::IndexedRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value as Json, json};

/// Every kind of step, in an order in which all of them are accepted.
fn good() -> Vec<Json> {
    vec![
        json!({"ndp-program": 1, "nodes": 4}),
        json!({"graph": "g", "family": "cycle"}),
        json!({"graph": "h", "edges": [[0, 1], [1, 2]]}),
        json!({"matrix": "W", "of": "g", "weights": "metropolis", "lazy": "1/3"}),
        json!({"matrix": "V", "rows": [[1, 0, 0, 0], ["1/2", "1/2", 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]}),
        json!({"matrix": "U", "entries": [{"0": 1}, {"1": 1}, {"2": 1}, {"3": 1}]}),
        json!({"contribute": "x", "reads": "nothing"}),
        json!({"noise": "z", "variance": 1}),
        json!({"noise": "p", "shared": [0, 1], "variance": 0.1}),
        json!({"noise": "q", "pairwise": "g", "variance": 2}),
        json!({"noise": "m", "zero-sum": [0, 1, 2], "variance": 4}),
        json!({"noise": "c", "nodes": [0, 1], "covariance": [[2, 1], [1, 2]]}),
        json!({"noise": "o", "over-time": [[1], [-1, 1]], "variance": 1}),
        json!({"noise": "b", "inverse-of-band": [1, -1], "steps": 4, "variance": 1}),
        json!({"let": "y", "sum": {"x": 1, "z": "1/2", "q": 1}}),
        json!({"repeat": 2}),
        json!({"send": "y", "along": "g"}),
        json!({"set": "y", "gossip": "W", "of": "y"}),
        json!({"contribute": "d", "reads": {"hidden": ["y"]}}),
        json!({"set": "y", "sum": {"y": 1, "d": 1, "b[t+1]": 1}}),
        json!({"end": "repeat"}),
        json!({"send": "y", "from": 0, "to": [1, 2]}),
        json!({"broadcast": "y", "nodes": [2, 3]}),
        json!({"publish": "y@0"}),
        json!({"secure-sum": "s", "of": "y", "nodes": [1, 2], "to": 0, "weights": [1, "1/2"]}),
        json!({"secure-sum": "r", "of": "y", "along": "W"}),
        json!({"hold": "y@3", "by": 2}),
        json!({"let": "e", "sum": {"y@1": 1, "y@0": -1}, "node": 1}),
        json!({"result": "y"}),
        json!({"leave": 3}),
    ]
}

/// A random value for a key of a line.
fn anything(rng: &mut impl Rng, lines: &[Json]) -> Json {
    let numbers = [-1.0, 0.1, 1e-300, 5e-324, 1e300, 1.5];
    match rng.random_range(0..9) {
        0 => json!(rng.random_range(-2..6)),
        1 => json!(numbers.choose(rng)),
        2 => json!(["1/3", "-7/2", "1/0", "NaN", "10000000000000000000000000", "", " 1 "].choose(rng)),
        3 => json!(["x", "y", "z", "y@0", "y@9", "o[0]", "o[t]", "o[1]@2", "W", "g", "nothing"].choose(rng)),
        4 => json!([rng.random_range(0..5), rng.random_range(0..5)]),
        5 => json!([[1, rng.random_range(-1..3)], [rng.random_range(-1..3), 1]]),
        6 => json!({"y": 1, "z@1": rng.random_range(-2..3)}),
        7 => [json!(null), json!(true), json!([]), json!({}), json!([[]]), json!([{}])]
            .choose(rng)
            .cloned()
            .unwrap_or_default(),
        _ => {
            // A value from another line.
            let maps: Vec<&Map<String, Json>> = lines.iter().filter_map(Json::as_object).collect();
            let values: Vec<&Json> = maps.iter().flat_map(|map| map.values()).collect();
            values.choose(rng).map_or(Json::Null, |value| (*value).clone())
        }
    }
}

fn changed(rng: &mut impl Rng) -> String {
    let mut lines = good();
    let keys: Vec<String> =
        lines.iter().filter_map(Json::as_object).flat_map(|map| map.keys().cloned()).collect();
    for _ in 0..rng.random_range(1..4) {
        let at = rng.random_range(1..lines.len());
        let value = anything(rng, &lines);
        let pool = keys.choose(rng).cloned().unwrap_or_default();
        let kind = rng.random_range(0..6);
        if kind == 0 {
            lines.remove(at);
        } else if kind == 1 {
            let line = lines[at].clone();
            lines.insert(rng.random_range(1..=lines.len()), line);
        } else if let Some(map) = lines[at].as_object_mut() {
            let own: Vec<String> = map.keys().cloned().collect();
            match own.choose(rng) {
                Some(key) if kind == 2 => drop(map.remove(key)),
                Some(key) if kind < 5 => drop(map.insert(key.clone(), value)),
                _ => drop(map.insert(pool, value)),
            }
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn the_good_program_is_taken() {
    let text: String = good().iter().map(|line| format!("{line}\n")).collect();
    let read = Program::read(text.as_bytes());
    assert!(read.is_ok(), "{:?}", read.map(|_| ()));
}

/// Each text is refused with a line, or has an account with finite numbers.
#[test]
fn changed_programs_are_refused_or_accounted_for() {
    let rng = &mut ChaCha8Rng::seed_from_u64(27);
    let (mut taken, mut refused) = (0, 0);
    for case in 0..3000 {
        let text = changed(rng);
        let program = match Program::read(text.as_bytes()) {
            Ok(program) => program,
            Err(error) if matches!(error.carried(), Some(ProgramError::Line { .. })) => {
                refused += 1;
                continue;
            }
            Err(other) => panic!("case {case}: no line in {other}\n{text}"),
        };
        taken += 1;
        let mut again = Vec::new();
        program.write(&mut again).expect("a vector takes everything");
        assert_eq!(Program::read(again.as_slice()).as_ref(), Ok(&program), "case {case}\n{text}");
        for observer in
            [Observer::node(0), Observer::coalition(&[1, 2]), Observer::outsider().tapping(&[(0, 1)])]
        {
            let Ok(account) = program.account(&observer) else { continue };
            for u in (0..program.node_count()).filter(|&u| !observer.contains(u)) {
                for set in [SensitivitySet::UseLevel, SensitivitySet::SameDirection, SensitivitySet::Signs] {
                    if let Ok(loss) = account.loss(u, &set) {
                        let (low, high) = (loss.lower, loss.value());
                        assert!(
                            0.0 <= low && low <= high && high.is_finite(),
                            "case {case}: {low} {high}\n{text}"
                        );
                    }
                }
            }
        }
    }
    assert!(taken > 150 && refused > 1000, "{taken} {refused}");
}
