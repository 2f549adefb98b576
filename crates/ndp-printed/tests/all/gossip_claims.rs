//! Printed claims about gossip that are false or cannot be trusted, and input that is refused.

use approx::assert_relative_eq;
use ndarray::Array2;
use ndp_account::audit::{AuditPlan, audit};
use ndp_account::{Error, LinearProtocol, Observer, OwnNoise};
use ndp_algos::gossip::fresh::flat_variances;
use ndp_algos::gossip::random_graph::RandomGraph;
use ndp_algos::gossip::{
    ExactOptions, FreshNoiseGossip, GossipProtocol, SequenceGossip, SynchronousGossip, exact_loss,
    mean_loss_by_step,
};
use ndp_dp::{Grade, Order, Sensitivity, Sigma};
use ndp_graph::progress::Silent;
use ndp_graph::random::connected_random_geometric;
use ndp_graph::sequences::EdgeActivations;
use ndp_graph::{GossipMatrix, GossipSequence, Graph, generators};
use ndp_printed::gossip::{self as printed, Powers};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn scales(alpha: f64, sigma: f64) -> Result<(Order, Sensitivity, Sigma), Error> {
    Ok((Order::new(alpha)?, Sensitivity::new(1.0)?, Sigma::new(sigma)?))
}

/// The last two nodes of a path of six pool their views: five messages of one sender reveal everything.
#[test]
fn theorem_12_is_false_for_a_coalition() -> Result<(), Error> {
    let w = GossipMatrix::metropolis(&generators::path_graph(6)?);
    let charged = printed::theorem1_towards((&w, 4), &[4, 5], Powers::FromZero)?.into_value().unit[0];
    assert!(charged < 0.01, "{charged}");
    let relaxed = printed::corollary1_towards(&w, &[4, 5], 4)?.into_value().unit[0];
    let exact = exact_loss((&w, 4), &[4, 5], ExactOptions::default())?.unit(0)?.value().get();
    assert!((exact - 1.0).abs() < 1e-12 && relaxed < 1.0, "{exact} {relaxed}");
    Ok(())
}

/// How often Theorem 1 and Corollary 1, clipped at the local loss, are below the truth on random graphs with
/// 3 to 12 nodes. The reference counted 319 (own noise ignored) and 345 (known) of 2298, and 99 for Corollary
/// 1.
#[test]
fn printed_sums_fail_often() -> Result<(), Error> {
    let mut rng = ChaCha8Rng::seed_from_u64(2298);
    let trials = 600;
    let mut failures = [0u32; 3];
    for _ in 0..trials {
        let n = rng.random_range(3..=12usize);
        let density = rng.random_range(0.1..0.7);
        let graph = loop {
            let pairs = (0..n).flat_map(|u| (u + 1..n).map(move |v| (u, v)));
            let edges: Vec<_> = pairs.filter(|_| rng.random_bool(density)).collect();
            let graph = Graph::from_edges(n, edges)?;
            if graph.is_connected() {
                break graph;
            }
        };
        let (v, rounds) = (rng.random_range(0..n), rng.random_range(1..=n));
        let u = (v + rng.random_range(1..n)) % n;
        let w = GossipMatrix::metropolis(&graph);
        let clipped =
            printed::theorem1_towards((&w, rounds), &[v], Powers::FromZero)?.into_value().unit[u].min(1.0);
        let corollary = printed::corollary1_towards(&w, &[v], rounds)?.into_value().unit[u].min(1.0);
        let exact = |own_noise| -> Result<f64, Error> {
            let options = ExactOptions { own_noise, ..ExactOptions::default() };
            Ok(exact_loss((&w, rounds), &[v], options)?.unit(u)?.value().get())
        };
        let (ignored, known) = (exact(OwnNoise::Unknown)?, exact(OwnNoise::Known)?);
        failures[0] += u32::from(clipped < ignored - 1e-9);
        failures[1] += u32::from(clipped < known - 1e-9);
        failures[2] += u32::from(corollary < known - 1e-9);
    }
    // Our random trials follow another law than the reference's, so only the order of magnitude is compared.
    let [ignored, known, corollary] = failures.map(|count| f64::from(count) / f64::from(trials));
    assert!((0.05..0.4).contains(&ignored) && ignored <= known && known < 0.4, "{ignored} {known}");
    assert!((0.005..0.2).contains(&corollary), "{corollary}");
    Ok(())
}

