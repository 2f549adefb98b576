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

/// The best of several levels for a total of `delta`. `parts(ε)` lists the releases at level `ε`, their deltas
/// non-increasing in it.
///
/// The search finds the least level that leaves half of `delta` to the composition, to a percent, and tries
/// some multiples of it: every level is valid, the best is not needed.
pub(crate) fn best_level(
    delta: Delta,
    parts: impl Fn(f64) -> Result<Vec<(ApproxDp, u64)>, Error>,
) -> Result<Levelled, Error> {
    let spent = |level: f64| -> Result<f64, Error> {
        Ok(parts(level)?.iter().map(|&(part, count)| count as f64 * part.delta()).sum())
    };
    let half = 0.5 * delta.get();
    let (mut fails, mut holds) = (0.0, LEAST);
    loop {
        let total = spent(holds)?;
        if total <= half {
            break;
        }
        if holds > MOST {
            let what = "delta of the releases";
            return Err(ndp_dp::Error::NotAchievable { what, target: half, best: total }.into());
        }
        (fails, holds) = (holds, 4.0 * holds);
    }
    while fails > 0.0 && holds > 1.01 * fails {
        let middle = (fails * holds).sqrt();
        if spent(middle)? <= half { holds = middle } else { fails = middle }
    }
    let mut best: Option<Levelled> = None;
    for factor in FACTORS {
        let level = factor * holds;
        let parts = parts(level)?;
        let Ok(composed) = composition::best(&parts, delta) else { continue };
        let composed = composed.into_value();
        if best.as_ref().is_none_or(|best| composed.total.epsilon() < best.composed.total.epsilon()) {
            best = Some(Levelled { composed, parts });
        }
    }
    // The level itself leaves half of delta, so that something was found.
    best.ok_or_else(|| {
        ndp_dp::Error::NotAchievable { what: "total delta", target: delta.get(), best: 1.0 }.into()
    })
}

/// Range of the levels searched, and the multiples of the least one that are tried.
const LEAST: f64 = 1e-4;
const MOST: f64 = 1e4;
const FACTORS: [f64; 10] = [0.98, 1.0, 1.01, 1.02, 1.04, 1.07, 1.12, 1.2, 1.4, 2.0];
