//! Rényi differential privacy: what one release costs, and how costs add up.
//!
//! A release is `(α, ε)`-RDP when the Rényi divergence of order `α` between its outputs on two neighboring
//! datasets is at most `ε`. Costs are in nats and add up under adaptive composition. A [`Mechanism`]
//! describes a release, an [`RdpAccountant`] adds up.
//!
//! # References
//! - Mironov, *Rényi differential privacy*, CSF 2017, arXiv:1702.07476: Proposition 1 (composition).

use crate::conversion::{epsilon_at, log_delta_at};
use crate::error::ensure;
use crate::gaussian::check_epsilon;
use crate::{Delta, Error, Guarantee, Order, Stated, UpperBound, conversion};
use ndp_numeric::rounding::{Interval, exp_up};
use serde::{Deserialize, Serialize};

/// A release whose Rényi cost is known at every order, and with it `ε` at a `δ` and `δ` at an `ε`.
///
/// The last two follow from the first by the best conversion, unless the mechanism knows its profile and
/// returns them exactly.
///
/// # Examples
/// ```
/// use ndp_dp::{Delta, Guarantee, Mechanism, Order, RdpAccountant, UpperBound};
/// /// A mechanism whose Rényi loss of order α is proven to be at most α/30.
/// struct Own;
/// impl Mechanism for Own {
///     fn rdp(&self, order: Order) -> Guarantee<f64> {
///         UpperBound::new(order.get() / 30.0).into()
///     }
/// }
/// let delta = Delta::new(1e-5)?;
/// assert!(*Own.epsilon(delta).value() < 1.5);
/// assert!(*RdpAccountant::default().compose(&Own, 10).epsilon(delta).value() < 5.0);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
pub trait Mechanism {
    /// The `ε` of `(α, ε)`-RDP at `order`: nonnegative, maybe infinite.
    ///
    /// The divergence itself is nondecreasing in `α`; an upper bound need not be.
    fn rdp(&self, order: Order) -> Guarantee<f64>;

    /// The smallest proven `ε` at `delta`; `∞` if none is proven.
    fn epsilon(&self, delta: Delta) -> Guarantee<f64> {
        let best = conversion::best_epsilon(|order| self.rdp(order).into(), delta);
        best.map(|found| found.approx_dp.epsilon()).into()
    }

    /// The smallest `δ` at `epsilon` that is proven.
    ///
    /// # Errors
    /// [`Error::InvalidEpsilon`] unless `0 ≤ ε < ∞`.
    fn delta(&self, epsilon: f64) -> Result<Guarantee<f64>, Error> {
        let best = conversion::best_delta(|order| self.rdp(order).into(), epsilon)?;
        Ok(best.map(|found| found.approx_dp.delta()).into())
    }

    /// The statement behind the numbers: neighbors, sensitivity, theorem. `None` for a bound on a loss that
    /// does not say which mechanism caused it.
    fn stated(&self) -> Option<Stated> {
        None
    }

    /// The `ε` at `δ = 0`; `∞` if none is proven.
    fn pure_epsilon(&self) -> Guarantee<f64> {
        UpperBound::new(f64::INFINITY).into()
    }
}

/// One point of a Rényi curve: the divergence of order `order` is at most `epsilon`.
///
/// # Examples
/// ```
/// use ndp_dp::{Delta, Mechanism, Order, Rdp};
/// let point = Rdp { order: Order::new(8.0)?, epsilon: 0.5 };
/// assert!(*point.epsilon(Delta::new(1e-6)?).value() < 2.5);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rdp {
    /// The order `α`.
    pub order: Order,
    /// The bound on the divergence, in nats.
    #[serde(with = "crate::lossless")]
    pub epsilon: f64,
}

impl Rdp {
    /// The bound; infinite if it is negative or NaN, since such a number bounds no divergence.
    fn bound(self) -> f64 {
        if self.epsilon >= 0.0 { self.epsilon } else { f64::INFINITY }
    }
}

/// What follows from this point alone, by the optimal conversion: `ε = ρ + ln(1 − 1/α) − (ln δ + ln α)/(α −
/// 1)` at a `δ`, at least 0, and `δ = exp((α − 1)(ρ − ε)) (1 − 1/α)^α/(α − 1)` at an `ε`, at most 1; or by
/// the bound on total variation if that is smaller.
///
/// # References
/// As [`conversion`].
impl Mechanism for Rdp {
    /// The divergence does not decrease in the order: `ρ` up to `α`, `∞` above.
    fn rdp(&self, order: Order) -> Guarantee<f64> {
        UpperBound::new(if order <= self.order { self.bound() } else { f64::INFINITY }).into()
    }

