//! The command as a process.

use std::path::Path;
use std::process::Command;

/// Its exit code, what it said, and what it complained about; arguments are separated by white space.
pub(crate) fn run(folder: &Path, arguments: &str) -> (i32, String, String) {
    let arguments = arguments.split_whitespace();
    let output =
        Command::new(env!("CARGO_BIN_EXE_ndp")).current_dir(folder).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}
