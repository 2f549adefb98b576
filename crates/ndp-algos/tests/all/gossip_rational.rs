//! The general routine against exact rational arithmetic, which orthogonalises the raw rows.

use approx::assert_abs_diff_eq;
use ndp_account::{Error, OwnNoise};
use ndp_algos::gossip::{ExactOptions, exact_loss};
use ndp_dp::Grade;
use ndp_graph::Weights;
use ndp_graph::{GossipMatrix, Graph};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A multiple of the dense matrix of a scheme given by its denominators, with integer entries.
fn integer_matrix(graph: &Graph, denominator: fn(usize, usize) -> usize) -> Vec<Vec<BigInt>> {
    let n = graph.node_count();
    let of = |u: usize, v: usize| denominator(graph.degree(u), graph.degree(v)) as i64;
    let multiple = graph.edges().map(|(u, v)| of(u, v)).fold(1, least_common_multiple);
    let mut w = vec![vec![BigInt::zero(); n]; n];
    for (u, row) in w.iter_mut().enumerate() {
        let mut rest = multiple;
        for &v in graph.neighbors(u) {
            rest -= multiple / of(u, v as usize);
            row[v as usize] = (multiple / of(u, v as usize)).into();
        }
        row[u] = rest.into();
    }
    w
}

fn least_common_multiple(a: i64, b: i64) -> i64 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}

/// The vector without the factor that its entries share.
fn primitive(row: Vec<BigInt>) -> Vec<BigInt> {
    let mut shared = BigInt::zero();
    for x in &row {
        let (mut a, mut b) = (x.abs(), shared);
        while !b.is_zero() {
            (a, b) = (b.clone(), a % b);
        }
        shared = a;
    }
    if shared.is_zero() { row } else { row.into_iter().map(|x| x / &shared).collect() }
}

/// Unit losses and rank by Gram-Schmidt without normalisation on multiples of the rows of `Wᵗ`.
fn oracle(graph: &Graph, w: &[Vec<BigInt>], v: usize, rounds: usize, own: OwnNoise) -> (Vec<f64>, usize) {
    let n = graph.node_count();
    let unit = |node: usize| (0..n).map(|u| BigInt::from(u8::from(u == node))).collect::<Vec<_>>();
    let mut rows: Vec<Vec<BigInt>> = if own == OwnNoise::Known { vec![unit(v)] } else { Vec::new() };
    let mut messages: Vec<Vec<BigInt>> = graph.neighbors(v).iter().map(|&w| unit(w as usize)).collect();
    for _ in 0..rounds {
        rows.extend(messages.iter().cloned());
        for row in &mut messages {
            *row = primitive((0..n).map(|j| (0..n).map(|i| &row[i] * &w[i][j]).sum()).collect());
        }
    }
    let dot = |a: &[BigInt], b: &[BigInt]| a.iter().zip(b).map(|(a, b)| a * b).sum::<BigInt>();
    let mut basis: Vec<(Vec<BigInt>, BigInt)> = Vec::new();
    for mut row in rows {
        for (q, square) in &basis {
            let factor = dot(&row, q);
            row = primitive(row.iter().zip(q).map(|(x, q)| x * square - &factor * q).collect());
        }
        let square = dot(&row, &row);
        if !square.is_zero() {
            basis.push((row, square));
        }
    }
    let unit = |u: usize| {
        let parts = basis.iter().map(|(q, square)| BigRational::new(&q[u] * &q[u], square.clone()));
        parts.sum::<BigRational>().to_f64().expect("a fraction of bounded size")
    };
    ((0..n).map(unit).collect(), basis.len())
}

fn compare(graph: &Graph, v: usize, rounds: usize) -> Result<(), Error> {
    let schemes = [
        (GossipMatrix::metropolis(graph), integer_matrix(graph, |a, b| a.max(b) + 1)),
        (GossipMatrix::new(graph, Weights::MaxDegree)?, integer_matrix(graph, |a, b| a.max(b))),
        (GossipMatrix::new(graph, Weights::SumDegree)?, integer_matrix(graph, |a, b| a + b + 1)),
    ];
    for (matrix, w) in &schemes {
        for own_noise in [OwnNoise::Known, OwnNoise::Unknown] {
            let options = ExactOptions { own_noise, ..ExactOptions::default() };
            let report = exact_loss((matrix, rounds), &[v], options)?;
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

/// A path whose last edge hardly moves anything: without its own noise the last node learns some 1e-18 about
/// the others, which is less than what `3 - 2.999…` rounds away.
#[test]
fn a_mean_below_the_roundings_is_not_lost() -> Result<(), Error> {
    let options = ExactOptions { own_noise: OwnNoise::Unknown, ..ExactOptions::default() };
    let exact = |x: f64| BigRational::from_float(x).expect("finite");
    for tiny in [1e-6, 1e-9, 3e-10, 1e-12, 1e-100] {
        // One round of each: the observers 0 and 1 hear node 2, which by then has a share `tiny` of node 3.
        let graph = ndp_graph::generators::path_graph(3)?;
        let weight = |u, _| if u == 1 { tiny } else { 0.5 };
        let matrix = ndp_graph::GossipMatrix::from_edge_weights(&graph, weight)?;
        let report = exact_loss((&matrix, 2), &[0], options)?;
        // Node 0 hears x_1, then (x_0/2 + d x_1 + tiny x_2): the plane is that of e_1 and (1/2, tiny) over 0
        // and 2.
        let square = exact(tiny) * exact(tiny);
        let of_two = &square / (BigRational::new(1.into(), 4.into()) + &square);
        let mean = (BigRational::one() + of_two) / BigRational::from_integer(3.into());
        let reported = exact(*report.mean().value());
        assert!(reported >= mean, "{tiny:e}: {}", (mean - &reported).to_f64().unwrap_or(f64::NAN));
        assert!(reported <= mean + exact(1e-9));
    }
    Ok(())
}
