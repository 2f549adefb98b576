//! `ndp`: who learns how much about whom in a network, how much noise it takes, and which protocol is best.
//!
//! Exit codes: 0 done; 1 the input was understood but refused or the target is not met; 2 the command line is wrong; 3 a file cannot be
//! read or written. A closed pipe is no error.

mod args;
mod commands;
mod errors;
mod input;
mod output;
mod question;

use clap::Parser;
use errors::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = match args::Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version go to standard output and are no errors.
            let code = if error.use_stderr() { 2 } else { 0 };
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    match commands::run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("ndp: {failure}");
            ExitCode::from(failure.code())
        }
    }
}
