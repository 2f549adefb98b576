//! An exact loss that has a formula, which is fast and is tested against the general routine.
//!
//! It holds against an observer who knows its own noise.

use ndp_account::Error;
use ndp_account::parts::ensure;
use ndp_dp::{Exact, ObserverLoss};

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

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: the partner of the last round differs in the highest bit, the node itself learns its own.
    #[test]
    fn losses_halve_with_every_bit() -> Result<(), Error> {
        let unit = one_peer_hypercube(3, 5)?.into_value().unit;
        assert_eq!(unit, [0.25, 0.25, 0.25, 0.25, 1.0, 1.0, 0.5, 0.5]);
        assert_eq!(one_peer_hypercube(0, 0)?.into_value().unit, [1.0]);
        assert!(matches!(one_peer_hypercube(2, 4), Err(Error::NodeOutOfRange { node: 4, nodes: 4 })));
        assert!(matches!(one_peer_hypercube(27, 0), Err(Error::InvalidParameter { .. })));
        Ok(())
    }
}
