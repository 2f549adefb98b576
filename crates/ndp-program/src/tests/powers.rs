//! Powers of one matrix, found in the steps of a program, beside the same program row by row.

use super::*;
use crate::constructors::muffliato;
use crate::{Engine, MixingMatrix};
use ndp_graph::generators::{complete_graph, cycle_graph, path_graph, star_graph};
use ndp_graph::random::erdos_renyi_graph;
use ndp_graph::{GossipMatrix, Graph};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// What is different from noise once and then powers of one matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    /// A node leaves one neighbor out in one round.
    MessageLeftOut,
    /// A message goes to somebody who is no neighbor.
    MessageTooMany,
    /// One weight is different in the last round.
    OtherWeight,
    /// One noise has another variance.
    OtherVariance,
    /// A noise is known to a second node.
    SharedNoise,
    /// A node has a second use of its data.
    SecondUse,
    /// A second noise in a later round.
    LaterNoise,
    /// A contribution may depend on what is received.
    Reads,
    /// Everybody hears a value.
    Broadcast,
    /// A node sends its noise alone.
    NoiseSent,
}

const FAULTS: [Fault; 10] = [
    Fault::MessageLeftOut,
    Fault::MessageTooMany,
    Fault::OtherWeight,
    Fault::OtherVariance,
    Fault::SharedNoise,
    Fault::SecondUse,
    Fault::LaterNoise,
    Fault::Reads,
    Fault::Broadcast,
    Fault::NoiseSent,
];

/// Gossip, written by somebody who orders nodes and messages as it happens.
fn written(
    matrix: &GossipMatrix,
    rounds: usize,
    variance: f64,
    fault: Fault,
    rng: &mut ChaCha8Rng,
) -> Result<Program, Error> {
    let graph = matrix.graph();
    let n = graph.node_count();
    let exact = MixingMatrix::from(matrix);
    let mut program = Program::new(n)?;
    let mut order: Vec<usize> = (0..n).collect();
    let mut y = vec![None; n];
    order.shuffle(rng);
    for (at, &u) in order.iter().enumerate() {
        let odd = at == 0;
        let reads = if odd && fault == Fault::Reads { Reads::Seen(None) } else { Reads::Nothing };
        let variance = if odd && fault == Fault::OtherVariance { 2.0 * variance } else { variance };
        let holders = if odd && fault == Fault::SharedNoise { vec![u, (u + 1) % n] } else { vec![u] };
        let (x, z) = (program.contribute(u, reads)?, program.noise(holders, variance)?);
        if odd && fault == Fault::SecondUse {
            let second = program.contribute(u, Reads::Nothing)?;
            y[u] = Some(program.add(&[x, second, z])?);
        } else {
            y[u] = Some(program.add(&[z, x])?);
        }
        if odd && fault == Fault::NoiseSent {
            program.send(u, graph.neighbors(u)[0] as usize, z)?;
        }
    }
    let mut y: Vec<Value> = y.into_iter().flatten().collect();
    for round in 0..rounds {
        order.shuffle(rng);
        for (at, &u) in order.iter().enumerate() {
            let odd = at == 0 && round + 1 == rounds;
            if odd && fault == Fault::Broadcast {
                program.broadcast(u, y[u])?;
            }
            for (k, &v) in graph.neighbors(u).iter().enumerate() {
                if !(odd && k == 0 && fault == Fault::MessageLeftOut) {
                    program.send(u, v as usize, y[u])?;
                }
            }
            let stranger = (0..n).find(|&v| v != u && !graph.has_edge(u, v));
            if let Some(v) = stranger.filter(|_| odd && fault == Fault::MessageTooMany) {
                program.send(u, v, y[u])?;
            }
        }
        if round + 1 == rounds {
            break;
        }
        let mut next = y.clone();
        order.shuffle(rng);
        for (at, &u) in order.iter().enumerate() {
            let odd = at == 0 && round + 2 == rounds;
            let mut terms: Vec<(Weight, Value)> =
                exact.entries(u).into_iter().map(|(v, weight)| (weight, y[v])).collect();
            if odd && fault == Fault::OtherWeight {
                terms[0].0 = Weight::from((1, 97));
            }
            if odd && fault == Fault::LaterNoise {
                terms.push((Weight::from(1), program.noise([u], variance)?));
            }
            terms.shuffle(rng);
            next[u] = program.combine(terms)?;
        }
        y = next;
    }
    Ok(program)
}

/// Whether a program states powers of one matrix.
fn is_powers(program: &Program) -> bool {
    program.stated().is_some_and(|stated| stated.vector().engine().0 == Engine::Powers)
}

