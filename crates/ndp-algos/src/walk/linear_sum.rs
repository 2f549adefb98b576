//! What a coalition sees of a sum that a token carries along a path which everybody knows.

use super::{Path, SumRun};
use ndarray::{Array2, ArrayView1, ArrayView2};
use ndp_account::parts::checked_coalition;
use ndp_account::{Error, Observation, View};

/// A sum along a path as a linear Gaussian protocol: input `u` is the data of node `u`, which changes all its
/// contributions alike, and each noisy step has a noise of its own.
pub(super) struct LinearSum {
    pub(super) path: Path,
    /// The standard deviation of the noise of each step, in units of the full noise; 0 for a step without
    /// noise.
    pub(super) noises: Vec<f64>,
    /// Whether every node learns the final token.
    pub(super) published: bool,
}

impl LinearSum {
    /// The numbers of steps behind the tokens that the members see, at their receptions and then at
    /// publication, and the steps that add noise.
    fn seen(&self, members: &[usize]) -> (Vec<usize>, Vec<usize>) {
        let steps = self.path.steps();
        let received = (0..steps).filter(|&step| members.contains(&self.path.holders[step]));
        let noisy = (0..steps).filter(|&step| self.noises[step] > 0.0);
        (received.chain(self.published.then_some(steps)).collect(), noisy.collect())
    }

    /// What the members see; they know the noises of their own steps.
    ///
    /// # Errors
    /// Those of [`checked_coalition`] and [`View::new`].
    pub(super) fn view(&self, coalition: &[usize]) -> Result<View, Error> {
        let members = checked_coalition(coalition, self.path.nodes)?;
        let (rows, noisy) = self.seen(&members);
        let mut inputs = Array2::zeros((rows.len(), self.path.nodes));
        for (row, &seen) in rows.iter().enumerate() {
            for step in (0..seen).filter(|&step| self.path.contributes[step]) {
                inputs[(row, self.path.holders[step])] += 1.0;
            }
        }
        let noises = Array2::from_shape_fn((rows.len(), noisy.len()), |(row, column)| {
            if noisy[column] < rows[row] { self.noises[noisy[column]] } else { 0.0 }
        });
        let is_own = |column: &usize| members.contains(&self.path.holders[noisy[*column]]);
        let known: Vec<usize> = (0..noisy.len()).filter(is_own).collect();
        View::new(&members, inputs, noises, &known)
    }

    /// What the members see in real runs. Each coordinate of the values is a run by itself, which `run` makes
    /// with the values of all nodes.
    ///
    /// # Errors
    /// Those of [`checked_coalition`] and of `run`.
    pub(super) fn observe(
        &self,
        coalition: &[usize],
        values: ArrayView2<'_, f64>,
        mut run: impl FnMut(ArrayView1<'_, f64>) -> Result<SumRun, Error>,
    ) -> Result<Observation, Error> {
        let members = checked_coalition(coalition, self.path.nodes)?;
        let (rows, mut known) = self.seen(&members);
        known.retain(|&step| members.contains(&self.path.holders[step]));
        let mut seen = Observation {
            received: Array2::zeros((rows.len(), values.ncols())),
            known_noises: Array2::zeros((known.len(), values.ncols())),
        };
        for (column, values) in values.columns().into_iter().enumerate() {
            let run = run(values)?;
            for (row, &steps) in rows.iter().enumerate() {
                seen.received[(row, column)] = run.tokens[steps];
            }
            for (row, &step) in known.iter().enumerate() {
                seen.known_noises[(row, column)] = run.noises[step] / self.noises[step];
            }
        }
        Ok(seen)
    }
}
