//! How an account is made.

use crate::Weight;
use crate::adaptivity::HiddenReads;
use crate::build::Program;
use ndp_certify::account::Budget;
use ndp_numeric::stop::Stop;

/// How an account is made.
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
    /// The most memory the work may take, in bytes; it is estimated before the work starts.
    pub memory_limit: u64,
    /// The most bits a number may take.
    pub precision_limit: u32,
    /// What to do about contributions that read what the observer does not see.
    pub hidden: HiddenReads,
    /// Directions of the uses of a node whose loss is wanted for itself, relative to its own size. The sum of
    /// all uses is always among them. Where something about a node leaks, a direction that is not named is
    /// undecided.
    pub directions: Vec<(usize, Vec<Weight>)>,
    /// The nodes that are asked about, all where none are named: a large program takes less work for a few.
    pub nodes: Option<Vec<usize>>,
    /// Rows from which on a view whose rows all have a noise of their own is accounted for by sparse systems,
    /// without primes. Both ways enclose the same; small views are faster the other way.
    pub sparse_from: usize,
    /// Hidden values, counted for every row that they have a part in, from which on rows are not written out:
    /// sweeps through the program take their place. Both ways enclose the same.
    pub sweeps_from: usize,
    /// Whether messages may be lost in transit, independently of data and noises. What is seen then is part
    /// of what is seen when all arrive, whichever they are: the account counts all of them, and is an upper
    /// bound.
    pub some_lost: bool,
    /// When to end before the account is made, and before what it works out later.
    pub stop: Stop,
}

impl Default for AccountOptions {
    /// At most 12 GiB, numbers of up to 4224 bits, reads as declared, no further directions, all nodes, as
    /// long as it takes.
    fn default() -> Self {
        let Budget { memory, bits, .. } = Budget::default();
        Self {
            memory_limit: memory,
            precision_limit: bits,
            hidden: HiddenReads::AsDeclared,
            directions: Vec::new(),
            nodes: None,
            sparse_from: SPARSE_FROM,
            sweeps_from: SWEEPS_FROM,
            some_lost: false,
            stop: Stop::never(),
        }
    }
}

impl AccountOptions {
    /// Which nodes are asked about.
    pub(super) fn asked(&self, program: &Program) -> Vec<bool> {
        let Some(nodes) = &self.nodes else { return vec![true; program.node_count()] };
        let mut asked = vec![false; program.node_count()];
        nodes.iter().for_each(|&node| asked[node] = true);
        asked
    }
}

/// Rows of a view that is large.
const SPARSE_FROM: usize = 128;
/// Values of a view that is deep.
const SWEEPS_FROM: usize = 100_000;
