//! Pairwise losses: how much one node learns about another.
//!
//! The losses of linear Gaussian protocols are stored as *unit losses*, the fraction of the local
//! loss `c₀ = α Δ² / (2σ²)` that reaches the observer. From a unit loss follow the Gaussian
//! parameter `μ = (Δ/σ) √unit`, the Rényi loss `c₀ · unit` at any order, and exact `(ε, δ)`.

use crate::error::ensure;
use crate::gdp::ratio_up;
use crate::{Error, Gdp, Sensitivity, Sigma};
use ndp_numeric::rounding::Interval;
use serde::{Deserialize, Serialize};

/// A loss as a multiple of the local loss `c₀`, which is the loss of one contribution that is seen with only
/// its own noise.
///
/// It lies in `[0, 1]` if all that is sent of a node's data follows from one contribution and one noise of
/// full size. A view with `K` releases of a node may have a loss of `K`, one behind less noise any loss.
///
/// # Examples
/// ```
/// use ndp_dp::{Sensitivity, Sigma, UnitLoss};
/// let quarter = UnitLoss::new(0.25)?;
/// let gdp = quarter.gdp(Sensitivity::new(1.0)?, Sigma::new(2.0)?);
/// assert!((gdp.mu() - 0.25).abs() < 1e-12); // half of the μ of the noisy value itself
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct UnitLoss(f64);

crate::lossless::checked_number!(UnitLoss, of_releases);

impl UnitLoss {
    /// Takes the loss of one release, a fraction of the local loss.
    ///
    /// # Errors
    /// [`Error::InvalidUnitLoss`] outside `[0, 1]`, NaN included.
    pub fn new(unit: f64) -> Result<Self, Error> {
        if (0.0..=1.0).contains(&unit) { Ok(Self(unit)) } else { Err(Error::InvalidUnitLoss(unit)) }
    }

    /// Takes the loss of a view of any number of releases. It is at most their number if each has a noise of
    /// full size.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 ≤ unit ≤ ∞`, NaN included.
    pub fn of_releases(unit: f64) -> Result<Self, Error> {
        ensure(0.0 <= unit, "the unit loss of several releases", "be nonnegative", unit)?;
        Ok(Self(unit))
    }

    /// The loss as a multiple of `c₀`.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }

    /// Gaussian-DP parameter `μ = (Δ/σ) √unit` of a view with this loss, rounded up.
    #[must_use]
    fn mu(self, sensitivity: Sensitivity, sigma: Sigma) -> f64 {
        // A loss of 0 stays 0 even if the ratio overflows.
        if self.0 == 0.0 {
            return 0.0;
        }
        (Interval::new(ratio_up(sensitivity, sigma)) * Interval::new(self.0).sqrt()).high()
    }

    /// The Gaussian guarantee `μ = (Δ/σ) √unit` of a view with this loss, rounded up, from which exact `(ε,
    /// δ)` and the Rényi loss `α Δ² unit/(2σ²)` follow.
    #[must_use]
    pub fn gdp(self, sensitivity: Sensitivity, sigma: Sigma) -> Gdp {
        Gdp::unchecked(self.mu(sensitivity, sigma))
    }
}

/// `count` such losses together, rounded up.
impl std::ops::Mul<u64> for UnitLoss {
    type Output = Self;

    fn mul(self, count: u64) -> Self {
        Self(if count == 0 { 0.0 } else { (Interval::count(count) * Interval::new(self.0)).high() })
    }
}

/// What one observer learns about every node: `unit[u]` is the fraction of `u`'s local loss.
///
/// The entry of the observer itself (and of every colluder) is its loss to itself, and is left out of means.
/// A guarantee exceeds 1 only if a node makes several releases; a printed loss may exceed 1 in any case.
///
/// # Examples
/// ```
/// use ndp_dp::ObserverLoss;
/// let losses = ObserverLoss { observer: 2, unit: vec![0.1, 0.4, 1.0] };
/// assert_eq!(losses.unit[losses.observer], 1.0);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObserverLoss {
    /// The observing node.
    pub observer: usize,
    /// Loss of every node `u` towards the observer, as a fraction of the local loss.
    #[serde(with = "crate::lossless::list")]
    pub unit: Vec<f64>,
}

