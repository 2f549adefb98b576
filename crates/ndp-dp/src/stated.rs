//! What is said beside the number of a mechanism alone, which knows no observer but the one of its output.

use crate::Neighbors;
use serde::Serialize;

/// What a guarantee of a mechanism alone is about: data sets that are compared, what may move and how far, and
/// by which theorem the numbers hold. Plain data, equal where they say the same.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baselines::SampledGaussian;
    use crate::subsampling::PoissonGaussian;
    use crate::{Error, Gaussian, Mechanism, RandomizedResponse, RdpAccountant, Sensitivity, Sigma, Zcdp};

    /// Sampling fixes what neighbors are; without it the sensitivity says so.
    #[test]
    fn mechanisms_say_what_they_are_about() -> Result<(), Error> {
        let gaussian = Gaussian { sensitivity: Sensitivity::new(2.0)?, sigma: Sigma::new(3.0)? };
        let of =
            |mechanism: &dyn Mechanism| mechanism.stated().map(|stated| (stated.neighbors, stated.moves));
        assert_eq!(of(&gaussian), Some((None, Moves::Vector { by: 2.0 })));
        let added = Some((Some(Neighbors::AddOrRemove), Moves::VectorInUnits));
        assert_eq!(of(&PoissonGaussian::new(gaussian, 0.1)?), added);
        let replaced = Some((Some(Neighbors::ReplaceOne), Moves::VectorInUnits));
        assert_eq!(of(&SampledGaussian::new(0.1, 1.0)?), replaced);
        let response = RandomizedResponse::with_epsilon(4, 1.0)?;
        assert_eq!(of(&response), Some((Some(Neighbors::ReplaceOne), Moves::Label { of: 4 })));
        assert!(of(&RdpAccountant::default()).is_none() && of(&Zcdp::new(0.1)?).is_none());
        Ok(())
    }

    /// The form in files, word by word.
    #[test]
    fn the_form_in_files_is_kept() -> Result<(), Box<dyn std::error::Error>> {
        let response = RandomizedResponse::with_epsilon(4, 1.0)?;
        assert_eq!(
            serde_json::to_string(&response.stated())?,
            "{\"version\":1,\"neighbors\":\"replace-one\",\"moves\":{\"what\":\"label\",\"of\":4},\
             \"function\":\"ndp_dp::RandomizedResponse\",\"theorem\":\"Accounting\"}"
        );
        Ok(())
    }
}
