//! Sequences of gossip matrices: what each step is, and how often it occurs.

use ndarray::Array2;
use ndp_graph::Weights;
use ndp_graph::generators::{complete_graph, cycle_graph, path_graph, star_graph};
use ndp_graph::sequences::{EdgeActivations, GossipSequence, Step};
use ndp_graph::{Error, GossipMatrix, Graph, spectrum};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// A normal variable is farther than this many standard deviations from its mean with probability `2e-6`.
const Z: f64 = 4.75;

fn assert_binomial(successes: f64, trials: f64, p: f64) {
    let deviation = (trials * p * (1.0 - p)).sqrt();
    assert!((successes - trials * p).abs() < Z * deviation, "{successes} of {trials} at p = {p}");
}

/// The matrix of a step, column by column.
fn dense(step: &Step, n: usize) -> Array2<f64> {
    let mut matrix = Array2::zeros((n, n));
    for v in 0..n {
        let mut x = vec![0.0; n];
        x[v] = 1.0;
        step.apply(&mut x);
        (0..n).for_each(|u| matrix[(u, v)] = x[u]);
    }
    matrix
}

#[test]
fn one_peer_hypercube_reaches_consensus() -> Result<(), Error> {
    for m in 0..6u32 {
        let sequence = GossipSequence::one_peer_hypercube(m)?;
        let n = sequence.node_count();
        assert_eq!((n, sequence.steps().len()), (1 << m, m as usize));
        let mut product = Array2::eye(n);
        for (k, step) in sequence.steps().iter().enumerate() {
            let w = dense(step, n);
            for u in 0..n {
                assert_eq!(step.peers(u), [u ^ (1 << k)]);
                for v in 0..n {
                    let expected = if v == u || v == u ^ (1 << k) { 0.5 } else { 0.0 };
                    assert_eq!(w[(u, v)], expected);
                }
            }
            product = w.dot(&product);
        }
        // Powers of two are exact.
        assert!(product.iter().all(|&x| x == 1.0 / n as f64));
    }
    assert!(matches!(GossipSequence::one_peer_hypercube(27), Err(Error::InvalidParameter { .. })));
    Ok(())
}

#[test]
fn pair_steps_are_the_projectors_of_randomized_gossip() -> Result<(), Error> {
    let edges = [(0, 1), (1, 2), (2, 3), (1, 2), (2, 3)];
    let sequence = GossipSequence::given_activations(&path_graph(4)?, &edges)?;
    for (step, (a, b)) in sequence.steps().iter().zip(edges) {
        let mut expected = Array2::eye(4);
        for (row, column, value) in [(a, a, 0.5), (b, b, 0.5), (a, b, 0.5), (b, a, 0.5)] {
            expected[(row, column)] = value;
        }
        assert_eq!(dense(step, 4), expected);
        assert_eq!((step.peers(a), step.peers(b)), (vec![b], vec![a]));
        assert!((0..4).filter(|&v| v != a && v != b).all(|v| step.peers(v).is_empty()));
    }
    let refused = GossipSequence::given_activations(&path_graph(4)?, &[(0, 1), (0, 2)]);
    assert_eq!(refused, Err(Error::NotAnEdge(0, 2)));
    let refused = GossipSequence::given_activations(&path_graph(4)?, &[(0, 4)]);
    assert_eq!(refused, Err(Error::NodeOutOfRange { node: 4, nodes: 4 }));
    Ok(())
}

#[test]
fn activations_have_their_probabilities_and_their_mean() -> Result<(), Error> {
    let graph = cycle_graph(5)?;
    let p = [(1, 0, 0.1), (1, 2, 0.25), (2, 3, 0.0), (3, 4, 0.2), (0, 4, 0.15)];
    let law = EdgeActivations::new(&graph, &p)?;
    assert_eq!(law.edges(), [(0, 1, 0.1), (0, 4, 0.15), (1, 2, 0.25), (3, 4, 0.2)]);
    assert!((law.participation(4)? - 0.35).abs() < 1e-15);
    let draws = 40_000;
    let sequence = GossipSequence::activations(&law, draws, &mut ChaCha8Rng::seed_from_u64(1));
    let share = |wanted: Step| sequence.steps().iter().filter(|&step| *step == wanted).count() as f64;
    for &(u, v, p) in law.edges() {
        assert_binomial(share(Step::Pair(u, v)), draws as f64, p);
    }
    assert_binomial(share(Step::Idle), draws as f64, 0.3);

    // E[W] computed from the steps themselves.
    let mut mean: Array2<f64> = Array2::eye(5) * 0.3;
    for &(u, v, p) in law.edges() {
        mean = mean + dense(&Step::Pair(u, v), 5) * p;
    }
    let difference = mean - law.mean_matrix()?.to_dense()?;
    assert!(difference.iter().all(|d| d.abs() < 1e-15));
    Ok(())
}

