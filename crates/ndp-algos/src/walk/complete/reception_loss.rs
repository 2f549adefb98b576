//! Loss per reception from the secrecy of the path: the exposed node may not be in the segment at all.
//!
//! A segment of `m` foreign steps holds the exposed node `k ~ Bin(m, ρ)` times, `ρ = 1/(n − c)`. To an
//! observer who does not know who acted, drawing with replacement lowers the loss: with `g_m = 1 − (1 − ρ)^m`
//! and `ε_m = ln(1 + (e^ε − 1)/g_m)`,
//!
//! `cycle(ε, m) = Σ_{k≥1} Bin(k; m, ρ) δ_k(ε_m)`, `δ_k` the profile of `k` contributions among the `m`;
//! `visit(ε) = Σ_{m≥1} (c/n) q^m cycle(ε, m)`, `q = 1 − c/n`, for one reception.
//!
//! Receptions compose at one `ε` each where every node contributes the same data at each visit
//! ([`ConstantWalk`]); their times do not depend on the data and may be known. For a single reception the
//! data may differ from visit to visit.
//!
//! Every value is rounded up: masses, profiles and sums by bounds on their errors, that of the Gaussian
//! profile twice its stated accuracy; the inner `ε_m` down; mass left out of a sum is added to it.
//!
//! # References
//! - Balle, Barthe and Gaboardi, *Privacy amplification by subsampling*, 2018, arXiv:1807.01647: Theorem 10
//!   (with replacement, exact group profiles).
//! - Cyffers and Bellet, arXiv:2012.05326: Theorems 3 and 6, in whose place this stands.

use super::constant_data::{ConstantWalk, require_no_caps};
use super::guarantee::Visits;
use super::{CompleteSum, CompleteWalk};
use crate::walk::level::{LEAST_LEVEL, Levelled, ROUGH, best_level, least_level};
use ndp_account::Error;
use ndp_dp::composition::Rule;
use ndp_dp::{ApproxDp, Delta, Mechanism, UpperBound, tails};
use ndp_linalg::stop::checkpoint;
use ndp_numeric::casts::floor;
use ndp_numeric::gaussian_profile;
use ndp_numeric::sums::{Total, up};
use rayon::prelude::*;

/// How well `k` contributions of one node hide among the `m` of a segment.
pub(crate) trait GroupProfile: Sync {
    /// An upper bound on `δ` at `epsilon`, at most 1; any bound below `enough` will do, and any number where
    /// that is infinite: it is asked for to see where a search may begin.
    fn delta(&self, epsilon: f64, k: u64, m: u64, enough: f64) -> Result<f64, Error>;
}

/// Contributions with Gaussian noise: a shift of `k Δ` behind a noise of `σ √m`.
pub(crate) struct GaussianSum {
    pub(crate) mu: f64,
}

impl GroupProfile for GaussianSum {
    fn delta(&self, epsilon: f64, k: u64, m: u64, _enough: f64) -> Result<f64, Error> {
        let theta = gaussian_profile::theta(epsilon, up(k as f64 * self.mu / (m as f64).sqrt()));
        if theta == 0.0 {
            // Nothing, or an underflow.
            let private =
                self.mu == 0.0 || gaussian_profile::log_theta(epsilon, self.mu) == f64::NEG_INFINITY;
            return Ok(if private { 0.0 } else { f64::MIN_POSITIVE });
        }
        Ok((theta * (1.0 + 2e-14 * (1.0 - theta.ln()))).min(1.0))
    }
}

/// A guarantee by composition over the receptions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Receptions {
    /// The guarantee of the whole run.
    pub approx_dp: ApproxDp,
    /// What is composed: what one reception costs, its `ε` and the `δ` that follows; or, where that is
    /// cheaper, what one report costs that everybody sees, or all Gaussian contributions of a node together.
    pub reception: ApproxDp,
    /// How many of them are accounted for.
    pub count: u64,
    /// The composition theorem used.
    pub rule: Rule,
}

