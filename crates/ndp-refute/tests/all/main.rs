//! The refuter against the claims of the findings.
//!
//! All in one program: each program more is linked and started for itself.

mod findings;
mod foreign;
mod generated;
mod protocols;
mod refuter;
