//! The hockey-stick divergence of two normal laws of variance 1, the profile of Gaussian noise.
//!
//! `θ_ε(μ) = Q(ε/μ − μ/2) − e^ε Q(ε/μ + μ/2)`, where `Q` is the standard normal upper tail and `μ` the
//! distance between the means.

use crate::incomplete::two_sum;
use crate::rounding::{down, exp_up, up};
use crate::special::{LN_SQRT_2PI, SQRT_2PI, mills_difference, mills_ratio, normal_tail, split_square};
use std::f64::consts::FRAC_1_SQRT_2;

/// The Gaussian profile `θ_ε(μ)`, for `ε ≥ 0` and `μ ≥ 0`, either of which may be infinite; rounded up.
///
/// Increasing in `μ` (0 at 0, 1 at ∞), decreasing in `ε`. A value below the smallest float is returned as
/// that float; 0 is returned only where `θ` is 0. Outside the domain (negative or NaN) the result is 1, a
/// bound that says nothing.
///
/// Rounded by [`PROFILE_ERROR`].
#[must_use]
pub fn theta(epsilon: f64, mu: f64) -> f64 {
    if is_tiny(epsilon, mu) {
        // Below the normal numbers, a product with a power of two rounds once.
        return (theta(epsilon * SCALE, mu * SCALE) / SCALE).next_up();
    }
    match Case::of(epsilon, mu) {
        Case::Vacuous => 1.0,
        Case::Private => 0.0,
        Case::Tail(a) => exp_up(up_profile_log(log_tail_form(a, mu))).min(1.0),
        Case::Bulk(a) => {
            let small = bulk_form(epsilon, mu, a);
            let value = if small < 0.5 { small } else { 1.0 - complement(a, mu) };
            up(value, PROFILE_ERROR * (1.0 + libm::log(value).abs())).clamp(f64::from_bits(1), 1.0)
        }
    }
}

/// `ln θ_ε(μ)`, finite also where `θ` underflows; rounded up as [`theta`], with the same domain. Where the
/// logarithm is below all floats but `−∞`, the result is the smallest finite float.
#[must_use]
pub fn log_theta(epsilon: f64, mu: f64) -> f64 {
    match Case::of(epsilon, mu) {
        Case::Vacuous => 0.0,
        Case::Private => f64::NEG_INFINITY,
        _ => up_profile_log(log_theta_nearest(epsilon, mu)).min(0.0),
    }
}

/// `ln θ_ε(μ)`, rounded down by [`PROFILE_ERROR`]; `−∞` outside the domain, a bound that says nothing.
#[must_use]
pub fn log_theta_down(epsilon: f64, mu: f64) -> f64 {
    match Case::of(epsilon, mu) {
        Case::Vacuous if mu == f64::INFINITY && epsilon >= 0.0 && epsilon.is_finite() => 0.0,
        Case::Vacuous | Case::Private => f64::NEG_INFINITY,
        _ => {
            let log = log_theta_nearest(epsilon, mu);
            (log - profile_log_error(log)).min(0.0)
        }
    }
}

/// `1 − θ_ε(μ) = Q(μ/2 − ε/μ) + e^ε Q(μ/2 + ε/μ)`, a sum of positive terms, rounded down by
/// [`PROFILE_ERROR`]; domain as [`theta`].
#[must_use]
pub fn one_minus_theta(epsilon: f64, mu: f64) -> f64 {
    match Case::of(epsilon, mu) {
        Case::Vacuous => 0.0,
        Case::Private => 1.0,
        Case::Tail(a) => (1.0 - exp_up(up_profile_log(log_tail_form(a, mu)))).next_down().max(0.0),
        Case::Bulk(a) => down(complement(a, mu), PROFILE_ERROR),
    }
}

/// Error of [`log_theta`] in epsilons of `1 + |ln θ|`; the error of [`theta`] relative to `θ` is of the same
/// size. Also the relative error of [`one_minus_theta`], in epsilons.
///
/// Measured: against 78 digits at 743 000 points, `ε` and `μ` from 1e-300 to beyond 1e40, the worst was 6.5
/// (at `ε = 0.698`, `μ = 0.225`), that of `1 − θ` 3.8 at 985 000 points. Doubled and rounded up.
pub const PROFILE_ERROR: f64 = 16.0;

