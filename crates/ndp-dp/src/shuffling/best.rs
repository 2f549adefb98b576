//! The smallest of all shuffling bounds that apply.

use super::exact::{MOST_REPORTS, clones, rr_blanket};
use super::trinomial::Goal;
use super::{bennett_delta, clones_closed, efmrtt, hoeffding_delta, rr_bennett_delta, rr_hoeffding_delta};
use crate::error::ensure;
use crate::gaussian::check_epsilon;
use crate::randomized_response::check_labels;
use crate::{Delta, Error, UpperBound, search};
use serde::{Deserialize, Serialize};

/// Which bound gave the answer.
///
/// # Examples
/// ```
/// use ndp_dp::{Delta, shuffling::generic_epsilon};
/// println!("{:?}", generic_epsilon(1.0, 1000, Delta::new(1e-6)?)?.value().rule);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// One report alone: no amplification.
    Local,
    /// [`efmrtt`].
    Efmrtt,
    /// [`clones_closed`].
    ClonesClosed,
    /// [`super::clones_delta`].
    Clones,
    /// [`hoeffding_delta`] or [`rr_hoeffding_delta`].
    Hoeffding,
    /// [`bennett_delta`] or [`rr_bennett_delta`].
    Bennett,
    /// [`super::rr_blanket_delta`].
    Blanket,
}

/// A bound on the loss of shuffled reports, and the rule it comes from.
///
/// # Examples
/// ```
/// use ndp_dp::{Delta, shuffling::generic_epsilon};
/// // A thousand reports of any 1-DP randomizer.
/// assert!(generic_epsilon(1.0, 1000, Delta::new(1e-6)?)?.value().epsilon < 0.5);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shuffled {
    /// The `ε` of `(ε, δ)`-DP, in nats.
    #[serde(with = "crate::lossless")]
    pub epsilon: f64,
    /// The bound that gave it.
    pub rule: Rule,
}

/// The smallest proven `ε` at `δ` of `m` shuffled reports of any `ε₀`-DP randomizer.
///
/// Beyond [`MOST_REPORTS`] the sums are those of so many reports, the surplus revealed, beside the closed forms for all: the
/// bound does not rise with `m`.
///
/// # Errors
/// [`Error::InvalidEpsilon`] unless `0 ≤ ε₀ < ∞`; [`Error::InvalidParameter`] unless `m ≥ 1`.
pub fn generic_epsilon(local_epsilon: f64, m: u64, delta: Delta) -> Result<UpperBound<Shuffled>, Error> {
    check_all(local_epsilon, m)?;
    let mut best = Best::new(local_epsilon, delta);
    best.offer_closed(m);
    best.search(Rule::Hoeffding, |epsilon| hoeffding_delta(epsilon, local_epsilon, m));
    best.search(Rule::Bennett, |epsilon| bennett_delta(epsilon, local_epsilon, m));
    // Whoever sees all reports sees less than with the surplus apart.
    let goal = Goal::Compare(delta.get());
    best.search(Rule::Clones, |epsilon| clones(epsilon, local_epsilon, m.min(MOST_REPORTS), goal));
    Ok(UpperBound::new(best.shuffled))
}

/// The smallest proven `ε` at `δ` of `m` shuffled reports of `L`-ary randomized response, each `ε₀`-DP.
///
/// Beyond [`MOST_REPORTS`] as there.
///
/// # Errors
/// As [`generic_epsilon`]; [`Error::InvalidParameter`] also unless `labels ≥ 2`.
///
/// # Examples
/// ```
/// use ndp_dp::{Delta, shuffling};
/// // A thousand users answer a question with three choices, each with local ε₀ = 1.
/// let together = shuffling::rr_epsilon(1.0, 3, 1000, Delta::new(1e-6)?)?;
/// assert!(together.value().epsilon < 0.26);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
pub fn rr_epsilon(
    local_epsilon: f64,
    labels: u32,
    m: u64,
    delta: Delta,
) -> Result<UpperBound<Shuffled>, Error> {
    check_all(local_epsilon, m)?;
    check_labels(labels)?;
    let mut best = Best::new(local_epsilon, delta);
    // Up to so many reports the relaxations of the same quantity cannot beat it.
    if m > MOST_REPORTS {
        best.offer_closed(m);
        best.search(Rule::Hoeffding, |epsilon| rr_hoeffding_delta(epsilon, local_epsilon, labels, m));
        best.search(Rule::Bennett, |epsilon| rr_bennett_delta(epsilon, local_epsilon, labels, m));
    }
    let goal = Goal::Compare(delta.get());
    best.search(Rule::Blanket, |epsilon| {
        rr_blanket(epsilon, local_epsilon, labels, m.min(MOST_REPORTS), goal)
    });
    Ok(UpperBound::new(best.shuffled))
}

