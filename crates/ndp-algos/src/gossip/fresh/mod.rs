//! Gossip with fresh noise at every step: the recommended repair of Muffliato.
//!
//! `x^0 = x + τ_0 z^0`, then `x^t = W x^{t-1} + τ_t z^t` for `t = 1..T-1`, and the output
//! `x^T = W x^{T-1}`. Every node perturbs its own state before it sends it, so what an observer has
//! seen never determines what it has not, and the loss decays with the distance again.
//!
//! The losses are exact ([`LinearProtocol::coalition_loss`](crate::LinearProtocol::coalition_loss)), so is the error of the average
//! ([`GossipProtocol::mean_squared_error`](crate::gossip::GossipProtocol::mean_squared_error)), and the best noise for a given loss solves a convex
//! problem ([`optimize()`]).

pub mod optimize;
mod protocol;
mod schedule;

pub use optimize::{Optimized, Pairs, optimize};
pub use protocol::FreshNoiseGossip;
pub use schedule::NoiseSchedule;
