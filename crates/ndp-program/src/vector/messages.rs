//! The messages of gossip over changing connections, as rows over the noisy inputs.
//!
//! In step `t` a node sends its state, row `w` of the running product `W_{t-1} ⋯ W_0`. As every step is
//! symmetric, the row is `W_0 ⋯ W_{t-1} e_w`: a vector that goes back in time. Sixteen of them are computed
//! at once.

use super::block::Block;
use ndp_graph::{GossipSequence, Graph, Step};

/// A message: the state of `sender` before step `step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The step before which it is sent.
    pub step: usize,
    /// The node that sends it.
    pub sender: usize,
}

/// The nodes that send to a coalition in a step and whose messages tell it something, ascending. A member
/// whose noise is `known` (ascending) sends what the coalition can compute; one whose noise is not used sends
/// to the others what they could not know.
pub(super) fn senders(step: &Step, coalition: &[usize], known: &[usize]) -> Vec<usize> {
    telling(coalition.iter().flat_map(|&v| step.peers(v)), known)
}

/// The same for a round in which all neighbors send.
pub(super) fn neighbors(graph: &Graph, coalition: &[usize], known: &[usize]) -> Vec<usize> {
    telling(coalition.iter().flat_map(|&v| graph.neighbors(v)).map(|&w| w as usize), known)
}

fn telling(senders: impl Iterator<Item = usize>, known: &[usize]) -> Vec<usize> {
    let mut senders: Vec<usize> = senders.filter(|w| known.binary_search(w).is_err()).collect();
    senders.sort_unstable();
    senders.dedup();
    senders
}

/// The neighbors of a coalition (ascending) that are not in it, ascending.
#[must_use]
pub fn outside_neighbors(graph: &Graph, coalition: &[usize]) -> Vec<usize> {
    neighbors(graph, coalition, coalition)
}

/// The messages that a coalition (ascending) receives from outside, in order of time, then of senders.
#[must_use]
pub fn received(sequence: &GossipSequence, coalition: &[usize]) -> Vec<Message> {
    let of_step = |(step, connections)| {
        senders(connections, coalition, coalition).into_iter().map(move |sender| Message { step, sender })
    };
    sequence.steps().iter().enumerate().flat_map(of_step).collect()
}

/// The rows of at most [`WIDTH`](super::block::WIDTH) messages, one per lane.
#[must_use]
pub fn rows(sequence: &GossipSequence, messages: &[Message]) -> Block {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::VectorProgram;
    use approx::assert_abs_diff_eq;
    use ndp_graph::{GossipMatrix, Weights, generators};

    /// The rows over a sequence with all kinds of steps are those of the product of the matrices.
    #[test]
    fn rows_are_those_of_the_running_product() -> Result<(), ndp_account::Error> {
        let graph = generators::path_graph(5)?;
        let lazy = GossipMatrix::new(&graph, Weights::SumDegree)?.lazy(0.25)?;
        let steps = vec![
            Step::Matrix(lazy.clone()),
            Step::Pair(0, 3),
            Step::Idle,
            Step::Matrix(GossipMatrix::metropolis(&generators::cycle_graph(5)?)),
            Step::Pair(2, 1),
        ];
        let sequence = GossipSequence::new(5, steps)?;
        // The product, by applying all steps to unit vectors.
        let mut product = vec![vec![0.0; 5]; 5];
        (0..5).for_each(|u| product[u][u] = 1.0);
        for (step, connections) in sequence.steps().iter().enumerate() {
            let messages: Vec<Message> = (0..5).map(|sender| Message { step, sender }).collect();
            let block = rows(&sequence, &messages);
            for (row, expected) in block.rows().iter().zip(&product) {
                row.0.iter().zip(expected).for_each(|(x, y)| assert_abs_diff_eq!(*x, *y, epsilon = 1e-15));
            }
            for column in &mut product {
                connections.apply(column);
            }
        }
        // The exact rows of what node 4 hears are the same numbers.
        let program = VectorProgram::new(5).noise(1.0).changing(&sequence);
        let exact = program.exact_rows(&[4], &[], false)?.float().expect("no subtraction").rows;
        let heard = received(&sequence, &[4]);
        let block = rows(&sequence, &heard);
        assert!(!heard.is_empty());
        for (lane, row) in exact.rows().into_iter().enumerate() {
            row.iter()
                .zip(block.rows())
                .for_each(|(x, y)| assert_abs_diff_eq!(*x, y.0[lane], epsilon = 1e-15));
        }
        Ok(())
    }
}
