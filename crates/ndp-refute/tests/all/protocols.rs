//! The truth about every protocol against its accountant, and about walks against all paths one by one.

use ndp_account::LinearProtocol;
use ndp_algos::gossip::fresh::FreshNoiseGossip;
use ndp_algos::gossip::{MessageNoise, NoisyMessageGossip, SequenceGossip, SynchronousGossip};
use ndp_graph::{GossipMatrix, GossipSequence, Graph, Step};
use ndp_refute::{
    Bounded, Error, Expression, Outcome, Protocol, Search, Setting, WeightRule, connected_graphs,
    exact_unit_loss, mean_path_cost, refute,
};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{ToPrimitive, Zero};

type Checked = Result<(), Box<dyn std::error::Error>>;

/// Compares all nodes towards one and two observers; returns how many losses lie between 0 and 1.
fn compare(
    setting: &Setting,
    rounds: usize,
    protocol: &dyn LinearProtocol,
) -> Result<usize, Box<dyn std::error::Error>> {
    let n = setting.graph().node_count();
    let mut between = 0;
    for observers in [vec![0], vec![n - 1], vec![0, n - 1]] {
        let account = protocol.coalition_loss(&observers)?;
        for u in (0..n).filter(|u| !observers.contains(u)) {
            let exact = exact_unit_loss(setting, rounds, u, &observers)
                .parse::<BigRational>()?
                .to_f64()
                .unwrap_or(f64::NAN);
            let accounted = account.unit(u)?.value().get();
            assert!((exact - accounted).abs() < 1e-9, "{setting:?} {u} {observers:?}: {exact} {accounted}");
            between += usize::from(0.01 < exact && exact < 0.99);
        }
    }
    Ok(between)
}

#[test]
fn every_protocol_has_the_truth_of_its_accountant() -> Checked {
    let mut between = [0; 4];
    for graph in connected_graphs(4)?.iter().chain(connected_graphs(5)?.iter().step_by(7)) {
        let matrix = GossipMatrix::metropolis(graph);
        let of = |protocol| Setting::new(graph, WeightRule::Metropolis, protocol, 3);
        let fast = SynchronousGossip::new(matrix.clone(), 3).accelerated(1.25)?;
        between[0] += compare(&of(Protocol::Accelerated(1.25))?, 3, &fast)?;
        let fresh = FreshNoiseGossip::new(matrix.clone(), vec![1.0, 0.25, 0.25])?;
        between[1] += compare(&of(Protocol::FreshNoise(0.5))?, 3, &fresh)?;
        let noisy = NoisyMessageGossip::new(matrix.clone(), 3, 0.5, MessageNoise::Broadcast)?;
        between[2] += compare(&of(Protocol::NoisyMessages(0.5))?, 3, &noisy)?;
        let edges: Vec<(usize, usize)> = graph.edges().collect();
        let pairs: Vec<(usize, usize)> = (0..6).map(|t| edges[t * t % edges.len()]).collect();
        let steps = pairs.iter().map(|&(a, b)| Step::Pair(a, b)).collect();
        let sequence = SequenceGossip::from(GossipSequence::new(graph.node_count(), steps)?);
        between[3] += compare(&Setting::pairs(graph, &pairs)?, 6, &sequence)?;
    }
    assert!(between.iter().all(|&count| count > 3), "{between:?}");
    Ok(())
}

/// Every path by itself, with its probability and its cost by the definition.
fn by_paths(graph: &Graph, steps: usize, u: usize, observers: &[usize]) -> BigRational {
    let n = graph.node_count();
    let weight = |a: usize, b: usize| {
        let each = |b: usize| BigRational::new(1.into(), (1 + graph.degree(a).max(graph.degree(b))).into());
        if a == b {
            let leaving = graph.neighbors(a).iter().map(|&b| each(b as usize));
            leaving.fold(BigRational::from(BigInt::from(1)), |rest, x| rest - x)
        } else if graph.neighbors(a).contains(&(b as u32)) {
            each(b)
        } else {
            BigRational::zero()
        }
    };
    let mut mean = BigRational::zero();
    for code in 0..n.pow(steps as u32 + 1) {
        let path: Vec<usize> = (0..=steps).map(|t| code / n.pow(t as u32) % n).collect();
        let start = BigRational::new(1.into(), BigInt::from(n));
        let probability = path.windows(2).fold(start, |p, step| p * weight(step[0], step[1]));
        let sightings: Vec<usize> = (0..=steps).filter(|&t| observers.contains(&path[t])).collect();
        let mut from = 0;
        for seen in sightings {
            let between = &path[from..seen];
            let k = between.iter().filter(|&&a| a == u).count();
            if k > 0 {
                mean += &probability * BigRational::new((k * k).into(), between.len().into());
            }
            from = seen + 1;
        }
    }
    mean
}