/// The logarithm of a profile, rounded up; finite if the profile is positive.
fn up_profile_log(log: f64) -> f64 {
    if log == f64::NEG_INFINITY { f64::MIN } else { log + profile_log_error(log) }
}

/// What the logarithm of a profile is moved by: [`PROFILE_ERROR`], and the rounding of the sum.
fn profile_log_error(log: f64) -> f64 {
    // The error is multiplied by the epsilon first, since 17 logarithms may overflow.
    f64::EPSILON * PROFILE_ERROR + (PROFILE_ERROR + 1.0) * (f64::EPSILON * log.abs())
}

/// `2^600`.
const SCALE: f64 = f64::from_bits((1023 + 600) << 52);
/// `2^−900`.
const TINY: f64 = f64::from_bits((1023 - 900) << 52);

/// Whether `μ` is so small that products with it lose digits to underflow. There
/// `θ_{ε}(μ) = μ (φ(r) − r Q(r))` with `r = ε/μ`, up to a relative error below `μ + ε`, so `ε` and `μ` can be
/// scaled.
fn is_tiny(epsilon: f64, mu: f64) -> bool {
    0.0 < mu && mu < TINY && (0.0..TINY * SCALE).contains(&epsilon)
}

/// `ln θ` for finite positive `μ`, not rounded to either side.
fn log_theta_nearest(epsilon: f64, mu: f64) -> f64 {
    if is_tiny(epsilon, mu) {
        return log_theta_nearest(epsilon * SCALE, mu * SCALE) - 600.0 * std::f64::consts::LN_2;
    }
    match Case::of(epsilon, mu) {
        Case::Vacuous => 0.0,
        Case::Private => f64::NEG_INFINITY,
        Case::Tail(a) => log_tail_form(a, mu),
        Case::Bulk(a) => {
            let small = bulk_form(epsilon, mu, a);
            if small < 0.5 { libm::log(small) } else { libm::log1p(-complement(a, mu)) }
        }
    }
}

/// How to evaluate the profile: `a = ε/μ − μ/2` is the lower of its two arguments.
enum Case {
    Vacuous,
    Private,
    Tail(Argument),
    Bulk(Argument),
}

impl Case {
    fn of(epsilon: f64, mu: f64) -> Self {
        if !(epsilon >= 0.0 && mu >= 0.0) || mu.is_infinite() {
            return Self::Vacuous;
        }
        if mu == 0.0 || epsilon.is_infinite() {
            return Self::Private;
        }
        let a = Argument::new(epsilon, mu);
        if a.high >= 0.0 { Self::Tail(a) } else { Self::Bulk(a) }
    }
}

/// `a = ε/μ − μ/2` as a sum of two floats: where the two terms nearly cancel, the rounding of the quotient
/// would be all that is left, and `e^{−a²/2}` multiplies an error of `a` by `a²`.
#[derive(Clone, Copy)]
struct Argument {
    high: f64,
    low: f64,
}

impl Argument {
    fn new(epsilon: f64, mu: f64) -> Self {
        let quotient = epsilon / mu;
        if quotient.is_infinite() {
            return Self { high: quotient, low: 0.0 };
        }
        let rest = libm::fma(-quotient, mu, epsilon) / mu;
        let (difference, lost) = two_sum(quotient, -0.5 * mu);
        let (high, low) = two_sum(difference, lost + rest);
        Self { high, low }
    }

    /// `a²/2` for `a ≤` [`MAX_ROOT`], as a sum of a large and a small number.
    fn half_square(self) -> (f64, f64) {
        if self.high > FAR {
            // Beyond 1.3e154 the square overflows although half of it need not.
            let (quarter, rest) = split_square(0.5 * self.high);
            return ((2.0 * quarter).min(f64::MAX), 2.0 * rest + self.high * self.low);
        }
        let (square, rest) = split_square(self.high);
        (0.5 * square, 0.5 * rest + self.high * self.low)
    }

    /// `√(2π) φ(a)`.
    fn bell(self) -> f64 {
        if self.high.abs() > 40.0 {
            return 0.0;
        }
        let (large, small) = self.half_square();
        libm::exp(-large) * (1.0 - small)
    }
}

/// `ln(φ(a) (R(a) − R(a + μ)))` for `a ≥ 0`, from the identity `φ(a) = e^ε φ(a + μ)`.
fn log_tail_form(a: Argument, mu: f64) -> f64 {
    if a.high > MAX_ROOT {
        return f64::NEG_INFINITY;
    }
    let (large, small) = a.half_square();
    -large - (small + (LN_SQRT_2PI - log_mills_difference(a.high, mu)))
}

