//! Options that several questions share.

use clap::{Args, ValueEnum};
use ndp_algos::registry;
use std::path::PathBuf;

/// On graphs of up to this many nodes every node is an observer by default.
pub(crate) const MAX_FOR_ALL: usize = 500;

/// Which graph.
#[derive(Args, Debug)]
pub(crate) struct GraphInput {
    /// Edge list, GraphML, MatrixMarket or .npy; gzipped or not; `-` for standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The first line is a header; one above numbers is recognized.
    #[arg(long)]
    pub(crate) header: bool,
    /// Leave out edges from a node to itself.
    #[arg(long)]
    pub(crate) skip_self_loops: bool,
    /// Ignore columns after the second, such as weights or times.
    #[arg(long)]
    pub(crate) skip_columns: bool,
    /// Edges that the file has in one direction only go both ways.
    #[arg(long)]
    pub(crate) symmetric: bool,
    /// If the graph is in pieces, take the largest one.
    #[arg(long)]
    pub(crate) largest_component: bool,
}

impl GraphInput {
    /// A file, read without any options.
    pub(crate) const fn of(file: PathBuf) -> Self {
        Self {
            file,
            header: false,
            skip_self_loops: false,
            skip_columns: false,
            symmetric: false,
            largest_component: false,
        }
    }
}

/// Which observers.
#[derive(Args, Debug)]
#[group(multiple = false)]
pub(crate) struct Observers {
    /// What this node learns; may be given several times.
    #[arg(long, value_name = "LABEL")]
    pub(crate) observer: Vec<String>,
    /// What these nodes learn together: labels joined by commas.
    #[arg(long, value_name = "A,B,...")]
    pub(crate) coalition: Option<String>,
    /// What any coalition of at most K nodes learns.
    #[arg(long, value_name = "K")]
    pub(crate) coalition_size: Option<usize>,
    /// What at most K neighbors of one node learn together.
    #[arg(long, value_name = "K")]
    pub(crate) neighbors: Option<usize>,
    /// What somebody outside the network learns.
    #[arg(long)]
    pub(crate) outsider: bool,
    /// What an outsider learns who hears all that these two neighbors send each other; may be given several
    /// times.
    #[arg(long, value_name = "A-B")]
    pub(crate) tap: Vec<String>,
    /// What each of K nodes drawn at random learns.
    #[arg(long, value_name = "K", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    pub(crate) sample: Option<usize>,
    /// What every node learns, whatever the size of the graph.
    #[arg(long)]
    pub(crate) all: bool,
}

impl Observers {
    /// Whether the observers are drawn at random, on a graph with this many nodes.
    pub(crate) fn is_sample(&self, nodes: usize) -> bool {
        self.sample.map_or(self.is_default() && nodes > MAX_FOR_ALL, |count| count < nodes)
    }

    /// Whether the user named no observers at all, so that the default applies.
    pub(crate) fn is_default(&self) -> bool {
        let named = !self.observer.is_empty() || self.coalition.is_some() || self.sample.is_some();
        let size = self.coalition_size.or(self.neighbors);
        !(named || size.is_some() || self.outsider || !self.tap.is_empty() || self.all)
    }
}

/// What else observers know.
#[derive(Args, Debug)]
pub(crate) struct Knowledge {
    /// Observers do not know who sent them a token.
    #[arg(long)]
    pub(crate) hidden_senders: bool,
    /// Observers ignore their own noise (weaker than real ones).
    #[arg(long)]
    pub(crate) without_own_noise: bool,
    /// Seed of samples, attacks and runs.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) seed: u64,
}

/// Which weights gossip uses.
#[derive(Args, Debug)]
pub(crate) struct GossipChoice {
    /// Weights of gossip: metropolis, max-degree, or file (the third column or the entries of FILE).
    #[arg(long, value_enum, default_value_t = Weights::Metropolis, hide_possible_values = true)]
    pub(crate) weights: Weights,
}

/// Which protocol.
#[derive(Args, Debug)]
pub(crate) struct ProtocolChoice {
    /// A protocol, such as walk:steps=500; see `ndp protocols`.
    #[arg(long, default_value = "muffliato", value_name = "NAME[:P=X,...]")]
    pub(crate) protocol: String,
    /// A protocol of your own as JSON lines (docs/program.md).
    #[arg(long, value_name = "FILE", conflicts_with = "protocol", requires = "uses")]
    pub(crate) program: Option<PathBuf>,
    /// What may change: use-level, same-direction or signs.
    #[arg(
        long,
        value_enum,
        value_name = "SET",
        requires = "program",
        conflicts_with = "protocol",
        hide_possible_values = true
    )]
    pub(crate) uses: Option<Uses>,
    #[command(flatten)]
    pub(crate) gossip: GossipChoice,
}

