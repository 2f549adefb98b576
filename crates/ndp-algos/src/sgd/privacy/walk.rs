//! What a walking token costs: on the complete graph for everybody, on any graph for given pairs.

use super::{Statement, calibrate};
use crate::sgd::objective::Constants;
use crate::sgd::positive;
use crate::sgd::walk::{OverCap, Route, StepSize, Update, WalkSgd};
use crate::walk::FinalToken;
use crate::walk::graph::coalition::{self, CoalitionLaws};
use crate::walk::graph::{CostLaw, LocalLoss, contribution, renewal};
use ndp_account::Error;
use ndp_dp::iteration::{CappedWalk, FirstHolder, LastIterate, NoisyStep, UncappedWalk};
use ndp_dp::{ApproxDp, Delta, Mechanism, NoiseMultiplier, Order, Rdp, Sigma, UpperBound, conversion};
use ndp_graph::TransitionMatrix;
use ndp_graph::hitting::{self, FirstVisits, PairLaws};
use rayon::prelude::*;
use std::sync::Arc;

/// A walk on the complete graph with its noise: what `colluders` users who pool what they see learn
/// about any other user.
///
/// Capped, constant steps: `D_α ≤ N ln φ((c+1)/n, θ)/(α-1)`, `θ = α(α-1) s²/(2σ²)`, `s` the sensitivity of a
/// gradient. Uncapped, or with decreasing steps: exact in the number of steps. Both reveal the path,
/// so neither the path nor the times need be secret, and cover publication of the final model.
/// An `UpperBound`; converted to `(ε, δ)` at the best order. With a given start it holds for the user who
/// starts, whose first contribution is certain, and so for all others
/// ([`CappedWalk::rdp_from_given_start`], [`FirstHolder::Given`]).
///
/// # Errors
/// [`Error::NodeOutOfRange`] for a start outside the users. [`Error::NoGuarantee`] naming the condition that
/// fails: another route than the complete graph, clipping after noise, or forwarding without noise beyond the
/// cap; [`Error::Unbounded`](crate::Error::Unbounded), [`Error::StepTooLong`](crate::Error::StepTooLong),
/// [`Error::InvalidParameter`].
pub(crate) fn complete_walk(
    walk: &WalkSgd<'_>,
    constants: &Constants,
    users: usize,
    colluders: usize,
    sigma: Sigma,
    delta: Delta,
) -> Result<Statement, Error> {
    let curve = complete_curve(walk, constants, users, colluders, sigma)?;
    Ok(Statement::Guaranteed {
        privacy: conversion::best_epsilon(curve, delta).map(|converted| converted.approx_dp).into(),
        against: "the other users of a walk on the complete graph, each knowing the path and the final model",
    })
}