impl CompleteSum {
    /// The loss `δ` at `ε` of one reception by one observer, who is hidden from whom its token comes and to
    /// whom it goes, after `foreign` steps of others: what an account of [constant data](Self::constant_data)
    /// for hidden senders composes.
    ///
    /// Of one reception alone the data may even differ from visit to visit.
    ///
    /// # Errors
    /// [`ndp_dp::Error::InvalidEpsilon`] unless `0 ≤ ε < ∞`; [`Error::NoGuarantee`] unless the noise is
    /// Gaussian, and where a cap may keep a node from contributing.
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
        Ok(UpperBound::new(self.walk.segment_delta(epsilon, foreign, foreign, &profile, Precision::FULL)?))
    }
}

impl CompleteWalk {
    /// `Σ_{k≥1} Bin(k; s, ρ) δ_k(ε_s)` with `s` unknown steps and `m` noises or reports; 0 for `s = 0`.
    pub(crate) fn segment_delta(
        &self,
        epsilon: f64,
        s: u64,
        m: u64,
        profile: &impl GroupProfile,
        precision: Precision,
    ) -> Result<f64, Error> {
        if s == 0 {
            return Ok(0.0);
        }
        let rho = self.exposure_probability();
        if rho >= 1.0 {
            return profile.delta(epsilon, s, m, precision.enough);
        }
        let ln_absent = s as f64 * (-rho).ln_1p();
        let inner = amplified(epsilon, (-ln_absent.exp_m1() * (1.0 + 4.0 * f64::EPSILON)).min(1.0));
        let ln_odds = rho.ln() - (-rho).ln_1p();
        let mut ln_mass = ln_absent;
        // Roundings of the logarithm, each of the size of what is added and of the sum.
        let mut errors = 4.0 * ln_absent.abs();
        let mut total = 0.0;
        for k in 1..=s {
            let ratio = (s - k + 1) as f64 / k as f64;
            ln_mass += ratio.ln() + ln_odds;
            errors += 2.0 * ratio.ln().abs() + 4.0 * ln_odds.abs() + 2.0 * ln_mass.abs();
            let mass = ln_mass.exp() * (1.0 + (errors + 4.0) * f64::EPSILON);
            total += if mass < precision.negligible {
                mass
            } else {
                mass * profile.delta(inner, k, m, precision.enough)?
            };
            // Ratios of later masses only fall: the rest is below a geometric series.
            let next = ((s - k) as f64 / (k + 1) as f64).ln() + ln_odds;
            if next < -std::f64::consts::LN_2 {
                let rest =
                    up(mass * next.exp() / (1.0 - next.exp())) * (1.0 + 8.0 * next.abs() * f64::EPSILON);
                if rest < precision.negligible {
                    total += rest;
                    total *= 1.0 + k as f64 * f64::EPSILON;
                    break;
                }
            }
            if k == s {
                total *= 1.0 + k as f64 * f64::EPSILON;
            }
        }
        Ok(total.min(1.0))
    }

