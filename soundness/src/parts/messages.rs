//! Gossip with noise on its messages.

use super::fixed::shape;
use super::losses::{Case, compare};
use crate::draw::graphs::{self, Depth};
use crate::draw::numbers::{coalition, literal, pick};
use crate::draw::weights;
use crate::losses;
use crate::oracle::gossip::{self, Ears};
use crate::part::{Outcome, Part, Stratum};
use ndp_account::OwnNoise;
use ndp_algos::gossip::{MessageNoise, NoisyMessageGossip};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

pub(crate) struct Messages;

impl Part for Messages {
    fn name(&self) -> &'static str {
        "messages"
    }

    fn what(&self) -> &'static str {
        "gossip with noise on messages, ratios from 0, coalitions and tapped edges; rationals"
    }

    fn case(&self, number: u64, rng: &mut ChaCha8Rng) -> Outcome {
        let depth = Depth::of(number, 128);
        let ratio = match rng.random_range(0..3) {
            0 => 0.0,
            1 => pick(
                rng,
                &[
                    1.0, 0.3, 0.01, 1e-3, 1e-6, 1e-9, 1e-160, 100.0, 1e3, 1e20, 1e100, 1e153, 1.3e154, 1e160,
                    1e300,
                ],
            ),
            _ => rng.random::<f64>(),
        };
        // Views have a column for each message, so graphs are small.
        let graph = shape(rng, number, depth, if ratio == 0.0 { 24 } else { 8 });
        let n = graph.node_count();
        let weighted = weights::any(rng, &graph);
        let members = coalition(rng, n);
        let known = rng.random_range(0..4) > 0;
        let own_noise = if known { OwnNoise::Known } else { OwnNoise::Unknown };
        let rounds = depth.rounds(rng, n);
        let kind = pick(rng, &[MessageNoise::Broadcast, MessageNoise::PerLink, MessageNoise::Overheard]);
        // In some cases somebody taps edges from outside, in one direction or both.
        let edges: Vec<(usize, usize)> = graph.edges().collect();
        let tapped =
            rng.random_range(0..3) == 0 || kind == MessageNoise::Overheard && rng.random_range(0..4) > 0;
        let mut taps: Vec<(usize, usize)> = Vec::new();
        for _ in 0..if tapped && !edges.is_empty() { rng.random_range(1..=3) } else { 0 } {
            let (a, b) = pick(rng, &edges);
            let tap = if rng.random_range(0..2) == 0 { (a, b) } else { (b, a) };
            if !taps.contains(&tap) {
                taps.push(tap);
            }
        }
        let (ears, call) = if taps.is_empty() {
            (Ears::Of(&members), format!("coalition_loss(&{members:?})"))
        } else {
            (Ears::On(&taps), format!("overheard_loss(&{taps:?})"))
        };
        let code = format!(
            "use ndp_algos::gossip::{{MessageNoise, NoisyMessageGossip}};\nuse ndp_algos::{{OwnNoise, LinearProtocol}};\n\
             use ndp_graph::{{GossipMatrix, Graph}};\nlet graph = {};\nlet matrix = {};\n\
             let mut protocol = NoisyMessageGossip::new(matrix, {rounds}, {}, MessageNoise::{kind:?})?;\n\
             protocol.own_noise = OwnNoise::{own_noise:?};\nlet report = protocol.{call}?;",
            graphs::code(&graph),
            weighted.code,
            literal(ratio)
        );
        let case = Case { size: [n as u64, rounds as u64, graph.edge_count() as u64], code: &code };
        let mut outcome = Outcome::new(Stratum::new(n, rounds));
        let exact = gossip::noisy_messages(&weighted.meant(), rounds, ratio, kind, ears, known);
        let reported =
            NoisyMessageGossip::new(weighted.matrix, rounds, ratio, kind).and_then(|mut protocol| {
                protocol.own_noise = own_noise;
                match ears {
                    Ears::Of(members) => losses::protocol(&protocol, members),
                    Ears::On(taps) => losses::overheard(&protocol, taps),
                }
            });
        // With noise against outsiders only, the gossip between the nodes has no noise, so the library must
        // refuse an account towards nodes.
        if kind == MessageNoise::Overheard && taps.is_empty() {
            let refused = matches!(reported, Err(ndp_account::Error::NotOffered(_)));
            outcome.check(refused, || {
                let code = code.strip_suffix("?;").map_or_else(|| code.clone(), |code| format!("{code};"));
                let must = "assert!(matches!(report, Err(ndp_account::Error::NotOffered(_))));";
                Case { code: &code, ..case }.violation("nodes said to hear noise", String::new(), must)
            });
            return outcome;
        }
        compare(&mut outcome, &case, &exact, &reported, None);
        outcome
    }

    fn short(&self) -> u64 {
        1000
    }
}
