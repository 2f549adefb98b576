//! The sparse engines, compared with the general one; and sizes that only they can handle.

use super::*;
use crate::AccountOptions;
use crate::constructors::{Dsgd, decor, dsgd, gopa};
use crate::observers::Seen;
use crate::{columns, sparse};
use ndp_graph::generators::{cycle_graph, grid_2d_graph, hypercube_graph};
use ndp_graph::{GossipMatrix, Graph};
use ndp_numeric::stop::Stop;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// A random program whose rows all have a noise of their own: shared noises of all kinds, several uses,
/// weights that are not dyadic, and coalitions.
fn with_own_noise(rng: &mut ChaCha8Rng) -> Result<Program, ProgramError> {
    let nodes = rng.random_range(2..7);
    let mut program = Program::new(nodes)?;
    let ratio = |rng: &mut ChaCha8Rng| (rng.random_range(-4..5i64), rng.random_range(1..8i64));
    let mut parts = Vec::new();
    for _ in 0..rng.random_range(3..9) {
        parts.push(program.contribute(rng.random_range(0..nodes), Reads::Nothing)?);
    }
    for _ in 0..rng.random_range(1..6) {
        let holders: Vec<usize> = (0..nodes).filter(|_| rng.random_bool(0.3)).collect();
        parts.push(program.noise(&holders, (rng.random_range(1..6i64), rng.random_range(1..6i64)))?);
    }
    for _ in 0..rng.random_range(1..9) {
        let from = rng.random_range(0..nodes);
        let own = program.noise([from], (rng.random_range(1..6i64), rng.random_range(1..6i64)))?;
        let weight = (1, rng.random_range(1..4i64));
        let terms: Vec<((i64, i64), Value)> = (0..rng.random_range(1..6))
            .map(|_| (ratio(rng), parts[rng.random_range(0..parts.len())]))
            .chain([(weight, own)])
            .collect();
        let value = program.combine(terms)?;
        program.broadcast(from, value)?;
    }
    Ok(program)
}

/// The enclosure of the sparse engine contains the result of exact elimination, entry by entry, and is nearly
/// as narrow.
#[test]
fn sparse_systems_agree_with_rationals() -> Outcome {
    let mut rng = ChaCha8Rng::seed_from_u64(19);
    let mut compared = 0;
    for _ in 0..300 {
        let program = with_own_noise(&mut rng)?;
        let members: Vec<usize> = (0..program.node_count()).filter(|_| rng.random_bool(0.2)).collect();
        let observer = Observer::coalition(&members);
        let seen = Seen::new(&program, &observer, &BTreeMap::new(), &Stop::never())?;
        let directions: Vec<columns::Direction> = (0..program.node_count())
            .filter(|&u| program.uses(u) > 1)
            .map(|node| columns::Direction {
                node,
                weights: (0..program.uses(node))
                    .map(|k| num_rational::BigRational::from_integer((k + 1).into()))
                    .collect(),
            })
            .collect();
        let options = AccountOptions::default();
        let Some(found) = sparse::grams(&program, &seen, &directions, &options)? else {
            // A row whose noise the coalition knows, or two rows that share one.
            continue;
        };
        let account = program.account(&observer)?;
        for gram in found.grams.iter().flatten() {
            let u = gram.node;
            let exact = |change: &[i64]| -> Result<f64, ndp_account::Error> {
                let change: Vec<Weight> = change.iter().map(|&x| Weight::from(x)).collect();
                let (attack, _) = account.witnesses(u, &change)?;
                Ok(match program.check_attack(&observer, &attack)? {
                    Some(loss) => loss.to_f64(),
                    None => panic!("noise is seen"),
                })
            };
            let k = gram.uses;
            let mut check = |low: f64, high: f64, truth: f64| {
                assert!(
                    low <= truth * (1.0 + 1e-15) && truth * (1.0 - 1e-15) <= high,
                    "{low} {truth} {high}"
                );
                assert!(high - low <= 1e-9 * truth.max(1.0), "{low} {high}");
                compared += 1;
            };
            for i in 0..k {
                let unit: Vec<i64> = (0..k).map(|j| i64::from(i == j)).collect();
                check(gram.diagonal(i).low, gram.diagonal(i).high, exact(&unit)?);
                for j in 0..i {
                    let both: Vec<i64> = (0..k).map(|l| i64::from(l == i || l == j)).collect();
                    let other: Vec<i64> = (0..k).map(|l| i64::from(l == i) - i64::from(l == j)).collect();
                    let truth = (exact(&both)? - exact(&other)?) / 4.0;
                    let (center, radius) = gram.entry(i, j).expect("an entry");
                    assert!(
                        (center - truth).abs() <= radius + 1e-14 * truth.abs().max(1.0),
                        "{center} {truth} {radius}"
                    );
                }
            }
            for known in &gram.directions {
                let weights: Vec<i64> = (1..).take(k).collect();
                check(known.ends.low, known.ends.high, exact(&weights)?);
            }
        }
    }
    assert!(compared > 300, "{compared}");
    Ok(())
}

