//! Private SGD by a token that walks from user to user.
//!
//! At every step the holder adds its noisy gradient to the model and sends it on:
//! `θ ← Π(θ - η (∇f_v(θ) + Z))`, `Z ~ N(0, σ² I)`. On the complete graph this is Algorithm 4 of
//! *Privacy Amplification by Decentralization* (2012.05326), on any graph Algorithm 1 of
//! *Differentially Private Decentralized Learning with Random Walks* (2402.07471). The same loop, with noise
//! for another trust model, also gives local and centralized DP-SGD.

use crate::sgd::dataset::Users;
use crate::sgd::history::{Evaluation, History, Trained};
use crate::sgd::objective::{Constants, Domain, Objective, clip_norm};
use crate::sgd::{check_problem, positive};
use ndp_account::Error;
use ndp_account::parts::ensure;
use ndp_dp::Sigma;
use ndp_graph::TransitionMatrix;
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Where the token goes next.
///
/// # Examples
/// ```
/// use ndp_algos::sgd::walk::{Route, WalkSgd};
/// use ndp_graph::{GossipMatrix, TransitionMatrix, generators::cycle_graph};
/// let matrix = TransitionMatrix::from(&GossipMatrix::metropolis(&cycle_graph(8)?));
/// assert_eq!(WalkSgd::new(Route::from(matrix), 80, 0.1, Some(20)).steps, 80);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub enum Route {
    /// To a user drawn uniformly from all, the holder included: the complete graph.
    Complete,
    /// To a neighbor drawn from the holder's row.
    Graph(Arc<TransitionMatrix>),
}

impl From<TransitionMatrix> for Route {
    fn from(matrix: TransitionMatrix) -> Self {
        Self::Graph(Arc::new(matrix))
    }
}

impl Route {
    /// Draws the user after `holder` among `users`.
    fn next(&self, holder: usize, users: usize, rng: &mut impl Rng) -> usize {
        match self {
            Self::Complete => rng.random_range(0..users),
            Self::Graph(matrix) => matrix.draw_next(holder, rng),
        }
    }
}

/// What a user does after its last contribution.
///
/// # Examples
/// ```
/// use ndp_algos::sgd::walk::{OverCap, Route, WalkSgd};
/// let walk = WalkSgd { over_cap: OverCap::ForwardUnchanged, ..WalkSgd::new(Route::Complete, 80, 0.1, Some(20)) };
/// assert_eq!(walk.over_cap, OverCap::ForwardUnchanged); // no accountant of walks takes it
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OverCap {
    /// Adds noise but no gradient: later noise protects earlier contributions.
    NoiseOnly,
    /// Sends the token on unchanged; no amplification along a walk covers this.
    ForwardUnchanged,
}

/// The order of noise and clipping.
///
/// # Examples
/// ```
/// use ndp_algos::sgd::walk::{Update, Route, WalkSgd};
/// let walk = WalkSgd { update: Update::NodeClipped { clip: 1.0 }, ..WalkSgd::new(Route::Complete, 80, 0.1, Some(20)) };
/// assert_ne!(walk.update, Update::Sound);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Update {
    /// Noise is added to the gradient, and nothing is clipped afterwards (the objective may clip the
    /// gradients of examples).
    Sound,
    /// A user's whole gradient is clipped to this norm before noise is added. That bounds what it reveals,
    /// but the clipped gradient is not that of a convex function: no amplification by iteration covers it.
    /// Clip examples in the objective instead (the field `clip` of [`Linear`](crate::sgd::Linear)).
    NodeClipped {
        /// Norm to which the gradient is clipped.
        clip: f64,
    },
    /// As in the released programs: gradient plus noise, clipped together to this norm. Only for
    /// reproducing published curves; no amplification theorem covers it.
    AsReleased {
        /// Norm to which gradient plus noise is clipped.
        clip: f64,
    },
}

