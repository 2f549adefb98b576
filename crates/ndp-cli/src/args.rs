//! The command line, declared once.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Who learns how much about whom in a network, how much noise it takes, and which protocol is best.
#[derive(Debug, Parser)]
#[command(name = "ndp", version, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = "Example: ndp compare friends.txt --epsilon 1 --delta 1e-5")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Say nothing but the answer.
    #[arg(long, global = true)]
    pub(crate) quiet: bool,
    /// Threads to use; numbers do not depend on it.
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// What the graph alone says: size, degrees, gaps, mixing, twins, warnings.
    #[command(after_help = "Example: ndp graph friends.txt")]
    Graph(GraphInput),
    /// What observers learn about every node at a given noise.
    #[command(
        after_help = "Example: ndp loss friends.txt --protocol muffliato:rounds=8 --noise 2 --observer ann"
    )]
    Loss(Loss),
    /// The least noise that meets a target.
    #[command(after_help = "Example: ndp calibrate friends.txt --protocol walk --epsilon 1 --delta 1e-5")]
    Calibrate(Calibrate),
    /// All protocols at the same target: noise, error, messages.
    #[command(after_help = "Example: ndp compare friends.txt --epsilon 1 --delta 1e-5")]
    Compare(Compare),
    /// Attack real runs and set the measured loss beside the account.
    #[command(
        after_help = "Example: ndp audit friends.txt --noise 1 --source bob --observer ann --runs 20000"
    )]
    Audit(Audit),
    /// Choose protocol, weights and rounds for a target.
    #[command(after_help = "Example: ndp plan friends.txt --epsilon 1 --delta 1e-5")]
    Plan(Plan),
    /// What several runs cost together, pair by pair, and whether they stay within a limit.
    #[command(
        after_help = "Example: ndp ledger friends.txt --run muffliato@2 --run ring-sum@3 --epsilon 4 --delta 1e-5"
    )]
    Ledger(Ledger),
    /// Run a gossip protocol on your own numbers.
    #[command(after_help = "Example: ndp simulate friends.txt --values ages.csv --noise 2 --sensitivity 50")]
    Simulate(Simulate),
    /// The protocols and their parameters.
    Protocols,
    /// A completion script for your shell.
    #[command(after_help = "Example: ndp completions bash > ~/.local/share/bash-completion/completions/ndp")]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// The manual page, as roff.
    #[command(hide = true)]
    Manual,
}

/// Which graph.
#[derive(Args, Debug)]
pub(crate) struct GraphInput {
    /// An edge list: two labels a line, separated by spaces, tabs, commas or semicolons; gzipped or not; `-` for standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The first line is a header (above numbers it is recognised).
    #[arg(long)]
    pub(crate) header: bool,
    /// Leave edges from a node to itself out.
    #[arg(long)]
    pub(crate) skip_self_loops: bool,
    /// Leave columns after the second out: weights, times.
    #[arg(long)]
    pub(crate) skip_columns: bool,
    /// Take the largest component of a graph in pieces.
    #[arg(long)]
    pub(crate) largest_component: bool,
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
    /// What somebody outside the network learns.
    #[arg(long)]
    pub(crate) outsider: bool,
    /// What this many nodes learn, drawn at random; 16 of them where the graph has more than 500 nodes.
    #[arg(long, value_name = "K")]
    pub(crate) sample: Option<usize>,
    /// What every node learns, whatever the size of the graph.
    #[arg(long)]
    pub(crate) all: bool,
}

/// What else observers know.
#[derive(Args, Debug)]
pub(crate) struct Knowledge {
    /// Observers do not know from whom tokens come.
    #[arg(long)]
    pub(crate) hidden_senders: bool,
    /// Observers throw away the noise that they drew (weaker than a real node).
    #[arg(long)]
    pub(crate) without_own_noise: bool,
    /// Seed of the public random choices of observers.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) seed: u64,
}

