//! From Rényi differential privacy to `(ε, δ)`, and back.
//!
//! There are two conversions of one point `(α, ρ)` of a Rényi curve: Mironov's ([`mironov_delta`]), and the
//! optimal one, which is never worse and which [`Rdp`](crate::Rdp) uses. Every order gives a guarantee, so
//! that [`best_epsilon`] and [`best_delta`] may search the order freely: a search that misses the minimum
//! returns a larger bound, never a false one.
//!
//! # References
//! - Mironov, *Rényi differential privacy*, CSF 2017, arXiv:1702.07476: Proposition 3.
//! - Balle, Barthe, Gaboardi, Hsu and Sato, *Hypothesis testing interpretations and Rényi differential
//!   privacy*, AISTATS 2020, arXiv:1905.09982: Theorem 21; Canonne, Kamath and Steinke, *The discrete
//!   Gaussian for differential privacy*, 2020, arXiv:2004.00010: Proposition 12 (the optimal conversion).
//! - Bretagnolle and Huber, *Estimation des densités : risque minimax*, 1979: `TV ≤ √(1 − e^{−KL})`.

use crate::error::ensure;
use crate::gaussian::check_epsilon;
use crate::{ApproxDp, Delta, Error, Order, UpperBound};
use ndp_numeric::rounding::{Interval, exp_up};
use serde::{Deserialize, Serialize};
use std::cell::Cell;

/// A guarantee, and the order of the Rényi curve from which it was computed.
///
/// # Examples
/// ```
/// use ndp_dp::{Delta, UpperBound, conversion::best_epsilon};
/// // A Rényi curve whose divergence of order α is α/32.
/// let found = best_epsilon(|order| UpperBound::new(order.get() / 32.0), Delta::new(1e-5)?).into_value();
/// assert!(found.approx_dp.epsilon() < 1.3 && found.order.is_some());
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Converted {
    /// The guarantee.
    pub approx_dp: ApproxDp,
    /// The order that gave it; `None` when no order gave a finite bound.
    pub order: Option<Order>,
}

/// Mironov's conversion of an `(α, ρ)`-RDP guarantee: `δ = exp((α − 1)(ρ − ε))`, at most 1.
///
/// # Errors
/// [`Error::InvalidParameter`] unless `0 ≤ ρ ≤ ∞`, [`Error::InvalidEpsilon`] unless `0 ≤ ε < ∞`.
pub fn mironov_delta(rho: f64, order: Order, epsilon: f64) -> Result<UpperBound<f64>, Error> {
    check_rho(rho)?;
    check_epsilon(epsilon)?;
    let log_delta = excess(order) * (Interval::new(rho) - Interval::new(epsilon));
    Ok(UpperBound::new(exp_up(log_delta.high().min(0.0)).min(1.0)))
}

/// The smallest `ε` that a Rényi curve gives at `δ`, over all orders. The search takes a logarithmic grid of
/// `α − 1` from 1e-2 to 1e6, continues beyond its ends by factors of ten as long as that helps, and then
/// refines the best point by golden sections.
///
/// `curve` returns an upper bound of the Rényi divergence of the given order, perhaps infinite (NaN and
/// negative numbers count as infinite). `ε = ∞` when no order gives a finite bound.
///
/// # Complexity
/// About 130 evaluations of the curve, and one more for every power of ten beyond the grid. If the curve is
/// expensive, take the least `ε` of a few points [`Rdp`](crate::Rdp) instead.
///
/// # Examples
/// ```
/// use ndp_dp::{Delta, UpperBound, conversion};
/// // zCDP with ρ = 0.1: the divergence of order α is at most 0.1 α.
/// let best = conversion::best_epsilon(|order| UpperBound::new(0.1 * order.get()), Delta::new(1e-6)?);
/// assert!(best.value().approx_dp.epsilon() < 0.1 + 2.0 * (0.1 * 1e6_f64.ln()).sqrt());
/// # Ok::<(), ndp_dp::Error>(())
/// ```
pub fn best_epsilon(curve: impl Fn(Order) -> UpperBound<f64>, delta: Delta) -> UpperBound<Converted> {
    let (order, epsilon) = minimize(0.0, |order| epsilon_at(curve(order).into_value(), order, delta));
    converted(epsilon, delta.get(), order)
}

