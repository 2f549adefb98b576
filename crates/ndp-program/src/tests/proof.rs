use super::*;
use crate::constructors::{Dsgd, ModelReads, decor, dsgd, muffliato};
use crate::registers::Definition;
use ndp_graph::GossipMatrix;
use ndp_graph::generators::{cycle_graph, karate_club_graph, path_graph, star_graph};
use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};
use std::collections::BTreeMap;

fn ends(line: &str) -> (BigRational, BigRational) {
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    let of = |key: &str| line[key].as_str().unwrap().parse::<BigRational>().unwrap();
    (of("lower"), of("upper"))
}

fn of(program: &Program, set: SensitivitySet, observer: usize, source: usize) -> (BigRational, BigRational) {
    let mut proof = ProofWriter::new(program, set).unwrap();
    ends(&proof.of(&Observer::node(observer), &[source]).unwrap()[0])
}

fn ratio(a: i64, b: i64) -> BigRational {
    BigRational::new(a.into(), b.into())
}

/// Reference values of the specification of programs, section 9.
#[test]
fn both_ends_are_the_reference_values() {
    let metropolis = |graph| GossipMatrix::metropolis(&graph);
    let star = muffliato(&metropolis(star_graph(4).unwrap()), 3).unwrap();
    assert_eq!(of(&star, SensitivitySet::UseLevel, 1, 2), (ratio(1, 3), ratio(1, 3)));
    let ring = decor(&cycle_graph(5).unwrap(), 1, 1, 1).unwrap();
    assert_eq!(of(&ring, SensitivitySet::UseLevel, 0, 3), (ratio(10, 21), ratio(10, 21)));
    let fixed = |steps| Dsgd { reads: ModelReads::Nothing, ..Dsgd::from(steps) };
    let path = dsgd(&metropolis(path_graph(3).unwrap()), fixed(3)).unwrap();
    assert_eq!(of(&path, SensitivitySet::SameDirection, 2, 0), (ratio(9, 26), ratio(9, 26)));
    assert_eq!(of(&path, SensitivitySet::UseLevel, 2, 0), (ratio(7, 52), ratio(7, 52)));
    // Signs on the ring of 5, observer 0 about its neighbor; the absolute values sum to 5247/1370.
    let ring = dsgd(&metropolis(cycle_graph(5).unwrap()), fixed(4)).unwrap();
    let (low, high) = of(&ring, SensitivitySet::Signs, 0, 1);
    assert_eq!(low, ratio(5157, 1370));
    // The semidefinite bound: 3.7642857.
    assert!(ratio(37_642_857, 10_000_000) <= high && high < ratio(37_643, 10_000), "{high}");
}

/// The largest loss that a file states: the number itself if it is a float, and otherwise the next float
/// above it.
#[test]
fn the_largest_loss_is_rounded_up_and_no_further() {
    let metropolis = |graph| GossipMatrix::metropolis(&graph);
    let largest = |program: &Program, source| {
        let mut proof = ProofWriter::new(program, SensitivitySet::UseLevel).unwrap();
        proof.of(&Observer::node(1), &[source]).unwrap();
        proof.largest()
    };
    let path = muffliato(&metropolis(path_graph(3).unwrap()), 2).unwrap();
    assert_eq!(largest(&path, 0), 1.0);
    let star = muffliato(&metropolis(star_graph(4).unwrap()), 3).unwrap();
    let third = largest(&star, 2);
    assert_eq!(third, (1.0_f64 / 3.0).next_up());
    assert!(BigRational::from_float(third).unwrap() > ratio(1, 3));
}

/// What is proved encloses the loss of the account, for every pair of a real network.
#[test]
fn proofs_meet_the_account() {
    let program = muffliato(&GossipMatrix::metropolis(&karate_club_graph().unwrap()), 8).unwrap();
    let account = program.account(&Observer::node(11)).unwrap();
    for u in [5, 16, 33] {
        let (low, high) = of(&program, SensitivitySet::UseLevel, 11, u);
        assert_eq!(low, high);
        let loss = account.loss(u, &SensitivitySet::UseLevel).unwrap();
        let exact = Weight::of(high).to_f64();
        assert!(loss.lower <= exact && exact <= loss.value(), "{exact}");
    }
}

