//! Stationary laws, periods, mixing times and centralities against definitions and closed forms.

use crate::Weights;
use crate::centrality::{eigenvector_centrality, katz_centrality, largest_adjacency_eigenvalue};
use crate::communicability::communicability;
use crate::davis::davis_southern_women_graph;
use crate::generators::{
    complete_graph, cycle_graph, directed_cycle, grid_2d_graph, hypercube_graph, path_graph, star_graph,
};
use crate::mixing_time::{mixing_time, mixing_time_bound};
use crate::random::{connected_erdos_renyi, erdos_renyi_graph};
use crate::{Error, GossipMatrix, Graph, Spectrum, TransitionMatrix, spectrum};
use approx::{assert_abs_diff_eq, assert_relative_eq};
use ndarray::{Array2, array};
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// A walk with about half of its entries zero, and a cycle that makes it irreducible.
fn random_walk(n: usize, rng: &mut impl Rng) -> Result<TransitionMatrix, Error> {
    let mut w = Array2::zeros((n, n));
    for u in 0..n {
        for v in 0..n {
            if rng.random::<f64>() < 0.4 || v == (u + 1) % n {
                w[(u, v)] = rng.random::<f64>();
            }
        }
        let sum = w.row(u).sum();
        w.row_mut(u).mapv_inplace(|x: f64| x / sum);
    }
    TransitionMatrix::from_dense(w.view())
}

fn distance(power: &Array2<f64>, law: &[f64]) -> f64 {
    power.rows().into_iter().fold(0.0, |largest: f64, row| {
        largest.max(row.iter().zip(law).map(|(x, p)| (x - p).abs()).sum::<f64>() / 2.0)
    })
}

/// The definition, one step after the other.
fn mixing_by_definition(walk: &TransitionMatrix, law: &[f64], iota: f64) -> Result<u64, Error> {
    let w = walk.to_dense()?;
    let mut power = Array2::eye(w.nrows());
    let mut time = 0;
    while distance(&power, law) > iota {
        power = power.dot(&w);
        time += 1;
    }
    Ok(time)
}

#[test]
fn stationary_law_solves_its_equation() -> Result<(), Error> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for n in [1, 2, 3, 5, 8, 20] {
        let walk = random_walk(n, &mut rng)?;
        let law = walk.stationary_distribution()?;
        assert_abs_diff_eq!(law.iter().sum::<f64>(), 1.0, epsilon = 1e-14);
        let image = ndarray::Array1::from(law.clone()).dot(&walk.to_dense()?);
        for (p, q) in law.iter().zip(image) {
            assert_relative_eq!(*p, q, max_relative = 1e-13);
        }
    }
    // Simple random walk: degree over twice the edges.
    let graph = star_graph(4)?;
    let law = TransitionMatrix::simple_random_walk(&graph)?.stationary_distribution()?;
    for (v, p) in law.iter().enumerate() {
        assert_relative_eq!(*p, graph.degree(v) as f64 / 8.0, max_relative = 1e-15);
    }
    assert_eq!(directed_cycle(1_000_000)?.stationary_distribution()?[7], 1e-6);
    let gossip = GossipMatrix::new(&star_graph(9)?, Weights::MaxDegree)?;
    assert_eq!(TransitionMatrix::from(&gossip).stationary_distribution()?, vec![0.1; 10]);
    Ok(())
}

/// Rare moves are not hidden by the diagonal: columns sum to 1 within 1e-13, and the law is not uniform.
#[test]
fn stationary_law_of_a_slow_walk() -> Result<(), Error> {
    let a = 1e-13;
    let slow = TransitionMatrix::from_dense(array![[1.0 - a, a], [2.0 * a, 1.0 - 2.0 * a]].view())?;
    let law = slow.stationary_distribution()?;
    assert_relative_eq!(law[0], 2.0 / 3.0, max_relative = 1e-12);
    assert_relative_eq!(law[1], 1.0 / 3.0, max_relative = 1e-12);
    // Two quick pairs with slow moves between them.
    let (b, c) = (0.5 - a, 0.5 - 2.0 * a);
    let pairs = array![[b, 0.5, a, 0.0], [0.5, 0.5, 0.0, 0.0], [2.0 * a, 0.0, c, 0.5], [0.0, 0.0, 0.5, 0.5]];
    let law = TransitionMatrix::from_dense(pairs.view())?.stationary_distribution()?;
    for (found, true_value) in law.iter().zip([1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0, 1.0 / 6.0]) {
        assert_relative_eq!(*found, true_value, max_relative = 1e-11);
    }
    Ok(())
}