/// On a geometric graph the observer learns everybody's noisy value, except that nodes with the same closed
/// neighborhood can be exchanged without any change in the view, so `k` of them hide behind each other with
/// loss `1/k`.
#[test]
fn on_geometric_graphs_only_twins_are_hidden() -> Result<(), Error> {
    // Without using the symmetry, the floating-point computation loses up to ten digits on these graphs.
    for (seed, v) in [(0, 63), (1, 0), (2, 0), (3, 176)] {
        let graph = connected_random_geometric(300, 0.14, 1000, &mut ChaCha8Rng::seed_from_u64(seed))?;
        let w = GossipMatrix::metropolis(&graph);
        let report = exact_loss((&w, 110), &[v], ExactOptions::default())?;
        let closed = |u: usize| {
            let mut nodes: Vec<usize> = graph.neighbors(u).iter().map(|&w| w as usize).chain([u]).collect();
            nodes.sort_unstable();
            nodes
        };
        let neighborhoods: Vec<Vec<usize>> = (0..300).map(closed).collect();
        let (mut rank, mut hidden) = (0.0, 0);
        for (u, unit) in report.loss.value().unit.iter().enumerate() {
            let near = u == v || graph.has_edge(u, v);
            let alike = neighborhoods.iter().filter(|other| **other == neighborhoods[u]).count();
            let expected = if near { 1.0 } else { 1.0 / alike as f64 };
            assert!((unit - expected).abs() < 1e-12, "seed {seed}, node {u}: {unit} is not {expected}");
            rank += expected;
            hidden += usize::from(expected < 1.0);
        }
        assert_eq!((report.rank, report.loss.grade()), (rank.round() as usize, Grade::Exact));
        assert!((10..50).contains(&hidden), "{hidden}");
    }
    Ok(())
}

/// Ring of 8, one observer, 5 rounds: at the printed variance the mean loss is 1.75 times the promised one.
#[test]
fn corollary_4_asks_for_too_little_noise() -> Result<(), Error> {
    let (order, epsilon) = (Order::new(2.0)?, 0.3);
    let w = GossipMatrix::metropolis(&generators::cycle_graph(8)?);
    let variance = *printed::corollary4_variance(2, order, epsilon)?.value();
    assert_relative_eq!(variance, 2.0 / (4.0 * 0.3), max_relative = 1e-14);
    let mean = *exact_loss((&w, 5), &[0], ExactOptions::default())?.mean().value();
    assert_relative_eq!(order.get() / (2.0 * variance) * mean, 1.75 * epsilon, max_relative = 1e-12);
    let lossless = printed::corollary4_variance(2, order, 0.0);
    assert!(matches!(lossless, Err(Error::InvalidParameter { name: "the mean loss allowed", .. })));
    Ok(())
}

/// Corollary 5 is Theorem 4 with the neighbors of a coalition; the sharp form counts `n - |V| - d_V` hidden
/// nodes.
#[test]
fn random_graphs_with_coalitions() -> Result<(), Error> {
    let (order, sensitivity, sigma) = scales(2.0, 2.0)?;
    let setting = RandomGraph { nodes: 200, observers: 3, degree: 17, rounds: 5 };
    let printed = *printed::theorem4(setting, order, sensitivity, sigma)?.value();
    assert_relative_eq!(printed, 2.0 / 4.0 * 5.0 * 17.0 / 183.0, max_relative = 1e-14);
    let m: f64 = 17.0 * 4.0 / 180.0;
    let sharp = *setting.loss(order, sensitivity, sigma)?.value();
    assert_relative_eq!(sharp, (m * 0.25f64.exp_m1()).ln_1p(), max_relative = 1e-13);
    // The local loss: α Δ² / (2σ²).
    assert!(sharp < 0.25);
    Ok(())
}

