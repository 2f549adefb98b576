//! Gossip over changing connections: randomized (Algorithm 2), time-varying, one-peer hypercube.
//!
//! The connections are drawn first and public: everything here is conditional on the realised
//! steps `W_0, W_1, …` of a [`GossipSequence`].

use super::block::WIDTH;
use super::exact::{ExactOptions, exact_loss};
use super::messages::{exact_rows, received, rows};
use super::operator::{check_values, operator_error};
use super::operator::{require_operator, worst_of_operator};
use super::protocol::{GossipProtocol, Transcript, noisy_values, observed};
use super::synchronous::apply;
use ndarray::{Array2, ArrayView2};
use ndp_account::parts::checked_coalition;
use ndp_account::{Error, LinearProtocol, LossReport, Observation, OwnNoise, Terms, View};
use ndp_certify::Source;
use ndp_dp::{Exact, Guarantee, NoiseMultiplier, Sigma};
use ndp_graph::{GossipSequence, Step};
use rand::Rng;

/// Gossip averaging over the given steps, noise added once at the start: `x^0 = x + η`,
/// `x^{t+1} = W_t x^t`.
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
    /// Whether observers use the noise they drew; from the start they do.
    pub own_noise: OwnNoise,
}

impl From<GossipSequence> for SequenceGossip {
    /// Gossip over `sequence`; observers use their own noise.
    fn from(sequence: GossipSequence) -> Self {
        Self { sequence, own_noise: OwnNoise::Known }
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

impl SequenceGossip {
    /// What a coalition received in a run, in the order of the rows of its view.
    fn received(&self, run: &Transcript, coalition: &[usize]) -> Result<Array2<f64>, Error> {
        let coalition = checked_coalition(coalition, self.sequence.node_count())?;
        let messages = received(&self.sequence, &coalition);
        let mut values = Array2::zeros((messages.len(), run.output.ncols()));
        for (mut row, message) in values.rows_mut().into_iter().zip(&messages) {
            row.assign(&run.messages[message.step].row(message.sender));
        }
        Ok(values)
    }
}

impl GossipProtocol for SequenceGossip {
    fn run(&self, values: ArrayView2<'_, f64>, sigma: Sigma, rng: &mut dyn Rng) -> Result<Transcript, Error> {
        let (noise, mut state) = noisy_values(values, self.sequence.node_count(), sigma, rng)?;
        let mut messages = Vec::with_capacity(self.sequence.steps().len());
        for step in self.sequence.steps() {
            let next = advance(step, &state);
            messages.push(std::mem::replace(&mut state, next));
        }
        Ok(Transcript { noise, messages, output: state, later_noises: Vec::new() })
    }

    fn mean_squared_error(&self, values: ArrayView2<'_, f64>, sigma: Sigma) -> Result<Exact<f64>, Error> {
        check_values(values, self.node_count())?;
        operator_error(self.operator()?.view(), values, sigma)
    }
}

impl LinearProtocol for SequenceGossip {
    fn terms(&self) -> Terms {
        Terms::VALUES.on("every value, once")
    }

    fn node_count(&self) -> usize {
        self.sequence.node_count()
    }

    /// Every node keeps the noise of its first value to itself.
    fn own_variance(&self) -> Option<f64> {
        Some(1.0)
    }

    /// Messages go between neighbors and nothing is published: somebody outside sees nothing.
    fn outside(&self) -> Result<Guarantee<f64>, Error> {
        Ok(Exact::new(0.0).into())
    }

    /// The rows `(W_{t-1} ⋯ W_0)_w` over inputs and over noises, in order of time, then of senders.
    fn coalition_view(&self, coalition: &[usize]) -> Result<View, Error> {
        let n = self.node_count();
        let coalition = checked_coalition(coalition, n)?;
        let messages = received(&self.sequence, &coalition);
        ndp_linalg::memory::require_dense("a view written out row by row", 2 * messages.len(), n)?;
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
        exact_loss(&self.sequence, coalition, options)
    }

    fn observe(
        &self,
        values: ArrayView2<'_, f64>,
        sigma: Sigma,
        coalition: &[usize],
        rng: &mut dyn Rng,
    ) -> Result<Observation, Error> {
        let run = self.run(values, sigma, rng)?;
        let received = self.received(&run, coalition)?;
        observed(&run, received, self.own_noise, coalition)
    }

    fn seen_with(&self, own_noise: OwnNoise) -> Option<Box<dyn LinearProtocol + '_>> {
        Some(Box::new(Self { own_noise, ..self.clone() }))
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

#[cfg(test)]
mod tests {
    use super::*;
    use ndp_account::Observer;
    use ndp_account::audit::{AuditPlan, audit};
    use ndp_dp::Sensitivity;
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
        assert!(protocol.coalition_loss(&[4]).is_err());
        assert!(protocol.coalition_loss(&[]).is_err());
        assert!(protocol.coalition_loss(&[0, 0]).is_err());
        let empty = Array2::zeros((4, 0));
        assert!(protocol.run(empty.view(), Sigma::new(1.0)?, &mut ChaCha8Rng::seed_from_u64(1)).is_err());
        Ok(())
    }
}
