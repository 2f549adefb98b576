//! Hop distances between all nodes.

use crate::{Error, Graph};
use rayon::prelude::*;

impl Graph {
    /// The largest distance between two nodes.
    ///
    /// # Errors
    /// [`Error::Disconnected`].
    ///
    /// # Complexity
    /// `O(n (n + m))` for `m` edges.
    pub fn diameter(&self) -> Result<u32, Error> {
        self.require_connected()?;
        let eccentricity = |u| self.distances(u).into_iter().flatten().max().unwrap_or(0);
        Ok((0..self.node_count()).into_par_iter().map(eccentricity).max().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generators::{grid_2d_graph, hypercube_graph};

    #[test]
    fn distances_on_a_hypercube_are_hamming_distances() -> Result<(), Error> {
        let cube = hypercube_graph(5)?;
        for u in 0..32_usize {
            for (v, distance) in cube.distances(u).into_iter().enumerate() {
                assert_eq!(distance, Some((u ^ v).count_ones()));
            }
        }
        assert_eq!(cube.diameter()?, 5);
        assert_eq!(grid_2d_graph(3, 7)?.diameter()?, 8);
        Ok(())
    }

    #[test]
    fn nodes_out_of_reach_have_no_distance() -> Result<(), Error> {
        let graph = Graph::from_edges(4, [(0, 1), (2, 3)])?;
        assert_eq!(graph.distances(0), [Some(0), Some(1), None, None]);
        assert_eq!(graph.diameter(), Err(Error::Disconnected(2)));
        Ok(())
    }
}