/// Nodes with many uses, whose shifts are completed from floats on a walk through the program. Every shift
/// hides its change, and what a file claims to prove is the cost of the shifts, added in ratios one by one.
#[test]
fn proofs_of_many_uses_hold() {
    let (star, karate) = (star_graph(5).unwrap(), karate_club_graph().unwrap());
    // A path whose ends have values with one consumer, weights with other divisors, and noise over time.
    let fixed = |steps| Dsgd { reads: ModelReads::Nothing, ..Dsgd::from(steps) };
    // Half of a step's noise is taken back in the next step.
    let row = |t: usize| -> Vec<Weight> {
        (0..=t)
            .map(|s| {
                if s == t {
                    1.into()
                } else if s + 1 == t {
                    (-1, 2).into()
                } else {
                    0.into()
                }
            })
            .collect()
    };
    let over_time = Dsgd { noise: (0..20).map(row).collect(), ..fixed(20) };
    let cases = [
        (path_graph(5).unwrap(), fixed(30), 4, vec![0, 3]),
        (star, fixed(30), 1, vec![2]),
        (karate, fixed(9), 31, vec![33]),
        (cycle_graph(5).unwrap(), over_time, 0, vec![1]),
    ];
    for (graph, parameters, observer, sources) in cases {
        let program = dsgd(&GossipMatrix::metropolis(&graph), parameters).unwrap();
        let dimension = program.uses(sources[0]);
        let observer = Observer::node(observer);
        let mut proof = ProofWriter::new(&program, SensitivitySet::Vectors { dimension }).unwrap();
        for (line, &source) in proof.of(&observer, &sources).unwrap().iter().zip(&sources) {
            let (low, high) = ends(line);
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            let mut moves: Vec<BTreeMap<usize, BigRational>> = Vec::new();
            for (i, shift) in line["shifts"].as_array().unwrap().iter().enumerate() {
                let mut change = vec![Weight::from(0); dimension];
                change[i] = Weight::from(1);
                let by = |x: &serde_json::Value| x.as_str().unwrap().parse::<BigRational>().unwrap();
                let shift: BTreeMap<usize, BigRational> = shift
                    .as_object()
                    .unwrap()
                    .iter()
                    .map(|(v, x)| (v[1..].parse().unwrap(), by(x)))
                    .collect();
                let terms = shift.iter().map(|(v, x)| (Value(*v as u32), Weight::of(x.clone()))).collect();
                program.check_shift(&observer, &Witness { source, change, terms }).unwrap();
                moves.push(shift);
            }
            let variance = |v: usize| {
                let Definition::Noise(k) = program.values[v] else { panic!("no noise") };
                &program.noises[k].variance
            };
            let product = |a: &BTreeMap<usize, BigRational>, b: &BTreeMap<usize, BigRational>| {
                let terms = a.iter().filter_map(|(v, x)| Some(x * b.get(v)? / variance(*v)));
                terms.sum::<BigRational>().abs()
            };
            let mut sizes = BigRational::zero();
            for (i, a) in moves.iter().enumerate() {
                let beside: BigRational = moves[..i].iter().map(|b| product(a, b)).sum();
                sizes += product(a, a) + ratio(2, 1) * beside;
            }
            let proved = match line["diagonal"].as_array() {
                None => sizes.clone(),
                Some(diagonal) => {
                    diagonal.iter().map(|x| x.as_str().unwrap().parse::<BigRational>().unwrap()).sum()
                }
            };
            assert_eq!(proved, high);
            // Short numbers cost very little; the rest is the difference between signs and vectors.
            let shown = |x: &BigRational| Weight::of(x.clone()).to_f64();
            assert!(
                low <= high && high <= sizes && high <= &low * ratio(11, 10),
                "{source}: {} {} {}",
                shown(&low),
                shown(&high),
                shown(&sizes)
            );
        }
    }
}

#[test]
fn what_no_proof_shows_is_refused() {
    let path = path_graph(3).unwrap();
    let program = dsgd(&GossipMatrix::metropolis(&path), 2).unwrap();
    let patterns = SensitivitySet::Patterns {
        patterns: crate::Patterns::Cyclic { period: 2 },
        within: Box::new(SensitivitySet::UseLevel),
    };
    assert!(matches!(ProofWriter::new(&program, patterns), Err(error)
        if matches!(error.carried::<ProgramError>(), Some(ProgramError::Witness(_)))));
    // Six pairs, but not every pair.
    let once = muffliato(&GossipMatrix::metropolis(&path), 1).unwrap();
    let mut twice = ProofWriter::new(&once, SensitivitySet::UseLevel).unwrap();
    for _ in 0..3 {
        twice.of(&Observer::node(0), &[1, 2]).unwrap();
    }
    assert!(twice.pairs() == 6 && twice.end().contains("these-pairs"));
    // A message without noise.
    let mut clean = Program::new(2).unwrap();
    let x = clean.contribute(0, Reads::Nothing).unwrap();
    clean.send(0, 1, x).unwrap();
    let mut proof = ProofWriter::new(&clean, SensitivitySet::UseLevel).unwrap();
    assert!(matches!(
        proof.of(&Observer::node(1), &[0]),
        Err(Error::Certify(ndp_certify::Error::NoiselessView(0)))
    ));
}

