//! One accountant for all trainings: built once for those who watch, asked for any noise.

use super::{GossipObserver, Statement, WalkPairs, calibrate, central, complete_walk, federated, local};
use super::{server, walk};
use crate::sgd::constants::{Constants, Domain};
use crate::sgd::federated::FederatedSgd;
use crate::sgd::gossip::{Mixing, MuffliatoSgd};
use crate::sgd::walk::{Route, WalkSgd};
use crate::walk::FinalToken;
use ndp_account::parts::ensure;
use ndp_account::{Allowed, Error, Target};
use ndp_dp::{ApproxDp, Delta, Exact, Measure, Order, Sigma, UnitLoss, UpperBound};
use ndp_numeric::sums::{positive_up, up};

/// A training, and who watches it.
///
/// # Examples
/// ```
/// use ndp_algos::sgd::gossip::{Mixing, MuffliatoSgd};
/// use ndp_algos::sgd::privacy::{Accountant, Watched};
/// use ndp_algos::sgd::{Domain, Linear, LinearLoss, Objective, walk::Update};
/// let constants = Linear::from(LinearLoss::Logistic).constants(1.0, 1.0, Domain::Unbounded);
/// let sgd =
///     MuffliatoSgd { rounds: 10, step_size: 0.5, batch: None, domain: Domain::Unbounded, update: Update::Sound };
/// // Ten rounds of a one-peer hypercube: nodes that differ in the last bit alone lose most.
/// let watched = Watched::Gossip { sgd: &sgd, mixings: &[Mixing::OnePeerHypercube], observer: 0 };
/// let accountant = Accountant::new(watched, &constants, 8)?;
/// assert_eq!((accountant.loss(1)?.value().get(), accountant.loss(4)?.value().get()), (10.0, 2.5));
/// # Ok::<(), ndp_account::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Watched<'a> {
    /// The local model: everybody sees every noisy gradient, and a user gives at most so many. `μ = s √N /
    /// σ`, exact as a worst case, whatever is done with the gradients afterwards.
    Local {
        /// Gradients of one user, `N`.
        contributions: usize,
    },
    /// Centralized DP-SGD, a walk on the complete graph without a cap: a trusted curator draws a user
    /// uniformly in every step and releases every noisy gradient. An `UpperBound` by subsampling.
    Central(&'a WalkSgd<'a>),
    /// Federated SGD, watched by whoever reads the last model: the smaller of amplification by iteration and
    /// contraction, an `UpperBound` at this `ε`.
    Federated(&'a FederatedSgd),
    /// A walk on the complete graph, watched by other users who pool what they see, the path and the last
    /// model included.
    ///
    /// Capped, constant steps: `D_α ≤ N ln φ((c+1)/n, θ)/(α-1)`, `θ = α(α-1) s²/(2σ²)`, `s` the sensitivity
    /// of a gradient. Uncapped, or with decreasing steps: exact in the number of steps. An `UpperBound`;
    /// converted to `(ε, δ)` at the best order. With a given start it holds for the user who starts, whose
    /// first contribution is certain, and so for all.
    CompleteWalk {
        /// The walk.
        walk: &'a WalkSgd<'a>,
        /// Users who pool what they see, `c`.
        colluders: usize,
    },
    /// A walk on a graph, where every pair of users has a loss of its own.
    ///
    /// With a cap `N` on contributions the loss of `u` towards `v` is `N ε_gap` (as on [a
    /// graph](crate::walk::graph)), without one that of
    /// [`TokenWalk::loss`](crate::walk::graph::TokenWalk::loss). Both are an `UpperBound` whatever `v` knows
    /// of the path, and need convex losses, short steps of one size, and a matrix whose columns sum to 1.
    GraphWalk {
        /// The walk.
        walk: &'a WalkSgd<'a>,
        /// Pairs `(u, v)`: `v` watches `u`. Statements are about these and no others.
        pairs: &'a [(usize, usize)],
        /// Whether `v` gets the last model.
        final_model: FinalToken,
        /// Under a cap, the steps for which first visits are followed; later ones are charged as if they came
        /// then.
        horizon: usize,
    },
    /// Gossip in public, watched by one node that knows its own noise, not the last models of others.
    ///
    /// * Every round ends in exact consensus ([`Mixing::OnePeerHypercube`], [`Mixing::Server`]): the rounds
    ///   compose, each at the exact loss of one round.
    /// * Gossip by public matrices, which may change within a round and between rounds: the shift accountant,
    ///   which follows what was not seen from round to round. With `β = e_u` at first, each round is charged
    ///   `min(βᵀ|P|β, ‖β‖²)` and hands on `β ← q |C (I - P)| β + e_u`, `P` the projector on what the observer
    ///   sees in it, `C` its mixing, `q` the Lipschitz constant of a gradient step: 1 for convex smooth
    ///   losses and steps up to `2/L`. The sum is at most the local loss.
    /// * Anything else (the released recursion, clipping after noise, rounds of both kinds): local loss, one
    ///   unit per round.
    Gossip {
        /// The training.
        sgd: &'a MuffliatoSgd,
        /// How models are mixed: one mixing for every round, or a single one for all.
        mixings: &'a [Mixing],
        /// The node that watches.
        observer: usize,
    },
}

