//! The law of a release for which only an upper bound on its profile can be computed, level by level.

use ndp_account::Error;
use ndp_dp::{ApproxDp, LossLaw, Neighbors};
use ndp_numeric::casts::floor;

/// A law that dominates a release, on a grid of losses.
pub(crate) struct Tabulated {
    /// For replace-one neighbors, in both directions.
    pub(crate) law: LossLaw,
    /// The step of the grid, within the range that laws accept.
    pub(crate) step: f64,
}

/// The largest release that satisfies `δ(ε) ≤ delta(ε)` at about thirty levels `ε`, in both directions.
/// Losses beyond the level at which `delta` is at most `negligible` count as infinite. `scale` is a loss at
/// which the search for this level begins.
///
/// Any levels give a valid law. Each is at most a fifth larger than the one before, which costs less than a
/// hundredth of `ε`.
pub(crate) fn law_of_profile(
    scale: f64,
    negligible: f64,
    delta: impl Fn(f64) -> Result<f64, Error>,
) -> Result<Tabulated, Error> {
    let mut top = scale.clamp(LEAST_TOP, MOST_TOP);
    let mut left = delta(top)?;
    while left > negligible && top < MOST_TOP {
        top = (STRIDE * top).min(MOST_TOP);
        left = delta(top)?;
    }
    while top > LEAST_TOP {
        let below = delta(top / STRIDE)?;
        if below > negligible {
            break;
        }
        (top, left) = (top / STRIDE, below);
    }
    let mut bounds = vec![ApproxDp::new(top, left.min(1.0))?, ApproxDp::new(0.0, delta(0.0)?.min(1.0))?];
    let step = top / POINTS as f64;
    // In e^ε the profile between two levels is replaced by a chord, so that levels must not be far apart,
    // however large they are.
    let farthest = floor((FARTHEST / step).max(POINTS as f64 / 128.0)).max(1);
    let mut at = POINTS;
    while at > 1 {
        at = floor(at as f64 / RATIO).max(at.saturating_sub(farthest)).max(1);
        let level = at as f64 * step;
        bounds.push(ApproxDp::new(level, delta(level)?.min(1.0))?);
    }
    let law = LossLaw::of_bounds(&bounds, Neighbors::ReplaceOne)?;
    Ok(Tabulated { law, step: grid_step(step) })
}

/// The smallest and the largest value that is tried for the largest level.
const LEAST_TOP: f64 = 1e-6;
const MOST_TOP: f64 = 1e4;
/// The ratio of two successive candidates for the largest level.
const STRIDE: f64 = 1.5;
/// The number of points of the grid up to the largest level, and the ratio of two levels.
const POINTS: usize = 1024;
const RATIO: f64 = 1.2;
/// The largest distance of two levels, unless it would lead to more than a few hundred of them.
const FARTHEST: f64 = 0.25;

/// The nearest step of a grid that laws accept.
pub(crate) const fn grid_step(step: f64) -> f64 {
    step.clamp(1e-9, 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndp_dp::{Delta, Gdp, Mechanism, RandomizedResponse};

    /// Compared with the composition of a release whose law is known: never below, and only a little above.
    #[test]
    fn tables_dominate_and_lose_little() -> Result<(), Error> {
        let delta = Delta::new(1e-5)?;
        for (mu, count) in [(0.05, 400u64), (0.5, 9), (3.0, 2)] {
            let one = Gdp::new(mu)?;
            for scale in [1e-3 * mu, mu, 1e3 * mu] {
                let negligible = 1e-4 * delta.get() / count as f64;
                let found = law_of_profile(scale, negligible, |epsilon| Ok(*one.delta(epsilon)?.value()))?;
                let found = found.law.times(count)?.with_step(found.step)?.epsilon(delta).upper();
                let exact = *Gdp::new(mu * (count as f64).sqrt())?.epsilon(delta).value();
                assert!(exact <= found && found <= 1.02 * exact, "{mu} {count} {scale}: {found} {exact}");
            }
        }
        let response = RandomizedResponse::with_epsilon(4, 0.3)?;
        let exact = LossLaw::randomized_response(response);
        let found = law_of_profile(0.3, 0.0, |epsilon| Ok(exact.delta(epsilon)?.upper()))?;
        let found = found.law.times(12)?.with_step(found.step)?.epsilon(delta).upper();
        let exact = exact.times(12)?.epsilon(delta).upper();
        assert!(exact <= found + 1e-12 && found <= 1.01 * exact, "{found} {exact}");
        Ok(())
    }

    #[test]
    fn extreme_profiles_are_tabulated() -> Result<(), Error> {
        let delta = Delta::new(1e-5)?;
        let nothing = law_of_profile(0.0, 1e-12, |_| Ok(0.0))?;
        assert!(nothing.law.times(1000)?.epsilon(delta).upper() <= 1e-3);
        let all = law_of_profile(1e300, 1e-12, |_| Ok(1.0))?;
        assert_eq!(all.law.epsilon(delta).upper(), f64::INFINITY);
        let refused = law_of_profile(1.0, 1e-12, |_| Err(Error::NoGuarantee("at all")));
        assert!(matches!(refused, Err(Error::NoGuarantee("at all"))));
        Ok(())
    }
}
