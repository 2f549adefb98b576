//! Gossip over changing connections: randomized (Algorithm 2), time-varying, one-peer hypercube.
//!
//! The connections are drawn first and public: everything here is conditional on the realised
//! steps `W_0, W_1, …` of a [`GossipSequence`].

use super::block::WIDTH;
use super::exact::{ExactOptions, ViewBasis};
use super::messages::{Message, exact_rows, received, rows};
use super::synchronous::{Transcript, apply, check_values};
use crate::certified::account;
use crate::certified::rows::Rows;
use crate::loss::quotient_up;
use crate::protocol::Observation;
use crate::view::checked_coalition;

use super::operator::{require_operator, worst_of_operator};
use crate::view::Source;
use crate::{Error, LinearProtocol, LossReport, OwnNoise, View};
use ndarray::{Array2, ArrayView2, Axis};
use ndp_dp::{Exact, NoiseMultiplier, Sigma};
use ndp_graph::{GossipSequence, Step};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

/// Gossip averaging over the given steps, noise added once at the start: `x^0 = x + η`,
/// `x^{t+1} = W_t x^t`.
///
/// In step `t` every node sends `x_v^t` to those it is connected with in that step. The output is
/// the state after the last step, which nobody sends.
///
/// # Examples
/// ```
/// use ndp_algos::LinearProtocol;
/// use ndp_algos::gossip::SequenceGossip;
/// use ndp_graph::{GossipSequence, generators::path_graph};
/// // Nodes 0 and 1 meet, then 1 and 2: node 2 hears the mean of the others.
/// let met = GossipSequence::given_activations(&path_graph(3)?, &[(0, 1), (1, 2)])?;
/// assert!((SequenceGossip::new(met).coalition_loss(&[2])?.unit(0)?.get() - 0.5).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SequenceGossip {
    sequence: GossipSequence,
    own_noise: OwnNoise,
}

impl SequenceGossip {
    /// Gossip over `sequence`; observers use their own noise.
    #[must_use]
    pub fn new(sequence: GossipSequence) -> Self {
        Self { sequence, own_noise: OwnNoise::Known }
    }

    /// The same with observers that use, or throw away, the noise they drew.
    #[must_use]
    pub fn with_own_noise(mut self, own_noise: OwnNoise) -> Self {
        self.own_noise = own_noise;
        self
    }

    /// The realised steps.
    #[must_use]
    pub fn sequence(&self) -> &GossipSequence {
        &self.sequence
    }

    /// Runs the protocol on `values` (`n` by `d`, row `v` held by node `v`) with noise of standard
    /// deviation `sigma` per coordinate.
    ///
    /// # Errors
    /// [`Error::Shape`] unless there is one row per node and at least one column;
    /// [`Error::InvalidParameter`] for a value that is not finite.
    pub fn run(
        &self,
        values: ArrayView2<'_, f64>,
        sigma: Sigma,
        rng: &mut impl Rng,
    ) -> Result<Transcript, Error> {
        check_values(values, self.sequence.node_count())?;
        let noise = Array2::from_shape_fn(values.raw_dim(), |_| {
            let z: f64 = StandardNormal.sample(rng);
            sigma.get() * z
        });
        let mut state = &values + &noise;
        let mut messages = Vec::with_capacity(self.sequence.steps().len());
        for step in self.sequence.steps() {
            let next = advance(step, &state);
            messages.push(std::mem::replace(&mut state, next));
        }
        Ok(Transcript { noise, messages, output: state })
    }

    /// What the observer learns about every node, given the steps: [`exact_sequence_loss`] with the
    /// protocol's own-noise rule.
    ///
    /// # Errors
    /// Those of [`exact_sequence_loss`].
    pub fn loss(&self, observer: usize) -> Result<LossReport, Error> {
        let options = ExactOptions { own_noise: self.own_noise, ..ExactOptions::default() };
        exact_sequence_loss(&self.sequence, observer, options)
    }

    /// The messages of a run that `coalition` received, in the order of the rows of its view.
    ///
    /// # Errors
    /// An invalid coalition.
    pub fn received(&self, transcript: &Transcript, coalition: &[usize]) -> Result<Array2<f64>, Error> {
        let coalition = checked_coalition(coalition, self.sequence.node_count())?;
        let messages = received(&self.sequence, &coalition);
        let mut values = Array2::zeros((messages.len(), transcript.output.ncols()));
        for (mut row, message) in values.rows_mut().into_iter().zip(&messages) {
            row.assign(&transcript.messages[message.step].row(message.sender));
        }
        Ok(values)
    }
}

