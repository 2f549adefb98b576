//! Simple undirected graphs with nodes `0..n`.

use crate::Error;
use crate::error::require_ids;
use ndp_linalg::memory::require_memory;
use ndp_numeric::casts::id;

/// A simple undirected graph: nodes `0..n`, no self-loop, no repeated edge, neighbors sorted.
///
/// Nodes may carry labels (those of the file they were read from) and positions in the plane
/// (those of a geometric generator).
///
/// # Examples
/// ```
/// use ndp_graph::Graph;
/// let graph = Graph::from_edges(4, [(0, 1), (1, 2)])?;
/// assert_eq!((graph.neighbors(1), graph.degree(3)), ([0, 2].as_slice(), 0));
/// assert_eq!(graph.distances(0), [Some(0), Some(1), Some(2), None]);
/// # Ok::<(), ndp_graph::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    starts: Vec<usize>,
    neighbors: Vec<u32>,
    labels: Option<Vec<String>>,
    positions: Option<Vec<[f64; 2]>>,
}

impl Graph {
    /// The graph with nodes `0..n` and the given edges, each listed only once, in either direction.
    ///
    /// # Errors
    /// [`Error::EmptyGraph`], [`Error::TooManyNodes`], [`Error::TooLarge`], [`Error::NodeOutOfRange`],
    /// [`Error::SelfLoop`], [`Error::RepeatedEdge`].
    ///
    /// # Complexity
    /// `O(n + m log d)` for `m` edges and largest degree `d`.
    ///
    /// # Examples
    /// ```
    /// use ndp_graph::{Error, Graph};
    /// let triangle = Graph::from_edges(3, [(0, 1), (2, 1), (0, 2)])?;
    /// assert_eq!(triangle.neighbors(1), [0, 2]);
    /// assert_eq!(Graph::from_edges(2, [(0, 1), (1, 0)]), Err(Error::RepeatedEdge(0, 1)));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn from_edges(n: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> Result<Self, Error> {
        if n == 0 {
            return Err(Error::EmptyGraph);
        }
        require_ids(n)?;
        require_memory("the nodes of the graph", 16 * n as u128)?;
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        let mut starts = vec![0; n + 1];
        for (u, v) in edges {
            for node in [u, v] {
                if node >= n {
                    return Err(Error::NodeOutOfRange { node, nodes: n });
                }
            }
            if u == v {
                return Err(Error::SelfLoop(u));
            }
            starts[u + 1] += 1;
            starts[v + 1] += 1;
            pairs.push((id(u), id(v)));
        }
        for i in 0..n {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut neighbors = vec![0; starts[n]];
        for (u, v) in pairs {
            for (from, to) in [(u, v), (v, u)] {
                neighbors[next[from as usize]] = to;
                next[from as usize] += 1;
            }
        }
        for u in 0..n {
            let row = &mut neighbors[starts[u]..starts[u + 1]];
            row.sort_unstable();
            if let Some(twice) = row.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(Error::RepeatedEdge(u, twice[0] as usize));
            }
        }
        Ok(Self { starts, neighbors, labels: None, positions: None })
    }

    /// Number of nodes, at least 1.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of edges.
    #[must_use]
    pub fn edge_count(&self) -> usize {
        self.neighbors.len() / 2
    }

    /// The neighbors of `v`, ascending.
    ///
    /// # Panics
    /// When `v` is out of range.
    #[must_use]
    #[inline]
    pub fn neighbors(&self, v: usize) -> &[u32] {
        &self.neighbors[self.starts[v]..self.starts[v + 1]]
    }

    /// Number of neighbors of `v`.
    ///
    /// # Panics
    /// When `v` is out of range.
    #[must_use]
    #[inline]
    pub fn degree(&self, v: usize) -> usize {
        self.starts[v + 1] - self.starts[v]
    }

    /// Whether `u` and `v` are joined by an edge.
    ///
    /// # Panics
    /// When `u` is out of range.
    #[must_use]
    pub fn has_edge(&self, u: usize, v: usize) -> bool {
        u32::try_from(v).is_ok_and(|v| self.neighbors(u).binary_search(&v).is_ok())
    }

    /// Every edge once, as `(u, v)` with `u < v`, in lexicographic order.
    pub fn edges(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.node_count()).flat_map(move |u| {
            self.neighbors(u).iter().map(|&v| v as usize).filter(move |&v| u < v).map(move |v| (u, v))
        })
    }

    /// The same graph with a label for each node.
    ///
    /// # Errors
    /// [`Error::Shape`] unless there is one label per node.
    pub fn with_labels(mut self, labels: Vec<String>) -> Result<Self, Error> {
        let (expected, got) = (self.node_count(), labels.len());
        if expected != got {
            return Err(Error::Shape { what: "labels", expected, got });
        }
        self.labels = Some(labels);
        Ok(self)
    }

    /// The same graph with a position in the plane for each node.
    ///
    /// # Errors
    /// [`Error::Shape`] unless there is one position per node, [`Error::InvalidParameter`] for a coordinate
    /// that is not finite.
    pub(crate) fn with_positions(mut self, positions: Vec<[f64; 2]>) -> Result<Self, Error> {
        let (expected, got) = (self.node_count(), positions.len());
        if expected != got {
            return Err(Error::Shape { what: "positions", expected, got });
        }
        if let Some(&value) = positions.as_flattened().iter().find(|value| !value.is_finite()) {
            return Err(Error::InvalidParameter { name: "a coordinate", condition: "be finite", value });
        }
        self.positions = Some(positions);
        Ok(self)
    }

    /// The labels of the nodes, if they have any.
    #[must_use]
    pub fn labels(&self) -> Option<&[String]> {
        self.labels.as_deref()
    }

    /// The positions of the nodes, if they have any.
    #[must_use]
    pub fn positions(&self) -> Option<&[[f64; 2]]> {
        self.positions.as_deref()
    }

    /// Hop distance from `source` to every node, `None` for nodes it cannot reach.
    ///
    /// # Panics
    /// When `source` is out of range.
    #[must_use]
    pub fn distances(&self, source: usize) -> Vec<Option<u32>> {
        let mut distances = vec![None; self.node_count()];
        distances[source] = Some(0);
        let mut frontier = vec![source];
        let mut hops = 0;
        while !frontier.is_empty() {
            hops += 1;
            let mut next = Vec::new();
            for u in frontier {
                for &v in self.neighbors(u) {
                    let distance = &mut distances[v as usize];
                    if distance.is_none() {
                        *distance = Some(hops);
                        next.push(v as usize);
                    }
                }
            }
            frontier = next;
        }
        distances
    }

    /// The component of every node, numbered by its smallest node.
    pub(crate) fn components(&self) -> Vec<usize> {
        let mut component = vec![usize::MAX; self.node_count()];
        let mut count = 0;
        for start in 0..self.node_count() {
            if component[start] != usize::MAX {
                continue;
            }
            component[start] = count;
            let mut stack = vec![start];
            while let Some(u) = stack.pop() {
                for &v in self.neighbors(u) {
                    if component[v as usize] == usize::MAX {
                        component[v as usize] = count;
                        stack.push(v as usize);
                    }
                }
            }
            count += 1;
        }
        component
    }

    /// Number of connected components.
    #[must_use]
    pub fn component_count(&self) -> usize {
        self.components().into_iter().max().map_or(0, |last| last + 1)
    }

    /// Whether every node reaches every other.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.component_count() == 1
    }

    /// Checks that the graph is connected.
    ///
    /// # Errors
    /// [`Error::Disconnected`] with the number of components.
    pub(crate) fn require_connected(&self) -> Result<(), Error> {
        match self.component_count() {
            1 => Ok(()),
            count => Err(Error::Disconnected(count)),
        }
    }

    /// The largest component, with its nodes renumbered in ascending order and with labels and positions
    /// kept, and the original index of each of its nodes. Among components of equal size it is the one with
    /// the smallest node.
    #[must_use]
    pub fn largest_component(&self) -> (Self, Vec<usize>) {
        let component = self.components();
        let mut sizes = vec![0usize; self.component_count()];
        for &c in &component {
            sizes[c] += 1;
        }
        let largest = (0..sizes.len()).rev().max_by_key(|&c| sizes[c]).unwrap_or(0);
        let kept: Vec<usize> = (0..self.node_count()).filter(|&v| component[v] == largest).collect();
        let mut index = vec![u32::MAX; self.node_count()];
        for (i, &v) in kept.iter().enumerate() {
            index[v] = id(i);
        }
        let mut starts = vec![0];
        let mut neighbors = Vec::new();
        for &v in &kept {
            neighbors.extend(self.neighbors(v).iter().map(|&w| index[w as usize]));
            starts.push(neighbors.len());
        }
        let labels = self.labels.as_ref().map(|all| kept.iter().map(|&v| all[v].clone()).collect());
        let positions = self.positions.as_ref().map(|all| kept.iter().map(|&v| all[v]).collect());
        (Self { starts, neighbors, labels, positions }, kept)
    }
}

