//! Graphs to and from adjacency matrices.

use crate::error::ensure;
use crate::{Error, Graph};
use ndarray::{Array2, ArrayView2};
use ndp_linalg::memory::require_dense;

/// The graph of an adjacency matrix, `n` by `n`: entry `(u, v)` is 1 if `u` and `v` are joined, else 0.
///
/// # Errors
/// [`Error::Shape`] unless it is square, [`Error::InvalidParameter`] for an entry that is neither 0 nor 1,
/// [`Error::SelfLoop`] for a 1 on the diagonal, [`Error::NotSymmetric`], [`Error::EmptyGraph`].
///
/// # Examples
/// ```
/// use ndarray::arr2;
/// use ndp_graph::Graph;
/// let edge = Graph::try_from(arr2(&[[0.0, 1.0], [1.0, 0.0]]).view())?;
/// assert_eq!(edge.edges().collect::<Vec<_>>(), [(0, 1)]);
/// # Ok::<(), ndp_graph::Error>(())
/// ```
impl TryFrom<ArrayView2<'_, f64>> for Graph {
    type Error = Error;

    fn try_from(matrix: ArrayView2<'_, f64>) -> Result<Self, Error> {
        let n = matrix.nrows();
        if matrix.ncols() != n {
            return Err(Error::Shape {
                what: "columns of the adjacency matrix",
                expected: n,
                got: matrix.ncols(),
            });
        }
        let mut edges = Vec::new();
        for ((u, v), &value) in matrix.indexed_iter() {
            ensure(value == 0.0 || value == 1.0, "an entry of an adjacency matrix", "be 0 or 1", value)?;
            if value != matrix[(v, u)] {
                let difference = (value - matrix[(v, u)]).abs();
                return Err(Error::NotSymmetric { row: u, column: v, difference });
            }
            if value == 1.0 && u <= v {
                edges.push((u, v));
            }
        }
        Self::from_edges(n, edges)
    }
}

/// The adjacency matrix, `n` by `n`: 1 if two nodes are joined, else 0.
///
/// # Errors
/// [`Error::TooLarge`] when `8 n²` bytes are more than the limit.
impl TryFrom<&Graph> for Array2<f64> {
    type Error = Error;

    fn try_from(graph: &Graph) -> Result<Self, Error> {
        let n = graph.node_count();
        require_dense("the adjacency matrix", n, n)?;
        let mut matrix = Self::zeros((n, n));
        for (u, v) in graph.edges() {
            matrix[(u, v)] = 1.0;
            matrix[(v, u)] = 1.0;
        }
        Ok(matrix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generators::{complete_graph, path_graph};
    use ndarray::arr2;

    #[test]
    fn adjacency_matrices_go_both_ways() -> Result<(), Error> {
        for graph in [path_graph(1)?, path_graph(4)?, complete_graph(5)?, Graph::from_edges(3, [])?] {
            assert_eq!(Graph::try_from(Array2::try_from(&graph)?.view())?, graph);
        }
        assert_eq!(
            Array2::try_from(&path_graph(3)?)?,
            arr2(&[[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
        );
        Ok(())
    }

    #[test]
    fn bad_adjacency_matrices_are_refused() -> Result<(), Error> {
        let from = |entries: [[f64; 2]; 2]| Graph::try_from(arr2(&entries).view()).unwrap_err();
        assert_eq!(
            from([[0.0, 1.0], [0.0, 0.0]]),
            Error::NotSymmetric { row: 0, column: 1, difference: 1.0 }
        );
        assert_eq!(from([[0.0, 0.0], [0.0, 1.0]]), Error::SelfLoop(1));
        for bad in [0.5, -1.0, 2.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(from([[0.0, bad], [bad, 0.0]]), Error::InvalidParameter { .. }));
        }
        assert!(matches!(Graph::try_from(Array2::zeros((2, 3)).view()), Err(Error::Shape { .. })));
        assert_eq!(Graph::try_from(Array2::zeros((0, 0)).view()), Err(Error::EmptyGraph));
        assert!(matches!(Array2::try_from(&path_graph(100_000)?), Err(Error::TooLarge { .. })));
        Ok(())
    }

    /// The difference is a size, whichever of the two entries is larger.
    #[test]
    fn differences_of_asymmetric_entries_are_sizes() {
        let refused = Graph::try_from(arr2(&[[0.0, 0.0], [1.0, 0.0]]).view());
        assert_eq!(refused, Err(Error::NotSymmetric { row: 0, column: 1, difference: 1.0 }));
    }
}
