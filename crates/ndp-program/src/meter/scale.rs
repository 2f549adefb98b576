//! The unit of the numbers of a meter: how far a contribution may change.

use crate::ProgramError;
use ndp_account::{ComparedWith, Norm, RestsOn};
use num_rational::BigRational;
use serde::{Deserialize, Serialize};

/// What a contribution is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Neighbors {
    /// With another contribution, from other data: it changes by up to twice its norm.
    Replace,
    /// With 0, as if the node had contributed nothing: it changes by up to its norm.
    Zero,
}

/// How far a contribution may change: a variance of 1 in a [`Meter`](super::Meter) is the square of this.
///
/// A system adds noise in its own unit, and the meter counts it in multiples of the change that it hides.
/// Whoever continues a log has to know the unit: otherwise later noises would count for more than they are.
///
/// # Examples
/// ```
/// use ndp_program::meter::{Neighbors, Scale};
/// let scale = Scale::new(0.5, Neighbors::Replace)?;
/// assert_eq!(scale.change(), num_rational::BigRational::from_integer(1.into()));
/// # Ok::<(), ndp_program::ProgramError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct Scale {
    clip: f64,
    neighbors: Neighbors,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with `clip` and `neighbors`")]
struct Parts {
    clip: f64,
    neighbors: Neighbors,
}

impl Scale {
    /// Contributions of a norm of at most `clip`.
    ///
    /// # Errors
    /// [`ProgramError::NotFinite`]; [`ProgramError::NotPositive`].
    pub fn new(clip: f64, neighbors: Neighbors) -> Result<Self, ProgramError> {
        let what = "the largest norm of a contribution";
        match clip {
            _ if !clip.is_finite() => Err(ProgramError::NotFinite { what, value: clip }),
            _ if clip <= 0.0 => Err(ProgramError::NotPositive { what, value: clip }),
            _ => Ok(Self { clip, neighbors }),
        }
    }

    /// The largest norm of a contribution.
    #[must_use]
    pub fn clip(&self) -> f64 {
        self.clip
    }

    /// What a contribution is compared with.
    #[must_use]
    pub fn neighbors(&self) -> Neighbors {
        self.neighbors
    }

    /// The assumptions that numbers rest on because of the unit.
    pub(super) fn rests_on(&self) -> RestsOn {
        let compared = match self.neighbors {
            Neighbors::Replace => ComparedWith::Another,
            Neighbors::Zero => ComparedWith::Zero,
        };
        RestsOn::Norm { most: Norm::new(self.clip), compared }
    }

    /// How far a contribution may change, exactly.
    #[must_use]
    pub fn change(&self) -> BigRational {
        let clip = BigRational::from_float(self.clip).unwrap_or_default();
        match self.neighbors {
            Neighbors::Replace => clip.clone() + clip,
            Neighbors::Zero => clip,
        }
    }
}

impl TryFrom<Parts> for Scale {
    type Error = ProgramError;

    fn try_from(parts: Parts) -> Result<Self, ProgramError> {
        Self::new(parts.clip, parts.neighbors)
    }
}

impl From<Scale> for Parts {
    fn from(scale: Scale) -> Self {
        Self { clip: scale.clip, neighbors: scale.neighbors }
    }
}