/// The smallest `δ` that a Rényi curve gives at `ε`, over all orders; the search of [`best_epsilon`].
///
/// # Errors
/// [`Error::InvalidEpsilon`] unless `0 ≤ ε < ∞`.
pub fn best_delta(
    curve: impl Fn(Order) -> UpperBound<f64>,
    epsilon: f64,
) -> Result<UpperBound<Converted>, Error> {
    check_epsilon(epsilon)?;
    // The bound by total variation is best at the smallest orders. It is kept apart, since with it the search
    // would not see where the bound of the conversion decreases.
    let by_variation = Cell::new((None, f64::INFINITY));
    let by_order = minimize(NO_DELTA, |order| {
        let rho = curve(order).into_value();
        let log_delta = log_variation(rho);
        if log_delta < by_variation.get().1 {
            by_variation.set((Some(order), log_delta));
        }
        optimal_log_delta(rho, order, epsilon)
    });
    let (order, log_delta) = if by_variation.get().1 < by_order.1 { by_variation.get() } else { by_order };
    Ok(converted(epsilon, exp_up(log_delta.min(0.0)), order))
}

fn converted(epsilon: f64, delta: f64, order: Option<Order>) -> UpperBound<Converted> {
    UpperBound::new(Converted { approx_dp: ApproxDp::clamped(epsilon, delta), order })
}

/// The `ε` of the optimal conversion, or 0 if total variation alone gives `(0, δ)`.
pub(crate) fn epsilon_at(rho: f64, order: Order, delta: Delta) -> f64 {
    if bounds_nothing(rho) {
        return f64::INFINITY;
    }
    // The divergence of any order α > 1 bounds the Kullback-Leibler divergence KL, and the total variation TV
    // satisfies TV² ≤ 1 − e^{−KL}. If δ² is at least that, ε is 0, which the formula below would not find.
    let (rho, delta, alpha) = (Interval::new(rho), Interval::new(delta.get()), Interval::new(order.get()));
    if (delta * delta).low() >= (-(-rho).expm1()).high() {
        return 0.0;
    }
    (rho + shrink(order) - (delta.ln() + alpha.ln()) / excess(order)).high().max(0.0)
}

/// `ln δ` of the optimal conversion, or of total variation if that is smaller.
pub(crate) fn log_delta_at(rho: f64, order: Order, epsilon: f64) -> f64 {
    optimal_log_delta(rho, order, epsilon).min(log_variation(rho)).min(0.0)
}

/// Whether a number bounds no divergence: infinite, NaN or negative.
fn bounds_nothing(rho: f64) -> bool {
    !(0.0..f64::INFINITY).contains(&rho)
}

/// `ln δ` of the optimal conversion; infinite if the divergence has no bound.
fn optimal_log_delta(rho: f64, order: Order, epsilon: f64) -> f64 {
    if bounds_nothing(rho) {
        return f64::INFINITY;
    }
    let (rho, epsilon, alpha) = (Interval::new(rho), Interval::new(epsilon), Interval::new(order.get()));
    (excess(order) * (rho - epsilon + shrink(order)) - alpha.ln()).high()
}

/// `ln √(1 − e^{−ρ})`, the logarithm of a bound on total variation; infinite if the divergence has no bound.
fn log_variation(rho: f64) -> f64 {
    if bounds_nothing(rho) {
        return f64::INFINITY;
    }
    (Interval::new(0.5) * (-(-Interval::new(rho)).expm1()).ln()).high()
}

/// `α − 1`.
fn excess(order: Order) -> Interval {
    Interval::new(order.get()) - Interval::ONE
}

/// `ln(1 − 1/α)`, computed as `ln(α − 1) − ln α` for `α < 2`, since `1 − 1/α` cancels near 1.
fn shrink(order: Order) -> Interval {
    let alpha = Interval::new(order.get());
    if order.get() < 2.0 { excess(order).ln() - alpha.ln() } else { (-(Interval::ONE / alpha)).ln_1p() }
}

/// A logarithm so small that `δ` is reported as the smallest float; the search need not go below it.
const NO_DELTA: f64 = -800.0;

