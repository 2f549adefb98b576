//! Gaussian differential privacy: the exact account of Gaussian noise.
//!
//! A view is `μ`-Gaussian-DP when telling two neighboring datasets apart from it is at least as hard as
//! telling `N(0, 1)` from `N(μ, 1)`. Adaptive composition adds the squares of `μ`, without loss. Values are
//! exact for that pair of normal laws: exact for a Gaussian release of known sensitivity, an upper
//! bound for any other `μ`-Gaussian-DP release.
//!
//! # References
//! - Dong, Roth and Su, *Gaussian differential privacy*, 2019, arXiv:1905.02383: Definition 2.6, Theorem 2.7
//!   (the Gaussian mechanism), Corollary 2.13 (conversion), Corollary 3.3 (composition), Corollary B.6
//!   (Rényi).

use crate::gaussian::{self, check_mu, hypot_up};
use crate::{
    ApproxDp, Delta, Error, Exact, Grade, Guarantee, Mechanism, Moves, Order, Sensitivity, Sigma, Stated,
    UpperBound,
};
use ndp_numeric::rounding::Interval;
use serde::{Deserialize, Serialize};

/// `μ`-Gaussian differential privacy, `0 ≤ μ ≤ ∞`.
///
/// # Examples
/// ```
/// use ndp_dp::{Delta, Gdp, Mechanism};
/// let both = Gdp::new(0.3)? + Gdp::new(0.4)?; // the squares of μ add up
/// assert!((both.mu() - 0.5).abs() < 1e-15);
/// assert!(*both.epsilon(Delta::new(1e-6)?).value() < 2.3);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Gdp(f64);

crate::lossless::checked_number!(Gdp);

impl Gdp {
    /// Takes a Gaussian parameter.
    ///
    /// # Errors
    /// [`Error::InvalidMu`] unless `0 ≤ μ ≤ ∞`, NaN included.
    pub fn new(mu: f64) -> Result<Self, Error> {
        check_mu(mu)?;
        Ok(Self(mu))
    }

    pub(crate) const fn unchecked(mu: f64) -> Self {
        Self(mu)
    }

    /// The Gaussian parameter `μ`.
    #[must_use]
    pub const fn mu(self) -> f64 {
        self.0
    }

    /// The natural logarithm of `δ` at `epsilon`, also where `δ` is below the smallest float; [`f64::MIN`] if
    /// it is below all finite floats, and `−∞` only for `δ = 0`. An upper bound where [`Mechanism::delta`] is
    /// one.
    ///
    /// # Errors
    /// [`Error::InvalidEpsilon`] unless `0 ≤ ε < ∞`.
    pub fn log_delta(self, epsilon: f64) -> Result<Guarantee<f64>, Error> {
        gaussian::log_delta(epsilon, self.0)
    }

    pub(crate) fn to_approx_dp(self, delta: Delta) -> ApproxDp {
        ApproxDp::clamped(gaussian::epsilon_of(self.0, delta), delta.get())
    }

    /// The trade-off function: the least type II error of any test with type I error `alpha` between the two
    /// datasets, `G_μ(α) = Φ(Φ^{−1}(1 − α) − μ)`, rounded down. A value below 1e-300 may be too small by
    /// three times the smallest float.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 ≤ alpha ≤ 1`.
    ///
    /// # References
    /// Dong, Roth and Su 2019, Definition 2.6, arXiv:1905.02383.
    pub fn trade_off(self, alpha: f64) -> Result<Exact<f64>, Error> {
        gaussian::trade_off(alpha, self.0)
    }
}

/// Both releases together: `√(μ² + μ'²)`, rounded up.
impl std::ops::Add for Gdp {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(hypot_up(self.0, other.0))
    }
}

/// `count` such releases together: `√count μ`, rounded up.
impl std::ops::Mul<u64> for Gdp {
    type Output = Self;

    fn mul(self, count: u64) -> Self {
        Self(if count == 0 { 0.0 } else { (Interval::count(count).sqrt() * Interval::new(self.0)).high() })
    }
}

