//! A counterexample as data, and as a script and a test that anybody can run.

use crate::protocol::Protocol;
use crate::setting::{Bounded, Case, Setting, WeightRule};
use num_rational::BigRational;
use num_traits::ToPrimitive;
use serde::Serialize;

/// Where a claimed bound is below the truth.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Counterexample {
    /// The protocol.
    pub protocol: Protocol,
    /// Number of nodes.
    pub nodes: usize,
    /// Rounds of gossip, or steps of the walk.
    pub rounds: usize,
    /// Edges of the graph.
    pub edges: Vec<(usize, usize)>,
    /// How the weights follow from the graph.
    pub weights: WeightRule,
    /// The edge that averages in each round, for [`Protocol::Pairs`].
    pub pairs: Vec<(usize, usize)>,
    /// Which losses are bounded.
    pub bounded: Bounded,
    /// The node whose loss is bounded; of no meaning for a mean.
    pub exposed: usize,
    /// The nodes that look, together.
    pub observers: Vec<usize>,
    /// Order of the loss.
    pub alpha: f64,
    /// Standard deviation of the noise in units of the sensitivity.
    pub sigma: f64,
    /// The claimed bound in nats is at most this.
    pub claimed: f64,
    /// The true loss in nats, a fraction; for a walk its mean over all paths, which is no more than the loss
    /// of who knows the path.
    pub true_loss: String,
    /// The same as the nearest decimal number, to be read only.
    pub true_loss_decimal: f64,
}

impl Counterexample {
    pub(crate) fn new(case: &Case<'_>, claimed: f64, truth: &BigRational) -> Self {
        let Setting { graph, weights, protocol, pairs, .. } = case.setting;
        Self {
            protocol: *protocol,
            nodes: graph.node_count(),
            rounds: case.rounds,
            edges: graph.edges().collect(),
            weights: *weights,
            pairs: pairs.clone(),
            bounded: Bounded::Each,
            exposed: case.u,
            observers: case.observers.to_vec(),
            alpha: case.alpha,
            sigma: case.sigma,
            claimed,
            true_loss: truth.to_string(),
            true_loss_decimal: truth.to_f64().unwrap_or(f64::NAN),
        }
    }

    /// The exposed nodes: one, or all that do not look.
    #[must_use]
    pub fn sources(&self) -> Vec<usize> {
        match self.bounded {
            Bounded::Each => vec![self.exposed],
            Bounded::Mean => (0..self.nodes).filter(|u| !self.observers.contains(u)).collect(),
        }
    }

    /// A test in Rust that computes the true loss again and compares it with the claimed bound.
    #[must_use]
    pub fn rust_test(&self) -> String {
        let Self { nodes, rounds, edges, weights, pairs, observers, alpha, sigma, claimed, .. } = self;
        let setting = match self.protocol {
            Protocol::Pairs => format!("pairs(&graph, &{pairs:?})"),
            protocol => format!(
                "new(&graph, ndp_refute::WeightRule::{weights:?}, ndp_refute::Protocol::{protocol:?}, {rounds})"
            ),
        };
        let truth = if self.protocol.is_walk() { "mean_path_cost" } else { "exact_unit_loss" };
        let part = if self.bounded == Bounded::Mean { format!("1.0 / {nodes}.0") } else { "1.0".into() };
        let sources = self.sources();
        format!(
            "#[test]\nfn the_claim_is_false() -> Result<(), Box<dyn std::error::Error>> {{\n    \
             let graph = ndp_graph::Graph::from_edges({nodes}, {edges:?})?;\n    \
             let setting = ndp_refute::Setting::{setting}?;\n    \
             let (sources, mut sum) = ({sources:?}, 0.0);\n    \
             for u in sources {{\n        \
             let unit: num_rational::BigRational =\n            \
             ndp_refute::{truth}(&setting, {rounds}, u, &{observers:?}).parse()?;\n        \
             sum += num_traits::ToPrimitive::to_f64(&unit).ok_or(\"too large\")?;\n    }}\n    \
             // Exactly: {}.\n    \
             assert!({part} * {alpha:?} / (2.0 * {sigma:?} * {sigma:?}) * sum > {claimed:?});\n    Ok(())\n}}\n",
            self.true_loss
        )
    }

