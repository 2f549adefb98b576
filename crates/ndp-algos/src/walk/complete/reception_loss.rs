//! The loss of one reception by the secrecy of the path: the exposed node may not be in the segment at all.
//!
//! A segment of `m` foreign steps contains the exposed node `k ~ Bin(m, ρ)` times, `ρ = 1/(n − c)`. For an
//! observer who does not know who acted, this is drawing with replacement, which lowers the loss: with `g_m =
//! 1 − (1 − ρ)^m` and `ε_m = ln(1 + (e^ε − 1)/g_m)`,
//!
//! `cycle(ε, m) = Σ_{k≥1} Bin(k; m, ρ) δ_k(ε_m)`, where `δ_k` is the profile of `k` contributions among the
//! `m`.
//!
//! The data may differ from visit to visit. The cost of all receptions together is not composed from this:
//! see [`steps`](super::steps).
//!
//! Every value is rounded up: masses, profiles and sums by bounds on their errors, and the Gaussian profile
//! by twice its stated accuracy. The inner `ε_m` is rounded down. Mass that is left out of a sum is added to
//! it.
//!
//! # References
//! - Balle, Barthe and Gaboardi, *Privacy amplification by subsampling*, 2018, arXiv:1807.01647: Theorem 10
//!   (with replacement, exact group profiles).
//! - Cyffers and Bellet, arXiv:2012.05326: Theorems 3 and 6, which this module replaces.

use super::constant_data::require_no_caps;
use super::{CompleteSum, CompleteWalk};
use ndp_account::Error;
use ndp_dp::{Mechanism, UpperBound};
use ndp_numeric::gaussian_profile;
use ndp_numeric::sums::up;

/// How well `k` contributions of one node are hidden among the `m` of a segment.
pub(crate) trait GroupProfile {
    /// An upper bound on `δ` at `epsilon`, at most 1.
    fn delta(&self, epsilon: f64, k: u64, m: u64) -> Result<f64, Error>;
}

/// Contributions with Gaussian noise: a shift of `k Δ` in noise of standard deviation `σ √m`.
pub(crate) struct GaussianSum {
    pub(crate) mu: f64,
}

impl GroupProfile for GaussianSum {
    fn delta(&self, epsilon: f64, k: u64, m: u64) -> Result<f64, Error> {
        let theta = gaussian_profile::theta(epsilon, up(k as f64 * self.mu / (m as f64).sqrt()));
        if theta == 0.0 {
            // A quotient of 0, which may be an underflow.
            let private =
                self.mu == 0.0 || gaussian_profile::log_theta(epsilon, self.mu) == f64::NEG_INFINITY;
            return Ok(if private { 0.0 } else { f64::MIN_POSITIVE });
        }
        Ok((theta * (1.0 + 2e-14 * (1.0 - theta.ln()))).min(1.0))
    }
}

impl CompleteSum {
    /// The loss `δ` at `ε` of one reception by one observer, after `foreign` steps of others. The observer
    /// does not know from whom its token comes and to whom it goes. The data may differ from visit to visit.
    ///
    /// # Errors
    /// [`ndp_dp::Error::InvalidEpsilon`] unless `0 ≤ ε < ∞`; [`Error::NoGuarantee`] unless the noise is
    /// Gaussian, and if a cap may keep a node from contributing.
    ///
    /// # Examples
    /// ```
    /// use ndp_algos::walk::complete::{CompleteSum, CompleteWalk};
    /// use ndp_algos::walk::{Bounds, TokenNoise};
    /// use ndp_dp::Sigma;
    /// let (bounds, noise) = (Bounds::new(0.0, 1.0)?, TokenNoise::gaussian(Sigma::new(1.0)?));
    /// let sum = CompleteSum { walk: CompleteWalk::new(50, 500)?, bounds, noise, constant_data: true };
    /// // Forty noises, and the node in question need not be among their forty.
    /// assert!(*sum.reception_delta(0.1, 40)?.value() < 0.05);
    /// # Ok::<(), ndp_account::Error>(())
    /// ```
    pub fn reception_delta(&self, epsilon: f64, foreign: u64) -> Result<UpperBound<f64>, Error> {
        let gdp = self.mu()?.into_value();
        gdp.delta(epsilon)?;
        require_no_caps(self.walk)?;
        let profile = GaussianSum { mu: gdp.mu() };
        Ok(UpperBound::new(self.walk.segment_delta(epsilon, foreign, &profile)?))
    }
}

