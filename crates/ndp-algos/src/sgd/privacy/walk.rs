//! The cost of training by a walking token: on the complete graph for everybody, on any graph for a pair of
//! users.

use crate::sgd::objective::Constants;
use crate::sgd::positive;
use crate::sgd::walk::{OverCap, Route, StepSize, Update, WalkSgd};
use crate::walk::FinalToken;
use crate::walk::graph::coalition::{self, CoalitionLaws};
use crate::walk::graph::moment_bound::{self, Moments};
use crate::walk::graph::{CostLaw, KnownLosses, LocalLoss, Quick, contribution, renewal};
use ndp_account::Error;
use ndp_dp::iteration::{CappedWalk, FirstHolder, LastIterate, NoisyStep, UncappedWalk};
use ndp_dp::profile::epsilon_by_one_order;
use ndp_dp::{Delta, Mechanism, NoiseMultiplier, Order, Sigma, UpperBound};
use ndp_graph::TransitionMatrix;
use ndp_graph::hitting::{self, FirstVisits, PairLaws};
use ndp_numeric::stop::Stop;
use std::sync::Arc;

/// A walk on the complete graph with its noise: a bound on what `colluders` users who pool what they see
/// learn about any other user, as a Rényi loss at every order; infinite if it overflows.
///
/// With a cap and constant steps, `D_α ≤ N ln φ((c+1)/n, θ)/(α-1)`, `θ = α(α-1) s²/(2σ²)`, where `s` is the
/// sensitivity of a gradient; without a cap, or with decreasing steps, the bound depends on the number of
/// steps, exactly. Both reveal the path, so that neither the path nor the times need be secret, and both
/// cover publication of the final model. An `UpperBound`. With a given start it holds for the user who
/// starts, whose first contribution is certain, and therefore for all others
/// ([`CappedWalk::rdp_from_given_start`], [`FirstHolder::Given`]).
///
/// # Errors
/// Those of [`require_complete`]; [`Error::Privacy`] for colluders who see a step for certain.
pub(crate) fn on_complete_graph(
    walk: &WalkSgd,
    constants: &Constants,
    users: usize,
    colluders: usize,
    sigma: Sigma,
) -> Result<Renyi, Error> {
    require_complete(walk, constants, users)?;
    let (n, c, steps) = (users as u64, colluders as u64, walk.steps as u64);
    let first_holder = if walk.start.is_some() { FirstHolder::Given } else { FirstHolder::Uniform };
    let step = NoisyStep::new(constants.sensitivity / 2.0, sigma)?;
    let last_iterate = LastIterate::Published;
    let account = UncappedWalk { steps, users: n, colluders: c, last_iterate, first_holder };
    Ok(match (walk.cap, walk.step_size) {
        (Some(cap), StepSize::Constant(_)) => {
            let capped = CappedWalk::new((cap as u64).min(steps), step, n, c)?;
            Box::new(move |order| match first_holder {
                FirstHolder::Uniform => capped.rdp(order).into(),
                FirstHolder::Given => infinite_on_error(capped.rdp_from_given_start(order, steps)),
            })
        }
        (_, StepSize::Constant(_)) => {
            let descent = account.descent(step, u64::MAX)?;
            Box::new(move |order| descent.rdp(order).into())
        }
        (_, StepSize::InverseRoot(_)) => {
            let sizes: Vec<f64> = (0..walk.steps).map(|t| walk.step_size.at(t)).collect();
            Box::new(move |order| infinite_on_error(account.decreasing_rdp(order, step, &sizes)))
        }
    })
}

/// The upper law of the cost of such a walk among `(users, colluders)`, about every other user; it covers the
/// last model. `None` if there is no such law: with decreasing steps, later noise is smaller.
///
/// The walk must be one that [`require_complete`] covers.
pub(crate) fn law_on_complete_graph(walk: &WalkSgd, nodes: (usize, usize)) -> Option<CostLaw> {
    let (Route::Complete, StepSize::Constant(_)) = (&walk.route, walk.step_size) else { return None };
    CostLaw::of_uniform_gradients(nodes, walk.steps, walk.cap, walk.start.is_some(), true).ok()
}

/// A Rényi loss at every order.
pub(crate) type Renyi = Box<dyn Fn(Order) -> UpperBound<f64> + Send + Sync>;

