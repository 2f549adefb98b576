//! The manual, as pages for `man`.

use crate::args::Arguments;
use crate::errors::Failure;
use crate::output::{line, print, write};
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use std::path::Path;

/// Prints the page of the program, or writes a page for it and for each of its questions.
pub(super) fn run(into: Option<&Path>) -> Result<(), Failure> {
    let mut program = Arguments::command();
    program.build();
    let mut pages = Vec::new();
    add(&program, &mut pages)?;
    let Some(folder) = into else {
        return pages.first().map_or(Ok(()), |(_, page)| print(page));
    };
    for (name, page) in &pages {
        write(&folder.join(name), page)?;
    }
    line(&format!("{} pages in {}", pages.len(), folder.display()))
}

/// The page of a command, then those of its own commands.
fn add(command: &Command, pages: &mut Vec<(String, Vec<u8>)>) -> Result<(), Failure> {
    let page = Man::new(command.clone());
    let mut text = Vec::new();
    page.render(&mut text).map_err(|error| Failure::Refused(error.to_string()))?;
    pages.push((page.get_filename(), text));
    let questions = command.get_subcommands().filter(|command| command.get_name() != "help");
    questions.filter(|command| !command.is_hide_set()).try_for_each(|command| add(command, pages))
}
