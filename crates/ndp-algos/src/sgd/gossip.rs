//! Muffliato-SGD: a private gradient step at every node, then rounds of gossip.
//!
//! Round `t`: every node takes `ψ_v = θ_v - ν g_v + ν Z_v`, `Z_v ~ N(0, σ² I)`, and the nodes mix
//! their `ψ` by `K` gossip steps. Algorithm 3 of *Muffliato* (2206.05091). Noise is added after
//! any clipping and never clipped itself, except [`as released`](Update::AsReleased).

use crate::sgd::dataset::Users;
use crate::sgd::history::{Evaluation, History, Trained};
use crate::sgd::objective::{Domain, Objective};
use crate::sgd::walk::Update;
use crate::sgd::{check_problem, positive};
use ndarray::{Array2, Axis};
use ndp_account::Error;
use ndp_dp::Sigma;
use ndp_graph::kernel::multiply_rows_of;
use ndp_graph::{GossipMatrix, GossipSequence};
use rand::{Rng, RngExt};
use rayon::prelude::*;

/// How the nodes mix their models in one round.
///
/// # Examples
/// ```
/// use ndp_algos::sgd::gossip::Mixing;
/// use ndp_graph::{GossipMatrix, generators::cycle_graph};
/// let mixing = Mixing::Plain { matrix: GossipMatrix::metropolis(&cycle_graph(8)?), steps: 5 };
/// assert_ne!(mixing, Mixing::Server);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Mixing {
    /// `K` steps `x ← W x`.
    Plain {
        /// The gossip matrix `W`.
        matrix: GossipMatrix,
        /// `K`.
        steps: usize,
    },
    /// `K` steps of the Chebyshev recursion `x^{k+1} = g W x^k + (1 - g) x^{k-1}`, from `x^1 = W x^0`.
    Accelerated {
        /// The gossip matrix `W`.
        matrix: GossipMatrix,
        /// `K`.
        steps: usize,
        /// The recursion's parameter `g`, in `[1, 2)`.
        parameter: f64,
    },
    /// The recursion of the released program, which starts from `x^{-1} = 0` and so multiplies the mean by a
    /// factor.
    AsReleased {
        /// The gossip matrix `W`.
        matrix: GossipMatrix,
        /// `K`.
        steps: usize,
        /// The recursion's parameter `g`, in `[1, 2)`.
        parameter: f64,
    },
    /// The given steps, one after the other: connections that change within a round.
    Sequence(GossipSequence),
    /// `log₂ n` steps in which node `v` averages with `v xor 2^k`: exact consensus.
    OnePeerHypercube,
    /// A trusted server averages: exact consensus, and nobody else sees a model.
    Server,
}

impl Mixing {
    /// Checks that this can mix the models of `nodes` nodes.
    ///
    /// # Errors
    /// [`Error::Shape`] for a matrix on other nodes; [`Error::InvalidParameter`] for a one-peer hypercube on
    /// a number of nodes that is not a power of two, or a parameter outside `[1, 2)`.
    pub(crate) fn check(&self, nodes: usize) -> Result<(), Error> {
        let refuse = |name, condition, value| Err(Error::InvalidParameter { name, condition, value });
        match self {
            Self::Accelerated { parameter, .. } | Self::AsReleased { parameter, .. }
                if !(1.0..2.0).contains(parameter) =>
            {
                refuse("the Chebyshev parameter", "lie in [1, 2)", *parameter)
            }
            Self::Plain { matrix, .. }
            | Self::Accelerated { matrix, .. }
            | Self::AsReleased { matrix, .. }
                if matrix.node_count() != nodes =>
            {
                let got = matrix.node_count();
                Err(Error::Shape { what: "nodes of the gossip matrix", expected: nodes, got })
            }
            Self::Sequence(sequence) if sequence.node_count() != nodes => Err(Error::Shape {
                what: "nodes of the sequence",
                expected: nodes,
                got: sequence.node_count(),
            }),
            Self::OnePeerHypercube if !nodes.is_power_of_two() => {
                refuse("the number of nodes", "be a power of two for a one-peer hypercube", nodes as f64)
            }
            _ => Ok(()),
        }
    }

