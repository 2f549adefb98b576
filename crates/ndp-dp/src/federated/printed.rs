//! Theorem 2 as its paper draws it: the exponent `n/m` is not rounded down to whole rounds.

use super::{ContractionFactor, FederatedDescent};
use crate::gaussian::check_epsilon;
use crate::{Error, Printed};
use ndp_numeric::rounding::Interval;

/// Theorem 2 with the real exponent `n/m` in place of `T = ⌊n/m⌋`, convex loss.
///
/// It is at least the value at whole rounds, and equal to it when `m` divides `n`.
///
/// # Errors
/// [`Error::InvalidEpsilon`] unless `0 ≤ ε < ∞`.
///
/// # References
/// Asoodeh and Calmon 2020, Figure 2.
pub fn figure_delta(run: &FederatedDescent, epsilon: f64) -> Result<Printed<f64>, Error> {
    check_epsilon(epsilon)?;
    let convex = FederatedDescent { factor: ContractionFactor(1.0), ..*run };
    let rounds = Interval::count(run.parameters.users) / Interval::count(run.parameters.batch);
    Ok(Printed::new(libm::exp(convex.log_theorem2(epsilon, rounds)).min(1.0)))
}
