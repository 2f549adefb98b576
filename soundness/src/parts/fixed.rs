//! Gossip with a fixed matrix.

use super::losses::{Case, compare};
use crate::draw::graphs::{self, Depth};
use crate::draw::numbers::coalition;
use crate::draw::weights;
use crate::losses;
use crate::oracle::gossip;
use crate::part::{Outcome, Part, Stratum};
use ndp_account::{LinearProtocol, OwnNoise};
use ndp_algos::gossip::SynchronousGossip;
use ndp_graph::Graph;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

pub(crate) struct Fixed;

impl Part for Fixed {
    fn name(&self) -> &'static str {
        "fixed"
    }

    fn what(&self) -> &'static str {
        "gossip with a fixed matrix, also through its view; rationals"
    }

    fn case(&self, number: u64, rng: &mut ChaCha8Rng) -> Outcome {
        let depth = Depth::of(number, 64);
        // With more than 40 nodes the truth can be computed only if the observer sees every noise, or if the
        // integers are short.
        let largest = if number % 1024 == 1023 { 80 } else { 40 };
        let graph = shape(rng, number, depth, largest);
        let n = graph.node_count();
        let weighted = weights::any(rng, &graph);
        let members = coalition(rng, n);
        // Coalitions of more than one member know their own noises here.
        let known = members.len() > 1 || rng.random_range(0..4) > 0;
        let rounds = depth.rounds(rng, n);
        // Some cases compute the loss from the written-out view, others through the protocol.
        let route = rng.random_range(0..6);
        let own_noise = if known { OwnNoise::Known } else { OwnNoise::Unknown };
        let mut protocol = SynchronousGossip::new(weighted.matrix.clone(), rounds);
        protocol.own_noise = own_noise;
        let (reported, call) = match route {
            0 => (
                protocol.coalition_view(&members).and_then(|view| losses::view(&view)),
                format!("ndp_account::loss::exact_loss(&protocol.coalition_view(&{members:?})?)"),
            ),
            1 => (losses::protocol(&protocol, &members), format!("protocol.coalition_loss(&{members:?})")),
            _ => (
                losses::fixed(&weighted.matrix, &members, rounds, own_noise),
                format!("ndp_algos::gossip::exact_loss((&protocol.matrix, {rounds}), &{members:?}, options)"),
            ),
        };
        let code = format!(
            "use ndp_algos::gossip::{{ExactOptions, SynchronousGossip}};\nuse ndp_algos::{{OwnNoise, LinearProtocol}};\n\
             use ndp_graph::{{GossipMatrix, Graph}};\n\
             let graph = {};\nlet matrix = {};\n\
             let options = ExactOptions {{ own_noise: OwnNoise::{own_noise:?}, ..ExactOptions::default() }};\n\
             let mut protocol = SynchronousGossip::new(matrix, {rounds});\n\
             protocol.own_noise = options.own_noise;\n\
             let report = {call}?;",
            graphs::code(&graph),
            weighted.code
        );
        let case = Case { size: [n as u64, rounds as u64, graph.edge_count() as u64], code: &code };
        let mut outcome = Outcome::new(Stratum::new(n, rounds));
        let exact = gossip::fixed(&weighted.meant(), rounds, &members, known);
        compare(&mut outcome, &case, &exact, &reported, Some(if known { members.len() } else { 0 }));
        outcome
    }

    fn short(&self) -> u64 {
        4000
    }
}

/// A graph for a case: deep ones are chains, and the karate club is one of the middle ones.
pub(crate) fn shape(rng: &mut ChaCha8Rng, number: u64, depth: Depth, largest: usize) -> Graph {
    let n = depth.nodes(rng, largest);
    match depth {
        Depth::Deep => graphs::chain(rng, n),
        Depth::Middle if largest >= 34 && number % 128 == 3 => graphs::karate(),
        _ => graphs::any(rng, n),
    }
}
