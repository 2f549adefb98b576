//! Exact losses that have a formula: fast paths, tested against the general routine.
//!
//! All hold against an observer who knows its own noise.

use crate::Error;
use crate::error::ensure;
use ndp_dp::{Exact, ObserverLoss};

/// Unit losses towards `observer` on the hypercube with `2^dimension` nodes (numbered so that
/// neighbors differ in one bit) after `rounds` rounds of gossip with a matrix that treats all edges
/// alike: `min(1, m / C(m, k))` at distance `k ≥ 1` if `rounds ≥ k`, else 0, with `m = dimension`.
///
/// # Errors
/// [`Error::InvalidParameter`] for a dimension above 26; [`Error::NodeOutOfRange`].
pub fn hypercube(dimension: u32, observer: usize, rounds: usize) -> Result<Exact<ObserverLoss>, Error> {
    let nodes = hypercube_nodes(dimension, observer)?;
    let mut by_distance = vec![1.0];
    let mut binomial = 1.0;
    for k in 1..=dimension {
        binomial *= f64::from(dimension + 1 - k) / f64::from(k);
        let unit = (f64::from(dimension) / binomial).min(1.0);
        by_distance.push(if rounds >= k as usize { unit } else { 0.0 });
    }
    let unit = (0..nodes).map(|u| by_distance[(u ^ observer).count_ones() as usize]).collect();
    Ok(Exact::new(ObserverLoss { observer, unit }))
}

/// Unit losses towards the first node of a path with `nodes` nodes: 1 within `rounds` hops, else 0.
///
/// True for every gossip matrix with positive weight on the edges.
///
/// # Errors
/// [`Error::InvalidParameter`] for a path without nodes.
pub fn path_end(nodes: usize, rounds: usize) -> Result<Exact<ObserverLoss>, Error> {
    ensure(nodes != 0, "the number of nodes of a path", "be at least 1", 0.0)?;
    let unit = (0..nodes).map(|u| f64::from(u8::from(u <= rounds))).collect();
    Ok(Exact::new(ObserverLoss { observer: 0, unit }))
}

/// Unit losses towards `observer` after one pass of the one-peer hypercube on `2^dimension` nodes, in
/// whose round `k` node `v` averages with node `v xor 2^k`: `2^{-j}`, where `j` is the index of the
/// highest bit in which the two nodes differ.
///
/// # Errors
/// [`Error::InvalidParameter`] for a dimension above 26; [`Error::NodeOutOfRange`].
pub fn one_peer_hypercube(dimension: u32, observer: usize) -> Result<Exact<ObserverLoss>, Error> {
    let nodes = hypercube_nodes(dimension, observer)?;
    let unit = (0..nodes).map(|u| (u ^ observer).checked_ilog2().map_or(1.0, |j| (-f64::from(j)).exp2()));
    Ok(Exact::new(ObserverLoss { observer, unit: unit.collect() }))
}

fn hypercube_nodes(dimension: u32, observer: usize) -> Result<usize, Error> {
    ensure(dimension <= 26, "the dimension of a hypercube", "be at most 26", f64::from(dimension))?;
    let nodes = 1 << dimension;
    if observer < nodes { Ok(nodes) } else { Err(Error::NodeOutOfRange { node: observer, nodes }) }
}
