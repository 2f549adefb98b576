//! From a blank file to a table of who learns how much about whom: a protocol of your own, stated twice.
#![allow(clippy::print_stdout, reason = "an example shows something")]

use ndp_account::Error;
use ndp_graph::{GossipMatrix, generators::cycle_graph};
use ndp_program::{Program, Reads, SensitivitySet};

/// Neighbors share a mask that cancels in the mean, then everybody gossips twice.
pub(crate) fn in_rust() -> Result<Program, Error> {
    let graph = cycle_graph(8)?;
    let matrix = GossipMatrix::metropolis(&graph);
    let mut program = Program::new(8)?;
    let mut y = program.contribute_all(Reads::Nothing)?;
    let z = program.noise_all((1, 2))?;
    y = program.add_all(&y, &z)?;
    for (a, b) in graph.edges() {
        let (plus, minus) = program.pairwise(a, b, 4)?;
        (y[a], y[b]) = (program.add(&[y[a], plus])?, program.add(&[y[b], minus])?);
    }
    for _ in 0..2 {
        program.send_to_neighbors(&graph, &y)?;
        y = program.gossip(&matrix, &y)?;
    }
    Ok(program)
}

/// The same in the text format.
pub(crate) const AS_TEXT: &str = r#"
{"ndp-program": 1, "nodes": 8}
{"graph": "ring", "family": "cycle"}
{"matrix": "W", "of": "ring", "weights": "metropolis"}
{"contribute": "x", "reads": "nothing"}
{"noise": "z", "variance": "1/2"}
{"noise": "mask", "pairwise": "ring", "variance": 4}
{"let": "y", "sum": {"x": 1, "z": 1, "mask": 1}}
{"repeat": 2}
{"send": "y", "along": "ring"}
{"set": "y", "gossip": "W", "of": "y"}
{"end": "repeat"}
"#;

fn main() -> Result<(), Error> {
    for program in [in_rust()?, Program::read(AS_TEXT.as_bytes())?] {
        let losses = program.pairwise_losses(&SensitivitySet::UseLevel)?;
        for u in 0..8 {
            let row: Vec<String> = (0..8).map(|v| format!("{:.3}", losses.value().get(u, v))).collect();
            println!("{}", row.join(" "));
        }
        println!("{}\n", losses.grade());
    }
    Ok(())
}
