//! Permutations of the nodes that leave a graph, and matrices on it, unchanged.
//!
//! Colour refinement looks for them within a counted budget of operations, so it may miss some. Each
//! permutation that is returned was checked edge by edge.

mod pairing;

use crate::{Csr, GossipMatrix, Graph, TransitionMatrix, Weights};
use pairing::{Pairing, Work};

/// Symmetries of a graph: permutations `π` of its nodes, with `π(u)` at index `u`, for which `π(u)` and
/// `π(v)` are neighbors exactly if `u` and `v` are. The identity is left out. They need not generate all
/// symmetries of the graph, and most graphs that are not regular have none.
///
/// # Examples
/// ```
/// use ndp_graph::{generators, symmetries::{keeps, symmetries}};
/// let ring = generators::cycle_graph(6)?;
/// let found = symmetries(&ring);
/// assert!(!found.is_empty() && found.iter().all(|permutation| keeps(&ring, permutation)));
/// # Ok::<(), ndp_graph::Error>(())
/// ```
///
/// # Complexity
/// `O(m log n)` for each, for `m` edges and `n` nodes, if colours distinguish the nodes. The whole search
/// stops after a number of operations that is the same on every machine.
#[must_use]
pub fn symmetries(graph: &Graph) -> Vec<Vec<u32>> {
    let mut work = Work::new(WORK);
    let mut found: Vec<Vec<u32>> = twins(graph).into_iter().filter(|twins| keeps(graph, twins)).collect();
    let mut orbits = Orbits::new(graph.node_count());
    found.iter().for_each(|permutation| orbits.join(permutation));
    let Some(mut start) = Pairing::of_alike(graph, &mut work) else { return found };
    for _ in 0..LEVELS {
        search(graph, &start, &mut orbits, &mut found, &mut work);
        // Symmetries that fix a node are needed to find the orbits of coalitions that contain it.
        let Some(fixed) = start.classes().first().map(|class| class[0]) else { break };
        let Some(next) = start.fixing(graph, fixed, &mut work) else { break };
        (start, orbits) = (next, Orbits::new(graph.node_count()));
    }
    found
}

/// Adds symmetries that join further orbits of nodes in the cells of `start`.
fn search(graph: &Graph, start: &Pairing, orbits: &mut Orbits, found: &mut Vec<Vec<u32>>, work: &mut Work) {
    for class in start.classes() {
        // The first node of each orbit that is known so far.
        let mut firsts: Vec<u32> = Vec::new();
        for &v in &class {
            if firsts.iter().any(|&first| orbits.first(first) == orbits.first(v)) {
                continue;
            }
            for &first in firsts.iter().take(MOST_TRIED) {
                let Some(permutation) = start.clone().sending(graph, first, v, work) else { continue };
                if keeps(graph, &permutation) {
                    orbits.join(&permutation);
                    found.push(permutation);
                    break;
                }
            }
            if work.is_done() || found.len() >= MOST {
                return;
            }
            if firsts.iter().all(|&first| orbits.first(first) != orbits.first(v)) {
                firsts.push(v);
            }
        }
    }
}

/// The largest number of operations of a search, which take about a second.
const WORK: u64 = 200_000_000;

/// How many times the search fixes one more node and looks for symmetries that leave the fixed nodes in
/// place.
const LEVELS: usize = 4;

/// The largest number of permutations that are kept.
const MOST: usize = 256;

/// The largest number of nodes that a node is compared with.
const MOST_TRIED: usize = 4;

/// Whether a permutation of the nodes, with `π(u)` at index `u`, keeps the edges; false if it is no
/// permutation.
///
/// # Examples
/// ```
/// use ndp_graph::{generators::path_graph, symmetries::keeps};
/// let path = path_graph(3)?;
/// assert!(keeps(&path, &[2, 1, 0]));
/// assert!(!keeps(&path, &[1, 0, 2]) && !keeps(&path, &[1, 1, 1]) && !keeps(&path, &[0, 1]));
/// # Ok::<(), ndp_graph::Error>(())
/// ```
#[must_use]
pub fn keeps(graph: &Graph, permutation: &[u32]) -> bool {
    let n = graph.node_count();
    if !is_permutation(permutation, n) {
        return false;
    }
    let mut moved = Vec::new();
    (0..n).all(|u| {
        moved.clear();
        moved.extend(graph.neighbors(u).iter().map(|&v| permutation[v as usize]));
        moved.sort_unstable();
        moved == graph.neighbors(permutation[u] as usize)
    })
}