/// Writes its size only, because a graph may have too many edges to show.
impl std::fmt::Display for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let (nodes, edges) = (self.node_count(), self.edge_count());
        write!(f, "graph of {nodes} node{} and {edges} edge{}", plural(nodes), plural(edges))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generators::{cycle_graph, grid_2d_graph, path_graph};

    #[test]
    fn edges_come_in_any_order_and_direction() -> Result<(), Error> {
        let graph = Graph::from_edges(4, [(3, 0), (1, 0), (2, 3)])?;
        assert_eq!((graph.node_count(), graph.edge_count()), (4, 3));
        assert_eq!(graph.neighbors(0), [1, 3]);
        assert_eq!(graph.edges().collect::<Vec<_>>(), [(0, 1), (0, 3), (2, 3)]);
        assert_eq!(graph, Graph::from_edges(4, [(3, 2), (0, 1), (0, 3)])?);
        assert!(graph.has_edge(3, 0) && graph.has_edge(0, 3) && !graph.has_edge(1, 2));
        assert!(!graph.has_edge(0, 4) && !graph.has_edge(0, usize::MAX));
        Ok(())
    }

    #[test]
    fn graphs_that_are_not_simple_are_refused() {
        assert_eq!(Graph::from_edges(0, []), Err(Error::EmptyGraph));
        assert_eq!(Graph::from_edges(3, [(0, 1), (2, 2)]), Err(Error::SelfLoop(2)));
        assert_eq!(Graph::from_edges(3, [(0, 1), (1, 2), (0, 1)]), Err(Error::RepeatedEdge(0, 1)));
        assert_eq!(Graph::from_edges(3, [(2, 1), (1, 2)]), Err(Error::RepeatedEdge(1, 2)));
        let error = Error::NodeOutOfRange { node: 3, nodes: 3 };
        assert_eq!(Graph::from_edges(3, [(0, 3)]), Err(error));
        assert!(matches!(Graph::from_edges(3, [(usize::MAX, 0)]), Err(Error::NodeOutOfRange { .. })));
        let absurd = u32::MAX as usize;
        assert_eq!(Graph::from_edges(absurd, []), Err(Error::TooManyNodes(absurd)));
        assert_eq!(Graph::from_edges(usize::MAX, []), Err(Error::TooManyNodes(usize::MAX)));
        assert!(matches!(Graph::from_edges(absurd - 1, []), Err(Error::TooLarge { .. })));
    }

    #[test]
    fn attributes_need_one_per_node() -> Result<(), Error> {
        let path = path_graph(2)?;
        let label = || String::from("a");
        let error = Error::Shape { what: "labels", expected: 2, got: 1 };
        assert_eq!(path.clone().with_labels(vec![label()]), Err(error));
        let error = Error::Shape { what: "positions", expected: 2, got: 3 };
        assert_eq!(path.clone().with_positions(vec![[0.0; 2]; 3]), Err(error));
        for bad in [f64::NAN, f64::INFINITY] {
            let positions = vec![[0.0, 1.0], [bad, 0.0]];
            assert!(matches!(path.clone().with_positions(positions), Err(Error::InvalidParameter { .. })));
        }
        let named = path.with_labels(vec![label(), "b".into()])?;
        assert_eq!(named.labels(), Some(&[label(), "b".into()][..]));
        Ok(())
    }

    #[test]
    fn components_are_numbered_by_their_smallest_node() -> Result<(), Error> {
        let graph = Graph::from_edges(7, [(1, 4), (2, 5), (5, 6)])?;
        assert_eq!(graph.components(), [0, 1, 2, 3, 1, 2, 2]);
        assert_eq!(graph.component_count(), 4);
        assert_eq!(graph.require_connected(), Err(Error::Disconnected(4)));
        assert_eq!(graph.distances(2), [None, None, Some(0), None, None, Some(1), Some(2)]);
        assert_eq!(cycle_graph(5)?.require_connected(), Ok(()));
        assert!(path_graph(1)?.is_connected());
        Ok(())
    }

    #[test]
    fn the_largest_component_keeps_labels_and_positions() -> Result<(), Error> {
        let graph = Graph::from_edges(7, [(1, 4), (2, 5), (5, 6)])?
            .with_labels("abcdefg".chars().map(String::from).collect())?
            .with_positions((0..7).map(|i| [f64::from(i), 0.5]).collect())?;
        let (component, nodes) = graph.largest_component();
        assert_eq!(nodes, [2, 5, 6]);
        assert_eq!(component.edges().collect::<Vec<_>>(), [(0, 1), (1, 2)]);
        assert_eq!(component.labels(), Some(&["c".into(), "f".into(), "g".into()][..]));
        assert_eq!(component.positions(), Some(&[[2.0, 0.5], [5.0, 0.5], [6.0, 0.5]][..]));
        // Among components of equal size the first; for a connected graph the whole graph.
        let pairs = Graph::from_edges(5, [(0, 3), (1, 2)])?;
        assert_eq!(pairs.largest_component().1, [0, 3]);
        let grid = grid_2d_graph(3, 3)?;
        assert_eq!(grid.largest_component(), (grid.clone(), (0..9).collect()));
        Ok(())
    }
}