/// Appendix D prints that a node takes part in a step with probability `2/n`; on the ring of 8 the
/// probability is `(2/n)(1 - W_vv) = 1/6`. The expected mean loss is at most `T π_v / n`, and more than the
/// printed `T/n²`, in local losses.
#[test]
fn participation_on_the_ring() -> Result<(), Error> {
    let (n, steps, draws) = (8, 4, 20_000);
    let law = EdgeActivations::try_from(&GossipMatrix::metropolis(&generators::cycle_graph(n)?))?;
    let participation = law.participation(3)?;
    assert_relative_eq!(participation, 1.0 / 6.0, max_relative = 1e-13);
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut mean = 0.0;
    for _ in 0..draws {
        let means = mean_loss_by_step(&GossipSequence::activations(&law, steps, &mut rng), 3)?;
        mean += means.by_step.last().map_or(0.0, |mean| *mean.value()) / f64::from(draws);
    }
    // The number of messages has a variance below T π: five standard errors.
    let error = 5.0 * (steps as f64 * participation / f64::from(draws)).sqrt() / n as f64;
    assert!(mean <= steps as f64 * participation / n as f64 + error, "{mean}");
    assert!(mean >= (steps as f64 / (n * n) as f64) + error, "{mean}");
    Ok(())
}

/// What the protocols and accountants refuse, each with its own error.
#[test]
fn bad_input_is_refused() -> Result<(), Error> {
    let graph = generators::cycle_graph(6)?;
    let w = GossipMatrix::metropolis(&graph);
    let gossip = SynchronousGossip::new(w.clone(), 3);
    let (sensitivity, sigma) = (Sensitivity::new(1.0)?, Sigma::new(1.0)?);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    // A source that is itself an observer, alone or in a coalition.
    let report = exact_loss((&w, 3), &[2, 4], ExactOptions::default())?;
    assert_eq!(report.unit(4), Err(Error::SourceIsObserver(4)));
    assert_eq!(gossip.coalition_loss(&[2])?.unit(2), Err(Error::SourceIsObserver(2)));
    assert_eq!(report.unit(6), Err(Error::NodeOutOfRange { node: 6, nodes: 6 }));
    let plan = AuditPlan { runs: 100, error_rate: 0.01 };
    let attack = |gossip: &SynchronousGossip, v: &[usize], u, rng: &mut ChaCha8Rng| {
        audit(gossip, u, &Observer::coalition(v), sigma.multiplier(sensitivity)?, plan, rng, &Silent)
            .map(|_| ())
    };
    assert_eq!(attack(&gossip, &[2, 4], 4, &mut rng), Err(Error::SourceIsObserver(4)));
    let outside = attack(&gossip, &[], 4, &mut rng);
    assert!(matches!(outside, Err(Error::NotOffered(why)) if why.contains("by an outsider")));
    assert_eq!(attack(&gossip, &[1, 1], 4, &mut rng), Err(Error::RepeatedMember(1)));
    // Without rounds nothing is learned, there is nothing to attack, and there is no schedule.
    let silent = SynchronousGossip::new(w.clone(), 0);
    assert_eq!(silent.coalition_loss(&[0])?.loss.value().unit, [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert!(matches!(attack(&silent, &[0], 1, &mut rng), Err(Error::InvalidParameter { .. })));
    assert!(matches!(FreshNoiseGossip::new(w.clone(), vec![]), Err(Error::InvalidParameter { .. })));
    assert!(matches!(flat_variances(0, 0.0), Err(Error::InvalidParameter { .. })));
    // Edges that the graph does not have.
    let missing = GossipSequence::given_activations(&graph, &[(0, 1), (0, 3)]);
    assert_eq!(missing, Err(ndp_graph::Error::NotAnEdge(0, 3)));
    let outside = GossipSequence::given_activations(&graph, &[(0, 6)]);
    assert!(matches!(outside, Err(ndp_graph::Error::NodeOutOfRange { .. })));
    // Negative noise, and vectors without coordinates.
    assert!(matches!(FreshNoiseGossip::new(w.clone(), vec![1.0, -0.5]), Err(Error::InvalidParameter { .. })));
    let empty = Array2::zeros((6, 0));
    let no_columns = |result: Result<(), Error>| assert!(matches!(result, Err(Error::Shape { .. })));
    no_columns(gossip.run(empty.view(), sigma, &mut rng).map(|_| ()));
    let sequence = SequenceGossip::from(GossipSequence::constant(&w, 2));
    no_columns(sequence.run(empty.view(), sigma, &mut rng).map(|_| ()));
    let fresh = FreshNoiseGossip::new(w, flat_variances(2, 0.0)?)?;
    no_columns(fresh.run(empty.view(), sigma, &mut rng).map(|_| ()));
    no_columns(gossip.mean_squared_error(empty.view(), sigma).map(|_| ()));
    Ok(())
}