/// `ln(R(a) − R(a + μ))` for finite `a ≥ 0`, also where the difference underflows.
fn log_mills_difference(a: f64, mu: f64) -> f64 {
    if a > FAR {
        // R(x) = 1/x − 1/x³ + …, so the difference is μ/(a (a + μ)) up to a relative error below 3/a².
        libm::log(mu) - libm::log(a) - libm::log(a + mu)
    } else {
        libm::log(mills_difference(a, mu))
    }
}

/// From here on the Mills difference is evaluated by logarithms. Below, it is a normal number: `μ` is at
/// least [`TINY`], and `μ/a²` at least 1e-289.
const FAR: f64 = 1e9;
/// The first float above `√(2 f64::MAX)`: above it `a²/2` is larger than all floats.
const MAX_ROOT: f64 = 1.896_150_381_621_835_4e154;

/// `[erf(b/√2) + erf(−a/√2)]/2 − (e^ε − 1) Q(b)` for `a < 0`, `b = a + μ`: no cancellation at small `μ`.
fn bulk_form(epsilon: f64, mu: f64, a: Argument) -> f64 {
    let b = epsilon / mu + 0.5 * mu;
    let probability = 0.5 * (libm::erf(b * FRAC_1_SQRT_2) + libm::erf(-a.high * FRAC_1_SQRT_2));
    // e^ε may overflow although e^ε Q(b) = φ(a) R(b) does not.
    let weighted = if epsilon < 1.0 {
        libm::expm1(epsilon) * normal_tail(b)
    } else {
        scaled_tail(a, b) - normal_tail(b)
    };
    (probability - weighted).max(0.0)
}

/// `Q(−a) + e^ε Q(b) = φ(a) (R(−a) + R(b))` for `a < 0`, `b = a + μ`.
fn complement(a: Argument, mu: f64) -> f64 {
    a.bell() * (mills_ratio(-a.high) + mills_ratio(a.high + mu)) / SQRT_2PI
}

/// `e^ε Q(b) = φ(a) R(b)`.
fn scaled_tail(a: Argument, b: f64) -> f64 {
    a.bell() * mills_ratio(b) / SQRT_2PI
}

