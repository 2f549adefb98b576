//! A claimed bound on what gossip or a token shows, tried on all small graphs.
//!
//! A claim is a formula in the [language](Expression) of this crate, or anything that implements [`Claim`].
//! It is about a [`Protocol`]: gossip of five kinds, or a token walk.
//! The search goes through all connected graphs up to isomorphism, by nodes, then rounds, then edges, so that
//! the first counterexample is the smallest. The truth is a fraction ([`exact_unit_loss`],
//! [`mean_path_cost`]), the claim an interval that contains its value: a claim is refuted only where the
//! fraction exceeds the upper end, which no rounding error can bring about.
//!
//! ```
//! use ndp_refute::{Expression, Outcome, Search, refute};
//! // Muffliato, Theorem 1.
//! let claim = Expression::parse(
//!     "alpha / (2 * sigma^2) * sum(t, 0, T - 1, neighbors(w, v, W[t][w,u]^2 / sum(x, 0, n - 1, W[t][w,x]^2)))",
//! )?;
//! let report = refute(&claim, &Search { max_nodes: 3, ..Search::default() })?;
//! let Outcome::Refuted(found) = report.outcome else { panic!("the theorem is false on a path") };
//! assert_eq!((found.nodes, found.rounds, found.edges.len()), (3, 2, 2));
//! assert_eq!(found.true_loss, "1");
//! # Ok::<(), ndp_refute::Error>(())
//! ```

#![cfg_attr(
    not(test),
    deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]

mod attack;
mod counterexample;
mod error;
mod evaluate;
mod expression;
mod findings;
mod graphs;
mod protocol;
mod search;
mod setting;
mod spectrum;
mod truth;
mod walk;

pub use attack::{Attacked, attack};
pub use counterexample::Counterexample;
pub use error::Error;
pub use expression::Expression;
pub use findings::{FINDINGS, Finding};
pub use graphs::{connected_graphs, thin_graphs};
pub use protocol::Protocol;
pub use search::{Claim, Graphs, Outcome, Report, Search, refute};
pub use setting::{Bounded, Case, Setting, WeightRule};
pub use truth::exact_unit_loss;
pub use walk::mean_path_cost;