/// All values are exact for the pair of normal laws. The Rényi divergence is `α μ²/2`, `δ` at `ε` is `θ_ε(μ)
/// = Q(ε/μ − μ/2) − e^ε Q(ε/μ + μ/2)`, and `ε` at `δ` is the first float for which this was seen to be at
/// most `δ`. An `ε` so close to 0 that nine digits of it are not known is an upper bound, and so are a `δ`
/// that the last digits of a huge `μ` decide, finite losses above the largest float, and what is so close to
/// 0 that floats have few digits.
impl Mechanism for Gdp {
    fn rdp(&self, order: Order) -> Guarantee<f64> {
        let loss = half_square(order.get(), self.0);
        if loss.is_infinite() && self.0.is_finite() || loss > 0.0 && loss < f64::MIN_POSITIVE {
            // It is finite, and above the largest float; or so small that floats have few digits.
            return UpperBound::new(loss).into();
        }
        Exact::new(loss).into()
    }

    fn epsilon(&self, delta: Delta) -> Guarantee<f64> {
        gaussian::graded_epsilon(self.0, delta)
    }

    fn delta(&self, epsilon: f64) -> Result<Guarantee<f64>, Error> {
        gaussian::delta(epsilon, self.0)
    }

    fn pure_epsilon(&self) -> Guarantee<f64> {
        Exact::new(if self.0 == 0.0 { 0.0 } else { f64::INFINITY }).into()
    }
}

/// `factor · μ²/2`, rounded up.
pub(crate) fn half_square(factor: f64, mu: f64) -> f64 {
    if mu == 0.0 {
        return 0.0;
    }
    // The factor is multiplied by μ before μ² is formed: μ² alone may underflow for a tiny μ and a huge
    // factor.
    let mu = Interval::new(mu);
    (Interval::new(0.5) * (Interval::new(factor) * mu) * mu).high()
}

/// `factor · μ²/2`, rounded down.
pub(crate) fn half_square_down(factor: f64, mu: f64) -> f64 {
    let mu = Interval::new(mu);
    (Interval::new(0.5) * (Interval::new(factor) * mu) * mu).low().max(0.0)
}

/// `Δ/σ`, rounded up.
pub(crate) fn ratio_up(sensitivity: Sensitivity, sigma: Sigma) -> f64 {
    (Interval::new(sensitivity.get()) / Interval::new(sigma.get())).high()
}

/// Gaussian noise of standard deviation `sigma` on a query of the given sensitivity.
///
/// The guarantee is for the neighboring relation for which the sensitivity was computed, against an observer
/// of the noisy output.
///
/// # Examples
/// ```
/// use ndp_dp::{Delta, Gaussian, Sensitivity};
/// let release = Gaussian::within(1.0, Delta::new(1e-5)?, Sensitivity::new(2.0)?)?;
/// assert!((release.sigma.get() - 2.0 * 3.730_63).abs() < 1e-4);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gaussian {
    /// Sensitivity `Δ` of the query, in the Euclidean norm.
    pub sensitivity: Sensitivity,
    /// Standard deviation `σ` of the noise on every coordinate.
    pub sigma: Sigma,
}

impl Gaussian {
    /// The least noise that makes the query `(ε, δ)`-DP, rounded up: `σ = Δ/μ` for the largest `μ` that
    /// meets the target.
    ///
    /// # Errors
    /// [`Error::InvalidEpsilon`] unless `0 ≤ ε < ∞`, [`Error::InvalidSigma`] when the noise overflows.
    ///
    /// # References
    /// Balle and Wang 2018, Algorithm 1 (the analytic Gaussian mechanism), arXiv:1805.06530.
    pub fn within(epsilon: f64, delta: Delta, sensitivity: Sensitivity) -> Result<Self, Error> {
        let mu = Interval::new(gaussian::mu(epsilon, delta)?);
        Ok(Self { sensitivity, sigma: Sigma::new((Interval::new(sensitivity.get()) / mu).high())? })
    }

    /// The classic noise `σ = Δ √(2 ln(1.25/δ))/ε`, which is `(ε, δ)`-DP for `0 < ε < 1`: sound, larger than
    /// [`Self::within`].
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `0 < ε < 1`, where the theorem is proved; [`Error::InvalidSigma`]
    /// when the noise overflows.
    ///
    /// # References
    /// Dwork and Roth, *The algorithmic foundations of differential privacy*, 2014, Theorem A.1.
    pub fn classic(epsilon: f64, delta: Delta, sensitivity: Sensitivity) -> Result<UpperBound<Self>, Error> {
        let sigma = gaussian::sigma_classic(epsilon, delta, sensitivity)?;
        Ok(sigma.map(|sigma| Self { sensitivity, sigma }))
    }

