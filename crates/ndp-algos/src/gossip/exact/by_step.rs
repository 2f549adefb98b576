//! The growth of the mean loss from step to step.

use super::ExactOptions;
use ndp_account::Error;
use ndp_account::parts::checked_coalition;
use ndp_account::parts::quotient_up;
use ndp_certify::account;
use ndp_dp::Exact;
use ndp_graph::GossipSequence;
use ndp_program::VectorProgram;
use ndp_program::parts::received;

/// The mean losses of [`mean_loss_by_step`].
///
/// # Examples
/// ```
/// use ndp_algos::gossip::mean_loss_by_step;
/// use ndp_graph::GossipSequence;
/// let means = mean_loss_by_step(&GossipSequence::one_peer_hypercube(3)?, 0)?;
/// assert_eq!(means.by_step.len(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MeanLosses {
    /// The mean unit loss after each step.
    pub by_step: Vec<Exact<f64>>,
    /// An upper bound on the probability, over primes drawn from a hash of the view, that any of them is too
    /// small.
    pub failure: f64,
}

/// The mean unit loss `(1/n) Σ_{u≠v} unit(u)` towards an observer that knows its own noise, after each of the
/// steps: `(rank - 1)/n`, with ranks that are computed modulo primes, without floating point.
///
/// # Errors
/// [`Error::NodeOutOfRange`].
pub fn mean_loss_by_step(sequence: &GossipSequence, observer: usize) -> Result<MeanLosses, Error> {
    let n = sequence.node_count();
    let known = checked_coalition(&[observer], n)?;
    let messages = received(sequence, &known);
    let program = VectorProgram::new(n).noise(1.0).changing(sequence);
    let rows = program.exact_rows(&known, &known, false)?;
    let decisions = account::ranks(&rows, ExactOptions::default().budget())?;
    let mut new = vec![0usize; sequence.steps().len()];
    for (message, kept) in messages.iter().zip(&decisions.kept) {
        new[message.step] += usize::from(*kept);
    }
    let means = new.into_iter().scan(0, |rank, new| {
        *rank += new;
        Some(Exact::new(quotient_up(*rank as f64, n as f64)))
    });
    Ok(MeanLosses { by_step: means.collect(), failure: decisions.failure })
}
