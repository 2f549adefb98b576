//! Tests that need more than one module: against values computed elsewhere, against all paths of small cases,
//! and with hostile input.

mod federated_exact;
mod hostile_amplification;
mod outward;
mod printed_claims;
mod properties;
mod shuffling_brute_force;
mod underflow_and_rounding;
mod walk_enumeration;
mod walk_paths;
