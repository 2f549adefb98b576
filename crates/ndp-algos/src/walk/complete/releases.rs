//! All contributions of a node along a uniform walk, each released by itself, by the law of their number.
//!
//! Every step belongs to node `u` with probability `1/n`, independently of the data and of the other steps,
//! and an observer who hears all contributions sees which steps these are. From one step it therefore learns
//! a mixture whose index is seen: a release with probability `1/n`, and nothing otherwise. `T` steps are
//! their composition: `δ(ε) = E δ_K(ε)`, where `δ_k` is that of `k` releases, and `K` the number of visits.

use super::CompleteWalk;
use crate::walk::tabulated::grid_step;
use ndp_account::Error;
use ndp_dp::{Delta, LossLaw, Neighbors};
use ndp_numeric::binomial_window::BinomialWindow;
use ndp_numeric::rounding::up;

impl CompleteWalk {
    /// The law of the loss of all contributions of a node if each of them has the law `release`. No
    /// contribution may depend on who acts in other steps. An upper bound for observers who see less, and
    /// under limits on contributions, since fewer contributions cost no more.
    ///
    /// # Errors
    /// Those of [`LossLaw::seen_mixture`].
    pub(in crate::walk) fn law_of_releases(&self, release: LossLaw) -> Result<LossLaw, Error> {
        let largest = release.pure_epsilon().upper();
        // With a larger share of releases, the observer learns no less.
        let share = (1.0 / self.node_count() as f64).next_up().min(1.0);
        let nothing = LossLaw::finite(&[1.0], &[1.0], Neighbors::ReplaceOne)?;
        let step = LossLaw::hidden_mixture(&[(1.0 - share, nothing), (share, release)])?;
        let all = step.times(self.step_count() as u64)?;
        // Losses at the ends of their range are on the grid, and losses in between are rounded with an error
        // of second order. This is enough, since only an upper bound is needed.
        Ok(if largest.is_finite() { all.with_step(grid_step(largest / PARTS))? } else { all })
    }
}

/// The cost of the contributions of a node under a cap: `δ(ε) = Σ_k P(min(K, N) = k) δ_k(ε)`, where `K` is
/// the number of its visits, of which the first `N` contribute.
///
/// The path, and with it the number of contributions, is drawn without looking at the data: a mixture whose
/// index is seen. For an upper bound, neighboring counts may be combined and charged as the largest of them.
#[derive(Clone)]
pub(in crate::walk) struct CappedReleases {
    /// Upper bounds on the probabilities of the numbers of releases, and the law of so many releases.
    parts: Vec<(f64, LossLaw)>,
}

impl CompleteWalk {
    /// The law of the contributions of a node under the cap on them, with releases as in
    /// [`Self::law_of_releases`]; `None` if the cap is never reached.
    ///
    /// # Errors
    /// Those of [`LossLaw::times`].
    pub(in crate::walk) fn capped_releases(
        &self,
        release: &LossLaw,
    ) -> Result<Option<CappedReleases>, Error> {
        let steps = self.step_count() as u64;
        let Some(cap) = self.options().cap.map(|cap| cap as u64).filter(|&cap| cap < steps) else {
            return Ok(None);
        };
        // With a larger share of visits, the number of contributions is no smaller.
        let share = (1.0 / self.node_count() as f64).next_up().min(1.0);
        let window = BinomialWindow::new(steps, share, NEVER).map_err(ndp_dp::Error::from)?;
        if window.iter().last().is_none_or(|(most, _)| most < cap) {
            return Ok(None);
        }
        let first = window.first().min(cap);
        let together = (cap - first + 1).div_ceil(MOST_COUNTS);
        let step = release.pure_epsilon().upper() / PARTS;
        let law = |count: u64| -> Result<LossLaw, Error> {
            let law = release.clone().times(count)?;
            Ok(if step.is_finite() { law.with_step(grid_step(step))? } else { law })
        };
        let mut parts = Vec::new();
        // Counts below the window are charged as its first count, counts above it as the cap.
        let (mut mass, mut terms) = (window.below(), 0.0);
        for (count, probability) in window.iter() {
            (mass, terms) = (mass + probability, terms + 1.0);
            let is_last = count < cap && (count - first + 1).is_multiple_of(together);
            if is_last {
                parts.push((up(mass, window.error() + terms), law(count)?));
                (mass, terms) = (0.0, 0.0);
            }
        }
        parts.push((up(mass + window.above(), window.error() + terms + 1.0), law(cap)?));
        Ok(Some(CappedReleases { parts }))
    }
}

