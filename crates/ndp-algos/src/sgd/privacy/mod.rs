//! What training costs in privacy, and results that cannot be shown without it.
//!
//! A [`Statement`] says what a run guarantees and against whom, or that it guarantees nothing. A
//! [`Trained`] result is a run with its statement: displaying it displays both.

mod gossip;
pub mod printed;
mod server;
mod walk;

pub use gossip::GossipObserver;
pub(crate) use server::{central, federated, local};
pub use walk::WalkPairs;
pub(crate) use walk::complete_walk;

use crate::Error;
use crate::error::ensure;
use crate::sgd::dataset::Dataset;
use crate::sgd::federated::FederatedSgd;
use crate::sgd::objective::Constants;
use crate::sgd::positive;
use crate::sgd::walk::WalkSgd;
use ndp_dp::{ApproxDp, Delta, Guarantee, Order, Printed, Sigma, UpperBound, calibration};
use serde::Serialize;
use std::fmt;

/// What is promised of every user's data, before anyone has looked at them: the bounds from which
/// sensitivities follow.
///
/// # Examples
/// ```
/// use ndarray::arr2;
/// use ndp_algos::sgd::{DataBounds, Dataset};
/// let data = Dataset::new(arr2(&[[3.0, 4.0]]), vec![1.0])?;
/// assert!(DataBounds::default().check(&data).is_err());
/// DataBounds { feature_norm: 5.0, ..DataBounds::default() }.check(&data)?;
/// # Ok::<(), ndp_algos::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DataBounds {
    /// Largest norm of a row of features.
    pub feature_norm: f64,
    /// Largest size of a label.
    pub label_size: f64,
}

impl Default for DataBounds {
    /// Rows of norm at most 1 and labels ±1.
    fn default() -> Self {
        Self { feature_norm: 1.0, label_size: 1.0 }
    }
}

impl DataBounds {
    /// Nothing if the data keep the promise.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] naming the bound that is broken, and by what.
    pub fn check(&self, data: &Dataset) -> Result<(), Error> {
        let (norm, label) = data.bounds();
        // A unit row may exceed 1 by rounding; the excess changes no digit that is reported.
        ensure(
            norm <= self.feature_norm * (1.0 + 1e-12),
            "the largest norm of a row",
            "be at most the promised bound",
            norm,
        )?;
        ensure(label <= self.label_size, "the largest label", "be at most the promised bound", label)?;
        Ok(())
    }
}

/// What a training run costs in privacy.
///
/// # Examples
/// ```
/// use ndp_algos::sgd::Statement;
/// use ndp_dp::{ApproxDp, Printed};
/// let privacy = Printed::new(ApproxDp::new(1.0, 1e-6)?);
/// let shown = Statement::Printed { privacy, reason: "the noise was clipped" }.to_string();
/// assert!(shown.contains("no guarantee: the noise was clipped"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum Statement {
    /// A proven guarantee.
    Guaranteed {
        /// `(ε, δ)` and its grade; neighbors differ in all the data of one user.
        privacy: Guarantee<ApproxDp>,
        /// Whom it protects against.
        against: &'static str,
    },
    /// A proven mean over pairs of users; single pairs may lose more.
    MeanLoss {
        /// The Rényi order.
        order: Order,
        /// Mean Rényi loss in nats, neighbors as above.
        loss: Guarantee<f64>,
        /// Which pairs.
        over: &'static str,
    },
    /// A published number, kept to reproduce a published curve: no guarantee, and never a target to calibrate to.
    Printed {
        /// `(ε, δ)` as published.
        privacy: Printed<ApproxDp>,
        /// Why it is no guarantee.
        reason: &'static str,
    },
    /// No noise, no privacy.
    NotPrivate,
}

impl Statement {
    /// The guaranteed `ε`; infinite where there is no `(ε, δ)` guarantee.
    #[must_use]
    pub(crate) fn epsilon(&self) -> f64 {
        match self {
            Self::Guaranteed { privacy, .. } => privacy.value().epsilon(),
            _ => f64::INFINITY,
        }
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pair = |p: &ApproxDp| format!("({:.4}, {:.1e})", p.epsilon(), p.delta());
        match self {
            Self::Guaranteed { privacy, against } => {
                write!(
                    f,
                    "{}-differentially private against {against} [{}]",
                    pair(privacy.value()),
                    privacy.grade()
                )
            }
            Self::MeanLoss { order, loss, over } => {
                let (order, value, grade) = (order.get(), loss.value(), loss.grade());
                write!(f, "mean Rényi loss {value:.4} of order {order} over {over} [{grade}]")
            }
            Self::Printed { privacy, reason } => {
                write!(f, "published as {}, which is no guarantee: {reason} [printed]", pair(privacy.value()))
            }
            Self::NotPrivate => f.write_str("not private: no noise was added"),
        }
    }
}