impl Update {
    /// The constants of the gradient to which noise is added: clipping a user's gradient bounds its size, but
    /// is not convex.
    #[must_use]
    pub(crate) fn constants(self, objective: &Constants) -> Constants {
        match self {
            Self::NodeClipped { clip } => Constants {
                lipschitz: objective.lipschitz.min(clip),
                sensitivity: objective.sensitivity.min(2.0 * clip),
                strong_convexity: 0.0,
                ..*objective
            },
            Self::Sound | Self::AsReleased { .. } => *objective,
        }
    }

    /// Adds noise of standard deviation `sigma` per coordinate, before or after clipping.
    pub(crate) fn perturb(self, gradient: &mut [f64], sigma: f64, rng: &mut impl Rng) {
        if let Self::NodeClipped { clip } = self {
            clip_norm(gradient, clip);
        }
        if sigma > 0.0 {
            for g in gradient.iter_mut() {
                *g += sigma * rng.sample::<f64, _>(StandardNormal);
            }
        }
        if let Self::AsReleased { clip } = self {
            clip_norm(gradient, clip);
        }
    }

    pub(crate) fn check(self) -> Result<(), Error> {
        match self {
            Self::Sound => Ok(()),
            Self::NodeClipped { clip } | Self::AsReleased { clip } => positive("the clipping norm", clip),
        }
    }
}

/// The step size `η_t` of step `t = 0, 1, …`.
///
/// # Examples
/// ```
/// use ndp_algos::sgd::walk::{StepSize, Route, WalkSgd};
/// let walk = WalkSgd { step_size: StepSize::InverseRoot(0.5), ..WalkSgd::new(Route::Complete, 80, 0.1, Some(20)) };
/// assert_ne!(walk.step_size, StepSize::Constant(0.5));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepSize {
    /// `η_t = η`.
    Constant(f64),
    /// `η_t = η / √(t + 1)`; not covered by the closed amplification theorem.
    InverseRoot(f64),
}

impl StepSize {
    /// The first and longest step.
    #[must_use]
    pub(crate) fn longest(self) -> f64 {
        match self {
            Self::Constant(step) | Self::InverseRoot(step) => step,
        }
    }

    /// The size of step `t`.
    #[must_use]
    pub(crate) fn at(self, t: usize) -> f64 {
        match self {
            Self::Constant(step) => step,
            Self::InverseRoot(step) => step / ((t + 1) as f64).sqrt(),
        }
    }
}

/// A run of walk SGD; the noise is an argument of [`Self::run`].
///
/// # Examples
/// ```
/// use ndarray::arr2;
/// use ndp_algos::sgd::walk::{Route, WalkSgd};
/// use ndp_algos::sgd::{Dataset, Deal, MeanEstimation, Users};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
/// let data = Dataset::new(arr2(&[[1.0], [3.0]]), vec![0.0, 0.0])?;
/// let rng = &mut ChaCha8Rng::seed_from_u64(1);
/// let users = Users::deal(&data, 2, Deal::InOrder, rng)?;
/// let walk = WalkSgd::new(Route::Complete, 50, 0.1, Some(25));
/// let trained = walk.run(&MeanEstimation, &users, None, None, rng)?;
/// assert!((1.0..3.0).contains(&trained.models[(0, 0)]));
/// assert!(trained.contributions.iter().all(|&gradients| gradients <= 25));
/// # Ok::<(), ndp_account::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct WalkSgd {
    /// Where the token goes.
    pub route: Route,
    /// The user who holds the token first; `None` for one drawn uniformly.
    pub start: Option<usize>,
    /// Number of steps `T`, one contribution (or noise) each.
    pub steps: usize,
    /// Step size.
    pub step_size: StepSize,
    /// Where models live.
    pub domain: Domain,
    /// Most gradients a user may add; `None` for no limit.
    pub cap: Option<usize>,
    /// What happens beyond the cap.
    pub over_cap: OverCap,
    /// The order of noise and clipping.
    pub update: Update,
}

