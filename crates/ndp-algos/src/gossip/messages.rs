//! The messages of gossip over changing connections, as rows over the noisy inputs.
//!
//! In step `t` a node sends its state, row `w` of the running product `W_{t-1} ⋯ W_0`. As every step is
//! symmetric the row is `W_0 ⋯ W_{t-1} e_w`: a vector that goes back in time, sixteen at once.

use super::block::Block;
use ndp_certify::ball::Ball;
use ndp_certify::matrix::{ExactMatrix, Laziness};
use ndp_certify::rows::{Layout, Rows};
use ndp_certify::trace::{self, Trace};
use ndp_graph::{GossipMatrix, GossipSequence, Step};
use ndp_numeric::casts::id;
use std::sync::Arc;

/// A message: the state of `sender` before step `step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Before which step it is sent.
    pub step: usize,
    /// Who sends it.
    pub sender: usize,
}

/// The messages that a coalition (ascending) receives from outside, in order of time, then of senders.
pub fn received(sequence: &GossipSequence, coalition: &[usize]) -> Vec<Message> {
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

/// The rows of at most [`WIDTH`](super::block::WIDTH) messages, one per lane.
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

/// The messages as rows with exact entries: the steps cut to the nodes from which something arrives in time. Known noises
/// have no coordinate, and neither has the input of a member who knows its own.
pub(super) fn exact_rows(sequence: &GossipSequence, known: &[usize], messages: &[Message]) -> Rows {
    let ball = Ball::before(sequence, &[], messages.iter().map(|message| (message.step, message.sender)));
    let local = |u: usize| ball.local(u);
    let inside: Vec<usize> =
        ball.nodes().iter().copied().filter(|u| known.binary_search(u).is_err()).collect();
    let mut layout = Layout::of_equal_columns(sequence.node_count(), &inside);
    layout.known = known.len();
    let entries = inside.iter().enumerate().filter_map(|(k, &u)| Some((id(local(u)?), id(k))));
    let mut steps = vec![trace::Step::Add { entries: Arc::new(entries.collect()), first: 0, factor: 1.0 }];
    // Equal matrices, of which sequences are full, are cut and kept once.
    let mut kinds: Vec<(&GossipMatrix, Arc<ExactMatrix>)> = Vec::new();
    for step in sequence.steps() {
        steps.push(match *step {
            Step::Matrix(ref matrix) => {
                let known = kinds.iter().rev().take(KINDS).find(|(other, _)| *other == matrix);
                let exact = known.map(|(_, exact)| exact.clone()).unwrap_or_else(|| {
                    let exact = Arc::new(ExactMatrix::new(matrix, &ball, Laziness::Kept));
                    kinds.push((matrix, exact.clone()));
                    exact
                });
                trace::Step::Mix(exact)
            }
            Step::Pair(a, b) => match (local(a), local(b)) {
                (Some(a), Some(b)) => trace::Step::Average(a, b),
                // What happens outside the ball, or between inside and outside once it is too late, is not seen.
                _ => trace::Step::Idle,
            },
            Step::Idle => trace::Step::Idle,
        });
    }
    let messages = messages.iter().filter_map(|message| {
        // The inputs are the first step.
        Some(trace::Message { after: message.step + 1, register: local(message.sender)?, beside: Vec::new() })
    });
    Rows::Traced(Trace::new(layout, ball.len(), steps, messages.collect()))
}

/// How many matrices back an equal one is looked for.
const KINDS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use ndp_graph::Weights;
    use ndp_graph::generators;

    /// Rows over a sequence with all kinds of steps are those of the product of the matrices.
    #[test]
    fn rows_are_those_of_the_running_product() -> Result<(), ndp_graph::Error> {
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
        // The product by applying all steps to unit vectors.
        let mut product = vec![vec![0.0; 5]; 5];
        (0..5).for_each(|u| product[u][u] = 1.0);
        for (step, connections) in sequence.steps().iter().enumerate() {
            let messages: Vec<Message> = (0..5).map(|sender| Message { step, sender }).collect();
            let block = rows(&sequence, &messages);
            let exact = exact_rows(&sequence, &[], &messages).float().expect("no subtraction").rows;
            for (u, row) in block.rows().iter().enumerate() {
                for w in 0..5 {
                    assert_abs_diff_eq!(row.0[w], product[u][w], epsilon = 1e-15);
                    assert_abs_diff_eq!(exact[(w, u)], product[u][w], epsilon = 1e-15);
                }
            }
            for column in &mut product {
                connections.apply(column);
            }
        }
        Ok(())
    }
}
