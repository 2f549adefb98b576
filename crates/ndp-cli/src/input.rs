//! Files, opened here and parsed by the libraries.

use crate::args::{GraphInput, Weights};
use crate::errors::Failure;
use flate2::read::MultiGzDecoder;
use ndp_graph::edge_list::{EdgeListOptions, ExtraFields, Header, SelfLoops};
use ndp_graph::graph_file::{OneWay, read_graph};
use ndp_graph::{GossipMatrix, Graph};
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;

/// The bytes of a file or of standard input, unpacked if they are gzipped.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    bytes_up_to(LARGEST, path)
}

/// The same, or an error of the kind [`io::ErrorKind::FileTooLarge`] if there are more than `limit`.
pub(crate) fn bytes_up_to(limit: u64, path: &Path) -> Result<Vec<u8>, Failure> {
    let failed = Failure::file(path);
    let packed = if path.as_os_str() == "-" {
        at_most(limit, std::io::stdin().lock())
    } else {
        std::fs::File::open(path).and_then(|file| at_most(limit, file))
    };
    let packed = packed.map_err(&failed)?;
    if !packed.starts_with(&[0x1f, 0x8b]) {
        return Ok(packed);
    }
    let damaged = |error: io::Error| match error.kind() {
        io::ErrorKind::FileTooLarge => error,
        kind => {
            io::Error::new(kind, format!("the gzipped bytes are damaged, or others follow them: {error}"))
        }
    };
    at_most(limit, MultiGzDecoder::new(&packed[..])).map_err(|error| failed(damaged(error)))
}

/// All bytes, or an error as soon as there are more than `limit`. Without the limit, a small gzipped file
/// could fill the memory.
fn at_most(limit: u64, reader: impl Read) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    reader.take(limit + 1).read_to_end(&mut all)?;
    if all.len() as u64 > limit {
        let words =
            format!("it has more than {} MiB, unpacked where it is gzipped: give a part of it", limit >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, words));
    }
    Ok(all)
}

/// The largest input in bytes; it holds some 10^8 edges.
const LARGEST: u64 = 2 << 30;

/// The graph of a file, connected and with at least two nodes.
pub(crate) fn graph(input: &GraphInput) -> Result<Graph, Failure> {
    Ok(connected(input, false)?.0)
}

/// The graph of a file as [`graph`] reads it, and the gossip matrix on it.
pub(crate) fn network(input: &GraphInput, weights: Weights) -> Result<(Graph, GossipMatrix), Failure> {
    if weights != Weights::File {
        let graph = graph(input)?;
        let matrix = matrix(&graph, weights)?;
        return Ok((graph, matrix));
    }
    let (graph, weights) = connected(input, true)?;
    let refused = |why: String| Failure::Refused(format!("{}: {why}", input.file.display()));
    let weights = weights.ok_or_else(|| {
        refused(
            "no weights are read from such a file: give an edge list with a third column, or a square matrix"
                .into(),
        )
    })?;
    let weight = |u, v| weights.get(&(u, v)).copied().unwrap_or(0.0);
    let matrix = GossipMatrix::from_edge_weights(&graph, weight).map_err(|error| {
        refused(format!(
            "{error}: weights of a node's edges must be nonnegative and sum to 1 at most, the rest is its own"
        ))
    })?;
    Ok((graph, matrix))
}

/// Weights of edges, the smaller end first.
type EdgeWeights = BTreeMap<(usize, usize), f64>;

fn connected(input: &GraphInput, weighted: bool) -> Result<(Graph, Option<EdgeWeights>), Failure> {
    let (graph, weights) = read(input, weighted)?;
    if graph.node_count() < 2 {
        return Err(Failure::Refused(format!(
            "{}: a network needs at least two nodes",
            input.file.display()
        )));
    }
    if !graph.is_connected() {
        let (largest, _) = graph.largest_component();
        return Err(Failure::Refused(format!(
            "{}: the graph is in {} pieces, the largest with {} of {} nodes: add --largest-component to take it",
            input.file.display(),
            graph.component_count(),
            largest.node_count(),
            graph.node_count()
        )));
    }
    crate::errors::know(&graph);
    Ok((graph, weights))
}

