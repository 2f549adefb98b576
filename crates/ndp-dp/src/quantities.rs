//! Numbers that carry an invariant, checked once at construction.

use crate::Error;
use crate::lossless::checked_number;

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $error:ident, $takes:literal, |$x:ident| $valid:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
        pub struct $name(f64);

        impl $name {
            #[doc = $takes]
            ///
            /// # Errors
            #[doc = concat!("[`Error::", stringify!($error), "`] otherwise, NaN included.")]
            pub fn new($x: f64) -> Result<Self, Error> {
                if $valid { Ok(Self($x)) } else { Err(Error::$error($x)) }
            }

            /// The number.
            #[must_use]
            pub const fn get(self) -> f64 {
                self.0
            }
        }

        checked_number!($name);
    };
}

quantity! {
    /// Standard deviation `σ` of Gaussian noise, in the unit of the query.
    Sigma, InvalidSigma, "Takes a positive, finite `sigma`.", |x| 0.0 < x && x.is_finite()
}
quantity! {
    /// Standard deviation of Gaussian noise in units of the sensitivity: `σ / Δ`.
    NoiseMultiplier, InvalidNoiseMultiplier, "Takes a positive, finite multiplier.", |x| 0.0 < x && x.is_finite()
}
quantity! {
    /// Sensitivity `Δ`: the most a query may move when one user's data change.
    Sensitivity, InvalidSensitivity, "Takes a positive, finite sensitivity.", |x| 0.0 < x && x.is_finite()
}
quantity! {
    /// Order `α > 1` of a Rényi divergence.
    Order, InvalidOrder, "Takes a finite `alpha` above 1.", |x| 1.0 < x && x.is_finite()
}
quantity! {
    /// Failure probability `δ` of approximate differential privacy.
    Delta, InvalidDelta, "Takes a `delta` strictly between 0 and 1.", |x| 0.0 < x && x < 1.0
}

impl NoiseMultiplier {
    /// The noise `σ = multiplier · Δ` in the unit of the query.
    ///
    /// # Errors
    /// [`Error::InvalidSigma`] when the product overflows or underflows.
    pub fn sigma(self, sensitivity: Sensitivity) -> Result<Sigma, Error> {
        Sigma::new(self.0 * sensitivity.0)
    }
}

impl Sigma {
    /// The same noise in units of the sensitivity.
    ///
    /// # Errors
    /// [`Error::InvalidNoiseMultiplier`] when the quotient overflows or underflows.
    pub fn multiplier(self, sensitivity: Sensitivity) -> Result<NoiseMultiplier, Error> {
        NoiseMultiplier::new(self.0 / sensitivity.0)
    }
}
