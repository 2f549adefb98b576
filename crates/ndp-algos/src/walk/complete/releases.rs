//! All contributions of a node along a uniform walk, each seen alone, by the law of their number.
//!
//! Every step belongs to node `u` with probability `1/n`, independently of the data and of the other steps,
//! and whoever hears all contributions sees which steps these are. So of one step an observer learns a
//! mixture whose index is seen, a release with probability `1/n` and nothing otherwise, and of `T` steps
//! their composition: `δ(ε) = E δ_K(ε)`, `δ_k` that of `k` releases, `K` the number of visits.

use super::CompleteWalk;
use crate::walk::tabulated::grid_step;
use ndp_account::Error;
use ndp_dp::{LossLaw, Neighbors};

impl CompleteWalk {
    /// What all contributions of a node cost whose releases have this law, none of which may depend on who
    /// acts in other steps. An upper bound: for observers who see less, and under limits, since fewer cost no
    /// more.
    ///
    /// # Errors
    /// Those of [`LossLaw::seen_mixture`].
    pub(in crate::walk) fn law_of_releases(&self, release: LossLaw) -> Result<LossLaw, Error> {
        let largest = release.pure_epsilon().upper();
        // A larger share of releases tells no less.
        let share = (1.0 / self.node_count() as f64).next_up().min(1.0);
        let nothing = LossLaw::finite(&[1.0], &[1.0], Neighbors::ReplaceOne)?;
        let step = LossLaw::hidden_mixture(&[(1.0 - share, nothing), (share, release)])?;
        let all = step.times(self.step_count() as u64)?;
        // Losses at the ends of their range stay on the grid, and what is between them is rounded to the
        // second order: an upper end is all that is asked for.
        Ok(if largest.is_finite() { all.with_step(grid_step(largest / PARTS))? } else { all })
    }
}

/// Steps of the grid up to the largest loss of one release.
const PARTS: f64 = 8.0;

#[cfg(test)]
mod tests {
    use super::*;
    use ndp_dp::{Delta, RandomizedResponse};

    /// Against the mean over the number of visits, each count composed by itself.
    #[test]
    fn the_law_is_the_mean_over_the_number_of_visits() -> Result<(), Error> {
        let (n, steps) = (5u32, 40usize);
        let release = || -> Result<LossLaw, Error> {
            Ok(LossLaw::randomized_response(RandomizedResponse::with_epsilon(3, 0.25)?))
        };
        let law = CompleteWalk::new(n as usize, steps)?.law_of_releases(release()?)?;
        let p = 1.0 / f64::from(n);
        for epsilon in [0.3, 1.0, 2.0] {
            let (mut least, mut most) = (0.0, 0.0);
            let mut mass = (1.0 - p).powi(40);
            for k in 1..=steps {
                mass *= (steps - k + 1) as f64 / k as f64 * p / (1.0 - p);
                let of_k = release()?.times(k as u64)?.delta(epsilon)?;
                least += mass * of_k.lower();
                most += mass * of_k.upper();
            }
            let found = law.delta(epsilon)?;
            assert!(found.lower() <= most * (1.0 + 1e-9), "{epsilon}: {found:?} {most}");
            assert!(least * (1.0 - 1e-9) <= found.upper(), "{epsilon}: {found:?} {least}");
            assert!(found.upper() <= 1.001 * most, "{epsilon}: {found:?} {most}");
        }
        // Half of the steps are of either of two nodes.
        let alone = CompleteWalk::new(2, 6)?.law_of_releases(release()?)?;
        assert!(
            alone.epsilon(Delta::new(1e-3)?).upper()
                < release()?.times(6)?.epsilon(Delta::new(1e-3)?).upper()
        );
        Ok(())
    }
}
