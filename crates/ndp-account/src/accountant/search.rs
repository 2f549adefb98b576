//! The least noise by a search, for accounts without a formula.
//!
//! One evaluation may take milliseconds. So the search uses regula falsi on logarithms, where losses are
//! nearly straight lines, and needs about ten evaluations. At the returned noise the account was evaluated
//! and stays within the target. That this noise is the least one follows from monotonicity, but the guarantee
//! does not depend on it.

use super::Account;
use crate::Error;
use crate::error::ensure;
use ndp_dp::{Measure, NoiseMultiplier};

/// The least noise at which the loss of `u` is at most `allowed`; `None` where no noise is needed.
pub fn of_pair<A: Account + ?Sized>(
    account: &A,
    u: usize,
    measure: Measure,
    allowed: f64,
) -> Result<Option<NoiseMultiplier>, Error> {
    // Written so that NaN fails.
    ensure(
        (0.0..=f64::INFINITY).contains(&allowed),
        "the loss allowed to a pair",
        "be nonnegative",
        allowed,
    )?;
    account.observer().checked_source(u, account.node_count())?;
    let loss = |noise: NoiseMultiplier| -> Result<f64, Error> {
        Ok(account.profile(u, noise)?.loss(measure)?.into_value())
    };
    if allowed == f64::INFINITY {
        return Ok(None);
    }
    let mut has_loss = false;
    for noise in HARDLY_ANY_NOISE {
        has_loss = has_loss || loss(NoiseMultiplier::new(noise)?)? != 0.0;
    }
    if !has_loss {
        return Ok(None);
    }
    ensure(allowed != 0.0, "the loss allowed to a pair that has one", "be positive", allowed)?;
    smallest_noise(allowed, loss).map(Some)
}

/// The smallest noise that is tried. Its square is a normal float, so that losses are finite numbers.
pub(super) const SMALLEST: f64 = 1e-150;

/// Noises so small that an account with a loss shows it at one of them, mostly at the first.
const HARDLY_ANY_NOISE: [f64; 5] = [0.05, 1e-4, 1e-9, 1e-30, SMALLEST];

/// The least noise, within a relative `1e-9`, at which `account` stays within `target`.
///
/// # Errors
/// Those of `account`; [`Error::InvalidParameter`] for a target that is not positive and finite, or one
/// that no noise up to `1e150` meets.
pub(super) fn smallest_noise(
    target: f64,
    mut account: impl FnMut(NoiseMultiplier) -> Result<f64, Error>,
) -> Result<NoiseMultiplier, Error> {
    ensure(0.0 < target && target.is_finite(), "the target loss", "be positive and finite", target)?;
    // At x = ln σ: the noise, and the logarithm of loss / target.
    let mut at = |x: f64| -> Result<(NoiseMultiplier, f64), Error> {
        let noise = NoiseMultiplier::new(x.exp())?;
        let reached = account(noise)?;
        let excess = reached / target;
        // NaN counts as a miss. Rounding must not turn a hit into a miss, or a miss into a hit.
        let miss = if reached <= target { excess.ln().min(0.0) } else { excess.ln().max(1e-300) };
        Ok((noise, miss))
    };
    let mut x = 0.0;
    let (mut found, mut miss) = at(x)?;
    // Losses fall like σ^-2 or faster, so each step goes a little beyond the x that this law predicts.
    let mut fails: Option<(f64, f64)> = None;
    let mut holds: Option<(f64, f64)> = None;
    let mut best = None;
    loop {
        if miss <= 0.0 {
            holds = Some((x, miss));
            best = Some(found);
        } else {
            fails = Some((x, miss));
        }
        if fails.is_some() && holds.is_some() {
            break;
        }
        let step = (0.5 * miss).clamp(-MAX_STEP, MAX_STEP) + if miss <= 0.0 { -0.1 } else { 0.1 };
        let next = (x + step).max(-MAX_LOG);
        if next > MAX_LOG && miss == f64::INFINITY {
            return Err(Error::NoNoiseIsEnough);
        }
        ensure(next <= MAX_LOG, "the target loss", "be met by some noise multiplier up to 1e150", target)?;
        if next == x {
            break;
        }
        x = next;
        (found, miss) = at(x)?;
    }
    let mut side = 0;
    let mut last = miss;
    while let (Some((low, above)), Some((high, below))) = (fails, holds) {
        if high - low <= 1e-9 || (-CLOSE..=0.0).contains(&last) {
            break;
        }
        // The Illinois variant: if the same end stays twice, its weight is halved. The search aims slightly
        // inside the target, and halves the interval if the chord gives no inner point.
        let chord = low + (high - low) * (above + 0.5 * CLOSE) / (above - below);
        let inside = low < chord && chord < high;
        let x = if inside { chord } else { low + (high - low) / 2.0 };
        let (found, miss) = at(x)?;
        last = miss;
        if miss <= 0.0 {
            (holds, best) = (Some((x, miss)), Some(found));
            if side == 1 {
                fails = Some((low, above / 2.0));
            }
            side = 1;
        } else {
            fails = Some((x, miss));
            if side == -1 {
                holds = Some((high, below / 2.0));
            }
            side = -1;
        }
    }
    best.ok_or(Error::InvalidParameter {
        name: "the target loss",
        condition: "be met by some noise multiplier up to 1e150",
        value: target,
    })
}