    /// The loss of one reception averaged over the length of its segment.
    pub(crate) fn averaged_delta(
        &self,
        epsilon: f64,
        neighbors: Neighbors,
        profile: &impl GroupProfile,
        precision: Precision,
    ) -> Result<f64, Error> {
        checkpoint();
        // Longer segments are negligibly rare; a walk has none of T foreign steps before a reception.
        let all = self.step_count() - 1;
        let longest = floor((precision.negligible.ln() / self.ln_foreign()).ceil()).min(all);
        let reception = up(self.reception_probability());
        // q^m, rounded up.
        let foreign = |m: u64| {
            let ln = m as f64 * self.ln_foreign();
            ln.exp() * (1.0 + (4.0 * ln.abs() + 4.0) * f64::EPSILON)
        };
        let rho = self.exposure_probability();
        let parts: Result<Vec<f64>, Error> = (0..longest)
            .into_par_iter()
            .with_min_len(16)
            .map(|index| {
                let m = index as u64 + 1;
                let cd = |s: u64, m: u64| self.segment_delta(epsilon, s, m, profile, precision);
                let cycle = match neighbors {
                    Neighbors::Hidden => cd(m, m)?,
                    Neighbors::Known if m < 3 => 0.0,
                    Neighbors::Known => up((1.0 - rho).powi(2) * cd(m - 2, m)?
                        + 2.0 * rho * (1.0 - rho) * cd(m - 2, m - 1)?
                        + rho * rho * cd(m - 2, m - 2)?),
                };
                Ok(reception * foreign(m) * cycle)
            })
            .collect();
        let mut total = Total::default();
        parts?.into_iter().for_each(|part| total.add(part));
        if longest < all {
            total.add(foreign(longest as u64 + 1));
        }
        Ok(up(total.value()).min(1.0))
    }

    /// The loss of the published token: its segment has `j < T` foreign steps with probability `(c/n) q^j`,
    /// and `T` with probability `q^T`.
    fn last_delta(
        &self,
        epsilon: f64,
        visit: f64,
        profile: &impl GroupProfile,
        precision: Precision,
    ) -> Result<f64, Error> {
        let steps = self.step_count() as u64;
        let ln_unseen = steps as f64 * self.ln_foreign();
        let unseen = ln_unseen.exp() * (1.0 + (4.0 * ln_unseen.abs() + 4.0) * f64::EPSILON);
        let whole = if unseen < precision.negligible {
            1.0
        } else {
            self.segment_delta(epsilon, steps, steps, profile, precision)?
        };
        Ok(up(visit + unseen * whole).min(1.0))
    }
}

impl ConstantWalk {
    /// The smallest `ε` at `δ` found by composition over the receptions of a sum with Gaussian noise, senders
    /// and receivers hidden; never above the local guarantee. A tenth of `δ` pays for more receptions (or
    /// contributions) than accounted for.
    ///
    /// # Errors
    /// [`ndp_dp::Error`] unless `0 ≤ μ < ∞`; [`ndp_dp::Error::NotAchievable`] when no reception is cheap
    /// enough.
    pub(crate) fn hidden_epsilon(&self, mu: f64, delta: Delta) -> Result<UpperBound<Receptions>, Error> {
        require_finite(mu)?;
        let composed = self.compose_receptions(Neighbors::Hidden, &GaussianSum { mu }, &[], delta);
        cheaper(composed, self.seen_alone(mu, Visits::Quantile(Delta::new(delta.get() / 10.0)?), delta)?)
    }

    /// All contributions of a node as one Gaussian release.
    pub(crate) fn seen_alone(&self, mu: f64, visits: Visits, delta: Delta) -> Result<Receptions, Error> {
        let epsilon = self.walk().local_epsilon(mu, visits, delta)?.into_value();
        let approx_dp = ApproxDp::new(epsilon, delta.get())?;
        Ok(Receptions { approx_dp, reception: approx_dp, count: 1, rule: Rule::Naive })
    }

