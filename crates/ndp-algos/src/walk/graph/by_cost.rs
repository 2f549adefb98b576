//! `ε` and `δ` of a walk at one noise: the smaller of what its Rényi losses and the law of its cost give.

use super::cost_law::CostLaw;
use ndp_account::{Account, parts::search_of_pair};
use ndp_dp::profile::epsilon_by_one_order;
use ndp_dp::{
    ApproxDp, Curve, Delta, Error, Guarantee, Measure, Mechanism, NoiseMultiplier, Order, Rdp, UpperBound,
};
use ndp_numeric::stop::Stop;
use std::sync::Arc;

/// The accountant of one pair of nodes at one noise: its Rényi losses, and the law of its cost if there is
/// one.
pub(crate) struct ByCost<F> {
    /// The Rényi loss at an order, at this noise; it may be infinite.
    pub(crate) renyi: F,
    pub(crate) cost: Option<Arc<CostLaw>>,
    pub(crate) noise: NoiseMultiplier,
    /// Quick bounds by moments of the cost. Without them a quick bound takes a single Rényi order.
    pub(crate) quick: Option<Box<dyn Quick>>,
    /// Stops all of these. When one of them has been stopped, the others may give answers that are
    /// incomplete, so that `stop` is checked before an answer is returned.
    pub(crate) stop: Stop,
}

/// Quick bounds from moments of the cost, for a pair of nodes at one noise.
pub(crate) trait Quick: Send + Sync {
    /// A proven `ε` at `delta`, close to the smallest one if that is close to `limit`.
    fn epsilon(&self, delta: Delta, limit: f64) -> Option<f64>;

    /// Whether other moments, which are tried one after another, prove that `limit` holds.
    fn keeps(&self, delta: Delta, limit: f64) -> bool;
}

impl<F: Fn(Order) -> Result<UpperBound<f64>, Error> + Send + Sync> Curve for ByCost<F> {
    fn renyi(&self, order: Order) -> Result<Option<Guarantee<f64>>, Error> {
        let loss = (self.renyi)(order)?;
        self.stop.check()?;
        Ok(Some(loss.into()))
    }

    fn epsilon(&self, delta: Delta) -> Result<Guarantee<ApproxDp>, Error> {
        let mut best = f64::INFINITY;
        if let Some(law) = &self.cost
            && let Ok(found) = law.epsilon(self.noise, delta)
        {
            self.stop.check()?;
            best = found.upper();
            if law.is_tight(self.noise, best) {
                return Ok(UpperBound::new(ApproxDp::new(best, delta.get())?).into());
            }
        }
        let epsilon =
            best.min(self.least_by_order(|point| Ok(point.epsilon(delta).into_value()), &[COARSE, FINE])?);
        self.stop.check()?;
        Ok(UpperBound::new(ApproxDp::new(epsilon, delta.get())?).into())
    }

    fn delta(&self, epsilon: f64) -> Result<Guarantee<ApproxDp>, Error> {
        let mut best = 1.0;
        if let Some(law) = &self.cost
            && let Ok(found) = law.delta(self.noise, epsilon)
        {
            self.stop.check()?;
            best = found.upper();
            if law.is_tight(self.noise, epsilon) {
                return Ok(UpperBound::new(ApproxDp::new(epsilon, best)?).into());
            }
        }
        let by_renyi = self
            .least_by_order(|point| Ok(point.delta(epsilon)?.into_value()), &[COARSE, FINE, FINER, FINEST])?;
        let delta = best.min(by_renyi);
        self.stop.check()?;
        Ok(UpperBound::new(ApproxDp::new(epsilon, delta)?).into())
    }

    fn keeps(&self, limit: ApproxDp) -> bool {
        let delta = Delta::new(limit.delta());
        let by_moments = self
            .quick
            .as_ref()
            .is_some_and(|quick| delta.is_ok_and(|delta| quick.keeps(delta, limit.epsilon())));
        by_moments || self.cost.as_ref().is_some_and(|law| law.keeps(self.noise, limit))
    }

    fn quick_epsilon(&self, delta: Delta, limit: f64) -> Option<f64> {
        if let Some(quick) = &self.quick {
            return quick.epsilon(delta, limit);
        }
        let renyi = |order| Some((self.renyi)(order).ok()?.into_value());
        epsilon_by_one_order(renyi, delta, limit)
    }
}

