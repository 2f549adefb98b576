//! The cost of training in privacy.
//!
//! | question | item | grade |
//! | --- | --- | --- |
//! | do the data satisfy the bounds that their users promise? | [`DataBounds::check`] | - |
//! | what does somebody learn, and how much noise does a target need? | [`PrivateTraining`](super::PrivateTraining), a protocol like all others: [`ndp_account::least_noise`] | `UpperBound`; `Exact` for the local model |
//! | what does an observer of gossip learn, in units of a round's gradient? | [`GossipObserver::loss`] | `UpperBound` |
//! | which noise do the papers print for a mean loss? | `ndp_printed::training` | `Printed`: no guarantee |

mod gossip;
mod server;
mod walk;

pub use gossip::GossipObserver;
pub(super) use server::{central, federated, require_drawn, require_projected};
pub(super) use walk::{
    AtNoise, WalkPair, law_on_complete_graph, on_complete_graph, require_complete, require_on_graph,
};

use crate::sgd::dataset::Dataset;
use ndp_account::Error;
use ndp_account::parts::ensure;
use serde::Serialize;

/// The bounds that are promised for every user's data, before anyone has looked at them. Sensitivities follow
/// from these bounds.
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
    /// Checks that the data satisfy these bounds.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] naming the bound that is broken, and by what.
    pub fn check(&self, data: &Dataset) -> Result<(), Error> {
        let (norm, label) = data.bounds();
        // A unit row may exceed 1 by rounding, which changes no digit that is reported.
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

#[cfg(test)]
mod tests;