/// Which protocol.
#[derive(Args, Debug)]
pub(crate) struct ProtocolChoice {
    /// A protocol with its parameters: `muffliato`, `walk:steps=500`; see `ndp protocols`.
    #[arg(long, default_value = "muffliato", value_name = "NAME[:P=X,...]")]
    pub(crate) protocol: String,
    /// A protocol of your own: a program as JSON lines (docs/program.md), its nodes numbered as those of the graph.
    #[arg(long, value_name = "FILE", conflicts_with = "protocol", requires = "uses")]
    pub(crate) program: Option<PathBuf>,
    /// What may change between neighboring inputs of a program whose nodes use their data several times.
    #[arg(long, value_enum, value_name = "SET", requires = "program")]
    pub(crate) uses: Option<Uses>,
    /// Weights of the gossip matrix.
    #[arg(long, value_enum, default_value_t = Weights::Metropolis)]
    pub(crate) weights: Weights,
}

/// The set of changes of one node's uses of its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Uses {
    /// One use changes, the others stay.
    UseLevel,
    /// All uses change alike; the most optimistic set.
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
}

/// What is allowed.
#[derive(Args, Debug)]
pub(crate) struct TargetChoice {
    /// The epsilon allowed to a pair; with --delta.
    #[arg(long, value_name = "E", group = "measure")]
    pub(crate) epsilon: Option<f64>,
    /// The delta of --epsilon, and at which losses are reported.
    #[arg(long, default_value_t = 1e-5, value_name = "D")]
    pub(crate) delta: f64,
    /// The Rényi loss allowed to a pair, in nats; with --order.
    #[arg(long, value_name = "LOSS", group = "measure")]
    pub(crate) renyi: Option<f64>,
    /// The order of --renyi.
    #[arg(long, default_value_t = 2.0, value_name = "A")]
    pub(crate) order: f64,
    /// The Gaussian parameter mu allowed to a pair.
    #[arg(long, value_name = "M", group = "measure")]
    pub(crate) mu: Option<f64>,
    /// Limits for some pairs from a file: lines `source observer loss` or `hops loss`, in the terms of the target.
    #[arg(long, value_name = "FILE")]
    pub(crate) pairs: Option<PathBuf>,
    /// The limit is for the mean towards every observer, not for every pair.
    #[arg(long, conflicts_with = "pairs")]
    pub(crate) mean: bool,
}

/// Where numbers and pictures go beside the terminal.
#[derive(Args, Debug)]
pub(crate) struct Outputs {
    /// All numbers as CSV.
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// All numbers as JSON, with command, version and seed.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// A picture.
    #[arg(long, value_name = "FILE")]
    pub(crate) png: Option<PathBuf>,
    /// The picture as SVG.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// How far one node's value may move: noise is then reported in the unit of the values.
    #[arg(long, default_value_t = 1.0, value_name = "S")]
    pub(crate) sensitivity: f64,
}

#[derive(Args, Debug)]
pub(crate) struct Loss {
    #[command(flatten)]
    pub(crate) graph: GraphInput,
    #[command(flatten)]
    pub(crate) protocol: ProtocolChoice,
    /// The noise, in the unit of the values (in units of the sensitivity where none is given).
    #[arg(long, value_name = "SIGMA")]
    pub(crate) noise: f64,
    #[command(flatten)]
    pub(crate) observers: Observers,
    #[command(flatten)]
    pub(crate) knowledge: Knowledge,
    #[command(flatten)]
    pub(crate) target: TargetChoice,
    #[command(flatten)]
    pub(crate) outputs: Outputs,
}

#[derive(Args, Debug)]
pub(crate) struct Calibrate {
    #[command(flatten)]
    pub(crate) graph: GraphInput,
    #[command(flatten)]
    pub(crate) protocol: ProtocolChoice,
    #[command(flatten)]
    pub(crate) observers: Observers,
    #[command(flatten)]
    pub(crate) knowledge: Knowledge,
    #[command(flatten)]
    pub(crate) target: TargetChoice,
    #[command(flatten)]
    pub(crate) outputs: Outputs,
}

