//! The least noise of gossip for a pairwise target when the number of rounds depends on the noise.
//!
//! The stopping rule asks for fewer rounds when there is more noise, and exact losses grow with the rounds.
//! With `σ(T)` the noise that the target needs after `T` rounds (it never decreases) and `T(σ)` the rounds
//! that the rule asks for (they never increase), the least noise is at their crossing.

use super::exact::{ExactOptions, exact_loss};
use super::utility::{Convergence, error_bound, stopping_rounds};
use ndp_account::parts::ensure;
use ndp_account::{Account, Error, LossReport, Target, least_noise};
use ndp_dp::{Sensitivity, Sigma, UpperBound};
use ndp_graph::GossipMatrix;
use ndp_linalg::memory::require_dense;
use rayon::prelude::*;

/// The noise and the number of rounds that meet a target, and the losses and the error that follow.
///
/// Found by [`calibrate()`] and by [`MeanBudget::calibrate`](super::table1::MeanBudget::calibrate).
///
/// # Examples
/// ```
/// use ndp_account::Target;
/// use ndp_algos::gossip::{ExactOptions, GossipPlan, calibrate, utility::Convergence};
/// use ndp_dp::{Measure, Sensitivity};
/// use ndp_graph::{GossipMatrix, generators::complete_graph, spectrum::extremes};
/// let matrix = GossipMatrix::metropolis(&complete_graph(8)?);
/// let rule = (Convergence::Plain(extremes(&matrix)?.gap_abs()?.min(1.0)), 0.25);
/// let target = Target::mean(Measure::Gaussian, 1.0);
/// let asked = (&target, Sensitivity::new(1.0)?);
/// let GossipPlan { rounds, losses, .. } = calibrate(&matrix, &[0], rule, ExactOptions::default(), asked)?;
/// assert!(rounds >= 1 && losses.len() == 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GossipPlan {
    /// Standard deviation of the noise of each node.
    pub sigma: Sigma,
    /// Number of rounds `T`.
    pub rounds: usize,
    /// What the observers learn in `T` rounds; empty if the mean loss is bounded by the number of messages
    /// instead.
    pub losses: Vec<LossReport>,
    /// An upper bound on the error `(1/n) Σ_v E (x_v^T - x̄)²`.
    pub error: UpperBound<f64>,
}

/// The least noise of synchronous gossip with `matrix` at which the losses of `observers` meet a target
/// and the number of rounds obeys the stopping rule.
///
/// For a given number of rounds, [`least_noise`] finds the noise from the losses, in units of `sensitivity`.
/// On a graph whose nodes are all alike one observer is enough. `spread` is an upper bound on `D = (1/n) Σ_v
/// ‖x_v - x̄‖²`.
///
/// # Errors
/// Those of [`least_noise`], of [`stopping_rounds`] and of [`exact_loss`]; [`Error::InvalidParameter`] for
/// randomized gossip, whose loss depends on the edges drawn, and for no observer.
///
/// # Complexity
/// About `log₂ T` times the exact losses of all observers.
///
/// # Examples
/// ```
/// use ndp_account::Target;
/// use ndp_algos::gossip::{ExactOptions, calibrate, utility::Convergence};
/// use ndp_dp::{Measure, Order, Sensitivity};
/// use ndp_graph::{GossipMatrix, generators, spectrum::extremes};
/// let matrix = GossipMatrix::metropolis(&generators::hypercube_graph(5)?);
/// let far = |u: usize, v: usize| if (u ^ v).count_ones() == 2 { 0.5 } else { f64::INFINITY };
/// let target = Target::pairs(Measure::Renyi(Order::new(2.0)?), far);
/// let rule = (Convergence::Accelerated(extremes(&matrix)?.gap_abs()?), 0.25);
/// let plan = calibrate(&matrix, &[0], rule, ExactOptions::default(), (&target, Sensitivity::new(1.0)?))?;
/// // Half of the local loss 1/σ² at distance 2: σ = 1.
/// assert!((plan.sigma.get() - 1.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn calibrate(
    matrix: &GossipMatrix,
    observers: &[usize],
    (convergence, spread): (Convergence, f64),
    options: ExactOptions,
    (target, sensitivity): (&Target, Sensitivity),
) -> Result<GossipPlan, Error> {
    let n = matrix.node_count();
    ensure(!observers.is_empty(), "the number of observers", "be at least 1", 0.0)?;
    if let Convergence::Randomized(value) | Convergence::AcceleratedRandomized(value) = convergence {
        let (name, condition) = ("the convergence", "be that of a fixed matrix: losses depend on the edges");
        return Err(Error::InvalidParameter { name, condition, value });
    }
    require_dense("the losses towards all observers", observers.len(), n)?;
    let rule = |sigma: Sigma| stopping_rounds(n, convergence, sigma, spread);
    let at = |rounds: usize| -> Result<(Sigma, Vec<LossReport>), Error> {
        let losses: Vec<LossReport> = observers
            .par_iter()
            .map(|&v| exact_loss((matrix, rounds), &[v], options))
            .collect::<Result<_, Error>>()?;
        Ok((needed(&losses, target, sensitivity)?, losses))
    };
    let plan = |sigma: Sigma, rounds: usize, losses: Vec<LossReport>| {
        let error = error_bound(rounds, n, convergence, sigma, spread)?;
        Ok(GossipPlan { sigma, rounds, losses, error })
    };

    // The number of rounds that the rule asks for at the largest noise. It never asks for fewer.
    let mut low = rule(Sigma::new(f64::MAX.sqrt())?)?;
    let (sigma, losses) = at(low)?;
    let mut high = rule(sigma)?;
    if high <= low {
        return plan(sigma, low, losses);
    }
    // `low` rounds are fewer than the rule asks for at the noise that they need; `high` rounds are enough for
    // theirs.
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
    // The other candidate has slightly more noise than `low` rounds need, so that the rule asks for no more
    // rounds.
    let content = least_content(|sigma| Ok(rule(sigma)? <= low), enough)?;
    match content {
        Some(sigma) if sigma < enough => plan(sigma, low, fewer),
        _ => plan(enough, high, more),
    }
}

