//! The privacy accounts of training, and the attack that audits them: training by a walk, by gossip, by a
//! server, or without any trust.
//!
//! The noise of a question is the noise on a gradient, in units of the sensitivity `s` of a user's gradient.
//! An audit really trains, on the mean of one number per user, and looks at the last model, which is part of
//! the view that every account here covers.

mod attack;
mod terms;

use super::privacy::{self, GossipObserver, WalkPair};
use super::{Constants, Domain, MeanEstimation, Objective};
use crate::sgd::federated::FederatedSgd;
use crate::sgd::gossip::{Mixing, MuffliatoSgd};
use crate::sgd::walk::{Route, WalkSgd};
use crate::walk::FinalToken;
use crate::walk::graph::{ByCost, CostLaw, LocalLoss, Quick, least_noise_by_law};
use attack::LastModel;
use ndp_account::{
    Account, Attacker, By, Error, Observer, Protocol, RestsOn, Target, Terms, accounts, least_noise,
    parts::{at_most, bound_of_releases, ensure, of_outsider},
};
use ndp_dp::{Delta, Exact, Gdp, Measure, NoiseMultiplier, Profile, Sensitivity, Sigma, UpperBound};
use ndp_graph::progress::Silent;
use ndp_numeric::rounding::Interval;
use ndp_numeric::stop::{Kept, Stop};
use std::sync::Arc;

/// A way to train privately.
///
/// # Examples
/// ```
/// use ndp_algos::sgd::Training;
/// use ndp_algos::sgd::walk::{Route, WalkSgd};
/// let training = Training::walk(WalkSgd::new(Route::Complete, 20_000, 0.034, Some(12)));
/// assert!(matches!(training, Training::Walk { horizon: Training::HORIZON, .. }));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Training {
    /// The local model: everybody sees every noisy gradient, and a user gives at most `N` of them. `μ = √N`
    /// over the noise multiplier, exact in the worst case for any later use of the gradients.
    Local {
        /// Gradients of one user, `N`.
        contributions: usize,
    },
    /// Centralized DP-SGD, a walk on the complete graph without a cap: a trusted curator, who was given all
    /// data, draws a user uniformly in every step and publishes every noisy gradient. An `UpperBound`.
    Central(WalkSgd),
    /// Federated SGD with only the last model published: the smaller of amplification by iteration and
    /// contraction, an `UpperBound` at this `ε`, for readers of that model alone.
    Federated(FederatedSgd),
    /// A model that walks, on the complete graph or on another.
    ///
    /// On the complete graph, users who pool what they see learn the same about every other user. With a cap
    /// and constant steps, `D_α ≤ N ln φ((c+1)/n, θ)/(α-1)`, `θ = α(α-1) s²/(2σ²)`, where `s` is the
    /// sensitivity of a gradient and `c` the number of users who pool; without a cap, or with decreasing
    /// steps, the bound depends on the number of steps, exactly. It holds if the path is known, and if the
    /// last model is published. With a given start it holds for the user who starts, whose first contribution
    /// is certain, and therefore for all users. With constant steps, `ε` and `δ` are those of the law of the
    /// cost if there is one and they are smaller: with a cap the law of `N` independent gaps, and without one
    /// that of groups of contributions.
    ///
    /// On another graph every pair of users has a loss of its own, whatever the observer knows of the path.
    /// With a cap `N` it is `N ε_gap` (as on [a graph](crate::walk::graph)), and without one that of
    /// [`TokenWalk::loss`](crate::walk::graph::TokenWalk::loss) or that of the law of the cost: the smaller
    /// one, but only the law where its tables are fine. This needs convex losses, short steps of one size,
    /// and a matrix whose columns sum to 1. All of these bounds are an `UpperBound`.
    Walk {
        /// The walk.
        run: WalkSgd,
        /// Whether the last model is given to all.
        final_model: FinalToken,
        /// On another graph and with a cap: the number of steps for which first visits are followed; later
        /// visits are charged as if they came at the next step.
        horizon: usize,
    },
    /// Gradient steps and public gossip in turn, watched by one node that knows its own noise, but not the
    /// last models of others: see [`GossipObserver`].
    Gossip {
        /// The training.
        sgd: MuffliatoSgd,
        /// How models are mixed: one mixing for every round, or a single one for all.
        mixings: Vec<Mixing>,
    },
}

