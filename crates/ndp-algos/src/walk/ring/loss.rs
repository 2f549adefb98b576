//! What the nodes of a ring learn from the tokens of a sum.
//!
//! Contributions are independent of the token, so the differences between successive tokens of a view are
//! independent releases: a contribution of `u` is seen once, behind the foreign noise added between two
//! receptions. For Gaussian noise they compose exactly to one release of parameter `μ = (Δ/σ) √unit`,
//!
//! `unit = Σ_segments σ²/(foreign noise variance of the segment)`, over the segments that hold `u`'s data,
//!
//! `Δ` the length of the interval of contributions, `σ` the full noise. Whom it protects against: the nodes
//! of a coalition, who know their own data and noises and the order of the ring; replace-one neighbors, all
//! `K` contributions of `u` may change.
//!
//! # References
//! Cyffers and Bellet, arXiv:2012.05326: Theorem 1 and Remark 1, the latter corrected, both with their
//! publication of the final token made safe.

use super::{Placement, RingSum};
use crate::protocol::checked_coalition;
use crate::walk::{FinalToken, TokenNoise};
use crate::{Error, Protocol, View};
use ndarray::Array2;
use ndp_dp::{Delta, Exact, Sigma, gaussian};

impl RingSum {
    /// The unit loss of node `u` towards a coalition, exact; at most `K` for one observer, unless the final
    /// token of distributed noise is published without a mask.
    ///
    /// # Errors
    /// [`Error::SourceIsObserver`], [`Error::EmptyCoalition`], [`Error::NodeOutOfRange`],
    /// [`Error::RepeatedMember`]; [`Error::NoGuarantee`] for noise that is not Gaussian, and for two colluders
    /// or more with [`Placement::Counter`], where whole segments carry no noise.
    ///
    /// # Complexity
    /// `O(K n)`.
    pub fn unit(&self, u: usize, coalition: &[usize]) -> Result<Exact<f64>, Error> {
        self.require_gaussian()?;
        let observes = self.observers(coalition)?;
        if u >= self.node_count() {
            return Err(Error::NodeOutOfRange { node: u, nodes: self.node_count() });
        }
        if observes[u] {
            return Err(Error::SourceIsObserver(u));
        }
        Ok(Exact::new(self.units(&observes)[u]))
    }

    /// The largest unit loss of any node towards any single observer, exact: `K`, or `K − 1 + n − 1` for
    /// distributed noise published without a mask (node `n − 1` is then seen through its own share alone).
    ///
    /// # Errors
    /// [`Error::NoGuarantee`] for noise that is not Gaussian.
    pub fn worst_unit(&self) -> Result<Exact<f64>, Error> {
        self.require_gaussian()?;
        Ok(Exact::new(self.worst_releases()))
    }

    /// The largest unit loss of any node outside towards a coalition, exact: for nodes in runs of at least
    /// `h` honest ones between colluders, `K (n − 1)/h` while the token is withheld.
    ///
    /// # Errors
    /// As [`Self::unit`]; [`Error::InvalidParameter`] for a coalition of everybody.
    ///
    /// # Complexity
    /// `O(K n)`.
    pub fn worst_unit_towards(&self, coalition: &[usize]) -> Result<Exact<f64>, Error> {
        self.require_gaussian()?;
        let observes = self.observers(coalition)?;
        let units = self.units(&observes);
        let honest = units.into_iter().zip(&observes).filter(|(_, observes)| !**observes);
        Ok(Exact::new(honest.map(|(unit, _)| unit).fold(0.0, f64::max)))
    }

    /// `μ = (Δ/σ) √unit` of a unit loss of this protocol.
    ///
    /// # Errors
    /// [`Error::NoGuarantee`] for noise that is not Gaussian.
    pub fn mu(&self, unit: Exact<f64>) -> Result<Exact<f64>, Error> {
        self.require_gaussian()?;
        let ratio = self.bounds().sensitivity()?.get() / self.noise().std();
        Ok(unit.map(|unit| ratio * unit.sqrt()))
    }

    /// `δ` of the protocol at `ε`, exact for the worst pair of nodes.
    ///
    /// # Errors
    /// [`Error::NoGuarantee`] for noise that is not Gaussian, [`ndp_dp::Error`] unless `0 ≤ ε < ∞`.
    pub fn delta(&self, epsilon: f64) -> Result<Exact<f64>, Error> {
        let mu = self.mu(self.worst_unit()?)?;
        Ok(gaussian::delta(epsilon, *mu.value())?)
    }

    /// The least `ε` at `δ`, exact for the worst pair of nodes.
    ///
    /// # Errors
    /// [`Error::NoGuarantee`] for noise that is not Gaussian.
    pub fn epsilon(&self, delta: Delta) -> Result<Exact<f64>, Error> {
        let mu = self.mu(self.worst_unit()?)?;
        Ok(gaussian::epsilon(*mu.value(), delta)?)
    }

