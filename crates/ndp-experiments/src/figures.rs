//! The figures, one folder for each paper. How to add one: [`crate::registry`].

pub mod beyond;
mod capped_walks;
pub mod contraction_fl;
mod families;
mod learning;
pub mod muffliato;
pub mod network_dp;
pub mod random_walk;
mod walk_laws;

/// `⌊x⌋` as a count: 0 if `x` is negative or NaN, the largest count if `x` is too large.
#[must_use]
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "such casts saturate, which is what is promised"
)]
pub(crate) fn count(x: f64) -> usize {
    x as usize
}
