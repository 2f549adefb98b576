//! Linear protocols of this crate, stated as programs: losses, errors and designs agree.

use ndp_account::{Error, LinearProtocol, Observer, Protocol};
use ndp_algos::gossip::accelerated::{AcceleratedGossip, ActiveEdge, Momentum};
use ndp_algos::gossip::fresh::optimize;
use ndp_algos::gossip::{
    FreshNoiseGossip, MessageNoise, NoisyMessageGossip, SequenceGossip, SynchronousGossip,
};
use ndp_dp::NoiseMultiplier;
use ndp_graph::generators::{cycle_graph, grid_2d_graph, karate_club_graph};
use ndp_graph::{GossipMatrix, GossipSequence, Graph, Step};
use ndp_program::constructors::{fresh_noise, muffliato, randomized_gossip};
use ndp_program::design::{Design, DesignStopping, Limit};
use ndp_program::{MixingMatrix, Program, Reads, SensitivitySet, Value, Weight};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Each end of one account lies beyond the other end of the other, for every node outside the coalition.
#[track_caller]
fn assert_agree(protocol: &dyn LinearProtocol, program: &Program, coalition: &[usize]) {
    let report = protocol.coalition_loss(coalition).expect("a report");
    let account = program.account(&Observer::coalition(coalition)).expect("an account");
    for u in (0..program.node_count()).filter(|u| !coalition.contains(u)) {
        let (low, high) = report.enclosure(u).expect("an enclosure");
        let loss = account.loss(u, &SensitivitySet::UseLevel).expect("a loss");
        let met = loss.lower <= high * (1.0 + 1e-15) && low <= loss.value() * (1.0 + 1e-15);
        assert!(met && loss.value.grade() == ndp_dp::Grade::Exact, "{u}: {low} {high} {loss:?}");
    }
}

fn tree(rng: &mut ChaCha8Rng, n: usize) -> Result<Graph, ndp_graph::Error> {
    let more = (0..2).map(|_| (rng.random_range(2..n), 0));
    let more: Vec<(usize, usize)> = more.collect();
    let all: BTreeSet<(usize, usize)> = (1..n).map(|u| (u, rng.random_range(0..u))).chain(more).collect();
    Graph::from_edges(n, all)
}

fn draws() -> impl Iterator<Item = (ChaCha8Rng, Vec<usize>)> {
    (0..8).map(|k| {
        let mut rng = ChaCha8Rng::seed_from_u64(k);
        let first = rng.random_range(0..4);
        let members = if k % 2 == 0 { vec![first] } else { vec![first, rng.random_range(4..8)] };
        (rng, members)
    })
}

#[test]
fn fixed_matrices_and_schedules() -> Outcome {
    for (mut rng, members) in draws() {
        let matrix = GossipMatrix::metropolis(&tree(&mut rng, 8)?).lazy(rng.random_range(0.0..0.5))?;
        assert_agree(&SynchronousGossip::new(matrix.clone(), 6), &muffliato(&matrix, 6)?, &members);
        let schedule = [1.0, 0.3, 0.0, 0.125];
        let weights: Vec<Weight> = schedule.iter().map(|&v| v.into()).collect();
        let fresh = FreshNoiseGossip::new(matrix.clone(), schedule.to_vec())?;
        assert_agree(&fresh, &fresh_noise(&matrix, &weights)?, &members);
    }
    let club = GossipMatrix::metropolis(&karate_club_graph()?);
    assert_agree(&SynchronousGossip::new(club.clone(), 8), &muffliato(&club, 8)?, &[11]);
    Ok(())
}

#[test]
fn changing_connections() -> Outcome {
    for (mut rng, members) in draws() {
        let graph = tree(&mut rng, 8)?;
        let edges: Vec<(usize, usize)> = graph.edges().collect();
        let mut steps = Vec::new();
        for _ in 0..10 {
            let (a, b) = edges[rng.random_range(0..edges.len())];
            steps.push(match rng.random_range(0..3) {
                0 => Step::Matrix(GossipMatrix::metropolis(&tree(&mut rng, 8)?).lazy(0.25)?),
                1 => Step::Pair(a, b),
                _ => Step::Idle,
            });
        }
        let mut program = Program::new(8)?;
        let x = program.contribute_all(Reads::Nothing)?;
        let z = program.noise_all(1)?;
        let mut y = program.add_all(&x, &z)?;
        for step in &steps {
            match step {
                Step::Matrix(matrix) => {
                    program.send_to_neighbors(matrix.graph(), &y)?;
                    y = program.gossip(matrix, &y)?;
                }
                Step::Pair(a, b) => {
                    program.send(*a, *b, y[*a])?;
                    program.send(*b, *a, y[*b])?;
                    let mean = program.combine([(0.5, y[*a]), (0.5, y[*b])])?;
                    (y[*a], y[*b]) = (mean, mean);
                }
                Step::Idle => {}
            }
        }
        assert_agree(&SequenceGossip::from(GossipSequence::new(8, steps)?), &program, &members);
        let rings: Vec<(usize, usize)> = (0..16).map(|_| edges[rng.random_range(0..edges.len())]).collect();
        let gossip = SequenceGossip::from(GossipSequence::given_activations(&graph, &rings)?);
        assert_agree(&gossip, &randomized_gossip(8, &rings)?, &members);
    }
    Ok(())
}

