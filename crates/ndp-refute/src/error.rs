//! What can be wrong with a claim or a search.

use thiserror::Error as ThisError;

/// Why a claim cannot be read or evaluated, or a search cannot start.
#[derive(Clone, Debug, PartialEq, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// The text of a claim does not follow the grammar.
    #[error("at character {position} of the claim: expected {expected}, got {found}")]
    Syntax {
        /// Where, counted in characters from 1.
        position: usize,
        /// What the grammar allows there.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// A name is neither documented nor the variable of a sum around it.
    #[error("at character {position} of the claim: the name {name} is not known")]
    UnknownName {
        /// Where, counted in characters from 1.
        position: usize,
        /// The name.
        name: String,
    },
    /// A claim about the mean over all nodes has other values for other exposed nodes.
    #[error("a claim about the mean over all nodes must not depend on the exposed node u")]
    DependsOnSource,
    /// Parentheses, sums and signs are nested too deeply.
    #[error("at character {position} of the claim: nested more than {limit} deep")]
    TooDeep {
        /// Where, counted in characters from 1.
        position: usize,
        /// The largest depth.
        limit: usize,
    },
    /// The text is too long.
    #[error("a claim must have at most {limit} characters, got {length}")]
    TooLong {
        /// The largest length.
        limit: usize,
        /// The length of the text.
        length: usize,
    },
    /// A round, a node or the end of a sum is not a known integer in its range.
    #[error("{what} must be an integer from {least} to {most}, got {value}")]
    Index {
        /// Which number.
        what: &'static str,
        /// The smallest allowed.
        least: usize,
        /// The largest allowed.
        most: usize,
        /// Its value.
        value: f64,
    },
    /// A name that the protocol of the search has no value for.
    #[error("{name} has no value for this protocol")]
    NotOfTheProtocol {
        /// The name.
        name: &'static str,
    },
    /// The value of one claim at one setting takes too much work.
    #[error("one value of the claim takes more than {limit} operations")]
    Work {
        /// The largest number of operations.
        limit: u64,
    },
    /// A parameter of the search is out of its range.
    #[error("{what} must {condition}, got {value}")]
    Parameter {
        /// Which parameter.
        what: &'static str,
        /// What is asked of it.
        condition: &'static str,
        /// Its value.
        value: f64,
    },
    /// The attack on a counterexample cannot be run.
    #[error(transparent)]
    Attack(#[from] ndp_account::Error),
    /// A graph or its weights are refused.
    #[error(transparent)]
    Graph(#[from] ndp_graph::Error),
}