impl CappedReleases {
    /// `δ(ε)`, rounded up.
    ///
    /// # Errors
    /// Those of [`LossLaw::delta`].
    pub(in crate::walk) fn delta(&self, epsilon: f64) -> Result<f64, ndp_dp::Error> {
        let mut sum = 0.0;
        for (mass, law) in &self.parts {
            sum += mass * law.delta(epsilon)?.upper();
        }
        Ok(up(sum, self.parts.len() as f64 + 4.0).min(1.0))
    }

    /// The smallest `ε` up to `most` for which `delta` was proven, to a millionth; `most` if there is none.
    ///
    /// # Errors
    /// Those of [`LossLaw::delta`].
    pub(in crate::walk) fn epsilon(&self, delta: Delta, most: f64) -> Result<f64, ndp_dp::Error> {
        let holds = |epsilon: f64| Ok::<bool, ndp_dp::Error>(self.delta(epsilon)? <= delta.get());
        if !most.is_finite() || holds(0.0)? {
            return Ok(if most.is_finite() { 0.0 } else { most });
        }
        let (mut low, mut high) = (0.0, most);
        if !holds(most)? {
            return Ok(most);
        }
        while high - low > 1e-6 * high {
            let middle = f64::midpoint(low, high);
            if holds(middle)? { high = middle } else { low = middle }
        }
        Ok(high)
    }
}

/// A window leaves out counts of this probability, which are charged as the cap.
const NEVER: f64 = 1e-30;
/// The largest number of counts for which laws are made.
const MOST_COUNTS: u64 = 32;
/// The number of steps of the grid up to the largest loss of one release.
const PARTS: f64 = 8.0;

#[cfg(test)]
mod tests {
    use super::super::CompleteOptions;
    use super::*;
    use ndp_dp::RandomizedResponse;

