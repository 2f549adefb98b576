//! Sweeps through deep programs, compared with exact elimination, with the hidden motions of section 5.5 and
//! with the blocks of section 5.6 of the specification, both in rationals.

use super::*;
use crate::constructors::{Dsgd, decor, dsgd, fresh_noise, muffliato};
use crate::gram::NodeGram;
use crate::observers::Seen;
use crate::{columns, sweep};
use ndp_account::{By, Protocol};
use ndp_graph::generators::{complete_graph, cycle_graph, path_graph, star_graph};
use ndp_graph::{GossipMatrix, Graph};
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

type Outcome = Result<(), Box<dyn std::error::Error>>;
type Matrix = Vec<Vec<BigRational>>;

fn ratio(a: i64, b: i64) -> BigRational {
    BigRational::new(a.into(), b.into())
}

fn zeros(rows: usize, columns: usize) -> Matrix {
    vec![vec![BigRational::zero(); columns]; rows]
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let mut c = zeros(a.len(), b.first().map_or(0, Vec::len));
    for (row, to) in a.iter().zip(&mut c) {
        for (x, other) in row.iter().zip(b).filter(|(x, _)| !x.is_zero()) {
            to.iter_mut().zip(other).for_each(|(sum, y)| *sum += x * y);
        }
    }
    c
}

fn transposed(a: &Matrix) -> Matrix {
    (0..a.first().map_or(0, Vec::len)).map(|j| a.iter().map(|row| row[j].clone()).collect()).collect()
}

/// `A⁻¹ B`.
fn divided(a: &Matrix, b: &Matrix) -> Matrix {
    let n = a.len();
    let mut rows: Matrix = a.iter().zip(b).map(|(x, y)| [x.clone(), y.clone()].concat()).collect();
    for column in 0..n {
        let found = (column..n).find(|&i| !rows[i][column].is_zero()).expect("not singular");
        rows.swap(column, found);
        let inverse = rows[column][column].recip();
        rows[column].iter_mut().for_each(|x| *x *= &inverse);
        let pivot = rows[column].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(i, row)| *i != column && !row[column].is_zero())
        {
            let factor = row[column].clone();
            row.iter_mut().zip(&pivot).for_each(|(x, y)| *x -= &factor * y);
        }
    }
    rows.into_iter().map(|row| row[n..].to_vec()).collect()
}

fn dense(matrix: &GossipMatrix) -> Matrix {
    let mixing = MixingMatrix::from(matrix);
    let n = mixing.node_count();
    (0..n)
        .map(|u| {
            let mut row = vec![BigRational::zero(); n];
            mixing.row(u).iter().for_each(|(v, x)| row[*v as usize] = x.clone());
            row
        })
        .collect()
}

/// Section 5.5 for independent noise in every step: with the shifts `p` of the hidden values, the noise
/// shifts are `E δ - D p`, and `G = EᵀE - EᵀD (DᵀD)⁻¹ DᵀE`.
fn hidden_motions(matrix: &GossipMatrix, v: usize, steps: usize, u: usize) -> Matrix {
    let w = dense(matrix);
    let n = w.len();
    let seen = |a: usize| a == v || matrix.graph().has_edge(a, v);
    let others: Vec<usize> = (0..n).filter(|&a| a != v).collect();
    let hidden: Vec<usize> = (0..n).filter(|&a| !seen(a)).collect();
    let at = |t: usize, a: usize| t * others.len() + others.iter().position(|&x| x == a).expect("no member");
    let (mut d, mut e) =
        (zeros(steps * others.len(), steps * hidden.len()), zeros(steps * others.len(), steps));
    for t in 0..steps {
        for (k, &a) in hidden.iter().enumerate() {
            d[at(t, a)][t * hidden.len() + k] += BigRational::one();
            if t + 1 < steps {
                for &b in &others {
                    d[at(t + 1, b)][t * hidden.len() + k] -= &w[b][a];
                }
            }
        }
        e[at(t, u)][t] = BigRational::one();
    }
    let (dt, et) = (transposed(&d), transposed(&e));
    let mut g = product(&et, &e);
    if !hidden.is_empty() {
        let explained = product(&product(&et, &d), &divided(&product(&dt, &d), &product(&dt, &e)));
        for (row, less) in g.iter_mut().zip(&explained) {
            row.iter_mut().zip(less).for_each(|(x, y)| *x -= y);
        }
    }
    g
}

