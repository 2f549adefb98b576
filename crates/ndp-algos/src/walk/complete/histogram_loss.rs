//! What the nodes learn from a histogram along the uniform walk.
//!
//! A reception after `m` foreign steps shows a shuffle of `m` randomized responses, of which the exposed node
//! made `k ~ Bin(m, 1/(n−c))`, hidden by the secrecy of the path as in [`subsampled`](super::subsampled).
//! With `D₁(ε)` a shuffling bound for one of `m` reports, `k` of them have by group privacy
//!
//! `δ_k(ε) = min(1, D₁(ε/k) (e^ε − 1)/(e^{ε/k} − 1))`, 0 from `ε = k ε₀` on.
//!
//! Replace-one neighbors: the label of the exposed node, which it reports at every visit, may change.
//! Observers know the times at which they hold the token, and the labels of everybody else; not who acted,
//! unless a function says so.
//!
//! # References
//! Cyffers and Bellet, arXiv:2012.05326: Theorem 6, in whose place this stands.

use super::CompleteHistogram;
use super::constant_data::ConstantWalk;
use super::constant_data::require_no_caps;
use super::guarantee::Visits;
use super::reception_loss::Receptions;
use super::reception_loss::{GroupProfile, Neighbors, Precision, cheaper};
use super::response_blanket::Chords;
use crate::walk::level::most_within;
use ndp_account::Error;
use ndp_dp::shuffling::{self, Bound, MAX_REPORTS};
use ndp_dp::{ApproxDp, Delta, LossLaw, Mechanism, RandomizedResponse, UpperBound, composition};
use ndp_numeric::sums::up;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Reports of randomized response.
struct Reports {
    local: f64,
    labels: u32,
    exact_reports: u64,
    /// For a search, which asks for many levels: the exact blankets, from above by chords.
    chords: Option<Chords>,
    /// Otherwise, the exact blanket of as many reports as are hidden of a longer segment, by the bits of `ε`:
    /// it does not depend on the length.
    longest: Mutex<BTreeMap<u64, f64>>,
}

impl Reports {
    /// `D₁` at `epsilon` for one of `m` reports; any bound below `enough` will do, and a guess where that is
    /// infinite.
    fn single(&self, epsilon: f64, m: u64, enough: f64) -> Result<f64, Error> {
        let (local, labels) = (self.local, self.labels);
        if enough == f64::INFINITY {
            // Where a search begins is no guarantee.
            let about = Relaxed::about(epsilon, local, labels, m).hoeffding;
            return Ok(if about >= 0.0 { about.min(1.0) } else { 1.0 });
        }
        let reports = shuffling::Reports { local_epsilon: local, labels: Some(labels) };
        let hoeffding = || reports.delta_by(Bound::Hoeffding, epsilon, m).map(UpperBound::into_value);
        let bennett = || reports.delta_by(Bound::Bennett, epsilon, m).map(UpperBound::into_value);
        // Revealing surplus reports only helps the observer.
        let hidden = m.min(self.most_hidden());
        if let Some(chords) = self.chords.as_ref().filter(|_| hidden > 0) {
            let mut least = chords.delta(epsilon, hidden, enough)?;
            // Of the closed bounds only those that seem to be better are computed with proof.
            let about = Relaxed::about(epsilon, local, labels, m);
            if least > enough && may_be_less(about.hoeffding, least) {
                least = least.min(hoeffding()?);
            }
            if least > enough && may_be_less(about.bennett, least) {
                least = least.min(bennett()?);
            }
            return Ok(least);
        }
        let mut relaxed = hoeffding()?;
        if relaxed > enough {
            relaxed = relaxed.min(bennett()?);
        }
        if relaxed <= enough || hidden == 0 {
            return Ok(relaxed);
        }
        let blanket = || reports.delta_by(Bound::Blanket, epsilon, hidden).map(UpperBound::into_value);
        if hidden == m {
            return Ok(blanket()?.min(relaxed));
        }
        // A poisoned lock holds whole entries all the same.
        let known =
            self.longest.lock().unwrap_or_else(PoisonError::into_inner).get(&epsilon.to_bits()).copied();
        let exact = match known {
            Some(exact) => exact,
            None => {
                let exact = blanket()?;
                let mut longest = self.longest.lock().unwrap_or_else(PoisonError::into_inner);
                longest.insert(epsilon.to_bits(), exact);
                exact
            }
        };
        Ok(exact.min(relaxed))
    }