    /// Compared with the mean over the number of visits, where each count is composed by itself.
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
        // Each of the two nodes has half of the steps.
        let alone = CompleteWalk::new(2, 6)?.law_of_releases(release()?)?;
        assert!(
            alone.epsilon(Delta::new(1e-3)?).upper()
                < release()?.times(6)?.epsilon(Delta::new(1e-3)?).upper()
        );
        Ok(())
    }

    /// `δ_k` of `k` binary responses, by its definition.
    fn responses(k: i32, epsilon: f64, local: f64) -> f64 {
        let p = 1.0 / (1.0 + (-local).exp());
        let mut choose = 1.0;
        let mut sum = 0.0;
        for j in 0..=k {
            let (truth, other) = (p.powi(j) * (1.0 - p).powi(k - j), p.powi(k - j) * (1.0 - p).powi(j));
            sum += choose * (truth - epsilon.exp() * other).max(0.0);
            choose *= f64::from(k - j) / f64::from(j + 1);
        }
        sum
    }

    /// Compared with all paths of small walks, with the contributions that the walk itself makes.
    #[test]
    fn capped_laws_are_those_of_all_paths() -> Result<(), Error> {
        let local = 0.7;
        let release = LossLaw::randomized_response(RandomizedResponse::with_epsilon(2, local)?);
        for (n, steps, cap) in [(3_usize, 7, 1), (3, 7, 2), (2, 9, 4), (4, 6, 3)] {
            let options = CompleteOptions { cap: Some(cap), ..CompleteOptions::default() };
            let walk = CompleteWalk::new(n, steps)?.with_options(options)?;
            let law = walk.capped_releases(&release)?.ok_or(Error::NotOffered("a cap that is reached"))?;
            let all = n.pow(steps as u32);
            for epsilon in [0.0, 0.4, 1.1, 2.0] {
                let mut sum = 0.0;
                for code in 0..all {
                    let holders: Vec<usize> = (0..steps).map(|t| code / n.pow(t as u32) % n).collect();
                    let made = options.contributions(&holders);
                    let count = (0..steps).filter(|&t| holders[t] == 0 && made[t]).count();
                    sum += responses(count as i32, epsilon, local);
                }
                let (truth, found) = (sum / all as f64, law.delta(epsilon)?);
                assert!(
                    truth <= found && found <= truth * (1.0 + 1e-3) + 1e-12,
                    "{n} {cap}: {truth} {found}"
                );
            }
            let delta = Delta::new(0.02)?;
            let epsilon = law.epsilon(delta, 10.0)?;
            assert!(law.delta(epsilon)? <= 0.02 && law.delta(epsilon * (1.0 - 2e-6))? > 0.02);
            // Without the cap a node loses more, and so it does with exactly as many contributions as the cap
            // allows.
            let free = CompleteWalk::new(n, steps)?.law_of_releases(release.clone())?;
            assert!(epsilon < free.epsilon(delta).upper());
            assert!(epsilon < release.clone().times(cap as u64)?.epsilon(delta).upper());
        }
        Ok(())
    }

    /// Combined counts cost as much as the largest of them: not below the mean over all numbers of visits,
    /// and close to it.
    #[test]
    fn counts_taken_together_cost_no_less() -> Result<(), Error> {
        let (steps, cap, local) = (120, 60, 0.1);
        let release = LossLaw::randomized_response(RandomizedResponse::with_epsilon(2, local)?);
        let options = CompleteOptions { cap: Some(cap), ..CompleteOptions::default() };
        let walk = CompleteWalk::new(2, steps)?.with_options(options)?;
        let law = walk.capped_releases(&release)?.ok_or(Error::NotOffered("a cap that is reached"))?;
        assert!(law.parts.len() <= 32);
        for epsilon in [0.0, 0.5, 1.5] {
            let (mut sum, mut mass) = (0.0, 0.5f64.powi(steps as i32));
            for k in 0..=steps {
                sum += mass * responses(k.min(cap) as i32, epsilon, local);
                mass *= (steps - k) as f64 / (k + 1) as f64;
            }
            let found = law.delta(epsilon)?;
            assert!(sum <= found * (1.0 + 1e-12) && found <= 1.05 * sum, "{epsilon}: {sum} {found}");
        }
        Ok(())
    }

    /// A cap that is never reached has no law of its own, and many counts are combined.
    #[test]
    fn caps_that_are_far_are_none() -> Result<(), Error> {
        let release = LossLaw::randomized_response(RandomizedResponse::with_epsilon(2, 0.1)?);
        let at = |cap: usize| -> Result<Option<CappedReleases>, Error> {
            let options = CompleteOptions { cap: Some(cap), ..CompleteOptions::default() };
            CompleteWalk::new(50, 5000)?.with_options(options)?.capped_releases(&release)
        };
        assert!(at(4000)?.is_none() && at(5000)?.is_none());
        let (few, many) =
            (at(3)?.ok_or(Error::NotOffered("few"))?, at(110)?.ok_or(Error::NotOffered("many"))?);
        assert!(few.parts.len() == 1 && many.parts.len() <= 32 && many.parts.len() > 10);
        for law in [&few, &many] {
            let sum: f64 = law.parts.iter().map(|(mass, _)| mass).sum();
            assert!((1.0..1.0 + 1e-9).contains(&sum), "{sum}");
        }
        // A few hundred contributions whose number nobody knows cost less than the cap.
        let delta = Delta::new(1e-5)?;
        let all = release.times(110)?.epsilon(delta).upper();
        assert!(many.epsilon(delta, 20.0)? < 0.99 * all);
        assert!(many.epsilon(delta, 1e-3)? == 1e-3 && many.epsilon(delta, f64::INFINITY)? == f64::INFINITY);
        Ok(())
    }
}
