//! Sweeps, in one process or in many.

use super::options::{GossipChoice, GraphInput, Knowledge, Observers, Pictures, Unit};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Many observers, perhaps several protocols and noises; of each observer a summary.
#[derive(Args, Debug)]
pub(crate) struct Sweep {
    #[command(flatten)]
    pub(crate) graph: GraphInput,
    /// A protocol with its parameters; may be given several times, with other seeds for instance.
    #[arg(long = "protocol", default_value = "muffliato", value_name = "NAME[:P=X,...]")]
    pub(crate) protocols: Vec<String>,
    #[command(flatten)]
    pub(crate) gossip: GossipChoice,
    /// The noise (standard deviation), in the unit of the values; may be given several times.
    #[arg(long = "noise", required = true, value_name = "SIGMA", value_parser = super::options::noise)]
    pub(crate) noises: Vec<f64>,
    #[command(flatten)]
    pub(crate) observers: Observers,
    #[command(flatten)]
    pub(crate) knowledge: Knowledge,
    /// The delta that goes with epsilon.
    #[arg(long, default_value_t = 1e-5, value_name = "D", conflicts_with = "order")]
    pub(crate) delta: f64,
    /// In place of epsilon, report Rényi losses of this order, in nats.
    #[arg(long, value_name = "A")]
    pub(crate) order: Option<f64>,
    /// How many exposed nodes to name for every observer, largest losses first.
    #[arg(long, default_value_t = 10, value_name = "K")]
    pub(crate) top: usize,
    /// An observer for whom the losses of all nodes are kept; may be given several times.
    #[arg(long = "row", value_name = "LABEL")]
    pub(crate) rows: Vec<String>,
    #[command(flatten)]
    pub(crate) unit: Unit,
    /// The summaries, a JSON object a line; without it, only what they say together is shown.
    #[arg(long, value_name = "FILE")]
    pub(crate) into: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) pictures: Pictures,
}

/// A sweep in many processes.
#[derive(Debug, Subcommand)]
pub(crate) enum Shard {
    /// Split a study with `command = "sweep"` into shards.
    #[command(after_help = "Example: ndp shard plan study.toml --shards 64 --into parts")]
    Plan {
        /// The study.
        #[arg(value_name = "STUDY")]
        study: PathBuf,
        /// How many shards.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
        shards: u32,
        /// The folder for the plan and for what the shards find; it must not exist yet, or hold this plan
        /// already.
        #[arg(long, value_name = "FOLDER")]
        into: PathBuf,
        /// Replace another plan and its shards in the folder.
        #[arg(long)]
        replace: bool,
    },
    /// Run one shard, or go on with it; SIGTERM ends it once the observer at hand is done.
    #[command(after_help = "Example: ndp shard run parts --index 7")]
    Run {
        /// The folder of the plan.
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
        /// Which shard, counted from 0; by default the one in SLURM_ARRAY_TASK_ID or its like of another
        /// scheduler.
        #[arg(long, value_name = "I")]
        index: Option<usize>,
        /// Also run every K-th shard after it, for arrays that are shorter than the plan.
        #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
        stride: Option<u32>,
    },
    /// Which shards are done, and which are not, in the syntax of --array.
    #[command(after_help = "Example: sbatch --array=$(ndp shard status parts --missing) job.sh")]
    Status {
        /// The folder of the plan.
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
        /// Print the indices that are not done, and nothing else.
        #[arg(long)]
        missing: bool,
        /// Print instead the indices of the jobs that run these shards with this --stride.
        #[arg(long, value_name = "K", requires = "missing", value_parser = clap::value_parser!(u32).range(1..))]
        stride: Option<u32>,
    },
    /// Put all shards together; the bytes are those of `ndp sweep` in one process.
    #[command(after_help = "Example: ndp shard merge parts --into all.jsonl --png worst.png")]
    #[command(mut_arg("report", |arg| arg.hide(true)))]
    Merge {
        /// The folder of the plan.
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
        /// The summaries, a JSON object a line.
        #[arg(long, value_name = "FILE")]
        into: PathBuf,
        #[command(flatten)]
        pictures: Pictures,
    },
    /// A script for a scheduler.
    #[command(after_help = "Example: ndp shard script parts --for slurm > job.sh && sbatch job.sh")]
    Script {
        /// The folder of the plan.
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
        /// The scheduler.
        #[arg(long = "for", value_enum, value_name = "SCHEDULER")]
        scheduler: Scheduler,
    },
}

/// Who runs the shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scheduler {
    /// `sbatch`.
    Slurm,
    /// `oarsub`.
    Oar,
    /// `qsub` of PBS.
    Pbs,
    /// A shell, two at a time.
    Sh,
}
