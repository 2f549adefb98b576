//! `ndp`: who learns how much about whom in a network, how much noise it takes, and which protocol is best.
//!
//! Exit codes: 0 done; 1 the input was understood but refused, or the target is not met; 2 the command line
//! is wrong; 3 a file cannot be read or written; 130 interrupted, with every file complete or absent. If the
//! reader of a pipe closes it, the command prints nothing more but still writes its files, and the exit code
//! is that of the answer.

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
mod paths;
mod patience;
mod plain;
mod progress;
mod question;
mod show;
mod study;
mod sweep;

use errors::Failure;
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let code = match answer(words) {
        Ok(()) => 0,
        Err(Failure::Parsed(error)) => usage(&error),
        Err(failure) => {
            output::complain(&format!("ndp: {failure}"));
            failure.code()
        }
    };
    // The answer may depend on a note. So a note that could not be written is an error.
    ExitCode::from(if code == 0 && output::is_unsaid() { errors::NOT_WRITTEN } else { code })
}

/// Help and version go to standard output and are no errors.
fn usage(error: &clap::Error) -> u8 {
    let text = error.render();
    let words = text.to_string();
    let written = if words.lines().all(|line| output::harmless(line) == line) {
        error.print()
    } else {
        words.lines().for_each(output::complain);
        Ok(())
    };
    match written {
        _ if error.use_stderr() => 2,
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => errors::NOT_WRITTEN,
        _ => 0,
    }
}

/// Answers a question, which may be written in a study.
fn answer(words: Vec<OsString>) -> Result<(), Failure> {
    let (mut arguments, mut paths) = paths::parsed(words.iter().cloned())?;
    interrupt::listen();
    let mut made_by = words;
    if let args::Command::Run { study } = &arguments.command {
        made_by = study::arguments(study)?;
        let (mut written, mut more) = paths::parsed(made_by.iter().cloned())?;
        written.quiet |= arguments.quiet;
        written.threads = arguments.threads.or(written.threads);
        more.inputs.append(&mut paths.inputs);
        (arguments, paths) = (written, more);
    }
    output::be_quiet(arguments.quiet);
    output::check(&paths)?;
    output::made_by(made_by.iter().map(|word| word.to_string_lossy().into_owned()).collect());
    commands::run(arguments)
}
