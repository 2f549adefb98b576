//! Graphs whose edges are independent: Erdős–Rényi graphs and stochastic block models.

use super::{check_probability, first_connected};
use crate::error::require_ids;
use crate::generators::{check_edges, pairs};
use crate::{Error, Graph};
use ndarray::ArrayView2;
use ndp_numeric::rounding::{index, whole};
use rand::{Rng, RngExt};

/// The Erdős–Rényi graph `G(n, p)`: each of the `n (n-1) / 2` pairs of nodes is an edge with
/// probability `p`, independently of the others.
///
/// # Errors
/// [`Error::InvalidParameter`] unless `p` lies in `[0, 1]`; [`Error::EmptyGraph`],
/// [`Error::TooManyNodes`]; [`Error::TooLarge`].
///
/// # Complexity
/// Proportional to the nodes plus the edges drawn: absent pairs are skipped, not visited.
///
/// # References
/// - Batagelj, Brandes, *Efficient generation of large random networks*, Physical Review E 71,
///   2005, section II (geometric skips).
pub fn erdos_renyi_graph(n: usize, p: f64, rng: &mut impl Rng) -> Result<Graph, Error> {
    check_probability("the edge probability", p)?;
    require_ids(n)?;
    check_edges("the Erdős–Rényi graph", p * pairs(n))?;
    let mut edges = Vec::new();
    add_inside(0, n, p, rng, &mut edges);
    Graph::from_edges(n, edges)
}

/// An Erdős–Rényi graph given that it is connected: [`erdos_renyi_graph`] is redrawn until it is,
/// at most `tries` times.
///
/// # Errors
/// [`Error::NeverConnected`] when no draw was connected (below `p = ln n / n` that is likely);
/// [`Error::InvalidParameter`] for `tries = 0`; those of [`erdos_renyi_graph`].
pub fn connected_erdos_renyi(n: usize, p: f64, tries: usize, rng: &mut impl Rng) -> Result<Graph, Error> {
    first_connected("the Erdős–Rényi graph", tries, || erdos_renyi_graph(n, p, rng))
}

/// A graph with communities: nodes in blocks of the given `sizes` (block 0 first), each pair of a
/// node of block `i` and one of block `j` an edge with probability `p[i][j]`, independently.
///
/// # Errors
/// [`Error::Shape`] unless `p` has one row and one column per block; [`Error::InvalidParameter`]
/// unless its entries lie in `[0, 1]`; [`Error::NotSymmetric`]; [`Error::EmptyGraph`],
/// [`Error::TooManyNodes`]; [`Error::TooLarge`].
pub fn stochastic_block_model(
    sizes: &[usize],
    p: ArrayView2<'_, f64>,
    rng: &mut impl Rng,
) -> Result<Graph, Error> {
    let blocks = sizes.len();
    for got in [p.nrows(), p.ncols()] {
        if got != blocks {
            return Err(Error::Shape { what: "side of the matrix of probabilities", expected: blocks, got });
        }
    }
    for ((row, column), &probability) in p.indexed_iter() {
        check_probability("the edge probability", probability)?;
        let difference = (probability - p[(column, row)]).abs();
        if difference > 0.0 {
            return Err(Error::NotSymmetric { row, column, difference });
        }
    }
    let n = sizes.iter().fold(0usize, |n, &size| n.saturating_add(size));
    require_ids(n)?;
    let mut expected = 0.0;
    for i in 0..blocks {
        expected += p[(i, i)] * pairs(sizes[i]);
        expected += (0..i).map(|j| p[(i, j)] * sizes[i] as f64 * sizes[j] as f64).sum::<f64>();
    }
    check_edges("the stochastic block model", expected)?;

    let mut edges = Vec::new();
    let mut start = 0;
    for i in 0..blocks {
        add_inside(start, sizes[i], p[(i, i)], rng, &mut edges);
        let mut other_start = start + sizes[i];
        for j in i + 1..blocks {
            let cells = sizes[i] as u64 * sizes[j] as u64;
            let width = sizes[j] as u64;
            each_success(cells, p[(i, j)], rng, |cell| {
                edges.push((start + index(cell / width), other_start + index(cell % width)));
            });
            other_start += sizes[j];
        }
        start += sizes[i];
    }
    Graph::from_edges(n, edges)
}

/// Adds each pair of the nodes `start .. start + size` with probability `p`.
fn add_inside(start: usize, size: usize, p: f64, rng: &mut impl Rng, edges: &mut Vec<(usize, usize)>) {
    // Pair number k is the (k - row (row - 1) / 2)-th of the pairs (row, 0), ..., (row, row - 1).
    let (mut row, mut row_start) = (1u64, 0u64);
    let cells = size as u64 * (size as u64).saturating_sub(1) / 2;
    each_success(cells, p, rng, |cell| {
        while cell - row_start >= row {
            row_start += row;
            row += 1;
        }
        edges.push((start + index(cell - row_start), start + index(row)));
    });
}

/// Calls `visit` with the successes, ascending, of `cells` independent trials of probability `p`.
fn each_success(cells: u64, p: f64, rng: &mut impl Rng, mut visit: impl FnMut(u64)) {
    if p == 0.0 {
        return;
    }
    // ln(1 - p); -∞ for p = 1, where every skip is 0.
    let log_failure = (-p).ln_1p();
    let mut next = 0u64;
    while next < cells {
        // 1 - u lies in (0, 1]: failures before a success are geometric. The cast saturates.
        let skip = whole((1.0 - rng.random::<f64>()).ln() / log_failure);
        next = next.saturating_add(skip);
        if next < cells {
            visit(next);
        }
        next = next.saturating_add(1);
    }
}
