//! The errors of this crate: the condition that failed, and the value that failed it.

/// The errors that only walks and trainings have. All calls of this crate return an [`ndp_account::Error`],
/// which has the conditions that protocols share and [carries](ndp_account::Error::carried) these.
///
/// # Examples
/// ```
/// use ndp_algos::Error;
/// let refused = ndp_account::Error::from(Error::OneClass(1.0));
/// assert_eq!(refused.carried::<Error>(), Some(&Error::OneClass(1.0)));
/// assert_eq!(refused.to_string(), "every label is 1: two classes are needed");
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
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
    #[error(
        "the step size must be at most 2/beta = {limit:?}, got {step}: longer steps are not non-expansive"
    )]
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

impl From<Error> for ndp_account::Error {
    fn from(error: Error) -> Self {
        Self::carrying(error)
    }
}
