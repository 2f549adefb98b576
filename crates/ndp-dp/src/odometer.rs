//! An odometer: what Gaussian runs have cost, at whatever time one stops.
//!
//! The sum of the costs of several runs is a guarantee if the number of runs and their parameters were fixed
//! in advance. It is no guarantee against an observer who looks at the outputs and stops when they reveal
//! most: for up to 1000 runs with `μ = 0.1` each, stopped at the best time, a sum that claims `δ = 0.01`
//! holds only with `δ = 0.0571`. An odometer charges for the freedom to choose the time.
//!
//! # What it guarantees
//! Runs `1, 2, …` about the same data are each `μ_t`-Gaussian-DP given everything before, for a declared
//! `μ_t` that may be any function of the earlier outputs, as may the run itself. Let `V_t = Σ_{s ≤ t} μ_s²`,
//! let `ρ > 0` and `0 < δ < 1` be chosen before the first run, and
//!
//! `ε(V) = V/2 + √( (V + ρ) (2 ln(1/δ) + ln((V + ρ)/ρ)) )`.
//!
//! Then for any two neighboring data sets with output laws `P` and `Q`, in either direction, for every
//! stopping time `τ` (a rule that decides by what was seen so far whether to continue) and every event `S`
//! that is determined by what was seen until `τ`,
//!
//! `P(S) ≤ E_Q[ e^{ε(V_τ)} 1_S ] + δ`.
//!
//! If the rule ensures that `V_τ ≤ v`, this is `(ε(v), δ)`-differential privacy. If it does not, `ε(V_τ)`
//! depends on the outputs, and the inequality above is its meaning. It says nothing for a `δ` or `ρ` that is
//! chosen afterwards, and nothing about runs that depend on something the observer did not see.
//!
//! *Proof.* The outputs of a `μ`-Gaussian-DP run are a function of a draw from `N(μ, 1)` under one data set
//! and from `N(0, 1)` under the other, so the proof may assume that these are the outputs. Under `P` the
//! log-likelihood ratio `L` has `B = L − V/2`, a martingale with Gaussian increments of variance `dV`;
//! `exp(λ B − λ² V/2)` mixed over `λ ~ N(0, 1/ρ)` is the nonnegative martingale
//! `√(ρ/(V + ρ)) exp(B²/(2 (V + ρ)))` with mean 1, and by Ville's inequality it exceeds `1/δ` at some time
//! with probability at most `δ`. Outside that event `L_τ ≤ ε(V_τ)`, hence `P(S) ≤ P(S, L_τ ≤ ε(V_τ)) + δ ≤
//! E_Q[e^{ε(V_τ)} 1_S] + δ`. ∎
//!
//! # Examples
//! ```
//! use ndp_dp::{Delta, Gdp, Mechanism, Odometer};
//! let delta = Delta::new(1e-5)?;
//! let mut odometer = Odometer::new(1.0, delta)?;
//! for _ in 0..100 {
//!     odometer.record(Gdp::new(0.1)?);
//! }
//! // The freedom to stop at any time costs 7.3875 instead of the 4.3772 of a hundred runs fixed in advance.
//! assert!((odometer.epsilon().value().epsilon() - 7.3875).abs() < 1e-4);
//! assert!(((Gdp::new(0.1)? * 100).epsilon(delta).value() - 4.3772).abs() < 1e-4);
//! # Ok::<(), ndp_dp::Error>(())
//! ```
//!
//! # References
//! - Whitehouse, Ramdas, Rogers, Wu, *Fully-adaptive composition in differential privacy*, ICML 2023,
//!   arXiv:2203.05481 (odometers).
//! - Ville's inequality and mixtures over a normal law: Robbins, *Statistical methods related to the law of
//!   the iterated logarithm*, Ann. Math. Statist. 41, 1970. The constants are derived above.

use crate::error::ensure_positive;
use crate::{ApproxDp, Delta, Error, Gdp, UpperBound};
use ndp_numeric::rounding::Interval;

