//! The Gaussian profile: the exact `(ε, δ)` of Gaussian noise.
//!
//! Noise of standard deviation `σ` on a query of sensitivity `Δ` has the Gaussian parameter `μ = Δ/σ`,
//! and is `(ε, δ)`-DP exactly when `δ ≥ θ_ε(μ)` with
//!
//! `θ_ε(μ) = Q(ε/μ − μ/2) − e^ε Q(ε/μ + μ/2)`, `Q` the standard normal upper tail.
//!
//! Adaptive Gaussian releases `μ_i` compose exactly to `μ = √(Σ μ_i²)`. The neighboring relation is the one
//! for which the sensitivity was computed; the observer sees the noisy output.
//!
//! # References
//! - Balle and Wang, *Improving the Gaussian mechanism for differential privacy*, ICML 2018,
//!   arXiv:1805.06530: Theorem 8 (the profile).
//! - Dong, Roth and Su, *Gaussian differential privacy*, 2019, arXiv:1905.02383: Corollary 2.13 (the
//!   profile), Corollary 3.3 (composition).
//! - Dwork and Roth, *The algorithmic foundations of differential privacy*, 2014: Theorem A.1 (the classic
//!   noise).

use crate::error::ensure;
use crate::{Delta, Error, Exact, Guarantee, Sensitivity, Sigma, UpperBound, search};
use ndp_numeric::gaussian_profile::{
    PROFILE_ERROR, log_theta, log_theta_down, log_theta_with_slope, one_minus_theta, theta,
};
use ndp_numeric::rounding::{Interval, down, down_log, log_down, log_up, up};
use ndp_numeric::special::{
    LN_SQRT_2PI, SQRT_2PI, TAIL_ERROR, log_normal_tail, mills_ratio, normal_cdf, normal_quantile, normal_tail,
};

/// The `δ` of `(ε, δ)`-DP of a view with Gaussian parameter `mu`: exact, or an upper bound where the last
/// digits of a huge `mu` decide, and next to 0, where floats have few digits.
///
/// # Errors
/// [`Error::InvalidEpsilon`] unless `0 ≤ ε < ∞`, [`Error::InvalidMu`] unless `0 ≤ μ ≤ ∞`.
pub(crate) fn delta(epsilon: f64, mu: f64) -> Result<Guarantee<f64>, Error> {
    check_epsilon(epsilon)?;
    check_mu(mu)?;
    let delta = theta(epsilon, mu);
    let exact = is_steady(epsilon, mu) && (delta >= f64::MIN_POSITIVE || mu == 0.0);
    Ok(if exact { Exact::new(delta).into() } else { UpperBound::new(delta).into() })
}

/// The natural logarithm of [`delta`], for values below the smallest float; [`f64::MIN`] if it is below all
/// finite floats, and `−∞` only for `δ = 0`.
///
/// # Errors
/// As [`delta`].
pub(crate) fn log_delta(epsilon: f64, mu: f64) -> Result<Guarantee<f64>, Error> {
    check_epsilon(epsilon)?;
    check_mu(mu)?;
    let log = log_theta(epsilon, mu);
    // Next to 0 the logarithm has fewer digits than δ.
    let near = log - log_theta_down(epsilon, mu) <= WITHIN * log.abs() || mu == 0.0 || mu.is_infinite();
    let exact = near && is_steady(epsilon, mu);
    Ok(if exact { Exact::new(log).into() } else { UpperBound::new(log).into() })
}

/// Whether `δ` is the same to nine digits for all Gaussian parameters that `mu` may stand for: a quotient or
/// a root, rounded up by at most two floats.
///
/// Where `θ` is not below the smallest float, `|ε/μ − μ/2|` is below 40, so that two floats of `μ` move it by
/// less than `μ 10⁻¹⁵`, and `ln θ` by less than 50 times that.
fn is_steady(epsilon: f64, mu: f64) -> bool {
    let least = mu.next_down().next_down();
    mu < 1e4 || mu.is_infinite() || log_theta(epsilon, mu) - log_theta_down(epsilon, least) <= WITHIN
}