/// Section 5.6: `S` and `B` from the blocks of the powers of the matrix, with `K = C⁻¹ C⁻ᵀ`; `G = Bᵀ S⁻¹ B`.
fn blocks(matrix: &GossipMatrix, v: usize, inverse: &Matrix, u: usize) -> Matrix {
    let w = dense(matrix);
    let (n, steps) = (w.len(), inverse.len());
    let heard: Vec<usize> = (0..n).filter(|&a| matrix.graph().has_edge(a, v)).collect();
    let mut powers = vec![zeros(n, n)];
    (0..n).for_each(|a| powers[0][a][a] = BigRational::one());
    for k in 1..2 * steps {
        powers.push(product(&powers[k - 1], &w));
    }
    let over_time = product(inverse, &transposed(inverse));
    let size = steps * heard.len();
    let (mut s, mut b) = (zeros(size, size), zeros(size, steps));
    for (r, (t, p)) in (0..steps).flat_map(|t| heard.iter().map(move |&p| (t, p))).enumerate() {
        for (c, (other, q)) in (0..steps).flat_map(|t| heard.iter().map(move |&p| (t, p))).enumerate() {
            for (i, row) in over_time.iter().enumerate().take(t + 1) {
                for (j, k) in row.iter().enumerate().take(other + 1) {
                    let (a, a2) = (t - i, other - j);
                    let all = &powers[a + a2][p][q] - &powers[a][p][v] * &powers[a2][v][q];
                    s[r][c] += k * all;
                }
            }
        }
        (0..=t).for_each(|i| b[r][i] = powers[t - i][p][u].clone());
    }
    product(&transposed(&b), &divided(&s, &b))
}

/// The result of sweeps, for any size.
fn swept(
    program: &Program,
    observer: &Observer,
) -> Result<Option<Vec<Option<NodeGram>>>, ndp_account::Error> {
    let seen = Seen::outline(program, observer, &BTreeMap::new())?;
    let one = BigRational::one;
    let directions: Vec<columns::Direction> = (0..program.node_count())
        .filter(|&node| program.uses(node) > 1)
        .flat_map(|node| {
            let alternating = (0..program.uses(node)).map(|t| if t % 2 == 0 { one() } else { -one() });
            [vec![one(); program.uses(node)], alternating.collect()]
                .map(|weights| columns::Direction { node, weights })
        })
        .collect();
    let found = sweep::grams(program, &seen, &directions, &AccountOptions::default())?;
    Ok(found.map(|found| found.grams))
}

fn float(x: &BigRational) -> f64 {
    Weight::of(x.clone()).to_f64()
}

/// Checks that the Gram matrix, its directions and its bound contain the truth. Returns the largest width of
/// an enclosure, relative for values above 1.
fn assert_holds(gram: &NodeGram, truth: &Matrix) -> f64 {
    let k = gram.uses;
    let mut width = 0.0f64;
    let mut check = |ends: crate::enclose::Ends, truth: &BigRational| {
        let exact = |x: f64| BigRational::from_float(x).expect("finite");
        assert!(exact(ends.low) <= *truth && *truth <= exact(ends.high), "{ends:?} {}", float(truth));
        width = width.max((ends.high - ends.low) / float(truth).max(1.0));
    };
    for (i, row) in truth.iter().enumerate() {
        check(gram.diagonal(i), &row[i]);
        for (j, truth) in row.iter().enumerate() {
            let (center, radius) = gram.entry(i, j).expect("kept");
            let apart = (BigRational::from_float(center).expect("finite") - truth).abs();
            assert!(apart <= BigRational::from_float(radius).expect("finite"), "{i} {j}");
        }
    }
    for known in &gram.directions {
        let weights = &known.direction.weights;
        let mut sum = BigRational::zero();
        for (i, x) in weights.iter().enumerate() {
            weights.iter().zip(&truth[i]).for_each(|(y, g)| sum += x * y * g);
        }
        check(known.ends, &sum);
    }
    // diag(d) - G is positive semidefinite, which is tried on signs.
    let uses: Vec<usize> = (0..k).filter(|&i| gram.places[i].is_some()).collect();
    let bound: f64 = uses.iter().map(|&i| gram.structural[gram.places[i].expect("relevant")]).sum();
    for mask in 0..1u32 << uses.len().min(10) {
        let sign = |i: usize| if mask >> (i % 10) & 1 == 1 { -1.0 } else { 1.0 };
        let value: f64 =
            (0..k * k).map(|at| sign(at / k) * sign(at % k) * float(&truth[at / k][at % k])).sum();
        assert!(value <= bound * (1.0 + 1e-12), "{value} {bound}");
    }
    width
}

