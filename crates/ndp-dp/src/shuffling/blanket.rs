//! The privacy blanket in closed form, by Hoeffding's and Bennett's inequalities for its privacy-loss
//! variable.
//!
//! With probability `g` a randomizer answers independently of its input. The `Bin(m − 1, g)` such answers of
//! the other users are the blanket. Let `a = e^ε − 1`, and let the loss take values in an interval of length
//! `b`, be at most `b₊` and have second moment at most `c`. Then
//!
//! | bound | `δ` |
//! |---|---|
//! | Hoeffding | `b²/(4 a g m) · (1 − g(1 − e^{−2a²/b²}))^m` |
//! | Bennett | `b₊/ln(1 + β) · [(1 − g(1 − r))^m − (1 − g)^m]/(g m)`, `β = a b₊/c`, `r = e^{−(c/b₊²)((1+β)ln(1+β) − β)}` |
//!
//! Everything is evaluated in logarithms. Neighbors, observer and references as in the parent module.

use crate::error::ensure;
use crate::gaussian::check_epsilon;
use crate::randomized_response::check_labels;
use crate::{Error, UpperBound};
use ndp_numeric::rounding::{Interval, exp_up};

/// The `δ` at `ε` of `m` shuffled `ε₀`-DP reports, by Hoeffding's inequality: an upper bound, at most 1, that
/// tends to 1 as `ε → 0`.
///
/// Constants of any randomizer: `g = e^{−ε₀}`, `b = (e^ε + 1)(e^{ε₀} − e^{−ε₀})`; of `L`-ary randomized
/// response: `g = γ`, `b = (1 − γ) L (e^ε + 1)`.
///
/// # Errors
/// [`Error::InvalidEpsilon`] unless `0 ≤ ε, ε₀ < ∞`; [`Error::InvalidParameter`] unless `m ≥ 1` and
/// `labels ≥ 2`.
pub(crate) fn hoeffding_delta(
    epsilon: f64,
    local: f64,
    labels: Option<u32>,
    m: u64,
) -> Result<UpperBound<f64>, Error> {
    check_all(epsilon, local, m)?;
    labels.map_or(Ok(()), check_labels)?;
    if let Some(edge) = edge(epsilon, local) {
        return Ok(edge);
    }
    let k = Constants::new(epsilon, local, labels);
    let (reports, two) = (Interval::count(m), Interval::new(2.0));
    let hidden = -(-(two * (two * (k.log_a - k.log_b)).exp())).expm1();
    let log_delta = two * k.log_b - Interval::new(4.0).ln() - k.log_a - k.log_g - reports.ln()
        + reports * (-(k.g * hidden)).ln_1p();
    Ok(below_one(log_delta))
}

/// As [`hoeffding_delta`], by Bennett's inequality.
///
/// Constants of any randomizer: `g = e^{−ε₀}`, `b₊ = e^{ε₀}(1 − e^{ε−2ε₀})`, `c = e^{ε₀}(e^{2ε} + 1) − 2e^ε`;
/// `c` is smaller than the published one and holds for every `ε₀`-DP randomizer. Of `L`-ary randomized
/// response: `g = γ`, `b₊ = γ(1 − e^ε) + (1 − γ)L`, `c = γ(2 − γ)(e^ε − 1)² + (1 − γ)² L (e^{2ε} + 1)`.
///
/// # Errors
/// As [`hoeffding_delta`].
pub(crate) fn bennett_delta(
    epsilon: f64,
    local: f64,
    labels: Option<u32>,
    m: u64,
) -> Result<UpperBound<f64>, Error> {
    check_all(epsilon, local, m)?;
    labels.map_or(Ok(()), check_labels)?;
    if let Some(edge) = edge(epsilon, local) {
        return Ok(edge);
    }
    let k = Constants::new(epsilon, local, labels);
    let (reports, two) = (Interval::count(m), Interval::new(2.0));
    let beta = (k.log_a + k.log_b_plus - k.log_c).exp();
    let log_r = -((k.log_c - two * k.log_b_plus).exp() * relative_deviance(beta));
    // With A = 1 − g(1 − r) the powers A^m and (1 − g)^m differ by A^m (1 − (1 − x)^m), x = g r/A. For a
    // large ε₀ both powers round to 1, and their difference would vanish: the bound would be too small.
    let log_base = (k.g * log_r.expm1()).ln_1p();
    let log_x = k.log_g + log_r - log_base;
    // ln(−ln(1 − x)), which for small x lies between ln x and ln x + 2x.
    let log_power = if log_x.high() < -30.0 {
        Interval::between(log_x.low(), (log_x + two * log_x.exp()).high())
    } else {
        (-(-log_x.exp().min(Interval::ONE)).ln_1p()).ln()
    };
    let log_z = log_power + reports.ln();
    // 1 − e^{−z} is at most z.
    let log_difference = if log_z.high() < -35.0 { log_z } else { (-log_z.exp()).log1m_exp() };
    let log_delta =
        k.log_b_plus - beta.ln_1p().ln() + reports * log_base + log_difference - k.log_g - reports.ln();
    Ok(below_one(log_delta))
}