    fn epsilon(&self, delta: Delta) -> Guarantee<f64> {
        UpperBound::new(epsilon_at(self.bound(), self.order, delta)).into()
    }

    fn delta(&self, epsilon: f64) -> Result<Guarantee<f64>, Error> {
        check_epsilon(epsilon)?;
        // Rounded up, exp of 0 is more than 1.
        let log = log_delta_at(self.bound(), self.order, epsilon).min(0.0);
        Ok(UpperBound::new(exp_up(log).min(1.0)).into())
    }
}

/// The Rényi cost of everything released so far, on a grid of orders.
///
/// The default grid is that of Google's `dp_accounting`: 1.1, 1.2, …, 10.9, then 11, 12, …, 63, then 128,
/// 256, 512, 1024.
///
/// # Examples
/// ```
/// use ndp_dp::{Delta, Gaussian, Mechanism, RdpAccountant, Sensitivity, Sigma};
/// let release = Gaussian { sensitivity: Sensitivity::new(1.0)?, sigma: Sigma::new(4.0)? };
/// let spent = RdpAccountant::default().compose(&release, 30);
/// assert!((spent.epsilon(Delta::new(1e-5)?).value() - 6.813_318_185_854_952).abs() < 1e-11);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
///
/// It is written to files as its upper bounds, and read as a [`Recorded`](crate::Recorded) list of [`Rdp`],
/// not as an accountant: an account in a file is only a claim, and adding to it must not make it look like a
/// guarantee.
#[derive(Clone, Debug, PartialEq)]
pub struct RdpAccountant {
    spent: Vec<Rdp>,
}

impl Serialize for RdpAccountant {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        UpperBound::new(self.spent.clone()).serialize(serializer)
    }
}

impl Default for RdpAccountant {
    fn default() -> Self {
        let fine = (11..=109).map(|tenths| f64::from(tenths) / 10.0);
        let whole = (11..=63).map(f64::from);
        let orders = fine.chain(whole).chain([128.0, 256.0, 512.0, 1024.0]);
        Self { spent: orders.filter_map(|alpha| Order::new(alpha).ok()).map(nothing_spent).collect() }
    }
}

impl RdpAccountant {
    /// An accountant on a grid of the caller's choice.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for no order.
    pub fn on(orders: &[Order]) -> Result<Self, Error> {
        ensure(!orders.is_empty(), "the number of orders", "be at least 1", 0.0)?;
        Ok(Self { spent: orders.iter().copied().map(nothing_spent).collect() })
    }

    /// Adds `count` releases of `mechanism`, each free to depend on the outputs of the others.
    #[must_use]
    pub fn compose(mut self, mechanism: &dyn Mechanism, count: u64) -> Self {
        // Zero releases cost nothing, even if one would have an infinite loss.
        if count > 0 {
            for rdp in &mut self.spent {
                let cost = Interval::count(count) * Interval::new(mechanism.rdp(rdp.order).into_value());
                // The sum is rounded up, so it is never too small, however many releases are added. A NaN
                // loss counts as infinite.
                rdp.epsilon = (Interval::new(rdp.epsilon) + cost).high();
            }
        }
        self
    }

    /// The Rényi curve of everything released, at the orders of the grid.
    #[must_use]
    pub fn spent(&self) -> UpperBound<&[Rdp]> {
        UpperBound::new(&self.spent)
    }

    fn smallest(&self, f: impl Fn(&Rdp) -> f64) -> f64 {
        self.spent.iter().map(f).fold(f64::INFINITY, f64::min)
    }
}

/// Everything released, as one release. At an order between two of the grid it has the loss at the next
/// higher one, which the divergence does not exceed; above the grid, `∞`. `ε` and `δ` are the smallest of the
/// optimal conversions over the grid.
impl Mechanism for RdpAccountant {
    fn rdp(&self, order: Order) -> Guarantee<f64> {
        UpperBound::new(self.smallest(|rdp| if rdp.order >= order { rdp.epsilon } else { f64::INFINITY }))
            .into()
    }

    fn epsilon(&self, delta: Delta) -> Guarantee<f64> {
        UpperBound::new(self.smallest(|rdp| epsilon_at(rdp.epsilon, rdp.order, delta))).into()
    }

    fn delta(&self, epsilon: f64) -> Result<Guarantee<f64>, Error> {
        check_epsilon(epsilon)?;
        let best = self.smallest(|rdp| log_delta_at(rdp.epsilon, rdp.order, epsilon));
        Ok(UpperBound::new(exp_up(best.min(0.0)).min(1.0)).into())
    }
}

