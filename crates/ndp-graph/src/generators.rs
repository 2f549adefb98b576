//! Deterministic graph families, named as in networkx.

mod kneser;

pub use crate::davis::davis_southern_women_graph;
pub use crate::karate::karate_club_graph;
pub use kneser::kneser_graph;

use crate::error::{ensure, require_ids};
use crate::{Csr, Error, Graph, TransitionMatrix};
use ndp_linalg::memory::require_memory;

/// The complete graph on `n` nodes.
///
/// # Errors
/// [`Error::EmptyGraph`] for `n = 0`; [`Error::TooLarge`].
pub fn complete_graph(n: usize) -> Result<Graph, Error> {
    check_edges("the complete graph", pairs(n))?;
    Graph::from_edges(n, (0..n).flat_map(|u| (u + 1..n).map(move |v| (u, v))))
}

/// The path `0 - 1 - … - n-1`.
///
/// # Errors
/// [`Error::EmptyGraph`] for `n = 0`, [`Error::TooManyNodes`], [`Error::TooLarge`].
pub fn path_graph(n: usize) -> Result<Graph, Error> {
    check_edges("the path", n as f64)?;
    Graph::from_edges(n, (1..n).map(|v| (v - 1, v)))
}

/// The cycle on `n ≥ 3` nodes.
///
/// # Errors
/// [`Error::InvalidParameter`] for `n < 3`, where the cycle is not a simple graph; [`Error::TooManyNodes`],
/// [`Error::TooLarge`].
pub fn cycle_graph(n: usize) -> Result<Graph, Error> {
    at_least("the length of a cycle", "be at least 3", n, 3)?;
    check_edges("the cycle", n as f64)?;
    Graph::from_edges(n, (0..n).map(|v| (v, (v + 1) % n)))
}

/// The random walk that goes around the directed cycle `0 → 1 → … → n-1 → 0`, one node per step.
///
/// It is periodic with period `n`, doubly stochastic, and not symmetric for `n > 2`.
///
/// # Errors
/// [`Error::InvalidParameter`] for `n < 2`, [`Error::TooLarge`].
pub fn directed_cycle(n: usize) -> Result<TransitionMatrix, Error> {
    at_least("the length of a directed cycle", "be at least 2", n, 2)?;
    check_edges("the directed cycle", n as f64)?;
    let rows = (0..n).map(|u| [(ndp_numeric::casts::id((u + 1) % n), 1.0)]);
    Ok(TransitionMatrix::from_checked_csr(Csr::from_rows(n, rows)))
}

/// The star with hub 0 and leaves `1..=n`: as in networkx it has `n + 1` nodes.
///
/// # Errors
/// [`Error::TooManyNodes`], [`Error::TooLarge`].
pub fn star_graph(n: usize) -> Result<Graph, Error> {
    check_edges("the star", n as f64)?;
    Graph::from_edges(n.saturating_add(1), (1..=n).map(|leaf| (0, leaf)))
}

/// The `m` by `n` grid; node `i n + j` is at row `i`, column `j`, and has that position.
///
/// # Errors
/// [`Error::EmptyGraph`] when a side is 0, [`Error::TooManyNodes`], [`Error::TooLarge`].
pub fn grid_2d_graph(m: usize, n: usize) -> Result<Graph, Error> {
    if m == 0 || n == 0 {
        return Err(Error::EmptyGraph);
    }
    check_edges("the grid", 2.0 * m as f64 * n as f64)?;
    let down = (1..m).flat_map(|i| (0..n).map(move |j| ((i - 1) * n + j, i * n + j)));
    let right = (0..m).flat_map(|i| (1..n).map(move |j| (i * n + j - 1, i * n + j)));
    let positions = (0..m).flat_map(|i| (0..n).map(move |j| [j as f64, i as f64])).collect();
    Graph::from_edges(m * n, down.chain(right))?.with_positions(positions)
}

/// The hypercube on `2^n` nodes: two nodes are joined when they differ in one bit.
///
/// # Errors
/// [`Error::TooLarge`] for `n > 25`.
pub fn hypercube_graph(n: u32) -> Result<Graph, Error> {
    check_edges("the hypercube", f64::from(n) * 2f64.powf(f64::from(n) - 1.0))?;
    let nodes = 1usize << n;
    Graph::from_edges(
        nodes,
        (0..nodes).flat_map(|u| (0..n).map(move |bit| (u, u ^ (1 << bit))).filter(|&(u, v)| u < v)),
    )
}