/// The best bound so far.
struct Best {
    local: f64,
    delta: Delta,
    shuffled: Shuffled,
}

impl Best {
    fn new(local: f64, delta: Delta) -> Self {
        Self { local, delta, shuffled: Shuffled { epsilon: local, rule: Rule::Local } }
    }

    fn offer(&mut self, epsilon: f64, rule: Rule) {
        if epsilon < self.shuffled.epsilon {
            self.shuffled = Shuffled { epsilon, rule };
        }
    }

    fn offer_closed(&mut self, m: u64) {
        if let Ok(bound) = efmrtt(self.local, m, self.delta) {
            self.offer(bound.into_value(), Rule::Efmrtt);
        }
        if let Ok(bound) = clones_closed(self.local, m, self.delta) {
            self.offer(bound.into_value(), Rule::ClonesClosed);
        }
    }

    /// Offers the smallest `ε` below the best one at which the profile was seen to be at most `δ`.
    fn search(&mut self, rule: Rule, profile: impl Fn(f64) -> Result<UpperBound<f64>, Error>) {
        let holds = |epsilon| profile(epsilon).is_ok_and(|delta| *delta.value() <= self.delta.get());
        if let Some(epsilon) = search::smallest(0.0, self.shuffled.epsilon, holds) {
            self.offer(epsilon, rule);
        }
    }
}

fn check_all(local_epsilon: f64, m: u64) -> Result<(), Error> {
    check_epsilon(local_epsilon)?;
    ensure(m >= 1, "the number of shuffled reports", "be at least 1", m as f64)
}

#[cfg(test)]
mod tests {
    use super::super::{clones_delta, rr_blanket_delta};
    use super::*;

    #[test]
    fn answers_are_verified_and_ordered() -> Result<(), Error> {
        let delta = Delta::new(1e-6)?;
        for (local, m) in [(0.3, 50), (1.0, 1000), (3.0, 5000), (0.4, 10)] {
            let any = generic_epsilon(local, m, delta)?.into_value();
            let response = rr_epsilon(local, 5, m, delta)?.into_value();
            assert!(response.epsilon <= any.epsilon && any.epsilon <= local);
            assert!(*rr_blanket_delta(response.epsilon, local, 5, m)?.value() <= 1e-6);
            if any.rule == Rule::Clones {
                assert!(*clones_delta(any.epsilon, local, m)?.value() <= 1e-6);
            }
        }
        Ok(())
    }

    /// One report more than the sums take must not cost more: ε₀ = 3 once jumped from .0928 to .3376.
    #[test]
    fn there_is_no_cliff_where_the_sums_end() -> Result<(), Error> {
        let delta = Delta::new(1e-6)?;
        for local in [0.3, 3.0, 6.0] {
            let any = |m| -> Result<f64, Error> { Ok(generic_epsilon(local, m, delta)?.value().epsilon) };
            let response = |m| -> Result<f64, Error> { Ok(rr_epsilon(local, 4, m, delta)?.value().epsilon) };
            for m in [MOST_REPORTS + 1, 3 * MOST_REPORTS] {
                assert!(any(m)? <= any(MOST_REPORTS)? && response(m)? <= response(MOST_REPORTS)?);
            }
            if local == 3.0 {
                assert!((any(MOST_REPORTS + 1)? - 0.0928).abs() < 1e-4);
            }
        }
        Ok(())
    }

    #[test]
    fn a_trillion_reports_take_no_time() -> Result<(), Error> {
        let delta = Delta::new(1e-6)?;
        let any = generic_epsilon(1.0, 1_000_000_000_000, delta)?.into_value();
        let response = rr_epsilon(1.0, 5, 1_000_000_000_000, delta)?.into_value();
        assert!(any.epsilon < 1e-4 && response.epsilon <= any.epsilon);
        Ok(())
    }

    #[test]
    fn limits_are_right() -> Result<(), Error> {
        let delta = Delta::new(1e-6)?;
        assert_eq!(generic_epsilon(0.0, 10, delta)?.value().epsilon, 0.0);
        // Nothing is left but that one report alone is (ε₀ − δ, δ)-DP.
        assert!((9999.999..=1e4).contains(&generic_epsilon(1e4, 10, delta)?.value().epsilon));
        assert_eq!(rr_epsilon(1.0, 3, 1, delta)?.value().rule, Rule::Blanket);
        assert!(generic_epsilon(f64::NAN, 10, delta).is_err());
        assert!(generic_epsilon(1.0, 0, delta).is_err());
        assert!(rr_epsilon(1.0, 1, 10, delta).is_err());
        Ok(())
    }
}
