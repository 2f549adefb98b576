//! The protocol: noise in every round.

use crate::gossip::protocol::follows_from_statement;
use ndp_account::{Error, OwnNoise};
use ndp_graph::GossipMatrix;
use ndp_program::VectorProgram;
use ndp_program::parts::NoiseSchedule;

/// Gossip with fresh noise: `x^0 = x + τ_0 z^0`, `x^t = W x^{t-1} + τ_t z^t`, output `W x^{T-1}`.
///
/// # Examples
/// ```
/// use ndp_account::LinearProtocol;
/// use ndp_algos::gossip::fresh::{FreshNoiseGossip, flat_variances};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// // As much noise again in the later rounds: distant nodes learn little.
/// let matrix = GossipMatrix::metropolis(&path_graph(4)?);
/// let losses = FreshNoiseGossip::new(matrix, flat_variances(3, 1.0)?)?.coalition_loss(&[0])?;
/// assert!((losses.unit(2)?.value().get() - 0.1961).abs() < 1e-4 && losses.unit(3)?.value().get() < 0.03);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FreshNoiseGossip {
    /// The gossip matrix `W`.
    pub matrix: GossipMatrix,
    schedule: NoiseSchedule,
    /// Whether observers use the noise that they drew; they do by default.
    pub own_noise: OwnNoise,
}

impl FreshNoiseGossip {
    /// The protocol with this matrix and noises of variances `s_t = τ_t²` per coordinate, one for every
    /// round. The first variance determines the local loss `c₀ = α Δ² / (2 s_0)`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for no rounds, a first variance that is not positive, or one
    /// that is negative, infinite or NaN.
    pub fn new(matrix: GossipMatrix, variances: Vec<f64>) -> Result<Self, Error> {
        Ok(Self { matrix, schedule: NoiseSchedule::new(variances)?, own_noise: OwnNoise::Known })
    }

    /// The protocol: in turn, noise and a round with the matrix.
    #[must_use]
    pub fn stated(&self) -> VectorProgram<'_> {
        let start = VectorProgram::new(self.matrix.node_count()).observed_with(self.own_noise);
        let rounds = self.schedule.variances().iter();
        rounds
            .fold(start, |program, &variance| program.noise(variance).rounds(&self.matrix, 1))
            .on("every value in the first round, and as the schedule says in later ones")
    }
}

follows_from_statement!(FreshNoiseGossip);