fn costs(rows: &[&[(i64, i64)]]) -> costs::Costs {
    let below = 6;
    let entry = |&(a, b): &(i64, i64)| (a * below / b).into();
    costs::Costs {
        entries: rows.iter().map(|row| row.iter().map(entry).collect()).collect(),
        below: below.into(),
    }
}

/// Matrices whose best diagonals are known; a diagonal without margin is not proven.
#[test]
fn diagonals_cover() {
    let ones = costs(&[&[(1, 1), (1, 1)], &[(1, 1), (1, 1)]]);
    // All entries are 1: `D = 2 I`, and the product of the excesses of both diagonal entries over 1 must be
    // at least 1.
    let more = ratio(1, 1_000_000);
    assert!(ones.are_covered_by(&[ratio(2, 1) + &more, ratio(2, 1)]));
    assert!(!ones.are_covered_by(&[ratio(2, 1) - &more, ratio(2, 1)]));
    assert!(!ones.are_covered_by(&[ratio(1, 1), ratio(5, 1)]));
    assert!(!ones.are_covered_by(&[ratio(0, 1), ratio(-5, 1)]));
    assert!(ones.are_covered_by(&[ratio(3, 1), ratio(3, 2) + &more]));
    assert!(!ones.are_covered_by(&[ratio(3, 1), ratio(3, 2) - &more]));
    assert_eq!(ones.covering().map(|d| d.iter().sum::<BigRational>() < ratio(4, 1) + &more), Some(true));
    // I - J/3 for three uses: signs give 8/3, vectors 3, and absolute values 4.
    let (a, b) = ((2, 3), (-1, 3));
    let gram = costs(&[&[a, b, b], &[b, a, b], &[b, b, a]]);
    assert_eq!(gram.sum_of_sizes(), ratio(4, 1));
    let diagonal = gram.covering().unwrap();
    let sum: BigRational = diagonal.iter().sum();
    assert!(gram.are_covered_by(&diagonal) && ratio(3, 1) <= sum && sum < ratio(3, 1) + more);
    // Nothing is learned, so that nothing has to be covered.
    assert_eq!(costs(&[&[(0, 1), (0, 1)], &[(0, 1), (0, 1)]]).covering(), None);
}

/// The remainder of a factor decides, wherever the factor comes from.
#[test]
fn factors_decide_nothing() {
    let dominant = |rest: [[i64; 2]; 2], lower: [[i128; 2]; 2], bits| {
        let rest: Vec<Vec<BigInt>> = rest.iter().map(|row| row.map(BigInt::from).to_vec()).collect();
        costs::leaves_dominant(&rest, &BigInt::from(5), &ndarray::arr2(&lower), bits)
    };
    // Without a factor the matrix itself is checked.
    assert!(dominant([[2, -1], [-1, 1]], [[0; 2]; 2], 3));
    assert!(!dominant([[2, 3], [3, 2]], [[0; 2]; 2], 3) && !dominant([[-1, 0], [0, 1]], [[0; 2]; 2], 3));
    // The column (2, 1) in units, halves and twos: the remainder is 0, or a fifth too small.
    for (lower, bits, scale) in
        [([[2, 0], [1, 0]], 0, 1), ([[4, 0], [2, 0]], 2, 1), ([[2, 0], [1, 0]], -2, 4)]
    {
        let rest = |a: i64, b: i64, c: i64| [[a, b], [b, c]].map(|row| row.map(|x| x * scale));
        assert!(dominant(rest(20, 10, 5), lower, bits), "{bits}");
        assert!(!dominant(rest(19, 10, 5), lower, bits) && !dominant(rest(20, 11, 5), lower, bits));
        assert!(dominant(rest(21, 11, 6), lower, bits) && dominant(rest(21, 9, 6), lower, bits));
        assert!(!dominant(rest(21, 11, 5), lower, bits));
    }
}

