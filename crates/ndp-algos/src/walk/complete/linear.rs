//! A sum along a given path as a linear Gaussian protocol: what an observer who knows the path faces.

use super::CompleteSum;
use crate::walk::linear_sum::LinearSum;
use crate::walk::{EVERY_CONTRIBUTION, OnPath, TokenNoise};
use ndarray::{ArrayView1, ArrayView2};
use ndp_account::{Error, LinearProtocol, Observation, Terms, View};
use ndp_dp::Sigma;
use rand::Rng;

impl OnPath<CompleteSum> {
    /// Checks that the noise is Gaussian and the path is one of this walk.
    fn check(&self) -> Result<(), Error> {
        self.protocol.walk.check_path(&self.path)?;
        self.protocol.mu().map(|_| ())
    }

    fn linear(&self) -> LinearSum {
        let published = self.protocol.walk.is_published();
        LinearSum { path: self.path.clone(), noises: vec![1.0; self.path.steps()], published }
    }
}

/// Input `u` is the data of node `u`, which changes all its contributions alike. Noise `j` is that of step
/// `j`, which must be Gaussian. The exact loss towards `v` is the sum over segments of `k²/m`; see
/// [`path_units`](super::realised::path_units) for all pairs at once.
impl LinearProtocol for OnPath<CompleteSum> {
    fn terms(&self) -> Terms {
        self.protocol.walk.options().final_token.kept(EVERY_CONTRIBUTION)
    }

    fn node_count(&self) -> usize {
        self.path.nodes
    }

    fn coalition_view(&self, coalition: &[usize]) -> Result<View, Error> {
        self.check()?;
        self.linear().view(coalition)
    }

    /// Each coordinate of the values is a separate run, in which a node contributes its value on every visit.
    fn observe(
        &self,
        values: ArrayView2<'_, f64>,
        sigma: Sigma,
        coalition: &[usize],
        rng: &mut dyn Rng,
    ) -> Result<Observation, Error> {
        self.check()?;
        let sum = CompleteSum { noise: TokenNoise::gaussian(sigma), ..self.protocol };
        let run =
            |values: ArrayView1<'_, f64>| sum.run_along(self.path.clone(), |u, _| values[u], &mut &mut *rng);
        self.linear().observe(coalition, values, run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::complete::realised::path_units;
    use crate::walk::complete::{CompleteOptions, CompleteWalk};
    use crate::walk::{Bounds, FinalToken};
    use approx::assert_relative_eq;
    use ndp_account::loss::exact_loss;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// The general projection on the linear view gives the sum of `k²/m`, for every pair, published or not.
    #[test]
    fn path_units_match_the_linear_view() -> Result<(), Error> {
        let rng = &mut ChaCha8Rng::seed_from_u64(10);
        let noise = TokenNoise::gaussian(Sigma::new(3.0)?);
        for final_token in [FinalToken::Withheld, FinalToken::Published] {
            for (n, steps) in [(2, 9), (4, 20), (5, 30)] {
                let options = CompleteOptions { final_token, ..CompleteOptions::default() };
                let walk = CompleteWalk::new(n, steps)?.with_options(options)?;
                let sum = CompleteSum { walk, bounds: Bounds::new(0.0, 1.0)?, noise, constant_data: false };
                let protocol = OnPath { protocol: sum, path: walk.sample(rng) };
                let units = path_units(&protocol.path, final_token)?.into_value();
                for v in 0..n {
                    let report = exact_loss(&protocol.coalition_view(&[v])?)?;
                    for u in (0..n).filter(|&u| u != v) {
                        let exact = report.loss.value().unit[u];
                        assert_relative_eq!(units[(u, v)], exact, max_relative = 1e-9, epsilon = 1e-9);
                    }
                }
            }
        }
        Ok(())
    }

    #[test]
    fn capped_steps_hide_and_do_not_show() -> Result<(), Error> {
        let noise = TokenNoise::gaussian(Sigma::new(3.0)?);
        let walk = CompleteWalk::new(3, 4)?
            .with_options(CompleteOptions { cap: Some(1), ..CompleteOptions::default() })?;
        let sum = CompleteSum { walk, bounds: Bounds::new(0.0, 1.0)?, noise, constant_data: false };
        // Node 0 contributes once; its second visit only adds noise.
        let protocol = OnPath { protocol: sum, path: walk.path(&[0, 0, 1, 2])? };
        let units = path_units(&protocol.path, FinalToken::Withheld)?;
        assert_relative_eq!(units.value()[(0, 1)], 0.5, max_relative = 1e-12);
        let report = exact_loss(&protocol.coalition_view(&[1])?)?;
        assert_relative_eq!(report.loss.value().unit[0], 0.5, max_relative = 1e-12);
        let other = CompleteWalk::new(3, 3)?.path(&[0, 0, 1])?;
        assert!(matches!(
            OnPath { protocol: sum, path: other }.coalition_view(&[1]),
            Err(Error::Shape { .. })
        ));
        Ok(())
    }
}
