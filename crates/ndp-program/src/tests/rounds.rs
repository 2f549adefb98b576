//! Statements of rounds, found in the steps of programs, beside the same programs value by value.

use super::*;
use crate::{Engine, MessageNoise, MixingMatrix};
use ndp_account::LinearProtocol;
use ndp_graph::generators::{complete_graph, cycle_graph, path_graph, star_graph};
use ndp_graph::random::erdos_renyi_graph;
use ndp_graph::{GossipMatrix, Graph, Weights};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Noise in rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// Every node adds noise to its value before every round.
    Fresh,
    Broadcast,
    PerLink,
}

const KINDS: [Kind; 3] = [Kind::Fresh, Kind::Broadcast, Kind::PerLink];

/// What is different from rounds in which all nodes do the same.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    /// One weight of one round is the next float.
    Ulp,
    /// A noise is added a second time, in a later round or to another message.
    NoiseReused,
    /// One noise is missing in one round.
    NoiseMissing,
    /// One noise has a slightly larger variance.
    OtherVariance,
    /// One noise is known to a second node.
    NoiseShared,
    /// Nobody knows one noise.
    NoiseUnknown,
    /// A node adds the noise of a neighbor.
    NoiseOfOther,
    /// Everybody hears one value.
    Broadcast,
    /// A neighbor also hears a value in another form.
    Observation,
    /// A node is left out by one neighbor in one round.
    MessageLeftOut,
    /// A message goes to somebody who is no neighbor.
    MessageTooMany,
    /// A node has two contributions.
    SecondUse,
    /// A contribution enters a second time.
    UsedAgain,
    /// A contribution enters twice as large.
    Scaled,
    /// A contribution may depend on what is received.
    Reads,
    /// A node leaves at the end.
    Leaves,
    /// A node averages what was sent to another one.
    OtherMessage,
    /// A node averages the value of a neighbor that carries no noise.
    OtherState,
    /// All nodes add noise that stays, beside that of messages.
    NoiseToo,
}

const FAULTS: [Fault; 16] = [
    Fault::Ulp,
    Fault::NoiseReused,
    Fault::NoiseMissing,
    Fault::OtherVariance,
    Fault::NoiseShared,
    Fault::NoiseUnknown,
    Fault::NoiseOfOther,
    Fault::Broadcast,
    Fault::Observation,
    Fault::MessageLeftOut,
    Fault::MessageTooMany,
    Fault::SecondUse,
    Fault::UsedAgain,
    Fault::Scaled,
    Fault::Reads,
    Fault::Leaves,
];

/// Those of noise on messages alone.
const OF_MESSAGES: [Fault; 3] = [Fault::OtherMessage, Fault::OtherState, Fault::NoiseToo];

/// A sum in one of the ways in which people write it.
fn summed(
    program: &mut Program,
    mut terms: Vec<(Weight, Value)>,
    rng: &mut ChaCha8Rng,
) -> Result<Value, ProgramError> {
    terms.shuffle(rng);
    if terms.len() < 2 || rng.random_bool(0.4) {
        return program.combine(terms);
    }
    if rng.random_bool(0.5) {
        // Term by term.
        let (weight, value) = terms.remove(0);
        let mut sum = program.combine([(weight, value)])?;
        for (weight, value) in terms {
            sum = program.combine([(Weight::from(1), sum), (weight, value)])?;
        }
        return Ok(sum);
    }
    // Halves, one of them twice as large.
    let rest = terms.split_off(terms.len() / 2);
    let doubled = terms.iter().map(|(weight, value)| (weight * &Weight::from(2), *value)).collect::<Vec<_>>();
    let (first, second) = (program.combine(doubled)?, program.combine(rest)?);
    program.combine([((1, 2), first), ((1, 1), second)])
}

/// The noise of each round: its variance, and the weight with which it is added.
const LAWS: [(f64, (i64, i64)); 4] = [(3.0, (1, 1)), (0.5, (1, 1)), (2.0, (3, 2)), (0.75, (-1, 1))];
/// The weight of the noise of a message, whose variance is that of the first noise.
const RATIO: (i64, i64) = (3, 8);

/// A node, and the noises that it draws.
struct Drawing<'g> {
    graph: &'g Graph,
    odd: usize,
    fault: Fault,
    last: Vec<Option<Value>>,
}

