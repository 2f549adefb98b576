//! Protocols from outside: as users call them.
//!
//! All in one program: each program more is linked and started for itself.

mod accelerated_gossip;
mod accountant;
mod as_programs;
mod attack;
mod certified;
mod coverage;
mod examples;
mod fresh_noise;
mod gossip_properties;
mod gossip_rational;
mod ledgers;
mod local_bound;
mod noisy_messages;
mod one_protocol;
mod problems;
mod reading;
mod sgd;
mod stops;
mod tasks;
mod terms;
mod walk_audit;
mod walk_claims;
mod walk_options;