/// Whether every number below `n` occurs exactly once.
///
/// # Examples
/// ```
/// use ndp_graph::symmetries::is_permutation;
/// assert!(is_permutation(&[1, 2, 0], 3));
/// assert!(!is_permutation(&[1, 2, 1], 3) && !is_permutation(&[1, 2, 3], 3) && !is_permutation(&[0], 3));
/// ```
#[must_use]
pub fn is_permutation(numbers: &[u32], n: usize) -> bool {
    // Compare the lengths first: `n` marks may not fit in memory.
    if numbers.len() != n {
        return false;
    }
    let mut seen = vec![false; n];
    let new = |&v: &u32| seen.get_mut(v as usize).is_some_and(|seen| !std::mem::replace(seen, true));
    numbers.iter().all(new)
}

impl GossipMatrix {
    /// The [symmetries] of the graph that also [keep](Self::is_kept_by) the matrix.
    ///
    /// # Examples
    /// ```
    /// use ndp_graph::{GossipMatrix, generators::path_graph};
    /// assert_eq!(GossipMatrix::metropolis(&path_graph(3)?).symmetries(), [[2, 1, 0]]);
    /// # Ok::<(), ndp_graph::Error>(())
    /// ```
    #[must_use]
    pub fn symmetries(&self) -> Vec<Vec<u32>> {
        symmetries(self.graph()).into_iter().filter(|permutation| self.is_kept_by(permutation)).collect()
    }

    /// Whether a permutation of the nodes, with `π(u)` at index `u`, keeps the matrix: `W[π(u)][π(v)] =
    /// W[u][v]`, exactly.
    ///
    /// Weights by a rule follow from the degrees at the ends of an edge, and the diagonal from the other
    /// entries. So a permutation that keeps the graph keeps the exact weights, although the rounded diagonal
    /// entries may differ. Given weights, including the diagonal, are compared as they are stored.
    ///
    /// # Examples
    /// ```
    /// use ndp_graph::{GossipMatrix, generators::path_graph};
    /// let path = path_graph(3)?;
    /// assert!(GossipMatrix::metropolis(&path).is_kept_by(&[2, 1, 0]));
    /// let given = GossipMatrix::from_edge_weights(&path, |u, v| if u.max(v) == 2 { 0.25 } else { 0.5 })?;
    /// assert!(!given.is_kept_by(&[2, 1, 0]) && given.is_kept_by(&[0, 1, 2]));
    /// # Ok::<(), ndp_graph::Error>(())
    /// ```
    #[must_use]
    pub fn is_kept_by(&self, permutation: &[u32]) -> bool {
        keeps(self.graph(), permutation)
            && (self.weights() != Weights::Given || keeps_entries(self.csr(), permutation))
    }
}

/// Whether the stored entries are unchanged, bit by bit.
fn keeps_entries(matrix: &Csr, permutation: &[u32]) -> bool {
    let same_row = |u: usize| {
        let (columns, weights) = matrix.row(u);
        let to = permutation[u] as usize;
        let of = |&v: &u32| matrix.get(to, permutation[v as usize] as usize);
        // `get` returns 0 for an entry that is not stored; the lengths show whether equally many are stored.
        columns.iter().zip(weights).all(|(v, &weight)| of(v).to_bits() == weight.to_bits())
            && columns.len() == matrix.row(to).0.len()
    };
    (0..matrix.node_count()).all(same_row)
}