    /// Composes the receptions, at the `ε` per reception that suits best, with other releases.
    pub(crate) fn compose_receptions(
        &self,
        neighbors: Neighbors,
        profile: &impl GroupProfile,
        others: &[(ApproxDp, u64)],
        delta: Delta,
    ) -> Result<UpperBound<Receptions>, Error> {
        let walk = self.walk();
        if walk.is_published() && neighbors == Neighbors::Known {
            return Err(Error::NoGuarantee(
                "no rule for publication is known when senders and receivers are; withhold the final token",
            ));
        }
        let failure = Delta::new(delta.get() / 10.0)?;
        let count = *tails::n_exact(walk.step_count() as u64, walk.reception_probability(), failure)?.value();
        let rest = Delta::new(delta.get() - failure.get())?;
        let parts = |epsilon: f64, precision: Precision| -> Result<Vec<(ApproxDp, u64)>, Error> {
            let visit = walk.averaged_delta(epsilon, neighbors, profile, precision)?;
            let mut parts = others.to_vec();
            parts.push((ApproxDp::new(epsilon, visit)?, count));
            if walk.is_published() {
                let last = walk.last_delta(epsilon, visit, profile, precision)?;
                parts.push((ApproxDp::new(epsilon, last)?, 1));
            }
            Ok(parts)
        };
        // A ten-thousandth of what a reception may spend.
        let negligible = 1e-4 * rest.get() / count.max(1) as f64;
        let fine = Precision { negligible, enough: negligible };
        // The cheapest bounds tell where to look.
        let rough = Precision { negligible, enough: f64::INFINITY };
        let start = least_level(rest, LEAST_LEVEL, ROUGH, |level| parts(level, rough))?;
        let Levelled { composed, parts, .. } = best_level(rest, start, |level| parts(level, fine))?;
        Ok(UpperBound::new(Receptions {
            approx_dp: ApproxDp::new(composed.total.epsilon(), delta.get())?,
            reception: parts[others.len()].0,
            count,
            rule: composed.rule,
        }))
    }
}

/// Nothing for `0 ≤ μ < ∞`.
pub(crate) fn require_finite(mu: f64) -> Result<(), Error> {
    if 0.0 <= mu && mu.is_finite() { Ok(()) } else { Err(ndp_dp::Error::InvalidMu(mu).into()) }
}

/// The cheaper of a composition, which may not be achievable, and another guarantee at the same `δ`.
pub(crate) fn cheaper(
    composed: Result<UpperBound<Receptions>, Error>,
    other: Receptions,
) -> Result<UpperBound<Receptions>, Error> {
    match composed {
        Err(Error::Privacy(ndp_dp::Error::NotAchievable { .. })) => Ok(UpperBound::new(other)),
        Ok(composed) if other.approx_dp.epsilon() < composed.value().approx_dp.epsilon() => {
            Ok(UpperBound::new(other))
        }
        composed => composed,
    }
}

/// Whether the observer knows from whom its tokens come and to whom they go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Neighbors {
    Hidden,
    Known,
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

/// What need not be computed.
#[derive(Clone, Copy)]
pub(crate) struct Precision {
    /// Mass so small is added instead of being summed.
    pub(crate) negligible: f64,
    /// Losses below this may be bounded cheaply.
    pub(crate) enough: f64,
}

