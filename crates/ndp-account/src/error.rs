//! The errors of this crate: the condition that failed, and the value that failed it.

use ndp_numeric::stop::Stopped;
use std::fmt;
use std::sync::Arc;

/// Why a protocol or its accountant refused its input.
///
/// # Examples
/// ```
/// use ndp_account::example::Gossip;
/// use ndp_account::{Error, LinearProtocol};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let gossip = Gossip::new(GossipMatrix::metropolis(&path_graph(2)?), 1);
/// assert!(matches!(gossip.coalition_loss(&[7]), Err(Error::NodeOutOfRange { node: 7, nodes: 2 })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The computation was to end before its answer, see [`Stop`](ndp_numeric::stop::Stop).
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// The graph or a matrix was refused.
    #[error(transparent)]
    Graph(ndp_graph::Error),
    /// The losses of a view were not certified.
    #[error(transparent)]
    Certify(ndp_certify::Error),
    /// A privacy parameter or an accountant's input was refused.
    #[error(transparent)]
    Privacy(ndp_dp::Error),
    /// The caller's [`Progress`](ndp_graph::progress::Progress) stopped the call.
    #[error("cancelled")]
    Cancelled,
    /// A node that is not in the protocol.
    #[error("node {node} is out of range: the protocol has {nodes} nodes")]
    NodeOutOfRange {
        /// The node.
        node: usize,
        /// The number of nodes.
        nodes: usize,
    },
    /// The exposed node is the observer, or a member of the coalition.
    #[error("node {0} is both source and observer: its loss to itself is not a privacy loss")]
    SourceIsObserver(usize),
    /// A coalition without members.
    #[error("a coalition needs at least one member")]
    EmptyCoalition,
    /// The same node twice in a coalition.
    #[error("node {0} is given twice in the coalition")]
    RepeatedMember(usize),
    /// A limit on what an observer learns who is not looked at.
    #[error(
        "there is a limit on what node {observer} learns about node {exposed}, and no observer who is looked at answers for that"
    )]
    NobodyLooked {
        /// The exposed node.
        exposed: usize,
        /// The observer of the limit.
        observer: usize,
    },
    /// The limits are kept towards those who are looked at, even at the noise multiplier `1e-150`. It says
    /// nothing of others.
    #[error(
        "no noise is needed: the limits are kept towards the observers who are looked at, even at the noise multiplier 1e-150"
    )]
    NoNoiseNeeded,
    /// A loss is infinite, or has no bound, even at noise multipliers near `1e150`.
    #[error(
        "no noise is enough: even at the largest noise that was tried a loss is infinite, as something is seen that the noise does not cover, \
         or no bound on it is known"
    )]
    NoNoiseIsEnough,
    /// The same name for two nodes.
    #[error("two nodes are named {0:?}")]
    RepeatedName(String),
    /// A run over other nodes than those of the ledger.
    #[error(
        "the run and the ledger are about different nodes, {got} and {expected}{}{}",
        missing.as_ref().map_or_else(String::new, |name| format!(": the run has no node {name:?}")),
        unknown.as_ref().map_or_else(String::new, |name| {
            format!("{} the ledger has no node {name:?}", if missing.is_some() { ", and" } else { ":" })
        })
    )]
    OtherNodes {
        /// Nodes of the ledger.
        expected: usize,
        /// Nodes of the run.
        got: usize,
        /// A node of the ledger that the run does not have.
        missing: Option<String>,
        /// A node of the run that the ledger does not have.
        unknown: Option<String>,
    },
    /// A run for other observers than those of the first run. If it were recorded, the answers about some
    /// observers would leave out a run.
    #[error(
        "every run is written down for the observers of the first one: {}{observer}",
        if *recorded { "there is no account for " } else { "they do not include " }
    )]
    OtherObservers {
        /// The observer that is missing, or not among them.
        observer: String,
        /// Whether it is one of the first run's observers.
        recorded: bool,
    },
    /// Sizes that do not fit each other.
    #[error("{what}: expected {expected}, got {got}")]
    Shape {
        /// What has the wrong size.
        what: &'static str,
        /// The size it should have.
        expected: usize,
        /// The size it has.
        got: usize,
    },
    /// A named parameter is outside its domain.
    #[error("{name} must {condition}, got {value}")]
    InvalidParameter {
        /// The parameter's name.
        name: &'static str,
        /// What it must satisfy, as the end of a sentence: `be at least 1`.
        condition: &'static str,
        /// The value given.
        value: f64,
    },
    /// The protocol has no answer to this question, and why.
    #[error("not offered: {0}")]
    NotOffered(&'static str),
    /// A name that does not exist.
    #[error("there is no {what} {name:?}: there are {known}")]
    NoSuchName {
        /// What was looked for: `protocol`.
        what: &'static str,
        /// The name given.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// Text that cannot be understood.
    #[error("{what} must be {expected}, got {got:?}")]
    InvalidText {
        /// What the text stands for.
        what: &'static str,
        /// The form that it should have.
        expected: &'static str,
        /// The text.
        got: String,
    },
    /// The protocol or its setting admits no privacy guarantee.
    #[error("no guarantee: {0}")]
    NoGuarantee(&'static str),
    /// An error of a protocol that is defined outside this crate, see [`Error::carried`].
    #[error(transparent)]
    Other(Carried),
}

impl Error {
    /// Wraps an error of a protocol that is defined outside this crate.
    pub fn carrying(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Other(Carried(Arc::new(error)))
    }

    /// The wrapped error, if it has this type.
    ///
    /// # Examples
    /// ```
    /// use ndp_account::Error;
    /// let error = Error::carrying("x".parse::<f64>().unwrap_err());
    /// assert_eq!(error.to_string(), "invalid float literal");
    /// assert!(error.carried::<std::num::ParseFloatError>().is_some());
    /// assert!(error.carried::<std::num::ParseIntError>().is_none() && Error::Cancelled.carried::<Error>().is_none());
    /// ```
    #[must_use]
    pub fn carried<E: std::error::Error + 'static>(&self) -> Option<&E> {
        match self {
            Self::Other(Carried(error)) => error.downcast_ref(),
            _ => None,
        }
    }
}

/// An error of a protocol that is defined outside this crate. Two are equal if their messages are.
#[derive(Clone, Debug)]
pub struct Carried(Arc<dyn std::error::Error + Send + Sync>);

impl PartialEq for Carried {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_string() == other.0.to_string()
    }
}

