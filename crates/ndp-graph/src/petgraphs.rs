//! Graphs to and from petgraph, with the feature `petgraph`.

use crate::{Error, Graph};
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generators::{complete_graph, grid_2d_graph, path_graph};
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
}