/// The accountants whose statement holds for all users alike.
///
/// What a walk on a graph costs differs from pair to pair ([`WalkPairs`]), and so does what gossip costs ([`GossipObserver`]).
///
/// # Examples
/// ```
/// use ndp_algos::sgd::privacy::{Accountant, calibrate};
/// use ndp_algos::sgd::walk::{Route, WalkSgd};
/// use ndp_algos::sgd::{Domain, Linear, Logistic, Objective};
/// use ndp_dp::Delta;
/// let (constants, delta) = (Linear::new(Logistic).constants(1.0, 1.0, Domain::Unbounded), Delta::new(1e-6)?);
/// let walk = WalkSgd::new(Route::Complete, 20_000, 0.034, Some(12));
/// let noise = |accountant: Accountant<'_>| {
///     calibrate(10.0, |sigma| accountant.statement(&constants, 2000, sigma, delta)).map(|sigma| sigma.get())
/// };
/// // As the experiment of the paper says: 1.178 and 3.749.
/// assert!((noise(Accountant::CompleteWalk { walk: &walk, colluders: 1 })? - 1.178).abs() < 3e-3);
/// assert!((noise(Accountant::Local { contributions: 12 })? - 3.749).abs() < 3e-3);
/// # Ok::<(), ndp_algos::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Accountant<'a> {
    /// Local differential privacy of a user with at most so many gradients, each seen by everybody: `μ = s √N / σ`, exact as a worst
    /// case, whatever is done with the gradients afterwards.
    Local {
        /// Gradients of one user, `N`.
        contributions: usize,
    },
    /// Centralized DP-SGD, a walk on the complete graph without a cap: a trusted curator draws a user uniformly in every step and releases every noisy
    /// gradient. An `UpperBound` by subsampling.
    Central(&'a WalkSgd<'a>),
    /// Federated SGD with only the last model released: the smaller of amplification by iteration and contraction, an `UpperBound`
    /// at this `ε`.
    Federated(&'a FederatedSgd),
    /// A walk on the complete graph: what other users who pool what they see learn about any user, the path and the last model
    /// included.
    ///
    /// Capped, constant steps: `D_α ≤ N ln φ((c+1)/n, θ)/(α-1)`, `θ = α(α-1) s²/(2σ²)`, `s` the sensitivity of a
    /// gradient. Uncapped, or with decreasing steps: exact in the number of steps. An `UpperBound`; converted to `(ε, δ)` at the
    /// best order. With a given start it holds for the user who starts, whose first contribution is certain, and so for all.
    CompleteWalk {
        /// The walk.
        walk: &'a WalkSgd<'a>,
        /// Users who pool what they see, `c`.
        colluders: usize,
    },
}

impl Accountant<'_> {
    /// What a run of `users` users costs each of them, with an objective of these constants and noise of standard deviation
    /// `sigma` on every gradient.
    ///
    /// # Errors
    /// [`Error::NoGuarantee`] naming the condition that fails: of the curator's run a route other than the complete graph, a given
    /// start or a cap; of the walk another route, clipping after noise, or forwarding without noise beyond the cap; of federated
    /// training the want of a ball to project on. [`Error::Unbounded`], [`Error::StepTooLong`], [`Error::InvalidParameter`], and
    /// [`Error::NodeOutOfRange`] for a start outside the users.
    pub fn statement(
        self,
        constants: &Constants,
        users: usize,
        sigma: Sigma,
        delta: Delta,
    ) -> Result<Statement, Error> {
        match self {
            Self::Local { contributions } => local(constants, contributions, sigma, delta),
            Self::Central(run) => central(run, constants, users, sigma, delta),
            Self::Federated(run) => federated(run, constants, users, sigma, delta),
            Self::CompleteWalk { walk, colluders } => {
                complete_walk(walk, constants, users, colluders, sigma, delta)
            }
        }
    }
}

/// A run and what it costs in privacy. Whoever pairs the two by hand answers for it; [`Trained::train`] checks the data.
///
/// # Examples
/// ```
/// use ndp_algos::sgd::privacy::{Statement, Trained};
/// let trained = Trained { run: "a model", statement: Statement::NotPrivate };
/// assert!(trained.to_string().ends_with("privacy: not private: no noise was added"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Trained<R> {
    /// What training left.
    pub run: R,
    /// What it cost.
    pub statement: Statement,
}

impl<R> Trained<R> {
    /// Trains after checking that the data keep the promise that `statement` rests on.
    ///
    /// # Errors
    /// Those of [`DataBounds::check`] and of `run`.
    pub fn train(
        bounds: &DataBounds,
        data: &Dataset,
        statement: Statement,
        run: impl FnOnce() -> Result<R, Error>,
    ) -> Result<Self, Error> {
        bounds.check(data)?;
        Ok(Self { run: run()?, statement })
    }
}

impl<R: fmt::Debug> fmt::Display for Trained<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:?}", self.run)?;
        write!(f, "privacy: {}", self.statement)
    }
}

/// The smallest noise whose statement meets a target, the verified end of the search: the `ε` of a guarantee, or the mean loss over
/// pairs in nats.
///
/// `statement` is one of this module's accountants with everything but the noise filled in.
///
/// # Errors
/// [`Error::InvalidParameter`] unless `target` is positive and finite; the accountant's own error;
/// [`Error::NoGuarantee`] when the accountant gives none.
pub fn calibrate(
    target: f64,
    mut statement: impl FnMut(Sigma) -> Result<Statement, Error>,
) -> Result<Sigma, Error> {
    positive("the target", target)?;
    search(target, |sigma| match statement(sigma)? {
        Statement::Guaranteed { privacy, .. } => Ok(privacy.map(|p| p.epsilon())),
        Statement::MeanLoss { loss, .. } => Ok(loss),
        Statement::Printed { .. } | Statement::NotPrivate => {
            Err(Error::NoGuarantee("noise is calibrated to guarantees only"))
        }
    })
}

fn search(
    target: f64,
    mut account: impl FnMut(Sigma) -> Result<Guarantee<f64>, Error>,
) -> Result<Sigma, Error> {
    // The search speaks the language of ndp-dp; an error of ours is kept and returned.
    let mut failure = None;
    let found = calibration::smallest_sigma(target, |sigma| {
        Ok(account(sigma).unwrap_or_else(|error| {
            failure = Some(error);
            UpperBound::new(f64::INFINITY).into()
        }))
    });
    match (found, failure) {
        (Ok(calibrated), _) => Ok(calibrated.parameter),
        (Err(_), Some(error)) => Err(error),
        (Err(error), None) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests;
