//! Decentralized protocols, what each node sees of them, and what that costs in privacy.

pub mod audit;
mod certified;
pub mod error;
pub mod gossip;
mod kernel;
pub mod loss;
mod numeric;
pub mod protocol;
pub mod sgd;
pub mod target;
mod tasks;
pub mod view;
pub mod walk;

pub use error::Error;
pub use loss::LossReport;
pub use protocol::{OwnNoise, Protocol};
pub use view::View;