/// What every node learns about every other: `n` by `n`, row `u` is the exposed node, column
/// `v` the observer.
///
/// # Examples
/// ```
/// use ndp_dp::PairwiseLoss;
/// let losses = PairwiseLoss::from_rows(2, vec![0.0, 0.5, 0.25, 0.0])?;
/// assert_eq!((losses.get(0, 1), losses.get(1, 0)), (0.5, 0.25));
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairwiseLoss {
    n: usize,
    #[serde(with = "crate::lossless::list")]
    unit: Vec<f64>,
}

crate::lossless::checked_fields! {
    PairwiseLoss { n: usize, #[serde(with = "crate::lossless::list")] unit: Vec<f64> } => Self::from_rows(n, unit)
}

impl PairwiseLoss {
    /// Takes the losses row by row (row = exposed node).
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless there are `n²` of them.
    pub fn from_rows(n: usize, unit: Vec<f64>) -> Result<Self, Error> {
        let (name, condition) = ("the number of pairwise losses", "be the square of the number of nodes");
        ensure(n.checked_mul(n) == Some(unit.len()), name, condition, unit.len() as f64)?;
        Ok(Self { n, unit })
    }

    /// Number of nodes.
    pub(crate) fn node_count(&self) -> usize {
        self.n
    }

    /// What `v` learns about `u`, as a fraction of the local loss.
    ///
    /// # Panics
    /// When a node is out of range.
    #[must_use]
    pub fn get(&self, u: usize, v: usize) -> f64 {
        assert!(u < self.n && v < self.n, "node out of range");
        self.unit[u * self.n + v]
    }

    /// The losses of node `u` towards every observer.
    ///
    /// # Panics
    /// When the node is out of range.
    pub(crate) fn row(&self, u: usize) -> &[f64] {
        &self.unit[u * self.n..][..self.n]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mechanism, Order};
    use approx::assert_relative_eq;

    /// Muffliato specification, section 12: the exact curve of a loss is that of a Gaussian with `μ = (Δ/σ)
    /// √unit`.
    #[test]
    fn a_unit_loss_has_a_gaussian_curve() -> Result<(), Error> {
        let (sensitivity, sigma) = (Sensitivity::new(2.0)?, Sigma::new(1.0)?);
        let gdp = UnitLoss::new(0.0625)?.gdp(sensitivity, sigma);
        assert_relative_eq!(gdp.mu(), 0.5, max_relative = 1e-15);
        assert_relative_eq!(*gdp.delta(1.0)?.value(), 0.006_829_594_983_114_575, max_relative = 1e-13);
        let order = Order::new(3.0)?;
        // The Rényi loss is α Δ² unit/(2σ²).
        assert_relative_eq!(*gdp.rdp(order).value(), 3.0 * 4.0 * 0.0625 / 2.0, max_relative = 1e-15);
        Ok(())
    }

    #[test]
    fn extremes_are_limits() -> Result<(), Error> {
        let (sensitivity, sigma) = (Sensitivity::new(1e300)?, Sigma::new(1e-300)?);
        let order = Order::new(2.0)?;
        assert_eq!(UnitLoss::new(0.0)?.mu(sensitivity, sigma), 0.0);
        assert_eq!(*UnitLoss::new(0.0)?.gdp(sensitivity, sigma).rdp(order).value(), 0.0);
        assert_eq!(UnitLoss::new(1.0)?.mu(sensitivity, sigma), f64::INFINITY);
        assert!(
            matches!(UnitLoss::new(f64::NAN), Err(Error::InvalidUnitLoss(..)))
                && matches!(UnitLoss::new(1.1), Err(Error::InvalidUnitLoss(..)))
        );
        assert_eq!(UnitLoss::of_releases(4.0)?.mu(Sensitivity::new(1.0)?, Sigma::new(1.0)?), 2.0);
        for bad in [-0.1, f64::NAN] {
            assert!(
                matches!(
                    UnitLoss::of_releases(bad),
                    Err(Error::InvalidParameter { name: "the unit loss of several releases", .. })
                ),
                "{bad}"
            );
        }
        Ok(())
    }
}
