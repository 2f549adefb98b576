//! Checks of inputs that several modules share.

use crate::Error;

/// `Ok` when the condition holds, else the error that names parameter, condition and value.
pub(crate) fn require(
    holds: bool,
    name: &'static str,
    condition: &'static str,
    value: f64,
) -> Result<(), Error> {
    if holds { Ok(()) } else { Err(Error::InvalidParameter { name, condition, value }) }
}

/// `0 ≤ ε < ∞`.
pub(crate) fn epsilon(epsilon: f64) -> Result<(), Error> {
    if epsilon >= 0.0 && epsilon.is_finite() { Ok(()) } else { Err(Error::InvalidEpsilon(epsilon)) }
}

/// `0 < x < ∞`.
pub(crate) fn positive(name: &'static str, value: f64) -> Result<(), Error> {
    require(0.0 < value && value.is_finite(), name, "be positive and finite", value)
}

/// A count of at least one.
pub(crate) fn count(name: &'static str, value: u64) -> Result<(), Error> {
    require(value >= 1, name, "be at least 1", value as f64)
}
