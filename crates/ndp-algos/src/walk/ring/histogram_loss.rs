//! What the nodes of a ring learn from the tokens of a histogram.
//!
//! Between two receptions by `v` the token gains the reports of all other nodes, once each: a shuffle of `n −
//! 1` randomized responses. Before its first reception it contains fewer reports, perhaps a single one, among
//! `M₀` uniform labels. So `v` sees at most `K` releases of a report of `u`, each of which has, at level `ε`,
//! at most
//!
//! `δ_step(ε) = max(blanket of n − 1 reports, one report among M₀ elements)`,
//!
//! They compose by the law with this profile. A published token adds the reports after `v`'s last reception,
//! perhaps a single one. If the token is masked, it is hidden among `M₁` uniform labels, and otherwise it
//! counts as a release of its own.
//!
//! Between colluders, `n − 1` becomes the length `h` of the shortest run of honest nodes. The uniform labels
//! protect only if the node that drew them (0, or `n − 1` for the last ones) is honest.
//!
//! Neighbors are replace-one: all `K` labels of `u` may change. Observers know the order of the ring, their
//! own reports, and the labels of all nodes other than `u`.
//!
//! # References
//! Cyffers and Bellet, arXiv:2012.05326: Theorem 2, with its `γ` and its first and last releases corrected.

use super::RingHistogram;
use crate::walk::tabulated::law_of_profile;
use crate::walk::{FinalToken, require_honest};
use ndp_account::Error;
use ndp_account::parts::checked_coalition;
use ndp_dp::shuffling::{self, Bound, MAX_REPORTS, Reports};
use ndp_dp::{Delta, LossLaw, Mechanism, UpperBound};
use ndp_numeric::stop::Stop;

/// The kinds of releases in which a report of a node may be seen.
struct Releases {
    /// The number of reports between two receptions.
    reports: u64,
    /// The number of uniform labels around the reports before the first reception, if there is such a
    /// release.
    first: Option<u64>,
    /// The number of uniform labels around the reports after the last reception, if there is such a release;
    /// it may be 0.
    last: Option<u64>,
}

impl RingHistogram {
    /// The smallest `ε` at `δ` that was found for the worst node outside a coalition.
    ///
    /// # Errors
    /// [`Error::EmptyCoalition`], [`Error::NodeOutOfRange`], [`Error::RepeatedMember`];
    /// [`Error::InvalidParameter`] if all nodes are in the coalition.
    pub(crate) fn epsilon_towards(
        &self,
        coalition: &[usize],
        delta: Delta,
        stop: &Stop,
    ) -> Result<UpperBound<f64>, Error> {
        let n = self.node_count();
        let members = checked_coalition(coalition, n)?;
        require_honest(members.len(), n)?;
        // The gaps around the ring between each member and the next one; gaps of length 0 contain nobody.
        let next = members.iter().skip(1).copied().chain([members[0] + n]);
        let shortest = members.iter().zip(next).map(|(&a, b)| b - a - 1).filter(|&run| run > 0).min();
        let honest = |node: usize| members.binary_search(&node).is_err();
        let releases = Releases {
            reports: shortest.unwrap_or(1) as u64,
            first: honest(0).then(|| self.initial_elements()),
            last: if honest(n - 1) { self.last_elements() } else { None },
        };
        self.composed(&releases, delta, stop)
    }

    fn last_elements(&self) -> Option<u64> {
        match self.final_token() {
            FinalToken::Withheld => None,
            FinalToken::Published => Some(0),
            FinalToken::Masked => Some(self.final_elements()),
        }
    }

    fn local(&self) -> f64 {
        self.response().pure_epsilon().into_value()
    }

    /// One report among uniform labels. If there are more than the exact bound takes, the others are left
    /// out, as they only help.
    fn among_elements(&self, epsilon: f64, elements: u64) -> Result<f64, Error> {
        let (local, labels) = (self.local(), self.response().labels());
        let elements = elements.min(MAX_REPORTS - 1);
        Ok(shuffling::fixed_blanket_delta(epsilon, local, labels, elements)?.into_value())
    }

