//! The command line, declared once.

mod options;
mod refute;
mod sweep;

pub(crate) use options::{
    Effort, Files, GossipChoice, GraphInput, Knowledge, MAX_FOR_ALL, Observers, Pictures, ProtocolChoice,
    TargetChoice, Unit, Uses, Weights,
};

pub(crate) use refute::{Refute, TriedProtocol, TriedWeights};
pub(crate) use sweep::{Scheduler, Shard, Sweep};

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use ndp_algos::sgd::table::Separator;
use std::path::PathBuf;

/// Who learns how much about whom in a network, how much noise it takes, and which protocol is best.
#[derive(Debug, Parser)]
#[command(name = "ndp", version, arg_required_else_help = true, disable_help_flag = true)]
#[command(after_help = "Example: ndp compare friends.txt --epsilon 1 --delta 1e-5")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Print the answer alone, without notes and progress.
    #[arg(long, global = true, display_order = 900)]
    pub(crate) quiet: bool,
    /// Print this help.
    #[arg(long, short, global = true, display_order = 902, action = ArgAction::HelpShort)]
    pub(crate) help: Option<bool>,
    /// How many threads to use; numbers do not depend on it.
    #[arg(long, global = true, display_order = 901, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// What the graph alone says: size, degrees, spectral gaps, mixing, twins, warnings.
    #[command(after_help = "Example: ndp graph friends.txt")]
    Graph(GraphQuestion),
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
    /// Attack runs of a protocol, and compare what the attack shows with the account.
    #[command(
        after_help = "Example: ndp audit friends.txt --noise 1 --source bob --observer ann --runs 20000"
    )]
    #[command(mut_arg("coalition_size", |arg| arg.hide(true)), mut_arg("neighbors", |arg| arg.hide(true)), mut_arg("sample", |arg| arg.hide(true)), mut_arg("all", |arg| arg.hide(true)))]
    Audit(Audit),
    /// Choose protocol, weights and rounds for a target.
    #[command(after_help = "Example: ndp plan friends.txt --epsilon 1 --delta 1e-5")]
    Plan(Plan),
    /// What several runs cost together, pair by pair, and whether they stay within a limit.
    #[command(
        after_help = "Example: ndp ledger friends.txt --run muffliato@2 --run ring-sum@3 --epsilon 4 --delta 1e-5"
    )]
    #[command(mut_arg("coalition_size", |arg| arg.hide(true)), mut_arg("neighbors", |arg| arg.hide(true)))]
    Ledger(Ledger),
    /// What a running system has shown so far, by its log, and how much of a budget is left.
    #[command(
        after_help = "Example: train.py | ndp meter - --budget-epsilon 3 --delta 1e-5\n\nThe lines are described in docs/formats.md, \
                      \"Logs of a meter\". Exit code 1 says that the budget is exceeded."
    )]
    Meter(Meter),
    /// Show a file that ndp.save in Python wrote, as recorded: nothing is computed anew.
    #[command(
        after_help = "Example: ndp show losses.json --csv losses.csv\n\nThe format is in docs/formats.md, \"What Python saves\". \
                      The log of a meter is read by ndp meter."
    )]
    Show(Show),
    /// Write what observers learn, with a proof that checker/ndp_check.py can check.
    #[command(
        after_help = "Example: ndp prove friends.txt --protocol decor --into proof.jsonl.gz\n\nGossip, masks and secure sums have proofs, as all \
                      that is written as a program; walks, trainings but D-SGD with fixed=1, and sums by a curator or around a ring have none. The format is in docs/formats.md, \"Proofs\"."
    )]
    Prove(Prove),
    /// Compare a bound claimed for gossip or a walk with exact values on all small graphs.
    #[command(
        after_help = "Example: ndp refute --claim \"alpha / (2 * sigma^2) / hops\"\n\nNames: n, T, edges, alpha, sigma, u (exposed), v (observer), \
                      observers, hops, W[t][a,b], F[t][a,b] (walks: first passage), deg(a), sum(k, a, b, e), neighbors(w, a, e), largest(w, a, e), \
                      heard(w, t, e), members(w, e), lambda2, min, max, sqrt, ln, exp."
    )]
    Refute(Refute),
    /// Run a gossip protocol on your own numbers.
    #[command(after_help = "Example: ndp simulate friends.txt --values ages.csv --noise 20 --rounds 12\n\n\
                            For study, not for release: whoever knows the seed knows the noise, which is drawn in floating point.")]
    Simulate(Simulate),
    /// Train a model privately on a table; for study: its noise follows from the seed, in floating point.
    #[command(
        after_help = "Example: ndp train houses.csv --label price_class --users 100 --epsilon 5 --delta 1e-6 --png curve.png"
    )]
    #[command(mut_arg("coalition_size", |arg| arg.hide(true)), mut_arg("neighbors", |arg| arg.hide(true)))]
    Train(Box<Train>),
    /// A summary of each observer that is looked at, for studies that are too large for one table.
    #[command(after_help = "Example: ndp sweep friends.txt --noise 2 --all --into all.jsonl")]
    #[command(mut_arg("report", |arg| arg.hide(true)))]
    Sweep(Box<Sweep>),
    /// A sweep in many processes, under a scheduler or by hand.
    #[command(
        subcommand,
        after_help = "Example: ndp shard plan study.toml --shards 64 --into parts; the page docs/cluster.md has a whole study"
    )]
    Shard(Shard),
    /// Answer a question that is written in a TOML file.
    #[command(
        after_help = "Example: ndp run study.toml, with the lines\n  command = \"loss\"\n  file = \"friends.txt\"\n  noise = 2"
    )]
    Run {
        /// The study: a TOML file with `command`, and the options of that command by their names.
        #[arg(value_name = "STUDY")]
        study: PathBuf,
    },
    /// The protocols and their parameters.
    #[command(after_help = "Example: ndp protocols | grep rounds")]
    Protocols,
    /// A completion script for your shell.
    #[command(after_help = "Example: ndp completions bash > ~/.local/share/bash-completion/completions/ndp")]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// The manual, as pages for `man`.
    #[command(alias = "manual", after_help = "Example: ndp man --into ~/.local/share/man/man1")]
    Man {
        /// Write a page for the program and one for each command into this folder; without it, the program's
        /// page is printed.
        #[arg(long, value_name = "FOLDER")]
        into: Option<PathBuf>,
    },
}