/// The smallest `ε` such that a view with Gaussian parameter `mu` is `(ε, δ)`-DP: the first float at which
/// the profile was seen to be at most `δ`.
///
/// 0 if `δ` is at least the total variation, `∞` if no finite `ε` is enough (`mu` infinite or beyond 1e154).
/// Exact unless `ε` is so close to 0 that nine digits of it are not known; then it is an upper bound.
///
/// # Errors
/// [`Error::InvalidMu`] unless `0 ≤ μ ≤ ∞`.
#[cfg(test)]
pub(crate) fn epsilon(mu: f64, delta: Delta) -> Result<Guarantee<f64>, Error> {
    check_mu(mu)?;
    Ok(graded_epsilon(mu, delta))
}

/// [`epsilon`] for a valid `mu`.
pub(crate) fn graded_epsilon(mu: f64, delta: Delta) -> Guarantee<f64> {
    let epsilon = epsilon_of(mu, delta);
    if epsilon.is_infinite() && mu.is_finite() {
        // It is finite, and above the largest float.
        return UpperBound::new(epsilon).into();
    }
    // The margin of the profile moves ε by less than 1e-12 (1 + |ln μ|) μ, and by less than 1e-12 for a large
    // μ and ε. Only for an ε that is tiny besides these can the ninth digit be wrong.
    if epsilon == 0.0 || epsilon >= 0.01 * mu.min(1.0) || exceeds(epsilon * (1.0 - WITHIN), mu, delta) {
        Exact::new(epsilon).into()
    } else {
        UpperBound::new(epsilon).into()
    }
}

/// The relative distance of two ends that count as one exact number, as for every
/// [enclosure](crate::loss_law::Enclosed).
pub(crate) const WITHIN: f64 = 1e-9;

/// Whether the profile is certainly above `δ`.
fn exceeds(epsilon: f64, mu: f64, delta: Delta) -> bool {
    let delta = delta.get();
    if delta > 0.5 {
        // What was rounded down by the error is rounded up by more than twice the error.
        up(one_minus_theta(epsilon, mu), 3.0 * PROFILE_ERROR) < 1.0 - delta
    } else {
        log_theta_down(epsilon, mu) > log_up(delta)
    }
}

/// Whether `(ε, δ)`-DP was seen to hold. For `δ` above 1/2 the complements are compared: `1 − δ` is a float,
/// while a logarithm close to 0 has lost the digits by which `δ` differs from 1.
fn meets(delta: Delta) -> impl Fn(f64, f64) -> bool {
    let (delta, target) = (delta.get(), log_down(delta.get()));
    move |epsilon, mu| {
        if delta > 0.5 {
            one_minus_theta(epsilon, mu) >= 1.0 - delta
        } else {
            log_theta(epsilon, mu) <= target
        }
    }
}

/// The number of [`epsilon`] for a valid `mu`.
///
/// `ln θ` is concave in `ε`, since `θ` is a convolution of log-concave functions. Newton's iteration
/// therefore reaches the side of the boundary on which the target is met after one step, and never leaves it.
/// For `δ` above 1/2, where the slope is inaccurate, bisection does it.
pub(crate) fn epsilon_of(mu: f64, delta: Delta) -> f64 {
    if delta.get() > 0.5 {
        let meets = meets(delta);
        return search::smallest(0.0, f64::MAX, |epsilon| meets(epsilon, mu)).unwrap_or(f64::INFINITY);
    }
    let target = log_down(delta.get());
    if log_theta(0.0, mu) <= target {
        return 0.0;
    }
    let mut epsilon = start(mu, target);
    if !epsilon.is_finite() {
        return f64::INFINITY;
    }
    for _ in 0..100 {
        let (value, slope) = log_theta_with_slope(epsilon, mu);
        let next = (epsilon + (target - value) / slope).max(0.0);
        if !next.is_finite() {
            break;
        }
        let step = (next - epsilon).abs();
        epsilon = next;
        // The number of digits doubles with every step.
        if step <= 1e-8 * epsilon {
            break;
        }
    }
    // Rounding leaves the result a few floats beside the boundary. The first float that meets the target is
    // found by doubling steps and then bisection.
    let meets = |bits: u64| log_theta(f64::from_bits(bits), mu) <= target;
    let (mut fails, mut verified, mut step) = (epsilon.to_bits(), epsilon.to_bits(), 1u64);
    while !meets(verified) {
        // Where the slope is inaccurate, ε may have become 0, far below the boundary.
        if verified == LARGEST {
            return f64::INFINITY;
        }
        (fails, verified, step) =
            (verified, verified.saturating_add(step).min(LARGEST), step.saturating_mul(2));
    }
    while fails == verified || meets(fails) {
        (verified, fails, step) = (fails, fails.saturating_sub(step), 2 * step);
    }
    while verified - fails > 1 {
        let middle = fails + (verified - fails) / 2;
        if meets(middle) { verified = middle } else { fails = middle }
    }
    f64::from_bits(verified)
}