    /// One report among `reports`: by the exact blanket or, beyond its range, by the better of its
    /// relaxations and of the blanket of as many reports as it takes, with the others revealed.
    fn among_reports(&self, epsilon: f64, reports: u64, stop: &Stop) -> Result<f64, Error> {
        stop.spend(reports.min(MAX_REPORTS).saturating_mul(20))?;
        let answers = Reports { local_epsilon: self.local(), labels: Some(self.response().labels()) };
        let exact = |reports: u64| -> Result<f64, Error> {
            Ok(answers.delta_by(Bound::Blanket, epsilon, reports)?.into_value())
        };
        if reports <= MAX_REPORTS {
            return exact(reports);
        }
        let hoeffding = answers.delta_by(Bound::Hoeffding, epsilon, reports)?.into_value();
        let bennett = answers.delta_by(Bound::Bennett, epsilon, reports)?.into_value();
        let relaxed = hoeffding.min(bennett);
        // If releases cost as little as this, the exact bound is not needed.
        if relaxed < 1e-30 { Ok(relaxed) } else { Ok(relaxed.min(exact(MAX_REPORTS)?)) }
    }

    /// The largest `δ` of the releases at `epsilon`; a last release without uniform labels is not included.
    fn step_delta(&self, epsilon: f64, releases: &Releases, stop: &Stop) -> Result<f64, Error> {
        let mut delta = self.among_reports(epsilon, releases.reports, stop)?;
        for elements in releases.first.into_iter().chain(releases.last.filter(|&elements| elements > 0)) {
            delta = delta.max(self.among_elements(epsilon, elements)?);
        }
        Ok(delta)
    }

