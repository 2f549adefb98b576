//! Randomized response over `L` labels: its two parameters, its exact losses, its sampler.
//!
//! `RR_γ` keeps a label with probability `1 − γ` and otherwise draws one of all `L` labels uniformly. The
//! true label comes out with probability `1 − γ + γ/L`, any other with `γ/L`, so a report is `ε₀`-DP with `ε₀
//! = ln(1 + L(1 − γ)/γ)`. Neighbors differ in the label of one user; the observer sees the report.
//!
//! # References
//! - Kairouz, Oh and Viswanath, *Extremal mechanisms for local differential privacy*, 2014,
//!   arXiv:1407.1338: Section 4 (randomized response over many labels).
//! - Cyffers and Bellet, *Privacy amplification by decentralization*, 2022, arXiv:2012.05326: Section 3.2.

use crate::error::ensure;
use crate::gaussian::check_epsilon;
use crate::laplace::epsilon_at;
use crate::neighbors::Neighbors;
use crate::{Delta, Error, Exact, Guarantee, Mechanism, Moves, Order, Stated};
use ndp_numeric::rounding::Interval;
use rand::{Rng, RngExt};
use serde::Serialize;

/// `L`-ary randomized response.
///
/// # Examples
/// ```
/// use ndp_dp::{Mechanism, RandomizedResponse};
/// let response = RandomizedResponse::with_epsilon(4, 1.0)?;
/// assert!(*response.pure_epsilon().value() <= 1.0 && response.gamma() < 1.0);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RandomizedResponse {
    labels: u32,
    gamma: f64,
    local_epsilon: f64,
}

crate::lossless::checked_fields! {
    RandomizedResponse { labels: u32, gamma: f64, local_epsilon: f64 } => Self::from_parts(labels, gamma, local_epsilon)
}

impl RandomizedResponse {
    /// Randomized response over `labels` labels that answers uniformly at random with probability `gamma`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `labels ≥ 2` and `0 < gamma ≤ 1`.
    pub fn new(labels: u32, gamma: f64) -> Result<Self, Error> {
        Ok(Self { labels, gamma, local_epsilon: local_epsilon(labels, gamma)? })
    }

    /// The randomized response over `labels` labels that is `local_epsilon`-DP. `γ = L/(e^{ε₀} − 1 + L)` is
    /// rounded up, and the `ε₀` of the mechanism is that of the rounded `γ`. It may be slightly below
    /// `local_epsilon`, by as much as a change of `1 − γ` by 2^−53 makes.
    ///
    /// # Errors
    /// [`Error::InvalidEpsilon`] unless `0 ≤ ε₀ < ∞`, [`Error::InvalidParameter`] when `labels < 2` or when
    /// `ε₀` is so large (about 745) that the probability of a random answer is no positive float.
    pub fn with_epsilon(labels: u32, local_epsilon: f64) -> Result<Self, Error> {
        let gamma = gamma(labels, local_epsilon)?;
        ensure(
            gamma > 0.0,
            "the local epsilon of a sampler of randomized response",
            "leave a positive probability of a random answer",
            local_epsilon,
        )?;
        // With many labels 1 − γ has only a few significant digits, so the ε₀ of the rounded γ is used. It is
        // at most local_epsilon, since γ was rounded up.
        let kept = self::local_epsilon(labels, gamma)?.min(local_epsilon);
        Ok(Self { labels, gamma, local_epsilon: kept })
    }

    /// The mechanism from its parts, which must be those that [`Self::new`] or [`Self::with_epsilon`] make: a
    /// smaller `ε₀` would be a false guarantee.
    fn from_parts(labels: u32, gamma: f64, local_epsilon: f64) -> Result<Self, Error> {
        let given = Self { labels, gamma, local_epsilon };
        let made = [Self::new(labels, gamma)?, Self::with_epsilon(labels, local_epsilon)?];
        ensure(
            made.contains(&given),
            "the local epsilon of randomized response",
            "be that of its probability of a random answer",
            local_epsilon,
        )?;
        Ok(given)
    }

    /// The number of labels `L`.
    #[must_use]
    pub const fn labels(&self) -> u32 {
        self.labels
    }