/// Both engines on the same masks; the sparse one is used from a certain size on.
#[test]
fn engines_agree_on_masks() -> Outcome {
    let graph = grid_2d_graph(12, 12)?;
    let small = grid_2d_graph(11, 11)?;
    for (graph, members) in [(&graph, vec![]), (&graph, vec![17, 18, 40]), (&small, vec![60])] {
        let program = decor(graph, (1, 3), 2, 1)?;
        let observer = Observer::coalition(&members);
        let seen = Seen::new(&program, &observer, &BTreeMap::new(), &Stop::never())?;
        let sparse =
            sparse::grams(&program, &seen, &[], &AccountOptions::default())?.expect("own noise everywhere");
        let budget = ndp_certify::account::Budget { memory: 1 << 30, bits: 512, ..Default::default() };
        let all = vec![true; graph.node_count()];
        let (rows, columns) = columns::rows(&program, &seen, &[], &all)?;
        let general = ndp_certify::gram::of_rows(&rows, budget)?;
        for (&contribution, &input) in &columns.of_use {
            let gram = sparse.grams[contribution].as_ref().expect("no member");
            let (low, high) = general.diagonal[input];
            assert!(gram.diagonal(0).low <= high && low <= gram.diagonal(0).high);
            assert!(gram.diagonal(0).high - gram.diagonal(0).low < 1e-9);
        }
    }
    Ok(())
}

/// Nodes that were not asked for have no loss, and the others keep theirs.
#[test]
fn a_few_nodes_are_asked_about() -> Outcome {
    for graph in [hypercube_graph(3)?, hypercube_graph(8)?] {
        let program = decor(&graph, 1, 1, 1)?;
        let whole = program.account(&Observer::node(1))?;
        let options = AccountOptions { nodes: Some(vec![0, 3]), ..AccountOptions::default() };
        let part = program.account_with(&Observer::node(1), &options)?;
        for u in [0, 3] {
            let (a, b) =
                (whole.loss(u, &SensitivitySet::UseLevel)?, part.loss(u, &SensitivitySet::UseLevel)?);
            assert!(a.lower <= b.value() && b.lower <= a.value() && b.value.grade() == ndp_dp::Grade::Exact);
        }
        assert_eq!(part.loss(2, &SensitivitySet::UseLevel), Err(ProgramError::NotAsked(2).into()));
        assert_eq!(part.loss(1, &SensitivitySet::UseLevel), Err(ProgramError::Member(1).into()));
        let beyond = AccountOptions { nodes: Some(vec![999]), ..AccountOptions::default() };
        assert_refused(program.account_with(&Observer::node(1), &beyond), "node 999 is out of range");
        let little = AccountOptions { memory_limit: 1000, ..AccountOptions::default() };
        let refused = program.account_with(&Observer::node(1), &little);
        assert!(
            matches!(
                refused,
                Err(ndp_account::Error::Graph(ndp_graph::Error::TooLarge { .. })
                    | ndp_account::Error::Certify(ndp_certify::Error::TooLarge { .. }))
            ),
            "{refused:?}"
        );
    }
    Ok(())
}

/// A hypercube is transitive and its spectrum is known: the loss is a mean over the eigenvalues `1 + 2 s k`.
#[test]
fn masks_on_a_hypercube() -> Outcome {
    let dimension = 10_u32;
    let account = decor(&hypercube_graph(dimension)?, 1, (1, 2), 1)?.account(&Observer::outsider())?;
    let (mut binomial, mut expected) = (1.0, 0.0);
    for k in 0..=dimension {
        expected += binomial / (1.0 + f64::from(k));
        binomial = binomial * f64::from(dimension - k) / f64::from(k + 1);
    }
    expected /= f64::from(1u32 << dimension);
    for u in [0, 1, 777, 1023] {
        assert_loss(&account, u, &SensitivitySet::UseLevel, expected);
    }
    assert_eq!((account.failure, account.rank), (0.0, 1024));
    Ok(())
}

