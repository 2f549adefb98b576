//! All protocols at the same target.

use crate::args::Compare;
use crate::errors::Failure;
use crate::output::{csv, json, line, number, table};
use crate::{input, question};
use ndp_algos::accountant::{Comparison, compare};
use ndp_algos::registry::PROTOCOLS;
use ndp_algos::{Error, Protocol};

pub(crate) fn run(asked: &Compare, quiet: bool) -> Result<(), Failure> {
    let graph = input::graph(&asked.graph)?;
    let matrix = input::matrix(&graph, asked.weights);
    let target = asked.target.required(&graph)?;
    let chosen = question::observers(&graph, &asked.observers, &asked.knowledge)?;
    let names: Vec<String> = if asked.protocols.is_empty() {
        PROTOCOLS.iter().map(|entry| entry.name.to_owned()).collect()
    } else {
        asked.protocols.clone()
    };
    let bar = super::progress(names.len() as u64, "protocols", quiet);
    let mut rows = Vec::new();
    for name in &names {
        let built = question::protocol(name, &matrix);
        // A name that does not exist is a mistake; a protocol that refuses this graph has a row.
        let built: Result<Box<dyn Protocol>, Error> = match built {
            Ok(built) => Ok(built),
            Err(Failure::Usage(problem)) => return Err(Failure::Usage(problem)),
            Err(Failure::Refused(_)) => {
                let (name, parameters) = name.split_once(':').unwrap_or((name, ""));
                ndp_algos::registry::find(name)?.build(&matrix, &parameters.parse()?)
            }
            Err(other) => return Err(other),
        };
        let one = [(name.as_str(), built.as_ref().map(AsRef::as_ref).map_err(Error::clone))];
        rows.extend(compare(&one, &chosen.observers, &target).rows);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let comparison = Comparison { rows };
    line(&format!("Target: {}; observed by {}", question::words(&target), chosen.description))?;
    line("")?;
    let unit = asked.outputs.sensitivity;
    let cell =
        |x: &Result<f64, Error>, unit: f64| x.as_ref().map_or_else(|_| "-".into(), |x| number(x * unit));
    let cells: Vec<Vec<String>> = comparison
        .rows
        .iter()
        .filter_map(|row| {
            let least = row.least.as_ref().ok()?;
            Some(vec![
                row.name.clone(),
                number(least.noise.get() * unit),
                cell(&row.error, unit),
                cell(&row.messages, 1.0),
                row.grade.map_or_else(String::new, |grade| grade.to_string()),
            ])
        })
        .collect();
    let header = ["protocol", "noise", "error", "messages", "grade"];
    table(&header, &cells)?;
    for row in &comparison.rows {
        if let Err(reason) = &row.least {
            line(&format!("{}: {reason}", row.name))?;
        }
    }
    if let Some(path) = &asked.outputs.csv {
        csv(path, &header, &cells)?;
    }
    if let Some(path) = &asked.outputs.json {
        let body = serde_json::to_value(&comparison).map_err(|error| Failure::Refused(error.to_string()))?;
        json(path, asked.knowledge.seed, body)?;
    }
    Ok(())
}
