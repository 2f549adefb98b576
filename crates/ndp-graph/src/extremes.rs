//! The extreme eigenvalues of a gossip matrix, and its gaps.

use crate::Error;
use serde::{Deserialize, Serialize};

/// The extreme eigenvalues of a gossip matrix besides the 1 of the constant vector.
///
/// # Examples
/// ```
/// use ndp_graph::{GossipMatrix, generators::cycle_graph, spectrum::extremes};
/// let found = extremes(&GossipMatrix::metropolis(&cycle_graph(6)?))?;
/// assert!((found.second - 2.0 / 3.0).abs() < 1e-12 && (found.last + 1.0 / 3.0).abs() < 1e-12);
/// # Ok::<(), ndp_graph::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extremes {
    /// `λ_2`, the largest.
    pub second: f64,
    /// `λ_n`, the smallest.
    pub last: f64,
}

impl Extremes {
    /// `1 - max(|λ_2|, |λ_n|)`, in `(0, 1]`: the rate at which `x ← W x` reaches consensus,
    /// `‖W^t x - x̄‖ ≤ (1 - gap_abs)^t ‖x - x̄‖`.
    ///
    /// # Errors
    /// [`Error::DoesNotMix`] when one of the two is 1 in absolute value up to 1e-12. For connected graphs this
    /// happens when the graph is bipartite and the diagonal of `W` is zero, which metropolis or lazy weights
    /// avoid, and when the gap itself is that small.
    ///
    /// # Examples
    /// ```
    /// use ndp_graph::{GossipMatrix, Weights, generators::cycle_graph, spectrum::extremes};
    /// let w = GossipMatrix::metropolis(&cycle_graph(8)?);
    /// assert!((extremes(&w)?.gap_abs()? - 0.195262145875635).abs() < 1e-12);
    /// assert!(extremes(&GossipMatrix::new(&cycle_graph(8)?, Weights::MaxDegree)?)?.gap_abs().is_err());
    /// # Ok::<(), ndp_graph::Error>(())
    /// ```
    pub fn gap_abs(self) -> Result<f64, Error> {
        let eigenvalue = if self.second.abs() >= self.last.abs() { self.second } else { self.last };
        gap(eigenvalue, eigenvalue.abs())
    }

    /// `1 - λ_2`, positive, above 1 when `λ_2 < 0` (complete graph with `max_degree` weights).
    ///
    /// # Errors
    /// [`Error::DoesNotMix`] when `λ_2` is 1 up to rounding.
    pub fn gap_signed(self) -> Result<f64, Error> {
        gap(self.second, self.second)
    }
}

fn gap(eigenvalue: f64, value: f64) -> Result<f64, Error> {
    let gap = 1.0 - value;
    if gap > RESOLUTION { Ok(gap) } else { Err(Error::DoesNotMix { eigenvalue }) }
}

/// Gaps below this are rounding errors of the eigensolvers.
const RESOLUTION: f64 = 1e-12;