/// What Gaussian runs have cost so far, at whatever time one stops. The [module](self) states the guarantee.
///
/// # Examples
/// ```
/// use ndp_dp::{Delta, Gdp, Odometer};
/// let mut odometer = Odometer::new(0.25, Delta::new(1e-6)?)?;
/// assert_eq!(odometer.epsilon().value().epsilon(), 0.0); // no run yet
/// odometer.record(Gdp::new(0.3)?);
/// odometer.record(Gdp::new(0.4)?); // chosen after the first output was seen
/// assert!((odometer.variance().value() - 0.25).abs() < 1e-12);
/// assert!(odometer.epsilon().value().epsilon() < 3.94);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Odometer {
    rho: f64,
    delta: Delta,
    variance: f64,
}

impl Odometer {
    /// An odometer before its first run. The best `rho` is about the sum of squares `V` at which one expects
    /// to stop; every value is sound.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `rho` is positive and finite.
    pub fn new(rho: f64, delta: Delta) -> Result<Self, Error> {
        ensure_positive("the rho of an odometer", rho)?;
        Ok(Self { rho, delta, variance: 0.0 })
    }

    /// The `ρ` that was chosen.
    #[must_use]
    pub const fn rho(&self) -> f64 {
        self.rho
    }

    /// The `δ` that was chosen.
    #[must_use]
    pub const fn delta(&self) -> Delta {
        self.delta
    }

    /// Adds a run that took place, by its declared parameter.
    pub fn record(&mut self, run: Gdp) {
        let mu = Interval::new(run.mu());
        let square = if run.mu() == 0.0 { Interval::ZERO } else { mu * mu };
        self.variance = (Interval::new(self.variance) + square).high();
    }

    /// `V`, the sum of the declared `μ²` so far, rounded up.
    #[must_use]
    pub const fn variance(&self) -> UpperBound<f64> {
        UpperBound::new(self.variance)
    }

    /// `(ε(V), δ)` for the runs so far, rounded up; `(0, δ)` before anything was learned.
    #[must_use]
    pub fn epsilon(&self) -> UpperBound<ApproxDp> {
        UpperBound::new(ApproxDp::clamped(self.epsilon_of(self.variance), self.delta.get()))
    }

