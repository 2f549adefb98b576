//! Graphs, gossip and transition matrices, and their spectra. Knows nothing of privacy.
//!
//! A [`Graph`] is simple and undirected, with nodes `0..n`. It comes from a generator ([`generators`], [`random`],
//! [`davis`]; names and argument order of networkx), from the text of an edge list ([`edge_list`]), from an
//! adjacency matrix or from petgraph. On it lives a matrix: a [`GossipMatrix`] is symmetric and doubly stochastic,
//! what nodes average with; a [`TransitionMatrix`] is row-stochastic, what a walking token follows. Both are checked
//! when they are made and sparse inside; [`GossipSequence`] is gossip whose matrix changes from step to step.
//!
//! # Examples
//! How much slower than a hypercube is a grid of about as many nodes, and what does acceleration save?
//! ```
//! use ndp_graph::chebyshev::Chebyshev;
//! use ndp_graph::generators::{grid_2d_graph, hypercube_graph};
//! use ndp_graph::{GossipMatrix, spectrum::gap_abs};
//!
//! let grid = GossipMatrix::metropolis(&grid_2d_graph(16, 16)?);
//! let cube = GossipMatrix::metropolis(&hypercube_graph(8)?);
//! assert!((gap_abs(&cube)? - 2.0 / 9.0).abs() < 1e-12);
//! assert!(gap_abs(&cube)? > 25.0 * gap_abs(&grid)?);
//!
//! // A thousand on one node, averaged: plain gossip against Chebyshev polynomials of the same degree.
//! let mut x = vec![0.0; 256];
//! x[0] = 1000.0;
//! let farthest = |x: &[f64]| x.iter().map(|value| (value - 1000.0 / 256.0).abs()).fold(0.0, f64::max);
//! let accelerated = Chebyshev::published(gap_abs(&grid)?)?.apply_vector(&grid, &x, 100)?;
//! let mut next = x.clone();
//! for _ in 0..100 {
//!     grid.csr().multiply(&x, &mut next);
//!     std::mem::swap(&mut x, &mut next);
//! }
//! assert!(farthest(&x) > 10.0 && farthest(&accelerated) < 0.02);
//! # Ok::<(), ndp_graph::Error>(())
//! ```
//!
//! # What is where
//! * Spectra: [`spectrum`] (both gaps, dense or by [`lanczos`]), [`closed_form`], [`mixing_time`], [`log_matrix`].
//! * Walks: [`hitting`] (laws of first passage), [`walk_sums`].
//! * Nodes that matter: [`centrality`], [`communicability`].
//! * Long calls: [`progress`] and cancellation.
//! * Files: [`edge_list`], other formats by their first bytes in [`graph_file`], and everything by serde in [`files`].
//! * Tools: [`linalg`] (dense, `ndarray` in and out), [`csr`] (sparse), [`memory`] (refusing what does not fit).
//!
//! No input panics: graphs that are empty, disconnected or not simple, matrices that are not stochastic, sizes that do
//! not fit in memory give an [`Error`] naming condition and value. The documented exception is an index out of range.
//! Results never depend on the number of threads.
//!
//! # Features
//! * `lapack`, off by default: dense decompositions by LAPACK instead of faer; the binary chooses and links it.

#![cfg_attr(
    not(test),
    deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]

mod cast;
pub mod centrality;
pub mod chebyshev;
pub mod closed_form;
pub mod communicability;
mod conversions;
pub mod csr;
pub mod davis;
mod distances;
pub mod edge_list;
pub mod error;
mod extremes;
pub mod files;
pub mod generators;
pub mod gossip_matrix;
pub mod graph;
pub mod graph_file;
pub mod hitting;
mod karate;
pub mod lanczos;
pub mod linalg;
pub mod log_matrix;
pub mod memory;
pub mod mixing_time;
pub mod progress;
pub mod random;
pub mod sequences;
mod spectral_function;
pub mod spectrum;
mod stationary;
pub mod transition_matrix;
pub mod walk_sums;

pub use csr::Csr;
pub use error::Error;
pub use gossip_matrix::GossipMatrix;
pub use graph::Graph;
pub use sequences::{GossipSequence, Step};
pub use spectrum::Spectrum;
pub use transition_matrix::TransitionMatrix;
