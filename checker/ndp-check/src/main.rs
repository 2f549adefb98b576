//! `ndp-check FILE [--quiet]`: checks a proof file; `-` stands for what is piped in.

use ndp_check::{Failure, check};
use std::fs::File;
use std::io::{self, Write};
use std::process::ExitCode;

const HELP: &str = "\
Checks proof files of ndp: ndp-check FILE [--quiet]

FILE is plain or compressed by gzip; - reads what is piped in. What is proved is printed in words, then
\"accepted\" or the first line that fails. The format is in docs/formats.md, the reasons in docs/theory.md.

Exit code 0: accepted. 1: rejected, with the first line that fails. 2: the file cannot be read.";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let quiet = words.iter().any(|word| word == "--quiet");
    let files: Vec<&String> = words.iter().filter(|word| *word != "--quiet").collect();
    let [file] = files[..] else { return say(&[HELP.to_owned()], 2) };
    if matches!(file.as_str(), "-h" | "--help") {
        return say(&[HELP.to_owned()], 2);
    }
    let found = if file == "-" {
        check(io::stdin().lock())
    } else {
        File::open(file).map_err(Failure::Unreadable).and_then(check)
    };
    match found {
        Ok(proved) => {
            let mut lines = if quiet { Vec::new() } else { proved.sentences() };
            lines.push("accepted".into());
            say(&lines, 0)
        }
        Err(error @ Failure::Unreadable(_)) => {
            // Nobody is left to be told where this fails.
            _ = writeln!(io::stderr(), "ndp-check: {file}: {error}");
            ExitCode::from(2)
        }
        Err(failure) => say(&[format!("rejected: {failure}")], 1),
    }
}

/// Prints lines; a verdict that could not be printed is none.
fn say(lines: &[String], code: u8) -> ExitCode {
    match writeln!(io::stdout(), "{}", lines.join("\n")) {
        Ok(()) => ExitCode::from(code),
        Err(_) => ExitCode::from(2),
    }
}
