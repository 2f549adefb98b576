//! The smallest of all shuffling bounds that apply.

use super::blanket::{bennett_delta, hoeffding_delta};
use super::closed::{clones_closed, efmrtt};
use super::exact::{MAX_REPORTS, MOST_REPORTS, clones, clones_delta, rr_blanket, rr_blanket_delta};
use super::trinomial::Goal;
use crate::error::ensure;
use crate::gaussian::check_epsilon;
use crate::randomized_response::{check_labels, profile};
use crate::{Delta, Error, UpperBound, search};
use serde::{Deserialize, Serialize};

/// Local reports that a shuffler mixes: how private each is on its own, and whether the randomizer is known
/// to be randomized response.
///
/// # Examples
/// ```
/// use ndp_dp::{Delta, shuffling::{Bound, Reports}};
/// // A thousand users answer a question with three choices, each with local ε₀ = 1.
/// let reports = Reports { local_epsilon: 1.0, labels: Some(3) };
/// let best = reports.epsilon(1000, Delta::new(1e-6)?)?.into_value();
/// assert!(best.epsilon < 0.26 && best.rule == Bound::Blanket);
/// let exact = reports.delta_by(Bound::Blanket, 0.2, 1000)?;
/// assert!(exact.value() < reports.delta_by(Bound::Hoeffding, 0.2, 1000)?.value());
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reports {
    /// The `ε₀` of one report.
    pub local_epsilon: f64,
    /// The number `L` of labels of randomized response; `None` for any `ε₀`-DP randomizer that is the same
    /// for all users.
    pub labels: Option<u32>,
}

/// A bound on what shuffled reports reveal; the table of the module says for which reports each bound holds,
/// and under which conditions.
///
/// # Examples
/// ```
/// use ndp_dp::{Delta, shuffling::{Bound, Reports}};
/// let reports = Reports { local_epsilon: 0.1, labels: None };
/// let delta = Delta::new(1e-6)?;
/// assert!(reports.epsilon_by(Bound::Efmrtt, 10_000, delta)?.value() < &0.05);
/// assert!(reports.epsilon_by(Bound::Efmrtt, 100, delta).is_err()); // proved for at least 1000 reports
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// One report alone: no amplification.
    Local,
    /// `ε = 12 ε₀ √(ln(1/δ)/m)`, never above `ε₀`; proved for `m ≥ 1000`, `ε₀ < 1/2`, `δ < 1/100`. Erlingsson
    /// et al. 2019, arXiv:1811.12469, Corollary 9, which is quoted with `m ≥ 100` and with `m ≥ 1000`: the
    /// stricter reading is required.
    #[doc(alias = "shuffle_efmrtt")]
    Efmrtt,
    /// `ε = ln(1 + tanh(ε₀/2) (8 √(e^{ε₀} ln(4/δ)/m) + 8 e^{ε₀}/m))`, for `ε₀ ≤ ln(m/(16 ln(2/δ)))`. Feldman,
    /// McMillan and Talwar 2020, arXiv:2012.12803, Theorem 3.1.
    #[doc(alias = "shuffle_clones_closed")]
    ClonesClosed,
    /// The clones of any randomizer, computed numerically: the hockey-stick divergence between
    /// `(A + D, C − A + 1 − D)` and `(A + 1 − D, C − A + D)` for `D ~ Bernoulli(e^{ε₀}/(1 + e^{ε₀}))`,
    /// `C ~ Bin(m − 1, e^{−ε₀})`, `A ~ Bin(C, 1/2)`. Theorem 3.2 there.
    #[doc(alias = "clones_numeric_delta")]
    Clones,
    /// The privacy blanket by Hoeffding's inequality, in closed form.
    Hoeffding,
    /// The privacy blanket by Bennett's inequality, in closed form.
    Bennett,
    /// The privacy blanket of randomized response, without an inequality in between:
    /// `δ = E (γ(1 − e^ε) + (1 − γ) L (h − e^ε (s − h))/M)₊` with `γ` the probability of a random answer,
    /// `B ~ Bin(m − 1, γ)`, `M = B + 1`, `s ~ Bin(M, 2/L)`, `h ~ Bin(s, 1/2)`. Balle, Bell,
    /// Gascón and Nissim 2019, arXiv:1903.02837, Lemma 5.3. Attained by some data for many parameters.
    #[doc(alias = "rr_blanket_exact_delta")]
    Blanket,
}