impl TransitionMatrix {
    /// Permutations of the nodes, with `π(u)` at index `u`, for which `W[π(u)][π(v)] = W[u][v]` exactly;
    /// found as by [`symmetries`].
    ///
    /// # Examples
    /// ```
    /// use ndp_graph::{TransitionMatrix, generators};
    /// let ring = TransitionMatrix::simple_random_walk(&generators::cycle_graph(5)?)?;
    /// assert!(!ring.symmetries().is_empty());
    /// // Which way a walk goes is not kept by turning the ring over.
    /// let turning = generators::directed_cycle(5)?;
    /// assert!(turning.symmetries().iter().all(|turned| turned[1] == (turned[0] + 1) % 5));
    /// # Ok::<(), ndp_graph::Error>(())
    /// ```
    #[must_use]
    pub fn symmetries(&self) -> Vec<Vec<u32>> {
        let n = self.node_count();
        let moves = |u: usize| self.csr().row(u).0.iter().map(move |&v| (u, v as usize));
        let mut edges: Vec<(usize, usize)> =
            (0..n).flat_map(moves).filter(|(u, v)| u != v).map(|(u, v)| (u.min(v), u.max(v))).collect();
        edges.sort_unstable();
        edges.dedup();
        let Ok(graph) = Graph::from_edges(n, edges) else { return Vec::new() };
        symmetries(&graph).into_iter().filter(|one| keeps_entries(self.csr(), one)).collect()
    }
}

/// A permutation that cycles through every class of twins (nodes with the same neighbors, apart from each
/// other); `None` if there are no twins.
fn twins(graph: &Graph) -> Option<Vec<u32>> {
    let n = graph.node_count();
    let mut turned: Vec<u32> = (0..).take(n).collect();
    let nodes = turned.clone();
    let mut any = false;
    // A node cannot have twins among its neighbors and other twins as well.
    for closed in [false, true] {
        let around = |&u: &u32| {
            let mut around = graph.neighbors(u as usize).to_vec();
            if closed {
                around.insert(around.partition_point(|&w| w < u), u);
            }
            (around, u)
        };
        let mut keyed: Vec<(Vec<u32>, u32)> = nodes.iter().map(around).collect();
        keyed.sort_unstable();
        for class in keyed.chunk_by(|a, b| a.0 == b.0).filter(|class| class.len() > 1) {
            any = true;
            let next = class.iter().skip(1).chain(&class[..1]);
            class.iter().zip(next).for_each(|(u, v)| turned[u.1 as usize] = v.1);
        }
    }
    any.then_some(turned)
}

/// The orbits of the nodes under the permutations joined so far.
struct Orbits(Vec<u32>);

impl Orbits {
    fn new(n: usize) -> Self {
        Self((0..).take(n).collect())
    }

    /// A node of the orbit that is the same for all its nodes.
    fn first(&mut self, mut v: u32) -> u32 {
        while self.0[v as usize] != v {
            let above = self.0[self.0[v as usize] as usize];
            self.0[v as usize] = above;
            v = above;
        }
        v
    }