    /// Reports of a longer segment that are hidden.
    fn most_hidden(&self) -> u64 {
        self.exact_reports.min(MAX_REPORTS)
    }
}

/// Whether a guess does not rule out that a bound is smaller; NaN rules out nothing.
fn may_be_less(guess: f64, bound: f64) -> bool {
    guess.is_nan() || guess <= bound
}

/// The closed bounds of [`shuffling`] in plain floats: guesses, to see which are worth computing.
struct Relaxed {
    hoeffding: f64,
    bennett: f64,
}

impl Relaxed {
    fn about(epsilon: f64, local: f64, labels: u32, m: u64) -> Self {
        let (all, reports) = (f64::from(labels), m as f64);
        let total = local.exp_m1() + all;
        let (gamma, rest) = (all / total, local.exp_m1() / total);
        let a = epsilon.exp_m1();
        let b = rest * all * (a + 2.0);
        let hidden = -(-2.0 * (a / b).powi(2)).exp_m1();
        let hoeffding = b * b / (4.0 * a * gamma * reports) * (reports * (-gamma * hidden).ln_1p()).exp();
        let b_plus = gamma * (local.exp_m1() - a);
        let c = gamma * (2.0 - gamma) * a * a + rest * rest * all * ((2.0 * epsilon).exp() + 1.0);
        let beta = a * b_plus / c;
        let r = (-(c / (b_plus * b_plus)) * ((1.0 + beta) * beta.ln_1p() - beta)).exp();
        let power = |x: f64| (reports * (-gamma * x).ln_1p()).exp();
        let bennett = b_plus / beta.ln_1p() * (power(1.0 - r) - power(1.0)) / (gamma * reports);
        Self { hoeffding, bennett }
    }
}

impl GroupProfile for Reports {
    fn delta(&self, epsilon: f64, k: u64, m: u64, enough: f64) -> Result<f64, Error> {
        let group = k as f64;
        if group * self.local <= epsilon {
            return Ok(0.0);
        }
        let each = epsilon / group;
        let factor = if epsilon == 0.0 { group } else { up(epsilon.exp_m1() / each.exp_m1()) };
        // A quotient rounded down is a smaller level, and the bound falls with the level.
        let each = each * (1.0 - f64::EPSILON);
        Ok(up(self.single(each, m, enough / factor)? * factor).min(1.0))
    }
}

impl CompleteHistogram {
    /// The loss `δ` at `ε` of one reception by one observer, who is hidden from whom its token comes and to
    /// whom it goes, after `foreign` steps of others: what an account for hidden senders composes.
    ///
    /// Of one reception alone the labels may even differ from visit to visit.
    ///
    /// # Errors
    /// [`ndp_dp::Error::InvalidEpsilon`] unless `0 ≤ ε < ∞`; [`Error::NoGuarantee`] where a cap may keep a
    /// node from reporting.
    ///
    /// # Examples
    /// ```
    /// use ndp_algos::walk::complete::{CompleteHistogram, CompleteWalk};
    /// use ndp_dp::RandomizedResponse;
    /// let (walk, response) = (CompleteWalk::new(11, 50)?, RandomizedResponse::with_epsilon(2, 0.5)?);
    /// let histogram = CompleteHistogram { walk, response, exact_reports: None };
    /// // One report, of the node in question with probability 1/10.
    /// assert!(*histogram.reception_delta(0.0, 1)?.value() < 0.1 * (0.5f64.exp() - 1.0) / (0.5f64.exp() + 1.0) + 1e-9);
    /// # Ok::<(), ndp_account::Error>(())
    /// ```
    pub fn reception_delta(&self, epsilon: f64, foreign: u64) -> Result<UpperBound<f64>, Error> {
        self.response.delta(epsilon)?;
        let walk = self.constant()?.walk();
        let (reports, m) = (self.reports(), foreign);
        Ok(UpperBound::new(walk.segment_delta(epsilon, m, m, &reports, Precision::FULL)?))
    }