impl Training {
    /// The number of steps for which first visits are followed by default.
    pub const HORIZON: usize = 2000;

    /// A walk whose last model is published.
    #[must_use]
    pub const fn walk(run: WalkSgd) -> Self {
        Self::Walk { run, final_model: FinalToken::Published, horizon: Self::HORIZON }
    }

    /// Whether users at different places of a graph learn different things.
    #[must_use]
    pub const fn has_places(&self) -> bool {
        match self {
            Self::Walk { run, .. } => matches!(run.route, Route::Graph(_)),
            Self::Gossip { .. } => true,
            Self::Local { .. } | Self::Central(_) | Self::Federated(_) => false,
        }
    }

    /// The largest number of noisy gradients of one user. Who gives them does not depend on the data.
    fn releases(&self) -> usize {
        match self {
            Self::Local { contributions } => *contributions,
            Self::Federated(_) => 1,
            Self::Central(run) => run.steps,
            Self::Walk { run, .. } => run.cap.map_or(run.steps, |cap| cap.min(run.steps)),
            Self::Gossip { sgd, .. } => sgd.rounds,
        }
    }

    /// Checks that this number of users can train in this way and that an account covers it: the domain of
    /// the run and the conditions of its theorem.
    fn check(&self, constants: &Constants, users: usize) -> Result<(), Error> {
        constants.require_bounded()?;
        match self {
            Self::Local { contributions } => {
                ensure(*contributions != 0, "the number of contributions", "be at least 1", 0.0)
            }
            Self::Central(run) => {
                constants.require_domain(run.domain)?;
                privacy::require_drawn(run)?;
                run.check(users)
            }
            Self::Federated(run) => {
                constants.require_domain(run.domain)?;
                privacy::require_projected(run, constants).map(|_| ())
            }
            Self::Walk { run, final_model, .. } => {
                constants.require_domain(run.domain)?;
                match run.route {
                    Route::Complete => privacy::require_complete(run, constants, users)?,
                    Route::Graph(_) if *final_model == FinalToken::Masked => {
                        return Err(Error::NoGuarantee(
                            "there is no rule for masking the final model of a walk on a graph",
                        ));
                    }
                    Route::Graph(_) => privacy::require_on_graph(run, constants).map(|_| ())?,
                }
                run.check(users)
            }
            Self::Gossip { sgd, .. } => constants.require_domain(sgd.domain),
        }
    }
}

/// A [`Training`] of some users with an objective whose constants are known. It is a protocol like all
/// others; its noise is that on a gradient, in units of the sensitivity of a gradient.
///
/// # Examples
/// ```
/// use ndp_account::{Observer, Target};
/// use ndp_algos::sgd::walk::{Route, WalkSgd};
/// use ndp_algos::sgd::{Domain, Linear, LinearLoss, Objective, PrivateTraining, Training};
/// use ndp_dp::{Delta, Measure};
/// let constants = Linear::from(LinearLoss::Logistic).constants(1.0, 1.0, Domain::Unbounded);
/// let walk = Training::walk(WalkSgd::new(Route::Complete, 20_000, 0.034, Some(12)));
/// let target = Target::worst(Measure::Approx(Delta::new(1e-6)?), 10.0);
/// // All users of these two learn the same about each other, so that one of them answers for all.
/// let noise = |training: Training| {
///     PrivateTraining::new(2000, constants, training)?.noise_for(&[Observer::node(0)], &target)
/// };
/// // The walk needs 1.178 by Rényi losses, 1.016 by the law of its cost; local training needs 3.749.
/// assert!((noise(walk)?.get() - 1.016).abs() < 3e-3);
/// assert!((noise(Training::Local { contributions: 12 })?.get() - 3.749).abs() < 3e-3);
/// # Ok::<(), ndp_account::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PrivateTraining {
    users: usize,
    constants: Constants,
    training: Training,
}

