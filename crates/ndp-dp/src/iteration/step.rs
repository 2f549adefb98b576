//! One noisy gradient step, and how much of it can still be seen after further noisy steps.

use crate::error::{ensure, ensure_positive};
use crate::federated::ContractionFactor;
use crate::{Error, Gdp, Order, Sigma, UpperBound};
use ndp_numeric::rounding::Interval;
use serde::Serialize;

/// A noisy gradient step: `L`-Lipschitz loss, noise of standard deviation `σ` on the gradient.
///
/// Replacing the loss moves the iterate by at most `2ηL`, and each step adds noise of standard deviation
/// `ησ`: the step size cancels, and `2L/σ` is all that matters.
///
/// # Examples
/// ```
/// use ndp_dp::{Sigma, federated::ContractionFactor, iteration::NoisyStep};
/// let step = NoisyStep::new(1.0, Sigma::new(10.0)?)?;
/// let convex = ContractionFactor::new(1.0)?;
/// let (at_once, later) = (step.mu_after(1, convex)?, step.mu_after(100, convex)?);
/// assert!(later.value() < at_once.value()); // later noise hides part of the step
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct NoisyStep {
    lipschitz: f64,
    sigma: Sigma,
}

crate::lossless::checked_fields! {
    NoisyStep { lipschitz: f64, sigma: Sigma } => Self::new(lipschitz, sigma)
}

impl NoisyStep {
    /// A step on a loss with Lipschitz constant `lipschitz`, with noise `sigma` on every coordinate of the
    /// gradient.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `L` and `2L/σ` are positive and finite.
    pub fn new(lipschitz: f64, sigma: Sigma) -> Result<Self, Error> {
        ensure_positive("the Lipschitz constant", lipschitz)?;
        ensure_positive("twice the Lipschitz constant in units of sigma", 2.0 * lipschitz / sigma.get())?;
        Ok(Self { lipschitz, sigma })
    }

    /// The Lipschitz constant `L`.
    #[doc(hidden)]
    #[must_use]
    pub const fn lipschitz(&self) -> f64 {
        self.lipschitz
    }

    /// The noise `σ`.
    #[doc(hidden)]
    #[must_use]
    pub const fn sigma(&self) -> Sigma {
        self.sigma
    }

    /// The displacement `2L/σ` in units of the noise, rounded up: the Gaussian parameter of the step seen at
    /// once.
    #[doc(hidden)]
    #[must_use]
    pub fn ratio(&self) -> f64 {
        (Interval::new(2.0) * Interval::new(self.lipschitz) / Interval::new(self.sigma.get())).high()
    }

    /// `θ = (α − 1) · 2αL²/σ²`, the exponent of the step seen at once, rounded up; `∞` where it overflows.
    #[must_use]
    pub(crate) fn theta(&self, order: Order) -> f64 {
        let (ratio, alpha) = (Interval::new(self.ratio()), Interval::new(order.get()));
        // Each order is multiplied by a ratio before the two products are multiplied: the product of two huge
        // orders would overflow even where a tiny ratio makes θ finite.
        (Interval::new(0.5) * (alpha * ratio) * ((alpha - Interval::ONE) * ratio)).high()
    }

    /// Gaussian-DP parameter of a contribution seen after `steps` noisy steps, its own included, when every
    /// later step contracts by `factor`: `(2L/σ)/√W_g`, `W_g = Σ_{i<g} M^{−2i}`.
    ///
    /// Convex losses have `M = 1` and `W_g = g`, strongly convex ones a smaller `M`. The guarantee holds
    /// against an observer who sees the iterates from then on but none before. The step size must be
    /// constant; for `M = 1` it may also be non-decreasing. For `M = 1` the Rényi loss `αμ²/2` is `2αL²/(σ²
    /// g)`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `steps ≥ 1`.
    ///
    /// # References
    /// Bok, Su and Altschuler 2024 (shifted interpolation). Feldman et al. 2018, Theorem 23, for the Rényi
    /// loss at `M = 1`; the constant follows from Theorem 22 with equal shifts.
    pub fn mu_after(&self, steps: u64, factor: ContractionFactor) -> Result<UpperBound<Gdp>, Error> {
        let mu = Interval::new(self.ratio()) * shrinkage(steps, factor)?;
        Ok(UpperBound::new(Gdp::new(mu.high())?))
    }
}

/// `1/√W_k = M^{k−1} √((1 − M²)/(1 − M^{2k}))`, which underflows where `W_k` would overflow.
fn shrinkage(steps: u64, factor: ContractionFactor) -> Result<Interval, Error> {
    ensure_noisy(steps)?;
    if steps == 1 {
        return Ok(Interval::ONE);
    }
    if factor.get() == 0.0 {
        return Ok(Interval::ZERO);
    }
    let log_factor = Interval::new(factor.get()).ln();
    if log_factor.high() == 0.0 {
        return Ok(Interval::ONE / Interval::count(steps).sqrt());
    }
    let squared = Interval::new(2.0) * log_factor;
    let share = squared.expm1() / (squared * Interval::count(steps)).expm1();
    Ok((log_factor * Interval::count(steps - 1)).exp() * share.sqrt())
}

