//! The messages of gossip over changing connections, as rows over the noisy inputs.
//!
//! In step `t` a node sends its state, row `w` of the running product `W_{t-1} ⋯ W_0`. As every step is
//! symmetric the row is `W_0 ⋯ W_{t-1} e_w`: a vector that goes back in time, sixteen at once.

use super::basis::{Block, WIDTH};
use super::modular::scheme;
use super::residues::{Panel, Sketch, Table, fold, inverse, prime, reduce};
use crate::kernel::{self, LANES, Residues};
use crate::tasks::for_tasks;
use ndp_graph::{GossipMatrix, GossipSequence, Step};

/// A message: the state of `sender` before step `step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) step: usize,
    pub(super) sender: usize,
}

/// The messages that a coalition (ascending) receives from outside, in order of time, then of senders.
pub(super) fn received(sequence: &GossipSequence, coalition: &[usize]) -> Vec<Message> {
    let mut messages = Vec::new();
    for (step, connections) in sequence.steps().iter().enumerate() {
        let mut senders: Vec<usize> = coalition.iter().flat_map(|&v| connections.peers(v)).collect();
        senders.retain(|w| coalition.binary_search(w).is_err());
        senders.sort_unstable();
        senders.dedup();
        messages.extend(senders.into_iter().map(|sender| Message { step, sender }));
    }
    messages
}

/// The rows of at most [`WIDTH`] messages, one per lane.
pub(super) fn rows(sequence: &GossipSequence, messages: &[Message]) -> Block {
    let mut block = Block::zero(sequence.node_count(), messages.len());
    let last = messages.iter().map(|message| message.step).max().unwrap_or(0);
    for time in (0..=last).rev() {
        for (lane, message) in messages.iter().enumerate().filter(|(_, message)| message.step == time) {
            block.set(message.sender, lane, 1.0);
        }
        if time > 0 {
            match sequence.steps()[time - 1] {
                Step::Matrix(ref matrix) => block = block.multiplied(matrix.csr()),
                Step::Pair(a, b) => block.average(a, b),
                Step::Idle => {}
            }
        }
    }
    block
}

/// The running products modulo `2^31 - C`.
pub(super) struct ModularSequence<'a, const C: u64> {
    nodes: usize,
    steps: Vec<ModularStep<'a>>,
}

enum ModularStep<'a> {
    Matrix { matrix: &'a GossipMatrix, weights: Vec<u32> },
    Pair(usize, usize),
    Idle,
}

impl<'a, const C: u64> ModularSequence<'a, C> {
    /// `None` when a matrix was given entry by entry.
    pub(super) fn new(sequence: &'a GossipSequence) -> Option<Self> {
        let step = |step: &'a Step| {
            Some(match *step {
                Step::Matrix(ref matrix) => ModularStep::Matrix { matrix, weights: weights::<C>(matrix)? },
                Step::Pair(a, b) => ModularStep::Pair(a, b),
                Step::Idle => ModularStep::Idle,
            })
        };
        let steps = sequence.steps().iter().map(step).collect::<Option<_>>()?;
        Some(Self { nodes: sequence.node_count(), steps })
    }

    /// Which messages are independent of the known unit vectors and of the messages before them.
    pub(super) fn kept(&self, known: &[usize], messages: &[Message], seed: u64) -> Vec<bool> {
        let n = self.nodes;
        let limit = (known.len() + messages.len()).min(n);
        let sketch = Sketch::new(n, limit, seed, prime::<C>());
        let mut table = Table::<C>::default();
        let mut add = |panel: &Panel| {
            sketch.apply::<C>(panel).into_iter().map(|column| table.add(column)).collect::<Vec<_>>()
        };
        for nodes in known.chunks(LANES) {
            add(&Panel::units(n, nodes));
        }
        let mut kept = Vec::with_capacity(messages.len());
        for messages in messages.chunks(WIDTH) {
            // Once everything is known nothing is new.
            let full = known.len() + kept.iter().filter(|&&is_new| is_new).count() == n;
            kept.extend(if full { vec![false; messages.len()] } else { add(&self.rows(messages)) });
        }
        kept
    }

    fn rows(&self, messages: &[Message]) -> Panel {
        let mut panel = Panel { rows: vec![Residues::ZERO; self.nodes], width: messages.len() };
        let half = u64::from(inverse::<C>(2));
        let last = messages.iter().map(|message| message.step).max().unwrap_or(0);
        for time in (0..=last).rev() {
            for (lane, message) in messages.iter().enumerate().filter(|(_, message)| message.step == time) {
                panel.rows[message.sender].0[lane] = 1;
            }
            if time == 0 {
                break;
            }
            match self.steps[time - 1] {
                ModularStep::Matrix { matrix, ref weights } => {
                    let mut next = vec![Residues::ZERO; self.nodes];
                    for_tasks(&mut next, |first, rows| {
                        let pattern = matrix.csr();
                        kernel::modular_multiply::<C>(
                            pattern,
                            weights,
                            first,
                            &panel.rows,
                            panel.width,
                            rows,
                        );
                    });
                    panel.rows = next;
                }
                ModularStep::Pair(a, b) => {
                    let (a_row, b_row) = (panel.rows[a].0, panel.rows[b].0);
                    let mean = |lane: usize| {
                        let sum = u64::from(a_row[lane]) + u64::from(b_row[lane]);
                        reduce::<C>(half * reduce::<C>(sum)) as u32
                    };
                    let mean = Residues(std::array::from_fn(mean));
                    (panel.rows[a], panel.rows[b]) = (mean, mean);
                }
                ModularStep::Idle => {}
            }
        }
        panel
    }
}

