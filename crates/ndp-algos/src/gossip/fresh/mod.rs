//! Gossip with fresh noise at every step: the recommended repair of Muffliato.
//!
//! `x^0 = x + τ_0 z^0`, then `x^t = W x^{t-1} + τ_t z^t` for `t = 1..T-1`, and the output is `x^T = W
//! x^{T-1}`. Every node perturbs its own state before it sends it, so that what an observer has seen never
//! determines what it has not seen, and the loss decays with the distance again.
//!
//! | question | item | grade |
//! | --- | --- | --- |
//! | what does a coalition learn about every node? | [`FreshNoiseGossip`] as a [`LinearProtocol`](ndp_account::LinearProtocol::coalition_loss) | `Exact`, certified |
//! | how far from the mean does it end? | [`GossipProtocol::mean_squared_error`](crate::gossip::GossipProtocol::mean_squared_error) | `Exact` |
//! | which noises have the least error for a given loss? | [`optimize()`], a convex problem | - |
//! | how is a share of the noise spread evenly? | [`flat_variances`] | - |

pub mod optimize;
mod protocol;
mod schedule;

pub use optimize::{Optimized, optimize};
pub use protocol::FreshNoiseGossip;
pub use schedule::flat_variances;
