//! Positions for drawing a graph that has none: springs along the edges, repulsion between all
//! nodes (Fruchterman, Reingold, *Graph Drawing by Force-Directed Placement*, 1991).

use ndp_graph::Graph;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rayon::prelude::*;

/// The positions of the graph, or [`force`] ones if it has none.
#[must_use]
pub fn positions(graph: &Graph) -> Vec<[f64; 2]> {
    graph.positions().map_or_else(|| force(graph), <[[f64; 2]]>::to_vec)
}

/// Positions by forces, the same for the same graph and for any number of threads.
///
/// Neighbours attract each other by `d²/k` at distance `d`, all pairs repel by `k²/d`, and a weak
/// pull keeps components together; `k` is the distance the nodes would have on a square grid.
/// Steps shrink linearly.
///
/// # Complexity
/// `O(rounds n²)`, with fewer rounds the more nodes there are.
#[must_use]
pub fn force(graph: &Graph) -> Vec<[f64; 2]> {
    let n = graph.node_count();
    let rounds = (400_000_000 / (n * n).max(1)).clamp(60, 400);
    let mut rng = ChaCha8Rng::seed_from_u64(n as u64);
    let mut places: Vec<[f64; 2]> = (0..n).map(|_| [rng.random::<f64>(), rng.random::<f64>()]).collect();
    let k = 1.0 / (n as f64).sqrt();
    for round in 0..rounds {
        let longest = 0.1 * (1.0 - round as f64 / rounds as f64) + 1e-4;
        places = (0..n)
            .into_par_iter()
            .map(|v| {
                let [x, y] = places[v];
                let (mut fx, mut fy) = (0.5 * (0.5 - x), 0.5 * (0.5 - y));
                for &[ox, oy] in &places {
                    let (dx, dy) = (x - ox, y - oy);
                    // Without a limit, coinciding nodes would be pushed to infinity; a node does not repel
                    // itself.
                    let push = k * k / (dx * dx + dy * dy).max(1e-9);
                    fx += dx * push;
                    fy += dy * push;
                }
                // The pull of many neighbours would draw everything to one spot: beyond eight neighbours it
                // is averaged.
                let share = 8.0 / (graph.degree(v) as f64).max(8.0);
                for &w in graph.neighbors(v) {
                    let [ox, oy] = places[w as usize];
                    let (dx, dy) = (ox - x, oy - y);
                    let pull = share * dx.hypot(dy) / k;
                    fx += dx * pull;
                    fy += dy * pull;
                }
                let length = fx.hypot(fy).max(1e-12);
                let step = length.min(longest) / length;
                [x + fx * step, y + fy * step]
            })
            .collect();
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndp_graph::generators::{grid_2d_graph, path_graph};

    fn distance(places: &[[f64; 2]], u: usize, v: usize) -> f64 {
        (places[u][0] - places[v][0]).hypot(places[u][1] - places[v][1])
    }

    #[test]
    fn neighbours_are_near_and_ends_far() {
        let places = force(&path_graph(20).unwrap());
        let step = (1..20).map(|v| distance(&places, v - 1, v)).fold(0.0, f64::max);
        assert!(distance(&places, 0, 19) > 3.0 * step);
        let apart = (0..20).flat_map(|u| (0..u).map(move |v| (u, v)));
        assert!(apart.map(|(u, v)| distance(&places, u, v)).fold(f64::INFINITY, f64::min) > 0.02);
    }

    #[test]
    fn threads_do_not_matter_and_own_positions_are_kept() {
        let graph = grid_2d_graph(5, 6).unwrap();
        let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool(1).install(|| force(&graph)), pool(3).install(|| force(&graph)));
        assert_eq!(positions(&graph), graph.positions().unwrap());
        assert!(force(&path_graph(1).unwrap()).iter().flatten().all(|x| x.is_finite()));
    }
}