/// Checks that the accountant of the complete graph covers this walk.
///
/// # Errors
/// [`Error::NodeOutOfRange`] for a start that is not a user. [`Error::NoGuarantee`] naming the condition that
/// fails: another route than the complete graph, clipping after noise, or forwarding without noise beyond the
/// cap; [`Error::Unbounded`](crate::Error::Unbounded), [`Error::StepTooLong`](crate::Error::StepTooLong),
/// [`Error::InvalidParameter`].
pub(crate) fn require_complete(walk: &WalkSgd, constants: &Constants, users: usize) -> Result<(), Error> {
    if !matches!(walk.route, Route::Complete) {
        return Err(Error::NoGuarantee("this accountant is for walks on the complete graph"));
    }
    require_amplifiable(walk, constants)?;
    match walk.start {
        Some(node) if node >= users => Err(Error::NodeOutOfRange { node, nodes: users }),
        _ => Ok(()),
    }
}

/// An order at which a loss overflows is only not used.
fn infinite_on_error(loss: Result<UpperBound<f64>, ndp_dp::Error>) -> UpperBound<f64> {
    loss.unwrap_or(UpperBound::new(f64::INFINITY))
}

/// Checks the conditions of amplification by iteration, under which later noise protects earlier
/// contributions.
///
/// # Errors
/// As [`require_complete`].
fn require_amplifiable(walk: &WalkSgd, constants: &Constants) -> Result<(), Error> {
    constants.require_bounded()?;
    constants.require_nonexpansive(walk.step_size.longest())?;
    match (walk.update, walk.over_cap, walk.cap) {
        (Update::NodeClipped { .. }, ..) => Err(Error::NoGuarantee(
            "clipping a node's average gradient is not a non-expansive step: clip the gradient of every example instead",
        )),
        (Update::AsReleased { .. }, ..) => Err(Error::NoGuarantee(
            "clipping after noise is not a non-expansive step: no amplification theorem covers it",
        )),
        (_, OverCap::ForwardUnchanged, Some(_)) => Err(Error::NoGuarantee(
            "users beyond the cap must add noise: forwarding unchanged removes what protects the others",
        )),
        _ => Ok(()),
    }
}

/// A pair of users `(u, v)` of a walk on a graph, with the first visits from which a bound on the loss of `u`
/// towards `v` follows.
///
/// What `v` learns from a walk on a graph differs from pair to pair. With a cap `N` on contributions the loss
/// is `N ε_gap` (as on [a graph](crate::walk::graph)), and without one it is that of the [`renewal`]
/// accountant. Both hold whatever `v` knows of the path. They need convex losses, steps that are short
/// enough, and a constant step size.
#[derive(Clone, Debug)]
pub(crate) struct WalkPair {
    laws: Laws,
    losses: KnownLosses,
    /// The law of the cost, if there is one for this walk.
    pub(crate) cost: Option<Arc<CostLaw>>,
    steps: usize,
    published: bool,
    /// Stops the computations that later questions start.
    stop: Stop,
}

#[derive(Clone, Debug)]
enum Laws {
    Capped { cap: usize, gaps: FirstVisits },
    Uncapped(PairLaws),
    UncappedPublished(CoalitionLaws),
}

impl WalkPair {
    /// The pair `(u, v)`, in which `v` observes `u`. Under a cap, first visits are followed for `horizon`
    /// steps, and later ones are charged as if they came at the next step. `published` says whether `v` gets
    /// the last model.
    ///
    /// # Errors
    /// Those of [`require_on_graph`]; [`Error::SourceIsObserver`], [`Error::Graph`] for a pair that is not
    /// one of different users.
    pub(crate) fn new(
        walk: &WalkSgd,
        constants: &Constants,
        (u, v): (usize, usize),
        published: bool,
        horizon: usize,
        stop: &Stop,
    ) -> Result<Self, Error> {
        let matrix = require_on_graph(walk, constants)?;
        positive("the horizon of first visits", horizon as f64)?;
        if u == v {
            return Err(Error::SourceIsObserver(u));
        }
        let start = match walk.start {
            Some(user) => hitting::Start::Node(user),
            None => hitting::Start::Uniform,
        };
        let (walks, steps) = (hitting::Walk::from(matrix).until(stop), walk.steps);
        let (laws, cost) = match walk.cap {
            Some(cap) => {
                // A user that contributes only once adds nothing but noise on further visits.
                let once = cap == 1 && !published;
                let targets = if once { vec![v] } else { vec![u, v] };
                let gaps = walks.first_visits(&hitting::Start::Node(u), &targets, horizon.min(steps))?;
                let cost = CostLaw::of_gaps(&gaps, steps, cap, published).until(stop);
                (Laws::Capped { cap, gaps }, Some(cost))
            }
            None => {
                let of_pair = walks.pair_laws(u, v, &start, steps)?;
                let cost = CostLaw::of_gradients(&of_pair, published).ok().map(|law| law.until(stop));
                let laws = if published {
                    Laws::UncappedPublished(CoalitionLaws::new(&walks, u, &[v], &start, steps)?)
                } else {
                    Laws::Uncapped(of_pair)
                };
                (laws, cost)
            }
        };
        let losses = KnownLosses::default();
        Ok(Self { laws, losses, cost: cost.map(Arc::new), steps, published, stop: stop.clone() })
    }

