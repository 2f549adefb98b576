//! Privacy targets for pairs of nodes: whether they are met, and the least noise that meets them.
//!
//! A protocol is `(α, f)`-pairwise network differentially private when, for every pair, what `v` learns about
//! `u` has a Rényi divergence of order `α` of at most `f(u, v)` (Definition 5 of *Muffliato*); a constant `f` is
//! network differential privacy. Losses of linear Gaussian protocols do not depend on the noise but
//! for the local loss: with unit loss `unit`, a view is exactly `μ`-GDP with `μ = (Δ/σ) √unit`, so a pair
//! needs `σ ≥ Δ √unit / μ(f(u, v))` and the least noise is the largest of these, without a search.
//!
//! Everything here works on [`LossReport`]s, of whatever protocol:
//!
//! ```
//! use ndp_algos::gossip::SynchronousGossip;
//! use ndp_algos::target::{Measure, Scales, check, least_sigma};
//! use ndp_algos::loss::observer_losses;
//! use ndp_graph::{GossipMatrix, generators};
//! let graph = generators::hypercube_graph(4)?;
//! let gossip = SynchronousGossip::new(GossipMatrix::metropolis(&graph), 6);
//! let losses = observer_losses(&gossip, &[0])?;   // all observers are alike
//! let scales = Scales { measure: Measure::Renyi(ndp_dp::Order::new(2.0)?), sensitivity: ndp_dp::Sensitivity::new(1.0)? };
//! let f = |u: usize, v: usize| 4.0 / f64::from((u ^ v).count_ones());
//! let least = least_sigma(&losses, scales, f)?;
//! assert!(check(&losses, scales, least.sigma, f)?.is_met());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # References
//! - Cyffers, Even, Bellet, Massoulié, *Muffliato*, NeurIPS 2022, arXiv:2206.05091: Definition 5.

use crate::{Error, LossReport};
use ndp_dp::{Delta, Exact, Gdp, Grade, Guarantee, Order, Sensitivity, Sigma, UpperBound, gaussian};
use ndp_graph::Graph;
use ndp_graph::memory::require_dense;
use serde::Serialize;

/// In which terms losses are stated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measure {
    /// Rényi loss at this order, in nats.
    Renyi(Order),
    /// The Gaussian parameter `μ`.
    Gaussian,
    /// The `ε` of `(ε, δ)`-DP at this `δ`, from the exact Gaussian profile.
    Approx(Delta),
}

impl Measure {
    /// The largest `μ` whose loss is at most `allowed` (nonnegative, maybe infinite).
    fn largest_mu(self, allowed: f64) -> Result<f64, Error> {
        if allowed == f64::INFINITY {
            return Ok(allowed);
        }
        Ok(match self {
            Self::Renyi(order) => (2.0 * allowed / order.get()).sqrt(),
            Self::Gaussian => allowed,
            Self::Approx(delta) => gaussian::mu(allowed, delta)?,
        })
    }

    /// The loss of a `μ`-GDP view.
    fn loss(self, mu: f64) -> Result<f64, Error> {
        Ok(match self {
            Self::Renyi(order) => order.get() * mu * mu / 2.0,
            Self::Gaussian => mu,
            Self::Approx(delta) => Gdp::new(mu)?.to_approx_dp(delta).into_value().epsilon(),
        })
    }
}

/// In which terms losses are stated, and how far one node's input may move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scales {
    /// The terms of the losses.
    pub measure: Measure,
    /// Sensitivity `Δ` of an input, in the norm of the protocol's values.
    pub sensitivity: Sensitivity,
}

/// A source `u` and an observer `v` (for a coalition, its first member), and their loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Pair {
    /// The exposed node `u`.
    pub source: usize,
    /// The observer `v`.
    pub observer: usize,
    /// The loss, in the terms of the target.
    pub loss: Guarantee<f64>,
    /// What the target allows, `f(u, v)`.
    pub allowed: f64,
}

/// What a [`check`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Verdict {
    /// No loss exceeds what is allowed.
    Met,
    /// Some upper bound exceeds what is allowed, the true loss perhaps not.
    NotShown,
    /// The proven lower end of some loss is larger than what is allowed.
    Violated,
}

/// The answer to: does the protocol meet the target?
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Check {
    /// The answer.
    pub verdict: Verdict,
    /// The pair that needs the most noise; `None` when the target limits no pair that has a loss.
    pub tightest: Option<Pair>,
    /// Number of pairs whose loss (or its bound) exceeds what is allowed.
    pub exceeding: usize,
}