    fn composed(&self, releases: &Releases, delta: Delta, stop: &Stop) -> Result<UpperBound<f64>, Error> {
        let (rounds, local) = (self.rounds() as u64, self.local());
        let alone = LossLaw::randomized_response(self.response());
        // A ten-thousandth of the `δ` that a release may use.
        let negligible = 1e-4 * delta.get() / rounds as f64;
        // A report is never worse than randomized response by itself, whatever surrounds it.
        let profile =
            |level: f64| if level >= local { Ok(0.0) } else { self.step_delta(level, releases, stop) };
        let hidden = law_of_profile(local, negligible, profile)?;
        let composed = |parts: &[LossLaw]| -> Result<f64, Error> {
            Ok(LossLaw::compose(parts)?.with_step(hidden.step)?.epsilon(delta).upper())
        };
        let mut worst = composed(&[hidden.law.clone().times(rounds)?])?;
        if releases.last == Some(0) {
            // For a node after the observer: one hidden release fewer, and its last report by itself.
            worst = worst.max(composed(&[hidden.law.clone().times(rounds - 1)?, alone.clone()])?);
        }
        // Never worse than if every report were released by itself.
        Ok(UpperBound::new(worst.min(alone.times(rounds)?.epsilon(delta).upper())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use ndp_account::{Observer, Protocol, Target, least_noise};
    use ndp_dp::{ApproxDp, Measure, RandomizedResponse, composition};

    impl RingHistogram {
        /// `δ_step(ε)`: the largest `δ` of one release towards one observer, without an unmasked last one.
        fn release_delta(&self, epsilon: f64) -> Result<f64, Error> {
            self.step_delta(epsilon, &self.single_observer(), &Stop::never())
        }

        /// The bound towards the worst single observer.
        fn epsilon(&self, delta: Delta) -> Result<UpperBound<f64>, Error> {
            self.composed(&self.single_observer(), delta, &Stop::never())
        }

        fn single_observer(&self) -> Releases {
            let reports = (RingHistogram::node_count(self) - 1) as u64;
            Releases { reports, first: Some(self.initial_elements()), last: self.last_elements() }
        }
    }

    fn histogram(
        n: usize,
        rounds: usize,
        labels: u32,
        local: f64,
        last: FinalToken,
    ) -> Result<RingHistogram, Error> {
        RingHistogram::new(n, rounds, RandomizedResponse::with_epsilon(labels, local)?, last)
    }

    /// A table of the specification: `ring_hist_first_visit_delta(ε, ε₀, L, M₀)` and `fixed_blanket_delta`.
    #[test]
    fn first_receptions_match_reference_values() -> Result<(), Error> {
        for (epsilon, local, labels, elements, reference) in [
            (0.1, 0.5, 3, 12, 0.014_691_697_799_760_45),
            (0.095, 0.475, 3, 12, 0.013_845_735_849_826_067),
            (0.2, 1.0, 3, 20, 0.017_015_218_209_776_133),
            (0.19, 1.0, 3, 20, 0.018_776_182_816_647_353),
        ] {
            let ring = histogram(20, 2, labels, local, FinalToken::Withheld)?;
            let value = ring.among_elements(epsilon, elements)?;
            // The bound is rounded outward by a few parts in 1e11.
            assert_relative_eq!(value, reference, max_relative = 1e-10);
        }
        Ok(())
    }

    /// With M₀ = ⌈γ n⌉ the first reception has the smaller loss in every case that the specification checked.
    #[test]
    fn later_receptions_dominate() -> Result<(), Error> {
        for n in [20, 30, 40, 60] {
            for (local, epsilon) in [(0.5, 0.1), (1.0, 0.2), (2.0, 0.4)] {
                let ring = histogram(n, 3, 3, local, FinalToken::Withheld)?;
                let later = ring.among_reports(epsilon, n as u64 - 1, &Stop::never())?;
                assert_eq!(ring.release_delta(epsilon)?, later);
            }
        }
        Ok(())
    }

    /// The exact law of the view, by enumeration of all reports of all nodes: `δ` at `ε` if node `u` changes
    /// its labels from `before` to `after` while all others hold 0. There are two labels, and `v` knows its
    /// own reports.
    fn exact_delta(ring: &RingHistogram, u: usize, v: usize, epsilon: f64, before: u32, after: u32) -> f64 {
        let (n, rounds) = (ring.node_count(), ring.rounds());
        let flip = ring.response().gamma() / 2.0;
        // The law of the number of ones added in each segment, before each reception and before publication.
        let law = |label: u32| -> Vec<Vec<f64>> {
            let convolve = |law: &[f64], one: f64| -> Vec<f64> {
                let mut longer = vec![0.0; law.len() + 1];
                for (count, mass) in law.iter().enumerate() {
                    longer[count] += mass * (1.0 - one);
                    longer[count + 1] += mass * one;
                }
                longer
            };
            let mut segments = Vec::new();
            let mut law = vec![1.0];
            for _ in 0..ring.initial_elements() {
                law = convolve(&law, 0.5);
            }
            for step in 0..n * rounds {
                if step % n == v {
                    segments.push(std::mem::replace(&mut law, vec![1.0]));
                } else {
                    let holds = if step % n == u { label } else { 0 };
                    law = convolve(&law, if holds == 1 { 1.0 - flip } else { flip });
                }
            }
            for _ in 0..ring.final_elements() {
                law = convolve(&law, 0.5);
            }
            if ring.final_token() != FinalToken::Withheld {
                segments.push(law);
            }
            segments
        };
        // The segments are independent given the data, so that their joint law is the product.
        let product = |segments: &[Vec<f64>]| -> Vec<f64> {
            segments.iter().fold(vec![1.0], |joint, segment| {
                joint.iter().flat_map(|a| segment.iter().map(move |b| a * b)).collect()
            })
        };
        let (p, q) = (product(&law(before)), product(&law(after)));
        p.iter().zip(&q).map(|(p, q)| (p - epsilon.exp() * q).max(0.0)).sum()
    }

    /// For small rings, every pair of nodes and every publication, the guarantee is never below the exact
    /// loss.
    #[test]
    fn guarantee_covers_the_exact_view() -> Result<(), Error> {
        for (n, rounds, local) in [(2, 2, 0.7), (3, 2, 1.0), (4, 2, 0.5), (4, 1, 1.5), (3, 3, 0.4)] {
            for last in [FinalToken::Withheld, FinalToken::Published, FinalToken::Masked] {
                let ring = histogram(n, rounds, 2, local, last)?;
                for delta in [0.3, 0.1, 0.02] {
                    let epsilon = ring.epsilon(Delta::new(delta)?)?.into_value();
                    for (u, v) in (0..n).flat_map(|u| (0..n).map(move |v| (u, v))).filter(|(u, v)| u != v) {
                        for (before, after) in [(0, 1), (1, 0)] {
                            let exact = exact_delta(&ring, u, v, epsilon, before, after);
                            assert!(
                                exact <= delta * (1.0 + 1e-12),
                                "{ring:?} u={u} v={v}: {exact} > {delta}"
                            );
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// A defect of the printed protocol: if the token is published without a mask, node 2 sees the last
    /// report of node 3 by itself. For n = 4, L = 2, ε₀ = 0.5 and K = 2 the exact joint δ at ε = 0 is
    /// 0.24492, above the 0.20871 of two hidden releases.
    #[test]
    fn publication_breaks_the_unmasked_claim() -> Result<(), Error> {
        let ring = histogram(4, 2, 2, 0.5, FinalToken::Published)?;
        let worst = (0..4)
            .flat_map(|u| (0..4).map(move |v| (u, v)))
            .filter(|(u, v)| u != v)
            .map(|(u, v)| exact_delta(&ring, u, v, 0.0, 0, 1))
            .fold(0.0, f64::max);
        assert_relative_eq!(worst, 0.24492, max_relative = 1e-4);
        // Two hidden releases at the best level of composition, found on a finer grid than that of the
        // specification.
        let mut claimed = 1.0f64;
        for level in (0..500).map(|i| f64::from(i) / 1000.0) {
            let step = ApproxDp::new(level, ring.release_delta(level)?)?;
            claimed = claimed.min(*composition::optimal_delta(step, 2, 0.0)?.value());
        }
        assert!(claimed <= 0.20871 && worst > 0.20871);
        Ok(())
    }

    #[test]
    fn shorter_runs_cost_more() -> Result<(), Error> {
        let ring = histogram(60, 5, 3, 0.5, FinalToken::Masked)?;
        let delta = Delta::new(1e-6)?;
        let epsilon = UpperBound::<f64>::into_value;
        let single = epsilon(ring.epsilon(delta)?);
        assert_relative_eq!(
            single,
            epsilon(ring.epsilon_towards(&[30], delta, &Stop::never())?),
            max_relative = 1e-12
        );
        let pair = epsilon(ring.epsilon_towards(&[10, 40], delta, &Stop::never())?);
        let isolated = epsilon(ring.epsilon_towards(&[10, 12], delta, &Stop::never())?);
        assert!(single < pair && pair < isolated);
        // In a run of one honest node, reports compose as local reports.
        let alone = LossLaw::randomized_response(RandomizedResponse::with_epsilon(3, 0.5)?);
        let local = alone.times(5)?.epsilon(delta).upper();
        assert_relative_eq!(isolated, local, max_relative = 1e-9);
        assert!(matches!(ring.epsilon_towards(&[], delta, &Stop::never()), Err(Error::EmptyCoalition)));
        let all = ring.epsilon_towards(&(0..60).collect::<Vec<_>>(), delta, &Stop::never());
        assert!(matches!(all, Err(Error::InvalidParameter { name: "the number of colluders", .. })));
        Ok(())
    }

    #[test]
    fn calibration_meets_its_target() -> Result<(), Error> {
        let delta = Delta::new(1e-6)?;
        for (n, rounds, epsilon, last) in [
            (30, 4, 1.0, FinalToken::Masked),
            (200, 10, 0.5, FinalToken::Withheld),
            (4, 1, 3.0, FinalToken::Published),
        ] {
            let made = histogram(n, rounds, 5, 1.0, last)?;
            let accounts = [made.account(&Observer::node(n / 2))?];
            let target = Target::worst(Measure::Approx(delta), epsilon);
            let local = 1.0 / least_noise(&accounts, &target)?.noise.get();
            assert!(local >= epsilon / rounds as f64 * (1.0 - 1e-3));
            let at = |local: f64| -> Result<f64, Error> {
                Ok(histogram(n, rounds, 5, local, last)?
                    .epsilon_towards(&[n / 2], delta, &Stop::never())?
                    .into_value())
            };
            assert!(at(local)? <= epsilon && at(1.01 * local)? > epsilon);
        }
        Ok(())
    }

    /// Theorem 2 with the noise that its bound asks for, by advanced composition.
    #[test]
    fn theorem_2_is_above_the_account() -> Result<(), Error> {
        let slack = Delta::new(1e-6)?;
        let step = ApproxDp::new(0.1, 1e-6)?;
        // The largest local ε whose closed bound is at most 0.1.
        let local = 0.1 / 12.0 * (4999.0 / -slack.get().ln()).sqrt();
        let gamma = RandomizedResponse::with_epsilon(10, local)?.gamma();
        assert_relative_eq!(gamma, 0.983_112_846_930_588_4, max_relative = 1e-11);
        let ring = RingHistogram::new(5000, 8, RandomizedResponse::new(10, gamma)?, FinalToken::Withheld)?;
        // A first report without others is hidden as well.
        assert!(ring.among_elements(0.1, ring.initial_elements())? <= 1e-6);
        let total = composition::advanced(step, 8, slack).into_value();
        assert!(*ring.epsilon(Delta::new(total.delta())?)?.value() <= total.epsilon());
        Ok(())
    }

    #[test]
    fn observers_that_are_not_on_the_ring_are_refused() -> Result<(), Error> {
        let ring = RingHistogram::new(5, 2, RandomizedResponse::new(3, 0.4)?, FinalToken::Withheld)?;
        assert!(ring.account(&Observer::node(4)).is_ok());
        for observer in [Observer::node(5), Observer::coalition(&[1, 7])] {
            assert!(matches!(ring.account(&observer), Err(Error::NodeOutOfRange { nodes: 5, .. })));
            assert!(ring.local_bound(&observer).is_err());
        }
        Ok(())
    }
}
