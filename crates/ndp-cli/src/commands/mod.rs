//! One file for each question.

mod audit;
mod calibrate;
mod compare;
mod graph;
mod ledger;
mod loss;
mod losses;
mod manual;
mod meter;
mod plan;
mod prove;
mod refute;
mod shard;
mod show;
mod simulate;
mod sweep;
mod train;

use crate::args::{Arguments, Command};
use crate::errors::{Failure, in_words};
use crate::output::{line, note, print};
use crate::patience::{self, Patient};
use crate::progress::Progress;
use crate::question::Chosen;
use clap::CommandFactory;
use ndp_account::{Account, Audience, Covered, LeastNoise, Observer, Row, Target};
use ndp_algos::registry::{self, PROTOCOLS};
use ndp_graph::GossipMatrix;
use ndp_graph::progress::Stop;
use ndp_report::words;

pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    start_threads(arguments.threads)?;
    let quiet = arguments.quiet;
    match arguments.command {
        Command::Graph(asked) => graph::run(&asked, quiet),
        Command::Loss(asked) => loss::run(&asked, quiet),
        Command::Calibrate(asked) => calibrate::run(&asked, quiet),
        Command::Compare(asked) => compare::run(&asked, quiet),
        Command::Audit(asked) => audit::run(&asked, quiet),
        Command::Plan(asked) => plan::run(&asked, quiet),
        Command::Ledger(asked) => ledger::run(&asked, quiet),
        Command::Meter(asked) => meter::run(&asked),
        Command::Show(asked) => show::run(&asked),
        Command::Prove(asked) => prove::run(&asked, quiet),
        Command::Refute(asked) => refute::run(&asked),
        Command::Simulate(asked) => simulate::run(&asked),
        Command::Train(asked) => train::run(&asked, quiet),
        Command::Sweep(asked) => sweep::run(&asked, quiet),
        Command::Shard(asked) => shard::run(asked, quiet),
        Command::Run { .. } => Err(Failure::Usage("a study cannot ask for a study".into())),
        Command::Protocols => protocols(),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "ndp", &mut script);
            print(&script)
        }
        Command::Man { into } => manual::run(into.as_deref()),
    }
}

/// Threads beyond this and the number of processors gain nothing and take memory.
const MAX_THREADS: usize = 64;

/// Starts as many threads as were asked for, or as there are processors.
fn start_threads(asked: Option<u16>) -> Result<(), Failure> {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let of_environment =
        || std::env::var("RAYON_NUM_THREADS").ok()?.parse().ok().filter(|&threads| threads > 0);
    let asked = asked.map(usize::from).or_else(of_environment).unwrap_or(processors);
    let threads = asked.min(processors.max(MAX_THREADS));
    if threads < asked {
        note(&format!("{threads} threads are used, not {asked}: there are {processors} processors"));
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    pool.map_err(|error| {
        Failure::Refused(format!(
            "{threads} threads cannot be started ({error}): ask for fewer with --threads"
        ))
    })
}

fn protocols() -> Result<(), Failure> {
    for entry in PROTOCOLS.iter() {
        line(&format!("{:<24} {}", entry.name, entry.about))?;
        for parameter in entry.parameters {
            line(&format!("{:<24}   {}: {}", "", parameter.name, parameter.about))?;
        }
    }
    Ok(())
}

/// The account of every observer; threads take the observers in order. If this takes more than a second,
/// progress goes to standard error.
fn accounts<'a>(
    protocol: &'a Patient<'_>,
    observers: &[Observer],
    quiet: bool,
) -> Result<Vec<Box<dyn Account + 'a>>, ndp_account::Error> {
    let progress = Progress::new(observers.len() as u64, "observers", quiet);
    let accounts = protocol.accounts(observers, || progress.one());
    drop(progress);
    for text in patience::notes(protocol) {
        note(&text);
    }
    accounts
}

/// What an audience learns. Observers who are looked at have their own accounts; a bound, a symmetry or an
/// account of their group covers the others.
fn covered<'a>(protocol: &'a Patient<'_>, chosen: &Chosen, quiet: bool) -> Result<Covered<'a>, Failure> {
    Ok(protocol.cover(&chosen.audience, |observers| accounts(protocol, observers, quiet))?)
}

/// The least noise of those who are covered. If none is needed, the error says what this assumes.
fn least_noise(covered: &Covered<'_>, target: &Target) -> Result<LeastNoise, Failure> {
    covered.least_noise(target).map_err(|error| match (&error, covered.statement()) {
        (ndp_account::Error::NoNoiseNeeded, Ok(statement)) => {
            Failure::Refused(words::no_noise_if(&error.to_string(), &statement))
        }
        _ => error.into(),
    })
}

/// The row of a protocol in a comparison.
fn row(
    name: &str,
    built: Result<&Patient<'_>, ndp_account::Error>,
    audience: &Audience,
    target: &Target,
) -> Row {
    let row = match built {
        Ok(protocol) => protocol.row(name, audience, target),
        Err(error) => Row::refused(name, error),
    };
    Row { least: row.least.map_err(in_words), error: row.error.map_err(in_words), ..row }
}

/// The number of gossip rounds that the stopping rule gives, for questions without `--rounds`.
fn stopping_rounds(matrix: &GossipMatrix) -> Result<usize, Failure> {
    let rounds = registry::find("muffliato")?.parameters.iter().find(|parameter| parameter.name == "rounds");
    Ok(count(rounds.map_or(Ok(1.0), |rounds| (rounds.default)(matrix, &Stop::never()))?))
}

/// `⌊x⌋` as a count: 0 if `x` is negative or NaN, and the largest count if `x` is too large.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "such casts saturate, which is what is promised"
)]
fn count(x: f64) -> usize {
    x as usize
}