    fn join(&mut self, permutation: &[u32]) {
        for (u, &v) in (0..).zip(permutation) {
            let (a, b) = (self.first(u), self.first(v));
            self.0[a.max(b) as usize] = a.min(b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, generators, random};
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    #[test]
    fn what_is_no_permutation_needs_no_memory() {
        assert!(is_permutation(&[1, 0], 2) && !is_permutation(&[1, 1], 2));
        assert!(!is_permutation(&[0, 1], usize::MAX));
    }

    fn orbits(graph: &Graph) -> usize {
        let mut orbits = Orbits::new(graph.node_count());
        symmetries(graph).iter().for_each(|permutation| orbits.join(permutation));
        (0..).take(graph.node_count()).filter(|&v| orbits.first(v) == v).count()
    }

    /// In these families all nodes are alike, and a few permutations show it.
    #[test]
    fn families_have_one_orbit() -> Result<(), Error> {
        let graphs = [
            generators::hypercube_graph(9)?,
            generators::cycle_graph(101)?,
            generators::torus_graph(&[5, 7])?,
            generators::torus_graph(&[4, 4, 4])?,
            generators::complete_graph(60)?,
            generators::kneser_graph(7, 3)?,
            generators::ring_of_cliques(2, 2)?,
        ];
        for graph in graphs {
            assert_eq!(orbits(&graph), 1, "{} nodes", graph.node_count());
            assert!(symmetries(&graph).iter().all(|permutation| keeps(&graph, permutation)));
        }
        Ok(())
    }

    /// A ring has as many symmetries as rotations and reflections; the rotations alone would be half as many.
    #[test]
    fn stabilizers_are_found() -> Result<(), Error> {
        for n in [6, 7] {
            let found = symmetries(&generators::cycle_graph(n)?);
            let mut group: std::collections::BTreeSet<Vec<u32>> = [(0..).take(n).collect()].into();
            loop {
                let product = |(a, b): (&Vec<u32>, &Vec<u32>)| -> Vec<u32> {
                    b.iter().map(|&v| a[v as usize]).collect()
                };
                let before = group.len();
                let products: Vec<_> =
                    group.iter().flat_map(|a| found.iter().map(move |b| (a, b))).map(product).collect();
                group.extend(products);
                if group.len() == before {
                    break;
                }
            }
            assert_eq!(group.len(), 2 * n);
        }
        Ok(())
    }

    /// By hand.
    #[test]
    fn orbits_of_small_graphs() -> Result<(), Error> {
        assert_eq!(orbits(&generators::path_graph(7)?), 4);
        assert_eq!(orbits(&generators::star_graph(30)?), 2);
        assert_eq!(orbits(&generators::grid_2d_graph(3, 3)?), 3);
        assert_eq!(orbits(&Graph::from_edges(1, [])?), 1);
        // A ring of six next to two triangles: refinement does not distinguish them, but the check of the
        // edges does.
        let ring = (0..6).map(|v| (v, (v + 1) % 6));
        let triangles = (0..6).map(|v| (6 + v, if v % 3 == 2 { 4 + v } else { 7 + v }));
        assert_eq!(orbits(&Graph::from_edges(12, ring.chain(triangles))?), 2);
        Ok(())
    }

    /// Compared with all permutations of seven nodes, no orbit is too large, and on these graphs none is too
    /// small.
    #[test]
    fn orbits_are_those_of_all_permutations() -> Result<(), Error> {
        let mut permutations: Vec<Vec<u32>> = vec![vec![]];
        for v in 0..7 {
            let with = |before: &Vec<u32>| {
                (0..=before.len()).map(|at| [&before[..at], &[v], &before[at..]].concat()).collect::<Vec<_>>()
            };
            permutations = permutations.iter().flat_map(with).collect();
        }
        assert_eq!(permutations.len(), 5040);
        for seed in 0..60 {
            let graph = random::erdos_renyi_graph(7, 0.4, &mut ChaCha8Rng::seed_from_u64(seed))?;
            let mut all = Orbits::new(7);
            permutations.iter().filter(|one| keeps(&graph, one)).for_each(|one| all.join(one));
            let mut found = Orbits::new(7);
            symmetries(&graph).iter().for_each(|one| found.join(one));
            for v in 0..7 {
                assert_eq!(found.first(v), all.first(v), "seed {seed}, node {v}");
            }
        }
        Ok(())
    }

    /// A weight that differs in its last bit is a different weight.
    #[test]
    fn given_weights_are_compared_exactly() -> Result<(), Error> {
        let ring = generators::cycle_graph(4)?;
        let turned = [1, 2, 3, 0];
        assert!(GossipMatrix::from_edge_weights(&ring, |_, _| 0.3)?.is_kept_by(&turned));
        let other = GossipMatrix::from_edge_weights(&ring, |u, v| {
            if (u.min(v), u.max(v)) == (0, 1) { 0.3_f64.next_up() } else { 0.3 }
        })?;
        assert!(!other.is_kept_by(&turned));
        assert!(GossipMatrix::metropolis(&ring).lazy(0.1)?.is_kept_by(&turned));
        Ok(())
    }
}