#[derive(Args, Debug)]
pub(crate) struct GraphQuestion {
    #[command(flatten)]
    pub(crate) graph: GraphInput,
    #[command(flatten)]
    pub(crate) files: Files,
}

#[derive(Args, Debug)]
pub(crate) struct Loss {
    #[command(flatten)]
    pub(crate) graph: GraphInput,
    #[command(flatten)]
    pub(crate) protocol: ProtocolChoice,
    /// The noise (standard deviation), in the unit of the values.
    #[arg(long, value_name = "SIGMA", value_parser = options::noise)]
    pub(crate) noise: f64,
    #[command(flatten)]
    pub(crate) observers: Observers,
    #[command(flatten)]
    pub(crate) knowledge: Knowledge,
    #[command(flatten)]
    pub(crate) target: TargetChoice,
    #[command(flatten)]
    pub(crate) files: Files,
    /// The proof of the answer, for a checker; gzipped as FILE.gz.
    #[arg(long, value_name = "FILE")]
    pub(crate) proof: Option<PathBuf>,
    /// All losses as a NumPy array: exposed nodes by observers.
    #[arg(long, value_name = "FILE")]
    pub(crate) npy: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) pictures: Pictures,
    #[command(flatten)]
    pub(crate) unit: Unit,
    #[command(flatten)]
    pub(crate) effort: Effort,
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
    pub(crate) files: Files,
    /// The proof of the answer, for a checker; gzipped as FILE.gz.
    #[arg(long, value_name = "FILE")]
    pub(crate) proof: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) unit: Unit,
    #[command(flatten)]
    pub(crate) effort: Effort,
}