/// What a training costs towards those who watch it, at any noise.
///
/// Neighbors differ in all the data of one user. Noise is the standard deviation per coordinate on every
/// gradient.
///
/// # Examples
/// ```
/// use ndp_account::Target;
/// use ndp_algos::sgd::privacy::{Accountant, Watched};
/// use ndp_algos::sgd::walk::{Route, WalkSgd};
/// use ndp_algos::sgd::{Domain, Linear, LinearLoss, Objective};
/// use ndp_dp::{Delta, Measure};
/// let constants = Linear::from(LinearLoss::Logistic).constants(1.0, 1.0, Domain::Unbounded);
/// let walk = WalkSgd::new(Route::Complete, 20_000, 0.034, Some(12));
/// let target = Target::worst(Measure::Approx(Delta::new(1e-6)?), 10.0);
/// let noise = |watched: Watched<'_>| Ok::<_, ndp_account::Error>(Accountant::new(watched, &constants, 2000)?.noise_for(&target)?.get());
/// // As the experiment of the paper says: 1.178 and 3.749.
/// assert!((noise(Watched::CompleteWalk { walk: &walk, colluders: 1 })? - 1.178).abs() < 3e-3);
/// assert!((noise(Watched::Local { contributions: 12 })? - 3.749).abs() < 3e-3);
/// # Ok::<(), ndp_account::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Accountant {
    users: usize,
    constants: Constants,
    training: Training,
}

