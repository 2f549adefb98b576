//! Graphs grown or rewired at random: Barabási–Albert and Watts–Strogatz.

use super::check_probability;
use crate::error::{ensure, require_ids};
use crate::generators::check_edges;
use crate::{Error, Graph};
use rand::{Rng, RngExt};

/// A graph grown by preferential attachment: a star of `m + 1` nodes (hub 0), then nodes
/// `m+1, …, n-1`, each joined to `m` distinct earlier nodes.
///
/// The `m` nodes are drawn one after the other with probability proportional to their degrees
/// before the new node came, redrawing repeats. The graph is connected and has `m (n - m)` edges.
///
/// # Errors
/// [`Error::InvalidParameter`] unless `1 ≤ m < n`; [`Error::TooManyNodes`]; [`Error::TooLarge`].
///
/// # References
/// - Barabási, Albert, *Emergence of scaling in random networks*, Science 286, 1999.
pub fn barabasi_albert_graph(n: usize, m: usize, rng: &mut impl Rng) -> Result<Graph, Error> {
    ensure(
        (1..n).contains(&m),
        "the number of edges of a new node",
        "be at least 1 and below the number of nodes",
        m as f64,
    )?;
    require_ids(n)?;
    check_edges("the Barabási–Albert graph", m as f64 * (n - m) as f64)?;
    let mut edges: Vec<(usize, usize)> = (1..=m).map(|leaf| (0, leaf)).collect();
    // Every node occurs as often as its degree.
    let mut ends: Vec<usize> = edges.iter().flat_map(|&(u, v)| [u, v]).collect();
    let mut chosen = vec![usize::MAX; n];
    let mut targets = Vec::with_capacity(m);
    for source in m + 1..n {
        targets.clear();
        while targets.len() < m {
            let target = ends[rng.random_range(0..ends.len())];
            if chosen[target] != source {
                chosen[target] = source;
                targets.push(target);
            }
        }
        for &target in &targets {
            edges.push((target, source));
            ends.extend([target, source]);
        }
    }
    Graph::from_edges(n, edges)
}

/// A small world: a ring where each node is joined to its `k` nearest (`k - 1` for odd `k`), each
/// edge then rewired with probability `p`.
///
/// For each distance `j = 1, …, ⌊k/2⌋` and each node `u` in turn, the edge from `u` to `u + j` is
/// replaced with probability `p` by one from `u` to a uniform node that is neither `u` nor its
/// neighbor; a node joined to all others keeps its edges. `k = n` gives the complete graph.
///
/// # Errors
/// [`Error::InvalidParameter`] unless `k ≤ n` and `p` lies in `[0, 1]`; [`Error::EmptyGraph`],
/// [`Error::TooManyNodes`]; [`Error::TooLarge`].
///
/// # References
/// - Watts, Strogatz, *Collective dynamics of small-world networks*, Nature 393, 1998.
pub fn watts_strogatz_graph(n: usize, k: usize, p: f64, rng: &mut impl Rng) -> Result<Graph, Error> {
    check_probability("the rewiring probability", p)?;
    ensure(k <= n, "the number of nearest nodes to join", "be at most the number of nodes", k as f64)?;
    require_ids(n)?;
    if k == n {
        return crate::generators::complete_graph(n);
    }
    let reach = k / 2;
    check_edges("the Watts–Strogatz graph", n as f64 * reach as f64)?;
    // `k < n` keeps the ring simple: the neighbors on the two sides are distinct.
    let mut neighbors: Vec<Vec<usize>> = vec![Vec::with_capacity(k); n];
    for u in 0..n {
        for j in 1..=reach {
            let v = (u + j) % n;
            neighbors[u].push(v);
            neighbors[v].push(u);
        }
    }
    for j in 1..=reach {
        for u in 0..n {
            if rng.random::<f64>() >= p || neighbors[u].len() >= n - 1 {
                continue;
            }
            let w = loop {
                let w = rng.random_range(0..n);
                if w != u && !neighbors[u].contains(&w) {
                    break w;
                }
            };
            let v = (u + j) % n;
            neighbors[u].retain(|&x| x != v);
            neighbors[v].retain(|&x| x != u);
            neighbors[u].push(w);
            neighbors[w].push(u);
        }
    }
    let edges = (0..n).flat_map(|u| neighbors[u].iter().map(move |&v| (u, v)).filter(|&(u, v)| u < v));
    Graph::from_edges(n, edges)
}
