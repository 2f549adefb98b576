//! How often a node takes part in randomized gossip, and what that says before the edges are drawn.
//!
//! In each of `T` steps edge `{u, v}` averages with probability `p_uv`, so node `v` takes part in
//! `T_v ~ Binomial(T, π_v)` steps with `π_v = Σ_w p_vw`, and receives as many messages. Its losses to all other
//! nodes sum to at most `T_v` local losses: the mean loss is at most `c₀ T_v / n`.

use crate::Error;
use crate::error::ensure;
use ndp_dp::{Exact, UpperBound};
use ndp_graph::sequences::EdgeActivations;
use ndp_numeric::binomial;

/// The number `T_v` of messages that a node receives in randomized gossip.
///
/// # Examples
/// ```
/// use ndp_algos::gossip::activity::Activity;
/// // A node that takes part in a fifth of the steps.
/// assert_eq!(Activity::new(10, 1000, 0.2)?.expected(), 200.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Activity {
    nodes: usize,
    steps: u64,
    participation: f64,
}

impl Activity {
    /// Of node `v`, in `steps` steps on `nodes` nodes.
    ///
    /// # Errors
    /// [`ndp_graph::Error::NodeOutOfRange`].
    pub fn of(law: &EdgeActivations, nodes: usize, v: usize, steps: u64) -> Result<Self, Error> {
        Self::new(nodes, steps, law.participation(v)?)
    }

    /// Of a node that takes part in each of `steps` steps with probability `participation`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless there is a node and the probability lies in `[0, 1]`, up to `1e-12`.
    pub fn new(nodes: usize, steps: u64, participation: f64) -> Result<Self, Error> {
        ensure(nodes != 0, "the number of nodes", "be at least 1", 0.0)?;
        ensure(
            (0.0..=1.0 + 1e-12).contains(&participation),
            "the probability to take part in a step",
            "lie in [0, 1]",
            participation,
        )?;
        Ok(Self { nodes, steps, participation: participation.min(1.0) })
    }

    /// `E[T_v] = T π_v`.
    #[must_use]
    pub fn expected(&self) -> f64 {
        self.steps as f64 * self.participation
    }

    /// `P(T_v > k)`.
    ///
    /// # Errors
    /// More than `1e12` steps.
    pub fn tail(&self, k: u64) -> Result<Exact<f64>, Error> {
        let log = binomial::log_tail_up(k, self.steps, self.participation).map_err(ndp_dp::Error::from)?;
        Ok(Exact::new(log.exp()))
    }

    /// Hoeffding's bound `P(T_v - E T_v ≥ excess) ≤ exp(-2 excess² / T)`; the paper prints the weaker
    /// `exp(-excess² / T)`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a negative excess.
    pub fn hoeffding(&self, excess: f64) -> Result<UpperBound<f64>, Error> {
        ensure((0.0..=f64::INFINITY).contains(&excess), "the excess of messages", "be nonnegative", excess)?;
        let exponent = if self.steps == 0 { 0.0 } else { -2.0 * excess * excess / self.steps as f64 };
        // Without steps nothing exceeds the mean of zero messages.
        Ok(UpperBound::new(if self.steps == 0 && excess > 0.0 { 0.0 } else { exponent.exp() }))
    }

    /// Mean unit loss towards the node once it has received `messages` messages: `T_v / n`, at most
    /// `(n - 1)/n`.
    #[must_use]
    pub fn mean_loss_given(&self, messages: u64) -> UpperBound<f64> {
        let nodes = self.nodes as f64;
        UpperBound::new((messages as f64).min(nodes - 1.0) / nodes)
    }

    /// Expectation over the edges of the mean unit loss: at most `T π_v / n`.
    ///
    /// With `p = 2W/n` this is `2 T (1 - W_vv)/n²`, twice what the paper prints.
    #[must_use]
    pub fn expected_mean_loss(&self) -> UpperBound<f64> {
        let nodes = self.nodes as f64;
        UpperBound::new(self.expected().min(nodes - 1.0) / nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use ndp_graph::{GossipMatrix, generators};

    #[test]
    fn activity_of_the_ring() -> Result<(), Error> {
        let w = GossipMatrix::metropolis(&generators::cycle_graph(8)?);
        let law = EdgeActivations::from_gossip(&w)?;
        let activity = Activity::of(&law, 8, 3, 100)?;
        // π = (2/n)(1 - W_vv) = (2/8)(2/3) = 1/6, not the 2/n of the paper.
        assert_relative_eq!(activity.expected(), 100.0 / 6.0, max_relative = 1e-13);
        assert_relative_eq!(*activity.expected_mean_loss().value(), 7.0 / 8.0, max_relative = 1e-13);
        let short = Activity::of(&law, 8, 3, 12)?;
        assert_relative_eq!(*short.expected_mean_loss().value(), 2.0 / 8.0, max_relative = 1e-13);
        assert_relative_eq!(*short.mean_loss_given(3).value(), 3.0 / 8.0);
        // P(T_v > 0) = 1 - (5/6)^12; the tail is below Hoeffding's bound.
        assert_relative_eq!(*short.tail(0)?.value(), 1.0 - (5.0f64 / 6.0).powi(12), max_relative = 1e-12);
        for k in 2..12 {
            let excess = (k + 1) as f64 - 2.0;
            assert!(short.tail(k)?.value() <= short.hoeffding(excess)?.value());
        }
        Ok(())
    }

    #[test]
    fn bad_laws_are_refused() -> Result<(), Error> {
        for p in [-0.1, 1.1, f64::NAN] {
            assert!(Activity::new(4, 10, p).is_err());
        }
        assert!(Activity::new(0, 10, 0.5).is_err());
        let idle = Activity::new(4, 0, 0.5)?;
        assert_eq!(*idle.tail(0)?.value(), 0.0);
        assert_eq!(*idle.hoeffding(1.0)?.value(), 0.0);
        for excess in [-1.0, f64::NAN] {
            assert!(idle.hoeffding(excess).is_err());
        }
        Ok(())
    }
}