#[derive(Args, Debug)]
pub(crate) struct Compare {
    #[command(flatten)]
    pub(crate) graph: GraphInput,
    /// Only these protocols; all where none is given.
    #[arg(long = "protocol", value_name = "NAME[:P=X,...]")]
    pub(crate) protocols: Vec<String>,
    /// Weights of the gossip matrix.
    #[arg(long, value_enum, default_value_t = Weights::Metropolis)]
    pub(crate) weights: Weights,
    #[command(flatten)]
    pub(crate) observers: Observers,
    #[command(flatten)]
    pub(crate) knowledge: Knowledge,
    #[command(flatten)]
    pub(crate) target: TargetChoice,
    #[command(flatten)]
    pub(crate) outputs: Outputs,
}

#[derive(Args, Debug)]
pub(crate) struct Audit {
    #[command(flatten)]
    pub(crate) graph: GraphInput,
    #[command(flatten)]
    pub(crate) protocol: ProtocolChoice,
    /// The noise, in units of the sensitivity.
    #[arg(long, value_name = "SIGMA")]
    pub(crate) noise: f64,
    /// Whose data are attacked.
    #[arg(long, value_name = "LABEL")]
    pub(crate) source: String,
    #[command(flatten)]
    pub(crate) observers: Observers,
    #[command(flatten)]
    pub(crate) knowledge: Knowledge,
    /// Runs in each of the two worlds.
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    pub(crate) runs: usize,
    /// Probability that the measured bound exceeds the truth.
    #[arg(long, default_value_t = 1e-3, value_name = "P")]
    pub(crate) error_rate: f64,
}

#[derive(Args, Debug)]
pub(crate) struct Plan {
    #[command(flatten)]
    pub(crate) graph: GraphInput,
    #[command(flatten)]
    pub(crate) observers: Observers,
    #[command(flatten)]
    pub(crate) knowledge: Knowledge,
    #[command(flatten)]
    pub(crate) target: TargetChoice,
    #[command(flatten)]
    pub(crate) outputs: Outputs,
}

#[derive(Args, Debug)]
pub(crate) struct Ledger {
    #[command(flatten)]
    pub(crate) graph: GraphInput,
    /// A run: a protocol with its parameters, `@`, and its noise in units of the sensitivity; in order of time.
    #[arg(long = "run", required = true, value_name = "NAME[:P=X,...]@SIGMA")]
    pub(crate) runs: Vec<String>,
    /// Each run was chosen after seeing the earlier ones.
    #[arg(long)]
    pub(crate) adaptive: bool,
    /// Weights of the gossip matrix.
    #[arg(long, value_enum, default_value_t = Weights::Metropolis)]
    pub(crate) weights: Weights,
    #[command(flatten)]
    pub(crate) observers: Observers,
    #[command(flatten)]
    pub(crate) knowledge: Knowledge,
    #[command(flatten)]
    pub(crate) target: TargetChoice,
}

#[derive(Args, Debug)]
pub(crate) struct Simulate {
    #[command(flatten)]
    pub(crate) graph: GraphInput,
    /// Lines `label,number`, one for every node.
    #[arg(long, value_name = "FILE")]
    pub(crate) values: PathBuf,
    /// Rounds of gossip; by the stopping rule where none is given.
    #[arg(long, value_name = "N")]
    pub(crate) rounds: Option<usize>,
    /// The noise, in the unit of the values.
    #[arg(long, value_name = "SIGMA")]
    pub(crate) noise: f64,
    /// Seed of the noise.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) seed: u64,
    /// Weights of the gossip matrix.
    #[arg(long, value_enum, default_value_t = Weights::Metropolis)]
    pub(crate) weights: Weights,
    /// What every node ends with, as CSV.
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
}
