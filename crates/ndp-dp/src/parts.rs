//! What formulas beside those of this crate check and search with. For the crates of this workspace alone:
//! nothing here is promised.

pub use crate::error::{ensure, ensure_positive};
pub use crate::gaussian::check_epsilon;
pub use crate::randomized_response::check_labels;