/// A cycle with different speeds: elimination keeps all digits.
#[test]
fn stationary_law_of_a_nearly_decomposable_walk() -> Result<(), Error> {
    let e = 1e-12;
    // A cycle 0 → 1 → 2 → 0 with different speeds: π is proportional to one over the speed.
    let speeds = [e, 0.5, 2.0 * e];
    let mut w = Array2::zeros((3, 3));
    for (u, speed) in speeds.into_iter().enumerate() {
        w[(u, u)] = 1.0 - speed;
        w[(u, (u + 1) % 3)] = speed;
    }
    let law = TransitionMatrix::from_dense(w.view())?.stationary_distribution()?;
    assert_relative_eq!(law[0] / law[2], 2.0, max_relative = 1e-14);
    assert_relative_eq!(law[1] / law[0], 2.0 * e, max_relative = 1e-14);
    Ok(())
}

#[test]
fn reducible_and_periodic_walks_are_named() -> Result<(), Error> {
    let absorbing = TransitionMatrix::from_dense(array![[0.5, 0.5], [0.0, 1.0]].view())?;
    assert_eq!(absorbing.class_count(), 2);
    assert_eq!(absorbing.stationary_distribution(), Err(Error::Reducible { classes: 2 }));
    assert_eq!(absorbing.period(), Err(Error::Reducible { classes: 2 }));
    assert_eq!(mixing_time(&absorbing, 0.25), Err(Error::Reducible { classes: 2 }));
    let apart = GossipMatrix::metropolis(&Graph::from_edges(5, [(0, 1), (3, 4)])?);
    assert_eq!(mixing_time(&(&apart).into(), 0.25), Err(Error::Reducible { classes: 3 }));

    assert_eq!(directed_cycle(7)?.period()?, 7);
    assert_eq!(mixing_time(&directed_cycle(7)?, 0.25), Err(Error::Periodic { period: 7 }));
    let walk = |graph: Graph| TransitionMatrix::simple_random_walk(&graph);
    assert_eq!(walk(cycle_graph(6)?)?.period()?, 2);
    assert_eq!(walk(cycle_graph(7)?)?.period()?, 1);
    assert_eq!(walk(star_graph(3)?)?.period()?, 2);
    assert_eq!(mixing_time(&walk(hypercube_graph(3)?)?, 0.25), Err(Error::Periodic { period: 2 }));
    // Entries of weight zero do not count as arrows: max-degree weights store a zero diagonal.
    assert_eq!(
        TransitionMatrix::from(&GossipMatrix::new(&hypercube_graph(3)?, Weights::MaxDegree)?).period()?,
        2
    );
    let alone = walk(Graph::from_edges(2, [])?);
    assert!(matches!(alone, Err(Error::InvalidParameter { name: "the degree of every node", .. })));
    // Closed walks of lengths 4 and 6.
    let mut w = Array2::zeros((8, 8));
    for (u, v, p) in [(0, 1, 0.5), (0, 4, 0.5), (1, 2, 1.0), (2, 3, 1.0), (3, 0, 1.0)] {
        w[(u, v)] = p;
    }
    for (u, v) in [(4, 5), (5, 6), (6, 7), (7, 3)] {
        w[(u, v)] = 1.0;
    }
    assert_eq!(TransitionMatrix::from_dense(w.view())?.period()?, 2);
    Ok(())
}

