//! Bring your own protocol: you state a *program*, and get what everybody learns.
//!
//! A program says who contributes what and when, which noises are added, which weighted sums are formed, and
//! who sees what. Everything that can be stated in this way is linear Gaussian, and one account covers it:
//! correlated noise, noise matrices over time, secure sums, repeated participation, drop-outs, coalitions,
//! tapped edges.
//!
//! | question | where | grade |
//! |---|---|---|
//! | How is a protocol stated? | [`Program`], [`Value`], [`Weight`], [`MixingMatrix`] | |
//! | What if all nodes do the same, with one matrix, for many rounds? | [`VectorProgram`] | exact, or upper
//! bound |
//! | Who observes? | [`Observer`](ndp_account::Observer) | |
//! | What does it learn about a node? | [`Program::account`], [`ProgramAccount::loss`] | exact, or upper bound |
//! | What are neighboring inputs? | [`SensitivitySet`], always declared | see there |
//! | What if only some coordinates of messages are seen? | [`loss_by_coordinates`] | exact, or upper bound |
//! | What if messages may not reach the observer? | [`AccountOptions::some_lost`] | upper bound |
//! | Is something seen without noise? | [`ProgramAccount::verdict`] | exact, names the messages |
//! | May contributions depend on what was seen? | [`Reads`], [`Dependence`] | checked where they say what they read |
//! | How is it stored in a file? | [`Program::read`], [`Program::write`] | |
//! | Can nodes send what they send? | [`Program::check_holdings`]; checked for what is read | |
//! | What are the results of nodes, and how far from the mean? | [`Program::result`], [`Program::error`] | no
//! privacy claim |
//! | During a run: what was learned so far, and may this message still be sent? | [`meter::Meter`] | exact,
//! or upper bound |
//! | Which noise is best? | [`design::Design`] | the program's account, and a lower bound on the error |
//! | How is it run? | [`Program::run`]; [`Declared`] is a [`Protocol`](ndp_account::Protocol), so `audit`
//! takes it | |
//! | Can a third party check it? | [`ProofWriter`], or [`ProgramAccount::witnesses`], [`Program::check_attack`], [`Program::check_shift`] | exact |
//!
//! Weights and variances are exact numbers. No rank is decided by a tolerance: see `docs/theory.md`,
//! "Certified losses".

#![cfg_attr(
    not(test),
    deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]

mod account;
mod adaptivity;
mod build;
mod cached;
mod columns;
pub mod constructors;
mod coordinates;
pub mod design;
mod enclose;
mod engines;
pub mod error;
mod exact_witness;
mod form_cache;
mod format;
mod gram;
mod holdings;
pub mod meter;
mod mixing;
mod noiseless;
mod noises;
mod observers;
mod options;
#[doc(hidden)]
pub mod parts;
mod proof;
mod protocol;
mod question;
mod registers;
mod rounds;
mod rows;
mod semidefinite;
mod sensitivity;
mod signs;
mod simulate;
mod sparse;
mod steps;
mod sweep;
mod symmetries;
#[cfg(test)]
mod tests;
mod trusted;
mod utility;
mod vector;
mod weight;
mod witness;

pub use account::{NodeVerdict, ProgramAccount};
pub use adaptivity::{Dependence, HiddenReads};
pub use build::{Program, Reads, Value};
pub use coordinates::loss_by_coordinates;
pub use error::ProgramError;
pub use mixing::MixingMatrix;
pub use options::AccountOptions;
pub use proof::ProofWriter;
pub use protocol::Declared;
pub use sensitivity::{Loss, Patterns, SensitivitySet};
pub use simulate::Run;
pub use vector::{ActiveEdge, Engine, MessageNoise, Transcript, VectorProgram};
pub use weight::{Weight, inverse_of_lower, toeplitz};
pub use witness::Witness;

use ndp_account::Error;
