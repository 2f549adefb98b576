//! Guarantees of a sum along the uniform walk: the averaged Rényi loss as `(ε, δ)`, the local guarantee,
//! which may be smaller, and the noise that a target needs.
//!
//! Noise is Gaussian, with `μ = Δ/σ` for one contribution. Neighbors are replace-one: all contributions of a
//! node may change. Observers are those of [`CompleteWalk`].

use super::CompleteWalk;
use ndp_account::Error;
use ndp_account::parts::ensure;
use ndp_dp::conversion::Converted;
use ndp_dp::{ApproxDp, Delta, Gdp, Mechanism, Order, Rdp, UpperBound, tails};
use ndp_numeric::sums::up;

/// How the number of contributions of a node is bounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Visits {
    /// The protocol caps them; on further visits a node adds noise alone.
    Capped(u64),
    /// With at most this probability, which is part of the total `δ`, they exceed a number that is accounted
    /// for: the exact quantile of their binomial law.
    Quantile(Delta),
}

impl CompleteWalk {
    /// The smallest `ε` at `δ` from the loss averaged over the walk, over all orders `α`. The observer may
    /// know the path.
    ///
    /// # Errors
    /// [`ndp_dp::Error::InvalidMu`] unless `0 ≤ μ < ∞`.
    ///
    /// # Complexity
    /// About 50 moments, see [`CompleteWalk::log_mgf_bound`].
    ///
    /// # References
    /// Replaces Theorem 3 of Cyffers and Bellet, arXiv:2012.05326, whose proof fails. The conversion is that
    /// of Canonne, Kamath and Steinke 2020.
    pub(crate) fn epsilon(&self, mu: f64, delta: Delta) -> Result<UpperBound<Converted>, Error> {
        let at = |order: Order| -> Result<(f64, f64), Error> {
            let rho = self.rdp_bound(order, mu)?.into_value();
            Ok((Rdp { order, epsilon: rho }.epsilon(delta).into_value(), rho))
        };
        // ρ and all other terms grow with α, except ln(1/δ)/(α − 1), which is at least 0. The sum without it
        // is therefore a lower bound on ε at all larger orders.
        let least_beyond = |order: Order, rho: f64| {
            let alpha = order.get();
            rho + (-1.0 / alpha).ln_1p() - alpha.ln() / (alpha - 1.0)
        };
        let (order, epsilon) = best_order(at, least_beyond)?;
        let approx_dp = ApproxDp::new(epsilon, delta.get())?;
        Ok(UpperBound::new(Converted { approx_dp, order }))
    }

    /// The smallest `δ` at `ε` from the loss averaged over the walk, over all orders `α`. The observer may
    /// know the path.
    ///
    /// # Errors
    /// [`ndp_dp::Error`] unless `0 ≤ μ < ∞` and `0 ≤ ε < ∞`.
    pub(crate) fn delta(&self, mu: f64, epsilon: f64) -> Result<UpperBound<Converted>, Error> {
        let at = |order: Order| -> Result<(f64, f64), Error> {
            let rho = self.rdp_bound(order, mu)?.into_value();
            Ok((Rdp { order, epsilon: rho }.delta(epsilon)?.into_value(), rho))
        };
        // Once ρ > ε + 1, the factor of exponent (α − 1)(ρ − ε) grows faster than all others decrease.
        let least_beyond = |_: Order, rho: f64| if rho > epsilon + 1.0 { 1.0 } else { 0.0 };
        let (order, delta) = best_order(at, least_beyond)?;
        let approx_dp = ApproxDp::new(epsilon, delta.min(1.0))?;
        Ok(UpperBound::new(Converted { approx_dp, order }))
    }

