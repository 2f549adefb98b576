//! A graph of the user's own: what a protocol on it reveals, and the noise that a privacy target needs.
//!
//! [`Request`] says what is asked, [`analyse`] answers with an [`Analysis`], [`write()`](output::write) puts it into
//! files. Every loss in it is a guarantee; nothing printed in a paper is used.
//!
//! ```
//! use ndp_experiments::analysis::{Protocol, Request, Target, analyse};
//! use ndp_graph::generators::path_graph;
//! let request = Request::new(Protocol::Muffliato, Target::Worst(0.5));
//! let analysis = analyse(&path_graph(3)?, &request)?;
//! // α Δ² / (2σ²) = 0.5 at α = 2, Δ = 1: nobody is amplified on a path.
//! assert!((analysis.account.sigma.get() - 2f64.sqrt()).abs() < 1e-12);
//! assert!(analysis.largest().is_some_and(|pair| pair.loss <= 0.5));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod output;
pub mod protocols;
pub mod summary;
pub mod target;

pub use protocols::{Account, Observed};
pub use target::{Target, TargetText};

use crate::datasets::DataError;
use ndp_dp::{Delta, Order, Sensitivity};
use ndp_graph::Graph;
use ndp_report::files::OutputError;
use std::path::PathBuf;
use std::str::FromStr;

/// Why a graph could not be analysed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnalysisError {
    /// A file cannot be read, or is no edge list.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A file or folder cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The protocol or its accountant refused.
    #[error(transparent)]
    Protocol(#[from] ndp_algos::Error),
    /// A word that names no protocol.
    #[error("there is no protocol {0:?}: it is one of muffliato, fresh-noise, one-peer, walk")]
    NoSuchProtocol(String),
    /// A target that is neither of the two words nor a file.
    #[error("the target {0:?} is neither mean=LOSS nor worst=LOSS nor a file with limits")]
    NoSuchTarget(String),
    /// The loss of a target is no positive number.
    #[error("the target {what}={got} needs a positive, finite number of nats, such as {what}=0.1")]
    InvalidTarget {
        /// `mean` or `worst`.
        what: &'static str,
        /// What was given.
        got: String,
    },
    /// A file with limits that cannot be understood.
    #[error("{path}, line {line}: {problem}")]
    Limits {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// A label that no node has.
    #[error("the graph has no node {0:?}")]
    NoSuchNode(String),
    /// Fewer than two nodes.
    #[error("a protocol needs at least two nodes that can talk to each other, the graph has {0}")]
    TooFewNodes(usize),
    /// A graph in pieces: an average over all nodes does not exist.
    #[error(
        "the graph is not connected: it has {components} components, the largest with {largest} of {nodes} nodes; \
         --largest-component takes that one, --header skips a header line"
    )]
    Disconnected {
        /// Number of components.
        components: usize,
        /// Nodes of the largest.
        largest: usize,
        /// Nodes of the graph.
        nodes: usize,
    },
    /// The one-peer hypercube needs a power of two.
    #[error(
        "one-peer needs a number of nodes that is a power of two, the graph has {nodes} (nearest: {nearest})"
    )]
    NotAPowerOfTwo {
        /// Nodes of the graph.
        nodes: usize,
        /// The powers of two around it.
        nearest: String,
    },
    /// Work or output out of proportion, refused before it starts.
    #[error(
        "{what} of a graph with {nodes} nodes would take about {amount:.1e} {unit}, more than the limit of \
         {limit:.0e}; --observer LABEL accounts for what one node learns"
    )]
    TooMuch {
        /// What would be too much.
        what: &'static str,
        /// Nodes of the graph.
        nodes: usize,
        /// How much it would take.
        amount: f64,
        /// Of what: bytes, rows, operations.
        unit: &'static str,
        /// How much is allowed.
        limit: f64,
    },
}

impl From<ndp_graph::Error> for AnalysisError {
    fn from(error: ndp_graph::Error) -> Self {
        Self::Protocol(error.into())
    }
}

impl From<ndp_dp::Error> for AnalysisError {
    fn from(error: ndp_dp::Error) -> Self {
        Self::Protocol(error.into())
    }
}

/// The protocols that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Noise once, then accelerated averaging with the neighbors.
    Muffliato,
    /// Gossip with a little fresh noise in every round.
    FreshNoise,
    /// In round `k` node `v` averages with node `v xor 2^k`.
    OnePeer,
    /// A token that walks on the graph.
    Walk,
}

impl Protocol {
    /// Its name on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Muffliato => "muffliato",
            Self::FreshNoise => "fresh-noise",
            Self::OnePeer => "one-peer",
            Self::Walk => "walk",
        }
    }
}

