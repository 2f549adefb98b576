//! Your own numbers through a gossip protocol.

use super::stopping_rounds;
use crate::args::Simulate;
use crate::errors::Failure;
use crate::input;
use crate::output::number;
use crate::show::{Answer, Part, Sheet, show};
use ndarray::Array2;
use ndp_algos::gossip::{GossipProtocol, SynchronousGossip};
use ndp_dp::Sigma;
use ndp_report::words;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What a run ended with.
struct Simulated<'a> {
    asked: &'a Simulate,
    /// Labels of the nodes.
    names: Vec<String>,
    rounds: usize,
    values: Vec<f64>,
    ends: Vec<f64>,
    mean: f64,
    /// Root mean square error over the nodes.
    error: f64,
}

pub(crate) fn run(asked: &Simulate) -> Result<(), Failure> {
    show(&answer(asked)?, &asked.files, asked.seed)
}

fn answer(asked: &Simulate) -> Result<Simulated<'_>, Failure> {
    let (graph, matrix) = input::network(&asked.graph, asked.gossip.weights)?;
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
    if rounds.checked_mul(n).is_none_or(|numbers| numbers > MOST_NUMBERS) {
        return Err(Failure::Refused(format!(
            "{rounds} rounds of {n} nodes are too many to run one by one: at most {} are run here",
            (MOST_NUMBERS / n).max(1)
        )));
    }
    let column = Array2::from_shape_vec((n, 1), values.clone())
        .map_err(|error| Failure::Refused(error.to_string()))?;
    let run = SynchronousGossip::new(matrix, rounds).run(column.view(), Sigma::new(asked.noise)?, rng)?;
    let mean = values.iter().sum::<f64>() / n as f64;
    let ends: Vec<f64> = run.output.column(0).to_vec();
    let square = ends.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n as f64;
    if !mean.is_finite() || !square.is_finite() {
        return Err(Failure::Refused(
            "the values, or the noise, are so large that their mean or the error is beyond the range of floating point: divide both by \
             the same number"
                .into(),
        ));
    }
    let names = (0..n).map(|v| input::label(&graph, v)).collect();
    Ok(Simulated { asked, names, rounds, values, ends, mean, error: square.sqrt() })
}

/// The most numbers that nodes may send in a run.
const MOST_NUMBERS: usize = 1 << 25;

impl Answer for Simulated<'_> {
    fn text(&self) -> Vec<Part<'_>> {
        let least = self.ends.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self.ends.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let rows = vec![
            ("weights", self.asked.gossip.weights.to_string()),
            ("mean of the values", number(self.mean)),
            ("what nodes end with", format!("{} to {}", number(least), number(most))),
            ("root mean square error", number(self.error)),
        ];
        let title = format!(
            "{} of gossip on {}",
            words::several(self.rounds, "round"),
            words::several(self.values.len(), "value")
        );
        vec![Part::Summary(title, rows)]
    }

    fn sheet(&self) -> Sheet {
        let rows = self.names.iter().zip(self.values.iter().zip(&self.ends));
        let row = |(name, (value, end)): (&String, (&f64, &f64))| {
            vec![name.clone(), value.to_string(), end.to_string()]
        };
        Sheet { header: vec!["node", "value", "result"], rows: rows.map(row).collect() }
    }

    fn data(&self) -> Result<serde_json::Value, Failure> {
        Ok(serde_json::json!({ "rounds": self.rounds, "mean": self.mean, "error": self.error,
            "nodes": self.names, "values": self.values, "results": self.ends }))
    }
}