#[derive(Clone, Debug)]
enum Training {
    Local { contributions: usize },
    Central(WalkSgd<'static>),
    Federated(FederatedSgd),
    CompleteWalk { walk: WalkSgd<'static>, colluders: usize },
    GraphWalk(WalkPairs),
    Gossip(GossipObserver),
}

impl Watched<'_> {
    /// Where the models of the run stay; none is known of the local model.
    fn domain(&self) -> Option<Domain> {
        match self {
            Self::Local { .. } => None,
            Self::Central(run) => Some(run.domain),
            Self::Federated(run) => Some(run.domain),
            Self::CompleteWalk { walk, .. } | Self::GraphWalk { walk, .. } => Some(walk.domain),
            Self::Gossip { sgd, .. } => Some(sgd.domain),
        }
    }
}

impl Accountant {
    /// The accountant of a training of `users` users, with an objective of these constants, which must hold
    /// wherever its models may come: constants of a ball need a run that stays in it. Of the local model no
    /// run is known, and gradients must be taken there.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a run whose domain is larger than that of the constants.
    /// [`Error::NoGuarantee`] naming the condition that fails: of the curator's run a route other than the
    /// complete graph, a given start or a cap; of a walk another route than asked for, clipping after noise
    /// or of whole gradients, or forwarding without noise beyond the cap, on a graph also decreasing steps
    /// and a masked last model; of federated training the want of a ball to project on.
    /// [`Error::Unbounded`](crate::Error::Unbounded), [`Error::StepTooLong`](crate::Error::StepTooLong),
    /// [`Error::InvalidParameter`]; [`Error::NonUniform`](crate::Error::NonUniform) for a walk that prefers
    /// some users; [`Error::SourceIsObserver`], [`Error::NodeOutOfRange`], [`Error::Graph`] for users who do
    /// not exist; [`Error::Shape`] for a matrix that is not on the users or another number of mixings than
    /// rounds. Of gossip those of [`exact_loss`](crate::gossip::exact_loss) and
    /// [`ndp_certify::Error::NotCertified`].
    ///
    /// # Complexity
    /// For gossip `O(n³)` for each different matrix, nothing to speak of with exact consensus; for a walk on
    /// a graph one table of first visits for every pair.
    pub fn new(watched: Watched<'_>, constants: &Constants, users: usize) -> Result<Self, Error> {
        constants.require_bounded()?;
        if let Some(domain) = watched.domain() {
            constants.require_domain(domain)?;
        }
        ensure(users != 0, "the number of users", "be at least 1", 0.0)?;
        let training = match watched {
            Watched::Local { contributions } => {
                ensure(contributions != 0, "the number of contributions", "be at least 1", 0.0)?;
                Training::Local { contributions }
            }
            Watched::Central(run) => {
                server::require_drawn(run)?;
                run.check(users)?;
                Training::Central(on_complete_graph(run))
            }
            Watched::Federated(run) => {
                server::require_projected(run, constants)?;
                Training::Federated(run.clone())
            }
            Watched::CompleteWalk { walk, colluders } => {
                walk::require_complete(walk, constants, users)?;
                walk.check(users)?;
                Training::CompleteWalk { walk: on_complete_graph(walk), colluders }
            }
            Watched::GraphWalk { walk, pairs, final_model, horizon } => {
                walk.check(users)?;
                Training::GraphWalk(WalkPairs::new(walk, constants, pairs, final_model, horizon)?)
            }
            Watched::Gossip { sgd, mixings, observer } => {
                Training::Gossip(GossipObserver::new(sgd, mixings, constants, users, observer)?)
            }
        };
        Ok(Self { users, constants: *constants, training })
    }

    /// Bound on what is learnt about `u` in the whole training, in units of `c₀ = α s²/(2σ²)`, the loss of
    /// one noisy gradient; `s` is the sensitivity of that to which noise is added, after a node's gradient
    /// was clipped.
    ///
    /// # Errors
    /// [`Error::NotOffered`] for a training whose loss is no multiple of `c₀`: all but gossip and the local
    /// model. [`Error::SourceIsObserver`], [`Error::NodeOutOfRange`].
    pub fn loss(&self, u: usize) -> Result<UpperBound<UnitLoss>, Error> {
        self.require_user(u)?;
        match &self.training {
            Training::Gossip(observer) => observer.loss(u),
            &Training::Local { contributions } => {
                Ok(UpperBound::new(UnitLoss::of_releases(contributions as f64)?))
            }
            _ => Err(Error::NotOffered(
                "only gossip and the local model have a loss in units of one gradient's",
            )),
        }
    }

    /// `(ε, δ)` of every user whom this accountant is about: of a walk on a graph the worst of the given
    /// pairs, of gossip the worst node but the observer.
    ///
    /// # Errors
    /// [`Error::Privacy`] for a noise too small to be told from 0, and for a step that the given number of
    /// colluders sees for certain.
    pub fn statement(&self, sigma: Sigma, delta: Delta) -> Result<Statement, Error> {
        self.at_most_local(self.amplified(sigma, delta)?, sigma, delta)
    }

    /// [`Self::statement`] by the accountant of the training alone.
    fn amplified(&self, sigma: Sigma, delta: Delta) -> Result<Statement, Error> {
        match &self.training {
            &Training::Local { contributions } => local(&self.constants, contributions, sigma, delta),
            Training::Central(run) => central(run, &self.constants, self.users, sigma, delta),
            Training::Federated(run) => federated(run, &self.constants, self.users, sigma, delta),
            Training::CompleteWalk { walk, colluders } => {
                complete_walk(walk, &self.constants, self.users, *colluders, sigma, delta)
            }
            Training::GraphWalk(pairs) => pairs.statement(sigma, delta),
            Training::Gossip(observer) => observer.worst(sigma, delta),
        }
    }