#[test]
fn noise_on_messages() -> Outcome {
    for (mut rng, members) in draws() {
        let matrix = GossipMatrix::metropolis(&tree(&mut rng, 8)?);
        let mixing = MixingMatrix::from(&matrix);
        let (rounds, ratio) = (4, 0.3);
        for kind in [MessageNoise::PerLink, MessageNoise::Broadcast] {
            let mut program = Program::new(8)?;
            let x = program.contribute_all(Reads::Nothing)?;
            let z = program.noise_all(1)?;
            let mut y = program.add_all(&x, &z)?;
            for _ in 0..rounds {
                let shared = program.noise_all(1)?;
                let mut next = Vec::new();
                for a in 0..8 {
                    let mut terms = Vec::new();
                    for (w, weight) in mixing.entries(a) {
                        if w == a {
                            terms.push((weight, y[a]));
                            continue;
                        }
                        let noise = match kind {
                            MessageNoise::PerLink => program.noise([w], 1)?,
                            _ => shared[w],
                        };
                        let message = program.combine([(1.0, y[w]), (ratio, noise)])?;
                        program.send(w, a, message)?;
                        terms.push((weight, message));
                    }
                    next.push(program.combine(terms)?);
                }
                y = next;
            }
            let gossip = NoisyMessageGossip::new(matrix.clone(), rounds, ratio, kind)?;
            assert_agree(&gossip, &program, &members);
        }
    }
    Ok(())
}

#[test]
fn momentum() -> Outcome {
    for (mut rng, members) in draws() {
        let graph = tree(&mut rng, 8)?;
        let edges: Vec<(usize, usize)> = graph.edges().collect();
        let (mixing, push) = (0.05, 1.25);
        let rings: Vec<ActiveEdge> = (0..14)
            .map(|_| ActiveEdge {
                wait: rng.random_range(0.0..0.5),
                edge: edges[rng.random_range(0..edges.len())],
            })
            .collect();
        let mut program = Program::new(8)?;
        let x = program.contribute_all(Reads::Nothing)?;
        let z = program.noise_all(1)?;
        let mut first = program.add_all(&x, &z)?;
        let mut second = first.clone();
        let (mut clock, mut now) = ([0.0; 8], 0.0);
        for ring in &rings {
            let (a, b) = ring.edge;
            now += ring.wait;
            for v in [a, b] {
                // The share that a run stores.
                let share: f64 = -0.5 * (-2.0 * mixing * (now - clock[v])).exp_m1();
                clock[v] = now;
                if share > 0.0 {
                    let (x, z) = (first[v], second[v]);
                    first[v] = program.combine([(1.0, x), (share, z), (-share, x)])?;
                    second[v] = program.combine([(1.0, z), (share, x), (-share, z)])?;
                }
            }
            program.send(a, b, first[a])?;
            program.send(b, a, first[b])?;
            let (x, y) = (first[a], first[b]);
            second[a] = program.combine([(1.0, second[a]), (-push, x), (push, y)])?;
            second[b] = program.combine([(1.0, second[b]), (push, x), (-push, y)])?;
            let mean = program.combine([(0.5, x), (0.5, y)])?;
            (first[a], first[b]) = (mean, mean);
        }
        let gossip = AcceleratedGossip::given(&graph, rings, 1.0, Momentum { mixing, push })?;
        assert_agree(&gossip, &program, &members);
    }
    Ok(())
}

/// Observers who see everything, on a graph with symmetry.
#[test]
fn crowds() -> Outcome {
    let matrix = GossipMatrix::metropolis(&cycle_graph(9)?);
    for members in [vec![0, 3, 6], vec![0, 1, 2, 3, 4, 5, 6, 7]] {
        assert_agree(&SynchronousGossip::new(matrix.clone(), 5), &muffliato(&matrix, 5)?, &members);
    }
    Ok(())
}

