//! The least noise of gossip for a pairwise target when the number of rounds depends on the noise.
//!
//! The stopping rule asks for fewer rounds when there is more noise, and exact losses grow with the rounds. With
//! `σ(T)` the noise that the target needs after `T` rounds (it never decreases) and `T(σ)` the rounds that
//! the rule asks for (they never increase), the least noise is at their crossing.

use super::exact::{ExactOptions, exact_loss};
use super::utility::{Convergence, error_bound, stopping_rounds};
use crate::{Error, LossReport};
use ndp_dp::{Sigma, UpperBound};
use ndp_graph::GossipMatrix;
use ndp_graph::memory::require_dense;
use rayon::prelude::*;

/// Noise and rounds that meet a target, and what they cost.
#[derive(Clone, Debug, PartialEq)]
pub struct GossipPlan {
    /// Standard deviation of the noise of each node.
    pub sigma: Sigma,
    /// Number of rounds `T`.
    pub rounds: usize,
    /// What the observers learn in `T` rounds.
    pub losses: Vec<LossReport>,
    /// The error `(1/n) Σ_v E (x_v^T - x̄)²`, at most.
    pub error: UpperBound<f64>,
}

/// The least noise of synchronous gossip with `matrix` at which the losses of `observers` meet a target
/// and the number of rounds obeys the stopping rule.
///
/// `needed` is the noise that the losses of a given number of rounds need: a function of
/// [`target`](crate::target), mostly [`least_sigma`](crate::target::least_sigma) or
/// [`least_sigma_of_observer_means`](crate::target::least_sigma_of_observer_means). On a graph whose nodes are all alike one
/// observer is enough. `spread` is `D = (1/n) Σ_v ‖x_v - x̄‖²`, at most.
///
/// # Errors
/// Those of `needed`, of [`stopping_rounds`] and of [`exact_loss`]; [`Error::InvalidParameter`] for randomized
/// gossip, whose loss depends on the edges drawn, and for no observer.
///
/// # Complexity
/// About `log₂ T` times the exact losses of all observers.
///
/// # Examples
/// ```
/// use ndp_algos::gossip::{ExactOptions, calibrate, utility::Convergence};
/// use ndp_algos::target::{Measure, Scales, least_sigma};
/// use ndp_graph::{GossipMatrix, generators, spectrum::gap_abs};
/// let matrix = GossipMatrix::metropolis(&generators::hypercube_graph(5)?);
/// let scales = Scales { measure: Measure::Renyi(ndp_dp::Order::new(2.0)?), sensitivity: ndp_dp::Sensitivity::new(1.0)? };
/// let far = |u: usize, v: usize| if (u ^ v).count_ones() == 2 { 0.5 } else { f64::INFINITY };
/// let rule = (Convergence::Accelerated(gap_abs(&matrix)?), 0.25);
/// let plan = calibrate(&matrix, &[0], rule, ExactOptions::default(), |losses| {
///     Ok(least_sigma(losses, scales, far)?.sigma)
/// })?;
/// // Half of the local loss 1/σ² at distance 2: σ = 1.
/// assert!((plan.sigma.get() - 1.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn calibrate(
    matrix: &GossipMatrix,
    observers: &[usize],
    (convergence, spread): (Convergence, f64),
    options: ExactOptions,
    mut needed: impl FnMut(&[LossReport]) -> Result<Sigma, Error>,
) -> Result<GossipPlan, Error> {
    let n = matrix.node_count();
    if observers.is_empty() {
        let (name, condition) = ("the number of observers", "be at least 1");
        return Err(Error::InvalidParameter { name, condition, value: 0.0 });
    }
    if let Convergence::Randomized(value) | Convergence::AcceleratedRandomized(value) = convergence {
        let (name, condition) = ("the convergence", "be that of a fixed matrix: losses depend on the edges");
        return Err(Error::InvalidParameter { name, condition, value });
    }
    require_dense("the losses towards all observers", observers.len(), n)?;
    let rule = |sigma: Sigma| stopping_rounds(n, convergence, sigma, spread);
    let mut at = |rounds: usize| -> Result<(Sigma, Vec<LossReport>), Error> {
        let losses: Vec<LossReport> = observers
            .par_iter()
            .map(|&v| exact_loss(matrix, v, rounds, options))
            .collect::<Result<_, Error>>()?;
        Ok((needed(&losses)?, losses))
    };
    let plan = |sigma: Sigma, rounds: usize, losses: Vec<LossReport>| {
        let error = error_bound(rounds, n, convergence, sigma, spread)?;
        Ok(GossipPlan { sigma, rounds, losses, error })
    };

    // No noise makes fewer rounds enough than these.
    let mut low = rule(Sigma::new(f64::MAX.sqrt())?)?;
    let (sigma, losses) = at(low)?;
    let mut high = rule(sigma)?;
    if high <= low {
        return plan(sigma, low, losses);
    }
    // `low` rounds are too few for the noise they need; `high` rounds are enough for theirs.
    let mut fewer = losses;
    let (mut enough, mut more) = at(high)?;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        let (sigma, losses) = at(middle)?;
        if rule(sigma)? <= middle {
            (high, enough, more) = (middle, sigma, losses);
        } else {
            (low, fewer) = (middle, losses);
        }
    }
    // Or a little more noise than `low` rounds need, so that the rule is content with them.
    let content = least_content(|sigma| Ok(rule(sigma)? <= low), enough)?;
    match content {
        Some(sigma) if sigma < enough => plan(sigma, low, fewer),
        _ => plan(enough, high, more),
    }
}

