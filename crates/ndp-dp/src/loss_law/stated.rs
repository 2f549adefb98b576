//! Pairs of which only the profile is known: given as a function by the caller, or derived from a Rényi
//! curve.

use super::pair::{Pair, Point, two_sided, unit};
use super::plan::LARGEST_REACH;
use crate::error::ensure;
use crate::{Error, Order, UpperBound, conversion};
use ndp_numeric::rounding::{Interval, exp_up};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A function from `ε ≥ 0` to `δ`.
pub(super) type DeltaOf = dyn Fn(f64) -> f64 + Send + Sync;

/// A profile stated as two functions, for `(P, Q)` and `(Q, P)`, with a declared relative error.
#[derive(Clone)]
pub(super) struct Stated {
    forward: Arc<DeltaOf>,
    backward: Arc<DeltaOf>,
    relative_error: f64,
}

impl Stated {
    /// Takes two functions, and refuses those that about a hundred points show to be no profile.
    pub(super) fn new(
        forward: Arc<DeltaOf>,
        backward: Arc<DeltaOf>,
        relative_error: f64,
    ) -> Result<Self, Error> {
        check(&*forward, relative_error)?;
        check(&*backward, relative_error)?;
        Ok(Self { forward, backward, relative_error })
    }

    /// The pair `(Q, P)`.
    pub(super) fn exchanged(&self) -> Self {
        Self { forward: Arc::clone(&self.backward), backward: Arc::clone(&self.forward), ..*self }
    }

    fn enclosed(&self, delta: &DeltaOf, epsilon: Interval) -> Point {
        let error = Interval::new(self.relative_error);
        // The function is not called with infinite numbers, and a NaN from it says nothing about δ.
        let ask = |epsilon: f64| {
            let delta = if epsilon.is_finite() { delta(epsilon) } else { 0.0 };
            if delta.is_nan() { Interval::between(0.0, 1.0) } else { unit(Interval::new(delta)) }
        };
        // These ends hold whether the error is relative to the truth or to the stated value.
        let high = ask(epsilon.low());
        let low = if epsilon.high() == epsilon.low() { high } else { ask(epsilon.high()) };
        let (low, high) = (low * (Interval::ONE - error), high / (Interval::ONE - error));
        Point { delta: unit(Interval::between(low.low(), high.high())), slope: None }
    }
}

impl Pair for Stated {
    fn at(&self, epsilon: Interval) -> Point {
        two_sided(
            epsilon,
            |epsilon| self.enclosed(&*self.forward, epsilon),
            |epsilon| self.enclosed(&*self.backward, epsilon),
        )
    }

    /// At most the profile at the largest loss that counts as finite.
    fn infinite(&self) -> Interval {
        let left = self.enclosed(&*self.forward, Interval::new(LARGEST_REACH));
        Interval::between(0.0, left.delta.high())
    }
}

/// Refuses a function that is seen to be no profile at about a hundred points: 0 and the powers of `2^{1/4}`
/// from `2^−20` to `2^5.5`.
fn check(delta: &DeltaOf, relative_error: f64) -> Result<(), Error> {
    let what = "the delta of a profile";
    let margin = 1.0 + 2.0 * relative_error + 1e-12;
    let points: Vec<f64> =
        std::iter::once(0.0).chain((-80..=22).map(|k| libm::exp2(0.25 * f64::from(k)))).collect();
    let values: Vec<f64> = points.iter().map(|&epsilon| delta(epsilon)).collect();
    for &value in &values {
        ensure((0.0..=1.0).contains(&value), what, "lie between 0 and 1", value)?;
    }
    for (x, y) in points.windows(3).zip(values.windows(3)) {
        ensure(y[1] <= y[0] * margin, what, "not increase with epsilon", y[1])?;
        // Convexity in e^ε: the middle value is not above the chord. `share` is the weight of the right end.
        let (near, far) = (libm::expm1(x[1] - x[0]), libm::expm1(x[2] - x[0]));
        let share = if far.is_finite() { near / far } else { 0.0 };
        let chord = y[0] + share * (y[2] - y[0]);
        ensure(y[1] <= chord * margin, what, "be convex in the exponential of epsilon", y[1])?;
    }
    Ok(())
}

impl fmt::Debug for Stated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stated(relative error {})", self.relative_error)
    }
}

/// A mechanism of which only a Rényi curve is known. At `ε ≥ 0` the best order gives a bound on `δ`, and at
/// `x = e^ε < 1` the chord from `x = 1` to `(0, 1)` does. Nothing is known from below.
pub(super) struct FromRenyi {
    curve: Box<dyn Fn(Order) -> UpperBound<f64> + Send + Sync>,
    /// The curve at 401 orders, computed once, since a grid asks for `δ` at thousands of points.
    table: OnceLock<Vec<(Order, f64)>>,
}

impl FromRenyi {
    pub(super) fn new(curve: impl Fn(Order) -> UpperBound<f64> + Send + Sync + 'static) -> Self {
        Self { curve: Box::new(curve), table: OnceLock::new() }
    }

    fn table(&self) -> &[(Order, f64)] {
        self.table.get_or_init(|| {
            let orders = (-80..=320).map(|k| 1.0 + libm::exp2(f64::from(k) / 12.0));
            let points = orders.filter_map(|alpha| Order::new(alpha).ok());
            points.map(|order| (order, (self.curve)(order).into_value())).collect()
        })
    }

    /// The bound of the order that is best in floating point. Every order gives a valid bound.
    fn bound(&self, epsilon: f64) -> f64 {
        let about = |&&(order, rho): &&(Order, f64)| {
            let alpha = order.get();
            let size = (alpha - 1.0) * (rho - epsilon - libm::log(alpha / (alpha - 1.0))) - libm::log(alpha);
            if size.is_nan() { f64::INFINITY } else { size }
        };
        let best = self.table().iter().min_by(|one, other| about(one).total_cmp(&about(other)));
        let log = best.map_or(0.0, |&(order, rho)| conversion::log_delta_at(rho, order, epsilon));
        exp_up(log.min(0.0)).min(1.0)
    }
}

impl Pair for FromRenyi {
    fn at(&self, epsilon: Interval) -> Point {
        if epsilon.low() >= 0.0 {
            return Point { delta: Interval::between(0.0, self.bound(epsilon.low())), slope: None };
        }
        let x = Interval::new(epsilon.low()).exp();
        let chord = Interval::ONE - x * (Interval::ONE - Interval::new(self.bound(0.0)));
        let least = -Interval::new(epsilon.high().min(0.0)).expm1();
        Point { delta: unit(Interval::between(least.low(), chord.high())), slope: None }
    }

    fn known_from_below(&self) -> bool {
        false
    }

    fn renyi(&self, alpha: f64) -> Option<f64> {
        Order::new(alpha).ok().map(|order| (self.curve)(order).into_value())
    }
}

impl fmt::Debug for FromRenyi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FromRenyi")
    }
}