    /// The probability `γ` of a uniformly random answer.
    #[doc(alias = "rr_gamma")]
    #[must_use]
    pub const fn gamma(&self) -> f64 {
        self.gamma
    }

    /// An enclosure of `δ` at `ε`. Close to `ε₀` it is the difference of two nearly equal probabilities, and
    /// the enclosure is wide.
    fn enclosure(&self, epsilon: f64) -> Interval {
        let high = profile(epsilon, self.local_epsilon, self.labels);
        if high == 0.0 {
            return Interval::ZERO;
        }
        let random = Interval::new(self.gamma);
        let kept = Interval::ONE - random - self.lost(epsilon);
        let high = high.min(kept.high().max(0.0));
        Interval::between(kept.low().clamp(0.0, high), high)
    }

    /// `(γ/L)(e^ε − 1)`.
    fn lost(&self, epsilon: f64) -> Interval {
        Interval::new(self.gamma) / Interval::new(f64::from(self.labels)) * Interval::new(epsilon).expm1()
    }

    /// One report about `label`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `label < labels`.
    pub fn sample(&self, label: u32, rng: &mut impl Rng) -> Result<u32, Error> {
        ensure(label < self.labels, "a label", "be below the number of labels", f64::from(label))?;
        let random: f64 = rng.random();
        Ok(if random < self.gamma { rng.random_range(0..self.labels) } else { label })
    }
}

/// Exact: `δ = (e^{ε₀} − e^ε)/(e^{ε₀} + L − 1)`, 0 for `ε ≥ ε₀`. If `ε` is so close to `ε₀` that this is not
/// known to nine digits, it is an upper bound, and so is an `ε` at `δ` that is not known to nine digits.
impl Mechanism for RandomizedResponse {
    fn stated(&self) -> Option<Stated> {
        Some(Stated::of(
            Some(Neighbors::ReplaceOne),
            Moves::Label { of: self.labels },
            "ndp_dp::RandomizedResponse",
        ))
    }

    /// Exact: `ln[(e^{αε₀} + e^{(1−α)ε₀} + L − 2)/(e^{ε₀} + L − 1)]/(α − 1)`.
    fn rdp(&self, order: Order) -> Guarantee<f64> {
        let (alpha, epsilon) = (Interval::new(order.get()), Interval::new(self.local_epsilon));
        let excess = alpha - Interval::ONE;
        // The argument of the logarithm is written as 1 + (1 − e^{−(α−1)ε₀})(e^{αε₀} − 1)/(e^{ε₀} + L − 1),
        // which does not cancel.
        let log_gain = (-(excess * epsilon)).log1m_exp() + (alpha * epsilon).log_expm1()
            - log_total(epsilon, self.labels);
        let divergence = Interval::ZERO.log_add_exp(log_gain) / excess;
        // Because of rounding, or if α ε₀ overflows, the result may exceed ε₀, its limit as α → ∞.
        Exact::new(divergence.high().min(self.local_epsilon)).into()
    }

    fn epsilon(&self, delta: Delta) -> Guarantee<f64> {
        // 1 − δ = γ + (γ/L)(e^ε − 1).
        let random = Interval::new(self.gamma);
        let complement = |epsilon| random + self.lost(epsilon);
        epsilon_at(delta, self.local_epsilon, |epsilon| self.enclosure(epsilon), complement)
    }

    fn delta(&self, epsilon: f64) -> Result<Guarantee<f64>, Error> {
        check_epsilon(epsilon)?;
        Ok(Guarantee::of_enclosure(self.enclosure(epsilon)))
    }

    /// Exact: the `ε₀ = ln(1 + L(1 − γ)/γ)` of one report.
    fn pure_epsilon(&self) -> Guarantee<f64> {
        Exact::new(self.local_epsilon).into()
    }
}

