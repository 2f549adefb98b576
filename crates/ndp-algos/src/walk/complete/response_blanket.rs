//! The exact blanket of randomized response at many levels, from few evaluations.
//!
//! The loss of a pair of laws, `δ(ε) = sup_A P(A) − e^ε Q(A)`, is nonincreasing and convex in `e^ε`, and so
//! is the largest one over all pairs. Between two levels it is therefore at most the chord, a straight line
//! in `e^ε`, through any two upper bounds there: chords are proven bounds, whatever the distance of the
//! levels. Levels are taken so near that a chord is above the blanket by 3 percent at most, and by some parts
//! in 10⁴ where that was looked at; of `ε` that is some parts in 10⁵.

use ndp_account::Error;
use ndp_dp::shuffling::Reports;
use ndp_numeric::casts::floor;
use ndp_numeric::sums::up;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Upper bounds on the loss of one report among several of randomized response. What was computed is kept; no
/// value depends on what was asked before.
pub(crate) struct Chords {
    local: f64,
    labels: u32,
    /// What is smaller need not be known.
    floor: f64,
    /// By the number of reports, then by the number of the level.
    known: Vec<Mutex<BTreeMap<usize, f64>>>,
}

impl Chords {
    /// For up to `most` reports of `labels` labels, each `local`-DP; bounds below `floor` are as good as 0.
    pub(crate) fn new(local: f64, labels: u32, most: u64, floor: f64) -> Self {
        Self { local, labels, floor, known: (0..=most).map(|_| Mutex::default()).collect() }
    }

    /// A bound on `δ` at `epsilon` among `m` reports; any bound below `enough` will do.
    pub(crate) fn delta(&self, epsilon: f64, m: u64, enough: f64) -> Result<f64, Error> {
        if epsilon >= self.local {
            return Ok(0.0);
        }
        let at = floor(epsilon / self.local * LEVELS as f64);
        let mut width = WIDEST;
        while width > 0 {
            let first = at - at % width;
            let (low, high) = (self.level(first), self.level(first + width));
            if !(low <= epsilon && epsilon <= high) {
                break;
            }
            let most = self.at_level(first, m)?;
            if most <= enough.max(self.floor) {
                return Ok(most);
            }
            let least = self.at_level(first + width, m)?;
            if most - least <= STEEPEST * most {
                // (e^high − e^ε)/(e^high − e^low), rounded up by more than two differences and two functions
                // are off.
                let share = (epsilon - high).exp_m1() / (low - high).exp_m1() * (1.0 + 16.0 * f64::EPSILON);
                return Ok(up(least + (most - least).max(0.0) * share.min(1.0)));
            }
            width /= 2;
        }
        self.blanket(epsilon, m)
    }

    fn level(&self, k: usize) -> f64 {
        self.local * (k as f64 / LEVELS as f64)
    }

    fn at_level(&self, k: usize, m: u64) -> Result<f64, Error> {
        let known = &self.known[usize::try_from(m).unwrap_or(usize::MAX)];
        // A poisoned lock holds whole entries all the same.
        let found = known.lock().unwrap_or_else(PoisonError::into_inner).get(&k).copied();
        if let Some(found) = found {
            return Ok(found);
        }
        let value = self.blanket(self.level(k), m)?;
        known.lock().unwrap_or_else(PoisonError::into_inner).insert(k, value);
        Ok(value)
    }

    fn blanket(&self, epsilon: f64, m: u64) -> Result<f64, Error> {
        let reports = Reports { local_epsilon: self.local, labels: Some(self.labels) };
        Ok(reports.blanket_about(epsilon, m, self.floor)?.into_value())
    }
}

/// Levels between 0 and that of one report.
const LEVELS: usize = 1 << 17;
/// Levels between the ends of the longest chords.
const WIDEST: usize = 1 << 11;
/// By how much the bounds at the ends of a chord may differ, relative: an exponential between them is below
/// its chord by an eighth of the square.
const STEEPEST: f64 = 2.8e-2;

#[cfg(test)]
mod tests {
    use super::*;
    use ndp_dp::shuffling::Bound;

    /// Never below the blanket, and above it by little.
    #[test]
    fn chords_are_tight_bounds() -> Result<(), Error> {
        for (local, labels) in [(0.1, 10), (1.0, 3), (4.0, 2)] {
            let chords = Chords::new(local, labels, 50, 0.0);
            for m in [1, 2, 7, 50] {
                for step in 0..300 {
                    let epsilon = local * 1.01 * f64::from(step) / 300.0;
                    let blanket = Reports { local_epsilon: local, labels: Some(labels) }
                        .delta_by(Bound::Blanket, epsilon, m)?
                        .into_value();
                    let bound = chords.delta(epsilon, m, 0.0)?;
                    // The blanket itself is rounded up by some parts in 1e11.
                    assert!(bound >= blanket * (1.0 - 1e-10), "{bound} < {blanket} at {epsilon}");
                    // A convex function falls by no more than its ends differ.
                    assert!(
                        bound * (1.0 - STEEPEST) <= blanket * (1.0 + 3e-6),
                        "{bound} > {blanket} at {epsilon}"
                    );
                    let floored = Chords::new(local, labels, 50, 1e-7).delta(epsilon, m, 0.0)?;
                    assert!(floored >= blanket * (1.0 - 1e-10) && floored <= bound.max(1.01e-7) * 1.03);
                    let rough = chords.delta(epsilon, m, 1e-3)?;
                    assert!(rough <= bound.max(1e-3) && rough >= blanket * (1.0 - 1e-10));
                }
            }
        }
        Ok(())
    }

    /// The order of questions does not matter.
    #[test]
    fn values_do_not_depend_on_the_past() -> Result<(), Error> {
        let levels: Vec<f64> = (0..200).map(|k| 0.003 * f64::from(k)).collect();
        let (forward, backward) = (Chords::new(0.6, 4, 9, 1e-12), Chords::new(0.6, 4, 9, 1e-12));
        let one: Result<Vec<f64>, Error> = levels.iter().map(|&e| forward.delta(e, 9, 0.0)).collect();
        let other: Result<Vec<f64>, Error> =
            levels.iter().rev().map(|&e| backward.delta(e, 9, 0.0)).collect();
        assert!(one?.iter().eq(other?.iter().rev()));
        Ok(())
    }
}
