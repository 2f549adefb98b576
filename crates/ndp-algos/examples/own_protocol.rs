//! A protocol of your own beside all others at the same guarantee.
#![allow(clippy::print_stdout, reason = "an example shows something")]

use ndarray::Array2;
use ndp_algos::accountant::{Comparison, Observer, Target, compare};
use ndp_algos::{Error, LinearProtocol, View, registry};
use ndp_dp::{Delta, Measure};
use ndp_graph::{GossipMatrix, Graph, generators::hypercube_graph};

/// Every node publishes its value with noise of its own and a mask for each neighbor, who subtracts the same mask.
struct MaskedMean(Graph);

impl LinearProtocol for MaskedMean {
    fn node_count(&self) -> usize {
        self.0.node_count()
    }

    /// What is public: row `v` is `x_v + z_v ± masks`. A member knows its own noise and the masks of its edges.
    fn coalition_view(&self, coalition: &[usize]) -> Result<View, Error> {
        let (n, edges) = (self.0.node_count(), self.0.edges().collect::<Vec<_>>());
        let mut noises = Array2::zeros((n, n + edges.len()));
        noises.diag_mut().fill(1.0);
        let mut known = coalition.to_vec();
        for (k, &(u, w)) in (n..).zip(&edges) {
            (noises[(u, k)], noises[(w, k)]) = (10.0, -10.0);
            known.extend((coalition.contains(&u) || coalition.contains(&w)).then_some(k));
        }
        View::new(coalition, Array2::eye(n), noises, &known)
    }
}

pub(crate) fn compared() -> Result<Comparison, Error> {
    let (graph, observers) = (hypercube_graph(4)?, (0..16).map(Observer::node).collect::<Vec<_>>());
    let target = Target::worst(Measure::Approx(Delta::new(1e-5)?), 1.0);
    let mut table = registry::compare_all(&GossipMatrix::metropolis(&graph), &observers, &target);
    table.rows.extend(compare(&[("masked mean", Ok(&MaskedMean(graph)))], &observers, &target).rows);
    Ok(table)
}

fn main() -> Result<(), Error> {
    println!("{}", compared()?);
    Ok(())
}