#[derive(Args, Debug)]
pub(crate) struct Compare {
    #[command(flatten)]
    pub(crate) graph: GraphInput,
    /// A protocol to try (all by default); may be given several times.
    #[arg(long = "protocol", value_name = "NAME[:P=X,...]")]
    pub(crate) protocols: Vec<String>,
    #[command(flatten)]
    pub(crate) gossip: GossipChoice,
    #[command(flatten)]
    pub(crate) observers: Observers,
    #[command(flatten)]
    pub(crate) knowledge: Knowledge,
    #[command(flatten)]
    pub(crate) target: TargetChoice,
    #[command(flatten)]
    pub(crate) files: Files,
    #[command(flatten)]
    pub(crate) pictures: Pictures,
    #[command(flatten)]
    pub(crate) unit: Unit,
    #[command(flatten)]
    pub(crate) effort: Effort,
}

#[derive(Args, Debug)]
pub(crate) struct Audit {
    #[command(flatten)]
    pub(crate) graph: GraphInput,
    #[command(flatten)]
    pub(crate) protocol: ProtocolChoice,
    /// The noise (standard deviation), in units of the sensitivity.
    #[arg(long, value_name = "SIGMA", value_parser = options::noise)]
    pub(crate) noise: f64,
    /// The exposed node, whose data are attacked.
    #[arg(long, value_name = "LABEL")]
    pub(crate) source: String,
    #[command(flatten)]
    pub(crate) observers: Observers,
    #[command(flatten)]
    pub(crate) knowledge: Knowledge,
    /// Runs in each of two worlds: with the exposed node's data, and with other data.
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    pub(crate) runs: usize,
    /// The probability that the attack shows more than the truth is at most this.
    #[arg(long, default_value_t = 1e-3, value_name = "P")]
    pub(crate) error_rate: f64,
    #[command(flatten)]
    pub(crate) files: Files,
    /// The proof of the answer, for a checker; gzipped as FILE.gz.
    #[arg(long, value_name = "FILE")]
    pub(crate) proof: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct Plan {
    #[command(flatten)]
    pub(crate) graph: GraphInput,
    /// A protocol to try (all by default); may be given several times.
    #[arg(long = "protocol", value_name = "NAME")]
    pub(crate) protocols: Vec<String>,
    #[command(flatten)]
    pub(crate) observers: Observers,
    #[command(flatten)]
    pub(crate) knowledge: Knowledge,
    #[command(flatten)]
    pub(crate) target: TargetChoice,
    #[command(flatten)]
    pub(crate) files: Files,
    #[command(flatten)]
    pub(crate) pictures: Pictures,
    #[command(flatten)]
    pub(crate) unit: Unit,
    #[command(flatten)]
    pub(crate) effort: Effort,
    /// Also try protocols that bring connections of their own (a ring, all pairs, groups), whatever the edges
    /// of the graph.
    #[arg(long)]
    pub(crate) any_topology: bool,
    /// Also try K additional edges, one after the other, each between two nodes at distance 2.
    #[arg(long, default_value_t = 0, value_name = "K")]
    pub(crate) rewire: usize,
}

#[derive(Args, Debug)]
pub(crate) struct Ledger {
    #[command(flatten)]
    pub(crate) graph: GraphInput,
    /// A run: a protocol with its parameters, `@`, and its noise in units of the sensitivity; may be given
    /// several times, in order of time.
    #[arg(long = "run", required = true, value_name = "NAME[:P=X,...]@SIGMA")]
    pub(crate) runs: Vec<String>,
    /// Each run was chosen after seeing the earlier ones.
    #[arg(long)]
    pub(crate) adaptive: bool,
    /// In place of a limit: what is spent is a guarantee whenever you stop, even because of what was seen.
    /// MU2 is the sum of the squared mu of all runs at which you expect to stop.
    #[arg(long, value_name = "MU2", conflicts_with_all = ["measure", "order", "pairs", "mean"])]
    pub(crate) odometer: Option<f64>,
    #[command(flatten)]
    pub(crate) gossip: GossipChoice,
    #[command(flatten)]
    pub(crate) observers: Observers,
    #[command(flatten)]
    pub(crate) knowledge: Knowledge,
    #[command(flatten)]
    pub(crate) target: TargetChoice,
    #[command(flatten)]
    pub(crate) files: Files,
    #[command(flatten)]
    pub(crate) effort: Effort,
}

/// Whether two logs tell of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Runs {
    /// One run, told twice.
    Same,
    /// Two runs, each with its own noises.
    Separate,
    /// One run, of which each log tells the steps of some nodes.
    Parts,
}

