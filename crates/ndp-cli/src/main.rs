//! `ndp`: who learns how much about whom in a network, how much noise it takes, and which protocol is best.
//!
//! Exit codes: 0 done; 1 the input was understood but refused or the target is not met; 2 the command line is wrong; 3 a file cannot be
//! read or written; 130 interrupted, with every file whole or not there. A closed pipe is no error.

#![cfg_attr(
    not(test),
    deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]

mod args;
mod commands;
mod errors;
mod input;
mod interrupt;
mod output;
mod patience;
mod plain;
mod progress;
mod question;
mod study;
mod sweep;

use clap::Parser;
use errors::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = match args::Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return ExitCode::from(usage(&error)),
    };
    interrupt::listen();
    match answer(arguments) {
        Ok(()) | Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        Err(Failure::Parsed(error)) => ExitCode::from(usage(&error)),
        Err(failure) => {
            eprintln!("ndp: {failure}");
            ExitCode::from(failure.code())
        }
    }
}

/// Help and version go to standard output and are no errors.
fn usage(error: &clap::Error) -> u8 {
    let _ = error.print();
    if error.use_stderr() { 2 } else { 0 }
}

/// Answers a question, which may be written in a study.
fn answer(arguments: args::Arguments) -> Result<(), Failure> {
    let args::Command::Run { study } = &arguments.command else {
        output::made_by(std::env::args().skip(1).collect());
        return commands::run(arguments);
    };
    let words = study::arguments(study)?;
    let mut written =
        args::Arguments::try_parse_from(std::iter::once("ndp").chain(words.iter().map(String::as_str)))?;
    written.quiet |= arguments.quiet;
    written.threads = arguments.threads.or(written.threads);
    output::made_by(words);
    commands::run(written)
}
