//! The law of a path's cost on the complete graph.
//!
//! Every next holder is drawn uniformly, so that the colluders are one observer of a walk on a graph,
//! [`CostLaw`]. If the token is withheld, the holder of the last step is the last one who sees it. Between
//! holders, this is one step less.

use super::CompleteWalk;
use crate::walk::graph::CostLaw;
use ndp_account::Error;

impl CompleteWalk {
    /// The upper law of the cost of contributions that do not depend on the token; up to rounding it is exact
    /// against colluders who know the path.
    ///
    /// # Errors
    /// [`Error::NotOffered`] for more than 20,000 steps, and for a single step whose token is withheld, which
    /// nobody sees.
    pub(super) fn cost_law(&self) -> Result<CostLaw, Error> {
        let published = self.is_published();
        let steps = if published { self.step_count() } else { self.step_count() - 1 };
        CostLaw::of_uniform_walk(self.node_count(), self.colluders, steps, published)
    }
}

#[cfg(test)]
mod tests {
    use super::super::CompleteOptions;
    use super::super::enumeration::costs_of_all_walks;
    use super::*;
    use crate::walk::FinalToken;
    use ndp_dp::{Delta, NoiseMultiplier};
    use ndp_numeric::gaussian_profile::theta;

    /// `δ(ε)` averaged over the `n^T` walks.
    fn enumerated(walk: &CompleteWalk, sigma: f64, epsilon: f64) -> f64 {
        let costs = costs_of_all_walks(walk);
        let sum = costs.iter().fold(0.0, |sum, cost| sum + theta(epsilon, cost.sqrt() / sigma));
        sum / costs.len() as f64
    }

    #[test]
    fn laws_are_those_of_all_walks() -> Result<(), Error> {
        for (n, steps, c) in [(2, 10, 1), (3, 8, 1), (3, 8, 2), (4, 7, 1), (5, 6, 3), (3, 2, 1)] {
            for final_token in [FinalToken::Withheld, FinalToken::Published] {
                let options = CompleteOptions { final_token, ..CompleteOptions::default() };
                let walk = CompleteWalk::new(n, steps)?.with_options(options)?.with_colluders(c)?;
                let law = walk.cost_law()?;
                for (sigma, epsilon) in [(0.7, 0.0), (1.0, 0.5), (3.0, 0.1), (3.0, 1.0)] {
                    let truth = enumerated(&walk, sigma, epsilon);
                    let found = law.delta(NoiseMultiplier::new(sigma)?, epsilon)?.upper();
                    let close = if epsilon == 0.0 { 1.03 } else { 1.005 };
                    let what = format!("{walk:?} {sigma} {epsilon}: {found} {truth}");
                    assert!(truth <= found * (1.0 + 1e-12) && found <= close * truth + 1e-12, "{what}");
                }
            }
        }
        let law = "not offered: the law of the cost is for walks";
        for (steps, why) in
            [(1, "on which a node receives what the first step made"), (30_000, "of at most 20,000 steps")]
        {
            let refused = CompleteWalk::new(3, steps)?.cost_law().unwrap_err();
            assert_eq!(refused.to_string(), format!("{law} {why}"));
        }
        Ok(())
    }

    /// Fifty nodes, 500 steps: the law asks for less noise than the best Rényi order.
    #[test]
    fn less_noise_than_by_renyi_moments() -> Result<(), Error> {
        let walk = CompleteWalk::new(50, 500)?;
        let delta = Delta::new(1e-5)?;
        let by_law = walk.cost_law()?.least_noise(1.0, delta)?.upper();
        let by_moments = 1.0 / walk.calibrated_mu(1.0, delta)?;
        // A multiplier of 3.28, compared with 4.15.
        assert!(by_law < 0.8 * by_moments, "{by_law} {by_moments}");
        Ok(())
    }
}