/// `ln θ_ε(μ)`, rounded up as [`log_theta`], and its derivative `−e^ε Q(ε/μ + μ/2)/θ` in `ε`, for finite
/// positive `μ`. Use it to find a starting point for a search, not as a bound.
#[must_use]
pub fn log_theta_with_slope(epsilon: f64, mu: f64) -> (f64, f64) {
    let (value, slope) = match Case::of(epsilon, mu) {
        Case::Private => return (f64::NEG_INFINITY, 0.0),
        // One difference serves both the value and the slope, and none of its digits are lost.
        Case::Tail(a) if a.high <= FAR && mu >= TINY => {
            let (difference, (large, small)) = (mills_difference(a.high, mu), a.half_square());
            let value = -large - (small + (LN_SQRT_2PI - libm::log(difference)));
            (value, -mills_ratio(a.high + mu) / difference)
        }
        Case::Tail(a) => (log_theta_nearest(epsilon, mu), -a.high / mu),
        _ => {
            let (value, a) = (log_theta_nearest(epsilon, mu), Argument::new(epsilon, mu));
            (value, -scaled_tail(a, a.high + mu) / libm::exp(value))
        }
    };
    (up_profile_log(value), slope)
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    /// Below 1e-300 results are subnormal, and so are the products on the way. There
    /// `θ_{rμ}(μ) = μ (φ(r) − r Q(r))`, up to a part in 1e300; the factors below were computed to 30 digits.
    #[test]
    fn subnormal_profiles_are_not_below_the_truth() {
        let factors = [
            (0.0, 0.398_942_280_401_432_7),
            (0.5, 0.197_796_557_401_306_03),
            (1.0, 0.083_315_470_587_686_3),
            (2.0, 0.008_490_702_616_829_638),
            (4.0, 7.145_258_432_405_667e-6),
        ];
        for (r, factor) in factors {
            for bits in (1..400u64).chain([1_000_003, 1 << 40, 1 << 51, 1 << 52, 1 << 54]) {
                // An even number of units, so that both quotient and product are exact.
                let mu = f64::from_bits(2 * bits);
                let truth = factor * 2.0 * bits as f64;
                let epsilon = r * mu;
                if mu >= f64::MIN_POSITIVE {
                    assert!(theta(epsilon, mu) >= factor * mu * (1.0 - 1e-15));
                    continue;
                }
                let units = theta(epsilon, mu).to_bits() as f64;
                assert!(units >= truth, "{r}, {bits}: {units} for {truth}");
                assert!(units <= truth * (1.0 + 1e-9) + 16.0, "{r}, {bits}: {units} for {truth}");
                let log = log_theta(epsilon, mu);
                // ln of units of 2^-1074.
                let least = truth.ln() - 1074.0 * std::f64::consts::LN_2;
                assert!(
                    log >= least * (1.0 + 1e-15) && log <= least + 1e-9,
                    "{r}, {bits}: {log} for {least}"
                );
                assert!(log_theta_down(epsilon, mu) <= least * (1.0 - 1e-15));
            }
        }
    }

    /// Against 50-digit values of the specifications.
    #[test]
    fn profile_matches_reference_values() {
        let check = |value: f64, reference: f64| assert_relative_eq!(value, reference, max_relative = 1e-13);
        check(theta(1.0, 0.5), 0.006_829_594_983_114_575);
        check(theta(0.0, 2.0), 0.682_689_492_137_085_9);
        check(theta(3.0, 0.2), 2.163_785_770_856_661e-52);
        check(theta(0.5, 1.0), 0.238_421_708_134_876_63);
        check(log_theta(2.0, 0.02), -5_013.041_651_795_685);
        check(log_theta(4.0, 0.01), -80_015.507_069_062_84);
        check(log_theta(3.0, 0.05), -1_810.604_504_782_551_7);
        check(log_theta(3.0, 0.0475), -2_005.218_106_923_986_6);
        check(one_minus_theta(0.5, 12.0), 2.531_516_772_840_641e-9);
        check(one_minus_theta(0.475, 12.0), 2.500_270_978_413_629e-9);
    }

    #[test]
    fn limits_are_the_right_ones() {
        assert_eq!(theta(1.0, 0.0), 0.0);
        assert_eq!(theta(1.0, f64::INFINITY), 1.0);
        assert_eq!(theta(f64::NAN, 1.0), 1.0);
        assert_eq!(theta(-1.0, 1.0), 1.0);
        assert_eq!(one_minus_theta(1.0, 0.0), 1.0);
        // −5e607 is beyond the range of floats, and the only float below it, −∞, is no bound.
        assert_eq!(log_theta(1e4, 1e-300), f64::MIN);
        assert_eq!(theta(1e4, 1e-300), f64::from_bits(1));
        assert_relative_eq!(theta(1e4, 1e6), 1.0);
    }

    /// mpmath at 700 digits, from the series of the two Mills ratios. The difference of the ratios is below
    /// the smallest float in most rows.
    #[test]
    fn logarithms_far_out_are_not_below_the_truth() {
        for (epsilon, mu, truth) in [
            (1.0, 1e-15, -4.999_999_999_999_999e29),
            (3e20, 1e10, -3.125e20),
            (1e10, 1e-100, -5e219),
            (1e-150, 1e-250, -5e199),
            (5.0, 1e-110, -1.249_999_999_999_999_9e221),
            (1.0, 1e-140, -5e279),
            (2.0, 1e-150, -2e300),
            (1.0, 1e-154, -5e307),
            (1.0, 6e-155, -1.388_888_888_888_889e308),
        ] {
            let allowed = 2.2 * PROFILE_ERROR * f64::EPSILON * f64::abs(truth);
            let (above, below) = (log_theta(epsilon, mu) - truth, truth - log_theta_down(epsilon, mu));
            assert!((0.0..=allowed).contains(&above), "{epsilon}, {mu}: {above:e}");
            assert!((0.0..=allowed).contains(&below), "{epsilon}, {mu}: {below:e}");
            let nearest = log_theta_with_slope(epsilon, mu).0;
            assert!((nearest - truth).abs() <= allowed, "{epsilon}, {mu}: {nearest:e}");
            assert!(theta(epsilon, mu) == f64::from_bits(1) && one_minus_theta(epsilon, mu) > 1.0 - 1e-15);
        }
        // −5e319 is below all floats but −∞.
        assert_eq!(log_theta(1e-100, 1e-260), f64::MIN);
        assert_eq!(log_theta_down(1e-100, 1e-260), f64::NEG_INFINITY);
    }

    /// Where the logarithm of the Mills difference takes over, nothing jumps.
    #[test]
    fn both_forms_of_the_far_tail_agree() {
        for mu in [1e-200, 1e-9, 1.0, 1e8, 1e12] {
            let (near, far) = (mills_difference(FAR, mu), log_mills_difference(FAR.next_up(), mu));
            assert_relative_eq!(libm::log(near), far, max_relative = 1e-14);
        }
    }

    /// The three evaluation forms agree where they meet: a step across each switch changes the value by no
    /// more than the step.
    #[test]
    fn forms_agree_at_their_switches() {
        for mu in [0.01_f64, 0.0499, 0.0501, 0.5, 2.0, 5.0, 30.0] {
            let turn = mu * mu / 2.0;
            let (below, above) = (theta(turn * (1.0 - 1e-13), mu), theta(turn * (1.0 + 1e-13), mu));
            assert_relative_eq!(below, above, max_relative = 1e-11 * mu.max(1.0));
        }
    }

    /// Where `a = ε/μ − μ/2` is large, the part of it that a float has no room for moves `e^{−a²/2}` by
    /// hundreds of epsilons. mpmath at 60 digits.
    #[test]
    fn complements_keep_their_digits_far_out() {
        for (epsilon, mu, truth) in [
            (0.7, 60.0, 1.392_497_139_905_57e-197),
            (0.3, 61.0, 3.027_559_231_578_590_7e-204),
            (2.0, 55.0, 4.769_162_384_391_485_4e-166),
            (5.0, 66.0, 9.866_771_369_776_9e-238),
            (0.1, 70.0, 2.365_169_813_921_256_9e-268),
        ] {
            let found = one_minus_theta(epsilon, mu);
            let error = (truth - found) / truth;
            assert!((0.0..2.2 * PROFILE_ERROR * f64::EPSILON).contains(&error), "{epsilon}, {mu}: {error:e}");
        }
    }

    /// mpmath at 60 digits.
    #[test]
    fn logarithms_and_slopes_match_reference_values() {
        for (epsilon, mu, log, slope) in [
            (1.0, 0.5, -4.986_489_906_848_133, -4.865_524_524_200_771),
            (3.0, 0.2, -118.962_565_476_438_13, -75.158_070_724_699_96),
            (0.25, 0.5, -2.204_565_915_398_720_4, -2.638_254_925_379_909),
            (0.5, 2.0, -0.512_183_848_178_752, -0.290_706_291_508_453_36),
            (0.0, 1.0, -0.959_916_333_695_622_3, -0.805_738_985_785_889_4),
            (2.0, 4.0, -0.119_561_729_150_360_4, -0.051_710_907_231_244_36),
        ] {
            let (value, derivative) = log_theta_with_slope(epsilon, mu);
            assert!((0.0..=2.0 * profile_log_error(log)).contains(&(value - log)), "{value} {log}");
            assert_relative_eq!(derivative, slope, max_relative = 1e-13);
        }
        // Nothing is lost with certainty.
        assert_eq!(log_theta_with_slope(f64::INFINITY, 1.0).0, f64::NEG_INFINITY);
    }

    /// The margin grows with the logarithm of the profile, as [`PROFILE_ERROR`] says, and no bound on a
    /// probability passes 1.
    #[test]
    fn margins_are_those_that_are_said() {
        for mu in [1e-3, 1e-8, 1e-30, 1e-100] {
            let nearest = bulk_form(0.0, mu, Argument::new(0.0, mu));
            let margin = PROFILE_ERROR * (1.0 + nearest.ln().abs()) * f64::EPSILON;
            let raised = theta(0.0, mu) / nearest - 1.0;
            assert!((0.9 * margin..1.1 * margin + f64::EPSILON).contains(&raised), "{mu}: {raised:e}");
        }
        assert_eq!((log_theta(0.1, 30.0), theta(0.1, 30.0)), (0.0, 1.0));
        // The quotient of the two is beyond the range of floats.
        assert!((1.0 - f64::EPSILON..=1.0).contains(&one_minus_theta(1e10, 1e-300)));
    }
}