    /// The least full noise `σ` with which the protocol is `(ε, δ)`-DP for every pair of nodes, rounded up.
    ///
    /// # Errors
    /// [`Error::NoGuarantee`] for noise that is not Gaussian, [`ndp_dp::Error`] unless `0 ≤ ε < ∞`.
    pub fn calibrated_sigma(&self, epsilon: f64, delta: Delta) -> Result<Sigma, Error> {
        let unit = *self.worst_unit()?.value();
        let mu = gaussian::mu(epsilon, delta)?;
        let sigma = self.bounds().sensitivity()?.get() * unit.sqrt() / mu;
        // Four roundings at most lie between mu and sigma.
        Ok(Sigma::new(sigma * (1.0 + 4.0 * f64::EPSILON))?)
    }

    /// Unit of the worst pair: see [`Self::worst_unit`].
    fn worst_releases(&self) -> f64 {
        let rounds = self.rounds() as f64;
        match (self.placement(), self.final_token()) {
            (Placement::Distributed, FinalToken::Published) => rounds - 1.0 + (self.node_count() - 1) as f64,
            _ => rounds,
        }
    }

    fn require_gaussian(&self) -> Result<(), Error> {
        match self.noise() {
            TokenNoise::Gaussian(_) => Ok(()),
            TokenNoise::Laplace(_) => Err(Error::NoGuarantee(
                "the exact loss is known for Gaussian noise; compose the releases instead",
            )),
        }
    }

    /// Which nodes observe.
    fn observers(&self, coalition: &[usize]) -> Result<Vec<bool>, Error> {
        let members = checked_coalition(coalition, self.node_count())?;
        if members.len() >= self.node_count() {
            return Err(Error::InvalidParameter {
                name: "the number of colluders",
                condition: "be at least 1 and below the number of nodes",
                value: members.len() as f64,
            });
        }
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

    /// Unit loss of every node: one pass over the steps, segment by segment.
    fn units(&self, observes: &[bool]) -> Vec<f64> {
        let n = self.node_count();
        let full = self.noise().std().powi(2);
        let mut units = vec![0.0; n];
        let mut start = 0;
        let mut variance = 0.0;
        for step in 0..self.step_count() {
            if !observes[step % n] {
                variance += self.step_std(step).powi(2);
                continue;
            }
            for exposed in start..step {
                units[exposed % n] += full / variance;
            }
            (start, variance) = (step + 1, 0.0);
        }
        if self.final_token() != FinalToken::Withheld {
            for exposed in start..self.step_count() {
                units[exposed % n] += full / variance;
            }
        }
        units
    }
}

/// The linear view of a coalition; input `u` is the data of node `u`, which moves all its contributions alike.
impl Protocol for RingSum {
    fn node_count(&self) -> usize {
        RingSum::node_count(self)
    }

