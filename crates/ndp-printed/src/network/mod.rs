//! Formulas as printed in *Privacy amplification by decentralization* and on its poster, kept to reproduce
//! figures.
//!
//! Nothing here is a guarantee. Several of these statements are false, others not proved; each function says
//! which. The sound replacements are named beside them. User and step counts are real numbers, since the
//! figures plot the formulas on a logarithmic grid.
//!
//! # References
//! - Cyffers and Bellet, *Privacy amplification by decentralization*, 2022, arXiv:2012.05326: Theorems 2, 3,
//!   4 and 6, Lemmas 1 and 2.

mod descent;
mod histogram;
pub mod realised;
mod spotted;
mod sum;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use descent::lemma1_order_limit;
#[cfg(test)]
pub(crate) use descent::network_epsilon;
pub use descent::{Theorem4, central_sigma, lemma1_rdp, network_sigma, theorem4};
#[cfg(test)]
pub(crate) use histogram::theorem2_gamma;
pub use histogram::theorem6;
pub use spotted::{SpottedLoss, spotted};
pub use sum::{Theorem3, contributions, poster_theorem4};
#[cfg(test)]
pub(crate) use sum::{best_c, gamma_n};

use ndp_dp::Error;
use ndp_dp::parts::ensure;

/// For tests: the name of the parameter that was refused; `None` if something else was refused, or nothing.
#[cfg(test)]
fn refused<T>(found: Result<T, Error>) -> Option<&'static str> {
    if let Err(Error::InvalidParameter { name, .. }) = found { Some(name) } else { None }
}

/// At least two users.
fn check_users(users: f64) -> Result<(), Error> {
    ensure(users >= 2.0 && users.is_finite(), "the number of users", "be at least 2 and finite", users)
}

/// At least one step.
fn check_steps(steps: f64) -> Result<(), Error> {
    ensure(steps >= 1.0 && steps.is_finite(), "the number of steps", "be at least 1 and finite", steps)
}

/// A nonnegative, finite number of contributions.
fn check_contributions(count: f64) -> Result<(), Error> {
    ensure(
        count >= 0.0 && count.is_finite(),
        "the number of contributions",
        "be nonnegative and finite",
        count,
    )
}
