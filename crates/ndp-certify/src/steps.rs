//! The steps of a protocol, and bounds on how large they make numbers.

use crate::arithmetic::ring_norm;
use crate::magnitude::Magnitude;
use crate::matrix::ExactMatrix;
use std::sync::Arc;

/// One step of a protocol on its registers; the steps are in order of time.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// `x ← W x`, on the first registers.
    Mix(Arc<ExactMatrix>),
    /// Two registers are replaced by their mean.
    Average(usize, usize),
    /// A register is multiplied by a factor.
    Scale(usize, f64),
    /// Nothing happens.
    Idle,
    /// Two registers move towards each other by a share of their difference: `a ← a + s (b - a)`, `b ← b + s
    /// (a - b)`, `s` in `[0, 1/2]`.
    Share(usize, usize, f64),
    /// An edge rings: `z_a ← z_a - γ (x_a - x_b)`, `z_b ← z_b + γ (x_a - x_b)`, then `x_a`, `x_b` are
    /// averaged.
    Ring {
        /// The registers `x_a`, `x_b`.
        x: (usize, usize),
        /// The registers `z_a`, `z_b`.
        z: (usize, usize),
        /// `γ`.
        push: f64,
    },
    /// Noises (or inputs) are added: each register in the list gets its coordinate times a factor.
    Add {
        /// Register and coordinate.
        entries: Arc<Vec<(u32, u32)>>,
        /// The first coordinate; the list gives offsets from it.
        first: usize,
        /// The factor.
        factor: f64,
    },
    /// Each register receives the sum, over its neighbors, of their weight times their noise. The list gives,
    /// for a register `w`, the coordinate of the noise that `w` sends.
    AddAround {
        /// The weights.
        matrix: Arc<ExactMatrix>,
        /// Sender and coordinate.
        entries: Arc<Vec<(u32, u32)>>,
        /// The first coordinate; the list gives offsets from it.
        first: usize,
        /// The factor.
        factor: f64,
    },
    /// Like `AddAround`, with a separate noise for every link: register, coordinate and weight.
    AddLinks {
        /// Receiving register, sending register, coordinate.
        entries: Arc<Vec<(u32, u32, u32)>>,
        /// The weights.
        matrix: Arc<ExactMatrix>,
        /// The first coordinate; the list gives offsets from it.
        first: usize,
        /// The factor.
        factor: f64,
    },
}

/// A message: the state of a register after some of the steps, and noises of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Number of steps before it.
    pub after: usize,
    /// The register that is sent.
    pub register: usize,
    /// Coordinates that are added to this message only, with their factors.
    pub beside: Vec<(usize, f64)>,
}

/// Upper bounds on the absolute values of numbers on the walk back through the steps up to some time. Because
/// of them, fixed-point numbers do not wrap around.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sizes {
    /// Binary logarithm of the length of the state, which starts from 1: every step stretches it by its norm.
    pub(super) state: f64,
    /// The sum of the squared norms of all reads, for a state of length at most 1.
    pub(super) squares: Magnitude,
}

impl Sizes {
    /// The bounds for the first `k` steps, for every `k`.
    pub(super) fn of(steps: &[Step]) -> Vec<Self> {
        let mut all = vec![Self { state: 0.0, squares: Magnitude::ZERO }];
        for step in steps {
            let Self { state, squares } = all[all.len() - 1];
            let (stretch, read) = step.norms();
            all.push(Self { state: state + stretch.log2().max(0.0), squares: squares.plus(read.squared()) });
        }
        all
    }
}

impl Step {
    /// An upper bound on the norm of the step on the state (0 if it does not lengthen any state), and one on
    /// the norm of what it reads from the state.
    fn norms(&self) -> (Magnitude, Magnitude) {
        let number = |x: f64| Magnitude::new(x, 0);
        match self {
            Self::Mix(matrix) => (matrix.norm(), Magnitude::ZERO),
            Self::Scale(_, factor) => (number(*factor), Magnitude::ZERO),
            Self::Ring { push, .. } => (ring_norm(*push), Magnitude::ZERO),
            Self::Add { factor, .. } => (Magnitude::ZERO, number(*factor)),
            // Leaving out the diagonal of a nonnegative matrix increases neither its norm nor the length of a
            // row.
            Self::AddAround { matrix, factor, .. } | Self::AddLinks { matrix, factor, .. } => {
                (Magnitude::ZERO, number(*factor).times(matrix.norm()))
            }
            Self::Average(..) | Self::Share(..) | Self::Idle => (Magnitude::ZERO, Magnitude::ZERO),
        }
    }
}

/// An upper bound on how often any one coordinate is read.
pub(super) fn most_reads(steps: &[Step], coordinates: usize) -> u32 {
    let mut counts = vec![0u32; coordinates];
    for step in steps {
        match step {
            Step::Add { entries, first, .. } | Step::AddAround { entries, first, .. } => {
                entries.iter().for_each(|&(_, at)| counts[first + at as usize] += 1);
            }
            Step::AddLinks { entries, first, .. } => {
                entries.iter().for_each(|&(_, _, at)| counts[first + at as usize] += 1);
            }
            _ => {}
        }
    }
    counts.into_iter().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ball::Ball;
    use crate::matrix::Laziness;
    use ndarray::array;
    use ndp_graph::{GossipMatrix, generators};

    /// A swap whose rows sum to 1 + 5e-13, as given weights may. What is read around a node is longer than
    /// the state by this factor and the step's own factor.
    #[test]
    fn reads_are_as_long_as_the_weights_make_them() -> Result<(), ndp_graph::Error> {
        let graph = generators::path_graph(2)?;
        let weight = 1.0 + 5e-13;
        let matrix = GossipMatrix::from_dense(&graph, array![[0.0, weight], [weight, 0.0]].view())?;
        let matrix = Arc::new(ExactMatrix::new(&matrix, &Ball::around(&graph, &[0], 1), Laziness::Kept));
        let around =
            Step::AddAround { matrix: matrix.clone(), entries: Arc::default(), first: 0, factor: -3.0 };
        let links = Step::AddLinks { matrix, entries: Arc::default(), first: 0, factor: -3.0 };
        for step in [around, links] {
            let (stretch, read) = step.norms();
            assert_eq!(stretch, Magnitude::ZERO);
            assert!((3.0 * weight..3.0 * weight + 1e-14).contains(&read.to_f64()));
        }
        Ok(())
    }
}
