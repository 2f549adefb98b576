//! Graphs, gossip and transition matrices, and their spectra. Knows nothing of privacy.

pub mod chebyshev;
mod conversions;
pub mod csr;
pub mod davis;
pub mod edge_list;
pub mod error;
pub mod generators;
pub mod gossip_matrix;
pub mod graph;
pub mod hitting;
pub mod lanczos;
pub mod linalg;
pub mod memory;
pub mod random;
pub mod sequences;
pub mod spectrum;
pub mod transition_matrix;

pub use csr::Csr;
pub use error::Error;
pub use gossip_matrix::GossipMatrix;
pub use graph::Graph;
pub use sequences::{GossipSequence, Step};
pub use spectrum::Spectrum;
pub use transition_matrix::TransitionMatrix;
