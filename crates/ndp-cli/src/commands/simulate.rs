//! Your own numbers through a gossip protocol.

use super::stopping_rounds;
use super::summary;
use crate::args::Simulate;
use crate::errors::Failure;
use crate::input;
use crate::output::{csv, json, number};
use ndarray::Array2;
use ndp_algos::gossip::{GossipProtocol, SynchronousGossip};
use ndp_dp::Sigma;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub(crate) fn run(asked: &Simulate) -> Result<(), Failure> {
    let (graph, matrix) = input::network(&asked.graph, asked.weights)?;
    let n = graph.node_count();
    let rng = &mut ChaCha8Rng::seed_from_u64(asked.seed);
    let values = match &asked.values {
        Some(file) => input::values(file, &graph)?,
        None => (0..n).map(|_| rng.random()).collect(),
    };
    let rounds = match asked.rounds {
        Some(0) => return Err(Failure::Usage("the number of rounds must be at least 1".into())),
        Some(rounds) => rounds,
        None => stopping_rounds(&matrix)?,
    };
    let column = Array2::from_shape_vec((n, 1), values.clone())
        .map_err(|error| Failure::Refused(error.to_string()))?;
    let run = SynchronousGossip::new(matrix, rounds).run(column.view(), Sigma::new(asked.noise)?, rng)?;
    let mean = values.iter().sum::<f64>() / n as f64;
    let ends: Vec<f64> = run.output.column(0).to_vec();
    let square = ends.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n as f64;
    summary(
        &format!("{rounds} rounds of gossip on {n} values"),
        &[
            ("weights", asked.weights.to_string()),
            ("mean of the values", number(mean)),
            (
                "what nodes end with",
                format!(
                    "{} to {}",
                    number(min(&ends)),
                    number(-min(&ends.iter().map(|x| -x).collect::<Vec<_>>()))
                ),
            ),
            ("root mean square error", number(square.sqrt())),
        ],
    )?;
    if let Some(path) = &asked.files.csv {
        let rows: Vec<Vec<String>> = ends
            .iter()
            .enumerate()
            .map(|(v, x)| vec![input::label(&graph, v), values[v].to_string(), x.to_string()])
            .collect();
        csv(path, asked.seed, &["node", "value", "result"], &rows)?;
    }
    if let Some(path) = &asked.files.json {
        let nodes: Vec<String> = (0..n).map(|v| input::label(&graph, v)).collect();
        let body = serde_json::json!({ "rounds": rounds, "mean": mean, "error": square.sqrt(),
            "nodes": nodes, "values": values, "results": ends });
        json(path, asked.seed, body)?;
    }
    Ok(())
}

fn min(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}