fn nothing_spent(order: Order) -> Rdp {
    Rdp { order, epsilon: 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::refused;
    use crate::{Gaussian, Sensitivity, Sigma};
    use approx::assert_relative_eq;

    fn release(sigma: f64) -> Gaussian {
        Gaussian { sensitivity: Sensitivity::new(1.0).unwrap(), sigma: Sigma::new(sigma).unwrap() }
    }

    /// `dp_accounting.rdp.compute_epsilon` on its default orders; best order 4.3.
    #[test]
    fn thirty_gaussians_match_dp_accounting() -> Result<(), Error> {
        let delta = Delta::new(1e-5)?;
        let spent = RdpAccountant::default().compose(&release(4.0), 30).epsilon(delta).into_value();
        assert_relative_eq!(spent, 6.813_318_185_854_952, max_relative = 1e-12);
        let exact = (*release(4.0).gdp().value() * 30).epsilon(delta).into_value();
        // The exact value is a 40-digit root of the Gaussian profile. Both numbers are in the table on the
        // crate's front page.
        assert_relative_eq!(exact, 6.325_715_393_876_2, max_relative = 1e-13);
        assert!(exact < spent);
        Ok(())
    }

    /// Rényi column: `dp_accounting` 0.6.0, `RdpAccountant`; exact column: 40-digit bisection of the profile.
    #[test]
    fn the_front_page_s_table_is_right() -> Result<(), Error> {
        let table = [
            (1.0, 1, 4.728_507_067_217_623, 4.377_178_095_681_224),
            (4.0, 30, 6.813_318_185_854_952, 6.325_715_393_876_2),
            (2.0, 100, 35.081_754_019_056_26, 33.103_732_335_922_47),
            (50.0, 1000, 2.813_653_247_129_84, 2.594_383_380_527_607),
        ];
        let delta = Delta::new(1e-5)?;
        for (sigma, count, renyi, exact) in table {
            let spent = RdpAccountant::default().compose(&release(sigma), count).epsilon(delta);
            assert_relative_eq!(spent.into_value(), renyi, max_relative = 1e-12);
            let spent = (*release(sigma).gdp().value() * count).epsilon(delta);
            assert_relative_eq!(spent.into_value(), exact, max_relative = 1e-12);
        }
        Ok(())
    }

    #[test]
    fn the_default_grid_is_that_of_dp_accounting() {
        let accountant = RdpAccountant::default();
        let orders: Vec<f64> = accountant.spent().value().iter().map(|rdp| rdp.order.get()).collect();
        assert_eq!(orders.len(), 99 + 53 + 4);
        assert_eq!(
            (orders[0], orders[98], orders[99], orders[151], orders[155]),
            (1.1, 10.9, 11.0, 63.0, 1024.0)
        );
    }

    #[test]
    fn epsilon_and_delta_invert_each_other() -> Result<(), Error> {
        let accountant = RdpAccountant::default().compose(&release(3.0), 7).compose(&release(1.5), 2);
        let spent = accountant.epsilon(Delta::new(1e-6)?).into_value();
        let back = accountant.delta(spent)?.into_value();
        assert_relative_eq!(back, 1e-6, max_relative = 1e-10);
        Ok(())
    }

    #[test]
    fn extremes_are_limits_or_errors() -> Result<(), Error> {
        struct Leak;
        impl Mechanism for Leak {
            fn rdp(&self, _: Order) -> Guarantee<f64> {
                UpperBound::new(f64::INFINITY).into()
            }
        }
        let delta = Delta::new(1e-6)?;
        assert_eq!(RdpAccountant::default().epsilon(delta).into_value(), 0.0);
        assert_eq!(RdpAccountant::default().delta(1.0)?.into_value(), 0.0);
        assert_eq!(RdpAccountant::default().compose(&Leak, 0).epsilon(delta).into_value(), 0.0);
        let leaked = RdpAccountant::default().compose(&Leak, 1);
        assert_eq!(leaked.epsilon(delta).into_value(), f64::INFINITY);
        assert_eq!(leaked.delta(1.0)?.into_value(), 1.0);
        let many = RdpAccountant::default().compose(&release(1.0), u64::MAX);
        assert!(many.epsilon(delta).into_value() > 1e18);
        assert_eq!(refused(RdpAccountant::on(&[])), Some("the number of orders"));
        assert!(matches!(leaked.delta(-1.0), Err(Error::InvalidEpsilon(-1.0))));
        Ok(())
    }
}
