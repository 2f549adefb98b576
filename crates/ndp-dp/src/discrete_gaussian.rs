//! The discrete Gaussian mechanism: noise on whole numbers, drawn exactly, for numbers that are released.
//!
//! A query whose values are whole numbers moves by at most `Δ`, a whole number, between neighboring datasets.
//! The noise is `k` with probability proportional to `e^{−k²/(2σ²)}`. Real numbers are released in whole
//! multiples of a step: round them to the step first, and take `Δ` and `σ` in steps.
//!
//! Gaussian noise in floating point has gaps in its last bits that depend on the value it hides. Here no
//! floating-point number is drawn or compared: [`DiscreteGaussian::noise`] uses only whole numbers, and has
//! exactly the stated law if the bits of its generator are independent and fair. Its running time depends on
//! the noise and may reveal something about it to an observer who measures times.
//!
//! The sum of several such noises is not a discrete Gaussian. The accounts of protocols in which noises are
//! added up are about real numbers and do not cover it.
//!
//! # References
//! - Canonne, Kamath and Steinke, *The discrete Gaussian for differential privacy*, 2020, arXiv:2004.00010:
//!   Theorem 4 (Rényi loss), Algorithms 1 to 3 (sampler).

use crate::error::ensure;
use crate::{Error, Guarantee, Mechanism, Moves, Order, Stated, UpperBound};
use ndp_numeric::rounding::Interval;
use rand::Rng;
use serde::Serialize;

/// Discrete Gaussian noise of whole parameter `σ` on a query with whole values.
///
/// [`LossLaw::discrete_gaussian`](crate::LossLaw::discrete_gaussian) has the exact profile for `Δ = 1`; the
/// numbers here follow from the Rényi loss.
///
/// # Examples
/// ```
/// use ndp_dp::{Delta, DiscreteGaussian, Mechanism};
/// use rand::SeedableRng;
/// let count = DiscreteGaussian::new(1, 10)?;
/// let noisy = 1234 + count.noise(&mut rand_chacha::ChaCha20Rng::seed_from_u64(7));
/// assert!((noisy - 1234).abs() < 100);
/// assert!(*count.epsilon(Delta::new(1e-6)?).value() < 0.52);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DiscreteGaussian {
    sensitivity: u32,
    sigma: u32,
}

crate::lossless::checked_fields! {
    DiscreteGaussian { sensitivity: u32, sigma: u32 } => Self::new(sensitivity, sigma)
}

impl DiscreteGaussian {
    /// Noise of parameter `sigma` on a query of sensitivity `sensitivity`, both in steps of the released
    /// numbers.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless both are at least 1.
    pub fn new(sensitivity: u32, sigma: u32) -> Result<Self, Error> {
        ensure(sensitivity >= 1, "the sensitivity of a query with whole values", "be at least 1", 0.0)?;
        ensure(sigma >= 1, "the parameter of discrete Gaussian noise", "be at least 1", 0.0)?;
        Ok(Self { sensitivity, sigma })
    }

    /// The sensitivity `Δ`.
    #[must_use]
    pub const fn sensitivity(&self) -> u32 {
        self.sensitivity
    }

    /// The parameter `σ`; the standard deviation is at most that.
    #[must_use]
    pub const fn sigma(&self) -> u32 {
        self.sigma
    }

    /// One noise value. The generator should be cryptographically secure, so that nobody can predict its
    /// output.
    pub fn noise(&self, rng: &mut (impl Rng + ?Sized)) -> i64 {
        let sigma = u128::from(self.sigma);
        loop {
            // Rejection sampling: discrete Laplace noise y of scale σ is kept with probability
            // e^{−(|y| − σ)²/(2σ²)}.
            let (size, negative) = laplace(sigma, rng);
            let distance = size.abs_diff(sigma);
            if exponential(distance * distance, 2 * sigma * sigma, rng) {
                // A value beyond 2^63 would take so many draws that it never occurs.
                let size = i64::try_from(size).unwrap_or(i64::MAX);
                return if negative { -size } else { size };
            }
        }
    }
}

/// The Rényi loss is at most `α Δ²/(2σ²)`, as for real numbers. For `Δ = 1` the exact profile is known, which
/// gives a smaller `δ` at `ε`, see [`LossLaw::discrete_gaussian`](crate::LossLaw::discrete_gaussian).
impl Mechanism for DiscreteGaussian {
    fn stated(&self) -> Option<Stated> {
        Some(Stated::of(None, Moves::Whole { by: self.sensitivity }, "ndp_dp::DiscreteGaussian"))
    }

