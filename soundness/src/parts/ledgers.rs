//! Ledgers of several runs. Later runs are over the same people, perhaps in another order, or over other
//! people.
//!
//! The truth is computed by name: what `v` learned about `u`, added up in rationals over the runs in which
//! both took part.

use super::losses::Case;
use crate::draw::graphs;
use crate::draw::numbers::{literal, pick};
use crate::oracle::gossip::{self, Matrix};
use crate::oracle::linear::Loss;
use crate::oracle::rational::Quotient;
use crate::part::{Outcome, Part, Stratum};
use ndp_account::{NodeNames, Observer, PairLedgers, Protocol, Target, named};
use ndp_algos::gossip::SynchronousGossip;
use ndp_dp::{Adaptivity, Grade, Measure, NoiseMultiplier, Verdict};
use ndp_graph::{GossipMatrix, Graph};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::Write;

pub(crate) struct Ledgers;

const PEOPLE: [&str; 8] = ["ann", "bob", "carol", "dan", "eve", "frank", "gina", "hal"];

impl Part for Ledgers {
    fn name(&self) -> &'static str {
        "ledgers"
    }

    fn what(&self) -> &'static str {
        "several runs over people in permuted order, others, more or fewer; sums by name in rationals"
    }

    fn case(&self, _: u64, rng: &mut ChaCha8Rng) -> Outcome {
        let runs = draw(rng);
        let mut outcome =
            Outcome::new(Stratum::new(runs.iter().map(|run| run.names.len()).max().unwrap_or(0), runs.len()));
        compare(&mut outcome, &runs, pick(rng, &[0.1, 0.5, 1.0, 2.0]));
        outcome
    }

    fn short(&self) -> u64 {
        1500
    }
}

/// A run: its people in the order of the nodes of its graph, its protocol and its noise.
struct Run {
    names: Vec<&'static str>,
    graph: Graph,
    rounds: usize,
    noise: f64,
}

fn draw(rng: &mut ChaCha8Rng) -> Vec<Run> {
    let n = rng.random_range(2..=5);
    let mut all = PEOPLE;
    all.shuffle(rng);
    let style = rng.random_range(0..4);
    let count = rng.random_range(1..=3);
    let mut runs = Vec::with_capacity(count);
    for _ in 0..count {
        let mut names: Vec<&'static str> = all[..n].to_vec();
        match style {
            // The same people in the same order.
            0 => {}
            // The same people in another order.
            1 | 2 => names.shuffle(rng),
            // Other people, more of them, or fewer.
            _ => {
                names = PEOPLE.to_vec();
                names.shuffle(rng);
                names.truncate(rng.random_range(2..=5));
            }
        }
        let graph = graphs::random(rng, names.len());
        let labels = names.iter().map(|&name| name.to_owned()).collect();
        let Ok(graph) = graph.with_labels(labels) else { continue };
        let rounds = rng.random_range(1..=3);
        runs.push(Run { names, graph, rounds, noise: pick(rng, &[1.0, 2.0, 4.0, 0.5]) });
    }
    runs
}

/// What each person learns about each other in the given runs, by name: `Σ unit / σ²`.
fn truth<'a>(runs: impl Iterator<Item = &'a Run>) -> BTreeMap<(&'static str, &'static str), Quotient> {
    let mut sums: BTreeMap<(&str, &str), Quotient> = BTreeMap::new();
    for run in runs {
        let matrix = Matrix::metropolis(&run.graph);
        let square = Quotient::from_f64(run.noise * run.noise);
        for (v, observer) in run.names.iter().enumerate() {
            let view = gossip::fixed(&matrix, run.rounds, &[v], true);
            for (loss, source) in view.truth().losses.iter().zip(&run.names) {
                if let Loss::Finite(unit) = loss {
                    let sum = sums.entry((*source, *observer)).or_insert_with(Quotient::zero);
                    *sum = sum.plus(&unit.by(&square));
                }
            }
        }
    }
    sums
}