/// A bound on the loss of shuffled reports, and the rule it comes from.
///
/// # Examples
/// ```
/// use ndp_dp::{Delta, shuffling::Reports};
/// // A thousand reports of any 1-DP randomizer.
/// let shuffled = Reports { local_epsilon: 1.0, labels: None }.epsilon(1000, Delta::new(1e-6)?)?;
/// assert!(shuffled.value().epsilon < 0.5);
/// # Ok::<(), ndp_dp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shuffled {
    /// The `ε` of `(ε, δ)`-DP, in nats.
    #[serde(with = "crate::lossless")]
    pub epsilon: f64,
    /// The bound that gave it.
    pub rule: Bound,
}

impl Reports {
    /// The smallest proven `ε` at `δ` of `count` such reports, shuffled.
    ///
    /// Beyond [`MAX_REPORTS`] the sums are taken in blocks, which costs some parts in 10⁴ of `ε`. Beyond
    /// [`MOST_REPORTS`] they are taken over that many reports only, as if the others were revealed, and
    /// compared with the closed forms for all reports. Beyond a hundred times [`MOST_REPORTS`] only the
    /// closed forms are used.
    ///
    /// # Errors
    /// [`Error::InvalidEpsilon`] unless `0 ≤ ε₀ < ∞`; [`Error::InvalidParameter`] for no report or fewer than
    /// two labels.
    pub fn epsilon(self, count: u64, delta: Delta) -> Result<UpperBound<Shuffled>, Error> {
        match self.labels {
            None => generic_epsilon(self.local_epsilon, count, delta),
            Some(labels) => rr_epsilon(self.local_epsilon, labels, count, delta),
        }
    }

    /// The `ε` at `δ` of `count` such reports by one bound, never above `ε₀`.
    ///
    /// # Errors
    /// As [`Self::epsilon`]; [`Error::InvalidParameter`] outside the range of a closed bound, or beyond
    /// [`MOST_REPORTS`] for a sum; [`Error::UnknownName`] for [`Bound::Blanket`] if `labels` is `None`.
    pub fn epsilon_by(self, bound: Bound, count: u64, delta: Delta) -> Result<UpperBound<f64>, Error> {
        match bound {
            Bound::Efmrtt => efmrtt(self.local_epsilon, count, delta),
            Bound::ClonesClosed => clones_closed(self.local_epsilon, count, delta),
            _ => {
                self.delta_by(bound, 0.0, count)?;
                let mut best = Best::new(self.local_epsilon, delta);
                best.search(bound, count, |epsilon| self.delta_by(bound, epsilon, count));
                Ok(UpperBound::new(best.shuffled.epsilon))
            }
        }
    }

    /// The `δ` at `ε` of `count` such reports by one bound: at most 1, and 0 from `ε₀` on.
    ///
    /// # Errors
    /// As [`Self::epsilon_by`], and [`Error::InvalidEpsilon`] unless `0 ≤ ε < ∞`; [`Error::UnknownName`] also
    /// for the two bounds that are formulas for `ε`.
    ///
    /// # Complexity
    /// `O(count)` times the logarithm of `1/δ` for the two sums, some milliseconds at `10⁴` reports.
    pub fn delta_by(self, bound: Bound, epsilon: f64, count: u64) -> Result<UpperBound<f64>, Error> {
        let local = self.local_epsilon;
        let missing = |name: &str| {
            Err(Error::UnknownName { what: "bound on the delta of these reports", name: name.into() })
        };
        match (bound, self.labels) {
            (Bound::Local, labels) => {
                check_all(local, count)?;
                check_epsilon(epsilon)?;
                // Among all ε₀-DP randomizers, binary randomized response has the largest loss.
                let labels = labels.unwrap_or(2);
                check_labels(labels)?;
                Ok(UpperBound::new(profile(epsilon, local, labels)))
            }
            (Bound::Clones, _) => clones_delta(epsilon, local, count),
            (Bound::Hoeffding, labels) => hoeffding_delta(epsilon, local, labels, count),
            (Bound::Bennett, labels) => bennett_delta(epsilon, local, labels, count),
            (Bound::Blanket, Some(labels)) => rr_blanket_delta(epsilon, local, labels, count),
            (Bound::Blanket, None) => missing("blanket"),
            (Bound::Efmrtt, _) => missing("efmrtt"),
            (Bound::ClonesClosed, _) => missing("clones-closed"),
        }
    }
}

