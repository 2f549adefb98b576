//! Section 5 of the specification: what can be left out of a program, or written differently, without
//! changing a loss; and section 1.5: more noise never reveals more.

use super::*;
use crate::constructors::muffliato;
use ndp_graph::generators::grid_2d_graph;
use ndp_graph::{GossipMatrix, Graph};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

type Outcome = Result<(), Box<dyn std::error::Error>>;

const USE: SensitivitySet = SensitivitySet::UseLevel;

/// Checks that both enclosures of every node contain a common number, and are narrow.
#[track_caller]
fn assert_same(a: &ProgramAccount, b: &ProgramAccount, nodes: impl IntoIterator<Item = usize>) {
    for u in nodes {
        for set in [USE, SensitivitySet::SameDirection, SensitivitySet::Vectors { dimension: 9 }] {
            match (a.verdict(u, &set), b.verdict(u, &set)) {
                (Ok(NodeVerdict::Bounded(x)), Ok(NodeVerdict::Bounded(y))) => {
                    let close = x.lower <= y.value() * (1.0 + 1e-15) && y.lower <= x.value() * (1.0 + 1e-15);
                    assert!(close && x.value() - x.lower <= 1e-8 * x.value().max(1.0), "{u}: {x:?} {y:?}");
                }
                (Ok(NodeVerdict::Noiseless { .. }), Ok(NodeVerdict::Noiseless { .. })) => {}
                (x, y) => panic!("{u} {set:?}: {x:?} {y:?}"),
            }
        }
    }
}

/// 5.1: only nodes within as many hops as there are rounds matter, 25 of the 49 nodes of a grid. The rows of
/// the matrix are restricted to them, and not scaled up. For nodes farther away the loss is 0.
#[test]
fn what_is_too_far_is_left_out() -> Outcome {
    let graph = grid_2d_graph(7, 7)?;
    let (center, rounds) = (24, 3_usize);
    let matrix = GossipMatrix::metropolis(&graph);
    let whole = muffliato(&matrix, rounds)?.account(&Observer::node(center))?;
    let hops = graph.distances(center);
    let ball: Vec<usize> = (0..49).filter(|&u| hops[u].is_some_and(|d| d as usize <= rounds)).collect();
    assert_eq!(ball.len(), 25);
    let place = |u: usize| ball.iter().position(|&x| x == u);
    let mixing = MixingMatrix::from(&matrix);
    let row = |&u: &usize| -> Vec<(usize, Weight)> {
        mixing.entries(u).into_iter().filter_map(|(v, x)| Some((place(v)?, x))).collect()
    };
    let cut = MixingMatrix::try_from(ball.iter().map(row).collect::<Vec<_>>().as_slice())?;
    let edges = graph.edges().filter_map(|(a, b)| Some((place(a)?, place(b)?)));
    let inside = Graph::from_edges(ball.len(), edges)?;
    let mut program = Program::new(ball.len())?;
    let x = program.contribute_all(Reads::Nothing)?;
    let z = program.noise_all(1)?;
    let mut y = program.add_all(&x, &z)?;
    for _ in 0..rounds {
        program.send_to_neighbors(&inside, &y)?;
        y = program.gossip(&cut, &y)?;
    }
    let part = program.account(&Observer::node(place(center).expect("the center")))?;
    for u in (0..49).filter(|&u| u != center) {
        let loss = whole.loss(u, &USE)?;
        match place(u) {
            Some(at) => {
                let other = part.loss(at, &USE)?;
                assert!(
                    loss.lower <= other.value() && other.lower <= loss.value(),
                    "{u}: {loss:?} {other:?}"
                );
                assert!(loss.value() > 0.0 && loss.value.grade() == ndp_dp::Grade::Exact);
            }
            None => assert_eq!((loss.lower, loss.value()), (0.0, 0.0)),
        }
    }
    Ok(())
}

