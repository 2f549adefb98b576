//! Compares what is written with the schemas in `docs/schemas`.
//!
//! The validator knows the part of JSON Schema that those schemas use, and refuses a schema that uses more.

use ndp_dp::{ApproxDp, Estimate, Exact, Gdp, Guarantee, Printed, Recorded, UpperBound};
use ndp_graph::sequences::EdgeActivations;
use ndp_graph::{GossipMatrix, GossipSequence, Step, TransitionMatrix, generators};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::Serialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

fn schema(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/schemas/{name}.json"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The problems of `value` under `schema`, each with its place; references are resolved in `root`.
fn problems(root: &Value, schema: &Value, value: &Value, place: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut say = |problem: String| found.push(format!("{place}: {problem}"));
    let mut deeper = Vec::new();
    for (keyword, rule) in schema.as_object().unwrap() {
        match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" => {}
            "$ref" => {
                let pointer = rule.as_str().unwrap().strip_prefix('#').unwrap();
                deeper.extend(problems(root, root.pointer(pointer).unwrap(), value, place));
            }
            "type" => {
                let types = rule.as_array().cloned().unwrap_or_else(|| vec![rule.clone()]);
                if !types.iter().any(|kind| is_of_type(value, kind.as_str().unwrap())) {
                    say(format!("{value} is not of type {rule}"));
                }
            }
            "const" if rule != value => say(format!("{value} is not {rule}")),
            "enum" if !rule.as_array().unwrap().contains(value) => say(format!("{value} is none of {rule}")),
            "const" | "enum" => {}
            "anyOf" => {
                let met = |rule: &Value| problems(root, rule, value, place).is_empty();
                if !rule.as_array().unwrap().iter().any(met) {
                    say(format!("{value} is none of {rule}"));
                }
            }
            "required" => {
                for key in rule.as_array().unwrap() {
                    if value.is_object() && value.get(key.as_str().unwrap()).is_none() {
                        say(format!("no field {key}"));
                    }
                }
            }
            "properties" | "additionalProperties" => {}
            "items" | "prefixItems" => {
                for (i, item) in value.as_array().into_iter().flatten().enumerate() {
                    let rule = if keyword == "items" { Some(rule) } else { rule.get(i) };
                    deeper.extend(
                        rule.map(|rule| problems(root, rule, item, &format!("{place}/{i}")))
                            .into_iter()
                            .flatten(),
                    );
                }
            }
            "minItems" | "maxItems" | "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                let measured = value.as_array().map(|items| items.len() as f64).or(value.as_f64());
                let bound = rule.as_f64().unwrap();
                let met = measured.is_none_or(|x| match keyword.as_str() {
                    "minItems" | "minimum" => x >= bound,
                    "maxItems" | "maximum" => x <= bound,
                    "exclusiveMinimum" => x > bound,
                    _ => x < bound,
                });
                if !met {
                    say(format!("{value} breaks {keyword} {rule}"));
                }
            }
            "pattern" => {
                let text = value.as_str().unwrap_or_default();
                let met = match rule.as_str().unwrap() {
                    "^[0-9a-f]{64}$" => {
                        text.len() == 64
                            && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
                    }
                    "^[a-z0-9-]+/[a-z0-9-]+$" => {
                        let word = |word: &str| {
                            !word.is_empty()
                                && word
                                    .bytes()
                                    .all(|b| b.is_ascii_digit() || b.is_ascii_lowercase() || b == b'-')
                        };
                        text.split_once('/').is_some_and(|(a, b)| word(a) && word(b))
                    }
                    other => panic!("this validator does not know the pattern {other}"),
                };
                if !met {
                    say(format!("{value} does not match {rule}"));
                }
            }
            other => panic!("this validator does not know {other}"),
        }
    }
    for (key, field) in value.as_object().into_iter().flatten() {
        let known = schema.get("properties").and_then(|properties| properties.get(key));
        match (known, schema.get("additionalProperties")) {
            (Some(rule), _) => deeper.extend(problems(root, rule, field, &format!("{place}/{key}"))),
            (None, Some(Value::Bool(false))) => deeper.push(format!("{place}: the field {key} is not known")),
            (None, Some(rule @ Value::Object(_))) => {
                deeper.extend(problems(root, rule, field, &format!("{place}/{key}")));
            }
            (None, _) => {}
        }
    }
    found.extend(deeper);
    found
}