    /// `(ε, δ)` of user `u` alone.
    ///
    /// # Errors
    /// [`Error::NoGuarantee`] where no pair of a walk on a graph was given for `u`; otherwise as
    /// [`statement`](Self::statement) and [`loss`](Self::loss).
    pub fn statement_about(&self, u: usize, sigma: Sigma, delta: Delta) -> Result<Statement, Error> {
        self.require_user(u)?;
        let statement = match &self.training {
            Training::GraphWalk(pairs) => pairs.statement_about(u, sigma, delta)?,
            Training::Gossip(observer) => observer.statement(u, sigma, delta)?,
            _ => self.amplified(sigma, delta)?,
        };
        self.at_most_local(statement, sigma, delta)
    }

    /// Noisy gradients of one user, at most; they are made without looking at who gives them.
    fn releases(&self) -> usize {
        match &self.training {
            Training::Local { contributions } => *contributions,
            Training::Central(run) => run.steps,
            Training::Federated(_) => 1,
            Training::CompleteWalk { walk, .. } => walk.cap.map_or(walk.steps, |cap| cap.min(walk.steps)),
            Training::GraphWalk(pairs) => pairs.most_contributions(),
            Training::Gossip(observer) => observer.rounds(),
        }
    }

    /// The statement, or what holds against everybody where that is smaller: all noisy gradients of a user
    /// seen alone. Accountants of few users or steps may be above it.
    fn at_most_local(&self, statement: Statement, sigma: Sigma, delta: Delta) -> Result<Statement, Error> {
        let Statement::Guaranteed { privacy, against } = statement else { return Ok(statement) };
        if matches!(self.training, Training::Local { .. }) {
            return Ok(statement);
        }
        let alone = local(&self.constants, self.releases(), sigma, delta)?.epsilon();
        if alone >= privacy.value().epsilon() {
            return Ok(statement);
        }
        let privacy = UpperBound::new(ApproxDp::new(alone, delta.get())?).into();
        Ok(Statement::Guaranteed { privacy, against })
    }

    /// The mean Rényi loss at `order`: of a walk on a graph over the given pairs, of gossip `(1/n) Σ_{u ≠
    /// v}`, otherwise the bound on the loss of every user.
    ///
    /// # Errors
    /// [`Error::NotOffered`] for a curator and for federated training, which are accounted in `(ε, δ)`;
    /// otherwise as [`statement`](Self::statement).
    pub fn mean_statement(&self, sigma: Sigma, order: Order) -> Result<Statement, Error> {
        // All noisy gradients of a user seen alone: what holds against everybody, and for every user.
        let ratio = self.constants.sensitivity / sigma.get();
        let alone = up(up(order.get() / 2.0 * ratio * ratio) * self.releases() as f64);
        let alone = if self.constants.sensitivity > 0.0 { positive_up(alone) } else { alone };
        let statement = match &self.training {
            Training::Local { .. } => {
                let loss = Exact::new(alone).into();
                return Ok(Statement::MeanLoss { order, loss, over: "all users, towards everybody" });
            }
            Training::CompleteWalk { walk, colluders } => {
                let curve = walk::complete_curve(walk, &self.constants, self.users, *colluders, sigma)?;
                Statement::MeanLoss { order, loss: curve(order).into(), over: "all pairs of users" }
            }
            Training::GraphWalk(pairs) => pairs.mean_statement(sigma, order)?,
            Training::Gossip(observer) => observer.mean_statement(sigma, order)?,
            Training::Central(_) | Training::Federated(_) => {
                return Err(Error::NotOffered(
                    "this training is accounted in (epsilon, delta), which have no mean",
                ));
            }
        };
        Ok(match statement {
            Statement::MeanLoss { order, loss, over } if *loss.value() > alone => {
                Statement::MeanLoss { order, loss: UpperBound::new(alone).into(), over }
            }
            other => other,
        })
    }

