//! Random graphs against their laws. With a fresh seed, a correct sampler would fail each test with
//! probability below `1e-5`; the seeds are fixed.

use ndarray::array;
use ndp_graph::random::{
    barabasi_albert_graph, connected_erdos_renyi, connected_random_geometric, erdos_renyi_graph,
    random_geometric_graph, random_regular_graph, stochastic_block_model, watts_strogatz_graph,
};
use ndp_graph::{Error, Graph, generators};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::collections::BTreeMap;

/// A normal variable is farther than this many standard deviations from its mean with probability `2e-6`.
const Z: f64 = 4.75;

/// The edges as bits, pair `(u, v)`, `u < v`, at bit `v (v-1) / 2 + u`.
fn mask(graph: &Graph) -> u64 {
    graph.edges().map(|(u, v)| 1u64 << (v * (v - 1) / 2 + u)).sum()
}

/// Compares frequencies with a law by chi-square at an error rate of about `1e-6`.
fn assert_follows(
    law: &BTreeMap<u64, f64>,
    draws: usize,
    mut draw: impl FnMut() -> Result<Graph, Error>,
) -> Result<(), Error> {
    assert!((law.values().sum::<f64>() - 1.0).abs() < 1e-12);
    let mut counts = BTreeMap::new();
    for _ in 0..draws {
        *counts.entry(mask(&draw()?)).or_insert(0.0) += 1.0;
    }
    assert!(counts.keys().all(|outcome| law.contains_key(outcome)), "impossible outcome");
    // Rare outcomes are pooled: chi-square needs some draws in every cell.
    let (mut statistic, mut cells, mut rare) = (0.0, 0, (0.0, 0.0));
    let mut compare = |count: f64, expected: f64| {
        statistic += (count - expected) * (count - expected) / expected;
        cells += 1;
    };
    for (outcome, p) in law {
        let (count, expected) = (counts.get(outcome).unwrap_or(&0.0), p * draws as f64);
        if expected < 5.0 {
            rare = (rare.0 + count, rare.1 + expected);
        } else {
            compare(*count, expected);
        }
    }
    if rare.1 > 0.0 {
        assert!((5.0..0.05 * draws as f64).contains(&rare.1), "choose another number of draws: {rare:?}");
        compare(rare.0, rare.1);
    }
    // Wilson and Hilferty's quantile.
    assert!(cells > 1);
    let k = f64::from(cells - 1);
    let quantile = k * (1.0 - 2.0 / (9.0 * k) + Z * (2.0 / (9.0 * k)).sqrt()).powi(3);
    assert!(statistic < quantile, "chi-square {statistic} with {k} degrees of freedom, limit {quantile}");
    Ok(())
}

/// Compares the number of successes in `trials` with its expectation.
fn assert_binomial(successes: f64, trials: f64, p: f64) {
    let deviation = (trials * p * (1.0 - p)).sqrt();
    assert!((successes - trials * p).abs() < Z * deviation, "{successes} of {trials} at p = {p}");
}

#[test]
fn erdos_renyi_is_a_product_law_on_all_graphs() -> Result<(), Error> {
    for p in [0.3f64, 0.5, 0.7] {
        let law = (0..64u64)
            .map(|m| (m, p.powi(m.count_ones() as i32) * (1.0 - p).powi(6 - m.count_ones() as i32)))
            .collect();
        let mut rng = ChaCha8Rng::seed_from_u64(10);
        assert_follows(&law, 40_000, || erdos_renyi_graph(4, p, &mut rng))?;
    }
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    assert_eq!(erdos_renyi_graph(9, 0.0, &mut rng)?.edge_count(), 0);
    assert_eq!(erdos_renyi_graph(9, 1.0, &mut rng)?, generators::complete_graph(9)?);
    assert_eq!(erdos_renyi_graph(9, 1e-300, &mut rng)?.edge_count(), 0);
    assert_eq!(erdos_renyi_graph(1, 0.5, &mut rng)?.node_count(), 1);
    Ok(())
}

#[test]
fn erdos_renyi_edge_count_has_its_mean_and_variance() -> Result<(), Error> {
    let (n, p, draws) = (300, 0.02, 400);
    let pairs = f64::from(n * (n - 1) / 2);
    let mut rng = ChaCha8Rng::seed_from_u64(12);
    let mut counts = Vec::new();
    for _ in 0..draws {
        counts.push(erdos_renyi_graph(n as usize, p, &mut rng)?.edge_count() as f64);
    }
    assert_binomial(counts.iter().sum(), f64::from(draws) * pairs, p);
    let (mean, variance) = (pairs * p, pairs * p * (1.0 - p));
    let observed = counts.iter().map(|c| (c - mean) * (c - mean)).sum::<f64>() / f64::from(draws);
    // The mean of `draws` squared standard normals has standard deviation sqrt(2 / draws).
    assert!((observed / variance - 1.0).abs() < Z * (2.0 / f64::from(draws)).sqrt() + 0.01, "{observed}");
    Ok(())
}

