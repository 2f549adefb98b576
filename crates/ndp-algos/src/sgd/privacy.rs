//! What training costs in privacy, and results that cannot be shown without it.
//!
//! A [`Statement`] says what a run guarantees and against whom, or that it guarantees nothing. A
//! [`Trained`] result is a run with its statement: displaying it displays both.

use crate::Error;
use crate::sgd::dataset::Dataset;
use crate::sgd::federated::FederatedSgd;
use crate::sgd::objective::{Constants, Domain};
use crate::sgd::positive;
use crate::sgd::walk::{OverCap, Route, StepSize, Update, WalkSgd};
use ndp_dp::federated::{ContractionFactor, FederatedRun, Parameters};
use ndp_dp::iteration::{CappedWalk, FinalToken, NoisyStep, WalkRun as WalkAccount};
use ndp_dp::{ApproxDp, Delta, Gdp, Guarantee, Mechanism, Printed, Sigma, UpperBound};
use ndp_dp::{baselines, calibration, conversion};
use serde::Serialize;
use std::fmt;

/// What is promised of every user's data, before anyone has looked at them: the bounds from which
/// sensitivities follow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DataBounds {
    /// Largest norm of a row of features.
    pub feature_norm: f64,
    /// Largest size of a label.
    pub label_size: f64,
}

impl DataBounds {
    /// Rows of norm at most 1 and labels ±1.
    pub const UNIT: Self = Self { feature_norm: 1.0, label_size: 1.0 };

    /// Nothing if the data keep the promise.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] naming the bound that is broken, and by what.
    pub fn check(&self, data: &Dataset) -> Result<(), Error> {
        let (norm, label) = data.bounds();
        // A unit row may exceed 1 by rounding; the excess changes no digit that is reported.
        if norm > self.feature_norm * (1.0 + 1e-12) {
            return Err(Error::InvalidParameter {
                name: "the largest norm of a row",
                condition: "be at most the promised bound",
                value: norm,
            });
        }
        if label > self.label_size {
            return Err(Error::InvalidParameter {
                name: "the largest label",
                condition: "be at most the promised bound",
                value: label,
            });
        }
        Ok(())
    }
}

/// What a training run costs in privacy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum Statement {
    /// A proven guarantee.
    Guaranteed {
        /// `(ε, δ)` and its grade; neighbors differ in all the data of one user.
        privacy: Guarantee<ApproxDp>,
        /// Whom it protects against.
        against: &'static str,
    },
    /// A published number, kept to reproduce a published curve: no guarantee.
    Printed {
        /// `(ε, δ)` as published.
        privacy: Printed<ApproxDp>,
        /// Why it is no guarantee.
        reason: &'static str,
    },
    /// No noise, no privacy.
    NotPrivate,
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
            Self::Printed { privacy, reason } => {
                write!(f, "published as {}, which is no guarantee: {reason} [printed]", pair(privacy.value()))
            }
            Self::NotPrivate => f.write_str("not private: no noise was added"),
        }
    }
}

/// A run and what it costs in privacy.
#[derive(Clone, Debug, PartialEq)]
pub struct Trained<R> {
    run: R,
    statement: Statement,
}

impl<R> Trained<R> {
    /// Ties a run to its statement. Whoever calls this answers for the pairing.
    pub const fn new(run: R, statement: Statement) -> Self {
        Self { run, statement }
    }

    /// What training left.
    pub const fn run(&self) -> &R {
        &self.run
    }

    /// What it cost.
    pub const fn statement(&self) -> &Statement {
        &self.statement
    }
}

impl<R: fmt::Debug> fmt::Display for Trained<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:?}", self.run)?;
        write!(f, "privacy: {}", self.statement)
    }
}