impl CompleteWalk {
    /// `Σ_{k≥1} Bin(k; m, ρ) δ_k(ε_m)` with `m` foreign steps; 0 for none.
    pub(crate) fn segment_delta(
        &self,
        epsilon: f64,
        m: u64,
        profile: &impl GroupProfile,
    ) -> Result<f64, Error> {
        if m == 0 {
            return Ok(0.0);
        }
        let rho = self.exposure_probability();
        if rho >= 1.0 {
            return profile.delta(epsilon, m, m);
        }
        let ln_absent = m as f64 * (-rho).ln_1p();
        let inner = amplified(epsilon, (-ln_absent.exp_m1() * (1.0 + 4.0 * f64::EPSILON)).min(1.0));
        let ln_odds = rho.ln() - (-rho).ln_1p();
        let mut ln_mass = ln_absent;
        // The roundings of the logarithm, each proportional to the size of the term and of the sum.
        let mut errors = 4.0 * ln_absent.abs();
        let mut total = 0.0;
        for k in 1..=m {
            let ratio = (m - k + 1) as f64 / k as f64;
            ln_mass += ratio.ln() + ln_odds;
            errors += 2.0 * ratio.ln().abs() + 4.0 * ln_odds.abs() + 2.0 * ln_mass.abs();
            let mass = ln_mass.exp() * (1.0 + (errors + 4.0) * f64::EPSILON);
            total += if mass < NEGLIGIBLE { mass } else { mass * profile.delta(inner, k, m)? };
            // The ratio of successive masses decreases, so that the rest is below a geometric series.
            let next = ((m - k) as f64 / (k + 1) as f64).ln() + ln_odds;
            if next < -std::f64::consts::LN_2 {
                let rest =
                    up(mass * next.exp() / (1.0 - next.exp())) * (1.0 + 8.0 * next.abs() * f64::EPSILON);
                if rest < NEGLIGIBLE {
                    total += rest;
                    total *= 1.0 + k as f64 * f64::EPSILON;
                    break;
                }
            }
            if k == m {
                total *= 1.0 + k as f64 * f64::EPSILON;
            }
        }
        Ok(total.min(1.0))
    }
}

/// `ln(1 + (e^ε − 1)/g)`, finite for every finite `ε`, rounded down.
fn amplified(epsilon: f64, g: f64) -> f64 {
    let value = if epsilon < 1.0 {
        (epsilon.exp_m1() / g).ln_1p()
    } else {
        epsilon - g.ln() + ((g - 1.0) * (-epsilon).exp()).ln_1p()
    };
    (value * (1.0 - 16.0 * f64::EPSILON)).max(epsilon)
}

