//! The reference values of the specification, section 9: unit noises, weights 1/(max degree + 1), own noise
//! known.

use super::*;
use crate::constructors::*;
use ndp_graph::generators::{complete_graph, cycle_graph, path_graph, star_graph};
use ndp_graph::{GossipMatrix, Graph};

const USE: SensitivitySet = SensitivitySet::UseLevel;
const SAME: SensitivitySet = SensitivitySet::SameDirection;
const SIGNS: SensitivitySet = SensitivitySet::Signs;

fn vectors() -> SensitivitySet {
    SensitivitySet::Vectors { dimension: 100 }
}

type Outcome = Result<(), Box<dyn std::error::Error>>;

#[test]
fn one_shot_gossip() -> Outcome {
    let on = |graph: Graph, rounds| muffliato(&GossipMatrix::metropolis(&graph), rounds);
    assert_loss(&on(path_graph(4)?, 3)?.account(&Observer::node(3))?, 0, &USE, 1.0);
    assert_loss(&on(star_graph(4)?, 3)?.account(&Observer::node(1))?, 2, &USE, 1.0 / 3.0);
    let tapped = on(path_graph(4)?, 3)?.account(&Observer::outsider().tapping(&[(1, 2)]))?;
    for (u, expected) in [2.0 / 3.0, 1.0, 2.0 / 3.0, 2.0 / 3.0].into_iter().enumerate() {
        assert_loss(&tapped, u, &USE, expected);
    }
    let tapped = on(cycle_graph(5)?, 2)?.account(&Observer::outsider().tapping(&[(2, 3)]))?;
    for (u, expected) in [(1, 0.5), (2, 1.0), (3, 0.5), (0, 0.0)] {
        assert_loss(&tapped, u, &USE, expected);
    }
    let account = on(ndp_graph::generators::karate_club_graph()?, 8)?.account(&Observer::node(11))?;
    for (u, expected) in [(5, 0.217240691468641), (16, 0.579469740042842), (33, 0.434764607615463)] {
        assert_digits(&account, u, &USE, expected);
    }
    Ok(())
}

#[test]
fn fresh_noise_in_every_round() -> Outcome {
    let tenth = |rounds: usize| -> Vec<Weight> {
        (0..rounds).map(|t| Weight::from(if t == 0 { (1, 1) } else { (1, 10) })).collect()
    };
    let on = |graph: Graph, rounds| fresh_noise(&GossipMatrix::metropolis(&graph), &tenth(rounds));
    assert_loss(&on(path_graph(3)?, 2)?.account(&Observer::node(2))?, 0, &USE, 10.0 / 19.0);
    assert_loss(&on(cycle_graph(5)?, 3)?.account(&Observer::node(0))?, 2, &USE, 248.0 / 437.0);
    let account = on(ndp_graph::generators::karate_club_graph()?, 4)?.account(&Observer::node(11))?;
    for (u, expected) in [(1, 0.0353274110892958), (33, 0.00210959045349131)] {
        assert_digits(&account, u, &USE, expected);
    }
    Ok(())
}

#[test]
fn decor_by_coalition() -> Outcome {
    let ring = decor(&cycle_graph(5)?, 1, 1, 1)?;
    for (members, expected) in [(&[][..], 5.0 / 11.0), (&[0], 10.0 / 21.0), (&[0, 2], 2.0 / 3.0)] {
        assert_loss(&ring.account(&Observer::coalition(members))?, 3, &USE, expected);
    }
    assert_loss(&ring.account(&Observer::node(0))?, 1, &USE, 13.0 / 21.0);
    let star = decor(&star_graph(4)?, 1, 1, 1)?;
    for (members, expected) in [(&[][..], 7.0 / 12.0), (&[1], 3.0 / 5.0), (&[0], 1.0)] {
        assert_loss(&star.account(&Observer::coalition(members))?, 2, &USE, expected);
    }
    assert_loss(&star.account(&Observer::outsider())?, 0, &USE, 1.0 / 3.0);
    let complete = decor(&complete_graph(4)?, 1, 1, 1)?;
    assert_loss(&complete.account(&Observer::outsider())?, 0, &USE, 2.0 / 5.0);
    let path = decor(&path_graph(4)?, 1, 1, 1)?.account(&Observer::outsider())?;
    assert_loss(&path, 0, &USE, 13.0 / 21.0);
    assert_loss(&path, 1, &USE, 10.0 / 21.0);
    let club = decor(&ndp_graph::generators::karate_club_graph()?, 1, 1, 1)?.account(&Observer::node(33))?;
    assert_loss(&club, 0, &USE, 541_215_742_662.0 / 5_411_053_860_127.0);
    assert_loss(&club, 11, &USE, 2_840_830_865_729.0 / 5_411_053_860_127.0);
    Ok(())
}