/// The graph of a file as it is.
pub(crate) fn any_graph(input: &GraphInput) -> Result<Graph, Failure> {
    Ok(read(input, false)?.0)
}

fn read(input: &GraphInput, weighted: bool) -> Result<(Graph, Option<EdgeWeights>), Failure> {
    let options = EdgeListOptions {
        header: if input.header { Header::Present } else { Header::Detect },
        self_loops: if input.skip_self_loops { SelfLoops::Skip } else { SelfLoops::Refuse },
        extra_fields: match (weighted, input.skip_columns) {
            (true, _) => ExtraFields::Weight,
            (false, true) => ExtraFields::Skip,
            (false, false) => ExtraFields::Refuse,
        },
        ..EdgeListOptions::default()
    };
    let one_way = if input.symmetric { OneWay::Symmetric } else { OneWay::Refuse };
    let bytes = bytes(&input.file)?;
    let found = read_graph(&bytes[..], options, one_way).map_err(|error| {
        let hint = match &error {
            ndp_graph::Error::OneWayEdges { .. } => ": add --symmetric to add the edges back",
            ndp_graph::Error::Malformed { problem, .. } if problem.contains("to itself") => {
                ": add --skip-self-loops to leave such edges out"
            }
            ndp_graph::Error::EdgeListLine { problem, .. } if problem.contains("itself") => {
                ": add --skip-self-loops to leave such edges out"
            }
            ndp_graph::Error::EdgeListLine { problem, .. } if problem.contains("fewer than two") => {
                ": an edge needs the names of its two ends"
            }
            ndp_graph::Error::EdgeListLine { problem, .. } if problem.contains("two") => {
                ": add --skip-columns if the columns after the second are weights or times, --header if the first line is one"
            }
            _ => "",
        };
        Failure::Refused(format!("{}: {error}{hint}", input.file.display()))
    })?;
    let mut notes = Vec::new();
    if found.weights_left_out {
        notes.push(format!(
            "the {} has more than the ends of its edges, such as weights: it is left out; --weights file takes weights where they are \
             asked for",
            found.format
        ));
    }
    if found.made_symmetric > 0 {
        let edges = if found.made_symmetric == 1 {
            "1 edge goes"
        } else {
            &format!("{} edges go", found.made_symmetric)
        };
        notes.push(format!("{edges} one way only: the opposite direction was added"));
    }
    for note in notes {
        crate::output::note(&note);
    }
    let weights = found.weights.map(|weights| found.graph.edges().zip(weights).collect::<EdgeWeights>());
    if !input.largest_component {
        return Ok((found.graph, weights));
    }
    let (graph, kept) = found.graph.largest_component();
    let weights = weights.map(|weights| {
        graph.edges().filter_map(|(u, v)| Some(((u, v), *weights.get(&(kept[u], kept[v]))?))).collect()
    });
    Ok((graph, weights))
}

/// The gossip matrix with weights that follow from degrees.
pub(crate) fn matrix(graph: &Graph, weights: Weights) -> Result<GossipMatrix, Failure> {
    Ok(match weights {
        Weights::MaxDegree => GossipMatrix::new(graph, ndp_graph::Weights::MaxDegree)?,
        Weights::Metropolis | Weights::File => GossipMatrix::metropolis(graph),
    })
}

/// The name of a node.
pub(crate) fn label(graph: &Graph, v: usize) -> String {
    graph.labels().map_or_else(|| v.to_string(), |labels| labels[v].clone())
}

