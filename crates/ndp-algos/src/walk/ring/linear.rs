//! The ring sum as a linear Gaussian protocol: its view row by row, and its runs restricted to what a
//! coalition sees.

use super::RingSum;
use super::sum::{Placement, path_of};
use crate::walk::linear_sum::LinearSum;
use crate::walk::{EVERY_CONTRIBUTION, FinalToken};
use ndarray::{Array2, ArrayView1, ArrayView2};
use ndp_account::loss::exact_loss;
use ndp_account::parts::checked_coalition;
use ndp_account::{Error, LinearProtocol, LossReport, Observation, Terms, View};
use ndp_dp::{Exact, Guarantee, NoiseMultiplier, Sensitivity, Sigma, UpperBound};
use ndp_numeric::rounding::Interval;
use ndp_numeric::stop::Stop;
use rand::Rng;

impl RingSum {
    /// The sum along the path of the ring, on which not every step adds noise.
    fn linear(&self) -> LinearSum {
        let (steps, full) = (self.step_count(), self.noise().std());
        let noises = (0..steps).map(|step| self.step_std(step) / full).collect();
        let published = self.final_token().is_shown();
        LinearSum { path: path_of(RingSum::node_count(self), steps), noises, published }
    }
}

impl RingSum {
    /// Where its noise is added, in words.
    pub(crate) const fn noise_on(&self) -> &'static str {
        match (self.placement(), self.final_token()) {
            (Placement::Counter, FinalToken::Masked) => {
                "the token, by every (n-1)-th holder, and on the last token"
            }
            (Placement::Counter, _) => "the token, by every (n-1)-th holder",
            (Placement::Distributed, FinalToken::Masked) => {
                "the token: all of it by the first holder and on the last token, a share of 1/(n-1) of the \
                 variance by all other holders"
            }
            (Placement::Distributed, _) => {
                "the token: all of it by the first holder, a share of 1/(n-1) of the variance by all other \
                 holders"
            }
        }
    }
}

/// Input `u` is the data of node `u`, which changes all its contributions alike. If there is noise between
/// any two observers, the loss has a formula, computed in `O(K n)`.
impl LinearProtocol for RingSum {
    fn terms(&self) -> Terms {
        self.final_token().kept(EVERY_CONTRIBUTION.on(self.noise_on()))
    }

    fn node_count(&self) -> usize {
        RingSum::node_count(self)
    }

    fn coalition_view(&self, coalition: &[usize]) -> Result<View, Error> {
        self.require_gaussian()?;
        self.linear().view(coalition)
    }

    fn coalition_loss_until(&self, coalition: &[usize], _: &Stop) -> Result<LossReport, Error> {
        self.require_gaussian()?;
        let members = checked_coalition(coalition, self.node_count())?;
        match self.report(&members) {
            Some(report) => Ok(report),
            None => exact_loss(&self.coalition_view(&members)?),
        }
    }

    /// `K`: between two receptions of one node the others add at least one full noise and a node contributes
    /// once, so that each of its `K` contributions is hidden by one full noise. `None` if the last shares of
    /// distributed noise are published without a mask.
    fn unit_towards_one(&self) -> Option<f64> {
        let covered = self.require_gaussian().and_then(|()| self.require_full_releases()).is_ok();
        // Shares are square roots, and their squares add up to a full noise only up to rounding.
        covered.then(|| self.rounds() as f64 * (1.0 + 64.0 * f64::EPSILON))
    }

    /// The final token, if it is published: all `K` contributions of a node with the noise of all steps.
    fn outside(&self) -> Result<Guarantee<f64>, Error> {
        self.require_gaussian()?;
        if !self.final_token().is_shown() {
            return Ok(Exact::new(0.0).into());
        }
        let square = |x: f64| Interval::new(x) * Interval::new(x);
        let stds = (0..self.step_count()).map(|step| self.step_std(step));
        let noise = stds.filter(|&std| std > 0.0).map(square);
        let noise = noise.fold(Interval::new(0.0), |sum, square| sum + square);
        let unit = square(self.rounds() as f64) * square(self.noise().std()) / noise;
        Ok(UpperBound::new(unit.high()).into())
    }

    /// Each coordinate of the values is a separate run, in which a node contributes its value in every round.
    fn observe(
        &self,
        values: ArrayView2<'_, f64>,
        sigma: Sigma,
        coalition: &[usize],
        rng: &mut dyn Rng,
    ) -> Result<Observation, Error> {
        self.require_gaussian()?;
        let ring = self.with_gaussian_noise(sigma);
        let run = |values: ArrayView1<'_, f64>| {
            let contributions = Array2::from_shape_fn((self.rounds(), values.len()), |(_, u)| values[u]);
            ring.run(contributions.view(), &mut &mut *rng)
        };
        ring.linear().observe(coalition, values, run)
    }

    /// The error of the final token divided by the number of contributions.
    fn error_bound_until(&self, noise: NoiseMultiplier, _: &Stop) -> Result<f64, Error> {
        let ring = self.with_gaussian_noise(noise.sigma(Sensitivity::new(1.0)?)?);
        Ok(ring.output_std() / self.step_count() as f64)
    }

    fn message_count(&self) -> Result<f64, Error> {
        Ok(self.step_count() as f64)
    }
}
