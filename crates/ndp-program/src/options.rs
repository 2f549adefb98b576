//! Options of an account.

use crate::Weight;
use crate::adaptivity::HiddenReads;
use crate::build::Program;
use ndp_certify::account::Budget;
use ndp_numeric::stop::Stop;

/// Options of an account.
///
/// # Examples
/// ```
/// use ndp_account::Observer;
/// use ndp_program::{AccountOptions, SensitivitySet, constructors::muffliato};
/// use ndp_graph::{GossipMatrix, generators::cycle_graph};
/// let program = muffliato(&GossipMatrix::metropolis(&cycle_graph(6)?), 3)?;
/// let options = AccountOptions { nodes: Some(vec![2]), ..AccountOptions::default() };
/// let account = program.account_with(&Observer::node(0), &options)?;
/// assert!(account.loss(2, &SensitivitySet::UseLevel).is_ok());
/// assert!(account.loss(3, &SensitivitySet::UseLevel).is_err()); // was not asked about
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct AccountOptions {
    /// The largest amount of memory that may be used, in bytes; it is estimated before the work starts.
    pub memory_limit: u64,
    /// The largest number of bits of a number.
    pub precision_limit: u32,
    /// What is done about contributions that read values that the observer does not see.
    pub hidden: HiddenReads,
    /// Directions of the uses of a node whose loss is to be computed by itself, with an error relative to its
    /// own size. The sum of all uses is always one of them. If some change of the node's uses is seen without
    /// noise, directions that are not named here are undecided.
    pub directions: Vec<(usize, Vec<Weight>)>,
    /// The nodes that are asked about; all nodes if `None`. For a large program, a few nodes take less work.
    pub nodes: Option<Vec<usize>>,
    /// The number of rows from which on a view whose rows all have a noise of their own is accounted for by
    /// sparse systems, without primes. Both methods give the same enclosures; small views are faster with the
    /// other one.
    pub sparse_from: usize,
    /// The number of rows from which on a program of one noise and powers of one matrix is accounted for by
    /// these powers. Both methods give the same enclosures.
    pub powers_from: usize,
    /// The number of hidden values, each counted for every row that it is part of, from which on rows are not
    /// written out, and sweeps through the program are used. Both methods give the same enclosures.
    pub sweeps_from: usize,
    /// Whether messages may not reach the observer, independently of data and noises. What is then seen is
    /// part of what is seen if all arrive. The account counts all of them, and is an upper bound. It is none
    /// where a node goes on without a message that it should have received: a sum without one addend lacks
    /// its noise, and is another program.
    pub some_lost: bool,
    /// Stops the account, and computations that later questions start.
    pub stop: Stop,
}

impl Default for AccountOptions {
    /// At most 12 GiB, numbers of up to 4224 bits, reads as declared, no further directions, all nodes, and
    /// no time limit.
    fn default() -> Self {
        let Budget { memory, bits, .. } = Budget::default();
        Self {
            memory_limit: memory,
            precision_limit: bits,
            hidden: HiddenReads::AsDeclared,
            directions: Vec::new(),
            nodes: None,
            sparse_from: SPARSE_FROM,
            powers_from: POWERS_FROM,
            sweeps_from: SWEEPS_FROM,
            some_lost: false,
            stop: Stop::never(),
        }
    }
}

impl AccountOptions {
    /// For each node, whether it is asked about.
    pub(super) fn asked(&self, program: &Program) -> Vec<bool> {
        let Some(nodes) = &self.nodes else { return vec![true; program.node_count()] };
        let mut asked = vec![false; program.node_count()];
        nodes.iter().for_each(|&node| asked[node] = true);
        asked
    }
}

/// The number of rows from which on a view is large.
const SPARSE_FROM: usize = 128;
/// The number of rows from which on it is worth while to look for powers of a matrix.
const POWERS_FROM: usize = 128;
/// The number of values from which on a view is deep.
const SWEEPS_FROM: usize = 100_000;
