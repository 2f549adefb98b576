//! Verdicts and sentences: whether they claim more than was computed.
//!
//! The truth is what *every* node learns about every other, in rationals. A verdict about some observers must
//! not be stated for all, a limit counts as kept only if the observer was looked at, and a number must hold
//! for all possible changes unless a smaller set was declared. The search asks the library, and the command
//! as a process.

mod command;

use super::losses::Case;
use crate::draw::graphs;
use crate::draw::numbers::pick;
use crate::oracle::gossip::{self, Matrix};
use crate::oracle::linear::Loss;
use crate::oracle::rational::Quotient;
use crate::part::{Outcome, Part, Stratum};
use ndp_account::{Observer, Protocol, Target, check, least_noise};
use ndp_algos::gossip::SynchronousGossip;
use ndp_algos::registry;
use ndp_dp::{Measure, NoiseMultiplier, Order, Verdict};
use ndp_graph::GossipMatrix;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::cmp::Ordering;

pub(crate) struct Statements;

impl Part for Statements {
    fn name(&self) -> &'static str {
        "statements"
    }

    fn what(&self) -> &'static str {
        "verdicts and sentences of library and command against all pairs, limits and changes; rationals"
    }

    fn case(&self, number: u64, rng: &mut ChaCha8Rng) -> Outcome {
        match number % 8 {
            0 | 1 => limits(rng),
            2 => changes(rng),
            _ => command::case(number, rng),
        }
    }

    fn short(&self) -> u64 {
        300
    }
}

/// Limits for pairs, when the question is about a coalition: each member counts as an observer.
fn limits(rng: &mut ChaCha8Rng) -> Outcome {
    let n = rng.random_range(3..=6);
    let graph = graphs::random(rng, n);
    let rounds = rng.random_range(1..=3);
    let noise = pick(rng, &[1.0, 2.0, 0.5]);
    let matrix = Matrix::metropolis(&graph);
    let mut members: Vec<usize> = (0..n).collect();
    while members.len() > 2 && (members.len() == n || rng.random_range(0..2) == 0) {
        members.remove(rng.random_range(0..members.len()));
    }
    let mut outcome = Outcome::new(Stratum::named("library", "limits of coalitions"));
    // A limit for one member and one node outside, close to what this member learns alone.
    let v = pick(rng, &members);
    let alone = gossip::fixed(&matrix, rounds, &[v], true).truth();
    let square = Quotient::from_f64(noise * noise);
    let outside: Vec<usize> = (0..n).filter(|u| !members.contains(u)).collect();
    let u = pick(rng, &outside);
    let Loss::Finite(unit) = &alone.losses[u] else { return outcome };
    let loss = unit.by(&square);
    let limit = (loss.to_f64() * pick(rng, &[0.5, 0.9, 1.1])).max(0.01);
    let protocol = SynchronousGossip::new(GossipMatrix::metropolis(&graph), rounds);
    let (Ok(order), Ok(multiplier)) = (Order::new(2.0), NoiseMultiplier::new(noise)) else { return outcome };
    let allowed = move |source, observer| if (source, observer) == (u, v) { limit } else { f64::INFINITY };
    let target = Target::pairs(Measure::Renyi(order), allowed);
    let Ok(account) = protocol.account(&Observer::coalition(&members)) else { return outcome };
    let accounts = [account];
    let code = format!(
        "use ndp_account::Protocol;\nuse ndp_account::{{Observer, Target, check, least_noise}};\n\
         use ndp_algos::gossip::SynchronousGossip;\nuse ndp_dp::{{Measure, NoiseMultiplier, Order, Verdict}};\n\
         use ndp_graph::{{GossipMatrix, Graph}};\n\
         let gossip = SynchronousGossip::new(GossipMatrix::metropolis(&{}), {rounds});\n\
         let accounts = [gossip.account(&Observer::coalition(&{members:?}))?];\n\
         let limit = |u, v| if (u, v) == ({u}, {v}) {{ {limit:?} }} else {{ f64::INFINITY }};\n\
         let target = Target::pairs(Measure::Renyi(Order::new(2.0)?), limit);",
        graphs::code(&graph)
    );
    let size = [n as u64, rounds as u64, graph.edge_count() as u64];
    let case = Case { size, code: &code };
    let about =
        |near: f64| format!("coalition {members:?}, {v} about {u}: limit {limit:e}, {v} alone {near:e}");
    if let Ok(found) = check(&accounts, multiplier, &target) {
        let exceeded = loss.compare(limit) == Ordering::Greater;
        outcome.check(!exceeded || found.verdict != Verdict::Met, || {
            let assertion = format!(
                "let found = check(&accounts, NoiseMultiplier::new({noise:?})?, &target)?;\n\
                 assert_ne!(found.verdict, Verdict::Met);"
            );
            case.violation("a limit of a coalition's member counts as met", about(loss.to_f64()), &assertion)
        });
    }
    if let Ok(least) = least_noise(&accounts, &target) {
        let noise = Quotient::from_f64(least.noise.get());
        let there = unit.by(&noise.times(&noise));
        outcome.check(there.compare(limit) != Ordering::Greater, || {
            let assertion =
                format!("assert!(least_noise(&accounts, &target)?.noise.get() > {:?});", least.noise.get());
            case.violation("least noise without a member's limit", about(there.to_f64()), &assertion)
        });
    }
    outcome
}

