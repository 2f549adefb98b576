//! `ndp-experiments <figure|all> [--quick]`: computes figures and writes them to a folder.

mod bless;
mod data;
mod flags;
mod reproduce;

use anyhow::{Context, ensure};
use std::process::ExitCode;

fn main() -> ExitCode {
    let result = match flags::NdpExperiments::from_env_or_exit().subcommand {
        flags::NdpExperimentsCmd::Reproduce(command) => command.run(),
        flags::NdpExperimentsCmd::Bless(command) => command.run(),
        flags::NdpExperimentsCmd::Data(command) => command.run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            // Not the debug form, which may add a stack trace.
            eprintln!("error: {e:#}");
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stdout, reason = "this is the command line")]
fn print_line(line: &str) {
    println!("{line}");
}

/// Sets the number of threads, if one is given.
fn start_threads(threads: Option<usize>) -> anyhow::Result<()> {
    let Some(threads) = threads else { return Ok(()) };
    ensure!(threads > 0, "--threads must be at least 1");
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().context("cannot start threads")
}
