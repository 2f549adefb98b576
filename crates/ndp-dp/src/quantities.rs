//! Numbers that carry an invariant, checked once at construction.

use crate::Error;
use crate::lossless::checked_number;
use ndp_numeric::rounding::Interval;

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
    ///
    /// # Examples
    /// ```
    /// use ndp_dp::{Sensitivity, Sigma};
    /// // A sum of ages, each of which may change by 100 years, with noise of 250 years.
    /// let (sigma, range) = (Sigma::new(250.0)?, Sensitivity::new(100.0)?);
    /// assert_eq!(sigma.multiplier(range)?.get(), 2.5);
    /// assert!(Sigma::new(0.0).is_err()); // without noise nothing is private
    /// # Ok::<(), ndp_dp::Error>(())
    /// ```
    Sigma, InvalidSigma, "Takes a positive, finite `sigma`.", |x| 0.0 < x && x.is_finite()
}
quantity! {
    /// Standard deviation of Gaussian noise in units of the sensitivity: `σ / Δ`.
    ///
    /// # Examples
    /// ```
    /// use ndp_dp::{NoiseMultiplier, Sensitivity};
    /// // An accountant returned the multiplier; gradients are clipped to length 0.1. The noise to draw:
    /// let noise = NoiseMultiplier::new(4.0)?.sigma(Sensitivity::new(0.1)?)?;
    /// assert!(0.4 <= noise.get() && noise.get() < 0.4 + 1e-15); // rounded up
    /// # Ok::<(), ndp_dp::Error>(())
    /// ```
    NoiseMultiplier, InvalidNoiseMultiplier, "Takes a positive, finite multiplier.", |x| 0.0 < x && x.is_finite()
}
quantity! {
    /// Sensitivity `Δ`: the most by which a query may change when one user's data change.
    ///
    /// # Examples
    /// ```
    /// use ndp_dp::{Gaussian, Sensitivity, Sigma};
    /// // Twice the sensitivity at the same noise gives twice the μ.
    /// let release = |range| -> Result<_, ndp_dp::Error> {
    ///     Ok(Gaussian { sensitivity: Sensitivity::new(range)?, sigma: Sigma::new(8.0)? }.gdp().into_value().mu())
    /// };
    /// assert_eq!((release(1.0)?, release(2.0)?), (0.125, 0.25));
    /// # Ok::<(), ndp_dp::Error>(())
    /// ```
    Sensitivity, InvalidSensitivity, "Takes a positive, finite sensitivity.", |x| 0.0 < x && x.is_finite()
}
quantity! {
    /// Order `α > 1` of a Rényi divergence.
    ///
    /// # Examples
    /// ```
    /// use ndp_dp::{Gaussian, Mechanism, Order, Sensitivity, Sigma};
    /// let release = Gaussian { sensitivity: Sensitivity::new(1.0)?, sigma: Sigma::new(2.0)? };
    /// let renyi = release.rdp(Order::new(8.0)?).into_value(); // α Δ² / (2 σ²)
    /// assert!(1.0 <= renyi && renyi < 1.0 + 1e-12);
    /// assert!(Order::new(1.0).is_err()); // that would be the Kullback-Leibler divergence
    /// # Ok::<(), ndp_dp::Error>(())
    /// ```
    Order, InvalidOrder, "Takes a finite `alpha` above 1.", |x| 1.0 < x && x.is_finite()
}
quantity! {
    /// Failure probability `δ` of approximate differential privacy.
    ///
    /// # Examples
    /// ```
    /// use ndp_dp::{Delta, Gdp, Mechanism};
    /// // The smaller the probability of failure, the larger epsilon.
    /// let epsilon = |delta| -> Result<_, ndp_dp::Error> { Ok(*Gdp::new(1.0)?.epsilon(Delta::new(delta)?).value()) };
    /// assert!(epsilon(1e-9)? > epsilon(1e-5)? && epsilon(1e-5)? > 4.37);
    /// assert!(Delta::new(0.0).is_err() && Delta::new(1.0).is_err());
    /// # Ok::<(), ndp_dp::Error>(())
    /// ```
    Delta, InvalidDelta, "Takes a `delta` strictly between 0 and 1.", |x| 0.0 < x && x < 1.0
}

impl NoiseMultiplier {
    /// The noise `σ = multiplier · Δ` in the unit of the query, rounded up, so that the noise added is never
    /// too small.
    ///
    /// # Errors
    /// [`Error::InvalidSigma`] when the product overflows or underflows.
    pub fn sigma(self, sensitivity: Sensitivity) -> Result<Sigma, Error> {
        Sigma::new((Interval::new(self.0) * Interval::new(sensitivity.0)).high())
    }
}

impl Sigma {
    /// The same noise in units of the sensitivity, rounded down, so that no more noise is accounted for than
    /// is added.
    ///
    /// # Errors
    /// [`Error::InvalidNoiseMultiplier`] when the quotient overflows or underflows.
    pub fn multiplier(self, sensitivity: Sensitivity) -> Result<NoiseMultiplier, Error> {
        NoiseMultiplier::new((Interval::new(self.0) / Interval::new(sensitivity.0)).low())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fused product is exact in its sign.
    #[test]
    fn noise_is_rounded_to_the_safe_side() -> Result<(), Error> {
        let (mut below, mut above) = (0, 0);
        for (a, b) in (1..60).flat_map(|a| (1..60).map(move |b| (f64::from(a) / 61.0, f64::from(b) / 59.0))) {
            let delta = Sensitivity::new(b)?;
            let multiplier = Sigma::new(a)?.multiplier(delta)?.get();
            assert!(multiplier.mul_add(b, -a) <= 0.0 && multiplier.next_up().next_up() > a / b, "{a} / {b}");
            let sigma = NoiseMultiplier::new(a)?.sigma(delta)?.get();
            assert!(a.mul_add(b, -sigma) <= 0.0 && sigma.next_down().next_down() < a * b, "{a} * {b}");
            below += u32::from((a / b).mul_add(b, -a) > 0.0);
            above += u32::from(a.mul_add(b, -(a * b)) > 0.0);
        }
        // Rounding to nearest would put many of them on the wrong side.
        assert!(below > 500 && above > 500, "{below} {above}");
        Ok(())
    }
}
