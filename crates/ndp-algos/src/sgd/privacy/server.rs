//! The cost of training with a server.

use crate::sgd::federated::FederatedSgd;
use crate::sgd::objective::{Constants, Domain};
use crate::sgd::walk::{Route, WalkSgd};
use ndp_account::Error;
use ndp_dp::baselines;
use ndp_dp::federated::{ContractionFactor, FederatedDescent, FederatedParameters};
use ndp_dp::{ApproxDp, Delta, Mechanism, Sigma, UpperBound};

/// Centralized DP-SGD: a trusted curator draws one of `users` users uniformly in every step and
/// releases every noisy gradient. An `UpperBound` by subsampling, against everybody but the curator. It needs
/// gradients of all users that are at most the sensitivity apart at one model, since a user hides among the
/// others: this is [`Constants::sensitivity`].
///
/// # Errors
/// [`Error::NoGuarantee`] for a run whose steps are not drawn in this way: another route than the complete
/// graph, a given start, or a cap, with which a step depends on earlier draws;
/// [`Error::Unbounded`](crate::Error::Unbounded), [`Error::InvalidParameter`].
pub(crate) fn central(
    run: &WalkSgd,
    constants: &Constants,
    users: usize,
    sigma: Sigma,
    delta: Delta,
) -> Result<UpperBound<ApproxDp>, Error> {
    require_drawn(run)?;
    constants.require_bounded()?;
    let lipschitz = constants.sensitivity / 2.0;
    Ok(baselines::central_approx_dp(users as u64, run.steps as u64, lipschitz, sigma, delta)?)
}

/// Checks that every step of the run draws its user uniformly from all users, independently of earlier draws.
///
/// # Errors
/// As [`central`].
pub(crate) fn require_drawn(run: &WalkSgd) -> Result<(), Error> {
    match (&run.route, run.start, run.cap) {
        (Route::Complete, None, None) => Ok(()),
        (Route::Graph(_), ..) => {
            Err(Error::NoGuarantee("subsampling needs every user to be drawn uniformly in every step"))
        }
        (_, Some(_), _) => Err(Error::NoGuarantee("subsampling does not cover a first user who is given")),
        (.., Some(_)) => Err(Error::NoGuarantee(
            "a cap makes steps depend on who was drawn before, which subsampling does not cover",
        )),
    }
}

/// Federated SGD with only the last model released: the smaller of the bounds by amplification by iteration
/// and by contraction, an `UpperBound` at this `ε`. It protects against readers of the last model, but not
/// against the users of a round, who see its model.
///
/// # Errors
/// [`Error::NoGuarantee`] without a ball to project on; [`Error::Unbounded`](crate::Error::Unbounded),
/// [`Error::StepTooLong`](crate::Error::StepTooLong), [`Error::InvalidParameter`].
pub(crate) fn federated(
    run: &FederatedSgd,
    constants: &Constants,
    users: usize,
    sigma: Sigma,
    delta: Delta,
) -> Result<UpperBound<ApproxDp>, Error> {
    let radius = require_projected(run, constants)?;
    let parameters = FederatedParameters {
        users: users as u64,
        batch: run.batch as u64,
        lipschitz: constants.sensitivity / 2.0,
        radius,
        step: run.step_size,
        sigma: sigma.get(),
    };
    let factor =
        ContractionFactor::strongly_convex(run.step_size, constants.strong_convexity, constants.smoothness)?;
    let epsilon = FederatedDescent::new(parameters, factor)?.epsilon(delta).into_value();
    Ok(UpperBound::new(ApproxDp::new(epsilon, delta.get())?))
}

/// The radius of the ball on which models are projected, if the theorem covers the run.
///
/// # Errors
/// As [`federated`].
pub(crate) fn require_projected(run: &FederatedSgd, constants: &Constants) -> Result<f64, Error> {
    let Domain::Ball(radius) = run.domain else {
        return Err(Error::NoGuarantee("the contraction bound needs models projected on a ball"));
    };
    constants.require_bounded()?;
    constants.require_nonexpansive(run.step_size)?;
    Ok(radius)
}
