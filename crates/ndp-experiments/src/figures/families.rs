//! The graphs that several figures share, by name.

use crate::seed::Seed;
use anyhow::Result;
use ndp_graph::{Graph, generators, random};
use ndp_report::figure::Scale;

/// The number of draws allowed to get a connected random graph.
pub(super) const TRIES: usize = 1000;

/// The four graphs of the papers' comparisons, with the node that observes.
///
/// At paper scale: hypercube 2¹¹, Erdős–Rényi with 2048 nodes and `q = c ln n / n`, geometric with 2048 nodes
/// and radius 0.07, grid 45 by 45. `quick` sizes are 64 times smaller.
pub(super) fn four(scale: Scale, seed: Seed, c: f64) -> Result<Vec<(&'static str, Graph)>> {
    let dimension = scale.pick(11, 6);
    let n = 1usize << dimension;
    let side = scale.pick(45, 8);
    Ok(vec![
        ("hypercube", generators::hypercube_graph(dimension)?),
        ("Erdős–Rényi", erdos_renyi(n, c, seed, 0)?),
        ("geometric", geometric(n, scale.pick(0.07, 0.25), seed)?),
        ("grid", generators::grid_2d_graph(side, side)?),
    ])
}

/// A connected Erdős–Rényi graph with `q = c ln n / n`.
pub(super) fn erdos_renyi(n: usize, c: f64, seed: Seed, draw: u64) -> Result<Graph> {
    let q = (c * (n as f64).ln() / n as f64).min(1.0);
    Ok(random::connected_erdos_renyi(n, q, TRIES, &mut seed.fork("erdos-renyi").trial(draw))?)
}

/// A connected random geometric graph in the unit square.
pub(super) fn geometric(n: usize, radius: f64, seed: Seed) -> Result<Graph> {
    Ok(random::connected_random_geometric(n, radius, TRIES, &mut seed.fork("geometric").trial(0))?)
}
