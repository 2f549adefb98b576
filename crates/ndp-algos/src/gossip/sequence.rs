//! Gossip over changing connections: randomized (Algorithm 2), time-varying, one-peer hypercube.
//!
//! The connections are drawn first and are public: everything here is conditional on the realised steps `W_0,
//! W_1, …` of a [`GossipSequence`].

use super::protocol::follows_from_statement;
use ndp_account::OwnNoise;
use ndp_graph::GossipSequence;
use ndp_program::VectorProgram;

/// Gossip averaging over the given steps; noise is added once, at the start: `x^0 = x + η`, `x^{t+1} = W_t
/// x^t`.
///
/// In step `t` every node sends `x_v^t` to those it is connected with in that step. The output is
/// the state after the last step, which nobody sends.
///
/// # Examples
/// ```
/// use ndp_account::LinearProtocol;
/// use ndp_algos::gossip::SequenceGossip;
/// use ndp_graph::{GossipSequence, generators::path_graph};
/// // Nodes 0 and 1 meet, then 1 and 2: node 2 hears the mean of the others.
/// let met = GossipSequence::given_activations(&path_graph(3)?, &[(0, 1), (1, 2)])?;
/// assert!((SequenceGossip::from(met).coalition_loss(&[2])?.unit(0)?.value().get() - 0.5).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SequenceGossip {
    /// The realised steps.
    pub sequence: GossipSequence,
    /// Whether observers use the noise that they drew; they do by default.
    pub own_noise: OwnNoise,
}

impl From<GossipSequence> for SequenceGossip {
    /// Gossip over `sequence`; observers use their own noise.
    fn from(sequence: GossipSequence) -> Self {
        Self { sequence, own_noise: OwnNoise::Known }
    }
}

impl SequenceGossip {
    /// The protocol: noise once, and then a round for each step.
    #[must_use]
    pub fn stated(&self) -> VectorProgram<'_> {
        let noisy = VectorProgram::new(self.sequence.node_count()).noise(1.0);
        noisy.changing(&self.sequence).observed_with(self.own_noise)
    }
}

follows_from_statement!(SequenceGossip);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gossip::GossipProtocol;
    use ndarray::Array2;
    use ndp_account::Observer;
    use ndp_account::audit::{AuditPlan, audit};
    use ndp_account::{Error, LinearProtocol};
    use ndp_dp::{Sensitivity, Sigma};
    use ndp_graph::generators;
    use ndp_graph::progress::Silent;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// Attacks on random sequences reach 0.9 of the exact `μ` and stay below it.
    #[test]
    fn attacks_meet_the_exact_loss() -> Result<(), Error> {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let sequence = GossipSequence::erdos_renyi(16, 0.15, 5, &mut rng)?;
        let pairs = GossipSequence::given_activations(
            &generators::cycle_graph(5)?,
            &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 1), (2, 3)],
        )?;
        let scales = (Sensitivity::new(2.0)?, Sigma::new(1.0)?);
        let plan = AuditPlan { runs: 100_000, error_rate: 1e-4 };
        for sequence in [sequence, pairs] {
            let protocol = SequenceGossip::from(sequence);
            let report = protocol.coalition_loss(&[0])?;
            let units = &report.loss.value().unit;
            let inside = |u: &usize| (0.05..0.95).contains(&units[*u]);
            let source = (1..protocol.node_count()).find(inside).expect("some loss is partial");
            let mu = report.unit(source)?.value().gdp(scales.0, scales.1).mu();
            let measured = audit(
                &protocol,
                source,
                &Observer::node(0),
                scales.1.multiplier(scales.0)?,
                plan,
                &mut rng,
                &Silent,
            )?
            .measured_mu
            .into_value();
            assert!(measured <= mu && measured >= 0.9 * mu, "{measured} of {mu}");
        }
        Ok(())
    }

    #[test]
    fn bad_input_is_refused() -> Result<(), Error> {
        let protocol = SequenceGossip::from(GossipSequence::one_peer_hypercube(2)?);
        assert!(matches!(protocol.coalition_loss(&[4]), Err(Error::NodeOutOfRange { node: 4, nodes: 4 })));
        assert!(matches!(protocol.coalition_loss(&[]), Err(Error::EmptyCoalition)));
        assert!(matches!(protocol.coalition_loss(&[0, 0]), Err(Error::RepeatedMember(0))));
        let empty = Array2::zeros((4, 0));
        let found = protocol.run(empty.view(), Sigma::new(1.0)?, &mut ChaCha8Rng::seed_from_u64(1));
        assert!(matches!(found, Err(Error::Shape { expected: 1, got: 0, .. })));
        Ok(())
    }
}