impl Check {
    /// Whether the target is met.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.verdict == Verdict::Met
    }
}

/// The least noise for a target, and the pair that needs it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LeastNoise {
    /// Standard deviation of the noise, rounded up.
    pub sigma: Sigma,
    /// The pair that needs it, with its loss at `sigma`.
    pub tightest: Pair,
}

/// Whether every pair loses at most `allowed(u, v)` at noise `sigma`: `(α, f)`-pairwise network differential privacy
/// for the observers (or coalitions) of `losses`.
///
/// `allowed(u, v)` is asked for every source `u` outside the coalition of every report, `v` being its first
/// member; infinity sets no limit.
///
/// # Errors
/// [`Error::InvalidParameter`] where `allowed` is negative or NaN.
pub fn check(
    losses: &[LossReport],
    scales: Scales,
    sigma: Sigma,
    allowed: impl FnMut(usize, usize) -> f64,
) -> Result<Check, Error> {
    let mut found = Check { verdict: Verdict::Met, tightest: None, exceeding: 0 };
    let mut most = 0.0;
    for_each_need(losses, scales, allowed, |need| {
        if need.sigma > sigma.get() {
            found.exceeding += 1;
            let proven = need.sigma_at_least > sigma.get();
            if proven {
                found.verdict = Verdict::Violated;
            } else if found.verdict == Verdict::Met {
                found.verdict = Verdict::NotShown;
            }
        }
        if need.sigma > most {
            most = need.sigma;
            found.tightest = Some(need.pair(scales, sigma)?);
        }
        Ok(())
    })?;
    Ok(found)
}

/// The smallest noise at which every pair loses at most `allowed(u, v)`, rounded up; arguments as in [`check`].
///
/// For gossip with fresh noise the noise is that of round 0 and all others go with it,
/// [`NoiseSchedule::scaled_to`](crate::gossip::NoiseSchedule::scaled_to).
///
/// # Errors
/// [`Error::InvalidParameter`] where `allowed` is negative or NaN, where it is 0 and the pair has a loss, and
/// when it limits no pair that has a loss.
pub fn least_sigma(
    losses: &[LossReport],
    scales: Scales,
    allowed: impl FnMut(usize, usize) -> f64,
) -> Result<LeastNoise, Error> {
    let mut tightest: Option<Need<'_>> = None;
    for_each_need(losses, scales, allowed, |need| {
        if tightest.as_ref().is_none_or(|most| need.sigma > most.sigma) {
            tightest = Some(need);
        }
        Ok(())
    })?;
    let need = tightest.filter(|need| need.sigma > 0.0).ok_or(Error::InvalidParameter {
        name: "the number of pairs with a loss and a limit",
        condition: "be at least 1",
        value: 0.0,
    })?;
    if need.sigma == f64::INFINITY {
        let (name, condition) = ("the loss allowed to a pair that has one", "be positive");
        return Err(Error::InvalidParameter { name, condition, value: need.allowed });
    }
    let sigma = Sigma::new(need.sigma * SLACK)?;
    Ok(LeastNoise { sigma, tightest: need.pair(scales, sigma)? })
}

/// The smallest noise at which the mean Rényi loss over the pairs that `counted(u, v)` selects is at most
/// `target` nats at `order`, rounded up.
///
/// # Errors
/// [`Error::InvalidParameter`] for a target that is not positive and finite, no pair, or pairs without a loss.
pub fn least_sigma_of_mean(
    losses: &[LossReport],
    (order, sensitivity): (Order, Sensitivity),
    target: f64,
    mut counted: impl FnMut(usize, usize) -> bool,
) -> Result<Sigma, Error> {
    let (mut sum, mut count) = (0.0, 0.0);
    for (report, u, unit) in pairs(losses) {
        if counted(u, report.coalition[0]) {
            sum += unit;
            count += 1.0;
        }
    }
    sigma_of_mean(sum / count, count, (order, sensitivity), target)
}

/// The smallest noise at which the mean loss `(1/n) Σ_{u ≠ v} ε(u → v)` towards every observer is at most `target` nats
/// at `order`, rounded up: the mean that *Muffliato* bounds and Table 1 fixes.
///
/// # Errors
/// As [`least_sigma_of_mean`].
pub fn least_sigma_of_observer_means(
    losses: &[LossReport],
    scales: (Order, Sensitivity),
    target: f64,
) -> Result<Sigma, Error> {
    let largest = losses.iter().fold(f64::NAN, |most, report| f64::max(most, *report.mean().value()));
    let nodes = losses.first().map_or(0, |report| report.loss.value().unit.len());
    sigma_of_mean(largest, nodes as f64, scales, target)
}

