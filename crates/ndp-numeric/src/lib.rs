//! Outward rounding and special functions with a known error. An implementation detail of the `ndp`
//! workspace: nothing here is stable, and nothing here speaks of privacy. Accounting is in `ndp-dp`.
//!
//! * [`rounding`]: intervals that hold the true value, and floats moved outward by a stated error.
//! * [`special`]: the normal law with all digits in its tails; [`gaussian_profile`]: the hockey-stick
//!   divergence of two normal laws; [`incomplete`]: the incomplete beta function in log space.
//! * [`binomial`]: binomial probabilities and tails; [`binomial_window`]: the part of a binomial law that
//!   matters, with bounds on the rest.
//! * [`fourier`]: discrete Fourier transforms with a proven error.
//! * [`decimal`]: numbers as text, rounded up, down or to nearest, exactly.
//! * [`logspace`]: sums and differences of numbers given by their logarithms.
//! * [`casts`]: conversions between integer sizes and from reals; [`sums`]: long sums of nonnegative terms.
//!
//! Below all other crates, and so here: [`stop`], when a long computation ends; [`progress`], how far it is.
//!
//! Every function states its error: either a proven bound, or the largest error seen against many digits,
//! doubled.

// A float or an integer that does not fit must not be truncated silently.
#![deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)]
#![cfg_attr(
    test,
    allow(
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        clippy::cast_sign_loss,
        reason = "tests cast small numbers"
    )
)]

pub mod binomial;
pub mod binomial_window;
pub mod casts;
pub mod decimal;
mod error;
pub mod fourier;
pub mod gaussian_profile;
pub mod incomplete;
pub mod logspace;
pub mod progress;
pub mod rounding;
pub mod special;
pub mod stop;
pub mod sums;

pub use error::{OutOfRange, ensure};
