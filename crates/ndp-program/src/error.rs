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
    /// A line that is not a JSON object of the format.
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
    /// A text that is no exact number.
    #[error("{0:?} is neither an integer nor a ratio of integers")]
    NotANumber(String),
    /// A share that everybody keeps below 0, or not below 1.
    #[error("the share that everybody keeps must be at least 0 and below 1, got {0}")]
    Laziness(String),
    /// A variance below 0.
    #[error("a variance must be at least 0, got {0}")]
    NegativeVariance(String),
    /// A covariance that is none.
    #[error("a covariance must be symmetric and positive semidefinite: {0}")]
    Covariance(String),
    /// A triangular matrix that has no inverse.
    #[error("entry ({0}, {0}) of a triangular matrix is 0: it has no inverse")]
    ZeroDiagonal(usize),
    /// A group of one node, or of none: the mask would be 0, the sum would be the message.
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
    /// Something that involves a node that has left, or has not joined yet.
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
    /// A value that nodes send, mix or end with, and cannot form from what they hold.
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
    /// A contribution that is said to read only what the observer sees, and reads more.
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
    /// A contribution that reads values that the observer does not see, and does not name them.
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
    /// An exact answer was demanded where contributions read hidden values.
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
    /// A question about a node that has no loss: it belongs to the coalition.
    #[error("node {0} belongs to the coalition: its loss to itself is not a privacy loss")]
    Member(usize),
    /// A design of noise that cannot be, or is not found.
    #[error("the design is refused: {0}")]
    Design(String),
    /// A node that was not asked for when the account was made.
    #[error("node {0} was not asked for when the account was made")]
    NotAsked(usize),
    /// Whether a direction is noiseless was not decided, as it was not asked for.
    #[error(
        "some combination of messages reveals part of the uses of node {0} without noise: ask for this \
         direction when the account is made"
    )]
    Undecided(usize),
    /// A witness that proves nothing.
    #[error("the witness is refused: {0}")]
    Witness(String),
    /// Witnesses of an account that shows the observer values which it does not have: they would be those of
    /// another view.
    #[error(
        "the account shows the observer values that it does not have: there is no attack with what it has"
    )]
    WitnessOfRevealed,
    /// Witnesses whose exact numbers would be too long.
    #[error("no witnesses: {rank} messages share their noises, and exact solutions have up to {bits} bits")]
    WitnessTooLong {
        /// Independent messages, at most.
        rank: usize,
        /// Bits of a number; 0 where the messages are too many for elimination.
        bits: u64,
    },
    /// A sensitivity set that cannot be followed message by message.
    #[error(
        "a meter follows one use, all uses in the same direction, or all uses by any numbers or vectors, not \
         {0}: ask the account of the program"
    )]
    MeterSet(String),
    /// Something that is fixed before the first step.
    #[error("the meter has been fed: limits and what it keeps are fixed before the first step")]
    MeterStarted,
    /// A value that no later step was to read.
    #[error("value {0} was forgotten, or was never there: later steps cannot read it")]
    Forgotten(usize),
    /// A new epoch that would show a node's data.
    #[error(
        "a new epoch shows all values that later steps may read, and they show the data of node {0} without noise: \
         forget them first"
    )]
    EpochReveals(usize),
    /// A step that a meter without record cannot take.
    #[error("the meter keeps no record: only whole rounds can be fed")]
    Unrecorded,
    /// An observer that is not watched.
    #[error("observer {observer} is not known: {observers} are watched")]
    UnknownObserver {
        /// The observer.
        observer: usize,
        /// How many are watched.
        observers: usize,
    },
    /// A limit below 0.
    #[error("a limit must be at least 0, got {0}")]
    NegativeLimit(f64),
    /// A point of view with observers that it cannot speak of.
    #[error(
        "node {0} alone knows its own messages: it can watch what all other nodes together learn, and nothing else"
    )]
    OtherView(usize),
    /// Two logs that do not fit together.
    #[error("the logs cannot be merged: {0}")]
    Merge(String),
    /// A log that cannot be read, gone on with or written.
    #[error("the log: {0}")]
    Log(String),
    /// A question about what is left where nothing is limited.
    #[error("no limit was fixed: nothing runs out")]
    NoLimits,
    /// A step after which a loss would be above its limit.
    #[error("refused: {0}")]
    OverBudget(Box<Refusal>),
    /// What is not linear Gaussian.
    #[error("{0} is not linear Gaussian: state a public realisation, or the worst pattern")]
    NotLinear(String),
}

/// Why a step is refused: what would exceed its limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// Who would learn too much.
    pub observer: ndp_account::Observer,
    /// About whom.
    pub node: usize,
    /// The limit on the loss.
    pub limit: f64,
    /// The loss after the step, at most; infinite where something would be seen without noise.
    pub loss: f64,
}

impl Refusal {
    /// The refusal behind an error; none where the step failed for another reason.
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