#[test]
fn gopa_with_drop_outs_and_repairs() -> Outcome {
    let graph = path_graph(4)?;
    let all = gopa(&graph, (1, 16), 4, &[])?.account(&Observer::outsider())?;
    assert_loss(&all, 0, &USE, 4_592_656.0 / 1_089_921.0);
    let silent = gopa(&graph, (1, 16), 4, &[1])?.account(&Observer::outsider())?;
    assert_loss(&silent, 0, &USE, 16.0 / 65.0);
    // With unit variances: what changes when node 1 is silent.
    let all = gopa(&graph, 1, 1, &[])?.account(&Observer::outsider())?;
    let silent = gopa(&graph, 1, 1, &[1])?.account(&Observer::outsider())?;
    for (u, before, after) in [(0, 13.0 / 21.0, 0.5), (2, 10.0 / 21.0, 0.4), (3, 13.0 / 21.0, 0.6)] {
        assert_loss(&all, u, &USE, before);
        assert_loss(&silent, u, &USE, after);
    }
    assert_loss(&silent, 1, &USE, 0.0);
    // The repair: nodes 0 and 2 publish the masks that they shared with node 1; then the lost message arrives
    // after all.
    let mut program = Program::new(4)?;
    let x = program.contribute_all(Reads::Nothing)?;
    let z = program.noise_all(1)?;
    let (p01, m01) = program.pairwise(0, 1, 1)?;
    let (p12, m12) = program.pairwise(1, 2, 1)?;
    let (p23, m23) = program.pairwise(2, 3, 1)?;
    let parts = [vec![p01], vec![m01, p12], vec![m12, p23], vec![m23]];
    let y: Vec<Value> =
        (0..4).map(|u| program.add(&[&[x[u], z[u]], &parts[u][..]].concat())).collect::<Result<_, _>>()?;
    for u in [0, 2, 3] {
        program.broadcast(u, y[u])?;
    }
    program.broadcast(0, p01)?;
    program.broadcast(2, m12)?;
    let repaired = program.account(&Observer::outsider())?;
    assert_loss(&repaired, 0, &USE, 1.0);
    assert_loss(&repaired, 1, &USE, 0.0);
    program.broadcast(1, y[1])?;
    assert_loss(&program.account(&Observer::outsider())?, 1, &USE, 1.0);
    Ok(())
}

fn zero_sum_program(n: usize, speaking: &[usize]) -> Result<Program, ProgramError> {
    let mut program = Program::new(n)?;
    let x = program.contribute_all(Reads::Nothing)?;
    let z = program.noise_all(1)?;
    let all: Vec<usize> = (0..n).collect();
    let m = program.zero_sum(&all, 4)?;
    for &u in speaking {
        let y = program.add(&[x[u], z[u], m[u]])?;
        program.broadcast(u, y)?;
    }
    Ok(program)
}

#[test]
fn zero_sum_groups() -> Outcome {
    let all = zero_sum_program(4, &[0, 1, 2, 3])?;
    assert_loss(&all.account(&Observer::outsider())?, 0, &USE, 0.4);
    assert_loss(&all.account(&Observer::node(3))?, 0, &USE, 7.0 / 15.0);
    let silent = zero_sum_program(4, &[0, 1, 2])?;
    assert_loss(&silent.account(&Observer::outsider())?, 0, &USE, 0.3);
    // The same with a covariance.
    let mut program = Program::new(4)?;
    let x = program.contribute_all(Reads::Nothing)?;
    let z = program.noise_all(1)?;
    let covariance: Vec<Vec<Weight>> =
        (0..4).map(|i| (0..4).map(|j| Weight::from(if i == j { 3 } else { -1 })).collect()).collect();
    let m = program.correlated(&[0, 1, 2, 3], &covariance)?;
    for u in 0..4 {
        let y = program.add(&[x[u], z[u], m[u]])?;
        program.broadcast(u, y)?;
    }
    assert_loss(&program.account(&Observer::node(3))?, 0, &USE, 7.0 / 15.0);
    Ok(())
}

