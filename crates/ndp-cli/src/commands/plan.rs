//! Protocol, weights and rounds for a target.

use crate::args::{Plan, Weights};
use crate::errors::Failure;
use crate::output::{csv, json, line, number, table};
use crate::{input, question};
use ndp_algos::accountant::compare;
use ndp_algos::registry::{PROTOCOLS, Parameters};
use serde_json::json;

/// Rounds that are tried, as multiples of those of the stopping rule.
const FACTORS: [f64; 4] = [0.25, 0.5, 1.0, 2.0];

pub(crate) fn run(asked: &Plan, quiet: bool) -> Result<(), Failure> {
    let graph = input::graph(&asked.graph)?;
    let target = asked.target.required(&graph)?;
    let chosen = question::observers(&graph, &asked.observers, &asked.knowledge)?;
    let mut candidates: Vec<(String, Weights, Parameters)> = Vec::new();
    let base = {
        let gap = ndp_graph::spectrum::gap_abs(&input::matrix(&graph, Weights::Metropolis))?;
        ((graph.node_count() as f64).ln() / gap.sqrt()).ceil().max(1.0)
    };
    for entry in PROTOCOLS {
        // Baselines need trust or give none; training and histograms have no mean to compare.
        if ["central", "local"].contains(&entry.name)
            || entry.name.contains("sgd")
            || entry.name.contains("histogram")
        {
            continue;
        }
        let rounds = entry.parameters.iter().any(|parameter| parameter.name == "rounds");
        if rounds {
            for weights in [Weights::Metropolis, Weights::MaxDegree] {
                for factor in FACTORS {
                    let rounds = (base * factor).ceil().max(1.0);
                    candidates.push((
                        entry.name.into(),
                        weights,
                        Parameters::default().with("rounds", rounds),
                    ));
                }
            }
        } else {
            candidates.push((entry.name.into(), Weights::Metropolis, Parameters::default()));
        }
    }
    let bar = super::progress(candidates.len() as u64, "candidates", quiet);
    let mut found = Vec::new();
    let mut refused = 0;
    for (name, weights, parameters) in &candidates {
        let matrix = input::matrix(&graph, *weights);
        let built = ndp_algos::registry::find(name)?.build(&matrix, parameters);
        let one = [(name.as_str(), built.as_ref().map(AsRef::as_ref).map_err(ndp_algos::Error::clone))];
        let row = compare(&one, &chosen.observers, &target).rows.remove(0);
        bar.inc(1);
        match (&row.least, &row.error) {
            (Ok(least), Ok(error)) => found.push((
                *error,
                name.clone(),
                *weights,
                parameters.to_string(),
                least.noise.get(),
                row.messages.clone().unwrap_or(f64::NAN),
                row.grade,
            )),
            _ => refused += 1,
        }
    }
    bar.finish_and_clear();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    if found.is_empty() {
        return Err(Failure::Refused(
            "no protocol meets the target on this graph: see `ndp compare` for the reasons".into(),
        ));
    }
    let unit = asked.outputs.sensitivity;
    line(&format!("Plans for the target {}; observed by {}", question::words(&target), chosen.description))?;
    line("")?;
    let header = ["protocol", "weights", "parameters", "noise", "error", "messages", "grade"];
    let cells: Vec<Vec<String>> = found
        .iter()
        .map(|(error, name, weights, parameters, noise, messages, grade)| {
            let weights = if *weights == Weights::Metropolis { "metropolis" } else { "max-degree" };
            let grade = grade.map_or_else(String::new, |grade| grade.to_string());
            vec![
                name.clone(),
                weights.into(),
                parameters.clone(),
                number(noise * unit),
                number(error * unit),
                number(*messages),
                grade,
            ]
        })
        .collect();
    table(&header, &cells[..cells.len().min(12)])?;
    line("")?;
    line(&format!(
        "Searched: {} combinations of protocol, weights and rounds ({refused} without an answer); smallest error of the mean first. \
         Other rounds, weights or graphs may do better.",
        candidates.len()
    ))?;
    if let Some(path) = &asked.outputs.csv {
        csv(path, &header, &cells)?;
    }
    if let Some(path) = &asked.outputs.json {
        json(
            path,
            asked.knowledge.seed,
            json!({ "header": header, "plans": cells, "searched": candidates.len() }),
        )?;
    }
    Ok(())
}