    /// The smallest noise that meets a target, the verified end of the search: at most `ε` for all whom
    /// [`statement`](Self::statement) is about ([`Target::worst`] in [`Measure::Approx`]), or a
    /// [mean](Self::mean_statement) Rényi loss ([`Target::mean`] in [`Measure::Renyi`]).
    ///
    /// # Errors
    /// [`Error::NotOffered`] for any other target; [`Error::InvalidParameter`] unless it is positive and
    /// finite; otherwise as the statements.
    pub fn noise_for(&self, target: &Target) -> Result<Sigma, Error> {
        match (target.measure, &target.allowed) {
            (Measure::Approx(delta), &Allowed::Worst(epsilon)) => match &self.training {
                Training::GraphWalk(pairs) => {
                    let found = pairs.noise_for(epsilon, delta)?;
                    let alone =
                        calibrate(epsilon, |sigma| local(&self.constants, self.releases(), sigma, delta))?;
                    Ok(if alone < found { alone } else { found })
                }
                _ => calibrate(epsilon, |sigma| self.statement(sigma, delta)),
            },
            (Measure::Renyi(order), &Allowed::Mean(loss)) => {
                calibrate(loss, |sigma| self.mean_statement(sigma, order))
            }
            _ => Err(Error::NotOffered(
                "training is calibrated for epsilon of the worst, or for a mean Rényi loss; other targets are met by least_noise",
            )),
        }
    }

