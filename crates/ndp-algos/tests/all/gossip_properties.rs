//! What holds for every graph, every observer and every number of rounds.

use ndp_account::{LinearProtocol, OwnNoise};
use ndp_algos::gossip::{ExactOptions, FreshNoiseGossip, exact_loss};
use ndp_dp::Grade;
use ndp_graph::Weights;
use ndp_graph::{GossipMatrix, GossipSequence, Graph, Step};
use proptest::prelude::*;

/// A connected graph: a random tree and some more edges.
fn graph() -> impl Strategy<Value = Graph> {
    (2usize..12).prop_flat_map(|n| {
        let parents: Vec<_> = (1..n).map(|v| 0..v).collect();
        (parents, proptest::collection::vec((0..n, 0..n), 0..n)).prop_map(move |(parents, more)| {
            let tree = parents.into_iter().enumerate().map(|(v, parent)| (parent, v + 1));
            let more = more.into_iter().filter(|(u, v)| u != v).map(|(u, v)| (u.min(v), u.max(v)));
            let edges: std::collections::BTreeSet<_> = tree.chain(more).collect();
            Graph::from_edges(n, edges).expect("simple edges")
        })
    })
}

fn scheme(graph: &Graph, which: usize) -> GossipMatrix {
    match which {
        0 => GossipMatrix::metropolis(graph),
        1 => GossipMatrix::new(graph, Weights::MaxDegree).expect("a rule for every graph"),
        _ => GossipMatrix::new(graph, Weights::SumDegree)
            .expect("a rule for every graph")
            .lazy(0.5)
            .expect("a valid laziness"),
    }
}

