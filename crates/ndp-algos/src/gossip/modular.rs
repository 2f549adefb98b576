//! Which messages of fixed-matrix gossip are new: ranks decided modulo primes, without a tolerance.
//!
//! The entries of the named weight schemes are rational, so the chain `e_w, W e_w, W² e_w, …` can be
//! followed modulo a prime. A vector that is independent modulo a prime is independent; the converse
//! fails for a prime with probability about `n / 2^31`, so two primes are used, and a third where
//! they differ.

use super::residues::{Panel, Sketch, Table, inverse, prime, reduce, resize, select};
use crate::kernel::{self, LANES};
use crate::tasks::for_tasks;
use ndp_graph::gossip_matrix::Weights;
use ndp_graph::{Csr, GossipMatrix};

/// For each round `1, 2, …`, which candidates (one for each kept vector of the round before) are
/// independent of everything seen before.
pub(crate) type Kept = Vec<Vec<bool>>;

/// The vectors a chain starts from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start<'a> {
    /// Unit vectors that are seen but not propagated: the members' own noises.
    pub(crate) known: &'a [usize],
    /// Unit vectors that are seen and propagated: the neighbors' first messages, in order.
    pub(crate) seeds: &'a [usize],
    /// Number of rounds `T`.
    pub(crate) rounds: usize,
}

impl Start<'_> {
    /// The largest rank the view can have on `n` nodes.
    pub(crate) fn rank_limit(&self, n: usize) -> usize {
        self.known.len().saturating_add(self.seeds.len().saturating_mul(self.rounds)).min(n)
    }

    /// The rank that follows from the decisions.
    pub(crate) fn rank(&self, kept: &Kept) -> usize {
        let new = kept.iter().flatten().filter(|&&is_new| is_new).count();
        self.known.len() + if self.rounds > 0 { self.seeds.len() + new } else { 0 }
    }
}

/// Which primes decide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Primes {
    /// One. What it keeps is new; that it missed nothing is for a run with another prime to confirm.
    First,
    /// Another one.
    Second,
    /// Both, and a third where they differ; other sketches for every attempt.
    Both {
        /// Number of the attempt.
        attempt: u64,
    },
}

/// The decisions for `start`, or `None` for a matrix whose entries are not known as fractions.
pub(crate) fn kept_candidates(matrix: &GossipMatrix, start: Start<'_>, primes: Primes) -> Option<Kept> {
    if matrix.weights() == Weights::Given {
        return None;
    }
    // The span of W^t e_w is that of the matrix without its laziness, so the scheme is enough.
    let first = |seed| Some(Chain::<1>::new(matrix)?.run(start, seed));
    let second = |seed| Some(Chain::<19>::new(matrix)?.run(start, seed));
    match primes {
        Primes::First => first(0),
        Primes::Second => second(1),
        Primes::Both { attempt } => {
            let seed = 3 * attempt;
            agreed(
                bytes(matrix, start) <= TOGETHER,
                || first(seed),
                || second(seed + 1),
                || Some(Chain::<61>::new(matrix)?.run(start, seed + 2)),
            )
        }
    }
}

/// What two primes say when they agree, else the best of three.
pub(super) fn agreed<K: Ord + Send>(
    together: bool,
    first: impl FnOnce() -> Option<K> + Send,
    second: impl FnOnce() -> Option<K> + Send,
    third: impl FnOnce() -> Option<K>,
) -> Option<K> {
    let (first, second) = if together { rayon::join(first, second) } else { (first(), second()) };
    if first == second {
        return first;
    }
    // A kept candidate is truly new, so of two lists the one that keeps where they first differ is right.
    [first?, second?, third()?].into_iter().max()
}

/// The memory that the decisions take, an upper estimate.
pub(crate) fn bytes(matrix: &GossipMatrix, start: Start<'_>) -> u128 {
    let n = matrix.node_count() as u128;
    let rank = start.rank_limit(matrix.node_count()) as u128;
    let panels = 3 * n * 64 * start.seeds.len().div_ceil(LANES) as u128;
    let table = 4 * rank * (2 * rank + 16).min(n);
    // Three places of 8 bytes for every node in a sketch.
    panels + table + 24 * n + 4 * matrix.csr().nonzero_count() as u128
}

/// `W` modulo the prime `2^31 - C`.
struct Chain<'a, const C: u64> {
    pattern: &'a Csr,
    weights: Vec<u32>,
}

