//! The errors of this crate: the condition that failed, and the value that failed it.

/// Why a protocol or its accountant refused its input.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The graph or a matrix was refused.
    #[error(transparent)]
    Graph(#[from] ndp_graph::Error),
    /// A privacy parameter or an accountant's input was refused.
    #[error(transparent)]
    Privacy(#[from] ndp_dp::Error),
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
        label: usize,
        /// The number of labels.
        labels: usize,
    },
    /// The protocol or its setting admits no privacy guarantee.
    #[error("no guarantee: {0}")]
    NoGuarantee(&'static str),
}
