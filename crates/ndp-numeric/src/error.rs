//! The one error of this crate: a parameter outside its domain.

/// A parameter outside its domain.
///
/// # Examples
/// ```
/// use ndp_numeric::ensure;
/// let refused = ensure(false, "the cut", "be positive", -1.0);
/// assert_eq!(refused.map_err(|error| error.to_string()), Err("the cut must be positive, got -1".into()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{name} must {condition}, got {value}")]
pub struct OutOfRange {
    /// The parameter's name.
    pub name: &'static str,
    /// What it must satisfy, as the end of a sentence: `be at least 1`.
    pub condition: &'static str,
    /// The value given.
    pub value: f64,
}

/// Refuses a parameter that does not meet its condition, which must be written so that NaN fails it.
///
/// # Errors
/// [`OutOfRange`] unless `met`.
pub const fn ensure(
    met: bool,
    name: &'static str,
    condition: &'static str,
    value: f64,
) -> Result<(), OutOfRange> {
    if met { Ok(()) } else { Err(OutOfRange { name, condition, value }) }
}