impl WalkSgd {
    /// A walk with constant steps from a uniform start in all of `R^d`, with noise added to whole gradients.
    /// Every user contributes at most `cap` gradients, and only noise afterwards.
    ///
    /// On the complete graph and without a cap it is centralized DP-SGD, where a trusted curator draws a user
    /// in every step and adds the noise: its account is
    /// [`Training::Central`](crate::sgd::Training::Central).
    #[must_use]
    pub const fn new(route: Route, steps: usize, step_size: f64, cap: Option<usize>) -> Self {
        Self {
            route,
            start: None,
            steps,
            step_size: StepSize::Constant(step_size),
            domain: Domain::Unbounded,
            cap,
            over_cap: OverCap::NoiseOnly,
            update: Update::Sound,
        }
    }

    /// Walks once from the model 0. `noise` is the standard deviation per coordinate, `None` for
    /// no noise at all (and no privacy).
    ///
    /// The noise is drawn in floating point, for studies only. A real release needs noise that is drawn
    /// exactly ([`ndp_dp::DiscreteGaussian`]), and an account of its own.
    ///
    /// # Errors
    /// Those of [`Objective::check`]; [`Error::Shape`] if the matrix has another number of nodes than there
    /// are users or the test examples have other features, [`Error::NodeOutOfRange`] for a start that is not
    /// a user, [`Error::InvalidParameter`] for zero steps or a step size that is not positive.
    pub fn run<O: Objective>(
        &self,
        objective: &O,
        users: &Users,
        noise: Option<Sigma>,
        evaluation: Option<&Evaluation>,
        rng: &mut impl Rng,
    ) -> Result<Trained, Error> {
        self.check(users.count())?;
        let n = users.count();
        let data = users.data();
        check_problem(objective, data, self.domain, evaluation)?;
        let dimension = objective.dimension(data.feature_count());
        let share = 1.0 / users.per_user() as f64;
        let sigma = noise.map_or(0.0, Sigma::get);
        let cap = self.cap.unwrap_or(usize::MAX);
        let mut model = vec![0.0; dimension];
        let mut gradient = vec![0.0; dimension];
        let mut contributions = vec![0; n];
        let mut history = History::default();
        let mut holder = self.start.unwrap_or_else(|| rng.random_range(0..n));
        for t in 0..self.steps {
            let due = evaluation.filter(|e| e.is_due(t));
            history.objective.extend(due.and_then(|e| e.objective(objective, &model)));
            let contributes = contributions[holder] < cap;
            if contributes || self.over_cap == OverCap::NoiseOnly {
                gradient.fill(0.0);
                if contributes {
                    contributions[holder] += 1;
                    users.add_gradients(objective, holder, &model, share, &mut gradient);
                }
                self.update.perturb(&mut gradient, sigma, rng);
                let step = self.step_size.at(t);
                for (m, g) in model.iter_mut().zip(&gradient) {
                    *m -= step * g;
                }
                self.domain.project(&mut model);
            }
            if let Some(evaluation) = due {
                history.steps.push(t);
                history.accuracy.push(evaluation.accuracy(&model));
            }
            holder = self.route.next(holder, n, rng);
        }
        history.last_accuracy = evaluation.map(|e| e.accuracy(&model));
        Ok(Trained::of_one(&model, history, contributions))
    }

    /// Checks that this number of users can run this.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(crate) fn check(&self, users: usize) -> Result<(), Error> {
        if let Route::Graph(matrix) = &self.route
            && matrix.node_count() != users
        {
            return Err(Error::Shape { what: "users", expected: matrix.node_count(), got: users });
        }
        if let Some(node) = self.start
            && node >= users
        {
            return Err(Error::NodeOutOfRange { node, nodes: users });
        }
        ensure(self.steps != 0, "the number of steps", "be at least 1", 0.0)?;
        positive("the step size", self.step_size.longest())?;
        self.update.check()
    }
}