fn corn(graph: &Graph, rounds: usize) -> Result<Program, ndp_account::Error> {
    let matrix = GossipMatrix::metropolis(graph);
    let mixing = MixingMatrix::from(&matrix);
    let n = graph.node_count();
    let mut covariance = vec![vec![Weight::from(0); n]; n];
    for (u, row) in covariance.iter_mut().enumerate() {
        row[u] = Weight::from((5, 4));
        for (v, weight) in mixing.entries(u) {
            let exact = row[v].exact("a weight")? - weight.exact("a weight")?;
            row[v] = Weight::of(exact);
        }
    }
    corn_dsgd(&matrix, &covariance, rounds)
}

#[test]
fn corn_dsgd_values() -> Outcome {
    let path = corn(&path_graph(4)?, 2)?.account(&Observer::node(3))?;
    for (u, expected) in [(1, 732.0 / 559.0), (2, 924.0 / 559.0), (0, 0.0)] {
        assert_loss(&path, u, &USE, expected);
    }
    assert_loss(&corn(&path_graph(4)?, 1)?.account(&Observer::node(1))?, 0, &USE, 1260.0 / 559.0);
    assert_loss(&corn(&complete_graph(4)?, 2)?.account(&Observer::node(0))?, 1, &USE, 1.6);
    let ring = corn(&cycle_graph(5)?, 2)?.account(&Observer::node(0))?;
    assert_loss(&ring, 1, &USE, 244.0 / 149.0);
    assert_loss(&ring, 2, &USE, 244.0 / 149.0);
    Ok(())
}

#[test]
fn zip_dl_values() -> Outcome {
    let star = zip_dl(&star_graph(4)?, 0, 1)?;
    for (members, expected) in [(&[1][..], 4.0 / 3.0), (&[1, 2], 4.0), (&[1, 2, 3], 12.0)] {
        assert_loss(&star.account(&Observer::coalition(members))?, 0, &USE, expected);
    }
    let all = star.account(&Observer::coalition(&[1, 2, 3, 4]))?;
    let NodeVerdict::Noiseless { change, combination } = all.verdict(0, &USE)? else { panic!("noiseless") };
    assert_eq!(change, [1.0]);
    // The four messages, with equal weights.
    let terms = combination.expect("found exactly");
    assert_eq!(terms.len(), 4);
    assert!(terms.iter().all(|(_, weight)| *weight == terms[0].1));
    let own = zip_dl(&star_graph(4)?, (1, 2), 1)?;
    assert_loss(&own.account(&Observer::coalition(&[1, 2, 3, 4]))?, 0, &USE, 2.0);
    assert_loss(&zip_dl(&complete_graph(4)?, 0, 1)?.account(&Observer::node(0))?, 1, &USE, 1.5);
    Ok(())
}

#[test]
fn secure_sums_over_neighbors() -> Outcome {
    let on = |graph: &Graph, rounds| secure_neighbor_sums(&GossipMatrix::metropolis(graph), rounds);
    let path = path_graph(4)?;
    let account = on(&path, 2)?.account(&Observer::node(1))?;
    for u in [0, 2, 3] {
        assert_loss(&account, u, &USE, 2.0 / 3.0);
    }
    let messages = muffliato(&GossipMatrix::metropolis(&path), 2)?.account(&Observer::node(1))?;
    for u in [0, 2, 3] {
        assert_loss(&messages, u, &USE, 1.0);
    }
    let complete = on(&complete_graph(4)?, 1)?;
    assert_loss(&complete.account(&Observer::node(0))?, 3, &USE, 1.0 / 3.0);
    assert_loss(&complete.account(&Observer::coalition(&[0, 1]))?, 3, &USE, 0.5);
    assert_loss(&on(&cycle_graph(5)?, 2)?.account(&Observer::node(0))?, 1, &USE, 0.5);
    let club = on(&ndp_graph::generators::karate_club_graph()?, 4)?;
    let one = club.account(&Observer::node(33))?;
    for (u, expected) in [(0, 0.264817401634514), (11, 0.00838676742824551)] {
        assert_digits(&one, u, &USE, expected);
    }
    let two = club.account(&Observer::coalition(&[9, 33]))?;
    assert_digits(&two, 0, &USE, 0.605568428419545);
    Ok(())
}

