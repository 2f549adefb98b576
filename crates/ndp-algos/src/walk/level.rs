//! The level at which the releases of a run are composed.
//!
//! A release with a whole privacy profile may be entered into a composition theorem as `(ε, δ(ε))` at any
//! level `ε`; the total depends on the choice.

use ndp_account::Error;
use ndp_dp::composition::{self, Composition};
use ndp_dp::{ApproxDp, Delta};
use std::cell::RefCell;

/// The guarantee of a run, and its releases at the level it was composed at.
pub(crate) struct Levelled {
    pub(crate) composed: Composition,
    pub(crate) parts: Vec<(ApproxDp, u64)>,
}

/// The least level that leaves half of `delta` to the composition, up to the factor `ratio` above it, looked
/// for from `start`. `parts(ε)` lists the releases at level `ε`, their deltas non-increasing in it.
pub(crate) fn least_level(
    delta: Delta,
    start: f64,
    ratio: f64,
    parts: impl Fn(f64) -> Result<Vec<(ApproxDp, u64)>, Error>,
) -> Result<f64, Error> {
    let half = 0.5 * delta.get();
    let spent = |level: f64| -> Result<f64, Error> {
        Ok(parts(level)?.iter().map(|&(part, count)| count as f64 * part.delta()).sum())
    };
    let mut holds = (start, spent(start)?);
    let mut fails = (0.5 * start, f64::NAN);
    if holds.1 > half {
        while holds.1 > half {
            if holds.0 > MAX_LEVEL {
                let what = "delta of the releases";
                return Err(ndp_dp::Error::NotAchievable { what, target: half, best: holds.1 }.into());
            }
            fails = holds;
            holds = (4.0 * fails.0, spent(4.0 * fails.0)?);
        }
    } else {
        while holds.0 > LEAST_LEVEL {
            fails.1 = spent(fails.0)?;
            if fails.1 > half {
                break;
            }
            holds = fails;
            fails = (0.5 * holds.0, f64::NAN);
        }
    }
    // Logarithms are nearly straight lines: aim just above where they cross, then close the bracket from
    // there, and halve it every third time in case they are not.
    let mut aim = Aim::Cross;
    while holds.0 > ratio * fails.0 && holds.0 > LEAST_LEVEL {
        let middle = (fails.0 * holds.0).sqrt();
        let at = match aim {
            Aim::Cross => {
                let share = (fails.1 / half).ln() / (fails.1 / holds.1).ln();
                fails.0 * (holds.0 / fails.0).powf(share) * ratio.powf(0.4)
            }
            Aim::Below => holds.0 / ratio,
            Aim::Above => fails.0 * ratio,
            Aim::Middle => middle,
        };
        // Written so that NaN takes the middle.
        let at = if fails.0 < at && at < holds.0 { at } else { middle };
        let total = spent(at)?;
        let held = total <= half;
        if held {
            holds = (at, total)
        } else {
            fails = (at, total)
        }
        aim = match aim {
            Aim::Cross if held => Aim::Below,
            Aim::Cross => Aim::Above,
            Aim::Below | Aim::Above => Aim::Middle,
            Aim::Middle => Aim::Cross,
        };
    }
    Ok(holds.0)
}

/// Where a search looks next between a level that fails and one that holds.
#[derive(Clone, Copy)]
enum Aim {
    /// Just above the crossing of the line through both.
    Cross,
    /// As far below the one that holds as may remain.
    Below,
    /// As far above the one that fails.
    Above,
    /// Half way.
    Middle,
}

/// The best of several levels for a total of `delta`: the least one, looked for from `start`, and multiples
/// of it for as long as they improve. Every level is valid; the best is not needed.
pub(crate) fn best_level(
    delta: Delta,
    start: f64,
    parts: impl Fn(f64) -> Result<Vec<(ApproxDp, u64)>, Error>,
) -> Result<Levelled, Error> {
    // The releases are what takes time, and those at the least level are wanted again.
    let last = RefCell::new(None);
    let kept = |level: f64| -> Result<Vec<(ApproxDp, u64)>, Error> {
        let found = parts(level)?;
        let half = 0.5 * delta.get();
        if found.iter().map(|&(part, count)| count as f64 * part.delta()).sum::<f64>() <= half {
            *last.borrow_mut() = Some((level, found.clone()));
        }
        Ok(found)
    };
    let least = least_level(delta, start, FINE, kept)?;
    let at_least = last.into_inner().filter(|(level, _)| *level == least);
    let mut best: Option<Levelled> = None;
    for factor in FACTORS {
        let parts = match &at_least {
            Some((_, found)) if factor == 1.0 => found.clone(),
            _ => parts(factor * least)?,
        };
        let Ok(composed) = composition::best(&parts, delta) else { continue };
        let composed = composed.into_value();
        if best.as_ref().is_none_or(|best| composed.total.epsilon() < best.composed.total.epsilon()) {
            best = Some(Levelled { composed, parts });
        } else {
            // Beyond the best level the total grows, and the releases are what takes time.
            break;
        }
    }
    // The least level leaves half of delta, so that something was found.
    best.ok_or_else(|| {
        ndp_dp::Error::NotAchievable { what: "total delta", target: delta.get(), best: 1.0 }.into()
    })
}

