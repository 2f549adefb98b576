use super::*;
use crate::seed::Seed;
use ndarray::Array2;
use ndp_algos::gossip::{FreshNoiseGossip, NoiseSchedule, SynchronousGossip};
use ndp_dp::Grade;
use ndp_graph::GossipMatrix;
use ndp_graph::chebyshev::Chebyshev;
use ndp_graph::generators::{complete_graph, cycle_graph, grid_2d_graph, hypercube_graph, path_graph};
use ndp_graph::random::connected_erdos_renyi;
use ndp_graph::spectrum::gap_abs;
use rand::RngExt;

fn request(protocol: Protocol, target: Target) -> Request {
    Request::new(protocol, target)
}

const PROTOCOLS: [Protocol; 4] =
    [Protocol::Muffliato, Protocol::FreshNoise, Protocol::OnePeer, Protocol::Walk];

#[test]
fn every_protocol_meets_every_target_with_the_least_noise() -> Result<(), AnalysisError> {
    let graph = hypercube_graph(3)?;
    for protocol in PROTOCOLS {
        for target in [Target::Mean(0.1), Target::Worst(0.3)] {
            let analysis = analyse(&graph, &request(protocol, target.clone()))?;
            assert_eq!(analysis.account.losses.len(), 8);
            let used = used(&analysis);
            assert!(used <= 1.0 + 1e-12, "{protocol:?}, {target:?}: {used}");
            // The least noise is within a relative 1e-8, and the loss falls like its square.
            assert!(used >= 1.0 - 1e-7, "{protocol:?}, {target:?}: {used}");
        }
    }
    Ok(())
}

/// The largest share that any observer uses up of what is allowed.
fn used(analysis: &Analysis) -> f64 {
    let target = &analysis.request.target;
    analysis
        .account
        .losses
        .iter()
        .fold(0.0, |most, o| f64::max(most, target.share(o.observer, o.loss.value())))
}

#[test]
fn random_graphs_meet_random_targets() -> Result<(), AnalysisError> {
    for trial in 0..3 {
        let rng = &mut Seed(5).trial(trial);
        let graph = connected_erdos_renyi(8, 0.4, 100, rng)?;
        let loss = rng.random_range(0.01..3.0);
        let hops = ndp_algos::target::HopDistances::new(&graph)?;
        let limits = target::Limits::Hops([(1, 2.0 * loss), (2, loss)].into(), hops);
        for protocol in PROTOCOLS {
            for target in [Target::Mean(loss), Target::Worst(loss), Target::Limits(limits.clone())] {
                let asked =
                    Request { order: Order::new(rng.random_range(1.1..8.0))?, ..request(protocol, target) };
                let used = used(&analyse(&graph, &asked)?);
                assert!((1.0 - 1e-7..=1.0 + 1e-12).contains(&used), "{trial}, {protocol:?}: {used}");
            }
        }
    }
    Ok(())
}

/// The error on values in an interval of length 1, exactly, is at most what is said.
#[test]
fn errors_are_at_most_what_is_said() -> Result<(), AnalysisError> {
    let rng = &mut Seed(6).trial(0);
    for graph in [path_graph(6)?, grid_2d_graph(3, 3)?, hypercube_graph(3)?] {
        let n = graph.node_count();
        let matrix = GossipMatrix::metropolis(&graph);
        for loss in [0.1, 50.0] {
            let once = analyse(&graph, &request(Protocol::Muffliato, Target::Worst(loss)))?.account;
            let fresh = analyse(&graph, &request(Protocol::FreshNoise, Target::Worst(loss)))?.account;
            let parameter = Chebyshev::published(gap_abs(&matrix)?)?.g();
            let gossip = SynchronousGossip::new(matrix.clone(), once.rounds).accelerated(parameter)?;
            let schedule = NoiseSchedule::flat(fresh.sigma, fresh.rounds, 0.1)?;
            let noisy = FreshNoiseGossip::new(matrix.clone(), schedule);
            for values in 0..20 {
                // The last are at the ends of the interval, where the spread is largest.
                let value = |rng: &mut rand_chacha::ChaCha8Rng| {
                    if values < 10 { rng.random::<f64>() } else { f64::from(u8::from(rng.random::<bool>())) }
                };
                let x = Array2::from_shape_fn((n, 1), |_| value(rng));
                let squared = gossip.error(x.view(), once.sigma)?.into_value();
                assert!(squared.sqrt() <= once.error * (1.0 + 1e-12));
                assert!(noisy.mean_squared_error(x.view())?.sqrt() <= fresh.error * (1.0 + 1e-12));
            }
        }
    }
    Ok(())
}

/// `2^{-j}`, `j` the highest bit in which two nodes differ: the mean over 16 nodes is 4/16 of the local loss 1/σ².
#[test]
fn one_peer_has_a_formula() -> Result<(), AnalysisError> {
    let analysis = analyse(&complete_graph(16)?, &request(Protocol::OnePeer, Target::Mean(1.0)))?;
    assert!((analysis.account.sigma.get() - 0.5).abs() < 1e-12);
    assert_eq!(analysis.account.rounds, 4);
    assert!((analysis.account.error - 0.125).abs() < 1e-12);
    assert!(analysis.account.losses.iter().all(|observed| observed.loss.grade() == Grade::Exact));
    Ok(())
}

