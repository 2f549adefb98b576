//! What the nodes learn from a histogram along the uniform walk.
//!
//! The cost of all reports of a node together is that of [`steps`](super::steps), or that of releasing each
//! of them with its sender ([`releases`](super::releases)), whichever is smaller.
//!
//! A single reception after `m` foreign steps shows a shuffle of `m` randomized responses. The exposed node
//! made `k ~ Bin(m, 1/(n−c))` of them, hidden by the secrecy of the path
//! ([`reception_loss`](super::reception_loss)). With a shuffling bound `D₁(ε)` for one of `m` reports, group
//! privacy gives for `k` of them
//!
//! `δ_k(ε) = min(1, D₁(ε/k) (e^ε − 1)/(e^{ε/k} − 1))`, which is 0 from `ε = k ε₀` on.
//!
//! Neighbors are replace-one: the label of the exposed node, which it reports at every visit, may change.
//! Observers know the times at which they hold the token, and the labels of everybody else. They do not know
//! who acted, unless a function says so.
//!
//! # References
//! Cyffers and Bellet, arXiv:2012.05326: Theorem 6, which this module replaces.

use super::CompleteHistogram;
use super::constant_data::ConstantWalk;
use super::constant_data::require_no_caps;
use super::guarantee::{Visits, delta_beside};
use super::reception_loss::GroupProfile;
use ndp_account::{Error, Senders};
use ndp_dp::shuffling::{self, Bound};
use ndp_dp::{ApproxDp, Delta, LossLaw, Mechanism, Neighbors, UpperBound};
use ndp_numeric::sums::up;

/// Reports by randomized response, each of them `ε₀`-DP.
struct Reports {
    local: f64,
    labels: u32,
}

impl Reports {
    /// `D₁` at `epsilon` for one of `m` reports: the smallest of the closed bounds and of the exact blanket,
    /// which is computed for at most a certain number of reports. If there are more, the others are revealed,
    /// which only helps the observer.
    fn single(&self, epsilon: f64, m: u64) -> Result<f64, Error> {
        let reports = shuffling::Reports { local_epsilon: self.local, labels: Some(self.labels) };
        let by = |bound, m| reports.delta_by(bound, epsilon, m).map(UpperBound::into_value);
        let relaxed = by(Bound::Hoeffding, m)?.min(by(Bound::Bennett, m)?);
        Ok(by(Bound::Blanket, m.min(EXACT_REPORTS))?.min(relaxed))
    }
}

/// The largest number of reports for which the blanket of randomized response is summed completely.
const EXACT_REPORTS: u64 = 200;

impl GroupProfile for Reports {
    fn delta(&self, epsilon: f64, k: u64, m: u64) -> Result<f64, Error> {
        let group = k as f64;
        if group * self.local <= epsilon {
            return Ok(0.0);
        }
        let each = epsilon / group;
        let factor = if epsilon == 0.0 { group } else { up(epsilon.exp_m1() / each.exp_m1()) };
        // The bound falls with the level, so that a quotient that is rounded down is safe.
        let each = each * (1.0 - f64::EPSILON);
        Ok(up(self.single(each, m)? * factor).min(1.0))
    }
}

impl CompleteHistogram {
    /// The loss `δ` at `ε` of one reception by one observer, after `foreign` steps of others. The observer
    /// does not know from whom its token comes and to whom it goes. The labels may differ from visit to
    /// visit.
    ///
    /// # Errors
    /// [`ndp_dp::Error::InvalidEpsilon`] unless `0 ≤ ε < ∞`; [`Error::NoGuarantee`] if a cap may keep a node
    /// from reporting.
    ///
    /// # Examples
    /// ```
    /// use ndp_algos::walk::complete::{CompleteHistogram, CompleteWalk};
    /// use ndp_dp::RandomizedResponse;
    /// let (walk, response) = (CompleteWalk::new(11, 50)?, RandomizedResponse::with_epsilon(2, 0.5)?);
    /// let histogram = CompleteHistogram { walk, response };
    /// // One report, of the node in question with probability 1/10.
    /// assert!(*histogram.reception_delta(0.0, 1)?.value() < 0.1 * (0.5f64.exp() - 1.0) / (0.5f64.exp() + 1.0) + 1e-9);
    /// # Ok::<(), ndp_account::Error>(())
    /// ```
    pub fn reception_delta(&self, epsilon: f64, foreign: u64) -> Result<UpperBound<f64>, Error> {
        self.response.delta(epsilon)?;
        let walk = self.constant()?.walk();
        let reports = Reports { local: self.local(), labels: self.response.labels() };
        Ok(UpperBound::new(walk.segment_delta(epsilon, foreign, &reports)?))
    }

