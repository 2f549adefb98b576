//! The chores of the workspace: `cargo xtask reproduce`, `test` and the others. It depends on no crate of the
//! workspace and calls cargo.

mod bench;
mod bless;
mod book;
mod ci;
mod data;
mod finding;
mod flags;
mod fuzz;
mod mutants;
mod release;
mod reproduce;
mod shard;
mod slurm;
mod soundness;
mod test;
mod tidy;
mod wheel;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use xshell::Shell;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            // Display, not Debug, which may add a stack trace.
            eprintln!("error: {e:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> anyhow::Result<()> {
    let sh = &Shell::new()?;
    // Paths that a user types are relative to the current folder; all others are relative to the root.
    let here = sh.current_dir();
    sh.change_dir(root());
    match flags::Xtask::from_env_or_exit().subcommand {
        flags::XtaskCmd::Reproduce(task) => task.run(sh, &here),
        flags::XtaskCmd::Data(task) => task.run(sh, &here),
        flags::XtaskCmd::Bless(task) => task.run(sh, &here),
        flags::XtaskCmd::Test(task) => task.run(sh),
        flags::XtaskCmd::Bench(task) => task.run(sh),
        flags::XtaskCmd::Soundness(task) => task.run(sh, &here),
        flags::XtaskCmd::Fuzz(task) => task.run(sh, &here),
        flags::XtaskCmd::Ci(task) => task.run(sh),
        flags::XtaskCmd::Mutants(task) => task.run(sh),
        flags::XtaskCmd::Slurm(task) => task.run(sh),
        flags::XtaskCmd::Book(task) => task.run(sh),
        flags::XtaskCmd::Finding(task) => task.run(sh, &here),
        flags::XtaskCmd::Release(task) => task.run(sh),
        flags::XtaskCmd::Tidy(task) => task.run(sh),
        flags::XtaskCmd::Wheel(task) => task.run(sh, &here),
    }
}

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, Path::to_path_buf)
}

/// Options for the program that computes the figures, with paths relative to `here`.
struct Arguments<'a> {
    here: &'a Path,
    list: Vec<String>,
}

impl<'a> Arguments<'a> {
    /// If no command is given the program computes figures.
    fn new(here: &'a Path, command: Option<&str>) -> Self {
        Self { here, list: command.map(str::to_owned).into_iter().collect() }
    }

    fn flag(mut self, name: &str, given: bool) -> Self {
        self.list.extend(given.then(|| format!("--{name}")));
        self
    }

    fn option(mut self, name: &str, value: Option<impl ToString>) -> Self {
        if let Some(value) = value {
            self.list.extend([format!("--{name}"), value.to_string()]);
        }
        self
    }

    fn path(self, name: &str, path: Option<&Path>) -> Self {
        let path = path.map(|path| self.here.join(path).display().to_string());
        self.option(name, path)
    }

    fn figure(mut self, figure: Option<String>) -> Self {
        self.list.extend(figure);
        self
    }

    /// Builds the program, then runs it.
    fn run(self, sh: &Shell) -> anyhow::Result<()> {
        run_program(sh, "ndp-experiments", &self.list)
    }
}

/// Builds a program of the workspace, then runs it.
///
/// Cargo compiles dependencies again for each selection of packages, because their features differ. If
/// everything is built for the tests anyhow, as in the merge gate, `NDP_ONE_BUILD` makes this use the
/// programs of that build.
fn run_program(sh: &Shell, package: &str, arguments: &[String]) -> anyhow::Result<()> {
    if std::env::var_os("NDP_ONE_BUILD").is_none() {
        xshell::cmd!(sh, "cargo run --release --quiet --package {package} -- {arguments...}")
            .quiet()
            .run()?;
        return Ok(());
    }
    xshell::cmd!(sh, "cargo build --release --quiet --workspace --tests --bin {package}").quiet().run()?;
    let folder = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    let program = sh.current_dir().join(folder).join("release").join(package);
    xshell::cmd!(sh, "{program} {arguments...}").quiet().run()?;
    Ok(())
}