#[test]
fn mixing_time_is_its_definition() -> Result<(), Error> {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut walks = Vec::new();
    for n in 2..9 {
        walks.push(random_walk(n, &mut rng)?);
    }
    for graph in [cycle_graph(9)?, path_graph(12)?, star_graph(6)?, complete_graph(5)?, grid_2d_graph(4, 5)?]
    {
        walks.push((&GossipMatrix::metropolis(&graph)).into());
        walks.push((&GossipMatrix::new(&graph, Weights::MaxDegree)?.lazy(0.5)?).into());
    }
    for walk in walks.into_iter().filter(|walk| walk.period() == Ok(1)) {
        let law = walk.stationary_distribution()?;
        for iota in [0.9, 0.25, 0.01, 1e-6] {
            assert_eq!(mixing_time(&walk, iota)?, mixing_by_definition(&walk, &law, iota)?);
        }
        // Submultiplicativity: τ(ι) ≤ ⌈log₂(1/ι)⌉ τ(1/4).
        assert!(mixing_time(&walk, 1e-6)? <= 20 * mixing_time(&walk, 0.25)?);
    }
    // Two states: the distance at t is max π |1 - p - q|^t.
    let (p, q) = (1e-4, 3e-4);
    let walk = TransitionMatrix::from_dense(array![[1.0 - p, p], [q, 1.0 - q]].view())?;
    let expected = (f64::ln(0.25 / 0.75) / f64::ln(1.0 - p - q)).ceil() as u64;
    assert_eq!(mixing_time(&walk, 0.25)?, expected);
    Ok(())
}

#[test]
fn spectral_bound_is_above_the_mixing_time() -> Result<(), Error> {
    for graph in [cycle_graph(9)?, path_graph(12)?, star_graph(6)?, complete_graph(5)?, grid_2d_graph(4, 5)?]
    {
        let w = GossipMatrix::metropolis(&graph);
        let (n, gap) = (graph.node_count() as f64, spectrum::extremes(&w)?.gap_abs()?);
        for iota in [0.25, 0.01, 1e-6] {
            let exact = mixing_time(&(&w).into(), iota)?;
            assert!(exact <= mixing_time_bound(gap, 1.0 / n, iota)?);
        }
    }
    // The bound printed without ι fails below ι = 1/4: two nodes, 1 - gap = 0.9.
    let walk = TransitionMatrix::from_dense(array![[0.95, 0.05], [0.05, 0.95]].view())?;
    let printed = (f64::ln(2.0) / 0.1).ceil() as u64;
    assert!(mixing_time(&walk, 0.25)? <= printed);
    assert!(mixing_time(&walk, 0.01)? > printed);
    assert!(mixing_time(&walk, 0.01)? <= mixing_time_bound(0.1, 0.5, 0.01)?);
    for iota in [0.0, -1.0, 1.0, f64::NAN] {
        assert!(matches!(mixing_time(&walk, iota), Err(Error::InvalidParameter { .. })));
        assert!(matches!(mixing_time_bound(0.1, 0.5, iota), Err(Error::InvalidParameter { .. })));
    }
    for gap in [0.0, -0.1, 1.1, f64::NAN] {
        assert!(matches!(mixing_time_bound(gap, 0.5, 0.25), Err(Error::InvalidParameter { .. })));
    }
    Ok(())
}

#[test]
fn communicability_is_its_series() -> Result<(), Error> {
    let graphs = [path_graph(5)?, hypercube_graph(3)?, star_graph(6)?, davis_southern_women_graph()?];
    for graph in graphs {
        let w = GossipMatrix::metropolis(&graph);
        let (n, dense, spectrum) = (graph.node_count(), w.to_dense()?, Spectrum::new(&w)?);
        let found = communicability(&spectrum)?;
        let (mut term, mut sum) = (Array2::<f64>::eye(n), Array2::<f64>::zeros((n, n)));
        for i in 1..30 {
            term = term.dot(&dense) / f64::from(i);
            sum += &term;
        }
        assert!(found.iter().zip(&sum).all(|(a, b)| (a - b).abs() < 1e-14));
    }
    let apart = GossipMatrix::metropolis(&Graph::from_edges(3, [(0, 1)])?);
    assert_eq!(communicability(&Spectrum::new(&apart)?), Err(Error::Disconnected(2)));
    Ok(())
}