    /// The law of the loss of all reports of a node together: an upper bound.
    ///
    /// # Errors
    /// [`Error::NoGuarantee`] if a cap may keep a node from reporting: see [`ConstantWalk`].
    pub(crate) fn law(&self, senders: Senders) -> Result<LossLaw, Error> {
        let (release, local) = (LossLaw::randomized_response(self.response), self.local());
        let two = release.clone().times(2)?;
        let at = |epsilon: f64| -> Result<ApproxDp, Error> {
            Ok(ApproxDp::new(epsilon, two.delta(epsilon)?.upper().min(1.0))?)
        };
        // All losses of two reports are multiples of the loss of one.
        let twice = [at(0.0)?, at(local)?, ApproxDp::new(two.pure_epsilon().upper(), 0.0)?];
        let twice = LossLaw::of_bounds(&twice, Neighbors::ReplaceOne)?;
        self.constant()?.law_of_steps(senders, release, twice)
    }

    /// The walk of a protocol in which nothing depends on the number of a visit.
    fn constant(&self) -> Result<ConstantWalk, Error> {
        require_no_caps(self.walk)?;
        Ok(self.walk.with_constant_data())
    }

    /// The largest number of reports of one node that is accounted for, and the part of `δ` that this uses.
    fn report_count(&self, visits: Visits) -> Result<(u64, f64), Error> {
        if let Visits::Capped(cap) = visits
            && cap < self.walk.step_count() as u64
            && self.walk.options().cap.is_none_or(|own| own as u64 > cap)
        {
            return Err(Error::NoGuarantee("the protocol does not cap the reports of a node at this number"));
        }
        self.walk.visit_count(visits)
    }

    /// The local guarantee: every report is released by itself, whatever the path, the coalition and the
    /// publication are. By their largest number, or by the law of their number if this gives less.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `δ` is larger than the probability that a node reports more often
    /// than is accounted for; [`Error::NoGuarantee`] for a cap on visits that the protocol does not have.
    pub(crate) fn local_epsilon(&self, visits: Visits, delta: Delta) -> Result<UpperBound<f64>, Error> {
        let (count, failure) = self.report_count(visits)?;
        let release = LossLaw::randomized_response(self.response);
        let most = release.clone().times(count)?.epsilon(delta_beside(failure, delta)?).upper();
        Ok(UpperBound::new(most.min(self.walk.law_of_releases(release)?.epsilon(delta).upper())))
    }

