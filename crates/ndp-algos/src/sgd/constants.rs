//! The constants of an objective that privacy rests on, and where models live.

use crate::Error;
use crate::error::ensure;
use crate::sgd::objective::clip_norm;
use crate::sgd::positive;

/// What is known of an objective over all examples and all models it may meet.
///
/// # Examples
/// ```
/// use ndp_algos::sgd::{Constants, Domain, Linear, LinearLoss, Objective};
/// let constants: Constants = Linear::from(LinearLoss::Logistic).constants(1.0, 1.0, Domain::Unbounded);
/// assert_eq!((constants.sensitivity, constants.smoothness), (2.0, 0.25));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constants {
    /// Largest norm of a gradient, `L`; infinite where the domain does not bound it.
    pub lipschitz: f64,
    /// Largest distance between the gradients of two examples at one model; at most `2 L`.
    pub sensitivity: f64,
    /// Smoothness `β`: largest curvature.
    pub smoothness: f64,
    /// Strong convexity `μ`: smallest curvature, `0` for a merely convex objective.
    pub strong_convexity: f64,
    /// Where models must stay for the above to hold.
    pub domain: Domain,
}

impl Constants {
    /// Nothing if the gradients of any two examples are within a finite distance.
    ///
    /// # Errors
    /// [`Error::Unbounded`] when that distance grows without limit over the domain.
    pub(crate) fn require_bounded(&self) -> Result<(), Error> {
        if self.sensitivity.is_finite() { Ok(()) } else { Err(Error::Unbounded) }
    }

    /// Nothing if these constants hold wherever the models of a run on `run` may come.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] naming the radius of a run that goes further.
    pub(crate) fn require_domain(&self, run: Domain) -> Result<(), Error> {
        let (name, condition) =
            ("the radius of the run's domain", "be at most that for which the constants hold");
        ensure(run.radius() <= self.domain.radius(), name, condition, run.radius())
    }

    /// Nothing if a gradient step of size `step` never moves two models apart: `0 < step ≤ 2/β`.
    ///
    /// # Errors
    /// [`Error::StepTooLong`], [`Error::InvalidParameter`].
    pub(crate) fn require_nonexpansive(&self, step: f64) -> Result<(), Error> {
        positive("the step size", step)?;
        let limit = 2.0 / self.smoothness;
        if step <= limit { Ok(()) } else { Err(Error::StepTooLong { step, limit }) }
    }

    /// Lipschitz constant of the map `θ ↦ θ - step ∇f(θ)`: `max(|1 - step μ|, |1 - step β|)`.
    #[must_use]
    pub(crate) fn contraction(&self, step: f64) -> f64 {
        (1.0 - step * self.strong_convexity).abs().max((1.0 - step * self.smoothness).abs())
    }
}

/// Where models live.
///
/// # Examples
/// ```
/// use ndp_algos::sgd::{Domain, Linear, LinearLoss, Objective};
/// // The gradients of least squares are bounded on a ball alone.
/// let objective = Linear::from(LinearLoss::Squared);
/// assert_eq!(objective.constants(1.0, 1.0, Domain::Unbounded).sensitivity, f64::INFINITY);
/// assert_eq!(objective.constants(1.0, 1.0, Domain::Ball(2.0)).sensitivity, 6.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Domain {
    /// All of `R^d`.
    Unbounded,
    /// The ball of this radius, positive and finite, around the origin, on which iterates are projected.
    Ball(f64),
}

impl Domain {
    /// Nothing if a ball has a positive, finite radius.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`].
    pub(crate) fn check(self) -> Result<(), Error> {
        match self {
            Self::Unbounded => Ok(()),
            Self::Ball(radius) => positive("the radius", radius),
        }
    }

    /// Largest norm of a model.
    #[must_use]
    pub(crate) fn radius(self) -> f64 {
        match self {
            Self::Unbounded => f64::INFINITY,
            Self::Ball(radius) => radius,
        }
    }

    /// Moves `model` to the nearest point of the domain.
    pub(crate) fn project(self, model: &mut [f64]) {
        if let Self::Ball(radius) = self {
            clip_norm(model, radius);
        }
    }
}
