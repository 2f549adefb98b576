//! The Rényi loss of a mixture: an observer sees one of several laws and is not told which.
//!
//! Under both data sets part `i` occurs with the same probability `w_i`, and the observer's view then has
//! Rényi loss at most `D_i`. Telling the observer which part it was can only raise the loss, so
//!
//! `D_α ≤ ln(Σ w_i e^{(α−1)D_i})/(α − 1)`
//!
//! always, with equality when the part is visible ([`log_mean_exp`]). The papers use the weak convexity
//! `D_α ≤ (1 + c) Σ w_i D_i` instead, which needs `c = (α − 1) max D_i ≤ 1` and is never smaller.
//!
//! # References
//! - Feldman, Mironov, Talwar and Thakurta, *Privacy amplification by iteration*, 2018, arXiv:1808.06651:
//!   Lemma 25 (weak convexity).
//! - van Erven and Harremoës, *Rényi divergence and Kullback-Leibler divergence*, 2014, arXiv:1206.2459.

use crate::error::ensure;
use crate::{Error, Order, UpperBound};
use ndp_numeric::rounding::Interval;
use serde::{Deserialize, Serialize};

/// One part of a mixture: its probability, and the loss if it occurs.
///
/// # Examples
/// ```
/// use ndp_dp::Order;
/// use ndp_dp::mixture::{Part, log_mean_exp};
/// // With probability 1/100 the loss is 1, otherwise 0.
/// let parts = [Part { weight: 0.01, loss: 1.0 }, Part { weight: 0.99, loss: 0.0 }];
/// let loss = log_mean_exp(Order::new(2.0)?, &parts)?.into_value();
/// assert!((loss - 0.01_f64.mul_add(1.0_f64.exp_m1(), 1.0).ln()).abs() < 1e-12);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// The probability of the part, the same under both data sets.
    #[serde(with = "crate::lossless")]
    pub weight: f64,
    /// A bound on its Rényi loss in nats, at the order asked for; perhaps infinite.
    #[serde(with = "crate::lossless")]
    pub loss: f64,
}

/// The loss of the mixture at `order`, in nats: `ln(Σ w_i e^{(α−1)D_i})/(α − 1)`, rounded up. It needs no
/// precondition, and is exact if the losses are exact and the observer sees which part occurred.
///
/// # Errors
/// [`Error::InvalidParameter`] unless weights and losses are nonnegative and the weights sum to 1 within 1e-9
/// (they are then divided by their sum).
///
/// # Examples
/// ```
/// use ndp_dp::{Order, mixture::{self, Part}};
/// // With probability 1/100 the observer sees the release, at a loss of 5, and otherwise nothing.
/// let parts = [Part { weight: 0.01, loss: 5.0 }, Part { weight: 0.99, loss: 0.0 }];
/// let loss = mixture::log_mean_exp(Order::new(2.0)?, &parts)?;
/// assert!(*loss.value() < 0.92);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
pub fn log_mean_exp(order: Order, parts: &[Part]) -> Result<UpperBound<f64>, Error> {
    let (total, largest) = check_parts(parts)?;
    let excess = Interval::new(order.get()) - Interval::ONE;
    let worst = Interval::new(largest);
    let shift = excess * worst;
    if shift.high().is_infinite() {
        return Ok(UpperBound::new(largest));
    }
    let occurring = parts.iter().filter(|part| part.weight > 0.0);
    let weighted = |part: &Part, factor: Interval| Interval::new(part.weight) * factor;
    let exponent = if shift.high() < 1.0 {
        // This form keeps the relative accuracy of small losses.
        let sum: Interval =
            occurring.map(|part| weighted(part, (excess * Interval::new(part.loss)).expm1())).sum();
        (sum / total).ln_1p()
    } else {
        let sum: Interval = occurring
            .map(|part| weighted(part, (-(excess * (worst - Interval::new(part.loss)))).exp()))
            .sum();
        shift + (sum / total).ln()
    };
    Ok(UpperBound::new((exponent / excess).high().clamp(0.0, largest)))
}

