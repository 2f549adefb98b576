//! Zero-concentrated differential privacy: Rényi divergence at most `ρ α` at every order.
//!
//! # References
//! - Bun and Steinke, *Concentrated differential privacy*, 2016, arXiv:1605.02065: Proposition 1.3
//!   (conversion), Proposition 1.4 (`ε`-DP), Lemma 1.7 (composition).

use crate::gdp::half_square;
use crate::{Delta, Error, Gdp, Guarantee, Mechanism, Order, UpperBound, conversion, error::ensure};
use ndp_numeric::rounding::Interval;

/// `ρ`-zero-concentrated differential privacy, `0 ≤ ρ ≤ ∞`.
///
/// # Examples
/// ```
/// use ndp_dp::{Delta, Mechanism, Zcdp};
/// let twice = Zcdp::new(0.1)? + Zcdp::new(0.1)?;
/// assert!(*twice.epsilon(Delta::new(1e-6)?).value() < 3.3);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Zcdp(f64);

crate::lossless::checked_number!(Zcdp);

impl Zcdp {
    /// Takes a concentrated parameter.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 ≤ ρ ≤ ∞`, NaN included.
    pub fn new(rho: f64) -> Result<Self, Error> {
        ensure(0.0 <= rho, "the concentrated parameter rho", "be nonnegative", rho)?;
        Ok(Self(rho))
    }

    pub(crate) const fn unchecked(rho: f64) -> Self {
        Self(rho)
    }

    /// The concentrated guarantee `ρ = ε²/2` of any pure `ε`-DP release.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 ≤ ε ≤ ∞`.
    pub fn from_pure(epsilon: f64) -> Result<UpperBound<Self>, Error> {
        ensure(0.0 <= epsilon, "epsilon", "be nonnegative", epsilon)?;
        Ok(UpperBound::new(Self(half_square(1.0, epsilon))))
    }

    /// The parameter `ρ`.
    #[must_use]
    pub const fn rho(self) -> f64 {
        self.0
    }

    /// The closed conversion `ε = ρ + 2 √(ρ ln(1/δ))`.
    pub(crate) fn closed_epsilon(self, delta: Delta) -> f64 {
        let (rho, log) = (Interval::new(self.0), -Interval::new(delta.get()).ln());
        (rho + Interval::new(2.0) * rho.sqrt() * log.sqrt()).high()
    }
}

/// A `μ`-Gaussian-DP release is `μ²/2`-zCDP.
impl From<Gdp> for Zcdp {
    fn from(gdp: Gdp) -> Self {
        Self::unchecked(half_square(1.0, gdp.mu()))
    }
}

/// Both releases together: `ρ + ρ'`, rounded up.
impl std::ops::Add for Zcdp {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self((Interval::new(self.0) + Interval::new(other.0)).high())
    }
}

/// `count` such releases together: `count ρ`, rounded up.
impl std::ops::Mul<u64> for Zcdp {
    type Output = Self;

    fn mul(self, count: u64) -> Self {
        Self(if count == 0 { 0.0 } else { (Interval::count(count) * Interval::new(self.0)).high() })
    }
}

impl Mechanism for Zcdp {
    fn rdp(&self, order: Order) -> Guarantee<f64> {
        UpperBound::new((Interval::new(order.get()) * Interval::new(self.0)).high()).into()
    }

    /// The smallest over all orders by the optimal conversion, never above the closed form `ρ + 2 √(ρ
    /// ln(1/δ))`.
    fn epsilon(&self, delta: Delta) -> Guarantee<f64> {
        let best = conversion::best_epsilon(|order| self.rdp(order).into(), delta).into_value();
        UpperBound::new(best.approx_dp.epsilon().min(self.closed_epsilon(delta))).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::refused;
    use approx::assert_relative_eq;

    #[test]
    fn conversions_are_ordered() -> Result<(), Error> {
        for rho in [0.0, 1e-6, 0.02, 0.5, 30.0] {
            for delta in [1e-100, 1e-9, 0.01] {
                let (zcdp, delta) = (Zcdp::new(rho)?, Delta::new(delta)?);
                let exact = crate::gaussian::epsilon((2.0 * rho).sqrt(), delta)?.into_value();
                let best = zcdp.epsilon(delta).into_value();
                assert!(exact <= best && best <= zcdp.closed_epsilon(delta));
            }
        }
        Ok(())
    }

    #[test]
    fn closed_form_and_composition() -> Result<(), Error> {
        let zcdp = (Zcdp::new(0.01)? + Zcdp::new(0.03)?) * 5;
        assert_relative_eq!(zcdp.rho(), 0.2, max_relative = 1e-15);
        // The closed form is 0.2 + 2 √(0.2 ln 1e6).
        let closed = zcdp.closed_epsilon(Delta::new(1e-6)?);
        assert_relative_eq!(closed, 3.524_516_272_538_22, max_relative = 1e-12);
        assert_relative_eq!(Zcdp::from_pure(0.4)?.value().rho(), 0.08, max_relative = 1e-14);
        assert_eq!(refused(Zcdp::new(f64::NAN)), Some("the concentrated parameter rho"));
        assert_eq!(refused(Zcdp::from_pure(-1.0)), Some("epsilon"));
        assert_eq!(Zcdp::new(f64::INFINITY)?.epsilon(Delta::new(0.5)?).into_value(), f64::INFINITY);
        Ok(())
    }
}
