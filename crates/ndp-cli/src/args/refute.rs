//! The options of `ndp refute`.

use super::options::Pictures;
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct Refute {
    /// The claimed bound, in nats, on the Rényi loss of the exposed node u towards the observer v.
    #[arg(long, value_name = "FORMULA", required_unless_present = "finding")]
    pub(crate) claim: Option<String>,
    /// A claim of docs/findings.md by the number of its row, with the search that finds it.
    #[arg(long, value_name = "N", conflicts_with_all = ["claim", "protocol", "parameter", "watching", "mean", "domain", "nodes", "thin_nodes", "rounds", "weights"])]
    pub(crate) finding: Option<usize>,
    /// The protocol that the claim is about.
    #[arg(long, value_enum, default_value = "muffliato")]
    pub(crate) protocol: TriedProtocol,
    /// The Chebyshev parameter of accelerated gossip, or the later noise in units of the first; 1 by default.
    #[arg(long, value_name = "X")]
    pub(crate) parameter: Option<f64>,
    /// How many observers learn together.
    #[arg(long = "observers", default_value_t = 1, value_name = "K", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=6))]
    pub(crate) watching: usize,
    /// The claim bounds the mean over all nodes.
    #[arg(long)]
    pub(crate) mean: bool,
    /// Only cases in which this formula is positive.
    #[arg(long = "where", value_name = "FORMULA")]
    pub(crate) domain: Option<String>,
    /// Try all connected graphs of 2 to N nodes.
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(2..=7))]
    pub(crate) nodes: usize,
    /// Also try long thin graphs, such as paths and stars, of 6 to N nodes; N is at most 64.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) thin_nodes: usize,
    /// Try 1 to T rounds.
    #[arg(long, default_value_t = 6, value_name = "T", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=200))]
    pub(crate) rounds: usize,
    /// The weights to try, one after the other.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "metropolis")]
    pub(crate) weights: Vec<TriedWeights>,
    /// The order alpha.
    #[arg(long, default_value_t = 2.0, value_name = "ALPHA")]
    pub(crate) order: f64,
    /// The noise sigma, in units of the sensitivity; by default 1, and for rows about walks the
    /// least that their theorems allow at this order, sqrt(2 alpha (alpha - 1)).
    #[arg(long, value_name = "SIGMA")]
    pub(crate) noise: Option<f64>,
    /// How many cases (graph, weights, rounds, pair) to try at most.
    #[arg(long, default_value_t = 10_000_000, value_name = "N")]
    pub(crate) cases: u64,
    /// Runs of the attack on a counterexample, in each of two worlds.
    #[arg(long, default_value_t = 10_000, value_name = "N", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(10..=10_000_000))]
    pub(crate) runs: usize,
    /// The probability that the attack shows more than the truth is at most this.
    #[arg(long, default_value_t = 1e-3, value_name = "P")]
    pub(crate) error_rate: f64,
    /// Seed of the attack.
    #[arg(long, default_value_t = 42, value_name = "SEED")]
    pub(crate) seed: u64,
    /// What was found as JSON, with scripts that show it.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) pictures: Pictures,
}

/// Protocols that claims are tried on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TriedProtocol {
    /// Noise once, then rounds of averages.
    Muffliato,
    /// The same with Chebyshev acceleration.
    Accelerated,
    /// Noise before every round.
    FreshNoise,
    /// Noise on everything that is sent.
    NoisyMessages,
    /// One edge averages in each round; all sequences are tried.
    Pairs,
    /// A token that walks; the truth is the mean over all paths, which no loss is below.
    Walk,
}

/// Weights that are tried against a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TriedWeights {
    /// 1 / (1 + the larger degree).
    Metropolis,
    /// 1 / the larger degree.
    MaxDegree,
    /// The mean of Metropolis weights and the identity.
    Lazy,
    /// 1 / degree: the simple walk.
    Simple,
}
