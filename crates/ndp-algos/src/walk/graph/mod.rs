//! A token that walks on a graph, and what each node learns about each other.
//!
//! A run has two halves: the path, which no data influence ([`TokenWalk`], [`WalkPath`]), and the
//! values on it ([`TokenAveraging`] here, gradients in [`sgd`](crate::sgd)). Losses go from an exposed
//! node `u` to an observer `v`, who may know the whole path:
//!
//! | question | module | grade |
//! |---|---|---|
//! | what has this path cost so far? | [`path_cost`] | `UpperBound`, `Exact` for constant gradients |
//! | what does a walk of `T` steps cost? | [`renewal`] | `UpperBound` |
//! | ... towards a coalition, or with the result published? | [`coalition`] | `UpperBound` |
//! | ... under a cap, or for one contribution? | [`contribution`] | `UpperBound` |
//! | ... under a cap, a walk of very many steps? | [`long_walk`] | `UpperBound` |
//! | ... towards the only neighbor of `u`? | [`pendant`] | `Exact` |
//! | how much noise for a target? | [`least_noise`](crate::accountant::least_noise) | `UpperBound` |
//! | what was printed? | [`printed`] | `Printed` |
//! | how accurate is it? | [`averaging_error`], [`convergence`] | errors, estimates |
//!
//! Noise is measured by a noise multiplier: its standard deviation over the sensitivity of a
//! contribution. [`LocalLoss`] holds it with the Rényi order.
//!
//! # Examples
//! ```
//! use ndp_algos::walk::graph::{LocalLoss, TokenWalk};
//! use ndp_dp::{NoiseMultiplier, Order};
//! use ndp_graph::{GossipMatrix, TransitionMatrix, generators, hitting::Start};
//! let w = TransitionMatrix::from(&GossipMatrix::metropolis(&generators::hypercube_graph(6)?));
//! let walk = TokenWalk::new(&w, Start::Uniform, 600)?.with_cap(12)?;
//! let local = LocalLoss::new(Order::new(2.0)?, NoiseMultiplier::new(4.0)?);
//! let (near, far) = (walk.loss(0, 1, local)?, walk.loss(0, 63, local)?);
//! assert!(far.value() < near.value() && *near.value() < 12.0 * local.cost());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod accountant;
pub mod averaging;
pub mod averaging_error;
pub mod coalition;
pub mod contribution;
pub mod convergence;
mod local;
pub mod long_walk;
#[cfg(test)]
mod oracle;
pub mod path;
pub mod path_cost;
pub mod pendant;
pub mod printed;
pub mod renewal;
mod series;

pub(in crate::walk) use accountant::log_likelihood_ratio;
pub use averaging::{AveragingOnPath, Sender, Steps, TokenAveraging, Visit, WalkTranscript};
pub use local::LocalLoss;
pub use long_walk::LongWalk;
pub use path::{EdgeRule, TokenWalk, WalkPath};
pub use path_cost::{Action, Interval, Odometer};
