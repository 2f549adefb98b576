//! A counterexample as data, and as a test that anybody can run.

use crate::setting::{Case, Setting, WeightRule};
use num_rational::BigRational;
use num_traits::ToPrimitive;
use serde::Serialize;

/// Where a claimed bound is below the truth.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Counterexample {
    /// Number of nodes.
    pub nodes: usize,
    /// Rounds of gossip.
    pub rounds: usize,
    /// Edges of the graph.
    pub edges: Vec<(usize, usize)>,
    /// How the weights follow from the graph.
    pub weights: WeightRule,
    /// The node whose loss is bounded.
    pub exposed: usize,
    /// The node that looks.
    pub observer: usize,
    /// Order of the loss.
    pub alpha: f64,
    /// Standard deviation of the noise in units of the sensitivity.
    pub sigma: f64,
    /// The claimed bound in nats is at most this.
    pub claimed: f64,
    /// The true loss in nats, a fraction.
    pub true_loss: String,
    /// The same as the nearest decimal number, to be read only.
    pub true_loss_decimal: f64,
}

impl Counterexample {
    pub(crate) fn new(case: &Case<'_>, claimed: f64, truth: &BigRational) -> Self {
        let Setting { graph, weights, .. } = case.setting;
        Self {
            nodes: graph.node_count(),
            rounds: case.rounds,
            edges: graph.edges().collect(),
            weights: *weights,
            exposed: case.u,
            observer: case.v,
            alpha: case.alpha,
            sigma: case.sigma,
            claimed,
            true_loss: truth.to_string(),
            true_loss_decimal: truth.to_f64().unwrap_or(f64::NAN),
        }
    }

    /// A test in Rust that computes the true loss again and compares it with the claimed bound.
    #[must_use]
    pub fn rust_test(&self) -> String {
        let Self {
            nodes, rounds, edges, weights, exposed, observer, alpha, sigma, claimed, true_loss, ..
        } = self;
        format!(
            "#[test]\nfn the_claim_is_false() -> Result<(), ndp_refute::Error> {{\n    \
             let graph = ndp_graph::Graph::from_edges({nodes}, {edges:?})?;\n    \
             let setting = ndp_refute::Setting::new(&graph, ndp_refute::WeightRule::{weights:?}, {rounds})?;\n    \
             let unit = ndp_refute::exact_unit_loss(&setting, {rounds}, {exposed}, {observer});\n    \
             // Times {alpha} / (2 * {sigma}^2): {true_loss}; claimed at most {claimed:?}.\n    \
             assert_eq!(unit.to_string(), {:?});\n    Ok(())\n}}\n",
            self.unit().to_string()
        )
    }

    /// A script in plain Python, without any package, that computes the true loss again in fractions.
    #[must_use]
    pub fn python_script(&self) -> String {
        let Self { nodes, rounds, edges, weights, exposed, observer, alpha, sigma, claimed, .. } = self;
        let edges: Vec<String> = edges.iter().map(|(a, b)| format!("({a}, {b})")).collect();
        let denominator = match weights {
            WeightRule::Metropolis => "1 + max(d[a], d[b])",
            WeightRule::MaxDegree => "max(d[a], d[b])",
            WeightRule::Lazy => "2 * (1 + max(d[a], d[b]))",
        };
        format!(
            "from fractions import Fraction as F\n\
             n, T, u, v, E = {nodes}, {rounds}, {exposed}, {observer}, [{}]\n\
             d = [sum(a in e for e in E) for a in range(n)]\n\
             W = [[F(0)] * n for _ in range(n)]\n\
             for a, b in E: W[a][b] = W[b][a] = F(1, {denominator})\n\
             for a in range(n): W[a][a] = 1 - sum(W[a])\n\
             P, rows, loss = [[F(a == b) for b in range(n)] for a in range(n)], [], F(0)\n\
             for t in range(T):\n    \
                 for w in [w for w in range(n) if W[v][w] and w != v]:\n        \
                     r = [x if b != v else F(0) for b, x in enumerate(P[w])]\n        \
                     for q in rows:\n            \
                         f = sum(x * y for x, y in zip(r, q)) / sum(y * y for y in q)\n            \
                         r = [x - f * y for x, y in zip(r, q)]\n        \
                     if any(r): rows.append(r); loss += r[u] ** 2 / sum(x * x for x in r)\n    \
                 P = [[sum(W[a][w] * P[w][b] for w in range(n)) for b in range(n)] for a in range(n)]\n\
             print('true loss', F({alpha:?}) / (2 * F({sigma:?}) ** 2) * loss, 'claimed at most', {claimed:?})\n",
            edges.join(", ")
        )
    }

    /// The true loss in units of the local loss.
    fn unit(&self) -> BigRational {
        let float = |x: f64| BigRational::from_float(x).unwrap_or_default();
        let nats: BigRational = self.true_loss.parse().unwrap_or_default();
        nats * float(2.0) * float(self.sigma) * float(self.sigma) / float(self.alpha)
    }
}