/// The noise at which these losses meet the target.
fn needed(losses: &[LossReport], target: &Target, sensitivity: Sensitivity) -> Result<Sigma, Error> {
    let accounts: Vec<Box<dyn Account>> = losses.iter().cloned().map(Into::into).collect();
    Ok(least_noise(&accounts, target)?.noise.sigma(sensitivity)?)
}

/// The least noise below `most` that `holds`, up to its last digits; `None` if there is none.
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
    use ndp_account::check;
    use ndp_dp::{Measure, Order, Verdict};
    use ndp_graph::spectrum::extremes;
    use ndp_graph::{Graph, generators};

    fn graphs() -> Result<Vec<Graph>, Error> {
        Ok(vec![
            generators::cycle_graph(12)?,
            generators::grid_2d_graph(4, 4)?,
            generators::hypercube_graph(4)?,
        ])
    }

    /// Compared with a scan over every number of rounds.
    #[test]
    fn the_crossing_is_the_least_noise() -> Result<(), Error> {
        let sensitivity = Sensitivity::new(1.0)?;
        for graph in graphs()? {
            let matrix = GossipMatrix::metropolis(&graph);
            let n = graph.node_count();
            let all: Vec<usize> = (0..n).collect();
            let rule = (Convergence::Accelerated(extremes(&matrix)?.gap_abs()?), 0.25);
            for target in [0.01, 1.0, 40.0] {
                let around = graph.clone();
                let f = move |u: usize, v: usize| {
                    if around.neighbors(v).contains(&(u as u32)) { f64::INFINITY } else { target }
                };
                let target = Target::pairs(Measure::Renyi(Order::new(2.0)?), f);
                let plan = calibrate(&matrix, &all, rule, ExactOptions::default(), (&target, sensitivity))?;
                assert!(stopping_rounds(n, rule.0, plan.sigma, 0.25)? <= plan.rounds);
                let accounts: Vec<Box<dyn Account>> = plan.losses.iter().cloned().map(Into::into).collect();
                let noise = ndp_dp::NoiseMultiplier::new(plan.sigma.get())?;
                assert_eq!(check(&accounts, noise, &target)?.verdict, Verdict::Met);
                assert!(*plan.error.value() <= 6.0 * plan.sigma.get().powi(2) / n as f64 * (1.0 + 1e-12));
                for rounds in 2..40 {
                    let losses: Vec<LossReport> = all
                        .iter()
                        .map(|&v| exact_loss((&matrix, rounds), &[v], ExactOptions::default()))
                        .collect::<Result<_, Error>>()?;
                    let least = needed(&losses, &target, sensitivity)?;
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

    /// The exact mean needs no more noise than the bound from the number of messages.
    #[test]
    fn exact_means_need_less_than_counted_messages() -> Result<(), Error> {
        let (order, sensitivity) = (Order::new(2.0)?, Sensitivity::new(1.0)?);
        for graph in graphs()? {
            let matrix = GossipMatrix::metropolis(&graph);
            let (n, gap) = (graph.node_count(), extremes(&matrix)?.gap_abs()?);
            let all: Vec<usize> = (0..n).collect();
            let rule = (Convergence::Accelerated(gap), 0.25);
            let target = Target::mean(Measure::Renyi(order), 1.0);
            let plan = calibrate(&matrix, &all, rule, ExactOptions::default(), (&target, sensitivity))?;
            let budget =
                super::super::table1::MeanBudget { nodes: n, order, sensitivity, epsilon: 1.0, spread: 0.25 };
            let degree = (0..n).map(|v| graph.degree(v)).max().expect("a node");
            assert!(
                plan.sigma.get()
                    <= budget.calibrate(Convergence::Accelerated(gap), degree as f64)?.sigma.get()
                        * (1.0 + 1e-12)
            );
            for report in &plan.losses {
                assert!(*report.mean().value() <= plan.sigma.get().powi(2) * (1.0 + 1e-12));
            }
        }
        Ok(())
    }

    #[test]
    fn bad_arguments_are_refused() -> Result<(), Error> {
        let matrix = GossipMatrix::metropolis(&generators::cycle_graph(6)?);
        let target = (&Target::worst(Measure::Gaussian, 1.0), Sensitivity::new(1.0)?);
        let run =
            |observers: &[usize], rule| calibrate(&matrix, observers, rule, ExactOptions::default(), target);
        let found = run(&[], (Convergence::Accelerated(0.5), 0.25));
        assert!(matches!(found, Err(Error::InvalidParameter { name: "the number of observers", .. })));
        let found = run(&[6], (Convergence::Accelerated(0.5), 0.25));
        assert!(matches!(found, Err(Error::NodeOutOfRange { node: 6, nodes: 6 })));
        let found = run(&[0], (Convergence::Accelerated(0.0), 0.25));
        assert!(matches!(found, Err(Error::InvalidParameter { name: "the spectral gap", .. })));
        let unbounded = run(&[0], (Convergence::Plain(0.5), f64::NAN));
        assert!(matches!(unbounded, Err(Error::InvalidParameter { name: "the spread of the inputs", .. })));
        let found = run(&[0], (Convergence::Randomized(0.5), 0.25));
        assert!(matches!(found, Err(Error::InvalidParameter { name: "the convergence", .. })));
        Ok(())
    }
}