/// The least noise below `most` that `holds`, to the last digit but one; `None` when none does.
fn least_content(holds: impl Fn(Sigma) -> Result<bool, Error>, most: Sigma) -> Result<Option<Sigma>, Error> {
    if !holds(most)? {
        return Ok(None);
    }
    let (mut fails, mut verified) = (f64::MIN_POSITIVE, most.get());
    while verified - fails > 4.0 * f64::EPSILON * verified {
        let middle = f64::from_bits(fails.to_bits() + (verified.to_bits() - fails.to_bits()) / 2);
        if holds(Sigma::new(middle)?)? { verified = middle } else { fails = middle }
    }
    Ok(Some(Sigma::new(verified)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::{Measure, Scales, check, least_sigma, least_sigma_of_observer_means};
    use ndp_dp::{Order, Sensitivity};
    use ndp_graph::spectrum::gap_abs;
    use ndp_graph::{Graph, generators};

    fn graphs() -> Result<Vec<Graph>, Error> {
        Ok(vec![
            generators::cycle_graph(12)?,
            generators::grid_2d_graph(4, 4)?,
            generators::hypercube_graph(4)?,
        ])
    }

    /// Against a scan over every number of rounds.
    #[test]
    fn the_crossing_is_the_least_noise() -> Result<(), Error> {
        let scales =
            Scales { measure: Measure::Renyi(Order::new(2.0)?), sensitivity: Sensitivity::new(1.0)? };
        for graph in graphs()? {
            let matrix = GossipMatrix::metropolis(&graph);
            let n = graph.node_count();
            let all: Vec<usize> = (0..n).collect();
            let rule = (Convergence::Accelerated(gap_abs(&matrix)?), 0.25);
            for target in [0.01, 1.0, 40.0] {
                let f = |u: usize, v: usize| {
                    if graph.neighbors(v).contains(&(u as u32)) { f64::INFINITY } else { target }
                };
                let need = |losses: &[LossReport]| Ok(least_sigma(losses, scales, f)?.sigma);
                let plan = calibrate(&matrix, &all, rule, ExactOptions::default(), need)?;
                assert!(stopping_rounds(n, rule.0, plan.sigma, 0.25)? <= plan.rounds);
                assert!(check(&plan.losses, scales, plan.sigma, f)?.is_met());
                assert!(*plan.error.value() <= 6.0 * plan.sigma.get().powi(2) / n as f64 * (1.0 + 1e-12));
                for rounds in 2..40 {
                    let losses: Vec<LossReport> = all
                        .iter()
                        .map(|&v| exact_loss(&matrix, v, rounds, ExactOptions::default()))
                        .collect::<Result<_, Error>>()?;
                    let least = need(&losses)?;
                    let content = least_content(
                        |s| Ok(stopping_rounds(n, rule.0, s, 0.25)? <= rounds),
                        Sigma::new(1e6)?,
                    )?;
                    if let Some(content) = content {
                        let best = content.get().max(least.get());
                        assert!(plan.sigma.get() <= best * (1.0 + 1e-12), "{rounds} rounds: {best}");
                    }
                }
            }
        }
        Ok(())
    }

    /// The exact mean needs no more noise than the bound by the number of messages.
    #[test]
    fn exact_means_need_less_than_counted_messages() -> Result<(), Error> {
        let (order, sensitivity) = (Order::new(2.0)?, Sensitivity::new(1.0)?);
        for graph in graphs()? {
            let matrix = GossipMatrix::metropolis(&graph);
            let (n, gap) = (graph.node_count(), gap_abs(&matrix)?);
            let all: Vec<usize> = (0..n).collect();
            let rule = (Convergence::Accelerated(gap), 0.25);
            let plan = calibrate(&matrix, &all, rule, ExactOptions::default(), |losses| {
                least_sigma_of_observer_means(losses, (order, sensitivity), 1.0)
            })?;
            let budget =
                super::super::table1::MeanBudget { nodes: n, order, sensitivity, epsilon: 1.0, spread: 0.25 };
            let degree = (0..n).map(|v| graph.degree(v)).max().expect("a node");
            assert!(plan.sigma.get() <= budget.synchronous(gap, degree)?.sigma.get() * (1.0 + 1e-12));
            for report in &plan.losses {
                assert!(*report.mean().value() <= plan.sigma.get().powi(2) * (1.0 + 1e-12));
            }
        }
        Ok(())
    }

    #[test]
    fn bad_arguments_are_refused() -> Result<(), Error> {
        let matrix = GossipMatrix::metropolis(&generators::cycle_graph(6)?);
        let need = |_: &[LossReport]| Ok(Sigma::new(1.0)?);
        let run =
            |observers: &[usize], rule| calibrate(&matrix, observers, rule, ExactOptions::default(), need);
        assert!(run(&[], (Convergence::Accelerated(0.5), 0.25)).is_err());
        assert!(run(&[6], (Convergence::Accelerated(0.5), 0.25)).is_err());
        assert!(run(&[0], (Convergence::Accelerated(0.0), 0.25)).is_err());
        assert!(run(&[0], (Convergence::Plain(0.5), f64::NAN)).is_err());
        assert!(run(&[0], (Convergence::Randomized(0.5), 0.25)).is_err());
        Ok(())
    }
}
