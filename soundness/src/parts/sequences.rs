//! Gossip over changing connections.

use super::fixed::shape;
use super::losses::{Case, Claim, check_upper, compare};
use crate::draw::graphs::{self, Depth};
use crate::draw::numbers::coalition;
use crate::draw::weights;
use crate::losses;
use crate::oracle::gossip;
use crate::oracle::linear::Linear;
use crate::oracle::rational::Quotient;
use crate::part::{Outcome, Part, Stratum};
use ndp_account::{LinearProtocol, OwnNoise};
use ndp_algos::gossip::SequenceGossip;
use ndp_graph::{GossipSequence, Step};
use num_bigint::BigInt;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::fmt::Write;

pub(crate) struct Sequences;

impl Part for Sequences {
    fn name(&self) -> &'static str {
        "sequences"
    }

    fn what(&self) -> &'static str {
        "gossip over changing matrices, pairs and idle steps; rationals"
    }

    fn case(&self, number: u64, rng: &mut ChaCha8Rng) -> Outcome {
        let depth = Depth::of(number, 96);
        let (n, steps, meant, mut code) = draw(rng, number, depth);
        let members = coalition(rng, n);
        let known = members.len() > 1 || rng.random_range(0..4) > 0;
        let own_noise = if known { OwnNoise::Known } else { OwnNoise::Unknown };
        let rounds = steps.len();
        let mut outcome = Outcome::new(Stratum::new(n, rounds));
        let sequence = GossipSequence::new(n, steps).expect("steps on n nodes");
        let (reported, call) = match rng.random_range(0..6) {
            0 => {
                let protocol = SequenceGossip { sequence: sequence.clone(), own_noise };
                let view = protocol.coalition_view(&members);
                (
                    view.and_then(|view| losses::view(&view)),
                    format!("ndp_account::loss::exact_loss(&protocol.coalition_view(&{members:?})?)"),
                )
            }
            1 => {
                let protocol = SequenceGossip { sequence: sequence.clone(), own_noise };
                let call = format!("LinearProtocol::coalition_loss(&protocol, &{members:?})");
                (losses::protocol(&protocol, &members), call)
            }
            _ => (losses::sequence(&sequence, &members, own_noise), {
                let options = "ExactOptions { own_noise, ..ExactOptions::default() }";
                format!("ndp_algos::gossip::exact_loss(&protocol.sequence, &{members:?}, {options})")
            }),
        };
        write!(
            code,
            "use ndp_algos::gossip::{{ExactOptions, SequenceGossip}};\nuse ndp_algos::{{OwnNoise, LinearProtocol}};\n\
             let own_noise = OwnNoise::{own_noise:?};\n\
             let sequence = ndp_graph::GossipSequence::new({n}, steps)?;\n\
             let protocol = SequenceGossip {{ sequence, own_noise }};\nlet report = {call}?;"
        )
        .expect("writing to a String never fails");
        let case = Case { size: [n as u64, rounds as u64, code.len() as u64], code: &code };
        let exact = gossip::sequence(n, &meant, &members, known);
        compare(&mut outcome, &case, &exact, &reported, Some(if known { members.len() } else { 0 }));
        if let [observer] = members[..]
            && known
        {
            means(&mut outcome, &case, (&sequence, &meant), observer);
        }
        outcome
    }

    fn short(&self) -> u64 {
        1500
    }
}

/// The mean loss after each step is the rank over the noises that the observer does not know, divided by the
/// number of nodes, because each noise belongs to one input.
fn means(
    outcome: &mut Outcome,
    case: &Case<'_>,
    (sequence, meant): (&GossipSequence, &[gossip::Step]),
    observer: usize,
) {
    let n = sequence.node_count();
    match losses::mean_by_step(sequence, observer) {
        Ok(means) => {
            for (t, &losses::Mean { value, exact }) in means.iter().enumerate() {
                let view: Linear = gossip::sequence(n, &meant[..=t], &[observer], true);
                let truth = Quotient::new(BigInt::from(view.kept().rows.len()), BigInt::from(n));
                let of = format!(
                    "*ndp_algos::gossip::mean_loss_by_step(&protocol.sequence, {observer})?.by_step[{t}].value()"
                );
                check_upper(outcome, case, &truth, &Claim { upper: value, exact, of: &of });
            }
        }
        Err(error) => outcome.check(false, || case.violation("refused", error.to_string(), "")),
    }
}

/// Draws steps, the matrices that the user meant by them, and the code that makes them.
fn draw(rng: &mut ChaCha8Rng, number: u64, depth: Depth) -> (usize, Vec<Step>, Vec<gossip::Step>, String) {
    let mut code = String::from("use ndp_graph::{GossipMatrix, Graph, Step};\nlet mut steps = Vec::new();\n");
    let mut add = |line: std::fmt::Arguments<'_>| {
        code.write_fmt(line).expect("writing to a String never fails");
        code.push('\n');
    };
    let first = shape(rng, number, depth, 36);
    let n = first.node_count();
    let rounds = depth.rounds(rng, n);
    let (mut steps, mut meant) = (Vec::with_capacity(rounds), Vec::with_capacity(rounds));
    let style = rng.random_range(0..3);
    if style == 0 || depth == Depth::Deep {
        // Use the same matrix in every step, which the engines for changing matrices must handle, too.
        let weighted = weights::any(rng, &first);
        add(format_args!(
            "let graph = {};\nlet matrix = {};\nsteps.extend(vec![Step::Matrix(matrix); {rounds}]);",
            graphs::code(&first),
            weighted.code
        ));
        let meant = vec![gossip::Step::Matrix(weighted.meant()); rounds];
        return (n, vec![Step::Matrix(weighted.matrix); rounds], meant, code);
    }
    for _ in 0..rounds {
        match rng.random_range(0..if style == 1 { 10 } else { 3 }) {
            0 => {
                steps.push(Step::Idle);
                meant.push(gossip::Step::Idle);
                add(format_args!("steps.push(Step::Idle);"));
            }
            1 | 2 if n > 1 => {
                let a = rng.random_range(0..n);
                let b = (a + rng.random_range(1..n)) % n;
                steps.push(Step::Pair(a, b));
                meant.push(gossip::Step::Pair(a, b));
                add(format_args!("steps.push(Step::Pair({a}, {b}));"));
            }
            _ => {
                let graph =
                    if rng.random_range(0..2) == 0 { graphs::random(rng, n) } else { graphs::chain(rng, n) };
                let weighted = weights::any(rng, &graph);
                add(format_args!(
                    "let graph = {};\nsteps.push(Step::Matrix({}));",
                    graphs::code(&graph),
                    weighted.code
                ));
                meant.push(gossip::Step::Matrix(weighted.meant()));
                steps.push(Step::Matrix(weighted.matrix));
            }
        }
    }
    (n, steps, meant, code)
}