    /// The largest `μ` found for which the loss averaged over the walk gives `(ε, δ)`, with noise `σ = Δ/μ`;
    /// 0 if there is none.
    ///
    /// # Errors
    /// [`ndp_dp::Error::InvalidEpsilon`] unless `0 ≤ ε < ∞`.
    ///
    /// # Complexity
    /// About 60 moments, one for each `θ`: the least order that meets the target then needs no further
    /// moment, and `μ² = 2θ/(α (α − 1))`.
    pub(crate) fn calibrated_mu(&self, epsilon: f64, delta: Delta) -> Result<f64, Error> {
        Gdp::new(0.0)?.delta(epsilon)?;
        let mu_at = |ln_theta: f64| -> Result<f64, Error> {
            let theta = ln_theta.exp();
            let ln_moment = self.log_mgf_bound(theta)?.into_value();
            let Some(alpha) = least_order(ln_moment, epsilon, delta)? else { return Ok(0.0) };
            // There are at most four roundings, and the verified order stays valid for a smaller μ.
            Ok((2.0 * theta / (alpha * (alpha - 1.0))).sqrt() * (1.0 - 4.0 * f64::EPSILON))
        };
        maximum(LN_LEAST_THETA, LN_MOST_THETA, mu_at)
    }

    /// The largest number of contributions of one node that is accounted for, and the part of `δ` that this
    /// uses.
    pub(crate) fn visit_count(&self, visits: Visits) -> Result<(u64, f64), Error> {
        match visits {
            Visits::Capped(cap) => Ok((cap.min(self.step_count() as u64), 0.0)),
            Visits::Quantile(failure) => {
                let p = 1.0 / self.node_count() as f64;
                let count = tails::n_exact(self.step_count() as u64, p, failure)?.into_value();
                Ok((count, failure.get()))
            }
        }
    }

    /// The local guarantee: every contribution is released by itself, which is a release of parameter `μ √N`,
    /// whatever the path, the coalition and the publication are.
    ///
    /// It is an upper bound: with some probability the walk visits a given node less often than the cap
    /// allows.
    ///
    /// # Errors
    /// [`ndp_dp::Error::InvalidMu`] unless `0 ≤ μ`; [`Error::InvalidParameter`] unless `δ` is larger than the
    /// probability that a node contributes more often than is accounted for.
    pub(crate) fn local_epsilon(
        &self,
        mu: f64,
        visits: Visits,
        delta: Delta,
    ) -> Result<UpperBound<f64>, Error> {
        let (count, failure) = self.visit_count(visits)?;
        let rest = delta_beside(failure, delta)?;
        Ok(Gdp::new(up(mu * (count as f64).sqrt()))?.epsilon(rest).into())
    }
}

/// The part of `delta` that remains when `failure` is spent, the probability that a node contributes more
/// often than is accounted for.
pub(super) fn delta_beside(failure: f64, delta: Delta) -> Result<Delta, Error> {
    let name = "the probability of more contributions than are accounted for";
    ensure(failure < delta.get(), name, "be below delta, of which it is a part", failure)?;
    Ok(Delta::new(delta.get() - failure)?)
}

/// The smallest value over the orders, and its order. `at` gives the value and the loss at an order;
/// `least_beyond` is a lower bound on the values at all larger orders.
fn best_order(
    at: impl Fn(Order) -> Result<(f64, f64), Error>,
    least_beyond: impl Fn(Order, f64) -> f64,
) -> Result<(Option<Order>, f64), Error> {
    let mut best = (None, f64::INFINITY);
    let probe = |ln_excess: f64, best: &mut (Option<Order>, f64)| -> Result<(f64, bool), Error> {
        let order = Order::new(1.0 + ln_excess.exp())?;
        let (value, loss) = at(order)?;
        if value < best.1 {
            *best = (Some(order), value);
        }
        Ok((value, !loss.is_finite() || least_beyond(order, loss) > best.1))
    };
    let mut center = LN_LEAST_EXCESS;
    let mut ln_excess = LN_LEAST_EXCESS;
    while ln_excess < LN_MOST_EXCESS {
        let before = best.1;
        let (_, hopeless) = probe(ln_excess, &mut best)?;
        if best.1 < before {
            center = ln_excess;
        }
        if hopeless {
            break;
        }
        ln_excess += STEP;
    }
    golden(center - STEP, center + STEP, |x| Ok(probe(x, &mut best)?.0))?;
    Ok(best)
}