/// A limit for one far pair alone: its unit loss at distance 2 of the cube of four dimensions is 4/6.
#[test]
fn limits_of_a_file_decide_the_noise() -> Result<(), AnalysisError> {
    let graph = hypercube_graph(4)?;
    let limits = target::Limits::Pairs([((0, 3), 0.5)].into());
    let analysis = analyse(&graph, &request(Protocol::Muffliato, Target::Limits(limits)))?;
    assert!((analysis.account.sigma.get() - (2.0f64 / 3.0 / 0.5).sqrt()).abs() < 1e-9);
    let unlimited = target::Limits::Pairs([((0, 3), f64::INFINITY)].into());
    // So far apart that two rounds bring nothing.
    let apart = target::Limits::Pairs([((0, 15), 0.1)].into());
    for protocol in PROTOCOLS {
        let refused = analyse(&graph, &request(protocol, Target::Limits(unlimited.clone())));
        assert!(matches!(refused, Err(AnalysisError::Protocol(_))), "{protocol:?}");
        let short = Request { rounds: Some(2), ..request(protocol, Target::Limits(apart.clone())) };
        assert!(matches!(analyse(&graph, &short), Err(AnalysisError::Protocol(_))), "{protocol:?}");
    }
    Ok(())
}

#[test]
fn fresh_noise_hides_what_noise_that_is_added_once_does_not() -> Result<(), AnalysisError> {
    let limits = |graph: &Graph| -> Result<Target, AnalysisError> {
        let hops = ndp_algos::target::HopDistances::new(graph)?;
        Ok(Target::Limits(target::Limits::Hops([(2, 0.1)].into(), hops)))
    };
    let graph = cycle_graph(9)?;
    let once = analyse(&graph, &request(Protocol::Muffliato, limits(&graph)?))?;
    let fresh = analyse(&graph, &request(Protocol::FreshNoise, limits(&graph)?))?;
    assert!(fresh.account.fresh > 0.0 && once.account.fresh == 0.0);
    assert!(fresh.account.sigma < once.account.sigma);
    assert!(summary::text(&once, "ring").contains("Warning. 100 % of the pairs that are no neighbors"));
    assert!(!summary::text(&fresh, "ring").contains("Warning"));
    Ok(())
}

#[test]
fn one_observer_gives_its_column() -> Result<(), AnalysisError> {
    let graph = grid_2d_graph(3, 4)?;
    for protocol in [Protocol::Muffliato, Protocol::FreshNoise, Protocol::Walk] {
        let asked = Request { rounds: Some(12), ..request(protocol, Target::Worst(0.5)) };
        let all = analyse(&graph, &asked)?;
        let one = analyse(&graph, &Request { observer: Some(5), ..asked })?;
        assert_eq!(one.account.losses.len(), 1);
        assert!(one.account.sigma.get() <= all.account.sigma.get() * (1.0 + 1e-9));
        assert!(one.pairs().all(|pair| pair.observer == 5));
        assert!(summary::text(&one, "grid").contains("Only what this one node learns"));
    }
    Ok(())
}

#[test]
fn bad_graphs_and_requests_are_refused() -> Result<(), AnalysisError> {
    let worst = || Target::Worst(1.0);
    let single = Graph::from_edges(1, [])?;
    let parts = Graph::from_edges(5, [(0, 1), (2, 3), (3, 4)])?;
    for protocol in PROTOCOLS {
        assert!(matches!(analyse(&single, &request(protocol, worst())), Err(AnalysisError::TooFewNodes(1))));
        let error = analyse(&parts, &request(protocol, worst()));
        assert!(matches!(error, Err(AnalysisError::Disconnected { components: 2, largest: 3, nodes: 5 })));
        let none = Request { rounds: Some(0), ..request(protocol, worst()) };
        assert!(matches!(analyse(&path_graph(4)?, &none), Err(AnalysisError::Protocol(_))));
        let nobody = Request { observer: Some(4), ..request(protocol, worst()) };
        assert!(matches!(analyse(&path_graph(4)?, &nobody), Err(AnalysisError::NoSuchNode(_))));
    }
    let error = analyse(&path_graph(6)?, &request(Protocol::OnePeer, worst())).unwrap_err();
    assert!(error.to_string().contains("power of two, the graph has 6 (nearest: 4 and 8)"), "{error}");
    let other = Request { rounds: Some(7), ..request(Protocol::OnePeer, worst()) };
    assert!(analyse(&path_graph(8)?, &other).is_err());
    for (protocol, nodes) in [(Protocol::Muffliato, 4000), (Protocol::FreshNoise, 600), (Protocol::Walk, 700)]
    {
        let error = analyse(&cycle_graph(nodes)?, &request(protocol, worst())).unwrap_err();
        assert!(matches!(error, AnalysisError::TooMuch { .. }), "{protocol:?}: {error}");
        assert!(error.to_string().contains("--observer"), "{error}");
    }
    Ok(())
}
