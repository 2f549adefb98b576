//! What holds for every graph, every observer and every number of rounds.

use ndp_algos::OwnNoise;
use ndp_algos::gossip::{ExactOptions, exact_coalition_loss, exact_loss, hop_bound};
use ndp_dp::Grade;
use ndp_graph::{GossipMatrix, Graph};
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
        1 => GossipMatrix::max_degree(graph),
        _ => GossipMatrix::sum_degree(graph).lazy(0.5).expect("a valid laziness"),
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
            let report = exact_loss(&w, v, rounds, options(own_noise)).expect("valid input");
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
            let bound = hop_bound(&graph, v, rounds).expect("valid input");
            for (unit, bound) in units.iter().zip(&bound.value().unit) {
                prop_assert!(*unit <= *bound);
            }
        }
    }

    #[test]
    fn knowing_more_never_hides_more(graph in graph(), which in 0usize..3, v in 0usize..12, u in 0usize..12, rounds in 0usize..7) {
        let n = graph.node_count();
        let (v, other) = (v % n, u % n);
        let w = scheme(&graph, which);
        let loss = |rounds, own_noise| {
            exact_loss(&w, v, rounds, options(own_noise)).expect("valid input").loss.into_value().unit
        };
        let base = loss(rounds, OwnNoise::Known);
        let longer = loss(rounds + 1, OwnNoise::Known);
        let forgetful = loss(rounds, OwnNoise::Unknown);
        for u in 0..n {
            prop_assert!(base[u] <= longer[u] + 1e-9);
            prop_assert!(forgetful[u] <= base[u] + 1e-9);
        }
        if other != v {
            let both = exact_coalition_loss(&w, &[v, other], rounds, ExactOptions::default()).expect("valid input");
            for u in (0..n).filter(|&u| u != v && u != other) {
                prop_assert!(base[u] <= both.loss.value().unit[u] + 1e-9);
            }
            // The mean bound for a coalition.
            let outside = both.rank - 2;
            prop_assert!((both.mean().value() - outside as f64 / n as f64).abs() < 1e-10);
        }
    }
}
