//! What printed formulas share with the sound ones. It is only for the crates of this workspace, and not part
//! of the stable interface.

pub use crate::gossip::random_graph::positive_outside;
pub use crate::sgd::positive;
pub use crate::walk::graph::contribution::require_positive;
pub use crate::walk::ring::sum::check_ring;
pub use ndp_program::parts::{Block, Message, WIDTH, outside_neighbors, received, require_rounds, rows};
