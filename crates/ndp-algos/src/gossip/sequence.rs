//! Gossip whose steps change: random pairs, graphs drawn anew, dropout, one-peer hypercube.
//!
//! The steps are public and independent of the data; what is said here holds given the realised
//! steps. At step `t` a node sends its state to its peers of that step *before* averaging, so the message
//! of node `w` is row `w` of the product `W_{t-1} … W_0`.

use crate::audit::{Observation, Simulate};
use crate::gossip::synchronous::check_values;
use crate::loss::{LossReport, exact_loss};
use crate::protocol::checked_coalition;
use crate::{Error, OwnNoise, Protocol, View};
use ndarray::{Array1, Array2, ArrayView2, Axis};
use ndp_dp::{ObserverLoss, Printed, Sigma, UpperBound};
use ndp_graph::sequences::{GossipSequence, Step};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

/// Gossip averaging with noise added once and a sequence of steps: Algorithm 2 of Muffliato for
/// pairs, time-varying Muffliato for matrices.
#[derive(Clone, Debug, PartialEq)]
pub struct SequenceGossip {
    sequence: GossipSequence,
    own_noise: OwnNoise,
}

/// What happened in one run.
#[derive(Clone, Debug, PartialEq)]
pub struct SequenceTranscript {
    /// The noise each node drew: `n` by `d`.
    pub noise: Array2<f64>,
    /// The states before every step, each `n` by `d`.
    pub states: Vec<Array2<f64>>,
    /// The states after the last step: `n` by `d`.
    pub output: Array2<f64>,
}

impl SequenceGossip {
    /// The protocol with these steps.
    #[must_use]
    pub fn new(sequence: GossipSequence) -> Self {
        Self { sequence, own_noise: OwnNoise::Known }
    }

    /// The same, observed by nodes that use or throw away the noise they drew.
    #[must_use]
    pub fn with_own_noise(mut self, own_noise: OwnNoise) -> Self {
        self.own_noise = own_noise;
        self
    }

    /// The steps.
    #[must_use]
    pub fn sequence(&self) -> &GossipSequence {
        &self.sequence
    }

    /// Runs the protocol on `values` (`n` by `d`, row `v` held by node `v`).
    ///
    /// # Errors
    /// [`Error::Shape`] unless there is one row per node and at least one column;
    /// [`Error::InvalidParameter`] for a value that is not finite.
    pub fn run(
        &self,
        values: ArrayView2<'_, f64>,
        sigma: Sigma,
        rng: &mut impl Rng,
    ) -> Result<SequenceTranscript, Error> {
        check_values(values, self.node_count())?;
        let noise = Array2::from_shape_fn(values.raw_dim(), |_| {
            let z: f64 = StandardNormal.sample(rng);
            sigma.get() * z
        });
        let mut state = &values + &noise;
        let mut states = Vec::with_capacity(self.sequence.steps().len());
        for step in self.sequence.steps() {
            states.push(state.clone());
            advance(step, &mut state);
        }
        Ok(SequenceTranscript { noise, states, output: state })
    }

    /// What the observer learns about every node, given the realised steps.
    ///
    /// Graded as [`exact_loss`] grades it: ranks are decided with a tolerance, on the safe side.
    ///
    /// # Errors
    /// [`Error::NodeOutOfRange`], or a view too large to write down.
    pub fn loss(&self, observer: usize) -> Result<LossReport, Error> {
        self.coalition_loss(&[observer])
    }

    /// What a coalition learns about every node; its members' entries are 1.
    ///
    /// # Errors
    /// Those of [`loss`](Self::loss), and a coalition that is empty or names a node twice.
    pub fn coalition_loss(&self, coalition: &[usize]) -> Result<LossReport, Error> {
        exact_loss(&self.coalition_view(coalition)?)
    }

