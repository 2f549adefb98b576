//! What protocols on vectors are made of. For the crates of this workspace alone: nothing here is promised.

pub use crate::vector::block::{Block, WIDTH};
pub use crate::vector::error::{error_weights, require_operator, require_rounds};
pub use crate::vector::messages::{Message, outside_neighbors, received, rows};
pub use crate::vector::run::{advance, apply};
pub use crate::vector::schedule::NoiseSchedule;