fn random_tree(n: usize, last: usize, rng: &mut ChaCha8Rng) -> Result<Graph, ndp_graph::Error> {
    Graph::from_edges(n, (1..n).map(|u| (u, rng.random_range(u.saturating_sub(last)..u))))
}

fn exact_rows(rows: &[Vec<Weight>]) -> Matrix {
    let steps = rows.len();
    let entry = |row: &Vec<Weight>, k: usize| {
        row.get(k).map_or_else(BigRational::zero, |x| x.exact("a loss").expect("exact").clone())
    };
    rows.iter().map(|row| (0..steps).map(|k| entry(row, k)).collect()).collect()
}

/// For independent noise, the account, sweeps, hidden motions and blocks give the same matrix.
#[test]
fn hidden_motions_and_blocks_are_the_account() -> Outcome {
    let mut rng = ChaCha8Rng::seed_from_u64(55);
    let mut graphs =
        vec![path_graph(3)?, path_graph(5)?, cycle_graph(5)?, star_graph(4)?, complete_graph(4)?];
    for _ in 0..4 {
        graphs.push(random_tree(6, 3, &mut rng)?);
    }
    for graph in graphs {
        let n = graph.node_count();
        let matrix = GossipMatrix::metropolis(&graph);
        let v = rng.random_range(0..n);
        let steps = 3;
        let program = dsgd(&matrix, steps)?;
        let observer = Observer::node(v);
        let account = program.account(&observer)?;
        let found = swept(&program, &observer)?.expect("a fresh noise in every message");
        let identity: Matrix =
            (0..steps).map(|i| (0..steps).map(|j| ratio(i64::from(i == j), 1)).collect()).collect();
        for u in (0..n).filter(|&u| u != v) {
            let truth = hidden_motions(&matrix, v, steps, u);
            assert_eq!(truth, blocks(&matrix, v, &identity, u), "{u} to {v}");
            for at in 0..steps * steps {
                let (center, radius) = account.gram(u, at / steps, at % steps)?;
                let apart = (center - float(&truth[at / steps][at % steps])).abs();
                assert!(apart <= radius + 1e-15 && radius < 1e-9, "{apart} {radius}");
            }
            assert!(assert_holds(found[u].as_ref().expect("no member"), &truth) < 1e-11);
        }
    }
    Ok(())
}

/// For noise over time, banded and dense, with extreme entries, sweeps enclose the result of the blocks, or
/// give no result.
#[test]
fn noise_over_time_in_blocks() -> Outcome {
    let mut rng = ChaCha8Rng::seed_from_u64(56);
    let bands: [&[Weight]; 6] = [
        &[1.into(), (-1, 2).into()],
        &[1.into(), (-1).into()],
        &[1.into(), (-1, 2).into(), (-1, 8).into(), (-1, 16).into()],
        &[(1, 1000).into(), (7, 3).into()],
        &[1.into(), 1e6.into(), (-3).into()],
        &[1e-9.into(), 1.into()],
    ];
    let (mut held, mut tight) = (0, 0);
    for (k, band) in bands.into_iter().enumerate() {
        for graph in [path_graph(4)?, cycle_graph(5)?, random_tree(6, 2, &mut rng)?] {
            let n = graph.node_count();
            let lazy = [0.0, 0.3, 1.0 - 1e-10][rng.random_range(0..3)];
            let matrix = GossipMatrix::metropolis(&graph).lazy(lazy)?;
            let v = rng.random_range(0..n);
            let rows = toeplitz(4, band);
            let program = dsgd(&matrix, Dsgd { noise: rows.clone(), ..Dsgd::from(4) })?;
            let Some(found) = swept(&program, &Observer::node(v))? else {
                assert!(k >= 3, "{k}");
                continue;
            };
            for u in (0..n).filter(|&u| u != v) {
                let truth = blocks(&matrix, v, &exact_rows(&rows), u);
                let width = assert_holds(found[u].as_ref().expect("no member"), &truth);
                held += 1;
                tight += usize::from(width < 1e-10);
            }
        }
    }
    assert!(held > 30 && tight > 30, "{held} {tight}");
    Ok(())
}