    /// Mixes the rows of `models`.
    fn apply(&self, models: &mut Array2<f64>) -> Result<(), Error> {
        let n = models.nrows();
        self.check(n)?;
        match self {
            Self::Plain { matrix, steps } => {
                let mut next = Array2::zeros(models.raw_dim());
                for _ in 0..*steps {
                    multiply(matrix, models, &mut next);
                    std::mem::swap(models, &mut next);
                }
            }
            Self::Accelerated { matrix, steps, parameter } => {
                if *steps > 0 {
                    let mut first = Array2::zeros(models.raw_dim());
                    multiply(matrix, models, &mut first);
                    let start = std::mem::replace(models, first);
                    chebyshev(matrix, start, models, steps - 1, *parameter);
                }
            }
            Self::AsReleased { matrix, steps, parameter } => {
                chebyshev(matrix, Array2::zeros(models.raw_dim()), models, *steps, *parameter);
            }
            Self::Sequence(sequence) => {
                for step in sequence.steps() {
                    *models = ndp_program::parts::advance(step, models);
                }
            }
            Self::OnePeerHypercube => {
                for bit in 0..n.trailing_zeros() {
                    let before = models.clone();
                    for v in 0..n {
                        let mean = (&before.row(v) + &before.row(v ^ (1 << bit))) / 2.0;
                        models.row_mut(v).assign(&mean);
                    }
                }
            }
            Self::Server => {
                let mean = models.sum_axis(Axis(0)) / n as f64;
                models.rows_mut().into_iter().for_each(|mut row| row.assign(&mean));
            }
        }
        Ok(())
    }
}

/// `steps` steps of the recursion from `(previous, current)`; leaves the last state in `current`.
fn chebyshev(
    matrix: &GossipMatrix,
    mut previous: Array2<f64>,
    current: &mut Array2<f64>,
    steps: usize,
    parameter: f64,
) {
    let mut next = Array2::zeros(current.raw_dim());
    for _ in 0..steps {
        multiply(matrix, current, &mut next);
        next.zip_mut_with(&previous, |x, p| *x = parameter * *x + (1.0 - parameter) * p);
        // The oldest state is overwritten by the next one.
        std::mem::swap(&mut previous, current);
        std::mem::swap(current, &mut next);
    }
}

/// `W X`, where `X` has one row per node.
fn multiply(matrix: &GossipMatrix, models: &Array2<f64>, product: &mut Array2<f64>) {
    let dimension = models.ncols();
    let models = models.as_slice().expect("models are in standard layout");
    let product = product.as_slice_mut().expect("models are in standard layout");
    product.par_chunks_mut(ROWS * dimension).enumerate().for_each(|(chunk, rows)| {
        multiply_rows_of(matrix.csr(), chunk * ROWS, dimension, models, rows);
    });
}

/// The number of rows of a product that one task computes.
const ROWS: usize = 256;

/// A run of Muffliato-SGD; noise and mixing are arguments of [`Self::run`].
///
/// # Examples
/// ```
/// use ndarray::arr2;
/// use ndp_algos::sgd::{Dataset, Deal, Domain, MeanEstimation, Users};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
/// use ndp_algos::sgd::gossip::{Mixing, MuffliatoSgd};
/// use ndp_algos::sgd::walk::Update;
/// let data = Dataset::new(arr2(&[[1.0], [3.0]]), vec![0.0, 0.0])?;
/// let rng = &mut ChaCha8Rng::seed_from_u64(1);
/// let users = Users::deal(&data, 2, Deal::InOrder, rng)?;
/// let sgd =
///     MuffliatoSgd { rounds: 1, step_size: 1.0, batch: None, domain: Domain::Unbounded, update: Update::Sound };
/// let run = sgd.run(&MeanEstimation, &users, None, |_, _| Ok(Mixing::Server), None, rng)?;
/// assert_eq!(run.models, arr2(&[[2.0], [2.0]]));
/// # Ok::<(), ndp_account::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MuffliatoSgd {
    /// Number of rounds `T`.
    pub rounds: usize,
    /// Step size `ν`.
    pub step_size: f64,
    /// The number of examples in a node's gradient, drawn with replacement and independently of the data;
    /// `None` for all examples of the node.
    pub batch: Option<usize>,
    /// Where models live; they are projected before the gradient is taken, never between noise
    /// and gossip.
    pub domain: Domain,
    /// The order of noise and clipping.
    pub update: Update,
}

