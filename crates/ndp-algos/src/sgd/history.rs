//! The result of a training, and the measurements along the way.

use crate::sgd::dataset::Dataset;
use crate::sgd::objective::Objective;
use ndarray::{Array2, ArrayView1, Axis};
use ndp_account::Error;
use ndp_account::parts::ensure;
use ndp_graph::kernel::{SCORES, add_worth};
use serde::Serialize;

/// What is measured, on which examples, how often, and on which nodes.
///
/// # Examples
/// ```
/// use ndarray::arr2;
/// use ndp_algos::sgd::walk::{Route, WalkSgd};
/// use ndp_algos::sgd::{Dataset, Deal, Evaluation, Linear, LinearLoss, Users};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
/// let data = Dataset::new(arr2(&[[1.0], [-2.0]]), vec![1.0, -1.0])?;
/// let mut evaluation = Evaluation::new(10, &data)?;
/// evaluation.objective = Some(data.clone());
/// let rng = &mut ChaCha8Rng::seed_from_u64(1);
/// let users = Users::deal(&data, 2, Deal::InOrder, rng)?;
/// let walk = WalkSgd::new(Route::Complete, 30, 0.5, None);
/// let history = walk.run(&Linear::from(LinearLoss::Logistic), &users, None, Some(&evaluation), rng)?.history;
/// assert_eq!((history.steps, history.last_accuracy), (vec![0, 10, 20], Some(1.0)));
/// # Ok::<(), ndp_account::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// Steps between two measurements, at least 1.
    every: usize,
    /// For protocols with a model per node: every `stride`-th node is measured, beginning with the first, and
    /// their mean stands for that of all nodes; at least 1.
    pub stride: usize,
    /// Examples on which the objective is averaged as well, if it is to be measured.
    pub objective: Option<Dataset>,
    features: usize,
    test_examples: usize,
    /// The features of the test examples, in blocks of examples.
    test_blocks: Vec<[f64; SCORES]>,
    /// For each example, what a positive score counts, and what any other score counts: 1 if this is the sign
    /// of the label. Examples that only fill up the last block count 0.
    worth: Vec<[[f64; SCORES]; 2]>,
}

impl Evaluation {
    /// Measures accuracy on `test` every `every` steps, on every node, and no objective.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for `every = 0`.
    pub fn new(every: usize, test: &Dataset) -> Result<Self, Error> {
        ensure(every != 0, "the steps between evaluations", "be at least 1", 0.0)?;
        let features = test.feature_count();
        let blocks = test.len().div_ceil(SCORES);
        let mut test_blocks = vec![[0.0; SCORES]; blocks * features];
        let mut worth = vec![[[0.0; SCORES]; 2]; blocks];
        for (i, label) in test.labels().iter().enumerate() {
            let (block, lane) = (i / SCORES, i % SCORES);
            for (column, x) in test_blocks[block * features..].iter_mut().zip(test.row(i)) {
                column[lane] = *x;
            }
            // A score of 0 counts as the negative class, as in the authors' programs.
            worth[block][usize::from(*label <= 0.0)][lane] = 1.0;
        }
        Ok(Self {
            every,
            stride: 1,
            objective: None,
            features,
            test_examples: test.len(),
            test_blocks,
            worth,
        })
    }

    /// Checks that the test examples have this number of features, and that models of length `dimension` have
    /// a weight for each.
    ///
    /// # Errors
    /// [`Error::Shape`]; [`Error::InvalidParameter`] for a stride of 0.
    pub(crate) fn check(&self, features: usize, dimension: usize) -> Result<(), Error> {
        ensure(self.stride != 0, "the stride between nodes", "be at least 1", 0.0)?;
        if self.features != features {
            return Err(Error::Shape {
                what: "features of the test examples",
                expected: features,
                got: self.features,
            });
        }
        if dimension < features {
            return Err(Error::Shape {
                what: "weights of a model that is measured",
                expected: features,
                got: dimension,
            });
        }
        Ok(())
    }

    /// Whether something is measured at this step.
    #[must_use]
    pub(crate) fn is_due(&self, step: usize) -> bool {
        step.is_multiple_of(self.every)
    }

    /// Share of test examples whose label has the sign of the score `θ·x`, plus the intercept if the model
    /// has one.
    ///
    /// # Panics
    /// When the model has fewer entries than there are features.
    #[must_use]
    pub(crate) fn accuracy(&self, model: &[f64]) -> f64 {
        let (weights, rest) = model.split_at(self.features);
        let intercept = rest.first().copied().unwrap_or(0.0);
        let mut right = 0.0;
        add_worth::<SCORES>(&self.test_blocks, &self.worth, weights, intercept, &mut right);
        right / self.test_examples as f64
    }

    /// Mean of the objective over its examples; `None` if it is not measured.
    pub(crate) fn objective(&self, objective: &impl Objective, model: &[f64]) -> Option<f64> {
        let examples = self.objective.as_ref()?;
        let total: f64 =
            (0..examples.len()).map(|i| objective.value(model, examples.row(i), examples.labels()[i])).sum();
        Some(total / examples.len() as f64)
    }
}

/// Measurements along a run.
///
/// # Examples
/// ```
/// use ndp_algos::sgd::History;
/// assert!(History::default().accuracy.is_empty()); // nothing was measured
/// ```
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
    /// Test accuracy when the run is over, for several models their mean; `None` if nothing is measured.
    pub last_accuracy: Option<f64>,
}

/// The result of a training, for all protocols.
///
/// # Examples
/// ```
/// use ndarray::arr2;
/// use ndp_algos::sgd::gossip::{Mixing, MuffliatoSgd};
/// use ndp_algos::sgd::walk::{Route, Update, WalkSgd};
/// use ndp_algos::sgd::{Dataset, Deal, Domain, MeanEstimation, Trained, Users};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
/// let data = Dataset::new(arr2(&[[1.0], [3.0]]), vec![0.0, 0.0])?;
/// let rng = &mut ChaCha8Rng::seed_from_u64(1);
/// let users = Users::deal(&data, 2, Deal::InOrder, rng)?;
/// // A model that walks is one row; with gossip every node has a row of its own.
/// let walk = WalkSgd::new(Route::Complete, 8, 0.5, Some(3));
/// let one: Trained = walk.run(&MeanEstimation, &users, None, None, rng)?;
/// let sgd =
///     MuffliatoSgd { rounds: 1, step_size: 1.0, batch: None, domain: Domain::Unbounded, update: Update::Sound };
/// let two: Trained = sgd.run(&MeanEstimation, &users, None, |_, _| Ok(Mixing::Server), None, rng)?;
/// assert_eq!((one.models.nrows(), two.models.nrows()), (1, 2));
/// # Ok::<(), ndp_account::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Trained {
    /// The last models: one row for every node that has one, a single row where one model is trained.
    pub models: Array2<f64>,
    /// The measurements along the run. In a federated run they are for the aggregator only: releasing them
    /// makes the bound invalid. With gossip, entry 0 is before the first round, and entry `t` after round
    /// `t`.
    pub history: History,
    /// Gradients added by each user.
    pub contributions: Vec<usize>,
}

impl Trained {
    /// The result with a single model.
    pub(crate) fn of_one(model: &[f64], history: History, contributions: Vec<usize>) -> Self {
        Self { models: ArrayView1::from(model).insert_axis(Axis(0)).to_owned(), history, contributions }
    }
}