fn sigma_of_mean(
    mean: f64,
    terms: f64,
    (order, sensitivity): (Order, Sensitivity),
    target: f64,
) -> Result<Sigma, Error> {
    for (name, value) in [("the mean loss allowed", target), ("the mean unit loss of the pairs", mean)] {
        if !(0.0 < value && value.is_finite()) {
            return Err(Error::InvalidParameter { name, condition: "be positive and finite", value });
        }
    }
    // A sum of `terms` numbers loses at most that many roundings.
    let rounding = 1.0 + (terms + 8.0) * f64::EPSILON;
    let ratio = order.get() * mean * rounding / (2.0 * target);
    Ok(Sigma::new(sensitivity.get() * ratio.sqrt() * SLACK)?)
}

/// The noise at which the local loss, which no pair exceeds in gossip, is at most `allowed`: what neighbors ask for.
///
/// # Errors
/// [`Error::InvalidParameter`] unless `allowed` is positive and finite.
pub fn local_sigma(scales: Scales, allowed: f64) -> Result<Sigma, Error> {
    if !(0.0 < allowed && allowed.is_finite()) {
        let (name, condition) = ("the local loss allowed", "be positive and finite");
        return Err(Error::InvalidParameter { name, condition, value: allowed });
    }
    Ok(Sigma::new(scales.sensitivity.get() / scales.measure.largest_mu(allowed)? * SLACK)?)
}

/// Hop distances between all nodes, for targets that depend on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HopDistances(Vec<Vec<Option<u32>>>);

impl HopDistances {
    /// Of all pairs of `graph`.
    ///
    /// # Errors
    /// [`ndp_graph::Error::TooLarge`] when `n²` distances do not fit in memory.
    pub fn new(graph: &Graph) -> Result<Self, Error> {
        let n = graph.node_count();
        require_dense("the distances of all pairs", n, n)?;
        Ok(Self((0..n).map(|u| graph.distances(u)).collect()))
    }

    /// Hops between `u` and `v`; `None` when no path joins them.
    ///
    /// # Panics
    /// When a node is out of range.
    #[must_use]
    pub fn get(&self, u: usize, v: usize) -> Option<u32> {
        self.0[u][v]
    }
}

/// What one pair asks of the noise.
struct Need<'a> {
    report: &'a LossReport,
    source: usize,
    allowed: f64,
    /// Noise at which the loss, as reported, equals the limit.
    sigma: f64,
    /// Less noise than this violates the limit for certain.
    sigma_at_least: f64,
}

impl Need<'_> {
    fn pair(&self, scales: Scales, sigma: Sigma) -> Result<Pair, Error> {
        let unit = self.report.loss.value().unit[self.source];
        let loss = scales.measure.loss(scales.sensitivity.get() / sigma.get() * unit.sqrt())?;
        let loss = match self.report.loss.grade() {
            Grade::Exact => Exact::new(loss).into(),
            _ => UpperBound::new(loss).into(),
        };
        let observer = self.report.coalition[0];
        Ok(Pair { source: self.source, observer, loss, allowed: self.allowed })
    }
}

/// Every source outside the coalition of every report, with its unit loss.
fn pairs(losses: &[LossReport]) -> impl Iterator<Item = (&LossReport, usize, f64)> {
    losses.iter().flat_map(|report| {
        let units = report.loss.value().unit.iter().enumerate();
        let outside = units.filter(|(u, _)| report.coalition.binary_search(u).is_err());
        outside.map(move |(u, &unit)| (report, u, unit))
    })
}

fn for_each_need<'a>(
    losses: &'a [LossReport],
    scales: Scales,
    mut allowed: impl FnMut(usize, usize) -> f64,
    mut visit: impl FnMut(Need<'a>) -> Result<(), Error>,
) -> Result<(), Error> {
    // Targets take few values; the inverse of a Gaussian profile is worth keeping.
    let mut last = (f64::INFINITY, f64::INFINITY);
    for (report, source, unit) in pairs(losses) {
        let allowed = allowed(source, report.coalition[0]);
        // Written so that NaN fails.
        if !(0.0..=f64::INFINITY).contains(&allowed) {
            let (name, condition) = ("the loss allowed to a pair", "be nonnegative");
            return Err(Error::InvalidParameter { name, condition, value: allowed });
        }
        if allowed != last.0 {
            last = (allowed, scales.measure.largest_mu(allowed)?);
        }
        let delta = scales.sensitivity.get();
        let needed = |unit: f64| if unit == 0.0 { 0.0 } else { delta * unit.sqrt() / last.1 };
        let sigma = needed(unit);
        let sigma_at_least = needed(report.lower[source]) * (2.0 - SLACK);
        visit(Need { report, source, allowed, sigma, sigma_at_least })?;
    }
    Ok(())
}