/// Twenty steps on a cycle with drop-outs: the steps are independent, so that uses have no common entry.
#[test]
fn steps_are_blocks() -> Outcome {
    let graph = Graph::from_edges(30, (0..30).map(|u| (u, (u + 1) % 30)))?;
    let account = decor(&graph, 1, 1, 20)?.account(&Observer::node(0))?;
    let one = decor(&graph, 1, 1, 1)?.account(&Observer::node(0))?;
    for u in [1, 7, 15] {
        let single = one.loss(u, &SensitivitySet::UseLevel)?;
        let vectors = SensitivitySet::Vectors { dimension: 3 };
        for (set, times) in
            [(SensitivitySet::UseLevel, 1.0), (SensitivitySet::SameDirection, 20.0), (vectors, 20.0)]
        {
            let loss = account.loss(u, &set)?;
            let meet = loss.lower <= times * single.value() * (1.0 + 1e-15)
                && times * single.lower <= loss.value() * (1.0 + 1e-15);
            assert!(meet && loss.value.grade() == ndp_dp::Grade::Exact, "{u} {set:?}: {loss:?} {single:?}");
        }
    }
    let silent = gopa(&graph, 1, 1, &[4])?.account(&Observer::node(0))?;
    assert!(
        silent.loss(5, &SensitivitySet::UseLevel)?.value() < one.loss(5, &SensitivitySet::UseLevel)?.value()
    );
    Ok(())
}

/// Witnesses of a view that is too large for elimination: both are checked exactly, and the loss is between
/// what they prove.
#[test]
fn large_views_have_witnesses() -> Outcome {
    let program = decor(&hypercube_graph(8)?, (1, 3), (2, 7), 1)?;
    let observer = Observer::coalition(&[5, 9]);
    let account = program.account(&observer)?;
    for u in [0, 4, 200] {
        let change = [Weight::from(1)];
        let (attack, shift) = account.witnesses(u, &change)?;
        let Some(low) = program.check_attack(&observer, &attack)? else { panic!("noise is seen") };
        let high = program.check_shift(&observer, &shift)?;
        let loss = account.loss(u, &SensitivitySet::UseLevel)?;
        let (low, high) = (low.to_f64(), high.to_f64());
        assert!(low <= high && high - low < 1e-8, "{low} {high}");
        assert!(
            low <= loss.value() * (1.0 + 1e-15) && loss.lower <= high * (1.0 + 1e-15),
            "{low} {high} {loss:?}"
        );
    }
    Ok(())
}

/// The same if rows share all their noises, but each brings a new one.
#[test]
fn pivots_make_witnesses() -> Outcome {
    let matrix = GossipMatrix::metropolis(&cycle_graph(6)?);
    let band = [Weight::from(1), Weight::from((-1, 2))];
    let steps = 85;
    let program = dsgd(&matrix, Dsgd { noise: toeplitz(steps, &band), ..Dsgd::from(steps) })?;
    let observer = Observer::node(0);
    let account = program.account(&observer)?;
    assert!(account.rank > 160);
    let mut change = vec![Weight::from(0); steps];
    change[40] = Weight::from(1);
    for u in [1, 3] {
        let (attack, shift) = account.witnesses(u, &change)?;
        let Some(low) = program.check_attack(&observer, &attack)? else { panic!("noise is seen") };
        let high = program.check_shift(&observer, &shift)?;
        let (low, high) = (low.to_f64(), high.to_f64());
        assert!(low <= high && high - low < 1e-9, "{low} {high}");
        let (center, radius) = account.gram(u, 40, 40)?;
        assert!(low <= center + radius && center - radius <= high, "{low} {high} {center} {radius}");
        let mut wrong = shift;
        wrong.terms[0].1 = Weight::from(0.125);
        assert_refused(program.check_shift(&observer, &wrong), "shows the change");
    }
    Ok(())
}

/// Own noise far smaller than the masks: conjugate gradients end early, and their residual is divided by this
/// noise. Another engine takes over, and no upper end is above what own noise alone allows.
#[test]
fn tiny_own_noise_is_no_trap() -> Outcome {
    let n = 200;
    for own in [1e-6, 1e-9, 1e-13] {
        let program = decor(&cycle_graph(n)?, own, 1, 1)?;
        let account = program.account(&Observer::outsider())?;
        // The mean over the eigenvalues own + 2 - 2 cos(2 π k / n).
        let eigenvalue = |k: usize| {
            let half = std::f64::consts::PI * k as f64 / n as f64;
            own + 4.0 * half.sin().powi(2)
        };
        let expected = (0..n).map(|k| eigenvalue(k).recip()).sum::<f64>() / n as f64;
        let loss = account.loss(7, &SensitivitySet::UseLevel)?;
        assert!(
            loss.lower <= expected * (1.0 + 1e-10) && expected * (1.0 - 1e-10) <= loss.value(),
            "{loss:?}"
        );
        assert_eq!(loss.value.grade(), ndp_dp::Grade::Exact, "{own}: {loss:?} {expected}");
    }
    // There are too many rows for another engine: the bound from own noise holds.
    let program = decor(&cycle_graph(4000)?, 1e-20, 1, 1)?;
    let options = AccountOptions { nodes: Some(vec![0]), ..AccountOptions::default() };
    let loss = program.account_with(&Observer::outsider(), &options)?.loss(0, &SensitivitySet::UseLevel)?;
    assert!(loss.value() <= 1e20 * (1.0 + 1e-12) && loss.lower <= loss.value(), "{loss:?}");
    Ok(())
}
