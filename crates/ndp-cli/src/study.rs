//! Studies: the options of a question in a TOML file, by the names that they have on the command line.

use crate::args::Arguments;
use crate::errors::Failure;
use crate::input::bytes;
use crate::paths::is_path;
use clap::{Arg, CommandFactory};
use std::ffi::OsString;
use std::path::Path;
use toml::{Table, Value};

/// The command line that a study stands for, without the program's name. Paths are relative to the study's
/// folder.
pub(crate) fn arguments(path: &Path) -> Result<Vec<OsString>, Failure> {
    let refused = |why: String| Failure::Refused(format!("{}: {why}", path.display()));
    let text =
        String::from_utf8(bytes(path)?).map_err(|_| refused("the file is not UTF-8 text".to_owned()))?;
    let table: Table = text.parse().map_err(|error: toml::de::Error| {
        let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].lines().count().max(1));
        let problem = error.message().replace('\n', " ");
        refused(format!(
            "line {line}: {problem}; a study is a TOML file with lines such as command = \"loss\""
        ))
    })?;
    of_table(&table, path.parent().unwrap_or(Path::new(""))).map_err(refused)
}

fn of_table(table: &Table, folder: &Path) -> Result<Vec<OsString>, String> {
    let program = Arguments::command();
    let name = match table.get("command") {
        Some(Value::String(name)) => name,
        _ => return Err("a study says which question it asks: command = \"loss\"".into()),
    };
    let questions = || {
        program.get_subcommands().filter(|c| !["run", "shard", "completions", "man"].contains(&c.get_name()))
    };
    let question = questions().find(|question| question.get_name() == name).ok_or_else(|| {
        let known: Vec<&str> = questions().map(clap::Command::get_name).collect();
        format!("there is no question {name:?}: there are {}", known.join(", "))
    })?;
    let mut words = vec![OsString::from(name)];
    let mut positional = Vec::new();
    for (key, value) in table.iter().filter(|(key, _)| *key != "command") {
        let mut options = question.get_arguments().chain(program.get_arguments());
        let option = options.find(|option| option.get_long() == Some(key) || is_positional(option, key));
        let option = option.ok_or_else(|| {
            let known = question.get_arguments().filter_map(|option| option.get_long().map(str::to_owned));
            let file = question.get_positionals().map(|option| option.get_id().to_string());
            format!(
                "{name} has no option {key:?}: it has {}",
                file.chain(known).collect::<Vec<_>>().join(", ")
            )
        })?;
        for text in texts(key, value, option)? {
            let value = if is_path(option) { beside(folder, &text) } else { text.into() };
            if option.is_positional() {
                positional.push(value);
                continue;
            }
            let mut word = OsString::from(format!("--{key}"));
            if option.get_action().takes_values() {
                // The option and its value are one word, because a value may begin with a hyphen.
                word.push("=");
                word.push(value);
            }
            words.push(word);
        }
    }
    if !positional.is_empty() {
        words.push("--".into());
        words.extend(positional);
    }
    Ok(words)
}

/// Whether `key` names an argument without a name, such as the file of the graph.
fn is_positional(option: &Arg, key: &str) -> bool {
    option.is_positional() && option.get_id() == key
}

/// The texts of an option's value, one for each time that the option would be given on the command line.
fn texts(key: &str, value: &Value, option: &Arg) -> Result<Vec<String>, String> {
    let flag = !option.is_positional() && !option.get_action().takes_values();
    match value {
        Value::Boolean(true) if flag => Ok(vec![String::new()]),
        Value::Boolean(false) if flag => Ok(Vec::new()),
        _ if flag => Err(format!("{key} is true or false, not {value}")),
        Value::String(text) => Ok(vec![text.clone()]),
        Value::Integer(number) => Ok(vec![number.to_string()]),
        Value::Float(number) => Ok(vec![number.to_string()]),
        Value::Array(values) if values.is_empty() => Err(format!("{key} is an empty list: leave it out")),
        Value::Array(values) => {
            let each: Result<Vec<Vec<String>>, String> = values
                .iter()
                .map(|value| match value {
                    Value::Array(_) => Err(format!("{key} is a list within a list")),
                    value => texts(key, value, option),
                })
                .collect();
            Ok(each?.concat())
        }
        _ => Err(format!("{key} must be a text, a number, true, false or a list of these")),
    }
}

fn beside(folder: &Path, text: &str) -> OsString {
    // `-` is standard input or output, which does not lie in a folder.
    if text == "-" { text.into() } else { folder.join(text).into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Result<String, String> {
        of_table(&text.parse::<Table>().map_err(|error| error.to_string())?, Path::new("studies"))
            .map(|words| words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn a_study_is_a_command_line() {
        let study = "command = \"loss\"\nfile = \"a.txt\"\nnoise = 2\nobserver = [\"ann\", \"bob\"]\nsymmetric = true\n\
                     all = false\nthreads = 2\ncsv = \"/data/a.csv\"\n";
        let found = words(study).unwrap();
        assert!(found.starts_with("loss ") && found.ends_with(" -- studies/a.txt"), "{found}");
        for part in
            ["--noise=2", "--observer=ann --observer=bob", "--symmetric", "--threads=2", "--csv=/data/a.csv"]
        {
            assert!(found.contains(part), "{found}");
        }
        assert!(!found.contains("--all"));
    }

    #[test]
    fn mistakes_in_a_study_are_named() {
        for (study, problem) in [
            ("noise = 2", "which question"),
            ("command = \"lose\"", "no question \"lose\""),
            ("command = \"run\"", "no question"),
            ("command = \"loss\"\nnoize = 2", "no option \"noize\""),
            ("command = \"loss\"\nall = 1", "true or false"),
            ("command = \"loss\"\nobserver = []", "observer is an empty list"),
            ("command = \"loss\"\nnoise = { a = 1 }", "must be a text"),
            ("command = \"loss\"\nobserver = [[\"a\"]]", "list within a list"),
        ] {
            let found = words(study).unwrap_err();
            assert!(found.contains(problem), "{found}");
        }
    }
}
