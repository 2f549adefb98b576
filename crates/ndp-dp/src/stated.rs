//! What is said beside the number of a mechanism alone, which knows no observer but the one of its output.

use crate::neighbors::Neighbors;
use serde::Serialize;

/// What a guarantee of a mechanism alone is about: data sets that are compared, what may move and how far,
/// and by which theorem the numbers hold. Plain data, equal where they say the same.
///
/// # Examples
/// ```
/// use ndp_dp::{Laplace, Mechanism, Moves, Sensitivity};
/// let stated = Laplace::new(Sensitivity::new(2.0)?, 3.0)?.stated().ok_or("a mechanism")?;
/// assert_eq!((stated.neighbors, stated.moves), (None, Moves::Number { by: 2.0 }));
/// // A bound on a loss, by whatever mechanism, is about nothing that it could name.
/// assert_eq!(ndp_dp::Gdp::new(1.0)?.stated(), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Stated {
    /// The version of the form in files.
    pub version: u32,
    /// Which data sets are neighbors; `None` for those under which the sensitivity was taken, whatever they
    /// are.
    pub neighbors: Option<Neighbors>,
    /// What differs between neighbors.
    pub moves: Moves,
    /// The type whose numbers these are.
    pub function: &'static str,
    /// A section of `docs/theory.md`.
    pub theorem: &'static str,
}

/// What a mechanism hides, and how far it moves between neighbors.
///
/// # Examples
/// ```
/// use ndp_dp::{DiscreteLaplace, Mechanism, Moves};
/// let count = DiscreteLaplace::new(3, 2.0)?;
/// assert_eq!(count.stated().map(|stated| stated.moves), Some(Moves::Whole { by: 3 }));
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "what")]
pub enum Moves {
    /// A vector, by at most so much in the Euclidean norm.
    Vector {
        /// The sensitivity.
        by: f64,
    },
    /// A vector, by at most the sensitivity in the Euclidean norm, of which the noise is a multiple.
    VectorInUnits,
    /// A number, by at most so much.
    Number {
        /// The sensitivity.
        by: f64,
    },
    /// A whole number, by at most so much.
    Whole {
        /// The sensitivity.
        by: u32,
    },
    /// A label, to any other one.
    Label {
        /// How many labels there are.
        of: u32,
    },
}

impl Stated {
    /// Of this function, by the section of `docs/theory.md` on accounting.
    pub(crate) const fn of(neighbors: Option<Neighbors>, moves: Moves, function: &'static str) -> Self {
        Self { version: 1, neighbors, moves, function, theorem: "Accounting" }
    }
}