/// The largest of all values that a search meets, on a grid and then by golden sections around its best
/// point.
fn maximum(low: f64, high: f64, f: impl Fn(f64) -> Result<f64, Error>) -> Result<f64, Error> {
    let (mut best, mut center) = (0.0, low);
    let mut x = low;
    while x < high {
        let value = f(x)?;
        if value > best {
            (best, center) = (value, x);
        }
        x += STEP;
    }
    golden(center - STEP, center + STEP, |x| {
        let value = f(x)?;
        best = best.max(value);
        Ok(-value)
    })?;
    Ok(best)
}

/// Golden-section search for a minimum; the caller keeps the best value that was met.
fn golden(mut low: f64, mut high: f64, mut f: impl FnMut(f64) -> Result<f64, Error>) -> Result<(), Error> {
    const RATIO: f64 = 0.618_033_988_749_894_9;
    let (mut x, mut y) = (high - RATIO * (high - low), low + RATIO * (high - low));
    let (mut at_x, mut at_y) = (f(x)?, f(y)?);
    for _ in 0..20 {
        if at_x <= at_y {
            (high, y, at_y) = (y, x, at_x);
            x = high - RATIO * (high - low);
            at_x = f(x)?;
        } else {
            (low, x, at_x) = (x, y, at_y);
            y = low + RATIO * (high - low);
            at_y = f(y)?;
        }
    }
    Ok(())
}

/// The least `α` (up to a part in 1e12, rounded up) at which a moment `ln E` gives `(ε, δ)`.
fn least_order(ln_moment: f64, epsilon: f64, delta: Delta) -> Result<Option<f64>, Error> {
    let meets = |ln_excess: f64| -> Result<bool, Error> {
        let excess = ln_excess.exp();
        let order = Order::new(1.0 + excess)?;
        Ok(*Rdp { order, epsilon: ln_moment / excess }.epsilon(delta).value() <= epsilon)
    };
    // At a fixed moment, the converted ε falls with α until it is negative, so that the orders that meet the
    // target are all orders from some α on.
    let (mut fails, mut holds) = (LN_LEAST_EXCESS, LN_MOST_EXCESS);
    if !ln_moment.is_finite() || !meets(holds)? {
        return Ok(None);
    }
    for _ in 0..52 {
        let middle = 0.5 * (fails + holds);
        if meets(middle)? { holds = middle } else { fails = middle }
    }
    Ok(Some(1.0 + holds.exp()))
}

/// `ln(α − 1)` of the smallest and largest orders that are tried: 0.01 and 1e18. The best order of a small
/// `ε` is near `2 ln(1/δ)/ε`. Searches end where no larger order can be better, so that a large end costs no
/// time.
const LN_LEAST_EXCESS: f64 = -4.605;
const LN_MOST_EXCESS: f64 = 41.45;

/// `ln θ` of the smallest and largest moments that are tried: beyond `θ = 60`, a contribution that is seen
/// alone raises its probability in the moment by a factor of `e^{60}`.
const LN_LEAST_THETA: f64 = -16.0;
const LN_MOST_THETA: f64 = 4.1;

