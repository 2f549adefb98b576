//! The constants of an objective on which privacy rests, and the domain of models.

use crate::sgd::objective::clip_norm;
use crate::sgd::positive;
use ndp_account::parts::ensure;
use ndp_account::{Error, Norm, RestsOn};
use ndp_numeric::rounding::Interval;

/// What is known of an objective over all examples and all models that it may meet.
///
/// # Examples
/// ```
/// use ndp_algos::sgd::{Constants, Domain, Linear, LinearLoss, Objective};
/// let constants: Constants = Linear::from(LinearLoss::Logistic).constants(1.0, 1.0, Domain::Unbounded);
/// assert_eq!((constants.sensitivity, constants.smoothness), (2.0, 0.25));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constants {
    /// The largest norm of a gradient, `L`; infinite if the domain does not bound it.
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
    /// Checks that these may be the constants of an objective: none is negative or NaN, no curvature is below
    /// the smallest one, and the distance of the gradients of any two examples is finite. Every accountant
    /// checks this first.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] naming the constant; [`Error::Unbounded`](crate::Error::Unbounded) if the
    /// distance of gradients grows without limit over the domain.
    pub(crate) fn require_bounded(&self) -> Result<(), Error> {
        // Written so that NaN fails.
        for (name, value) in [
            ("the Lipschitz constant", self.lipschitz),
            ("the sensitivity of gradients", self.sensitivity),
            ("the smoothness", self.smoothness),
            ("the strong convexity", self.strong_convexity),
        ] {
            ensure(value >= 0.0, name, "be nonnegative", value)?;
        }
        let curved = self.strong_convexity <= self.smoothness && self.strong_convexity.is_finite();
        ensure(
            curved,
            "the strong convexity",
            "be finite and at most the smoothness",
            self.strong_convexity,
        )?;
        self.domain.check()?;
        if self.sensitivity.is_finite() { Ok(()) } else { Err(crate::Error::Unbounded.into()) }
    }

    /// On which losses of users amplification by iteration rests: steps must bring no two models further
    /// apart.
    pub(crate) fn rests_on(&self) -> RestsOn {
        RestsOn::Objective {
            smoothness: Norm::new(self.smoothness),
            strong_convexity: Norm::new(self.strong_convexity),
        }
    }

    /// Checks that these constants hold for all models that a run on the domain `run` may reach.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] naming the radius of a run that goes further.
    pub(crate) fn require_domain(&self, run: Domain) -> Result<(), Error> {
        let (name, condition) =
            ("the radius of the run's domain", "be at most that for which the constants hold");
        ensure(run.radius() <= self.domain.radius(), name, condition, run.radius())
    }

    /// Checks that a gradient step of size `step` never moves two models apart: `0 < step ≤ 2/β`.
    ///
    /// # Errors
    /// [`Error::StepTooLong`](crate::Error::StepTooLong), [`Error::InvalidParameter`].
    pub(crate) fn require_nonexpansive(&self, step: f64) -> Result<(), Error> {
        positive("the step size", step)?;
        ensure(self.smoothness >= 0.0, "the smoothness", "be nonnegative", self.smoothness)?;
        // The condition is on the product, since the quotient 2/β may be rounded up.
        let stays = (Interval::new(step) * Interval::new(self.smoothness)).high() <= 2.0;
        if stays {
            Ok(())
        } else {
            Err(crate::Error::StepTooLong { step, limit: 2.0 / self.smoothness }.into())
        }
    }

    /// The Lipschitz constant of the map `θ ↦ θ - step ∇f(θ)`: `max(|1 - step μ|, |1 - step β|)`, rounded up;
    /// infinite if nothing is known of the curvature.
    #[must_use]
    pub(crate) fn contraction(&self, step: f64) -> f64 {
        let moved = |curvature: f64| Interval::ONE - Interval::new(step) * Interval::new(curvature);
        let farthest = |moved: Interval| moved.high().max(-moved.low());
        farthest(moved(self.strong_convexity)).max(farthest(moved(self.smoothness)))
    }
}

