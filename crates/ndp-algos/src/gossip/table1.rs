//! Table 1 with its constants: how well gossip averages within a budget for the mean loss.
//!
//! The mean loss `(1/n) Σ_u ε(u → v)` of gossip is at most `c₀ T_v / n` with `T_v` messages received, which
//! holds for the exact loss. Setting this bound to `ε` gives the noise, and the stopping rule gives the
//! number of rounds.

use super::calibrate::GossipPlan;
use super::utility::{Convergence, stopping_rounds};
use ndp_account::Error;
use ndp_account::parts::ensure;
use ndp_dp::{Order, Sensitivity, Sigma, UpperBound};
use ndp_numeric::rounding::Interval;

/// The mean loss that is allowed, on `n` nodes.
///
/// # Examples
/// ```
/// use ndp_algos::gossip::table1::MeanBudget;
/// use ndp_algos::gossip::utility::Convergence;
/// use ndp_dp::{Order, Sensitivity};
/// let (order, sensitivity) = (Order::new(2.0)?, Sensitivity::new(1.0)?);
/// let budget = MeanBudget { nodes: 64, order, sensitivity, epsilon: 1.0, spread: 0.25 };
/// let error = budget.calibrate(Convergence::Accelerated(2.0 / 7.0), 6.0)?.error.into_value();
/// // Everyone alone has α Δ²/(2 n ε), a trusted curator who releases the noisy mean the n-th part of it.
/// let alone = 2.0 / (2.0 * 64.0);
/// assert!(alone / 64.0 < error);
/// # Ok::<(), ndp_account::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanBudget {
    /// Number of nodes `n`.
    pub nodes: usize,
    /// Order `α` of the Rényi losses.
    pub order: Order,
    /// Sensitivity `Δ` of an input.
    pub sensitivity: Sensitivity,
    /// The mean loss `ε` allowed towards any observer, in nats.
    pub epsilon: f64,
    /// An upper bound on the spread `D = (1/n) Σ_v ‖x_v - x̄‖²` of the inputs; the papers take 0.25.
    pub spread: f64,
}

impl MeanBudget {
    /// The noise and the rounds within the budget: `σ² = α Δ² m T / (2 n ε)` if an observer receives `m`
    /// messages per round.
    ///
    /// * Algorithm 1, accelerated, on a graph of largest degree `d`: with [`Convergence::Accelerated`] and
    ///   `m = d`, the error is at most `6 σ²/n`. Against a coalition with `d` neighbors outside, the mean
    ///   over all nodes, members counted as 0, is at most `ε` (Corollary 4 with the variance that its proof
    ///   needs).
    /// * Algorithm 2, if every node takes part in a step with probability at most `m`: with
    ///   [`Convergence::Randomized`] the mean loss is at most `ε` in expectation over the edges drawn, and
    ///   the error is at most `4 σ²/n`.
    ///
    /// Plain gossip has an error of at most `3 σ²/n`, and accelerated randomized gossip one of at most `5
    /// σ²/n`. Losses are not computed here: those of the plan are empty.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a budget or a number of messages that is not positive and finite, and
    /// for a probability above 1; those of [`stopping_rounds`].
    pub fn calibrate(&self, convergence: Convergence, messages: f64) -> Result<GossipPlan, Error> {
        let (most, factor) = match convergence {
            Convergence::Accelerated(_) => (f64::MAX, 6.0),
            Convergence::Plain(_) => (f64::MAX, 3.0),
            Convergence::Randomized(_) => (1.0, 4.0),
            Convergence::AcceleratedRandomized(_) => (1.0, 5.0),
        };
        ensure(
            0.0 < messages && messages <= most,
            "the number of messages of a round",
            "be positive, and at most 1 for a probability to take part in a step",
            messages,
        )?;
        self.crossing(convergence, messages, factor)
    }