/// Logarithms of the constants of the module's table, for `0 < ε < ε₀`, and `g` itself.
struct Constants {
    g: Interval,
    log_g: Interval,
    log_a: Interval,
    log_b: Interval,
    log_b_plus: Interval,
    log_c: Interval,
}

impl Constants {
    fn new(epsilon: f64, local: f64, labels: Option<u32>) -> Self {
        match labels {
            None => Self::generic(epsilon, local),
            Some(labels) => Self::randomized_response(epsilon, local, labels),
        }
    }

    fn generic(epsilon: f64, local: f64) -> Self {
        let (epsilon, local, two) = (Interval::new(epsilon), Interval::new(local), Interval::new(2.0));
        Self {
            g: (-local).exp(),
            log_g: -local,
            log_a: epsilon.log_expm1(),
            log_b: Interval::ZERO.log_add_exp(epsilon) + local + (-(two * local)).log1m_exp(),
            log_b_plus: local + (epsilon - two * local).log1m_exp(),
            // e^{ε₀}(e^{2ε} + 1) − 2e^ε = e^{ε₀}(e^ε − 1)² + 2e^ε(e^{ε₀} − 1), a sum of positive terms.
            log_c: (local + two * epsilon.log_expm1()).log_add_exp(two.ln() + epsilon + local.log_expm1()),
        }
    }

    fn randomized_response(epsilon: f64, local: f64, labels: u32) -> Self {
        let (epsilon, local, two) = (Interval::new(epsilon), Interval::new(local), Interval::new(2.0));
        let (all, others) = (Interval::new(f64::from(labels)), Interval::new(f64::from(labels - 1)));
        // γ = L/(e^{ε₀} + L − 1) and 1 − γ = (e^{ε₀} − 1)/(e^{ε₀} + L − 1).
        let log_total = local + (others * (-local).exp()).ln_1p();
        let log_g = all.ln() - log_total;
        let log_rest = local.log_expm1() - log_total;
        let g = log_g.exp().min(Interval::ONE);
        let log_a = epsilon.log_expm1();
        Self {
            g,
            log_g,
            log_a,
            log_b: log_rest + all.ln() + Interval::ZERO.log_add_exp(epsilon),
            // γ(1 − e^ε) + (1 − γ)L = γ(e^{ε₀} − e^ε).
            log_b_plus: log_g + local + (epsilon - local).log1m_exp(),
            log_c: (log_g + (two - g).ln() + two * log_a)
                .log_add_exp(two * log_rest + all.ln() + Interval::ZERO.log_add_exp(two * epsilon)),
        }
    }
}

/// `(1 + v) ln(1 + v) − v` for `v ≥ 0`, nonnegative and increasing, about `v²/2` near 0.
fn relative_deviance(v: Interval) -> Interval {
    if v.high() > 0.1 {
        let value = (Interval::ONE + v) * v.ln_1p() - v;
        return value.max(Interval::ZERO);
    }
    // The series Σ_{k≥2} (−v)^k/(k(k−1)) by Horner's scheme; the terms left out are below 1e-17 times the
    // first.
    let mut sum = Interval::between(-1e-16, 1e-16);
    for k in (2..=18).rev() {
        sum = Interval::ONE / Interval::new(f64::from(k * (k - 1))) - v * sum;
    }
    v * v * sum
}

/// The cases that the formula does not cover: `δ = 0` for `ε ≥ ε₀`, and the limit 1 at `ε = 0`.
fn edge(epsilon: f64, local: f64) -> Option<UpperBound<f64>> {
    if epsilon >= local {
        Some(UpperBound::new(0.0))
    } else if epsilon == 0.0 {
        Some(UpperBound::new(1.0))
    } else {
        None
    }
}

/// `min(1, e^log)`, rounded up.
fn below_one(log_delta: Interval) -> UpperBound<f64> {
    // If constants overflowed, the high end is infinite, and the bound is the vacuous 1.
    UpperBound::new(if log_delta.high() < 0.0 { exp_up(log_delta.high()) } else { 1.0 })
}

fn check_all(epsilon: f64, local_epsilon: f64, m: u64) -> Result<(), Error> {
    check_epsilon(epsilon)?;
    check_epsilon(local_epsilon)?;
    ensure(m >= 1, "the number of shuffled reports", "be at least 1", m as f64)
}

#[cfg(test)]
mod tests {
    use super::super::{clones_delta, rr_blanket_delta};
    use super::*;
    use crate::error::refused;
    use approx::assert_relative_eq;
    use proptest::prelude::*;

    #[test]
    fn bounds_match_50_digit_values() -> Result<(), Error> {
        let value = |x: Result<UpperBound<f64>, Error>| x.map(UpperBound::into_value);
        for (epsilon, local, expected) in HOEFFDING {
            assert_relative_eq!(
                value(hoeffding_delta(epsilon, local, None, 5000))?,
                expected,
                max_relative = 1e-11
            );
        }
        for (epsilon, local, expected) in BENNETT {
            assert_relative_eq!(
                value(bennett_delta(epsilon, local, None, 5000))?,
                expected,
                max_relative = 1e-11
            );
        }
        for (epsilon, local, expected) in RR_HOEFFDING {
            let delta = value(hoeffding_delta(epsilon, local, Some(4), 5000))?;
            assert_relative_eq!(delta, expected, max_relative = 1e-11);
        }
        for (epsilon, local, expected) in RR_BENNETT {
            let delta = value(bennett_delta(epsilon, local, Some(4), 5000))?;
            assert_relative_eq!(delta, expected, max_relative = 1e-11);
        }
        Ok(())
    }

