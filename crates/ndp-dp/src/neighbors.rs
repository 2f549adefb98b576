//! Which two data sets a guarantee compares.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Which two data sets a guarantee compares.
///
/// # Examples
/// ```
/// use ndp_dp::{Exact, Gdp, Neighbors, Profile};
/// let profile = Profile::gaussian(Exact::new(Gdp::new(0.3)?).into(), "node 3");
/// assert_eq!(profile.neighbors, Neighbors::default());
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Neighbors {
    /// Data of one node are replaced by others, within the stated sensitivity. Whether all its data or a part
    /// of them may differ belongs to the statement beside the guarantee.
    #[default]
    ReplaceOne,
    /// One record is added or removed.
    AddOrRemove,
}

impl fmt::Display for Neighbors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ReplaceOne => "data of one node replaced",
            Self::AddOrRemove => "one record added or removed",
        })
    }
}
