//! The figures, one folder for each paper. How to add one: [`crate::registry`].

pub mod beyond;
pub mod contraction_fl;
mod families;
mod learning;
pub mod muffliato;
pub mod network_dp;
pub mod random_walk;