fn ensure_noisy(steps: u64) -> Result<(), Error> {
    ensure(steps >= 1, "the number of noisy steps", "be at least 1", steps as f64)
}

/// The least cost, in units of one contribution seen at once, of hiding contributions made at the given times
/// from an observer who next sees the iterate at time `seen`: `min Σ a_j²`, where noisy step `j` absorbs the
/// share `a_j` and no prefix of the steps may absorb more than has been contributed by then.
///
/// Times are those of the noisy steps: a contribution at time `s` has its own noise at `s`, and the noises
/// `s, …, seen − 1` lie between. The Gaussian-DP parameter is `(2L/σ) √cost`, the Rényi loss `2αL²/σ² ·
/// cost`. The minimum is the lower convex hull of the points (time, contributions made before): the taut
/// string. It is at most `Σ 1/(gap to the next contribution or to seen)`, and at most the number of
/// contributions.
///
/// The accountants of walks are tested against this cost.
///
/// # Errors
/// [`Error::InvalidParameter`] unless the times increase strictly and end before `seen`.
///
/// # References
/// Feldman et al. 2018, Theorem 22: any feasible absorption gives a bound; this is the least.
#[cfg(test)]
pub(crate) fn absorption_cost(contributions: &[u64], seen: u64) -> Result<UpperBound<f64>, Error> {
    let points = contributions.iter().copied().chain([seen]).zip(0u64..);
    // Vertices (time, count) of the lower convex hull, where count is the number of contributions made before
    // that time, the most that the steps so far may absorb.
    let mut hull: Vec<(u64, u64)> = Vec::new();
    for (time, count) in points {
        if let Some(&(last, _)) = hull.last() {
            ensure(
                last < time,
                "a contribution time",
                "come after the one before and before the look",
                time as f64,
            )?;
        }
        while let [.., before, last] = hull[..] {
            // Slopes are compared by cross products of integers, which is exact.
            let left = u128::from(last.1 - before.1) * u128::from(time - last.0);
            let right = u128::from(count - last.1) * u128::from(last.0 - before.0);
            if left < right {
                break;
            }
            hull.pop();
        }
        hull.push((time, count));
    }
    let cost = hull
        .windows(2)
        .map(|pair| {
            let rise = Interval::count(pair[1].1 - pair[0].1);
            rise * rise / Interval::count(pair[1].0 - pair[0].0)
        })
        .sum::<Interval>();
    Ok(UpperBound::new(cost.high()))
}

