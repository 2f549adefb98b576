//! The statement that belongs to the numbers of a single mechanism, whose observer is the one who sees its
//! output.

use crate::neighbors::Neighbors;
use serde::Serialize;

/// The statement behind a guarantee of a single mechanism: which data sets are compared, what may change
/// between them and by how much, and by which theorem the numbers hold. Statements are plain data, and equal
/// if they say the same.
///
/// # Examples
/// ```
/// use ndp_dp::{Laplace, Mechanism, Moves, Sensitivity};
/// let stated = Laplace::new(Sensitivity::new(2.0)?, 3.0)?.stated().ok_or("a mechanism")?;
/// assert_eq!((stated.neighbors, stated.moves), (None, Moves::Number { by: 2.0 }));
/// // A bound on a loss does not know the mechanism that it bounds, so it has no statement.
/// assert_eq!(ndp_dp::Gdp::new(1.0)?.stated(), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Stated {
    /// The version of the format in files.
    pub version: u32,
    /// Which data sets are neighbors; `None` if they are those for which the caller computed the sensitivity.
    pub neighbors: Option<Neighbors>,
    /// What differs between neighbors.
    pub moves: Moves,
    /// The type that computes the numbers.
    pub function: &'static str,
    /// A section of `docs/theory.md`.
    pub theorem: &'static str,
}

/// What a mechanism hides, and by how much it may differ between neighbors.
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
    /// A vector that changes by at most `by` in the Euclidean norm.
    Vector {
        /// The sensitivity.
        by: f64,
    },
    /// A vector that changes by at most the sensitivity in the Euclidean norm; the noise is given in units of
    /// it.
    VectorInUnits,
    /// A number that changes by at most `by`.
    Number {
        /// The sensitivity.
        by: f64,
    },
    /// A whole number that changes by at most `by`.
    Whole {
        /// The sensitivity.
        by: u32,
    },
    /// A label that changes to any other one.
    Label {
        /// How many labels there are.
        of: u32,
    },
}

impl Stated {
    /// The statement of a type whose theorem is in the section of `docs/theory.md` on accounting.
    pub(crate) const fn of(neighbors: Option<Neighbors>, moves: Moves, function: &'static str) -> Self {
        Self { version: 1, neighbors, moves, function, theorem: "Accounting" }
    }
}
