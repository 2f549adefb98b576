//! Accounting with the law of the privacy loss itself, with proven bounds. Rényi divergences only summarize
//! this law, and an account by them is larger than it needs to be.
//!
//! Two data sets give a mechanism the output laws `P` and `Q`. The *privacy loss* is `L = ln dP/dQ` under
//! `P`, and all of the profile follows from its law: `δ(ε) = E[(1 − e^{ε−L})₊]`. When releases are composed,
//! each free to depend on the outputs of the ones before, losses add up and their laws convolve. A
//! [`LossLaw`] does this with a proven upper and a proven lower end, so that every answer says how tight it
//! is.
//!
//! # Example: training with noisy gradients
//!
//! Each record takes part in a step with probability 1/100, and there are a thousand steps with a noise
//! multiplier of 1:
//!
//! ```
//! use ndp_dp::{Delta, Gaussian, LossLaw, Mechanism, RdpAccountant, Sensitivity, Sigma, subsampling::PoissonGaussian};
//! let step = Gaussian { sensitivity: Sensitivity::new(1.0)?, sigma: Sigma::new(1.0)? };
//! let delta = Delta::new(1e-5)?;
//! let epsilon = LossLaw::sampled_gaussian(step, 0.01)?.times(1000)?.epsilon(delta);
//! assert!(1.8281 < epsilon.lower() && epsilon.upper() < 1.8283);
//! // By Rényi divergences the same training costs 15 per cent more.
//! let by_renyi = RdpAccountant::default().compose(&PoissonGaussian::new(step, 0.01)?, 1000).epsilon(delta);
//! assert!(*by_renyi.value() > 2.1);
//! # Ok::<(), ndp_dp::Error>(())
//! ```
//!
//! [`LossLaw::compose`] composes different releases, [`LossLaw::profile`] makes a [`Profile`](crate::Profile)
//! for ledgers and checks, and [`least_noise`] finds the least noise for a given `(ε, δ)`.
//! [`LossLaw::tradeoff`] is the trade-off curve between the two errors of a test (f-DP).
//!
//! # How
//!
//! * *Pairs.* Only pairs of laws that are proved to dominate their mechanism are used. For a record that is
//!   *replaced* in a sample of fixed size, the pair gives a bound ([`LossLaw::sampled_replaced`]). If only a
//!   Rényi curve is known, see [`LossLaw::from_renyi`]; if only some `(ε, δ)` are, [`LossLaw::of_bounds`]. If
//!   a relation has two directions (a record added, a record removed), each direction is composed on its own,
//!   and the answer is the larger one.
//! * *Grid.* The upper law of a pair connects the dots `(e^{ε_i}, δ(ε_i))`; the lower one is made of
//!   tangents. The error of both is of the order of the square of the step where the law is smooth. Atoms are
//!   placed on the grid.
//! * *Convolution.* Laws are tilted by `e^{θL}`, so that a small `δ` keeps its relative accuracy, and
//!   convolved by Fourier transforms whose error is bounded, not estimated. The bound is added to the upper
//!   end and subtracted from the lower one.
//!
//! Proofs are in the files of this module and, in short, in the section on privacy loss laws of
//! `docs/theory.md`.
//!
//! # References
//! - Zhu, Dong and Wang, *Optimal accounting of differential privacy via characteristic function*, AISTATS
//!   2022, arXiv:2106.08567: Theorem 10 (dominating pairs compose).
//! - Doroshenko, Ghazi, Kamath, Kumar and Manurangsi, *Connect the dots: tighter discrete approximations of
//!   privacy loss distributions*, PoPETs 2022, arXiv:2207.04380.
//! - Gopi, Lee and Wutschitz, *Numerical composition of differential privacy*, NeurIPS 2021,
//!   arXiv:2106.02848.

mod answers;
mod atoms;
mod composed;
mod curve;
mod direction;
mod enclosed;
mod enclosing;
mod gaussian;
mod grid_law;
mod laplace;
mod law;
mod mixture;
mod pair;
mod plan;
mod sampled;
mod stated;
mod tilted;
mod tradeoff;

#[cfg(test)]
mod tests;

pub use curve::least_noise;
pub use direction::Direction;
pub use enclosed::Enclosed;
pub use law::LossLaw;
pub use tradeoff::{Tradeoff, TradeoffPoint};
