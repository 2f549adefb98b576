//! Decentralized protocols, what each node sees of them, and what that costs in privacy.

pub mod accountant;
#[cfg_attr(
    not(test),
    deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]
pub mod audit;
mod certified;
pub mod error;
pub mod gossip;
mod kernel;
pub mod loss;
#[cfg_attr(
    not(test),
    deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]
mod numeric;
pub mod program;
pub mod protocol;
pub mod registry;
#[cfg_attr(
    not(test),
    deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]
pub mod sgd;
#[cfg_attr(
    not(test),
    deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]
pub mod target;
mod tasks;
pub mod view;
#[cfg_attr(
    not(test),
    deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]
pub mod walk;

pub use accountant::Protocol;
pub use error::Error;
pub use loss::LossReport;
pub use protocol::{LinearProtocol, OwnNoise};
pub use view::View;
