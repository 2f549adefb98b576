//! The level at which the releases of a run are composed.
//!
//! A release with a whole privacy profile may be entered into a composition theorem as `(ε, δ(ε))` at any
//! level `ε`; the total depends on the choice.

use crate::Error;
use ndp_dp::composition::{self, Composition};
use ndp_dp::{ApproxDp, Delta};

/// The guarantee of a run, and its releases at the level it was composed at.
pub(crate) struct Levelled {
    pub(crate) composed: Composition,
    pub(crate) parts: Vec<(ApproxDp, u64)>,
}

/// The least level that leaves half of `delta` to the composition, up to a few percent above it, looked for from
/// `start`. `parts(ε)` lists the releases at level `ε`, their deltas non-increasing in it.
pub(crate) fn least_level(
    delta: Delta,
    start: f64,
    parts: impl Fn(f64) -> Result<Vec<(ApproxDp, u64)>, Error>,
) -> Result<f64, Error> {
    let half = 0.5 * delta.get();
    let spent = |level: f64| -> Result<f64, Error> {
        Ok(parts(level)?.iter().map(|&(part, count)| count as f64 * part.delta()).sum())
    };
    let mut holds = start;
    let mut total = spent(holds)?;
    let mut fails = if total > half { holds } else { 0.5 * holds };
    if total > half {
        while total > half {
            if holds > MOST_LEVEL {
                let what = "delta of the releases";
                return Err(ndp_dp::Error::NotAchievable { what, target: half, best: total }.into());
            }
            (fails, holds) = (holds, 4.0 * holds);
            total = spent(holds)?;
        }
    } else {
        while holds > LEAST_LEVEL && spent(fails)? <= half {
            (fails, holds) = (0.5 * fails, fails);
        }
    }
    while holds > 1.03 * fails && holds > LEAST_LEVEL {
        let middle = (fails * holds).sqrt();
        if spent(middle)? <= half { holds = middle } else { fails = middle }
    }
    Ok(holds)
}

/// The best of several levels for a total of `delta`: the least one, looked for from `start`, and some multiples
/// of it. Every level is valid; the best is not needed.
pub(crate) fn best_level(
    delta: Delta,
    start: f64,
    parts: impl Fn(f64) -> Result<Vec<(ApproxDp, u64)>, Error>,
) -> Result<Levelled, Error> {
    let least = least_level(delta, start, &parts)?;
    let mut best: Option<Levelled> = None;
    for factor in FACTORS {
        let parts = parts(factor * least)?;
        let Ok(composed) = composition::best(&parts, delta) else { continue };
        let composed = composed.into_value();
        if best.as_ref().is_none_or(|best| composed.total.epsilon() < best.composed.total.epsilon()) {
            best = Some(Levelled { composed, parts });
        }
    }
    // The least level leaves half of delta, so that something was found.
    best.ok_or_else(|| {
        ndp_dp::Error::NotAchievable { what: "total delta", target: delta.get(), best: 1.0 }.into()
    })
}

/// Range of the levels searched.
pub(crate) const LEAST_LEVEL: f64 = 1e-4;
const MOST_LEVEL: f64 = 1e4;

/// Multiples of the least level that are tried.
const FACTORS: [f64; 7] = [0.98, 1.0, 1.02, 1.05, 1.1, 1.2, 1.5];