/// An `ε` near that at which `ln θ_ε(μ)` is `target`, at least `μ²/2`. With `a = ε/μ − μ/2 ≥ 0`,
/// `θ ≤ φ(a) min(R(0), μ/(1 + a²))`, as `R(a) − R(a + μ) ≤ μ (1 − a R(a))`; where the two are equal is found
/// by inserting `a` into the slow part.
fn start(mu: f64, target: f64) -> f64 {
    let mut a = (-2.0 * target).sqrt();
    for _ in 0..2 {
        let slow = (0.5 * SQRT_2PI).min(mu / (1.0 + a * a));
        a = (2.0 * (libm::log(slow) - LN_SQRT_2PI - target)).max(0.0).sqrt();
    }
    0.5 * mu * mu + mu * a
}

/// The bits of the largest float.
const LARGEST: u64 = f64::MAX.to_bits();

/// The largest Gaussian parameter `μ` for which `(ε, δ)`-DP holds: the last float at which the profile was
/// seen to be at most `δ`.
///
/// # Errors
/// [`Error::InvalidEpsilon`] unless `0 ≤ ε < ∞`.
pub(crate) fn mu(epsilon: f64, delta: Delta) -> Result<f64, Error> {
    check_epsilon(epsilon)?;
    let meets = meets(delta);
    // The profile is 0 at μ = 0, so the search always finds an answer.
    Ok(search::largest(0.0, f64::MAX, |mu| meets(epsilon, mu)).unwrap_or(0.0))
}

/// The classic noise `σ = Δ √(2 ln(1.25/δ))/ε`, which is `(ε, δ)`-DP for `0 < ε < 1`: sound, larger than
/// the least.
///
/// # Errors
/// [`Error::InvalidParameter`] unless `0 < ε < 1`, where the theorem is proved; [`Error::InvalidSigma`] when
/// the noise overflows.
///
/// # References
/// Dwork and Roth 2014, Theorem A.1.
pub(crate) fn sigma_classic(
    epsilon: f64,
    delta: Delta,
    sensitivity: Sensitivity,
) -> Result<UpperBound<Sigma>, Error> {
    let proved = 0.0 < epsilon && epsilon < 1.0;
    ensure(proved, "the epsilon of the classic Gaussian mechanism", "lie strictly between 0 and 1", epsilon)?;
    let spread = (Interval::new(1.25) / Interval::new(delta.get())).ln();
    let root = (Interval::new(2.0) * spread).sqrt();
    let sigma = Interval::new(sensitivity.get()) * root / Interval::new(epsilon);
    Ok(UpperBound::new(Sigma::new(sigma.high())?))
}