/// [`Reports::epsilon`] for any randomizer.
pub(crate) fn generic_epsilon(
    local_epsilon: f64,
    m: u64,
    delta: Delta,
) -> Result<UpperBound<Shuffled>, Error> {
    check_all(local_epsilon, m)?;
    let mut best = Best::new(local_epsilon, delta);
    best.offer_closed(m);
    best.search(Bound::Hoeffding, 1, |epsilon| hoeffding_delta(epsilon, local_epsilon, None, m));
    best.search(Bound::Bennett, 1, |epsilon| bennett_delta(epsilon, local_epsilon, None, m));
    let goal = Goal::Compare(delta.get());
    for count in summed(m) {
        best.search(Bound::Clones, count, |epsilon| clones(epsilon, local_epsilon, count, goal));
    }
    Ok(UpperBound::new(best.shuffled))
}

/// [`Reports::epsilon`] for randomized response.
pub(crate) fn rr_epsilon(
    local_epsilon: f64,
    labels: u32,
    m: u64,
    delta: Delta,
) -> Result<UpperBound<Shuffled>, Error> {
    check_all(local_epsilon, m)?;
    check_labels(labels)?;
    let mut best = Best::new(local_epsilon, delta);
    // Up to MAX_REPORTS the sum is computed without blocks, and its relaxations cannot be smaller.
    if m > MAX_REPORTS {
        best.offer_closed(m);
        best.search(Bound::Hoeffding, 1, |epsilon| hoeffding_delta(epsilon, local_epsilon, Some(labels), m));
        best.search(Bound::Bennett, 1, |epsilon| bennett_delta(epsilon, local_epsilon, Some(labels), m));
    }
    let goal = Goal::Compare(delta.get());
    for count in summed(m) {
        best.search(Bound::Blanket, count, |epsilon| rr_blanket(epsilon, local_epsilon, labels, count, goal));
    }
    Ok(UpperBound::new(best.shuffled))
}

/// The numbers of reports for which the sums are evaluated. If there are more reports than that, the others
/// may be revealed separately: the observer then sees more than in truth, so the bound holds. Just above
/// [`MAX_REPORTS`] the sum is also evaluated for exactly that many reports, which needs no blocks.
fn summed(m: u64) -> impl Iterator<Item = u64> {
    // For far more reports the closed forms, which use all of them, are smaller.
    let most = (m <= 100 * MOST_REPORTS).then_some(m.min(MOST_REPORTS));
    let fewer = (MAX_REPORTS < m && m < MAX_REPORTS + MAX_REPORTS / 1000).then_some(MAX_REPORTS);
    most.into_iter().chain(fewer)
}

/// The best bound found so far.
struct Best {
    local: f64,
    delta: Delta,
    shuffled: Shuffled,
}

impl Best {
    fn new(local: f64, delta: Delta) -> Self {
        Self { local, delta, shuffled: Shuffled { epsilon: local, rule: Bound::Local } }
    }

    fn offer(&mut self, epsilon: f64, rule: Bound) {
        if epsilon < self.shuffled.epsilon {
            self.shuffled = Shuffled { epsilon, rule };
        }
    }

    fn offer_closed(&mut self, m: u64) {
        if let Ok(bound) = efmrtt(self.local, m, self.delta) {
            self.offer(bound.into_value(), Bound::Efmrtt);
        }
        if let Ok(bound) = clones_closed(self.local, m, self.delta) {
            self.offer(bound.into_value(), Bound::ClonesClosed);
        }
    }

