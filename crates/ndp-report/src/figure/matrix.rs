//! Heat maps, and drawings of graphs with coloured nodes.

use super::Kind;
use ndarray::Array2;
use ndp_graph::Graph;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The largest number of edges that a drawing shows: more would hide the nodes.
const MAX_EDGES: usize = 5000;

/// A matrix of values, drawn as a heat map.
///
/// # Examples
/// ```
/// use ndarray::arr2;
/// use ndp_dp::Grade;
/// use ndp_report::figure::Matrix;
/// let losses = Matrix::new("losses", Grade::Exact, arr2(&[[0.0, 1.0], [0.5, 0.0]]))
///     .named(&["Ada".into(), "Bo".into()]);
/// assert_eq!(losses.row_names.as_deref(), Some(&["Ada".to_owned(), "Bo".to_owned()][..]));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// Its name in the CSV.
    pub name: String,
    /// What it may be used for.
    pub kind: Kind,
    /// Entries, row 0 on top. NaN is an entry that is left out (a diagonal). An infinite one has a colour of
    /// its own.
    pub values: Array2<f64>,
    /// Names of the rows, drawn when there are few; indices if absent.
    pub row_names: Option<Vec<String>>,
    /// Names of the columns, drawn when there are few; indices if absent.
    pub column_names: Option<Vec<String>>,
}

impl Matrix {
    /// A matrix of `values`.
    pub fn new(name: impl Into<String>, kind: impl Into<Kind>, values: Array2<f64>) -> Self {
        Self { name: name.into(), kind: kind.into(), values, row_names: None, column_names: None }
    }

    /// Uses the same names for the rows and for the columns.
    #[must_use]
    pub fn named(mut self, names: &[String]) -> Self {
        self.row_names = Some(names.to_vec());
        self.column_names = Some(names.to_vec());
        self
    }

    pub(super) fn validate(&self) -> Result<(), String> {
        let (rows, columns) = self.values.dim();
        for (names, count) in [(&self.row_names, rows), (&self.column_names, columns)] {
            if names.as_ref().is_some_and(|names| names.len() != count) {
                return Err(format!("matrix {:?} needs {count} names on a side", self.name));
            }
        }
        if self.name.is_empty() || rows * columns == 0 {
            return Err(format!("matrix {:?} is unnamed or empty", self.name));
        }
        Ok(())
    }
}

/// A graph whose nodes are coloured by a value.
///
/// In the CSV every node `v` has the rows `(v, 0)` = horizontal and `(v, 1)` = vertical position, as
/// series `position` without privacy claim, and `(v, 2)` = value.
///
/// # Examples
/// ```
/// use ndp_dp::Grade;
/// use ndp_graph::generators::grid_2d_graph;
/// use ndp_report::figure::Drawing;
/// let grid = grid_2d_graph(2, 2)?;
/// let places = grid.positions().ok_or("grids have positions")?.to_vec();
/// let drawing = Drawing::new("loss", Grade::Exact, &grid, places, vec![0.0, 1.0, 1.0, 0.5]).mark(0);
/// assert_eq!((drawing.edge_count, drawing.marked), (4, vec![0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// Its name in the CSV.
    pub name: String,
    /// What the values may be used for.
    pub kind: Kind,
    /// Position of every node, in any unit; `y` grows upwards.
    pub positions: Vec<[f64; 2]>,
    /// Value of every node. NaN is a node without value (the observer), drawn in grey. An infinite value has
    /// a colour of its own.
    pub values: Vec<f64>,
    /// The edges that are drawn: all, or a sample of 5000.
    pub edges: Vec<(usize, usize)>,
    /// The number of edges of the graph.
    pub edge_count: usize,
    /// Nodes drawn large, with a ring.
    pub marked: Vec<usize>,
    /// The names of the nodes, if the graph has any; shown when the pointer is on a node.
    pub names: Option<Vec<String>>,
}

impl Drawing {
    /// A drawing of `graph` at `positions` with `values`, one per node. If the graph has more than
    /// 5000 edges, a sample is drawn, always the same for the same graph, and the picture says so.
    pub fn new(
        name: impl Into<String>,
        kind: impl Into<Kind>,
        graph: &Graph,
        positions: Vec<[f64; 2]>,
        values: Vec<f64>,
    ) -> Self {
        let mut edges: Vec<(usize, usize)> = graph.edges().collect();
        let edge_count = edges.len();
        if edge_count > MAX_EDGES {
            let (sample, _) = edges.partial_shuffle(&mut ChaCha8Rng::seed_from_u64(0), MAX_EDGES);
            edges = sample.to_vec();
            edges.sort_unstable();
        }
        Self {
            name: name.into(),
            kind: kind.into(),
            positions,
            values,
            edges,
            edge_count,
            marked: Vec::new(),
            names: graph.labels().map(<[String]>::to_vec),
        }
    }

    /// The drawing with node `v` drawn large, with a ring.
    #[must_use]
    pub fn mark(mut self, v: usize) -> Self {
        self.marked.push(v);
        self
    }

    pub(super) fn validate(&self) -> Result<(), String> {
        let n = self.positions.len();
        let in_range = |v: usize| v < n;
        if self.name.is_empty() || n == 0 || self.values.len() != n {
            return Err(format!(
                "drawing {:?} is unnamed, empty, or has {} values at {n} positions",
                self.name,
                self.values.len()
            ));
        }
        if self.positions.iter().flatten().any(|x| !x.is_finite()) {
            return Err(format!("drawing {:?} has a position that is not finite", self.name));
        }
        let ends = self.edges.iter().flat_map(|&(u, v)| [u, v]);
        if let Some(v) = ends.chain(self.marked.iter().copied()).find(|&v| !in_range(v)) {
            return Err(format!("drawing {:?} has {n} nodes and names node {v}", self.name));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndp_graph::generators::complete_graph;

    #[test]
    fn many_edges_are_sampled_always_alike() {
        let graph = complete_graph(120).unwrap();
        let draw = || Drawing::new("d", Kind::Data, &graph, vec![[0.0, 0.0]; 120], vec![0.0; 120]);
        assert_eq!(draw().edges.len(), MAX_EDGES);
        assert_eq!(draw().edge_count, 120 * 119 / 2);
        assert_eq!(draw(), draw());
        assert!(draw().validate().is_ok());
        let outside = draw().mark(120).validate();
        assert_eq!(outside, Err("drawing \"d\" has 120 nodes and names node 120".to_owned()));
    }

    #[test]
    fn matrices_need_a_name_entries_and_as_many_names() {
        let matrix =
            |name: &str, rows, columns| Matrix::new(name, Kind::Data, Array2::zeros((rows, columns)));
        let names: Vec<String> = ["a", "b"].map(str::to_owned).to_vec();
        assert_eq!(matrix("m", 2, 2).named(&names).validate(), Ok(()));
        assert_eq!(matrix("m", 2, 3).validate(), Ok(()));
        let refused = matrix("m", 2, 3).named(&names).validate();
        assert_eq!(refused, Err("matrix \"m\" needs 3 names on a side".to_owned()));
        assert!(matrix("m", 3, 2).named(&names).validate().is_err());
        for empty in [matrix("", 2, 2), matrix("m", 0, 2), matrix("m", 2, 0)] {
            assert!(empty.validate().unwrap_err().contains("is unnamed or empty"));
        }
    }
}
