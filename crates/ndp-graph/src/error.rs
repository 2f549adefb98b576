//! The errors of this crate: the condition that failed, and the value that failed it.

/// Why a graph or matrix was refused.
///
/// # Examples
/// ```
/// use ndp_graph::{Error, Graph};
/// let refused = Graph::from_edges(3, [(0, 7)]);
/// assert!(matches!(refused, Err(Error::NodeOutOfRange { node: 7, nodes: 3 })));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The computation was to end before its answer.
    #[error(transparent)]
    Stopped(#[from] ndp_numeric::stop::Stopped),
    /// A graph without nodes.
    #[error("a graph needs at least one node")]
    EmptyGraph,
    /// More nodes than an index of 32 bits can name.
    #[error("a graph may have at most 2^32 - 2 nodes, got {0}")]
    TooManyNodes(usize),
    /// A node that is not in the graph.
    #[error("node {node} is out of range: the graph has {nodes} nodes")]
    NodeOutOfRange {
        /// The node.
        node: usize,
        /// The number of nodes.
        nodes: usize,
    },
    /// An edge from a node to itself.
    #[error("self-loop at node {0}: graphs are simple")]
    SelfLoop(usize),
    /// An edge of a directed graph whose opposite edge is missing.
    #[error("edge {0}-{1} of the directed graph has no edge {1}-{0}: graphs are undirected")]
    OneWay(usize, usize),
    /// The same edge twice.
    #[error("edge {0}-{1} is given twice: graphs are simple")]
    RepeatedEdge(usize, usize),
    /// A pair of nodes that no edge joins.
    #[error("{0}-{1} is no edge of the graph")]
    NotAnEdge(usize, usize),
    /// A disconnected graph where a connected one is needed.
    #[error("the graph is not connected: it has {0} components")]
    Disconnected(usize),
    /// No draw of a random graph was connected.
    #[error("none of {tries} draws of {family} was connected")]
    NeverConnected {
        /// The family drawn from.
        family: &'static str,
        /// How many graphs were drawn.
        tries: usize,
    },
    /// A random construction got stuck every time.
    #[error("none of {tries} attempts to build {family} succeeded")]
    NeverBuilt {
        /// What was to be built.
        family: &'static str,
        /// How many attempts were made.
        tries: usize,
    },
    /// Weights that differ from edge to edge, where a closed form needs them equal.
    #[error("no closed form: {weights:?} weights are not the same on every edge of this graph")]
    NoClosedForm {
        /// The weights.
        weights: crate::weights::Weights,
    },
    /// A row of a stochastic matrix does not sum to 1.
    #[error("row {row} of the matrix sums to {sum}, not 1")]
    NotStochastic {
        /// The row.
        row: usize,
        /// Its sum.
        sum: f64,
    },
    /// An entry of a sparse matrix in a file that is out of order: it does not come after the one before it.
    #[error(
        "entry ({row}, {column}) of the matrix is out of order: rows and their columns ascend, each entry once"
    )]
    EntryOutOfOrder {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
    },
    /// A matrix in a file that names its weights but has other entries.
    #[error("entry ({row}, {column}) of the matrix is {value}, not the {named} that its weights give it")]
    NotItsWeights {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// The entry.
        value: f64,
        /// The entry that the named weights give.
        named: f64,
    },
    /// An unknown name.
    #[error("there is no {what} named {name:?}")]
    UnknownName {
        /// What the name should stand for.
        what: &'static str,
        /// The name given.
        name: String,
    },
    /// A negative or non-finite entry.
    #[error("entry ({row}, {column}) of the matrix is {value}: it must be finite and nonnegative")]
    InvalidWeight {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// The entry.
        value: f64,
    },
    /// `W[u][v]` differs from `W[v][u]`.
    #[error("the matrix is not symmetric at ({row}, {column}): the entries differ by {difference}")]
    NotSymmetric {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// The difference.
        difference: f64,
    },
    /// A nonzero entry that is neither on an edge nor on the diagonal.
    #[error("the matrix has weight {value} at ({row}, {column}), which is no edge of the graph")]
    OffSupport {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// The entry.
        value: f64,
    },
    /// A NaN or infinite entry where any finite number would do.
    #[error("entry ({row}, {column}) of the matrix is {value}: it must be finite")]
    NotFinite {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// The entry.
        value: f64,
    },
    /// A matrix that has no Cholesky factor.
    #[error("the matrix is not positive definite: the pivot of row {row} is not positive")]
    NotPositiveDefinite {
        /// The row of the first pivot that is not positive.
        row: usize,
    },
    /// A gossip matrix that never reaches the mean, however long it runs.
    #[error("the matrix does not mix: its eigenvalue {eigenvalue} is 1 in absolute value, up to rounding")]
    DoesNotMix {
        /// The eigenvalue that prevents it, besides the 1 of the constant vector.
        eigenvalue: f64,
    },
    /// A walk that cannot get from every node to every other: its stationary law is not unique.
    #[error("the walk is reducible: its positive entries have {classes} strongly connected classes")]
    Reducible {
        /// Number of strongly connected classes.
        classes: usize,
    },
    /// A walk that never forgets the parity (or residue) of its start time.
    #[error("the walk is periodic with period {period}: it does not converge; make it lazy")]
    Periodic {
        /// Greatest common divisor of the lengths of all closed walks.
        period: usize,
    },
    /// An iteration stopped before it reached the required accuracy.
    #[error("{what} did not converge: the error bound is {residual} after {steps} steps")]
    NoConvergence {
        /// The iteration.
        what: &'static str,
        /// Steps taken.
        steps: usize,
        /// The bound on the error that it had reached.
        residual: f64,
    },
    /// A result that would not fit in memory, refused before any work.
    #[error("{what} would take {bytes} bytes, more than the limit of {limit}")]
    TooLarge {
        /// What would be too large.
        what: &'static str,
        /// Bytes it would take.
        bytes: u128,
        /// Bytes allowed, 16 GiB.
        limit: u128,
    },
    /// A graph file that violates its format.
    #[error("{}the {format} {problem}", line.map_or(String::new(), |line| format!("line {line} of ")))]
    Malformed {
        /// The format.
        format: String,
        /// The number of the line, from 1, if the problem is in one line.
        line: Option<usize>,
        /// What is wrong with it, as the end of a sentence.
        problem: String,
    },
    /// Edges whose opposite edges are missing, in a file whose edges have a direction.
    #[error("{} one way only, such as {from:?} to {to:?}: graphs are undirected", if *count == 1 { "1 edge goes".to_owned() } else { format!("{count} edges go") })]
    OneWayEdges {
        /// How many.
        count: usize,
        /// The start of one of them.
        from: String,
        /// Its end.
        to: String,
    },
    /// A line of an edge list that is not an edge.
    #[error("line {line} of the edge list {problem}: {text:?}")]
    EdgeListLine {
        /// The number of the line, from 1.
        line: usize,
        /// What is wrong with it, as the end of a sentence.
        problem: &'static str,
        /// The beginning of the line.
        text: String,
    },
    /// The reader of an edge list failed.
    #[error("reading the edge list failed at line {line}: {message}")]
    EdgeListRead {
        /// The number of the line, from 1.
        line: usize,
        /// What the reader reported.
        message: String,
    },
    /// Sizes that do not fit each other.
    #[error("{what}: expected {expected}, got {got}")]
    Shape {
        /// What has the wrong size.
        what: &'static str,
        /// The size it should have.
        expected: usize,
        /// The size it has.
        got: usize,
    },
    /// A named parameter is outside its domain.
    #[error("{name} must {condition}, got {value}")]
    InvalidParameter {
        /// The parameter's name.
        name: &'static str,
        /// What it must satisfy, as the end of a sentence: `lie in [0, 1]`.
        condition: &'static str,
        /// The value given.
        value: f64,
    },
}

