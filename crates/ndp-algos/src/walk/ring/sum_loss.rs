//! What the nodes of a ring learn from the tokens of a sum.
//!
//! Contributions do not depend on the token, so that the differences between successive tokens of a view are
//! independent releases: each contribution of `u` is seen once, with the foreign noise added between two
//! receptions. For Gaussian noise they compose exactly to one release of parameter `μ = (Δ/σ) √unit`,
//!
//! `unit = Σ_segments σ²/(foreign noise variance of the segment)`, over the segments that contain `u`'s data,
//!
//! where `Δ` is the length of the interval of contributions and `σ` the full noise. Whom it protects against:
//! the nodes of a coalition, who know their own data and noises and the order of the ring. Neighbors are
//! replace-one: all `K` contributions of `u` may change.
//!
//! # References
//! Cyffers and Bellet, arXiv:2012.05326: Theorem 1 and a corrected form of Remark 1, both with a safe
//! publication of the final token.

use super::{Placement, RingSum};
use crate::walk::{FinalToken, require_honest};
use ndp_account::parts::checked_coalition;
use ndp_account::{Error, LossReport};
use ndp_dp::{Exact, ObserverLoss};
use ndp_numeric::sums::{Total, up};

impl RingSum {
    /// What a coalition learns about every node, exact. It is at most `K` towards one observer, unless the
    /// final token of distributed noise is published without a mask: node `n − 1` is then hidden by its own
    /// share alone, and node `n − 2` learns `K − 1 + n − 1`.
    ///
    /// `None` if segments may carry no noise: for two colluders or more with [`Placement::Counter`], and for
    /// all nodes together.
    ///
    /// # Complexity
    /// `O(K n)`.
    pub(super) fn report(&self, members: &[usize]) -> Option<LossReport> {
        let observes = self.observers(members).ok()?;
        let (mut unit, releases) = self.units(&observes);
        // The units are rounded up, by a few roundings.
        let mut lower: Vec<f64> = unit.iter().map(|unit| unit * (1.0 - 64.0 * f64::EPSILON)).collect();
        members.iter().for_each(|&v| (unit[v], lower[v]) = (1.0, 1.0));
        let n = self.node_count();
        let own = |step: &usize| observes[step % n] && self.step_std(*step) > 0.0;
        let rank = releases + (0..self.step_count()).filter(own).count();
        let loss = Exact::new(ObserverLoss { observer: members[0], unit });
        let mut report = LossReport::of_formula(members.to_vec(), loss.into(), rank);
        report.lower = lower;
        Some(report)
    }

    pub(in crate::walk) fn require_full_releases(&self) -> Result<(), Error> {
        match (self.placement(), self.final_token()) {
            (Placement::Distributed, FinalToken::Published) => Err(Error::NoGuarantee(
                "the last shares of a token published without a mask add up to less than one full noise",
            )),
            _ => Ok(()),
        }
    }

    pub(super) fn require_gaussian(&self) -> Result<(), Error> {
        match self.noise().gaussian_sigma() {
            Some(_) => Ok(()),
            None => Err(Error::NoGuarantee(
                "the exact loss is known for Gaussian noise; compose the releases instead",
            )),
        }
    }

    /// For each node, whether it observes.
    pub(in crate::walk) fn observers(&self, coalition: &[usize]) -> Result<Vec<bool>, Error> {
        let members = checked_coalition(coalition, self.node_count())?;
        require_honest(members.len(), self.node_count())?;
        if self.placement() == Placement::Counter && members.len() > 1 {
            return Err(Error::NoGuarantee(
                "between two colluders the ring may add no noise at all; distribute the noise",
            ));
        }
        let mut observes = vec![false; self.node_count()];
        for member in members {
            observes[member] = true;
        }
        Ok(observes)
    }

