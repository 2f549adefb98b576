//! The token on a directed ring, which goes around `K` times: nodes `0, 1, …, n−1`, then `0` again.
//!
//! The order of the nodes is public. A node receives the token once per round; between two receptions it
//! knows that every other node acted once.
//!
//! | question | answer | grade |
//! |---|---|---|
//! | what do observers learn from a sum, noise on every `(n−1)`-th step or a share on every step? | [`RingSum`] as a [`LinearProtocol`](ndp_account::LinearProtocol) and so as a [`Protocol`](ndp_account::Protocol) | exact, for Gaussian noise |
//! | ... with noise of another law? | [`ReleasedSum`](crate::walk::ReleasedSum) | upper bound |
//! | ... from counts of labels, each reported by randomized response? | [`RingHistogram`] as a protocol |
//! upper bound |
//! | ... from any online algorithm in one round? | [`pan_private`] | upper bound |
//! | what does the paper print? | `ndp_printed::ring` | printed |
//!
//! # References
//! Cyffers and Bellet, *Privacy amplification by decentralization*, AISTATS 2022, arXiv:2012.05326: Section
//! 3, Algorithms 1 and 2, Theorems 1 and 2, Appendices A to C.

mod accountant;
mod histogram;
mod histogram_loss;
mod linear;
pub mod pan_private;
pub(crate) mod sum;
mod sum_loss;

pub use histogram::RingHistogram;
pub use sum::{Placement, RingSum};