    fn require_user(&self, u: usize) -> Result<(), Error> {
        if u < self.users { Ok(()) } else { Err(Error::NodeOutOfRange { node: u, nodes: self.users }) }
    }
}

/// A walk that was checked to be on the complete graph, without the borrow of a matrix.
fn on_complete_graph(walk: &WalkSgd<'_>) -> WalkSgd<'static> {
    let WalkSgd { route: _, start, steps, step_size, domain, cap, over_cap, update } = *walk;
    WalkSgd { route: Route::Complete, start, steps, step_size, domain, cap, over_cap, update }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sgd::walk::{OverCap, Update};
    use crate::sgd::{Domain, Linear, LinearLoss, Objective};
    use ndp_dp::Mechanism;
    use ndp_graph::{GossipMatrix, TransitionMatrix, generators};

    const FIG2: WalkSgd<'_> = WalkSgd::new(Route::Complete, 20_000, 0.034, Some(12));

    const DESCENT: MuffliatoSgd = MuffliatoSgd {
        rounds: 3,
        step_size: 0.7,
        batch: None,
        domain: Domain::Unbounded,
        update: Update::Sound,
    };

    fn logistic() -> Constants {
        Linear::from(LinearLoss::Logistic).constants(1.0, 1.0, Domain::Unbounded)
    }

    fn ring(n: usize) -> Result<TransitionMatrix, Error> {
        Ok(TransitionMatrix::from(&GossipMatrix::metropolis(&generators::cycle_graph(n)?)))
    }

    fn epsilon_of(statement: &Statement) -> f64 {
        statement.epsilon()
    }

    /// One accountant answers as the accountant of each training, about everybody or about one user.
    #[test]
    fn one_accountant_answers_for_every_training() -> Result<(), Error> {
        let (constants, sigma, delta, order) =
            (logistic(), Sigma::new(4.0)?, Delta::new(1e-5)?, Order::new(2.0)?);
        let at = |watched: Watched<'_>, users: usize| Accountant::new(watched, &constants, users);
        let walk = WalkSgd { steps: 400, ..FIG2 };
        let curator = WalkSgd { cap: None, ..walk };
        let server = FederatedSgd { batch: 20, step_size: 0.5, domain: Domain::Ball(1.0), initial: None };
        let complete = at(Watched::CompleteWalk { walk: &walk, colluders: 2 }, 40)?;
        let alone = at(Watched::Local { contributions: 12 }, 40)?;
        let central_one = at(Watched::Central(&curator), 40)?;
        let last_model = at(Watched::Federated(&server), 100)?;
        for (accountant, users, stated) in [
            (&complete, 40, complete_walk(&walk, &constants, 40, 2, sigma, delta)?),
            (&alone, 40, local(&constants, 12, sigma, delta)?),
            (&central_one, 40, central(&curator, &constants, 40, sigma, delta)?),
            (&last_model, 100, federated(&server, &constants, 100, sigma, delta)?),
        ] {
            assert_eq!(accountant.statement(sigma, delta)?, stated);
            assert_eq!(accountant.statement_about(7, sigma, delta)?, stated);
            let outside = accountant.statement_about(users, sigma, delta);
            assert_eq!(outside, Err(Error::NodeOutOfRange { node: users, nodes: users }));
        }
        assert_eq!(alone.loss(3)?.value().get(), 12.0);
        assert!(matches!(complete.loss(3), Err(Error::NotOffered(_))));
        assert!(matches!(last_model.mean_statement(sigma, order), Err(Error::NotOffered(_))));

        // The mean of the local model is its loss: α s² N / (2 σ²) = 2 · 4 · 12 / 32.
        let Statement::MeanLoss { loss, .. } = alone.mean_statement(sigma, order)? else { unreachable!() };
        assert!(*loss.value() >= 3.0 && *loss.value() < 3.0 + 1e-12, "{loss:?}");
        let step = ndp_dp::iteration::NoisyStep::new(1.0, sigma)?;
        let capped = ndp_dp::iteration::CappedWalk::new(12, step, 40, 2)?.rdp(order);
        let Statement::MeanLoss { loss, .. } = complete.mean_statement(sigma, order)? else { unreachable!() };
        assert_eq!(*loss.value(), *capped.value());

        // Pairs: the worst of all, the worst of one user's, and users of whom no pair was given.
        let matrix = ring(6)?;
        let on_ring = WalkSgd { route: Route::Graph(&matrix), steps: 40, cap: Some(4), ..FIG2 };
        let pairs = [(0, 1), (0, 3), (2, 4)];
        let watched = Watched::GraphWalk {
            walk: &on_ring,
            pairs: &pairs,
            final_model: FinalToken::Withheld,
            horizon: 40,
        };
        let (of_pairs, inner) =
            (at(watched, 6)?, WalkPairs::new(&on_ring, &constants, &pairs, FinalToken::Withheld, 40)?);
        // Never above what four contributions seen alone cost.
        let seen_alone = epsilon_of(&local(&constants, 4, sigma, delta)?);
        let at_most = |statement: &Statement| epsilon_of(statement).min(seen_alone);
        let worst_of_all = inner.statement(sigma, delta)?;
        assert!(epsilon_of(&worst_of_all) <= seen_alone * (1.0 + 1e-6));
        assert_eq!(epsilon_of(&of_pairs.statement(sigma, delta)?), at_most(&worst_of_all));
        let second = inner.statement_of(2, sigma, delta)?;
        assert_eq!(epsilon_of(&of_pairs.statement_about(2, sigma, delta)?), at_most(&second));
        let worst = epsilon_of(&inner.statement_of(0, sigma, delta)?)
            .max(epsilon_of(&inner.statement_of(1, sigma, delta)?));
        assert_eq!(epsilon_of(&of_pairs.statement_about(0, sigma, delta)?), worst.min(seen_alone));
        assert!(matches!(of_pairs.statement_about(1, sigma, delta), Err(Error::NoGuarantee(_))));
        assert!(matches!(at(watched, 7), Err(Error::Shape { expected: 6, got: 7, .. })));

        // Gossip: the worst node is the one that differs in the last bit alone.
        let mixings = [Mixing::OnePeerHypercube];
        let gossip = at(Watched::Gossip { sgd: &DESCENT, mixings: &mixings, observer: 5 }, 8)?;
        assert_eq!(gossip.statement(sigma, delta)?, gossip.statement_about(4, sigma, delta)?);
        assert_eq!(gossip.statement_about(5, sigma, delta), Err(Error::SourceIsObserver(5)));
        assert!(
            epsilon_of(&gossip.statement_about(0, sigma, delta)?)
                < epsilon_of(&gossip.statement(sigma, delta)?)
        );

        // Noise: for the worst at a delta, for a mean at an order, and for nothing else.
        for accountant in [&complete, &alone, &of_pairs, &gossip] {
            let found = accountant.noise_for(&Target::worst(Measure::Approx(delta), 2.0))?;
            let spent = epsilon_of(&accountant.statement(found, delta)?);
            assert!(spent <= 2.0 && spent > 1.999, "{spent}");
            let found = accountant.noise_for(&Target::mean(Measure::Renyi(order), 0.5))?;
            let Statement::MeanLoss { loss, .. } = accountant.mean_statement(found, order)? else {
                unreachable!()
            };
            assert!(*loss.value() <= 0.5 && *loss.value() > 0.499, "{loss:?}");
            let other = accountant.noise_for(&Target::worst(Measure::Renyi(order), 2.0));
            assert!(matches!(other, Err(Error::NotOffered(_))));
            assert!(accountant.noise_for(&Target::worst(Measure::Approx(delta), f64::NAN)).is_err());
        }
        Ok(())
    }

    /// What no account covers is refused where the accountant is built, whatever the noise.
    #[test]
    fn trainings_without_an_account_are_refused_at_once() -> Result<(), Error> {
        let matrix = ring(40)?;
        let refused =
            |watched: Watched<'_>| Accountant::new(watched, &logistic(), 40).map(|_| ()).unwrap_err();
        let on_ring = WalkSgd { route: Route::Graph(&matrix), ..FIG2 };
        for walk in [
            on_ring,
            WalkSgd { over_cap: OverCap::ForwardUnchanged, ..FIG2 },
            WalkSgd { update: Update::AsReleased { clip: 0.4 }, ..FIG2 },
        ] {
            assert!(matches!(
                refused(Watched::CompleteWalk { walk: &walk, colluders: 1 }),
                Error::NoGuarantee(_)
            ));
        }
        let outside = WalkSgd { start: Some(40), ..FIG2 };
        assert_eq!(
            refused(Watched::CompleteWalk { walk: &outside, colluders: 1 }),
            Error::NodeOutOfRange { node: 40, nodes: 40 }
        );
        for run in [WalkSgd { cap: None, ..on_ring }, FIG2, WalkSgd { cap: None, start: Some(3), ..FIG2 }] {
            assert!(matches!(refused(Watched::Central(&run)), Error::NoGuarantee(_)));
        }
        let server = FederatedSgd { batch: 4, step_size: 0.5, domain: Domain::Unbounded, initial: None };
        assert!(matches!(refused(Watched::Federated(&server)), Error::NoGuarantee(_)));
        assert!(matches!(refused(Watched::Local { contributions: 0 }), Error::InvalidParameter { .. }));
        let masked = Watched::GraphWalk {
            walk: &on_ring,
            pairs: &[(0, 1)],
            final_model: FinalToken::Masked,
            horizon: 5,
        };
        assert!(matches!(refused(masked), Error::NoGuarantee(_)));
        // What cannot be run has no account.
        let backwards =
            MuffliatoSgd { step_size: -0.5, update: Update::NodeClipped { clip: 1.0 }, ..DESCENT };
        let watched = Watched::Gossip { sgd: &backwards, mixings: &[Mixing::Server], observer: 0 };
        assert!(matches!(refused(watched), Error::InvalidParameter { .. }));
        let still = WalkSgd { steps: 0, ..FIG2 };
        let watched = Watched::CompleteWalk { walk: &still, colluders: 1 };
        assert!(matches!(refused(watched), Error::InvalidParameter { .. }));
        let unbounded = Linear::from(LinearLoss::Squared).constants(1.0, 1.0, Domain::Unbounded);
        let local = Accountant::new(Watched::Local { contributions: 1 }, &unbounded, 40).map(|_| ());
        assert_eq!(local, Err(crate::Error::Unbounded.into()));
        Ok(())
    }
}
