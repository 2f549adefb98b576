//! Kneser graphs: the nodes are the sets of `k` out of `n` numbers; two sets are joined when they are
//! disjoint.
//!
//! # References
//! - Godsil and Royle, *Algebraic graph theory*, Springer, 2001, section 7.4 and theorem 9.4.3 (spectrum).

use super::{at_least, check_edges};
use crate::{Error, Graph};
use ndp_linalg::memory::require_memory;
use std::collections::BTreeMap;

/// The Kneser graph: its nodes are the sets of `k` of the numbers `0..n`, in lexicographic order, which are
/// their labels: `{0, 1}`. Two sets are joined when they are disjoint.
///
/// Every degree is `C(n−k, k)`. The graph has no edges for `n < 2k`, is a matching for `n = 2k`, and is
/// connected for `n > 2k`; `(5, 2)` is the Petersen graph. networkx takes the same arguments.
///
/// # Errors
/// [`Error::InvalidParameter`] unless `1 ≤ k ≤ n`; [`Error::TooManyNodes`], [`Error::TooLarge`].
///
/// # Examples
/// ```
/// use ndp_graph::generators::kneser_graph;
/// let petersen = kneser_graph(5, 2)?;
/// assert_eq!((petersen.node_count(), petersen.edge_count()), (10, 15));
/// # Ok::<(), ndp_graph::Error>(())
/// ```
pub fn kneser_graph(n: usize, k: usize) -> Result<Graph, Error> {
    at_least("the size of the sets of a Kneser graph", "be at least 1", k, 1)?;
    at_least("the numbers of a Kneser graph", "be at least as many as those of a set", n, k)?;
    let nodes = choose(n, k);
    check_edges("the Kneser graph", 0.5 * nodes * choose(n - k, k))?;
    // A set takes 8 bytes per member twice, its label, and the memory of the containers that hold both.
    require_memory(
        "the sets of the Kneser graph",
        u128::from(ndp_numeric::rounding::whole(nodes * (32.0 * k as f64 + 128.0))),
    )?;
    let sets = subsets(&(0..n).collect::<Vec<_>>(), k);
    let index: BTreeMap<&[usize], usize> = sets.iter().enumerate().map(|(u, set)| (&set[..], u)).collect();
    let mut edges = Vec::new();
    for (u, set) in sets.iter().enumerate() {
        let rest: Vec<usize> = (0..n).filter(|number| set.binary_search(number).is_err()).collect();
        let disjoint = subsets(&rest, k);
        edges.extend(
            disjoint.iter().filter_map(|other| index.get(&other[..])).filter(|&&v| u < v).map(|&v| (u, v)),
        );
    }
    let label = |set: &Vec<usize>| {
        let numbers: Vec<String> = set.iter().map(usize::to_string).collect();
        format!("{{{}}}", numbers.join(", "))
    };
    Graph::from_edges(sets.len(), edges)?.with_labels(sets.iter().map(label).collect())
}

/// `C(n, k)`, rounded; infinite when it is too large for a float.
fn choose(n: usize, k: usize) -> f64 {
    if k > n {
        return 0.0;
    }
    let mut count = 1.0;
    for i in 0..k.min(n - k) {
        count *= (n - i) as f64 / (i + 1) as f64;
        // The product is already larger than any memory, and it grows: the remaining factors change nothing.
        if count > 1e30 {
            return f64::INFINITY;
        }
    }
    count
}

