//! Which messages of fixed-matrix gossip are new: ranks decided modulo primes, without a tolerance.
//!
//! The entries of the named weight schemes are rational, so the chain `e_w, W e_w, W² e_w, …` can be
//! followed modulo a prime. A vector that is independent modulo a prime is independent; the converse
//! fails for a prime with probability about `n / 2^31`, so two primes are used, and a third where
//! they differ.

use crate::kernel::{self, LANES, Residues};
use crate::tasks::{for_tasks, map_tasks};
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

/// How many primes have to agree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Primes {
    /// Two, and a third where they differ; other sketches for every attempt.
    Two {
        /// Number of the attempt.
        attempt: u64,
    },
    /// One, when the rank is known already: as many decisions to keep as the rank says are all there are.
    OneOfRank(usize),
}

/// The decisions for `start`, or `None` for a matrix whose entries are not known as fractions.
pub(crate) fn kept_candidates(matrix: &GossipMatrix, start: Start<'_>, primes: Primes) -> Option<Kept> {
    if matrix.weights() == Weights::Given {
        return None;
    }
    // The span of W^t e_w is that of the matrix without its laziness, so the scheme is enough.
    let attempt = match primes {
        Primes::OneOfRank(rank) => {
            let only = Chain::<1>::new(matrix)?.run(start, 0);
            if start.rank(&only) == rank {
                return Some(only);
            }
            0
        }
        Primes::Two { attempt } => attempt,
    };
    let seed = 3 * attempt;
    let first = || Some(Chain::<1>::new(matrix)?.run(start, seed));
    let second = || Some(Chain::<19>::new(matrix)?.run(start, seed + 1));
    let (first, second) =
        if bytes(matrix, start) <= TOGETHER { rayon::join(first, second) } else { (first(), second()) };
    let (first, second) = (first?, second?);
    if first == second {
        return Some(first);
    }
    // A kept candidate is truly new, so of two lists the one that keeps where they first differ is right.
    let third = Chain::<61>::new(matrix)?.run(start, seed + 2);
    [first, second, third].into_iter().max()
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

impl<'a, const C: u64> Chain<'a, C> {
    fn new(matrix: &'a GossipMatrix) -> Option<Self> {
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
        Some(Self { pattern, weights })
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
        for _ in 1..start.rounds {
            if panels.is_empty() || table.rows.len() == n {
                break;
            }
            let next: Vec<Panel> = panels.iter().map(|panel| self.multiply(panel)).collect();
            let new: Vec<bool> =
                next.iter().flat_map(|panel| self.keep(&mut table, &sketch, panel)).collect();
            panels = select(n, &next, &new);
            kept.push(new);
        }
        kept
    }

    /// Adds the columns of a panel to the table and says which were independent.
    fn keep(&self, table: &mut Table<C>, sketch: &Sketch, panel: &Panel) -> Vec<bool> {
        sketch.apply::<C>(panel).into_iter().map(|column| table.add(column)).collect()
    }

    fn multiply(&self, x: &Panel) -> Panel {
        let mut y = Panel { rows: vec![Residues::ZERO; x.rows.len()], width: x.width };
        for_tasks(&mut y.rows, |first, rows| {
            kernel::modular_multiply::<C>(self.pattern, &self.weights, first, &x.rows, x.width, rows);
        });
        y
    }
}

/// Up to 16 columns of residues, interleaved.
struct Panel {
    rows: Vec<Residues>,
    width: usize,
}

impl Panel {
    fn units(n: usize, nodes: &[usize]) -> Self {
        let mut rows = vec![Residues::ZERO; n];
        nodes.iter().enumerate().for_each(|(lane, &node)| rows[node].0[lane] = 1);
        Self { rows, width: nodes.len() }
    }
}

/// The kept columns of the panels, packed.
fn select(n: usize, panels: &[Panel], kept: &[bool]) -> Vec<Panel> {
    let columns = panels.iter().flat_map(|panel| (0..panel.width).map(move |lane| (panel, lane)));
    let kept: Vec<(&Panel, usize)> = columns.zip(kept).filter(|(_, keep)| **keep).map(|(at, _)| at).collect();
    let pack = |columns: &[(&Panel, usize)]| {
        let mut rows = vec![Residues::ZERO; n];
        for_tasks(&mut rows, |first, rows| {
            for (slot, (panel, lane)) in columns.iter().enumerate() {
                let from = &panel.rows[first..];
                rows.iter_mut().zip(from).for_each(|(row, from)| row.0[slot] = from.0[*lane]);
            }
        });
        Panel { rows, width: columns.len() }
    };
    kept.chunks(LANES).map(pack).collect()
}

/// A linear map of vectors of length `n` to few coordinates, which keeps ranks with high probability
/// and never raises them.
enum Sketch {
    /// All coordinates.
    Whole,
    /// Every coordinate is added, times three random factors, to three random places of `width`.
    Sparse { width: usize, places: Vec<[(u32, u32); 3]> },
}

impl Sketch {
    fn new(n: usize, rank_limit: usize, seed: u64, prime: u64) -> Self {
        // Twice the rank: three places per coordinate fail to keep full rank only above 0.91 of it.
        let width = 2 * rank_limit + 16;
        if 4 * width > 3 * n {
            return Self::Whole;
        }
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d;
        let mut draw = |below: u64| (split_mix(&mut state) % below) as u32;
        let places = (0..n).map(|_| [(); 3].map(|()| (draw(width as u64), 1 + draw(prime - 1)))).collect();
        Self::Sparse { width, places }
    }

    /// The sketches of the columns of a panel.
    fn apply<const C: u64>(&self, panel: &Panel) -> Vec<Vec<u64>> {
        match self {
            Self::Whole => {
                let column = |lane: usize| panel.rows.iter().map(|row| u64::from(row.0[lane])).collect();
                (0..panel.width).map(column).collect()
            }
            Self::Sparse { width, places } => {
                // Sums of residues are exact, so the order of tasks does not matter.
                let tasks = map_tasks(&panel.rows, |first, rows| {
                    let mut sums = vec![[0u64; LANES]; *width];
                    kernel::modular_scatter::<C>(&places[first..first + rows.len()], rows, &mut sums);
                    sums
                });
                let sum = |place: usize, lane: usize| {
                    tasks.iter().fold(0, |sum, task| reduce::<C>(sum + task[place][lane]))
                };
                let column = |lane: usize| (0..*width).map(|place| sum(place, lane)).collect();
                (0..panel.width).map(column).collect()
            }
        }
    }
}

/// Below this size, two primes run at a time.
const TOGETHER: u128 = 256 << 20;

/// Independent vectors in echelon form, modulo the prime `2^31 - C`.
#[derive(Default)]
struct Table<const C: u64> {
    rows: Vec<Vec<u32>>,
    pivots: Vec<usize>,
}

impl<const C: u64> Table<C> {
    /// Adds a vector and says whether it was independent of the earlier ones. Entries below `2^39`.
    fn add(&mut self, mut vector: Vec<u64>) -> bool {
        for (rows, pivots) in self.rows.chunks(2).zip(self.pivots.chunks(2)) {
            let first = minus::<C>(vector[pivots[0]]);
            // A row without a partner is paired with itself, times 0.
            let (second, partner) = match (rows, pivots) {
                ([row, partner], [_, pivot]) => {
                    (minus::<C>(fold::<C>(vector[*pivot] + first * u64::from(row[*pivot]))), partner)
                }
                _ => (0, &rows[0]),
            };
            if (first, second) != (0, 0) {
                kernel::modular_add::<C>([first, second], [&rows[0], partner], &mut vector);
            }
        }
        vector.iter_mut().for_each(|x| *x = reduce::<C>(*x));
        let Some(pivot) = vector.iter().position(|&x| x != 0) else { return false };
        let scale = u64::from(inverse::<C>(vector[pivot]));
        self.rows.push(vector.iter().map(|&x| reduce::<C>(fold::<C>(x * scale)) as u32).collect());
        self.pivots.push(pivot);
        true
    }
}

pub(crate) const fn prime<const C: u64>() -> u64 {
    (1 << 31) - C
}

/// The same residue below `2^39`, for `C < 64`.
pub(crate) const fn fold<const C: u64>(x: u64) -> u64 {
    (x & 0x7fff_ffff) + (x >> 31) * C
}

/// The residue itself, for `C < 64`.
pub(crate) const fn reduce<const C: u64>(x: u64) -> u64 {
    let x = fold::<C>(fold::<C>(x));
    // Now x < 2^31 + 2^14.
    let x = if x >= prime::<C>() { x - prime::<C>() } else { x };
    if x >= prime::<C>() { x - prime::<C>() } else { x }
}

/// The residue of `-x`.
const fn minus<const C: u64>(x: u64) -> u64 {
    let x = reduce::<C>(x);
    if x == 0 { 0 } else { prime::<C>() - x }
}

/// The inverse modulo `2^31 - C` by Fermat's theorem; 0 for 0.
fn inverse<const C: u64>(x: u64) -> u32 {
    let mut base = reduce::<C>(x);
    let mut exponent = prime::<C>() - 2;
    let mut power = 1u64;
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = reduce::<C>(power * base);
        }
        base = reduce::<C>(base * base);
        exponent >>= 1;
    }
    power as u32
}

