//! The general routine against exact rational arithmetic, which orthogonalises the raw rows.

use approx::assert_abs_diff_eq;
use ndp_algos::gossip::{ExactOptions, exact_loss};
use ndp_algos::{Error, OwnNoise};
use ndp_dp::Grade;
use ndp_graph::{GossipMatrix, Graph};
use num_rational::BigRational;
use num_traits::{One, ToPrimitive, Zero};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn fraction(a: usize, b: usize) -> BigRational {
    BigRational::new(a.into(), b.into())
}

/// The dense matrix of a scheme given by its denominators, in fractions.
fn rational_matrix(graph: &Graph, denominator: fn(usize, usize) -> usize) -> Vec<Vec<BigRational>> {
    let n = graph.node_count();
    let mut w = vec![vec![BigRational::zero(); n]; n];
    for (u, row) in w.iter_mut().enumerate() {
        let mut rest = BigRational::one();
        for &v in graph.neighbors(u) {
            let weight = fraction(1, denominator(graph.degree(u), graph.degree(v as usize)));
            rest -= &weight;
            row[v as usize] = weight;
        }
        row[u] = rest;
    }
    w
}

/// Unit losses and rank by Gram-Schmidt without normalisation on the rows of `Wᵗ`, in fractions.
fn oracle(
    graph: &Graph,
    w: &[Vec<BigRational>],
    v: usize,
    rounds: usize,
    own: OwnNoise,
) -> (Vec<f64>, usize) {
    let n = graph.node_count();
    let unit = |node: usize| (0..n).map(|u| fraction(usize::from(u == node), 1)).collect::<Vec<_>>();
    let mut rows: Vec<Vec<BigRational>> = if own == OwnNoise::Known { vec![unit(v)] } else { Vec::new() };
    let mut messages: Vec<Vec<BigRational>> = graph.neighbors(v).iter().map(|&w| unit(w as usize)).collect();
    for _ in 0..rounds {
        rows.extend(messages.iter().cloned());
        for row in &mut messages {
            *row = (0..n).map(|j| (0..n).map(|i| &row[i] * &w[i][j]).sum()).collect();
        }
    }
    let dot = |a: &[BigRational], b: &[BigRational]| a.iter().zip(b).map(|(a, b)| a * b).sum::<BigRational>();
    let mut basis: Vec<(Vec<BigRational>, BigRational)> = Vec::new();
    for mut row in rows {
        for (q, square) in &basis {
            let factor = dot(&row, q) / square;
            row.iter_mut().zip(q).for_each(|(x, q)| *x -= &factor * q);
        }
        let square = dot(&row, &row);
        if !square.is_zero() {
            basis.push((row, square));
        }
    }
    let unit = |u: usize| basis.iter().map(|(q, square)| &q[u] * &q[u] / square).sum::<BigRational>();
    ((0..n).map(|u| unit(u).to_f64().expect("a fraction of bounded size")).collect(), basis.len())
}

fn compare(graph: &Graph, v: usize, rounds: usize) -> Result<(), Error> {
    let schemes = [
        (GossipMatrix::metropolis(graph), rational_matrix(graph, |a, b| a.max(b) + 1)),
        (GossipMatrix::max_degree(graph), rational_matrix(graph, |a, b| a.max(b))),
        (GossipMatrix::sum_degree(graph), rational_matrix(graph, |a, b| a + b + 1)),
    ];
    for (matrix, w) in &schemes {
        for own_noise in [OwnNoise::Known, OwnNoise::Unknown] {
            let options = ExactOptions { own_noise, ..ExactOptions::default() };
            let report = exact_loss(matrix, v, rounds, options)?;
            let (expected, rank) = oracle(graph, w, v, rounds, own_noise);
            assert_eq!(report.rank, rank, "{graph:?} observer {v} rounds {rounds}");
            assert_eq!(report.loss.grade(), Grade::Exact);
            for (unit, expected) in report.loss.value().unit.iter().zip(&expected) {
                assert_abs_diff_eq!(*unit, *expected, epsilon = 1e-11);
            }
        }
    }
    Ok(())
}

#[test]
fn all_connected_graphs_with_at_most_five_nodes() -> Result<(), Error> {
    let mut graphs = 0;
    for n in 1..=5usize {
        let pairs: Vec<(usize, usize)> = (0..n).flat_map(|u| (u + 1..n).map(move |v| (u, v))).collect();
        for mask in 0..1u32 << pairs.len() {
            let edges = pairs.iter().enumerate().filter(|(k, _)| mask >> k & 1 == 1).map(|(_, &pair)| pair);
            let graph = Graph::from_edges(n, edges)?;
            if graph.is_connected() {
                graphs += 1;
                // All labellings of every graph occur, so one observer covers all.
                for rounds in [2, n] {
                    compare(&graph, 0, rounds)?;
                }
            }
        }
    }
    assert_eq!(graphs, 1 + 1 + 4 + 38 + 728);
    Ok(())
}

#[test]
fn random_connected_graphs_with_six_to_ten_nodes() -> Result<(), Error> {
    let mut rng = ChaCha8Rng::seed_from_u64(610);
    let mut done = 0;
    while done < 100 {
        let n = rng.random_range(6..=10usize);
        let density = rng.random_range(0.15..0.6);
        let pairs = (0..n).flat_map(|u| (u + 1..n).map(move |v| (u, v)));
        let graph = Graph::from_edges(n, pairs.filter(|_| rng.random_bool(density)).collect::<Vec<_>>())?;
        if graph.is_connected() {
            done += 1;
            let (observer, rounds) = (rng.random_range(0..n), rng.random_range(1..=n));
            compare(&graph, observer, rounds)?;
        }
    }
    Ok(())
}