/// The entries of `W` without its laziness, modulo `2^31 - C`, or `None` where they are no known
/// fractions.
pub(super) fn scheme<const C: u64>(matrix: &GossipMatrix) -> Option<Vec<u32>> {
    let graph = matrix.graph();
    let denominator: fn(usize, usize) -> usize = match matrix.weights() {
        Weights::Metropolis => |a, b| a.max(b) + 1,
        Weights::MaxDegree => |a, b| a.max(b),
        Weights::SumDegree => |a, b| a + b + 1,
        Weights::Regular => |a, _| a,
        _ => return None,
    };
    let n = graph.node_count();
    let largest = (0..n).map(|u| graph.degree(u)).max().unwrap_or(0);
    let inverses: Vec<u32> = (0..=2 * largest + 1).map(|k| inverse::<C>(k as u64)).collect();
    let pattern = matrix.csr();
    let mut weights = Vec::with_capacity(pattern.nonzero_count());
    for u in 0..n {
        let (columns, _) = pattern.row(u);
        let (first, mut diagonal, mut rest) = (weights.len(), None, 1u64);
        for (k, &v) in columns.iter().enumerate() {
            let v = v as usize;
            if v == u {
                diagonal = Some(first + k);
                weights.push(0);
            } else {
                let weight = inverses[denominator(graph.degree(u), graph.degree(v))];
                rest = reduce::<C>(rest + prime::<C>() - u64::from(weight));
                weights.push(weight);
            }
        }
        weights[diagonal?] = rest as u32;
    }
    Some(weights)
}

impl<'a, const C: u64> Chain<'a, C> {
    fn new(matrix: &'a GossipMatrix) -> Option<Self> {
        Some(Self { pattern: matrix.csr(), weights: scheme::<C>(matrix)? })
    }

    /// The modular half of the block Krylov algorithm.
    fn run(&self, start: Start<'_>, seed: u64) -> Kept {
        let n = self.pattern.node_count();
        let sketch = Sketch::new(n, start.rank_limit(n), seed, prime::<C>());
        let mut table = Table::<C>::default();
        for &v in start.known {
            self.keep(&mut table, &sketch, &Panel::units(n, &[v]));
        }
        if start.rounds == 0 {
            return Vec::new();
        }
        let mut panels: Vec<Panel> = start.seeds.chunks(LANES).map(|seeds| Panel::units(n, seeds)).collect();
        for panel in &panels {
            self.keep(&mut table, &sketch, panel);
        }
        let mut kept = Vec::new();
        let mut next = Vec::new();
        for _ in 1..start.rounds {
            if panels.is_empty() || table.rank() == n {
                break;
            }
            resize(&mut next, panels.len(), n);
            panels.iter().zip(&mut next).for_each(|(from, to)| self.multiply(from, to));
            let new: Vec<bool> =
                next.iter().flat_map(|panel| self.keep(&mut table, &sketch, panel)).collect();
            select(n, &next, &new, &mut panels);
            kept.push(new);
        }
        kept
    }

    /// Adds the columns of a panel to the table and says which were independent.
    fn keep(&self, table: &mut Table<C>, sketch: &Sketch, panel: &Panel) -> Vec<bool> {
        sketch.apply::<C>(panel).into_iter().map(|column| table.add(column)).collect()
    }

    /// Writes `W X` into `Y`, whose lanes beyond the width of `X` are never read.
    fn multiply(&self, x: &Panel, y: &mut Panel) {
        y.width = x.width;
        for_tasks(&mut y.rows, |first, rows| {
            kernel::modular_multiply::<C>(self.pattern, &self.weights, first, &x.rows, x.width, rows);
        });
    }
}

/// Below this size, two primes run at a time.
const TOGETHER: u128 = 256 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use ndp_graph::generators;

    /// Every row of `W` modulo the prime sums to 1, and the diagonal is the rest.
    #[test]
    fn modular_rows_sum_to_one() -> Result<(), ndp_graph::Error> {
        let graph = generators::star_graph(6)?;
        for matrix in [
            GossipMatrix::metropolis(&graph),
            GossipMatrix::max_degree(&graph),
            GossipMatrix::sum_degree(&graph),
        ] {
            let chain = Chain::<19>::new(&matrix).expect("a named scheme");
            for range in chain.pattern.starts().windows(2) {
                let sum: u64 = chain.weights[range[0]..range[1]].iter().map(|&w| u64::from(w)).sum();
                assert_eq!(sum % prime::<19>(), 1);
            }
        }
        Ok(())
    }

    /// The sketched elimination finds the ranks of the hypercube's law: 1 at distance 0, `m` at each
    /// distance `1..m-1` within reach, 1 at distance `m`.
    #[test]
    fn sketches_keep_ranks() -> Result<(), ndp_graph::Error> {
        let m = 10;
        let graph = generators::hypercube_graph(m as u32)?;
        let matrix = GossipMatrix::metropolis(&graph);
        let seeds: Vec<usize> = graph.neighbors(0).iter().map(|&w| w as usize).collect();
        for rounds in 0..13 {
            let start = Start { known: &[0], seeds: &seeds, rounds };
            assert!(matches!(Sketch::new(1024, start.rank_limit(1024), 1, 97), Sketch::Sparse { .. }));
            let kept = kept_candidates(&matrix, start, Primes::Both { attempt: 0 }).expect("a named scheme");
            assert_eq!(
                start.rank(&kept),
                1 + m * rounds.min(m - 1) + usize::from(rounds >= m),
                "{rounds} rounds"
            );
        }
        Ok(())
    }
}
