//! Amplification by iteration: the noise that later steps add to an iterate hides what an earlier step
//! contributed.
//!
//! The protocol is projected noisy gradient descent `x ← Π(x − η(∇f(x) + Z))`, `Z ~ N(0, σ² I)`, on a convex
//! closed set, with convex, `L`-Lipschitz, `β`-smooth losses and `0 < η ≤ 2/β`, so that every step without
//! its noise is nonexpansive. Clipping gradients breaks this in general: `L` must be a true Lipschitz
//! constant of the exposed user's loss, both before and after the change. Neighbors differ in all the data of
//! one user.
//!
//! * [`NoisyStep`]: one contribution seen after `g` further noisy steps, for convex and strongly convex
//!   losses.
//! * [`CappedWalk`]: the whole walk on the complete graph with at most `N` contributions,
//!   `D_α ≤ N ln φ/(α − 1)`, whatever its length.
//! * [`UncappedWalk`], [`WalkDescent`]: the same without a cap, computed for the given number `T` of steps.
//!
//! # References
//! - Feldman, Mironov, Talwar and Thakurta, *Privacy amplification by iteration*, 2018, arXiv:1808.06651:
//!   Theorem 22 (shifted divergence), Theorem 23.
//! - Bok, Su and Altschuler, *Shifted interpolation for differential privacy*, 2024, arXiv:2403.00278
//!   (the form in Gaussian DP).
//! - Cyffers and Bellet, *Privacy amplification by decentralization*, 2022, arXiv:2012.05326: Section 4.2,
//!   whose Lemma 1 the theorem of [`CappedWalk`] replaces.

mod capped;
mod geometric;
mod recursion;
mod run;
mod step;

pub use capped::CappedWalk;
#[cfg(test)]
pub(crate) use geometric::Geometric;
pub use run::{FirstHolder, LastIterate, UncappedWalk, WalkDescent};
pub use step::NoisyStep;
#[cfg(test)]
pub(crate) use step::absorption_cost;