impl Drawing<'_> {
    /// A noise of `u`; `None` where it is missing.
    fn noise(
        &mut self,
        program: &mut Program,
        u: usize,
        variance: f64,
        last: bool,
    ) -> Result<Option<Value>, ProgramError> {
        let fault = if last && u == self.odd { self.fault } else { Fault::None };
        let other = self.graph.neighbors(u)[0] as usize;
        let (holders, variance) = match fault {
            Fault::NoiseShared => (vec![other, u], variance),
            Fault::NoiseUnknown => (vec![], variance),
            Fault::NoiseOfOther => (vec![other], variance),
            Fault::OtherVariance => (vec![u], variance.next_up()),
            _ => (vec![u], variance),
        };
        let drawn = program.noise(holders, variance)?;
        let before = self.last[u].replace(drawn);
        Ok(match fault {
            Fault::NoiseReused => before,
            Fault::NoiseMissing => None,
            _ => Some(drawn),
        })
    }
}

/// Rounds, written by somebody who orders nodes and messages as it happens.
fn written(
    matrix: &GossipMatrix,
    kind: Kind,
    rounds: usize,
    fault: Fault,
    rng: &mut ChaCha8Rng,
) -> Result<Program, Error> {
    let graph = matrix.graph();
    let n = graph.node_count();
    let exact = MixingMatrix::from(matrix);
    let mut program = Program::new(n)?;
    let mut order: Vec<usize> = (0..n).collect();
    let odd = rng.random_range(0..n);
    let mut drawing = Drawing { graph, odd, fault, last: vec![None; n] };
    let mut x: Vec<Option<Value>> = vec![None; n];
    let mut data: Vec<Option<Value>> = vec![None; n];
    order.shuffle(rng);
    for &u in &order {
        let is = |this: Fault| u == odd && fault == this;
        let c = program.contribute(u, if is(Fault::Reads) { Reads::Seen(None) } else { Reads::Nothing })?;
        let mut terms = vec![(Weight::from(if is(Fault::Scaled) { 2 } else { 1 }), c)];
        if is(Fault::SecondUse) {
            terms.push((Weight::from(1), program.contribute(u, Reads::Nothing)?));
        }
        let noise = drawing.noise(&mut program, u, LAWS[0].0, false)?;
        terms.extend(noise.map(|z| (Weight::from(1), z)));
        (x[u], data[u]) = (Some(summed(&mut program, terms, rng)?), Some(c));
    }
    let (mut x, data): (Vec<Value>, Vec<Value>) =
        (x.into_iter().flatten().collect(), data.into_iter().flatten().collect());
    for round in 0..rounds {
        let last = round + 1 == rounds;
        // What every node receives from whom.
        let mut received: Vec<Vec<(usize, Value)>> = vec![Vec::new(); n];
        order.shuffle(rng);
        for &u in &order {
            let is = |this: Fault| last && u == odd && fault == this;
            let mut to: Vec<usize> = graph.neighbors(u).iter().map(|&v| v as usize).collect();
            to.shuffle(rng);
            let mut message = None;
            for (k, &v) in to.iter().enumerate() {
                if message.is_none() || kind == Kind::PerLink {
                    let value = match kind {
                        Kind::Fresh => x[u],
                        _ => {
                            let noise = drawing.noise(&mut program, u, LAWS[0].0, last && k == 0)?;
                            let mut terms = vec![(Weight::from(1), x[u])];
                            terms.extend(noise.map(|z| (Weight::from(RATIO), z)));
                            terms.shuffle(rng);
                            program.combine(terms)?
                        }
                    };
                    message = Some(value);
                }
                let Some(message) = message else { continue };
                if !(is(Fault::MessageLeftOut) && k == 0) {
                    program.send(u, v, message)?;
                }
                received[v].push((u, message));
            }
            let Some(message) = message else { continue };
            let stranger = (0..n).find(|&v| v != u && !graph.has_edge(u, v));
            if let Some(v) = stranger.filter(|_| is(Fault::MessageTooMany)) {
                program.send(u, v, message)?;
            }
            if is(Fault::Broadcast) {
                program.broadcast(u, message)?;
            }
            if is(Fault::Observation) {
                let shown = if kind == Kind::Fresh { program.combine([(2, message)])? } else { x[u] };
                program.send(u, to[0], shown)?;
            }
        }
        if last {
            break;
        }
        let mut next = x.clone();
        order.shuffle(rng);
        for &u in &order {
            let last = round + 2 == rounds;
            let is = |this: Fault| last && u == odd && fault == this;
            let first = graph.neighbors(u)[0] as usize;
            let of = |v: usize| {
                let to = match (v == first, fault) {
                    // Another neighbor of the sender.
                    (true, Fault::OtherMessage) if is(fault) => {
                        graph.neighbors(v).iter().map(|&w| w as usize).find(|&w| w != u).unwrap_or(u)
                    }
                    (true, Fault::OtherState) if is(fault) => return x[v],
                    _ => u,
                };
                received[to].iter().find(|(w, _)| *w == v).map_or(x[v], |(_, message)| *message)
            };
            let mut terms: Vec<(Weight, Value)> =
                exact.entries(u).into_iter().map(|(v, weight)| (weight, of(v))).collect();
            if last && fault == Fault::NoiseToo {
                terms.push((Weight::from(1), program.noise([u], 1)?));
            }
            if is(Fault::Ulp) {
                terms[0].0 = &terms[0].0 * &Weight::from(1.0 + f64::EPSILON);
            }
            if is(Fault::UsedAgain) {
                terms.push((Weight::from(1), data[u]));
            }
            if kind == Kind::Fresh {
                let (variance, weight) = LAWS[(round + 1) % LAWS.len()];
                let noise = drawing.noise(&mut program, u, variance, last)?;
                terms.extend(noise.map(|z| (Weight::from(weight), z)));
            }
            next[u] = summed(&mut program, terms, rng)?;
        }
        x = next;
    }
    if fault == Fault::Leaves {
        program.leave(odd)?;
    }
    Ok(program)
}

