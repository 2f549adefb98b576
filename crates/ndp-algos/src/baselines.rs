//! The two ends of the scale as protocols: everybody publishes a noisy value, or a trusted curator publishes
//! a noisy sum.

use ndarray::Array2;
use ndp_account::parts::checked_coalition;
use ndp_account::{Assumption, Error, LinearProtocol, LossReport, Terms, View};
use ndp_dp::{Exact, Guarantee, NoiseMultiplier, ObserverLoss};
use ndp_numeric::rounding::Interval;
use ndp_numeric::stop::Stop;

/// Local differential privacy: every node publishes its value with a noise of its own, and everybody takes
/// the mean.
///
/// What anybody learns about `u` is one release: `μ = 1/noise`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LocalAveraging {
    nodes: usize,
}

/// A trusted curator publishes the sum of all values with noise. Anybody learns `μ = 1/noise` about `u`.
///
/// The guarantee does not protect against the curator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CentralAveraging {
    nodes: usize,
}

impl LocalAveraging {
    /// Among `nodes` nodes.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for fewer than two.
    pub(crate) fn new(nodes: usize) -> Result<Self, Error> {
        at_least_two(nodes).map(|nodes| Self { nodes })
    }
}

impl CentralAveraging {
    /// Among `nodes` nodes.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for fewer than two.
    pub(crate) fn new(nodes: usize) -> Result<Self, Error> {
        at_least_two(nodes).map(|nodes| Self { nodes })
    }
}

fn at_least_two(nodes: usize) -> Result<usize, Error> {
    if nodes >= 2 {
        return Ok(nodes);
    }
    let (name, condition) = ("the number of nodes", "be at least 2");
    Err(Error::InvalidParameter { name, condition, value: nodes as f64 })
}

impl LinearProtocol for LocalAveraging {
    fn terms(&self) -> Terms {
        Terms::VALUES.on("every value, once")
    }

    fn node_count(&self) -> usize {
        self.nodes
    }

    /// Every node keeps the noise of its value secret.
    fn own_variance(&self) -> Option<f64> {
        Some(1.0)
    }

    /// Everything is published: one release of every value.
    fn outside(&self) -> Result<Guarantee<f64>, Error> {
        Ok(Exact::new(1.0).into())
    }

    /// Row and noise `u` are those of node `u`.
    fn coalition_view(&self, coalition: &[usize]) -> Result<View, Error> {
        ndp_linalg::memory::require_dense(
            "the view of everything that is published",
            self.nodes,
            2 * self.nodes,
        )?;
        let members = checked_coalition(coalition, self.nodes)?;
        View::new(&members, Array2::eye(self.nodes), Array2::eye(self.nodes), &members)
    }

    /// One release of each value, whatever else is published, so that no view is needed.
    fn coalition_loss_until(&self, coalition: &[usize], _: &Stop) -> Result<LossReport, Error> {
        let members = checked_coalition(coalition, self.nodes)?;
        let loss = ObserverLoss { observer: members[0], unit: vec![1.0; self.nodes] };
        Ok(LossReport::of_formula(members, Exact::new(loss).into(), self.nodes))
    }

    fn error_bound_until(&self, noise: NoiseMultiplier, _: &Stop) -> Result<f64, Error> {
        Ok((Interval::new(noise.get()) / Interval::count(self.nodes as u64).sqrt()).high())
    }

    fn message_count(&self) -> Result<f64, Error> {
        Ok(self.nodes as f64 * (self.nodes - 1) as f64)
    }
}

impl LinearProtocol for CentralAveraging {
    fn terms(&self) -> Terms {
        Terms::VALUES.on("the sum, by the curator").trusting(Assumption::Curator)
    }

    fn node_count(&self) -> usize {
        self.nodes
    }

    /// The noisy sum is published. An observer who knows all values but one sees that value with the noise.
    fn outside(&self) -> Result<Guarantee<f64>, Error> {
        Ok(Exact::new(1.0).into())
    }

    fn unit_towards_one(&self) -> Option<f64> {
        Some(1.0)
    }

    /// The only row is the sum with its noise, which no node knows.
    fn coalition_view(&self, coalition: &[usize]) -> Result<View, Error> {
        let members = checked_coalition(coalition, self.nodes)?;
        View::new(&members, Array2::ones((1, self.nodes)), Array2::ones((1, 1)), &[])
    }

    fn error_bound_until(&self, noise: NoiseMultiplier, _: &Stop) -> Result<f64, Error> {
        Ok((Interval::new(noise.get()) / Interval::count(self.nodes as u64)).high())
    }

    fn message_count(&self) -> Result<f64, Error> {
        Ok(2.0 * self.nodes as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published values need no view, however many there are, and the formula agrees with the view.
    #[test]
    fn a_million_published_values_cost_one_release_each() -> Result<(), Error> {
        let local = LocalAveraging::new(6)?;
        let formula = local.coalition_loss(&[1, 4])?;
        let view = ndp_account::loss::exact_loss(&local.coalition_view(&[1, 4])?)?;
        assert_eq!(formula.loss.grade(), view.loss.grade());
        for (a, b) in formula.loss.value().unit.iter().zip(&view.loss.value().unit) {
            assert!((a - b).abs() < 1e-12);
        }
        assert_eq!(formula.rank, view.rank);
        let many = LocalAveraging::new(1_000_000)?;
        assert_eq!(many.coalition_loss(&[0])?.loss.value().unit[999_999], 1.0);
        Ok(())
    }
}