/// Chains, trees and rings on which rounding grows: the exact witnesses are inside the enclosures.
#[test]
fn long_chains_are_swept() -> Outcome {
    let mut rng = ChaCha8Rng::seed_from_u64(57);
    let mut compared = 0;
    for (n, last) in [(10, 1), (11, 2), (12, 3), (12, 8)] {
        let graph = random_tree(n, last, &mut rng)?;
        let matrix = GossipMatrix::metropolis(&graph);
        let v = n - 1;
        let one_shot = muffliato(&matrix, n)?;
        let tiny: Vec<Weight> = (0..8).map(|t| Weight::from(if t == 0 { 1.0 } else { 1e-9 })).collect();
        let fresh = fresh_noise(&matrix, &tiny)?;
        let steps = dsgd(&matrix, 6)?;
        for program in [one_shot, fresh, steps] {
            let observer = Observer::coalition(&[v, 0]);
            let Some(found) = swept(&program, &observer)? else { continue };
            let options = AccountOptions { sweeps_from: usize::MAX, ..AccountOptions::default() };
            let account = program.account_with(&observer, &options)?;
            for gram in found.iter().flatten() {
                let change = vec![Weight::from(1); gram.uses];
                let (attack, _) = account.witnesses(gram.node, &change)?;
                let truth = match program.check_attack(&observer, &attack)? {
                    Some(loss) => loss.exact("a loss").expect("exact").clone(),
                    None => panic!("noise is seen"),
                };
                let ends = match gram.directions.first() {
                    Some(known) => known.ends,
                    None => gram.diagonal(0),
                };
                let exact = |x: f64| BigRational::from_float(x).expect("finite");
                assert!(exact(ends.low) <= truth && truth <= exact(ends.high), "{ends:?} {}", float(&truth));
                compared += 1;
            }
        }
    }
    assert!(compared > 40, "{compared}");
    Ok(())
}

/// A deep program is swept without being asked to: all sets are answered, the Gram matrices of named nodes
/// are kept, others are bounded, and the sum rule holds.
#[test]
fn deep_programs_are_accounted_for() -> Outcome {
    let mut rng = ChaCha8Rng::seed_from_u64(58);
    let (n, steps) = (60, 60);
    let graph = ndp_graph::random::random_regular_graph(4, n, &mut rng)?;
    let matrix = GossipMatrix::metropolis(&graph);
    let program = dsgd(&matrix, steps)?;
    let account = program.account(&Observer::node(0))?;
    assert_eq!((account.failure, account.bits, account.rank), (0.0, 53, 4 * steps));
    let (mut same, mut trace) = (0.0, 0.0);
    for u in 1..n {
        let loss = account.loss(u, &SensitivitySet::SameDirection)?;
        assert_eq!(loss.value.grade(), ndp_dp::Grade::Exact);
        same += loss.value();
        for t in 0..steps {
            trace += account.gram(u, t, t)?.0;
        }
    }
    for sum in [same, trace] {
        assert!((sum - (4 * steps) as f64).abs() < 1e-7, "{sum}");
    }
    // Without keeping entries: the same answers to questions that need none, and bounds for vectors.
    let seen = Seen::outline(&program, &Observer::node(0), &BTreeMap::new())?;
    assert!(seen.deeper_than(&program, 100_000));
    for u in [1, 30] {
        let use_level = account.loss(u, &SensitivitySet::UseLevel)?;
        let vectors = account.loss(u, &SensitivitySet::Vectors { dimension: 100 })?;
        let options = AccountOptions { nodes: Some(vec![u]), ..AccountOptions::default() };
        let named = program.account_with(&Observer::node(0), &options)?;
        assert_eq!(named.loss(u, &SensitivitySet::UseLevel)?, use_level);
        let mut gram = account.node(u)?.clone();
        gram.entries = None;
        let found = crate::sensitivity::evaluate(&gram, &SensitivitySet::Vectors { dimension: 100 })?;
        let crate::sensitivity::Value::Ends(ends) = found else { panic!("bounded") };
        assert!(vectors.lower <= ends.high && ends.low <= vectors.value() && ends.low > 0.0);
        assert!(ends.high < 3.0 * vectors.value());
    }
    let little = AccountOptions { memory_limit: 1 << 20, ..AccountOptions::default() };
    let refused = program.account_with(&Observer::node(0), &little);
    assert!(
        matches!(refused, Err(ndp_account::Error::Graph(ndp_graph::Error::TooLarge { .. }))),
        "{refused:?}"
    );
    Ok(())
}