/// Range of the levels searched.
pub(crate) const LEAST_LEVEL: f64 = 1e-4;
const MAX_LEVEL: f64 = 1e4;

/// How close the least level is approached, and how close where only a start is wanted.
const FINE: f64 = 1.03;
pub(crate) const ROUGH: f64 = 1.5;

/// Multiples of the least level that are tried.
const FACTORS: [f64; 7] = [0.98, 1.0, 1.02, 1.05, 1.1, 1.2, 1.5];

/// The largest `x > 0` found at which an increasing `loss` was seen to be at most `target`: it ends within
/// half a percent of the target, or of `x`. Logarithms are nearly straight lines, so that a few losses are
/// enough. 0 when it fails down to a billionth of `start`.
///
/// A loss that no level achieves counts as infinite.
pub(crate) fn most_within(
    start: f64,
    target: f64,
    loss: impl Fn(f64) -> Result<f64, Error>,
) -> Result<f64, Error> {
    let loss = |x: f64| match loss(x) {
        Err(Error::Privacy(ndp_dp::Error::NotAchievable { .. })) => Ok(f64::INFINITY),
        answer => answer,
    };
    let (mut holds, mut fails) = ((0.0, 0.0), (f64::INFINITY, f64::INFINITY));
    let mut x = start;
    for round in 0..200 {
        let found = loss(x)?;
        if found <= target {
            holds = (x, found)
        } else {
            fails = (x, found)
        }
        if holds.1 >= 0.995 * target || holds.0 > 0.0 && fails.0 <= 1.005 * holds.0 || holds.0 > 1e100 {
            break;
        }
        if holds.0 == 0.0 && x < 1e-9 * start {
            return Ok(0.0);
        }
        // Through both ends; with one of them, as if the loss were proportional; every third time half way.
        let aimed = if holds.0 > 0.0 && fails.1.is_finite() {
            let share = (0.998 * target / holds.1).ln() / (fails.1 / holds.1).ln();
            holds.0 * (fails.0 / holds.0).powf(share)
        } else {
            x * (0.998 * target / found).clamp(0.1, 10.0)
        };
        let middle = match (holds.0 > 0.0, fails.0.is_finite()) {
            (true, true) => (holds.0 * fails.0).sqrt(),
            (true, false) => 2.0 * holds.0,
            _ => 0.5 * fails.0,
        };
        // Written so that NaN takes the middle.
        x = if round % 3 < 2 && holds.0 < aimed && aimed < fails.0 { aimed } else { middle };
    }
    Ok(holds.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_aimed_at_and_verified() -> Result<(), Error> {
        use std::cell::Cell;
        for start in [1e-3, 1.0, 50.0] {
            let asked = Cell::new(0);
            let found = most_within(start, 2.0, |x| {
                asked.set(asked.get() + 1);
                Ok(x.powf(1.3))
            })?;
            let loss = found.powf(1.3);
            assert!(
                (1.98..=2.0).contains(&loss) && asked.get() < 12,
                "{start}: {loss} after {}",
                asked.get()
            );
            // A jump, which no line meets.
            let found = most_within(start, 2.0, |x| Ok(if x < 0.7 { 0.1 } else { 5.0 }))?;
            assert!(found < 0.7 && found > 0.69, "{start}: {found}");
        }
        assert_eq!(most_within(1.0, 1.0, |_| Ok(f64::INFINITY))?, 0.0);
        assert!(most_within(1.0, 1.0, |_| Ok(0.1))? > 1e100);
        assert!(most_within(1.0, 1.0, |_| Err(Error::NoGuarantee("at all"))).is_err());
        Ok(())
    }

    /// Releases of a known profile: the least level and the composition stay within the total.
    #[test]
    fn levels_spend_what_they_may() -> Result<(), Error> {
        let delta = Delta::new(1e-6)?;
        let parts = |level: f64| Ok(vec![(ApproxDp::new(level, (-40.0 * level).exp())?, 10u64)]);
        for start in [LEAST_LEVEL, 0.2, 5.0] {
            let least = least_level(delta, start, FINE, parts)?;
            assert!(10.0 * (-40.0 * least).exp() <= 5e-7 && 10.0 * (-40.0 * least / 1.04).exp() > 5e-7);
            let best = best_level(delta, start, parts)?;
            assert!(best.composed.total.delta() <= 1e-6 && best.composed.total.epsilon() <= 10.0 * least);
        }
        let hopeless = |_: f64| Ok(vec![(ApproxDp::new(1.0, 0.5)?, 1u64)]);
        assert!(best_level(delta, LEAST_LEVEL, hopeless).is_err());
        Ok(())
    }
}