/// The domain of models.
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
    /// Checks that a ball has a positive, finite radius.
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

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: Constants = Constants {
        lipschitz: 1.0,
        sensitivity: 2.0,
        smoothness: 1.0,
        strong_convexity: 0.25,
        domain: Domain::Unbounded,
    };

    #[test]
    fn what_is_no_constant_is_refused() {
        assert_eq!(GOOD.require_bounded(), Ok(()));
        let changes: [fn(&mut Constants, f64); 4] = [
            |c, x| c.lipschitz = x,
            |c, x| c.sensitivity = x,
            |c, x| c.smoothness = x,
            |c, x| c.strong_convexity = x,
        ];
        for change in changes {
            for bad in [f64::NAN, -1.0, f64::NEG_INFINITY] {
                let mut constants = GOOD;
                change(&mut constants, bad);
                assert!(
                    matches!(constants.require_bounded(), Err(Error::InvalidParameter { .. })),
                    "{constants:?}"
                );
            }
        }
        assert_eq!(
            Constants { sensitivity: f64::INFINITY, ..GOOD }.require_bounded(),
            Err(crate::Error::Unbounded.into())
        );
        let stronger = Constants { strong_convexity: 1.5, ..GOOD }.require_bounded();
        assert!(matches!(stronger, Err(Error::InvalidParameter { name: "the strong convexity", .. })));
        let nowhere = Constants { domain: Domain::Ball(f64::NAN), ..GOOD }.require_bounded();
        assert!(matches!(nowhere, Err(Error::InvalidParameter { name: "the radius", .. })));
    }

    /// A smoothness of NaN was once taken to move no two models apart. With an infinite smoothness they may
    /// move apart.
    #[test]
    fn steps_are_nonexpansive_only_where_that_is_known() {
        for bad in [f64::NAN, f64::INFINITY, -1.0] {
            let constants = Constants { smoothness: bad, ..GOOD };
            let found = constants.require_nonexpansive(0.5);
            let refused = if bad == f64::INFINITY {
                found == Err(crate::Error::StepTooLong { step: 0.5, limit: 0.0 }.into())
            } else {
                matches!(found, Err(Error::InvalidParameter { name: "the smoothness", .. }))
            };
            assert!(refused, "{bad}: {found:?}");
            assert!(bad == -1.0 || constants.contraction(0.5) == f64::INFINITY, "{bad}");
        }
        // 2/β may be rounded up as a float, so that the condition is on the product.
        let mut refused = 0;
        for k in 1..400 {
            let constants = Constants { smoothness: f64::from(k) / 7.0, strong_convexity: 0.0, ..GOOD };
            let limit = 2.0 / constants.smoothness;
            let above = limit.mul_add(constants.smoothness, -2.0) > 0.0;
            let found = constants.require_nonexpansive(limit);
            let too_long = Err(crate::Error::StepTooLong { step: limit, limit }.into());
            assert_eq!(found, if above { too_long } else { Ok(()) });
            assert_eq!(constants.contraction(limit) > 1.0, above);
            refused += u32::from(above);
        }
        assert!(refused > 50, "{refused}");
        assert_eq!(GOOD.contraction(0.5), 0.875);
        // 1 - step μ, rounded up. A fused product has the exact sign.
        let mut above_nearest = 0;
        for k in 1..400 {
            let (step, convexity) = (f64::from(k) / 1009.0, 0.3);
            let constants = Constants { strong_convexity: convexity, ..GOOD };
            assert!(step.mul_add(convexity, constants.contraction(step) - 1.0) >= 0.0, "{step}");
            above_nearest += u32::from(constants.contraction(step) > 1.0 - step * convexity);
        }
        assert!(above_nearest > 50, "{above_nearest}");
    }
}