    /// `α / (2 ε)`: the variance of one release of loss `ε`, in units of `Δ²`, which itself may underflow or
    /// overflow.
    fn release_variance(&self) -> Result<Interval, Error> {
        ensure(
            0.0 < self.epsilon && self.epsilon.is_finite(),
            "the mean loss allowed",
            "be positive and finite",
            self.epsilon,
        )?;
        ensure(self.nodes >= 2, "the number of nodes", "be at least 2", self.nodes as f64)?;
        Ok(Interval::new(self.order.get()) / (Interval::new(2.0) * Interval::new(self.epsilon)))
    }

    /// The least variance with `variance ≥ per_round · T(variance)`. The right side does not increase, so
    /// that there is one crossing. The upper end of the search is returned, which is on the safe side.
    fn crossing(
        &self,
        convergence: Convergence,
        messages_per_round: f64,
        factor: f64,
    ) -> Result<GossipPlan, Error> {
        let nodes = Interval::count(self.nodes as u64);
        let per_round = self.release_variance()? * Interval::new(messages_per_round) / nodes;
        let delta = Interval::new(self.sensitivity.get());
        // Variances are in units of Δ²; the noise is rounded up.
        let noise = |variance: f64| Sigma::new((Interval::new(variance).sqrt() * delta).high().min(f64::MAX));
        let needed = |variance: f64| -> Result<(f64, usize), Error> {
            let rounds = stopping_rounds(self.nodes, convergence, noise(variance)?, self.spread)?;
            Ok(((per_round * Interval::count(rounds as u64)).high(), rounds))
        };
        // At the largest noise the spread does not matter, and the number of rounds is the smallest possible
        // one.
        let mut low = needed(f64::MAX.sqrt())?.0;
        let mut high = needed(low)?.0.max(low);
        for _ in 0..2000 {
            let middle = low + (high - low) / 2.0;
            if middle <= low || middle >= high {
                break;
            }
            if needed(middle)?.0 <= middle {
                high = middle;
            } else {
                low = middle;
            }
        }
        if needed(low)?.0 <= low {
            high = low;
        }
        let sigma = noise(high)?;
        let error = Interval::new(factor) * (Interval::new(sigma.get()) * Interval::new(sigma.get())) / nodes;
        let rounds = needed(high)?.1;
        Ok(GossipPlan { sigma, rounds, losses: Vec::new(), error: UpperBound::new(error.high()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gossip::{GossipProtocol, SynchronousGossip};
    use approx::assert_relative_eq;
    use ndarray::Array2;
    use ndp_graph::chebyshev::Chebyshev;
    use ndp_graph::spectrum::extremes;
    use ndp_graph::{GossipMatrix, generators};

    fn budget(nodes: usize, epsilon: f64) -> Result<MeanBudget, Error> {
        let (order, sensitivity) = (Order::new(2.0)?, Sensitivity::new(1.0)?);
        Ok(MeanBudget { nodes, order, sensitivity, epsilon, spread: 0.25 })
    }

    /// The noise meets the budget and is the least one that does, and the exact error is within the bound.
    #[test]
    fn calibrated_gossip_stays_within_its_budget() -> Result<(), Error> {
        for (graph, epsilon) in [
            (generators::hypercube_graph(6)?, 1.0),
            (generators::cycle_graph(16)?, 0.01),
            (generators::cycle_graph(16)?, 50.0),
        ] {
            let (n, d) = (graph.node_count(), graph.degree(0));
            let matrix = GossipMatrix::metropolis(&graph);
            let gap = extremes(&matrix)?.gap_abs()?;
            let budget = budget(n, epsilon)?;
            let found = budget.calibrate(Convergence::Accelerated(gap), d as f64)?;
            let mean_loss = |sigma: f64, rounds: usize| (d * rounds) as f64 / (sigma * sigma * n as f64);
            assert!(mean_loss(found.sigma.get(), found.rounds) <= epsilon);
            let less = Sigma::new(found.sigma.get() * (1.0 - 1e-9))?;
            let rounds = stopping_rounds(n, Convergence::Accelerated(gap), less, 0.25)?;
            assert!(mean_loss(less.get(), rounds) > epsilon);
            // Half ones and half zeros have a spread of exactly 0.25.
            let values = Array2::from_shape_fn((n, 1), |(v, _)| f64::from(u8::from(2 * v < n)));
            let gossip = SynchronousGossip::new(matrix, found.rounds);
            let gossip = gossip.accelerated(Chebyshev::published(gap)?.g())?;
            assert!(gossip.mean_squared_error(values.view(), found.sigma)?.value() <= found.error.value());
            let curator = alone(&budget) / budget.nodes as f64;
            assert!(curator < *found.error.value());
        }
        Ok(())
    }

    /// `Δ² = 1e-320` has only three digits, by which the noise was once up to a thousandth too small. In
    /// units of `Δ` the loss is a quotient of ordinary numbers.
    #[test]
    fn tiny_sensitivities_stay_within_their_budget() -> Result<(), Error> {
        for scale in [1e-165, 1e-160, 1e-150, 1e-10, 1.0, 1e150] {
            for (nodes, degree, epsilon) in [(64, 6, 1.0), (7, 2, 0.3), (1000, 3, 1e-5)] {
                let budget = MeanBudget { sensitivity: Sensitivity::new(scale)?, ..budget(nodes, epsilon)? };
                let found = budget.calibrate(Convergence::Accelerated(0.2), f64::from(degree))?;
                let multiplier = found.sigma.get() / scale;
                let loss = f64::from(degree) * found.rounds as f64 / (multiplier * multiplier * nodes as f64);
                assert!(
                    loss <= epsilon * (1.0 + 4.0 * f64::EPSILON),
                    "{scale} {nodes}: {loss} above {epsilon}"
                );
                assert!(loss >= epsilon * (1.0 - 1e-9), "{scale} {nodes}: {loss} far below {epsilon}");
            }
        }
        Ok(())
    }

    /// The error if every node releases its value with its own noise, at the same local loss: `α Δ² / (2 n
    /// ε)`.
    fn alone(budget: &MeanBudget) -> f64 {
        let variance = budget.sensitivity.get().powi(2) * budget.order.get() / (2.0 * budget.epsilon);
        variance / budget.nodes as f64
    }

    #[test]
    fn baselines() -> Result<(), Error> {
        let budget = budget(64, 1.0)?;
        assert_relative_eq!(alone(&budget), 1.0 / 64.0);
        let randomized = budget.calibrate(Convergence::Randomized(2.0 / 64.0), 2.0 / 64.0)?;
        assert!(*randomized.error.value() > alone(&budget) / budget.nodes as f64);
        Ok(())
    }

    #[test]
    fn bad_budgets_are_refused() -> Result<(), Error> {
        for epsilon in [0.0, -1.0, f64::INFINITY, f64::NAN] {
            let found = budget(64, epsilon)?.calibrate(Convergence::Accelerated(0.5), 3.0);
            assert!(matches!(found, Err(Error::InvalidParameter { name: "the mean loss allowed", .. })));
        }
        let alone = budget(1, 1.0)?.calibrate(Convergence::Accelerated(0.5), 3.0);
        assert!(matches!(alone, Err(Error::InvalidParameter { name: "the number of nodes", .. })));
        let apart = budget(64, 1.0)?.calibrate(Convergence::Accelerated(0.0), 3.0);
        assert!(matches!(apart, Err(Error::InvalidParameter { name: "the spectral gap", .. })));
        for participation in [0.0, 1.5, f64::NAN] {
            let found = budget(64, 1.0)?.calibrate(Convergence::Randomized(0.5), participation);
            assert!(matches!(
                found,
                Err(Error::InvalidParameter { name: "the number of messages of a round", .. })
            ));
        }
        Ok(())
    }
}
