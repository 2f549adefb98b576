//! The errors of this crate: the condition that failed, and the value that failed it.

mod program;

pub use program::ProgramError;

/// Why a protocol or its accountant refused its input.
///
/// # Examples
/// ```
/// use ndp_algos::{Error, LinearProtocol, gossip::SynchronousGossip};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let gossip = SynchronousGossip::new(GossipMatrix::metropolis(&path_graph(2)?), 1);
/// assert!(matches!(gossip.coalition_loss(&[7]), Err(Error::NodeOutOfRange { node: 7, nodes: 2 })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The graph or a matrix was refused.
    #[error(transparent)]
    Graph(#[from] ndp_graph::Error),
    /// The losses of a view were not certified.
    #[error(transparent)]
    Certify(#[from] ndp_certify::Error),
    /// A privacy parameter or an accountant's input was refused.
    #[error(transparent)]
    Privacy(#[from] ndp_dp::Error),
    /// The caller's [`Progress`](ndp_graph::progress::Progress) stopped the call.
    #[error("cancelled")]
    Cancelled,
    /// A program was refused.
    #[error(transparent)]
    Program(#[from] ProgramError),
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
    /// A limit on what nobody was asked about.
    #[error(
        "there is a limit on what node {observer} learns about node {exposed}, and no observer who is looked at answers for that"
    )]
    NobodyLooked {
        /// The exposed node.
        exposed: usize,
        /// The observer of the limit.
        observer: usize,
    },
    /// The same name for two nodes.
    #[error("two nodes are named {0:?}")]
    RepeatedName(String),
    /// A run over other nodes than those that its cost is added to.
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
    /// A run that is written down for other observers than the first one was: answers would leave out runs.
    #[error(
        "every run is written down for the observers of the first one: {}{observer}",
        if *recorded { "there is no account for " } else { "they do not include " }
    )]
    OtherObservers {
        /// The observer that is missing, or not among them.
        observer: String,
        /// Whether it is one of the first run's.
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
    /// A contribution outside the interval its sensitivity was taken from.
    #[error("node {node} contributes {value}, outside [{low}, {high}]")]
    ContributionOutOfBounds {
        /// The contributing node.
        node: usize,
        /// Its contribution.
        value: f64,
        /// Lower end of the interval.
        low: f64,
        /// Upper end of the interval.
        high: f64,
    },
    /// A label outside the domain of a histogram.
    #[error("node {node} reports label {label}, but there are {labels} labels")]
    LabelOutOfRange {
        /// The reporting node.
        node: usize,
        /// Its label.
        label: u32,
        /// The number of labels.
        labels: u32,
    },
    /// Something that this protocol does not answer, and why.
    #[error("not offered: {0}")]
    NotOffered(&'static str),
    /// A name that nothing has.
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
    /// A walk whose uniform law is not stationary: it prefers some users.
    #[error(
        "no guarantee: column {node} of the transition matrix sums to {sum}, not 1, so that the uniform law is \
         not stationary, which every bound for walks on a graph needs"
    )]
    NonUniform {
        /// The column.
        node: usize,
        /// Its sum.
        sum: f64,
    },
    /// Gradients that grow without limit where a bound is needed.
    #[error(
        "gradients are unbounded over the domain: bound the domain, or clip the gradient of every example"
    )]
    Unbounded,
    /// A step so long that it may move two models apart.
    #[error("the step size must be at most 2/beta = {limit}, got {step}: longer steps are not non-expansive")]
    StepTooLong {
        /// The step size.
        step: f64,
        /// `2/β`.
        limit: f64,
    },
    /// A cell that is NaN or infinite.
    #[error("the cell at row {row}, column {column} (from 0) is not a finite number")]
    NotANumber {
        /// The row, from 0.
        row: usize,
        /// The column, from 0; the label is the column after the last feature.
        column: usize,
    },
    /// A column without spread, which cannot be standardised.
    #[error("column {0} (from 0) has the same value in every row and cannot be standardised")]
    ConstantColumn(usize),
    /// A label that is neither -1 nor +1.
    #[error("labels must be -1 or +1, row {row} has {label}")]
    InvalidLabel {
        /// The row, from 0.
        row: usize,
        /// Its label.
        label: f64,
    },
    /// Only one class of labels.
    #[error("every label is {0}: two classes are needed")]
    OneClass(f64),
    /// Fewer examples than users.
    #[error("{rows} rows cannot be dealt to {users} users: every user needs at least one")]
    TooFewRows {
        /// Number of examples.
        rows: usize,
        /// Number of users.
        users: usize,
    },
    /// A table of numbers that cannot be read.
    #[error("line {line}: {problem}")]
    Csv {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
}

/// For accountants of this crate inside a [`Profile`](ndp_dp::Profile).
impl From<Error> for ndp_dp::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Privacy(error) => error,
            other => Self::Accountant(other.to_string()),
        }
    }
}

/// Dense linear algebra is about matrices: its errors are those of the graph crate.
impl From<ndp_linalg::Error> for Error {
    fn from(error: ndp_linalg::Error) -> Self {
        Self::Graph(error.into())
    }
}

impl From<ndp_graph::progress::Cancelled> for Error {
    fn from(_: ndp_graph::progress::Cancelled) -> Self {
        Self::Cancelled
    }
}

/// Refuses a parameter that does not meet its condition, which must be written so that NaN fails it.
pub(crate) fn ensure(
    met: bool,
    name: &'static str,
    condition: &'static str,
    value: f64,
) -> Result<(), Error> {
    if met { Ok(()) } else { Err(Error::InvalidParameter { name, condition, value }) }
}
