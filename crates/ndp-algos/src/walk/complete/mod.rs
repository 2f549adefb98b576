//! The token on the complete graph: at each of `T` steps it is at a node that is drawn uniformly among all
//! `n`.
//!
//! The node that holds the token may hold it again at the next step. The tokens that node `v` receives divide
//! the walk into segments. In a segment of `m` foreign steps, each step belongs to each of the other `n − 1`
//! nodes with probability `1/(n−1)`, independently.
//!
//! Whom the guarantees protect against: an observer `v` (or `c` colluding nodes that share what they see),
//! who knows its own data and its own noise, the times at which it holds the token, and what it receives
//! then. Each accountant says whether the observer may also know *who* acted in between.
//!
//! | question | answer | grade |
//! |---|---|---|
//! | what does an observer who may know the path learn from a sum? | [`CompleteSum`] as a [`Protocol`](ndp_account::Protocol) | upper bound |
//! | and one who does not, if data are constant? | [`CompleteSum::constant_data`],
//! [`Observer::with_hidden_senders`] | upper bound |
//! | what does an observer learn from a histogram? | [`CompleteHistogram`] as a protocol, senders hidden or
//! known | upper bound |
//! | what would it learn if every contribution were released by itself? |
//! [`Protocol::local_bound`](ndp_account::Protocol::local_bound) | upper bound |
//! | what does it learn at one reception, if senders are hidden? | [`CompleteSum::reception_delta`],
//! [`CompleteHistogram::reception_delta`] | upper bound |
//! | what does it learn along a path that was taken? | [`OnPath`](super::OnPath), all pairs
//! [`realised::path_units`] | exact; an estimate over paths |
//!
//! [`Observer::with_hidden_senders`]: ndp_account::Observer::with_hidden_senders
//!
//! # Examples
//! Fifty nodes, a hundred visits each on average: what one node sees costs less than what all nodes see.
//! ```
//! use ndp_account::{Observer, Protocol};
//! use ndp_algos::walk::complete::{CompleteSum, CompleteWalk};
//! use ndp_algos::walk::{Bounds, TokenNoise};
//! use ndp_dp::{Delta, NoiseMultiplier, Sigma};
//! let noise = TokenNoise::gaussian(Sigma::new(20.0)?);
//! let sum = CompleteSum { walk: CompleteWalk::new(50, 5000)?, bounds: Bounds::new(0.0, 1.0)?, noise, constant_data: false };
//! let (observer, noise, delta) = (Observer::node(0), NoiseMultiplier::new(20.0)?, Delta::new(1e-6)?);
//! let by_one = sum.account(&observer)?.profile(1, noise)?.epsilon(delta)?;
//! let by_all = sum.local_bound(&observer)?.profile(1, noise)?.epsilon(delta)?;
//! assert!(by_one.value().epsilon() < 0.3 * by_all.value().epsilon());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # References
//! Cyffers and Bellet, *Privacy amplification by decentralization*, AISTATS 2022, arXiv:2012.05326: Section
//! 4, Algorithms 3 and 5, Theorems 3 and 6, Appendices D, E, G.

mod accountant;
mod averaged_loss;
mod constant_data;
mod cost_law;
#[cfg(test)]
mod enumeration;
mod guarantee;
mod histogram;
mod histogram_loss;
mod linear;
mod options;
pub mod realised;
mod reception_loss;
mod releases;
mod segment_moment;
mod steps;
mod sum;
mod walk;

pub use histogram::CompleteHistogram;
pub use options::CompleteOptions;
pub(in crate::walk) use releases::CappedReleases;
pub use sum::CompleteSum;
pub use walk::CompleteWalk;
