//! Certified losses: what a linear Gaussian view reveals, proven by a theorem whose constants are computed.
//! An implementation detail of the `ndp` workspace: nothing here is stable, and nothing here knows a protocol
//! or a grade.
//!
//! A view is a set of rows, combinations `ν z + ι x` of noises `z` that the observer does not know and inputs
//! `x`. With `R` the rows over the noises, `V` their variances and `b_u` the coefficients of input `u`, its
//! unit loss is `b_uᵀ (R V Rᵀ)⁺ b_u`. No tolerance decides whether a result is right, and no two runs are
//! compared:
//!
//! ```text
//! rows (exact entries)  ->  ball  ->  decisions      ->  combinations   ->  enclosure  ->  certificate
//! rows, trace, krylov       ball      decisions,         combinations,      enclosure      account
//!                                     elimination,       fixed, magnitude
//!                                     field
//! ```
//!
//! * [`rows`], [`trace`] with its `steps`, [`krylov`]: entries are exact numbers. Named weights are
//!   rationals, an `f64` is the dyadic number that it stores, and a protocol hands over its steps, not rows
//!   that were rounded on the way.
//! * [`whole`], [`gram`]: rows of ratios of integers; and, if a node has several inputs, all entries of their
//!   Gram matrix.
//! * [`divisor`]: common divisors of long integers.
//! * [`ball`]: only nodes from which a message arrives in time matter.
//! * [`decisions`]: which rows are new, modulo primes drawn from a hash of the view. The failure probability
//!   is computed.
//! * `combinations`: nearly orthonormal combinations in fixed point, with as many bits as the growth of the
//!   error requires.
//! * [`enclosure`]: the theorem. The lower end of every enclosure holds without any prime.

#![cfg_attr(
    not(test),
    deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]

pub mod account;
mod arithmetic;
pub mod ball;
#[cfg(test)]
mod checks;
mod combinations;
pub mod decisions;
mod dense;
pub mod divisor;
pub mod dyadic;
mod elimination;
pub mod enclosure;
pub mod error;
pub mod field;
mod fixed;
pub mod gram;
pub mod krylov;
mod lanes;
mod layout;
pub mod magnitude;
pub mod matrix;
#[cfg(test)]
mod mutations;
mod packed;
pub mod rows;
mod source;
mod steps;
pub mod trace;
mod twins;
pub mod whole;
mod wide;

pub use error::Error;
pub use source::Source;
