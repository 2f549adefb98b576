//! Which files a command line reads and which it writes.

use crate::args::Arguments;
use clap::{ArgMatches, Command, CommandFactory, FromArgMatches};
use std::any::TypeId;
use std::ffi::OsString;
use std::path::PathBuf;

/// The options that name files to be written; every other path is read.
const OUTPUTS: [&str; 9] = ["csv", "json", "npy", "png", "svg", "report", "page", "into", "proof"];

/// Outputs whose format has no room for the command that made them; a file beside each records it.
const RECORDED: [&str; 2] = ["csv", "npy"];

/// How options name folders.
const FOLDER: &str = "FOLDER";

/// The files of a command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Paths {
    pub(crate) inputs: Vec<PathBuf>,
    pub(crate) outputs: Vec<PathBuf>,
    /// Outputs with a record beside them.
    pub(crate) recorded: Vec<PathBuf>,
}

/// The arguments of a command line without the program's name, and the files that it names.
pub(crate) fn parsed(words: impl Iterator<Item = OsString>) -> Result<(Arguments, Paths), clap::Error> {
    // Numbers below 0 are refused by what reads them, whose errors say why.
    let mut program = Arguments::command().mut_subcommands(|command| command.allow_negative_numbers(true));
    let matches = program.try_get_matches_from_mut(std::iter::once(OsString::from("ndp")).chain(words))?;
    let arguments = Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut program))?;
    let mut paths = Paths::default();
    paths.add(&program, &matches);
    Ok((arguments, paths))
}

impl Paths {
    fn add(&mut self, command: &Command, matches: &ArgMatches) {
        for option in command.get_arguments().filter(|option| is_file(option)) {
            let name = option.get_id().as_str();
            // Global options are also known to the subcommands.
            let values = matches.try_get_raw(name).ok().flatten().into_iter().flatten().map(PathBuf::from);
            if !OUTPUTS.contains(&name) {
                self.inputs.extend(values);
                continue;
            }
            for value in values {
                if RECORDED.contains(&name) {
                    self.recorded.push(value.clone());
                }
                self.outputs.push(value);
            }
        }
        if let Some((name, matches)) = matches.subcommand()
            && let Some(command) = command.find_subcommand(name)
        {
            self.add(command, matches);
        }
    }
}

/// Whether an option names a file.
fn is_file(option: &clap::Arg) -> bool {
    let folder = option.get_value_names().is_some_and(|names| names.iter().any(|name| name == FOLDER));
    is_path(option) && !folder
}

/// Whether an option names a file or a folder.
pub(crate) fn is_path(option: &clap::Arg) -> bool {
    option.get_value_parser().type_id() == TypeId::of::<PathBuf>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn of(words: &str) -> Paths {
        parsed(words.split_whitespace().map(OsString::from)).unwrap().1
    }

    #[test]
    fn files_are_read_or_written() {
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        let found =
            of("loss g --noise 1 --pairs p --csv a --json b --npy=c --png d --svg e --report f --proof h");
        let expected = Paths {
            inputs: paths(&["g", "p"]),
            outputs: paths(&["a", "b", "c", "d", "e", "f", "h"]),
            recorded: paths(&["a", "c"]),
        };
        let sorted = |paths: &Paths| {
            [&paths.inputs, &paths.outputs, &paths.recorded]
                .map(|paths| paths.iter().cloned().collect::<BTreeSet<_>>())
        };
        assert_eq!(sorted(&found), sorted(&expected));
        assert_eq!(of("shard merge parts --into all.jsonl").outputs, paths(&["all.jsonl"]));
        assert_eq!(
            of("shard plan study.toml --shards 2 --into parts"),
            Paths { inputs: paths(&["study.toml"]), ..Paths::default() }
        );
    }

    /// Fails for a new option with a path until it is listed as an input or an output.
    #[test]
    fn every_option_with_a_file_is_known() {
        fn all(command: &Command, found: &mut BTreeSet<String>) {
            found.extend(
                command
                    .get_arguments()
                    .filter(|option| is_file(option))
                    .map(|option| option.get_id().to_string()),
            );
            command.get_subcommands().for_each(|command| all(command, found));
        }
        let mut found = BTreeSet::new();
        all(&Arguments::command(), &mut found);
        let read = ["file", "graph", "others", "pairs", "program", "study", "table", "values"];
        let expected: BTreeSet<String> = OUTPUTS.iter().chain(&read).map(|&name| name.to_owned()).collect();
        assert_eq!(found, expected);
    }
}