/// The probability `γ = L/(e^{ε₀} − 1 + L)` of a random answer that makes a report `ε₀`-DP, rounded up; 0 if
/// it underflows.
///
/// # Errors
/// [`Error::InvalidEpsilon`] unless `0 ≤ ε₀ < ∞`, [`Error::InvalidParameter`] unless `labels ≥ 2`.
pub(crate) fn gamma(labels: u32, local_epsilon: f64) -> Result<f64, Error> {
    check_epsilon(local_epsilon)?;
    check_labels(labels)?;
    let labels = Interval::new(f64::from(labels));
    let gamma = labels / (Interval::new(local_epsilon).expm1() + labels);
    Ok(if gamma.low() == 0.0 { 0.0 } else { gamma.high().min(1.0) })
}

/// The pure privacy `ε₀ = ln(1 + L(1 − γ)/γ)` of one report of `RR_γ`, in nats, rounded up.
///
/// # Errors
/// [`Error::InvalidParameter`] unless `labels ≥ 2` and `0 < gamma ≤ 1`.
pub(crate) fn local_epsilon(labels: u32, gamma: f64) -> Result<f64, Error> {
    check_labels(labels)?;
    ensure(
        0.0 < gamma && gamma <= 1.0,
        "the probability gamma of a random answer",
        "lie above 0 and be at most 1",
        gamma,
    )?;
    let (labels, random) = (Interval::new(f64::from(labels)), Interval::new(gamma));
    let kept = labels * (Interval::ONE - random);
    // For a tiny gamma the quotient may overflow, but the difference of logarithms does not.
    let epsilon = if gamma < 1e-3 { (kept + random).ln() - random.ln() } else { (kept / random).ln_1p() };
    Ok(epsilon.high().max(0.0))
}

#[doc(hidden)]
pub fn check_labels(labels: u32) -> Result<(), Error> {
    ensure(labels >= 2, "the number of labels", "be at least 2", f64::from(labels))
}

/// `(e^{ε₀} − e^ε)₊/(e^{ε₀} + L − 1)`, scaled by `e^{−ε₀}` so that nothing overflows; rounded up.
pub(crate) fn profile(epsilon: f64, local_epsilon: f64, labels: u32) -> f64 {
    if epsilon >= local_epsilon {
        return 0.0;
    }
    let local = Interval::new(local_epsilon);
    let others = Interval::new(f64::from(labels - 1)) * (-local).exp();
    (-(Interval::new(epsilon) - local).expm1() / (Interval::ONE + others)).high().min(1.0)
}