/// Degrees of the first and of the last node, whose pairs the skips treat differently.
#[test]
fn erdos_renyi_degrees_are_binomial() -> Result<(), Error> {
    let (n, p) = (7usize, 0.35f64);
    let binomial: Vec<f64> = [1.0, 6.0, 15.0, 20.0, 15.0, 6.0, 1.0]
        .iter()
        .enumerate()
        .map(|(k, c)| c * p.powi(k as i32) * (1.0 - p).powi(6 - k as i32))
        .collect();
    for node in [0, n - 1] {
        let mut rng = ChaCha8Rng::seed_from_u64(13);
        // A star encodes the observed degree, so that the common comparison can be used.
        let star = |degree: usize| generators::star_graph(degree);
        let law = (0..n).map(|k| (mask(&star(k).unwrap()), binomial[k])).collect();
        assert_follows(&law, 20_000, || star(erdos_renyi_graph(n, p, &mut rng)?.degree(node)))?;
    }
    Ok(())
}

#[test]
fn large_sparse_erdos_renyi_is_fast_and_right() -> Result<(), Error> {
    let n = 100_000;
    let mut rng = ChaCha8Rng::seed_from_u64(14);
    let graph = erdos_renyi_graph(n, 10.0 / n as f64, &mut rng)?;
    let pairs = 0.5 * n as f64 * (n as f64 - 1.0);
    assert_binomial(graph.edge_count() as f64, pairs, 10.0 / n as f64);
    let isolated = (0..n).filter(|&v| graph.degree(v) == 0).count() as f64;
    assert_binomial(isolated, n as f64, (1.0 - 10.0 / n as f64).powi(n as i32 - 1));
    Ok(())
}

/// Of the graphs on 4 nodes, 38 are connected; given that a graph is connected, its probability is
/// proportional to that of its edges.
#[test]
fn connected_erdos_renyi_is_the_conditional_law() -> Result<(), Error> {
    let p = 0.4f64;
    let mut law = BTreeMap::new();
    for m in 0..64u64 {
        let edges = (1..4).flat_map(|v| (0..v).map(move |u| (u, v)));
        let chosen = edges.filter(|&(u, v)| m >> (v * (v - 1) / 2 + u) & 1 == 1);
        if Graph::from_edges(4, chosen)?.is_connected() {
            law.insert(m, p.powi(m.count_ones() as i32) * (1.0 - p).powi(6 - m.count_ones() as i32));
        }
    }
    assert_eq!(law.len(), 38);
    let total: f64 = law.values().sum();
    law.values_mut().for_each(|p| *p /= total);
    let mut rng = ChaCha8Rng::seed_from_u64(15);
    assert_follows(&law, 20_000, || connected_erdos_renyi(4, p, 1000, &mut rng))?;
    Ok(())
}

#[test]
fn connectivity_is_bounded_work() -> Result<(), Error> {
    let mut rng = ChaCha8Rng::seed_from_u64(16);
    let never = connected_erdos_renyi(50, 0.001, 7, &mut rng);
    assert_eq!(never, Err(Error::NeverConnected { family: "the Erdős–Rényi graph", tries: 7 }));
    let never = connected_random_geometric(50, 0.01, 3, &mut rng);
    assert_eq!(never, Err(Error::NeverConnected { family: "the random geometric graph", tries: 3 }));
    assert!(matches!(connected_erdos_renyi(5, 0.5, 0, &mut rng), Err(Error::InvalidParameter { .. })));
    let graph = connected_random_geometric(300, 0.15, 100, &mut rng)?;
    assert!(graph.is_connected());
    assert_eq!(graph.positions().map(<[_]>::len), Some(300));
    Ok(())
}