impl MuffliatoSgd {
    /// Runs all rounds from the model 0 at every node. `noise` is the standard deviation per
    /// coordinate of a gradient, `None` for no noise (and no privacy); `mixing` is asked anew in
    /// every round.
    ///
    /// # Errors
    /// Those of [`Objective::check`]; [`Error::InvalidParameter`]; [`Error::Shape`] for a matrix that is not
    /// on the users or test examples with other features; and whatever `mixing` returns.
    pub fn run<O: Objective, R: Rng>(
        &self,
        objective: &O,
        users: &Users,
        noise: Option<Sigma>,
        mut mixing: impl FnMut(usize, &mut R) -> Result<Mixing, Error>,
        evaluation: Option<&Evaluation>,
        rng: &mut R,
    ) -> Result<Trained, Error> {
        self.check()?;
        let data = users.data();
        check_problem(objective, data, self.domain, evaluation)?;
        let dimension = objective.dimension(data.feature_count());
        let mut models = Array2::zeros((users.count(), dimension));
        let mut history = History::default();
        let mut gradient = vec![0.0; dimension];
        let mut model = vec![0.0; dimension];
        record(&mut history, 0, &models, objective, evaluation);
        for round in 0..self.rounds {
            for user in 0..users.count() {
                model.copy_from_slice(models.row(user).as_slice().expect("models are in standard layout"));
                self.domain.project(&mut model);
                self.gradient(objective, users, user, &model, &mut gradient, rng);
                self.update.perturb(&mut gradient, noise.map_or(0.0, Sigma::get), rng);
                for ((m, from), g) in models.row_mut(user).iter_mut().zip(&model).zip(&gradient) {
                    *m = from - self.step_size * g;
                }
            }
            mixing(round, rng)?.apply(&mut models)?;
            record(&mut history, round + 1, &models, objective, evaluation);
        }
        history.last_accuracy = evaluation.map(|e| mean_accuracy(&measured(&models, e), e));
        let contributions = vec![self.rounds; users.count()];
        Ok(Trained { models, history, contributions })
    }

    fn gradient<O: Objective>(
        &self,
        objective: &O,
        users: &Users,
        user: usize,
        model: &[f64],
        gradient: &mut [f64],
        rng: &mut impl Rng,
    ) {
        gradient.fill(0.0);
        let data = users.data();
        match self.batch {
            None => users.add_gradients(objective, user, model, 1.0 / users.per_user() as f64, gradient),
            Some(count) => {
                for _ in 0..count {
                    let row = rng.random_range(users.rows(user));
                    let share = 1.0 / count as f64;
                    objective.add_gradient(model, data.row(row), data.labels()[row], share, gradient);
                }
            }
        }
    }

    /// Checks that this can be run.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`].
    pub(crate) fn check(&self) -> Result<(), Error> {
        positive("the number of rounds", self.rounds as f64)?;
        positive("the step size", self.step_size)?;
        if let Some(count) = self.batch {
            positive("the batch size", count as f64)?;
        }
        self.update.check()
    }
}

/// The means over nodes of the objective and the accuracy of each node's own model, and of its distance to
/// the mean model.
fn record<O: Objective>(
    history: &mut History,
    round: usize,
    models: &Array2<f64>,
    objective: &O,
    evaluation: Option<&Evaluation>,
) {
    let Some(evaluation) = evaluation.filter(|e| e.is_due(round)) else { return };
    let n = models.nrows() as f64;
    let rows = measured(models, evaluation);
    history.steps.push(round);
    history.accuracy.push(mean_accuracy(&rows, evaluation));
    let objectives: Option<Vec<f64>> =
        rows.par_iter().map(|model| evaluation.objective(objective, model)).collect();
    history.objective.extend(objectives.map(mean));
    let center = models.sum_axis(Axis(0)) / n;
    let spread: f64 = models.rows().into_iter().map(|row| (&row - &center).mapv(|x| x * x).sum()).sum();
    history.consensus_error.push(spread / n);
}

/// The models on which something is measured.
fn measured(models: &Array2<f64>, evaluation: &Evaluation) -> Vec<Vec<f64>> {
    models.rows().into_iter().step_by(evaluation.stride).map(|row| row.to_vec()).collect()
}

fn mean_accuracy(models: &[Vec<f64>], evaluation: &Evaluation) -> f64 {
    mean(models.par_iter().map(|model| evaluation.accuracy(model)).collect())
}

fn mean(values: Vec<f64>) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
