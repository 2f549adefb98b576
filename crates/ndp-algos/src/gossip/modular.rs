//! Which messages of fixed-matrix gossip are new: ranks decided modulo primes, without a tolerance.
//!
//! The entries of the named weight schemes are rational, so the chain `e_w, W e_w, W² e_w, …` can be
//! followed modulo a prime. A vector that is independent modulo a prime is independent; the converse
//! fails for a prime with probability about `n / 2^31`, so two primes are used, and a third where
//! they differ.

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
}

/// The decisions for `start`, or `None` for a matrix whose entries are not known as fractions.
///
/// `attempt` selects other primes and sketches, for a repetition.
pub(crate) fn kept_candidates(matrix: &GossipMatrix, start: Start<'_>, attempt: u64) -> Option<Kept> {
    if matrix.weights() == Weights::Given {
        return None;
    }
    // The span of W^t e_w is that of the matrix without its laziness, so the scheme is enough.
    let seed = 3 * attempt;
    let first = Chain::<1>::new(matrix)?.run(start, seed);
    let second = Chain::<19>::new(matrix)?.run(start, seed + 1);
    if first == second {
        return Some(first);
    }
    // A kept candidate is truly new, so of two lists the one that keeps where they first differ is right.
    let third = Chain::<61>::new(matrix)?.run(start, seed + 2);
    [first, second, third].into_iter().max()
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
        let unit = |node: usize| {
            let mut column = vec![0u32; n];
            column[node] = 1;
            column
        };
        for &v in start.known {
            table.add(sketch.apply::<C>(&unit(v), 1, 0));
        }
        if start.rounds == 0 {
            return Vec::new();
        }
        let mut width = start.seeds.len();
        let mut panel = vec![0u32; n * width];
        for (k, &w) in start.seeds.iter().enumerate() {
            panel[w * width + k] = 1;
            table.add(sketch.apply::<C>(&unit(w), 1, 0));
        }
        let mut kept = Vec::new();
        for _ in 1..start.rounds {
            if width == 0 || table.rows.len() == n {
                break;
            }
            let next = self.multiply(&panel, width);
            let new: Vec<bool> = (0..width).map(|k| table.add(sketch.apply::<C>(&next, width, k))).collect();
            panel = select(&next, &new);
            width = new.iter().filter(|&&is_new| is_new).count();
            kept.push(new);
        }
        kept
    }

    /// `W X` for a panel of `width` interleaved columns.
    fn multiply(&self, x: &[u32], width: usize) -> Vec<u32> {
        let mut y = vec![0u32; x.len()];
        let mut sums = vec![0u64; width];
        let starts = self.pattern.starts();
        for (i, out) in y.chunks_exact_mut(width).enumerate() {
            sums.fill(0);
            let range = starts[i]..starts[i + 1];
            for (&j, &weight) in self.pattern.columns()[range.clone()].iter().zip(&self.weights[range]) {
                let row = &x[j as usize * width..][..width];
                for (sum, &value) in sums.iter_mut().zip(row) {
                    *sum = fold::<C>(*sum + u64::from(weight) * u64::from(value));
                }
            }
            for (value, &sum) in out.iter_mut().zip(&sums) {
                *value = reduce::<C>(sum) as u32;
            }
        }
        y
    }
}

/// The kept columns of a panel of interleaved columns.
fn select(panel: &[u32], kept: &[bool]) -> Vec<u32> {
    let rows = panel.chunks_exact(kept.len());
    rows.flat_map(|row| row.iter().zip(kept).filter(|(_, keep)| **keep).map(|(&x, _)| x)).collect()
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

    /// The sketch of column `k` of a panel of `width` interleaved columns.
    fn apply<const C: u64>(&self, panel: &[u32], width: usize, k: usize) -> Vec<u64> {
        let column = panel.iter().skip(k).step_by(width);
        match self {
            Self::Whole => column.map(|&x| u64::from(x)).collect(),
            Self::Sparse { width, places } => {
                let mut sketch = vec![0u64; *width];
                for (&x, places) in column.zip(places) {
                    if x != 0 {
                        for &(place, factor) in places {
                            let sum = &mut sketch[place as usize];
                            *sum = fold::<C>(*sum + u64::from(factor) * u64::from(x));
                        }
                    }
                }
                sketch
            }
        }
    }
}

/// Independent vectors in echelon form, modulo the prime `2^31 - C`.
#[derive(Default)]
struct Table<const C: u64> {
    rows: Vec<Vec<u32>>,
    pivots: Vec<usize>,
}

impl<const C: u64> Table<C> {
    /// Adds a vector and says whether it was independent of the earlier ones. Entries below `2^37`.
    fn add(&mut self, mut vector: Vec<u64>) -> bool {
        for (row, &pivot) in self.rows.iter().zip(&self.pivots) {
            let factor = reduce::<C>(vector[pivot]);
            if factor != 0 {
                let factor = prime::<C>() - factor;
                for (x, &y) in vector.iter_mut().zip(row) {
                    *x = fold::<C>(*x + factor * u64::from(y));
                }
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

const fn prime<const C: u64>() -> u64 {
    (1 << 31) - C
}

/// The same residue below `2^38`, for `x < 2^63` and `C < 64`.
const fn fold<const C: u64>(x: u64) -> u64 {
    (x & 0x7fff_ffff) + (x >> 31) * C
}

/// The residue itself, for `x < 2^63` and `C < 64`.
const fn reduce<const C: u64>(x: u64) -> u64 {
    let x = fold::<C>(fold::<C>(x));
    // Now x < 2^31 + 2^13.
    let x = if x >= prime::<C>() { x - prime::<C>() } else { x };
    if x >= prime::<C>() { x - prime::<C>() } else { x }
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
                let x = split_mix(&mut state) >> 1;
                assert_eq!(reduce::<C>(x), x % prime::<C>());
                assert!(fold::<C>(x) < 1 << 38);
                assert_eq!(fold::<C>(x) % prime::<C>(), x % prime::<C>());
                let y = x % prime::<C>();
                assert_eq!(y * u64::from(inverse::<C>(y)) % prime::<C>(), u64::from(y != 0));
            }
            for edge in [0, 1, prime::<C>() - 1, prime::<C>(), prime::<C>() + 1, (1 << 63) - 1] {
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
            let kept = kept_candidates(&matrix, start, 0).expect("a named scheme");
            let new: usize = kept.iter().flatten().filter(|&&is_new| is_new).count();
            let rank = 1 + if rounds > 0 { m + new } else { 0 };
            assert_eq!(rank, 1 + m * rounds.min(m - 1) + usize::from(rounds >= m), "{rounds} rounds");
        }
        Ok(())
    }
}