    /// The smallest `ε` at `δ` found by composition over the receptions, senders and receivers hidden; never
    /// above the local guarantee. A tenth of `δ` pays for more receptions (or reports) than accounted for.
    ///
    /// # Errors
    /// [`Error::NoGuarantee`] where a cap may keep a node from reporting: see [`ConstantWalk`].
    pub(crate) fn hidden_epsilon(&self, delta: Delta) -> Result<UpperBound<Receptions>, Error> {
        let composed =
            self.constant()?.compose_receptions(Neighbors::Hidden, &self.searched_reports(delta), &[], delta);
        cheaper(composed, self.seen_alone(Visits::Quantile(Delta::new(delta.get() / 10.0)?), delta)?)
    }

    /// The walk of a protocol in which nothing depends on the number of a visit.
    fn constant(&self) -> Result<ConstantWalk, Error> {
        require_no_caps(self.walk)?;
        Ok(self.walk.with_constant_data())
    }

    /// Every report seen alone: by their largest number, or by the law of their number where that is less.
    fn seen_alone(&self, visits: Visits, delta: Delta) -> Result<Receptions, Error> {
        let (count, failure) = self.report_count(visits)?;
        let rest = Delta::new(delta.get() - failure)?;
        let release = ApproxDp::new(self.response.pure_epsilon().into_value(), 0.0)?;
        let composed = composition::best(&[(release, count)], rest)?.into_value();
        let by_law = self.walk.law_of_releases(LossLaw::randomized_response(self.response))?;
        let epsilon = composed.total.epsilon().min(by_law.epsilon(delta).upper());
        let approx_dp = ApproxDp::new(epsilon, delta.get())?;
        Ok(Receptions { approx_dp, reception: release, count, rule: composed.rule })
    }

    /// The largest number of reports of one node to account for, and what it adds to `δ`.
    fn report_count(&self, visits: Visits) -> Result<(u64, f64), Error> {
        if let Visits::Capped(cap) = visits
            && cap < self.walk.step_count() as u64
            && self.walk.options().cap.is_none_or(|own| own as u64 > cap)
        {
            return Err(Error::NoGuarantee("the protocol does not cap the reports of a node at this number"));
        }
        self.walk.visit_count(visits)
    }

    /// The smallest `ε` at `δ` found when observers know from whom their tokens come and to whom they go:
    /// spotted reports on their own, see [`CompleteWalk::spotted_count`], composed with what is left of the
    /// receptions; never above the local guarantee. The count of visits, of spotted reports and of receptions
    /// each may fail.
    ///
    /// # Errors
    /// [`Error::NoGuarantee`] for a published walk: no rule is known; and where a cap may keep a node from
    /// reporting. [`ndp_dp::Error`] when `δ` does not cover the failures.
    pub(crate) fn known_epsilon(
        &self,
        visits: Visits,
        spotting: Delta,
        delta: Delta,
    ) -> Result<UpperBound<Receptions>, Error> {
        let walk = self.constant()?;
        let (spotted, rest) = walk.spotted_within(visits, spotting, delta)?;
        let reports = self.searched_reports(delta);
        let release = ApproxDp::new(reports.local, 0.0)?;
        let composed = walk.compose_known(&reports, (release, spotted), rest, delta);
        cheaper(composed, self.seen_alone(visits, delta)?)
    }

    /// The largest `ε₀` of a report found, to half a percent of the target and verified, for which
    /// `epsilon_of` the histogram is at most that of the target. 0 when none is.
    ///
    /// # Errors
    /// Those of `epsilon_of`.
    pub(crate) fn calibrated_local(
        &self,
        target: ApproxDp,
        epsilon_of: impl Fn(&Self, Delta) -> Result<f64, Error>,
    ) -> Result<f64, Error> {
        let delta = Delta::new(target.delta())?;
        let start = target.epsilon().clamp(1e-6, 10.0) / 8.0;
        most_within(start, target.epsilon(), |local| {
            if local > 700.0 {
                return Ok(f64::INFINITY);
            }
            let response = RandomizedResponse::with_epsilon(self.response.labels(), local)?;
            epsilon_of(&self.with_response(response), delta)
        })
    }

