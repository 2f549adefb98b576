//! The price of one contribution released at once, the unit of all costs of this module.

use ndp_account::parts::locked;
use ndp_dp::{NoiseMultiplier, Order, UpperBound};
use ndp_numeric::rounding::Interval;
use ndp_numeric::stop::Stop;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// One contribution with its noise, released at once: `c₀ = α / (2σ²)` nats at order `α`.
///
/// `σ` is the noise multiplier: the noise has standard deviation `Δσ` in every coordinate, where `Δ` is the
/// most by which a contribution may change. Costs of paths are dimensionless multiples of `c₀`. A cost that
/// depends on the path is averaged as `E exp(θ · cost)`, `θ = (α − 1) c₀`.
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
    /// `c₀ = α / (2σ²)` in nats; may be infinite for a tiny `σ`, but is never rounded down to 0.
    #[must_use]
    pub fn cost(self) -> f64 {
        (self.order.get() / 2.0 / self.noise.get() / self.noise.get()).max(f64::MIN_POSITIVE)
    }

    /// `c₀`, rounded up.
    pub(super) fn cost_up(self) -> f64 {
        self.enclosed().high()
    }

    fn enclosed(self) -> Interval {
        let noise = Interval::new(self.noise.get());
        Interval::new(self.order.get()) / Interval::new(2.0) / noise / noise
    }

    /// `θ = (α − 1) c₀`, rounded up, and so never 0.
    pub(crate) fn exponent(self) -> f64 {
        ((Interval::new(self.order.get()) - Interval::ONE) * self.enclosed()).high()
    }

    /// `θ`, rounded down and up.
    pub(super) fn exponents(self) -> (f64, f64) {
        let theta = (Interval::new(self.order.get()) - Interval::ONE) * self.enclosed();
        (theta.low().max(0.0), theta.high())
    }

    /// `ln(1 + e^x) / (α − 1)`, rounded up: the loss for which `E exp((α − 1) loss) − 1 = e^x`. It is
    /// positive unless `x = −∞`, and infinite if `x` is NaN.
    pub(super) fn loss_of_log_excess(self, x: f64) -> f64 {
        if x == f64::NEG_INFINITY || x.is_nan() {
            return if x.is_nan() { f64::INFINITY } else { 0.0 };
        }
        let log = if x < 0.0 { x.exp().ln_1p() } else { x + (-x).exp().ln_1p() };
        // e^x has a relative error of |x| roundings if x is far below 0, since x itself is rounded.
        let error = (3.0 - x.min(0.0)).max(8.0);
        (log / (self.order.get() - 1.0) * (1.0 + error * f64::EPSILON)).max(f64::MIN_POSITIVE)
    }
}

/// If `θ` is larger, accounts report the local loss of every contribution: powers of `e^θ` would overflow,
/// and such a loss is of no use anyway.
pub(super) const MAX_EXPONENT: f64 = 300.0;

/// The losses of one pair that were computed so far, for later questions at the same noise.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownLosses(Arc<Mutex<BTreeMap<[u64; 2], UpperBound<f64>>>>);

impl KnownLosses {
    /// The loss that is known, or the one that `compute` finds. Under a limit on work nothing is looked up,
    /// since an answer must not depend on which of two questions came first.
    ///
    /// # Errors
    /// Those of `compute`, which are not kept.
    pub(crate) fn loss<E>(
        &self,
        local: LocalLoss,
        stop: &Stop,
        compute: impl FnOnce() -> Result<UpperBound<f64>, E>,
    ) -> Result<UpperBound<f64>, E> {
        if stop.left().is_some() {
            return compute();
        }
        let key = [local.order.get().to_bits(), local.noise.get().to_bits()];
        let known = || locked(&self.0);
        if let Some(&loss) = known().get(&key) {
            return Ok(loss);
        }
        let loss = compute()?;
        let mut known = known();
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.insert(key, loss);
        Ok(loss)
    }
}

/// The number of losses that are kept for a pair; a question asks for some forty.
const MOST_KNOWN: usize = 1000;

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn losses_are_looked_up_by_order_and_noise_but_not_under_a_limit() -> Result<(), ndp_dp::Error> {
        let (known, computed) = (KnownLosses::default(), Cell::new(0));
        let ask = |order: f64, noise: f64, stop: &Stop| {
            let local = LocalLoss { order: Order::new(order)?, noise: NoiseMultiplier::new(noise)? };
            let loss = known.loss::<ndp_dp::Error>(local, stop, || {
                computed.set(computed.get() + 1);
                Ok(UpperBound::new(local.cost()))
            })?;
            assert_eq!(loss.into_value(), local.cost());
            Ok::<i32, ndp_dp::Error>(computed.get())
        };
        let never = Stop::never();
        assert_eq!([ask(2.0, 3.0, &never)?, ask(2.0, 3.0, &never)?], [1, 1]);
        assert_eq!([ask(3.0, 2.0, &never)?, ask(2.0, 4.0, &never)?], [2, 3]);
        // What was looked up would count as no work.
        assert_eq!([ask(2.0, 3.0, &Stop::after_work(9))?, ask(2.0, 3.0, &never)?], [4, 4]);
        let error = known.loss::<()>(
            LocalLoss { order: Order::new(9.0)?, noise: NoiseMultiplier::new(1.0)? },
            &never,
            || Err(()),
        );
        assert_eq!(error.map(|_| ()), Err(()));
        assert_eq!(ask(9.0, 1.0, &never)?, 5);
        Ok(())
    }
}
