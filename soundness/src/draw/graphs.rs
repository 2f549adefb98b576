//! Graphs of all shapes, including deep chains.

use super::numbers::pick;
use ndp_graph::Graph;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// How large a case is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Two to seven nodes, few rounds.
    Small,
    /// Up to fourteen nodes.
    Middle,
    /// Up to forty nodes with as many rounds as nodes, on paths, trees and tails.
    Deep,
}

impl Depth {
    /// The depth of case `number`: one case in `every` is a deep chain, one in eight is of middle size.
    pub(crate) fn of(number: u64, every: u64) -> Self {
        if number % every == every - 1 {
            Self::Deep
        } else if number % 8 == 3 {
            Self::Middle
        } else {
            Self::Small
        }
    }

    /// Draws the number of nodes: at most `largest`, and at least half of it if the case is deep.
    pub(crate) fn nodes(self, rng: &mut ChaCha8Rng, largest: usize) -> usize {
        match self {
            Self::Small => rng.random_range(2..=7),
            Self::Middle => rng.random_range(5..=largest.min(14)),
            Self::Deep => rng.random_range(largest / 2..=largest),
        }
    }

    /// Draws the number of rounds: the number of nodes if the case is deep, else any number, possibly 0.
    pub(crate) fn rounds(self, rng: &mut ChaCha8Rng, n: usize) -> usize {
        match self {
            Self::Deep => n,
            _ if rng.random_range(0..4) == 0 => n,
            _ => rng.random_range(0..=n + 2),
        }
    }
}

type Edges = Vec<(usize, usize)>;

/// A path, a random tree in which the parent of each node is one of the `k` nodes before it, a lollipop, a
/// barbell, a comb or a caterpillar.
pub(crate) fn chain(rng: &mut ChaCha8Rng, n: usize) -> Graph {
    let edges = match rng.random_range(0..6) {
        0 => path(n),
        1 => {
            let near = pick(rng, &[1, 2, 3, 3, 5, 8]);
            tree(rng, n, near)
        }
        2 => {
            let head = rng.random_range(1..=n.min(5));
            let mut edges = clique(0..head);
            edges.extend((head..n).map(|v| (v - 1, v)));
            edges
        }
        3 => {
            let head = rng.random_range(1..=(n / 2).clamp(1, 5));
            let mut edges = clique(0..head);
            edges.extend((head..=n - head).filter(|&v| v > 0 && v < n).map(|v| (v - 1, v)));
            edges.extend(clique(n - head..n));
            edges
        }
        4 => comb(n),
        _ => {
            let spine = rng.random_range(1..=n);
            let mut edges = path(spine);
            edges.extend((spine..n).map(|v| (rng.random_range(0..spine), v)));
            edges
        }
    };
    graph(n, edges)
}

/// A graph of any shape with about `n` nodes.
pub(crate) fn any(rng: &mut ChaCha8Rng, n: usize) -> Graph {
    match rng.random_range(0..12) {
        0..5 => chain(rng, n),
        5 => graph(n, cycle(n)),
        6 => graph(n, (1..n).map(|v| (0, v)).collect()),
        7 => graph(n, clique(0..n)),
        8 => grid(rng, n),
        9 | 10 => random(rng, n),
        // This graph may be disconnected.
        _ => {
            let p = rng.random::<f64>();
            graph(n, clique(0..n).into_iter().filter(|_| rng.random::<f64>() < p).collect())
        }
    }
}

/// A connected graph: a random tree and some more edges.
pub(crate) fn random(rng: &mut ChaCha8Rng, n: usize) -> Graph {
    let mut edges = tree(rng, n, n);
    let p = 0.5 * rng.random::<f64>();
    edges.extend(clique(0..n).into_iter().filter(|_| rng.random::<f64>() < p));
    graph(n, edges)
}

/// Zachary's karate club.
pub(crate) fn karate() -> Graph {
    graph(34, KARATE.iter().map(|&(u, v)| (u - 1, v - 1)).collect())
}

fn path(n: usize) -> Edges {
    (1..n).map(|v| (v - 1, v)).collect()
}