    fn rdp(&self, order: Order) -> Guarantee<f64> {
        let ratio = Interval::new(f64::from(self.sensitivity)) / Interval::new(f64::from(self.sigma));
        let loss = Interval::new(order.get()) * (ratio * ratio) / Interval::new(2.0);
        UpperBound::new(loss.high()).into()
    }
}

/// Discrete Laplace noise of scale `t`, its size and whether it is negative: `k` with probability
/// proportional to `e^{−|k|/t}`. Algorithm 2.
fn laplace(t: u128, rng: &mut (impl Rng + ?Sized)) -> (u128, bool) {
    loop {
        let rest = below(t, rng);
        if !exponential(rest, t, rng) {
            continue;
        }
        let mut times = 0;
        while exponential(1, 1, rng) {
            times += 1;
        }
        let size = rest + t * times;
        let negative = below(2, rng) == 1;
        // Without this condition zero would be drawn twice, as 0 and as −0.
        if size > 0 || !negative {
            return (size, negative);
        }
    }
}

/// True with probability `e^{−p/q}`. Algorithm 1.
fn exponential(mut p: u128, q: u128, rng: &mut (impl Rng + ?Sized)) -> bool {
    while p > q {
        if !small_exponential(1, 1, rng) {
            return false;
        }
        p -= q;
    }
    small_exponential(p, q, rng)
}

/// True with probability `e^{−p/q}` for `p ≤ q`: draws of probability `p/q`, `p/(2q)`, `p/(3q)`, ... until
/// one fails, which is the `k`-th with probability `(p/q)^{k−1}/(k−1)! − (p/q)^k/k!`; true if `k` is odd.
fn small_exponential(p: u128, q: u128, rng: &mut (impl Rng + ?Sized)) -> bool {
    let mut k = 1;
    while below(q * k, rng) < p {
        k += 1;
    }
    k % 2 == 1
}

