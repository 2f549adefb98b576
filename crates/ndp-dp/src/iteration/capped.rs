//! Private descent by a walk on the complete graph, with a cap on contributions.

use super::NoisyStep;
use super::geometric::Geometric;
use crate::error::ensure;
use crate::{Error, Guarantee, Mechanism, Order, UpperBound};
use ndp_numeric::rounding::Interval;
use serde::{Deserialize, Serialize};

/// A walk on the complete graph of `n` users, as `c` colluding observers see it, and the loss of one user who
/// makes at most `N` real contributions: `D_α ≤ N ln φ(p, θ)/(α − 1)`, `p = (c + 1)/n`,
/// `θ = 2α(α − 1)L²/σ²`, `φ = E e^{θ/G}` for a geometric gap `G` of parameter `p`.
///
/// The first holder of the token is drawn uniformly; for a given one see [`Self::rdp_from_given_start`].
///
/// Preconditions beyond those of the parent module: the first iterate does not depend on the data, the step
/// size is constant or non-decreasing, and a visit beyond the cap still adds its noise. Nothing is required
/// of `σ`, `α` or the number of steps, and path and times need not be secret. The bound holds whether or not
/// the final token is published.
///
/// Proof. Reveal the whole path, which has the same law under both datasets. Given the path, the displacement
/// of a contribution is absorbed in equal parts by the noises of the `g` steps until the next event in {the
/// user acts, an observer receives}, at cost `2αL²/(σ²g)`; the blocks are disjoint, so the costs add up. Each
/// `g` given the past is geometric.
///
/// The number of contributions of an uncapped run exceeds `N = tails::n_exact(T, 1/n, δ̂)` with probability
/// at most `δ̂`, which is then added to `δ`.
///
/// # Examples
/// ```
/// use ndp_dp::iteration::{CappedWalk, NoisyStep};
/// use ndp_dp::{Delta, Mechanism, RdpAccountant, Sigma};
/// // At most ten contributions of a user among a thousand, one observer.
/// let walk = CappedWalk::new(10, NoisyStep::new(1.0, Sigma::new(20.0)?)?, 1000, 1)?;
/// let spent = RdpAccountant::default().compose(&walk, 1).epsilon(Delta::new(1e-6)?);
/// assert!(*spent.value() < 1.0);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[doc(alias = "gap_rdp_certified")]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CappedWalk {
    contributions: u64,
    step: NoisyStep,
    gap: Geometric,
}

impl CappedWalk {
    /// A walk among `users`, `colluders` of them observing together, with at most `contributions` per user.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `1 ≤ c < n`.
    pub fn new(contributions: u64, step: NoisyStep, users: u64, colluders: u64) -> Result<Self, Error> {
        Ok(Self { contributions, step, gap: Geometric::until_seen(users, colluders)? })
    }

    /// [`Mechanism::rdp`] of a walk of `steps ≥ 1` steps whose first holder is given: in the worst case the
    /// exposed user, whose first contribution is then certain. The loss is larger, since the publication of
    /// the final token may cut that user's gap short.
    ///
    /// It is the smaller of `N ln φ_G`, `φ_G = E e^{θ/min(gap, G)}`, `G = 1 + ⌊(T − 1)/N⌋`, and
    /// `θ + (N − 1) ln φ`, over `α − 1`, with `N` at most `T`. It holds whether or not the final token is
    /// published.
    ///
    /// Proof. `θ + (N − 1) ln φ`: the first contribution is charged as seen at once, and the other steps are
    /// a walk from a uniform start. `N ln φ_G`: let a displacement count as hidden after `G` steps. With `k`
    /// contributions left and at least `k (G − 1)` steps, a contribution of the user is followed, within `G`
    /// steps, by a visit of the user with `(k − 1)(G − 1)` steps left, by an observer or by neither; after
    /// the last two the walk is one from a uniform start, at most `φ^{k−1} ≤ φ_G^{k−1}`. Induction over `k`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `T ≥ 1`.
    pub fn rdp_from_given_start(&self, order: Order, steps: u64) -> Result<UpperBound<f64>, Error> {
        ensure(steps >= 1, "the number of steps of a walk", "be at least 1", steps as f64)?;
        let count = self.contributions.min(steps);
        if count == 0 {
            return Ok(UpperBound::new(0.0));
        }
        let theta = self.step.theta(order) * (1.0 + 4.0 * f64::EPSILON);
        let cut = times(count, self.gap.log_phi_cut(theta, 1 + (steps - 1) / count));
        let alone = Interval::new(theta) + times(count - 1, self.gap.log_phi_unchecked(theta));
        let loss = cut.min(alone) / (Interval::new(order.get()) - Interval::ONE);
        Ok(UpperBound::new(loss.high()))
    }
}

impl Mechanism for CappedWalk {
    /// Upper bound `N ln φ/(α − 1)`, never above the loss of `N` contributions seen at once.
    fn rdp(&self, order: Order) -> Guarantee<f64> {
        let log_phi = self.gap.log_phi_unchecked(self.step.theta(order));
        let exponent = times(self.contributions, log_phi);
        UpperBound::new((exponent / (Interval::new(order.get()) - Interval::ONE)).high()).into()
    }
}