/// The conditions with which dense linear algebra fails are conditions of this crate, too.
impl From<ndp_linalg::Error> for Error {
    fn from(error: ndp_linalg::Error) -> Self {
        use ndp_linalg::Error as Of;
        match error {
            Of::NotFinite { row, column, value } => Self::NotFinite { row, column, value },
            Of::NotSymmetric { row, column, difference } => Self::NotSymmetric { row, column, difference },
            Of::NotPositiveDefinite { row } => Self::NotPositiveDefinite { row },
            Of::NoConvergence { what, steps, residual } => Self::NoConvergence { what, steps, residual },
            Of::TooLarge { what, bytes, limit } => Self::TooLarge { what, bytes, limit },
            Of::Shape { what, expected, got } => Self::Shape { what, expected, got },
        }
    }
}

/// Fails unless a condition on a parameter is met. Write the condition so that NaN fails it.
pub(crate) fn ensure(
    met: bool,
    name: &'static str,
    condition: &'static str,
    value: f64,
) -> Result<(), Error> {
    if met { Ok(()) } else { Err(Error::InvalidParameter { name, condition, value }) }
}

/// Fails for more nodes than ids of 32 bits can name.
pub(crate) fn require_ids(nodes: usize) -> Result<(), Error> {
    if nodes >= u32::MAX as usize { Err(Error::TooManyNodes(nodes)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An error of `ndp-linalg` reads the same here.
    #[test]
    fn errors_of_dense_linear_algebra_keep_their_words() {
        use ndp_linalg::Error as Of;
        let errors = [
            Of::NotFinite { row: 1, column: 2, value: f64::INFINITY },
            Of::NotSymmetric { row: 1, column: 2, difference: 0.5 },
            Of::NotPositiveDefinite { row: 3 },
            Of::NoConvergence { what: "it", steps: 5, residual: 0.25 },
            Of::TooLarge { what: "it", bytes: 7, limit: 6 },
            Of::Shape { what: "sides", expected: 8, got: 9 },
        ];
        for error in errors {
            assert_eq!(Error::from(error.clone()).to_string(), error.to_string());
        }
    }
}