fn cycle(n: usize) -> Edges {
    let mut edges = path(n);
    if n > 2 {
        edges.push((0, n - 1));
    }
    edges
}

fn tree(rng: &mut ChaCha8Rng, n: usize, near: usize) -> Edges {
    (1..n).map(|v| (rng.random_range(v.saturating_sub(near)..v), v)).collect()
}

/// A path with a leaf on each of its nodes.
fn comb(n: usize) -> Edges {
    let spine = n.div_ceil(2);
    let mut edges = path(spine);
    edges.extend((spine..n).map(|v| (v - spine, v)));
    edges
}

fn clique(nodes: std::ops::Range<usize>) -> Edges {
    nodes.clone().flat_map(|u| (u + 1..nodes.end).map(move |v| (u, v))).collect()
}

fn grid(rng: &mut ChaCha8Rng, n: usize) -> Graph {
    let width = rng.random_range(1..=(n as f64).sqrt().max(1.0) as usize);
    let height = (n / width).max(1);
    let at = |i: usize, j: usize| i * height + j;
    let mut edges = Vec::new();
    for i in 0..width {
        for j in 0..height {
            if i + 1 < width {
                edges.push((at(i, j), at(i + 1, j)));
            }
            if j + 1 < height {
                edges.push((at(i, j), at(i, j + 1)));
            }
        }
    }
    graph(width * height, edges)
}

fn graph(n: usize, mut edges: Edges) -> Graph {
    edges.iter_mut().filter(|(u, v)| u > v).for_each(|(u, v)| std::mem::swap(u, v));
    edges.sort_unstable();
    edges.dedup();
    Graph::from_edges(n, edges).expect("sorted, distinct edges between nodes below n")
}

/// The graph as source code.
pub(crate) fn code(graph: &Graph) -> String {
    let edges: Edges = graph.edges().collect();
    format!("Graph::from_edges({}, {edges:?})?", graph.node_count())
}

const KARATE: [(usize, usize); 78] = [
    (1, 2),
    (1, 3),
    (1, 4),
    (1, 5),
    (1, 6),
    (1, 7),
    (1, 8),
    (1, 9),
    (1, 11),
    (1, 12),
    (1, 13),
    (1, 14),
    (1, 18),
    (1, 20),
    (1, 22),
    (1, 32),
    (2, 3),
    (2, 4),
    (2, 8),
    (2, 14),
    (2, 18),
    (2, 20),
    (2, 22),
    (2, 31),
    (3, 4),
    (3, 8),
    (3, 9),
    (3, 10),
    (3, 14),
    (3, 28),
    (3, 29),
    (3, 33),
    (4, 8),
    (4, 13),
    (4, 14),
    (5, 7),
    (5, 11),
    (6, 7),
    (6, 11),
    (6, 17),
    (7, 17),
    (9, 31),
    (9, 33),
    (9, 34),
    (10, 34),
    (14, 34),
    (15, 33),
    (15, 34),
    (16, 33),
    (16, 34),
    (19, 33),
    (19, 34),
    (20, 34),
    (21, 33),
    (21, 34),
    (23, 33),
    (23, 34),
    (24, 26),
    (24, 28),
    (24, 30),
    (24, 33),
    (24, 34),
    (25, 26),
    (25, 28),
    (25, 32),
    (26, 32),
    (27, 30),
    (27, 34),
    (28, 34),
    (29, 32),
    (29, 34),
    (30, 33),
    (30, 34),
    (31, 33),
    (31, 34),
    (32, 33),
    (32, 34),
    (33, 34),
];

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn graphs_have_the_nodes_that_were_asked_for() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for n in 1..30 {
            for _ in 0..20 {
                let drawn = chain(&mut rng, n);
                assert_eq!(drawn.node_count(), n);
                assert!(drawn.is_connected(), "{drawn:?}");
                assert!(any(&mut rng, n).node_count() <= n);
                assert!(random(&mut rng, n).is_connected());
            }
        }
        let karate = karate();
        assert_eq!([karate.degree(0), karate.degree(33), karate.degree(11)], [16, 17, 1]);
    }
}
