//! Theorem 1 over changing connections, which Corollary 2 repeats for randomized gossip.

use super::Powers;
use ndarray::Array2;
use ndp_account::Error;
use ndp_account::parts::checked_coalition;
use ndp_algos::parts::{Block, Message, WIDTH, received, rows};
use ndp_dp::{ObserverLoss, Printed};
use ndp_graph::{GossipSequence, Step};
use ndp_linalg::memory::require_dense;
use rayon::prelude::*;

/// Theorem 1 or 12 over a sequence.
pub(super) fn towards(
    sequence: &GossipSequence,
    coalition: &[usize],
    powers: Powers,
) -> Result<Printed<ObserverLoss>, Error> {
    if powers == Powers::FromOne {
        return Err(Error::NotOffered(
            "the authors' program sums over the powers of one matrix, not over a sequence",
        ));
    }
    let coalition = checked_coalition(coalition, sequence.node_count())?;
    let mut unit = vec![0.0; sequence.node_count()];
    for messages in received(sequence, &coalition).chunks(WIDTH) {
        let rows = rows(sequence, messages);
        let lengths = squares(&rows);
        for (lane, &message) in messages.iter().enumerate() {
            let column;
            let (charged, from) = if powers == Powers::Transposed {
                column = columns(sequence, message);
                (&column, 0)
            } else {
                (&rows, lane)
            };
            for (unit, row) in unit.iter_mut().zip(charged.rows()) {
                *unit += row.0[from] * row.0[from] / lengths[lane];
            }
        }
    }
    Ok(Printed::new(ObserverLoss { observer: coalition[0], unit }))
}

/// Theorem 1 from `source` to every node, step by step: row `t`, column `v` is what the messages of step
/// `t` add to `f(source, v) / c₀` (`T` by `n`).
///
/// # Errors
/// [`Error::NodeOutOfRange`]; [`ndp_graph::Error::TooLarge`].
///
/// # Complexity
/// `O(n Σ_t nnz(W_t))`: the lengths of all rows of all products are needed.
pub(super) fn sequence_from(sequence: &GossipSequence, source: usize) -> Result<Printed<Array2<f64>>, Error> {
    let (n, steps) = (sequence.node_count(), sequence.steps());
    checked_coalition(&[source], n)?;
    // One table for the lengths, one for the result, and one for each panel at work.
    require_dense("the lengths of all messages", steps.len(), n * (2 + TOGETHER))?;
    let panels: Vec<Vec<usize>> =
        (0..n).step_by(WIDTH).map(|first| (first..n.min(first + WIDTH)).collect()).collect();
    let mut lengths = Array2::<f64>::zeros((steps.len(), n));
    for panels in panels.chunks(TOGETHER) {
        let parts: Vec<Array2<f64>> = panels.par_iter().map(|nodes| row_squares(sequence, nodes)).collect();
        parts.iter().for_each(|part| lengths += part);
    }
    let held = row_squares(sequence, &[source]);
    let mut sums = Array2::zeros((steps.len(), n));
    for (t, step) in steps.iter().enumerate() {
        let share = |w: usize| held[(t, w)] / lengths[(t, w)];
        match *step {
            Step::Matrix(ref matrix) => {
                for v in 0..n {
                    sums[(t, v)] = matrix.graph().neighbors(v).iter().map(|&w| share(w as usize)).sum();
                }
            }
            Step::Pair(a, b) => {
                sums[(t, a)] = share(b);
                sums[(t, b)] = share(a);
            }
            Step::Idle => {}
        }
    }
    Ok(Printed::new(sums))
}

/// The mean over all observers of Theorem 1's `f(source, v) / c₀`, after each of the steps.
///
/// # Errors
/// [`Error::NodeOutOfRange`]; [`ndp_graph::Error::TooLarge`].
///
/// # Complexity
/// `O(n Σ_t nnz(W_t))`: the lengths of all rows of all products are needed.
pub fn sequence_mean_from(sequence: &GossipSequence, source: usize) -> Result<Vec<Printed<f64>>, Error> {
    let n = sequence.node_count() as f64;
    let added = sequence_from(sequence, source)?.into_value();
    let means = added.rows().into_iter().scan(0.0, |sum, row| {
        *sum += row.sum() / n;
        Some(Printed::new(*sum))
    });
    Ok(means.collect())
}

/// `Σ_{u ∈ sources} (W_{0:t})_{wu}²` for every step `t` and node `w`.
fn row_squares(sequence: &GossipSequence, sources: &[usize]) -> Array2<f64> {
    let n = sequence.node_count();
    let mut squares = Array2::zeros((sequence.steps().len(), n));
    let mut block = Block::zero(n, sources.len());
    sources.iter().enumerate().for_each(|(lane, &u)| block.set(u, lane, 1.0));
    for (t, step) in sequence.steps().iter().enumerate() {
        for (w, row) in block.rows().iter().enumerate() {
            squares[(t, w)] = row.0.iter().map(|x| x * x).sum();
        }
        block = stepped(step, block);
    }
    squares
}

/// Column `w` of the product before the step of a message, in the first lane.
fn columns(sequence: &GossipSequence, message: Message) -> Block {
    let mut block = Block::zero(sequence.node_count(), 1);
    block.set(message.sender, 0, 1.0);
    sequence.steps()[..message.step].iter().fold(block, |block, step| stepped(step, block))
}

fn stepped(step: &Step, mut block: Block) -> Block {
    match *step {
        Step::Matrix(ref matrix) => block.multiplied(matrix.csr()),
        Step::Pair(a, b) => {
            block.average(a, b);
            block
        }
        Step::Idle => block,
    }
}

fn squares(block: &Block) -> [f64; WIDTH] {
    let mut sums = [0.0; WIDTH];
    for row in block.rows() {
        sums.iter_mut().zip(&row.0).for_each(|(sum, x)| *sum += x * x);
    }
    sums
}

/// The number of panels whose tables are in memory at the same time.
const TOGETHER: usize = 8;