#[test]
fn walks_have_the_mean_over_all_paths() -> Checked {
    for graph in connected_graphs(3)?.iter().chain(&connected_graphs(4)?) {
        let setting = Setting::new(graph, WeightRule::Metropolis, Protocol::Walk, 5)?;
        for observers in [vec![0], vec![1], vec![0, 2]] {
            for u in (0..graph.node_count()).filter(|u| !observers.contains(u)) {
                assert_eq!(
                    mean_path_cost(&setting, 5, u, &observers),
                    by_paths(graph, 5, u, &observers).to_string()
                );
            }
        }
    }
    Ok(())
}

/// By hand: path 0-1, both always move, the token starts at either; three steps. From 0 it is seen at
/// times 1 and 3, from 1 at times 0 and 2: two and one contributions of node 0, each behind one noise.
#[test]
fn a_walk_between_two_nodes() -> Checked {
    let graph = Graph::from_edges(2, [(0, 1)])?;
    let setting = Setting::new(&graph, WeightRule::MaxDegree, Protocol::Walk, 3)?;
    assert_eq!(mean_path_cost(&setting, 3, 0, &[1]), "3/2");
    Ok(())
}

/// More noise hides more, and what is true of one observer need not be of two.
#[test]
fn claims_about_other_protocols_and_coalitions() -> Checked {
    let of = |claim: &str, search: &Search| -> Result<Outcome, Error> {
        Ok(refute(&Expression::parse(claim)?, search)?.outcome)
    };
    let small = Search { max_nodes: 4, max_rounds: 3, ..Search::default() };
    for protocol in
        [Protocol::Accelerated(1.5), Protocol::FreshNoise(0.5), Protocol::NoisyMessages(0.5), Protocol::Pairs]
    {
        let search = Search { protocol, observers: 2, ..small.clone() };
        assert_eq!(of("alpha / (2 * sigma^2)", &search)?, Outcome::NotRefuted, "{protocol:?}");
        assert!(matches!(of("alpha / (2 * sigma^2) / 2", &search)?, Outcome::Refuted(_)), "{protocol:?}");
    }
    // A message with as much noise again shows half of what it would.
    let noisy = Search { protocol: Protocol::NoisyMessages(1.0), max_rounds: 1, ..small.clone() };
    assert_eq!(of("1 / 2", &noisy)?, Outcome::NotRefuted);
    assert!(matches!(of("49 / 100", &noisy)?, Outcome::Refuted(_)));
    // The mean over two nodes of which one looks.
    let mean = Search { bounded: Bounded::Mean, max_nodes: 2, ..small.clone() };
    assert_eq!(of("1 / 2", &mean)?, Outcome::NotRefuted);
    assert!(matches!(of("49 / 100", &mean)?, Outcome::Refuted(_)));
    // Nobody is looked at outside the domain.
    let domain = Some(Expression::parse("hops - 1.5")?);
    let report = refute(&Expression::parse("0")?, &Search { domain, max_nodes: 2, ..small.clone() })?;
    assert_eq!((report.outcome, report.cases, report.outside), (Outcome::NotRefuted, 0, 6));
    // The second largest eigenvalue of a ring of four is 1/3, so that 3 times it is the loss of a neighbor; a
    // claim that is a little below is false. Graphs of four nodes with degrees of 2 are such rings.
    let domain = Expression::parse(
        "1 / 2 - (n - 4)^2 - (edges - 4)^2 - sum(a, 0, n - 1, (deg(a) - 2)^2) - (hops - 1)^2",
    )?;
    let ring = Search { domain: Some(domain), max_nodes: 4, max_rounds: 1, ..small.clone() };
    assert_eq!(of("3 * lambda2", &ring)?, Outcome::NotRefuted);
    assert!(matches!(of("3 * lambda2 - 1 / 10^11", &ring)?, Outcome::Refuted(_)));
    // Where an enclosure cannot decide, a claim is not called false: here the eigenvalue cancels.
    let report = refute(&Expression::parse("1 + lambda2 - lambda2")?, &small)?;
    assert_eq!(report.outcome, Outcome::NotRefuted);
    assert!(report.undecided > 0);
    let pairs = Search { protocol: Protocol::Pairs, ..small.clone() };
    assert_eq!(of("lambda2", &pairs), Err(Error::NotOfTheProtocol { name: "lambda2" }));
    // First passages belong to walks, messages to gossip.
    assert_eq!(of("F[1][u,v]", &small), Err(Error::NotOfTheProtocol { name: "F" }));
    let walk = Search { protocol: Protocol::Walk, ..small };
    assert_eq!(of("heard(w, 0, 1)", &walk), Err(Error::NotOfTheProtocol { name: "heard" }));
    let unstable = Search { protocol: Protocol::Accelerated(2.0), ..walk };
    let (what, condition) = ("the Chebyshev parameter", "lie in [1, 2)");
    assert_eq!(of("1", &unstable), Err(Error::Parameter { what, condition, value: 2.0 }));
    Ok(())
}