#[test]
fn dsgd_gram_matrices() -> Outcome {
    let path = dsgd(&GossipMatrix::metropolis(&path_graph(3)?), 3)?;
    let account = path.account(&Observer::node(2))?;
    let gram = [[7.0, 3.0, 0.0], [3.0, 5.0, 0.0], [0.0, 0.0, 0.0]];
    for (i, row) in gram.iter().enumerate() {
        for (j, x) in row.iter().enumerate() {
            let (entry, radius) = account.gram(0, i, j)?;
            assert!((entry - x / 52.0).abs() <= radius && radius < 1e-9, "{i} {j}: {entry}");
        }
    }
    assert_loss(&account, 0, &SAME, 9.0 / 26.0);
    assert_loss(&account, 0, &USE, 7.0 / 52.0);
    assert_loss(&account, 1, &SAME, 69.0 / 26.0);
    for set in [SIGNS, vectors(), SensitivitySet::Vectors { dimension: 2 }] {
        assert_loss(&account, 1, &set, 75.0 / 26.0);
    }
    let ring = dsgd(&GossipMatrix::metropolis(&cycle_graph(5)?), 4)?;
    let account = ring.account(&Observer::node(0))?;
    assert_loss(&account, 1, &SAME, 4797.0 / 1370.0);
    assert_loss(&account, 1, &SIGNS, 5157.0 / 1370.0);
    let loss = account.loss(1, &vectors())?;
    assert!((loss.value() - 3.7642857).abs() < 1e-7, "{loss:?}");
    assert!(loss.value() - loss.lower < 1e-9, "{loss:?}");
    let sum: f64 =
        (0..16).map(|k| account.gram(1, k / 4, k % 4).map(|(x, _)| x.abs())).sum::<Result<f64, _>>()?;
    assert!((sum - 5247.0 / 1370.0).abs() < 1e-9);
    for set in [SAME, SIGNS, vectors()] {
        assert_loss(&account, 2, &set, 683.0 / 1370.0);
    }
    assert_loss(&account, 2, &USE, 337.0 / 2740.0);
    // Two sends per step: each use has a noise of its own.
    let twice = Dsgd { sends: 2, ..Dsgd::from(3) };
    let account = dsgd(&GossipMatrix::metropolis(&path_graph(3)?), twice)?.account(&Observer::node(2))?;
    for u in [0, 1] {
        for (i, j) in [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)] {
            let (entry, radius) = account.gram(u, i, j)?;
            let expected = f64::from(u8::from(i == j));
            assert!((entry - expected).abs() <= radius && radius < 1e-9, "{u} {i} {j}: {entry}");
        }
    }
    let club = dsgd(&GossipMatrix::metropolis(&ndp_graph::generators::karate_club_graph()?), 5)?
        .account(&Observer::node(11))?;
    assert_digits(&club, 33, &SAME, 0.00183652172290669);
    Ok(())
}

/// Everything is public: every node broadcasts its noisy contributions.
fn public(rows: &[Vec<Weight>]) -> Result<Program, ProgramError> {
    let mut program = Program::new(1)?;
    let noise = program.noise_over_time(0, rows, 1)?;
    for z in noise {
        let x = program.contribute(0, Reads::Seen(Some(Vec::new())))?;
        let y = program.add(&[x, z])?;
        program.broadcast(0, y)?;
    }
    Ok(program)
}