    /// Bound on the mean loss `(1/n) Σ_{u≠v} ε(u→v)` towards `observer`, as a fraction of the local loss,
    /// after each step: `(rank - 1)/n` of what it received, its own noise known. The rank is decided with
    /// a tolerance that can only raise it; it is never above the number of messages received.
    ///
    /// # Errors
    /// [`Error::NodeOutOfRange`].
    pub fn mean_loss_by_step(&self, observer: usize) -> Result<Vec<UpperBound<f64>>, Error> {
        let n = self.node_count();
        checked_coalition(&[observer], n)?;
        let mut own = Array1::zeros(n);
        own[observer] = 1.0;
        let mut basis = vec![own];
        let mut means = Vec::with_capacity(self.sequence.steps().len());
        self.for_each_message_row(
            &[observer],
            |row| extend(&mut basis, row),
            |rank_so_far| {
                means.push(UpperBound::new((rank_so_far - 1) as f64 / n as f64));
            },
        );
        Ok(means)
    }

    /// Calls `on_row` with every message row the coalition receives and `after_step` with its last
    /// return value after every step.
    fn for_each_message_row(
        &self,
        coalition: &[usize],
        mut on_row: impl FnMut(Array1<f64>) -> usize,
        mut after_step: impl FnMut(usize),
    ) {
        let mut product = Array2::eye(self.node_count());
        let mut last = 1;
        for step in self.sequence.steps() {
            for w in senders(step, coalition) {
                last = on_row(product.row(w).to_owned());
            }
            after_step(last);
            advance(step, &mut product);
        }
    }
}

/// Theorem 1 (Corollary 2) for realised steps, towards `observer`: the sum over its messages of
/// `(W_{0:t})_{wu}² / ‖(W_{0:t})_w‖²`, as a fraction of the local loss, unclipped. Not a guarantee.
///
/// The paper prints the entry `(u, w)`; a message of `w` depends on `u` by the entry `(w, u)`.
///
/// # Errors
/// [`Error::NodeOutOfRange`].
pub fn printed_towards(sequence: &GossipSequence, observer: usize) -> Result<Printed<ObserverLoss>, Error> {
    let gossip = SequenceGossip::new(sequence.clone());
    checked_coalition(&[observer], gossip.node_count())?;
    let mut unit = Array1::<f64>::zeros(gossip.node_count());
    let add = |row: Array1<f64>| {
        let norm = row.dot(&row);
        unit.zip_mut_with(&row, |sum, x| *sum += x * x / norm);
        0
    };
    gossip.for_each_message_row(&[observer], add, |_| {});
    Ok(Printed::new(ObserverLoss { observer, unit: unit.to_vec() }))
}

/// The mean over all observers of the printed loss of node `source` after each step.
///
/// # Errors
/// [`Error::NodeOutOfRange`].
pub fn printed_mean_from(sequence: &GossipSequence, source: usize) -> Result<Vec<Printed<f64>>, Error> {
    let gossip = SequenceGossip::new(sequence.clone());
    let n = gossip.node_count();
    checked_coalition(&[source], n)?;
    let mut product = Array2::<f64>::eye(n);
    let mut total = 0.0;
    let mut means = Vec::with_capacity(sequence.steps().len());
    for step in sequence.steps() {
        for w in 0..n {
            let row = product.row(w);
            let share = row[source] * row[source] / row.dot(&row);
            total += share * step.peers(w).len() as f64;
        }
        means.push(Printed::new(total / n as f64));
        advance(step, &mut product);
    }
    Ok(means)
}

impl Protocol for SequenceGossip {
    fn node_count(&self) -> usize {
        self.sequence.node_count()
    }

    /// Rows of the running product, step by step and within a step by ascending sender outside the
    /// coalition, over inputs and over noises alike.
    fn coalition_view(&self, coalition: &[usize]) -> Result<View, Error> {
        let n = self.node_count();
        let coalition = checked_coalition(coalition, n)?;
        let mut rows = Array2::zeros((0, n));
        let push = |row: Array1<f64>| {
            rows.push_row(row.view()).expect("a message row has one entry per node");
            0
        };
        self.for_each_message_row(&coalition, push, |_| {});
        let known = match self.own_noise {
            OwnNoise::Known => coalition.clone(),
            OwnNoise::Unknown => Vec::new(),
        };
        View::new(&coalition, rows.clone(), rows, &known)
    }
}