/// Two uniform points of the unit square are within `r ≤ 1` with probability `π r² - 8 r³/3 + r⁴/2`.
#[test]
fn geometric_pairs_have_the_known_probability() -> Result<(), Error> {
    let mut rng = ChaCha8Rng::seed_from_u64(17);
    for r in [0.1f64, 0.5, 1.0] {
        let p = std::f64::consts::PI * r * r - 8.0 * r.powi(3) / 3.0 + r.powi(4) / 2.0;
        let mut joined = 0.0;
        for _ in 0..20_000 {
            joined += random_geometric_graph(2, r, &mut rng)?.edge_count() as f64;
        }
        assert_binomial(joined, 20_000.0, p);
    }
    assert_eq!(random_geometric_graph(20, 1.5, &mut rng)?.edge_count(), 190);
    Ok(())
}

/// There are 70 labelled graphs of degree 2 on 6 nodes, 70 of degree 3, 12 of degree 2 on 5, and
/// 465 of degree 4 on 7 (drawn as complements).
#[test]
fn sparse_regular_graphs_are_uniform() -> Result<(), Error> {
    for (d, n, count) in [(2, 6, 70), (3, 6, 70), (2, 5, 12), (4, 7, 465)] {
        let mut rng = ChaCha8Rng::seed_from_u64(18);
        let mut law = BTreeMap::new();
        for _ in 0..40 * count {
            law.insert(mask(&random_regular_graph(d, n, &mut rng)?), 1.0 / f64::from(count));
        }
        assert_eq!(law.len(), count as usize, "every graph appears, and no other");
        assert_follows(&law, 40 * count as usize, || random_regular_graph(d, n, &mut rng))?;
    }
    Ok(())
}

#[test]
fn regular_graphs_are_regular_and_symmetric_in_the_nodes() -> Result<(), Error> {
    let mut rng = ChaCha8Rng::seed_from_u64(19);
    for (d, n) in
        [(0, 5), (1, 8), (4, 5), (5, 12), (7, 15), (8, 15), (19, 40), (20, 41), (10, 500), (6, 2000)]
    {
        let d = if d * n % 2 == 1 { d + 1 } else { d };
        let graph = random_regular_graph(d, n, &mut rng)?;
        assert!((0..n).all(|v| graph.degree(v) == d), "{d} {n}");
    }
    let (mut first, mut last) = (0.0, 0.0);
    for _ in 0..5000 {
        let graph = random_regular_graph(5, 12, &mut rng)?;
        first += f64::from(u8::from(graph.has_edge(0, 1)));
        last += f64::from(u8::from(graph.has_edge(3, 11)));
    }
    assert_binomial(first, 5000.0, 5.0 / 11.0);
    assert_binomial(last, 5000.0, 5.0 / 11.0);
    Ok(())
}

#[test]
fn blocks_have_their_probabilities() -> Result<(), Error> {
    let sizes = [75, 0, 60, 50];
    let p = array![
        [0.25, 0.9, 0.05, 0.02],
        [0.9, 0.9, 0.9, 0.9],
        [0.05, 0.9, 0.35, 0.07],
        [0.02, 0.9, 0.07, 0.4]
    ];
    let block = |v: usize| {
        if v < 75 {
            0
        } else if v < 135 {
            2
        } else {
            3
        }
    };
    let mut rng = ChaCha8Rng::seed_from_u64(20);
    let mut counts = [[0.0; 4]; 4];
    for _ in 0..20 {
        let graph = stochastic_block_model(&sizes, p.view(), &mut rng)?;
        assert_eq!(graph.node_count(), 185);
        graph.edges().for_each(|(u, v)| counts[block(u)][block(v)] += 1.0);
    }
    for (i, j) in [(0, 0), (2, 2), (3, 3), (0, 2), (0, 3), (2, 3)] {
        let (a, b) = (sizes[i] as f64, sizes[j] as f64);
        let pairs = if i == j { a * (a - 1.0) / 2.0 } else { a * b };
        assert_binomial(counts[i][j], 20.0 * pairs, p[(i, j)]);
    }
    // All graphs on 2 + 2 nodes.
    let p = array![[0.3, 0.6], [0.6, 0.5]];
    let law = (0..64u64)
        .map(|m| {
            let factor = |bit: u32, p: f64| if m >> bit & 1 == 1 { p } else { 1.0 - p };
            // Bits 0 and 5 are the pairs 0-1 and 2-3; the others cross.
            (m, factor(0, 0.3) * factor(5, 0.5) * (1..5).map(|bit| factor(bit, 0.6)).product::<f64>())
        })
        .collect();
    assert_follows(&law, 40_000, || stochastic_block_model(&[2, 2], p.view(), &mut rng))?;
    Ok(())
}