#[test]
fn katz_solves_its_equation_within_the_radius_only() -> Result<(), Error> {
    // A star of L leaves: hub (1 + a L) / (1 - a² L), leaf (1 + a) / (1 - a² L).
    let (leaves, a) = (9.0, 0.3);
    let x = katz_centrality(&star_graph(9)?, a, 2.0)?;
    assert_relative_eq!(x[0], 2.0 * (1.0 + a * leaves) / (1.0 - a * a * leaves), max_relative = 1e-13);
    assert_relative_eq!(x[5], 2.0 * (1.0 + a) / (1.0 - a * a * leaves), max_relative = 1e-13);

    let davis = davis_southern_women_graph()?;
    let radius = 1.0 / largest_adjacency_eigenvalue(&davis)?;
    let mut adjacency = Array2::<f64>::zeros((32, 32));
    for (u, v) in davis.edges() {
        (adjacency[(u, v)], adjacency[(v, u)]) = (1.0, 1.0);
    }
    for share in [0.0, 0.5, 0.9, 0.999] {
        let x = katz_centrality(&davis, share * radius, 1.0)?;
        let matrix = Array2::eye(32) - &adjacency * (share * radius);
        let solved = ndp_linalg::cholesky(matrix.view())?.solve(Array2::ones((32, 1)).view())?;
        for (x, y) in x.iter().zip(&solved) {
            assert_relative_eq!(*x, *y, max_relative = 1e-10);
        }
    }
    for share in [1.0, 1.001, 1.5, 10.0, -0.1, f64::NAN, f64::INFINITY] {
        let refused = katz_centrality(&davis, share * radius, 1.0);
        assert!(matches!(refused, Err(Error::InvalidParameter { .. })), "{share}");
    }
    // For a disconnected graph, the component with the largest eigenvalue decides.
    let graph = Graph::from_edges(6, [(0, 1), (2, 3), (2, 4), (3, 4)])?;
    assert_relative_eq!(katz_centrality(&graph, 0.49, 1.0)?[5], 1.0, max_relative = 1e-13);
    for a in [0.5, 0.51, 0.9, 1.0, 3.0] {
        assert!(matches!(katz_centrality(&graph, a, 1.0), Err(Error::InvalidParameter { .. })), "{a}");
    }
    // On complete graphs and cycles, the start vector is already the eigenvector.
    for (graph, radius) in [(complete_graph(4)?, 1.0 / 3.0), (cycle_graph(12)?, 0.5)] {
        assert!(katz_centrality(&graph, 0.999 * radius, 1.0).is_ok());
        for a in [radius, 1.2 * radius] {
            assert!(matches!(katz_centrality(&graph, a, 1.0), Err(Error::InvalidParameter { .. })));
        }
    }
    for b in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(katz_centrality(&davis, 0.01, b), Err(Error::InvalidParameter { .. })));
    }
    Ok(())
}

