//! What the learning figures share: houses as users' data, and seeded runs of walk SGD.

use crate::datasets::Data;
use crate::figure::{Kind, Provenance, Series};
use crate::seed::Seed;
use anyhow::Result;
use ndp_algos::sgd::walk::WalkSgd;
use ndp_algos::sgd::{DataBounds, Dataset, Evaluation, Linear, Logistic, Users};
use ndp_dp::Sigma;
use rand::{Rng, RngExt};

/// Training rows on which the objective is measured, drawn with replacement.
const OBJECTIVE_ROWS: usize = 1000;
/// Test rows of the 80/20 split.
pub(super) const TEST_ROWS: usize = 4128;

/// Houses, standardised on all rows, every row scaled to norm 1.
pub(super) fn houses(data: &Data) -> Result<(Dataset, Provenance)> {
    let loaded = data.houses()?;
    let rows = Dataset::new(loaded.value.features, loaded.value.labels)?.standardized()?.with_unit_rows();
    rows.require_binary()?;
    DataBounds::UNIT.check(&rows)?;
    Ok((rows, loaded.source))
}

/// One random split: users with consecutive training rows, and what is measured how often.
pub(super) fn split(
    houses: &Dataset,
    users: usize,
    every: usize,
    rng: &mut impl Rng,
) -> Result<(Users, Evaluation)> {
    let (train, test) = houses.stratified_split(TEST_ROWS, rng)?;
    let rows: Vec<usize> = (0..OBJECTIVE_ROWS).map(|_| rng.random_range(0..train.len())).collect();
    let evaluation = Evaluation::new(every, &test)?.with_objective(train.select(&rows)?);
    Ok((Users::consecutive(&train, users)?, evaluation))
}

/// Objectives and accuracies of several runs, measured at the same steps.
pub(super) struct Curve {
    pub(super) steps: Vec<f64>,
    pub(super) objective: Vec<Vec<f64>>,
    pub(super) accuracy: Vec<Vec<f64>>,
}

impl Curve {
    /// The mean objective, with one standard deviation.
    pub(super) fn objective(&self, name: &str, kind: impl Into<Kind>) -> Series {
        Series::new(name, kind).mean_of_runs(&self.steps, &self.objective)
    }

    /// The mean accuracy, with one standard deviation.
    pub(super) fn accuracy(&self, name: &str, kind: impl Into<Kind>) -> Series {
        Series::new(name, kind).mean_of_runs(&self.steps, &self.accuracy)
    }

    /// Mean of the last objectives.
    pub(super) fn last_objective(&self) -> f64 {
        mean(self.objective.iter().filter_map(|run| run.last()))
    }

    /// Mean of the last accuracies.
    pub(super) fn last_accuracy(&self) -> f64 {
        mean(self.accuracy.iter().filter_map(|run| run.last()))
    }
}

fn mean<'a>(values: impl Iterator<Item = &'a f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0u32), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count)
}

/// How an experiment with a walk is repeated.
pub(super) struct Runs<'a> {
    pub(super) houses: &'a Dataset,
    pub(super) users: usize,
    pub(super) every: usize,
    pub(super) count: u64,
}

impl Runs<'_> {
    /// Runs `walk` that many times, each on its own split.
    pub(super) fn walk(
        &self,
        objective: &Linear<Logistic>,
        walk: &WalkSgd<'_>,
        sigma: Sigma,
        seed: Seed,
    ) -> Result<Curve> {
        let histories = seed
            .run(self.count, |rng| {
                let (users, evaluation) = split(self.houses, self.users, self.every, rng)?;
                Ok(walk.run(objective, &users, Some(sigma), Some(&evaluation), rng)?.history)
            })
            .into_iter()
            .collect::<Result<Vec<_>>>()?;
        let steps = histories.first().map_or_else(Vec::new, |h| h.steps.iter().map(|&t| t as f64).collect());
        let (objective, accuracy) = histories.into_iter().map(|h| (h.objective, h.accuracy)).unzip();
        Ok(Curve { steps, objective, accuracy })
    }
}