/// The sum of the weights, and the largest loss that may occur.
fn check_parts(parts: &[Part]) -> Result<(Interval, f64), Error> {
    for part in parts {
        ensure(part.weight >= 0.0, "the weight of a part", "be nonnegative", part.weight)?;
        ensure(part.loss >= 0.0, "the loss of a part", "be nonnegative", part.loss)?;
    }
    let total: Interval = parts.iter().map(|part| Interval::new(part.weight)).sum();
    let near = (total.high() - 1.0).abs() <= 1e-9;
    ensure(near, "the sum of the weights", "be 1 within 1e-9", total.high())?;
    let occurring = parts.iter().filter(|part| part.weight > 0.0);
    Ok((total, occurring.map(|part| part.loss).fold(0.0, f64::max)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use proptest::prelude::*;

    fn order(alpha: f64) -> Order {
        Order::new(alpha).unwrap()
    }

    fn parts(pairs: &[(f64, f64)]) -> Vec<Part> {
        pairs.iter().map(|&(weight, loss)| Part { weight, loss }).collect()
    }

    /// `D_α` between two mixtures of unit Gaussians, by the trapezoidal rule. It is below the bound if the
    /// part is hidden, and equal to it if the parts are so far apart that they are visible.
    #[test]
    fn gaussian_mixtures_cost_at_most_the_bound() -> Result<(), Error> {
        for (distance, alpha) in [(0.0, 2.0), (2.0, 3.0), (60.0, 2.0), (60.0, 1.3)] {
            let shifts = [1.0, 0.2];
            let weights = [0.3, 0.7];
            let centers = [0.0, distance];
            let step = 0.01;
            let mut sum = 0.0;
            for i in -3000..9000 {
                let x = step * f64::from(i);
                let density = |at: f64| (-0.5 * (x - at) * (x - at)).exp();
                let p: f64 = (0..2).map(|k| weights[k] * density(centers[k] + shifts[k])).sum();
                let q: f64 = (0..2).map(|k| weights[k] * density(centers[k])).sum();
                // Elsewhere the integrand is below 1e-290, and q may be a subnormal float without accuracy.
                if q > 1e-290 {
                    sum += p * (p / q).powf(alpha - 1.0) * step / (2.0 * std::f64::consts::PI).sqrt();
                }
            }
            let exact = sum.ln() / (alpha - 1.0);
            let losses = parts(&[(0.3, 0.5 * alpha), (0.7, 0.5 * alpha * 0.04)]);
            let bound = *log_mean_exp(order(alpha), &losses)?.value();
            assert!(exact <= bound * (1.0 + 1e-9), "{distance} {alpha}: {exact} {bound}");
            if distance > 50.0 {
                assert_relative_eq!(exact, bound, max_relative = 1e-6);
            }
        }
        Ok(())
    }

    #[test]
    fn limits_are_right() -> Result<(), Error> {
        let never = parts(&[(1.0, 0.3), (0.0, f64::INFINITY)]);
        assert_relative_eq!(*log_mean_exp(order(2.0), &never)?.value(), 0.3, max_relative = 1e-14);
        let leak = parts(&[(0.5, 0.3), (0.5, f64::INFINITY)]);
        assert_eq!(*log_mean_exp(order(2.0), &leak)?.value(), f64::INFINITY);
        assert_eq!(*log_mean_exp(order(2.0), &parts(&[(1.0, 0.0)]))?.value(), 0.0);
        // As α → ∞ the loss tends to the largest one.
        assert_eq!(*log_mean_exp(order(1e300), &parts(&[(0.5, 1.0), (0.5, 1e10)]))?.value(), 1e10);
        let tiny = *log_mean_exp(order(1.000_001), &parts(&[(0.5, 1e-12), (0.5, 3e-12)]))?.value();
        assert_relative_eq!(tiny, 2e-12, max_relative = 1e-12);
        Ok(())
    }

    #[test]
    fn bad_input_is_refused() {
        for bad in [
            parts(&[]),
            parts(&[(0.5, 1.0)]),
            parts(&[(1.5, 1.0), (-0.5, 1.0)]),
            parts(&[(1.0, -1.0)]),
            parts(&[(1.0, f64::NAN)]),
            parts(&[(f64::NAN, 1.0)]),
        ] {
            assert!(matches!(log_mean_exp(order(2.0), &bad), Err(Error::InvalidParameter { .. })));
        }
    }

    proptest! {
        #[test]
        fn bounds_are_ordered(
            raw in prop::collection::vec((0.01..1.0_f64, 0.0..5.0_f64), 1..8),
            alpha in 1.01..20.0_f64,
        ) {
            let total: f64 = raw.iter().map(|(weight, _)| weight).sum();
            let parts: Vec<Part> =
                raw.iter().map(|&(weight, loss)| Part { weight: weight / total, loss }).collect();
            let order = order(alpha);
            let mean: f64 = parts.iter().map(|part| part.weight * part.loss).sum();
            let largest = parts.iter().map(|part| part.loss).fold(0.0, f64::max);
            let loss = *log_mean_exp(order, &parts)?.value();
            prop_assert!(mean <= loss * (1.0 + 1e-12) && loss <= largest);
            prop_assert!(loss <= log_mean_exp(Order::new(1.1 * alpha)?, &parts)?.value() * (1.0 + 1e-12));
        }
    }
}
