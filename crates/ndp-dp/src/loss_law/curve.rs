//! What else a law answers: its Rényi divergences, its `ε` at `δ = 0`, and the least noise for a target.

use super::answers::Ends;
use super::enclosed::Enclosed;
use super::law::LossLaw;
use super::pair::Pair;
use super::plan::Chain;
use crate::calibration::Calibrated;
use crate::error::ensure_positive;
use crate::{Delta, Error, NoiseMultiplier, Order, UpperBound};
use ndp_numeric::rounding::Interval;

impl LossLaw {
    /// A bound on the Rényi divergence of `order`, the larger one of the two directions. The divergences of
    /// the parts add up; each is computed by its formula or, if the loss takes finitely many values, as
    /// `ln Σ p e^{(α−1)ℓ}/(α − 1)`. `None` if some part, or some law of a mixture, has neither.
    #[must_use]
    pub fn rdp(&self, order: Order) -> Option<UpperBound<f64>> {
        let mut most = 0.0_f64;
        for chain in self.chains() {
            let mut sum = Interval::ZERO;
            for (pair, count) in &chain {
                let loss = renyi_of(&**pair, order.get())?;
                sum = sum + Interval::count(*count) * Interval::new(loss);
            }
            most = most.max(sum.high());
        }
        Some(UpperBound::new(most))
    }
}

impl LossLaw {
    /// Both ends of the `ε` at `δ = 0`, the larger one of the two directions: the largest losses of the parts
    /// add up. Infinite if some loss is unbounded, or not known to be bounded.
    ///
    /// # Examples
    /// ```
    /// use ndp_dp::{Laplace, LossLaw, Neighbors, Sensitivity};
    /// let release = Laplace::new(Sensitivity::new(1.0)?, 4.0)?;
    /// let sixteen = LossLaw::laplace(release, Neighbors::ReplaceOne).times(16)?;
    /// assert_eq!(sixteen.pure_epsilon().upper(), 4.0);
    /// // A sample of one record in ten.
    /// let sampled = LossLaw::sampled_laplace(release, 0.1)?.pure_epsilon();
    /// assert!((sampled.upper() - (0.1 * 0.25f64.exp_m1()).ln_1p()).abs() < 1e-15);
    /// # Ok::<(), ndp_dp::Error>(())
    /// ```
    #[must_use]
    pub fn pure_epsilon(&self) -> Enclosed {
        self.ends(|chain| {
            let sum = largest(chain);
            Ends { lower: sum.low().max(0.0), upper: sum.high().max(0.0) }
        })
    }
}

/// The sum of the largest losses of the parts.
pub(super) fn largest(chain: &Chain) -> Interval {
    chain.iter().map(|(pair, count)| Interval::count(*count) * pair.largest()).sum()
}

/// The Rényi divergence of a pair, by its formula or from its atoms.
pub(super) fn renyi_of(pair: &dyn Pair, alpha: f64) -> Option<f64> {
    pair.renyi(alpha).or_else(|| of_atoms(pair, alpha))
}

/// `ln Σ p e^{(α−1)ℓ}/(α − 1)`, rounded up; infinite if there may be a mass at infinity. `None` for a pair
/// that does not consist of atoms.
fn of_atoms(pair: &dyn Pair, alpha: f64) -> Option<f64> {
    let atoms = pair.atoms()?;
    if pair.infinite().high() > 0.0 {
        return Some(f64::INFINITY);
    }
    let excess = Interval::new(alpha) - Interval::ONE;
    let top = Interval::new(atoms.iter().map(|atom| atom.loss.high()).fold(f64::NEG_INFINITY, f64::max));
    let sum: Interval = atoms.iter().map(|atom| atom.mass * (excess * (atom.loss - top)).exp()).sum();
    Some((top + sum.ln() / excess).high().max(0.0))
}

/// The least noise multiplier whose law, as given by `law`, has `ε ≤ epsilon` at `delta`. The multiplier
/// returned was seen to meet the target, and is within a relative 1e-7 of the smallest one whose upper end of
/// `ε` meets it; that end is above `ε` by up to the [width](LossLaw::with_width) of the law. Multipliers
/// below `10⁻⁶` are not tried.
///
/// # Errors
/// [`Error::InvalidParameter`] unless `epsilon` is positive and finite; the error of `law`;
/// [`Error::NotAchievable`] when no multiplier up to 10⁶ is enough.
///
/// # Examples
/// ```
/// use ndp_dp::{Delta, Gaussian, LossLaw, Sensitivity, loss_law};
/// let unit = Sensitivity::new(1.0)?;
/// let least = loss_law::least_noise(2.0, Delta::new(1e-5)?, |noise| {
///     LossLaw::sampled_gaussian(Gaussian { sensitivity: unit, sigma: noise.sigma(unit)? }, 0.1)?.times(10)
/// })?;
/// assert!(*least.reached.value() <= 2.0 && least.parameter.get() < 1.2);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
pub fn least_noise(
    epsilon: f64,
    delta: Delta,
    law: impl Fn(NoiseMultiplier) -> Result<LossLaw, Error>,
) -> Result<Calibrated<NoiseMultiplier>, Error> {
    ensure_positive("the epsilon of a calibration", epsilon)?;
    // ln ε minus its target, as a function of ln σ.
    let excess = |log: f64| -> Result<(f64, Calibrated<NoiseMultiplier>), Error> {
        let parameter = NoiseMultiplier::new(libm::exp(log))?;
        let reached = law(parameter)?.epsilon(delta).guarantee();
        Ok((libm::log(*reached.value() / epsilon).clamp(-50.0, 50.0), Calibrated { parameter, reached }))
    };
    let (mut low, mut high) = (0.0, 0.0);
    let (mut at_low, mut at_high) = (f64::NAN, f64::NAN);
    let (start, found) = excess(0.0)?;
    let mut best = None;
    if start > 0.0 {
        at_low = start;
    } else {
        (at_high, best) = (start, Some(found));
    }
    // Doubles or halves σ until the answer lies between the two last values.
    while !(at_low > 0.0 && at_high <= 0.0) {
        let next = if at_low > 0.0 { high + std::f64::consts::LN_2 } else { low - std::f64::consts::LN_2 };
        if next.abs() > LARGEST_LOG {
            return match best {
                Some(found) => Ok(found),
                None => Err(Error::NotAchievable {
                    what: "epsilon",
                    target: epsilon,
                    best: epsilon * libm::exp(at_low),
                }),
            };
        }
        let (value, found) = excess(next)?;
        if value > 0.0 {
            (low, at_low) = (next, value);
            high = high.max(next);
        } else {
            (high, at_high, best) = (next, value, Some(found));
            low = low.min(next);
        }
    }
    for _ in 0..60 {
        if high - low <= 1e-7 {
            break;
        }
        // Regula falsi, kept away from the ends; the value at an end that stays is halved (Illinois rule).
        let share = (at_low / (at_low - at_high)).clamp(0.01, 0.99);
        let tight = 0.4e-7 / (high - low);
        let middle = low + (high - low) * (share + tight).min(0.999);
        let (value, found) = excess(middle)?;
        if value > 0.0 {
            (low, at_low, at_high) = (middle, value, 0.5 * at_high);
        } else {
            (high, at_high, at_low, best) = (middle, value, 0.5 * at_low, Some(found));
        }
    }
    best.ok_or(Error::NotAchievable { what: "epsilon", target: epsilon, best: f64::INFINITY })
}

/// The largest `|ln σ|` that is tried: noise multipliers from `10^{−6}` to `10⁶`.
const LARGEST_LOG: f64 = 13.9;
