//! Deterministic graph families, named as in networkx.

use crate::{Error, Graph};

/// The complete graph on `n` nodes.
///
/// # Errors
/// [`Error::EmptyGraph`] for `n = 0`.
pub fn complete_graph(n: usize) -> Result<Graph, Error> {
    Graph::from_edges(n, (0..n).flat_map(|u| (u + 1..n).map(move |v| (u, v))))
}

/// The path `0 - 1 - … - n-1`.
///
/// # Errors
/// [`Error::EmptyGraph`] for `n = 0`.
pub fn path_graph(n: usize) -> Result<Graph, Error> {
    Graph::from_edges(n, (1..n).map(|v| (v - 1, v)))
}

/// The cycle on `n ≥ 3` nodes.
///
/// # Errors
/// [`Error::InvalidParameter`] for `n < 3`, where the cycle is not a simple graph.
pub fn cycle_graph(n: usize) -> Result<Graph, Error> {
    if n < 3 {
        return Err(Error::InvalidParameter {
            name: "the length of a cycle",
            condition: "be at least 3",
            value: n as f64,
        });
    }
    Graph::from_edges(n, (0..n).map(|v| (v, (v + 1) % n)))
}

/// The star with hub 0 and leaves `1..=n`: as in networkx it has `n + 1` nodes.
///
/// # Errors
/// [`Error::TooManyNodes`].
pub fn star_graph(n: usize) -> Result<Graph, Error> {
    Graph::from_edges(n + 1, (1..=n).map(|leaf| (0, leaf)))
}

/// The `m` by `n` grid; node `i n + j` is at row `i`, column `j`, and has that position.
///
/// # Errors
/// [`Error::EmptyGraph`] when a side is 0.
pub fn grid_2d_graph(m: usize, n: usize) -> Result<Graph, Error> {
    let down = (1..m).flat_map(|i| (0..n).map(move |j| ((i - 1) * n + j, i * n + j)));
    let right = (0..m).flat_map(|i| (1..n).map(move |j| (i * n + j - 1, i * n + j)));
    let positions = (0..m).flat_map(|i| (0..n).map(move |j| [j as f64, i as f64])).collect();
    Graph::from_edges(m * n, down.chain(right))?.with_positions(positions)
}

/// The hypercube on `2^n` nodes: two nodes are joined when they differ in one bit.
///
/// # Errors
/// [`Error::InvalidParameter`] for `n > 26`, beyond which the edges do not fit in memory.
pub fn hypercube_graph(n: u32) -> Result<Graph, Error> {
    if n > 26 {
        return Err(Error::InvalidParameter {
            name: "the dimension of a hypercube",
            condition: "be at most 26",
            value: f64::from(n),
        });
    }
    let nodes = 1usize << n;
    Graph::from_edges(
        nodes,
        (0..nodes).flat_map(|u| (0..n).map(move |bit| (u, u ^ (1 << bit))).filter(|&(u, v)| u < v)),
    )
}