    /// The Gaussian parameter `μ = Δ/σ`: exact when the sensitivity is attained. Where it is above the
    /// largest float it is `∞`, and losses are upper bounds.
    #[must_use]
    pub fn gdp(&self) -> Exact<Gdp> {
        Exact::new(Gdp(ratio_up(self.sensitivity, self.sigma)))
    }

    /// The best grade of what follows from `μ`.
    fn grade(&self) -> Grade {
        if self.gdp().value().mu().is_infinite() { Grade::UpperBound } else { Grade::Exact }
    }
}

/// The losses of its [`Gdp`].
impl Mechanism for Gaussian {
    fn stated(&self) -> Option<Stated> {
        Some(Stated::of(None, Moves::Vector { by: self.sensitivity.get() }, "ndp_dp::Gaussian"))
    }

    fn rdp(&self, order: Order) -> Guarantee<f64> {
        self.gdp().value().rdp(order).no_better_than(self.grade())
    }

    fn epsilon(&self, delta: Delta) -> Guarantee<f64> {
        self.gdp().value().epsilon(delta).no_better_than(self.grade())
    }

    fn delta(&self, epsilon: f64) -> Result<Guarantee<f64>, Error> {
        Ok(self.gdp().value().delta(epsilon)?.no_better_than(self.grade()))
    }

    fn pure_epsilon(&self) -> Guarantee<f64> {
        self.gdp().value().pure_epsilon()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Zcdp;
    use approx::assert_relative_eq;

    fn d(delta: f64) -> Delta {
        Delta::new(delta).unwrap()
    }

    #[test]
    fn composition_adds_squares() -> Result<(), Error> {
        let (three, four) = (Gdp::new(3.0)?, Gdp::new(4.0)?);
        assert_relative_eq!((three + four).mu(), 5.0);
        assert_relative_eq!((three * 9).mu(), 9.0);
        let none = 0;
        assert_eq!((Gdp::new(f64::INFINITY)? * none).mu(), 0.0);
        assert_relative_eq!(*three.rdp(Order::new(2.0)?).value(), 9.0);
        assert_relative_eq!(Zcdp::from(three).rho(), 4.5);
        Ok(())
    }

    /// Network DP specification, section 15: `ring_gaussian_exact_delta`.
    #[test]
    fn composed_profile_matches_reference_values() -> Result<(), Error> {
        let delta = |mu: f64| -> Result<f64, Error> { Ok((Gdp::new(mu)? * 5).delta(1.0)?.into_value()) };
        assert_relative_eq!(delta(0.2)?, 0.003_185_055_378_333_48, max_relative = 1e-13);
        assert_relative_eq!(delta(0.19)?, 0.002_148_407_181_129_714, max_relative = 1e-13);
        Ok(())
    }

    #[test]
    fn targets_are_met_and_not_wasted() -> Result<(), Error> {
        for (epsilon, delta) in [(0.5, 1e-6), (3.0, 1e-300), (20.0, 0.1), (1e4, 1e-10)] {
            let sensitivity = Sensitivity::new(2.5)?;
            let release = Gaussian::within(epsilon, d(delta), sensitivity)?;
            let reached = release.epsilon(d(delta)).into_value();
            assert!(reached <= epsilon && reached >= epsilon * (1.0 - 1e-9), "{reached} for {epsilon}");
        }
        assert!(
            matches!(Gdp::new(f64::NAN), Err(Error::InvalidMu(..)))
                && matches!(Gdp::new(-1.0), Err(Error::InvalidMu(..)))
        );
        assert_eq!(Gdp::new(0.0)?.epsilon(d(0.1)).into_value(), 0.0);
        assert_eq!(Gdp::new(f64::INFINITY)?.epsilon(d(0.1)).into_value(), f64::INFINITY);
        // 2e320 is finite, and above the largest float.
        let two = Order::new(2.0)?;
        assert_eq!(Gdp::new(1e160)?.rdp(two), UpperBound::new(f64::INFINITY).into());
        assert_eq!(Gdp::new(f64::INFINITY)?.rdp(two), Exact::new(f64::INFINITY).into());
        Ok(())
    }
}
