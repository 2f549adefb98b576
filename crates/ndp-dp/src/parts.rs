//! Checks of this crate that other crates of this workspace use for their formulas. Not part of the stable
//! interface.

pub use crate::error::{ensure, ensure_positive};
pub use crate::gaussian::check_epsilon;
pub use crate::randomized_response::check_labels;
