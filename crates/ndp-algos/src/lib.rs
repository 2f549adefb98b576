//! Decentralized protocols, what each node sees of them, and what that costs in privacy.

pub mod error;
pub mod sgd;
pub mod walk;

pub use error::Error;