/// `count · x`, where 0 times infinity is 0.
fn times(count: u64, x: f64) -> Interval {
    if count == 0 { Interval::ZERO } else { Interval::count(count) * Interval::new(x) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gdp::half_square;
    use crate::{Delta, Sigma, conversion};
    use approx::assert_relative_eq;
    use proptest::prelude::*;

    fn walk(contributions: u64, lipschitz: f64, sigma: f64, users: u64, colluders: u64) -> CappedWalk {
        let step = NoisyStep::new(lipschitz, Sigma::new(sigma).unwrap()).unwrap();
        CappedWalk::new(contributions, step, users, colluders).unwrap()
    }

    fn order(alpha: f64) -> Order {
        Order::new(alpha).unwrap()
    }

    #[test]
    fn losses_match_50_digit_values() -> Result<(), Error> {
        let value = *walk(10, 1.0, 4.0, 1000, 1).rdp(order(3.0)).value();
        assert_relative_eq!(value, 0.052_036_740_724_073_43, max_relative = 1e-12);
        let value = *walk(10, 1.0, 4.0, 1000, 3).rdp(order(8.0)).value();
        assert_relative_eq!(value, 2.484_010_733_530_589, max_relative = 1e-12);
        Ok(())
    }

    #[test]
    fn converted_losses_match_50_digit_values() -> Result<(), Error> {
        let rdp = walk(10, 1.0, 4.0, 1000, 1).rdp(order(3.0)).into_value();
        for (delta, expected) in [(1e-6, 6.005_020_767_263_991), (9.5e-7, 6.030_667_414_457_767)] {
            let epsilon = crate::Rdp { order: order(3.0), epsilon: rdp }.epsilon(Delta::new(delta)?);
            assert_relative_eq!(*epsilon.value(), expected, max_relative = 1e-12);
        }
        Ok(())
    }

    /// The setting of Figure 2 of the paper: 2000 users, 12 contributions, `L = 1`, `δ = 1e-6`. The printed
    /// noise is more than twice as large.
    #[test]
    fn noise_levels_of_figure_2_meet_their_budgets() -> Result<(), Error> {
        for (budget, sigma) in [(10.0, 1.178), (1.0, 8.12)] {
            let spent = |sigma: f64| -> Result<f64, Error> {
                let walk = walk(12, 1.0, sigma, 2000, 1);
                let curve = |order| walk.rdp(order).into();
                Ok(conversion::best_epsilon(curve, Delta::new(1e-6)?).value().approx_dp.epsilon())
            };
            assert!(spent(1.001 * sigma)? <= budget && spent(0.99 * sigma)? > budget);
        }
        Ok(())
    }

    #[test]
    fn limits_are_right() {
        assert_eq!(*walk(0, 1.0, 1e-150, 10, 1).rdp(order(1e10)).value(), 0.0);
        // Everyone else colludes, so that every contribution is seen at once.
        assert_relative_eq!(*walk(3, 1.0, 1.0, 4, 3).rdp(order(2.0)).value(), 12.0, max_relative = 1e-15);
        assert_eq!(*walk(1, 1.0, 1e-300, 10, 1).rdp(order(1e10)).value(), f64::INFINITY);
        assert!(walk(1_000_000_000_000, 1.0, 1e3, 1_000_000_000_000, 1).rdp(order(2.0)).value().is_finite());
        let step = NoisyStep::new(1.0, Sigma::new(1.0).unwrap()).unwrap();
        for (users, colluders) in [(1, 1), (5, 0), (5, 5)] {
            assert!(matches!(
                CappedWalk::new(1, step, users, colluders),
                Err(Error::InvalidParameter { name: "the number of colluders", .. })
            ));
        }
    }

    proptest! {
        #[test]
        fn amplified_losses_are_ordered(
            contributions in 1_u64..50,
            sigma in 0.3..30.0_f64,
            users in 3_u64..5000,
            alpha in 1.01..60.0_f64,
        ) {
            let order = order(alpha);
            let here = walk(contributions, 1.0, sigma, users, 1);
            let loss = *here.rdp(order).value();
            let slack = 1.0 + 1e-11;
            // The loss of N contributions that are all seen at once.
            let alone = contributions as f64 * half_square(order.get(), here.step.ratio());
            prop_assert!(loss <= alone * slack);
            prop_assert!(loss <= walk(contributions + 1, 1.0, sigma, users, 1).rdp(order).value() * slack);
            prop_assert!(loss <= walk(contributions, 1.1, sigma, users, 1).rdp(order).value() * slack);
            prop_assert!(loss <= walk(contributions, 1.0, sigma, users, 2).rdp(order).value() * slack);
            prop_assert!(walk(contributions, 1.0, sigma, users + 1, 1).rdp(order).value() <= &(loss * slack));
            prop_assert!(loss <= here.rdp(Order::new(1.1 * alpha)?).value() * slack);
        }
    }
}
