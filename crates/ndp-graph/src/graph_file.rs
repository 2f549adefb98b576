//! Graphs from files; the format is recognised by the first bytes.
//!
//! | format | first bytes | what is read |
//! |---|---|---|
//! | edge list | anything else | [`crate::edge_list`] |
//! | GraphML, with the feature `graphml` | `<` | the edges of the first graph; names of nodes are their `id` |
//! | MatrixMarket | `%%MatrixMarket` | a square coordinate matrix: an edge for every entry that is not 0 |
//! | NumPy | `\x93NUMPY` | a square matrix (an edge for every entry that is not 0), or integers in two columns (the ends of edges) |
//!
//! Graphs are undirected. A file that is meant to contain both directions of each edge (a matrix, a directed
//! GraphML, an edge list in which other edges go both ways) but has edges in one direction only is refused,
//! unless [`OneWay::Symmetric`] adds the missing directions.

#[cfg(feature = "graphml")]
mod graphml;
mod matrix_market;
mod npy;

use crate::edge_list::{self, Arcs, EdgeListOptions, ExtraFields, SelfLoops};
use crate::{Error, Graph};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::BufRead;

/// How to handle edges that go one way only in a file whose edges have a direction.
///
/// # Examples
/// ```
/// use ndp_graph::graph_file::{OneWay, read_graph};
/// let one_way = "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n";
/// assert!(read_graph(one_way.as_bytes(), Default::default(), OneWay::Refuse).is_err());
/// assert_eq!(read_graph(one_way.as_bytes(), Default::default(), OneWay::Symmetric)?.made_symmetric, 1);
/// # Ok::<(), ndp_graph::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OneWay {
    /// They are an error.
    #[default]
    Refuse,
    /// They are read as edges in both directions.
    Symmetric,
}

/// The format of a file.
///
/// # Examples
/// ```
/// use ndp_graph::graph_file::Format;
/// assert_eq!(Format::GraphMl.to_string(), "GraphML file");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Two labels a line.
    EdgeList,
    /// GraphML.
    GraphMl,
    /// MatrixMarket, coordinate format.
    MatrixMarket,
    /// An array of NumPy.
    Npy,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::EdgeList => "edge list",
            Self::GraphMl => "GraphML file",
            Self::MatrixMarket => "MatrixMarket file",
            Self::Npy => "NumPy file",
        })
    }
}

/// A graph, and what else its file contained.
///
/// # Examples
/// ```
/// use ndp_graph::graph_file::{Format, OneWay, read_graph};
/// let file = read_graph("a b\nb c\n".as_bytes(), Default::default(), OneWay::Refuse)?;
/// assert_eq!((file.format, file.graph.edge_count(), file.weights_left_out), (Format::EdgeList, 2, false));
/// # Ok::<(), ndp_graph::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GraphFile {
    /// The graph.
    pub graph: Graph,
    /// The format that was recognised.
    pub format: Format,
    /// Whether weights (or other fields after the ends of an edge) were left out.
    pub weights_left_out: bool,
    /// The weights of `graph.edges()`, in their order, if [`ExtraFields::Weight`] asked for them and the file
    /// has them.
    pub weights: Option<Vec<f64>>,
    /// Number of edges that went one way only in a file whose edges have a direction, and were made
    /// symmetric.
    pub made_symmetric: usize,
}

/// The result of a parser.
struct Found {
    arcs: Arcs,
    /// Whether edges have a direction, so that an edge whose opposite is missing goes one way; `None` if this
    /// must be guessed.
    directed: Option<bool>,
}

