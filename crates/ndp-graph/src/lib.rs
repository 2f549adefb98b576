//! Graphs, gossip and transition matrices, and their spectra. Knows nothing of privacy.

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
pub mod generators;
pub mod gossip_matrix;
pub mod graph;
pub mod hitting;
pub mod lanczos;
pub mod linalg;
pub mod log_matrix;
pub mod memory;
pub mod mixing_time;
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
