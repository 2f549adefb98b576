//! Private training as an accountant and an auditor see it: by a walk, by gossip, by a server, without any
//! trust.
//!
//! The noise of a question is that on a gradient, in units of the sensitivity `s` of a user's gradient. An
//! audit trains for real, on the mean of one number per user, and looks at the last model, which every
//! account here covers for its observer.

use super::privacy::{self, GossipObserver, Statement, WalkPairs};
use super::{Constants, Dataset, Deal, Domain, MeanEstimation, Objective, Users};
use crate::sgd::federated::FederatedSgd;
use crate::sgd::gossip::{Mixing, MuffliatoSgd};
use crate::sgd::walk::{Route, WalkSgd};
use crate::walk::FinalToken;
use ndarray::Array2;
use ndp_account::Error;
use ndp_account::parts::ensure;
use ndp_account::{
    Account, Attacker, Changes, Noise, Observer, Protocol, Terms,
    parts::{at_most, bound_of_releases, of_outsider},
};
use ndp_dp::{
    Curve, Delta, Exact, Gdp, Guarantee, NoiseMultiplier, Order, Profile, Sensitivity, Sigma, UpperBound,
};
use ndp_graph::TransitionMatrix;
use ndp_numeric::rounding::Interval;
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;
use std::sync::Arc;

/// A way to train privately.
///
/// # Examples
/// ```
/// use ndp_algos::sgd::Training;
/// let training = Training::Central { steps: 100, step_size: 0.1 };
/// assert!(matches!(training, Training::Central { steps: 100, .. }));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Training {
    /// Every user sends at most so many noisy gradients to everybody: the local model.
    Local {
        /// Gradients of one user.
        contributions: usize,
    },
    /// A trusted curator draws a user in every step and publishes every noisy gradient.
    Central {
        /// Number of steps.
        steps: usize,
        /// Step size.
        step_size: f64,
    },
    /// Federated SGD with only the last model published.
    Federated(FederatedSgd),
    /// A model that walks on the complete graph, each user contributing at most `cap` times; the last model
    /// is published.
    Walk {
        /// Number of steps.
        steps: usize,
        /// Step size.
        step_size: f64,
        /// Most gradients of one user.
        cap: usize,
    },
    /// A model that walks on a graph, each user contributing at most `cap` times; the last model is
    /// published.
    WalkOnGraph {
        /// The walk.
        matrix: Box<TransitionMatrix>,
        /// Number of steps.
        steps: usize,
        /// Step size.
        step_size: f64,
        /// Most gradients of one user.
        cap: usize,
    },
    /// Gradient steps and gossip in turn.
    Gossip {
        /// The training.
        sgd: MuffliatoSgd,
        /// How models are mixed in every round.
        mixing: Box<Mixing>,
    },
}

/// A [`Training`] of some users with an objective of which these constants are known.
///
/// # Examples
/// ```
/// use ndp_account::{Observer, Protocol};
/// use ndp_algos::sgd::{Domain, Linear, LinearLoss, Objective, PrivateTraining, Training};
/// use ndp_dp::{Delta, NoiseMultiplier};
/// let constants = Linear::from(LinearLoss::Logistic).constants(1.0, 1.0, Domain::Unbounded);
/// let training = PrivateTraining::new(2000, constants, Training::Walk { steps: 20_000, step_size: 0.034, cap: 12 })?;
/// let account = training.account(&Observer::node(0))?;
/// let profile = account.profile(1, NoiseMultiplier::new(0.6)?)?;
/// assert!(profile.epsilon(Delta::new(1e-6)?)?.value().epsilon() < 12.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct PrivateTraining {
    users: usize,
    constants: Constants,
    training: Training,
}

impl PrivateTraining {
    /// Training with an objective whose `constants` hold for all data that users may have. Models of walks
    /// and of a curator go anywhere, those of the others stay in the domain of their options; where a local
    /// gradient is taken is not known here.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for models that go further than the constants hold.
    /// [`Error::InvalidParameter`] for fewer than two users; [`Error::Unbounded`](crate::Error::Unbounded)
    /// where gradients have no finite sensitivity.
    pub fn new(users: usize, constants: Constants, training: Training) -> Result<Self, Error> {
        constants.require_bounded()?;
        match &training {
            Training::Local { .. } => {}
            Training::Federated(run) => constants.require_domain(run.domain)?,
            Training::Gossip { sgd, .. } => constants.require_domain(sgd.domain)?,
            Training::Central { .. } | Training::Walk { .. } | Training::WalkOnGraph { .. } => {
                constants.require_domain(Domain::Unbounded)?;
            }
        }
        ensure(users >= 2, "the number of users", "be at least 2", users as f64)?;
        Ok(Self { users, constants, training })
    }

