//! Synchronous gossip (Algorithm 1): all nodes average with all their neighbors in every round.

use super::exact::{ExactOptions, account, outside_neighbors, seen};
use super::operator::{check_values, operator_error};
use super::protocol::{GossipProtocol, Transcript, noisy_values, observed};
use ndp_account::Observation;
use ndp_account::parts::checked_coalition;

use super::operator::{require_operator, worst_of_operator};
use ndarray::{Array2, ArrayView2};
use ndp_account::parts::ensure;
use ndp_account::{Error, LinearProtocol, LossReport, OwnNoise, Terms, View};
use ndp_certify::Source;
use ndp_dp::{Exact, Guarantee, NoiseMultiplier, Sigma};
use ndp_graph::{Csr, GossipMatrix};
use rand::Rng;

/// How the states are combined from round to round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Acceleration {
    /// `x^{t+1} = W x^t`.
    Plain,
    /// `x^1 = W x^0`, then `x^{t+1} = g W x^t + (1 - g) x^{t-1}` with this `g`.
    ///
    /// The first step is a plain one: starting the recursion from `x^{-1} = 0` instead would
    /// multiply the mean by up to `1 / (2 - g)`.
    Chebyshev(f64),
}

/// Synchronous gossip averaging with a fixed matrix `W` for `T` rounds, noise added once at the start.
///
/// In round `t = 0..T-1` every node sends its state `x_v^t` to all its neighbors, with
/// `x^0 = x + η`. The output is `x^T`, which nobody sends.
///
/// # Examples
/// ```
/// use ndp_account::LinearProtocol;
/// use ndp_algos::gossip::SynchronousGossip;
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// let gossip = SynchronousGossip::new(GossipMatrix::metropolis(&path_graph(3)?), 2);
/// assert!((gossip.coalition_loss(&[2])?.unit(0)?.value().get() - 1.0).abs() < 1e-9); // the end learns all about the start
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SynchronousGossip {
    /// The gossip matrix `W`.
    pub matrix: GossipMatrix,
    /// The number of rounds `T`.
    pub rounds: usize,
    acceleration: Acceleration,
    /// Whether observers use the noise they drew; from the start they do.
    pub own_noise: OwnNoise,
}

impl SynchronousGossip {
    /// Plain gossip with `matrix` for `rounds` rounds; observers use their own noise.
    #[must_use]
    pub fn new(matrix: GossipMatrix, rounds: usize) -> Self {
        Self { matrix, rounds, acceleration: Acceleration::Plain, own_noise: OwnNoise::Known }
    }

    /// The same with Chebyshev acceleration: `x^1 = W x^0`, then `x^{t+1} = g W x^t + (1 - g) x^{t-1}` with this `g`.
    ///
    /// It changes the messages and not what they show.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `parameter` lies in `[1, 2)`.
    pub fn accelerated(mut self, parameter: f64) -> Result<Self, Error> {
        ensure((1.0..2.0).contains(&parameter), "the Chebyshev parameter", "lie in [1, 2)", parameter)?;
        self.acceleration = Acceleration::Chebyshev(parameter);
        Ok(self)
    }

    /// `x^0, …, x^T` from a given start: every state is a polynomial in `W` applied to the start.
    fn propagate(&self, start: Array2<f64>) -> Vec<Array2<f64>> {
        let w = self.matrix.csr();
        let mut states = Vec::with_capacity(self.rounds + 1);
        states.push(start);
        for t in 0..self.rounds {
            let mut next = apply(w, states[t].view());
            if let (Acceleration::Chebyshev(g), true) = (self.acceleration, t > 0) {
                let before = &states[t - 1];
                next.zip_mut_with(before, |y, x| *y = g * *y + (1.0 - g) * x);
            }
            states.push(next);
        }
        states
    }

    /// `x^T` alone, two states in memory at a time.
    pub(super) fn output_of(&self, start: Array2<f64>) -> Array2<f64> {
        let w = self.matrix.csr();
        let mut before = start.clone();
        let mut state = start;
        for t in 0..self.rounds {
            let mut next = apply(w, state.view());
            if let (Acceleration::Chebyshev(g), true) = (self.acceleration, t > 0) {
                next.zip_mut_with(&before, |y, x| *y = g * *y + (1.0 - g) * x);
            }
            before = std::mem::replace(&mut state, next);
        }
        state
    }

    fn senders(&self, coalition: &[usize]) -> Vec<usize> {
        outside_neighbors(self.matrix.graph(), coalition)
    }
}