    const HOEFFDING: [(f64, f64, f64); 2] =
        [(0.1, 0.5, 3.383_160_581_619_138e-9), (0.095, 0.475, 1.938_491_915_234_521_7e-9)];
    const BENNETT: [(f64, f64, f64); 2] =
        [(0.1, 0.5, 5.959_740_186_278_25e-8), (0.095, 0.475, 6.469_112_660_716_086e-8)];
    const RR_HOEFFDING: [(f64, f64, f64); 2] =
        [(0.1, 0.5, 9.605_850_785_619_851e-34), (0.095, 0.475, 2.481_204_185_220_962_3e-34)];
    const RR_BENNETT: [(f64, f64, f64); 2] =
        [(0.1, 0.5, 9.963_047_102_612_31e-56), (0.095, 0.475, 1.115_927_533_467_153e-56)];

    #[test]
    fn limits_are_right() -> Result<(), Error> {
        for m in [1, 1000, 1_000_000_000_000] {
            for local in [0.0, 1e-9, 1.0, 1e4] {
                for epsilon in [0.0, 1e-12, 0.5, 9e3, 1e4] {
                    for delta in [
                        hoeffding_delta(epsilon, local, None, m)?,
                        bennett_delta(epsilon, local, None, m)?,
                        hoeffding_delta(epsilon, local, Some(7), m)?,
                        bennett_delta(epsilon, local, Some(7), m)?,
                    ] {
                        assert!((0.0..=1.0).contains(delta.value()));
                        assert!(epsilon < local || *delta.value() == 0.0);
                        assert!(epsilon > 0.0 || local == 0.0 || *delta.value() == 1.0);
                    }
                }
            }
        }
        Ok(())
    }

    #[test]
    fn deviance_has_no_seam() {
        for v in [0.1, 0.05] {
            let direct = (1.0_f64 + v) * libm::log1p(v) - v;
            assert_relative_eq!(relative_deviance(v.into()).high(), direct, max_relative = 2e-14);
        }
        assert_relative_eq!(relative_deviance(1e-9.into()).high(), 5e-19, max_relative = 1e-9);
    }

    #[test]
    fn bad_input_is_refused() {
        for bad in [f64::NAN, -1.0, f64::INFINITY] {
            assert!(matches!(hoeffding_delta(bad, 1.0, None, 10), Err(Error::InvalidEpsilon(_))));
            assert!(matches!(bennett_delta(0.1, bad, None, 10), Err(Error::InvalidEpsilon(_))));
            assert!(matches!(hoeffding_delta(0.1, bad, Some(3), 10), Err(Error::InvalidEpsilon(_))));
            assert!(matches!(bennett_delta(bad, 1.0, Some(3), 10), Err(Error::InvalidEpsilon(_))));
        }
        assert_eq!(refused(hoeffding_delta(0.1, 1.0, None, 0)), Some("the number of shuffled reports"));
        assert_eq!(refused(bennett_delta(0.1, 1.0, Some(1), 10)), Some("the number of labels"));
    }

    proptest! {
        /// The closed bounds lie above the exact ones, and fall with m. (In ε they need not fall: Hoeffding's
        /// prefactor grows as e^ε where the bound is vacuous.)
        #[test]
        fn closed_bounds_lie_above_exact_ones(
            local in 1e-2..4.0_f64,
            share in 0.01..0.99_f64,
            labels in 2_u32..20,
            m in 1_u64..600,
        ) {
            let epsilon = share * local;
            let clones = *clones_delta(epsilon, local, m)?.value();
            let blanket = *rr_blanket_delta(epsilon, local, labels, m)?.value();
            // The exact sums are rounded up by a factor of 1 + 3e-11, and by the probability beyond their
            // widest windows.
            let up = |delta: f64| delta * (1.0 + 1e-10) + 1e-270;
            type Bound = fn(f64, f64, u32, u64) -> Result<UpperBound<f64>, Error>;
            let closed: [(Bound, f64); 4] = [
                (|e, l, _, m| hoeffding_delta(e, l, None, m), clones),
                (|e, l, _, m| bennett_delta(e, l, None, m), blanket),
                (|e, l, labels, m| hoeffding_delta(e, l, Some(labels), m), blanket),
                (|e, l, labels, m| bennett_delta(e, l, Some(labels), m), blanket),
            ];
            for (bound, exact) in closed {
                let here = *bound(epsilon, local, labels, m)?.value();
                prop_assert!(exact <= up(here));
                prop_assert!(blanket <= up(here), "randomized response is a randomizer");
                prop_assert!(*bound(epsilon, local, labels, m + 5)?.value() <= up(here));
            }
            prop_assert!(blanket <= up(clones));
        }
    }
}