    /// The unit loss of every node, and the number of releases with foreign noise, by one pass over the
    /// steps, segment by segment.
    fn units(&self, observes: &[bool]) -> (Vec<f64>, usize) {
        let n = self.node_count();
        let full = self.noise().std().powi(2);
        let mut units = vec![Total::default(); n];
        let (mut start, mut releases) = (0, 0);
        let mut variance = Total::default();
        for step in 0..self.step_count() {
            if !observes[step % n] {
                variance.add(self.step_std(step).powi(2));
                continue;
            }
            for exposed in start..step {
                units[exposed % n].add(full / variance.value());
            }
            releases += usize::from(start < step);
            (start, variance) = (step + 1, Total::default());
        }
        if self.final_token().is_shown() {
            for exposed in start..self.step_count() {
                units[exposed % n].add(full / variance.value());
            }
            releases += usize::from(start < self.step_count());
        }
        // A share is the square of a root, and a sum has two roundings: eight in all.
        (units.into_iter().map(|unit| up(unit.value())).collect(), releases)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::{Bounds, ReleasedSum, TokenNoise};
    use approx::assert_relative_eq;
    use ndarray::Array2;
    use ndp_account::loss::exact_loss;
    use ndp_account::{LinearProtocol, Observer, Protocol, Target, least_noise};
    use ndp_dp::{
        ApproxDp, Delta, DiscreteLaplace, Gdp, Measure, Mechanism, NoiseMultiplier, Sigma, composition,
    };
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// `ε` towards one node if contributions count one by one, at a noise in units of the sensitivity.
    fn released(ring: RingSum, noise: f64, delta: Delta) -> Result<f64, Error> {
        let sum = ReleasedSum::from(ring);
        let profile = sum.account(&Observer::node(0))?.profile(1, NoiseMultiplier::new(noise)?)?;
        Ok(profile.epsilon(delta)?.into_value().epsilon())
    }

    impl RingSum {
        /// The largest unit loss of any node towards any single observer.
        fn worst_unit(&self) -> f64 {
            let rounds = self.rounds() as f64;
            match (self.placement(), self.final_token()) {
                (Placement::Distributed, FinalToken::Published) => {
                    rounds - 1.0 + (self.node_count() - 1) as f64
                }
                _ => rounds,
            }
        }

        /// `μ = (Δ/σ) √unit` of the worst pair.
        fn mu(&self) -> Result<Gdp, Error> {
            let ratio = self.bounds().sensitivity()?.get() / self.noise().std();
            Ok(Gdp::new(ratio * self.worst_unit().sqrt())?)
        }

        /// The least `ε` at `δ` for the worst pair.
        fn worst_epsilon(&self, delta: Delta) -> Result<f64, Error> {
            Ok(self.mu()?.epsilon(delta).into_value())
        }
    }

    fn unit(ring: &RingSum, u: usize, members: &[usize]) -> Result<f64, Error> {
        Ok(ring.coalition_loss(members)?.unit(u)?.value().get())
    }

    /// `δ` of the worst pair.
    fn delta(ring: RingSum, epsilon: f64) -> Result<f64, Error> {
        Ok(ring.mu()?.delta(epsilon)?.into_value())
    }

    fn ring(n: usize, rounds: usize, placement: Placement) -> Result<RingSum, Error> {
        RingSum::new(n, rounds, Bounds::new(0.0, 1.0)?, TokenNoise::gaussian(Sigma::new(2.0)?), placement)
    }

    fn rings() -> Result<Vec<RingSum>, Error> {
        let mut rings = Vec::new();
        for n in 2..=6 {
            for rounds in 1..=4 {
                for placement in [Placement::Counter, Placement::Distributed] {
                    for final_token in [FinalToken::Withheld, FinalToken::Published, FinalToken::Masked] {
                        rings.extend(ring(n, rounds, placement)?.with_final_token(final_token));
                    }
                }
            }
        }
        Ok(rings)
    }

    /// The general projection on the linear view gives the same, for every ring of up to 6 nodes and 4
    /// rounds, and every pair.
    #[test]
    fn units_match_the_linear_view() -> Result<(), Error> {
        for ring in rings()? {
            let mut worst = 0.0f64;
            for v in 0..ring.node_count() {
                let (report, formula) =
                    (exact_loss(&ring.coalition_view(&[v])?)?, ring.coalition_loss(&[v])?);
                assert_eq!(formula.rank, report.rank, "{ring:?} towards {v}");
                for u in (0..ring.node_count()).filter(|&u| u != v) {
                    let unit = formula.unit(u)?.value().get();
                    assert!(formula.lower[u] <= report.loss.value().unit[u]);
                    assert_relative_eq!(unit, report.loss.value().unit[u], max_relative = 1e-9);
                    worst = worst.max(unit);
                }
            }
            assert_relative_eq!(worst, ring.worst_unit(), max_relative = 1e-12);
        }
        Ok(())
    }

    /// Coalitions: the general projection again, and the closed form `K (n − 1)/h` for a run of `h` honest
    /// nodes.
    #[test]
    fn coalitions_match_the_linear_view_and_the_closed_form() -> Result<(), Error> {
        for ring in rings()?.iter().filter(|ring| ring.placement() == Placement::Distributed) {
            let n = ring.node_count();
            for subset in 1u32..(1 << n) - 1 {
                let coalition: Vec<usize> = (0..n).filter(|node| subset >> node & 1 == 1).collect();
                let report = exact_loss(&ring.coalition_view(&coalition)?)?;
                assert_eq!(
                    ring.coalition_loss(&coalition)?.rank,
                    report.rank,
                    "{ring:?} towards {coalition:?}"
                );
                for u in (0..n).filter(|node| !coalition.contains(node)) {
                    let unit = unit(ring, u, &coalition)?;
                    assert_relative_eq!(unit, report.loss.value().unit[u], max_relative = 1e-9);
                    if ring.final_token() == FinalToken::Withheld {
                        let ahead = (1..n).take_while(|d| !coalition.contains(&((u + d) % n))).count();
                        let behind = (1..n).take_while(|d| !coalition.contains(&((u + n - d) % n))).count();
                        let run = ahead.min(n - 1) + behind + 1;
                        let closed = (ring.rounds() * (n - 1)) as f64 / run as f64;
                        assert!(unit <= closed * (1.0 + 1e-12));
                        // Attained by runs that neither wrap around nor contain node 0.
                        if u > behind && u + ahead + 1 < n {
                            assert_relative_eq!(unit, closed, max_relative = 1e-12);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// A table of the specification: ε = 1, K = 5.
    #[test]
    fn delta_matches_reference_values() -> Result<(), Error> {
        for (mu, reference) in [(0.2, 0.003_185_055_378_333_48), (0.19, 0.002_148_407_181_129_714)] {
            let ring = ring(9, 5, Placement::Counter)?.with_gaussian_noise(Sigma::new(1.0 / mu)?);
            assert_relative_eq!(delta(ring, 1.0)?, reference, max_relative = 1e-11);
        }
        Ok(())
    }

    /// The least noise of the account satisfies the closed form for every pair, and no smaller noise does.
    #[test]
    fn calibration_meets_its_target() -> Result<(), Error> {
        for ring in rings()? {
            let observers = (0..ring.node_count()).map(|v| ring.account(&Observer::node(v)));
            let accounts = observers.collect::<Result<Vec<_>, Error>>()?;
            for (epsilon, allowed) in [(0.5, 1e-6), (3.0, 1e-9)] {
                let allowed = Delta::new(allowed)?;
                let target = Target::worst(Measure::Approx(allowed), epsilon);
                let sigma = least_noise(&accounts, &target)?.noise.sigma(ring.bounds().sensitivity()?)?;
                assert!(ring.with_gaussian_noise(sigma).worst_epsilon(allowed)? <= epsilon * (1.0 + 1e-9));
                let smaller = Sigma::new(sigma.get() * (1.0 - 1e-6))?;
                assert!(delta(ring.with_gaussian_noise(smaller), epsilon)? > allowed.get());
            }
        }
        Ok(())
    }

    /// A defect of the printed protocol: shares of `σ/√n` leave `σ² (n−1)/n` before every later reception,
    /// less than the `σ²` that is claimed.
    #[test]
    fn shares_of_the_paper_are_too_small() -> Result<(), Error> {
        let (n, rounds) = (5, 4);
        let sigma = 2.0;
        // The printed protocol as a corrected one with a smaller full noise. It differs only in the first
        // step, which has more noise, so that the losses of the later segments alone are a lower bound.
        let printed_share = sigma / (n as f64).sqrt();
        let foreign = (n - 1) as f64 * printed_share.powi(2);
        assert!(foreign < sigma * sigma);
        let later_releases = (rounds - 1) as f64 * sigma * sigma / foreign;
        assert!(1.0 + later_releases > ring(n, rounds, Placement::Distributed)?.worst_unit());
        Ok(())
    }

    /// Theorem 1 by the table of the specification, `thm1_eps_delta(ε, δ, K, δ')`, K = 20, is above the
    /// account.
    #[test]
    fn theorem_1_is_above_the_account() -> Result<(), Error> {
        for (epsilon, delta, total_epsilon, total_delta) in
            [(0.2, 1e-6, 5.587_187_033_594_278, 2.1e-5), (0.19, 9.5e-7, 5.269_929_444_820_854, 1.995e-5)]
        {
            let slack = Delta::new(delta)?;
            let local = ApproxDp::new(epsilon, delta)?;
            let sensitivity = ring(9, 20, Placement::Counter)?.bounds().sensitivity()?;
            let least = ndp_dp::Gaussian::within(epsilon, slack, sensitivity)?;
            let ring = ring(9, 20, Placement::Counter)?.with_gaussian_noise(least.sigma);
            let total = composition::advanced(local, 20, slack).into_value();
            assert_relative_eq!(total.epsilon(), total_epsilon, max_relative = 1e-11);
            assert_relative_eq!(total.delta(), total_delta, max_relative = 1e-11);
            // The exact loss is far smaller, and composition at the best level lies between.
            let delta = Delta::new(total.delta())?;
            let exact = ring.worst_epsilon(delta)?;
            let composed = released(ring, ring.noise().std(), delta)?;
            assert!(exact <= composed && composed <= total.epsilon());
        }
        Ok(())
    }

    #[test]
    fn laplace_releases_compose() -> Result<(), Error> {
        let noise = TokenNoise::named("laplace", Sigma::new(2f64.sqrt() / 0.1)?)?;
        let ring = RingSum::new(5, 50, Bounds::new(0.0, 1.0)?, noise, Placement::Counter)?;
        // 50 releases of ε₀ = 0.1 are never above the optimal composition of pure guarantees.
        let delta = Delta::new(1e-5)?;
        let pure = composition::best(&[(ApproxDp::new(0.1 * (1.0 + 1e-12), 0.0)?, 50)], delta)?;
        let composed = released(ring, 2f64.sqrt() / 0.1, delta)?;
        assert!(composed <= pure.value().total.epsilon() * (1.0 + 1e-9));
        let published = super::RingSum::new(
            5,
            3,
            Bounds::new(0.0, 1.0)?,
            TokenNoise::gaussian(Sigma::new(1.0)?),
            Placement::Distributed,
        )?
        .with_final_token(FinalToken::Published)?;
        assert!(matches!(released(published, 1.0, delta), Err(Error::NoGuarantee(_))));
        Ok(())
    }

    /// A law for which the ring has no code of its own: the token stays whole, fractions are refused, and one
    /// round costs exactly what one release costs.
    #[test]
    fn discrete_laplace_noise_reaches_the_ring() -> Result<(), Error> {
        let noise = TokenNoise::named("discrete-laplace", Sigma::new(3.0)?)?;
        let bounds = Bounds::new(0.0, 2.0)?;
        let ring =
            RingSum::new(6, 1, bounds, noise, Placement::Counter)?.with_final_token(FinalToken::Masked)?;
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let values = Array2::from_shape_fn((1, 6), |(_, u)| (u % 3) as f64);
        // Of the two noises of a run either may be 0.
        let mut most = 0;
        for _ in 0..20 {
            let run = ring.run(values.view(), &mut rng)?;
            assert!(run.tokens.iter().chain(&run.noises).all(|token| token.fract() == 0.0));
            most = most.max(run.noises.iter().filter(|&&noise| noise != 0.0).count());
        }
        assert_eq!(most, 2);
        let refused = ring.run(Array2::from_elem((1, 6), 0.5).view(), &mut rng);
        assert!(matches!(refused, Err(Error::InvalidParameter { value: 0.5, .. })), "{refused:?}");

        let mechanism = DiscreteLaplace::with_std(2, Sigma::new(3.0)?)?;
        let delta = Delta::new(1e-3)?;
        // In units of the sensitivity of 2.
        let composed = released(ring, 1.5, delta)?;
        let exact = mechanism.epsilon(delta).into_value();
        assert!(exact <= composed && composed <= exact * 1.0001, "{exact} {composed}");
        let wide = RingSum::new(6, 1, Bounds::new(0.0, 0.5)?, noise, Placement::Counter)?;
        assert!(matches!(released(wide, 6.0, delta), Err(Error::InvalidParameter { value: 0.5, .. })));
        let shares = RingSum::new(6, 1, bounds, noise, Placement::Distributed);
        assert!(matches!(shares, Err(Error::NoGuarantee(_))));
        assert!(matches!(ring.coalition_loss(&[0]), Err(Error::NoGuarantee(_))));
        Ok(())
    }

    #[test]
    fn bad_coalitions_are_refused() -> Result<(), Error> {
        let counter = ring(4, 2, Placement::Counter)?;
        // Between two colluders there may be no noise at all, and the view shows what this means.
        assert!(matches!(
            counter.coalition_loss(&[1, 3]),
            Err(Error::Certify(ndp_certify::Error::NoiselessView(_)))
        ));
        let shared = ring(4, 2, Placement::Distributed)?;
        assert!(matches!(unit(&shared, 1, &[1, 2]), Err(Error::SourceIsObserver(1))));
        assert!(matches!(unit(&shared, 0, &[]), Err(Error::EmptyCoalition)));
        assert!(matches!(unit(&shared, 9, &[1]), Err(Error::NodeOutOfRange { .. })));
        assert!(matches!(unit(&shared, 0, &[0, 1, 2, 3]), Err(Error::SourceIsObserver(0))));
        assert!(matches!(unit(&shared, 0, &[0, 1, 2, 3, 4]), Err(Error::NodeOutOfRange { .. })));
        let noise = TokenNoise::named("laplace", Sigma::new(1.0)?)?;
        let laplace = RingSum::new(4, 2, Bounds::new(0.0, 1.0)?, noise, Placement::Counter)?;
        assert!(matches!(laplace.coalition_loss(&[0]), Err(Error::NoGuarantee(_))));
        Ok(())
    }
}