    /// Whether contributions are capped.
    pub(crate) const fn is_capped(&self) -> bool {
        matches!(self.laws, Laws::Capped { .. })
    }

    /// The Rényi loss in nats. `local` is the loss of a gradient, with its noise in units of the sensitivity.
    ///
    /// # Errors
    /// Those of the accountants of the walk.
    pub(crate) fn renyi(&self, local: LocalLoss) -> Result<UpperBound<f64>, Error> {
        self.losses.loss(local, &self.stop, || match &self.laws {
            &Laws::Capped { cap, ref gaps } => {
                contribution::capped(gaps, local, self.steps, cap, self.published)
            }
            Laws::Uncapped(laws) => renewal::loss(laws, local, None, &self.stop),
            Laws::UncappedPublished(laws) => coalition::loss(laws, local, FinalToken::Published, &self.stop),
        })
    }
}

/// Under a cap, each contribution costs what its gap determines, and gaps are independent.
impl Moments for WalkPair {
    fn loss(&self, local: LocalLoss, _: &dyn Fn(f64) -> bool) -> Option<f64> {
        self.is_capped().then(|| self.renyi(local).ok())?.map(UpperBound::into_value)
    }
}

/// A pair at one noise.
pub(crate) struct AtNoise {
    pub(crate) pair: Arc<WalkPair>,
    pub(crate) noise: NoiseMultiplier,
}

impl Quick for AtNoise {
    fn epsilon(&self, delta: Delta, limit: f64) -> Option<f64> {
        // If costs vary little, their Rényi loss gives a smaller bound than their moment.
        let renyi = |order| Some(self.pair.renyi(LocalLoss { order, noise: self.noise }).ok()?.into_value());
        let by_order = epsilon_by_one_order(renyi, delta, limit)?;
        Some(if by_order <= limit {
            by_order
        } else {
            moment_bound::by_first_moment(&*self.pair, self.noise, delta, limit)
                .map_or(by_order, |found| found.min(by_order))
        })
    }

    fn keeps(&self, delta: Delta, limit: f64) -> bool {
        moment_bound::keeps(&*self.pair, self.noise, delta, limit)
    }
}

/// Checks that the accountants of a graph cover a walk, for any observer, and returns its matrix.
///
/// # Errors
/// [`Error::NonUniform`](crate::Error::NonUniform) if the columns of the matrix do not sum to 1: the walk
/// then prefers some users, and no bound here covers it; [`Error::NoGuarantee`] naming another condition that
/// fails; [`Error::Unbounded`](crate::Error::Unbounded), [`Error::StepTooLong`](crate::Error::StepTooLong);
/// [`Error::InvalidParameter`] for a cap of 0.
pub(crate) fn require_on_graph<'a>(
    walk: &'a WalkSgd,
    constants: &Constants,
) -> Result<&'a TransitionMatrix, Error> {
    require_amplifiable(walk, constants)?;
    let Route::Graph(matrix) = &walk.route else {
        return Err(Error::NoGuarantee("this accountant is for walks on a graph given by its matrix"));
    };
    require_uniform(matrix)?;
    if let StepSize::InverseRoot(_) = walk.step_size {
        return Err(Error::NoGuarantee(
            "with decreasing steps later noise is smaller: there is no accountant for them on a graph",
        ));
    }
    if walk.cap == Some(0) {
        positive("the cap on contributions", 0.0)?;
    }
    Ok(matrix)
}

/// Checks that every column sums to 1, so that the uniform law is stationary.
fn require_uniform(matrix: &TransitionMatrix) -> Result<(), Error> {
    let mut sums = vec![0.0; matrix.node_count()];
    for node in 0..matrix.node_count() {
        let (columns, weights) = matrix.csr().row(node);
        for (&column, weight) in columns.iter().zip(weights) {
            sums[column as usize] += weight;
        }
    }
    match sums.into_iter().enumerate().find(|(_, sum)| (sum - 1.0).abs() > 1e-9) {
        Some((node, sum)) => Err(crate::Error::NonUniform { node, sum }.into()),
        None => Ok(()),
    }
}