    /// Training for the mean of one number per user from an interval of length 1 around 0.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub(crate) fn of_mean(users: usize, training: Training) -> Result<Self, Error> {
        let domain = match &training {
            Training::Federated(run) => run.domain,
            _ => Domain::Unbounded,
        };
        let constants = MeanEstimation.constants(0.5, 0.0, domain);
        Self::new(users, constants, training)
    }

    /// The noise `σ` in the unit of gradients, rounded down.
    fn sigma(&self, noise: NoiseMultiplier) -> Result<Sigma, Error> {
        Ok(Sigma::new((noise.get() * self.constants.sensitivity).next_down())?)
    }

    /// The statement of the accountants of [`privacy`] as a profile.
    fn stated(
        &self,
        against: &str,
        statement: impl Fn(Delta) -> Result<Statement, Error> + Send + Sync + 'static,
    ) -> Profile {
        let epsilon = move |delta: Delta| match statement(delta)? {
            Statement::Guaranteed { privacy, .. } => Ok(privacy),
            _ => Err(Error::NoGuarantee("a mean loss is no guarantee for a user").into()),
        };
        Profile::of_curve(epsilon, against)
    }

    fn profile(&self, account: &Towards, u: usize, noise: NoiseMultiplier) -> Result<Profile, Error> {
        let against = account.observer.to_string();
        let (this, sigma) = (self.clone(), self.sigma(noise)?);
        let users = self.users;
        Ok(match &self.training {
            &Training::Local { contributions } => {
                let mu = Interval::count(contributions as u64).sqrt() / Interval::new(noise.get());
                Profile::gaussian(Exact::new(Gdp::new(mu.high())?).into(), &against)
            }
            &Training::Central { steps, step_size } => self.stated(&against, move |delta| {
                let run = WalkSgd::new(Route::Complete, steps, step_size, None);
                privacy::central(&run, &this.constants, users, sigma, delta)
            }),
            Training::Federated(run) => {
                let run = run.clone();
                self.stated(&against, move |delta| {
                    privacy::federated(&run, &this.constants, users, sigma, delta)
                })
            }
            &Training::Walk { steps, step_size, cap } => {
                let colluders = account.observer.members().len();
                self.stated(&against, move |delta| {
                    let run = WalkSgd::new(Route::Complete, steps, step_size, Some(cap));
                    privacy::complete_walk(&run, &this.constants, users, colluders, sigma, delta)
                })
            }
            Training::WalkOnGraph { .. } => {
                let pairs = self.pair(u, account.observer.single(users)?)?;
                Profile::of_curve(OnGraph { pairs, noise }, &against)
            }
            Training::Gossip { sgd, .. } => {
                let Some(gossip) = &account.gossip else { return Err(Error::EmptyCoalition) };
                // Units are those of what is released, the noise is in units of the objective's own
                // sensitivity.
                let released = sgd.update.constants(&self.constants).sensitivity;
                let scale = Interval::new(released) / Interval::new(self.constants.sensitivity);
                let units = gossip.loss(u)?.into_value().get();
                let mu = scale * Interval::new(units).sqrt() / Interval::new(noise.get());
                let mu = if units == 0.0 { 0.0 } else { mu.high() };
                Profile::gaussian(Guarantee::from(UpperBound::new(Gdp::new(mu)?)), &against)
            }
        })
    }

    /// First visits for the loss of `u` towards `v`.
    fn pair(&self, u: usize, v: usize) -> Result<Arc<WalkPairs>, Error> {
        let Training::WalkOnGraph { matrix, steps, step_size, cap } = &self.training else {
            return Err(Error::NotOffered("only a walk on a graph has pairs"));
        };
        let run = WalkSgd::new(Route::Graph(matrix), *steps, *step_size, Some(*cap));
        let pairs = WalkPairs::new(&run, &self.constants, &[(u, v)], FinalToken::Published, HORIZON)?;
        Ok(Arc::new(pairs))
    }
}

/// What the observer of a walk on a graph learns about one user, at one noise.
struct OnGraph {
    pairs: Arc<WalkPairs>,
    noise: NoiseMultiplier,
}

