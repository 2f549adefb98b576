//! What is recorded while a model is trained.

use crate::Error;
use crate::sgd::dataset::Dataset;
use crate::sgd::objective::Objective;
use ndarray::Array2;
use serde::Serialize;

/// What to measure, on which examples, how often.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// Steps between two measurements, at least 1.
    every: usize,
    /// Examples on which the objective is averaged, if it is measured.
    objective: Option<Dataset>,
    /// Test features, one *column* per example: scores are then sums of contiguous rows.
    test_columns: Array2<f64>,
    test_labels: Vec<f64>,
}

impl Evaluation {
    /// Measures accuracy on `test` every `every` steps.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for `every = 0`.
    pub fn new(every: usize, test: &Dataset) -> Result<Self, Error> {
        if every == 0 {
            return Err(Error::InvalidParameter {
                name: "the steps between evaluations",
                condition: "be at least 1",
                value: 0.0,
            });
        }
        Ok(Self {
            every,
            objective: None,
            test_columns: test.features().t().as_standard_layout().into_owned(),
            test_labels: test.labels().to_vec(),
        })
    }

    /// Measures the mean objective over `examples` as well.
    #[must_use]
    pub fn with_objective(self, examples: Dataset) -> Self {
        Self { objective: Some(examples), ..self }
    }

    /// Whether something is measured at this step.
    #[must_use]
    pub fn is_due(&self, step: usize) -> bool {
        step.is_multiple_of(self.every)
    }

    /// Share of test examples whose label has the sign of the score `θ·x`.
    #[must_use]
    pub fn accuracy(&self, model: &[f64]) -> f64 {
        let features = self.test_columns.nrows();
        let intercept = if model.len() > features { model[features] } else { 0.0 };
        let mut scores = vec![intercept; self.test_labels.len()];
        for (row, weight) in self.test_columns.rows().into_iter().zip(model) {
            for (score, x) in scores.iter_mut().zip(row) {
                *score += weight * x;
            }
        }
        // A score of 0 counts as the negative class, as in the authors' programs.
        let right = scores.iter().zip(&self.test_labels).filter(|&(&s, &y)| (s > 0.0) == (y > 0.0)).count();
        right as f64 / self.test_labels.len() as f64
    }

    /// Mean of the objective over its examples; `None` if it is not measured.
    pub fn objective(&self, objective: &impl Objective, model: &[f64]) -> Option<f64> {
        let examples = self.objective.as_ref()?;
        let total: f64 =
            (0..examples.len()).map(|i| objective.value(model, examples.row(i), examples.labels()[i])).sum();
        Some(total / examples.len() as f64)
    }
}

/// Measurements along a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct History {
    /// Steps (or rounds) at which something was measured.
    pub steps: Vec<usize>,
    /// Mean objective *before* the update of that step; empty if not measured.
    pub objective: Vec<f64>,
    /// Test accuracy *after* the update of that step, for several models their mean.
    pub accuracy: Vec<f64>,
    /// Mean squared distance of the models to their mean, for protocols with a model per node.
    pub consensus_error: Vec<f64>,
}