impl Simulate for SequenceGossip {
    fn observe<R: Rng>(
        &self,
        values: ArrayView2<'_, f64>,
        sigma: Sigma,
        coalition: &[usize],
        rng: &mut R,
    ) -> Result<Observation, Error> {
        let coalition = checked_coalition(coalition, self.node_count())?;
        let run = self.run(values, sigma, rng)?;
        let mut received = Array2::zeros((0, values.ncols()));
        for (step, state) in self.sequence.steps().iter().zip(&run.states) {
            for w in senders(step, &coalition) {
                received.push_row(state.row(w)).expect("one entry per coordinate");
            }
        }
        let known = match self.own_noise {
            OwnNoise::Known => coalition,
            OwnNoise::Unknown => Vec::new(),
        };
        Ok(Observation { received, known_noises: run.noise.select(Axis(0), &known) })
    }
}

/// The nodes outside a coalition (ascending) that send to a member in this step, ascending, once each.
fn senders(step: &Step, coalition: &[usize]) -> Vec<usize> {
    let peers = coalition.iter().flat_map(|&v| step.peers(v));
    let mut outside: Vec<usize> = peers.filter(|w| coalition.binary_search(w).is_err()).collect();
    outside.sort_unstable();
    outside.dedup();
    outside
}

/// Replaces the rows of `state` by their averages under `step`.
fn advance(step: &Step, state: &mut Array2<f64>) {
    match *step {
        Step::Matrix(ref matrix) => {
            let before = state.clone();
            for v in 0..state.nrows() {
                // Most nodes of a sparse draw are alone and keep their state.
                if matrix.graph().degree(v) > 0 {
                    let (columns, weights) = matrix.csr().row(v);
                    let mut row = state.row_mut(v);
                    row.fill(0.0);
                    for (&w, &weight) in columns.iter().zip(weights) {
                        row.scaled_add(weight, &before.row(w as usize));
                    }
                }
            }
        }
        Step::Pair(a, b) => {
            let mean = (&state.row(a) + &state.row(b)) / 2.0;
            state.row_mut(a).assign(&mean);
            state.row_mut(b).assign(&mean);
        }
        Step::Idle => {}
    }
}

