//! Gossip with noise on messages: `σ` once on the values, and `s` on everything that is sent.
//!
//! In round `t` node `w` sends `x_w^t + s z`. A node that averages what it receives carries this noise on,
//! and it comes back correlated with what was sent before. A formula that adds `s²` to the covariance of
//! clean messages is therefore no bound for such a protocol; it is exact only for a listener whose line is
//! the only noisy one. Here all noises are stacked: `R` holds the rows of the view over every noise that the
//! observer did not draw, and the unit loss is `bᵀ (R Rᵀ)⁺ b`, certified like all others (see
//! [`loss`](ndp_account::loss)). Every message has a noise of its own, so that the pivots of `R Rᵀ` are at
//! least `(s/σ)²`, and in most cases no rank has to be decided.
//!
//! Noise on messages is not the noise of the average: it also moves the mean. Gossip with
//! [fresh noise](super::fresh), which a node adds to its own state, is exact in the same way and costs less.
//!
//! Noise only on what is overheard protects against outsiders, who tap edges. The nodes average clean
//! messages, and what a node holds reveals more than the noisy copies do. Towards nodes, such gossip is the
//! [plain one](super::SynchronousGossip).

use super::protocol::follows_from_statement;
use ndp_account::parts::ensure;
use ndp_account::{Error, OwnNoise};
use ndp_graph::GossipMatrix;
use ndp_linalg::memory::require_dense;
use ndp_program::VectorProgram;

pub use ndp_program::MessageNoise;

/// Synchronous gossip with noise of standard deviation `σ` on the values and `ratio · σ` on every message.
///
/// # Examples
/// ```
/// use ndp_account::LinearProtocol;
/// use ndp_algos::gossip::{MessageNoise, NoisyMessageGossip};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let matrix = GossipMatrix::metropolis(&path_graph(3)?);
/// let losses = NoisyMessageGossip::new(matrix, 2, 1.0, MessageNoise::Broadcast)?.coalition_loss(&[2])?;
/// assert!((losses.unit(0)?.value().get() - 0.087).abs() < 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NoisyMessageGossip {
    matrix: GossipMatrix,
    rounds: usize,
    ratio: f64,
    kind: MessageNoise,
    /// Whether observers use the noise that they drew; they do by default.
    pub own_noise: OwnNoise,
}

impl NoisyMessageGossip {
    /// Gossip with `matrix` for `rounds` rounds. The noise of messages is `ratio` times that of the values.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a ratio that is negative or not finite; [`ndp_graph::Error::TooLarge`]
    /// for rounds whose steps do not fit in memory.
    pub fn new(matrix: GossipMatrix, rounds: usize, ratio: f64, kind: MessageNoise) -> Result<Self, Error> {
        ensure(
            (0.0..f64::INFINITY).contains(&ratio),
            "the ratio of message noise to input noise",
            "be nonnegative and finite",
            ratio,
        )?;
        require_dense("the steps of gossip with noisy messages", rounds, 64)?;
        Ok(Self { matrix, rounds, ratio, kind, own_noise: OwnNoise::Known })
    }

    /// The protocol: noise once, and then rounds with noise on what is sent.
    #[must_use]
    pub fn stated(&self) -> VectorProgram<'_> {
        let noisy = VectorProgram::new(self.matrix.node_count()).noise(1.0).observed_with(self.own_noise);
        noisy.noisy_rounds(&self.matrix, self.rounds, self.kind, self.ratio)
    }
}

follows_from_statement!(NoisyMessageGossip);

#[cfg(test)]
mod tests {
    use super::*;
    use ndp_account::LinearProtocol;
    use ndp_certify::account::{self, Budget};
    use ndp_graph::generators::cycle_graph;

    /// Views of more than 4,096 messages are certified in fixed point, for any ratio: both engines enclose
    /// the same numbers.
    #[test]
    fn large_ratios_keep_their_size_in_fixed_point() -> Result<(), Error> {
        let matrix = GossipMatrix::metropolis(&cycle_graph(5)?);
        for kind in [MessageNoise::Broadcast, MessageNoise::PerLink] {
            for ratio in [0.3, 100.0, 129.0, 256.0, 1e6, 1e20] {
                let protocol = NoisyMessageGossip::new(matrix.clone(), 4, ratio, kind)?;
                let report = protocol.coalition_loss(&[0])?;
                let rows = protocol.stated().exact_rows(&[0], &[0], false)?;
                let (_, found) = account::basis_of_rows(&rows, Budget::default())?;
                for (k, input) in rows.layout().inputs.iter().enumerate() {
                    let (low, high) = report.enclosure(input.node)?;
                    let (least, most) = (found.enclosure.lower[k], found.enclosure.upper[k]);
                    assert!(
                        least <= high && low <= most,
                        "{kind:?} {ratio}: [{least}, {most}] [{low}, {high}]"
                    );
                    assert!(most - least <= 1e-9 && (ratio > 1e4 || least > 0.0), "[{least}, {most}]");
                }
            }
        }
        Ok(())
    }

    /// The noises of this number of rounds do not fit in memory.
    #[test]
    fn rounds_without_end_are_refused() -> Result<(), Error> {
        let matrix = GossipMatrix::metropolis(&cycle_graph(5)?);
        for rounds in [1 << 31, 1 << 40, usize::MAX] {
            let messages = NoisyMessageGossip::new(matrix.clone(), rounds, 0.1, MessageNoise::PerLink);
            assert!(matches!(messages, Err(Error::Graph(_))), "{rounds}");
        }
        Ok(())
    }
}