/// The trade-off function of `μ`-Gaussian DP at type I error `alpha`: the least type II error of any test
/// between the two datasets, `G_μ(α) = Φ(Φ^{−1}(1 − α) − μ)`, rounded down. A value
/// below 1e-300 may be too small by three times the smallest float.
///
/// # Errors
/// [`Error::InvalidMu`] unless `0 ≤ μ ≤ ∞`, [`Error::InvalidParameter`] unless `0 ≤ α ≤ 1`.
///
/// # References
/// Dong, Roth and Su 2019, Definition 2.6, arXiv:1905.02383.
pub(crate) fn trade_off(alpha: f64, mu: f64) -> Result<Exact<f64>, Error> {
    check_mu(mu)?;
    ensure((0.0..=1.0).contains(&alpha), "the type I error", "lie between 0 and 1", alpha)?;
    if alpha == 1.0 || alpha == 0.0 {
        return Ok(Exact::new(1.0 - alpha));
    }
    // Φ^{−1}(1 − α) is computed as −Φ^{−1}(α), which is accurate for a small α. The quantile is moved up
    // until its probability is seen to be at least α; the smaller one of the two tails is compared.
    let tiny = alpha < TINY_LEVEL;
    let reached = |quantile: f64| {
        if tiny {
            // Subnormal probabilities have few digits, their logarithms have all.
            down_log(log_normal_tail(-quantile), LOG_TAIL_ERROR, LOG_TAIL_ERROR) >= log_up(alpha)
        } else if alpha <= 0.5 {
            down(normal_cdf(quantile), TAIL_ERROR) >= alpha
        } else {
            up(normal_tail(quantile), TAIL_ERROR) <= 1.0 - alpha
        }
    };
    let mut quantile = normal_quantile(alpha.max(TINY_LEVEL));
    if tiny {
        // Newton's iteration for ln Φ, from −37.05 to a quantile above −38.5. The distance from it becomes
        // 3e-2, 1e-5, 1e-12.
        for _ in 0..4 {
            quantile += (libm::log(alpha) - log_normal_tail(-quantile)) * mills_ratio(-quantile);
        }
    }
    let mut step = f64::EPSILON * (1.0 + quantile.abs());
    while !reached(quantile) && quantile < 39.0 {
        (quantile, step) = (quantile + step, 2.0 * step);
    }
    let argument = (Interval::new(quantile) + Interval::new(mu)).high();
    Ok(Exact::new(down(normal_tail(argument), TAIL_ERROR).min(1.0 - alpha)))
}

/// Below this level the quantile is found by logarithms.
const TINY_LEVEL: f64 = 1e-300;
/// Error of [`log_normal_tail`] in epsilons of `1 + |ln Q|`.
const LOG_TAIL_ERROR: f64 = 2.6;

/// `√(x² + y²)`, rounded up, for nonnegative numbers, even if their squares overflow or underflow.
pub(crate) fn hypot_up(x: f64, y: f64) -> f64 {
    let (small, large) = if x < y { (x, y) } else { (y, x) };
    if small == 0.0 || large.is_infinite() {
        return large;
    }
    if !(1e-140..=1e150).contains(&large) {
        // The error of `hypot` is below one unit in the last place, so two floats further is an upper bound.
        return libm::hypot(x, y).next_up().next_up();
    }
    let (small, large) = (Interval::new(small), Interval::new(large));
    (small * small + large * large).sqrt().high()
}

pub(crate) fn check_mu(mu: f64) -> Result<(), Error> {
    if 0.0 <= mu { Ok(()) } else { Err(Error::InvalidMu(mu)) }
}

