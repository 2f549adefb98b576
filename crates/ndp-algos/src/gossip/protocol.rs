//! What every gossip protocol offers besides its account: runs on values, and the distance from the mean at
//! the end.

use ndarray::ArrayView2;
use ndp_account::{Error, LinearProtocol};
use ndp_dp::{Exact, Sigma};
use ndp_program::VectorProgram;
use rand::Rng;

pub use ndp_program::Transcript;

/// A gossip protocol: it ends close to the mean of the inputs, and can be run on real values.
///
/// # Examples
/// ```
/// use ndarray::arr2;
/// use ndp_algos::gossip::{FreshNoiseGossip, GossipProtocol, SynchronousGossip};
/// use ndp_dp::Sigma;
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let matrix = GossipMatrix::metropolis(&path_graph(3)?);
/// let plain = SynchronousGossip::new(matrix.clone(), 3);
/// let fresh = FreshNoiseGossip::new(matrix, vec![1.0, 0.5, 0.5])?;
/// let values = arr2(&[[0.0], [3.0], [6.0]]);
/// let error = |gossip: &dyn GossipProtocol| gossip.mean_squared_error(values.view(), Sigma::new(0.1)?);
/// // More noise is more error.
/// assert!(error(&plain)?.value() < error(&fresh)?.value());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait GossipProtocol: LinearProtocol {
    /// Runs the protocol on `values` (`n` by `d`, row `v` held by node `v`) with noise of standard deviation
    /// `sigma` per coordinate on the values; all other noises are scaled with it.
    ///
    /// # Errors
    /// [`Error::Shape`] unless there is one row per node and at least one column; [`Error::InvalidParameter`]
    /// for a value that is not finite.
    fn run(&self, values: ArrayView2<'_, f64>, sigma: Sigma, rng: &mut dyn Rng) -> Result<Transcript, Error>;

    /// The exact error `(1/n) Σ_v E ‖x_v^T - x̄‖²` on these values (`n` by `d`), given the connections.
    ///
    /// # Errors
    /// Those of [`run`](Self::run); [`ndp_graph::Error::TooLarge`] for a matrix too large to be dense;
    /// [`Error::InvalidParameter`] for more rounds than can be gone through.
    fn mean_squared_error(&self, values: ArrayView2<'_, f64>, sigma: Sigma) -> Result<Exact<f64>, Error>;
}

impl GossipProtocol for VectorProgram<'_> {
    fn run(&self, values: ArrayView2<'_, f64>, sigma: Sigma, rng: &mut dyn Rng) -> Result<Transcript, Error> {
        VectorProgram::run(self, values, sigma, rng)
    }

    fn mean_squared_error(&self, values: ArrayView2<'_, f64>, sigma: Sigma) -> Result<Exact<f64>, Error> {
        VectorProgram::mean_squared_error(self, values, sigma)
    }
}

/// A gossip protocol is given by the [program](VectorProgram) that it states: everything else follows from
/// it.
macro_rules! follows_from_statement {
    ($($gossip:ty),*) => {$(
        impl ndp_account::LinearProtocol for $gossip {
            fn terms(&self) -> ndp_account::Terms {
                ndp_account::LinearProtocol::terms(&self.stated())
            }

            fn node_count(&self) -> usize {
                ndp_account::LinearProtocol::node_count(&self.stated())
            }

            fn own_variance(&self) -> Option<f64> {
                self.stated().own_variance()
            }

            fn outside(&self) -> Result<ndp_dp::Guarantee<f64>, ndp_account::Error> {
                self.stated().outside()
            }

            fn coalition_view(&self, coalition: &[usize]) -> Result<ndp_account::View, ndp_account::Error> {
                self.stated().coalition_view(coalition)
            }

            fn coalition_loss_until(
                &self,
                coalition: &[usize],
                stop: &ndp_numeric::stop::Stop,
            ) -> Result<ndp_account::LossReport, ndp_account::Error> {
                self.stated().coalition_loss_until(coalition, stop)
            }

            fn overheard_loss_until(
                &self,
                tapped: &[(usize, usize)],
                stop: &ndp_numeric::stop::Stop,
            ) -> Result<ndp_account::LossReport, ndp_account::Error> {
                self.stated().overheard_loss_until(tapped, stop)
            }

            fn observe(
                &self,
                values: ndarray::ArrayView2<'_, f64>,
                sigma: ndp_dp::Sigma,
                coalition: &[usize],
                rng: &mut dyn rand::Rng,
            ) -> Result<ndp_account::Observation, ndp_account::Error> {
                self.stated().observe(values, sigma, coalition, rng)
            }

            fn seen_with(
                &self,
                own_noise: ndp_account::OwnNoise,
            ) -> Option<Box<dyn ndp_account::LinearProtocol + '_>> {
                Some(Box::new(self.stated().observed_with(own_noise)))
            }

            fn first_round(&self) -> Option<Box<dyn ndp_account::LinearProtocol + '_>> {
                self.stated().into_first_round().map(|first| Box::new(first) as _)
            }

            fn program_text(&self) -> Result<Vec<u8>, ndp_account::Error> {
                ndp_account::LinearProtocol::program_text(&self.stated())
            }

            fn symmetries(&self) -> Vec<Vec<u32>> {
                ndp_account::LinearProtocol::symmetries(&self.stated())
            }

            fn error_bound_until(
                &self,
                noise: ndp_dp::NoiseMultiplier,
                stop: &ndp_numeric::stop::Stop,
            ) -> Result<f64, ndp_account::Error> {
                self.stated().error_bound_until(noise, stop)
            }

            fn message_count(&self) -> Result<f64, ndp_account::Error> {
                ndp_account::LinearProtocol::message_count(&self.stated())
            }
        }

        impl crate::gossip::GossipProtocol for $gossip {
            fn run(
                &self,
                values: ndarray::ArrayView2<'_, f64>,
                sigma: ndp_dp::Sigma,
                rng: &mut dyn rand::Rng,
            ) -> Result<ndp_program::Transcript, ndp_account::Error> {
                self.stated().run(values, sigma, rng)
            }

            fn mean_squared_error(
                &self,
                values: ndarray::ArrayView2<'_, f64>,
                sigma: ndp_dp::Sigma,
            ) -> Result<ndp_dp::Exact<f64>, ndp_account::Error> {
                self.stated().mean_squared_error(values, sigma)
            }
        }
    )*};
}
pub(super) use follows_from_statement;
