//! The price of one contribution released at once, the unit of all costs of this module.

use ndp_dp::{NoiseMultiplier, Order};
use serde::{Deserialize, Serialize};

/// One contribution with its noise, released at once: `c₀ = α / (2σ²)` nats at order `α`.
///
/// `σ` is the noise multiplier: the noise has standard deviation `Δσ` in every coordinate, where
/// `Δ` is the most by which a contribution may move. Costs of paths are dimensionless multiples
/// of `c₀`; a cost that depends on the path is averaged as `E exp(θ · cost)`, `θ = (α − 1) c₀`.
///
/// # Examples
/// ```
/// use ndp_algos::walk::graph::LocalLoss;
/// use ndp_dp::{NoiseMultiplier, Order};
/// let local = LocalLoss { order: Order::new(2.0)?, noise: NoiseMultiplier::new(4.0)? };
/// assert!((local.cost() - 2.0 / 32.0).abs() < 1e-12); // α/(2σ²)
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalLoss {
    /// The order `α`.
    pub order: Order,
    /// The noise multiplier `σ`.
    pub noise: NoiseMultiplier,
}

impl LocalLoss {
    /// `c₀ = α / (2σ²)` in nats, maybe infinite for a tiny `σ`; never rounded down to 0.
    #[must_use]
    pub fn cost(self) -> f64 {
        (self.order.get() / 2.0 / self.noise.get() / self.noise.get()).max(f64::MIN_POSITIVE)
    }

    /// `θ = (α − 1) c₀`.
    pub(crate) fn exponent(self) -> f64 {
        (self.order.get() - 1.0) * self.cost()
    }

    /// `ln(1 + e^x) / (α − 1)`, rounded up: the loss when `E exp((α − 1) loss) − 1 = e^x`.
    pub(super) fn loss_of_log_excess(self, x: f64) -> f64 {
        let log = if x < 0.0 { x.exp().ln_1p() } else { x + (-x).exp().ln_1p() };
        log / (self.order.get() - 1.0) * (1.0 + 8.0 * f64::EPSILON)
    }
}