impl PrivateTraining {
    /// Training with an objective whose `constants` hold for all data that users may have, and for all models
    /// that the run may reach: constants for a ball need a run that stays in the ball. In the local model no
    /// run is known, and the caller must take gradients where the constants hold.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for fewer than two users, for models that may leave the domain of the
    /// constants, and for a number or step that is not positive;
    /// [`Error::Unbounded`](crate::Error::Unbounded) if gradients have no finite sensitivity,
    /// [`Error::StepTooLong`](crate::Error::StepTooLong). [`Error::NoGuarantee`] naming the condition that
    /// fails: for the run of a curator, another route than the complete graph, a given start or a cap; for a
    /// walk, clipping after noise or of whole gradients, or forwarding without noise beyond the cap, and on a
    /// graph also decreasing steps and a masked last model; for federated training, no ball to project on.
    /// [`Error::NonUniform`](crate::Error::NonUniform) for a walk that prefers some users;
    /// [`Error::NodeOutOfRange`] for a start that is not a user, [`Error::Shape`] for a matrix with another
    /// number of nodes.
    pub fn new(users: usize, constants: Constants, training: Training) -> Result<Self, Error> {
        ensure(users >= 2, "the number of users", "be at least 2", users as f64)?;
        training.check(&constants, users)?;
        Ok(Self { users, constants, training })
    }

    /// The constants of the objective.
    #[must_use]
    pub const fn constants(&self) -> &Constants {
        &self.constants
    }

    /// The least standard deviation of the noise on every coordinate of a gradient at which the target holds
    /// for these observers: [`ndp_account::least_noise`] in the units of gradients.
    ///
    /// # Errors
    /// Those of [`Protocol::account`] and of [`ndp_account::least_noise`].
    pub fn noise_for(&self, observers: &[Observer], target: &Target) -> Result<Sigma, Error> {
        let noise = least_noise(&accounts(self, observers, &Silent)?, target)?.noise;
        Ok(noise.sigma(Sensitivity::new(self.constants.sensitivity)?)?)
    }

    /// Training for the mean of one number per user from an interval of length 1 around 0.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub(crate) fn of_mean(users: usize, training: Training) -> Result<Self, Error> {
        let domain = match &training {
            Training::Local { .. } => Domain::Unbounded,
            Training::Federated(run) => run.domain,
            Training::Central(run) | Training::Walk { run, .. } => run.domain,
            Training::Gossip { sgd, .. } => sgd.domain,
        };
        let constants = MeanEstimation.constants(0.5, 0.0, domain);
        Self::new(users, constants, training)
    }

    /// The standard deviation `σ` in the unit of gradients, rounded down.
    fn sigma(&self, noise: NoiseMultiplier) -> Result<Sigma, Error> {
        Ok(Sigma::new((noise.get() * self.constants.sensitivity).next_down())?)
    }

    fn profile(&self, account: &OfTraining<'_>, u: usize, noise: NoiseMultiplier) -> Result<Profile, Error> {
        let against = account.observer.to_string();
        let (constants, users, sigma) = (self.constants, self.users, self.sigma(noise)?);
        Ok(match &self.training {
            Training::Local { contributions } => {
                let mu = Interval::count(*contributions as u64).sqrt() / Interval::new(noise.get());
                Profile::gaussian(Exact::new(Gdp::new(mu.high())?).into(), &against)
            }
            Training::Central(run) => {
                let run = run.clone();
                let epsilon =
                    move |delta: Delta| Ok(privacy::central(&run, &constants, users, sigma, delta)?.into());
                Profile::of_curve(epsilon, &against)
            }
            Training::Federated(run) => {
                let run = run.clone();
                let epsilon =
                    move |delta: Delta| Ok(privacy::federated(&run, &constants, users, sigma, delta)?.into());
                Profile::of_curve(epsilon, &against)
            }
            Training::Walk { run, .. } if matches!(run.route, Route::Complete) => {
                let colluders = account.observer.members().len();
                let renyi = privacy::on_complete_graph(run, &constants, users, colluders, sigma)?;
                let renyi = move |order| Ok(renyi(order));
                let (cost, stop) = (account.cost(), account.stop.clone());
                Profile::of_curve(ByCost { renyi, cost, noise, quick: None, stop }, &against)
            }
            Training::Walk { .. } => {
                let pair = account.pair(u)?;
                let cost = pair.cost.clone();
                let at_noise = privacy::AtNoise { pair: pair.clone(), noise };
                let quick = pair.is_capped().then(|| Box::new(at_noise) as Box<dyn Quick>);
                // The accountants of the walk fail at orders at which they overflow.
                let renyi = move |order| {
                    let infinite = UpperBound::new(f64::INFINITY);
                    Ok(pair.renyi(LocalLoss { order, noise }).unwrap_or(infinite))
                };
                let stop = account.stop.clone();
                Profile::of_curve(ByCost { renyi, cost, noise, quick, stop }, &against)
            }
            Training::Gossip { .. } => match &account.gossip {
                Some(gossip) => gossip.profile(u, sigma)?,
                None => return Err(Error::EmptyCoalition),
            },
        })
    }

    /// The first visits for the loss of `u` towards `v`.
    fn pair(&self, (u, v): (usize, usize), stop: &Stop) -> Result<WalkPair, Error> {
        let Training::Walk { run, final_model, horizon } = &self.training else {
            return Err(Error::NotOffered("only a walk on a graph has pairs"));
        };
        WalkPair::new(run, &self.constants, (u, v), final_model.is_shown(), *horizon, stop)
    }
}

