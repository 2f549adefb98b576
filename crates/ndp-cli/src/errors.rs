//! What can go wrong, and the exit code that says so.

use ndp_graph::Graph;
use ndp_report::files::OutputError;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The exit code after an interruption.
pub(crate) const INTERRUPTED: u8 = 130;

/// The exit code if a file or stream cannot be read or written.
pub(crate) const NOT_WRITTEN: u8 = 3;

/// Why the command ended without an answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A file cannot be read or written.
    File(PathBuf, std::io::Error),
    /// The input was refused; the text says why and what to do next.
    Refused(String),
    /// The target is not met, or an audit refutes the account.
    NotMet(String),
    /// The command line asks for something that does not exist.
    Usage(String),
    /// The command line of a study is wrong.
    Parsed(Box<clap::Error>),
    /// An interruption came, and the program stopped after the unit of work at hand.
    Interrupted(String),
}

impl Failure {
    pub(crate) const fn code(&self) -> u8 {
        match self {
            Self::Refused(_) | Self::NotMet(_) => 1,
            Self::Usage(_) | Self::Parsed(_) => 2,
            Self::Interrupted(_) => INTERRUPTED,
            Self::File(..) => NOT_WRITTEN,
        }
    }

    pub(crate) fn file(path: &Path) -> impl Fn(std::io::Error) -> Self + '_ {
        move |error| Self::File(path.into(), error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path, error) => write!(f, "cannot use {}: {error}", path.display()),
            Self::Refused(why) | Self::NotMet(why) | Self::Usage(why) | Self::Interrupted(why) => {
                f.write_str(why)
            }
            Self::Parsed(error) => error.fmt(f),
        }
    }
}

impl From<clap::Error> for Failure {
    fn from(error: clap::Error) -> Self {
        Self::Parsed(Box::new(error))
    }
}

impl From<ndp_account::Error> for Failure {
    fn from(error: ndp_account::Error) -> Self {
        match error {
            ndp_account::Error::NoSuchName { .. } | ndp_account::Error::InvalidText { .. } => {
                Self::Usage(error.to_string())
            }
            other => Self::Refused(in_words(other).to_string()),
        }
    }
}

/// The names of the nodes of the graph, for errors of libraries, which know numbers.
static NAMES: OnceLock<Vec<String>> = OnceLock::new();

/// From now on errors call the nodes of this graph by their labels.
pub(crate) fn know(graph: &Graph) {
    if let Some(labels) = graph.labels() {
        // A process has one graph.
        let _ = NAMES.set(labels.to_vec());
    }
}

/// An error of a library in which nodes have their names.
#[derive(Debug)]
struct Named(String);

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Named {}

/// The error with the names of the nodes, if it is about one.
fn named(error: &ndp_account::Error) -> Option<String> {
    use ndp_account::Error::{Certify, RepeatedMember, SourceIsObserver};
    use ndp_certify::Error::{LossTooLarge, NoiselessView};
    let name = |&v: &usize| match NAMES.get().and_then(|names| names.get(v)) {
        Some(name) => name.clone(),
        None => format!("node {v}"),
    };
    Some(match error {
        Certify(NoiselessView(u)) => format!(
            "the observer sees a combination of inputs without noise that reveals {}: its loss is infinite, and more noise changes nothing: \
             take another protocol, or fewer who observe together",
            name(u)
        ),
        Certify(LossTooLarge(u)) => {
            format!(
                "what the observer learns about {} is larger than any number: it sees almost no noise",
                name(u)
            )
        }
        RepeatedMember(v) => format!("{} is given twice in the coalition", name(v)),
        SourceIsObserver(v) => {
            format!("{} is both source and observer: its loss to itself is not a privacy loss", name(v))
        }
        _ => return None,
    })
}

/// The error as the command says it: nodes by their names, and what to do about an answer that was to end
/// before it was there.
pub(crate) fn in_words(error: ndp_account::Error) -> ndp_account::Error {
    use ndp_account::Error::{NotOffered, Stopped};
    if let Some(text) = named(&error) {
        return ndp_account::Error::carrying(Named(text));
    }
    use ndp_numeric::stop::Stopped::{Asked, OutOfTime, OutOfWork};
    match error {
        Stopped(OutOfTime) => NotOffered(
            "what observers see was not known in time, and there is no bound that costs nothing: more --patience, \
             fewer observers, rounds or steps",
        ),
        Stopped(OutOfWork) => NotOffered(
            "what observers see takes more work than the default allows, and there is no bound that costs nothing: \
             --patience SECONDS gives it more, or take fewer observers, rounds or steps",
        ),
        Stopped(Asked) => NotOffered("the answer was given up"),
        other => other,
    }
}

impl From<ndp_dp::Error> for Failure {
    fn from(error: ndp_dp::Error) -> Self {
        Self::Refused(error.to_string())
    }
}

impl From<ndp_graph::Error> for Failure {
    fn from(error: ndp_graph::Error) -> Self {
        Self::Refused(error.to_string())
    }
}

impl From<ndp_linalg::Error> for Failure {
    fn from(error: ndp_linalg::Error) -> Self {
        Self::Refused(error.to_string())
    }
}

impl From<OutputError> for Failure {
    fn from(error: OutputError) -> Self {
        match error {
            OutputError::Write { path, source } => Self::File(path, source),
            OutputError::IsFolder(path) => Self::File(path, std::io::ErrorKind::IsADirectory.into()),
            OutputError::IsInput { .. } | OutputError::SamePlace { .. } => Self::Usage(error.to_string()),
            other => Self::Refused(other.to_string()),
        }
    }
}
