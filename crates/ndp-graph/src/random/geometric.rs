//! Random geometric graphs in the unit square.

use super::first_connected;
use crate::error::{ensure, require_ids};
use crate::generators::{check_edges, pairs};
use crate::{Error, Graph};
use ndp_numeric::casts::floor;
use rand::{Rng, RngExt};

/// `n` nodes placed uniformly in the unit square, joined when their distance is at most `radius`.
///
/// The positions are kept in the graph.
///
/// # Errors
/// [`Error::InvalidParameter`] unless `radius` is positive and finite; [`Error::EmptyGraph`],
/// [`Error::TooManyNodes`]; [`Error::TooLarge`].
///
/// # Complexity
/// Proportional to the nodes plus the edges: only cells of side `radius` or more that touch are
/// compared.
pub fn random_geometric_graph(n: usize, radius: f64, rng: &mut impl Rng) -> Result<Graph, Error> {
    ensure(0.0 < radius && radius.is_finite(), "the radius", "be positive and finite", radius)?;
    require_ids(n)?;
    let share = (std::f64::consts::PI * radius * radius).min(1.0);
    check_edges("the random geometric graph", share * pairs(n))?;
    let positions: Vec<[f64; 2]> = (0..n).map(|_| [rng.random(), rng.random()]).collect();
    Graph::from_edges(n, close_pairs(&positions, radius))?.with_positions(positions)
}

/// A random geometric graph given that it is connected: [`random_geometric_graph`] is redrawn
/// until it is, at most `tries` times.
///
/// # Errors
/// [`Error::NeverConnected`] when no draw was connected; [`Error::InvalidParameter`] for
/// `tries = 0`; those of [`random_geometric_graph`].
pub fn connected_random_geometric(
    n: usize,
    radius: f64,
    tries: usize,
    rng: &mut impl Rng,
) -> Result<Graph, Error> {
    first_connected("the random geometric graph", tries, || random_geometric_graph(n, radius, rng))
}

/// All pairs of points of the unit square at distance at most `radius`.
fn close_pairs(positions: &[[f64; 2]], radius: f64) -> Vec<(usize, usize)> {
    // More cells than points would cost memory without saving time.
    let side = floor(1.0 / radius).min(floor((positions.len() as f64).sqrt())).max(1);
    let along = |x: f64| floor(x * side as f64).min(side - 1);
    let cell_of = |position: &[f64; 2]| along(position[0]) * side + along(position[1]);
    // The points of cell c, ascending, are points[starts[c]..starts[c + 1]].
    let mut starts = vec![0; side * side + 1];
    for position in positions {
        starts[cell_of(position) + 1] += 1;
    }
    for cell in 0..side * side {
        starts[cell + 1] += starts[cell];
    }
    let mut next = starts.clone();
    let mut points = vec![0; positions.len()];
    for (v, position) in positions.iter().enumerate() {
        let slot = &mut next[cell_of(position)];
        points[*slot] = v;
        *slot += 1;
    }
    let mut edges = Vec::new();
    for (u, position) in positions.iter().enumerate() {
        let (i, j) = (along(position[0]), along(position[1]));
        for near_i in i.saturating_sub(1)..=(i + 1).min(side - 1) {
            // The cells of a row, at most three, are adjacent in the list.
            let (first, last) = (near_i * side + j.saturating_sub(1), near_i * side + (j + 1).min(side - 1));
            for &v in &points[starts[first]..starts[last + 1]] {
                let (x, y) = (position[0] - positions[v][0], position[1] - positions[v][1]);
                if u < v && x * x + y * y <= radius * radius {
                    edges.push((u, v));
                }
            }
        }
    }
    edges
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    #[test]
    fn cells_find_every_close_pair() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for (n, radius) in [(1, 0.1), (2, 0.5), (60, 1e-3), (60, 0.09), (200, 0.25), (60, 0.5), (60, 3.0)] {
            let positions: Vec<[f64; 2]> = (0..n).map(|_| [rng.random(), rng.random()]).collect();
            let mut found = close_pairs(&positions, radius);
            found.sort_unstable();
            let mut all = Vec::new();
            for u in 0..n {
                for v in u + 1..n {
                    let (x, y) = (positions[u][0] - positions[v][0], positions[u][1] - positions[v][1]);
                    if x * x + y * y <= radius * radius {
                        all.push((u, v));
                    }
                }
            }
            assert_eq!(found, all, "n = {n}, radius = {radius}");
        }
    }
}
