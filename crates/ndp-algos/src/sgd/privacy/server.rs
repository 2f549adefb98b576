//! What training with a server, or without any trust, costs.

use super::Statement;
use crate::Error;
use crate::sgd::federated::FederatedSgd;
use crate::sgd::objective::{Constants, Domain};
use ndp_dp::baselines;
use ndp_dp::federated::{ContractionFactor, FederatedRun, Parameters};
use ndp_dp::{ApproxDp, Delta, Gdp, Sigma, UpperBound};

/// Local differential privacy of one user with at most `contributions` gradients, each seen by
/// everybody: `μ = s √N / σ`, exact as a worst case, whatever is done with the gradients afterwards.
///
/// # Errors
/// [`Error::Unbounded`], [`Error::InvalidParameter`] for a user without contributions.
pub fn local(
    constants: &Constants,
    contributions: usize,
    sigma: Sigma,
    delta: Delta,
) -> Result<Statement, Error> {
    constants.require_bounded()?;
    if contributions == 0 {
        return Err(Error::InvalidParameter {
            name: "the number of contributions",
            condition: "be at least 1",
            value: 0.0,
        });
    }
    let mu = constants.sensitivity * (contributions as f64).sqrt() / sigma.get();
    Ok(Statement::Guaranteed {
        privacy: Gdp::new(mu)?.to_approx_dp(delta).into(),
        against: "everybody, even those who see every message",
    })
}

/// Centralized DP-SGD: a trusted curator draws one of `users` users uniformly in each of `steps` steps and
/// releases every noisy gradient. An `UpperBound` by subsampling.
///
/// # Errors
/// [`Error::Unbounded`], [`Error::InvalidParameter`].
pub fn central(
    constants: &Constants,
    users: usize,
    steps: usize,
    sigma: Sigma,
    delta: Delta,
) -> Result<Statement, Error> {
    constants.require_bounded()?;
    let lipschitz = constants.sensitivity / 2.0;
    let spent = baselines::central_approx_dp(users as u64, steps as u64, lipschitz, sigma, delta)?;
    Ok(Statement::Guaranteed { privacy: spent.into(), against: "everybody but the trusted curator" })
}

/// Federated SGD with only the last model released: the smaller of amplification by iteration and
/// contraction, an `UpperBound` at this `ε`.
///
/// # Errors
/// [`Error::NoGuarantee`] without a ball to project on; [`Error::Unbounded`], [`Error::StepTooLong`],
/// [`Error::InvalidParameter`].
pub fn federated(
    run: &FederatedSgd,
    constants: &Constants,
    users: usize,
    sigma: Sigma,
    delta: Delta,
) -> Result<Statement, Error> {
    let Domain::Ball(radius) = run.domain else {
        return Err(Error::NoGuarantee("the contraction bound needs models projected on a ball"));
    };
    constants.require_bounded()?;
    constants.require_nonexpansive(run.step_size)?;
    let parameters = Parameters {
        users: users as u64,
        batch: run.batch as u64,
        lipschitz: constants.sensitivity / 2.0,
        radius,
        step: run.step_size,
        sigma: sigma.get(),
    };
    let factor =
        ContractionFactor::strongly_convex(run.step_size, constants.strong_convexity, constants.smoothness)?;
    let epsilon = FederatedRun::new(parameters, factor)?.epsilon(delta).into_value();
    let privacy = UpperBound::new(ApproxDp::new(epsilon, delta.get())?);
    Ok(Statement::Guaranteed {
        privacy: privacy.into(),
        against: "readers of the last model (not the users of a round, who see its model)",
    })
}