/// A program on four nodes with shared noises, several uses and messages; `variant` writes the same program
/// differently.
fn variant(seed: u64, variant: usize) -> Result<Program, ProgramError> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let nodes = 4;
    let mut program = Program::new(nodes)?;
    let mut parts = Vec::new();
    for u in 0..nodes {
        for _ in 0..rng.random_range(1..3) {
            parts.push(program.contribute(u, Reads::Nothing)?);
        }
    }
    for u in 0..nodes {
        let variances = (rng.random_range(1..5i64), rng.random_range(1..5i64));
        let noise = if variant == 1 {
            // 5.4: noises that always occur together are one noise, whose variance is the sum.
            let (a, b) = (program.noise([u], (variances.0, 6))?, program.noise([u], (variances.1, 6))?);
            program.add(&[a, b])?
        } else {
            program.noise([u], (variances.0 + variances.1, 6))?
        };
        parts.push(noise);
    }
    let known = program.noise([0], 1)?;
    parts.push(known);
    if variant == 2 {
        // 5.2: node 0 knows its noise; here everybody is told.
        program.broadcast(0, known)?;
    }
    for _ in 0..rng.random_range(3..7) {
        let from = rng.random_range(0..nodes);
        let mut sum: Vec<((i64, i64), Value)> = (0..rng.random_range(2..6))
            .map(|_| {
                let weight = (rng.random_range(-3..4i64), rng.random_range(1..4i64));
                (weight, parts[rng.random_range(0..parts.len())])
            })
            .collect();
        let own = program.noise([from], (1, rng.random_range(1..4i64)))?;
        sum.push(((1, 1), own));
        let value = program.combine(sum)?;
        program.broadcast(from, value)?;
        parts.push(value);
        if variant == 3 {
            // 5.3: a multiple of a seen value is not a new row.
            let again = program.combine([((-7, 3), value)])?;
            program.broadcast(from, again)?;
        }
    }
    if variant == 4 {
        // 5.4: steps that are unrelated to the others change nothing.
        let apart = program.noise([1], 3)?;
        let other = program.noise([1], 2)?;
        let sum = program.combine([(2, apart), (5, other)])?;
        program.broadcast(1, sum)?;
        let far = program.combine([(1, apart), (1, other)])?;
        program.broadcast(1, far)?;
    }
    Ok(program)
}

/// 5.2, 5.3 and 5.4, with and without.
#[test]
fn reductions_change_nothing() -> Outcome {
    for seed in 0..40 {
        let observer = Observer::node(0);
        let plain = variant(seed, 0)?.account(&observer)?;
        for other in 1..5 {
            assert_same(&plain, &variant(seed, other)?.account(&observer)?, 1..4);
        }
    }
    Ok(())
}

/// 1.5: more noise never reveals more, in any direction.
#[test]
fn more_noise_shows_less() -> Outcome {
    let mut rng = ChaCha8Rng::seed_from_u64(15);
    for seed in 0..40 {
        let program = variant(seed, 0)?;
        let mut louder = program.clone();
        let noises = std::sync::Arc::make_mut(&mut louder.noises);
        let at = rng.random_range(0..noises.len());
        noises[at].variance *= num_rational::BigRational::from_integer(3.into());
        let observer = Observer::coalition(&[rng.random_range(0..4)]);
        let (before, after) = (program.account(&observer)?, louder.account(&observer)?);
        for u in (0..4).filter(|&u| !observer.contains(u)) {
            for set in [USE, SensitivitySet::SameDirection, SensitivitySet::Signs] {
                match (before.verdict(u, &set)?, after.verdict(u, &set)?) {
                    (NodeVerdict::Bounded(x), NodeVerdict::Bounded(y)) => {
                        assert!(y.lower <= x.value(), "{u} {set:?}: {x:?} {y:?}");
                    }
                    // A change that is seen without noise is seen without noise for any noises.
                    (NodeVerdict::Noiseless { .. }, NodeVerdict::Noiseless { .. }) => {}
                    (x, y) => panic!("{u} {set:?}: {x:?} {y:?}"),
                }
            }
        }
    }
    Ok(())
}
