//! The normal law to full relative accuracy, tails included.
//!
//! No crate surveyed has an accurate `erfcx`, so it is written here: below 10 from libm's `erfc` with an
//! exactly split square, above 10 from the asymptotic series. Everything else follows from the Mills ratio
//! `R(x) = Q(x)/φ(x) = √(π/2) erfcx(x/√2)`.
//!
//! # References
//! - NIST Digital Library of Mathematical Functions, 7.12.1 (asymptotic series) and 7.9.1
//!   (continued fraction).

use crate::rounding::whole;
use statrs::distribution::{ContinuousCDF, Normal};
use std::f64::consts::{FRAC_1_SQRT_2, PI, SQRT_2};

/// `ln √(2π)`.
pub const LN_SQRT_2PI: f64 = 0.918_938_533_204_672_8;
/// `√(2π)`.
pub const SQRT_2PI: f64 = 2.506_628_274_631_000_7;

/// The scaled complementary error function `e^{x²} erfc(x)`; `∞` below `x ≈ −26.6`.
///
/// Measured: against 78 digits at 900 000 points, a relative error of at most 2.62 epsilons; rely on 5.3.
#[must_use]
pub fn erfcx(x: f64) -> f64 {
    if x >= 10.0 {
        return erfcx_series(x);
    }
    if x < -27.0 {
        return f64::INFINITY;
    }
    let (square, rest) = split_square(x);
    // Computing e^{x²} directly would lose x² ulp: the rounding error of the square enters the exponent.
    libm::exp(square) * (1.0 + rest) * libm::erfc(x)
}

/// `(1/(x√π)) Σ_k (−1)^k (2k−1)!!/(2x²)^k`; at `x = 10` the first neglected term is below 1e-18.
fn erfcx_series(x: f64) -> f64 {
    let step = 0.5 / (x * x);
    let mut term = 1.0;
    let mut sum = 1.0;
    for k in 1..15 {
        term *= -f64::from(2 * k - 1) * step;
        sum += term;
    }
    sum / (x * PI.sqrt())
}

/// `x² = square + rest` without rounding error, for `|x| < 1e150`.
#[must_use]
pub fn split_square(x: f64) -> (f64, f64) {
    // Veltkamp's splitting: on the baseline target a fused multiply-add would be a slow library call.
    let scaled = 134_217_729.0 * x;
    let high = scaled - (scaled - x);
    let low = x - high;
    let square = x * x;
    (square, ((high * high - square) + 2.0 * high * low) + low * low)
}

/// The standard normal density `φ(x)`.
#[must_use]
pub fn normal_density(x: f64) -> f64 {
    if x.abs() > 40.0 {
        return 0.0;
    }
    let (square, rest) = split_square(x);
    libm::exp(-0.5 * square) * (1.0 - 0.5 * rest) / SQRT_2PI
}

/// The standard normal distribution function `Φ(x)`, accurate in the left tail.
#[must_use]
pub fn normal_cdf(x: f64) -> f64 {
    normal_tail(-x)
}

/// Error of [`normal_tail`] and [`normal_cdf`], relative, in epsilons. Measured: against 78 digits at 10⁶
/// points from −6 to 37.5, at most 4.0; doubled.
pub const TAIL_ERROR: f64 = 8.0;

/// The standard normal upper tail `Q(x) = 1 − Φ(x)`, accurate in the right tail.
#[must_use]
pub fn normal_tail(x: f64) -> f64 {
    // erfc(x/√2) amplifies the rounding of x/√2 by x²; the Mills ratio does not.
    if x > 1.0 { normal_density(x) * mills_ratio(x) } else { 0.5 * libm::erfc(x * FRAC_1_SQRT_2) }
}