/// The protocols of this crate, written as programs, agree inside their enclosures.
#[test]
fn protocols_of_the_crate_agree() -> Outcome {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for _ in 0..6 {
        let graph = Graph::from_edges(8, (1..8).map(|u| (u, rng.random_range(0..u))))?;
        let matrix = GossipMatrix::metropolis(&graph).lazy(rng.random_range(0.0..0.5))?;
        let observer = Observer::coalition(&[rng.random_range(0..4), rng.random_range(4..8)]);
        let noise = NoiseMultiplier::new(1.0)?;
        let variances = [1.0, 0.5, 0.125];
        let weights: Vec<Weight> = variances.iter().map(|&v| v.into()).collect();
        let gossip = SynchronousGossip::new(matrix.clone(), 4);
        let fresh = FreshNoiseGossip::new(matrix.clone(), variances.to_vec())?;
        let pairs: [(&dyn Protocol, Program); 2] =
            [(&gossip, muffliato(&matrix, 4)?), (&fresh, fresh_noise(&matrix, &weights)?)];
        for (protocol, program) in pairs {
            let account = protocol.account(&observer)?;
            let other = program.account(&observer)?;
            for u in (0..8).filter(|&u| !observer.contains(u)) {
                let mu = account.profile(u, noise)?.mu().expect("a Gaussian view").value().mu();
                let loss = other.loss(u, &SensitivitySet::UseLevel)?;
                assert!((mu * mu - loss.value()).abs() < 1e-8, "{u}: {} {}", mu * mu, loss.value());
            }
        }
    }
    Ok(())
}

/// Gossip as a program has the error of gossip.
#[test]
fn errors_are_those_of_the_protocols() -> Result<(), Error> {
    let matrix = GossipMatrix::metropolis(&karate_club_graph()?);
    let noise = NoiseMultiplier::new(0.7)?;
    let gossip = SynchronousGossip::new(matrix.clone(), 5);
    let gossip = Protocol::error(&gossip, noise)?;
    let program = muffliato(&matrix, 5)?.error(noise)?;
    assert!((gossip / program - 1.0).abs() < 1e-12, "{gossip} {program}");
    let schedule = [1.0, 0.5, 0.25];
    let fresh = FreshNoiseGossip::new(matrix.clone(), schedule.to_vec())?.error(noise)?;
    let program = fresh_noise(&matrix, &schedule.map(Weight::from))?.error(noise)?;
    assert!((fresh / program - 1.0).abs() < 1e-12, "{fresh} {program}");
    Ok(())
}

/// The schedules of fresh noise that were designed before are found again: each error lies above the other's
/// lower bound, and both are within the tolerance of their own.
#[test]
fn schedules_of_fresh_noise() -> Outcome {
    for (graph, rounds) in [(cycle_graph(8)?, 6), (grid_2d_graph(3, 4)?, 5)] {
        let matrix = GossipMatrix::metropolis(&graph);
        let n = graph.node_count();
        let program = fresh_noise(&matrix, &vec![Weight::from(1); rounds])?;
        let groups: Vec<Vec<Value>> = program.noises().chunks(n).map(<[Value]>::to_vec).collect();
        let mut floors = vec![0.0; rounds];
        floors[0] = 1.0;
        let mut design = Design::new(&program, &groups)?;
        design.floors = floors;
        let observers: Vec<usize> = (0..n).collect();
        let far = |v: usize| {
            let hops = graph.distances(v);
            (0..n).filter(|&u| hops[u].is_some_and(|d| d >= 2)).collect::<Vec<_>>()
        };
        let pairs: Vec<(Observer, Vec<usize>)> =
            observers.iter().map(|&v| (Observer::node(v), far(v))).collect();
        let listed: Vec<(usize, usize)> =
            observers.iter().flat_map(|&v| far(v).into_iter().map(move |u| (u, v))).collect();
        for (limit, allowed) in [(Limit::Mean(0.1), 0.1), (Limit::Worst(0.2), 0.2)] {
            let stopping = DesignStopping { tolerance: 0.002, steps: 2000 };
            let before = optimize(&matrix, rounds, &listed, limit, 1.0, stopping)?;
            let stopping = DesignStopping { tolerance: 1e-3, steps: 400 };
            let found = design.solve(&pairs, &SensitivitySet::UseLevel, limit, stopping)?;
            assert!(found.cost <= found.lower_bound * 1.0011, "{limit:?}: {}", found.cost);
            assert!(*found.loss.value() <= allowed && *found.loss.value() > 0.99 * allowed, "{found:?}");
            assert!(found.cost >= before.error_lower_bound * (1.0 - 1e-9), "{} {before:?}", found.cost);
            assert!(before.error >= found.lower_bound * (1.0 - 1e-9), "{before:?} {}", found.lower_bound);
            let error = found.program.error(NoiseMultiplier::new(1.0)?)?;
            assert!(error * error >= found.cost * (1.0 - 1e-9));
        }
    }
    Ok(())
}