/// `ln(e^{ε₀} + L − 1)`.
fn log_total(local_epsilon: Interval, labels: u32) -> Interval {
    local_epsilon + (Interval::new(f64::from(labels - 1)) * (-local_epsilon).exp()).ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Grade;
    use crate::error::refused;
    use approx::assert_relative_eq;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    /// The probabilities of the outputs for an input, by definition.
    fn law(labels: u32, gamma: f64, input: u32) -> Vec<f64> {
        (0..labels).map(|y| gamma / f64::from(labels) + if y == input { 1.0 - gamma } else { 0.0 }).collect()
    }

    /// `1 − γ + γ/L − e^ε γ/L` close to `ε₀` by mpmath at 60 digits, for the floats as given.
    #[test]
    fn delta_next_to_the_pure_epsilon_is_exact_or_called_a_bound() -> Result<(), Error> {
        for (labels, gamma, epsilon, expected, exact) in [
            (3, 0.25, 2.3025850929917433, 1.918_654_564_539_655e-12, false),
            (2, 0.5, 1.0975136763794417, 0.000_823_506_776_341_259_3, true),
            (20, 0.9, 1.1700712514801834, 1.696_603_016_904_532e-10, false),
        ] {
            let delta = RandomizedResponse::new(labels, gamma)?.delta(epsilon)?;
            assert_eq!(matches!(delta, Guarantee::Exact(_)), exact, "{delta:?}");
            assert!(*delta.value() >= expected && *delta.value() <= expected * 1.01, "{delta:?} {expected}");
            assert!(!exact || *delta.value() <= expected * (1.0 + 1e-9));
        }
        Ok(())
    }

    #[test]
    fn parameters_match_50_digit_values() -> Result<(), Error> {
        assert_relative_eq!(gamma(3, 1.0)?, 0.635_824_672_851_256_3, max_relative = 1e-14);
        assert_relative_eq!(gamma(20, 2.0)?, 0.757_889_934_563_080_1, max_relative = 1e-14);
        assert_relative_eq!(local_epsilon(3, 0.25)?, std::f64::consts::LN_10, max_relative = 1e-14);
        assert_relative_eq!(local_epsilon(3, 0.2375)?, 2.363_828_718_234_764_3, max_relative = 1e-14);
        Ok(())
    }

    #[test]
    fn parameters_invert_each_other() -> Result<(), Error> {
        for labels in [2, 3, 17, 1_000_000] {
            for epsilon in [0.0, 1e-12, 1e-3, 0.5, 3.0, 40.0, 600.0] {
                let there = RandomizedResponse::with_epsilon(labels, epsilon)?;
                let back = local_epsilon(labels, there.gamma())?;
                // For γ near 1, its rounding changes ε₀ by up to L units in the last place of 1.
                assert_relative_eq!(back, epsilon, max_relative = 1e-13, epsilon = 1e-15 * f64::from(labels));
            }
        }
        Ok(())
    }

    #[test]
    fn losses_match_the_definition() -> Result<(), Error> {
        for labels in [2, 3, 10] {
            for gamma in [0.01, 0.3, 0.9, 1.0] {
                let mechanism = RandomizedResponse::new(labels, gamma)?;
                let (p, q) = (law(labels, gamma, 0), law(labels, gamma, 1));
                for epsilon in [0.0, 0.1, 1.0, 3.0] {
                    let direct: f64 =
                        p.iter().zip(&q).map(|(p, q)| (p - f64::exp(epsilon) * q).max(0.0)).sum();
                    assert_relative_eq!(*mechanism.delta(epsilon)?.value(), direct, epsilon = 1e-14);
                }
                for alpha in [1.1, 2.0, 7.0, 50.0] {
                    let direct: f64 =
                        p.iter().zip(&q).map(|(p, q)| p.powf(alpha) * q.powf(1.0 - alpha)).sum();
                    let rdp = mechanism.rdp(Order::new(alpha)?);
                    assert_relative_eq!(*rdp.value(), direct.ln() / (alpha - 1.0), epsilon = 1e-12);
                }
            }
        }
        Ok(())
    }

    /// Values of mpmath at 50 digits, from the sum of three powers.
    #[test]
    fn renyi_loss_keeps_its_digits_at_the_ends() -> Result<(), Error> {
        for (labels, epsilon, alpha, expected) in RENYI_50_DIGITS {
            let mechanism = RandomizedResponse::with_epsilon(labels, epsilon)?;
            assert_relative_eq!(*mechanism.rdp(Order::new(alpha)?).value(), expected, max_relative = 1e-12);
        }
        Ok(())
    }

    const RENYI_50_DIGITS: [(u32, f64, f64, f64); 5] = [
        (2, 1e-6, 1.5, 7.499_999_999_998_437e-13),
        (5, 0.3, 1.000_001, 0.019_618_788_226_381_776),
        (3, 2.0, 40.0, 1.993_857_826_507_131_2),
        (10, 300.0, 7.5, 300.0),
        (2, 0.001, 1000.0, 0.000_433_833_794_709_885_8),
    ];

    #[test]
    fn epsilon_is_the_verified_end() -> Result<(), Error> {
        let mechanism = RandomizedResponse::with_epsilon(4, 2.0)?;
        for delta in [1e-12, 1e-3, 0.2, 0.9] {
            let epsilon = *mechanism.epsilon(Delta::new(delta)?).value();
            assert!(*mechanism.delta(epsilon)?.value() <= delta);
            if epsilon > 0.0 {
                assert!(*mechanism.delta(epsilon.next_down())?.value() > delta);
            }
        }
        Ok(())
    }

    /// `ln(1 + (1 − δ − γ) L/γ)` by mpmath at 60 digits, for the floats as given.
    #[test]
    fn a_delta_next_to_one_keeps_its_digits() -> Result<(), Error> {
        for (labels, gamma, below, expected) in [
            (2, 1e-14, 1e-13, 2.944_766_236_335_409),
            (3, 1e-8, 1e-6, 5.697_093_486_534_353),
            (1000, 1e-12, 1e-11, 9.105_091_053_180_613),
            (2, 0.1, 0.3, 1.609_437_912_434_100_5),
            (4, 0.2, 0.4, 1.609_437_912_434_100_4),
        ] {
            let epsilon = RandomizedResponse::new(labels, gamma)?.epsilon(Delta::new(1.0 - below)?);
            assert_eq!(epsilon.grade(), Grade::Exact, "{labels} {gamma}: {epsilon:?}");
            let error = epsilon.value() / expected - 1.0;
            assert!((-2e-16..1e-12).contains(&error), "{labels} {gamma}: {epsilon:?}, {error:e}");
        }
        Ok(())
    }

    #[test]
    fn limits_are_right() -> Result<(), Error> {
        let useless = RandomizedResponse::new(5, 1.0)?;
        assert_eq!(*useless.pure_epsilon().value(), 0.0);
        assert_eq!(*useless.rdp(Order::new(3.0)?).value(), 0.0);
        assert_eq!(*useless.delta(0.0)?.value(), 0.0);
        let strong = RandomizedResponse::with_epsilon(2, 700.0)?;
        assert_eq!(*strong.delta(0.0)?.value(), 1.0);
        assert_eq!(*strong.delta(1e4)?.value(), 0.0);
        assert_eq!(*strong.rdp(Order::new(1e300)?).value(), 700.0);
        assert_eq!(
            refused(RandomizedResponse::with_epsilon(2, 1e4)),
            Some("the local epsilon of a sampler of randomized response")
        );
        assert_eq!(gamma(2, 1e4)?, 0.0);
        assert!(RandomizedResponse::new(2, 5e-324)?.pure_epsilon().value().is_finite());
        Ok(())
    }

    #[test]
    fn bad_input_is_refused() {
        for bad in [f64::NAN, -0.1, 0.0, 1.1, f64::INFINITY] {
            assert_eq!(
                refused(RandomizedResponse::new(3, bad)),
                Some("the probability gamma of a random answer")
            );
        }
        for bad in [f64::NAN, -1.0, f64::INFINITY] {
            assert!(matches!(RandomizedResponse::with_epsilon(3, bad), Err(Error::InvalidEpsilon(_))));
            assert!(matches!(gamma(3, bad), Err(Error::InvalidEpsilon(_))));
        }
        assert_eq!(refused(RandomizedResponse::new(1, 0.5)), Some("the number of labels"));
        assert_eq!(refused(RandomizedResponse::new(0, 0.5)), Some("the number of labels"));
        let mechanism = RandomizedResponse::new(3, 0.5).unwrap();
        assert_eq!(refused(mechanism.sample(3, &mut ChaCha8Rng::seed_from_u64(0))), Some("a label"));
        assert!(matches!(mechanism.delta(f64::NAN), Err(Error::InvalidEpsilon(_))));
    }

    /// Each count is binomial; six standard deviations are exceeded with probability below 2e-9.
    #[test]
    fn sampler_follows_its_law() -> Result<(), Error> {
        let (labels, runs) = (4, 200_000);
        let mechanism = RandomizedResponse::new(labels, 0.6)?;
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        let mut counts = [0u32; 4];
        for _ in 0..runs {
            counts[mechanism.sample(2, &mut rng)? as usize] += 1;
        }
        for (count, p) in counts.iter().zip(law(labels, 0.6, 2)) {
            let runs = f64::from(runs);
            assert!((f64::from(*count) - runs * p).abs() < 6.0 * (runs * p * (1.0 - p)).sqrt());
        }
        Ok(())
    }

    #[test]
    fn sampler_pins_its_first_outputs() -> Result<(), Error> {
        let mechanism = RandomizedResponse::new(10, 0.7)?;
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let first: Vec<u32> = (0..8).map(|_| mechanism.sample(3, &mut rng)).collect::<Result<_, _>>()?;
        assert_eq!(first, [3, 5, 0, 3, 4, 3, 8, 4]);
        Ok(())
    }
}