/// A walk on the complete graph with its noise: what `colluders` users who pool what they see learn
/// about any other user.
///
/// Capped, constant steps: `D_α ≤ N ln φ((c+1)/n, θ)/(α-1)`, `θ = α(α-1) s²/(2σ²)`, `s` the sensitivity of a
/// gradient. Uncapped, or with decreasing steps: exact in the number of steps. Both reveal the path,
/// so neither the path nor the times need be secret, and cover publication of the final model.
/// An `UpperBound`; converted to `(ε, δ)` at the best order.
///
/// # Errors
/// [`Error::NoGuarantee`] naming the condition that fails: another route than the complete graph,
/// clipping after noise, or forwarding without noise beyond the cap; [`Error::Unbounded`],
/// [`Error::StepTooLong`], [`Error::InvalidParameter`].
pub fn complete_walk(
    walk: &WalkSgd<'_>,
    constants: &Constants,
    users: usize,
    colluders: usize,
    sigma: Sigma,
    delta: Delta,
) -> Result<Statement, Error> {
    if !matches!(walk.route, Route::Complete) {
        return Err(Error::NoGuarantee("this accountant is for walks on the complete graph"));
    }
    require_amplifiable(walk, constants)?;
    let (n, c) = (users as u64, colluders as u64);
    let step = NoisyStep::new(constants.sensitivity / 2.0, sigma)?;
    let account = WalkAccount::new(walk.steps as u64, n, c, FinalToken::Published)?;
    let best = match (walk.cap, walk.step_size) {
        (Some(cap), StepSize::Constant(_)) => {
            let capped = CappedWalk::new(cap as u64, step, n, c)?;
            conversion::best_epsilon(|order| capped.rdp(order).into_upper_bound(), delta)
        }
        (_, StepSize::Constant(_)) => {
            conversion::best_epsilon(|order| infinite_on_error(account.rdp(&step, order)), delta)
        }
        (_, StepSize::InverseRoot(_)) => {
            let sizes: Vec<f64> = (0..walk.steps).map(|t| walk.step_size.at(t)).collect();
            let curve = |order: ndp_dp::Order| {
                infinite_on_error(account.decreasing_log_mgf(step.theta(order), &sizes))
                    .map(|log_mgf| log_mgf / (order.get() - 1.0))
            };
            conversion::best_epsilon(curve, delta)
        }
    };
    Ok(Statement::Guaranteed {
        privacy: best.map(|converted| converted.approx_dp).into(),
        against: "the other users of a walk on the complete graph, each knowing the path and the final model",
    })
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
pub fn require_amplifiable(walk: &WalkSgd<'_>, constants: &Constants) -> Result<(), Error> {
    constants.require_bounded()?;
    constants.require_nonexpansive(walk.step_size.longest())?;
    match (walk.update, walk.over_cap, walk.cap) {
        (Update::AsReleased { .. }, ..) => Err(Error::NoGuarantee(
            "clipping after noise is not a non-expansive step: no amplification theorem covers it",
        )),
        (_, OverCap::ForwardUnchanged, Some(_)) => Err(Error::NoGuarantee(
            "users beyond the cap must add noise: forwarding unchanged removes what protects the others",
        )),
        _ => Ok(()),
    }
}

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

/// The smallest noise whose statement meets `epsilon`, the verified end of the search.
///
/// `statement` is one of this module's accountants with everything but the noise filled in.
///
/// # Errors
/// [`Error::InvalidParameter`] unless `epsilon` is positive and finite; the accountant's own error;
/// [`Error::NoGuarantee`] when the accountant gives none.
pub fn calibrate(
    epsilon: f64,
    mut statement: impl FnMut(Sigma) -> Result<Statement, Error>,
) -> Result<Sigma, Error> {
    positive("epsilon", epsilon)?;
    // The search speaks the language of ndp-dp; an error of ours is kept and returned.
    let mut failure = None;
    let found = calibration::smallest_sigma(epsilon, |sigma| match statement(sigma) {
        Ok(Statement::Guaranteed { privacy, .. }) => Ok(privacy.map(|p| p.epsilon())),
        Ok(_) => {
            failure = Some(Error::NoGuarantee("noise is calibrated to guarantees only"));
            Ok(UpperBound::new(f64::INFINITY).into())
        }
        Err(error) => {
            failure = Some(error);
            Ok(UpperBound::new(f64::INFINITY).into())
        }
    });
    match (found, failure) {
        (Ok(calibrated), _) => Ok(calibrated.parameter),
        (Err(_), Some(error)) => Err(error),
        (Err(error), None) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sgd::objective::{Linear, Logistic, Objective, Squared};
    use crate::sgd::walk::Start;

    const FIG2: WalkSgd<'_> = WalkSgd {
        route: Route::Complete,
        start: Start::Uniform,
        steps: 20_000,
        step_size: StepSize::Constant(0.034),
        domain: Domain::Unbounded,
        cap: Some(12),
        over_cap: OverCap::NoiseOnly,
        update: Update::Sound,
    };

    fn epsilon(statement: &Statement) -> f64 {
        match statement {
            Statement::Guaranteed { privacy, .. } => privacy.value().epsilon(),
            _ => f64::NAN,
        }
    }

    fn logistic() -> Constants {
        Linear::new(Logistic).constants(1.0, 1.0, Domain::Unbounded)
    }

    /// The noise levels of the papers' experiment at `n = 2000`, 12 contributions, `δ = 1e-6`: walk 1.178 and
    /// 8.12, local 3.749 and 29.27 for `ε` = 10 and 1 (four digits are given).
    #[test]
    fn published_noise_levels_meet_their_budgets() -> Result<(), Error> {
        let delta = Delta::new(1e-6)?;
        for (sigma, target) in [(1.178, 10.0), (8.12, 1.0)] {
            let spent = epsilon(&complete_walk(&FIG2, &logistic(), 2000, 1, Sigma::new(sigma)?, delta)?);
            assert!((spent / target - 1.0).abs() < 2e-3, "walk: {spent} for {target}");
        }
        for (sigma, target) in [(3.749, 10.0), (29.27, 1.0)] {
            let spent = epsilon(&local(&logistic(), 12, Sigma::new(sigma)?, delta)?);
            assert!((spent / target - 1.0).abs() < 1e-3, "local: {spent} for {target}");
        }
        Ok(())
    }

    /// The calibrated noise, put back into its accountant, meets the target; the central level is 0.931.
    #[test]
    fn calibrated_noise_meets_its_target() -> Result<(), Error> {
        let delta = Delta::new(1e-6)?;
        let constants = logistic();
        let server = FederatedSgd { batch: 20, step_size: 0.5, domain: Domain::ball(1.0)?, initial: None };
        type Accountant<'a> = Box<dyn Fn(Sigma) -> Result<Statement, Error> + 'a>;
        let accountants: [(Accountant<'_>, Option<f64>); 4] = [
            (Box::new(|s| complete_walk(&FIG2, &constants, 2000, 1, s, delta)), Some(1.178)),
            (Box::new(|s| local(&constants, 12, s, delta)), Some(3.749)),
            (Box::new(|s| central(&constants, 2000, 20_000, s, delta)), Some(0.931)),
            (Box::new(|s| federated(&server, &constants, 100, s, delta)), None),
        ];
        for (accountant, known) in accountants {
            let sigma = calibrate(10.0, &accountant)?;
            let spent = epsilon(&accountant(sigma)?);
            assert!(spent <= 10.0 && spent > 9.999, "{spent}");
            let known = known.unwrap_or(sigma.get());
            assert!((sigma.get() / known - 1.0).abs() < 2e-3, "{} is not {known}", sigma.get());
        }
        assert!(calibrate(0.0, |s| local(&constants, 12, s, delta)).is_err());
        assert!(calibrate(f64::NAN, |s| local(&constants, 12, s, delta)).is_err());
        assert_eq!(
            calibrate(1.0, |s| local(&constants, 0, s, delta)),
            local(&constants, 0, Sigma::new(1.0)?, delta).map(|_| Sigma::new(1.0).unwrap())
        );
        assert!(matches!(calibrate(1.0, |_| Ok(Statement::NotPrivate)), Err(Error::NoGuarantee(_))));
        Ok(())
    }

    /// More colluders, decreasing steps and no cap cost more; local privacy costs most.
    #[test]
    fn accountants_are_ordered() -> Result<(), Error> {
        let (sigma, delta) = (Sigma::new(4.0)?, Delta::new(1e-6)?);
        let small = WalkSgd { steps: 400, ..FIG2 };
        let walk = |walk: &WalkSgd<'_>, colluders| -> Result<f64, Error> {
            Ok(epsilon(&complete_walk(walk, &logistic(), 40, colluders, sigma, delta)?))
        };
        let capped = walk(&small, 1)?;
        assert!(capped < walk(&small, 5)?);
        assert!(capped <= epsilon(&local(&logistic(), 12, sigma, delta)?));
        let uncapped = WalkSgd { cap: None, ..small };
        assert!(
            walk(&uncapped, 1)? < walk(&WalkSgd { step_size: StepSize::InverseRoot(0.034), ..uncapped }, 1)?
        );
        Ok(())
    }

    #[test]
    fn conditions_that_fail_are_named() -> Result<(), Error> {
        let (sigma, delta) = (Sigma::new(4.0)?, Delta::new(1e-6)?);
        let fails = |walk: WalkSgd<'_>, constants: &Constants| {
            complete_walk(&walk, constants, 40, 1, sigma, delta).map(|_| ()).unwrap_err()
        };
        assert!(matches!(
            fails(WalkSgd { update: Update::AsReleased { clip: 0.4 }, ..FIG2 }, &logistic()),
            Error::NoGuarantee(_)
        ));
        assert!(matches!(
            fails(WalkSgd { over_cap: OverCap::ForwardUnchanged, ..FIG2 }, &logistic()),
            Error::NoGuarantee(_)
        ));
        let long = WalkSgd { step_size: StepSize::Constant(9.0), ..FIG2 };
        assert!(matches!(fails(long, &logistic()), Error::StepTooLong { .. }));
        let ridge = Linear::new(Squared).constants(1.0, 1.0, Domain::Unbounded);
        assert_eq!(fails(FIG2, &ridge), Error::Unbounded);
        assert!(complete_walk(&FIG2, &logistic(), 40, 40, sigma, delta).is_err());
        assert!(local(&logistic(), 0, sigma, delta).is_err());
        Ok(())
    }

    #[test]
    fn a_result_is_never_shown_without_its_statement() -> Result<(), Error> {
        let statement = local(&logistic(), 12, Sigma::new(29.27)?, Delta::new(1e-6)?)?;
        let shown = Trained::new("a model", statement).to_string();
        assert!(
            shown.contains("privacy: (1.0000, 1.0e-6)-differentially private against everybody"),
            "{shown}"
        );
        assert!(shown.contains("[exact]"), "{shown}");
        let printed = Statement::Printed {
            privacy: Printed::new(ApproxDp::new(1.0, 1e-6)?),
            reason: "noise is clipped",
        };
        assert!(printed.to_string().contains("no guarantee: noise is clipped [printed]"));
        assert!(Statement::NotPrivate.to_string().contains("not private"));
        Ok(())
    }
}