/// A remaining mass this small is added instead of being summed term by term.
const NEGLIGIBLE: f64 = 1e-17;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::{Bounds, TokenNoise};
    use approx::assert_relative_eq;
    use ndp_dp::Sigma;

    fn sum(n: usize, steps: usize, mu: f64) -> Result<CompleteSum, Error> {
        let (bounds, noise) = (Bounds::new(0.0, 1.0)?, TokenNoise::gaussian(Sigma::new(1.0 / mu)?));
        Ok(CompleteSum { walk: CompleteWalk::new(n, steps)?, bounds, noise, constant_data: true })
    }

    /// A table of the specification: `cycle_delta_certified(ε, n, m, μ)`.
    #[test]
    fn cycles_match_reference_values() -> Result<(), Error> {
        for (epsilon, n, m, mu, reference) in
            [(0.05, 10, 3, 0.5, 0.020_927_097_070_268_144), (0.2, 20, 10, 1.0, 0.017_706_332_743_021_17)]
        {
            let value = *sum(n, 1000, mu)?.reception_delta(epsilon, m)?.value();
            assert_relative_eq!(value, reference, max_relative = 1e-11);
        }
        Ok(())
    }

    /// A single foreign step is subsampling of one in `n − 1`, for which the bound is exact.
    #[test]
    fn a_single_step_is_plain_subsampling() -> Result<(), Error> {
        for n in [3, 7, 40] {
            let q = 1.0 / (n as f64 - 1.0);
            for epsilon in [0.0, 0.3, 2.0] {
                let inner = (f64::exp_m1(epsilon) / q).ln_1p();
                let value = *sum(n, 9, 0.8)?.reception_delta(epsilon, 1)?.value();
                assert_relative_eq!(value, q * gaussian_profile::theta(inner, 0.8), max_relative = 1e-12);
            }
        }
        Ok(())
    }

    /// The hockey-stick divergence between the exact mixtures by numerical integration, in two settings: the
    /// others contribute 0 or 1, and u moves from 0 to 1.
    #[test]
    fn cycles_bound_the_exact_mixture() -> Result<(), Error> {
        let density = |x: f64, mean: f64, std: f64| {
            (-0.5 * ((x - mean) / std).powi(2)).exp() / (std * (2.0 * std::f64::consts::PI).sqrt())
        };
        for (n, m, mu, epsilon, other) in
            [(3usize, 3u64, 1.0, 0.2f64, 0.0), (5, 4, 0.5, 0.1, 0.0), (4, 2, 2.0, 0.5, 1.0)]
        {
            let rho = 1.0 / (n as f64 - 1.0);
            let (std, m_f) = ((m as f64).sqrt() / mu, m as f64);
            let mut masses = vec![(1.0 - rho).powi(m as i32)];
            for k in 1..=m {
                let last = masses[k as usize - 1];
                masses.push(last * (m - k + 1) as f64 / k as f64 * rho / (1.0 - rho));
            }
            let mixture = |x: f64, own: f64| -> f64 {
                let mean = |k: usize| k as f64 * own + (m_f - k as f64) * other;
                masses.iter().enumerate().map(|(k, mass)| mass * density(x, mean(k), std)).sum()
            };
            let (low, high, points) = (-m_f - 12.0 * std, 2.0 * m_f + 12.0 * std, 200_000);
            let width = (high - low) / f64::from(points);
            for (own, changed) in [(0.0, 1.0), (1.0, 0.0)] {
                let exact: f64 = (0..points)
                    .map(|i| low + (f64::from(i) + 0.5) * width)
                    .map(|x| (mixture(x, own) - epsilon.exp() * mixture(x, changed)).max(0.0) * width)
                    .sum();
                let bound = *sum(n, 50, mu)?.reception_delta(epsilon, m)?.value();
                assert!(exact <= bound * (1.0 + 1e-6), "{exact} above {bound}");
            }
        }
        Ok(())
    }

    #[test]
    fn bad_input_is_refused() -> Result<(), Error> {
        let walk = CompleteWalk::new(5, 50)?;
        let sum = CompleteSum { walk, ..sum(2, 2, 0.5)? };
        for epsilon in [f64::NAN, -0.1] {
            let found = sum.reception_delta(epsilon, 3);
            assert!(matches!(found, Err(Error::Privacy(ndp_dp::Error::InvalidEpsilon(_)))));
        }
        assert_eq!(*sum.reception_delta(0.1, 0)?.value(), 0.0);
        // A much too large ε does not overflow.
        assert!(*sum.reception_delta(1e5, 4)?.value() < 1e-300);
        Ok(())
    }
}
