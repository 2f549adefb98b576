//! The JSON of a figure states the same grades as its CSV.

use ndp_report::table::{self, Row};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// All figures at quick scale in a folder: computed now, or those in the folder that `NDP_FIGURES` names.
fn figures() -> PathBuf {
    if let Some(there) = std::env::var_os("NDP_FIGURES") {
        return there.into();
    }
    let out = std::env::temp_dir().join(format!("ndp-grades-{}", std::process::id()));
    let mut command = Command::new(env!("CARGO_BIN_EXE_ndp-experiments"));
    let status = command.args(["all", "--quick", "--out"]).arg(&out).output().unwrap();
    assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stderr));
    // No picture has a fault that the program can find: parts that are too small, pale, empty, alike or cut
    // off.
    let said = String::from_utf8_lossy(&status.stdout);
    let faults: Vec<&str> = said.lines().filter(|line| line.contains("picture: ")).collect();
    assert_eq!(faults, Vec::<&str>::new());
    out
}

/// All points of all tables of a figure.
fn rows(out: &Path, record: &Value) -> Vec<Row> {
    let files = record["files"].as_array().unwrap().iter().map(|file| file.as_str().unwrap());
    files
        .filter(|file| file.ends_with(".csv"))
        .flat_map(|file| table::read(&out.join(file)).unwrap())
        .collect()
}

/// The JSON contains the values of single runs, the picture shows their mean. If a point of the CSV is the
/// mean of a sample, both rest on the same noise, and so must have the same grade.
#[test]
fn samples_have_the_grade_of_their_curves() {
    let out = figures();
    let (mut compared, mut wrong) = (0, Vec::new());
    for entry in ndp_experiments::registry::all() {
        let text = std::fs::read_to_string(out.join(format!("{}.json", entry.id))).unwrap();
        let record: Value = serde_json::from_str(&text).unwrap();
        let rows = rows(&out, &record);
        for (name, sample) in record["samples"].as_object().unwrap() {
            let values: Vec<f64> =
                sample["values"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            // "walk, complete, mean loss 1" is drawn as "walk, sound noise".
            let who = name.split(", ").next().unwrap();
            let of_sample =
                |row: &&Row| (row.y - mean).abs() <= 1e-12 * mean.abs() && row.series.starts_with(who);
            let grades: Vec<&str> = rows.iter().filter(of_sample).map(|row| row.grade.as_str()).collect();
            if grades.is_empty() {
                continue;
            }
            compared += 1;
            let kind = sample["kind"].as_str().unwrap();
            if !grades.contains(&kind) {
                wrong.push(format!("{}: {name:?} is {kind} in the JSON, {grades:?} in the CSV", entry.id));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(compared >= 40, "{compared} samples were found in their figures");
}