/// Every account names its observers: the readers of the last model, the other users, or everybody. Federated
/// training hides the order of contributions only from readers of the last model; towards users the bound is
/// that of one noisy gradient. No account is above the cost of all noisy gradients of a user together.
impl Protocol for PrivateTraining {
    fn node_count(&self) -> usize {
        self.users
    }

    fn account_until<'a>(&'a self, observer: &Observer, stop: &Stop) -> Result<Box<dyn Account + 'a>, Error> {
        observer.require_no_taps()?;
        let outsider = observer.members().is_empty();
        let mut gossip = None;
        let mut pairs = Vec::new();
        match &self.training {
            // Everything that these reveal is published, so that it is seen by outsiders, too.
            Training::Local { .. } | Training::Central(_) | Training::Federated(_) if outsider => {}
            // Models that gossip, and the last model of a walk unless it is published, stay with their users.
            Training::Walk { final_model, .. } if outsider => {
                return of_outsider(self, !final_model.is_shown(), observer, stop);
            }
            Training::Gossip { .. } if outsider => return of_outsider(self, true, observer, stop),
            // A user sees the models on the way. They are made of one gradient of every user, to which the
            // user has added noise of its own.
            Training::Federated(_) => return bound_of_releases(self.users, 1, observer, self.terms()),
            Training::Gossip { sgd, mixings } => {
                let v = observer.single(self.users)?;
                gossip = Some(GossipObserver::until(sgd, mixings, &self.constants, (self.users, v), stop)?);
            }
            Training::Walk { .. } if self.training.has_places() => {
                observer.single(self.users)?;
                pairs.resize_with(self.users, Kept::default);
            }
            _ => {
                observer.checked(self.users)?;
            }
        }
        let (observer_kept, cost, stop) = (observer.clone(), Kept::default(), stop.clone());
        let account = OfTraining { training: self, observer: observer_kept, gossip, pairs, cost, stop };
        Ok(at_most(Box::new(account), self.local_bound(observer)))
    }

    /// The choice of the users who give a gradient does not depend on the data, and models are computed from
    /// gradients with their noise.
    fn local_bound<'a>(&'a self, observer: &Observer) -> Result<Box<dyn Account + 'a>, Error> {
        bound_of_releases(self.users, self.training.releases(), observer, self.terms())
    }

    fn error_until(&self, _: NoiseMultiplier, _: &Stop) -> Result<f64, Error> {
        Err(Error::NotOffered("the result is a model: its error depends on objective and data"))
    }

    fn message_count(&self) -> Result<f64, Error> {
        Ok(match &self.training {
            Training::Local { contributions } => (contributions * self.users) as f64,
            Training::Central(_) => self.users as f64,
            Training::Federated(run) => 2.0 * (self.users / run.batch.max(1) * run.batch) as f64,
            Training::Walk { run, .. } => run.steps as f64,
            Training::Gossip { sgd, mixings } => {
                let of_round = |mixing: &Mixing| {
                    Ok(match mixing {
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
                    })
                };
                let once = mixings.iter().map(of_round).sum::<Result<f64, Error>>()?;
                if mixings.len() == 1 { once * sgd.rounds as f64 } else { once }
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

/// A pair, or the reason why there is no account of it.
type Pair = Result<Arc<WalkPair>, Error>;

struct OfTraining<'a> {
    training: &'a PrivateTraining,
    observer: Observer,
    gossip: Option<GossipObserver>,
    /// For each user, on a graph: computed when it is first asked for, and the same for all noises.
    pairs: Vec<Kept<Pair>>,
    /// On the complete graph, the law of the cost if there is one: the same for all users and noises.
    cost: Kept<Option<Arc<CostLaw>>>,
    /// Stops the computations that later questions start.
    stop: Stop,
}

impl OfTraining<'_> {
    fn cost(&self) -> Option<Arc<CostLaw>> {
        let law = || {
            let Training::Walk { run, .. } = &self.training.training else { return None };
            let nodes = (self.training.users, self.observer.members().len());
            privacy::law_on_complete_graph(run, nodes).map(|law| Arc::new(law.until(&self.stop)))
        };
        self.cost.or_make(&self.stop, law)
    }

    fn pair(&self, u: usize) -> Pair {
        let v = self.observer.single(self.training.users)?;
        self.pairs[u].or_make(&self.stop, || self.training.pair((u, v), &self.stop).map(Arc::new))
    }
}

impl Account for OfTraining<'_> {
    fn observer(&self) -> &Observer {
        &self.observer
    }

    fn node_count(&self) -> usize {
        self.training.users
    }

    fn terms(&self) -> Terms {
        self.training.terms()
    }

    fn rests_on(&self) -> Vec<RestsOn> {
        let constants = &self.training.constants;
        match &self.training.training {
            Training::Local { .. } | Training::Central(_) => Vec::new(),
            Training::Federated(run) => vec![constants.rests_on(), run.rests_on(constants)],
            Training::Walk { .. } | Training::Gossip { .. } => vec![constants.rests_on()],
        }
    }

    fn theorems(&self) -> Vec<By> {
        let terms = self.terms();
        if self.pairs.is_empty() && self.cost().is_none() {
            return vec![terms.by];
        }
        vec![terms.by, terms.by("ndp_algos::walk::graph::TokenWalk::cost_law", "Random walks").by]
    }

    fn profile(&self, u: usize, noise: NoiseMultiplier) -> Result<Profile, Error> {
        self.observer.checked_source(u, self.node_count())?;
        self.training.profile(self, u, noise)
    }

    /// On a graph with many pairs, the law of the cost gives the least noise if no bound is smaller there.
    /// On the complete graph, where one pair stands for all, there is only the search.
    fn least_noise(
        &self,
        u: usize,
        measure: Measure,
        allowed: f64,
    ) -> Result<Option<NoiseMultiplier>, Error> {
        self.observer.checked_source(u, self.node_count())?;
        let pair = || if self.pairs.is_empty() { None } else { self.pair(u).ok() };
        least_noise_by_law(self, u, measure, allowed, || Ok(pair().and_then(|pair| pair.cost.clone())))
    }

    fn failure(&self) -> f64 {
        self.gossip.as_ref().map_or(0.0, GossipObserver::failure)
    }

    fn class(&self) -> Option<(usize, usize)> {
        let protocol = std::ptr::from_ref(self.training).addr();
        (!self.training.training.has_places()).then(|| (protocol, self.observer.members().len()))
    }
}
