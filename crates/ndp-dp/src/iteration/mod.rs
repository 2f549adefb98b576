//! Amplification by iteration: noise that later steps add to an iterate hides what an earlier step put in.
//!
//! The protocol is projected noisy gradient descent `x ← Π(x − η(∇f(x) + Z))`, `Z ~ N(0, σ² I)`, on a convex closed
//! set, with convex, `L`-Lipschitz, `β`-smooth losses and `0 < η ≤ 2/β`, so that every step without its noise is
//! nonexpansive. Clipping a gradient breaks that in general: `L` must be a true Lipschitz constant of both the
//! old and the new loss of the exposed user. Neighbors differ in all the data of one user.
//!
//! * [`NoisyStep`]: one contribution seen after `g` further noisy steps; shifted, strongly convex and
//!   decreasing-step forms; the least cost of many contributions ([`absorption_cost`]).
//! * [`Geometric`]: the gap until a uniform walk is seen again, `E[1/G]` and `ln φ`.
//! * [`CappedWalk`]: the whole walk on the complete graph with at most `N` contributions,
//!   `D_α ≤ N ln φ/(α − 1)`, whatever its length.
//! * [`WalkRun`], [`WalkDescent`]: the same without a cap, exact in the number `T` of steps.
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
mod utility;

pub use capped::CappedWalk;
pub use geometric::Geometric;
pub use run::{FinalToken, FirstHolder, WalkDescent, WalkRun};
pub use step::{NoisyStep, absorption_cost, shift_weight};
pub use utility::{ExpectedError, expected_error};
