//! Graphs, matrices and sequences in files, by serde: written without loss, checked again when read.
//!
//! | type | fields |
//! |---|---|
//! | [`Graph`] | `nodes`, `edges` as `[u, v]` with `u < v`, `labels` and `positions` where it has any |
//! | [`Csr`], [`TransitionMatrix`] | `nodes`, `entries` as `[row, column, weight]`, row by row |
//! | [`GossipMatrix`] | `graph`, `weights`, `laziness` (a list where there are several shares), and `entries` unless the first two say them all |
//! | [`GossipSequence`] | `nodes`, `matrices`, each different one once, `steps`: `"idle"`, `{"pair": [u, v]}`, `{"matrix": index}` |
//! | [`EdgeActivations`] | `nodes`, `edges` as `[u, v, probability]` |
//!
//! A few bytes must not take gigabytes: a file may name a million nodes and ten more for each edge, entry,
//! label or position that it lists.
//!
//! A file's `"weights": "metropolis"` is not taken on trust: exact ranks are decided from the name, so the
//! entries are computed from it, and entries that the file also gives must equal those.

use crate::error::ensure;
use crate::gossip_matrix::Weights;
use crate::sequences::EdgeActivations;
use crate::{Csr, Error, GossipMatrix, GossipSequence, Graph, Step, TransitionMatrix};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// An entry of a sparse matrix: row, column, weight.
type Entry = (usize, u32, f64);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GraphFile<'a> {
    nodes: usize,
    edges: Vec<(usize, usize)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    labels: Option<Cow<'a, [String]>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    positions: Option<Cow<'a, [[f64; 2]]>>,
}

impl Serialize for Graph {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let file = GraphFile {
            nodes: self.node_count(),
            edges: self.edges().collect(),
            labels: self.labels().map(Cow::Borrowed),
            positions: self.positions().map(Cow::Borrowed),
        };
        file.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Graph {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let file = GraphFile::deserialize(deserializer)?;
        let listed = [
            file.edges.len(),
            file.labels.as_ref().map_or(0, |x| x.len()),
            file.positions.as_ref().map_or(0, |x| x.len()),
        ];
        require_listed(file.nodes, listed.iter().sum()).map_err(D::Error::custom)?;
        let build = || -> Result<Self, Error> {
            let mut graph = Self::from_edges(file.nodes, file.edges)?;
            if let Some(labels) = file.labels {
                graph = graph.with_labels(labels.into_owned())?;
            }
            if let Some(positions) = file.positions {
                graph = graph.with_positions(positions.into_owned())?;
            }
            Ok(graph)
        };
        build().map_err(D::Error::custom)
    }
}

