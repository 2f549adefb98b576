//! What training costs in privacy.
//!
//! | question | item | grade |
//! | --- | --- | --- |
//! | do the data keep what their users promise? | [`DataBounds::check`] | - |
//! | what do these observers learn at this noise? | [`Accountant::statement`], [`Accountant::statement_about`] | `UpperBound`; `Exact` for the local model |
//! | what do they learn on average? | [`Accountant::mean_statement`] | `UpperBound`; `Exact` for the local model |
//! | what does an observer of gossip learn, whatever the noise? | [`Accountant::loss`] | `UpperBound` |
//! | how much noise does a target need? | [`Accountant::noise_for`] | that of the statement |
//! | which noise was published for a mean loss? | `ndp_printed::training` | `Printed`: no guarantee |
//!
//! An [`Accountant`] is built once from a training and those who watch it ([`Watched`]): that is where first
//! visits are followed and views projected. It then answers for any noise. What it answers is a
//! [`Statement`], which says whom it protects against.

mod accountant;
mod gossip;
mod server;
mod walk;

pub use accountant::{Accountant, Watched};
pub(crate) use gossip::GossipObserver;
pub(crate) use server::{central, federated, local};
pub(crate) use walk::{WalkPairs, complete_walk};

use crate::sgd::dataset::Dataset;
use crate::sgd::positive;
use ndp_account::Error;
use ndp_account::parts::ensure;
use ndp_dp::{ApproxDp, Guarantee, Order, Sigma, UpperBound, calibration};
use ndp_numeric::decimal::{Round, fixed};
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
/// # Ok::<(), ndp_account::Error>(())
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
/// use ndp_dp::{ApproxDp, UpperBound};
/// let privacy = UpperBound::new(ApproxDp::new(1.5, 1e-6)?).into();
/// let shown = Statement::Guaranteed { privacy, against: "the other users" }.to_string();
/// assert_eq!(shown, "(1.5000, 1e-6)-differentially private against the other users [upper-bound]");
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
        // Nothing is shown smaller than it is; δ is the number that was asked for.
        let pair = |p: &ApproxDp| format!("({}, {:e})", fixed(p.epsilon(), 4, Round::Up), p.delta());
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
                let (value, grade) = (fixed(*loss.value(), 4, Round::Up), loss.grade());
                write!(f, "mean Rényi loss {value} of order {order} over {over} [{grade}]")
            }
        }
    }
}

/// The smallest noise whose statement meets a target, the verified end of the search: the `ε` of a guarantee,
/// or the mean loss over pairs in nats.
///
/// # Errors
/// [`Error::InvalidParameter`] unless `target` is positive and finite; the accountant's own error.
pub(crate) fn calibrate(
    target: f64,
    mut statement: impl FnMut(Sigma) -> Result<Statement, Error>,
) -> Result<Sigma, Error> {
    positive("the target", target)?;
    search(target, |sigma| match statement(sigma)? {
        Statement::Guaranteed { privacy, .. } => Ok(privacy.map(|p| p.epsilon())),
        Statement::MeanLoss { loss, .. } => Ok(loss),
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