#[derive(Args, Debug)]
pub(crate) struct Meter {
    /// The log, or - for lines that come while the system runs.
    #[arg(value_name = "LOG")]
    pub(crate) file: PathBuf,
    /// More logs, merged with the first; their nodes are matched by name.
    #[arg(value_name = "MORE", requires = "runs", conflicts_with_all = ["watch", "view"])]
    pub(crate) others: Vec<PathBuf>,
    /// How the logs belong together: two logs of the same run, of which the longer one counts; two logs of
    /// separate runs, each with its own noises, whose losses add up, or of which the larger counts where a
    /// single use may change; or any number of logs of parts of one run, each with the steps of some nodes.
    #[arg(long, value_enum, value_name = "same|separate|parts", requires = "others", conflicts_with_all = ["watch", "view"])]
    pub(crate) runs: Option<Runs>,
    /// Read a log of every event from the point of view of one node: schedule:NODE relies on the other nodes
    /// to keep to the schedule; own:NODE counts all that the node sent as seen by all others together.
    #[arg(long, value_name = "schedule:NODE|own:NODE")]
    pub(crate) view: Option<String>,
    /// Follow the log while it grows, until interrupted.
    #[arg(long)]
    pub(crate) watch: bool,
    /// A page with the pairs that lost most; with --watch it follows the log, and browsers reload it.
    #[arg(long, value_name = "FILE")]
    pub(crate) page: Option<PathBuf>,
    /// The epsilon allowed for every pair, in place of the limits in the log.
    #[arg(long, value_name = "E")]
    pub(crate) budget_epsilon: Option<f64>,
    /// The delta that goes with epsilon.
    #[arg(long, default_value_t = 1e-5, value_name = "D")]
    pub(crate) delta: f64,
    /// How many pairs to show, largest losses first.
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub(crate) worst: usize,
    /// What every pair has lost, as JSON lines: one for every line of the log that changed a loss.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct Show {
    /// The file, or - for standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// How many pairs to show, largest losses first; files have all.
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub(crate) worst: usize,
    #[command(flatten)]
    pub(crate) files: Files,
}

#[derive(Args, Debug)]
pub(crate) struct Prove {
    #[command(flatten)]
    pub(crate) graph: GraphInput,
    #[command(flatten)]
    pub(crate) protocol: ProtocolChoice,
    #[command(flatten)]
    pub(crate) observers: Observers,
    #[command(flatten)]
    pub(crate) knowledge: Knowledge,
    /// An exposed node that the proof is about; may be given several times. Every node by default.
    #[arg(long = "source", value_name = "LABEL")]
    pub(crate) sources: Vec<String>,
    /// The file of the proof; gzipped if its name ends in .gz.
    #[arg(long, value_name = "FILE")]
    pub(crate) into: PathBuf,
}

