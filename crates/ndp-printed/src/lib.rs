//! Every formula that may be false: formulas as the papers print them, kept to redraw their figures.
//!
//! Nothing here is a guarantee. Several of these statements are false, others are not proven; each function
//! says which, with a counterexample, and names the sound replacement. Their type,
//! [`Printed`](ndp_dp::Printed), keeps them from being taken for guarantees:
//!
//! ```
//! use ndp_account::LinearProtocol;
//! use ndp_algos::gossip::SynchronousGossip;
//! use ndp_graph::{GossipMatrix, generators::path_graph};
//! use ndp_printed::gossip::{Powers, theorem1_towards};
//! let matrix = GossipMatrix::metropolis(&path_graph(3)?);
//! let printed = theorem1_towards((&matrix, 2), &[2], Powers::FromZero)?;
//! let truth = SynchronousGossip::new(matrix, 2).coalition_loss(&[2])?;
//! assert!((printed.value().unit[0] - 1.0 / 3.0).abs() < 1e-12); // the theorem says a third
//! assert!((truth.unit(0)?.value().get() - 1.0).abs() < 1e-9); // and all is lost
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | paper | module |
//! |---|---|
//! | *Privacy amplification by decentralization* | [`network`], of its ring [`ring`] |
//! | *Differentially private federated learning* by contraction | [`contraction`] |
//! | *Muffliato* | [`gossip`] |
//! | *Private decentralized learning with random walks* | [`walk`] |
//! | noise of the published training curves | [`training`] |
//!
//! Only the figures, the module `printed` of the Python package, the search for false guarantees and benches
//! use this crate; `cargo xtask tidy` checks that. So no guarantee can rest on a formula of this crate.

#![cfg_attr(
    not(test),
    deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a panic is how a test fails"))]

pub mod contraction;
pub mod gossip;
pub mod network;
pub mod ring;
pub mod training;
pub mod walk;
