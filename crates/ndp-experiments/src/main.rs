//! `ndp-experiments <figure|all> [--quick]`: computes figures and writes them to a folder.

mod bless;
mod data;
mod flags;
mod reproduce;

use anyhow::{Context, ensure};
use std::io::{ErrorKind, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

fn main() -> ExitCode {
    let asked = match flags::NdpExperiments::from_env() {
        Ok(asked) => asked,
        Err(help) if help.is_help() => {
            print_line(&help.to_string());
            return ExitCode::SUCCESS;
        }
        Err(error) => error.exit(),
    };
    let result = match asked.subcommand {
        flags::NdpExperimentsCmd::Reproduce(command) => command.run(),
        flags::NdpExperimentsCmd::Bless(command) => command.run(),
        flags::NdpExperimentsCmd::Data(command) => command.run(),
    };
    match result {
        Ok(()) if UNSAID.load(Ordering::Relaxed) => ExitCode::FAILURE,
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            // Display, not Debug, which may add a stack trace.
            let _ = writeln!(std::io::stderr(), "error: {e:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whether a line could not be written to standard output, for a reason other than a closed pipe.
static UNSAID: AtomicBool = AtomicBool::new(false);

fn print_line(line: &str) {
    let said = writeln!(std::io::stdout(), "{line}");
    if said.is_err_and(|error| error.kind() != ErrorKind::BrokenPipe) {
        UNSAID.store(true, Ordering::Relaxed);
    }
}

/// Sets the number of threads, if one is given.
fn start_threads(threads: Option<usize>) -> anyhow::Result<()> {
    let Some(threads) = threads else { return Ok(()) };
    ensure!(threads > 0, "--threads must be at least 1");
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().context("cannot start threads")
}