/// The same rounds as a statement.
fn said(matrix: &GossipMatrix, kind: Kind, rounds: usize) -> VectorProgram<'_> {
    let new = VectorProgram::new(matrix.node_count());
    let noisy = |kind| new.clone().noise(LAWS[0].0).noisy_rounds(matrix, rounds, kind, 0.375);
    match kind {
        Kind::Broadcast => noisy(MessageNoise::Broadcast),
        Kind::PerLink => noisy(MessageNoise::PerLink),
        Kind::Fresh => (0..rounds).fold(new, |said, round| {
            let (variance, (a, b)) = LAWS[round % LAWS.len()];
            said.noise(variance * (a * a) as f64 / (b * b) as f64).rounds(matrix, 1)
        }),
    }
}

fn graphs(rng: &mut ChaCha8Rng) -> Result<Vec<Graph>, Error> {
    let mut graphs = vec![path_graph(4)?, cycle_graph(6)?, star_graph(4)?, complete_graph(4)?];
    while graphs.len() < 6 {
        graphs.push(erdos_renyi_graph(8, 0.4, rng)?);
    }
    Ok(graphs)
}

fn matrices(graph: &Graph) -> Result<Vec<GossipMatrix>, Error> {
    let metropolis = GossipMatrix::metropolis(graph);
    let most = (0..graph.node_count()).map(|u| graph.degree(u)).max().unwrap_or(1);
    let given = GossipMatrix::from_edge_weights(graph, |u, v| (1 + (u + v) % 3) as f64 / (16 * most) as f64)?;
    let mut all = vec![metropolis.lazy(0.3)?, given, GossipMatrix::new(graph, Weights::SumDegree)?];
    all.push(GossipMatrix::new(graph, Weights::MaxDegree)?.lazy(0.5)?);
    all.extend([metropolis, GossipMatrix::new(graph, Weights::MaxDegree)?]);
    Ok(all)
}