#[test]
fn noise_matrices_over_time() -> Outcome {
    let outsider = Observer::outsider();
    let path = GossipMatrix::metropolis(&path_graph(3)?);
    let on_path = |noise: Vec<Vec<Weight>>| dsgd(&path, Dsgd { noise, ..Dsgd::from(4) });
    let banded = |band: &[(i64, i64)]| toeplitz(4, &band.iter().map(|&x| x.into()).collect::<Vec<_>>());
    // C = (1, 1/2).
    let inverse = inverse_of_lower(&banded(&[(1, 1), (1, 2)]))?;
    let account = public(&inverse)?.account(&outsider)?;
    assert_loss(&account, 0, &SAME, 31.0 / 4.0);
    assert_loss(&account, 0, &USE, 5.0 / 4.0);
    assert_loss(&on_path(inverse)?.account(&Observer::node(2))?, 0, &SAME, 1339.0 / 1096.0);
    // C⁻¹ = (1, -1/2) and (1, -1).
    let half = banded(&[(1, 1), (-1, 2)]);
    assert_loss(&public(&half)?.account(&outsider)?, 0, &SAME, 629.0 / 64.0);
    let whole = banded(&[(1, 1), (-1, 1)]);
    assert_loss(&public(&whole)?.account(&outsider)?, 0, &SAME, 30.0);
    let account = on_path(whole)?.account(&Observer::node(2))?;
    assert_loss(&account, 0, &SAME, 366.0 / 137.0);
    assert_loss(&account, 1, &SAME, 6333.0 / 274.0);
    // C = (1, 1/2, 3/8, 5/16), the square root of the prefix sum.
    let root = inverse_of_lower(&banded(&[(1, 1), (1, 2), (3, 8), (5, 16)]))?;
    assert_loss(&public(&root)?.account(&outsider)?, 0, &SAME, 2957.0 / 256.0);
    assert_loss(&on_path(root)?.account(&Observer::node(2))?, 0, &SAME, 12521.0 / 8768.0);
    Ok(())
}

/// `s⁰ = g⁰ + a`, `m⁰ = b`; `s ← W s + g' - g + a`, `m ← W m - s/2 + b`; both are sent in each step.
#[test]
fn gradient_tracking() -> Outcome {
    let graph = path_graph(3)?;
    let matrix = GossipMatrix::metropolis(&graph);
    let mut program = Program::new(3)?;
    let mut g = program.contribute_all(Reads::Nothing)?;
    let a = program.noise_all(1)?;
    let mut s = program.add_all(&g, &a)?;
    let mut m = program.noise_all(1)?;
    for t in 0..3 {
        program.send_to_neighbors(&graph, &s)?;
        program.send_to_neighbors(&graph, &m)?;
        if t == 2 {
            break;
        }
        let (mixed_s, mixed_m) = (program.gossip(&matrix, &s)?, program.gossip(&matrix, &m)?);
        let next = program.contribute_all(Reads::Nothing)?;
        let (a, b) = (program.noise_all(1)?, program.noise_all(1)?);
        m = (0..3)
            .map(|u| program.combine([((1, 1), mixed_m[u]), ((-1, 2), s[u]), ((1, 1), b[u])]))
            .collect::<Result<_, _>>()?;
        s = (0..3)
            .map(|u| program.combine([(1, mixed_s[u]), (1, next[u]), (-1, g[u]), (1, a[u])]))
            .collect::<Result<_, _>>()?;
        g = next;
    }
    let account = program.account(&Observer::node(2))?;
    assert_loss(&account, 0, &SAME, 1681.0 / 11041.0);
    assert_loss(&account, 0, &SIGNS, 3435.0 / 11041.0);
    assert_loss(&account, 1, &SAME, 1.0);
    assert_loss(&account, 1, &SIGNS, 94287.0 / 11041.0);
    Ok(())
}

/// A token that collects a contribution and a noise at every node it visits.
pub(super) fn token(nodes: usize, walk: &[usize]) -> Result<Program, ProgramError> {
    let mut program = Program::new(nodes)?;
    let mut token: Option<Value> = None;
    for (t, &u) in walk.iter().enumerate() {
        let x = program.contribute(u, Reads::Nothing)?;
        let z = program.noise([u], 1)?;
        let parts: Vec<Value> = token.into_iter().chain([x, z]).collect();
        let sum = program.add(&parts)?;
        if let Some(&next) = walk.get(t + 1).filter(|&&next| next != u) {
            program.send(u, next, sum)?;
        }
        token = Some(sum);
    }
    Ok(program)
}