/// The next number of Steele, Lea and Flood's generator: sketches need only be fixed and unrelated to
/// the data, not random in the sense of the protocols.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndp_graph::generators;

    #[test]
    fn moduli_are_prime() {
        for p in [prime::<1>(), prime::<19>(), prime::<61>()] {
            assert!((2..).take_while(|d| d * d <= p).all(|d| p % d != 0), "{p}");
        }
    }

    #[test]
    fn folded_arithmetic_is_modular() {
        fn check<const C: u64>() {
            let mut state = C;
            for _ in 0..10_000 {
                let x = split_mix(&mut state);
                assert_eq!(reduce::<C>(x), x % prime::<C>());
                assert!(fold::<C>(x) < 1 << 39);
                assert_eq!(fold::<C>(x) % prime::<C>(), x % prime::<C>());
                let y = x % prime::<C>();
                assert_eq!(y * u64::from(inverse::<C>(y)) % prime::<C>(), u64::from(y != 0));
            }
            for edge in [0, 1, prime::<C>() - 1, prime::<C>(), prime::<C>() + 1, u64::MAX] {
                assert_eq!(reduce::<C>(edge), edge % prime::<C>());
            }
        }
        check::<1>();
        check::<19>();
        check::<61>();
    }

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
            let kept = kept_candidates(&matrix, start, Primes::Two { attempt: 0 }).expect("a named scheme");
            assert_eq!(
                start.rank(&kept),
                1 + m * rounds.min(m - 1) + usize::from(rounds >= m),
                "{rounds} rounds"
            );
        }
        Ok(())
    }
}