/// The sets of `k` of the given ascending numbers, in lexicographic order.
fn subsets(numbers: &[usize], k: usize) -> Vec<Vec<usize>> {
    let n = numbers.len();
    let mut all = Vec::new();
    if k > n {
        return all;
    }
    let mut places: Vec<usize> = (0..k).collect();
    loop {
        all.push(places.iter().map(|&place| numbers[place]).collect());
        let Some(i) = (0..k).rev().find(|&i| places[i] < n - k + i) else { return all };
        places[i] += 1;
        for j in i + 1..k {
            places[j] = places[j - 1] + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GossipMatrix;
    use crate::Weights;
    use crate::generators::complete_graph;
    use approx::assert_relative_eq;
    use ndp_linalg::sym_eigenvalues;

    #[test]
    fn sets_are_joined_when_they_are_disjoint() -> Result<(), Error> {
        for (n, k) in [(1, 1), (4, 2), (5, 2), (7, 3), (6, 1), (5, 3), (8, 3), (4, 4)] {
            let graph = kneser_graph(n, k)?;
            // Represent sets as bits, so that disjointness is decided in another way.
            let mut sets: Vec<u32> = (0..1u32 << n).filter(|set| set.count_ones() as usize == k).collect();
            sets.sort_by_key(|set| (0..n).filter(|i| set >> i & 1 == 1).collect::<Vec<_>>());
            assert_eq!(graph.node_count(), sets.len());
            for (u, a) in sets.iter().enumerate() {
                for (v, b) in sets.iter().enumerate() {
                    assert_eq!(graph.has_edge(u, v), a & b == 0, "({n}, {k}): {u} {v}");
                }
            }
        }
        assert!(kneser_graph(6, 1)?.edges().eq(complete_graph(6)?.edges()));
        assert_eq!(kneser_graph(4, 2)?.labels().map(|all| all[1].as_str()), Some("{0, 2}"));
        Ok(())
    }

    /// The eigenvalues of the adjacency matrix are `(−1)^i C(n−k−i, k−i)`, with multiplicity `C(n, i) − C(n,
    /// i−1)`.
    #[test]
    fn the_spectrum_is_the_known_one() -> Result<(), Error> {
        for (n, k) in [(5, 2), (7, 3), (8, 3)] {
            let graph = kneser_graph(n, k)?;
            let degree = choose(n - k, k);
            let mut known = Vec::new();
            for i in 0..=k {
                let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
                let multiplicity = choose(n, i) - if i == 0 { 0.0 } else { choose(n, i - 1) };
                known.extend(vec![sign * choose(n - k - i, k - i) / degree; multiplicity as usize]);
            }
            known.sort_by(f64::total_cmp);
            let values = sym_eigenvalues(GossipMatrix::new(&graph, Weights::Regular)?.to_dense()?.view())?;
            assert_eq!(values.len(), known.len());
            for (value, expected) in values.iter().zip(known) {
                assert_relative_eq!(*value, expected, epsilon = 1e-12);
            }
        }
        Ok(())
    }

    #[test]
    fn impossible_and_absurd_sizes_are_refused() {
        for (n, k) in [(0, 0), (3, 0), (2, 3)] {
            assert!(matches!(kneser_graph(n, k), Err(Error::InvalidParameter { .. })), "({n}, {k})");
        }
        for (n, k) in [(60, 30), (usize::MAX, 2), (1000, 501), (usize::MAX, usize::MAX)] {
            assert!(matches!(kneser_graph(n, k), Err(Error::TooLarge { .. })), "({n}, {k})");
        }
    }

    /// Without edges, the sets alone fill the memory: a number takes 8 bytes in a set, 8 among the neighbors
    /// it is built from, and 4 in a label such as `{10, 11}`.
    #[test]
    fn sets_beyond_memory_are_refused() {
        for (n, k) in [(40, 21), (50, 26), (2000, 1998), (100, 98)] {
            let needed = choose(n, k) * k as f64 * 20.0;
            match kneser_graph(n, k) {
                Err(Error::TooLarge { what, bytes, .. }) => {
                    assert_eq!(what, "the sets of the Kneser graph");
                    assert!(bytes as f64 >= needed, "({n}, {k}): {bytes} for {needed}");
                }
                other => assert!(needed < 1e9, "({n}, {k}): {other:?}"),
            }
        }
    }
}
