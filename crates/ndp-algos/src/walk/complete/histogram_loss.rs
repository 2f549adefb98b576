//! What the nodes learn from a histogram along the uniform walk.
//!
//! A reception after `m` foreign steps shows a shuffle of `m` randomized responses, of which the exposed node
//! made `k ~ Bin(m, 1/(n−c))`, hidden by the secrecy of the path as in [`subsampled`](super::subsampled). With
//! `D₁(ε)` a shuffling bound for one of `m` reports, `k` of them have by group privacy
//!
//! `δ_k(ε) = min(1, D₁(ε/k) (e^ε − 1)/(e^{ε/k} − 1))`, 0 from `ε = k ε₀` on.
//!
//! Replace-one neighbors: all labels of the exposed node may change. Observers know the times at which they
//! hold the token, and the labels of everybody else; not who acted, unless a function says so.
//!
//! # References
//! Cyffers and Bellet, arXiv:2012.05326: Theorem 6, in whose place this stands.

use super::subsampled::{GroupProfile, Neighbors, Precision};
use super::{CompleteHistogram, CompleteWalk, Receptions, Spotting, Visits};
use crate::Error;
use crate::walk::level::largest;
use ndp_dp::shuffling::{self, MOST_REPORTS};
use ndp_dp::{ApproxDp, Delta, RandomizedResponse, UpperBound, composition};

/// How to bound the shuffle of the reports of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShuffleEffort {
    /// Segments of up to so many reports are bounded by the exact blanket of randomized response, longer
    /// ones by its Hoeffding and Bennett relaxations.
    pub exact_up_to: u64,
}

impl Default for ShuffleEffort {
    fn default() -> Self {
        Self { exact_up_to: 200 }
    }
}

/// Reports of randomized response.
struct Reports {
    local: f64,
    labels: u32,
    effort: ShuffleEffort,
}

impl Reports {
    /// `D₁` at `epsilon` for one of `m` reports; any bound below `enough` will do.
    fn single(&self, epsilon: f64, m: u64, enough: f64) -> Result<f64, Error> {
        let (local, labels) = (self.local, self.labels);
        let hoeffding = shuffling::rr_hoeffding_delta(epsilon, local, labels, m)?.into_value();
        if hoeffding <= enough {
            return Ok(hoeffding);
        }
        let relaxed = hoeffding.min(shuffling::rr_bennett_delta(epsilon, local, labels, m)?.into_value());
        if relaxed <= enough || m > self.effort.exact_up_to.min(MOST_REPORTS) {
            return Ok(relaxed);
        }
        Ok(shuffling::rr_blanket_delta(epsilon, local, labels, m)?.into_value().min(relaxed))
    }
}

impl GroupProfile for Reports {
    fn delta(&self, epsilon: f64, k: u64, m: u64, enough: f64) -> Result<f64, Error> {
        let group = k as f64;
        if group * self.local <= epsilon {
            return Ok(0.0);
        }
        let each = epsilon / group;
        let factor = if epsilon == 0.0 { group } else { epsilon.exp_m1() / each.exp_m1() };
        Ok((self.single(each, m, enough / factor)? * factor).min(1.0))
    }
}

impl CompleteHistogram {
    /// The loss `δ` at `ε` of one reception after `m` foreign steps, senders and receivers hidden.
    ///
    /// # Errors
    /// [`ndp_dp::Error::InvalidEpsilon`] unless `0 ≤ ε < ∞`.
    pub fn cycle_delta(&self, epsilon: f64, m: u64, effort: ShuffleEffort) -> Result<UpperBound<f64>, Error> {
        self.response().delta(epsilon)?;
        Ok(UpperBound::new(self.walk().segment_delta(
            epsilon,
            m,
            m,
            &self.reports(effort),
            Precision::FULL,
        )?))
    }

    /// The loss `δ` at `ε` of one reception, averaged over the length of its segment, senders and receivers
    /// hidden.
    ///
    /// # Errors
    /// [`ndp_dp::Error::InvalidEpsilon`] unless `0 ≤ ε < ∞`.
    pub fn visit_delta(&self, epsilon: f64, effort: ShuffleEffort) -> Result<UpperBound<f64>, Error> {
        self.response().delta(epsilon)?;
        let averaged =
            self.walk().averaged_delta(epsilon, Neighbors::Hidden, &self.reports(effort), Precision::FULL)?;
        Ok(UpperBound::new(averaged))
    }

    /// The smallest `ε` at `δ` found by composition over the receptions, senders and receivers hidden. A tenth
    /// of `δ` pays for more receptions than accounted for.
    ///
    /// # Errors
    /// [`ndp_dp::Error::NotAchievable`] when no reception is cheap enough.
    pub fn hidden_epsilon(
        &self,
        delta: Delta,
        effort: ShuffleEffort,
    ) -> Result<UpperBound<Receptions>, Error> {
        self.walk().compose_receptions(Neighbors::Hidden, &self.reports(effort), &[], delta)
    }