impl Curve for OnGraph {
    fn renyi(&self, order: Order) -> Result<Option<Guarantee<f64>>, ndp_dp::Error> {
        Ok(Some(self.pairs.loss(0, order, self.noise).into()))
    }
}

/// Steps of a first visit that are looked at; later ones count as never.
const HORIZON: usize = 2000;

/// Every account names its observers: the readers of the last model, the other users, or everybody. Federated
/// training hides the order of contributions from readers of the last model alone; towards users it is the
/// bound of one noisy gradient. None is above what all noisy gradients of a user cost together.
impl Protocol for PrivateTraining {
    fn node_count(&self) -> usize {
        self.users
    }

    fn account<'a>(&'a self, observer: &Observer) -> Result<Box<dyn Account + 'a>, Error> {
        observer.require_no_taps()?;
        let outsider = observer.members().is_empty();
        let mut gossip = None;
        match &self.training {
            // Everything is published.
            Training::Local { contributions: 0 } => {
                let (name, condition) = ("the number of contributions", "be at least 1");
                return Err(Error::InvalidParameter { name, condition, value: 0.0 });
            }
            Training::Local { .. } | Training::Central { .. } if outsider => {}
            // The last model of a walk is published; models that gossip stay with their users.
            Training::Walk { .. } | Training::WalkOnGraph { .. } | Training::Gossip { .. } if outsider => {
                return of_outsider(self, matches!(self.training, Training::Gossip { .. }), observer);
            }
            Training::Local { .. } | Training::Central { .. } | Training::Walk { .. } => {
                observer.checked(self.users)?;
            }
            Training::Federated(_) if outsider => {}
            // A user sees models on the way, made of gradients to which each user added a noise of its own:
            // one from every user.
            Training::Federated(_) => return bound_of_releases(self.users, 1, observer, self.terms()),
            Training::WalkOnGraph { .. } => {
                let v = observer.single(self.users)?;
                self.pair(usize::from(v == 0), v)?;
            }
            Training::Gossip { sgd, mixing } => {
                let v = observer.single(self.users)?;
                let mixing = std::slice::from_ref(mixing.as_ref());
                gossip = Some(GossipObserver::new(sgd, mixing, &self.constants, self.users, v)?);
            }
        }
        let towards = Towards { observer: observer.clone(), gossip };
        Ok(at_most(Box::new(OfTraining { training: self, towards }), self.local_bound(observer)))
    }

    /// Users who are asked for a gradient do not depend on the data, and models are made of gradients with
    /// their noise.
    fn local_bound<'a>(&'a self, observer: &Observer) -> Result<Box<dyn Account + 'a>, Error> {
        let releases = match &self.training {
            Training::Local { contributions } => *contributions,
            Training::Federated(_) => 1,
            Training::Central { steps, .. } => *steps,
            Training::Walk { steps, cap, .. } | Training::WalkOnGraph { steps, cap, .. } => *cap.min(steps),
            Training::Gossip { sgd, .. } => sgd.rounds,
        };
        bound_of_releases(self.users, releases, observer, self.terms())
    }

    fn error(&self, _: NoiseMultiplier) -> Result<f64, Error> {
        Err(Error::NotOffered("the result is a model: its error depends on objective and data"))
    }

    fn message_count(&self) -> Result<f64, Error> {
        Ok(match &self.training {
            &Training::Local { contributions } => (contributions * self.users) as f64,
            &Training::Central { steps, .. } => 2.0 * steps as f64,
            Training::Federated(run) => 2.0 * (self.users / run.batch.max(1) * run.batch) as f64,
            &Training::Walk { steps, .. } | &Training::WalkOnGraph { steps, .. } => steps as f64,
            Training::Gossip { sgd, mixing } => {
                let of_round = match mixing.as_ref() {
                    Mixing::Plain { matrix, steps }
                    | Mixing::Accelerated { matrix, steps, .. }
                    | Mixing::AsReleased { matrix, steps, .. } => {
                        2.0 * matrix.graph().edge_count() as f64 * *steps as f64
                    }
                    Mixing::OnePeerHypercube => self.users as f64 * f64::from(self.users.ilog2()),
                    Mixing::Server => 2.0 * self.users as f64,
                    _ => {
                        return Err(Error::NotOffered(
                            "messages of changing connections are not counted here",
                        ));
                    }
                };
                of_round * sgd.rounds as f64
            }
        })
    }

    fn attack<'a>(
        &'a self,
        u: usize,
        observer: &Observer,
        noise: NoiseMultiplier,
    ) -> Result<Box<dyn Attacker + 'a>, Error> {
        self.account(observer)?;
        observer.checked_source(u, self.users)?;
        if self.constants.sensitivity != 1.0 {
            return Err(Error::NotOffered("training is audited for the mean of one number per user"));
        }
        let sigma = noise.sigma(Sensitivity::new(1.0)?)?;
        let observer = observer.members().first().copied();
        Ok(Box::new(LastModel { training: self, u, observer, sigma }))
    }
}