/// Whether integers prove it agrees with the sign of the least eigenvalue, for matrices of every scale.
#[test]
fn covered_is_semidefinite() {
    let mut state = 5_i64;
    let mut draw = move || {
        state = (state * 75 + 74) % 65_537;
        state % 41 - 20
    };
    let (mut yes, mut no) = (0, 0);
    for case in 0..300 {
        let k = 1 + case % 7;
        let scale = BigInt::from(7).pow(u32::try_from(case % 90).unwrap());
        let mut entries: Vec<Vec<BigInt>> = Vec::new();
        for i in 0..k {
            let mut row: Vec<BigInt> = entries.iter().map(|before| before[i].clone()).collect();
            row.push(BigInt::from(20 + draw()));
            row.extend((i + 1..k).map(|_| BigInt::from(draw())));
            entries.push(row);
        }
        let diagonal: Vec<i64> = (0..k).map(|_| 50 + 2 * draw()).collect();
        let rest = ndarray::Array2::from_shape_fn((k, k), |(i, j)| {
            let own = if i == j { diagonal[i] as f64 } else { 0.0 };
            own - entries[i][j].to_f64().unwrap()
        });
        let least = ndp_linalg::sym_eigenvalues(rest.view()).unwrap()[0];
        // 1 over the scale, or the scale itself.
        let (above, below) =
            if case % 2 == 0 { (scale.clone(), BigInt::from(1)) } else { (BigInt::from(1), scale.clone()) };
        let entries = entries.iter().map(|row| row.iter().map(|x| x * &above).collect()).collect();
        let costs = costs::Costs { entries, below: below.clone() };
        let diagonal: Vec<BigRational> =
            diagonal.iter().map(|&d| BigRational::new(BigInt::from(d) * &above, below.clone())).collect();
        if least.abs() > 1e-6 {
            assert_eq!(costs.are_covered_by(&diagonal), least > 0.0, "{case}: {least}");
            (yes, no) = if least > 0.0 { (yes + 1, no) } else { (yes, no + 1) };
        }
    }
    assert!(yes > 40 && no > 40, "{yes} {no}");
}

/// The costs of short and long shifts of noises with several variances, compared with sums by hand.
#[test]
fn costs_of_shifts() {
    let mut program = Program::new(1).unwrap();
    let x = program.contribute(0, Reads::Nothing).unwrap();
    let noises: Vec<Value> =
        [(1, 1), (9, 4), (1, 1)].map(|variance| program.noise([0], variance).unwrap()).to_vec();
    let shift = |terms: [(i64, i64); 3]| {
        let terms = noises.iter().copied().zip(terms.map(Weight::from)).collect();
        Witness { source: 0, change: vec![Weight::from(1)], terms }
    };
    let first = [shift([(1, 2), (1, 3), (0, 1)]), shift([(-1, 7), (2, 1), (5, 1)])];
    let found = Shifts::new(&program, &first).unwrap();
    // 1/4 + (1/9) (4/9) and 1/49 + 4 (4/9) + 25; between them -1/14 + (2/3) (4/9).
    assert_eq!(found.largest(), Some((1, ratio(1, 49) + ratio(16, 9) + ratio(25, 1))));
    let costs = found.costs();
    let entry = |i: usize, j: usize| BigRational::new(costs.entries[i][j].clone(), costs.below.clone());
    assert_eq!(entry(0, 0), ratio(1, 4) + ratio(4, 81));
    assert_eq!([entry(0, 1), entry(1, 0)], [ratio(-1, 14) + ratio(8, 27), ratio(-1, 14) + ratio(8, 27)]);
    // The same with numbers that do not fit, and with one that just does not fit.
    for large in [i64::MAX, 1 << 62, 1 << 61] {
        let found = Shifts::new(&program, &[shift([(large, 1), (large, 1), (large, 1)])]).unwrap();
        let square = ratio(large, 1) * ratio(large, 1);
        assert_eq!(found.largest(), Some((0, square * ratio(22, 9))));
    }
    assert_eq!(Shifts::new(&program, &[]).unwrap().largest(), None);
    let wrong = Witness { source: 0, change: vec![Weight::from(1)], terms: vec![(x, Weight::from(1))] };
    assert!(Shifts::new(&program, &[wrong]).is_err_and(|error| error.to_string().contains("is no noise")));
}