/// A uniform whole number below `n`: draws as many bits as `n - 1` has, until the number they form is below
/// `n`.
fn below(n: u128, rng: &mut (impl Rng + ?Sized)) -> u128 {
    let mask = u128::MAX.checked_shr((n - 1).leading_zeros()).unwrap_or(0);
    loop {
        let low = u128::from(rng.next_u64());
        let high = if mask > u128::from(u64::MAX) { u128::from(rng.next_u64()) << 64 } else { 0 };
        let drawn = (low | high) & mask;
        if drawn < n {
            return drawn;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::refused;
    use crate::{Delta, LossLaw, Neighbors, Sigma};
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// The largest distance between the distribution of `draws` values and the law, on whole numbers, must be
    /// below the bound of Dvoretzky, Kiefer and Wolfowitz at a probability of 1e-9 (seeds are fixed).
    fn close(draws: &[i64], law: impl Fn(i64) -> f64, reach: i64) {
        let count = draws.len() as f64;
        let allowed = ((2.0_f64 / 1e-9).ln() / (2.0 * count)).sqrt();
        let mut sorted = draws.to_vec();
        sorted.sort_unstable();
        let (total, mut within): (f64, f64) = ((-reach..=reach).map(&law).sum(), 0.0);
        for k in -reach..=reach {
            within += law(k) / total;
            let seen = sorted.partition_point(|&drawn| drawn <= k) as f64 / count;
            assert!((seen - within).abs() < allowed, "up to {k}: {seen}, law {within}, allowed {allowed}");
        }
        // The probability of zero is checked on its own: a mistake with the two signs of zero would change
        // the law only there.
        let (zero, seen) = (law(0) / total, draws.iter().filter(|&&k| k == 0).count() as f64 / count);
        assert!((seen - zero).abs() < 6.0 * (zero / count).sqrt(), "zero: {seen}, law {zero}");
    }

    #[test]
    fn the_noise_has_its_law() -> Result<(), Error> {
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        for sigma in [1, 2, 3, 10, 40] {
            let mechanism = DiscreteGaussian::new(1, sigma)?;
            let draws: Vec<i64> = (0..200_000).map(|_| mechanism.noise(&mut rng)).collect();
            let twice = 2.0 * f64::from(sigma).powi(2);
            close(&draws, |k| (-((k * k) as f64) / twice).exp(), 20 * i64::from(sigma));
        }
        Ok(())
    }

    #[test]
    fn its_parts_have_their_laws() {
        let mut rng = ChaCha8Rng::seed_from_u64(12);
        for t in [1, 2, 7] {
            let mut draw = || {
                let (size, negative) = laplace(t, &mut rng);
                if negative { -(size as i64) } else { size as i64 }
            };
            let draws: Vec<i64> = (0..200_000).map(|_| draw()).collect();
            close(&draws, |k| (-(k.abs() as f64) / t as f64).exp(), 60 * t as i64);
        }
        for (p, q) in [(0, 1), (1, 3), (2, 2), (5, 2), (7, 1)] {
            let count = 200_000;
            let seen = (0..count).filter(|_| exponential(p, q, &mut rng)).count() as f64 / f64::from(count);
            let law = (-(p as f64) / q as f64).exp();
            // The allowance is six standard deviations; the seed is fixed.
            let allowed = 6.0 * (law * (1.0 - law) / f64::from(count)).sqrt() + 1e-12;
            assert!((seen - law).abs() <= allowed, "{p}/{q}: {seen}, law {law}");
        }
    }

    /// Every value below `n` occurs, and none above, at powers of two, beside them, and beyond 64 bits.
    #[test]
    fn whole_numbers_are_uniform() {
        let mut rng = ChaCha8Rng::seed_from_u64(13);
        for n in [1_u128, 2, 3, 4, 5, 7, 8, 9] {
            let mut seen = vec![0_u32; n as usize];
            for _ in 0..100_000 {
                seen[below(n, &mut rng) as usize] += 1;
            }
            let mean = 100_000.0 / n as f64;
            assert!(seen.iter().all(|&k| (f64::from(k) - mean).abs() <= 6.0 * mean.sqrt()), "{n}: {seen:?}");
        }
        let n = (1_u128 << 100) + 1;
        let most = (0..1000).map(|_| below(n, &mut rng)).max();
        assert!(most.is_some_and(|most| most < n && most > n - n / 64), "{most:?}");
    }

    /// The Rényi loss of the law itself, summed, is never above the bound, and equals it where `α` shifts the
    /// sum by a whole number.
    #[test]
    fn the_bound_is_above_the_law() -> Result<(), Error> {
        for (sensitivity, sigma) in [(1, 1), (2, 3), (5, 2)] {
            let mechanism = DiscreteGaussian::new(sensitivity, sigma)?;
            let (shift, twice) = (f64::from(sensitivity), 2.0 * f64::from(sigma).powi(2));
            let total: f64 = (-200..=200).map(|k| (-f64::from(k * k) / twice).exp()).sum();
            for alpha in [1.5, 2.0, 3.0, 7.25] {
                let power = |k: f64| -(alpha * (k - shift).powi(2) + (1.0 - alpha) * k * k) / twice;
                let sum: f64 = (-200..=200).map(|k| power(f64::from(k)).exp()).sum();
                let truth = (sum / total).ln() / (alpha - 1.0);
                let bound = *mechanism.rdp(Order::new(alpha)?).value();
                assert!(bound >= truth - 1e-9 && bound <= alpha * shift * shift / twice + 1e-12);
                if (alpha * shift).fract() == 0.0 {
                    assert!((bound - truth).abs() < 1e-9, "{alpha}: {bound}, {truth}");
                }
            }
        }
        Ok(())
    }

    #[test]
    fn the_law_of_losses_needs_no_more() -> Result<(), Error> {
        let (mechanism, delta) = (DiscreteGaussian::new(1, 5)?, Delta::new(1e-6)?);
        let exact = LossLaw::discrete_gaussian(Sigma::new(5.0)?, Neighbors::ReplaceOne)?.epsilon(delta);
        let (bound, lower) = (mechanism.epsilon(delta), exact.lower());
        assert!(*bound.value() >= lower && *bound.value() < 1.2 * lower, "{bound:?}, {lower}");
        assert_eq!(bound.grade(), crate::Grade::UpperBound);
        Ok(())
    }

    #[test]
    fn zero_is_refused_by_name() {
        assert_eq!(
            refused(DiscreteGaussian::new(0, 1)),
            Some("the sensitivity of a query with whole values")
        );
        assert_eq!(refused(DiscreteGaussian::new(1, 0)), Some("the parameter of discrete Gaussian noise"));
    }
}
