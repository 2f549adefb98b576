//! The engines that compute losses, and which of them computes those of a statement, and why: one table.

use super::{Part, VectorProgram};
use ndp_account::{By, Error};
use ndp_certify::account::{Budget, Certificate};

/// An engine that computes the losses of a [`VectorProgram`] or of a [`Program`](crate::Program). Every
/// answer names the one that computed it.
///
/// # Examples
/// ```
/// use ndp_account::{Observer, Protocol};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// use ndp_program::{Engine, VectorProgram};
/// let matrix = GossipMatrix::metropolis(&path_graph(3)?);
/// let once = VectorProgram::new(3).noise(1.0).rounds(&matrix, 9);
/// assert_eq!(once.engine().0, Engine::Powers);
/// assert_eq!(once.clone().noise(0.5).rounds(&matrix, 1).engine().0, Engine::Rows);
/// let account = once.account(&Observer::node(0))?;
/// assert_eq!(account.terms().by.function, "ndp_program::Engine::Powers");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// The space spanned by powers of one matrix, level by level.
    Powers,
    /// The rows of all messages, each traced back through the steps, exactly.
    Rows,
    /// Conjugate gradients on the covariance of the messages, of which each has a noise that no other has.
    /// What they leave over bounds their error.
    Sparse,
    /// Sweeps back and on through the hidden values, with the covariance of the messages factorized.
    Sweeps,
}

impl Engine {
    /// The name of the engine, and the section of the theory on what it proves about a program.
    pub(crate) const fn by(self, theorem: &'static str) -> By {
        let function = match self {
            Self::Powers => "ndp_program::Engine::Powers",
            Self::Rows => "ndp_program::Engine::Rows",
            Self::Sparse => "ndp_program::Engine::Sparse",
            Self::Sweeps => "ndp_program::Engine::Sweeps",
        };
        By { function, theorem }
    }
}

/// A row of the table; the first row that applies decides. To add an engine, write a file with its row, and
/// add its `mod` line, a line in `TABLE`, and a variant of [`Engine`] with its name.
pub(super) struct Choice {
    pub(super) applies: fn(&VectorProgram<'_>) -> bool,
    pub(super) engine: Engine,
    pub(super) reason: &'static str,
    /// What it proves about the losses towards a coalition (ascending).
    pub(super) certificate: fn(&VectorProgram<'_>, &[usize], Budget<'_>) -> Result<Certificate, Error>,
}

const TABLE: &[Choice] = &[
    Choice {
        applies: |program| program.is_powers(),
        engine: Engine::Powers,
        reason: "one noise, then powers of one matrix: rows depend on each other exponentially, so that products go on from \
                 directions that are orthonormal already, and the number of rounds does not matter once nothing is new",
        certificate: |program, coalition, budget| program.by_powers(coalition, budget),
    },
    ROWS,
];

const ROWS: Choice = Choice {
    applies: |_| true,
    engine: Engine::Rows,
    reason: "noise in several rounds, noise on messages, or connections that change: no space is carried on from round to \
             round, so that every message is a row of its own",
    certificate: |program, coalition, budget| program.by_rows(coalition, budget),
};

impl VectorProgram<'_> {
    /// The engine that computes its losses, and the reason why it is this one.
    #[must_use]
    pub fn engine(&self) -> (Engine, &'static str) {
        let Choice { engine, reason, .. } = self.choice();
        (*engine, reason)
    }

    /// The row of the table that decides.
    pub(super) fn choice(&self) -> &'static Choice {
        TABLE.iter().find(|choice| (choice.applies)(self)).unwrap_or(&ROWS)
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