impl FromStr for Protocol {
    type Err = AnalysisError;

    fn from_str(name: &str) -> Result<Self, AnalysisError> {
        let all = [Self::Muffliato, Self::FreshNoise, Self::OnePeer, Self::Walk];
        let found = all.into_iter().find(|protocol| protocol.as_str() == name);
        found.ok_or_else(|| AnalysisError::NoSuchProtocol(name.into()))
    }
}

/// What is asked about a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The protocol.
    pub protocol: Protocol,
    /// What its losses must meet.
    pub target: Target,
    /// Order of the Rényi losses; 2 by default.
    pub order: Order,
    /// How far one node's value may move; 1 by default. Values are taken to lie in an interval of this length.
    pub sensitivity: Sensitivity,
    /// At which the largest loss is stated as `(ε, δ)` too; `1e-5` by default.
    pub delta: Delta,
    /// Rounds of gossip or steps of the walk; by default those of the stopping rule, or ten steps a node.
    pub rounds: Option<usize>,
    /// How much the fresh noise adds to the variance of the average; 0.1 by default.
    pub rho: f64,
    /// Only what this node learns; every node by default.
    pub observer: Option<usize>,
}

impl Request {
    /// The defaults for a protocol and a target.
    #[must_use]
    pub fn new(protocol: Protocol, target: Target) -> Self {
        Self {
            protocol,
            target,
            order: Order::new(2.0).expect("2 is above 1"),
            sensitivity: Sensitivity::new(1.0).expect("1 is positive"),
            delta: Delta::new(1e-5).expect("1e-5 is between 0 and 1"),
            rounds: None,
            rho: 0.1,
            observer: None,
        }
    }

    /// The nodes whose views are accounted for.
    #[must_use]
    pub fn observers(&self, nodes: usize) -> Vec<usize> {
        self.observer.map_or_else(|| (0..nodes).collect(), |v| vec![v])
    }
}

/// The answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// What was asked.
    pub request: Request,
    /// The graph.
    pub graph: Graph,
    /// Noise, losses and accuracy.
    pub account: Account,
}

/// A source, an observer, and the loss between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// Whose data are exposed.
    pub source: usize,
    /// To whom.
    pub observer: usize,
    /// The loss in nats.
    pub loss: f64,
}

impl Analysis {
    /// Every pair of different nodes, by observer.
    pub fn pairs(&self) -> impl Iterator<Item = Pair> + '_ {
        self.account.losses.iter().flat_map(|observed| {
            let observer = observed.observer;
            let others = observed.loss.value().iter().enumerate().filter(move |&(u, _)| u != observer);
            others.map(move |(source, &loss)| Pair { source, observer, loss })
        })
    }

    /// The pair that loses most; the first of several.
    #[must_use]
    pub fn largest(&self) -> Option<Pair> {
        self.pairs().fold(None, |most: Option<Pair>, pair| {
            if most.is_some_and(|most| most.loss >= pair.loss) { most } else { Some(pair) }
        })
    }

    /// The label of a node.
    #[must_use]
    pub fn label(&self, v: usize) -> String {
        self.graph.labels().map_or_else(|| v.to_string(), |labels| labels[v].clone())
    }
}

/// Finds the least noise of a protocol on `graph` for a target, and what every node learns then.
///
/// # Errors
/// [`AnalysisError`]: a graph that is too small or in pieces, work out of proportion, or what the protocol's
/// accountant refused.
pub fn analyse(graph: &Graph, request: &Request) -> Result<Analysis, AnalysisError> {
    let nodes = graph.node_count();
    if nodes < 2 {
        return Err(AnalysisError::TooFewNodes(nodes));
    }
    if !graph.is_connected() {
        let largest = graph.largest_component().0.node_count();
        return Err(AnalysisError::Disconnected { components: graph.component_count(), largest, nodes });
    }
    if request.rounds == Some(0) {
        let (name, condition) = ("the number of rounds", "be at least 1");
        return Err(ndp_algos::Error::InvalidParameter { name, condition, value: 0.0 }.into());
    }
    if let Some(v) = request.observer.filter(|&v| v >= nodes) {
        return Err(AnalysisError::NoSuchNode(v.to_string()));
    }
    let rows = request.observers(nodes).len() as f64 * nodes as f64;
    protocols::require("the table of losses", nodes, rows, "rows", MOST_ROWS)?;
    let account = protocols::account(graph, request)?;
    Ok(Analysis { request: request.clone(), graph: graph.clone(), account })
}

/// A table with more rows would be of no use: half a gigabyte.
const MOST_ROWS: f64 = 1e7;

#[cfg(test)]
mod tests;
