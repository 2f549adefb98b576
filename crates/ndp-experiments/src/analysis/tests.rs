use super::*;
use ndp_dp::Grade;
use ndp_graph::generators::{complete_graph, cycle_graph, grid_2d_graph, hypercube_graph, path_graph};

fn request(protocol: Protocol, target: Target) -> Request {
    Request::new(protocol, target).unwrap()
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
            let used = analysis.account.losses.iter().map(|o| target.share(o.observer, o.loss.value()));
            let used = used.fold(0.0, f64::max);
            assert!(used <= 1.0 + 1e-12, "{protocol:?}, {target:?}: {used}");
            // The least noise is within a relative 1e-8, and the loss falls like its square.
            assert!(used >= 1.0 - 1e-7, "{protocol:?}, {target:?}: {used}");
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
    for protocol in PROTOCOLS {
        let refused = analyse(&graph, &request(protocol, Target::Limits(unlimited.clone())));
        assert!(matches!(refused, Err(AnalysisError::Protocol(_))), "{protocol:?}");
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