    /// `ε(V)`, rounded up. If `V = 0`, nothing was learned and the loss is 0.
    fn epsilon_of(&self, variance: f64) -> f64 {
        if variance == 0.0 {
            return 0.0;
        }
        let (v, rho) = (Interval::new(variance), Interval::new(self.rho));
        let two = Interval::new(2.0);
        let ratio = v / rho;
        let grown = if ratio.high().is_finite() { ratio.ln_1p() } else { (v + rho).ln() - rho.ln() };
        let tail = grown - two * Interval::new(self.delta.get()).ln();
        // The product of two roots does not overflow where the root of a product would.
        (v / two + (v + rho).sqrt() * tail.sqrt()).high()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mechanism;
    use approx::assert_relative_eq;
    use rand::RngExt;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    fn after(rho: f64, delta: f64, squares: &[f64]) -> f64 {
        let mut odometer = Odometer::new(rho, Delta::new(delta).unwrap()).unwrap();
        for square in squares {
            odometer.record(Gdp::new(square.sqrt()).unwrap());
        }
        odometer.epsilon().into_value().epsilon()
    }

    /// The first value is that of the specification; all are by mpmath at 30 digits.
    #[test]
    fn values_match_many_digits() {
        for (rho, delta, variance, expected) in VALUES {
            let found = after(rho, delta, &[variance]);
            assert_relative_eq!(found, expected, max_relative = 1e-14);
            assert!(found >= expected * (1.0 - 1e-16));
        }
        assert_relative_eq!(after(1.0, 1e-5, &[1.0]), 7.3875, epsilon = 5e-5);
        assert_relative_eq!(after(1.0, 1e-5, &[0.25; 4]), after(1.0, 1e-5, &[1.0]));
    }

    /// A normal value by the polar method.
    fn normal(rng: &mut ChaCha8Rng) -> f64 {
        loop {
            let (x, y) = (2.0 * rng.random::<f64>() - 1.0, 2.0 * rng.random::<f64>() - 1.0);
            let square: f64 = x * x + y * y;
            if 0.0 < square && square < 1.0 {
                return x * (-2.0 * square.ln() / square).sqrt();
            }
        }
    }

    /// Up to 1000 runs of `μ = 0.1`, stopped when the loss `L` is well above the claimed `ε`. The true `δ` is
    /// `E_P (1 − e^{ε − L})₊` at that time. Where the plain sum claims 0.01, the best rule (by backward
    /// induction on a fine grid) reaches 0.0571, and the simple rule used here comes close to it.
    #[test]
    fn who_stops_at_the_best_time_breaks_the_sum_and_not_the_odometer() -> Result<(), Error> {
        let (mu, runs, paths, delta) = (0.1, 1000_u64, 20_000_u32, Delta::new(0.01)?);
        let sum: Vec<f64> = (1..=runs)
            .map(|t| Ok((Gdp::new(mu)? * t).epsilon(delta).into_value()))
            .collect::<Result<_, Error>>()?;
        let mut odometer = Odometer::new(0.25, delta)?;
        let paid: Vec<f64> = (0..runs)
            .map(|_| {
                odometer.record(Gdp::unchecked(mu));
                odometer.epsilon().into_value().epsilon()
            })
            .collect();
        let rng = &mut ChaCha8Rng::seed_from_u64(7);
        let (mut reached, mut exceeded) = (0.0, 0_u32);
        for _ in 0..paths {
            let (mut loss, mut stopped, mut beyond) = (0.0, None, false);
            for (sum, paid) in sum.iter().zip(&paid) {
                loss += mu * normal(rng) + mu * mu / 2.0;
                if stopped.is_none() && loss > sum + 0.25 {
                    stopped = Some(1.0 - (sum - loss).exp());
                }
                beyond |= loss > *paid;
            }
            reached += stopped.unwrap_or(0.0);
            exceeded += u32::from(beyond);
        }
        let (reached, exceeded) = (reached / f64::from(paths), f64::from(exceeded) / f64::from(paths));
        // The standard errors of the simulated probabilities are below 0.001.
        assert!((0.045..0.0571 + 0.005).contains(&reached), "{reached} instead of 0.01");
        assert!(exceeded <= 0.01, "the odometer is exceeded on a share {exceeded} of the paths");
        assert!(exceeded >= 0.001, "a bound that is never near says nothing: {exceeded}");
        Ok(())
    }

    /// For every `ρ` the odometer gives more than runs fixed in advance, and the best `ρ` is of the size of
    /// `V`.
    #[test]
    fn the_odometer_is_dearer_than_a_plan() -> Result<(), Error> {
        for delta in [1e-9, 1e-5, 0.01] {
            for variance in [1e-6, 0.01, 1.0, 30.0] {
                let planned = Gdp::new(f64::sqrt(variance))?.epsilon(Delta::new(delta)?).into_value();
                for rho in [1e-9, 1e-3, 1.0, 1e6] {
                    assert!(after(rho * variance, delta, &[variance]) > planned);
                }
                let near = after(variance / 10.0, delta, &[variance]);
                assert!(near < after(1e-4 * variance, delta, &[variance]));
                assert!(near < after(100.0 * variance, delta, &[variance]));
            }
        }
        Ok(())
    }

    #[test]
    fn extremes_are_limits_or_errors() -> Result<(), Error> {
        for rho in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(Odometer::new(rho, Delta::new(0.1)?), Err(Error::InvalidParameter { .. })));
        }
        assert_eq!(after(1.0, 0.1, &[]), 0.0);
        assert_eq!(after(1.0, 0.1, &[0.0, 0.0]), 0.0);
        assert_eq!(after(1.0, 0.1, &[f64::INFINITY]), f64::INFINITY);
        assert!(after(5e-324, 1e-300, &[1.0]).is_finite() && after(1e308, 1e-300, &[1.0]).is_finite());
        // A μ whose square underflows still counts as something.
        let mut odometer = Odometer::new(1.0, Delta::new(0.1)?)?;
        odometer.record(Gdp::new(1e-200)?);
        assert!(odometer.epsilon().into_value().epsilon() > 2.0);
        Ok(())
    }

    const VALUES: [(f64, f64, f64, f64); 4] = [
        (1.0, 1e-5, 1.0, 7.387_524_680_246_22),
        (0.25, 1e-6, 0.09, 3.127_059_697_236_575_7),
        (3.0, 1e-12, 100.0, 127.821_657_460_735_94),
        (1e-3, 0.3, 1e-6, 0.049_106_039_953_185_94),
    ];
}
