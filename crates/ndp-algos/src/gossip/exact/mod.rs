//! The exact loss of gossip with noise once, at the start, over fixed and over changing connections.
//!
//! | question | item | grade |
//! | --- | --- | --- |
//! | what does a coalition learn about every node? | [`exact_loss`] | `Exact`, certified |
//! | how does the mean loss grow from step to step? | [`mean_loss_by_step`] | `Exact`, from ranks alone |
//!
//! The view of `v` after `T` rounds is spanned by the rows `e_wᵀ Wᵗ` for its neighbors `w` and `t < T`, and
//! by `e_v` if it uses its own noise. With the projector `P` on that span, the unit loss of `u` is `‖P
//! e_u‖²`. Plain and accelerated gossip span the same space and have the same losses; so do a matrix and its
//! lazy versions.
//!
//! Losses are certified: see [`loss`](ndp_account::loss). Only nodes within `T` hops of the observer are
//! considered, so that the cost of one observer on a large graph depends only on its surroundings.

mod basis;
mod by_step;

pub(crate) use basis::{ViewBasis, sequence_basis, view_basis};
pub use by_step::{MeanLosses, mean_loss_by_step};

use ndp_account::{Error, LossReport, OwnNoise};
use ndp_certify::account::Budget;
use ndp_graph::{GossipMatrix, GossipSequence};
use ndp_program::VectorProgram;

/// Options of [`exact_loss`].
///
/// # Examples
/// ```
/// use ndp_algos::gossip::{ExactOptions, exact_loss};
/// use ndp_graph::{GossipMatrix, generators::cycle_graph};
/// // Refused before the work starts.
/// let options = ExactOptions { memory_limit: 1000, ..ExactOptions::default() };
/// assert!(exact_loss((&GossipMatrix::metropolis(&cycle_graph(50)?), 9), &[0], options).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExactOptions {
    /// Whether the observers use the noise that they drew.
    pub own_noise: OwnNoise,
    /// The largest amount of memory that may be used, in bytes; it is estimated before the work starts.
    pub memory_limit: u64,
    /// The largest number of bits of a number. If they are not enough for an enclosure of width `1e-9`, the
    /// report is an upper bound.
    pub precision_limit: u32,
}

impl Default for ExactOptions {
    /// Own noise is known, at most 12 GiB, and numbers of up to 4224 bits.
    fn default() -> Self {
        let Budget { memory, bits, .. } = Budget::default();
        Self { own_noise: OwnNoise::Known, memory_limit: memory, precision_limit: bits }
    }
}

impl ExactOptions {
    pub(crate) fn budget(self) -> Budget<'static> {
        Budget { memory: self.memory_limit, bits: self.precision_limit, ..Budget::default() }
    }
}

/// The connections over which gossip runs, for exact losses and for printed ones.
///
/// Made from a matrix with a number of rounds, or from a sequence of steps.
///
/// # Examples
/// ```
/// use ndp_algos::gossip::{ExactOptions, exact_loss};
/// use ndp_graph::{GossipMatrix, GossipSequence, generators::cycle_graph};
/// let matrix = GossipMatrix::metropolis(&cycle_graph(6)?);
/// let fixed = exact_loss((&matrix, 2), &[0], ExactOptions::default())?;
/// let written = exact_loss(&GossipSequence::constant(&matrix, 2), &[0], ExactOptions::default())?;
/// assert_eq!(fixed.rank, written.rank);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Connections<'a> {
    /// The same matrix in every round.
    Fixed {
        /// The gossip matrix `W`.
        matrix: &'a GossipMatrix,
        /// The number of rounds `T`.
        rounds: usize,
    },
    /// Given steps, which may differ from each other.
    Sequence(&'a GossipSequence),
}

impl<'a> From<(&'a GossipMatrix, usize)> for Connections<'a> {
    fn from((matrix, rounds): (&'a GossipMatrix, usize)) -> Self {
        Self::Fixed { matrix, rounds }
    }
}

impl<'a> From<&'a GossipSequence> for Connections<'a> {
    fn from(sequence: &'a GossipSequence) -> Self {
        Self::Sequence(sequence)
    }
}

/// The unit loss of every node towards the nodes of `coalition` together, after gossip over these connections
/// with noise once, at the start.
///
/// Holds against honest-but-curious observers who see every message sent to them and know the graph, the
/// matrix and all steps; the members of a coalition share all their messages and noises. Plain and
/// accelerated gossip with a matrix have the same losses. `Exact`, with both ends of every enclosure and the
/// failure probability in the report; `UpperBound` if precision or memory do not suffice for tight
/// enclosures. The rows of the running product of a sequence become nearly dependent at an exponential rate,
/// so that long runs need more bits than with a fixed matrix.
///
/// # Errors
/// [`Error::EmptyCoalition`], [`Error::RepeatedMember`], [`Error::NodeOutOfRange`];
/// [`ndp_certify::Error::TooLarge`] above the memory limit.
///
/// # Complexity
/// With a fixed matrix, `n` nodes within `T` hops and a coalition with `d` neighbors: `O(n r² + r nnz(W) + n
/// r d l)` time, for rank `r ≤ min(n, |V| + T d)` and numbers of `l` limbs. Over a sequence with `m` messages
/// to the coalition, and `n` nodes whose data reach it in time: `O(T m nnz(W) + n r²)` time per limb. `O(n
/// r)` memory.
///
/// # Examples
/// ```
/// use ndp_algos::gossip::{ExactOptions, exact_loss};
/// use ndp_graph::{GossipMatrix, generators::path_graph};
/// // The end of a path of three nodes learns all about the other end in two rounds.
/// let matrix = GossipMatrix::metropolis(&path_graph(3)?);
/// let report = exact_loss((&matrix, 2), &[2], ExactOptions::default())?;
/// assert_eq!(report.enclosure(0)?, (1.0, 1.0));
/// assert_eq!((report.rank, report.failure), (3, 0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn exact_loss<'a>(
    connections: impl Into<Connections<'a>>,
    coalition: &[usize],
    options: ExactOptions,
) -> Result<LossReport, Error> {
    let own_noise = options.own_noise;
    let loss = |program: VectorProgram<'_>| {
        program.observed_with(own_noise).loss_within(coalition, options.budget())
    };
    match connections.into() {
        Connections::Fixed { matrix, rounds } => {
            loss(VectorProgram::new(matrix.node_count()).noise(1.0).rounds(matrix, rounds))
        }
        Connections::Sequence(sequence) => {
            loss(VectorProgram::new(sequence.node_count()).noise(1.0).changing(sequence))
        }
    }
}
