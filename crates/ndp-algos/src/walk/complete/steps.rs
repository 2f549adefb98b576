//! What an observer learns, step by step, along a uniform walk on which every node contributes the same data
//! at each visit.
//!
//! Let the observer see the release of each step by itself, and not only the sum that a token has gathered:
//! it then sees no less. What it does not see is whose step it was. Each step belongs to its coalition with
//! probability `p = c/n`, independently of the others and of the data. Any other step is one of the exposed
//! node with probability `ρ = 1/(n − c)`, and one of another node otherwise ([`LossLaw::sampled_replaced`]).
//! The walk is therefore a composition of `T` mixtures whose index is seen, and the number of visits needs no
//! bound.
//!
//! *Spotted steps.* A member draws the node to which it hands the token, so that the coalition knows whether
//! the step just after one of its own is one of the exposed node. If senders are known, it knows the same of
//! the step just before. A step of the coalition therefore costs one release with probability `ρ`, or two,
//! each with probability `ρ`. These steps are counted once more among the others, which only increases the
//! bound.
//!
//! *Publication.* The release of the last step is one of those that are seen. If senders are known, it is
//! spotted.
//!
//! # References
//! Cyffers and Bellet, arXiv:2012.05326: Theorems 3 and 6 and Appendix G, which this module replaces. Lemma 2
//! there, on the number of spotted contributions, is false as printed.

use super::constant_data::ConstantWalk;
use crate::walk::tabulated::grid_step;
use ndp_account::{Error, Senders};
use ndp_dp::{Delta, Gaussian, LossLaw, Neighbors, Sensitivity, Sigma};
use ndp_numeric::sums::up;

impl ConstantWalk {
    /// The law of the total loss of one node, where one contribution costs `release`, and two contributions
    /// seen as one release cost `twice`. An upper bound; neighbors are replace-one, and all contributions of
    /// the node may change.
    ///
    /// # Errors
    /// Those of [`LossLaw::sampled_replaced`].
    pub(crate) fn law_of_steps(
        &self,
        senders: Senders,
        release: LossLaw,
        twice: LossLaw,
    ) -> Result<LossLaw, Error> {
        let walk = self.walk();
        // Shares are rounded to the side on which the observer learns more: a larger share of releases of the
        // exposed node, and a larger share of steps of the coalition, next to which steps are spotted.
        let rho = walk.exposure_probability().next_up().min(1.0);
        let p = walk.reception_probability().next_up();
        let nothing = LossLaw::finite(&[1.0], &[1.0], Neighbors::ReplaceOne)?;
        let hidden = LossLaw::sampled_replaced(&release, rho)?;
        // A quarter of the typical loss of a hidden step.
        let quarter = 0.5 * rho * release.delta(0.0)?.upper();
        // The losses of rare steps must fit into a transform with this step size as well.
        let least = release.epsilon(Delta::new(FAR_OUT)?).upper() / MOST_STEPS;
        let last = LossLaw::seen_mixture(&[(1.0 - rho, nothing.clone()), (rho, release.clone())])?;
        let spotted = match senders {
            Senders::Hidden => [rho, 0.0],
            Senders::Known => [2.0 * rho * (1.0 - rho), rho * rho],
        };
        let [once, both] = spotted.map(|share| p * share * (1.0 + 8.0 * f64::EPSILON));
        let none = (p - once - both).max(0.0);
        let mut kinds = vec![(none, nothing), (once, release), (1.0 - p, hidden)];
        kinds.extend((both > 0.0).then_some((both, twice)));
        let step = LossLaw::seen_mixture(&kinds)?;
        let mut all = step.times(walk.step_count() as u64)?;
        if walk.is_published() && senders == Senders::Known {
            all = LossLaw::compose(&[all, last])?;
        }
        Ok(all.with_step(grid_step(quarter.max(least)))?)
    }

    /// The same law for a sum with Gaussian noise, where each contribution is a release of parameter `μ`.
    ///
    /// # Errors
    /// [`ndp_dp::Error::InvalidSensitivity`] unless `0 < μ < ∞`; those of [`Self::law_of_steps`].
    pub(crate) fn law_of_sum(&self, senders: Senders, mu: f64) -> Result<LossLaw, Error> {
        let of = |mu: f64| -> Result<LossLaw, Error> {
            let noise = Gaussian { sensitivity: Sensitivity::new(mu)?, sigma: Sigma::new(1.0)? };
            Ok(LossLaw::gaussian(noise, Neighbors::ReplaceOne))
        };
        self.law_of_steps(senders, of(mu)?, of(up(mu * std::f64::consts::SQRT_2))?)
    }
}

/// The `δ` at which the loss of one release is taken as the range of the grid.
const FAR_OUT: f64 = 1e-12;
/// The number of steps of the grid up to this loss.
const MOST_STEPS: f64 = 25_000.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::complete::CompleteWalk;
    use ndp_dp::Mechanism;

    fn epsilon(walk: CompleteWalk, senders: Senders, mu: f64) -> Result<f64, Error> {
        Ok(walk.with_constant_data().law_of_sum(senders, mu)?.epsilon(Delta::new(1e-6)?).upper())
    }

    #[test]
    fn losses_grow_with_information() -> Result<(), Error> {
        let walk = CompleteWalk::new(12, 300)?;
        let hidden = epsilon(walk, Senders::Hidden, 0.1)?;
        let known = epsilon(walk, Senders::Known, 0.1)?;
        assert!(hidden < known && hidden < epsilon(walk, Senders::Hidden, 0.2)?);
        let three = walk.with_colluders(3)?;
        assert!(
            hidden < epsilon(three, Senders::Hidden, 0.1)? && known < epsilon(three, Senders::Known, 0.1)?
        );
        assert!(known < epsilon(walk.published(), Senders::Known, 0.1)?);
        // Far below the cost of releasing all contributions of a node, of which there are 25 on average.
        let alone = *ndp_dp::Gdp::new(0.5)?.epsilon(Delta::new(1e-6)?).value();
        assert!(known < 0.9 * alone && hidden < 0.5 * alone, "{hidden} {known} {alone}");
        Ok(())
    }

    /// If everybody else colludes, each step is one of the exposed node or one of the coalition, and nothing
    /// is hidden.
    #[test]
    fn a_node_among_colluders_is_not_hidden() -> Result<(), Error> {
        let walk = CompleteWalk::new(4, 8)?.with_colluders(3)?;
        let once = *ndp_dp::Gdp::new(0.5)?.epsilon(Delta::new(1e-6)?).value();
        for senders in [Senders::Hidden, Senders::Known] {
            assert!(epsilon(walk, senders, 0.5)? > once);
        }
        Ok(())
    }

    /// Coarse grids for long walks and large losses still give bounds, which may be infinite for too many
    /// steps.
    #[test]
    fn extremes_are_answered() -> Result<(), Error> {
        for (n, steps, mu) in [(2, 1, 1e-5), (2, 1, 50.0), (1_000_000, 100_000_000, 1.0), (100, 10, 1e-3)] {
            let walk = CompleteWalk::new(n, steps)?;
            for senders in [Senders::Hidden, Senders::Known] {
                let found = epsilon(walk, senders, mu)?;
                let usable = found.is_finite() || steps > 10_000_000;
                assert!(usable && found > 0.0, "{n} {steps} {mu} {senders:?}: {found}");
            }
        }
        assert!(matches!(
            CompleteWalk::new(5, 5)?.with_constant_data().law_of_sum(Senders::Known, f64::NAN),
            Err(Error::Privacy(ndp_dp::Error::InvalidSensitivity(_)))
        ));
        Ok(())
    }
}