#[test]
fn token_sums_on_a_known_walk() -> Outcome {
    let twice = token(2, &[0, 0, 1])?.account(&Observer::node(1))?;
    for (i, j) in [(0, 0), (0, 1), (1, 1)] {
        let (entry, radius) = twice.gram(0, i, j)?;
        assert!((entry - 0.5).abs() <= radius && radius < 1e-9);
    }
    assert_loss(&twice, 0, &SAME, 2.0);
    let walk = token(4, &[0, 1, 2, 0, 1, 3])?.account(&Observer::node(3))?;
    let (entry, radius) = walk.gram(0, 0, 1)?;
    assert!((entry - 0.2).abs() <= radius && radius < 1e-9);
    assert_loss(&walk, 0, &SAME, 0.8);
    Ok(())
}

#[test]
fn distributed_noise() -> Outcome {
    let program = |present: &[usize]| -> Result<Program, ProgramError> {
        let mut program = Program::new(5)?;
        let x = program.contribute_all(Reads::Nothing)?;
        let z = program.noise_all((1, 4))?;
        let y = program.add_all(&x, &z)?;
        program.secure_sum(0, present.iter().map(|&u| (u, 1, y[u])))?;
        Ok(program)
    };
    let (all, three) = (program(&[1, 2, 3, 4])?, program(&[1, 2, 3])?);
    assert_loss(&all.account(&Observer::node(0))?, 1, &USE, 1.0);
    assert_loss(&all.account(&Observer::coalition(&[0, 4]))?, 1, &USE, 4.0 / 3.0);
    assert_loss(&three.account(&Observer::node(0))?, 1, &USE, 4.0 / 3.0);
    assert_loss(&three.account(&Observer::coalition(&[0, 3]))?, 1, &USE, 2.0);
    Ok(())
}

/// The example for which the sets differ: `G = I - J/3`.
#[test]
fn sensitivity_sets_differ() -> Outcome {
    let mut program = Program::new(1)?;
    let x: Vec<Value> = (0..3).map(|_| program.contribute(0, Reads::Nothing)).collect::<Result<_, _>>()?;
    let z: Vec<Value> = (0..3).map(|_| program.noise([0], 1)).collect::<Result<_, _>>()?;
    let y = program.add_all(&x, &z)?;
    for (a, b) in [(0, 1), (1, 2)] {
        let difference = program.combine([(1, y[a]), (-1, y[b])])?;
        program.broadcast(0, difference)?;
    }
    let account = program.account(&Observer::outsider())?;
    assert_loss(&account, 0, &SAME, 0.0);
    assert_loss(&account, 0, &SIGNS, 8.0 / 3.0);
    assert_loss(&account, 0, &vectors(), 3.0);
    assert_loss(&account, 0, &SensitivitySet::Vectors { dimension: 2 }, 3.0);
    assert_loss(&account, 0, &USE, 2.0 / 3.0);
    Ok(())
}

/// A binary tree over four contributions: `G_ij` counts the nodes that they share.
#[test]
fn tree_aggregation() -> Outcome {
    let mut program = Program::new(1)?;
    let x: Vec<Value> = (0..4).map(|_| program.contribute(0, Reads::Nothing)).collect::<Result<_, _>>()?;
    for part in [&x[..], &x[..2], &x[2..], &x[..1], &x[1..2], &x[2..3], &x[3..]] {
        let z = program.noise([0], 1)?;
        let sum = program.add(&[part, &[z]].concat())?;
        program.broadcast(0, sum)?;
    }
    let account = program.account(&Observer::outsider())?;
    assert_loss(&account, 0, &SAME, 28.0);
    assert_loss(&account, 0, &USE, 3.0);
    Ok(())
}

/// Shares of a value with own noise and zero-sum noise, until a node drops out.
#[test]
fn incremental_injection() -> Outcome {
    let shares = |rounds: usize| -> Result<Program, ProgramError> {
        let mut program = Program::new(4)?;
        let x = program.contribute_all(Reads::Nothing)?;
        for _ in 0..rounds {
            let z = program.noise_all((1, 4))?;
            let m = program.zero_sum(&[0, 1, 2, 3], 4)?;
            for u in 0..4 {
                let y = program.combine([((1, 3), x[u]), ((1, 1), z[u]), ((1, 1), m[u])])?;
                program.broadcast(u, y)?;
            }
        }
        Ok(program)
    };
    for (rounds, expected) in [(1, 20.0 / 153.0), (2, 40.0 / 153.0), (3, 20.0 / 51.0)] {
        assert_loss(&shares(rounds)?.account(&Observer::outsider())?, 0, &USE, expected);
    }
    Ok(())
}
