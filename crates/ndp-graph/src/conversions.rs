//! Graphs to and from petgraph and adjacency matrices.

use crate::{Error, Graph};
use ndarray::{Array2, ArrayView2};
use ndp_linalg::memory::require_dense;
use petgraph::graph::{DiGraph, IndexType, NodeIndex, UnGraph};

/// Nodes in order, each with its label, or with its index in decimal if there are no labels.
impl From<&Graph> for UnGraph<String, ()> {
    fn from(graph: &Graph) -> Self {
        let mut other = Self::with_capacity(graph.node_count(), graph.edge_count());
        for v in 0..graph.node_count() {
            other.add_node(graph.labels().map_or_else(|| v.to_string(), |labels| labels[v].clone()));
        }
        for (u, v) in graph.edges() {
            other.add_edge(NodeIndex::new(u), NodeIndex::new(v), ());
        }
        other
    }
}

/// Nodes in the order of their indices; weights are left out, see [`Graph::with_labels`].
///
/// # Errors
/// Those of [`Graph::from_edges`].
impl<N, E, Ix: IndexType> TryFrom<&UnGraph<N, E, Ix>> for Graph {
    type Error = Error;

    fn try_from(other: &UnGraph<N, E, Ix>) -> Result<Self, Error> {
        let edges = other.raw_edges().iter().map(|edge| (edge.source().index(), edge.target().index()));
        Self::from_edges(other.node_count(), edges)
    }
}

/// Nodes as for [`UnGraph`], each edge in both directions.
impl From<&Graph> for DiGraph<String, ()> {
    fn from(graph: &Graph) -> Self {
        let mut other = Self::with_capacity(graph.node_count(), 2 * graph.edge_count());
        for v in 0..graph.node_count() {
            other.add_node(graph.labels().map_or_else(|| v.to_string(), |labels| labels[v].clone()));
        }
        for u in 0..graph.node_count() {
            for &v in graph.neighbors(u) {
                other.add_edge(NodeIndex::new(u), NodeIndex::new(v as usize), ());
            }
        }
        other
    }
}

/// Nodes in the order of their indices; weights are left out. The graph must be symmetric: an edge in one
/// direction only cannot carry an exchange of messages between two nodes.
///
/// # Errors
/// [`Error::OneWay`], [`Error::RepeatedEdge`], and those of [`Graph::from_edges`].
impl<N, E, Ix: IndexType> TryFrom<&DiGraph<N, E, Ix>> for Graph {
    type Error = Error;

    fn try_from(other: &DiGraph<N, E, Ix>) -> Result<Self, Error> {
        let edges = other.raw_edges().iter().map(|edge| (edge.source().index(), edge.target().index()));
        let mut edges: Vec<(usize, usize)> = edges.collect();
        edges.sort_unstable();
        if let Some(twice) = edges.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::RepeatedEdge(twice[0].0, twice[0].1));
        }
        if let Some(&(u, v)) = edges.iter().find(|&&(u, v)| edges.binary_search(&(v, u)).is_err()) {
            return Err(Error::OneWay(u, v));
        }
        Self::from_edges(other.node_count(), edges.into_iter().filter(|(u, v)| u <= v))
    }
}

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
            if value != 0.0 && value != 1.0 {
                return Err(Error::InvalidParameter {
                    name: "an entry of an adjacency matrix",
                    condition: "be 0 or 1",
                    value,
                });
            }
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
    use crate::generators::{complete_graph, grid_2d_graph, path_graph};
    use ndarray::arr2;
    use petgraph::{Graph as Petgraph, Undirected, algo::connected_components};

    #[test]
    fn petgraph_keeps_nodes_edges_and_labels() -> Result<(), Error> {
        for graph in [path_graph(1)?, grid_2d_graph(3, 4)?, complete_graph(6)?] {
            let other = UnGraph::from(&graph);
            assert_eq!((other.node_count(), other.edge_count()), (graph.node_count(), graph.edge_count()));
            assert_eq!(connected_components(&other), 1);
            assert_eq!(other[NodeIndex::new(0)], "0");
            let back = Graph::try_from(&other)?;
            assert!(graph.edges().eq(back.edges()));
        }
        let labels: Vec<String> = ["a", "b", "c"].map(String::from).into();
        let named = path_graph(3)?.with_labels(labels)?;
        let other = UnGraph::from(&named);
        let labels = other.node_weights().cloned().collect();
        assert_eq!(Graph::try_from(&other)?.with_labels(labels)?, named);
        Ok(())
    }

    #[test]
    fn petgraphs_that_are_not_simple_are_refused() {
        let empty: UnGraph<(), ()> = UnGraph::new_undirected();
        assert_eq!(Graph::try_from(&empty), Err(Error::EmptyGraph));
        let twice = UnGraph::<(), ()>::from_edges([(0, 1), (1, 0)]);
        assert_eq!(Graph::try_from(&twice), Err(Error::RepeatedEdge(0, 1)));
        let around = Petgraph::<(), f64, Undirected, u8>::from_edges([(0u8, 1u8, 0.5), (1, 1, 2.0)]);
        assert_eq!(Graph::try_from(&around), Err(Error::SelfLoop(1)));
    }

    #[test]
    fn directed_petgraphs_must_be_symmetric() -> Result<(), Error> {
        for graph in [path_graph(1)?, grid_2d_graph(3, 4)?, complete_graph(6)?] {
            let other = DiGraph::from(&graph);
            assert_eq!(other.edge_count(), 2 * graph.edge_count());
            assert!(graph.edges().eq(Graph::try_from(&other)?.edges()));
        }
        let from = |edges: &[(u32, u32)]| Graph::try_from(&DiGraph::<(), ()>::from_edges(edges));
        assert_eq!(from(&[(0, 1), (1, 2), (2, 1)]), Err(Error::OneWay(0, 1)));
        assert_eq!(from(&[(0, 1), (1, 0), (0, 1)]), Err(Error::RepeatedEdge(0, 1)));
        assert_eq!(from(&[(0, 1), (1, 0), (1, 1)]), Err(Error::SelfLoop(1)));
        assert_eq!(from(&[(2, 1), (1, 2), (0, 1), (1, 0)]), path_graph(3));
        assert_eq!(from(&[]), Err(Error::EmptyGraph));
        Ok(())
    }

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
}
