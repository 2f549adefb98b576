//! The regularised incomplete beta function, in log space, with full relative accuracy in both tails.
//!
//! It is a density times a continued fraction. The density is computed in Loader's saddle-point form: `ln Γ`
//! of a large argument has an absolute error of many units in the last place of the answer (2e-7 at 1e8),
//! while here every large term is a nonnegative deviance `a (t − ln(1 + t))` computed from a deviation known
//! exactly.
//!
//! Parameters above [`MAX_PARAMETER`] give NaN, like all others outside the domain.
//!
//! Measured against 40-digit values (`tests/special_functions.rs`): relative error below 1e-13 for parameters
//! up to 1e8 and values down to 1e-300, and for logarithms of smaller values. Nothing is claimed for a
//! parameter below 1/10: the fraction of the incomplete beta function then loses digits (2.6e-2 absolute in
//! the logarithm at `a = 2e-10`, `b = 1e5`). No guarantee of this crate takes a parameter below 1; those of
//! binomial tails are integers, see [`crate::binomial::TAIL_ERROR`].
//!
//! # References
//! - Loader, *Fast and accurate computation of binomial probabilities*, 2000.
//! - DiDonato and Morris, *Algorithm 708*, ACM TOMS 18, 1992: the fraction of the incomplete beta function.
//! - NIST Digital Library of Mathematical Functions, 8.17.22.

use crate::casts::floor;
use crate::logspace::log1m_exp;
use crate::special::LN_SQRT_2PI;

/// The largest parameter accepted: near the mean, `√a` steps are needed.
pub const MAX_PARAMETER: f64 = 1e13;

/// `ln I_x(a, b)`, `I_x(a, b) = ∫_0^x t^{a−1} (1 − t)^{b−1} dt / B(a, b)`, for `0 < a, b ≤ 1e13`
/// and `0 ≤ x ≤ 1`; NaN elsewhere.
///
/// # Complexity
/// `O(√max(a, b))` near the mean `x = a/(a + b)`, a few dozen steps away from it.
#[must_use]
pub fn log_beta_i(a: f64, b: f64, x: f64) -> f64 {
    match beta_side(a, b, x) {
        Side::Lower(p) => p,
        Side::Upper(q) => log1m_exp(q),
    }
}

/// `ln(1 − I_x(a, b))`, see [`log_beta_i`].
#[must_use]
pub fn log_beta_i_complement(a: f64, b: f64, x: f64) -> f64 {
    match beta_side(a, b, x) {
        Side::Lower(p) => log1m_exp(p),
        Side::Upper(q) => q,
    }
}

/// The logarithm of the tail that was computed directly; the other follows by complement.
enum Side {
    Lower(f64),
    Upper(f64),
}

fn beta_side(a: f64, b: f64, x: f64) -> Side {
    if !(0.0 < a && a <= MAX_PARAMETER && 0.0 < b && b <= MAX_PARAMETER && (0.0..=1.0).contains(&x)) {
        return Side::Lower(f64::NAN);
    }
    if x == 0.0 {
        return Side::Lower(f64::NEG_INFINITY);
    }
    if x == 1.0 {
        return Side::Upper(f64::NEG_INFINITY);
    }
    let deviation = deviation(a, b, x);
    let density = log_beta_density(a, b, x, deviation);
    if deviation >= 0.0 {
        Side::Lower(beta_tail(a, b, x, deviation, density))
    } else {
        Side::Upper(beta_tail(b, a, 1.0 - x, -deviation, density))
    }
}

/// `ln I_x(a, b)` below the mean, from `ln [x^a (1−x)^b / B(a, b)]` and `a − (a+b) x ≥ 0`.
fn beta_tail(a: f64, b: f64, x: f64, deviation: f64, density: f64) -> f64 {
    let mut n = 0.0;
    let fraction = continued_fraction(a * (deviation + 1.0) / (a + 1.0), || {
        n += 1.0;
        let odd = a + 2.0 * n - 1.0;
        let numerator = (a + n - 1.0) / odd * ((a + b + n - 1.0) / odd) * n * (b - n) * x * x;
        let denominator =
            n + n * (b - n) * x / odd + (a + n) * (deviation + 1.0 + n * (2.0 - x)) / (odd + 2.0);
        (numerator, denominator)
    });
    (density - libm::log(fraction)).min(0.0)
}

/// `b₀ + a₁/(b₁ + a₂/(b₂ + …))` by the modified Lentz method; `next` yields `(aₙ, bₙ)`.
fn continued_fraction(first: f64, mut next: impl FnMut() -> (f64, f64)) -> f64 {
    const TINY: f64 = 1e-290;
    let guard = |x: f64| if x.abs() < TINY { TINY } else { x };
    let mut value = guard(first);
    let mut c = value;
    let mut d = 0.0;
    // The fractions used need about √a terms; the limit only keeps a defect from looping forever.
    for _ in 0..10_000_000 {
        let (numerator, denominator) = next();
        d = 1.0 / guard(denominator + numerator * d);
        c = guard(denominator + numerator / c);
        let factor = c * d;
        value *= factor;
        if (factor - 1.0).abs() < 2e-16 {
            break;
        }
    }
    value
}

