//! The command as a process.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A new folder for one test, by its name.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("ndp-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// The command with arguments that are separated by white space.
pub(crate) fn command(folder: &Path, arguments: &str) -> Command {
    let mut command = ndp();
    command.current_dir(folder).args(arguments.split_whitespace());
    command
}

/// The command without any arguments.
pub(crate) fn ndp() -> Command {
    Command::new(env!("CARGO_BIN_EXE_ndp"))
}

/// The exit code, standard output and standard error of a command.
pub(crate) fn ended(command: &mut Command) -> (i32, String, String) {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// The same, for arguments separated by white space.
pub(crate) fn run(folder: &Path, arguments: &str) -> (i32, String, String) {
    ended(&mut command(folder, arguments))
}

/// The output as text; bytes that are not UTF-8 are replaced.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
