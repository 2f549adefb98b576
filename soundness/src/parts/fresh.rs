//! Gossip with fresh noise in every round.

use super::fixed::shape;
use super::losses::{Case, compare};
use crate::draw::graphs::{self, Depth};
use crate::draw::numbers::{coalition, literal, pick};
use crate::draw::weights;
use crate::losses;
use crate::oracle::gossip;
use crate::part::{Outcome, Part, Stratum};
use ndp_account::OwnNoise;
use ndp_algos::gossip::FreshNoiseGossip;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

pub(crate) struct Fresh;

impl Part for Fresh {
    fn name(&self) -> &'static str {
        "fresh"
    }

    fn what(&self) -> &'static str {
        "gossip with fresh noise, schedules with zeros and tiny ratios; rationals"
    }

    fn case(&self, number: u64, rng: &mut ChaCha8Rng) -> Outcome {
        let depth = Depth::of(number, 128);
        // Deep cases have noise in the first round, and in only some of the later ones.
        let style = if depth == Depth::Deep { pick(rng, &[0, 0, 2]) } else { rng.random_range(0..5) };
        let graph = shape(rng, number, depth, if depth == Depth::Deep && style == 0 { 24 } else { 9 });
        let n = graph.node_count();
        let weighted = weights::any(rng, &graph);
        let members = coalition(rng, n);
        let known = rng.random_range(0..4) > 0;
        let own_noise = if known { OwnNoise::Known } else { OwnNoise::Unknown };
        let rounds = depth.rounds(rng, n).max(1);
        let variances: Vec<f64> = (0..rounds)
            .map(|t| match style {
                // Noise in the first round only, or in the first and one late round.
                0 if t == 0 => 1.0,
                0 => {
                    if t + 1 == rounds {
                        pick(rng, &[0.0, 0.25, 1e-12])
                    } else {
                        0.0
                    }
                }
                1 => pick(rng, &[1.0, 0.3, 0.1, 2.0]),
                2 if t > 0 => pick(rng, &[0.0, 1.0, 0.0, 0.25]),
                3 if t > 0 => pick(rng, &[1e-7, 1e-9, 1e-12, 1e-20, 1e-300, 0.0, 1.0, 1e6]),
                2 => pick(rng, &[1.0, 4.0]),
                3 => pick(rng, &[1.0, 1e-10, 1e10]),
                _ => rng.random::<f64>().max(1e-3),
            })
            .collect();
        let listed: Vec<String> = variances.iter().map(|&s| literal(s)).collect();
        let code = format!(
            "use ndp_algos::gossip::FreshNoiseGossip;\nuse ndp_algos::{{OwnNoise, LinearProtocol}};\n\
             use ndp_graph::{{GossipMatrix, Graph}};\nlet graph = {};\nlet matrix = {};\n\
             let mut protocol = FreshNoiseGossip::new(matrix, vec![{}])?;\n\
             protocol.own_noise = OwnNoise::{own_noise:?};\n\
             let report = LinearProtocol::coalition_loss(&protocol, &{members:?})?;",
            graphs::code(&graph),
            weighted.code,
            listed.join(", ")
        );
        let case = Case { size: [n as u64, rounds as u64, graph.edge_count() as u64], code: &code };
        let mut outcome = Outcome::new(Stratum::new(n, rounds));
        let exact = gossip::fresh(&weighted.meant(), &variances, &members, known);
        let reported = FreshNoiseGossip::new(weighted.matrix, variances).and_then(|mut protocol| {
            protocol.own_noise = own_noise;
            losses::protocol(&protocol, &members)
        });
        compare(&mut outcome, &case, &exact, &reported, None);
        outcome
    }

    fn short(&self) -> u64 {
        1500
    }
}