impl Precision {
    /// Where no target says what matters.
    pub(crate) const FULL: Self = Self { negligible: 1e-17, enough: 1e-17 };
}

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

    /// One reception, averaged over the length of its segment.
    fn visit_delta(walk: CompleteWalk, mu: f64, epsilon: f64, neighbors: Neighbors) -> Result<f64, Error> {
        walk.averaged_delta(epsilon, neighbors, &GaussianSum { mu }, Precision::FULL)
    }

    /// Table of the specification: `cycle_delta_certified(ε, n, m, μ)`.
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

    /// Table of the specification: `visit_delta_certified(ε, n, μ, M)` and `visit_delta_known`, `M = T − 1`.
    #[test]
    fn receptions_match_reference_values() -> Result<(), Error> {
        let walk = CompleteWalk::new(8, 31)?;
        for (epsilon, mu, reference) in
            [(0.1, 0.5, 0.033_342_927_068_940_785), (0.095, 0.475, 0.031_551_295_836_097_21)]
        {
            assert_relative_eq!(
                visit_delta(walk, mu, epsilon, Neighbors::Hidden)?,
                reference,
                max_relative = 1e-11
            );
        }
        for (c, reference) in [(1, 0.020_859_810_900_561_212), (2, 0.009_323_181_689_744_407)] {
            let value = visit_delta(walk.with_colluders(c)?, 0.5, 0.1, Neighbors::Known)?;
            assert_relative_eq!(value, reference, max_relative = 1e-11);
        }
        Ok(())
    }

    /// A single foreign step is subsampling of one in `n − 1`: exact.
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

    /// Numerical integration of the hockey-stick divergence between the exact mixtures, two settings: others
    /// contribute 0 or 1, u moves from 0 to 1.
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

    /// Longer walks add the mass of the segments left out; both cuts agree with the full sum.
    #[test]
    fn cuts_are_outward_and_small() -> Result<(), Error> {
        let full = visit_delta(CompleteWalk::new(5, 600)?, 0.7, 0.2, Neighbors::Hidden)?;
        let cut = visit_delta(CompleteWalk::new(5, 1_000_000)?, 0.7, 0.2, Neighbors::Hidden)?;
        assert!(cut >= full && cut - full < 1e-15);
        Ok(())
    }

    #[test]
    fn known_neighbors_leave_less_than_a_hidden_reception() -> Result<(), Error> {
        for n in [3, 5, 10, 20] {
            let walk = CompleteWalk::new(n, 400)?;
            for mu in [0.1, 1.0, 4.0] {
                for epsilon in [0.01, 0.2, 1.0] {
                    let hidden = visit_delta(walk, mu, epsilon, Neighbors::Hidden)?;
                    let known = visit_delta(walk, mu, epsilon, Neighbors::Known)?;
                    assert!(known < 0.9 * hidden, "n={n} mu={mu} epsilon={epsilon}: {}", known / hidden);
                }
            }
        }
        Ok(())
    }

    #[test]
    fn composition_meets_its_target_and_grows_with_information() -> Result<(), Error> {
        let walk = CompleteWalk::new(12, 300)?;
        let delta = Delta::new(1e-6)?;
        // Without the comparison with the local guarantee, which is smaller here.
        let composed = |walk: CompleteWalk, mu: f64| -> Result<Receptions, Error> {
            let walk = walk.with_constant_data();
            let composed = walk.compose_receptions(Neighbors::Hidden, &GaussianSum { mu }, &[], delta)?;
            let least = walk.hidden_epsilon(mu, delta)?.into_value();
            assert!(least.approx_dp.epsilon() <= composed.value().approx_dp.epsilon());
            Ok(composed.into_value())
        };
        let plain = composed(walk, 0.1)?;
        assert_eq!(plain.approx_dp.delta(), 1e-6);
        // P(Bin(300, 1/12) > N) ≤ 1e-7.
        assert_eq!(plain.count, *tails::n_exact(300, 1.0 / 12.0, Delta::new(1e-7)?)?.value());
        let public = composed(walk.published(), 0.1)?;
        let colluders = composed(walk.with_colluders(3)?, 0.1)?;
        assert!(plain.approx_dp.epsilon() < public.approx_dp.epsilon());
        assert!(plain.approx_dp.epsilon() < colluders.approx_dp.epsilon());
        assert!(composed(walk, 0.2)?.approx_dp.epsilon() > plain.approx_dp.epsilon());
        Ok(())
    }

    #[test]
    fn bad_input_is_refused() -> Result<(), Error> {
        let walk = CompleteWalk::new(5, 50)?;
        let sum = CompleteSum { walk, ..sum(2, 2, 0.5)? };
        assert!(sum.reception_delta(f64::NAN, 3).is_err() && sum.reception_delta(-0.1, 3).is_err());
        assert!(walk.with_constant_data().hidden_epsilon(-1.0, Delta::new(1e-6)?).is_err());
        assert!(walk.with_constant_data().hidden_epsilon(f64::INFINITY, Delta::new(1e-6)?).is_err());
        assert_eq!(*sum.reception_delta(0.1, 0)?.value(), 0.0);
        // A far too large ε does not overflow.
        assert!(*sum.reception_delta(1e5, 4)?.value() < 1e-300);
        Ok(())
    }
}
