//! Private stochastic gradient descent: by a walking token, by gossip, by a server.
//!
//! | question | module | grade |
//! | --- | --- | --- |
//! | which examples are in a file? | [`table`] | - |
//! | who holds which examples, and which bounds do users promise for them? | [`dataset`],
//! [`privacy::DataBounds`] | - |
//! | what is minimised, and what is known of its gradients? | [`objective`], [`constants`] | - |
//! | how is a model trained by a walk, by gossip, by a server? | [`walk`], [`gossip`], [`federated`] | - |
//! | how good is it along the way? | [`history`] | - |
//! | what does training cost, and how much noise does a target need? | [`training`], [`privacy`] | `Exact` (local model), `UpperBound` |
//! | which noise do the papers print? | `ndp_printed::training` | `Printed`: no guarantee |

pub mod constants;
pub mod dataset;
pub mod federated;
pub mod gossip;
pub mod history;
pub mod objective;
pub mod privacy;
mod rounds;
pub mod table;
pub mod training;
pub mod walk;

pub use dataset::{Dataset, Deal, Users};
pub use history::{Evaluation, History, Trained};
pub use objective::{Constants, Domain, Linear, LinearLoss, MeanEstimation, Objective};
pub use privacy::{DataBounds, GossipObserver};
pub use table::{Table, TableOptions};
pub use training::{PrivateTraining, Training};

use ndp_account::Error;

/// Checks that `value` is positive and finite.
#[doc(hidden)]
pub fn positive(name: &'static str, value: f64) -> Result<(), Error> {
    if 0.0 < value && value.is_finite() {
        Ok(())
    } else {
        Err(Error::InvalidParameter { name, condition: "be positive and finite", value })
    }
}

/// Checks that `objective` can be trained on `data` in `domain` and measured by `evaluation`.
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