    /// The largest `ε₀` of a report found, to a percent and verified, for which [`Self::hidden_epsilon`] along
    /// `walk` is at most `ε`. 0 when none is.
    ///
    /// # Errors
    /// [`ndp_dp::Error`] unless `labels ≥ 2` and `0 ≤ ε < ∞`.
    pub fn hidden_calibrated_local(
        walk: CompleteWalk,
        labels: u32,
        target: ApproxDp,
        effort: ShuffleEffort,
    ) -> Result<f64, Error> {
        let delta = Delta::new(target.delta())?;
        RandomizedResponse::with_epsilon(labels, 1.0)?;
        let start = target.epsilon().clamp(1e-6, 10.0) / 8.0;
        largest(start, 1e-2, |local| {
            if local > 700.0 {
                return Ok(false);
            }
            let histogram = Self::new(walk, RandomizedResponse::with_epsilon(labels, local)?)?;
            Ok(histogram.hidden_epsilon(delta, effort)?.value().approx_dp.epsilon() <= target.epsilon())
        })
    }

    /// The smallest `ε` at `δ` found when observers know from whom their tokens come and to whom they go:
    /// spotted reports on their own, see [`CompleteWalk::spotted_count`], composed with what is left of the
    /// receptions. The count of visits, of spotted reports and of receptions each may fail.
    ///
    /// # Errors
    /// [`Error::NoGuarantee`] for a published walk: no rule is known. [`ndp_dp::Error`] when `δ` does not cover
    /// the failures.
    pub fn known_epsilon(
        &self,
        visits: Visits,
        spotting: Spotting,
        delta: Delta,
        effort: ShuffleEffort,
    ) -> Result<UpperBound<Receptions>, Error> {
        let walk: CompleteWalk = self.walk();
        let (contributions, missed) = walk.visit_count(visits)?;
        let spotted = *walk.spotted_count(contributions, spotting)?.value();
        let rest = Delta::new(delta.get() - missed - spotting.failure())?;
        let release = ApproxDp::pure(self.reports(effort).local)?;
        walk.compose_known(&self.reports(effort), (release, spotted), rest, delta)
    }

    /// The largest `ε₀` of a report found, to a percent and verified, for which [`Self::known_epsilon`] along
    /// `walk` is at most `ε`. 0 when none is.
    ///
    /// # Errors
    /// [`ndp_dp::Error`] unless `labels ≥ 2` and `0 ≤ ε < ∞`, and when `δ` does not cover the failures;
    /// [`Error::NoGuarantee`] for a published walk.
    pub fn known_calibrated_local(
        walk: CompleteWalk,
        labels: u32,
        (visits, spotting): (Visits, Spotting),
        target: ApproxDp,
        effort: ShuffleEffort,
    ) -> Result<f64, Error> {
        let delta = Delta::new(target.delta())?;
        RandomizedResponse::with_epsilon(labels, 1.0)?;
        let start = target.epsilon().clamp(1e-6, 10.0) / 8.0;
        largest(start, 1e-2, |local| {
            if local > 700.0 {
                return Ok(false);
            }
            let histogram = Self::new(walk, RandomizedResponse::with_epsilon(labels, local)?)?;
            let known = histogram.known_epsilon(visits, spotting, delta, effort)?;
            Ok(known.value().approx_dp.epsilon() <= target.epsilon())
        })
    }

    /// The local guarantee: every report seen alone, whatever the path, the coalition and the publication.
    ///
    /// # Errors
    /// [`ndp_dp::Error::InvalidDelta`] when `δ` does not exceed the failure probability of the count.
    pub fn local_epsilon(&self, visits: Visits, delta: Delta) -> Result<UpperBound<f64>, Error> {
        let (count, failure) = self.walk().visit_count(visits)?;
        let rest = Delta::new(delta.get() - failure)?;
        let release = ApproxDp::pure(self.response().local_epsilon().into_value())?;
        let composed = composition::best(&[(release, count)], rest)?;
        Ok(composed.map(|composed| composed.total.epsilon()))
    }

