//! How large figures are computed.

use serde::Serialize;

/// How large a figure is computed.
///
/// # Examples
/// ```
/// use ndp_report::figure::Scale;
/// let nodes = |scale: Scale| scale.pick(2048, 64);
/// assert_eq!((nodes(Scale::Paper), nodes(Scale::Quick)), (2048, 64));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// The parameters of the paper.
    Paper,
    /// Small enough that all figures together take less than a minute.
    Quick,
}

impl Scale {
    /// The value for this scale, one of the two given.
    pub fn pick<T>(self, paper: T, quick: T) -> T {
        match self {
            Self::Paper => paper,
            Self::Quick => quick,
        }
    }

    /// Its name in paths and JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.pick("paper", "quick")
    }
}