/// `W x`.
pub(crate) fn advance(step: &Step, state: &Array2<f64>) -> Array2<f64> {
    match *step {
        Step::Matrix(ref matrix) => apply(matrix.csr(), state.view()),
        Step::Pair(a, b) => {
            let mean = (&state.row(a) + &state.row(b)) * 0.5;
            let mut next = state.clone();
            next.row_mut(a).assign(&mean);
            next.row_mut(b).assign(&mean);
            next
        }
        Step::Idle => state.clone(),
    }
}

impl LinearProtocol for SequenceGossip {
    fn node_count(&self) -> usize {
        self.sequence.node_count()
    }

    /// Every node keeps the noise of its first value to itself.
    fn own_variance(&self) -> Option<f64> {
        Some(1.0)
    }

    /// The rows `(W_{t-1} ⋯ W_0)_w` over inputs and over noises, in order of time, then of senders.
    fn coalition_view(&self, coalition: &[usize]) -> Result<View, Error> {
        let n = self.node_count();
        let coalition = checked_coalition(coalition, n)?;
        let messages = received(&self.sequence, &coalition);
        ndp_graph::memory::require_dense("a view written out row by row", 2 * messages.len(), n)?;
        let mut view = Array2::zeros((messages.len(), n));
        for (at, chunk) in messages.chunks(WIDTH).enumerate() {
            let block = rows(&self.sequence, chunk);
            for (u, row) in block.rows().iter().enumerate() {
                for lane in 0..chunk.len() {
                    view[(at * WIDTH + lane, u)] = row.0[lane];
                }
            }
        }
        let known = if self.own_noise == OwnNoise::Known { coalition.clone() } else { Vec::new() };
        let exact = exact_rows(&self.sequence, &known, &messages);
        Ok(View::new(&coalition, view.clone(), view, &known)?.with_source(Source::Rows(exact)))
    }

    fn coalition_loss(&self, coalition: &[usize]) -> Result<LossReport, Error> {
        let options = ExactOptions { own_noise: self.own_noise, ..ExactOptions::default() };
        exact_members_loss(&self.sequence, coalition, options)
    }

    fn observe(
        &self,
        values: ArrayView2<'_, f64>,
        sigma: Sigma,
        coalition: &[usize],
        rng: &mut dyn Rng,
    ) -> Result<Observation, Error> {
        let transcript = self.run(values, sigma, &mut &mut *rng)?;
        let received = self.received(&transcript, coalition)?;
        let known = match self.own_noise {
            OwnNoise::Known => checked_coalition(coalition, self.node_count())?,
            OwnNoise::Unknown => Vec::new(),
        };
        Ok(Observation { received, known_noises: transcript.noise.select(Axis(0), &known) })
    }

    fn seen_with(&self, own_noise: OwnNoise) -> Option<Box<dyn LinearProtocol + '_>> {
        Some(Box::new(self.clone().with_own_noise(own_noise)))
    }

    fn error_bound(&self, noise: NoiseMultiplier) -> Result<f64, Error> {
        require_operator(LinearProtocol::node_count(self))?;
        Ok(worst_of_operator(self.operator()?.view(), noise))
    }

    fn message_count(&self) -> Result<f64, Error> {
        let of_step = |step: &Step| match step {
            Step::Matrix(matrix) => 2.0 * matrix.graph().edge_count() as f64,
            Step::Pair(..) => 2.0,
            Step::Idle => 0.0,
        };
        Ok(self.sequence.steps().iter().map(of_step).sum())
    }
}

/// Unit loss of every node towards `observer` after all steps, given the steps.
///
/// Holds against an honest-but-curious `observer` who sees every message sent to it and knows all
/// steps. Graded as [`exact_loss`](super::exact_loss); the rows of the running product are exponentially dependent, so that
/// long runs take more bits than with a fixed matrix.
///
/// # Errors
/// [`Error::NodeOutOfRange`]; [`Error::TooLarge`] beyond the memory limit.
///
/// # Complexity
/// With `T_v` messages and `n` nodes from which something arrives in time, `O(T T_v nnz(W) + n r²)` time per limb and `O(n r)`
/// memory for rank `r ≤ min(n, 1 + T_v)`.
pub fn exact_sequence_loss(
    sequence: &GossipSequence,
    observer: usize,
    options: ExactOptions,
) -> Result<LossReport, Error> {
    exact_members_loss(sequence, &[observer], options)
}

