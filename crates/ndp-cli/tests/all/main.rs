//! Tests that run the command as a process.
//!
//! All tests are in one program, because every further program is linked and started separately.
#![allow(
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test may panic, and says what it skips"
)]

mod answers;
mod asked;
mod command;
mod common;
mod files;
mod granted;
mod inputs;
mod meters;
mod odd;
mod plans;
mod programs;
mod proofs;
mod questions;
mod refutations;
mod rests;
mod shards;
mod shows;
mod statements;
mod survey;
mod transcripts;
mod viewer;