/// `a − (a + b) x`, exact up to its own rounding: it says how far the point lies in the tail.
pub(crate) fn deviation(a: f64, b: f64, x: f64) -> f64 {
    let (n, n_low) = two_sum(a, b);
    let (product, product_low) = two_product(n, x);
    let (difference, difference_low) = two_sum(a, -product);
    difference + (difference_low - product_low - n_low * x)
}

/// `a + b` as the nearest float and the remainder, exactly (Knuth).
#[must_use]
pub fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// `a b` as the nearest float and the remainder, exactly unless the remainder underflows.
#[must_use]
pub fn two_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    (product, libm::fma(a, b, -product))
}

/// `ln [x^a (1−x)^b / B(a, b)]` from `deviation = a − (a+b) x`.
fn log_beta_density(a: f64, b: f64, x: f64, deviation: f64) -> f64 {
    let n = a + b;
    log_binomial_saddle(a, b, x, deviation) + libm::log(a / n * b)
}

/// `ln [Γ(n+1)/(Γ(a+1)Γ(b+1)) x^a (1−x)^b]`, `n = a + b`, `deviation = a − n x`, for `a, b > 0`.
pub(crate) fn log_binomial_saddle(a: f64, b: f64, x: f64, deviation: f64) -> f64 {
    let n = a + b;
    let deviance = deviance(a, n * x, deviation) + deviance(b, n * (1.0 - x), -deviation);
    stirling_error(n)
        - stirling_error(a)
        - stirling_error(b)
        - deviance
        - 0.5 * libm::log(a / n * b)
        - LN_SQRT_2PI
}

/// `m ln(m/e) − (m − e) ≥ 0` for `m > 0` and the expected value `e > 0`, from the accurate
/// `deviation = m − e`, without cancellation near 0.
fn deviance(m: f64, e: f64, deviation: f64) -> f64 {
    let t = -deviation / m;
    if t.abs() > 0.6 {
        return m * libm::log(m / e) - deviation;
    }
    // m (t − ln(1 + t)); with r = t/(2+t): ln(1+t) = 2r (1 + r²/3 + r⁴/5 + …) and t − 2r = rt.
    let r = t / (2.0 + t);
    let y = r * r;
    let mut power = y;
    let mut sum = 0.0;
    let mut k = 3.0;
    while power > 1e-18 * y {
        sum += power / k;
        power *= y;
        k += 2.0;
    }
    m * r * (t - 2.0 * sum)
}

/// `ln Γ(x+1) − [(x + ½) ln x − x + ln √(2π)]` for `x > 0`.
pub(crate) fn stirling_error(x: f64) -> f64 {
    // The subtraction below loses up to 25 epsilons if `x` is a small count.
    if (1.0..16.0).contains(&x) && x == x.trunc() {
        return STIRLING_ERRORS[floor(x) - 1];
    }
    if x < 16.0 {
        return libm::lgamma(x + 1.0) - (x + 0.5) * libm::log(x) + x - LN_SQRT_2PI;
    }
    let y = 1.0 / (x * x);
    // Bernoulli numbers B_{2k}/(2k(2k−1)); the first neglected term is below 2e-18 at 16.
    (1.0 / 12.0
        - y * (1.0 / 360.0
            - y * (1.0 / 1260.0 - y * (1.0 / 1680.0 - y * (1.0 / 1188.0 - y * 691.0 / 360_360.0)))))
        / x
}

/// [`stirling_error`] of 1, …, 15; mpmath at 50 digits.
const STIRLING_ERRORS: [f64; 15] = [
    0.08106146679532726,
    0.0413406959554093,
    0.02767792568499834,
    0.020790672103765093,
    0.016644691189821193,
    0.013876128823070748,
    0.01189670994589177,
    0.010411265261972096,
    0.009255462182712733,
    0.00833056343336287,
    0.007573675487951841,
    0.00694284010720953,
    0.006408994188004207,
    0.0059513701127588475,
    0.005554733551962801,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums and products of whole numbers below `2^53`, for which `i128` has room.
    #[test]
    fn sums_and_products_lose_nothing() {
        let mut seed = 1_u64;
        let mut number = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let magnitude = (seed >> 11) >> (seed % 7 * 8);
            magnitude as f64 * if seed & 64 == 0 { 1.0 } else { -1.0 }
        };
        for _ in 0..1000 {
            let (a, b) = (number(), number() * 1024.0);
            for (a, b) in [(a, b), (b, a)] {
                let (exact, whole) = (a as i128 + b as i128, |x: f64| x as i128);
                let (sum, rest) = two_sum(a, b);
                assert_eq!(whole(sum) + whole(rest), exact, "{a} {b}");
                assert_eq!(sum, exact as f64, "{a} {b}");
                let (product, rest) = two_product(a, b);
                assert_eq!(whole(product) + whole(rest), a as i128 * b as i128, "{a} {b}");
            }
        }
        assert_eq!(two_sum(1.0, 1e-20), (1.0, 1e-20));
    }
}