    /// The local guarantee: every report seen alone, whatever the path, the coalition and the publication.
    ///
    /// # Errors
    /// [`ndp_dp::Error::InvalidDelta`] when `δ` does not exceed the failure probability of the count;
    /// [`Error::NoGuarantee`] for a cap on visits that is not the protocol's.
    pub(crate) fn local_epsilon(&self, visits: Visits, delta: Delta) -> Result<UpperBound<f64>, Error> {
        Ok(UpperBound::new(self.seen_alone(visits, delta)?.approx_dp.epsilon()))
    }

    fn reports(&self) -> Reports {
        let response = self.response;
        let local = response.pure_epsilon().into_value();
        let exact_reports = self.exact_reports();
        Reports { local, labels: response.labels(), exact_reports, chords: None, longest: Mutex::default() }
    }

    fn searched_reports(&self, delta: Delta) -> Reports {
        let reports = self.reports();
        // Receptions are fewer than steps, and each spends at least this share of its part of δ on rounding.
        let floor = 1e-5 * delta.get() / self.walk.step_count() as f64;
        let chords = Chords::new(reports.local, reports.labels, reports.most_hidden(), floor);
        Reports { chords: Some(chords), ..reports }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::complete::{CompleteOptions, CompleteWalk};
    use approx::assert_relative_eq;
    use std::collections::BTreeMap;

    fn histogram(n: usize, steps: usize, local: f64, labels: u32) -> Result<CompleteHistogram, Error> {
        let response = RandomizedResponse::with_epsilon(labels, local)?;
        Ok(CompleteHistogram { walk: CompleteWalk::new(n, steps)?, response, exact_reports: None })
    }

    /// Table of the specification: `hist_cycle_delta_certified(ε, n, m, ε₀, L)`.
    #[test]
    fn cycles_match_reference_values() -> Result<(), Error> {
        for (epsilon, n, m, local, labels, reference) in
            [(0.1, 8, 6, 1.0, 3, 0.124_123_951_589_161_79), (0.05, 5, 2, 0.5, 2, 0.064_719_904_267_664_01)]
        {
            let histogram = histogram(n, 100, local, labels)?;
            let value = *histogram.reception_delta(epsilon, m)?.value();
            // The blanket is rounded outward by some parts in 1e11.
            assert_relative_eq!(value, reference, max_relative = 1e-10);
            assert!(value >= reference * (1.0 - 1e-13));
        }
        Ok(())
    }

    /// The exact law of a hidden segment: `m` steps, each by node 0 with probability `1/(n−1)`; all others
    /// hold one common label. Never above the bound.
    #[test]
    fn cycles_bound_the_exact_hidden_walk() -> Result<(), Error> {
        for (n, m, local, labels) in
            [(3usize, 2u32, 1.0, 2u32), (4, 3, 0.5, 3), (5, 4, 1.5, 2), (3, 5, 0.7, 2)]
        {
            let histogram = histogram(n, 100, local, labels)?;
            let gamma = histogram.response.gamma();
            let rho = 1.0 / (n as f64 - 1.0);
            for others in 0..labels {
                for (own, changed) in [(0, 1), (1, 0)] {
                    // Law over sequences of reports, folded to counts by an injective code.
                    let law = |own: u32| -> Vec<f64> {
                        let report = |label: u32, seen: u32| {
                            f64::from(u8::from(label == seen)) * (1.0 - gamma) + gamma / f64::from(labels)
                        };
                        let mut law = vec![0.0; (m as usize + 1).pow(labels)];
                        for mut code in 0..labels.pow(m) {
                            let (mut mass, mut counts) = (1.0, 0);
                            for _ in 0..m {
                                let seen = code % labels;
                                code /= labels;
                                mass *= rho * report(own, seen) + (1.0 - rho) * report(others, seen);
                                counts += (m as usize + 1).pow(seen);
                            }
                            law[counts] += mass;
                        }
                        law
                    };
                    let (p, q) = (law(own), law(changed));
                    for epsilon in [0.0f64, 0.05, 0.2, 0.6] {
                        let exact: f64 =
                            p.iter().zip(&q).map(|(p, q)| (p - epsilon.exp() * q).max(0.0)).sum();
                        let bound = histogram.reception_delta(epsilon, u64::from(m))?;
                        assert!(exact <= bound.value() * (1.0 + 1e-12), "{exact} > {bound:?}");
                    }
                }
            }
        }
        Ok(())
    }

    /// The exact law of a whole run by enumerating every path and every report: node 2 observes the times of
    /// its receptions and the reports in between (and, if `known`, its senders and receivers), node 0 changes
    /// its label, node 1 holds `other`.
    fn exact_delta(
        histogram: &CompleteHistogram,
        known: bool,
        epsilon: f64,
        other: u32,
        own: [u32; 2],
    ) -> f64 {
        let (n, steps) = (3usize, histogram.walk.step_count());
        let gamma = histogram.response.gamma();
        let report = |label: u32, seen: u32| f64::from(u8::from(label == seen)) * (1.0 - gamma) + gamma / 2.0;
        let mut laws: BTreeMap<Vec<u32>, [f64; 2]> = BTreeMap::new();
        for path in 0..n.pow(steps as u32) {
            let holder = |step: usize| path / n.pow(step as u32) % n;
            for reports in 0..1u32 << steps {
                let (mut view, mut ones, mut masses) = (Vec::new(), 0, [1.0, 1.0]);
                for step in 0..steps {
                    let seen = reports >> step & 1;
                    if holder(step) == 2 {
                        // Its own report is the observer's own: half the outcomes stand for one.
                        masses = masses.map(|mass| mass / 2.0);
                        view.extend([step as u32, ones]);
                        if known && step > 0 {
                            view.push(10 + holder(step - 1) as u32);
                        }
                        if known && step + 1 < steps {
                            view.push(20 + holder(step + 1) as u32);
                        }
                        ones = 0;
                        continue;
                    }
                    for (mass, own) in masses.iter_mut().zip(own) {
                        *mass *= report(if holder(step) == 0 { own } else { other }, seen);
                    }
                    ones += seen;
                }
                if histogram.walk.is_published() {
                    view.extend([99, ones]);
                }
                let law = laws.entry(view).or_insert([0.0, 0.0]);
                for (law, mass) in law.iter_mut().zip(masses) {
                    *law += mass / n.pow(steps as u32) as f64;
                }
            }
        }
        laws.values().map(|[p, q]| (p - epsilon.exp() * q).max(0.0)).sum()
    }

    /// Runs of 5 steps on 3 nodes: hidden, published, with known neighbors; never below the exact loss.
    #[test]
    fn guarantees_cover_the_exact_run() -> Result<(), Error> {
        for (local, delta) in [(0.3, 0.05), (1.0, 0.05), (1.0, 0.4), (2.0, 0.6)] {
            let delta = Delta::new(delta)?;
            let plain = histogram(3, 5, local, 2)?;
            let public = plain.along(plain.walk.published());
            let hidden = |histogram: &CompleteHistogram| -> Result<f64, Error> {
                Ok(histogram.hidden_epsilon(delta)?.value().approx_dp.epsilon())
            };
            let neighbors = plain.known_epsilon(Visits::Capped(5), Delta::new(0.01)?, delta)?;
            for (histogram, known, epsilon) in [
                (&plain, false, hidden(&plain)?),
                (&public, false, hidden(&public)?),
                (&plain, true, neighbors.value().approx_dp.epsilon()),
            ] {
                for other in [0, 1] {
                    for own in [[0, 1], [1, 0]] {
                        let total: f64 = exact_delta(histogram, known, 0.0, other, own);
                        assert!(total > 0.01, "the worlds differ");
                        let exact = exact_delta(histogram, known, epsilon, other, own);
                        assert!(exact <= delta.get(), "{exact} at {epsilon}");
                    }
                }
            }
        }
        Ok(())
    }

    #[test]
    fn calibrated_reports_meet_their_target() -> Result<(), Error> {
        let target = ApproxDp::new(2.0, 1e-3)?;
        let plain = CompleteHistogram { exact_reports: Some(20), ..histogram(5, 20, 1.0, 3)? };
        let at = |local: f64| -> Result<CompleteHistogram, Error> {
            Ok(plain.with_response(RandomizedResponse::with_epsilon(3, local)?))
        };
        let hidden = |histogram: &CompleteHistogram, delta: Delta| -> Result<f64, Error> {
            Ok(histogram.hidden_epsilon(delta)?.value().approx_dp.epsilon())
        };
        let local = plain.calibrated_local(target, hidden)?;
        assert!(local > 0.0 && hidden(&at(local)?, Delta::new(1e-3)?)? <= 2.0);

        let failure = Delta::new(1e-4)?;
        let known = |histogram: &CompleteHistogram, delta: Delta| -> Result<f64, Error> {
            let found = histogram.known_epsilon(Visits::Quantile(failure), failure, delta)?;
            Ok(found.value().approx_dp.epsilon())
        };
        let less = plain.calibrated_local(target, known)?;
        assert!(0.0 < less && less <= local * 1.02 && known(&at(less)?, Delta::new(1e-3)?)? <= 2.0);
        let published = plain.along(plain.walk.published()).calibrated_local(target, known);
        assert!(matches!(published, Err(Error::NoGuarantee(_))));
        Ok(())
    }

    /// The law of ten receptions after one foreign step each among three nodes, of which the first reports
    /// `own` at its visits, the second `other`, in turn; binary randomized response.
    fn ten_receptions(keep: f64, own: [u32; 10], other: [u32; 10]) -> Vec<f64> {
        let report = |label: u32, seen: u32| if label == seen { keep } else { 1.0 - keep };
        (0..1u32 << 10)
            .map(|reports| {
                // By the number of visits of the first node so far.
                let mut masses = vec![1.0];
                for step in 0..10 {
                    let seen = reports >> step & 1;
                    let mut next = vec![0.0; step + 2];
                    for (visits, mass) in masses.iter().enumerate() {
                        next[visits + 1] += mass / 2.0 * report(own[visits], seen);
                        next[visits] += mass / 2.0 * report(other[step - visits], seen);
                    }
                    masses = next;
                }
                masses.iter().sum()
            })
            .collect()
    }

    /// Receptions compose at one ε each for labels that are constant per node, and not for others, be they
    /// another node's: the composition of ten receptions claims .00155 at ε = 2.247, and .00177 is true.
    #[test]
    fn receptions_compose_for_constant_labels_alone() -> Result<(), Error> {
        let histogram = histogram(3, 20, 0.5, 2)?;
        let keep = 1.0 - histogram.response.gamma() / 2.0;
        // One of two, each ε₀-DP: pure, so that ten compose to eight levels at a δ of the optimal
        // composition.
        let level = (0.5 * f64::exp_m1(0.5)).ln_1p() * (1.0 + 1e-12);
        let epsilon = 8.0 * level * (1.0 + 1e-14);
        assert_relative_eq!(epsilon, 2.247, max_relative = 3e-4);
        let truth = |own: [[u32; 10]; 2], other: [u32; 10]| -> f64 {
            let laws = own.map(|own| ten_receptions(keep, own, other));
            laws[0].iter().zip(&laws[1]).map(|(p, q)| (p - epsilon.exp() * q).max(0.0)).sum()
        };
        let each = histogram.reception_delta(level, 1)?.into_value();
        assert_eq!(each, 0.0);
        let (mut low, mut claimed) = (1e-6f64, 1.0);
        for _ in 0..60 {
            let middle = (low * claimed).sqrt();
            let composed = composition::best(&[(ApproxDp::new(level, 0.0)?, 10)], Delta::new(middle)?);
            let met = composed.is_ok_and(|composed| composed.value().total.epsilon() <= epsilon);
            if met { claimed = middle } else { low = middle }
        }
        assert!((claimed - 0.001_55).abs() < 5e-6, "{claimed}");
        for other in [[0; 10], [1; 10]] {
            for own in [[[0; 10], [1; 10]], [[1; 10], [0; 10]]] {
                assert!(truth(own, other) <= claimed);
            }
        }
        let switching = truth([[0; 10], [1; 10]], [0, 0, 0, 0, 1, 1, 1, 1, 1, 1]);
        assert!(switching > claimed && (switching - 0.001_77).abs() < 1e-5, "{switching}");
        Ok(())
    }

    /// Fifty nodes, 100 visits each on average: composing receptions gives 63.1, the largest number of
    /// reports of a node by themselves 31.1, the law of their number 10.0.
    #[test]
    fn the_local_guarantee_is_never_exceeded() -> Result<(), Error> {
        let delta = Delta::new(1e-5)?;
        for (n, steps, local, labels) in [(50, 5000, 0.4, 10), (5, 60, 1.0, 2), (10, 100, 0.2, 3)] {
            let plain = CompleteHistogram { exact_reports: Some(20), ..histogram(n, steps, local, labels)? };
            let failure = Delta::new(1e-6)?;
            let alone = *plain.local_epsilon(Visits::Quantile(failure), delta)?.value();
            for walk in [plain.walk, plain.walk.published(), plain.walk.with_colluders(n - 1)?] {
                let histogram = plain.along(walk);
                let hidden = histogram.hidden_epsilon(delta)?.into_value();
                assert!(hidden.approx_dp.epsilon() <= alone && hidden.approx_dp.delta() <= delta.get());
                if !walk.is_published() {
                    let known = histogram.known_epsilon(Visits::Quantile(failure), failure, delta)?;
                    assert!(known.value().approx_dp.epsilon() <= alone);
                }
            }
        }
        let failure = Visits::Quantile(Delta::new(delta.get() / 10.0)?);
        let fifty = *histogram(50, 5000, 0.4, 10)?.local_epsilon(failure, delta)?.value();
        assert_relative_eq!(fifty, 9.997, max_relative = 1e-3);
        // The same of a sum.
        let walk = CompleteWalk::new(5, 60)?;
        let local = *walk.local_epsilon(0.3, Visits::Quantile(Delta::new(1e-6)?), delta)?.value();
        let hidden = walk.with_constant_data().hidden_epsilon(0.3, delta)?;
        assert!(hidden.value().approx_dp.epsilon() <= local);
        Ok(())
    }

    #[test]
    fn cheaper_bounds_are_larger() -> Result<(), Error> {
        let histogram = histogram(6, 60, 0.5, 4)?;
        let bound = |reports: u64| -> Result<f64, Error> {
            let histogram = CompleteHistogram { exact_reports: Some(reports), ..histogram };
            histogram.walk.averaged_delta(0.3, Neighbors::Hidden, &histogram.reports(), Precision::FULL)
        };
        let (exact, mixed, quick) = (bound(60)?, bound(20)?, bound(0)?);
        assert!(exact <= mixed && mixed <= quick);
        Ok(())
    }

    #[test]
    fn guarantees_grow_with_information() -> Result<(), Error> {
        let delta = Delta::new(1e-4)?;
        let plain = CompleteHistogram { exact_reports: Some(30), ..histogram(10, 100, 0.2, 3)? };
        let epsilon = |guarantee: UpperBound<Receptions>| guarantee.into_value().approx_dp.epsilon();
        let hidden = epsilon(plain.hidden_epsilon(delta)?);
        let public = plain.along(plain.walk.published());
        assert!(hidden <= epsilon(public.hidden_epsilon(delta)?));
        let failure = Delta::new(1e-5)?;
        let visits = Visits::Quantile(failure);
        let known = plain.known_epsilon(visits, failure, delta)?;
        assert!(hidden <= epsilon(known));
        let refused = public.known_epsilon(visits, failure, delta);
        assert!(matches!(refused, Err(Error::NoGuarantee(_))));
        let capped = plain
            .along(plain.walk.with_options(CompleteOptions { cap: Some(3), ..CompleteOptions::default() })?);
        assert!(capped.local_epsilon(Visits::Capped(3), delta)?.value() <= &0.6);
        // A cap that the protocol does not have bounds nothing.
        for (histogram, cap) in [(plain, 3), (capped, 2)] {
            let refused = histogram.local_epsilon(Visits::Capped(cap), delta);
            assert!(matches!(refused, Err(Error::NoGuarantee(_))));
        }
        assert!(matches!(capped.hidden_epsilon(delta), Err(Error::NoGuarantee(_))));
        assert!(matches!(capped.known_epsilon(visits, failure, delta), Err(Error::NoGuarantee(_))));
        assert!(plain.reception_delta(f64::NAN, 3).is_err());
        Ok(())
    }
}