/// The graph of a file; `options` are those for edge lists, and `options.self_loops` applies to all formats.
///
/// # Errors
/// Those of [`read_edge_list`](edge_list::read_edge_list); [`Error::Malformed`] for the other formats, and
/// for an edge that is given again with another weight, or a diagonal that does not make a row sum to 1
/// within `1e-9`, where weights are asked for; [`Error::OneWayEdges`].
///
/// # Examples
/// ```
/// use ndp_graph::graph_file::{Format, OneWay, read_graph};
/// let matrix = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n";
/// let file = read_graph(matrix.as_bytes(), Default::default(), OneWay::Refuse)?;
/// assert_eq!((file.format, file.graph.edge_count()), (Format::MatrixMarket, 2));
/// # Ok::<(), ndp_graph::Error>(())
/// ```
pub fn read_graph(
    mut reader: impl BufRead,
    options: EdgeListOptions,
    one_way: OneWay,
) -> Result<GraphFile, Error> {
    let first = reader
        .fill_buf()
        .map_err(|error| Error::EdgeListRead { line: 1, message: error.to_string() })?
        .trim_ascii_start();
    let first = first.strip_prefix("\u{feff}".as_bytes()).unwrap_or(first);
    let (format, found) = if first.starts_with(b"<") {
        (Format::GraphMl, read_graphml(reader)?)
    } else if first.len() >= 14 && first[..14].eq_ignore_ascii_case(b"%%MatrixMarket") {
        (Format::MatrixMarket, matrix_market::read(reader)?)
    } else if first.starts_with(npy::MAGIC) {
        (Format::Npy, npy::read(reader)?)
    } else {
        (Format::EdgeList, Found { arcs: edge_list::read_arcs(reader, options)?, directed: None })
    };
    let Found { arcs, directed } = found;
    let weighted = options.extra_fields == ExtraFields::Weight;
    // The diagonal of a matrix of weights is the share that nodes keep, so it is not a self-loop.
    let keeps = weighted && matches!(format, Format::MatrixMarket | Format::Npy);
    if options.self_loops == SelfLoops::Refuse
        && !keeps
        && let Some(&(u, _)) = arcs.arcs.iter().find(|(u, v)| u == v)
    {
        let problem = format!("has an edge from node {:?} to itself", arcs.labels[u]);
        return Err(Error::Malformed { format: format.to_string(), line: None, problem });
    }
    let alone = one_way_edges(&arcs.arcs);
    // A list that names every edge once, or every edge twice, is undirected; one that names some once and
    // some twice has directions.
    let both_ways = arcs.arcs.iter().filter(|(u, v)| u != v).count() > alone.len();
    let meant = directed.unwrap_or(both_ways && !alone.is_empty());
    let made_symmetric = if meant { alone.len() } else { 0 };
    if one_way == OneWay::Refuse && made_symmetric > 0 {
        let (u, v) = alone[0];
        let name = |u: usize| arcs.labels[u].to_string();
        return Err(Error::OneWayEdges { count: made_symmetric, from: name(u), to: name(v) });
    }
    let Arcs { labels, arcs, extra, weights } = arcs;
    let given = weights.filter(|_| weighted).map(|weights| (arcs.clone(), weights));
    let (graph, rank) = edge_list::build_ranked(labels, arcs)?;
    let weights =
        given.map(|(arcs, weights)| weights_of_edges(&graph, format, &arcs, &rank, &weights)).transpose()?;
    let weights_left_out = extra && weights.is_none();
    Ok(GraphFile { graph, format, weights_left_out, weights, made_symmetric })
}

#[cfg(feature = "graphml")]
fn read_graphml(reader: impl BufRead) -> Result<Found, Error> {
    graphml::read(reader)
}

/// Without the feature no XML is read, and the error says so.
#[cfg(not(feature = "graphml"))]
fn read_graphml(_: impl BufRead) -> Result<Found, Error> {
    let problem = "cannot be read: ndp-graph was built without its feature `graphml`".to_owned();
    Err(Error::Malformed { format: Format::GraphMl.to_string(), line: None, problem })
}

/// One weight for every edge; a given diagonal must be what the rest of each row leaves of 1.
fn weights_of_edges(
    graph: &Graph,
    format: Format,
    arcs: &[(usize, usize)],
    rank: &[usize],
    weights: &[f64],
) -> Result<Vec<f64>, Error> {
    let name = |v: usize| graph.labels().map_or_else(|| v.to_string(), |labels| labels[v].clone());
    let mut found: Vec<(usize, usize, f64)> = Vec::with_capacity(arcs.len());
    let mut diagonal: Vec<f64> = vec![0.0; graph.node_count()];
    for (&(u, v), &weight) in arcs.iter().zip(weights) {
        let (u, v) = (rank[u], rank[v]);
        if u == v {
            diagonal[u] = weight;
        } else {
            found.push((u.min(v), u.max(v), weight));
        }
    }
    found.sort_unstable_by_key(|edge| (edge.0, edge.1));
    let mut of_edges = Vec::with_capacity(graph.edge_count());
    let mut sums = diagonal.clone();
    for same in found.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let (u, v, weight) = same[0];
        if let Some(other) = same.iter().map(|edge| edge.2).find(|&other| other != weight) {
            let problem = format!(
                "gives the edge between {:?} and {:?} the weights {weight} and {other}",
                name(u),
                name(v)
            );
            return Err(malformed(format, None, problem));
        }
        sums[u] += weight;
        sums[v] += weight;
        of_edges.push(weight);
    }
    if diagonal.iter().any(|&weight| weight != 0.0)
        && let Some(v) = (0..sums.len()).find(|&v| (sums[v] - 1.0).abs() > ROW_TOLERANCE)
    {
        let problem = format!("has a diagonal, and row {:?} sums to {}, not to 1", name(v), sums[v]);
        return Err(malformed(format, None, problem));
    }
    Ok(of_edges)
}

/// Rows written with nine digits or more sum to 1 within this.
const ROW_TOLERANCE: f64 = 1e-9;

/// The edges whose opposite edge is missing, each once, sorted by the smaller end.
fn one_way_edges(arcs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let undirected = |&(u, v): &(usize, usize)| (u.min(v), u.max(v), u > v);
    let mut sorted: Vec<(usize, usize, bool)> = arcs.iter().filter(|(u, v)| u != v).map(undirected).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let same_ends = sorted.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1));
    let alone = same_ends.filter_map(|group| match *group {
        [(u, v, false)] => Some((u, v)),
        [(u, v, true)] => Some((v, u)),
        _ => None,
    });
    alone.collect()
}

/// Labels `first..first + count`.
fn numbered(first: usize, count: usize) -> Vec<Box<str>> {
    (first..first + count).map(|label| label.to_string().into()).collect()
}

fn malformed(format: Format, line: Option<usize>, problem: impl Into<String>) -> Error {
    Error::Malformed { format: format.to_string(), line, problem: problem.into() }
}

#[cfg(test)]
mod tests;