impl PrivateTraining {
    /// All data of a user: each gradient moves by at most the sensitivity.
    fn terms(&self) -> Terms {
        let on = match self.training {
            Training::Federated(_) => "every gradient, by its user",
            _ => "every gradient",
        };
        Terms { changes: Changes::EveryGradient, noise: Noise::on_gradients(on), ..Terms::VALUES }
            .by("ndp_algos::sgd::Accountant", "Federated learning by contraction")
    }
}

struct Towards {
    observer: Observer,
    gossip: Option<GossipObserver>,
}

struct OfTraining<'a> {
    training: &'a PrivateTraining,
    towards: Towards,
}

impl Account for OfTraining<'_> {
    fn observer(&self) -> &Observer {
        &self.towards.observer
    }

    fn node_count(&self) -> usize {
        self.training.users
    }

    fn terms(&self) -> Terms {
        self.training.terms()
    }

    fn profile(&self, u: usize, noise: NoiseMultiplier) -> Result<Profile, Error> {
        self.towards.observer.checked_source(u, self.node_count())?;
        self.training.profile(&self.towards, u, noise)
    }

    fn failure(&self) -> f64 {
        self.towards.gossip.as_ref().map_or(0.0, GossipObserver::failure)
    }

    fn class(&self) -> Option<(usize, usize)> {
        let protocol = std::ptr::from_ref(self.training).addr();
        let alike = !matches!(self.training.training, Training::WalkOnGraph { .. } | Training::Gossip { .. });
        alike.then(|| (protocol, self.towards.observer.members().len()))
    }
}

/// Trains on the mean of one number per user; the score is what the observer ends with (in the local model:
/// all it sees).
struct LastModel<'a> {
    training: &'a PrivateTraining,
    u: usize,
    observer: Option<usize>,
    sigma: Sigma,
}

impl Attacker for LastModel<'_> {
    fn scores(&self, higher: bool, runs: usize, rng: &mut dyn Rng) -> Result<Vec<f64>, Error> {
        let users = self.training.users;
        let mut features = Array2::zeros((users, 1));
        features[(self.u, 0)] = if higher { 0.5 } else { -0.5 };
        let data = Dataset::new(features, vec![0.0; users])?;
        let rng = &mut &mut *rng;
        let users = Users::deal(&data, users, Deal::InOrder, rng)?;
        let noise = Some(self.sigma);
        let walk = |run: WalkSgd<'_>, rng: &mut &mut dyn Rng| -> Result<f64, Error> {
            Ok(run.run(&MeanEstimation, &users, noise, None, rng)?.models[(0, 0)])
        };
        (0..runs)
            .map(|_| {
                Ok(match &self.training.training {
                    &Training::Local { contributions } => {
                        // Every noisy gradient is seen. That of u at a public model is its own number, up to
                        // what is public.
                        let number = if higher { 0.5 } else { -0.5 };
                        (0..contributions)
                            .map(|_| number + self.sigma.get() * rng.sample::<f64, _>(StandardNormal))
                            .sum()
                    }
                    &Training::Central { steps, step_size } => {
                        walk(WalkSgd::new(Route::Complete, steps, step_size, None), rng)?
                    }
                    Training::Federated(run) => {
                        run.run(&MeanEstimation, &users, noise, None, rng)?.models[(0, 0)]
                    }
                    &Training::Walk { steps, step_size, cap } => {
                        walk(WalkSgd::new(Route::Complete, steps, step_size, Some(cap)), rng)?
                    }
                    Training::WalkOnGraph { matrix, steps, step_size, cap } => {
                        walk(WalkSgd::new(Route::Graph(matrix), *steps, *step_size, Some(*cap)), rng)?
                    }
                    Training::Gossip { sgd, mixing } => {
                        let mix = |_, _: &mut &mut dyn Rng| Ok(mixing.as_ref().clone());
                        let run = sgd.run(&MeanEstimation, &users, noise, mix, None, rng)?;
                        run.models[(self.observer.unwrap_or(0), 0)]
                    }
                })
            })
            .collect()
    }
}