fn compare(outcome: &mut Outcome, runs: &[Run], limit: f64) {
    let listed = |run: &Run| NodeNames::new(run.names.iter().copied());
    let Some(Ok(first)) = runs.first().map(listed) else { return };
    let Ok(mut ledgers) = PairLedgers::with_limits(first, Target::worst(Measure::Gaussian, limit)) else {
        return;
    };
    let quoted = |run: &Run| run.names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    let mut code = format!(
        "use ndp_account::Protocol;\nuse ndp_account::{{NodeNames, Observer, PairLedgers, Target, named}};\n\
         use ndp_algos::gossip::SynchronousGossip;\nuse ndp_dp::{{Adaptivity, Measure, NoiseMultiplier}};\n\
         use ndp_graph::{{GossipMatrix, Graph}};\n\
         let mut ledgers = PairLedgers::with_limits(NodeNames::new([{}])?, Target::worst(Measure::Gaussian, {}))?;",
        runs.first().map_or_else(String::new, quoted),
        literal(limit)
    );
    let mut written = Vec::new();
    for run in runs {
        let protocol = SynchronousGossip::new(GossipMatrix::metropolis(&run.graph), run.rounds);
        let Ok(noise) = NoiseMultiplier::new(run.noise) else { return };
        write!(
            code,
            "\nlet gossip = SynchronousGossip::new(GossipMatrix::metropolis(&{}), {});\n\
             let names = NodeNames::new([{}])?;\n\
             let account = |v| named(gossip.account(&Observer::node(v))?, names.clone());\n\
             let accounts = (0..{}).map(account).collect::<Result<Vec<_>, _>>()?;\n\
             ledgers.record(\"run\", &accounts, NoiseMultiplier::new({})?, Adaptivity::Fixed)?;",
            graphs::code(&run.graph),
            run.rounds,
            quoted(run),
            run.names.len(),
            literal(run.noise)
        )
        .expect("writing to a String never fails");
        // The ledger records a run completely or not at all.
        let mut record = || {
            let names = listed(run)?;
            let account = |v| named(protocol.account(&Observer::node(v))?, names.clone());
            let accounts = (0..run.names.len()).map(account).collect::<Result<Vec<_>, _>>()?;
            ledgers.record("run", &accounts, noise, Adaptivity::Fixed)
        };
        let recorded = record();
        let sorted = |run: &Run| {
            let mut names = run.names.clone();
            names.sort_unstable();
            names
        };
        // A run must be refused if and only if it is over other people.
        let same = runs.first().is_some_and(|first| sorted(first) == sorted(run));
        outcome.check(recorded.is_ok() == same, || {
            let case = Case { size: [runs.len() as u64, run.names.len() as u64, 0], code: &code };
            case.violation("the same people refused, or others taken", format!("{recorded:?}"), "")
        });
        if recorded.is_ok() {
            written.push(run);
        }
    }
    let Some(first) = written.first() else { return };
    let sums = truth(written.iter().copied());
    let n = written.iter().map(|run| run.names.len()).max().unwrap_or(0);
    let size = [written.len() as u64, n as u64, code.len() as u64];
    let case = Case { size, code: &code };
    for ((source, observer), sum) in &sums {
        let at = |name: &str| first.names.iter().position(|other| *other == name);
        // Nodes are numbered as in the first run, so people who are not in that run cannot be asked about.
        let (Some(u), Some(v)) = (at(source), at(observer)) else { continue };
        let spent = match ledgers.pair(u, &Observer::node(v)).map(ndp_dp::Ledger::spent) {
            Some(Ok(spent)) => spent.mu(),
            _ => None,
        };
        let (mu, exact) = spent.map_or((0.0, true), |mu| (mu.value().mu(), mu.grade() == Grade::Exact));
        let square = Quotient::from_f64(mu).times(&Quotient::from_f64(mu));
        let near = sum.to_f64();
        let what = || {
            let grade = if exact { "Exact" } else { "UpperBound" };
            format!("{observer} about {source}: {grade} mu {mu:e}, true {:e}", near.sqrt())
        };
        outcome.check(sum.cmp(&square) != Ordering::Greater, || {
            let kind = if mu * mu < near * (1.0 - 1e-9) {
                "spent below the sum by name"
            } else {
                "spent below the sum by rounding"
            };
            let assertion = format!(
                "let spent = ledgers.pair({u}, &Observer::node({v})).ok_or(\"nothing\")?.spent()?;\n\
                 assert!(spent.mu().ok_or(\"no mu\")?.value().mu() >= {:?}); // {observer} about {source}",
                near.sqrt().next_down()
            );
            case.violation(kind, what(), &assertion)
        });
        outcome.check(!exact || mu * mu <= near + 1e-9 * near.max(1.0), || {
            case.violation("exact above the sum by name", what(), "")
        });
    }
    let most = sums.values().map(Quotient::to_f64).fold(0.0, f64::max);
    let met = ledgers.verdict().is_ok_and(|verdict| verdict == Verdict::Met);
    outcome.check(!met || most <= limit * limit * (1.0 + 1e-9), || {
        let what = format!("met for mu {limit}, but a pair spent {:e}", most.sqrt());
        case.violation(
            "met, but a pair spent more",
            what,
            "assert_ne!(ledgers.verdict()?, ndp_dp::Verdict::Met);",
        )
    });
}
