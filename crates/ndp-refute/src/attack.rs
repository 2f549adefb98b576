//! The attack that a counterexample promises, run on simulated transcripts.

use crate::counterexample::Counterexample;
use crate::error::Error;
use crate::protocol::Protocol;
use crate::setting::{Bounded, Setting, WeightRule};
use ndarray::Array2;
use ndp_account::Observer;
use ndp_account::audit::{AuditPlan, audit};
use ndp_algos::gossip::fresh::FreshNoiseGossip;
use ndp_algos::gossip::{MessageNoise, NoisyMessageGossip, SequenceGossip, SynchronousGossip};
use ndp_dp::NoiseMultiplier;
use ndp_graph::progress::Silent;
use ndp_graph::{GossipMatrix, GossipSequence, Graph};
use num_traits::ToPrimitive;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

/// What an attack reached.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Attacked {
    /// Runs in each of the two worlds that were counted.
    pub runs: usize,
    /// The probability that `shown` exceeds the truth is at most this.
    pub error_rate: f64,
    /// The loss in nats that the attack shows: `alpha mu² / 2` at the measured lower bound on `mu`.
    pub shown: f64,
    /// Share of runs in which the attack saw a change that was not there.
    pub false_positives: f64,
    /// Share of runs in which it saw the change that was there.
    pub true_positives: f64,
}

impl Attacked {
    /// Whether the attack alone, without any computation of the truth, shows more than is claimed.
    #[must_use]
    pub fn refutes(&self, found: &Counterexample) -> bool {
        self.shown > found.claimed
    }
}

/// Runs the protocol of a counterexample many times with the exposed node's number at both ends of its range,
/// and lets the observers guess which by the likelihood ratio of what they received.
///
/// The transcripts are Gaussian, so that an observer who tells the two worlds apart as well as `mu` allows
/// has a Rényi loss of `alpha mu² / 2`. The measured `mu` is a lower bound that fails with probability
/// `error_rate` at most (Clopper and Pearson). None for walks and means, which have no such attack here.
///
/// Grade: an estimate with a stated confidence; weights are rounded to floats.
///
/// # Errors
/// [`Error::Attack`] for fewer than 10 runs or an error rate outside (0, 1).
pub fn attack(
    found: &Counterexample,
    runs: usize,
    error_rate: f64,
    seed: u64,
) -> Result<Option<Attacked>, Error> {
    if found.protocol.is_walk() || found.bounded == Bounded::Mean {
        return Ok(None);
    }
    let graph = Graph::from_edges(found.nodes, found.edges.iter().copied())?;
    let rule = if found.protocol == Protocol::Pairs { WeightRule::Metropolis } else { found.weights };
    let exact = Setting::new(&graph, rule, Protocol::Muffliato, 0)?.matrix;
    let n = found.nodes;
    let weights = Array2::from_shape_fn((n, n), |(a, b)| exact[a][b].to_f64().unwrap_or(f64::NAN));
    let matrix = GossipMatrix::from_dense(&graph, weights.view())?;
    let rounds = found.rounds;
    let protocol: Box<dyn ndp_account::Protocol> = match found.protocol {
        Protocol::Accelerated(g) => Box::new(SynchronousGossip::new(matrix, rounds).accelerated(g)?),
        Protocol::FreshNoise(ratio) => {
            let mut variances = vec![ratio * ratio; rounds];
            variances[0] = 1.0;
            Box::new(FreshNoiseGossip::new(matrix, variances)?)
        }
        Protocol::NoisyMessages(ratio) => {
            Box::new(NoisyMessageGossip::new(matrix, rounds, ratio, MessageNoise::Broadcast)?)
        }
        Protocol::Pairs => {
            Box::new(SequenceGossip::from(GossipSequence::given_activations(&graph, &found.pairs)?))
        }
        Protocol::Muffliato | Protocol::Walk => Box::new(SynchronousGossip::new(matrix, rounds)),
    };
    let observer = Observer::coalition(&found.observers);
    let noise = NoiseMultiplier::new(found.sigma).map_err(ndp_account::Error::from)?;
    let rng = &mut ChaCha8Rng::seed_from_u64(seed);
    let plan = AuditPlan { runs, error_rate };
    let done = audit(protocol.as_ref(), found.exposed, &observer, noise, plan, rng, &Silent)?;
    let mu = *done.measured_mu.value();
    Ok(Some(Attacked {
        runs,
        error_rate,
        shown: found.alpha * mu * mu / 2.0,
        false_positives: done.false_positives,
        true_positives: done.true_positives,
    }))
}
