//! A token that walks on a graph, and what each node learns about each other.
//!
//! A run has two halves: the path, which does not depend on any data ([`TokenWalk`], [`Path`](super::Path)),
//! and the values on it ([`TokenAveraging`] here, gradients in [`sgd`](crate::sgd)). Losses go from an
//! exposed node `u` to an observer `v`, who may know the whole path:
//!
//! | question | answer | grade |
//! |---|---|---|
//! | what has this path cost so far? | [`Path::cost`](super::Path::cost), an average on it [`OnPath`](super::OnPath) | `UpperBound`, `Exact` for constant gradients |
//! | what does a walk of `T` steps cost, towards one node or several? | [`TokenWalk`] as a [`Protocol`](ndp_account::Protocol), [`TokenWalk::loss`] | `UpperBound` |
//! | ... with the result published? | [`WalkOptions::final_token`] | `UpperBound` |
//! | what does one contribution cost? | [`contribution::sharp`] | `UpperBound` |
//! | ... under a cap, for very many steps? | [`WalkOptions::cap`], [`WalkOptions::horizon`] | `UpperBound` |
//! | ... towards the only neighbor of `u`? | [`pendant::loss`] | `Exact` |
//! | which `ε` and `δ`, between two proven ends? | [`TokenWalk::cost_law`] | `Exact` or `UpperBound` |
//! | what can an observer do who does not know the path? | [`HiddenPath`] | `Estimate` |
//! | how much noise does a target need? | [`least_noise`](ndp_account::least_noise) | `UpperBound` |
//! | what do the papers print? | `ndp_printed::walk` | `Printed` |
//! | how accurate is it? | [`TokenAveraging::mean_squared_error`] | exact |
//!
//! Noise is measured by a noise multiplier: its standard deviation over the sensitivity of a
//! contribution. [`LocalLoss`] holds it with the Rényi order.
//!
//! # Examples
//! ```
//! use ndp_algos::walk::graph::{LocalLoss, TokenWalk, WalkOptions};
//! use ndp_dp::{NoiseMultiplier, Order};
//! use ndp_graph::{GossipMatrix, TransitionMatrix, generators, hitting::Start};
//! let w = TransitionMatrix::from(&GossipMatrix::metropolis(&generators::hypercube_graph(6)?));
//! let capped = WalkOptions { cap: Some(12), ..WalkOptions::default() };
//! let walk = TokenWalk::new(&w, Start::Uniform, 600)?.with_options(capped)?;
//! let local = LocalLoss { order: Order::new(2.0)?, noise: NoiseMultiplier::new(4.0)? };
//! let (near, far) = (walk.loss(0, &[1], local)?, walk.loss(0, &[63], local)?);
//! assert!(far.value() < near.value() && *near.value() < 12.0 * local.cost());
//! # Ok::<(), ndp_account::Error>(())
//! ```

mod accountant;
mod attack;
mod averaging;
mod averaging_error;
mod by_cost;
pub(crate) mod coalition;
pub mod contribution;
#[cfg(test)]
mod convergence;
mod cost_law;
mod laws;
mod local;
mod long_walk;
pub(crate) mod moment_bound;
#[cfg(test)]
mod oracle;
mod path;
mod path_cost;
pub mod pendant;
pub(crate) mod renewal;
mod series;

pub use attack::{HiddenLosses, HiddenPath, Possible};
pub use averaging::{AveragingRun, Steps, TokenAveraging};
pub(crate) use by_cost::{ByCost, Quick, least_noise_by_law, seen_to_hold};
pub use cost_law::CostLaw;
pub(crate) use local::KnownLosses;
pub use local::LocalLoss;
pub use path::{EdgeRule, TokenWalk, WalkOptions};
pub use path_cost::PathCost;

/// The nodes from which the walk may come to `node` in one step, in ascending order; `node` itself if it may
/// stay.
fn origins(walk: &ndp_graph::hitting::Walk, node: usize) -> impl Iterator<Item = usize> {
    let (columns, weights) = walk.incoming().row(node);
    columns.iter().zip(weights).filter(|&(_, &w)| w > 0.0).map(|(&x, _)| x as usize)
}