    fn reports(&self, effort: ShuffleEffort) -> Reports {
        let response = self.response();
        Reports { local: response.local_epsilon().into_value(), labels: response.labels(), effort }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use std::collections::BTreeMap;

    fn histogram(n: usize, steps: usize, local: f64, labels: u32) -> Result<CompleteHistogram, Error> {
        let response = RandomizedResponse::with_epsilon(labels, local)?;
        CompleteHistogram::new(CompleteWalk::new(n, steps)?, response)
    }

    /// Table of the specification: `hist_cycle_delta_certified(ε, n, m, ε₀, L)`.
    #[test]
    fn cycles_match_reference_values() -> Result<(), Error> {
        for (epsilon, n, m, local, labels, reference) in
            [(0.1, 8, 6, 1.0, 3, 0.124_123_951_589_161_79), (0.05, 5, 2, 0.5, 2, 0.064_719_904_267_664_01)]
        {
            let histogram = histogram(n, 100, local, labels)?;
            let value = *histogram.cycle_delta(epsilon, m, ShuffleEffort::default())?.value();
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
            let gamma = histogram.response().gamma();
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
                        let bound = histogram.cycle_delta(epsilon, u64::from(m), ShuffleEffort::default())?;
                        assert!(exact <= bound.value() * (1.0 + 1e-12), "{exact} > {bound:?}");
                    }
                }
            }
        }
        Ok(())
    }

    /// The exact law of a whole run by enumerating every path and every report: node 2 observes the times of its
    /// receptions and the reports in between (and, if `known`, its senders and receivers), node 0 changes its
    /// label, node 1 holds `other`.
    fn exact_delta(
        histogram: &CompleteHistogram,
        known: bool,
        epsilon: f64,
        other: u32,
        own: [u32; 2],
    ) -> f64 {
        let (n, steps) = (3usize, histogram.walk().step_count());
        let gamma = histogram.response().gamma();
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
                if histogram.walk().is_published() {
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
        let effort = ShuffleEffort::default();
        for (local, delta) in [(0.3, 0.05), (1.0, 0.05), (1.0, 0.4), (2.0, 0.6)] {
            let delta = Delta::new(delta)?;
            let plain = histogram(3, 5, local, 2)?;
            let public = CompleteHistogram::new(plain.walk().published(), plain.response())?;
            let hidden = |histogram: &CompleteHistogram| -> Result<f64, Error> {
                Ok(histogram.hidden_epsilon(delta, effort)?.value().approx_dp.epsilon())
            };
            let neighbors = plain.known_epsilon(
                Visits::Capped(5),
                Spotting::Quantile(Delta::new(0.01)?),
                delta,
                effort,
            )?;
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
        let (walk, effort) = (CompleteWalk::new(5, 20)?, ShuffleEffort { exact_up_to: 20 });
        let target = ApproxDp::new(2.0, 1e-3)?;
        let local = CompleteHistogram::hidden_calibrated_local(walk, 3, target, effort)?;
        let response = RandomizedResponse::with_epsilon(3, local)?;
        let reached = CompleteHistogram::new(walk, response)?.hidden_epsilon(Delta::new(1e-3)?, effort)?;
        assert!(local > 0.0 && reached.value().approx_dp.epsilon() <= 2.0);
        assert!(CompleteHistogram::hidden_calibrated_local(walk, 1, target, effort).is_err());

        let known = (Visits::Capped(6), Spotting::Quantile(Delta::new(1e-4)?));
        let less = CompleteHistogram::known_calibrated_local(walk, 3, known, target, effort)?;
        let histogram = CompleteHistogram::new(walk, RandomizedResponse::with_epsilon(3, less)?)?;
        let reached = histogram.known_epsilon(known.0, known.1, Delta::new(1e-3)?, effort)?;
        assert!(0.0 < less && less < local && reached.value().approx_dp.epsilon() <= 2.0);
        let published = CompleteHistogram::known_calibrated_local(walk.published(), 3, known, target, effort);
        assert!(matches!(published, Err(Error::NoGuarantee(_))));
        Ok(())
    }

    #[test]
    fn cheaper_bounds_are_larger() -> Result<(), Error> {
        let histogram = histogram(6, 60, 0.5, 4)?;
        let exact = *histogram.visit_delta(0.3, ShuffleEffort { exact_up_to: 60 })?.value();
        let mixed = *histogram.visit_delta(0.3, ShuffleEffort { exact_up_to: 20 })?.value();
        let quick = *histogram.visit_delta(0.3, ShuffleEffort { exact_up_to: 0 })?.value();
        assert!(exact <= mixed && mixed <= quick);
        Ok(())
    }

    #[test]
    fn guarantees_grow_with_information() -> Result<(), Error> {
        let delta = Delta::new(1e-4)?;
        let effort = ShuffleEffort { exact_up_to: 30 };
        let plain = histogram(10, 100, 0.2, 3)?;
        let epsilon = |guarantee: UpperBound<Receptions>| guarantee.into_value().approx_dp.epsilon();
        let hidden = epsilon(plain.hidden_epsilon(delta, effort)?);
        let public = CompleteHistogram::new(plain.walk().published(), plain.response())?;
        assert!(hidden < epsilon(public.hidden_epsilon(delta, effort)?));
        let failure = Delta::new(1e-5)?;
        let visits = Visits::Quantile(failure);
        let known = plain.known_epsilon(visits, Spotting::Quantile(failure), delta, effort)?;
        assert!(hidden < epsilon(known));
        let refused = public.known_epsilon(visits, Spotting::Quantile(failure), delta, effort);
        assert!(matches!(refused, Err(Error::NoGuarantee(_))));
        assert!(plain.local_epsilon(Visits::Capped(3), delta)?.value() <= &0.6);
        assert!(plain.cycle_delta(f64::NAN, 3, effort).is_err());
        Ok(())
    }
}
