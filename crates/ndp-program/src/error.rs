//! The errors of this crate: why a program was refused.

/// Why a program, its text or a question about it was refused.
///
/// # Examples
/// ```
/// use ndp_program::{Program, ProgramError, Reads};
/// let mut program = Program::new(2)?;
/// let refused = program.contribute(2, Reads::Nothing);
/// assert_eq!(refused, Err(ProgramError::NodeOutOfRange { node: 2, nodes: 2 }));
/// # Ok::<(), ProgramError>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// A problem on a line of the text format.
    #[error("line {line}: {problem}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: Box<ndp_account::Error>,
    },
    /// A line that is not a JSON object of this format.
    #[error("{0}")]
    Syntax(String),
    /// A version of the format that is not known.
    #[error("version {got} of the format is not known: this is version {known}")]
    Version {
        /// The version asked for.
        got: u64,
        /// The version that is read here.
        known: u64,
    },
    /// A program without nodes.
    #[error("a program needs at least one node")]
    NoNodes,
    /// More nodes than fit in memory.
    #[error("a program may have at most {limit} nodes, got {nodes}")]
    TooManyNodes {
        /// The nodes asked for.
        nodes: usize,
        /// The most that are allowed.
        limit: usize,
    },
    /// More values than an index of 32 bits can name.
    #[error("a program may have at most 2^32 - 1 values")]
    TooManyValues,
    /// A value of another program.
    #[error("value {value} is not known: the program has {values}")]
    UnknownValue {
        /// The value's number.
        value: usize,
        /// The number of values.
        values: usize,
    },
    /// A name that was not defined before.
    #[error("the name {0} is not known")]
    UnknownName(String),
    /// A name that was already taken.
    #[error("the name {0} is given twice")]
    RepeatedName(String),
    /// A node outside the program.
    #[error("node {node} is out of range: the program has {nodes} nodes")]
    NodeOutOfRange {
        /// The node.
        node: usize,
        /// The number of nodes.
        nodes: usize,
    },
    /// A node that occurs twice where it may occur once.
    #[error("node {node} is given twice in {what}")]
    Repeated {
        /// The node.
        node: usize,
        /// Where.
        what: &'static str,
    },
    /// The same use of a node's data twice.
    #[error("use {index} of node {node} is given twice or out of order")]
    RepeatedUse {
        /// The node.
        node: usize,
        /// The use.
        index: usize,
    },
    /// A number that is infinite, NaN or a ratio over 0.
    #[error("{what} must be finite, got {value}")]
    NotFinite {
        /// What it is.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A number that is not above 0.
    #[error("{what} must be positive, got {value}")]
    NotPositive {
        /// What it is.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A text that is not an exact number.
    #[error("{0:?} is neither an integer nor a ratio of integers")]
    NotANumber(String),
    /// A share that every node keeps which is below 0, or not below 1.
    #[error("the share that everybody keeps must be at least 0 and below 1, got {0}")]
    Laziness(String),
    /// A variance below 0.
    #[error("a variance must be at least 0, got {0}")]
    NegativeVariance(String),
    /// A matrix that is not a covariance.
    #[error("a covariance must be symmetric and positive semidefinite: {0}")]
    Covariance(String),
    /// A triangular matrix that has no inverse.
    #[error("entry ({0}, {0}) of a triangular matrix is 0: it has no inverse")]
    ZeroDiagonal(usize),
    /// A group of fewer than two nodes: the mask would be 0, and the sum would be the message.
    #[error("{what} needs at least two nodes, got {got}")]
    SmallGroup {
        /// What kind of group.
        what: &'static str,
        /// Its size.
        got: usize,
    },
    /// A message from a node to itself, or a mask shared by a node with itself.
    #[error("{what} needs two different nodes, got {node} twice")]
    SameEnds {
        /// What it is.
        what: &'static str,
        /// The node.
        node: usize,
    },
    /// A step that involves a node that has left, or has not joined yet.
    #[error("node {node} is absent: it cannot {what}")]
    Absent {
        /// The node.
        node: usize,
        /// What it cannot do.
        what: &'static str,
    },
    /// A node that joins after it has taken part.
    #[error("node {0} joins after it has taken part")]
    LateJoin(usize),
    /// Sizes that do not match.
    #[error("{what}: expected {expected}, got {got}")]
    Shape {
        /// What has the wrong size.
        what: &'static str,
        /// The size it should have.
        expected: usize,
        /// The size it has.
        got: usize,
    },
    /// A value that a node sends, mixes or ends with, but cannot form from what it holds.
    #[error(
        "{what} cannot be formed from what {} holds: its own data and noises, what it was sent before, and what is public; \
         send what is missing first, or say with \"hold\" that it is there",
        holders(.nodes)
    )]
    NotHeld {
        /// The node, or the nodes of a secure sum together.
        nodes: Vec<usize>,
        /// What it is.
        what: &'static str,
    },
    /// A contribution that is declared to read only what the observer sees, but reads more.
    #[error(
        "use {index} of node {node} is declared to read what the observer has seen, but what it reads is no \
         combination of that: declare it as hidden"
    )]
    NotSeen {
        /// The node.
        node: usize,
        /// The use.
        index: usize,
    },
    /// A contribution that reads values that the observer does not see, without naming them.
    #[error(
        "use {index} of node {node} reads values that the observer does not see: without their names there is \
         no bound"
    )]
    Hidden {
        /// The node.
        node: usize,
        /// The use.
        index: usize,
    },
    /// An exact answer was demanded, but contributions read hidden values.
    #[error(
        "use {index} of node {node} reads values that the observer does not see: there is no exact answer"
    )]
    HiddenNotExact {
        /// The node.
        node: usize,
        /// The use.
        index: usize,
    },
    /// A sensitivity set that does not fit the node's uses.
    #[error("the sensitivity set does not fit node {node} with {uses} uses: {problem}")]
    SensitivitySet {
        /// The node.
        node: usize,
        /// Its number of uses.
        uses: usize,
        /// What is wrong.
        problem: String,
    },
    /// A question about a member of the coalition, which has no loss.
    #[error("node {0} belongs to the coalition: its loss to itself is not a privacy loss")]
    Member(usize),
    /// A design of noise that is not possible, or was not found.
    #[error("the design is refused: {0}")]
    Design(String),
    /// A node that was not asked for when the account was made.
    #[error("node {0} was not asked for when the account was made")]
    NotAsked(usize),
    /// It was not decided whether a direction is noiseless, as it was not asked for.
    #[error(
        "some combination of messages reveals part of the uses of node {0} without noise: ask for this \
         direction when the account is made"
    )]
    Undecided(usize),
    /// A witness that proves nothing.
    #[error("the witness is refused: {0}")]
    Witness(String),
    /// Witnesses were asked for, but the account shows the observer values that it does not have: they would
    /// be witnesses of another view.
    #[error(
        "the account shows the observer values that it does not have: there is no attack with what it has"
    )]
    WitnessOfRevealed,
    /// Witnesses whose exact numbers would be too long.
    #[error("no witnesses: {rank} messages share their noises, and exact solutions have up to {bits} bits")]
    WitnessTooLong {
        /// An upper bound on the number of independent messages.
        rank: usize,
        /// The bits of a number; 0 if there are too many messages for elimination.
        bits: u64,
    },
    /// A sensitivity set that cannot be followed message by message.
    #[error(
        "a meter follows one use, all uses in the same direction, or all uses by any numbers or vectors, not \
         {0}: ask the account of the program"
    )]
    MeterSet(String),
    /// An attempt to change something that is fixed before the first step.
    #[error("the meter has been fed: limits and what it keeps are fixed before the first step")]
    MeterStarted,
    /// A value that was declared not to be read by later steps.
    #[error("value {0} was forgotten, or was never there: later steps cannot read it")]
    Forgotten(usize),
    /// A new epoch that would reveal a node's data.
    #[error(
        "a new epoch shows all values that later steps may read, and they show the data of node {0} without noise: \
         forget them first"
    )]
    EpochReveals(usize),
    /// A step that a meter without record cannot follow.
    #[error("the meter keeps no record: only whole rounds can be fed")]
    Unrecorded,
    /// An observer that the meter does not have.
    #[error("observer {observer} is not known: {observers} are watched")]
    UnknownObserver {
        /// The observer.
        observer: usize,
        /// The number of observers of the meter.
        observers: usize,
    },
    /// A limit below 0.
    #[error("a limit must be at least 0, got {0}")]
    NegativeLimit(f64),
    /// A point of view with observers for which it cannot give numbers.
    #[error(
        "node {0} alone knows its own messages: it can watch what all other nodes together learn, and nothing else"
    )]
    OtherView(usize),
    /// Two logs that do not fit together.
    #[error("the logs cannot be merged: {0}")]
    Merge(String),
    /// A log that cannot be read, continued or written.
    #[error("the log: {0}")]
    Log(String),
    /// A question about how much is left, although there is no limit.
    #[error("no limit was fixed: nothing runs out")]
    NoLimits,
    /// A step after which a loss would be above its limit.
    #[error("refused: {0}")]
    OverBudget(Box<Refusal>),
    /// Something that is not linear Gaussian.
    #[error("{0} is not linear Gaussian: state a public realisation, or the worst pattern")]
    NotLinear(String),
}

/// Why a step is refused: which loss would exceed its limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The observer who would learn too much.
    pub observer: ndp_account::Observer,
    /// The node about which it would learn too much.
    pub node: usize,
    /// The limit on the loss.
    pub limit: f64,
    /// An upper bound on the loss after the step; infinite if something would be seen without noise.
    pub loss: f64,
}

impl Refusal {
    /// The refusal behind an error; `None` if the step failed for another reason.
    #[must_use]
    pub fn of(error: &ndp_account::Error) -> Option<&Self> {
        match error.carried::<ProgramError>()? {
            ProgramError::OverBudget(refusal) => Some(refusal),
            _ => None,
        }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { observer, node, limit, loss } = self;
        write!(f, "the loss of node {node} towards {observer} would be up to {loss}, its limit is {limit}")
    }
}

fn holders(nodes: &[usize]) -> String {
    match nodes {
        [node] => format!("node {node}"),
        _ => format!("the group {nodes:?}"),
    }
}

impl From<ProgramError> for ndp_account::Error {
    fn from(error: ProgramError) -> Self {
        Self::carrying(error)
    }
}