/// Triangle, `p = 1/3` each: `λ_2(L_p) = 1`, so the squared distance halves in each step.
#[test]
fn mean_matrix_has_the_rate_of_randomized_gossip() -> Result<(), Error> {
    let law = EdgeActivations::uniform(&complete_graph(3)?)?;
    assert!((spectrum::extremes(&law.mean_matrix()?)?.gap_signed()? - 0.5).abs() < 1e-14);
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    assert!((0..10_000).all(|_| law.draw(&mut rng) != Step::Idle), "the probabilities sum to 1");
    Ok(())
}

/// `p = 2 W / n`: the remainder is the mean of the diagonal of `W`, and `λ_2(L_p) = 2 gap(W) / n`.
#[test]
fn gossip_weights_give_activation_probabilities() -> Result<(), Error> {
    let w = GossipMatrix::metropolis(&star_graph(4)?);
    let law = EdgeActivations::try_from(&w)?;
    let total: f64 = law.edges().iter().map(|e| e.2).sum();
    let trace: f64 = (0..5).map(|v| w.get(v, v)).sum();
    assert!((total - (1.0 - trace / 5.0)).abs() < 1e-15);
    assert!((law.participation(0)? - 0.4 * (1.0 - w.get(0, 0))).abs() < 1e-15);
    let gap = spectrum::extremes(&w)?.gap_signed()?;
    assert!((2.0 * spectrum::extremes(&law.mean_matrix()?)?.gap_signed()? - 2.0 * gap / 5.0).abs() < 1e-14);
    Ok(())
}

#[test]
fn impossible_activations_are_named() -> Result<(), Error> {
    let graph = path_graph(3)?;
    let new = |p: &[(usize, usize, f64)]| EdgeActivations::new(&graph, p);
    assert!(matches!(new(&[(0, 1, 0.6), (1, 2, 0.5)]), Err(Error::InvalidParameter { .. })));
    assert!(new(&[(0, 1, 0.5), (1, 2, 0.5 + 5e-13)]).is_ok());
    assert!(matches!(new(&[(0, 1, -0.1), (1, 2, 0.5)]), Err(Error::InvalidWeight { .. })));
    assert!(matches!(new(&[(0, 1, f64::NAN), (1, 2, 0.5)]), Err(Error::InvalidWeight { .. })));
    assert_eq!(new(&[(0, 1, 0.5), (1, 2, 0.0)]), Err(Error::Disconnected(2)));
    assert_eq!(new(&[(0, 1, 0.2), (1, 0, 0.2), (1, 2, 0.2)]), Err(Error::RepeatedEdge(0, 1)));
    assert_eq!(new(&[(0, 2, 0.2)]), Err(Error::NotAnEdge(0, 2)));
    assert_eq!(new(&[(0, 3, 0.2)]), Err(Error::NodeOutOfRange { node: 3, nodes: 3 }));
    assert_eq!(EdgeActivations::uniform(&Graph::from_edges(2, [])?), Err(Error::Disconnected(2)));
    let outside = new(&[(0, 1, 0.5), (1, 2, 0.5)])?.participation(3);
    assert_eq!(outside, Err(Error::NodeOutOfRange { node: 3, nodes: 3 }));
    Ok(())
}