fn graphs(rng: &mut ChaCha8Rng) -> Result<Vec<Graph>, Error> {
    let mut graphs = vec![path_graph(4)?, cycle_graph(6)?, star_graph(4)?, complete_graph(4)?];
    while graphs.len() < 6 {
        let drawn = erdos_renyi_graph(7, 0.5, rng)?;
        if drawn.is_connected() {
            graphs.push(drawn);
        }
    }
    Ok(graphs)
}

fn matrices(graph: &Graph) -> Result<Vec<GossipMatrix>, Error> {
    let metropolis = GossipMatrix::metropolis(graph);
    let most = (0..graph.node_count()).map(|u| graph.degree(u)).max().unwrap_or(1);
    let given = GossipMatrix::from_edge_weights(graph, |u, v| (1 + (u + v) % 2) as f64 / (16 * most) as f64)?;
    Ok(vec![metropolis, given])
}

#[test]
fn powers_are_found_in_programs_and_agree_with_rows() -> Outcome {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut met = 0;
    for graph in graphs(&mut rng)? {
        for matrix in matrices(&graph)? {
            for (rounds, variance) in [(2, 1.0), (3, 0.25), (5, 3.0)] {
                let program = written(&matrix, rounds, variance, Fault::None, &mut rng)?;
                let powers = AccountOptions { powers_from: 0, ..AccountOptions::default() };
                let rows = AccountOptions { powers_from: usize::MAX, ..AccountOptions::default() };
                for observer in [Observer::node(0), Observer::coalition(&[2, 1])] {
                    let (found, truth) =
                        (program.account_with(&observer, &powers)?, program.account_with(&observer, &rows)?);
                    assert_eq!((found.engine, truth.engine), (Engine::Powers, Engine::Rows));
                    assert_eq!(found.rank, truth.rank);
                    for u in (0..graph.node_count()).filter(|u| !observer.contains(*u)) {
                        for set in
                            [SensitivitySet::UseLevel, SensitivitySet::SameDirection, SensitivitySet::Signs]
                        {
                            let (found, truth) = (found.loss(u, &set)?, truth.loss(u, &set)?);
                            let apart = (found.value() - truth.value()).abs();
                            assert!(apart <= 2e-9 * truth.value().max(1.0), "{found:?} {truth:?}");
                            assert!(found.lower <= truth.value() && truth.lower <= found.value());
                            met += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(met > 500, "{met}");
    Ok(())
}

#[test]
fn programs_that_are_nearly_powers_are_not_taken_for_them() -> Outcome {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    for matrix in matrices(&erdos_renyi_graph(8, 0.5, &mut rng)?)? {
        assert!(is_powers(&written(&matrix, 3, 1.0, Fault::None, &mut rng)?));
        for fault in FAULTS {
            let program = written(&matrix, 3, 1.0, fault, &mut rng)?;
            assert!(program.stated().is_none(), "{fault:?}");
        }
    }
    // Another matrix in every round, and one whose entries no gossip matrix has.
    let (a, b) = (path_graph(4)?, cycle_graph(4)?);
    let mut program = Program::new(4)?;
    let (x, z) = (program.contribute_all(Reads::Nothing)?, program.noise_all(1)?);
    let mut y = program.add_all(&x, &z)?;
    for graph in [&a, &b, &a] {
        program.send_to_neighbors(graph, &y)?;
        y = program.gossip(&GossipMatrix::metropolis(graph), &y)?;
    }
    assert!(!is_powers(&program));
    let third = || Weight::from((1, 7));
    let rows: Vec<_> = (0..4)
        .map(|u| vec![((u + 3) % 4, third()), (u, Weight::from((5, 7))), ((u + 1) % 4, third())])
        .collect();
    let mut program = Program::new(4)?;
    let (x, z) = (program.contribute_all(Reads::Nothing)?, program.noise_all(1)?);
    let mut y = program.add_all(&x, &z)?;
    for _ in 0..3 {
        program.send_to_neighbors(&b, &y)?;
        y = program.gossip(&MixingMatrix::try_from(rows.as_slice())?, &y)?;
    }
    assert!(!is_powers(&program));
    Ok(())
}

/// What an outsider overhears, and directions that are named, are answered by other engines.
#[test]
fn other_questions_go_to_other_engines() -> Outcome {
    let program = muffliato(&GossipMatrix::metropolis(&cycle_graph(5)?), 3)?;
    let powers = AccountOptions { powers_from: 0, ..AccountOptions::default() };
    let tapped = Observer::outsider().tapping(&[(0, 1)]);
    assert_eq!(program.account_with(&tapped, &powers)?.engine, Engine::Rows);
    let directions = AccountOptions { directions: vec![(2, vec![Weight::from(1)])], ..powers.clone() };
    assert_eq!(program.account_with(&Observer::node(0), &directions)?.engine, Engine::Rows);
    assert_eq!(program.account_with(&Observer::node(0), &powers)?.engine, Engine::Powers);
    Ok(())
}