#[doc(hidden)]
pub fn check_epsilon(epsilon: f64) -> Result<(), Error> {
    if 0.0 <= epsilon && epsilon.is_finite() { Ok(()) } else { Err(Error::InvalidEpsilon(epsilon)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Grade, Mechanism as _};
    use approx::assert_relative_eq;

    fn d(delta: f64) -> Delta {
        Delta::new(delta).unwrap()
    }

    /// Roots by mpmath at 60 digits, for the floats as given. In logarithms of `δ` most of their digits were
    /// lost.
    #[test]
    fn a_delta_next_to_one_keeps_its_digits() -> Result<(), Error> {
        for (m, below, root) in [
            (17.0, 1e-12, 23.627_403_456_035_477),
            (17.0, 1e-15, 8.153_398_957_989_72),
            (10.0, 1e-6, 1.124_472_302_591_755_1),
            (30.0, 1.110_223_024_625_156_5e-16, 202.546_388_272_737_72),
            (1000.0, 1e-10, 493_637.655_916_417_54),
            (3.0, 0.2, 0.860_823_891_279_062_1),
            (1.5, 0.48, 0.117_318_528_410_890_05),
            (12.0, 1e-8, 3.318_603_677_614_798_5),
        ] {
            let found = epsilon(m, d(1.0 - below))?;
            assert_eq!(found.grade(), Grade::Exact, "{m} {below}: {found:?}");
            let error = *found.value() / root - 1.0;
            assert!((-1e-16..1e-13).contains(&error), "{m} {below}: {found:?}, {error:e}");
            let back = mu(root, d(1.0 - below))?;
            assert!((back / m - 1.0).abs() < 1e-13, "{m} {below}: {back}");
        }
        Ok(())
    }

    /// For a `δ` just below the total variation `ε` is tiny, and the margin of the profile is as large as it.
    /// Roots by mpmath at 60 digits.
    #[test]
    fn an_epsilon_that_is_not_known_to_nine_digits_is_a_bound() -> Result<(), Error> {
        for (m, delta, root, grade) in [
            (10.0, 0.999_999_426_696_855_7, 1.858_604_005_244_639e-9, Grade::UpperBound),
            (1.0, 0.382_924_922_547_987_93, 1.240_482_987_939_036_3e-13, Grade::UpperBound),
            (1e-8, 3.989_422_804_010_337e-9, 7.979_341_424_777_033e-21, Grade::UpperBound),
            (1.0, 0.382_541_997_625_478_2, 0.001_241_205_602_940_015, Grade::Exact),
            (0.5, 0.197_412_059_127_893_36, 1.475_822_812_950_031_8e-6, Grade::UpperBound),
        ] {
            let found = epsilon(m, d(delta))?;
            assert_eq!(found.grade(), grade, "{m} {delta}: {found:?}");
            let above = *found.value() - root;
            assert!((0.0..1e-13 * m.max(1.0)).contains(&above), "{m} {delta}: {found:?}");
            assert!(grade == Grade::UpperBound || above < 1e-9 * root, "{m} {delta}: {found:?}");
        }
        Ok(())
    }

    /// Beside `ε = μ²/2` a float of `μ` moves `ε/μ − μ/2` by as much.
    #[test]
    fn a_delta_that_the_last_digit_of_mu_decides_is_a_bound() -> Result<(), Error> {
        for (sensitivity, sigma, epsilon, grade) in [
            (1e3, 3.0, 0.0, Grade::Exact),
            (1e7, 3.0, 5.555_555_555_5e12, Grade::Exact),
            (1e8, 3.0, 5.555_555_555_555e14, Grade::UpperBound),
            (1e8, 3.0, 1.0, Grade::Exact),
        ] {
            let release =
                crate::Gaussian { sensitivity: Sensitivity::new(sensitivity)?, sigma: Sigma::new(sigma)? };
            assert_eq!(release.delta(epsilon)?.grade(), grade, "{sensitivity}/{sigma} at {epsilon}");
        }
        Ok(())
    }

    /// The logarithm of a `δ` next to 1, whose distance from 1 is smaller than the margin. Truth by mpmath at
    /// 60 digits.
    #[test]
    fn a_logarithm_next_to_zero_is_a_bound() -> Result<(), Error> {
        for (mu, epsilon, truth) in [(10.0, 0.0, -5.733_033_080_967e-7), (12.0, 0.0, -1.973_175_292e-9)] {
            let found = log_delta(epsilon, mu)?;
            assert!(found.grade() == Grade::UpperBound && *found.value() >= truth, "{mu}: {found:?}");
        }
        for (mu, epsilon) in [(0.5, 40.0), (3.0, 1.0), (0.0, 1.0), (f64::INFINITY, 1.0)] {
            assert_eq!(log_delta(epsilon, mu)?.grade(), Grade::Exact, "{mu}");
        }
        Ok(())
    }

    /// Levels that are subnormal, whose tails have no digits left. mpmath at 60 digits.
    #[test]
    fn levels_below_the_normal_floats_are_levels() -> Result<(), Error> {
        for (m, alpha, beta) in [
            (39.0, 5e-324, 0.297_157_195_666_717),
            (38.0, 1e-323, 0.673_426_444_009_829_7),
            (37.5, 1e-320, 0.779_090_547_644_491_6),
            (40.0, 2e-309, 0.007_835_091_483_350_16),
            (36.0, 3e-301, 0.859_830_231_043_330_8),
            (2.0, 5e-324, 1.0),
            (30.0, 5e-324, 1.0),
            (39.0, 1e-299, 0.021_948_997_861_447_724),
        ] {
            let found = *trade_off(alpha, m)?.value();
            assert!(found <= beta && beta < found * (1.0 + 1e-12), "{m} {alpha:e}: {found:e} {beta:e}");
        }
        Ok(())
    }

    /// Values of the specification, found as roots with 50 digits; the tolerance is 1e-12 instead of its
    /// 1e-9.
    #[test]
    fn inverses_match_reference_values() -> Result<(), Error> {
        let check = |value: f64, reference: f64| assert_relative_eq!(value, reference, max_relative = 1e-12);
        let two = Sensitivity::new(2.0)?;
        check(*epsilon(0.7, d(1e-6))?.value(), 3.270_557_675_274_129_8);
        check(*epsilon(2.0, d(1e-8))?.value(), 12.749_246_399_635_697);
        check(mu(0.7, d(1e-6))?, 0.169_884_684_388_362_88);
        check(mu(2.0, d(1e-8))?, 0.376_942_180_252_054_8);
        check(crate::Gaussian::within(0.5, d(1e-6), two)?.sigma.get(), 16.115_236_961_450_09);
        check(crate::Gaussian::within(0.475, d(9.5e-7), two)?.sigma.get(), 16.952_374_687_889_736);
        check(sigma_classic(0.5, d(1e-6), two)?.value().get(), 21.195_210_107_401_896);
        check(sigma_classic(0.25, d(1e-5), Sensitivity::new(1.0)?)?.value().get(), 19.379_221_050_421_556);
        Ok(())
    }

    /// For a `δ` close to 1 the slope of the profile is inaccurate. An earlier search started at 0 and did
    /// not end.
    #[test]
    fn a_delta_next_to_one_has_its_epsilon() -> Result<(), Error> {
        for below in 1..9 {
            let delta = 1.0 - f64::from(below) * f64::EPSILON / 2.0;
            for m in [4.0, 16.0, 24.0, 60.0, 1e3, 1e6] {
                let e = *epsilon(m, d(delta))?.value();
                assert!(e.is_finite() && one_minus_theta(e, m) >= 1.0 - delta, "{below} {m}: {e}");
                // For so large a μ, such a δ is reached at an ε far below the mean loss μ²/2.
                assert!(m < 20.0 || e > 0.0 && e < 0.5 * m * m, "{below} {m}: {e}");
            }
        }
        Ok(())
    }

    #[test]
    fn inverses_return_the_verified_end() -> Result<(), Error> {
        for delta in [1e-300, 1e-30, 1e-6, 0.3] {
            for m in [1e-3, 0.1, 1.0, 7.0, 60.0] {
                let e = *epsilon(m, d(delta))?.value();
                assert!(log_theta(e, m) <= libm::log(delta));
                assert!(e == 0.0 || log_theta(e * (1.0 - 1e-13), m) > libm::log(delta) * (1.0 + 1e-12));
                let back = mu(e, d(delta))?;
                assert!(log_theta(e, back) <= libm::log(delta));
                assert!(back >= m * (1.0 - 1e-13));
            }
        }
        Ok(())
    }

    #[test]
    fn limits_are_the_right_ones() -> Result<(), Error> {
        assert_eq!(*epsilon(0.0, d(1e-6))?.value(), 0.0);
        assert_eq!(*epsilon(f64::INFINITY, d(0.5))?.value(), f64::INFINITY);
        // Here it is finite, and no float is as large.
        let large = epsilon(1e200, d(0.5))?;
        assert_eq!((*large.value(), large.grade()), (f64::INFINITY, Grade::UpperBound));
        assert_eq!(epsilon(f64::INFINITY, d(0.5))?.grade(), Grade::Exact);
        assert!(
            matches!(delta(f64::NAN, 1.0), Err(Error::InvalidEpsilon(..)))
                && matches!(delta(1.0, -1.0), Err(Error::InvalidMu(..)))
                && matches!(mu(f64::INFINITY, d(0.1)), Err(Error::InvalidEpsilon(..)))
        );
        assert!(matches!(
            sigma_classic(1.0, d(1e-6), Sensitivity::new(1.0)?),
            Err(Error::InvalidParameter { name: "the epsilon of the classic Gaussian mechanism", .. })
        ));
        Ok(())
    }

    /// Type I and II errors of the optimal test trade off symmetrically, and `δ(0) = 1 − 2 β` at the fixed
    /// point.
    #[test]
    fn trade_off_is_the_profile_s_dual() -> Result<(), Error> {
        for mu in [0.0, 0.1, 1.0, 4.0] {
            for alpha in [0.0, 1e-12, 0.01, 0.3, 0.5, 1.0] {
                let beta = *trade_off(alpha, mu)?.value();
                assert!(beta <= 1.0 - alpha);
                // Duality: β ≥ 1 − δ(ε) − e^ε α for every ε.
                for e in [0.0, 0.2, 1.0, 3.0] {
                    // Both sides are rounded to their safe side, hence the allowance.
                    assert!(beta >= 1.0 - theta(e, mu) - libm::exp(e) * alpha - 1e-13);
                }
            }
        }
        let fixed = normal_tail(0.5);
        assert_relative_eq!(*trade_off(fixed, 1.0)?.value(), fixed, max_relative = 1e-14);
        assert_relative_eq!(1.0 - 2.0 * fixed, theta(0.0, 1.0), max_relative = 1e-13);
        Ok(())
    }

    /// The float before the one returned does not meet the target, even if Newton's iteration ends several
    /// floats above it, as it does for the first three here.
    #[test]
    fn no_float_before_the_one_returned_meets_the_target() -> Result<(), Error> {
        let far = [
            (229.282_260_710_809_9, 0.962_910_510_038_031_7),
            (18.808_538_505_051_78, 0.013_644_884_463_681_893),
            (90.394_734_501_746_21, 0.023_855_228_373_266_174),
        ];
        let deltas = [1e-300, 1e-30, 1e-9, 1e-6, 1e-3, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99];
        let grid =
            deltas.into_iter().flat_map(|delta| (1..40).map(move |k| (0.17 * f64::from(k * k), delta)));
        for (m, delta) in far.into_iter().chain(grid) {
            let meets = meets(d(delta));
            let e = *epsilon(m, d(delta))?.value();
            assert!(meets(e, m), "{m} {delta}");
            assert!(e == 0.0 || !meets(e.next_down(), m), "{m} {delta}: {e}");
        }
        Ok(())
    }

    /// The smallest floats that are not below `Δ √(2 ln(1.25/δ))/ε`, computed with 60 digits.
    #[test]
    fn classic_noise_is_rounded_up() -> Result<(), Error> {
        for (epsilon, delta, sensitivity, least) in [
            (0.5, 1e-6, 2.0, 21.195_210_107_401_9),
            (0.25, 1e-5, 1.0, 19.379_221_050_421_56),
            (0.9, 1e-9, 3.0, 21.574_887_350_425_943),
        ] {
            let sigma = sigma_classic(epsilon, d(delta), Sensitivity::new(sensitivity)?)?.value().get();
            assert!(least <= sigma && sigma < least * (1.0 + 1e-14), "{epsilon} {delta}: {sigma}");
        }
        Ok(())
    }

    /// The largest floats that are not above `Φ(Φ^{−1}(1 − α) − 25)`, computed with 60 digits. An error of
    /// one unit in the last place of the quantile would change them by about ten floats.
    #[test]
    fn errors_of_the_second_kind_are_rounded_down() -> Result<(), Error> {
        for (alpha, most) in [
            (0.04, 7.227_233_850_333_417e-120),
            (0.08, 2.172_511_427_585_939_7e-123),
            (0.12, 9.195_056_350_021_635e-126),
            (0.16, 1.216_927_873_377_867_1e-127),
            (0.2, 3.048_253_309_220_640_3e-129),
            (0.24, 1.142_651_855_902_919_7e-130),
            (0.28, 5.621_074_793_649_667_7e-132),
            (0.32, 3.341_207_678_202_265_8e-133),
            (0.36, 2.267_354_101_845_465_5e-134),
            (0.4, 1.684_245_457_169_349e-135),
            (0.44, 1.324_502_483_652_795_4e-136),
        ] {
            let beta = *trade_off(alpha, 25.0)?.value();
            assert!(beta <= most && most <= beta * (1.0 + 1e-12), "{alpha}: {beta:e} {most:e}");
        }
        Ok(())
    }
}
