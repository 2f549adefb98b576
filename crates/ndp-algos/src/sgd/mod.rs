//! Private stochastic gradient descent: by a walking token, by gossip, by a server.

pub mod accountant;
pub mod constants;
pub mod dataset;
pub mod federated;
pub mod gossip;
pub mod history;
pub mod objective;
pub mod privacy;
mod rounds;
mod synthetic;
pub mod walk;

pub use accountant::{PrivateTraining, Training};
pub use dataset::{Dataset, Deal, Users};
pub use history::{Evaluation, History};
pub use objective::{Constants, Domain, Linear, LinearLoss, Logistic, MeanEstimation, Objective, Squared};
pub use privacy::{Accountant, DataBounds, GossipObserver, Statement, Trained, WalkPairs};
pub use synthetic::Synthetic;

use crate::Error;

/// Nothing if `value` is positive and finite.
fn positive(name: &'static str, value: f64) -> Result<(), Error> {
    if 0.0 < value && value.is_finite() {
        Ok(())
    } else {
        Err(Error::InvalidParameter { name, condition: "be positive and finite", value })
    }
}

/// Nothing if `objective` may be trained on `data` in `domain` and measured by `evaluation`.
fn check_problem<O: Objective>(
    objective: &O,
    data: &Dataset,
    domain: Domain,
    evaluation: Option<&Evaluation>,
) -> Result<(), Error> {
    domain.check()?;
    objective.check(data)?;
    let features = data.feature_count();
    evaluation.map_or(Ok(()), |e| e.check(features, objective.dimension(features)))
}