/// Adds the direction of `row` to an orthonormal basis if more than `1e-10` of it is new; returns the
/// rank.
fn extend(basis: &mut Vec<Array1<f64>>, mut row: Array1<f64>) -> usize {
    let before = row.dot(&row).sqrt();
    for _ in 0..2 {
        for q in basis.iter() {
            let overlap = q.dot(&row);
            row.scaled_add(-overlap, q);
        }
    }
    let left = row.dot(&row).sqrt();
    if left > 1e-10 * before {
        basis.push(row / left);
    }
    basis.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::{AuditPlan, audit};
    use crate::gossip::closed_form::one_peer_hypercube;
    use crate::gossip::{ExactOptions, exact_loss as fixed_loss, printed};
    use approx::assert_abs_diff_eq;
    use ndp_dp::Sensitivity;
    use ndp_graph::{GossipMatrix, generators};
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn assert_losses(got: &[f64], expected: &[f64]) {
        assert_eq!(got.len(), expected.len());
        for (g, e) in got.iter().zip(expected) {
            assert_abs_diff_eq!(*g, *e, epsilon = 1e-12);
        }
    }

    /// Five activations on the path of 4: reference values, exact ones by rationals.
    #[test]
    fn realised_pairs_match_the_references() -> Result<(), Error> {
        let path = generators::path_graph(4)?;
        let edges = [(0, 1), (1, 2), (2, 3), (1, 2), (2, 3)];
        let sequence = GossipSequence::given_activations(&path, &edges)?;
        let printed = printed_towards(&sequence, 3)?.into_value().unit;
        let expected =
            [0.295_238_095_238_095, 0.295_238_095_238_095, 1.180_952_380_952_38, 0.228_571_428_571_429];
        assert_losses(&printed, &expected);
        for own_noise in [OwnNoise::Known, OwnNoise::Unknown] {
            let report = SequenceGossip::new(sequence.clone()).with_own_noise(own_noise).loss(3)?;
            assert_eq!(report.rank, 2);
            assert_losses(&report.loss.value().unit, &[1.0 / 6.0, 1.0 / 6.0, 2.0 / 3.0, 1.0]);
        }
        assert!(GossipSequence::given_activations(&path, &[(0, 2)]).is_err());
        Ok(())
    }

    #[test]
    fn a_constant_sequence_is_synchronous_gossip() -> Result<(), Error> {
        let matrix = GossipMatrix::metropolis(&generators::grid_2d_graph(3, 4)?);
        let sequence = GossipSequence::constant(&matrix, 4);
        let here = SequenceGossip::new(sequence.clone()).loss(5)?;
        let there = fixed_loss(&matrix, 5, 4, ExactOptions::default())?;
        assert_eq!(here.rank, there.rank);
        for (a, b) in here.loss.value().unit.iter().zip(&there.loss.value().unit) {
            assert_abs_diff_eq!(*a, *b, epsilon = 1e-9);
        }
        let printed = printed::theorem1_towards(&matrix, 5, 4, printed::Powers::FromZero)?.into_value();
        assert_losses(&printed_towards(&sequence, 5)?.into_value().unit, &printed.unit);
        // Column sums: what one node loses to all others, by the other route.
        let from = printed::theorem1_from(&matrix, 5, 4, printed::Powers::FromZero)?.into_value();
        let means = printed_mean_from(&sequence, 5)?;
        assert_abs_diff_eq!(*means[3].value(), from.iter().sum::<f64>() / 12.0, epsilon = 1e-12);
        // (rank - 1)/n, the exact mean.
        let bounds = SequenceGossip::new(sequence).mean_loss_by_step(5)?;
        assert_abs_diff_eq!(*bounds[3].value(), *there.mean().value(), epsilon = 1e-9);
        assert!(bounds.windows(2).all(|w| w[0].value() <= w[1].value()));
        Ok(())
    }

    #[test]
    fn one_peer_hypercube_has_its_closed_form_and_reaches_consensus() -> Result<(), Error> {
        let protocol = SequenceGossip::new(GossipSequence::one_peer_hypercube(3)?);
        let report = protocol.loss(5)?;
        assert_losses(&report.loss.value().unit, &one_peer_hypercube(3, 5)?.into_value().unit);
        assert_losses(&printed_towards(protocol.sequence(), 5)?.into_value().unit[..4], &[0.25; 4]);
        let values = Array2::from_shape_fn((8, 2), |(v, j)| (v * v + j) as f64);
        let run = protocol.run(values.view(), Sigma::new(0.5)?, &mut ChaCha8Rng::seed_from_u64(1))?;
        let mean = (&values + &run.noise).mean_axis(Axis(0)).expect("eight rows");
        assert!((&run.output - &mean).iter().all(|x| x.abs() < 1e-12));
        Ok(())
    }

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
            let mu = report.unit(source)?.mu(scales.0, scales.1);
            let measured = audit(&protocol, &[0], source, scales, plan, &mut rng)?.measured_mu.into_value();
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
        assert!(printed_towards(protocol.sequence(), 9).is_err());
        assert!(printed_mean_from(protocol.sequence(), 9).is_err());
        let empty = Array2::zeros((4, 0));
        assert!(protocol.run(empty.view(), Sigma::new(1.0)?, &mut ChaCha8Rng::seed_from_u64(1)).is_err());
        Ok(())
    }
}
