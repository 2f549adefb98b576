//! The parts of protocols on vectors. They are only for the crates of this workspace, and not part of the
//! stable interface.

pub use crate::vector::block::{Block, WIDTH};
pub use crate::vector::error::{error_weights, require_operator, require_rounds};
pub use crate::vector::messages::{Message, outside_neighbors, received, rows};
pub use crate::vector::run::{advance, apply};
pub use crate::vector::schedule::NoiseSchedule;