/// The torus with the given sides, in any dimension: the product of one cycle per side.
///
/// The node with coordinates `c_0, c_1, …` is `(c_0 sides[1] + c_1) sides[2] + …` (row-major).
///
/// # Errors
/// [`Error::EmptyGraph`] without a side, [`Error::InvalidParameter`] for a side below 3 (its cycle
/// is not a simple graph), [`Error::TooManyNodes`], [`Error::TooLarge`].
pub fn torus_graph(sides: &[usize]) -> Result<Graph, Error> {
    if sides.is_empty() {
        return Err(Error::EmptyGraph);
    }
    let mut n = 1usize;
    for &side in sides {
        at_least("the side of a torus", "be at least 3", side, 3)?;
        n = n.saturating_mul(side);
    }
    require_ids(n)?;
    check_edges("the torus", n as f64 * sides.len() as f64)?;
    let mut stride = n;
    let along = sides.iter().flat_map(|&side| {
        stride /= side;
        let stride = stride;
        (0..n).map(move |u| {
            let last = u / stride % side == side - 1;
            (u, if last { u - (side - 1) * stride } else { u + stride })
        })
    });
    Graph::from_edges(n, along)
}

/// `num_cliques` complete graphs of `clique_size` nodes each, joined in a ring by single edges.
///
/// Clique `i` has the nodes `i clique_size ..`; its second node is joined to the first node of the
/// next clique, as in networkx.
///
/// # Errors
/// [`Error::InvalidParameter`] unless both arguments are at least 2; [`Error::TooManyNodes`],
/// [`Error::TooLarge`].
pub fn ring_of_cliques(num_cliques: usize, clique_size: usize) -> Result<Graph, Error> {
    at_least("the number of cliques", "be at least 2", num_cliques, 2)?;
    at_least("the size of a clique", "be at least 2", clique_size, 2)?;
    check_edges("the ring of cliques", num_cliques as f64 * (1.0 + pairs(clique_size)))?;
    let n = num_cliques * clique_size;
    let cliques = (0..num_cliques).flat_map(|i| {
        let nodes = i * clique_size..(i + 1) * clique_size;
        nodes.clone().flat_map(move |u| (u + 1..nodes.end).map(move |v| (u, v)))
    });
    let ring = (0..num_cliques).map(|i| (i * clique_size + 1, (i + 1) * clique_size % n));
    Graph::from_edges(n, cliques.chain(ring))
}

/// The number of pairs of `n` nodes.
pub(crate) fn pairs(n: usize) -> f64 {
    0.5 * n as f64 * (n as f64 - 1.0)
}

/// Refuses a graph whose edges, of the given or expected number, would not fit in memory.
pub(crate) fn check_edges(what: &'static str, edges: f64) -> Result<(), Error> {
    // An edge takes 8 bytes in the graph, and up to 16 in the growing list that it is built from.
    Ok(require_memory(what, u128::from(ndp_numeric::rounding::whole(24.0 * edges)))?)
}

