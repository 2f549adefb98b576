//! Gossip matrices with weights of every kind, and how to write them down.

use super::numbers::{literal, pick};
use crate::oracle::gossip::Matrix;
use ndp_graph::{GossipMatrix, Graph, Weights};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// A matrix of the library, the matrix that its user meant, and the code that makes it from `graph`.
#[derive(Clone, Debug)]
pub(crate) struct Weighted {
    pub(crate) matrix: GossipMatrix,
    pub(crate) code: String,
    /// The rule of a named matrix, and its laziness values in the order in which they were applied; `None`
    /// for given weights.
    rule: Option<(Weights, Vec<f64>)>,
}

impl Weighted {
    /// The matrix that the user meant, by its definition.
    pub(crate) fn meant(&self) -> Matrix {
        match &self.rule {
            Some((rule, lazinesses)) => Matrix::named(self.matrix.graph(), *rule, lazinesses),
            None => Matrix::stored(&self.matrix),
        }
    }
}

/// Which kinds of weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Weights by degrees; the matrix may be lazy.
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
                0 => lazy(&scheme, laziness(rng, graph.node_count())),
                1 => lazy(&scheme, rng.random::<f64>()),
                2 => {
                    // Apply the same laziness twice, or another one after it.
                    let first = laziness(rng, graph.node_count());
                    let second =
                        if rng.random_range(0..2) == 0 { first } else { laziness(rng, graph.node_count()) };
                    let twice = lazy(&lazy(&scheme, first), second);
                    if rng.random_range(0..4) == 0 {
                        lazy(&twice, laziness(rng, graph.node_count()))
                    } else {
                        twice
                    }
                }
                _ => scheme,
            }
        }
        Kind::Given => given(rng, graph),
    }
}

/// A laziness. Tiny values make long integers, so deep chains do not get them.
fn laziness(rng: &mut ChaCha8Rng, nodes: usize) -> f64 {
    let known =
        [0.5, 1.0 - 1e-10, 0.5536671124535972, 1e-10, 0.3, 1.0 / 3.0, 1e-17, 1e-300, 1.0 - 2_f64.powi(-53)];
    if rng.random_range(0..4) == 0 {
        rng.random::<f64>()
    } else {
        pick(rng, if nodes <= 14 { &known } else { &known[..7] })
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
            Weighted { matrix, code, rule: Some((rule, Vec::new())) }
        }
        Err(_) => {
            let code = "GossipMatrix::metropolis(&graph)".into();
            let rule = Some((Weights::Metropolis, Vec::new()));
            Weighted { matrix: GossipMatrix::metropolis(graph), code, rule }
        }
    }
}

fn lazy(of: &Weighted, laziness: f64) -> Weighted {
    let Ok(matrix) = of.matrix.lazy(laziness) else { return of.clone() };
    let rule = of.rule.clone().map(|(rule, mut lazinesses)| {
        lazinesses.push(laziness);
        (rule, lazinesses)
    });
    Weighted { matrix, code: format!("{}.lazy({})?", of.code, literal(laziness)), rule }
}

/// Weights given edge by edge, some of them tiny; what is left of 1 goes on the diagonal.
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
            // All weights are the same.
            0 => {}
            // All weights are different.
            1 => *weight = most * rng.random::<f64>(),
            // A few tiny weights, or weights that hardly differ.
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
            rule: None,
        },
        Err(_) => named(rng, graph),
    }
}
