//! A protocol of your own beside all others at the same guarantee.
#![allow(clippy::print_stdout, reason = "an example shows something")]

use ndp_account::{Comparison, Error, Observer, Target, compare};
use ndp_algos::registry;
use ndp_dp::{Delta, Measure};
use ndp_graph::{GossipMatrix, Graph, generators::hypercube_graph};
use ndp_program::{Declared, Program, Reads, SensitivitySet};

/// Every node publishes its value with noise of its own and a mask for each neighbor, who subtracts the same
/// mask.
fn masked_mean(graph: &Graph) -> Result<Declared, Error> {
    let mut program = Program::new(graph.node_count())?;
    let (x, z) = (program.contribute_all(Reads::Nothing)?, program.noise_all(1)?);
    let mut y = program.add_all(&x, &z)?;
    for (u, w) in graph.edges() {
        let (plus, minus) = program.pairwise(u, w, 100)?;
        (y[u], y[w]) = (program.add(&[y[u], plus])?, program.add(&[y[w], minus])?);
    }
    program.broadcast_all(&y)?;
    Ok(Declared::new(program, SensitivitySet::UseLevel))
}

pub(crate) fn compared() -> Result<Comparison, Error> {
    let (graph, observers) = (hypercube_graph(3)?, (0..8).map(Observer::node).collect::<Vec<_>>());
    let target = Target::worst(Measure::Approx(Delta::new(1e-5)?), 1.0);
    let mut table = registry::compare_all(&GossipMatrix::metropolis(&graph), &observers, &target);
    table.rows.extend(compare(&[("masked mean", Ok(&masked_mean(&graph)?))], &observers, &target).rows);
    Ok(table)
}

fn main() -> Result<(), Error> {
    println!("{}", compared()?);
    Ok(())
}