#[test]
fn barabasi_albert_attaches_by_degree() -> Result<(), Error> {
    let bit = |u: u64, v: u64| 1u64 << (v * (v - 1) / 2 + u);
    let mut rng = ChaCha8Rng::seed_from_u64(21);
    // m = 1: node 2 joins an end of 0-1, then node 3 joins a node with probability degree / 4.
    let mut law = BTreeMap::new();
    for second in [0, 1] {
        for third in [0, 1, 2] {
            let p = if third == second { 0.5 } else { 0.25 };
            law.insert(bit(0, 1) + bit(second, 2) + bit(third, 3), 0.5 * p);
        }
    }
    assert_follows(&law, 20_000, || barabasi_albert_graph(4, 1, &mut rng))?;
    // m = 2: node 3 sees degrees 2, 1, 1; its second draw is among the two others.
    let star = bit(0, 1) + bit(0, 2);
    let law = BTreeMap::from([
        (star + bit(0, 3) + bit(1, 3), 5.0 / 12.0),
        (star + bit(0, 3) + bit(2, 3), 5.0 / 12.0),
        (star + bit(1, 3) + bit(2, 3), 1.0 / 6.0),
    ]);
    assert_follows(&law, 20_000, || barabasi_albert_graph(4, 2, &mut rng))?;
    let graph = barabasi_albert_graph(200, 4, &mut rng)?;
    assert_eq!(graph.edge_count(), 4 * 196);
    assert!(graph.is_connected());
    assert!((5..200).all(|v| graph.degree(v) >= 4));
    assert_eq!(barabasi_albert_graph(6, 5, &mut rng)?, generators::star_graph(5)?);
    Ok(())
}

/// The law of the rewiring, computed by following every choice.
fn rewire_law(n: usize, k: usize, p: f64) -> BTreeMap<u64, f64> {
    let bit = |u: usize, v: usize| 1u64 << (u.max(v) * (u.max(v) - 1) / 2 + u.min(v));
    let ring = (1..=k / 2).flat_map(|j| (0..n).map(move |u| bit(u, (u + j) % n))).sum();
    let mut law = BTreeMap::from([(ring, 1.0)]);
    for j in 1..=k / 2 {
        for u in 0..n {
            let mut next = BTreeMap::new();
            for (m, weight) in law {
                let free: Vec<usize> = (0..n).filter(|&w| w != u && m & bit(u, w) == 0).collect();
                let stay = if free.is_empty() { 1.0 } else { 1.0 - p };
                *next.entry(m).or_insert(0.0) += weight * stay;
                for &w in &free {
                    let rewired = m - bit(u, (u + j) % n) + bit(u, w);
                    *next.entry(rewired).or_insert(0.0) += weight * p / free.len() as f64;
                }
            }
            law = next;
        }
    }
    law
}

#[test]
fn watts_strogatz_rewires_one_edge_at_a_time() -> Result<(), Error> {
    let mut rng = ChaCha8Rng::seed_from_u64(22);
    assert_follows(&rewire_law(4, 2, 0.5), 20_000, || watts_strogatz_graph(4, 2, 0.5, &mut rng))?;
    assert_follows(&rewire_law(5, 3, 0.6), 100_000, || watts_strogatz_graph(5, 3, 0.6, &mut rng))?;
    assert_follows(&rewire_law(6, 4, 0.6), 20_000, || watts_strogatz_graph(6, 4, 0.6, &mut rng))?;
    assert_eq!(watts_strogatz_graph(9, 2, 0.0, &mut rng)?, generators::cycle_graph(9)?);
    assert_eq!(watts_strogatz_graph(9, 9, 0.7, &mut rng)?, generators::complete_graph(9)?);
    assert_eq!(watts_strogatz_graph(9, 1, 0.7, &mut rng)?.edge_count(), 0);
    assert_eq!(watts_strogatz_graph(100, 6, 0.3, &mut rng)?.edge_count(), 300);
    Ok(())
}