/// The entries of `W`, its laziness included, modulo `2^31 - C`.
fn weights<const C: u64>(matrix: &GossipMatrix) -> Option<Vec<u32>> {
    let mut weights = scheme::<C>(matrix)?;
    if matrix.laziness() != 0.0 {
        let lazy = fraction::<C>(matrix.laziness());
        let busy = reduce::<C>(1 + prime::<C>() - lazy);
        weights.iter_mut().for_each(|weight| *weight = reduce::<C>(busy * u64::from(*weight)) as u32);
        for u in 0..matrix.node_count() {
            let (columns, _) = matrix.csr().row(u);
            let diagonal = columns.binary_search(&(u as u32)).ok()?;
            let weight = &mut weights[matrix.csr().starts()[u] + diagonal];
            *weight = reduce::<C>(lazy + u64::from(*weight)) as u32;
        }
    }
    Some(weights)
}

/// The residue of a number in `(0, 1)`, which is a fraction with a power of two below.
fn fraction<const C: u64>(x: f64) -> u64 {
    let (mut residue, mut rest) = (0, x);
    let half = u64::from(inverse::<C>(2));
    let mut weight = 1;
    // Binary digits, first to last: doubling and subtracting 1 are exact.
    while rest > 0.0 {
        rest *= 2.0;
        weight = reduce::<C>(weight * half);
        if rest >= 1.0 {
            rest -= 1.0;
            residue = reduce::<C>(fold::<C>(residue + weight));
        }
    }
    residue
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use ndp_graph::generators;

    #[test]
    fn fractions_have_their_residues() {
        assert_eq!(fraction::<19>(0.75) * 4 % prime::<19>(), 3);
        assert_eq!(fraction::<19>(1.0 / 1024.0) * 1024 % prime::<19>(), 1);
        // 0.1 is 3602879701896397 / 2^55 in floats.
        let power = (0..55).fold(1, |power, _| power * 2 % prime::<61>());
        assert_eq!(fraction::<61>(0.1) * power % prime::<61>(), 3_602_879_701_896_397 % prime::<61>());
    }

    /// Rows over a sequence with all kinds of steps are those of the product of the matrices.
    #[test]
    fn rows_are_those_of_the_running_product() -> Result<(), ndp_graph::Error> {
        let graph = generators::path_graph(5)?;
        let lazy = GossipMatrix::sum_degree(&graph).lazy(0.25)?;
        let steps = vec![
            Step::Matrix(lazy.clone()),
            Step::Pair(0, 3),
            Step::Idle,
            Step::Matrix(GossipMatrix::metropolis(&generators::cycle_graph(5)?)),
            Step::Pair(2, 1),
        ];
        let sequence = GossipSequence::new(5, steps)?;
        // The product by applying all steps to unit vectors.
        let mut product = vec![vec![0.0; 5]; 5];
        (0..5).for_each(|u| product[u][u] = 1.0);
        for (step, connections) in sequence.steps().iter().enumerate() {
            let messages: Vec<Message> = (0..5).map(|sender| Message { step, sender }).collect();
            let block = rows(&sequence, &messages);
            let panel = ModularSequence::<19>::new(&sequence).expect("named schemes").rows(&messages);
            let mut sums = [0; 5];
            for (u, (row, residues)) in block.rows().iter().zip(&panel.rows).enumerate() {
                for w in 0..5 {
                    assert_abs_diff_eq!(row.0[w], product[u][w], epsilon = 1e-15);
                    sums[w] += u64::from(residues.0[w]);
                }
            }
            assert!(sums.iter().all(|sum| sum % prime::<19>() == 1));
            for column in &mut product {
                connections.apply(column);
            }
        }
        Ok(())
    }
}