/// The step of the grid in both searches.
const STEP: f64 = 0.7;

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    fn d(delta: f64) -> Result<Delta, Error> {
        Ok(Delta::new(delta)?)
    }

    /// Illustrative values of the specification, which were computed on a coarse grid of orders: ε₀ = 0.1
    /// (classic noise, δ₀ = 1e-6), T = 100 n, δ = 1e-6.
    #[test]
    fn scaling_matches_the_specification() -> Result<(), Error> {
        let sigma = ndp_dp::Gaussian::classic(0.1, d(1e-6)?, ndp_dp::Sensitivity::new(1.0)?)?;
        let mu = 1.0 / sigma.value().sigma.get();
        for (n, reference) in [(5, 0.546), (10, 0.382), (20, 0.266), (50, 0.165), (100, 0.1155)] {
            let walk = CompleteWalk::new(n, 100 * n)?;
            let epsilon = walk.epsilon(mu, d(1e-6)?)?.value().approx_dp.epsilon();
            assert_relative_eq!(epsilon, reference, max_relative = 0.02);
            assert!(epsilon <= reference * 1.01);
        }
        Ok(())
    }

    #[test]
    fn searches_agree_with_a_fine_grid_of_orders() -> Result<(), Error> {
        for (n, steps, mu, delta) in [(4, 12, 0.3, 1e-5), (10, 300, 0.05, 1e-6), (3, 50, 1.0, 1e-3)] {
            let walk = CompleteWalk::new(n, steps)?;
            let found = walk.epsilon(mu, d(delta)?)?.value().approx_dp.epsilon();
            let mut fine = f64::INFINITY;
            let mut ln_excess = -4.6;
            while ln_excess < 9.0f64 {
                let order = Order::new(1.0 + ln_excess.exp())?;
                if let Ok(rho) = walk.rdp_bound(order, mu) {
                    fine = fine.min(*Rdp { order, epsilon: *rho.value() }.epsilon(d(delta)?).value());
                }
                ln_excess += 0.02;
            }
            assert!(found <= fine * (1.0 + 1e-6), "{found} against {fine}");
            assert_relative_eq!(found, fine, max_relative = 1e-3);
            let back = walk.delta(mu, found)?.value().approx_dp.delta();
            assert_relative_eq!(back, delta, max_relative = 1e-3);
        }
        Ok(())
    }

    #[test]
    fn calibrated_noise_meets_its_target() -> Result<(), Error> {
        for (n, steps, colluders) in [(5, 60, 1), (20, 600, 3), (50, 5_000, 1)] {
            let walk = CompleteWalk::new(n, steps)?.with_colluders(colluders)?;
            for walk in [walk, walk.published()] {
                for (epsilon, delta) in [(0.3, 1e-6), (4.0, 1e-5)] {
                    let mu = walk.calibrated_mu(epsilon, d(delta)?)?;
                    let reached = walk.epsilon(mu, d(delta)?)?.value().approx_dp.epsilon();
                    // The two searches may stop at different orders, and the first one has verified its
                    // order.
                    assert_relative_eq!(reached, epsilon, max_relative = 1e-5);
                    let more = walk.epsilon(1.001 * mu, d(delta)?)?.value().approx_dp.epsilon();
                    assert!(more > epsilon);
                }
            }
        }
        Ok(())
    }

    /// One published step among three nodes and two observers: with probability 3/5 it is a foreign step, and
    /// one of three foreign steps is the exposed node's. At ε = 0 the true δ for an observer who knows the
    /// path is `θ(0, μ)/5`, which is 3.8e-8 for the tiny μ at which an earlier form of the moment had no
    /// accurate digits.
    #[test]
    fn tiny_losses_are_not_zero() -> Result<(), Error> {
        let walk = CompleteWalk::new(5, 1)?.with_colluders(2)?.published();
        let mu = 4.795e-7;
        let truth = 0.2 * Gdp::new(mu)?.delta(0.0)?.value();
        assert_relative_eq!(truth, 3.8e-8, max_relative = 0.01);
        assert!(walk.delta(mu, 0.0)?.value().approx_dp.delta() >= truth);
        for mu in [1e-200, 1e-160, 1e-30, 1e-9, 1e-3] {
            for walk in [walk, CompleteWalk::new(50, 10_000)?, CompleteWalk::new(2, 2)?] {
                assert!(walk.delta(mu, 0.0)?.value().approx_dp.delta() > 0.0);
                let order = Order::new(2.0)?;
                assert!(*walk.rdp_bound(order, mu)?.value() > 0.0);
            }
        }
        Ok(())
    }

    /// The best order of a tiny loss is far above a million. One published step among two nodes is one
    /// release with probability 1/2.
    #[test]
    fn small_losses_have_large_orders() -> Result<(), Error> {
        let walk = CompleteWalk::new(2, 1)?.published();
        for mu in [1e-6, 1e-9, 1e-12] {
            let epsilon = walk.epsilon(mu, d(1e-5)?)?.value().approx_dp.epsilon();
            // Rényi orders are within a constant factor of the truth, and never off by a power of ten.
            let truth = Gdp::new(mu)?.epsilon(d(2e-5)?).into_value();
            assert!(truth <= epsilon && epsilon <= 2.0 * truth, "{mu}: {epsilon} for {truth}");
        }
        Ok(())
    }

    #[test]
    fn local_guarantees_match_their_definitions() -> Result<(), Error> {
        let walk = CompleteWalk::new(100, 10_000)?;
        let capped = *walk.local_epsilon(0.1, Visits::Capped(100), d(1e-6)?)?.value();
        assert_relative_eq!(capped, *Gdp::new(1.0)?.epsilon(d(1e-6)?).value(), max_relative = 1e-12);
        // One step among fifty nodes: a node is visited with probability 1/50, so that its true ε at 1e-5 is
        // that of one release at 5e-4, 3.352. The bound of 4.377 was once called exact.
        let once: UpperBound<f64> =
            CompleteWalk::new(50, 1)?.local_epsilon(1.0, Visits::Capped(1), d(1e-5)?)?;
        assert_relative_eq!(*once.value(), 4.377, max_relative = 1e-4);
        assert_relative_eq!(*Gdp::new(1.0)?.epsilon(d(5e-4)?).value(), 3.352, max_relative = 1e-3);
        // n_exact(10000, 0.01, 1e-6) = 151.
        let counted = walk.local_epsilon(0.1, Visits::Quantile(d(1e-6)?), d(2e-6)?)?;
        let exact = *Gdp::new(0.1 * 151f64.sqrt())?.epsilon(d(1e-6)?).value();
        assert_relative_eq!(*counted.value(), exact, max_relative = 1e-9);
        for delta in [1e-6, 1e-7] {
            let spent = walk.local_epsilon(0.1, Visits::Quantile(d(1e-6)?), d(delta)?).unwrap_err();
            let said = spent.to_string();
            assert!(said.ends_with("must be below delta, of which it is a part, got 0.000001"), "{said}");
        }
        Ok(())
    }

    #[test]
    fn extremes_are_limits_or_errors() -> Result<(), Error> {
        let walk = CompleteWalk::new(10, 100)?;
        assert_eq!(walk.epsilon(0.0, d(1e-6)?)?.value().approx_dp.epsilon(), 0.0);
        for mu in [f64::NAN, f64::INFINITY] {
            let found = walk.epsilon(mu, d(1e-6)?);
            assert!(matches!(found, Err(Error::Privacy(ndp_dp::Error::InvalidMu(_)))));
        }
        let unknown = walk.delta(0.1, f64::NAN);
        assert!(matches!(unknown, Err(Error::Privacy(ndp_dp::Error::InvalidEpsilon(_)))));
        let endless = walk.calibrated_mu(f64::INFINITY, d(1e-6)?);
        assert_eq!(endless, Err(ndp_dp::Error::InvalidEpsilon(f64::INFINITY).into()));
        let enormous = walk.epsilon(1e3, d(1e-6)?)?.value().approx_dp.epsilon();
        assert!(enormous > 1e4);
        // A single step with all others colluding is one release.
        let alone = CompleteWalk::new(2, 1)?.published();
        assert!(alone.epsilon(1.0, d(1e-6)?)?.value().approx_dp.epsilon() < 5.5);
        Ok(())
    }
}