/// Refuses more nodes than a file that lists so many edges, entries, labels and positions may name.
fn require_listed(nodes: usize, listed: usize) -> Result<(), Error> {
    let most = listed.saturating_mul(10).saturating_add(1_000_000);
    // Graphs refuse numbers beyond 2^30 themselves, before they take memory.
    let condition = "be at most 10^6, and ten more for each edge, entry, label and position in it";
    ensure(nodes <= most || nodes > 1 << 30, "the number of nodes of a file", condition, nodes as f64)
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MatrixFile {
    nodes: usize,
    entries: Vec<Entry>,
}

fn entries(matrix: &Csr) -> Vec<Entry> {
    let row = |u: usize| {
        let (columns, weights) = matrix.row(u);
        columns.iter().zip(weights).map(move |(&v, &weight)| (u, v, weight))
    };
    (0..matrix.node_count()).flat_map(row).collect()
}

/// The rows of a list of entries that must be in order, each at most once, with finite weights.
fn rows(nodes: usize, entries: &[Entry]) -> Result<Vec<Vec<(u32, f64)>>, Error> {
    require_listed(nodes, entries.len())?;
    // Checks that a graph may have this many nodes, and that they fit in memory.
    Graph::from_edges(nodes, [])?;
    let mut rows = vec![Vec::new(); nodes];
    let mut last = None;
    for &(row, column, value) in entries {
        for node in [row, column as usize] {
            if node >= nodes {
                return Err(Error::NodeOutOfRange { node, nodes });
            }
        }
        if !value.is_finite() {
            return Err(Error::InvalidWeight { row, column: column as usize, value });
        }
        if last >= Some((row, column)) {
            return Err(Error::EntryOutOfOrder { row, column: column as usize });
        }
        last = Some((row, column));
        rows[row].push((column, value));
    }
    Ok(rows)
}

impl Serialize for Csr {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        MatrixFile { nodes: self.node_count(), entries: entries(self) }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Csr {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let MatrixFile { nodes, entries } = MatrixFile::deserialize(deserializer)?;
        Ok(Self::from_rows(nodes, rows(nodes, &entries).map_err(D::Error::custom)?))
    }
}

impl Serialize for TransitionMatrix {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.csr().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for TransitionMatrix {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_csr(Csr::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// A share of the identity, or several, in the order in which they were taken, which one `f64` cannot
/// represent exactly.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Shares {
    One(f64),
    Several(Vec<f64>),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GossipFile<'a> {
    graph: Cow<'a, Graph>,
    weights: Weights,
    laziness: Shares,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    entries: Option<Vec<Entry>>,
}

impl Serialize for GossipMatrix {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let said = self.weights() != Weights::Given && self.shares().is_empty();
        let file = GossipFile {
            graph: Cow::Borrowed(self.graph()),
            weights: self.weights(),
            laziness: match self.shares() {
                [] => Shares::One(0.0),
                &[share] => Shares::One(share),
                shares => Shares::Several(shares.to_vec()),
            },
            entries: if said { None } else { Some(entries(self.csr())) },
        };
        file.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for GossipMatrix {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let GossipFile { graph, weights, laziness, entries } = GossipFile::deserialize(deserializer)?;
        let build = || -> Result<Self, Error> {
            let given = entries.map(|entries| rows(graph.node_count(), &entries)).transpose()?;
            let shares = match laziness {
                Shares::One(share) => vec![share],
                Shares::Several(shares) => shares,
            };
            Self::from_parts(&graph, weights, &shares, given)
        };
        build().map_err(D::Error::custom)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum StepFile {
    Matrix(usize),
    Pair(usize, usize),
    Idle,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SequenceFile<'a> {
    nodes: usize,
    matrices: Vec<Cow<'a, GossipMatrix>>,
    steps: Vec<StepFile>,
}

impl Serialize for GossipSequence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut matrices: Vec<&GossipMatrix> = Vec::new();
        let mut steps = Vec::with_capacity(self.steps().len());
        for step in self.steps() {
            steps.push(match *step {
                Step::Matrix(ref matrix) => {
                    // Search from the last matrix backwards, because most steps repeat it.
                    let known = matrices.iter().rposition(|&known| known == matrix);
                    StepFile::Matrix(known.unwrap_or_else(|| {
                        matrices.push(matrix);
                        matrices.len() - 1
                    }))
                }
                Step::Pair(u, v) => StepFile::Pair(u, v),
                Step::Idle => StepFile::Idle,
            });
        }
        let matrices = matrices.into_iter().map(Cow::Borrowed).collect();
        SequenceFile { nodes: self.node_count(), matrices, steps }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for GossipSequence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let SequenceFile { nodes, matrices, steps } = SequenceFile::deserialize(deserializer)?;
        let step = |step| match step {
            StepFile::Matrix(index) => {
                matrices.get(index).map(|matrix| Step::Matrix(matrix.as_ref().clone()))
            }
            StepFile::Pair(u, v) => Some(Step::Pair(u, v)),
            StepFile::Idle => Some(Step::Idle),
        };
        let steps: Option<Vec<Step>> = steps.into_iter().map(step).collect();
        let steps = steps.ok_or_else(|| D::Error::custom("a step names a matrix that is not there"))?;
        Self::new(nodes, steps).map_err(D::Error::custom)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ActivationsFile<'a> {
    nodes: usize,
    edges: Cow<'a, [(usize, usize, f64)]>,
}

impl Serialize for EdgeActivations {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ActivationsFile { nodes: self.node_count(), edges: Cow::Borrowed(self.edges()) }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for EdgeActivations {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let ActivationsFile { nodes, edges } = ActivationsFile::deserialize(deserializer)?;
        require_listed(nodes, edges.len()).map_err(D::Error::custom)?;
        let graph = Graph::from_edges(nodes, edges.iter().map(|&(u, v, _)| (u, v)));
        graph.and_then(|graph| Self::new(&graph, &edges)).map_err(D::Error::custom)
    }
}

#[cfg(test)]
#[path = "files/tests.rs"]
mod tests;
