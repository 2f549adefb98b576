//! The rules by which gossip matrices get their entries.

use serde::{Deserialize, Serialize};

/// How a [`GossipMatrix`](crate::GossipMatrix) got its entries; named rules have rational entries, which the
/// exact accountant uses to decide ranks without a tolerance.
///
/// # Examples
/// ```
/// use ndp_graph::{GossipMatrix, generators::star_graph, gossip_matrix::Weights};
/// let matrix = GossipMatrix::metropolis(&star_graph(4)?);
/// assert_eq!((matrix.weights(), matrix.weights().to_string().as_str()), (Weights::Metropolis, "metropolis"));
/// # Ok::<(), ndp_graph::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Weights {
    /// `W[u][v] = 1 / (max(d_u, d_v) + 1)`.
    Metropolis,
    /// `W[u][v] = 1 / max(d_u, d_v)`.
    MaxDegree,
    /// `W[u][v] = 1 / (d_u + d_v + 1)`.
    SumDegree,
    /// `W[u][v] = 1 / d` on a `d`-regular graph: the simple random walk.
    Regular,
    /// Given entry by entry.
    Given,
}

impl Weights {
    /// The weight of an edge between nodes of degrees `a` and `b` is `1 / denominator`. `None` for given
    /// entries. Both runs and accounts take the rule from here.
    ///
    /// # Examples
    /// ```
    /// use ndp_graph::gossip_matrix::Weights;
    /// assert_eq!(Weights::Metropolis.denominator(1, 3), Some(4));
    /// assert_eq!(Weights::Given.denominator(1, 3), None);
    /// ```
    #[must_use]
    pub fn denominator(self, a: usize, b: usize) -> Option<usize> {
        match self {
            Self::Metropolis => Some(a.max(b) + 1),
            Self::MaxDegree => Some(a.max(b)),
            Self::SumDegree => Some(a + b + 1),
            Self::Regular => Some(a),
            Self::Given => None,
        }
    }

    /// The word in files.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Metropolis => "metropolis",
            Self::MaxDegree => "max-degree",
            Self::SumDegree => "sum-degree",
            Self::Regular => "regular",
            Self::Given => "given",
        }
    }
}

impl std::fmt::Display for Weights {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}