    /// A script in plain Python, without any package, that computes the true loss again in fractions.
    #[must_use]
    pub fn python_script(&self) -> String {
        let Self { nodes, rounds, edges, weights, observers, alpha, sigma, claimed, .. } = self;
        let list = |pairs: &[(usize, usize)]| {
            let pairs: Vec<String> = pairs.iter().map(|(a, b)| format!("({a}, {b})")).collect();
            format!("[{}]", pairs.join(", "))
        };
        let weight = match weights {
            WeightRule::Metropolis => "1 + max(d[a], d[b])",
            WeightRule::MaxDegree => "max(d[a], d[b])",
            WeightRule::Lazy => "2 * (1 + max(d[a], d[b]))",
            WeightRule::Simple => "d[a]",
        };
        let head = format!(
            "from fractions import Fraction as F\n\
             n, T, U, V, E = {nodes}, {rounds}, {:?}, {observers:?}, {}\n\
             d = [sum(a in e for e in E) for a in range(n)]\n\
             W = [[F(0)] * n for _ in range(n)]\n\
             for a, b in E + [(b, a) for a, b in E]: W[a][b] = F(1, {weight})\n\
             for a in range(n): W[a][a] = 1 - sum(W[a])\n",
            self.sources(),
            list(edges)
        );
        let share = if self.bounded == Bounded::Mean { format!(" / {nodes}") } else { String::new() };
        let tail = format!(
            "print('{}', F({alpha:?}) / (2 * F({sigma:?}) ** 2) * loss{share}, 'claimed at most', {claimed:?})\n",
            self.protocol.truth()
        );
        let body =
            if self.protocol.is_walk() { WALK.to_owned() } else { self.gossip_in_python(&list(&self.pairs)) };
        format!("{head}{body}{tail}")
    }

    /// Messages as sums over noises `(owner, time)`, the first of which come with the data.
    fn gossip_in_python(&self, pairs: &str) -> String {
        let (ratio, fresh) = match self.protocol {
            Protocol::FreshNoise(ratio) | Protocol::NoisyMessages(ratio) => {
                (ratio, " * (s * s if k[1] else 1)")
            }
            _ => (1.0, ""),
        };
        let noisy = "[lin((1, x[a]), (1, {(a, t + 1): F(1)})) for a in range(n)]";
        let mut body = String::new();
        if !fresh.is_empty() {
            body = format!("s = F({ratio:?})\n");
        }
        body += &format!(
            "def lin(*terms):\n    \
                 r = {{}}\n    \
                 for c, x in terms:\n        \
                     for k, y in x.items(): r[k] = r.get(k, 0) + c * y\n    \
                 return r\n\
             def dot(x, y): return sum(c * y.get(k, 0){fresh} for k, c in x.items())\n\
             x, old, rows, loss = [{{(a, 0): F(1)}} for a in range(n)], None, [], F(0)\n\
             for t in range(T):\n"
        );
        if self.protocol == Protocol::Pairs {
            body += &format!(
                "    pair = {pairs}[t]\n    \
                 W = [[F(a == b) for b in range(n)] for a in range(n)]\n    \
                 for a in pair: W[a] = [F(b in pair, 2) for b in range(n)]\n"
            );
        }
        if matches!(self.protocol, Protocol::FreshNoise(_)) {
            body += &format!("    if t: x = {noisy}\n");
        }
        let sent = if matches!(self.protocol, Protocol::NoisyMessages(_)) { noisy } else { "x" };
        body += &format!("    m = {sent}\n");
        body += "    for w in [w for w in range(n) if w not in V and any(W[v][w] for v in V)]:\n        \
             r = {k: c for k, c in m[w].items() if k[0] not in V}\n        \
             for q in rows: r = lin((1, r), (-dot(r, q) / dot(q, q), q))\n        \
             if dot(r, r): rows.append(r); loss += sum(r.get((u, 0), 0) ** 2 for u in U) / dot(r, r)\n    \
             new = [lin(*[(W[a][b], x[b] if a == b else m[b]) for b in range(n)]) for a in range(n)]\n";
        if let Protocol::Accelerated(g) = self.protocol {
            body += &format!(
                "    if old: new = [lin((F({g:?}), new[a]), (1 - F({g:?}), old[a])) for a in range(n)]\n"
            );
        }
        body + "    x, old = new, x\n"
    }
}

/// The law of holder, contributions and noises since the last sighting.
const WALK: &str = "loss = F(0)\n\
for u in U:\n    \
    law = {(a, 0, 0): F(1, n) for a in range(n)}\n    \
    for t in range(T):\n        \
        new = {}\n        \
        for (a, k, m), p in law.items():\n            \
            k, m = (0, 0) if a in V else (k + (a == u), m + 1)\n            \
            for b in [b for b in range(n) if W[a][b]]:\n                \
                if b in V and k: loss += p * W[a][b] * F(k * k, m)\n                \
                key = (b, 0, 0) if b in V else (b, k, m)\n                \
                new[key] = new.get(key, 0) + p * W[a][b]\n        \
        law = new\n";
