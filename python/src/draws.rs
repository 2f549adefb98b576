//! Public random choices of protocols, drawn from a seed, and the registry.

use crate::errors::Fault;
use crate::graph::Graph;
use crate::question::generator;
use crate::worker::run;
use ndp_algos::gossip::AcceleratedGossip;
use ndp_algos::gossip::accelerated::Momentum;
use ndp_algos::registry::{self, PROTOCOLS};
use ndp_graph::sequences::EdgeActivations;
use ndp_graph::{GossipSequence, Step};
use pyo3::prelude::*;
use std::sync::Arc;

fn pairs_of(sequence: &GossipSequence) -> Vec<(usize, usize)> {
    let pair = |step: &Step| match *step {
        Step::Pair(a, b) => Some((a, b)),
        _ => None,
    };
    sequence.steps().iter().filter_map(pair).collect()
}

/// Name and meaning of a protocol, and of each of its parameters.
type Named = (&'static str, &'static str, Vec<(&'static str, &'static str)>);

/// Every protocol of the registry.
#[pyfunction]
pub(crate) fn protocols() -> Vec<Named> {
    let parameters = |entry: &registry::Entry| {
        entry.parameters.iter().map(|parameter| (parameter.name, parameter.about)).collect()
    };
    PROTOCOLS.iter().map(|entry| (entry.name, entry.about, parameters(entry))).collect()
}

/// Draws the pairs that meet in `steps` steps of randomized gossip.
#[pyfunction]
pub(crate) fn draw_pairs(graph: &Graph, steps: usize, seed: u64) -> Result<Vec<(usize, usize)>, Fault> {
    // A step here, and two tuples of integers in Python.
    let bytes = std::mem::size_of::<Step>() as u128 + 200;
    ndp_linalg::memory::require_memory("the pairs of a gossip", steps as u128 * bytes)?;
    let law = EdgeActivations::uniform(&graph.0)?;
    Ok(pairs_of(&GossipSequence::activations(&law, steps, &mut generator(seed))))
}

/// Draws the rings of accelerated randomized gossip, and the momentum that goes with the law.
#[pyfunction]
pub(crate) fn draw_rings(
    py: Python<'_>,
    graph: &Graph,
    time: f64,
    seed: u64,
    mixing: Option<f64>,
    push: Option<f64>,
) -> Result<(Vec<(f64, usize, usize)>, f64, f64), Fault> {
    // One meeting in a unit of time, on average; the cast saturates.
    if time.is_finite() {
        ndp_linalg::memory::require_dense("the meetings of a gossip", time.ceil() as usize, 50)?;
    }
    let graph = Arc::clone(&graph.0);
    run(py, move || {
        let law = EdgeActivations::uniform(&graph)?;
        let momentum = momentum(&law, mixing, push)?;
        let drawn = AcceleratedGossip::drawn(&law, graph.node_count(), time, momentum, &mut generator(seed))?;
        let rings = drawn.rings().iter().map(|ring| (ring.wait, ring.edge.0, ring.edge.1)).collect();
        Ok((rings, momentum.mixing, momentum.push))
    })
}

fn momentum(law: &EdgeActivations, mixing: Option<f64>, push: Option<f64>) -> Result<Momentum, Fault> {
    Ok(match (mixing, push) {
        (Some(mixing), Some(push)) => Momentum { mixing, push },
        (None, None) => Momentum::of(law)?,
        _ => return Err(Fault::new("mixing and push go together: give both or none")),
    })
}
