//! Progress reports of long calls, and ways to stop them.
//!
//! A caller passes a [`Progress`] to a call that takes one (those of `ndp-algos` over many observers or
//! runs); it shows what it likes and says whether to go on. Any other long computation takes a [`Stop`],
//! which ends it when somebody asks, at a time, or after so much work.

#[doc(inline)]
pub use ndp_numeric::progress::{Progress, Silent};
#[doc(inline)]
pub use ndp_numeric::stop::{Stop, Stopped};