impl<F: Fn(Order) -> Result<UpperBound<f64>, Error>> ByCost<F> {
    /// The smallest value over the orders that are tried, of a bound that follows from the Rényi loss at one
    /// order.
    ///
    /// An order takes up to milliseconds. The search therefore tries a coarse grid of orders, goes beyond an
    /// end of it for as long as this gives a smaller value, and then tries finer grids around the best order.
    /// All grids are parts of fixed ones, so that later questions ask for the same orders.
    fn least_by_order(
        &self,
        value: impl Fn(Rdp) -> Result<f64, Error>,
        grids: &[(f64, i32)],
    ) -> Result<f64, Error> {
        let mut best = (f64::INFINITY, 2.5);
        let look = |ln_excess: f64, best: &mut (f64, f64)| -> Result<bool, Error> {
            let order = Order::new(1.0 + f64::exp(ln_excess))?;
            self.stop.check()?;
            let Ok(loss) = (self.renyi)(order) else { return Ok(false) };
            let value = value(Rdp { order, epsilon: loss.into_value() })?;
            let better = value < best.0;
            if better {
                *best = (value, (order.get() - 1.0).ln());
            }
            Ok(better)
        };
        for &(step, count) in grids {
            let center = best.1;
            for k in -count..=count {
                look(center + step * f64::from(k), &mut best)?;
            }
            for side in [-1, 1] {
                let end = center + step * f64::from(side * count);
                let mut beyond = (1..BEYOND).map(|k| end + step * f64::from(side * k));
                if (best.1 - end).abs() < step / 2.0 {
                    while let Some(ln_excess) = beyond.next()
                        && look(ln_excess, &mut best)?
                    {}
                }
            }
            if best.0 == f64::INFINITY {
                break;
            }
        }
        Ok(best.0)
    }
}

/// The least noise at which `account` says that the loss of `u` is `allowed`: asked of the law of the cost,
/// unless there is none or the profile at that noise has a smaller bound than this law; then by a search.
///
/// # Errors
/// Those of the account and of `law`.
pub(crate) fn least_noise_by_law(
    account: &impl Account,
    u: usize,
    measure: Measure,
    allowed: f64,
    law: impl FnOnce() -> Result<Option<Arc<CostLaw>>, ndp_account::Error>,
) -> Result<Option<NoiseMultiplier>, ndp_account::Error> {
    if let (Measure::Approx(delta), true) = (measure, 0.0 < allowed && allowed.is_finite()) {
        account.observer().checked_source(u, account.node_count())?;
        let epsilon = |noise| Ok(account.profile(u, noise)?.epsilon(delta)?);
        match law()?.map(|law| law.least_noise(allowed, delta)) {
            Some(Err(ndp_account::Error::Stopped(stopped))) => return Err(stopped.into()),
            // A noise of 0 is enough where the observer hardly ever meets what `u` added: the search says so.
            Some(Ok(noise)) if noise.upper() > 0.0 => {
                let found = seen_to_hold(noise.upper(), allowed, epsilon)?;
                if epsilon(found)?.value().epsilon() > NEAR * allowed {
                    return Ok(Some(found));
                }
            }
            Some(_) | None => {}
        }
    }
    search_of_pair(account, u, measure, allowed)
}

/// If `epsilon` at the noise that the law asks for is below this share of the limit, another bound is smaller
/// than the law's.
const NEAR: f64 = 1.0 - 1e-5;

/// The given noise, or a slightly larger one, at which `epsilon` was computed and is at most `limit`. The
/// noise may come from another computation, which rounds differently or uses other tables.
///
/// # Errors
/// Those of `epsilon`; [`Error::NotAchievable`] if a noise that is a tenth larger is not enough.
pub(crate) fn seen_to_hold(
    mut noise: f64,
    limit: f64,
    epsilon: impl Fn(NoiseMultiplier) -> Result<Guarantee<ApproxDp>, ndp_account::Error>,
) -> Result<NoiseMultiplier, ndp_account::Error> {
    let mut best = limit;
    for least in [0.0, 1e-9, 1e-6, 1e-3, 1e-1] {
        // As the noise grows, ε mostly falls at least as fast as its reciprocal.
        noise *= 1.0 + (best / limit - 1.0).clamp(least, 1e-1);
        let at = NoiseMultiplier::new(noise)?;
        best = epsilon(at)?.value().epsilon();
        if best <= limit {
            return Ok(at);
        }
    }
    Err(Error::NotAchievable { what: "epsilon of a walk", target: limit, best }.into())
}

/// Steps of `ln(α − 1)` in a grid of orders, and the number of them on either side of its center. A logarithm
/// of `δ` changes by up to `α` times as much as `ε`, so that its grids are finer.
const COARSE: (f64, i32) = (0.7, 7);
const FINE: (f64, i32) = (0.15, 4);
const FINER: (f64, i32) = (0.03, 4);
const FINEST: (f64, i32) = (0.006, 4);
/// The number of orders that are tried beyond either end of a grid, in steps of 0.7 of `ln(α − 1)`: up to
/// about `1e18`.
const BEYOND: i32 = 50;
