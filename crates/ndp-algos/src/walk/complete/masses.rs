//! Masses of the empirical accounting: what one contribution among the `m` of a cycle is charged.
//!
//! For a real sum the paper takes `ε₀/√m`; [`gaussian_mass`] is what Gaussian noise really gives. For
//! histograms it takes the best of three shuffling bounds, [`shuffle_mass`].
//!
//! # References
//! Cyffers and Bellet, arXiv:2012.05326: Section 5.1 and Appendix H.

use super::Path;
use crate::Error;
use ndp_dp::shuffling::{Bound, Reports};
use ndp_dp::{ApproxDp, Delta, Estimate, Gdp, Mechanism, composition};

/// The `ε` at `δ` of a Gaussian release of parameter `μ/√m`: one contribution behind `m` noises.
///
/// # Errors
/// [`ndp_dp::Error::InvalidMu`] unless `0 ≤ μ`.
pub fn gaussian_mass(mu: f64, m: usize, delta: Delta) -> Result<f64, Error> {
    Ok(Gdp::new(mu / (m as f64).sqrt())?.epsilon(delta).into_value())
}

/// The `ε` at `δ` of one of `m` shuffled reports of any `ε₀`-DP randomizer: the best of the blanket bounds by
/// Hoeffding and by Bennett and of the closed bound, never above `ε₀`. What the paper's Figure 3 plots uses
/// these three; [`Reports::epsilon`] knows better ones.
///
/// # Errors
/// [`ndp_dp::Error`] unless `0 ≤ ε₀ < ∞` and `m ≥ 1`.
pub fn shuffle_mass(local_epsilon: f64, m: usize, delta: Delta) -> Result<f64, Error> {
    let (count, reports) = (m as u64, Reports { local_epsilon, labels: None });
    let mut best = least(local_epsilon, delta, |epsilon| {
        Ok(reports.delta_by(Bound::Hoeffding, epsilon, count)?.into_value())
    })?;
    let bennett =
        least(best, delta, |epsilon| Ok(reports.delta_by(Bound::Bennett, epsilon, count)?.into_value()))?;
    best = best.min(bennett);
    // Outside its range of validity the closed bound says nothing.
    if let Ok(closed) = reports.epsilon_by(Bound::Efmrtt, count, delta) {
        best = best.min(closed.into_value());
    }
    Ok(best)
}

/// The least `ε` in `[0, high]` at which a non-increasing bound is at most `δ`, `high` if none is.
fn least(high: f64, delta: Delta, bound: impl Fn(f64) -> Result<f64, Error>) -> Result<f64, Error> {
    let (mut fails, mut holds) = (0.0, high);
    // Sixty halvings exhaust the digits of any answer above a billionth of the bracket.
    for _ in 0..60 {
        let middle = 0.5 * (fails + holds);
        if bound(middle)? <= delta.get() { holds = middle } else { fails = middle }
    }
    Ok(holds)
}

/// Local loss of every node in a realised walk, as the paper plots it: advanced composition of its visits, each
/// `ε₀`-DP, with slack `δ'`. 0 for a node never visited.
///
/// # Errors
/// [`ndp_dp::Error`] unless `0 ≤ ε₀`, [`Error::InvalidParameter`] for more than ten million nodes.
pub fn local_losses(path: &Path, local_epsilon: f64, slack: Delta) -> Result<Estimate<Vec<f64>>, Error> {
    let release = ApproxDp::new(local_epsilon, 0.0)?;
    let loss = |visits: &Vec<usize>| {
        composition::advanced(release, visits.len() as u64, slack).into_value().epsilon()
    };
    Ok(Estimate::new(path.receptions()?.iter().map(loss).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn masses_are_below_the_local_loss_and_fall() -> Result<(), Error> {
        let delta = Delta::new(1e-7)?;
        let mut last = f64::INFINITY;
        for m in [1, 50, 200, 1000, 5000, 100_000] {
            let mass = shuffle_mass(0.1, m, delta)?;
            assert!(mass <= 0.1 && mass <= last);
            if mass < 0.1 {
                // The bound is met, and not below.
                let (count, reports) = (m as u64, Reports { local_epsilon: 0.1, labels: None });
                let bounds = [
                    reports.delta_by(Bound::Hoeffding, mass, count)?.into_value(),
                    reports.delta_by(Bound::Bennett, mass, count)?.into_value(),
                ];
                let closed =
                    reports.epsilon_by(Bound::Efmrtt, count, delta).is_ok_and(|e| e.into_value() == mass);
                assert!(closed || bounds.iter().any(|&bound| bound <= delta.get()));
            }
            last = mass;
        }
        // No amplification at m = 50, hardly any at 100.
        assert_eq!(shuffle_mass(0.1, 50, delta)?, 0.1);
        assert_relative_eq!(shuffle_mass(0.1, 100, delta)?, 0.0981, max_relative = 1e-3);
        assert_relative_eq!(
            gaussian_mass(1.4, 4, Delta::new(1e-6)?)?,
            3.270_557_675_274_13,
            max_relative = 1e-11
        );
        assert!(shuffle_mass(f64::NAN, 3, delta).is_err() && gaussian_mass(-1.0, 3, delta).is_err());
        Ok(())
    }

    #[test]
    fn local_losses_compose_the_visits() -> Result<(), Error> {
        let path = Path::from_holders(3, &[1, 0, 1, 1])?;
        let slack = Delta::new(1e-5)?;
        let losses = local_losses(&path, 0.1, slack)?.into_value();
        let thrice = (6.0 * 1e5f64.ln()).sqrt() * 0.1 + 0.3 * 0.1f64.exp_m1();
        assert_relative_eq!(losses[1], thrice, max_relative = 1e-12);
        assert_eq!(losses[2], 0.0);
        Ok(())
    }
}