/// For a node whose contributions may each increase or decrease: the largest loss over all signs, and the
/// loss when all increase.
fn signs(view: &crate::oracle::linear::Linear) -> Option<(Quotient, Quotient)> {
    let losses: Option<Vec<Quotient>> = view
        .truth()
        .losses
        .into_iter()
        .map(|loss| if let Loss::Finite(x) = loss { Some(x) } else { None })
        .collect();
    let losses = losses?;
    let first = losses.first()?.clone();
    let largest = losses.into_iter().reduce(|a, b| if b.cmp(&a) == Ordering::Greater { b } else { a })?;
    Some((first, largest))
}

/// Draws parameters of training, and whether they declare that all steps of a node change in the same
/// direction.
fn training_of(rng: &mut ChaCha8Rng, steps: usize) -> (String, bool) {
    let alike = rng.random_range(0..3) == 0;
    let mut text = format!("steps={steps}");
    if alike || rng.random_range(0..2) == 0 {
        text += &format!(",alike={}", u8::from(alike));
    }
    if rng.random_range(0..3) > 0 {
        text += pick(rng, &[",fixed=1", ",fixed=0"]);
    }
    (text, alike)
}

/// Training from the registry. Unless the parameters declare otherwise, each step may change in any
/// direction.
fn changes(rng: &mut ChaCha8Rng) -> Outcome {
    let n = rng.random_range(2..=5);
    let graph = graphs::random(rng, n);
    let steps = rng.random_range(1..=5);
    let observer = rng.random_range(0..n);
    let source = (observer + rng.random_range(1..n)) % n;
    let (text, alike) = training_of(rng, steps);
    let mut outcome = Outcome::new(Stratum::named("library", "changes of training"));
    let code = format!(
        "use ndp_account::Protocol;\nuse ndp_account::Observer;\nuse ndp_graph::{{GossipMatrix, Graph}};\n\
         let matrix = GossipMatrix::metropolis(&{});\n\
         let protocol = ndp_algos::registry::find(\"dsgd\")?.build(&matrix, &{text:?}.parse()?)?;\n\
         let account = protocol.account(&Observer::node({observer}))?;\n\
         let mu = account.profile({source}, ndp_dp::NoiseMultiplier::new(1.0)?)?.mu().ok_or(\"no mu\")?;",
        graphs::code(&graph)
    );
    let case = Case { size: [n as u64, steps as u64, graph.edge_count() as u64], code: &code };
    let Some((same, any)) = signs(&gossip::sgd(&Matrix::metropolis(&graph), steps, observer, source)) else {
        return outcome;
    };
    let found = (|| {
        let parameters: registry::Parameters = text.parse()?;
        let protocol = registry::find("dsgd")?.build(&GossipMatrix::metropolis(&graph), &parameters)?;
        let account = protocol.account(&Observer::node(observer))?;
        Ok::<_, ndp_account::Error>(account.profile(source, NoiseMultiplier::new(1.0)?)?.mu())
    })();
    let mu = match found {
        Ok(Some(mu)) => mu,
        other => {
            outcome.check(false, || case.violation("no mu for training", format!("{other:?}"), ""));
            return outcome;
        }
    };
    let claimed = mu.value().mu();
    let square = Quotient::from_f64(claimed).times(&Quotient::from_f64(claimed));
    let (truth, kind) = if alike {
        (same, "training below the truth")
    } else {
        (any, "a number for changes that nobody declared")
    };
    outcome.check(truth.cmp(&square) != Ordering::Greater, || {
        let near = truth.to_f64().sqrt();
        let what = format!("{observer} about {source}: mu {claimed} ({}), true {near}", mu.grade());
        case.violation(kind, what, &format!("assert!(mu.value().mu() >= {:?});", near.next_down()))
    });
    outcome
}