/// The smallest finite value of the objective that was found on the whole range of orders, with its order. A
/// value of at most `enough` is not improved further.
fn minimize(enough: f64, objective: impl Fn(Order) -> f64) -> (Option<Order>, f64) {
    let at = |log_excess: f64| match Order::new(1.0 + libm::exp(log_excess)) {
        Ok(order) => (Some(order), objective(order)),
        Err(_) => (None, f64::INFINITY),
    };
    let (low, mut step, points) = (libm::log(1e-2), libm::log(10.0) / 10.0, 81);
    let mut best = (None, f64::INFINITY);
    let mut center = low;
    let mut values = Vec::new();
    for i in 0..points {
        let x = low + step * f64::from(i);
        let candidate = at(x);
        values.push(candidate.1);
        if candidate.1 < best.1 {
            (best, center) = (candidate, x);
        }
    }
    // For small losses the best order lies above the grid, for large ones below it. The search continues
    // outward at each end as long as the values decrease there, even if a better value was found elsewhere.
    // If no value of the grid is finite, one below it may be; the search ends when the order is no longer a
    // float above 1.
    let high = low + step * f64::from(points - 1);
    let decade = 10.0 * step;
    let inner = |at: usize| values.get(at).copied().unwrap_or(f64::INFINITY);
    let ends = [
        (low, -decade, [inner(0), inner(1)]),
        (high, decade, [inner(values.len() - 1), inner(values.len() - 2)]),
    ];
    for (end, decade, [mut last, before]) in ends {
        let mut x = end;
        let mut further = last < before || (last.is_infinite() && decade < 0.0);
        while further && best.1 > enough {
            x += decade;
            let candidate = at(x);
            further = candidate.1 < last || (last.is_infinite() && decade < 0.0 && candidate.0.is_some());
            last = candidate.1;
            if candidate.1 < best.1 {
                (best, center, step) = (candidate, x, decade.abs());
            }
        }
    }
    if best.0.is_none() || best.1 <= enough {
        return best;
    }
    // Golden sections. Every point visited is a candidate, so the result is valid even if the objective is
    // not unimodal.
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let (mut a, mut b) = (center - step, center + step);
    let (mut x, mut y) = (b - GOLDEN * (b - a), a + GOLDEN * (b - a));
    let (mut at_x, mut at_y) = (at(x), at(y));
    for _ in 0..40 {
        for candidate in [at_x, at_y] {
            if candidate.1 < best.1 {
                best = candidate;
            }
        }
        if at_x.1 <= at_y.1 {
            (b, y, at_y) = (y, x, at_x);
            x = b - GOLDEN * (b - a);
            at_x = at(x);
        } else {
            (a, x, at_x) = (x, y, at_y);
            y = a + GOLDEN * (b - a);
            at_y = at(y);
        }
    }
    best
}