impl fmt::Display for Carried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Carried {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

/// Accounts of this crate inside a [`Profile`](ndp_dp::Profile) return errors of `ndp_dp`.
impl From<Error> for ndp_dp::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Privacy(error) => error,
            Error::Stopped(stopped) => Self::Stopped(stopped),
            other => Self::Accountant(other.to_string()),
        }
    }
}

/// Errors of dense linear algebra are about matrices, so they become those of the graph crate.
impl From<ndp_linalg::Error> for Error {
    fn from(error: ndp_linalg::Error) -> Self {
        Self::Graph(error.into())
    }
}

/// Whichever crate stopped, the error is [`Error::Stopped`].
macro_rules! unless_stopped {
    ($($of:ident :: Error => $variant:ident),*) => {$(
        impl From<$of::Error> for Error {
            fn from(error: $of::Error) -> Self {
                match error {
                    $of::Error::Stopped(stopped) => Self::Stopped(stopped),
                    error => Self::$variant(error),
                }
            }
        }
    )*};
}

unless_stopped!(ndp_graph::Error => Graph, ndp_certify::Error => Certify, ndp_dp::Error => Privacy);

/// Fails unless a condition on a parameter is met. Write the condition so that NaN fails it.
///
/// # Errors
/// [`Error::InvalidParameter`] unless `met`.
pub fn ensure(met: bool, name: &'static str, condition: &'static str, value: f64) -> Result<(), Error> {
    if met { Ok(()) } else { Err(Error::InvalidParameter { name, condition, value }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("line {0}")]
    struct Line(u32, #[source] std::num::ParseFloatError);

    /// A wrapped error keeps its message, type and source, and equals another error with the same message.
    #[test]
    fn carried_errors_are_kept() {
        let line = |number| Error::carrying(Line(number, "x".parse::<f64>().unwrap_err()));
        let error = line(3);
        assert_eq!(error.to_string(), "line 3");
        assert_eq!(error.carried::<Line>().map(|line| line.0), Some(3));
        assert_eq!((error == line(3), error == line(4)), (true, false));
        let source = std::error::Error::source(&error).map(ToString::to_string);
        assert_eq!(source.as_deref(), Some("invalid float literal"));
    }
}
