//! Which engine computes the losses of a statement, and why: one table.

use super::{Part, VectorProgram};

/// The engine that computes the losses of a [`VectorProgram`].
///
/// # Examples
/// ```
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// use ndp_program::{Engine, VectorProgram};
/// let matrix = GossipMatrix::metropolis(&path_graph(3)?);
/// let once = VectorProgram::new(3).noise(1.0).rounds(&matrix, 9);
/// assert_eq!(once.engine().0, Engine::Powers);
/// assert_eq!(once.noise(0.5).rounds(&matrix, 1).engine().0, Engine::Rows);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// The space spanned by powers of one matrix, level by level.
    Powers,
    /// The rows of all messages, each traced back through the steps.
    Rows,
}

/// A row of the table; the first row that applies decides.
struct Choice {
    applies: fn(&VectorProgram<'_>) -> bool,
    engine: Engine,
    reason: &'static str,
}

const TABLE: [Choice; 2] = [
    Choice {
        applies: |program| program.is_powers(),
        engine: Engine::Powers,
        reason: "one noise, then powers of one matrix: rows depend on each other exponentially, so that products go on from \
                 directions that are orthonormal already, and the number of rounds does not matter once nothing is new",
    },
    Choice {
        applies: |_| true,
        engine: Engine::Rows,
        reason: "noise in several rounds, noise on messages, or connections that change: no space is carried on from round to \
                 round, so that every message is a row of its own",
    },
];

impl<'a> VectorProgram<'a> {
    /// The engine that computes its losses, and the reason why it is this one.
    #[must_use]
    pub fn engine(&self) -> (Engine, &'static str) {
        let chosen = TABLE.iter().find(|choice| (choice.applies)(self));
        chosen.map_or((Engine::Rows, ""), |choice| (choice.engine, choice.reason))
    }

    /// Whether all noise is added before the first round, all rounds have the same matrix, which was given
    /// once, and messages are clean. Accelerated rounds are polynomials of full degree in this matrix, so
    /// that they span the same space as its powers.
    fn is_powers(&self) -> bool {
        let later_noise = self.parts.iter().skip(1).any(|part| matches!(part, Part::Noise(v) if *v != 0.0));
        matches!(self.parts.first(), Some(Part::Noise(v)) if *v > 0.0)
            && !later_noise
            && self.same_matrix().is_some()
            && !self.has_noisy_messages()
    }
}