fn is_of_type(value: &Value, kind: &str) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        other => panic!("this validator does not know the type {other}"),
    }
}

fn check(name: &str, value: &Value) {
    let schema = schema(name);
    let found = problems(&schema, &schema, value, "");
    assert!(found.is_empty(), "{name}: {found:#?}");
}

fn refuse(name: &str, value: &Value) {
    let schema = schema(name);
    assert!(!problems(&schema, &schema, value, "").is_empty(), "{name} takes {value}");
}

fn valid(name: &str, value: &impl Serialize) {
    check(name, &serde_json::to_value(value).unwrap());
}

#[test]
fn graded_numbers_have_their_schema() -> Result<(), ndp_dp::Error> {
    valid("graded", &Exact::new(f64::INFINITY));
    valid("graded", &UpperBound::new(ApproxDp::new(1.0, 1e-6)?));
    valid("graded", &Printed::new(vec![0.3, f64::INFINITY]));
    valid("graded", &Estimate::new(Gdp::new(0.5)?));
    valid("graded", &Guarantee::from(Exact::new(0.3)));
    valid("graded", &Recorded { grade: ndp_dp::Grade::Exact, value: 0.3 });
    refuse("graded", &json!(0.3));
    refuse("graded", &json!({"grade": "proven", "value": 0.3}));
    refuse("graded", &json!({"grade": "exact", "value": 0.3, "note": 1}));
    Ok(())
}

#[test]
fn graphs_matrices_and_sequences_have_their_schemas() -> Result<(), ndp_graph::Error> {
    for graph in
        [generators::kneser_graph(5, 2)?, generators::grid_2d_graph(2, 3)?, generators::path_graph(1)?]
    {
        valid("graph", &graph);
        let metropolis = GossipMatrix::metropolis(&graph);
        valid("transition-matrix", &TransitionMatrix::from(&metropolis));
        valid("transition-matrix", metropolis.csr());
        valid("gossip-matrix", &metropolis);
        valid("gossip-matrix", &metropolis.lazy(0.5)?);
        valid("gossip-matrix", &metropolis.lazy(0.5)?.lazy(0.1)?);
        valid("gossip-sequence", &GossipSequence::constant(&metropolis, 3));
    }
    let cycle = generators::cycle_graph(6)?;
    let law = EdgeActivations::uniform(&cycle)?;
    valid("gossip-sequence", &GossipSequence::activations(&law, 9, &mut ChaCha8Rng::seed_from_u64(1)));
    valid("gossip-sequence", &GossipSequence::new(3, vec![Step::Idle, Step::Pair(0, 2)])?);
    refuse("graph", &json!({"nodes": 0, "edges": []}));
    refuse("graph", &json!({"nodes": 2, "edges": [[0, 1, 2]]}));
    refuse("gossip-matrix", &json!({"graph": {"nodes": 1, "edges": []}, "weights": "own", "laziness": 0.0}));
    refuse("gossip-sequence", &json!({"nodes": 2, "matrices": [], "steps": ["rest"]}));
    Ok(())
}

/// A new empty folder.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("ndp-schemas-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn run(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ndp-experiments"));
    let output = command.current_dir(folder).env_remove("NDP_DATA").args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn records_of_figures_have_their_schema() {
    let folder = folder("figure");
    // Together they have every kind of panel: curves, maps, drawings, tables, rows of dots.
    for id in
        ["random-walk/fig3", "random-walk/fig7", "muffliato/table1", "beyond/protocols", "muffliato/fig3"]
    {
        run(&folder, &[id, "--quick", "--out", "out"]);
        check("figure", &read(&folder.join(format!("out/{id}.json"))));
    }
    let mut wrong = read(&folder.join("out/muffliato/fig3.json"));
    wrong["verdict"] = json!("perhaps");
    refuse("figure", &wrong);
    std::fs::remove_dir_all(folder).unwrap();
    // Checks every figure if a folder of them is named.
    let Some(all) = std::env::var_os("NDP_FIGURES").map(PathBuf::from) else { return };
    let mut count = 0;
    for paper in
        std::fs::read_dir(all).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir())
    {
        for path in std::fs::read_dir(paper).unwrap().map(|entry| entry.unwrap().path()) {
            if path.extension().is_some_and(|extension| extension == "json") {
                check("figure", &read(&path));
                count += 1;
            }
        }
    }
    assert!(count > 0);
}
