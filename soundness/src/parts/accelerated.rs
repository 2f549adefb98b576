//! Accelerated randomized gossip.

use super::fixed::shape;
use super::losses::{Case, compare};
use crate::draw::graphs::{self, Depth};
use crate::draw::numbers::{coalition, literal, pick};
use crate::losses;
use crate::oracle::gossip;
use crate::part::{Outcome, Part, Stratum};
use ndp_account::OwnNoise;
use ndp_algos::gossip::accelerated::{AcceleratedGossip, ActiveEdge, Momentum};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

pub(crate) struct Accelerated;

impl Part for Accelerated {
    fn name(&self) -> &'static str {
        "accelerated"
    }

    fn what(&self) -> &'static str {
        "randomized gossip with momentum over given rings; rationals"
    }

    fn case(&self, number: u64, rng: &mut ChaCha8Rng) -> Outcome {
        let depth = Depth::of(number, 128);
        let graph = shape(rng, number, depth, 24);
        let n = graph.node_count();
        let edges: Vec<(usize, usize)> = graph.edges().collect();
        let wait = pick(rng, &[0.3, 0.0, 1e-9, 1.0, 5.0]);
        let edge = |rng: &mut ChaCha8Rng, k: usize, sweep: bool| {
            if sweep { edges[k % edges.len()] } else { edges[rng.random_range(0..edges.len())] }
        };
        let sweep = depth == Depth::Deep || rng.random_range(0..2) == 0;
        let count = match depth {
            _ if edges.is_empty() => 0,
            Depth::Deep => n * edges.len(),
            _ => rng.random_range(0..=n * edges.len().min(12)),
        };
        let random_wait = rng.random_range(0..3) == 0;
        let mut rings = Vec::with_capacity(count);
        for k in 0..count {
            let wait = if random_wait { -rng.random::<f64>().max(1e-300).ln() } else { wait };
            rings.push(ActiveEdge { wait, edge: edge(rng, k, sweep) });
        }
        let mixing = pick(rng, &[0.05, 0.0, 1e-6, 0.5, 1e-12]);
        let push = pick(rng, &[1.0, 0.0, 0.3, 1e-8, 3.0]);
        let members = coalition(rng, n);
        let known = rng.random_range(0..4) > 0;
        let own_noise = if known { OwnNoise::Known } else { OwnNoise::Unknown };
        let listed: Vec<String> = rings
            .iter()
            .map(|ring| format!("ActiveEdge {{ wait: {}, edge: {:?} }}", literal(ring.wait), ring.edge))
            .collect();
        let code = format!(
            "use ndp_algos::gossip::accelerated::{{AcceleratedGossip, Momentum, ActiveEdge}};\n\
             use ndp_account::{{LinearProtocol, OwnNoise}};\nuse ndp_graph::Graph;\nlet graph = {};\n\
             let rings = vec![{}];\nlet momentum = Momentum {{ mixing: {}, push: {} }};\n\
             let mut protocol = AcceleratedGossip::given(&graph, rings, 0.0, momentum)?;\n\
             protocol.own_noise = OwnNoise::{own_noise:?};\n\
             let report = protocol.coalition_loss(&{members:?})?;",
            graphs::code(&graph),
            listed.join(", "),
            literal(mixing),
            literal(push)
        );
        let case = Case { size: [n as u64, count as u64, members.len() as u64], code: &code };
        let mut outcome = Outcome::new(Stratum::new(n, count / edges.len().max(1)));
        let exact = gossip::accelerated(n, &rings, mixing, push, &members, known);
        let made = AcceleratedGossip::given(&graph, rings, 0.0, Momentum { mixing, push });
        let reported = made.and_then(|mut protocol| {
            protocol.own_noise = own_noise;
            losses::protocol(&protocol, &members)
        });
        compare(&mut outcome, &case, &exact, &reported, Some(if known { members.len() } else { 0 }));
        outcome
    }

    fn short(&self) -> u64 {
        1500
    }
}
