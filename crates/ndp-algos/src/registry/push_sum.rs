//! Push-sum: averaging by shares, on weights that need not be symmetric.

use super::programs::masked_once;
use super::{Connections, Entry, Kind, ROUNDS, Setting};
use ndp_account::Error;
use ndp_graph::Graph;
use ndp_program::{MixingMatrix, Program, Reads, Weight};

/// Every node adds a noise of variance 1 to its value. In each round it splits what it has into equal shares,
/// keeps one, sends one to each of its neighbors, and adds up what it receives. A weight, 1 at first, travels
/// with the value and is split in the same way; the ratio of the two tends to the mean. Weights depend only
/// on the graph, so that everybody knows them.
///
/// Kempe, Dobra, Gehrke, *Gossip-based computation of aggregate information*, FOCS 2003, Protocol Push-Sum,
/// with shares for all neighbors in place of a random one.
fn push_sum(graph: &Graph, rounds: usize) -> Result<Program, Error> {
    let nodes = graph.node_count();
    // Degrees fit in 32 bits.
    let share = |u: usize| Weight::from((1, i64::try_from(graph.degree(u) + 1).unwrap_or(i64::MAX)));
    // The state of node `v` as a combination of all values: its own share and those of its neighbors.
    let mut rows: Vec<Vec<(usize, Weight)>> = Vec::with_capacity(nodes);
    for v in 0..nodes {
        let given = graph.neighbors(v).iter().map(|&u| u as usize).chain([v]);
        rows.push(given.map(|u| (u, share(u))).collect());
    }
    let mixing = MixingMatrix::try_from(rows.as_slice())?;
    let mut program = Program::new(nodes)?;
    let x = program.contribute_all(Reads::Nothing)?;
    let z = program.noise_all(1)?;
    let mut y = program.add_all(&x, &z)?;
    let mut weights = vec![1.0; nodes];
    for _ in 0..rounds {
        // A share is the value times a public number, so that it reveals the same.
        program.send_to_neighbors(graph, &y)?;
        y = program.gossip(&mixing, &y)?;
        weights = rows.iter().map(|row| row.iter().map(|(u, w)| w.to_f64() * weights[*u]).sum()).collect();
    }
    for (u, (&y, weight)) in y.iter().zip(weights).enumerate() {
        let ratio = program.combine([(1.0 / weight, y)])?;
        program.result([(u, ratio)])?;
    }
    Ok(program)
}

pub(super) const PUSH_SUM: Entry = Entry {
    name: "push-sum",
    connections: Connections::Edges,
    kind: Kind::Mean,
    about: "noise once, then push-sum: every node splits what it has evenly among its neighbors and itself",
    parameters: &[ROUNDS],
    build: |setting: &Setting<'_>| {
        masked_once(setting, setting.count("rounds")?, |matrix, rounds, _| push_sum(matrix.graph(), rounds))
    },
};
