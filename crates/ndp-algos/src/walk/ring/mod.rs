//! The token on a directed ring, passed `K` times: nodes `0, 1, …, n−1`, then `0` again.
//!
//! The order of the nodes is public. A node receives the token once per round; between two receptions it
//! knows that every other node acted once.
//!
//! - [`RingSum`]: the sum of real contributions, noise on every `(n−1)`-th step or a share on every step;
//!   as a [`Protocol`](crate::Protocol) it has an exact account for Gaussian noise; noise of any law is accounted for by
//!   [`ReleasedSum`](crate::walk::ReleasedSum).
//! - [`RingHistogram`]: counts of labels, each reported by randomized response.
//! - [`pan_private`]: any online algorithm as a protocol of one round.
//!
//! # References
//! Cyffers and Bellet, *Privacy amplification by decentralization*, AISTATS 2022, arXiv:2012.05326: Section 3,
//! Algorithms 1 and 2, Theorems 1 and 2, Appendices A to C.

mod accountant;
mod histogram;
mod histogram_loss;
mod linear;
mod loss;
pub mod pan_private;
pub mod printed;
mod sum;

pub use histogram::RingHistogram;
pub use sum::{Placement, RingSum};
