//! Federated SGD with a trusted aggregator, only the last model released.
//!
//! Users are dealt once, at random, into `⌊n/m⌋` batches of `m`; every batch takes part in one
//! round: `W_t = Π(W_{t-1} - (1/m) Σ_j η (∇ℓ(W_{t-1}; x_j) + Z_j))`, `Z_j ~ N(0, σ² I)`. This is
//! Algorithm 1 of *Differentially Private Federated Learning: An Information-Theoretic
//! Perspective* (Asoodeh, Calmon); drawing every batch afresh from all users is not covered by
//! its theorem, and is not offered. The bounds are in [`ndp_dp`]; they hold only against readers of the last
//! model, not against the users, who see the models of their rounds.

use crate::sgd::dataset::Users;
use crate::sgd::dataset::dot;
use crate::sgd::history::{Evaluation, History, Trained};
use crate::sgd::objective::{Constants, Domain, Objective};
use crate::sgd::{check_problem, positive};
use ndp_account::parts::ensure;
use ndp_account::{Error, Norm, RestsOn};
use ndp_dp::Sigma;
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;

/// A run of federated SGD; the noise is an argument of [`Self::run`].
///
/// # Examples
/// ```
/// use ndarray::arr2;
/// use ndp_algos::sgd::{Dataset, Deal, Domain, MeanEstimation, Users};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
/// use ndp_algos::sgd::federated::FederatedSgd;
/// let data = Dataset::new(arr2(&[[1.0], [3.0]]), vec![0.0, 0.0])?;
/// let rng = &mut ChaCha8Rng::seed_from_u64(1);
/// let users = Users::deal(&data, 2, Deal::InOrder, rng)?;
/// let server = FederatedSgd { batch: 2, step_size: 1.0, domain: Domain::Ball(10.0), initial: None };
/// // One round of everybody, without noise: the mean.
/// assert_eq!(server.run(&MeanEstimation, &users, None, None, rng)?.models[(0, 0)], 2.0);
/// # Ok::<(), ndp_account::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FederatedSgd {
    /// Users per batch, `m`.
    pub batch: usize,
    /// Step size `η`, applied to gradient and noise alike.
    pub step_size: f64,
    /// The ball on which models are projected; the theorem requires one.
    pub domain: Domain,
    /// First model, inside the domain; zeros if absent.
    pub initial: Option<Vec<f64>>,
}

impl FederatedSgd {
    /// Runs all `⌊n/m⌋` rounds; only the model is released. `noise` is the standard deviation per coordinate
    /// and user, `None` for no noise (and no privacy).
    ///
    /// The noise is drawn in floating point, for studies only. A real release needs noise that is drawn
    /// exactly ([`ndp_dp::DiscreteGaussian`]), and an account of its own.
    ///
    /// # Errors
    /// Those of [`Objective::check`]; [`Error::InvalidParameter`] unless `1 ≤ m ≤ n`, the step size is
    /// positive and the first model lies in the domain; [`Error::Shape`] for a first model of the wrong
    /// length or test examples with other features.
    pub fn run<O: Objective>(
        &self,
        objective: &O,
        users: &Users,
        noise: Option<Sigma>,
        evaluation: Option<&Evaluation>,
        rng: &mut impl Rng,
    ) -> Result<Trained, Error> {
        let n = users.count();
        let data = users.data();
        check_problem(objective, data, self.domain, evaluation)?;
        let dimension = objective.dimension(data.feature_count());
        let mut model = self.first_model(n, dimension)?;
        let mut order: Vec<usize> = (0..n).collect();
        order.shuffle(rng);
        let sigma = noise.map_or(0.0, Sigma::get);
        let share = 1.0 / (self.batch * users.per_user()) as f64;
        let mut history = History::default();
        let mut gradient = vec![0.0; dimension];
        let mut contributions = vec![0; n];
        for (t, batch) in order.chunks_exact(self.batch).enumerate() {
            let due = evaluation.filter(|e| e.is_due(t));
            history.objective.extend(due.and_then(|e| e.objective(objective, &model)));
            gradient.fill(0.0);
            for &user in batch {
                contributions[user] += 1;
                users.add_gradients(objective, user, &model, share, &mut gradient);
                if sigma > 0.0 {
                    for g in &mut gradient {
                        *g += sigma / self.batch as f64 * rng.sample::<f64, _>(StandardNormal);
                    }
                }
            }
            for (m, g) in model.iter_mut().zip(&gradient) {
                *m -= self.step_size * g;
            }
            self.domain.project(&mut model);
            if let Some(evaluation) = due {
                history.steps.push(t);
                history.accuracy.push(evaluation.accuracy(&model));
            }
        }
        history.last_accuracy = evaluation.map(|e| e.accuracy(&model));
        Ok(Trained::of_one(&model, history, contributions))
    }

    /// On what the bounds on its last model rest, beside the objective.
    pub(crate) fn rests_on(&self, constants: &Constants) -> RestsOn {
        let radius = match self.domain {
            Domain::Ball(radius) => radius / constants.sensitivity,
            Domain::Unbounded => f64::INFINITY,
        };
        let (step_size, radius) = (Norm::new(self.step_size), Norm::new(radius));
        RestsOn::DealtOnce { batch: self.batch, step_size, radius }
    }

    fn first_model(&self, users: usize, dimension: usize) -> Result<Vec<f64>, Error> {
        ensure(
            self.batch != 0 && self.batch <= users,
            "the batch size",
            "lie between 1 and the number of users",
            self.batch as f64,
        )?;
        positive("the step size", self.step_size)?;
        let model = self.initial.clone().unwrap_or_else(|| vec![0.0; dimension]);
        if model.len() != dimension {
            return Err(Error::Shape {
                what: "length of the first model",
                expected: dimension,
                got: model.len(),
            });
        }
        let norm = dot(&model, &model).sqrt();
        ensure(norm <= self.domain.radius(), "the norm of the first model", "be within the domain", norm)?;
        Ok(model)
    }
}
