//! Decentralized protocols, what each node sees of them, and what that costs in privacy.

#![cfg_attr(
    not(test),
    deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]

pub mod accountant;
pub mod audit;
mod certified;
pub mod error;
pub mod gossip;
mod kernel;
pub mod loss;
mod numeric;
#[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)]
pub mod program;
pub mod protocol;
pub mod registry;
pub mod sgd;
mod tasks;
pub mod view;
pub mod walk;

pub use accountant::Protocol;
pub use error::Error;
pub use loss::LossReport;
pub use protocol::{LinearProtocol, OwnNoise};
pub use view::View;
