//! What every gossip can do besides being accounted for: run, and say how far from the mean it ends.

use super::operator::check_values;
use ndarray::{Array2, ArrayView2, Axis};
use ndp_account::parts::checked_coalition;
use ndp_account::{Error, LinearProtocol, Observation, OwnNoise};
use ndp_dp::{Exact, Sigma};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

/// A gossip protocol: it ends near the mean of the inputs, and can be run on real values.
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
    /// Runs the protocol on `values` (`n` by `d`, row `v` held by node `v`) with noise of standard deviation `sigma` per
    /// coordinate on the values; all other noises are scaled with it.
    ///
    /// # Errors
    /// [`Error::Shape`] unless there is one row per node and at least one column; [`Error::InvalidParameter`] for a value
    /// that is not finite.
    fn run(&self, values: ArrayView2<'_, f64>, sigma: Sigma, rng: &mut dyn Rng) -> Result<Transcript, Error>;

    /// The exact error `(1/n) Σ_v E ‖x_v^T - x̄‖²` on these values (`n` by `d`), given the connections.
    ///
    /// # Errors
    /// Those of [`run`](Self::run); [`ndp_graph::Error::TooLarge`] for a matrix too large to be dense;
    /// [`Error::InvalidParameter`] for more rounds than can be gone through.
    fn mean_squared_error(&self, values: ArrayView2<'_, f64>, sigma: Sigma) -> Result<Exact<f64>, Error>;
}

/// Everything that was drawn and sent in one run.
///
/// # Examples
/// ```
/// use ndarray::arr2;
/// use ndp_algos::gossip::{GossipProtocol, SynchronousGossip};
/// use ndp_dp::Sigma;
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
/// let gossip = SynchronousGossip::new(GossipMatrix::metropolis(&path_graph(3)?), 5);
/// let values = arr2(&[[0.0], [3.0], [6.0]]);
/// let run = gossip.run(values.view(), Sigma::new(1e-9)?, &mut ChaCha8Rng::seed_from_u64(1))?;
/// assert!(run.messages.len() == 5 && (run.output[(1, 0)] - 3.0).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Transcript {
    /// The noise each node drew at the start: `n` by `d`.
    pub noise: Array2<f64>,
    /// The states sent in rounds `0..T`, each `n` by `d`, without the noise of messages; of accelerated randomized gossip those just
    /// before each ring.
    pub messages: Vec<Array2<f64>>,
    /// The final state of every node: `n` by `d`.
    pub output: Array2<f64>,
    /// What was drawn after the first noise: of fresh noise that of rounds `1..T`, each `n` by `d`; of noise on messages that of each
    /// round in units of `ratio · σ`, one row per node, or per directed link `w → a` in the order of `a`, then of `w`; empty
    /// where there is no more noise.
    pub later_noises: Vec<Array2<f64>>,
}

/// How every run begins: the noise that each of `nodes` nodes draws, and its value with it.
///
/// # Errors
/// As [`GossipProtocol::run`].
pub(super) fn noisy_values(
    values: ArrayView2<'_, f64>,
    nodes: usize,
    sigma: Sigma,
    rng: &mut dyn Rng,
) -> Result<(Array2<f64>, Array2<f64>), Error> {
    check_values(values, nodes)?;
    let noise = normal(nodes, values.ncols(), sigma.get(), rng);
    let start = &values + &noise;
    Ok((noise, start))
}

/// Independent normal numbers of this standard deviation.
pub(super) fn normal(rows: usize, columns: usize, deviation: f64, rng: &mut dyn Rng) -> Array2<f64> {
    Array2::from_shape_fn((rows, columns), |_| {
        let z: f64 = StandardNormal.sample(rng);
        deviation * z
    })
}

/// What a coalition observes of a run in which every node draws noise once, at the start: what it `received`, and its own noises.
///
/// # Errors
/// As [`LinearProtocol::observe`].
pub(super) fn observed(
    transcript: &Transcript,
    received: Array2<f64>,
    own_noise: OwnNoise,
    coalition: &[usize],
) -> Result<Observation, Error> {
    let known = match own_noise {
        OwnNoise::Known => checked_coalition(coalition, transcript.noise.nrows())?,
        OwnNoise::Unknown => Vec::new(),
    };
    Ok(Observation { received, known_noises: transcript.noise.select(Axis(0), &known) })
}