fn options(own_noise: OwnNoise) -> ExactOptions {
    ExactOptions { own_noise, ..ExactOptions::default() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn losses_add_up_to_the_rank(graph in graph(), which in 0usize..3, v in 0usize..12, rounds in 0usize..9) {
        let v = v % graph.node_count();
        let w = scheme(&graph, which);
        for own_noise in [OwnNoise::Known, OwnNoise::Unknown] {
            let report = exact_loss((&w, rounds), &[v], options(own_noise)).expect("valid input");
            prop_assert_eq!(report.loss.grade(), Grade::Exact);
            let units = &report.loss.value().unit;
            prop_assert!(units.iter().all(|unit| (0.0..=1.0).contains(unit)));
            let sum: f64 = units.iter().sum();
            prop_assert!((sum - report.rank as f64).abs() < 1e-9, "{} is not {}", sum, report.rank);
            let known = usize::from(own_noise == OwnNoise::Known);
            prop_assert!(report.rank <= known + graph.degree(v) * rounds);
            if rounds > 0 {
                prop_assert!(graph.neighbors(v).iter().all(|&u| units[u as usize] > 1.0 - 1e-12));
            }
            if own_noise == OwnNoise::Known {
                let mean = (report.rank - 1) as f64 / graph.node_count() as f64;
                prop_assert!((report.mean().value() - mean).abs() < 1e-10);
            }
            // Nothing arrives from beyond as many hops as rounds.
            for (unit, hops) in units.iter().zip(graph.distances(v)) {
                prop_assert!(*unit == 0.0 || hops.is_some_and(|hops| hops as usize <= rounds));
            }
        }
    }

    #[test]
    fn knowing_more_never_hides_more(graph in graph(), which in 0usize..3, v in 0usize..12, u in 0usize..12, rounds in 0usize..7) {
        let n = graph.node_count();
        let (v, other) = (v % n, u % n);
        let w = scheme(&graph, which);
        let loss = |rounds, own_noise| {
            exact_loss((&w, rounds), &[v], options(own_noise)).expect("valid input").loss.into_value().unit
        };
        let base = loss(rounds, OwnNoise::Known);
        let longer = loss(rounds + 1, OwnNoise::Known);
        let forgetful = loss(rounds, OwnNoise::Unknown);
        for u in 0..n {
            prop_assert!(base[u] <= longer[u] + 1e-9);
            prop_assert!(forgetful[u] <= base[u] + 1e-9);
        }
        if other != v {
            let both = exact_loss((&w, rounds), &[v, other], ExactOptions::default()).expect("valid input");
            for u in (0..n).filter(|&u| u != v && u != other) {
                prop_assert!(base[u] <= both.loss.value().unit[u] + 1e-9);
            }
            // The mean bound for a coalition.
            let outside = both.rank - 2;
            prop_assert!((both.mean().value() - outside as f64 / n as f64).abs() < 1e-10);
        }
    }

    #[test]
    fn changing_connections_obey_the_same_rules(
        n in 2usize..10, pairs in proptest::collection::vec((0usize..10, 0usize..10), 1..25), v in 0usize..10, cut in 0usize..25,
    ) {
        let pairs = pairs.into_iter().map(|(a, b)| (a % n, b % n)).filter(|(a, b)| a != b);
        let steps: Vec<Step> = pairs.map(|(a, b)| Step::Pair(a, b)).collect();
        let (v, other) = (v % n, (v + 1) % n);
        let early = GossipSequence::new(n, steps[..cut.min(steps.len())].to_vec()).expect("pairs of nodes");
        let whole = GossipSequence::new(n, steps).expect("pairs of nodes");
        let loss = |sequence: &GossipSequence, own_noise| {
            exact_loss(sequence, &[v], options(own_noise)).expect("valid input")
        };
        for own_noise in [OwnNoise::Known, OwnNoise::Unknown] {
            let report = loss(&whole, own_noise);
            prop_assert_eq!(report.loss.grade(), Grade::Exact);
            let sum: f64 = report.loss.value().unit.iter().sum();
            prop_assert!((sum - report.rank as f64).abs() < 1e-9, "{} is not {}", sum, report.rank);
            let messages = whole.steps().iter().filter(|step| !step.peers(v).is_empty()).count();
            prop_assert!(report.rank <= messages + usize::from(own_noise == OwnNoise::Known));
        }
        let (all, forgetful) = (loss(&whole, OwnNoise::Known), loss(&whole, OwnNoise::Unknown));
        let before = loss(&early, OwnNoise::Known);
        let both = exact_loss(&whole, &[v, other], ExactOptions::default()).expect("valid input");
        for u in (0..n).filter(|&u| u != v) {
            prop_assert!(forgetful.loss.value().unit[u] <= all.loss.value().unit[u] + 1e-9);
            prop_assert!(before.loss.value().unit[u] <= all.loss.value().unit[u] + 1e-9);
            if u != other {
                prop_assert!(all.loss.value().unit[u] <= both.loss.value().unit[u] + 1e-9);
            }
        }
    }

    #[test]
    fn fresh_noise_never_tells_more(
        graph in graph(), v in 0usize..12, first in 0.1f64..4.0, later in proptest::collection::vec(0.01f64..2.0, 0..5),
    ) {
        let v = v % graph.node_count();
        let matrix = GossipMatrix::metropolis(&graph);
        let rounds = later.len() + 1;
        let losses = |later: &[f64]| {
            let variances = std::iter::once(first).chain(later.iter().copied()).collect();
            let gossip = FreshNoiseGossip::new(matrix.clone(), variances).expect("positive variances");
            gossip.coalition_loss(&[v]).expect("valid input").loss.into_value().unit
        };
        let base = losses(&later);
        let plain = exact_loss((&matrix, rounds), &[v], ExactOptions::default()).expect("valid input");
        // Twice the noise in any one later round.
        for t in 0..later.len() {
            let mut louder = later.clone();
            louder[t] *= 2.0;
            for (less, more) in losses(&louder).iter().zip(&base) {
                prop_assert!(*less <= more + 1e-9);
            }
        }
        let mut sum = 0.0;
        for (u, unit) in base.iter().enumerate().filter(|&(u, _)| u != v) {
            prop_assert!(*unit <= plain.loss.value().unit[u] + 1e-9);
            sum += unit;
        }
        prop_assert!(sum <= (plain.rank - 1) as f64 + 1e-8);
    }
}