/// `ln Q(x)`, finite wherever `x²/2` is.
///
/// Measured: against 78 digits at 919 000 points, an error of at most 1.29 epsilons of `1 + |ln Q|`; rely on
/// 2.6.
#[must_use]
pub fn log_normal_tail(x: f64) -> f64 {
    if x > 1.0 {
        -0.5 * x * x - LN_SQRT_2PI + libm::log(mills_ratio(x))
    } else if x < -1.0 {
        libm::log1p(-normal_tail(-x))
    } else {
        libm::log(normal_tail(x))
    }
}

/// The Mills ratio `R(x) = Q(x)/φ(x)`: decreasing, `√(π/2)` at 0, about `1/x` for large `x`.
///
/// Measured: against 78 digits at 877 000 points, a relative error of at most 16.4 epsilons (at `x = −4.9`);
/// rely on 33.
#[must_use]
pub fn mills_ratio(x: f64) -> f64 {
    (PI / 2.0).sqrt() * erfcx(x / SQRT_2)
}

/// `−R′(x) = 1 − x R(x)` for `x ≥ 0`: positive, about `1/x²` for large `x`.
///
/// Measured: against 78 digits at 923 000 points, a relative error of at most 65 epsilons (next to `x = 5`);
/// rely on 130.
#[must_use]
pub fn mills_slope(x: f64) -> f64 {
    if x <= 5.0 {
        return 1.0 - x * mills_ratio(x);
    }
    if x <= 20.0 {
        // R = 1/(x + c), c = 1/(x + 2/(x + 3/(x + …))), hence 1 − xR = cR without cancellation.
        let terms = 11 + whole(530.0 / (x * x));
        let mut tail = x;
        for k in (2..=terms).rev() {
            tail = x + k as f64 / tail;
        }
        let c = 1.0 / tail;
        return c / (x + c);
    }
    // 1/x² − 3/x⁴ + 15/x⁶ − …, twelve terms: four are too small by 4e-8 at x = 20, an inward error.
    let step = 1.0 / (x * x);
    let mut term = step;
    let mut sum = step;
    for k in 2..=12 {
        term *= -f64::from(2 * k - 1) * step;
        sum += term;
    }
    sum
}

/// `R(x) − R(x + width)` for `x ≥ 0` and `width ≥ 0`, without cancellation for small widths.
///
/// Measured: against 78 digits at 676 000 points, a relative error of at most 74.3 epsilons; rely on 149.
#[must_use]
pub fn mills_difference(x: f64, width: f64) -> f64 {
    let near = mills_ratio(x);
    let direct = near - mills_ratio(x + width);
    if width >= 0.1 && direct >= 0.05 * near {
        return direct;
    }
    // The integral of the slope; the interval's length is `width`, not the rounded difference of its ends.
    // The slope varies on a scale of 1 + x, at least twenty times the width: five nodes leave an error below
    // 1e-17.
    let (half, center) = (0.5 * width, x + 0.5 * width);
    let pairs: f64 = GAUSS_LEGENDRE_5
        .iter()
        .map(|&(node, weight)| {
            weight * (mills_slope(center - half * node) + mills_slope(center + half * node))
        })
        .sum();
    half * (pairs + 128.0 / 225.0 * mills_slope(center))
}

/// The quantile `Φ^{−1}(p)`; `∓∞` at 0 and 1, NaN outside `[0, 1]`.
#[must_use]
pub fn normal_quantile(p: f64) -> f64 {
    // statrs panics outside the unit interval.
    if (0.0..=1.0).contains(&p) { Normal::standard().inverse_cdf(p) } else { f64::NAN }
}

/// Positive nodes and weights of the five-point Gauss–Legendre rule on `[−1, 1]`.
const GAUSS_LEGENDRE_5: [(f64, f64); 2] =
    [(0.538_469_310_105_683_1, 0.478_628_670_499_366_47), (0.906_179_845_938_664, 0.236_926_885_056_189_08)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scaled_function_is_infinite_far_to_the_left() {
        assert_eq!([-27.5, -1e200, f64::NEG_INFINITY].map(erfcx), [f64::INFINITY; 3]);
        assert!(erfcx(-26.0).is_finite());
    }
}