impl GossipProtocol for SynchronousGossip {
    fn run(&self, values: ArrayView2<'_, f64>, sigma: Sigma, rng: &mut dyn Rng) -> Result<Transcript, Error> {
        let (noise, start) = noisy_values(values, self.matrix.node_count(), sigma, rng)?;
        let mut states = self.propagate(start);
        let output = states.pop().expect("the start is a state");
        Ok(Transcript { noise, messages: states, output, later_noises: Vec::new() })
    }

    fn mean_squared_error(&self, values: ArrayView2<'_, f64>, sigma: Sigma) -> Result<Exact<f64>, Error> {
        check_values(values, self.node_count())?;
        operator_error(self.operator()?.view(), values, sigma)
    }
}

impl LinearProtocol for SynchronousGossip {
    fn terms(&self) -> Terms {
        Terms::VALUES.on("every value, once")
    }

    fn node_count(&self) -> usize {
        self.matrix.node_count()
    }

    /// Every node keeps the noise of its first value to itself.
    fn own_variance(&self) -> Option<f64> {
        Some(1.0)
    }

    /// Messages go between neighbors and nothing is published: somebody outside sees nothing.
    fn outside(&self) -> Result<Guarantee<f64>, Error> {
        Ok(Exact::new(0.0).into())
    }

    /// The rows `(P_t(W))_w` over inputs and over noises, for rounds `t = 0..T-1` and, within a
    /// round, the neighbors `w` outside the coalition in ascending order.
    ///
    /// Meant for attacks on transcripts and for small cases; exact losses of large ones come from
    /// [`gossip::exact_loss`](crate::gossip::exact_loss), which does not write the rows down.
    fn coalition_view(&self, coalition: &[usize]) -> Result<View, Error> {
        let n = self.node_count();
        let coalition = checked_coalition(coalition, n)?;
        let senders = self.senders(&coalition);
        let entries = (senders.len() as u64 * n as u64).saturating_mul(self.rounds as u64 + 1);
        let bytes = entries.saturating_mul(2 * 8);
        if bytes > VIEW_LIMIT {
            return Err(Error::Certify(ndp_certify::Error::TooLarge {
                what: "a view written out row by row",
                bytes,
                limit: VIEW_LIMIT,
            }));
        }
        // W is symmetric, so column j of P_t(W) E is row senders[j] of P_t(W).
        let start = Array2::from_shape_fn((n, senders.len()), |(u, j)| f64::from(u8::from(u == senders[j])));
        let states = self.propagate(start);
        let mut rows = Array2::zeros((self.rounds * senders.len(), n));
        for (t, state) in states.iter().take(self.rounds).enumerate() {
            let mut block = rows.slice_mut(ndarray::s![t * senders.len()..(t + 1) * senders.len(), ..]);
            block.assign(&state.t());
        }
        let known = match self.own_noise {
            OwnNoise::Known => coalition.clone(),
            OwnNoise::Unknown => Vec::new(),
        };
        let exact = seen(&self.matrix, &coalition, self.rounds, &known);
        let view = View::new(&coalition, rows.clone(), rows, &known)?;
        Ok(view.with_source(Source::FixedMatrix(exact, self.matrix.graph().clone())))
    }

    fn coalition_loss(&self, coalition: &[usize]) -> Result<LossReport, Error> {
        let coalition = checked_coalition(coalition, self.node_count())?;
        let options = ExactOptions { own_noise: self.own_noise, ..ExactOptions::default() };
        account(&self.matrix, coalition, self.rounds, options)
    }

    fn observe(
        &self,
        values: ArrayView2<'_, f64>,
        sigma: Sigma,
        coalition: &[usize],
        rng: &mut dyn Rng,
    ) -> Result<Observation, Error> {
        let run = self.run(values, sigma, rng)?;
        let received = run.received(self.matrix.graph(), coalition)?;
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
        Ok(2.0 * self.matrix.graph().edge_count() as f64 * self.rounds as f64)
    }
}

impl Transcript {
    /// What `coalition` received on `graph`, one row per message in the order of the rows of
    /// [`LinearProtocol::coalition_view`]: `rows` by `d`.
    ///
    /// # Errors
    /// As [`LinearProtocol::coalition_view`].
    pub(super) fn received(
        &self,
        graph: &ndp_graph::Graph,
        coalition: &[usize],
    ) -> Result<Array2<f64>, Error> {
        let coalition = checked_coalition(coalition, self.output.nrows())?;
        let senders = outside_neighbors(graph, &coalition);
        let mut rows = Array2::zeros((self.messages.len() * senders.len(), self.output.ncols()));
        let sent = self.messages.iter().flat_map(|state| senders.iter().map(move |&w| state.row(w)));
        for (mut row, message) in rows.rows_mut().into_iter().zip(sent) {
            row.assign(&message);
        }
        Ok(rows)
    }
}