#[test]
fn eigenvector_centrality_is_the_positive_eigenvector() -> Result<(), Error> {
    for leaves in [1, 4, 9, 3000] {
        let star = star_graph(leaves)?;
        assert_relative_eq!(
            largest_adjacency_eigenvalue(&star)?,
            (leaves as f64).sqrt(),
            max_relative = 1e-12
        );
        let x = eigenvector_centrality(&star)?;
        assert_abs_diff_eq!(x[0], 0.5f64.sqrt(), epsilon = 1e-11);
        assert_abs_diff_eq!(x[1], (0.5 / leaves as f64).sqrt(), epsilon = 1e-11);
    }
    let path = eigenvector_centrality(&path_graph(10)?)?;
    let scale = (2.0f64 / 11.0).sqrt();
    for (k, x) in path.iter().enumerate() {
        assert_abs_diff_eq!(
            *x,
            scale * (std::f64::consts::PI * (k + 1) as f64 / 11.0).sin(),
            epsilon = 1e-13
        );
    }
    assert_eq!(largest_adjacency_eigenvalue(&path_graph(1)?)?, 0.0);
    assert_eq!(eigenvector_centrality(&path_graph(1)?)?, [1.0]);

    let graph = connected_erdos_renyi(3000, 0.004, 100, &mut ChaCha8Rng::seed_from_u64(3))?;
    let (value, x) = (largest_adjacency_eigenvalue(&graph)?, eigenvector_centrality(&graph)?);
    for v in 0..3000 {
        let image: f64 = graph.neighbors(v).iter().map(|&w| x[w as usize]).sum();
        assert!(x[v] > 0.0);
        assert_abs_diff_eq!(image, value * x[v], epsilon = 1e-11);
    }
    let apart = erdos_renyi_graph(5, 0.0, &mut ChaCha8Rng::seed_from_u64(4))?;
    assert_eq!(eigenvector_centrality(&apart), Err(Error::Disconnected(5)));
    assert_eq!(largest_adjacency_eigenvalue(&apart), Err(Error::Disconnected(5)));
    Ok(())
}

/// A path: `x_i = (1 - cosh(r (i - c)) / cosh(r (c + 1))) / (1 - 2a)` with `2a cosh r = 1` and `c` its
/// middle. It takes hundreds of steps.
#[test]
fn katz_centrality_of_a_long_path() -> Result<(), Error> {
    let (n, a) = (1001, 0.4999_f64);
    let x = katz_centrality(&path_graph(n)?, a, 1.0)?;
    let r = (0.5 / a).acosh();
    let middle = (n - 1) as f64 / 2.0;
    for (i, &x) in x.iter().enumerate() {
        let far = (r * (i as f64 - middle)).cosh() / (r * (middle + 1.0)).cosh();
        assert_relative_eq!(x, (1.0 - far) / (1.0 - 2.0 * a), max_relative = 1e-9);
    }
    Ok(())
}

/// Reversible walks whose stationary laws leave the range of floats: a short one goes to elimination, a long
/// one is refused, and no law says that a node is never visited.
#[test]
fn laws_beyond_the_range_of_floats_are_left_to_elimination() -> Result<(), Error> {
    let up = 1e-200;
    let mut w = Array2::zeros((4, 4));
    for u in 0..3 {
        w[(u, u + 1)] = up;
        w[(u + 1, u)] = 0.5;
    }
    for u in 0..4 {
        w[(u, u)] = 1.0 - w.row(u).sum();
    }
    let law = TransitionMatrix::from_dense(w.view())?.stationary_distribution()?;
    for (p, exact) in law.into_iter().zip([1.0, 2.0 * up, 0.0, 0.0]) {
        assert_relative_eq!(p, exact, max_relative = 1e-14, epsilon = 1e-300);
    }
    // Node 1 is visited 1e200 times as often as node 0, and node 0 1e200 times as often as the last one.
    let n = 5000;
    let row = |u: u32| {
        let last = n - 1;
        let mut row: Vec<(u32, f64)> = match u {
            0 => vec![(1, 0.25), (last, 0.25 * up)],
            1 => vec![(0, 0.25 * up), (2, 0.25)],
            _ if u == last => vec![(0, 0.25)],
            _ => [u - 1, u + 1].into_iter().filter(|&v| v != last).map(|v| (v, 0.25)).collect(),
        };
        row.push((u, 1.0 - row.iter().map(|(_, p)| p).sum::<f64>()));
        row.sort_by_key(|(v, _)| *v);
        row
    };
    let walk = TransitionMatrix::from_csr(crate::Csr::from_rows(n as usize, (0..n).map(row)))?;
    assert!(matches!(walk.stationary_distribution(), Err(Error::InvalidParameter { .. })));
    Ok(())
}