#[test]
fn impossible_parameters_are_named() {
    let rng = &mut ChaCha8Rng::seed_from_u64(23);
    let refused = |result: Result<Graph, Error>| matches!(result, Err(Error::InvalidParameter { .. }));
    for p in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        assert!(refused(erdos_renyi_graph(5, p, rng)));
        assert!(refused(watts_strogatz_graph(5, 2, p, rng)));
        assert!(refused(stochastic_block_model(&[5], array![[p]].view(), rng)));
    }
    for radius in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(refused(random_geometric_graph(5, radius, rng)));
    }
    assert!(refused(random_regular_graph(3, 5, rng)));
    assert!(refused(random_regular_graph(5, 5, rng)));
    assert!(refused(watts_strogatz_graph(5, 6, 0.1, rng)));
    assert!(refused(barabasi_albert_graph(5, 5, rng)));
    assert!(refused(barabasi_albert_graph(5, 0, rng)));
    assert!(refused(barabasi_albert_graph(0, 0, rng)));
    let p = array![[0.1, 0.2], [0.3, 0.1]];
    assert!(matches!(stochastic_block_model(&[2, 2], p.view(), rng), Err(Error::NotSymmetric { .. })));
    assert!(matches!(stochastic_block_model(&[2], p.view(), rng), Err(Error::Shape { .. })));
    assert_eq!(stochastic_block_model(&[0], array![[0.5]].view(), rng), Err(Error::EmptyGraph));
    assert_eq!(erdos_renyi_graph(0, 0.5, rng), Err(Error::EmptyGraph));
    assert_eq!(random_geometric_graph(0, 0.5, rng), Err(Error::EmptyGraph));
    assert_eq!(random_regular_graph(0, 0, rng), Err(Error::EmptyGraph));
    assert_eq!(watts_strogatz_graph(0, 0, 0.1, rng), Err(Error::EmptyGraph));
    assert!(matches!(erdos_renyi_graph(usize::MAX, 0.5, rng), Err(Error::TooManyNodes(_))));
    assert!(matches!(erdos_renyi_graph(1_000_000, 0.5, rng), Err(Error::TooLarge { .. })));
    assert!(matches!(random_geometric_graph(1_000_000, 0.5, rng), Err(Error::TooLarge { .. })));
    assert!(matches!(random_regular_graph(500_000, 1_000_000, rng), Err(Error::TooLarge { .. })));
    assert!(matches!(watts_strogatz_graph(1_000_000, 999_998, 0.5, rng), Err(Error::TooLarge { .. })));
    assert!(matches!(barabasi_albert_graph(1_000_000, 500_000, rng), Err(Error::TooLarge { .. })));
}

/// Changing these numbers is value-breaking: it changes every seeded figure.
#[test]
fn first_draws_are_pinned() -> Result<(), Error> {
    let seeded = || ChaCha8Rng::seed_from_u64(42);
    let edges = |graph: Graph| graph.edges().collect::<Vec<_>>();
    assert_eq!(
        edges(erdos_renyi_graph(8, 0.3, &mut seeded())?),
        [(0, 3), (0, 7), (2, 5), (2, 6), (3, 6), (4, 5), (4, 6), (5, 7)]
    );
    let geometric = random_geometric_graph(8, 0.4, &mut seeded())?;
    assert_eq!(geometric.positions().map(|p| p[0]), Some([0.6818961923066714, 0.950275407672484]));
    assert_eq!(edges(geometric), [(0, 5), (1, 3), (1, 5), (3, 5), (4, 7)]);
    assert_eq!(
        edges(random_regular_graph(3, 6, &mut seeded())?),
        [(0, 2), (0, 3), (0, 5), (1, 2), (1, 3), (1, 4), (2, 5), (3, 4), (4, 5)]
    );
    let dense = edges(random_regular_graph(5, 12, &mut seeded())?);
    assert_eq!(dense[..8], [(0, 2), (0, 3), (0, 7), (0, 8), (0, 10), (1, 3), (1, 4), (1, 5)]);
    let p = array![[0.6, 0.1], [0.1, 0.6]];
    assert_eq!(
        edges(stochastic_block_model(&[4, 4], p.view(), &mut seeded())?),
        [(0, 2), (1, 5), (2, 3), (3, 7), (4, 5), (4, 6), (5, 6), (5, 7)]
    );
    assert_eq!(
        edges(barabasi_albert_graph(7, 2, &mut seeded())?),
        [(0, 1), (0, 2), (0, 3), (0, 4), (0, 6), (2, 3), (2, 4), (2, 5), (3, 5), (3, 6)]
    );
    assert_eq!(
        edges(watts_strogatz_graph(8, 2, 0.5, &mut seeded())?),
        [(0, 1), (1, 2), (2, 4), (2, 5), (3, 5), (4, 7), (5, 6), (6, 7)]
    );
    Ok(())
}

/// They are counted before their edges are.
#[test]
fn blocks_of_more_nodes_than_a_graph_has_are_refused_for_them() {
    let rng = &mut ChaCha8Rng::seed_from_u64(5);
    let sizes = [u32::MAX as usize - 7, 7];
    let refused = stochastic_block_model(&sizes, array![[1.0, 1.0], [1.0, 1.0]].view(), rng);
    assert_eq!(refused, Err(Error::TooManyNodes(u32::MAX as usize)));
}