#[test]
fn dropout_removes_all_edges_of_a_node() -> Result<(), Error> {
    let (n, q, steps) = (12, 0.3, 2000);
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let full = GossipSequence::constant(&GossipMatrix::new(&complete_graph(n)?, Weights::MaxDegree)?, steps);
    let left = full.with_node_dropout(q, &mut rng)?;
    let (mut isolated, mut joined) = (0.0, 0.0);
    for step in left.steps() {
        let Step::Matrix(w) = step else { unreachable!("a matrix stays a matrix") };
        assert_eq!(*w, GossipMatrix::metropolis(w.graph()));
        // On the complete graph the nodes that stay are still joined to each other.
        let up = (0..n).filter(|&v| w.graph().degree(v) > 0).count();
        assert!((0..n).all(|v| [0, up.saturating_sub(1)].contains(&w.graph().degree(v))));
        isolated += f64::from(u8::from(w.graph().degree(0) == 0));
        joined += f64::from(u8::from(w.graph().has_edge(3, 7)));
    }
    // Node 0 is isolated if it drops out or if all others do.
    assert_binomial(isolated, steps as f64, q + (1.0 - q) * f64::powi(q, 11));
    assert_binomial(joined, steps as f64, (1.0 - q) * (1.0 - q));

    let law = EdgeActivations::uniform(&complete_graph(3)?)?;
    let pairs = GossipSequence::activations(&law, steps, &mut rng).with_node_dropout(q, &mut rng)?;
    let idle = pairs.steps().iter().filter(|&step| *step == Step::Idle).count() as f64;
    assert_binomial(idle, steps as f64, 1.0 - (1.0 - q) * (1.0 - q));
    for q in [-0.1, 1.1, f64::NAN] {
        assert!(matches!(full.with_node_dropout(q, &mut rng), Err(Error::InvalidParameter { .. })));
    }
    Ok(())
}

#[test]
fn erdos_renyi_sequences_draw_anew_in_each_step() -> Result<(), Error> {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let sequence = GossipSequence::erdos_renyi(50, 0.1, 30, &mut rng)?;
    let edges: usize =
        sequence.steps().iter().map(|step| (0..50).map(|v| step.peers(v).len()).sum::<usize>() / 2).sum();
    assert_binomial(edges as f64, 30.0 * 1225.0, 0.1);
    assert!((1..30).all(|t| sequence.steps()[t] != sequence.steps()[t - 1]));
    Ok(())
}

#[test]
fn given_steps_are_checked() -> Result<(), Error> {
    let matrix = || Ok::<_, Error>(Step::Matrix(GossipMatrix::metropolis(&path_graph(3)?)));
    assert!(GossipSequence::new(3, vec![matrix()?, Step::Pair(0, 2), Step::Idle]).is_ok());
    assert!(matches!(GossipSequence::new(4, vec![matrix()?]), Err(Error::Shape { .. })));
    assert!(matches!(GossipSequence::new(3, vec![Step::Pair(0, 3)]), Err(Error::NodeOutOfRange { .. })));
    assert_eq!(GossipSequence::new(3, vec![Step::Pair(1, 1)]), Err(Error::SelfLoop(1)));
    assert_eq!(GossipSequence::new(0, vec![]), Err(Error::EmptyGraph));
    Ok(())
}

/// Changing these numbers is value-breaking: it changes every seeded figure.
#[test]
fn first_draws_are_pinned() -> Result<(), Error> {
    let law = EdgeActivations::try_from(&GossipMatrix::metropolis(&cycle_graph(6)?))?;
    let sequence = GossipSequence::activations(&law, 6, &mut ChaCha8Rng::seed_from_u64(42));
    let pairs = [(2, 3), (4, 5), (1, 2), (0, 5)].map(|(u, v)| Step::Pair(u, v));
    assert_eq!(sequence.steps(), [&[Step::Idle, Step::Idle][..], &pairs[..]].concat());
    let constant = GossipSequence::constant(&GossipMatrix::metropolis(&cycle_graph(6)?), 1);
    let left = constant.with_node_dropout(0.3, &mut ChaCha8Rng::seed_from_u64(43))?;
    let peers: Vec<_> = (0..6).map(|v| left.steps()[0].peers(v)).collect();
    assert_eq!(peers, [vec![], vec![2], vec![1, 3], vec![2, 4], vec![3, 5], vec![4]]);
    Ok(())
}

/// So many edges that the sum of equal probabilities misses 1 by more than a fixed tolerance.
#[test]
fn many_equal_probabilities_sum_to_one_up_to_rounding() -> Result<(), Error> {
    let star = star_graph(300_000)?;
    let law = EdgeActivations::uniform(&star)?;
    assert_eq!(law.edges().len(), star.edge_count());
    // No probability is left for a step without an edge.
    let rng = &mut ChaCha8Rng::seed_from_u64(3);
    assert!((0..100).all(|_| law.draw(rng) != Step::Idle));
    Ok(())
}
