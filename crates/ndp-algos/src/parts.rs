//! What printed formulas share with the sound ones. For the crates of this workspace alone: nothing here is promised.

pub use crate::gossip::block::{Block, WIDTH};
pub use crate::gossip::exact::outside_neighbors;
pub use crate::gossip::messages::{Message, received, rows};
pub use crate::gossip::operator::require_rounds;
pub use crate::gossip::random_graph::positive_outside;
pub use crate::sgd::positive;
pub use crate::walk::graph::contribution::require_positive;
pub use crate::walk::ring::sum::check_ring;