/// `W X` for a matrix of values.
pub(crate) fn apply(w: &Csr, x: ArrayView2<'_, f64>) -> Array2<f64> {
    let mut y = Array2::zeros(x.raw_dim());
    for (i, mut row) in y.rows_mut().into_iter().enumerate() {
        let (columns, weights) = w.row(i);
        for (&j, &weight) in columns.iter().zip(weights) {
            row.scaled_add(weight, &x.row(j as usize));
        }
    }
    y
}

/// Views written out row by row may take this many bytes.
const VIEW_LIMIT: u64 = 4 << 30;

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use ndarray::{Axis, array};
    use ndp_graph::Weights;
    use ndp_graph::generators;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn protocols() -> Result<Vec<SynchronousGossip>, Error> {
        let graph = generators::grid_2d_graph(3, 4)?;
        let plain = SynchronousGossip::new(GossipMatrix::metropolis(&graph), 7);
        Ok(vec![plain.clone(), plain.accelerated(1.4)?])
    }

    fn assert_close<'a>(a: impl Iterator<Item = &'a f64>, b: impl Iterator<Item = &'a f64>) {
        a.zip(b).for_each(|(a, b)| assert_abs_diff_eq!(*a, *b, epsilon = 1e-11));
    }

    /// What is received is what the rows of the view say of inputs and noises.
    #[test]
    fn transcripts_satisfy_their_views() -> Result<(), Error> {
        for protocol in protocols()? {
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let values = Array2::from_shape_fn((12, 3), |(v, k)| (v * v + k) as f64);
            let sigma = Sigma::new(0.7)?;
            let run = protocol.run(values.view(), sigma, &mut rng)?;
            for coalition in [vec![5], vec![0, 6]] {
                let view = protocol.coalition_view(&coalition)?;
                let received = run.received(protocol.matrix.graph(), &coalition)?;
                let predicted = view.inputs().dot(&values) + view.noises().dot(&run.noise);
                assert_eq!(received.dim(), (view.noises().nrows(), 3));
                assert_close(received.iter(), predicted.iter());
            }
        }
        Ok(())
    }

    #[test]
    fn the_mean_is_preserved() -> Result<(), Error> {
        for protocol in protocols()? {
            let mut rng = ChaCha8Rng::seed_from_u64(2);
            let values = Array2::from_shape_fn((12, 2), |(v, k)| (v + 5 * k) as f64);
            let run = protocol.run(values.view(), Sigma::new(1.0)?, &mut rng)?;
            let mean = (&values + &run.noise).sum_axis(Axis(0));
            for state in run.messages.iter().chain([&run.output]) {
                assert_close(state.sum_axis(Axis(0)).iter(), mean.iter());
            }
        }
        Ok(())
    }

    /// `x² = g W x¹ + (1 - g) x⁰` after `x¹ = W x⁰`, on the triangle with one heavy node.
    #[test]
    fn the_first_accelerated_step_is_plain() -> Result<(), Error> {
        let matrix = GossipMatrix::new(&generators::complete_graph(3)?, Weights::MaxDegree)?;
        let protocol = SynchronousGossip::new(matrix, 2).accelerated(1.5)?;
        let states = protocol.propagate(array![[8.0], [0.0], [0.0]]);
        assert_eq!(states[1], array![[0.0], [4.0], [4.0]]);
        assert_eq!(states[2], array![[1.5 * 4.0 - 4.0], [3.0], [3.0]]);
        Ok(())
    }

    /// The first draws for a seed: a change here changes every seeded run.
    #[test]
    fn draws_are_pinned() -> Result<(), Error> {
        let protocol = &protocols()?[0];
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let run = protocol.run(Array2::zeros((12, 1)).view(), Sigma::new(1.0)?, &mut rng)?;
        assert_eq!(run.noise[(0, 0)], -0.775_371_933_217_797_1);
        Ok(())
    }

    #[test]
    fn bad_values_are_refused() -> Result<(), Error> {
        let protocol = &protocols()?[0];
        let sigma = Sigma::new(1.0)?;
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let mut run = |values: Array2<f64>| protocol.run(values.view(), sigma, &mut rng);
        assert!(matches!(run(Array2::zeros((11, 1))), Err(Error::Shape { .. })));
        assert!(matches!(run(Array2::zeros((12, 0))), Err(Error::Shape { .. })));
        assert!(matches!(run(Array2::from_elem((12, 1), f64::NAN)), Err(Error::InvalidParameter { .. })));
        for parameter in [0.99, 2.0, f64::NAN] {
            assert!(protocol.clone().accelerated(parameter).is_err());
        }
        assert!(matches!(protocol.coalition_view(&[12]), Err(Error::NodeOutOfRange { .. })));
        Ok(())
    }
}