impl ProtocolChoice {
    /// Which weights gossip uses.
    pub(crate) fn weights_in_words(&self) -> String {
        if self.program.is_some() {
            return "those of the program".into();
        }
        let name = self.protocol.split(':').next().unwrap_or_default();
        match registry::find(name) {
            Ok(entry) if !entry.uses_weights() => format!("not used by {name}"),
            _ => self.gossip.weights.to_string(),
        }
    }
}

/// The set of changes of one node's uses of its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Uses {
    /// One use changes, the others stay.
    UseLevel,
    /// All uses change alike; optimistic, since changes may cancel.
    SameDirection,
    /// Every use changes by a number of size at most 1.
    Signs,
}

/// Weights of a gossip matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Weights {
    /// 1/(max(deg u, deg v) + 1).
    Metropolis,
    /// 1/(largest degree).
    MaxDegree,
    /// Those of the file.
    File,
}

impl std::fmt::Display for Weights {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Metropolis => "metropolis",
            Self::MaxDegree => "max-degree",
            Self::File => "those of the file",
        })
    }
}

/// What is allowed.
#[derive(Args, Debug)]
pub(crate) struct TargetChoice {
    /// The epsilon allowed for each pair; with --delta.
    #[arg(long, value_name = "E", group = "measure")]
    pub(crate) epsilon: Option<f64>,
    /// The delta that goes with epsilon.
    #[arg(long, default_value_t = 1e-5, value_name = "D", conflicts_with_all = ["renyi", "mu"])]
    pub(crate) delta: f64,
    /// The Rényi loss allowed for each pair, in nats; with --order.
    #[arg(long, value_name = "LOSS", group = "measure")]
    pub(crate) renyi: Option<f64>,
    /// The order of --renyi.
    #[arg(long, default_value_t = 2.0, value_name = "A", requires = "renyi", conflicts_with_all = ["epsilon", "delta", "mu"])]
    pub(crate) order: f64,
    /// The Gaussian parameter mu allowed for each pair.
    #[arg(long, value_name = "M", group = "measure")]
    pub(crate) mu: Option<f64>,
    /// A file of limits: lines `exposed observer loss` or `hops loss`.
    #[arg(long, value_name = "FILE")]
    pub(crate) pairs: Option<PathBuf>,
    /// The limit is for the mean over all nodes, towards each observer.
    #[arg(long, conflicts_with = "pairs")]
    pub(crate) mean: bool,
}

/// Where numbers go beside the terminal.
#[derive(Args, Debug)]
pub(crate) struct Files {
    /// All numbers as CSV, and what made them in FILE.run.json.
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// All numbers as JSON, with what made them.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

/// Where pictures go.
#[derive(Args, Debug)]
pub(crate) struct Pictures {
    /// The picture as PNG.
    #[arg(long, value_name = "FILE")]
    pub(crate) png: Option<PathBuf>,
    /// The picture as SVG.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// A page in plain words for whoever answers for the data.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
}

/// The unit of the noise.
#[derive(Args, Debug)]
pub(crate) struct Unit {
    /// How far a value may move, in the unit of the values.
    #[arg(long, default_value_t = 1.0, value_name = "S", value_parser = sensitivity)]
    pub(crate) sensitivity: f64,
}

/// A sensitivity that every command takes.
fn sensitivity(text: &str) -> Result<f64, String> {
    let sensitivity = number(text)?;
    let refused =
        |_| "it must be positive and finite: it says how far the value of one node may move".to_owned();
    ndp_dp::Sensitivity::new(sensitivity).map(|_| sensitivity).map_err(refused)
}

/// A number, in words that say how it is written.
fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "it must be a number with a decimal point, such as 2.5".to_owned())
}

/// The standard deviation of a noise.
pub(super) fn noise(text: &str) -> Result<f64, String> {
    let noise = number(text)?;
    ndp_dp::Sigma::new(noise).map(|_| noise).map_err(|_| "a noise must be positive and finite".to_owned())
}

/// A number of things, or of seconds.
pub(super) fn whole<N: std::str::FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| "it must be a whole number, 0 or more".to_owned())
}

/// How long an answer may take.
#[derive(Args, Debug)]
pub(crate) struct Effort {
    /// After so many seconds for all protocols together, bounds replace the accounts that are not done; by
    /// default after counted work of about ten seconds, which is the same on every machine.
    #[arg(long, value_name = "SECONDS", value_parser = whole::<u64>)]
    pub(crate) patience: Option<u64>,
}
