//! Gossip averaging with local noise (Muffliato): the protocols, what each node sees, and what this costs.
//!
//! | question | item | grade |
//! | --- | --- | --- |
//! | what does a coalition learn in one release? | [`exact`]; [`closed_form`] for the one-peer hypercube | `Exact`, certified |
//! | which protocols are there, and what do they do with real values? | [`synchronous`], [`sequence`],
//! [`accelerated`], [`fresh`], [`noisy_messages`], each a [`GossipProtocol`] | `Exact`, certified |
//! | what does a graph that nobody knows hide? | [`random_graph`] | `UpperBound` |
//! | how far from the mean does it end, after how many rounds? | [`utility`] | `Exact`, `UpperBound` |
//! | how much noise does a target for pairs need, rounds and noise together? | [`calibrate`](mod@calibrate) | that of the losses |
//! | how well does it average within a mean loss? | [`table1`] | `UpperBound` |
//! | what do the papers print? | `ndp_printed::gossip` | `Printed`: no guarantee |
//!
//! Each protocol is stated once, as a [`VectorProgram`](ndp_program::VectorProgram) (`stated`). Its runs,
//! views, error, messages, observers, audit and account follow from this statement. The modules add what a
//! protocol has of its own: rates, error bounds and schedules.
//!
//! Every node holds `x_v`, adds noise `η_v` of standard deviation `σ` once, and then averages with its
//! neighbors `T` times. An observer's view is a set of linear combinations of the noisy values
//! `x + η`, so that its exact loss is a projection ([`exact`]). The papers' sums over messages are in
//! `ndp_printed::gossip`; they are not guarantees.
//!
//! # References
//! - Cyffers, Even, Bellet, Massoulié, *Muffliato: Peer-to-Peer Privacy Amplification for
//!   Decentralized Optimization and Averaging*, NeurIPS 2022, arXiv:2206.05091.

pub mod accelerated;
pub mod calibrate;
pub mod closed_form;
pub mod exact;
pub mod fresh;
pub mod noisy_messages;
mod protocol;
pub mod random_graph;
pub mod sequence;
pub mod synchronous;
pub mod table1;
pub mod utility;

pub use accelerated::AcceleratedGossip;
pub use calibrate::{GossipPlan, calibrate};
pub use exact::{Connections, ExactOptions, MeanLosses, exact_loss, mean_loss_by_step};
pub(crate) use exact::{ViewBasis, sequence_basis, view_basis};
pub use fresh::FreshNoiseGossip;
pub use noisy_messages::{MessageNoise, NoisyMessageGossip};
pub use protocol::{GossipProtocol, Transcript};
pub use sequence::SequenceGossip;
pub use synchronous::SynchronousGossip;