/// At least one step size, all positive and finite.
pub(crate) fn check_steps(steps: &[f64]) -> Result<(), Error> {
    ensure(!steps.is_empty(), "the number of step sizes", "be at least 1", 0.0)?;
    steps.iter().try_for_each(|&step| ensure_positive("a step size", step))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mechanism;
    use approx::assert_relative_eq;
    use proptest::prelude::*;

    fn step(lipschitz: f64, sigma: f64) -> NoisyStep {
        NoisyStep::new(lipschitz, Sigma::new(sigma).unwrap()).unwrap()
    }

    #[test]
    fn a_step_seen_at_once_is_the_gaussian_mechanism() -> Result<(), Error> {
        let order = Order::new(3.0)?;
        let step = step(1.0, 4.0);
        assert_eq!(step.ratio(), 0.5);
        assert_eq!(step.theta(order), 0.75);
        assert_eq!(step.mu_after(1, factor(1.0))?.value().rdp(order).into_value(), 0.375);
        assert_relative_eq!(
            step.mu_after(5, factor(1.0))?.value().rdp(order).into_value(),
            0.075,
            max_relative = 1e-15
        );
        Ok(())
    }

    fn factor(m: f64) -> ContractionFactor {
        ContractionFactor::new(m).unwrap()
    }

    /// `1/√W_k` against the sum `W_k`.
    #[test]
    fn contraction_matches_its_sum() -> Result<(), Error> {
        let weight = |steps, m| -> Result<f64, Error> {
            let after = step(1.0, 2.0).mu_after(steps, factor(m))?.value().mu();
            Ok(1.0 / (after * after))
        };
        for m in [0.3, 0.8, 0.999_999, 1.0] {
            for steps in [1, 2, 3, 10, 200] {
                let sum: f64 = (0..steps).map(|i| libm::pow(m, -2.0 * i as f64)).sum();
                assert_relative_eq!(weight(steps, m)?, sum, max_relative = 1e-11);
            }
        }
        assert_eq!(weight(1, 0.0)?, 1.0);
        assert_relative_eq!(weight(1_000_000_000_000, 1.0)?, 1e12, max_relative = 1e-15);
        // The loss underflows; it is rounded up, so that it does not become 0.
        assert!(step(1.0, 1.0).mu_after(1_000_000, factor(0.5))?.value().mu() > 0.0);
        assert_eq!(step(1.0, 1.0).mu_after(2, factor(0.0))?.value().mu(), 0.0);
        Ok(())
    }

    #[test]
    fn contracting_steps_hide_more() -> Result<(), Error> {
        let (step, order) = (step(1.0, 2.0), Order::new(3.0)?);
        for steps in [1, 2, 9] {
            let mu = |m| -> Result<f64, Error> { Ok(step.mu_after(steps, factor(m))?.value().mu()) };
            assert!(mu(0.5)? <= mu(0.9)? && mu(0.9)? <= mu(1.0)?);
            // 2αL²/(σ² g).
            let rdp = step.mu_after(steps, factor(1.0))?.value().rdp(order).into_value();
            assert_relative_eq!(rdp, 6.0 / (4.0 * steps as f64), max_relative = 1e-14);
        }
        Ok(())
    }

    #[test]
    fn costs_match_known_values() -> Result<(), Error> {
        assert_eq!(*absorption_cost(&[0, 1, 5], 8)?.value(), 1.125);
        assert_eq!(*absorption_cost(&[], 8)?.value(), 0.0);
        assert_eq!(*absorption_cost(&[3], 8)?.value(), 0.2);
        assert_eq!(*absorption_cost(&[0, 1, 2, 3], 4)?.value(), 4.0);
        Ok(())
    }

    #[test]
    fn bad_input_is_refused() -> Result<(), Error> {
        let sigma = Sigma::new(1e-300)?;
        for bad in [f64::NAN, 0.0, -1.0, f64::INFINITY, 1e300] {
            assert!(matches!(NoisyStep::new(bad, sigma), Err(Error::InvalidParameter { .. })));
        }
        let step = step(1.0, 1.0);
        assert!(matches!(
            step.mu_after(0, factor(0.5)),
            Err(Error::InvalidParameter { name: "the number of noisy steps", .. })
        ));
        for bad in [&[][..], &[1.0, 0.0], &[f64::NAN]] {
            assert!(matches!(check_steps(bad), Err(Error::InvalidParameter { .. })));
        }
        assert!(matches!(
            absorption_cost(&[2, 2], 5),
            Err(Error::InvalidParameter { name: "a contribution time", .. })
        ));
        assert!(matches!(
            absorption_cost(&[3, 2], 5),
            Err(Error::InvalidParameter { name: "a contribution time", .. })
        ));
        assert!(matches!(
            absorption_cost(&[5], 5),
            Err(Error::InvalidParameter { name: "a contribution time", .. })
        ));
        Ok(())
    }

    /// `min Σ a²` by pooling adjacent violators, an independent form of the same isotonic problem.
    fn pooled(contributions: &[u64], seen: u64) -> f64 {
        let mut blocks: Vec<(f64, f64)> = Vec::new();
        for (index, &start) in contributions.iter().enumerate() {
            let end = contributions.get(index + 1).copied().unwrap_or(seen);
            blocks.push((1.0, (end - start) as f64));
            while let [.., a, b] = blocks[..] {
                // A contribution may be absorbed by later steps but not by earlier ones, so the slopes must
                // not decrease: blocks that violate this are merged.
                if a.0 / a.1 <= b.0 / b.1 {
                    break;
                }
                blocks.truncate(blocks.len() - 2);
                blocks.push((a.0 + b.0, a.1 + b.1));
            }
        }
        blocks.iter().map(|(size, length)| size * size / length).sum()
    }

    proptest! {
        #[test]
        fn the_hull_is_the_isotonic_minimum(gaps in prop::collection::vec(1_u64..9, 1..12)) {
            let mut times = vec![0];
            for gap in &gaps {
                times.push(times[times.len() - 1] + gap);
            }
            let seen = times.pop().unwrap_or(0);
            let cost = *absorption_cost(&times, seen)?.value();
            prop_assert!((cost - pooled(&times, seen)).abs() < 1e-12 * cost);
            let by_gaps: f64 = gaps.iter().map(|&gap| 1.0 / gap as f64).sum();
            prop_assert!(cost <= by_gaps * (1.0 + 1e-12));
            // A lower bound: all contributions made at time 0 and absorbed in equal parts by all the steps,
            // which is also the exact cost of constant gradients.
            let count = times.len() as f64;
            prop_assert!(count * count / seen as f64 <= cost * (1.0 + 1e-12));
        }
    }
}