fn at_least(name: &'static str, condition: &'static str, value: usize, least: usize) -> Result<(), Error> {
    ensure(least <= value, name, condition, value as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn torus_is_a_product_of_cycles() -> Result<(), Error> {
        assert_eq!(torus_graph(&[7])?, cycle_graph(7)?);
        let torus = torus_graph(&[3, 4, 5])?;
        assert_eq!((torus.node_count(), torus.edge_count()), (60, 180));
        let coordinates = |u: usize| [u / 20, u / 5 % 4, u % 5];
        for u in 0..60 {
            for v in 0..60 {
                let steps: Vec<bool> = (0..3)
                    .filter(|&axis| coordinates(u)[axis] != coordinates(v)[axis])
                    .map(|axis| {
                        let side = [3, 4, 5][axis];
                        let gap = coordinates(u)[axis].abs_diff(coordinates(v)[axis]);
                        gap == 1 || gap == side - 1
                    })
                    .collect();
                assert_eq!(torus.has_edge(u, v), steps == [true], "{u} {v}");
            }
        }
        Ok(())
    }

    /// `ring_of_cliques(5, 4)` of networkx: 20 nodes, 5 * 6 + 5 edges, neighboring cliques joined.
    #[test]
    fn ring_of_cliques_joins_second_to_first() -> Result<(), Error> {
        let graph = ring_of_cliques(5, 4)?;
        assert_eq!((graph.node_count(), graph.edge_count()), (20, 35));
        assert!(graph.is_connected());
        for (u, v) in [(1, 4), (5, 8), (9, 12), (13, 16), (17, 0)] {
            assert!(graph.has_edge(u, v));
        }
        assert_eq!(ring_of_cliques(2, 2)?, Graph::from_edges(4, [(0, 1), (2, 3), (1, 2), (3, 0)])?);
        Ok(())
    }

    #[test]
    fn directed_cycle_goes_one_way() -> Result<(), Error> {
        let walk = directed_cycle(5)?;
        for u in 0..5 {
            assert_eq!(walk.csr().row(u), (&[((u + 1) % 5) as u32][..], &[1.0][..]));
        }
        Ok(())
    }

    #[test]
    fn impossible_parameters_are_named() {
        assert_eq!(complete_graph(0), Err(Error::EmptyGraph));
        assert_eq!(path_graph(0), Err(Error::EmptyGraph));
        for n in 0..3 {
            assert!(matches!(cycle_graph(n), Err(Error::InvalidParameter { .. })));
        }
        assert_eq!(grid_2d_graph(0, 5), Err(Error::EmptyGraph));
        assert_eq!(grid_2d_graph(5, 0), Err(Error::EmptyGraph));
        assert_eq!(grid_2d_graph(0, usize::MAX), Err(Error::EmptyGraph));
        assert_eq!(torus_graph(&[]), Err(Error::EmptyGraph));
        assert!(matches!(torus_graph(&[3, 2]), Err(Error::InvalidParameter { value: 2.0, .. })));
        assert!(matches!(torus_graph(&[usize::MAX, usize::MAX]), Err(Error::TooManyNodes(_))));
        assert!(matches!(directed_cycle(1), Err(Error::InvalidParameter { .. })));
        assert!(matches!(ring_of_cliques(1, 5), Err(Error::InvalidParameter { .. })));
        assert!(matches!(ring_of_cliques(5, 1), Err(Error::InvalidParameter { .. })));
    }

    /// Graphs that are too large are refused at once, with the memory that they would take.
    #[test]
    fn absurd_sizes_are_refused_before_the_work_starts() {
        for graph in [
            complete_graph(1_000_000),
            complete_graph(usize::MAX),
            path_graph(1 << 31),
            path_graph(usize::MAX),
            cycle_graph(usize::MAX),
            star_graph(1 << 31),
            star_graph(usize::MAX),
            grid_2d_graph(1 << 40, 1 << 40),
            grid_2d_graph(usize::MAX, 1),
            hypercube_graph(26),
            hypercube_graph(64),
            hypercube_graph(u32::MAX),
            torus_graph(&[1 << 15, 1 << 15]),
            ring_of_cliques(3, usize::MAX / 2),
        ] {
            match graph {
                Err(Error::TooLarge { bytes, limit, .. }) => assert!(bytes > limit),
                other => panic!("{other:?}"),
            }
        }
        assert!(matches!(directed_cycle(usize::MAX), Err(Error::TooLarge { .. })));
        let error = complete_graph(1_000_000).unwrap_err().to_string();
        assert_eq!(
            error,
            "the complete graph would take 11999988000000 bytes, more than the limit of 17179869184"
        );
    }

    #[test]
    fn deterministic_families_are_what_their_names_say() -> Result<(), Error> {
        for n in 1..8 {
            let complete = complete_graph(n)?;
            assert_eq!((complete.node_count(), complete.edge_count()), (n, n * (n - 1) / 2));
            let path = path_graph(n)?;
            assert_eq!(path.distances(0), (0..n as u32).map(Some).collect::<Vec<_>>());
            let star = star_graph(n)?;
            assert_eq!((star.node_count(), star.degree(0)), (n + 1, n));
            assert!((1..=n).all(|leaf| star.neighbors(leaf) == [0]));
        }
        for n in 3..9 {
            let cycle = cycle_graph(n)?;
            assert!(cycle.is_connected() && (0..n).all(|v| cycle.degree(v) == 2));
        }
        assert_eq!(star_graph(0)?.node_count(), 1);
        Ok(())
    }

    /// The grid of the experiments, 45 by 45; its distances are those of the 1-norm.
    #[test]
    fn grids_have_city_block_distances() -> Result<(), Error> {
        let grid = grid_2d_graph(45, 45)?;
        assert_eq!((grid.node_count(), grid.edge_count()), (2025, 2 * 45 * 44));
        for (v, distance) in grid.distances(1035).into_iter().enumerate() {
            let (row, column) = (v / 45, v % 45);
            assert_eq!(distance, Some((row.abs_diff(23) + column.abs_diff(0)) as u32));
        }
        let flat = grid_2d_graph(2, 3)?;
        assert_eq!(flat.positions().map(|all| all[4]), Some([1.0, 1.0]));
        assert_eq!(
            grid_2d_graph(1, 6)?.edges().collect::<Vec<_>>(),
            path_graph(6)?.edges().collect::<Vec<_>>()
        );
        Ok(())
    }

    #[test]
    fn hypercubes_have_hamming_distances() -> Result<(), Error> {
        for m in 0..8 {
            let cube = hypercube_graph(m)?;
            let bits = (0..1u32 << m).map(|v| Some(v.count_ones())).collect::<Vec<_>>();
            assert_eq!(cube.distances(0), bits);
            assert_eq!(cube.edge_count(), (m as usize) << m >> 1);
        }
        Ok(())
    }

    /// `26 · 2^25` edges of 24 bytes.
    #[test]
    fn hypercubes_beyond_memory_are_refused() {
        let refused = hypercube_graph(26).map(|graph| graph.node_count());
        let bytes = (24 * 26) << 25;
        assert!(matches!(refused, Err(Error::TooLarge { bytes: said, .. }) if said == bytes), "{refused:?}");
    }
}