#[derive(Args, Debug)]
#[command(group(clap::ArgGroup::new("numbers").required(true)))]
pub(crate) struct Simulate {
    #[command(flatten)]
    pub(crate) graph: GraphInput,
    /// A file with a line `label,number` for every node.
    #[arg(long, value_name = "FILE", group = "numbers")]
    pub(crate) values: Option<PathBuf>,
    /// In place of a file: draw the numbers between 0 and 1, by the seed.
    #[arg(long, group = "numbers")]
    pub(crate) drawn: bool,
    /// Rounds of gossip; by default as many as the stopping rule gives.
    #[arg(long, value_name = "N")]
    pub(crate) rounds: Option<usize>,
    /// The noise (standard deviation), in the unit of the values.
    #[arg(long, value_name = "SIGMA")]
    pub(crate) noise: f64,
    /// Seed of the noise, and of numbers that are drawn; whoever knows it knows the noise.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) gossip: GossipChoice,
    #[command(flatten)]
    pub(crate) files: Files,
}

#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("amount").required(true).args(["noise", "epsilon"]))]
pub(crate) struct Train {
    /// A table with a header, one example a line: numbers, and a label; `-` for standard input.
    #[arg(value_name = "TABLE")]
    pub(crate) table: PathBuf,
    /// The column with the label, which takes two values: numbers or texts.
    #[arg(long, default_value = "label", value_name = "COLUMN")]
    pub(crate) label: String,
    /// A column that is not a feature; may be given several times.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) without: Vec<String>,
    /// The separator of columns: comma, semicolon or tab; found in the first line by default.
    #[arg(long, value_name = "SIGN")]
    pub(crate) separator: Option<Separator>,
    /// The network of the users, for walk-sgd and gossip-sgd; every node is a user.
    #[arg(long, value_name = "FILE")]
    pub(crate) graph: Option<PathBuf>,
    /// If the network is in pieces, take the largest one.
    #[arg(long, requires = "graph", conflicts_with = "users")]
    pub(crate) largest_component: bool,
    /// How many users the examples are dealt to if there is no graph; by default one for every ten examples
    /// of the training set, at least 2 and at most 1000.
    #[arg(long, value_name = "N", conflicts_with = "graph")]
    pub(crate) users: Option<usize>,
    /// The protocol: walk-sgd-complete, walk-sgd, gossip-sgd, federated-sgd or central-sgd.
    #[arg(long, default_value = "walk-sgd-complete", value_name = "NAME[:P=X,...]")]
    pub(crate) protocol: String,
    /// The noise on a gradient, in units of its sensitivity.
    #[arg(long, value_name = "SIGMA")]
    pub(crate) noise: Option<f64>,
    /// The epsilon allowed for every user; takes the least noise.
    #[arg(long, value_name = "E")]
    pub(crate) epsilon: Option<f64>,
    /// The delta that goes with epsilon.
    #[arg(long, default_value_t = 1e-5, value_name = "D")]
    pub(crate) delta: f64,
    #[command(flatten)]
    pub(crate) observers: Observers,
    /// Share of the examples that are kept for testing.
    #[arg(long, default_value_t = 0.2, value_name = "SHARE")]
    pub(crate) test: f64,
    /// Scale features to mean 0 and variance 1 first; their means and variances count as public.
    #[arg(long)]
    pub(crate) standardize: bool,
    /// Give the model an intercept.
    #[arg(long)]
    pub(crate) intercept: bool,
    /// Weight of the ridge term of the logistic regression.
    #[arg(long, default_value_t = 0.0, value_name = "L2")]
    pub(crate) ridge: f64,
    /// How many trainings, to see how much they vary; the account is for one of them.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) runs: u16,
    /// Seed of the split, the deal, the walk and the noise; whoever knows it knows the noise.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) files: Files,
    #[command(flatten)]
    pub(crate) pictures: Pictures,
    #[command(flatten)]
    pub(crate) effort: Effort,
}