    /// Offers the smallest `ε` below the best one so far at which the profile of `count` reports was seen to
    /// be at most `δ`. If the sums are taken in blocks, the search ends within a millionth of that `ε`.
    fn search(&mut self, rule: Bound, count: u64, profile: impl Fn(f64) -> Result<UpperBound<f64>, Error>) {
        let holds = |epsilon: f64| profile(epsilon).is_ok_and(|delta| *delta.value() <= self.delta.get());
        let high = self.shuffled.epsilon;
        let found =
            if count <= MAX_REPORTS { search::smallest(0.0, high, holds) } else { nearly(high, holds) };
        if let Some(epsilon) = found {
            self.offer(epsilon, rule);
        }
    }
}

/// An `x ≤ high` with `holds(x)`, at most a millionth (relative) above the smallest one: the verified end of
/// a bisection.
fn nearly(high: f64, holds: impl Fn(f64) -> bool) -> Option<f64> {
    if !holds(high) {
        return None;
    }
    let (mut fails, mut verified) = (0.5 * high, high);
    while verified > f64::MIN_POSITIVE && holds(fails) {
        (fails, verified) = (0.5 * fails, fails);
    }
    while verified - fails > 1e-6 * verified {
        let middle = 0.5 * (fails + verified);
        if holds(middle) { verified = middle } else { fails = middle }
    }
    Some(verified)
}

pub(super) fn check_all(local_epsilon: f64, m: u64) -> Result<(), Error> {
    check_epsilon(local_epsilon)?;
    ensure(m >= 1, "the number of shuffled reports", "be at least 1", m as f64)
}

#[cfg(test)]
mod tests {
    use super::super::{clones_delta, rr_blanket_delta};
    use super::*;
    use crate::error::refused;

    #[test]
    fn answers_are_verified_and_ordered() -> Result<(), Error> {
        let delta = Delta::new(1e-6)?;
        for (local, m) in [(0.3, 50), (1.0, 1000), (3.0, 5000), (0.4, 10)] {
            let any = generic_epsilon(local, m, delta)?.into_value();
            let response = rr_epsilon(local, 5, m, delta)?.into_value();
            assert!(response.epsilon <= any.epsilon && any.epsilon <= local);
            assert!(*rr_blanket_delta(response.epsilon, local, 5, m)?.value() <= 1e-6);
            if any.rule == Bound::Clones {
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
            for m in [MAX_REPORTS + 1, 3 * MAX_REPORTS] {
                assert!(any(m)? <= any(MAX_REPORTS)? && response(m)? <= response(MAX_REPORTS)?);
            }
            if local == 3.0 {
                assert!((any(MAX_REPORTS + 1)? - 0.0928).abs() < 1e-4);
            }
        }
        Ok(())
    }

    /// Ten times the reports divide `ε` by the root of ten and a little more, as `δ` stays the same, up to
    /// 10⁸ of them: a million once cost as much as 10⁵.
    #[test]
    fn the_loss_falls_with_the_root_of_the_reports() -> Result<(), Error> {
        let delta = Delta::new(1e-6)?;
        for local in [0.5, 3.0] {
            let (mut any, mut response) = (Vec::new(), Vec::new());
            for m in [100_000, 1_000_000, 10_000_000, MOST_REPORTS] {
                any.push(generic_epsilon(local, m, delta)?.value().epsilon);
                response.push(rr_epsilon(local, 4, m, delta)?.value().epsilon);
            }
            for losses in [any, response] {
                for pair in losses.windows(2) {
                    let ratio = pair[0] / pair[1] / 10f64.sqrt();
                    assert!((0.99..1.35).contains(&ratio), "{local}: {losses:?}");
                }
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
        // At so large an ε₀ shuffling gains nothing: one report alone, which is about (ε₀ − δ, δ)-DP, is the
        // best bound.
        assert!((9999.999..=1e4).contains(&generic_epsilon(1e4, 10, delta)?.value().epsilon));
        assert_eq!(rr_epsilon(1.0, 3, 1, delta)?.value().rule, Bound::Blanket);
        assert!(matches!(generic_epsilon(f64::NAN, 10, delta), Err(Error::InvalidEpsilon(_))));
        assert_eq!(refused(generic_epsilon(1.0, 0, delta)), Some("the number of shuffled reports"));
        assert_eq!(refused(rr_epsilon(1.0, 1, 10, delta)), Some("the number of labels"));
        Ok(())
    }
}