/// Unit loss of every node towards the nodes of `coalition` together, whose own noises are known
/// whatever the options say.
///
/// # Errors
/// [`Error::EmptyCoalition`], [`Error::RepeatedMember`], and those of [`exact_sequence_loss`].
pub fn exact_sequence_coalition_loss(
    sequence: &GossipSequence,
    coalition: &[usize],
    options: ExactOptions,
) -> Result<LossReport, Error> {
    exact_members_loss(sequence, coalition, ExactOptions { own_noise: OwnNoise::Known, ..options })
}

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
    /// Probability, over primes drawn from a hash of the view, that any of them is too small; at most.
    pub failure: f64,
}

/// Mean unit loss `(1/n) Σ_{u≠v} unit(u)` towards an observer that knows its own noise, after each of the
/// steps: `(rank - 1)/n`, with ranks decided modulo primes and without numerics.
///
/// # Errors
/// [`Error::NodeOutOfRange`].
pub fn mean_loss_by_step(sequence: &GossipSequence, observer: usize) -> Result<MeanLosses, Error> {
    let n = sequence.node_count();
    let known = checked_coalition(&[observer], n)?;
    let messages = received(sequence, &known);
    let decisions =
        account::ranks(&exact_rows(sequence, &known, &messages), ExactOptions::default().budget())?;
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

/// A basis of what an observer that knows its own noise sees, given the steps.
pub(crate) fn sequence_basis(sequence: &GossipSequence, observer: usize) -> Result<ViewBasis, Error> {
    let n = sequence.node_count();
    let known = checked_coalition(&[observer], n)?;
    // What it holds at the start is its own input with its own noise: the unit vector of a node that knows its noise.
    let mut messages = vec![Message { step: 0, sender: observer }];
    messages.extend(received(sequence, &known));
    let rows = exact_rows(sequence, &[], &messages);
    let (failure, combined) = account::basis_of_rows(&rows, ExactOptions::default().budget())?;
    let mut found = Array2::zeros((combined.vectors.len(), n));
    for (mut row, vector) in found.rows_mut().into_iter().zip(&combined.vectors) {
        rows.layout().inputs.iter().for_each(|input| row[input.node] = vector[input.coordinate]);
    }
    Ok(ViewBasis::new(found, (combined.enclosure.spread, combined.enclosure.error), failure))
}

fn exact_members_loss(
    sequence: &GossipSequence,
    coalition: &[usize],
    options: ExactOptions,
) -> Result<LossReport, Error> {
    let coalition = checked_coalition(coalition, sequence.node_count())?;
    let known = options.known(&coalition);
    let rows: Rows = exact_rows(sequence, known, &received(sequence, &coalition));
    let certificate = account::of_rows(&rows, options.budget())?;
    let members_known = !known.is_empty();
    Ok(LossReport::new(coalition, certificate, members_known))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accountant::Observer;
    use crate::audit::{AuditPlan, audit};
    use ndp_dp::Sensitivity;
    use ndp_graph::generators;
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
            let protocol = SequenceGossip::new(sequence);
            let report = protocol.loss(0)?;
            let units = &report.loss.value().unit;
            let inside = |u: &usize| (0.05..0.95).contains(&units[*u]);
            let source = (1..protocol.node_count()).find(inside).expect("some loss is partial");
            let mu = report.unit(source)?.gdp(scales.0, scales.1).mu();
            let measured =
                audit(&protocol, source, &Observer::node(0), scales.1.multiplier(scales.0)?, plan, &mut rng)?
                    .measured_mu
                    .into_value();
            assert!(measured <= mu && measured >= 0.9 * mu, "{measured} of {mu}");
        }
        Ok(())
    }

    #[test]
    fn bad_input_is_refused() -> Result<(), Error> {
        let protocol = SequenceGossip::new(GossipSequence::one_peer_hypercube(2)?);
        assert!(protocol.loss(4).is_err());
        assert!(protocol.coalition_loss(&[]).is_err());
        assert!(protocol.coalition_loss(&[0, 0]).is_err());
        let empty = Array2::zeros((4, 0));
        assert!(protocol.run(empty.view(), Sigma::new(1.0)?, &mut ChaCha8Rng::seed_from_u64(1)).is_err());
        Ok(())
    }
}
