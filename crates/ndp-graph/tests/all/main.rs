//! Graphs from outside.
//!
//! All in one program: each program more is linked and started for itself.

mod random_laws;
mod reference;
mod sequences;