    fn local(&self) -> f64 {
        self.response.pure_epsilon().into_value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::complete::{CompleteOptions, CompleteWalk};
    use approx::assert_relative_eq;
    use ndp_account::{Observer, Protocol, Target, check, least_noise};
    use ndp_dp::{Measure, NoiseMultiplier, RandomizedResponse, Verdict, composition};
    use std::collections::BTreeMap;

    fn histogram(n: usize, steps: usize, local: f64, labels: u32) -> Result<CompleteHistogram, Error> {
        let response = RandomizedResponse::with_epsilon(labels, local)?;
        Ok(CompleteHistogram { walk: CompleteWalk::new(n, steps)?, response })
    }

    /// A table of the specification: `hist_cycle_delta_certified(ε, n, m, ε₀, L)`.
    #[test]
    fn cycles_match_reference_values() -> Result<(), Error> {
        for (epsilon, n, m, local, labels, reference) in
            [(0.1, 8, 6, 1.0, 3, 0.124_123_951_589_161_79), (0.05, 5, 2, 0.5, 2, 0.064_719_904_267_664_01)]
        {
            let histogram = histogram(n, 100, local, labels)?;
            let value = *histogram.reception_delta(epsilon, m)?.value();
            // The blanket is rounded outward by a few parts in 1e11.
            assert_relative_eq!(value, reference, max_relative = 1e-10);
            assert!(value >= reference * (1.0 - 1e-13));
        }
        Ok(())
    }

    /// The exact law of a hidden segment of `m` steps, each by node 0 with probability `1/(n−1)`, while all
    /// others hold one common label. It is never above the bound.
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
                    // The law over sequences of reports, combined to counts by an injective code.
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

    /// The exact law of a whole run, by enumeration of every path and every report. Node 2 observes the times
    /// of its receptions, the reports in between and its receivers (and, if `known`, its senders), node 0
    /// changes its label, and node 1 holds `other`.
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
                        // The observer knows its own report, so that both outcomes of it count as one.
                        masses = masses.map(|mass| mass / 2.0);
                        view.extend([step as u32, ones]);
                        if known && step > 0 {
                            view.push(10 + holder(step - 1) as u32);
                        }
                        if step + 1 < steps {
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
                    if known {
                        view.push(10 + holder(steps - 1) as u32);
                    }
                }
                let law = laws.entry(view).or_insert([0.0, 0.0]);
                for (law, mass) in law.iter_mut().zip(masses) {
                    *law += mass / n.pow(steps as u32) as f64;
                }
            }
        }
        laws.values().map(|[p, q]| (p - epsilon.exp() * q).max(0.0)).sum()
    }

    /// Runs of 5 steps on 3 nodes, hidden, published and with known neighbors: never below the exact loss.
    #[test]
    fn guarantees_cover_the_exact_run() -> Result<(), Error> {
        for (local, delta) in [(0.3, 0.05), (1.0, 0.05), (1.0, 0.4), (2.0, 0.6)] {
            let delta = Delta::new(delta)?;
            let plain = histogram(3, 5, local, 2)?;
            let public = plain.along(plain.walk.published());
            for (histogram, senders) in [&plain, &public]
                .into_iter()
                .flat_map(|histogram| [(histogram, Senders::Hidden), (histogram, Senders::Known)])
            {
                let known = senders == Senders::Known;
                let epsilon = histogram.law(senders)?.epsilon(delta).upper();
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

    /// The law of ten receptions after one foreign step each among three nodes, by binary randomized
    /// response. At its successive visits the first node reports the labels in `own`, and the second those in
    /// `other`.
    fn ten_receptions(keep: f64, own: [u32; 10], other: [u32; 10]) -> Vec<f64> {
        let report = |label: u32, seen: u32| if label == seen { keep } else { 1.0 - keep };
        (0..1u32 << 10)
            .map(|reports| {
                // The masses by the number of visits of the first node so far.
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

    /// Receptions compose at one ε each for labels that are constant per node, and not for others, not even
    /// if only another node's label changes: the composition of ten receptions claims .00155 at ε = 2.247,
    /// and the truth is .00177.
    #[test]
    fn receptions_compose_for_constant_labels_alone() -> Result<(), Error> {
        let histogram = histogram(3, 20, 0.5, 2)?;
        let keep = 1.0 - histogram.response.gamma() / 2.0;
        // One report of two, each ε₀-DP, is pure DP, so that ten of them compose to eight levels at a δ of
        // the optimal composition.
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

    /// Fifty nodes, 100 visits each on average: accounting for the largest number of reports of a node gives
    /// 31.1, for the law of their number 10.0, and step by step with known senders 2.4.
    #[test]
    fn accounts_are_at_most_the_local_guarantee() -> Result<(), Error> {
        let delta = Delta::new(1e-5)?;
        let visits = Visits::Quantile(Delta::new(1e-6)?);
        let fifty = histogram(50, 5000, 0.4, 10)?;
        assert_relative_eq!(*fifty.local_epsilon(visits, delta)?.value(), 9.997, max_relative = 1e-3);
        assert_relative_eq!(fifty.law(Senders::Known)?.epsilon(delta).upper(), 2.369, max_relative = 1e-3);
        for (n, steps, local, labels) in [(5, 60, 1.0, 2), (10, 100, 0.2, 3), (2, 9, 0.5, 2)] {
            let plain = histogram(n, steps, local, labels)?;
            let alone = *plain.local_epsilon(visits, delta)?.value();
            let noise = NoiseMultiplier::new(1.0 / local)?;
            for observer in [Observer::node(0), Observer::node(0).with_hidden_senders()] {
                for walk in [plain.walk, plain.walk.published()] {
                    let histogram = plain.along(walk);
                    let profile = histogram.account(&observer)?.profile(1, noise)?;
                    let found = profile.epsilon(delta)?.into_value().epsilon();
                    assert!(found <= alone * (1.0 + 1e-9), "{n} {observer}: {found} {alone}");
                }
            }
        }
        Ok(())
    }

    /// Compared with a calculation by hand when all steps are alike: draws of one in `n − 1`, and a step of
    /// the observer shows the next report, which is that of the exposed node with probability `1/(n − 1)`.
    #[test]
    fn hidden_steps_are_draws() -> Result<(), Error> {
        let (n, steps, local) = (6u32, 12u32, 0.5f64);
        let found = histogram(n as usize, steps as usize, local, 2)?.law(Senders::Hidden)?;
        // A draw of binary randomized response has loss 0, except for the mass on ±ln(1 + ρ(e^ε₀ − 1)).
        let rho = 1.0 / f64::from(n - 1);
        let (pure, total) = ((rho * local.exp_m1()).ln_1p(), rho * (0.5 * local).tanh());
        let right = total / -(-pure).exp_m1();
        let (right, left) = (right, right * (-pure).exp());
        let p = 1.0 / f64::from(n);
        let keep = 1.0 / (1.0 + (-local).exp());
        let moves = [
            ((0, 0), p * (1.0 - rho) + (1.0 - p) * (1.0 - left - right)),
            ((1, 0), p * rho * keep),
            ((-1, 0), p * rho * (1.0 - keep)),
            ((0, 1), (1.0 - p) * right),
            ((0, -1), (1.0 - p) * left),
        ];
        check_law(&found, steps, &moves, [local, pure])
    }

    /// Compares a law with that of `steps` steps, each of which moves the loss by a number of reports and by
    /// a number of draws, whose losses are given.
    fn check_law(
        found: &LossLaw,
        steps: u32,
        moves: &[((i32, i32), f64)],
        [report_loss, draw_loss]: [f64; 2],
    ) -> Result<(), Error> {
        let mut law = BTreeMap::from([((0i32, 0i32), 1.0)]);
        for _ in 0..steps {
            let mut next = BTreeMap::new();
            for (&(reports, draws), mass) in &law {
                for &((report, draw), share) in moves {
                    *next.entry((reports + report, draws + draw)).or_insert(0.0) += mass * share;
                }
            }
            law = next;
        }
        for epsilon in [0.0, 0.1, 0.3, 0.8, 1.4] {
            let loss =
                |reports: i32, draws: i32| f64::from(reports) * report_loss + f64::from(draws) * draw_loss;
            let exact: f64 =
                law.iter().map(|(&(r, d), mass)| mass * -(epsilon - loss(r, d)).min(0.0).exp_m1()).sum();
            let found = found.delta(epsilon)?.upper();
            assert!(exact <= found * (1.0 + 1e-9) && found <= 1.03 * exact, "{epsilon}: {found} {exact}");
        }
        Ok(())
    }

    /// The same for known senders: a step of the observer shows two reports, each with probability `1/(n −
    /// 1)`.
    #[test]
    fn known_steps_are_draws_and_spotted_reports() -> Result<(), Error> {
        let (n, steps, local) = (6u32, 12u32, 0.5f64);
        let found = histogram(n as usize, steps as usize, local, 2)?.law(Senders::Known)?;
        let (p, rho) = (1.0 / f64::from(n), 1.0 / f64::from(n - 1));
        let (pure, total) = ((rho * local.exp_m1()).ln_1p(), rho * (0.5 * local).tanh());
        let right = total / -(-pure).exp_m1();
        let (right, left) = (right, right * (-pure).exp());
        let (once, both) = (p * 2.0 * rho * (1.0 - rho), p * rho * rho);
        let keep = 1.0 / (1.0 + (-local).exp());
        // The loss moves by a number of reports and by a number of draws.
        let none = p * (1.0 - rho) * (1.0 - rho) + both * 2.0 * keep * (1.0 - keep);
        let moves = [
            ((0, 0), none + (1.0 - p) * (1.0 - left - right)),
            ((1, 0), once * keep),
            ((-1, 0), once * (1.0 - keep)),
            ((2, 0), both * keep * keep),
            ((-2, 0), both * (1.0 - keep) * (1.0 - keep)),
            ((0, 1), (1.0 - p) * right),
            ((0, -1), (1.0 - p) * left),
        ];
        check_law(&found, steps, &moves, [local, pure])
    }

    #[test]
    fn losses_grow_with_information() -> Result<(), Error> {
        let delta = Delta::new(1e-4)?;
        let plain = histogram(10, 100, 0.2, 3)?;
        let epsilon = |histogram: &CompleteHistogram, senders| -> Result<f64, Error> {
            Ok(histogram.law(senders)?.epsilon(delta).upper())
        };
        let (hidden, known) = (epsilon(&plain, Senders::Hidden)?, epsilon(&plain, Senders::Known)?);
        let public = plain.along(plain.walk.published());
        let colluding = plain.along(plain.walk.with_colluders(3)?);
        assert!(hidden < known && known < epsilon(&public, Senders::Known)?);
        assert_eq!(hidden, epsilon(&public, Senders::Hidden)?);
        assert!(known < epsilon(&colluding, Senders::Known)?);
        let capped = plain
            .along(plain.walk.with_options(CompleteOptions { cap: Some(3), ..CompleteOptions::default() })?);
        assert!(capped.local_epsilon(Visits::Capped(3), delta)?.value() <= &0.600_001);
        // A cap that the protocol does not have bounds nothing.
        for (histogram, cap) in [(plain, 3), (capped, 2)] {
            let refused = histogram.local_epsilon(Visits::Capped(cap), delta);
            assert!(matches!(refused, Err(Error::NoGuarantee(_))));
        }
        let spent = plain.local_epsilon(Visits::Quantile(delta), delta);
        assert!(matches!(spent, Err(Error::InvalidParameter { value, .. }) if value == delta.get()));
        for senders in [Senders::Hidden, Senders::Known] {
            assert!(matches!(capped.law(senders), Err(Error::NoGuarantee(_))));
        }
        let refused = plain.reception_delta(f64::NAN, 3);
        assert!(matches!(refused, Err(Error::Privacy(ndp_dp::Error::InvalidEpsilon(_)))));
        Ok(())
    }

    /// The least noise meets its target, and slightly less noise does not.
    #[test]
    fn the_least_noise_of_a_histogram_is_met() -> Result<(), Error> {
        let delta = Delta::new(1e-3)?;
        for observer in [Observer::node(0), Observer::node(0).with_hidden_senders()] {
            let made = histogram(5, 20, 1.0, 3)?;
            let accounts = [made.account(&observer)?];
            let target = Target::worst(Measure::Approx(delta), 2.0);
            let noise = least_noise(&accounts, &target)?.noise;
            assert_eq!(check(&accounts, noise, &target)?.verdict, Verdict::Met);
            let less = NoiseMultiplier::new(noise.get() / 1.01)?;
            assert_ne!(check(&accounts, less, &target)?.verdict, Verdict::Met);
        }
        Ok(())
    }
}