/// The number of hidden values in the rows.
#[test]
fn the_depth_of_a_view_is_counted() -> Outcome {
    let mut program = Program::new(2)?;
    let (x, z) = (program.contribute(0, Reads::Nothing)?, program.noise([0], 1)?);
    let y = program.add(&[x, z])?;
    let deep = program.combine([(2, y)])?;
    program.send(0, 1, deep)?;
    let seen = Seen::outline(&program, &Observer::node(1), &BTreeMap::new())?;
    // The value itself, the sum, the contribution and the noise.
    assert!(seen.deeper_than(&program, 3) && !seen.deeper_than(&program, 4));
    Ok(())
}

/// Hidden values that a contribution reads are found in any depth of a program, including the last one.
#[test]
fn deep_programs_are_swept_only_where_nothing_hidden_is_read() -> Outcome {
    for hidden in [false, true] {
        let mut program = Program::new(3)?;
        let (x, z) = (program.contribute(0, Reads::Nothing)?, program.noise([0], 1)?);
        let secret = program.add(&[x, z])?;
        program.send(0, 1, secret)?;
        let reads = if hidden { Reads::Hidden(Some(vec![secret])) } else { Reads::Nothing };
        let (x, z) = (program.contribute(1, reads)?, program.noise([1], 1)?);
        let sum = program.add(&[x, z])?;
        program.send(1, 2, sum)?;
        let options = AccountOptions { sweeps_from: 0, ..AccountOptions::default() };
        let account = program.account_with(&Observer::node(2), &options)?;
        let (expected, loss) = if hidden { (Dependence::Revealed, 1.0) } else { (Dependence::Fixed, 0.0) };
        assert_eq!(account.adaptivity, expected);
        let found = account.loss(0, &SensitivitySet::SameDirection)?;
        assert!((found.value() - loss).abs() < 1e-9, "{found:?}");
    }
    // Also those that the observer's own contribution reads, which are in no row that it sees.
    let mut program = Program::new(3)?;
    let (x, z) = (program.contribute_all(Reads::Nothing)?, program.noise_all(1)?);
    let y = program.add_all(&x, &z)?;
    program.send(0, 2, y[0])?;
    program.contribute(2, Reads::Seen(Some(vec![y[1]])))?;
    let options = AccountOptions { sweeps_from: 0, ..AccountOptions::default() };
    assert_refused(program.account_with(&Observer::node(2), &options), "declare it as hidden");
    Ok(())
}

/// Engines are chosen by structure, and every answer names the one that it is from.
#[test]
fn answers_name_their_engine() -> Outcome {
    let (never, always) = (usize::MAX, 0);
    let options = |sparse_from, sweeps_from| AccountOptions {
        powers_from: always,
        sparse_from,
        sweeps_from,
        ..AccountOptions::default()
    };
    let masked = decor(&cycle_graph(5)?, 1, 1, 2)?;
    let once = muffliato(&GossipMatrix::metropolis(&cycle_graph(5)?), 2)?;
    for (program, options, engine, function) in [
        (&masked, options(never, never), Engine::Rows, "ndp_program::Engine::Rows"),
        (&masked, options(always, never), Engine::Sparse, "ndp_program::Engine::Sparse"),
        (&masked, options(never, always), Engine::Sweeps, "ndp_program::Engine::Sweeps"),
        (&once, options(never, never), Engine::Powers, "ndp_program::Engine::Powers"),
    ] {
        assert_eq!(program.account_with(&Observer::node(0), &options)?.engine, engine);
        let declared = Declared { options, ..Declared::new(program.clone(), SensitivitySet::UseLevel) };
        let account = declared.account(&Observer::node(0))?;
        let by = By { function, theorem: "Programs" };
        assert_eq!((account.terms().by, account.theorems()), (by, vec![by]));
    }
    Ok(())
}