fn check_rho(rho: f64) -> Result<(), Error> {
    ensure(0.0 <= rho, "a Rényi divergence", "be nonnegative", rho)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mechanism, Rdp};
    use approx::assert_relative_eq;

    fn order(alpha: f64) -> Order {
        Order::new(alpha).unwrap()
    }

    fn d(delta: f64) -> Delta {
        Delta::new(delta).unwrap()
    }

    #[test]
    fn a_delta_that_says_nothing_is_one() {
        for (rho, alpha) in [(0.0, 1.1), (3.0, 2.0), (f64::INFINITY, 7.0)] {
            assert_eq!(*mironov_delta(rho, order(alpha), 0.0).unwrap().value(), 1.0);
        }
    }

    fn point(rho: f64, alpha: f64) -> Rdp {
        Rdp { order: order(alpha), epsilon: rho }
    }

    /// 50-digit values of the specification.
    #[test]
    fn conversions_match_reference_values() -> Result<(), Error> {
        let check = |value: UpperBound<f64>, reference: f64| {
            assert_relative_eq!(value.into_value(), reference, max_relative = 1e-13);
        };
        check(point(0.2, 5.0).epsilon(d(1e-6)).into(), 3.028_374_610_068_334);
        check(point(0.7, 20.0).epsilon(d(1e-5)).into(), 1.096_980_031_476_462);
        check(point(0.2, 8.0).delta(2.0)?.into(), 1.655_220_712_404_659_6e-7);
        check(point(0.19, 8.0).delta(2.0)?.into(), 1.543_317_562_826_425_5e-7);
        Ok(())
    }

    /// For the curve of a Gaussian, no conversion may be below the exact profile, and the best one almost
    /// reaches it.
    #[test]
    fn best_conversions_lie_between_the_truth_and_every_single_order() -> Result<(), Error> {
        for mu in [0.01_f64, 0.3, 1.0, 6.0] {
            let curve = |order: Order| UpperBound::new(order.get() * mu * mu / 2.0);
            for delta in [1e-12, 1e-5, 0.01] {
                let best = best_epsilon(curve, d(delta)).into_value();
                let exact = crate::gaussian::epsilon(mu, d(delta))?.into_value();
                assert!(exact <= best.approx_dp.epsilon());
                for alpha in [1.01, 1.5, 2.0, 5.0, 17.0, 300.0, 5000.0] {
                    let one =
                        UpperBound::from(point(curve(order(alpha)).into_value(), alpha).epsilon(d(delta)));
                    assert!(best.approx_dp.epsilon() <= *one.value() * (1.0 + 1e-9));
                }
                if best.approx_dp.epsilon() > 0.0 {
                    let back = best_delta(curve, best.approx_dp.epsilon())?.into_value();
                    assert_relative_eq!(back.approx_dp.delta(), delta, max_relative = 1e-6);
                }
            }
        }
        Ok(())
    }

    /// The best order of a Gaussian is proportional to `1/μ`: above any fixed grid for small `ε`, and below
    /// it for large ones. The optimal conversion is within a fifth of the exact profile.
    #[test]
    fn orders_are_searched_as_far_as_they_help() -> Result<(), Error> {
        for (mu, delta) in [
            (1e-8_f64, 1e-12),
            (1e-7, 1e-30),
            (1e-12, 1e-20),
            (1e-30, 1e-40),
            (1e-100, 1e-150),
            (1e3, 1e-9),
            (1e5, 1e-5),
        ] {
            let curve = |order: Order| UpperBound::new(order.get() * mu * mu / 2.0);
            let exact = crate::gaussian::epsilon(mu, d(delta))?.into_value();
            let best = best_epsilon(curve, d(delta)).into_value();
            let epsilon = best.approx_dp.epsilon();
            assert!(exact <= epsilon && epsilon <= 1.2 * exact, "mu {mu:e}: {epsilon:e} for {exact:e}");
            let order = best.order.map_or(0.0, |order| (order.get() - 1.0) * mu);
            assert!((1.0..40.0).contains(&order), "mu {mu:e}: the order is {order} / mu");
            let back = best_delta(curve, epsilon)?.into_value().approx_dp.delta();
            assert_relative_eq!(back.ln(), delta.ln(), max_relative = 1e-4);
        }
        // The curve is finite only at orders close to 1.
        let narrow = |order: Order| UpperBound::new(if order.get() < 1.001 { 1.0 } else { f64::INFINITY });
        assert!(best_epsilon(narrow, d(0.1)).value().approx_dp.epsilon().is_finite());
        // The divergence of a pure guarantee is finite at every order: δ is the smallest float, and the
        // search ends.
        let pure = best_delta(|_| UpperBound::new(0.5), 1.0)?.into_value();
        assert_eq!(pure.approx_dp.delta(), 5e-324);
        Ok(())
    }

    #[test]
    fn extremes_are_limits_or_errors() -> Result<(), Error> {
        assert!(matches!(
            mironov_delta(-0.1, order(2.0), 1.0),
            Err(Error::InvalidParameter { name: "a Rényi divergence", .. })
        ));
        for bad in [f64::NAN, -0.1] {
            assert_eq!(*point(bad, 2.0).epsilon(d(0.1)).value(), f64::INFINITY);
            assert_eq!(*point(bad, 2.0).delta(1.0)?.value(), 1.0);
        }
        assert!(matches!(point(0.1, 2.0).delta(f64::NAN), Err(Error::InvalidEpsilon(..))));
        // The divergence at a smaller order is at most as large; nothing is known of larger orders.
        assert_eq!(*point(0.1, 2.0).rdp(order(1.5)).value(), 0.1);
        assert_eq!(*point(0.1, 2.0).rdp(order(2.5)).value(), f64::INFINITY);
        assert!(matches!(best_delta(|_| UpperBound::new(1.0), f64::NAN), Err(Error::InvalidEpsilon(..))));
        let useless = best_epsilon(|_| UpperBound::new(f64::INFINITY), d(0.1)).into_value();
        assert_eq!((useless.approx_dp.epsilon(), useless.order), (f64::INFINITY, None));
        let broken = best_epsilon(|_| UpperBound::new(f64::NAN), d(0.1)).into_value();
        assert_eq!(broken.approx_dp.epsilon(), f64::INFINITY);
        assert_eq!(best_epsilon(|_| UpperBound::new(0.0), d(1e-6)).value().approx_dp.epsilon(), 0.0);
        assert_eq!(best_delta(|_| UpperBound::new(f64::INFINITY), 1.0)?.value().approx_dp.delta(), 1.0);
        assert_eq!(best_delta(|_| UpperBound::new(0.0), 1.0)?.value().approx_dp.delta(), 0.0);
        Ok(())
    }

    /// A number that is no divergence, because it is negative or NaN, bounds nothing.
    #[test]
    fn curves_without_a_bound_give_none() -> Result<(), Error> {
        for broken in [f64::NEG_INFINITY, f64::NAN, f64::INFINITY] {
            let curve = |_: Order| UpperBound::new(broken);
            assert_eq!(best_epsilon(curve, d(0.1)).value().approx_dp.epsilon(), f64::INFINITY, "{broken}");
            assert_eq!(best_delta(curve, 1.0)?.value().approx_dp.delta(), 1.0, "{broken}");
        }
        Ok(())
    }
}