/// Statements are found again in what they write out, exactly, and with all numbers as they are.
#[test]
fn statements_come_back_from_their_programs() -> Outcome {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut met = 0;
    for graph in graphs(&mut rng)? {
        let matrices = matrices(&graph)?;
        for (k, matrix) in matrices.iter().enumerate() {
            let new = || VectorProgram::new(graph.node_count());
            let other = &matrices[(k + 1) % matrices.len()];
            for said in [
                new().noise(1.0).rounds(matrix, 1),
                new().noise(0.3).rounds(matrix, 4),
                new().noise(1.0).rounds(matrix, 2).noise(0.1).rounds(matrix, 2),
                said(matrix, Kind::Fresh, 5),
                said(matrix, Kind::Broadcast, 4),
                said(matrix, Kind::PerLink, 3),
                // Other connections, back and forth.
                new().noise(1.0).rounds(matrix, 2).rounds(other, 1).noise(0.7).rounds(matrix, 2),
            ] {
                let program = said.program()?;
                let stated = program.stated().ok_or(format!("{graph:?} {k} {said:?}"))?;
                let found = stated.vector();
                // Losses are in units of the first noise. Where nobody uses its own value, noise on messages
                // is found as noise that stays, together with the first one.
                let unit = said.variances()[0] / found.variances()[0];
                let rank = |said: &VectorProgram<'_>| -> Result<usize, Error> {
                    Ok(said.coalition_loss(&[1, 0])?.rank - said.drawn_by(&[0, 1]).len())
                };
                assert_eq!(rank(&found)?, rank(&said)?);
                let (found, said) = (found.coalition_loss(&[1, 0])?, said.coalition_loss(&[1, 0])?);
                for u in 2..graph.node_count() {
                    let ((a, b), (c, d)) = (found.enclosure(u)?, said.enclosure(u)?);
                    assert!(
                        (a * unit - c).abs() <= 1e-12 && (b * unit - d).abs() <= 1e-12,
                        "{a} {b} {c} {d}"
                    );
                    met += usize::from(0.0 < c && d < 1.0);
                }
            }
        }
    }
    assert!(met > 250, "{met}");
    Ok(())
}

/// Programs as people write them, read from their text, have the losses of their statements, and those that
/// follow value by value.
#[test]
fn rounds_are_found_in_programs_and_agree_with_rows() -> Outcome {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let by =
        |powers_from| AccountOptions { powers_from, sweeps_from: usize::MAX, ..AccountOptions::default() };
    let mut met = 0;
    for graph in graphs(&mut rng)?.into_iter().filter(Graph::is_connected) {
        for (matrix, kind) in matrices(&graph)?.iter().flat_map(|matrix| KINDS.map(|kind| (matrix, kind))) {
            for rounds in [2, 4] {
                let program = written(matrix, kind, rounds, Fault::None, &mut rng)?;
                let program = Program::read(program.text().as_slice())?;
                assert!(program.stated().is_some(), "{kind:?} {matrix:?}");
                let said = said(matrix, kind, rounds);
                for members in [vec![0], vec![2, 1]] {
                    let observer = Observer::coalition(&members);
                    let found = by_statement(&program, &observer, &by(0))?;
                    let truth = program.account_with(&observer, &by(usize::MAX))?;
                    let report = said.coalition_loss(&members)?;
                    assert_eq!((found.engine, found.rank), (said.engine().0, truth.rank));
                    for u in (0..graph.node_count()).filter(|u| !members.contains(u)) {
                        let set = SensitivitySet::UseLevel;
                        let (found, truth) = (found.loss(u, &set)?, truth.loss(u, &set)?);
                        assert!(found.lower <= truth.value() && truth.lower <= found.value());
                        assert!((found.value() - truth.value()).abs() <= 2e-9, "{found:?} {truth:?}");
                        let (low, high) = report.enclosure(u)?;
                        let near = |a: f64, b: f64| (a * LAWS[0].0 - b).abs() <= 1e-12;
                        assert!(
                            near(found.lower, low) && near(found.value(), high),
                            "{found:?} {low} {high}"
                        );
                        met += 1;
                    }
                }
            }
        }
    }
    assert!(met > 500, "{met}");
    Ok(())
}

#[test]
fn programs_that_are_nearly_rounds_are_not_taken_for_them() -> Outcome {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let graph = loop {
        let drawn = erdos_renyi_graph(8, 0.4, &mut rng)?;
        if (0..8).all(|u| drawn.degree(u) > 1 && drawn.degree(u) < 7) && drawn.is_connected() {
            break drawn;
        }
    };
    for matrix in matrices(&graph)?.iter().take(3) {
        for kind in KINDS {
            for _ in 0..4 {
                assert!(written(matrix, kind, 3, Fault::None, &mut rng)?.stated().is_some());
                let more = OF_MESSAGES.into_iter().filter(|fault| {
                    !matches!((kind, fault), (Kind::Fresh, _) | (Kind::Broadcast, Fault::OtherMessage))
                });
                for fault in FAULTS.into_iter().chain(more) {
                    let program = written(matrix, kind, 3, fault, &mut rng)?;
                    assert!(program.stated().is_none(), "{kind:?} {fault:?}");
                }
            }
        }
    }
    Ok(())
}