/// The Rényi loss of [`complete_walk`], at every order; infinite where it overflows.
pub(super) fn complete_curve(
    walk: &WalkSgd<'_>,
    constants: &Constants,
    users: usize,
    colluders: usize,
    sigma: Sigma,
) -> Result<Box<dyn Fn(Order) -> UpperBound<f64>>, Error> {
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

/// Nothing if the accountant of the complete graph covers this walk.
///
/// # Errors
/// As [`complete_walk`].
pub(super) fn require_complete(walk: &WalkSgd<'_>, constants: &Constants, users: usize) -> Result<(), Error> {
    if !matches!(walk.route, Route::Complete) {
        return Err(Error::NoGuarantee("this accountant is for walks on the complete graph"));
    }
    require_amplifiable(walk, constants)?;
    match walk.start {
        Some(node) if node >= users => Err(Error::NodeOutOfRange { node, nodes: users }),
        _ => Ok(()),
    }
}

/// A loss that overflows at some order only rules that order out.
fn infinite_on_error(loss: Result<UpperBound<f64>, ndp_dp::Error>) -> UpperBound<f64> {
    loss.unwrap_or(UpperBound::new(f64::INFINITY))
}

/// Nothing if later noise protects earlier contributions: the conditions of amplification by
/// iteration.
///
/// # Errors
/// As [`complete_walk`].
pub(crate) fn require_amplifiable(walk: &WalkSgd<'_>, constants: &Constants) -> Result<(), Error> {
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

/// Pairs of users `(u, v)` of a walk on a graph, with the first visits from which the loss of `u` towards
/// `v` is bounded.
///
/// What `v` learns from a walk on a graph differs from pair to pair. With a cap `N` on contributions the loss
/// is `N ε_gap` (as on [a graph](crate::walk::graph)), without one it is that of the [`renewal`] accountant.
/// Both hold whatever `v` knows of the path, and need convex losses, steps short enough and a constant step.
#[derive(Clone, Debug)]
pub(crate) struct WalkPairs {
    pairs: Vec<(usize, usize)>,
    laws: Laws,
    /// The laws of the cost of each pair, where they are offered.
    costs: Vec<Option<Arc<CostLaw>>>,
    steps: usize,
    final_model: FinalToken,
    sensitivity: f64,
}

#[derive(Clone, Debug)]
enum Laws {
    Capped { cap: usize, gaps: Vec<FirstVisits> },
    Uncapped(Vec<PairLaws>),
    UncappedPublished(Vec<CoalitionLaws>),
}

impl WalkPairs {
    /// Follows the first visits of the given pairs; under a cap for `horizon` steps at most, later ones being
    /// charged as if they came then.
    ///
    /// `final_model` says whether `v` gets the last model ([`FinalToken::Masked`] has no rule here).
    ///
    /// # Errors
    /// [`Error::NonUniform`](crate::Error::NonUniform) when the columns of the matrix do not sum to 1: the
    /// walk prefers some users, and no bound here covers it; [`Error::NoGuarantee`] naming another condition
    /// that fails; [`Error::Unbounded`](crate::Error::Unbounded),
    /// [`Error::StepTooLong`](crate::Error::StepTooLong); [`Error::SourceIsObserver`], [`Error::Graph`] for
    /// bad pairs; [`Error::InvalidParameter`] for no pair or horizon.
    pub(crate) fn new(
        walk: &WalkSgd<'_>,
        constants: &Constants,
        pairs: &[(usize, usize)],
        final_model: FinalToken,
        horizon: usize,
    ) -> Result<Self, Error> {
        require_amplifiable(walk, constants)?;
        let Route::Graph(matrix) = walk.route else {
            return Err(Error::NoGuarantee("this accountant is for walks on a graph given by its matrix"));
        };
        require_uniform(matrix)?;
        if let StepSize::InverseRoot(_) = walk.step_size {
            return Err(Error::NoGuarantee(
                "with decreasing steps later noise is smaller: there is no accountant for them on a graph",
            ));
        }
        if final_model == FinalToken::Masked {
            return Err(Error::NoGuarantee(
                "there is no rule for masking the final model of a walk on a graph",
            ));
        }
        positive("the number of pairs", pairs.len() as f64)?;
        positive("the horizon of first visits", horizon as f64)?;
        if let Some(&(u, _)) = pairs.iter().find(|(u, v)| u == v) {
            return Err(Error::SourceIsObserver(u));
        }
        let start = match walk.start {
            Some(user) => hitting::Start::Node(user),
            None => hitting::Start::Uniform,
        };
        let (walks, steps) = (hitting::Walk::from(matrix), walk.steps);
        let laws = match (walk.cap, final_model) {
            (Some(cap), _) => {
                positive("the cap on contributions", cap as f64)?;
                // Who contributes once only adds noise on further visits.
                let once = cap == 1 && final_model != FinalToken::Published;
                let gaps = |&(u, v): &(usize, usize)| {
                    let targets = if once { vec![v] } else { vec![u, v] };
                    walks.first_visits(&hitting::Start::Node(u), &targets, horizon.min(steps))
                };
                Laws::Capped { cap, gaps: pairs.par_iter().map(gaps).collect::<Result<_, _>>()? }
            }
            (None, FinalToken::Published) => {
                let laws = |&(u, v): &(usize, usize)| CoalitionLaws::new(&walks, u, &[v], &start, steps);
                Laws::UncappedPublished(pairs.par_iter().map(laws).collect::<Result<_, _>>()?)
            }
            (None, _) => {
                let laws = |&(u, v): &(usize, usize)| walks.pair_laws(u, v, &start, steps);
                Laws::Uncapped(pairs.par_iter().map(laws).collect::<Result<_, _>>()?)
            }
        };
        let published = final_model == FinalToken::Published;
        let costs = match &laws {
            Laws::Capped { cap, gaps } => {
                gaps.iter().map(|gaps| Some(CostLaw::of_gaps(gaps, steps, *cap, published))).collect()
            }
            Laws::Uncapped(laws) => {
                laws.iter().map(|laws| CostLaw::of_gradients(laws, published).ok()).collect()
            }
            Laws::UncappedPublished(_) => {
                let law = |&(u, v): &(usize, usize)| {
                    CostLaw::of_gradients(&walks.pair_laws(u, v, &start, steps).ok()?, published).ok()
                };
                pairs.par_iter().map(law).collect::<Vec<_>>()
            }
        };
        let costs = costs.into_iter().map(|cost| cost.map(Arc::new)).collect();
        Ok(Self {
            pairs: pairs.to_vec(),
            laws,
            costs,
            steps,
            final_model,
            sensitivity: constants.sensitivity,
        })
    }

    /// Rényi loss of a pair, in nats; `noise` is in units of the sensitivity.
    ///
    /// # Panics
    /// When the pair is out of range.
    #[must_use]
    pub(crate) fn loss(&self, pair: usize, order: Order, noise: NoiseMultiplier) -> UpperBound<f64> {
        let local = LocalLoss { order, noise };
        let loss = match &self.laws {
            Laws::Capped { cap, gaps } if self.final_model == FinalToken::Published => {
                contribution::capped_and_published(&gaps[pair], local, self.steps, *cap)
            }
            Laws::Capped { cap, gaps } => contribution::capped(&gaps[pair], local, self.steps, *cap),
            Laws::Uncapped(laws) => renewal::loss(&laws[pair], local, None),
            Laws::UncappedPublished(laws) => coalition::loss(&laws[pair], local, FinalToken::Published),
        };
        // Steps, cap and final model were checked; a refusal would still be no loss of 0.
        loss.unwrap_or(UpperBound::new(f64::INFINITY))
    }

    /// Contributions of a user, at most.
    pub(super) fn most_contributions(&self) -> usize {
        match self.laws {
            Laws::Capped { cap, .. } => cap.min(self.steps),
            Laws::Uncapped(_) | Laws::UncappedPublished(_) => self.steps,
        }
    }

    /// Mean loss of the pairs: a statement about these pairs alone.
    #[must_use]
    fn mean(&self, order: Order, noise: NoiseMultiplier) -> UpperBound<f64> {
        let losses = self.all(|pair| self.loss(pair, order, noise).into_value());
        let rounding = 1.0 + (losses.len() + 2) as f64 * f64::EPSILON;
        UpperBound::new(losses.iter().sum::<f64>() / losses.len() as f64 * rounding)
    }

    /// `(ε, δ)` of one pair, at the best of the given orders, or of all if none is given.
    ///
    /// # Errors
    /// [`Error::Privacy`] for a noise too small to be told from 0.
    ///
    /// # Panics
    /// When the pair is out of range.
    pub(crate) fn statement_of(&self, pair: usize, sigma: Sigma, delta: Delta) -> Result<Statement, Error> {
        let noise = NoiseMultiplier::new(sigma.get() / self.sensitivity * (1.0 - f64::EPSILON))?;
        let curve = |order| self.loss(pair, order, noise);
        let by_law = self.costs[pair].as_ref().and_then(|law| {
            let epsilon = law.epsilon(noise, delta).ok()?.upper();
            Some((epsilon, law.is_tight(noise, epsilon)))
        });
        // The renewal accountant takes milliseconds for an order, the closed bound microseconds.
        let by_renyi = || -> Result<f64, Error> {
            Ok(match self.laws {
                Laws::Capped { .. } => {
                    conversion::best_epsilon(curve, delta).into_value().approx_dp.epsilon()
                }
                _ => {
                    let at =
                        |order| Rdp { order, epsilon: curve(order).into_value() }.epsilon(delta).into_value();
                    few_orders()?.into_iter().map(at).fold(f64::INFINITY, f64::min)
                }
            })
        };
        let best = match by_law {
            Some((epsilon, true)) => epsilon,
            Some((epsilon, false)) => by_renyi()?.min(epsilon),
            None => by_renyi()?,
        };
        let best = ApproxDp::new(best, delta.get())?;
        Ok(Statement::Guaranteed {
            privacy: UpperBound::new(best).into(),
            against: match self.final_model {
                FinalToken::Published => {
                    "the second user of every given pair, who knows the path and the final model"
                }
                _ => "the second user of every given pair, who knows the path but not the final model",
            },
        })
    }

    /// `(ε, δ)` of the worst pair: an `UpperBound` for every given pair, and for no other.
    ///
    /// # Errors
    /// [`Error::Privacy`] for a noise too small to be told from 0.
    pub(crate) fn statement(&self, sigma: Sigma, delta: Delta) -> Result<Statement, Error> {
        self.worst_of(|_| true, sigma, delta)
    }

    /// The same of the pairs that expose `u`.
    ///
    /// # Errors
    /// [`Error::NoGuarantee`] without such a pair; otherwise as [`statement`](Self::statement).
    pub(crate) fn statement_about(&self, u: usize, sigma: Sigma, delta: Delta) -> Result<Statement, Error> {
        self.worst_of(|pair| self.pairs[pair].0 == u, sigma, delta)
    }

    fn worst_of(
        &self,
        counts: impl Fn(usize) -> bool + Send + Sync,
        sigma: Sigma,
        delta: Delta,
    ) -> Result<Statement, Error> {
        let statements = self.all(|pair| counts(pair).then(|| self.statement_of(pair, sigma, delta)));
        let statements = statements.into_iter().flatten().collect::<Result<Vec<_>, _>>()?;
        let worst = statements.into_iter().max_by(|a, b| a.epsilon().total_cmp(&b.epsilon()));
        worst.ok_or(Error::NoGuarantee("no pair with this user was given"))
    }

    /// The mean loss of the pairs at `order`, as a statement.
    ///
    /// # Errors
    /// [`Error::Privacy`] for a noise too small to be told from 0.
    pub(crate) fn mean_statement(&self, sigma: Sigma, order: Order) -> Result<Statement, Error> {
        let noise = NoiseMultiplier::new(sigma.get() / self.sensitivity * (1.0 - f64::EPSILON))?;
        Ok(Statement::MeanLoss {
            order,
            loss: self.mean(order, noise).into(),
            over: "the given pairs of users",
        })
    }

    /// The smallest noise that gives every pair `(epsilon, delta)`: calibrated for one pair, until none is
    /// worse.
    ///
    /// # Errors
    /// As [`calibrate`].
    pub(crate) fn noise_for(&self, epsilon: f64, delta: Delta) -> Result<Sigma, Error> {
        let mut sigma = calibrate(epsilon, |sigma| self.statement_of(0, sigma, delta))?;
        loop {
            let losses = self.all(|pair| self.statement_of(pair, sigma, delta).map(|s| s.epsilon()));
            let losses = losses.into_iter().collect::<Result<Vec<_>, _>>()?;
            let worst = (0..losses.len()).max_by(|&a, &b| losses[a].total_cmp(&losses[b])).unwrap_or(0);
            if losses[worst] <= epsilon {
                return Ok(sigma);
            }
            // Each turn raises the noise to the need of a pair that was not met before.
            sigma = calibrate(epsilon, |sigma| self.statement_of(worst, sigma, delta))?;
        }
    }

    fn all<T: Send>(&self, f: impl Fn(usize) -> T + Send + Sync) -> Vec<T> {
        (0..self.pairs.len()).into_par_iter().map(f).collect()
    }
}

/// Orders `1 + 10^{k/4}` from 1.1 to about 1000.
fn few_orders() -> Result<Vec<Order>, Error> {
    Ok((-4..=12).map(|k| Order::new(1.0 + 10f64.powf(f64::from(k) / 4.0))).collect::<Result<_, _>>()?)
}

/// Nothing if every column sums to 1, so that the uniform law is stationary.
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
