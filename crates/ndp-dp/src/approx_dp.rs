//! Approximate differential privacy: the pair `(ε, δ)`.

use crate::Error;
use crate::error::ensure;
use serde::Serialize;

/// `(ε, δ)`-differential privacy: `P(A) ≤ e^ε Q(A) + δ` for every event and both orders of two
/// neighboring datasets.
///
/// `ε` is in nats, `0 ≤ ε ≤ ∞`; `0 ≤ δ ≤ 1`, where `δ = 0` is pure differential privacy. `a + b` is the
/// guarantee of both releases together, and `a * 30` that of thirty of them, by basic composition;
/// [`composition::best`](crate::composition::best) gives smaller values.
///
/// # Examples
/// ```
/// use ndp_dp::ApproxDp;
/// let guarantee = ApproxDp::new(0.5, 1e-6)?;
/// assert_eq!((guarantee.epsilon(), guarantee.delta()), (0.5, 1e-6));
/// assert_eq!((guarantee * 3 + guarantee).epsilon(), 2.0);
/// assert!(ApproxDp::new(f64::NAN, 1e-6).is_err());
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ApproxDp {
    #[serde(with = "crate::lossless")]
    epsilon: f64,
    delta: f64,
}

crate::lossless::checked_fields! {
    ApproxDp { #[serde(with = "crate::lossless")] epsilon: f64, delta: f64 } => Self::new(epsilon, delta)
}

impl ApproxDp {
    /// Takes a pair.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 ≤ ε ≤ ∞` and `0 ≤ δ ≤ 1`, NaN included.
    pub fn new(epsilon: f64, delta: f64) -> Result<Self, Error> {
        ensure(0.0 <= epsilon, "epsilon", "be nonnegative", epsilon)?;
        ensure(
            (0.0..=1.0).contains(&delta),
            "the delta of an (epsilon, delta) pair",
            "lie between 0 and 1",
            delta,
        )?;
        Ok(Self { epsilon, delta })
    }

    /// A pair computed by this crate: a negative `ε` becomes 0, and `δ` is limited to `[0, 1]`.
    pub(crate) fn clamped(epsilon: f64, delta: f64) -> Self {
        debug_assert!(!epsilon.is_nan() && !delta.is_nan());
        Self { epsilon: epsilon.max(0.0), delta: delta.clamp(0.0, 1.0) }
    }

    /// `ε`, in nats.
    #[must_use]
    pub const fn epsilon(self) -> f64 {
        self.epsilon
    }

    /// `δ`.
    #[must_use]
    pub const fn delta(self) -> f64 {
        self.delta
    }
}