/// The node of this name.
pub(crate) fn node(graph: &Graph, label: &str) -> Result<usize, Failure> {
    let found = match graph.labels() {
        Some(labels) => labels.iter().position(|other| other == label),
        None => label.parse().ok().filter(|&v| v < graph.node_count()),
    };
    found.ok_or_else(|| {
        let alike = |other: &&String| other.to_lowercase() == label.to_lowercase();
        let meant = match graph.labels() {
            None => format!(": its nodes are 0 to {}", graph.node_count() - 1),
            Some(labels) => match labels.iter().find(alike) {
                Some(other) => format!(": did you mean {other:?}?"),
                None => format!(": its nodes have names such as {:?}", labels[0]),
            },
        };
        Failure::Refused(format!("the graph has no node {label:?}{meant}"))
    })
}

/// The nodes by their names, for files that name many.
pub(crate) struct Names<'a> {
    graph: &'a Graph,
    by_label: BTreeMap<&'a str, usize>,
}

impl<'a> Names<'a> {
    pub(crate) fn of(graph: &'a Graph) -> Self {
        let labels = graph.labels().into_iter().flatten().enumerate();
        Self { graph, by_label: labels.map(|(v, label)| (label.as_str(), v)).collect() }
    }

    /// The node of this name.
    pub(crate) fn node(&self, label: &str) -> Result<usize, Failure> {
        match self.by_label.get(label) {
            Some(&v) => Ok(v),
            None => node(self.graph, label),
        }
    }
}

/// One finite number for every node, from lines `label,number`.
pub(crate) fn values(path: &Path, graph: &Graph) -> Result<Vec<f64>, Failure> {
    let bytes = bytes(path)?;
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(&bytes[..]);
    let names = Names::of(graph);
    let mut found: BTreeMap<usize, f64> = BTreeMap::new();
    for (i, record) in reader.records().enumerate() {
        let fail =
            |problem: String| Failure::Refused(format!("{}, line {}: {problem}", path.display(), i + 1));
        let record = record.map_err(|error| fail(error.to_string()))?;
        let fields: Vec<&str> = record.iter().collect();
        let [label, number] = fields[..] else {
            return Err(fail(format!("expected `label,number`, got {} fields", fields.len())));
        };
        let parsed = number.parse::<f64>().ok().filter(|x| x.is_finite());
        // A first line that is neither a number nor about a node is a header.
        if i == 0 && parsed.is_none() && names.node(label).is_err() {
            continue;
        }
        let value = parsed.ok_or_else(|| fail(format!("{number:?} is no finite number")))?;
        let v = names.node(label).map_err(|_| fail(format!("the graph has no node {label:?}")))?;
        if found.insert(v, value).is_some() {
            return Err(fail(format!("node {label:?} has two values")));
        }
    }
    (0..graph.node_count())
        .map(|v| {
            found.get(&v).copied().ok_or_else(|| {
                Failure::Refused(format!("{}: node {:?} has no value", path.display(), label(graph, v)))
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::at_most;
    use flate2::{Compression, read::GzEncoder, read::MultiGzDecoder};
    use std::io::{self, ErrorKind, Read};

    /// 64 MiB of zeros in some 64 KiB, refused after one MiB.
    #[test]
    fn a_small_file_that_stands_for_a_large_one_is_refused() -> io::Result<()> {
        let mut packed = Vec::new();
        GzEncoder::new(io::repeat(0).take(64 << 20), Compression::best()).read_to_end(&mut packed)?;
        assert!(packed.len() < 1 << 17);
        let refused =
            at_most(1 << 20, MultiGzDecoder::new(&packed[..])).map_err(|e| (e.kind(), e.to_string()));
        let words = "it has more than 1 MiB, unpacked where it is gzipped: give a part of it";
        assert_eq!(refused, Err((ErrorKind::FileTooLarge, words.to_owned())));
        assert_eq!(at_most(3, &b"abc"[..])?, b"abc");
        assert_eq!(at_most(2, &b"abc"[..]).map_err(|e| e.kind()), Err(ErrorKind::FileTooLarge));
        Ok(())
    }
}