    fn coalition_view(&self, coalition: &[usize]) -> Result<View, Error> {
        self.require_gaussian()?;
        let members = checked_coalition(coalition, self.node_count())?;
        let (n, steps) = (self.node_count(), self.step_count());
        let received = (0..steps).filter(|step| members.contains(&(step % n)));
        let published = (self.final_token() != FinalToken::Withheld).then_some(steps);
        let rows: Vec<usize> = received.chain(published).collect();
        let noisy: Vec<usize> = (0..steps).filter(|&step| self.step_std(step) > 0.0).collect();
        let full = self.noise().std();
        let inputs =
            Array2::from_shape_fn((rows.len(), n), |(row, u)| (u..rows[row]).step_by(n).count() as f64);
        let noises = Array2::from_shape_fn((rows.len(), noisy.len()), |(row, column)| {
            if noisy[column] < rows[row] { self.step_std(noisy[column]) / full } else { 0.0 }
        });
        let known: Vec<usize> =
            (0..noisy.len()).filter(|&column| members.contains(&(noisy[column] % n))).collect();
        View::new(&members, inputs, noises, &known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::exact_loss;
    use crate::walk::Bounds;
    use approx::assert_relative_eq;

    fn ring(n: usize, rounds: usize, placement: Placement) -> Result<RingSum, Error> {
        RingSum::new(n, rounds, Bounds::new(0.0, 1.0)?, TokenNoise::Gaussian(Sigma::new(2.0)?), placement)
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

    /// The projection routine on the linear view, every ring of up to 6 nodes and 4 rounds, every pair.
    #[test]
    fn units_match_the_linear_view() -> Result<(), Error> {
        for ring in rings()? {
            let mut worst = 0.0f64;
            for v in 0..ring.node_count() {
                let report = exact_loss(&ring.view(v)?)?;
                for u in (0..ring.node_count()).filter(|&u| u != v) {
                    let unit = *ring.unit(u, &[v])?.value();
                    assert_relative_eq!(unit, report.loss.value().unit[u], max_relative = 1e-9);
                    worst = worst.max(unit);
                }
            }
            assert_relative_eq!(worst, *ring.worst_unit()?.value(), max_relative = 1e-12);
        }
        Ok(())
    }

    /// Coalitions: the projection routine again, and the closed form `K (n − 1)/h` of a run of `h`.
    #[test]
    fn coalitions_match_the_linear_view_and_the_closed_form() -> Result<(), Error> {
        for ring in rings()?.iter().filter(|ring| ring.placement() == Placement::Distributed) {
            let n = ring.node_count();
            for subset in 1u32..(1 << n) - 1 {
                let coalition: Vec<usize> = (0..n).filter(|node| subset >> node & 1 == 1).collect();
                let report = exact_loss(&ring.coalition_view(&coalition)?)?;
                let mut worst = 0.0f64;
                for u in (0..n).filter(|node| !coalition.contains(node)) {
                    let unit = *ring.unit(u, &coalition)?.value();
                    assert_relative_eq!(unit, report.loss.value().unit[u], max_relative = 1e-9);
                    worst = worst.max(unit);
                    if ring.final_token() == FinalToken::Withheld {
                        let ahead = (1..n).take_while(|d| !coalition.contains(&((u + d) % n))).count();
                        let behind = (1..n).take_while(|d| !coalition.contains(&((u + n - d) % n))).count();
                        let run = ahead.min(n - 1) + behind + 1;
                        let closed = (ring.rounds() * (n - 1)) as f64 / run as f64;
                        assert!(unit <= closed * (1.0 + 1e-12));
                        // Attained by runs that neither wrap around nor hold node 0.
                        if u > behind && u + ahead + 1 < n {
                            assert_relative_eq!(unit, closed, max_relative = 1e-12);
                        }
                    }
                }
                assert_relative_eq!(worst, *ring.worst_unit_towards(&coalition)?.value());
            }
        }
        Ok(())
    }

    /// Table of the specification: ε = 1, K = 5.
    #[test]
    fn delta_matches_reference_values() -> Result<(), Error> {
        for (mu, reference) in [(0.2, 0.003_185_055_378_333_48), (0.19, 0.002_148_407_181_129_714)] {
            let ring = ring(9, 5, Placement::Counter)?.with_gaussian_noise(Sigma::new(1.0 / mu)?);
            assert_relative_eq!(*ring.delta(1.0)?.value(), reference, max_relative = 1e-11);
        }
        Ok(())
    }

    #[test]
    fn calibration_meets_its_target() -> Result<(), Error> {
        for ring in rings()? {
            for (epsilon, delta) in [(0.5, 1e-6), (3.0, 1e-9)] {
                let delta = Delta::new(delta)?;
                let sigma = ring.calibrated_sigma(epsilon, delta)?;
                assert!(*ring.with_gaussian_noise(sigma).delta(epsilon)?.value() <= delta.get());
                let smaller = Sigma::new(sigma.get() * (1.0 - 1e-9))?;
                assert!(*ring.with_gaussian_noise(smaller).delta(epsilon)?.value() > delta.get());
                assert!(*ring.with_gaussian_noise(sigma).epsilon(delta)?.value() <= epsilon);
            }
        }
        Ok(())
    }

    /// Defect: shares of `σ/√n` leave `σ² (n−1)/n` before every later reception, less than the `σ²` claimed.
    #[test]
    fn shares_of_the_paper_are_too_small() -> Result<(), Error> {
        let (n, rounds) = (5, 4);
        let sigma = 2.0;
        // The printed protocol, as a corrected one with a smaller full noise; its first step differs only in
        // having more noise, so that its loss is at least that of later segments alone.
        let printed_share = sigma / (n as f64).sqrt();
        let foreign = (n - 1) as f64 * printed_share.powi(2);
        assert!(foreign < sigma * sigma);
        let later_releases = (rounds - 1) as f64 * sigma * sigma / foreign;
        assert!(1.0 + later_releases > *ring(n, rounds, Placement::Distributed)?.worst_unit()?.value());
        Ok(())
    }

    #[test]
    fn bad_coalitions_are_refused() -> Result<(), Error> {
        let counter = ring(4, 2, Placement::Counter)?;
        assert!(matches!(counter.unit(0, &[1, 2]), Err(Error::NoGuarantee(_))));
        let shared = ring(4, 2, Placement::Distributed)?;
        assert!(matches!(shared.unit(1, &[1, 2]), Err(Error::SourceIsObserver(1))));
        assert!(matches!(shared.unit(0, &[]), Err(Error::EmptyCoalition)));
        assert!(matches!(shared.unit(9, &[1]), Err(Error::NodeOutOfRange { .. })));
        assert!(matches!(shared.worst_unit_towards(&[0, 1, 2, 3]), Err(Error::InvalidParameter { .. })));
        assert!(matches!(shared.worst_unit_towards(&[0, 1, 2, 3, 4]), Err(Error::NodeOutOfRange { .. })));
        let noise = TokenNoise::Laplace(Sigma::new(1.0)?);
        let laplace = RingSum::new(4, 2, Bounds::new(0.0, 1.0)?, noise, Placement::Counter)?;
        assert!(matches!(laplace.epsilon(Delta::new(1e-6)?), Err(Error::NoGuarantee(_))));
        Ok(())
    }
}
