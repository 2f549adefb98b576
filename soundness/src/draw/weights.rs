//! Gossip matrices with weights of every kind, and how to write them down.

use super::numbers::{literal, pick};
use ndp_graph::{GossipMatrix, Graph, Weights};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// A matrix, and the code that makes it from `graph`.
#[derive(Clone, Debug)]
pub(crate) struct Weighted {
    pub(crate) matrix: GossipMatrix,
    pub(crate) code: String,
}

/// Which kinds of weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// By degrees, perhaps lazy.
    Named,
    /// Edge by edge.
    Given,
}

pub(crate) fn any(rng: &mut ChaCha8Rng, graph: &Graph) -> Weighted {
    let kind = if rng.random_range(0..3) == 0 { Kind::Given } else { Kind::Named };
    of_kind(rng, graph, kind)
}

pub(crate) fn of_kind(rng: &mut ChaCha8Rng, graph: &Graph, kind: Kind) -> Weighted {
    match kind {
        Kind::Named => {
            let scheme = named(rng, graph);
            match rng.random_range(0..6) {
                0 => lazy(&scheme, pick(rng, &[0.5, 1.0 - 1e-10, 0.5536671124535972, 1e-10, 0.3, 1.0 / 3.0])),
                1 => lazy(&scheme, rng.random::<f64>()),
                2 if rng.random_range(0..4) == 0 => lazy(&lazy(&scheme, rng.random::<f64>()), 0.3),
                _ => scheme,
            }
        }
        Kind::Given => given(rng, graph),
    }
}

fn named(rng: &mut ChaCha8Rng, graph: &Graph) -> Weighted {
    let rule = match rng.random_range(0..4) {
        0 => Weights::MaxDegree,
        1 => Weights::SumDegree,
        2 => Weights::Regular,
        _ => Weights::Metropolis,
    };
    match GossipMatrix::new(graph, rule) {
        Ok(matrix) => {
            let code = format!("GossipMatrix::new(&graph, ndp_graph::Weights::{rule:?})?");
            Weighted { matrix, code }
        }
        Err(_) => {
            let code = "GossipMatrix::metropolis(&graph)".into();
            Weighted { matrix: GossipMatrix::metropolis(graph), code }
        }
    }
}

fn lazy(of: &Weighted, laziness: f64) -> Weighted {
    // A draw of 1 - 2^-53 may make two lazinesses together round to 1.
    match of.matrix.lazy(laziness) {
        Ok(matrix) if matrix.laziness() < 1.0 => {
            Weighted { matrix, code: format!("{}.lazy({})?", of.code, literal(laziness)) }
        }
        _ => of.clone(),
    }
}

/// Weights edge by edge, tiny ones among them, the rest on the diagonal.
fn given(rng: &mut ChaCha8Rng, graph: &Graph) -> Weighted {
    let edges: Vec<(usize, usize)> = graph.edges().collect();
    let largest = (0..graph.node_count()).map(|v| graph.degree(v)).max().unwrap_or(0).max(1) as f64;
    let most = 1.0 / largest;
    let base = match rng.random_range(0..4) {
        0 => 0.5 * most * (1.0 + rng.random::<f64>()),
        _ => pick::<f64>(rng, &[1.0 / 3.0, 0.3, 0.2, 0.1, 0.01, 0.5, 0.25]).min(0.99 * most),
    };
    let mut weights = vec![base; edges.len()];
    let style = rng.random_range(0..4);
    for weight in &mut weights {
        match style {
            // All the same.
            0 => {}
            // All different.
            1 => *weight = most * rng.random::<f64>(),
            // A few tiny ones, or hardly different ones.
            2 if rng.random_range(0..4) == 0 => {
                *weight = pick(rng, &[1e-11, 7e-11, 1e-300, 1e-5, 0.0, 1e-8]);
            }
            3 if rng.random_range(0..4) == 0 => {
                *weight = base + pick(rng, &[1e-12, -1e-12, 1e-10, 1e-6, -1e-14]);
            }
            _ => {}
        }
    }
    let weight = |u: usize, v: usize| {
        let at = edges.binary_search(&(u, v)).expect("weights are asked for on edges");
        weights[at]
    };
    let listed: Vec<String> =
        edges.iter().zip(&weights).map(|((u, v), w)| format!("(({u}, {v}), {})", literal(*w))).collect();
    match GossipMatrix::from_edge_weights(graph, weight) {
        Ok(matrix) => Weighted {
            matrix,
            code: format!(
                "{{ let weights = std::collections::BTreeMap::from([{}]); \
                 GossipMatrix::from_edge_weights(&graph, |u, v| weights[&(u, v)])? }}",
                listed.join(", ")
            ),
        },
        Err(_) => named(rng, graph),
    }
}