/// The longest step of the search on `ln σ`; below, the end of its range.
const MAX_STEP: f64 = 5.0;
const MAX_LOG: f64 = 345.0;
/// A loss is close enough if it is below the target by at most this relative amount.
const CLOSE: f64 = 1e-10;

#[cfg(test)]
mod tests {
    use super::*;
    use ndp_numeric::special::normal_tail;

    #[test]
    fn a_known_curve_is_inverted_in_few_steps() -> Result<(), Error> {
        for target in [1e-9, 0.3, 7.0, 1e6] {
            let mut evaluations = 0;
            let found = smallest_noise(target, |noise| {
                evaluations += 1;
                Ok(noise.get().powi(-2))
            })?;
            let expected = target.sqrt().recip();
            assert!(found.get() >= expected * (1.0 - 1e-15) && found.get() <= expected * (1.0 + 2e-9));
            assert!(found.get().powi(-2) <= target);
            assert!(evaluations <= 20, "{evaluations} evaluations");
        }
        Ok(())
    }

    #[test]
    fn jumps_and_unreachable_targets() {
        let stairs = |noise: NoiseMultiplier| Ok(if noise.get() < 3.0 { 5.0 } else { 1.0 });
        let found = smallest_noise(2.0, stairs).unwrap();
        assert!((3.0..3.0 * (1.0 + 2e-9)).contains(&found.get()));
        let unreachable = smallest_noise(0.5, stairs);
        assert!(matches!(unreachable, Err(Error::InvalidParameter { name: "the target loss", .. })));
        // If a pair has no loss, hardly any noise is needed.
        assert!(smallest_noise(1.0, |_| Ok(0.0)).unwrap().get() < 1e-100);
        let infinite = |noise: NoiseMultiplier| Ok(if noise.get() < 2.0 { f64::INFINITY } else { 0.5 });
        assert!((smallest_noise(1.0, infinite).unwrap().get() - 2.0).abs() < 1e-8);
        assert_eq!(smallest_noise(1.0, |_| Ok(f64::INFINITY)), Err(Error::NoNoiseIsEnough));
        for target in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(smallest_noise(target, stairs), Err(Error::InvalidParameter { .. })));
        }
    }

    /// A loss that falls ever faster, where one end of the interval would stay for long.
    #[test]
    fn a_bent_curve_is_inverted_in_few_steps() -> Result<(), Error> {
        for target in [1e-9, 1e-6, 1e-3, 0.1] {
            let mut evaluations = 0;
            let found = smallest_noise(target, |noise| {
                evaluations += 1;
                Ok(normal_tail(noise.get()))
            })?;
            assert!(normal_tail(found.get()) <= target);
            assert!(normal_tail(found.get() * (1.0 - 2e-9)) > target);
            assert!(evaluations <= 25, "{target}: {evaluations} evaluations");
        }
        Ok(())
    }
}