/// Room for the roundings of a square root, a product and two quotients.
const SLACK: f64 = 1.0 + 16.0 * f64::EPSILON;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gossip::{FreshNoiseGossip, NoiseSchedule, SequenceGossip, SynchronousGossip};
    use crate::loss::observer_losses;
    use approx::assert_relative_eq;
    use ndp_graph::{GossipMatrix, GossipSequence, generators};

    fn scales(alpha: f64, sensitivity: f64) -> Result<Scales, Error> {
        Ok(Scales {
            measure: Measure::Renyi(Order::new(alpha)?),
            sensitivity: Sensitivity::new(sensitivity)?,
        })
    }

    /// Hypercube of 4 dimensions: `min(1, 4 / C(4, k))` at distance `k`, so 1, 2/3, 1, 1.
    fn cube() -> Result<(HopDistances, Vec<LossReport>), Error> {
        let graph = generators::hypercube_graph(4)?;
        let gossip = SynchronousGossip::new(GossipMatrix::metropolis(&graph), 6);
        let all: Vec<usize> = (0..16).collect();
        Ok((HopDistances::new(&graph)?, observer_losses(&gossip, &all)?))
    }

    #[test]
    fn least_noise_has_a_formula() -> Result<(), Error> {
        let (hops, losses) = cube()?;
        let scales = scales(3.0, 2.0)?;
        let far = |u: usize, v: usize, k: u32| hops.get(u, v).is_some_and(|d| d == k);
        // α Δ²/(2σ²) · 2/3 = 0.5 at distance 2, nothing else limited.
        let least = least_sigma(&losses, scales, |u, v| if far(u, v, 2) { 0.5 } else { f64::INFINITY })?;
        assert_relative_eq!(least.sigma.get(), 8f64.sqrt(), max_relative = 1e-12);
        assert_eq!(hops.get(least.tightest.source, least.tightest.observer), Some(2));
        assert_relative_eq!(*least.tightest.loss.value(), 0.5, max_relative = 1e-12);
        // f = 2 / distance: the antipode needs most, α Δ²/(2σ²) = 1/2.
        let f = |u: usize, v: usize| hops.get(u, v).map_or(0.0, |d| 2.0 / f64::from(d));
        let least = least_sigma(&losses, scales, f)?;
        assert_relative_eq!(least.sigma.get(), 12f64.sqrt(), max_relative = 1e-12);
        assert_eq!(least.tightest.source ^ least.tightest.observer, 15);
        // Neighbors alone: the local loss.
        let least = least_sigma(&losses, scales, |u, v| if far(u, v, 1) { 1.5 } else { f64::INFINITY })?;
        assert_relative_eq!(least.sigma.get(), local_sigma(scales, 1.5)?.get(), max_relative = 1e-12);
        // Means: 4 + 6 · 2/3 + 4 + 1 = rank - 1 = 13 per observer.
        let (order, sensitivity) = (Order::new(3.0)?, Sensitivity::new(2.0)?);
        let mean = least_sigma_of_observer_means(&losses, (order, sensitivity), 0.3)?;
        assert_relative_eq!(mean.get(), (6.0 * 13.0 / 16.0 / 0.3f64).sqrt(), max_relative = 1e-12);
        let mean = least_sigma_of_mean(&losses, (order, sensitivity), 0.3, |u, v| !far(u, v, 1))?;
        assert_relative_eq!(mean.get(), (6.0 * 9.0 / 11.0 / 0.3f64).sqrt(), max_relative = 1e-12);
        Ok(())
    }

    /// For every protocol and measure: at the least noise the target is met, at a little less it is violated.
    #[test]
    fn least_noise_is_the_boundary() -> Result<(), Error> {
        let graph = generators::grid_2d_graph(3, 4)?;
        let hops = HopDistances::new(&graph)?;
        let matrix = GossipMatrix::metropolis(&graph);
        let all: Vec<usize> = (0..12).collect();
        let plain = SynchronousGossip::new(matrix.clone(), 2);
        let fresh = FreshNoiseGossip::new(matrix, NoiseSchedule::flat(Sigma::new(1.0)?, 5, 0.4)?);
        let pairs: Vec<(usize, usize)> = graph.edges().chain(graph.edges()).collect();
        let random = SequenceGossip::new(GossipSequence::given_activations(&graph, &pairs)?);
        let f = |u: usize, v: usize| hops.get(u, v).map_or(f64::INFINITY, |d| 2f64.powi(1 - d as i32));
        for losses in
            [observer_losses(&plain, &all)?, observer_losses(&fresh, &all)?, observer_losses(&random, &all)?]
        {
            for measure in
                [Measure::Renyi(Order::new(1.5)?), Measure::Gaussian, Measure::Approx(Delta::new(1e-5)?)]
            {
                let scales = Scales { measure, sensitivity: Sensitivity::new(0.7)? };
                let least = least_sigma(&losses, scales, f)?;
                let tightest = least.tightest;
                assert_relative_eq!(*tightest.loss.value(), tightest.allowed, max_relative = 1e-9);
                let met = check(&losses, scales, least.sigma, f)?;
                assert!(met.is_met() && met.exceeding == 0);
                assert_eq!(met.tightest, Some(tightest));
                let less = Sigma::new(least.sigma.get() * (1.0 - 1e-6))?;
                let violated = check(&losses, scales, less, f)?;
                assert_eq!(violated.verdict, Verdict::Violated);
                assert!(violated.exceeding >= 1);
                // By definition, pair by pair.
                for report in &losses {
                    for u in (0..12).filter(|u| !report.coalition.contains(u)) {
                        let unit = report.unit(u)?;
                        let loss = match measure {
                            Measure::Renyi(order) => unit.rdp(order, scales.sensitivity, least.sigma),
                            Measure::Gaussian => unit.mu(scales.sensitivity, least.sigma),
                            Measure::Approx(delta) => {
                                let gdp = unit.gdp(scales.sensitivity, least.sigma);
                                gdp.to_approx_dp(delta).into_value().epsilon()
                            }
                        };
                        assert!(loss <= f(u, report.coalition[0]) * (1.0 + 1e-9));
                    }
                }
            }
        }
        Ok(())
    }

    /// A bound that exceeds the target does not prove that the truth does.
    #[test]
    fn bounds_that_exceed_show_nothing() -> Result<(), Error> {
        let loss = ndp_dp::ObserverLoss { observer: 0, unit: vec![1.0, 0.5] };
        let bound = UpperBound::new(loss).into();
        let mut report = LossReport::of_formula(vec![0], bound, 2);
        report.lower = vec![1.0, 0.3];
        let scales = scales(2.0, 1.0)?;
        let verdict = |allowed: f64| -> Result<Verdict, Error> {
            Ok(check(std::slice::from_ref(&report), scales, Sigma::new(1.0)?, |_, _| allowed)?.verdict)
        };
        assert_eq!(verdict(0.5)?, Verdict::Met);
        assert_eq!(verdict(0.4)?, Verdict::NotShown);
        assert_eq!(verdict(0.2)?, Verdict::Violated);
        Ok(())
    }

    #[test]
    fn bad_targets_are_refused() -> Result<(), Error> {
        let (_, losses) = cube()?;
        let scales = scales(2.0, 1.0)?;
        let sigma = Sigma::new(1.0)?;
        for bad in [-1.0, f64::NAN, f64::NEG_INFINITY] {
            assert!(matches!(least_sigma(&losses, scales, |_, _| bad), Err(Error::InvalidParameter { .. })));
            assert!(matches!(check(&losses, scales, sigma, |_, _| bad), Err(Error::InvalidParameter { .. })));
        }
        // No limit, no losses, or no noise that is enough.
        assert!(least_sigma(&losses, scales, |_, _| f64::INFINITY).is_err());
        assert!(least_sigma(&[], scales, |_, _| 1.0).is_err());
        assert!(least_sigma(&losses, scales, |_, _| 0.0).is_err());
        assert!(check(&losses, scales, sigma, |_, _| f64::INFINITY)?.is_met());
        assert_eq!(check(&losses, scales, sigma, |_, _| 0.0)?.verdict, Verdict::Violated);
        let mean = (Order::new(2.0)?, Sensitivity::new(1.0)?);
        assert!(least_sigma_of_mean(&losses, mean, 1.0, |_, _| false).is_err());
        assert!(least_sigma_of_observer_means(&[], mean, 1.0).is_err());
        for bad in [0.0, -1.0, f64::INFINITY, f64::NAN] {
            assert!(least_sigma_of_mean(&losses, mean, bad, |_, _| true).is_err());
            assert!(least_sigma_of_observer_means(&losses, mean, bad).is_err());
            assert!(local_sigma(scales, bad).is_err());
        }
        Ok(())
    }
}