/// Noise too weak for floats: sweeps cannot tell, and the answer is that of the statement, end by end.
#[test]
fn statements_answer_where_sweeps_cannot() -> Outcome {
    let matrix = GossipMatrix::metropolis(&erdos_renyi_graph(9, 0.6, &mut ChaCha8Rng::seed_from_u64(4))?);
    let new = || VectorProgram::new(9).noise(1.0);
    let weak = |kind| new().noisy_rounds(&matrix, 5, kind, 1e-14);
    let fresh = (0..5).fold(new().rounds(&matrix, 1), |said, _| said.noise(1e-28).rounds(&matrix, 1));
    let options = AccountOptions { powers_from: 0, sweeps_from: 0, ..AccountOptions::default() };
    for said in [fresh, weak(MessageNoise::Broadcast), weak(MessageNoise::PerLink)] {
        let report = said.coalition_loss(&[3])?;
        let account = said.program()?.account_with(&Observer::node(3), &options)?;
        assert_eq!(
            (account.engine, account.bits, account.failure),
            (Engine::Rows, report.bits, report.failure)
        );
        assert!(report.bits > 53, "{report:?}");
        for u in (0..9).filter(|&u| u != 3) {
            let (loss, (low, high)) = (account.loss(u, &SensitivitySet::UseLevel)?, report.enclosure(u)?);
            assert!((loss.lower - low).abs() <= 1e-15 && (loss.value() - high).abs() <= 1e-15, "{loss:?}");
        }
    }
    Ok(())
}

/// Variances that are no floats, in ratios of floats and in others; and noise on messages whose deviation is
/// no rational multiple of that of the values.
#[test]
fn ratios_of_noises_are_exact() -> Outcome {
    let matrix = GossipMatrix::metropolis(&cycle_graph(6)?);
    let fresh = |variances: [(i64, i64); 3]| -> Result<Program, Error> {
        let mut program = Program::new(6)?;
        let mut x = program.contribute_all(Reads::Nothing)?;
        for variance in variances {
            let z = program.noise_all(variance)?;
            x = program.add_all(&x, &z)?;
            program.send_to_neighbors(matrix.graph(), &x)?;
            x = program.gossip(&matrix, &x)?;
        }
        Ok(program)
    };
    let program = fresh([(1, 3), (1, 12), (2, 3)])?;
    let stated = program.stated().ok_or("no statement")?;
    assert_eq!(stated.vector().variances(), [4.0, 1.0, 8.0]);
    let options = AccountOptions { powers_from: 0, ..AccountOptions::default() };
    let found = by_statement(&program, &Observer::node(0), &options)?;
    let truth = program.account(&Observer::node(0))?;
    for u in 1..6 {
        let of = |account: &ProgramAccount| account.loss(u, &SensitivitySet::UseLevel);
        let (found, truth) = (of(&found)?, of(&truth)?);
        assert!(found.lower <= truth.value() && truth.lower <= found.value(), "{found:?} {truth:?}");
    }
    assert!(fresh([(1, 1), ((1 << 60) + 1, 1 << 60), (1, 1)])?.stated().is_none());
    for (variance, rational) in [((9, 4), true), ((2, 1), false)] {
        let mut program = Program::new(6)?;
        let (c, z) = (program.contribute_all(Reads::Nothing)?, program.noise_all(1)?);
        let mut x = program.add_all(&c, &z)?;
        for _ in 0..3 {
            let z = program.noise_all(variance)?;
            let message = program.add_all(&x, &z)?;
            program.send_to_neighbors(matrix.graph(), &message)?;
            let mean = |u: usize| {
                [(u, x[u]), ((u + 1) % 6, message[(u + 1) % 6]), ((u + 5) % 6, message[(u + 5) % 6])]
            };
            x = (0..6)
                .map(|u| program.combine(mean(u).map(|(_, value)| ((1, 3), value))))
                .collect::<Result<_, _>>()?;
        }
        assert_eq!(program.stated().is_some(), rational, "{variance:?}");
    }
    Ok(())
}
