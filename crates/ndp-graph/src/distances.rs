//! Hop distances between all nodes.

use crate::memory::require_memory;
use crate::{Error, Graph};
use ndarray::Array2;
use rayon::prelude::*;

impl Graph {
    /// Hop distances between all pairs, `n` by `n`; `None` where there is no path.
    ///
    /// # Errors
    /// [`Error::TooLarge`].
    ///
    /// # Complexity
    /// `O(n (n + m))` for `m` edges, rows in parallel.
    pub fn all_distances(&self) -> Result<Array2<Option<u32>>, Error> {
        let n = self.node_count();
        let entry = size_of::<Option<u32>>() as u128;
        require_memory("the matrix of distances", entry * n as u128 * n as u128)?;
        let mut all = vec![None; n * n];
        all.par_chunks_mut(n).enumerate().for_each(|(u, row)| row.copy_from_slice(&self.distances(u)));
        Ok(Array2::from_shape_vec((n, n), all).expect("the vector has n rows of n entries"))
    }

    /// The nodes by their distance from `source`: entry `k` lists those `k` hops away, ascending.
    /// Nodes that cannot be reached are in none.
    ///
    /// # Panics
    /// When `source` is out of range.
    #[must_use]
    pub fn distance_classes(&self, source: usize) -> Vec<Vec<usize>> {
        let mut classes: Vec<Vec<usize>> = Vec::new();
        for (v, distance) in self.distances(source).into_iter().enumerate() {
            if let Some(distance) = distance {
                let distance = distance as usize;
                if classes.len() <= distance {
                    classes.resize(distance + 1, Vec::new());
                }
                classes[distance].push(v);
            }
        }
        classes
    }

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
        let all = cube.all_distances()?;
        for ((u, v), &distance) in all.indexed_iter() {
            assert_eq!(distance, Some((u ^ v).count_ones()));
        }
        let sizes: Vec<usize> = cube.distance_classes(7).iter().map(Vec::len).collect();
        assert_eq!(sizes, [1, 5, 10, 10, 5, 1]);
        assert_eq!(cube.diameter()?, 5);
        assert_eq!(grid_2d_graph(3, 7)?.diameter()?, 8);
        Ok(())
    }

    #[test]
    fn nodes_out_of_reach_have_no_distance() -> Result<(), Error> {
        let graph = Graph::from_edges(4, [(0, 1), (2, 3)])?;
        assert_eq!(graph.all_distances()?.row(0).to_vec(), [Some(0), Some(1), None, None]);
        assert_eq!(graph.distance_classes(2), [vec![2], vec![3]]);
        assert_eq!(graph.diameter(), Err(Error::Disconnected(2)));
        let huge = Graph::from_edges(1_000_000, [])?;
        assert!(matches!(huge.all_distances(), Err(Error::TooLarge { .. })));
        Ok(())
    }
}
